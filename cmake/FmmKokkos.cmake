# SPDX-License-Identifier: BSD-3-Clause
# Provides Kokkos::kokkos (3.4 to 5.x) and, where there is one, Kokkos::kokkoskernels:
#   1. what a parent project has or CMake finds (Kokkos_ROOT, CMAKE_PREFIX_PATH);
#   2. the upstream release, built with the project, where the network reaches it;
#   3. Debian's source package, which scripts/get-kokkos builds in .deps.
# Ways 2 and 3 are taken only with FMM_FETCH_KOKKOS.
if(TARGET Kokkos::kokkos)
  return()
endif()

# Without a version: Kokkos's version file accepts no other major version than the one asked for.
# Debian's libtrilinos-kokkos-dev is passed over: it has no OpenMP, and targets of other names.
macro(fmm_find_kokkos)
  find_package(Kokkos QUIET)
  if(NOT TARGET Kokkos::kokkos)
    set(Kokkos_FOUND FALSE)
    unset(Kokkos_DIR CACHE)
  endif()
endmacro()

# Downloads one release of github.com/kokkos and declares it; `ok` becomes FALSE where it cannot.
macro(fmm_declare_release package name sha256)
  set(archive ${PROJECT_BINARY_DIR}/_deps/${name}-4.7.01.tar.gz)
  if(ok AND NOT EXISTS ${archive})
    file(DOWNLOAD https://github.com/kokkos/${name}/releases/download/4.7.01/${name}-4.7.01.tar.gz
         ${archive}.part TIMEOUT 20 STATUS status)
    list(POP_FRONT status error)
    if(error)
      set(ok FALSE)
    else()
      file(RENAME ${archive}.part ${archive})
    endif()
  endif()
  FetchContent_Declare(${package} SYSTEM URL ${archive} URL_HASH SHA256=${sha256})
endmacro()

set(fmm_deps ${PROJECT_SOURCE_DIR}/.deps/${CMAKE_CXX_COMPILER_ID}-${CMAKE_CXX_COMPILER_VERSION})
if(BUILD_SHARED_LIBS)
  string(APPEND fmm_deps -shared)
else()
  string(APPEND fmm_deps -pic)  # for the Python module
endif()
if(FMM_FETCH_KOKKOS AND EXISTS ${fmm_deps}/complete)
  list(APPEND CMAKE_PREFIX_PATH ${fmm_deps})
endif()
fmm_find_kokkos()

if(NOT Kokkos_FOUND AND FMM_FETCH_KOKKOS)
  message(STATUS "fmm: no Kokkos found, asking for the upstream release")
  include(FetchContent)
  set(ok TRUE)
  fmm_declare_release(Kokkos kokkos
                      404cf33e76159e83b8b4ad5d86f6899d442b5da4624820ab457412116cdcd201)
  fmm_declare_release(KokkosKernels kokkos-kernels
                      f3e1452db0e182c8e32c61632465e3a829159b9ae0645d9e4cd97b4fa09c36e1)
  if(ok)
    option(Kokkos_ENABLE_SERIAL "" ON)
    option(Kokkos_ENABLE_OPENMP "" ON)
    option(KokkosKernels_ADD_DEFAULT_ETI "" OFF)
    set(CMAKE_CXX_STANDARD 20)
    set(CMAKE_POSITION_INDEPENDENT_CODE ON)
    set(CMAKE_COMPILE_WARNING_AS_ERROR OFF)
    set(CMAKE_MESSAGE_LOG_LEVEL WARNING)
    FetchContent_MakeAvailable(Kokkos KokkosKernels)
    unset(CMAKE_MESSAGE_LOG_LEVEL)
    unset(CMAKE_COMPILE_WARNING_AS_ERROR)
    unset(CMAKE_POSITION_INDEPENDENT_CODE)
    unset(CMAKE_CXX_STANDARD)
    message(STATUS "fmm: Kokkos is the upstream release")
    return()
  endif()
  message(STATUS "fmm: the upstream release cannot be had (${status})")
  if(NOT Kokkos_ENABLE_CUDA)
    execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/get-kokkos ${fmm_deps}
                            -G${CMAKE_GENERATOR} -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
                            -DBUILD_SHARED_LIBS=${BUILD_SHARED_LIBS}
                    RESULT_VARIABLE error)
    if(NOT error)
      list(APPEND CMAKE_PREFIX_PATH ${fmm_deps})
      fmm_find_kokkos()
    endif()
  endif()
endif()

if(NOT Kokkos_FOUND)
  message(FATAL_ERROR
    "fmm needs Kokkos (3.4 to 5.x), and none was found or could be fetched. Install Kokkos "
    "(https://kokkos.org) and name its place with -DKokkos_ROOT=<prefix>, or connect to the "
    "network.")
elseif(Kokkos_VERSION VERSION_LESS 3.4 OR Kokkos_VERSION VERSION_GREATER_EQUAL 6)
  message(FATAL_ERROR "fmm needs Kokkos 3.4 to 5.x, not ${Kokkos_VERSION} (${Kokkos_DIR}). "
                      "Name another one's place with -DKokkos_ROOT=<prefix>.")
endif()
find_package(KokkosKernels QUIET)
message(STATUS "fmm: Kokkos ${Kokkos_VERSION} (${Kokkos_DEVICES}) in ${Kokkos_DIR}")
