# SPDX-License-Identifier: BSD-3-Clause
# Installs the headers and the package files: `find_package(fmm)` then provides fmm::fmm, and
# `find_package(fmm COMPONENTS runtime)` fmm::runtime, too.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(fmm_config_dir ${CMAKE_INSTALL_DATADIR}/cmake/fmm)
install(TARGETS fmm EXPORT fmm-targets FILE_SET HEADERS)
if(FMM_BUILD_APPS)
  install(TARGETS fmm_forces)
endif()
if(TARGET fmm_runtime)
  install(TARGETS fmm_runtime EXPORT fmm-runtime-targets)
  install(EXPORT fmm-runtime-targets NAMESPACE fmm:: DESTINATION ${fmm_config_dir})
endif()
install(EXPORT fmm-targets NAMESPACE fmm:: DESTINATION ${fmm_config_dir})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/fmm-config.cmake.in fmm-config.cmake
                              INSTALL_DESTINATION ${fmm_config_dir})
write_basic_package_version_file(fmm-config-version.cmake COMPATIBILITY SameMinorVersion
                                 ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/fmm-config.cmake ${PROJECT_BINARY_DIR}/fmm-config-version.cmake
        DESTINATION ${fmm_config_dir})
