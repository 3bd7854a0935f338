// SPDX-License-Identifier: BSD-3-Clause
// Keys of a batch: of each body its set's number, and below it the Morton key in the cube of the set.
#pragma once

#include <bit>

#include "../../detail/search.hpp"
#include "morton.hpp"

namespace fmm::tree {

/// The set that body i is in: set s has bodies offsets(s) .. offsets(s + 1) - 1.
template <class Space>
KOKKOS_INLINE_FUNCTION std::int64_t set_of(Array<BodyIndex, Space> const& offsets, std::int64_t i) {
  const auto sets = std::int64_t(offsets.extent(0)) - 1;
  return first_not(std::int64_t(0), sets, [&](std::int64_t s) { return offsets(s + 1) <= i; });
}

/// Adds a block of bodies to the boxes of their sets.
template <class Space, class Positions>
struct AddToBoxes {
  static constexpr std::int64_t block = 64;
  Positions positions;
  Array<BodyIndex, Space> offsets;
  Array<Box, Space> boxes;

  KOKKOS_FUNCTION void operator()(std::int64_t b) const {
    const std::int64_t n = positions.extent(0), last = (b + 1) * block < n ? (b + 1) * block : n;
    for (std::int64_t i = b * block; i < last;) {
      const std::int64_t set = set_of(offsets, i);
      const std::int64_t end = offsets(set + 1) < last ? offsets(set + 1) : last;
      BoxOfFinite all;
      for (; i < end; ++i) {
        const double x[3] = {positions(i, 0), positions(i, 1), positions(i, 2)};
        all.add(x, x);
      }
      Box& box = boxes(set);
      for (int d = 0; d < 3; ++d) {
        Kokkos::atomic_fetch_min(&box.low[d], all.box.low[d]);
        Kokkos::atomic_fetch_max(&box.high[d], all.box.high[d]);
      }
    }
  }
};

/// The largest extent of a box; boxes of nothing have none.
template <class Space>
struct MeasureBoxes {
  Array<Box, Space> boxes;
  KOKKOS_FUNCTION void operator()(std::int64_t i, MaxOf<double>& largest) const {
    const Box box = boxes(i);
    for (int d = 0; d < 3; ++d) largest.join({box.high[d] - box.low[d]});
  }
};

template <class Space, class Positions>
struct MakeBatchKeys {
  Positions positions;
  Array<BodyIndex, Space> offsets;
  Array<Box, Space> boxes;
  int set_bits;  ///< of a key, a multiple of three: digits stay digits
  UnsortedKeys<Space> keys;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t set = set_of(offsets, i);
    const Box box = boxes(set);
    double extent = 0;
    for (int d = 0; d < 3; ++d)
      if (box.high[d] - box.low[d] > extent) extent = box.high[d] - box.low[d];
    const double per_edge = extent > 0 ? 1 / extent : 0;
    std::uint32_t g[3];
    for (int d = 0; d < 3; ++d)
      g[d] = grid_coordinate(double(positions(i, d)), box.low[d], per_edge);
    const int morton_bits = key_bits - set_bits;
    keys.set(i, std::uint64_t(set) << morton_bits | morton_key(g[0], g[1], g[2]) >> set_bits);
  }
};

/// Bits of the numbers of so many sets.
inline int bits_of_sets(std::int64_t sets) {
  const int bits = int(std::bit_width(std::uint64_t(sets > 0 ? sets - 1 : 0)));
  return (bits + 2) / 3 * 3;
}

}  // namespace fmm::tree
