// SPDX-License-Identifier: BSD-3-Clause
// See shared_instances.hpp.
#include "shared_instances.hpp"

FORCES_SHARED(, fmm::Host)
#ifdef KOKKOS_ENABLE_CUDA
FORCES_SHARED(, Kokkos::Cuda)
FORCES_SHARED_DATA(, Kokkos::Cuda, float, float)
FORCES_SHARED_UNMIXED_DATA(, Kokkos::Cuda, float, float)
FORCES_SHARED_RESULTS(, Kokkos::Cuda, float, float)
#endif
