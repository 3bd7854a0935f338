# SPDX-License-Identifier: BSD-3-Clause
# cmake -D BUILD_DIR= -D TARGET= -D CONFIG= -P build_target.cmake
# Builds a target of an existing build folder; passes where that succeeds.
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD_DIR} --target ${TARGET} --config ${CONFIG}
                COMMAND_ERROR_IS_FATAL ANY)
