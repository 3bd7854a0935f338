// SPDX-License-Identifier: BSD-3-Clause
// The name of what an execution space runs on.
#pragma once

#include <Kokkos_Core.hpp>
#include <string>
#include <type_traits>

#include "versions.hpp"

namespace forces {

/// The graphics processor's name, or that of the host's processor.
template <class Space>
std::string device_name() {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<Space, Kokkos::Cuda>) {
    cudaDeviceProp properties;
    int device = 0;
    if (cudaGetDevice(&device) == cudaSuccess &&
        cudaGetDeviceProperties(&properties, device) == cudaSuccess)
      return properties.name;
    return "unknown";
  }
#endif
  return processor_name();
}

}  // namespace forces
