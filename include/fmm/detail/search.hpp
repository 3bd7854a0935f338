// SPDX-License-Identifier: BSD-3-Clause
// Binary search in device code.
#pragma once

#include "kokkos_compat.hpp"

namespace fmm::detail {

/// The first index of low .. high - 1 for which `before(index)` does not hold, or high; it holds for all indices
/// up to some one and for none after. Cost: O(log(high - low)).
template <class Index, class Before>
KOKKOS_FORCEINLINE_FUNCTION Index first_not(Index low, Index high, Before const& before) {
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (before(middle))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

}  // namespace fmm::detail
