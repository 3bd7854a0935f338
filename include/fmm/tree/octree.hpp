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
#include <optional>

#include "../detail/launch.hpp"
#include "../detail/memory.hpp"
#include "../detail/search.hpp"
#include "keys/morton.hpp"
#include "tile_order.hpp"

namespace fmm::tree {

/// When to split: uniform trees to their depth, adaptive ones while a cell is too full.
struct SplitRule {
  int depth;
  int leaf_capacity;  ///< 0 for a uniform tree

  KOKKOS_INLINE_FUNCTION bool operator()(int level, BodyIndex body_count) const {
    return level < depth && body_count > leaf_capacity;
  }
};

/// The level's cells that are split, in their order, and how many they are.
template <class Space>
struct SelectParents {
  SplitRule rule;
  Array<Cell, Space> cells;
  CellIndex level_begin, level_end;
  Array<CellIndex, Space> parents;
  Array<Offset, Space> count;

  KOKKOS_FUNCTION void operator()(std::int64_t i, Offset& before, bool final) const {
    const CellIndex cell = level_begin + CellIndex(i);
    const bool splits = rule(cells(cell).level, cells(cell).body_count);
    if (final && splits) parents(before) = cell;
    before += splits;
    if (final && cell == level_end - 1) count(0) = before;
  }
};

/// Where the bodies of one octant of a cell begin, and the child's index if there are any.
struct ChildRange {
  BodyIndex begin;
  CellIndex index;
};

/// Range 9 i + octant is that of the level's parent i; the last of nine is where its bodies end.
inline constexpr int ranges_a_parent = 9;

/// The range of octant i % 8 of the level's parent i / 8.
KOKKOS_FORCEINLINE_FUNCTION std::int64_t range_of(std::int64_t i) {
  return i / 8 * ranges_a_parent + i % 8;
}
template <class Space>
KOKKOS_FORCEINLINE_FUNCTION bool has_bodies(Array<ChildRange, Space> const& ranges,
                                            std::int64_t i) {
  return ranges(range_of(i)).begin < ranges(range_of(i) + 1).begin;
}

/// Ranges of the level's parents, and of those that are none, without bodies.
template <class Space>
struct FindChildren {
  Array<std::uint64_t, Space> keys;
  Array<Cell, Space> cells;
  Array<CellIndex, Space> parents;
  Array<Offset, Space> parent_count;
  Array<ChildRange, Space> ranges;

  /// The first body of the cell that is not in an octant below.
  KOKKOS_FUNCTION BodyIndex first(Cell const& cell, unsigned octant) const {
    const int shift = 3 * (max_tree_depth - 1 - cell.level);
    return first_not(cell.body_begin, cell.body_begin + cell.body_count,
                     [&](BodyIndex body) { return (keys(body) >> shift & 7) < octant; });
  }

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t parent = i / ranges_a_parent;
    const auto octant = unsigned(i % ranges_a_parent);
    BodyIndex begin = 0;
    if (parent < parent_count(0)) {
      const Cell cell = cells(parents(parent));
      begin = cell.body_begin;
      if (octant == 8)
        begin += cell.body_count;
      else if (octant > 0)
        begin = first(cell, octant);
    }
    ranges(i) = {begin, 0};
  }
};

/// Children get their indices, from `base` on; next(0) becomes the last one's, plus one.
template <class Space>
struct NumberChildren {
  Array<ChildRange, Space> ranges;
  Offset base;
  Array<Offset, Space> next;

  KOKKOS_FUNCTION void operator()(std::int64_t i, Offset& before, bool final) const {
    if (final) ranges(range_of(i)).index = CellIndex(base + before);
    before += has_bodies<Space>(ranges, i);
    if (final && range_of(i) + 2 == std::int64_t(ranges.extent(0))) next(0) = base + before;
  }
};

template <class Space>
struct WriteChildren {
  Array<Cell, Space> cells;
  Array<CellIndex, Space> parents;
  Array<ChildRange, Space> ranges;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const CellIndex parent = parents(i / 8);
    const int octant = int(i % 8);
    const ChildRange range = ranges(range_of(i));
    if (octant == 0) {
      int count = 0;
      for (int k = 0; k < 8; ++k) count += has_bodies<Space>(ranges, i + k);
      cells(parent).child_begin = range.index;
      cells(parent).child_count = std::int16_t(count);
    }
    const BodyIndex end = ranges(range_of(i) + 1).begin;
    if (range.begin == end) return;
    const std::int32_t quarter = cells(parent).edge() / 4;
    Cell child;
    for (int d = 0; d < 3; ++d)
      child.centre[d] = cells(parent).centre[d] + (octant >> (2 - d) & 1 ? quarter : -quarter);
    child.body_begin = range.begin;
    child.body_count = end - range.begin;
    child.parent = parent;
    child.child_begin = 0;
    child.level = std::int16_t(cells(parent).level + 1);
    child.child_count = 0;
    cells(range.index) = child;
  }
};

/// Cells without children, in their order.
template <class Space>
struct SelectLeaves {
  Array<Cell, Space> cells;
  Array<CellIndex, Space> leaves;

