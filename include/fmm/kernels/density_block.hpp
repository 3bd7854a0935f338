// SPDX-License-Identifier: BSD-3-Clause
// Arrays of several densities of the same sources, and of their results: (N), or of K densities (N,K), and (N,3) or
// (N,K,3), of which an evaluation takes a block of densities at a time.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>

#include "../inputs.hpp"

namespace fmm::kernels {

/// In the place of an array of K densities a block of so many of them, from `first` on. An evaluation may be of more:
/// strengths of those are 0, and their results are left out.
template <class View>
struct DensityBlock {
  using value_type = typename View::value_type;
  View all;
  int first, count;

  std::size_t extent(int dimension) const { return all.extent(dimension); }
};

/// Whether this is one.
template <class Array>
inline constexpr bool is_density_block_v = false;
template <class View>
inline constexpr bool is_density_block_v<DensityBlock<View>> = true;

/// Whether there is a density k.
template <class Array>
KOKKOS_FORCEINLINE_FUNCTION bool has_density(Array const& array, int k) {
  if constexpr (is_density_block_v<Array>)
    return k < array.count;
  else
    return true;
}

/// What the caller calls density k, behind a body's number: nothing where there is one.
template <int Densities, class Array>
std::string comma_density([[maybe_unused]] Array const& array, [[maybe_unused]] int k) {
  if constexpr (is_density_block_v<Array>)
    return "," + std::to_string(array.first + k);
  else
    return Densities > 1 ? "," + std::to_string(k) : "";
}

/// Number i of density k: of (N) numbers of one, of (N,K), or of a block.
template <int Densities, class Array>
KOKKOS_FORCEINLINE_FUNCTION decltype(auto) at_density(Array const& numbers, std::int64_t i,
                                                      [[maybe_unused]] int k) {
  if constexpr (is_density_block_v<Array>)
    return numbers.all(i, numbers.first + k);
  else if constexpr (Densities == 1)
    return numbers(i);
  else
    return numbers(i, k);
}

/// Component d of vector i of density k: of (N,3) components of one, of (N,K,3), or of a block. Of a Hessian six.
template <int Densities, class Array>
KOKKOS_FORCEINLINE_FUNCTION decltype(auto) at_density(Array const& vectors, std::int64_t i,
                                                      [[maybe_unused]] int k, int d) {
  if constexpr (is_density_block_v<Array>)
    return vectors.all(i, vectors.first + k, d);
  else if constexpr (Densities == 1)
    return vectors(i, d);
  else
    return vectors(i, k, d);
}

/// The unit of each density's charges, or of what they make.
template <int Densities = 1>
struct DensityUnits {
  double of[Densities];

  DensityUnits(double of_all) {
    for (double& unit : of) unit = of_all;
  }
};

}  // namespace fmm::kernels
