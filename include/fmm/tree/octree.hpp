// SPDX-License-Identifier: BSD-3-Clause
// The octree over bodies sorted by Morton key.
//
// Invariants: cells lie breadth first, a level contiguous, in Morton order inside it; the children of a
// cell are contiguous and in octant order; a cell's bodies are contiguous in tree order; empty cells do
// not exist; the root is cell 0 on level 0. Expansion centres are the centres of the cubes.
//
// Built in the execution space. The first levels come at once: every cell that there may be finds its
// bodies by binary search in the sorted keys, and all cells that there are are numbered by one scan. The
// others follow level by level. Two numbers a level come back to the host (its parents, and their children),
// for the first levels all together, and one at the end (the tiles).
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "../detail/launch.hpp"
#include "../detail/memory.hpp"
#include "keys/morton.hpp"
#include "octree_steps.hpp"
#include "sort_tiles.hpp"

namespace fmm::tree {

/// Periodic images of cells, behind the tree's own (images.hpp).
template <class Space>
struct ImageCells {
  CellIndex begin = 0;              ///< cells(begin) .. cells(begin + of.extent(0) - 1)
  CellIndex roots = 0;              ///< the first so many are of the root
  Array<CellIndex, Space> of = {};  ///< image begin + i is of cell of(i)
  Array<int, Space> root = {};      ///< and of that image of the root, 0 .. roots - 1
  float rest = 0;  ///< bodies lie at most so many grid units from where those of the cell do

  KOKKOS_INLINE_FUNCTION CellIndex count() const { return CellIndex(of.extent(0)); }
};

/// Two faces of a periodic cell, and the space between them.
struct Faces {
  float normal[3] = {}, low = 0, high = 0;  ///< low <= normal . x <= high in grid units
};

/// Whether an image is opened: while it is nearer to a periodic cell than so many of its edges, by its level.
struct ImageReach {
  float low[3] = {}, high[3] = {};  ///< the cell's bounds, in grid units
  Faces faces[3];
  int pairs_of_faces = 0;  ///< 3, or 0 of a cell that fills its bounds
  float edges[max_tree_depth + 1] = {};

  /// A distance of the image from the cell, in edges of the image, that is no larger than theirs.
  KOKKOS_FUNCTION float distance(Cell const& image) const {
    const float edge = float(image.edge()), half = 0.5f * edge;
    float gap2 = 0, between_faces = 0;
    for (int d = 0; d < 3; ++d) {
      const float at = float(image.centre[d]),
                  gap = std::fmax(0.0f, std::fmax(low[d] - (at + half), (at - half) - high[d]));
      gap2 += gap * gap;
    }
    for (int k = 0; k < pairs_of_faces; ++k) {
      Faces const& pair = faces[k];
      float at = 0, around = 0;
      for (int d = 0; d < 3; ++d) {
        at += pair.normal[d] * float(image.centre[d]);
        around += half * std::fabs(pair.normal[d]);
      }
      between_faces =
          std::fmax(between_faces, std::fmax(pair.low - (at + around), (at - around) - pair.high));
    }
    return std::fmax(std::sqrt(gap2), between_faces) / edge;
  }
  KOKKOS_FUNCTION bool operator()(Cell const& image, std::int64_t) const {
    return distance(image) < edges[image.level];
  }
};

/// The tree. Level l's cells are cells(level_begin[l]) .. cells(level_begin[l+1]-1).
template <class Space>
struct Octree {
  Array<Cell, Space> cells;
  Array<CellIndex, Space> leaves;
  Array<CellIndex, Space> parents;  ///< cells with children, level by level
  Array<Tile, Space> tiles;         ///< the leaves' bodies, at most Tuning::tile each
  int depth = 0;                    ///< the deepest level
  CellIndex level_begin[max_tree_depth + 2] = {};
  std::int64_t parent_begin[max_tree_depth + 2] = {};  ///< the same in `parents`
  ImageCells<Space> images;

  /// Cells but images.
  CellIndex own_cells() const { return level_begin[depth + 1]; }

  Array<CellIndex, Space> parents_of(int level) const {
    return subarray<CellIndex, Space>(parents, parent_begin[level],
                                      parent_begin[level + 1] - parent_begin[level]);
  }
};

/// Memory of an octree, kept from build to build.
template <class Space>
struct OctreeBuffers {
  Buffer<Cell, Space> cells{"cells"};
  Buffer<CellIndex, Space> leaves{"leaves"}, parents{"parents"};
  Buffer<Tile, Space> tiles{"tiles"}, unsorted_tiles{"unsorted tiles"};
  Buffer<ChildRange, Space> ranges{"children"};
  Buffer<BodyIndex, Space> begins{"first cells"};
  Buffer<CellIndex, Space> numbers{"numbers of first cells"};
  Buffer<Offset, Space> totals{"tree totals"};
  Buffer<CellIndex, Space> images{"images"};
  Buffer<int, Space> image_roots{"roots of images"};
  Buffer<Offset, Space> image_children{"images' children"};
  Buffer<int, Space> wanted{"wanted images"};
  Buffer<std::int32_t, Space> image_shifts{"shifts of images"};
  ImageReach image_reach;  ///< as far as any walk has wanted to open them

