// SPDX-License-Identifier: BSD-3-Clause
// Sums in double at some bodies over all others, which results are compared with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
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

/// Adds to sums of the bodies in some tiles, in units of the cube, the pairs with the leaves of a list and their own
/// leaf, in double.
template <class Space, class Sum>
using AddExactly = std::function<void(Array<Tile, Space>, Csr<Space>, Array<Sums<Sum>, Space>)>;
/// The same with all other bodies, of at most tiles_at_a_time tiles, which are on the host and on the device.
template <class Space, class Sum>
using AddOverAll =
    std::function<void(std::vector<Tile> const&, Array<Tile, Space>, Array<Sums<Sum>, Space>)>;
inline constexpr std::int64_t tiles_at_a_time = 64;
/// Of Ewald's sums, which want no list.
inline constexpr std::int64_t tiles_in_cell_at_a_time = 4096;

/// Lists of all leaves, for tiles of a tree.
template <class Space>
class ListsOfAllLeaves {
 public:
  ListsOfAllLeaves(Space const& space, Octree<Space> const& octree)
      : space_(space), octree_(octree) {}

  Csr<Space> operator()(std::vector<Tile> const& tiles) {
    numbers_.clear();
    for (Tile const& tile : tiles) numbers_.push_back(tile.cell);
    std::sort(numbers_.begin(), numbers_.end());
    numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
    const auto chosen = to_device(space_, cells_, numbers_);
    const std::int64_t leaves = octree_.leaves.extent(0), cells = octree_.cells.extent(0),
                       entries = leaves * std::int64_t(chosen.extent(0));
    const Csr<Space> list{offsets_.resize(cells + 1), entries_.resize(entries), Offset(leaves)};
    for_range("fmm::verification::rows", space_, std::max(cells + 1, entries),
              RowsOfAllLeaves<Space>{chosen, octree_.leaves, list});
    return list;
  }

 private:
  Space const& space_;
  Octree<Space> const& octree_;
  std::vector<CellIndex> numbers_;
  Buffer<CellIndex, Space> cells_{"verification's cells"}, entries_{"verification's list"};
  Buffer<Offset, Space> offsets_{"verification's rows"};
};

/// Of a tree's bodies without images. Cost: N pairs a body; memory: a list of all leaves for each of the tiles.
template <class Space, class Sum>
AddOverAll<Space, Sum> pairs_over_all(Space const& space, Octree<Space> const& octree,
                                      AddExactly<Space, Sum> add_exactly) {
  return [&space, add_exactly = std::move(add_exactly),
          lists = std::make_shared<ListsOfAllLeaves<Space>>(space, octree)](
             std::vector<Tile> const& tiles, auto const& there, auto const& sums) {
    add_exactly(there, (*lists)(tiles), sums);
    space.fence();  // the vector and the list are those of other tiles then
  };
}

/// The bodies of a tile's group of that number, as a tile.
inline Tile group_of_tile(Tile const& tile, std::int64_t number) {
  const auto before = BodyIndex(number * bodies_of_group);
  return {tile.cell, tile.first + before,
          std::min<BodyIndex>(bodies_of_group, tile.count - before)};
}

}  // namespace fmm::tolerance
