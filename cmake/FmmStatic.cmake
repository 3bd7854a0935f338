# SPDX-License-Identifier: BSD-3-Clause
# FMM_STATIC: own programs need nothing but libc (and CUDA's libraries) where they run. Archives are
# named one by one, since flags alone leave libgomp shared, and FindHDF5 leaves out what libhdf5.a
# needs.

# fmm_link_archives(target names...): links lib<name>.a of the system or the compiler.
function(fmm_link_archives target)
  foreach(name IN LISTS ARGN)
    find_library(FMM_ARCHIVE_${name} lib${name}.a REQUIRED
                 PATHS ${CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES})
    mark_as_advanced(FMM_ARCHIVE_${name})
    target_link_libraries(${target} INTERFACE ${FMM_ARCHIVE_${name}})
  endforeach()
endfunction()

# After Kokkos, which needs libgomp; --as-needed then drops the shared one that -fopenmp adds.
target_link_options(fmm_build_options INTERFACE
                    -static-libgcc -static-libstdc++ -Wl,--as-needed)
target_link_libraries(fmm_build_options INTERFACE Kokkos::kokkos)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  fmm_link_archives(fmm_build_options gomp)
endif()

# Local files need no more; a driver for remote ones, which would need curl, is not linked.
if(FMM_BUILD_APPS)
  set(HDF5_USE_STATIC_LIBRARIES ON)
  find_package(HDF5 REQUIRED COMPONENTS C)
  fmm_link_archives(hdf5::hdf5 sz aec z)
  target_link_libraries(hdf5::hdf5 INTERFACE ${CMAKE_DL_LIBS} m)
endif()