  KOKKOS_FUNCTION void operator()(std::int64_t i, Offset& before, bool final) const {
    const bool leaf = cells(i).is_leaf();
    if (final && leaf) leaves(before) = CellIndex(i);
    before += leaf;
  }
};

/// The leaves' bodies in tiles of at most `tile_size` (a multiple of tile_step), as even as can be, and how many
/// tiles they are.
template <class Space>
struct WriteTiles {
  int tile_size;
  Array<Cell, Space> cells;
  Array<CellIndex, Space> leaves;
  Array<Tile, Space> tiles;
  Array<Offset, Space> tile_count;

  KOKKOS_FUNCTION void operator()(std::int64_t i, Offset& before, bool final) const {
    const Cell& cell = cells(leaves(i));
    const int count = (cell.body_count + tile_size - 1) / tile_size;
    if (final)
      for (int t = 0; t < count; ++t) {
        const std::int64_t steps = (cell.body_count + tile_step - 1) / tile_step;
        const BodyIndex begin = BodyIndex(steps * t / count * tile_step);
        const BodyIndex rest = BodyIndex(steps * (t + 1) / count * tile_step);
        const BodyIndex end = rest < cell.body_count ? rest : cell.body_count;
        tiles(before + t) = {leaves(i), cell.body_begin + begin, end - begin};
      }
    before += count;
    if (final && i == std::int64_t(leaves.extent(0)) - 1) tile_count(0) = before;
  }
};

/// The deepest level that is built at once with those above, at most.
inline constexpr int most_first_levels = 4;

/// Cells of all levels above `level`, if none is empty.
KOKKOS_FORCEINLINE_FUNCTION constexpr std::int64_t cells_above(int level) {
  return ((std::int64_t(1) << 3 * level) - 1) / 7;
}

/// All cells that levels 0 to `last` may have, breadth first, in Morton order: the candidates.
template <class Space>
struct FirstCells {
  SplitRule rule;
  int last;
  /// begins(i): where the bodies of cell i of the last level begin; one more for their end.
  Array<BodyIndex, Space> begins;
  Array<CellIndex, Space> numbers;  ///< of the candidates that exist

  /// A candidate: its level, its number there, its bodies.
  struct Candidate {
    int level;
    std::int64_t place;
    BodyIndex begin, count;
  };

  KOKKOS_FUNCTION Candidate at(int level, std::int64_t place) const {
    const int shift = 3 * (last - level);
    const BodyIndex begin = begins(place << shift);
    return {level, place, begin, begins((place + 1) << shift) - begin};
  }
  KOKKOS_FUNCTION Candidate candidate(std::int64_t i) const {
    int level = 0;
    while (cells_above(level + 1) <= i) ++level;
    return at(level, i - cells_above(level));
  }
  /// Where a cell is split those above it, which hold more, are, too.
  KOKKOS_FUNCTION bool exists(Candidate const& c) const {
    return c.count > 0 && (c.level == 0 || rule(c.level - 1, at(c.level - 1, c.place / 8).count));
  }
  /// Not known yet of the last level.
  KOKKOS_FUNCTION bool splits(Candidate const& c) const {
    return c.level < last && rule(c.level, c.count);
  }
  KOKKOS_FUNCTION CellIndex number(int level, std::int64_t place) const {
    return numbers(cells_above(level) + place);
  }
};

/// Where the bodies of each cell of level `last` begin.
template <class Space>
struct FindFirstCells {
  Array<std::uint64_t, Space> keys;
  int last;
  Array<BodyIndex, Space> begins;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int shift = 3 * (max_tree_depth - last);
    begins(i) = first_not(BodyIndex(0), BodyIndex(keys.extent(0)),
                          [&](BodyIndex body) { return std::int64_t(keys(body) >> shift) < i; });
  }
};

/// Numbers the candidates that exist, and lists those that are split. ends(2 l) and ends(2 l + 1) become the numbers
/// of cells and parents down to level l; of the last level no parent is counted.
template <class Space>
struct NumberFirstCells {
  FirstCells<Space> first;
  Array<CellIndex, Space> parents;
  Array<Offset, Space> ends;
  /// From this bit on sums count parents. Both counts fit in 32 bits, which Kokkos's scan on a GPU copies at once.
  static constexpr int parent_bit = 16;
  static_assert(cells_above(most_first_levels + 1) < std::int64_t(1) << parent_bit);

  KOKKOS_FUNCTION static CellIndex cells_of(std::uint32_t sum) {
    return CellIndex(sum & ((std::uint32_t(1) << parent_bit) - 1));
  }
  KOKKOS_FUNCTION static CellIndex parents_of(std::uint32_t sum) {
    return CellIndex(sum >> parent_bit);
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::uint32_t& before, bool final) const {
    const auto c = first.candidate(i);
    const bool exists = first.exists(c), splits = exists && first.splits(c);
    if (final) first.numbers(i) = cells_of(before);
    if (final && splits) parents(parents_of(before)) = cells_of(before);
    before += std::uint32_t(exists) + (std::uint32_t(splits) << parent_bit);
    if (final && i + 1 == cells_above(c.level + 1)) {
      ends(2 * c.level) = cells_of(before);
      ends(2 * c.level + 1) = parents_of(before);
    }
  }
};

