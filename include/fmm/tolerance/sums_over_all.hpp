// SPDX-License-Identifier: BSD-3-Clause
// Sums in double at some bodies over all others, which results are compared with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "../detail/launch.hpp"
#include "../tree/lists/lists.hpp"
#include "../tree/octree.hpp"
#include "differences.hpp"

namespace fmm::tolerance {

/// Rows of a list for the cells of `chosen`, ascending, with all leaves each.
template <class Space>
struct RowsOfAllLeaves {
  Array<CellIndex, Space> chosen, leaves;
  Csr<Space> list;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto all = std::int64_t(leaves.extent(0));
    if (i < std::int64_t(list.offsets.extent(0))) {
      std::int64_t low = 0, high = std::int64_t(chosen.extent(0));  // chosen cells below number i
      while (low < high) {
        const std::int64_t middle = (low + high) / 2;
        if (chosen(middle) < i)
          low = middle + 1;
        else
          high = middle;
      }
      list.offsets(i) = Offset(low * all);
    }
    if (i < std::int64_t(list.entries.extent(0))) list.entries(i) = leaves(i % all);
  }
};

/// Sums times a factor.
template <class Space, class Sum>
struct ScaleSums {
  Array<Sums<Sum>, Space> sums;
  Sum factor;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Sums<Sum> s = sums(i);
    sums(i) = {s.potential * factor, s.x * factor, s.y * factor, s.z * factor};
  }
};
template <class Space, class Sum>
void scale_sums(Space const& space, Array<Sums<Sum>, Space> sums, double factor) {
  for_range("fmm::verification::scale", space, std::int64_t(sums.extent(0)),
            ScaleSums<Space, Sum>{sums, Sum(factor)});
}

/// Adds to sums, in units of the cube, of bodies in tiles of a tree.
template <class Space, class Sum>
class SumsOverAll {
 public:
  /// Adds the pairs of these tiles' bodies with the leaves of a list and their own leaf, in double.
  using ExactSums = std::function<void(Array<Tile, Space>, Csr<Space>, Array<Sums<Sum>, Space>)>;
  static constexpr std::int64_t tiles_at_a_time = 64;

  SumsOverAll(Space const& space, Octree<Space> const& octree, ExactSums exact_sums)
      : space_(space), octree_(octree), exact_sums_(std::move(exact_sums)) {}

  /// The pairs with all other bodies, of at most tiles_at_a_time tiles. Cost: as many times their bodies N pairs;
  /// memory: a list of all leaves for each of the tiles.
  void add(std::vector<Tile> const& tiles, Array<Tile, Space> there, Array<Sums<Sum>, Space> sums) {
    std::vector<CellIndex> cells;
    for (Tile const& tile : tiles) cells.push_back(tile.cell);
    std::sort(cells.begin(), cells.end());
    cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
    exact_sums_(there, all_leaves(to_device(space_, cells_, cells)), sums);
    space_.fence();  // the vector goes now
  }

 private:
  Csr<Space> all_leaves(Array<CellIndex, Space> chosen) {
    const std::int64_t leaves = octree_.leaves.extent(0), cells = octree_.cells.extent(0),
                       entries = leaves * std::int64_t(chosen.extent(0));
    const Csr<Space> list{offsets_.resize(cells + 1), entries_.resize(entries), Offset(leaves)};
    for_range("fmm::verification::rows", space_, std::max(cells + 1, entries),
              RowsOfAllLeaves<Space>{chosen, octree_.leaves, list});
    return list;
  }

  Space const& space_;
  Octree<Space> const& octree_;
  ExactSums exact_sums_;
  Buffer<CellIndex, Space> cells_{"verification's cells"}, entries_{"verification's list"};
  Buffer<Offset, Space> offsets_{"verification's rows"};
};

/// The bodies of a tile's group of that number, as a tile.
inline Tile group_of_tile(Tile const& tile, std::int64_t number) {
  const auto before = BodyIndex(number * bodies_of_group);
  return {tile.cell, tile.first + before,
          std::min<BodyIndex>(bodies_of_group, tile.count - before)};
}

}  // namespace fmm::tolerance
