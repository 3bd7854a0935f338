// SPDX-License-Identifier: BSD-3-Clause
// Execution spaces of the host, and how work starts on their threads.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

namespace fmm::detail {

/// Kernels of `Space` run on the host, where a thread works on several lanes with vector instructions.
template <class Space>
inline constexpr bool is_host_space_v =
    std::is_same_v<typename Space::memory_space, Kokkos::HostSpace>;

/// Any f(thread), so that one parallel_for is compiled for all of them.
struct OnThreads {
  void const* f;
  void (*call)(void const* f, std::int64_t thread);
  void operator()(std::int64_t thread) const { call(f, thread); }
};

/// f(thread) once for each of so many threads of a host.
template <class Space>
void start_on_threads(char const* label, Space const& space, int threads, OnThreads const& f) {
  using Policy =
      Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>, Kokkos::Schedule<Kokkos::Static>>;
  Kokkos::parallel_for(label, Policy(space, 0, threads, Kokkos::ChunkSize(1)), f);
}

/// Whether the calling host thread may start kernels. Before version 3.7 Kokkos's OpenMP ends the program unless the
/// thread that initialised Kokkos does.
template <class Space>
bool may_start_here() {
#if defined(KOKKOS_ENABLE_OPENMP) && KOKKOS_VERSION < 30700
  if constexpr (std::is_same_v<Space, Kokkos::OpenMP>) return Kokkos::OpenMP::impl_is_initialized();
#endif
  return true;
}

template <class T>
concept HostExecutionSpace = Kokkos::is_execution_space<T>::value && is_host_space_v<T>;

}  // namespace fmm::detail
