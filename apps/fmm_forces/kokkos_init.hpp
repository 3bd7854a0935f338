// SPDX-License-Identifier: BSD-3-Clause
// Kokkos from here to the end of the scope. Its warnings are turned off: stderr is for one line.
#pragma once

#include <Kokkos_Core.hpp>
#include <optional>
#include <stdexcept>

namespace forces {

class KokkosScope {
 public:
  explicit KokkosScope(std::optional<int> threads) {
#ifdef KOKKOS_ENABLE_CUDA
    int devices = 0;  // without one Kokkos ends the program
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
      throw std::runtime_error("this program was built for CUDA, and no CUDA device is here");
#endif
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
