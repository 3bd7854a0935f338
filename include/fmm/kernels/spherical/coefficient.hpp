// SPDX-License-Identifier: BSD-3-Clause
// Which harmonic a coefficient is of (harmonics.hpp: how expansions are stored).
#pragma once

#include <Kokkos_Macros.hpp>

namespace fmm::kernels {

/// Coefficient k of an expansion.
struct Coefficient {
  int degree, order;
  bool sine;  ///< the imaginary part

  KOKKOS_INLINE_FUNCTION static constexpr Coefficient at(int k) {
    int n = 0;
    while ((n + 1) * (n + 1) <= k) ++n;
    const int place = k - n * n;
    return {n, (place + 1) / 2, place > 0 && place % 2 == 0};
  }

  /// Bit d is set where a reflection of axis d changes the sign.
  KOKKOS_INLINE_FUNCTION constexpr int odd() const {
    return (order + sine) % 2 | sine << 1 | (degree + order) % 2 << 2;
  }
};

}  // namespace fmm::kernels