  std::size_t bytes() const {
    return cells.bytes() + leaves.bytes() + parents.bytes() + tiles.bytes() +
           unsorted_tiles.bytes() + ranges.bytes() + begins.bytes() + numbers.bytes() +
           totals.bytes() + images.bytes() + image_roots.bytes() + image_children.bytes() +
           wanted.bytes() + image_shifts.bytes();
  }
};

/// Levels 0 to `last` of a tree over `keys`. One host synchronisation.
template <class Space, class Rule>
void build_first_levels(Space const& space, OctreeBuffers<Space>& buffers, Octree<Space>& tree,
                        Array<std::uint64_t, Space> keys, Rule const& rule, int last) {
  const std::int64_t most = cells_above(last + 1), width = most - cells_above(last);
  const FirstCells<Space, Rule> first{rule, last, buffers.begins.resize(width + 1),
                                      buffers.numbers.resize(most)};
  for_range("fmm::tree::find", space, width + 1, FindFirstCells<Space>{keys, last, first.begins});
  const auto parents = buffers.parents.grow(space, cells_above(last), 0);
  const auto totals = buffers.totals.resize(2 * (last + 1));
  scan<std::uint32_t>("fmm::tree::number", space, most,
                      NumberFirstCells<Space, Rule>{first, parents, totals});
  Offset ends[2 * (most_first_levels + 1)];
  read_back(space, totals.data(), ends, totals.extent(0));
  tree.cells = buffers.cells.grow(space, ends[2 * last], 0);
  for_range("fmm::tree::write", space, most, WriteFirstCells<Space, Rule>{first, tree.cells});
  tree.depth = last;
  for (int level = 0; level <= last; ++level) {
    tree.level_begin[level + 1] = CellIndex(ends[2 * level]);
    tree.parent_begin[level + 1] = ends[2 * level + 1];
  }
  while (tree.level_begin[tree.depth + 1] == tree.level_begin[tree.depth]) --tree.depth;
}

/// The octree over `keys` (N >= 1) that are sorted by the digits of the first `sorted_levels` levels;
/// nothing if a cell of the last of these is to be split. The rule is a SplitRule, a SplitRuleOfTwo or a
/// SplitRuleBeside. Cost: O(cells log N) in the space, and one host synchronisation for each level, of levels 0 to
/// `most_first_levels` at most one for all.
template <class Space, class Rule>
std::optional<Octree<Space>> build_octree(Space const& space, OctreeBuffers<Space>& buffers,
                                          Array<std::uint64_t, Space> keys, Rule const& rule,
                                          TileRule tile_rule, int sorted_levels) {
  Octree<Space> tree;
  const BodyIndex n = BodyIndex(keys.extent(0));
  // So few cells on the level above the last of these hold more than a leaf on average: every level exists.
  const std::int64_t widest = 8 * (n / (std::int64_t(rule.leaf_capacity) + 1));
  int last = std::min({most_first_levels, rule.depth, sorted_levels});
  while (last > 0 && std::int64_t(1) << 3 * last > widest) --last;
  build_first_levels(space, buffers, tree, keys, rule, last);
  const auto totals = buffers.totals.resize(2);
  const auto parent_total = subarray<Offset, Space>(totals, 0, 1),
             child_total = subarray<Offset, Space>(totals, 1, 1);
  std::int64_t parents = tree.parent_begin[tree.depth + 1];
  for (int level = tree.depth;; ++level) {
    tree.depth = level;
    tree.parent_begin[level] = tree.parent_begin[level + 1] = parents;
    if (level == rule.depth) break;
    const CellIndex begin = tree.level_begin[level], end = tree.level_begin[level + 1];
    const std::int64_t most = rule.most_split(level, end - begin, n);
    if (most == 0) break;
    const auto selected = subarray<CellIndex, Space>(
        buffers.parents.grow(space, parents + most, parents), parents, most);
    scan<Offset>("fmm::tree::parents", space, end - begin,
                 SelectParents<Space, Rule>{rule, tree.cells, begin, end, selected, parent_total});
    auto ranges = buffers.ranges.resize(ranges_a_parent * most);
    for_uneven("fmm::tree::find", space, ranges_a_parent * most, 8 * ranges_a_parent,
               FindChildren<Space>{keys, tree.cells, selected, parent_total, ranges});
    scan<Offset>("fmm::tree::number", space, 8 * most,
                 NumberChildren<Space>{ranges, end, child_total});
    Offset found[2];  // parents, and the end of their children
    read_back(space, totals.data(), found, 2);
    if (found[1] > std::numeric_limits<CellIndex>::max())
      throw OutOfMemory("cells", std::size_t(found[1]) * sizeof(Cell));
    if (found[0] == 0) break;
    if (level == sorted_levels) return {};
    tree.cells = buffers.cells.grow(space, found[1], end);
    for_range("fmm::tree::write", space, 8 * found[0],
              WriteChildren<Space>{tree.cells, selected, ranges});
    tree.level_begin[level + 2] = CellIndex(found[1]);
    parents += found[0];
    tree.parent_begin[level + 1] = parents;
  }
  tree.parents = buffers.parents.view(parents);
  const std::int64_t cells = tree.cells.extent(0);
  tree.leaves = buffers.leaves.resize(cells - parents);
  scan<Offset>("fmm::tree::leaves", space, cells, SelectLeaves<Space>{tree.cells, tree.leaves});
  const std::int64_t leaves = cells - parents, most_tiles = leaves + n / tile_rule.size;
  const bool sorts = tile_rule.sorts(leaves);
  auto tiles = buffers.tiles.resize(most_tiles);
  if (sorts) {  // these lie where nothing is needed any more
    Lender<Space>(buffers.ranges.view()).lend(buffers.unsorted_tiles, most_tiles);
    tiles = buffers.unsorted_tiles.resize(most_tiles);
  }
  scan<Offset>("fmm::tree::tiles", space, leaves,
               WriteTiles<Space>{tile_rule.size, tree.cells, tree.leaves, tiles, child_total});
  const std::int64_t count = read_back(space, child_total.data());
  tree.tiles = buffers.tiles.view(count);
  if (sorts) sort_tiles(space, tile_rule, subarray<Tile, Space>(tiles, 0, count), tree.tiles);
  return tree;
}

}  // namespace fmm::tree
