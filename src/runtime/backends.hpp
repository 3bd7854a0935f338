// SPDX-License-Identifier: BSD-3-Clause
// The execution spaces that Kokkos has. FMM_FOR_EACH_SPACE(macro) is macro(Kokkos::Serial) and so on.
#pragma once

#include <Kokkos_Core.hpp>
#include <fmm/runtime/policies.hpp>
#include <type_traits>

#ifdef KOKKOS_ENABLE_SERIAL
#define FMM_IN_SERIAL(macro) macro(Kokkos::Serial)
#else
#define FMM_IN_SERIAL(macro)
#endif
#ifdef KOKKOS_ENABLE_OPENMP
#define FMM_IN_OPENMP(macro) macro(Kokkos::OpenMP)
#else
#define FMM_IN_OPENMP(macro)
#endif
#ifdef KOKKOS_ENABLE_CUDA
#define FMM_IN_CUDA(macro) macro(Kokkos::Cuda)
#else
#define FMM_IN_CUDA(macro)
#endif
#define FMM_FOR_EACH_SPACE(macro) FMM_IN_SERIAL(macro) FMM_IN_OPENMP(macro) FMM_IN_CUDA(macro)

namespace fmm::runtime {

/// Calls found(backend, std::type_identity<Space>) for each.
template <class Found>
void for_each_backend([[maybe_unused]] Found&& found) {
#ifdef KOKKOS_ENABLE_SERIAL
  found(Backend::serial, std::type_identity<::Kokkos::Serial>{});
#endif
#ifdef KOKKOS_ENABLE_OPENMP
  found(Backend::openmp, std::type_identity<::Kokkos::OpenMP>{});
#endif
#ifdef KOKKOS_ENABLE_CUDA
  found(Backend::cuda, std::type_identity<::Kokkos::Cuda>{});
#endif
}

}  // namespace fmm::runtime
