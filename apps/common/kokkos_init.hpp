// SPDX-License-Identifier: BSD-3-Clause
// Kokkos from here to the end of the scope. Its warnings are turned off: stderr is for one line.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdlib>
#include <fmm/environment.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "defaults.hpp"

namespace forces {

class KokkosScope {
 public:
  explicit KokkosScope(std::optional<int> threads) {
#ifdef KOKKOS_ENABLE_CUDA
    int devices = 0;  // without one Kokkos ends the program
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
      throw std::runtime_error("this program was built for CUDA, and no CUDA device is here");
#endif
#ifdef KOKKOS_ENABLE_OPENMP
    if (!threads && !std::getenv("OMP_NUM_THREADS") && !std::getenv("KOKKOS_NUM_THREADS") &&
        std::thread::hardware_concurrency() > unsigned(fmm::most_host_threads))
      threads = fmm::most_host_threads;
#endif
    char const* const of_kokkos = std::getenv("KOKKOS_NUM_THREADS");
    if (threads || (of_kokkos && *of_kokkos == '\0'))
      unsetenv("KOKKOS_NUM_THREADS");  // must not differ
#if KOKKOS_VERSION >= 30700
    Kokkos::InitializationSettings settings;
    settings.set_disable_warnings(true);
    if (threads) settings.set_num_threads(*threads);
#else
    Kokkos::InitArguments settings;
    settings.disable_warnings = true;
    if (threads) settings.num_threads = *threads;
#endif
    Kokkos::initialize(settings);
  }
  ~KokkosScope() { Kokkos::finalize(); }
  KokkosScope(KokkosScope const&) = delete;
  KokkosScope& operator=(KokkosScope const&) = delete;
};

}  // namespace forces
