# SPDX-License-Identifier: BSD-3-Clause
# cmake -D BUILD_DIR= -D TARGET= -D CONFIG= -D SOURCE= -P expect_failure.cmake
# Passes where TARGET does not build and the output matches SOURCE's line `// expect: REGEX`.
file(STRINGS ${SOURCE} expected REGEX "^// expect: ")
list(LENGTH expected count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "${SOURCE} needs exactly one line that begins with `// expect: `")
endif()
string(REGEX REPLACE "^// expect: " "" expected "${expected}")

execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD_DIR} --target ${TARGET} --config ${CONFIG}
                RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT failed)
  message(FATAL_ERROR "${SOURCE} compiles, and should not")
elseif(NOT output MATCHES "${expected}")
  message("${output}")
  message(FATAL_ERROR "The words above do not match `${expected}`")
endif()
