# SPDX-License-Identifier: BSD-3-Clause
# cmake -D BUILD_DIR= -D TARGET= -D CONFIG= -D OBJECT= -D LIMIT= -P time_build.cmake
# Compiles OBJECT anew; passes where that takes less than LIMIT seconds.
file(REMOVE ${OBJECT})
string(TIMESTAMP begin "%s")
include(${CMAKE_CURRENT_LIST_DIR}/../build_target.cmake)
string(TIMESTAMP end "%s")
math(EXPR seconds "${end} - ${begin}")
message(STATUS "compiled in ${seconds} s, ${LIMIT} s allowed")
if(seconds GREATER_EQUAL LIMIT)
  message(FATAL_ERROR "${OBJECT} took ${seconds} s to compile; less than ${LIMIT} s is allowed")
endif()