/// Writes the candidates that exist.
template <class Space>
struct WriteFirstCells {
  FirstCells<Space> first;
  Array<Cell, Space> cells;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto c = first.candidate(i);
    if (!first.exists(c)) return;
    Cell cell{{}, c.begin, c.count, -1, 0, std::int16_t(c.level), 0};
    for (int d = 0; d < 3; ++d) {
      std::int32_t corner = 0;  // in edges of the cell
      for (int l = 0; l < c.level; ++l) corner |= std::int32_t(c.place >> (3 * l + 2 - d) & 1) << l;
      cell.centre[d] = (2 * corner + 1) * (cell.edge() / 2);
    }
    if (c.level > 0) cell.parent = first.number(c.level - 1, c.place / 8);
    if (first.splits(c)) {
      cell.child_begin = first.number(c.level + 1, 8 * c.place);
      for (int k = 0; k < 8; ++k)
        cell.child_count += first.at(c.level + 1, 8 * c.place + k).count > 0;
    }
    cells(first.numbers(i)) = cell;
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

  Array<CellIndex, Space> parents_of(int level) const {
    return part<CellIndex, Space>(parents, parent_begin[level],
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

  std::size_t bytes() const {
    return cells.bytes() + leaves.bytes() + parents.bytes() + tiles.bytes() +
           unsorted_tiles.bytes() + ranges.bytes() + begins.bytes() + numbers.bytes() +
           totals.bytes();
  }
};

/// Levels 0 to `last` of a tree over `keys`. One host synchronisation.
template <class Space>
void build_first_levels(Space const& space, OctreeBuffers<Space>& buffers, Octree<Space>& tree,
                        Array<std::uint64_t, Space> keys, SplitRule rule, int last) {
  const std::int64_t most = cells_above(last + 1), width = most - cells_above(last);
  const FirstCells<Space> first{rule, last, buffers.begins.resize(width + 1),
                                buffers.numbers.resize(most)};
  for_range("fmm::tree::find", space, width + 1, FindFirstCells<Space>{keys, last, first.begins});
  const auto parents = buffers.parents.grow(space, cells_above(last), 0);
  const auto totals = buffers.totals.resize(2 * (last + 1));
  scan<std::uint32_t>("fmm::tree::number", space, most,
                      NumberFirstCells<Space>{first, parents, totals});
  Offset ends[2 * (most_first_levels + 1)];
  read_back(space, totals.data(), ends, totals.extent(0));
  tree.cells = buffers.cells.grow(space, ends[2 * last], 0);
  for_range("fmm::tree::write", space, most, WriteFirstCells<Space>{first, tree.cells});
  tree.depth = last;
  for (int level = 0; level <= last; ++level) {
    tree.level_begin[level + 1] = CellIndex(ends[2 * level]);
    tree.parent_begin[level + 1] = ends[2 * level + 1];
  }
}

/// The octree over `keys` (N >= 1) that are sorted by the digits of the first `sorted_levels` levels;
/// nothing if a cell of the last of these is to be split.
/// Cost: O(cells log N) in the space, and one host synchronisation for each level, of levels 0 to
/// `most_first_levels` at most one for all.
template <class Space>
std::optional<Octree<Space>> build_octree(Space const& space, OctreeBuffers<Space>& buffers,
                                          Array<std::uint64_t, Space> keys, SplitRule rule,
                                          TileRule tile_rule, int sorted_levels) {
  Octree<Space> tree;
  const BodyIndex n = BodyIndex(keys.extent(0));
  // So few cells on the level above the last of these hold more than a leaf on average: every level exists.
  const std::int64_t widest = std::int64_t(8) * (n / (rule.leaf_capacity + 1));
  int last = std::min({most_first_levels, rule.depth, sorted_levels});
  while (last > 0 && std::int64_t(1) << 3 * last > widest) --last;
  build_first_levels(space, buffers, tree, keys, rule, last);
  const auto totals = buffers.totals.resize(2);
  const auto parent_total = part<Offset, Space>(totals, 0, 1),
             child_total = part<Offset, Space>(totals, 1, 1);
  std::int64_t parents = tree.parent_begin[tree.depth + 1];
  for (int level = tree.depth;; ++level) {
    tree.depth = level;
    tree.parent_begin[level] = tree.parent_begin[level + 1] = parents;
    if (level == rule.depth) break;
    const CellIndex begin = tree.level_begin[level], end = tree.level_begin[level + 1];
    const std::int64_t most = std::min<std::int64_t>(end - begin, n / (rule.leaf_capacity + 1));
    if (most == 0) break;
    const auto selected =
        part<CellIndex, Space>(buffers.parents.grow(space, parents + most, parents), parents, most);
    scan<Offset>("fmm::tree::parents", space, end - begin,
                 SelectParents<Space>{rule, tree.cells, begin, end, selected, parent_total});
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
  if (sorts) sort_tiles(space, tile_rule, part<Tile, Space>(tiles, 0, count), tree.tiles);
  return tree;
}

}  // namespace fmm::tree
