// SPDX-License-Identifier: BSD-3-Clause
// Very long rows of a list cut into segments, on a GPU.
#pragma once

#include <algorithm>

#include "../kernels/mapping/split_rows.hpp"
#include "../tree/octree.hpp"
#include "../tuning.hpp"
#include "workspace.hpp"

namespace fmm::engine {

/// Segments of the rows that the leaves of these tiles, some of all with rows, have in a list, if there is a very
/// long one: more than `least` entries, and four times the mean, or of few tiles what fills the device. On a host rows
/// stay whole. A target has so many records of sums.
template <class Space, class Precision>
SplitRows<Space, sum_t<Precision>> split_long_rows(
    [[maybe_unused]] Space const& space, [[maybe_unused]] Workspace<Space, Precision>& memory,
    [[maybe_unused]] Octree<Space> const& tree,
    [[maybe_unused]] std::type_identity_t<TargetTiles<Space>> const& tiles,
    [[maybe_unused]] Csr<Space> list, [[maybe_unused]] int least, [[maybe_unused]] int records) {
  if constexpr (!is_host_space_v<Space>)
    if (list.longest > least) {
      const double tiles_per_leaf = double(tree.tiles.extent(0)) / double(tree.leaves.extent(0));
      const double mean = double(list.entries.extent(0)) / double(tiles.all) * tiles_per_leaf;
      constexpr std::int64_t few = 64, teams = 4096;  // tiles; what fills the device
      const std::int64_t count = tiles.all;
      const bool are_few = count <= few && list.longest > 16 * least;
      const double share = are_few ? double(list.longest) * double(count) / teams : 4 * mean;
      const Offset most = std::max<Offset>(least, Offset(share));
      if (list.longest > most)
        return split_rows(space, tiles.tiles, list, most, Tuning<Space, real_t<Precision>>::tile,
                          memory.split_rows, records);
    }
  return {};
}

}  // namespace fmm::engine
