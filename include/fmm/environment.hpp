// SPDX-License-Identifier: BSD-3-Clause
// What the environment asks of Kokkos, checked before Kokkos is initialised: too many threads would end the program
// without a word.
#pragma once

#include <Kokkos_Macros.hpp>
#include <cstdlib>
#include <string>

#include "errors.hpp"

namespace fmm {

/// Threads of the host that Kokkos's OpenMP backend has room for.
inline constexpr int most_host_threads = 512;

/// Throws InvalidArgument where OMP_NUM_THREADS or KOKKOS_NUM_THREADS asks for more threads than there is room for, or
/// for none. (OpenMP itself passes over values of OMP_NUM_THREADS that are no numbers.) fmm::runtime::KokkosSession
/// calls it; other programs do before Kokkos::initialize.
inline void check_environment() {
#ifdef KOKKOS_ENABLE_OPENMP
  for (char const* name : {"OMP_NUM_THREADS", "KOKKOS_NUM_THREADS"}) {
    char const* const value = std::getenv(name);
    if (!value || *value == '\0') continue;
    char* end = nullptr;
    const long threads = std::strtol(value, &end, 10);
    const bool is_kokkos = name[0] == 'K', is_number = *end == '\0';
    if (threads > most_host_threads || (is_kokkos && (threads < 1 || !is_number)))
      throw InvalidArgument(name, std::string(value), "1 to " + std::to_string(most_host_threads));
  }
#endif
}

}  // namespace fmm
