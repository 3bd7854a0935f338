// SPDX-License-Identifier: BSD-3-Clause
// What a program without Kokkos asks of the machine: memory of a backend, its device and threads. Free of Kokkos.
#pragma once

#include <cstddef>
#include <string>

#include "policies.hpp"

namespace fmm::runtime {

/// "4.6.1", of the Kokkos that the library was compiled with.
FMM_VISIBLE std::string kokkos_version();

// The others need Kokkos initialised (KokkosSession). They throw InvalidArgument for a backend that was not compiled
// in.

/// How many threads work at a time.
FMM_VISIBLE int concurrency(Backend backend);
/// Of the device, as CUDA counts them; 0 of a host's backend.
FMM_VISIBLE int device_number(Backend backend);
/// Returns once all work on the device is done, of any stream.
FMM_VISIBLE void wait_for(Backend backend);

/// Memory of a backend, of unspecified content. It moves, and is not copied. What outlives Kokkos is left to the
/// system.
class FMM_VISIBLE BackendMemory {
 public:
  /// Throws OutOfMemory.
  BackendMemory(Backend backend, std::size_t bytes);
  BackendMemory(BackendMemory&& other) noexcept;
  BackendMemory& operator=(BackendMemory&& other) noexcept;
  ~BackendMemory();

  void* data() const { return data_; }

 private:
  Backend backend_;
  void* data_ = nullptr;
};

}  // namespace fmm::runtime
