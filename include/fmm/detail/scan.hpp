// SPDX-License-Identifier: BSD-3-Clause
// Exclusive prefix sums: the counts of a first pass become the offsets of a second.
#pragma once

#include "launch.hpp"

namespace fmm::detail {

template <class Space, class Count>
struct ExclusiveScan {
  Array<Count, Space> counts;
  Array<Offset, Space> offsets;  // one longer than counts; the last entry receives the total
  Offset base;

  KOKKOS_FUNCTION void operator()(std::int64_t i, Offset& sum, bool final) const {
    if (final) offsets(i) = base + sum;
    if (i < static_cast<std::int64_t>(counts.extent(0))) sum += counts(i);
  }
};

/// offsets(i) = base + counts(0) + ... + counts(i-1) for i = 0..count, asynchronously in `space`.
/// The total is offsets(count). Cost: one scan over `count` + 1 elements.
template <class Space, class Count>
void exclusive_scan(Space const& space, Array<Count, Space> counts, Array<Offset, Space> offsets,
                    Offset base = 0) {
  scan<Offset>("fmm::scan", space, static_cast<std::int64_t>(counts.extent(0)) + 1,
               ExclusiveScan<Space, Count>{counts, offsets, base});
}

}  // namespace fmm::detail
