// SPDX-License-Identifier: BSD-3-Clause
// The order of tiles: by falling size within long stretches of the tree's order, so that teams that run at the same
// time run the same code. P2P has a loop for every number of rows of targets, and a GPU's caches of instructions do
// not hold all of them; bodies that are near each other stay together all the same.
#pragma once

#include "../cells/cell.hpp"
#include "../detail/launch.hpp"
#include "../simd/simd.hpp"

namespace fmm::tree {

/// Bodies of a tile: a multiple of so many, unless it is a leaf's last one. P2P takes them in rows or half rows.
inline constexpr int tile_step = 4;

/// How the bodies of a tree's leaves are cut into tiles, and in which order these come.
struct TileRule {
  int size;          ///< bodies at most, a multiple of tile_step
  int sorting_team;  ///< threads of a team that sorts a stretch by size; 0: tiles stay in the tree's order

  static constexpr int per_thread = 16;
  std::int64_t stretch() const { return std::int64_t(sorting_team) * per_thread; }
  /// Of so many tiles it pays.
  bool sorts(std::int64_t tiles) const { return sorting_team > 0 && tiles >= 4 * stretch(); }
};

/// Stable counting sort of one stretch of tiles by a team; a thread takes tiles that follow each other. Cost: O(1) a
/// tile, and O(sizes) a thread.
template <class Space>
struct SortStretch {
  static constexpr int per_thread = TileRule::per_thread;
  int sizes;  ///< that there are, in steps
  Array<Tile, Space> tiles, sorted;

  static std::size_t scratch_bytes(int threads, int sizes) {
    return std::size_t(threads) * sizes * sizeof(int) + scratch_alignment;
  }
  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const int threads = team.team_size(), thread = team.team_rank();
    const std::int64_t stretch = std::int64_t(team.league_rank()) * threads * per_thread,
                       begin = stretch + thread * per_thread,
                       left = std::int64_t(tiles.extent(0)) - begin;
    Tile mine[per_thread];
    FMM_UNROLL
    for (int i = 0; i < per_thread; ++i)
      if (i < left) mine[i] = tiles(begin + i);
    // by size, and for each size by thread: how many tiles, and then where these go
    int* const at = scratch_array<int>(team, scratch_level_v<Space>, threads * sizes);
    const auto place_of = [&](Tile const& tile) -> int& {
      return at[(sizes - (tile.count + tile_step - 1) / tile_step) * threads + thread];
    };
    for (int k = 0; k < sizes; ++k) at[k * threads + thread] = 0;
    FMM_UNROLL
    for (int i = 0; i < per_thread; ++i)
      if (i < left) ++place_of(mine[i]);
    team.team_barrier();
    int sum = 0;
    for (int k = 0; k < sizes; ++k) sum += at[thread * sizes + k];
    int before = team.team_scan(sum);
    for (int k = 0; k < sizes; ++k) {
      int& place = at[thread * sizes + k];
      const int count = place;
      place = before;
      before += count;
    }
    team.team_barrier();
    FMM_UNROLL
    for (int i = 0; i < per_thread; ++i)
      if (i < left) sorted(stretch + place_of(mine[i])++) = mine[i];
  }
};

/// `sorted` are the `tiles`, sorted stretch by stretch.
template <class Space>
void sort_tiles(Space const& space, TileRule rule, Array<Tile, Space> tiles,
                Array<Tile, Space> sorted) {
  const std::int64_t stretch = rule.stretch(), all = std::int64_t(tiles.extent(0));
  const int sizes = rule.size / tile_step;
  TeamPolicy<Space> teams(space, int((all + stretch - 1) / stretch), rule.sorting_team);
  add_scratch(teams, scratch_level_v<Space>,
              SortStretch<Space>::scratch_bytes(rule.sorting_team, sizes));
  for_teams("fmm::tree::sort_tiles", teams, SortStretch<Space>{sizes, tiles, sorted});
}

}  // namespace fmm::tree
