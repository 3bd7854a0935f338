// SPDX-License-Identifier: BSD-3-Clause
// The execution spaces that Kokkos has, and what is compiled for them. FMM_FOR_EACH_SITE(macro) is macro(Host) and,
// with CUDA, macro(Kokkos::Cuda).
#pragma once

#include <Kokkos_Core.hpp>
#include <fmm/host.hpp>
#include <fmm/runtime/policies.hpp>
#include <memory>
#include <type_traits>

#ifdef KOKKOS_ENABLE_CUDA
#define FMM_FOR_EACH_SITE(macro) macro(::fmm::Host) macro(::Kokkos::Cuda)
#else
#define FMM_FOR_EACH_SITE(macro) macro(::fmm::Host)
#endif

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

/// A space that lives as long as what refers to it.
template <class Site>
struct KeptSite {
  std::shared_ptr<void const> kept;
  Site site;
};
template <class Space>
KeptSite<site_t<Space>> kept_site() {
  const auto space = std::make_shared<Space const>();
  return {space, site_t<Space>(*space)};
}

}  // namespace fmm::runtime
