// SPDX-License-Identifier: BSD-3-Clause
// Kokkos from here to the end of the scope. Its warnings are turned off: stderr is for one line.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdlib>
#include <fmm/errors.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "defaults.hpp"

namespace forces {

/// Throws fmm::InvalidArgument for an environment that asks for more threads than Kokkos has room
/// for, or for none. (OpenMP itself passes over values of OMP_NUM_THREADS that are no numbers.)
inline void check_environment() {
#ifdef KOKKOS_ENABLE_OPENMP
  for (char const* name : {"OMP_NUM_THREADS", "KOKKOS_NUM_THREADS"}) {
    char const* const value = std::getenv(name);
    if (!value || *value == '\0') continue;
    char* end = nullptr;
    const long threads = std::strtol(value, &end, 10);
    const bool is_kokkos = name[0] == 'K', is_number = *end == '\0';
    if (threads > most_threads || (is_kokkos && (threads < 1 || !is_number)))
      throw fmm::InvalidArgument(name, std::string(value), "1 to " + std::to_string(most_threads));
  }
#endif
}

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
        std::thread::hardware_concurrency() > unsigned(most_threads))
      threads = most_threads;
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
