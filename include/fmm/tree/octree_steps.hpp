// SPDX-License-Identifier: BSD-3-Clause
// The steps that an octree is built in: cells of a level from those above, cells of the first levels at once, leaves
// and tiles. octree.hpp launches them.
#pragma once

#include "../cells/geometry.hpp"
#include "../detail/launch.hpp"
#include "../detail/search.hpp"
#include "keys/morton.hpp"
#include "sort_tiles.hpp"

namespace fmm::tree {

/// When to split: uniform trees to their depth, adaptive ones while a cell is too full, or above a level.
struct SplitRule {
  int depth;
  int leaf_capacity;  ///< 0 for a uniform tree
  /// Of every leaf, so that a part of the bodies has the cells of all down to that level.
  int least_depth = 0;

  /// Whether to split a cell with so many bodies, from number `first` on.
  KOKKOS_INLINE_FUNCTION bool operator()(int level, BodyIndex /*first*/,
                                         BodyIndex body_count) const {
    return level < depth && (level < least_depth || body_count > leaf_capacity);
  }
  /// How many of `cells` cells of a level, of n bodies in all, are split at most.
  std::int64_t most_split(int level, std::int64_t cells, std::int64_t n) const {
    return level < least_depth ? cells : std::min(cells, n / (std::int64_t(leaf_capacity) + 1));
  }
};

/// The rule of one of two sets: a cell is split where it is too full of either. Where both sets have bodies their trees
/// thus have the same cells. Of a level both sets' keys are sorted by the levels down to that one.
template <class Space>
struct SplitRuleOfTwo : SplitRule {
  Array<std::uint64_t, Space> keys, other_keys;  ///< of this set's bodies and of the other's

  KOKKOS_FUNCTION bool operator()(int level, BodyIndex first, BodyIndex body_count) const {
    return SplitRule::operator()(level, first, body_count) ||
           (level < depth && is_too_full_of_others(level, first));
  }
  std::int64_t most_split(int level, std::int64_t cells, std::int64_t n) const {
    return SplitRule::most_split(level, cells, n + std::int64_t(other_keys.extent(0)));
  }

 private:
  KOKKOS_FUNCTION bool is_too_full_of_others(int level, BodyIndex first) const {
    const auto cell_of = [shift = 3 * (max_tree_depth - level)](std::uint64_t key) {
      return key >> shift;
    };
    const std::uint64_t cell = cell_of(keys(first));
    const auto others = std::int64_t(other_keys.extent(0));
    const auto last = leaf_capacity + first_not(std::int64_t(0), others, [&](std::int64_t body) {
                        return cell_of(other_keys(body)) < cell;
                      });
    return last < others && cell_of(other_keys(last)) == cell;
  }
};

/// The rule of targets beside a tree of sources that stays: a cell with sources is split where it is split there, and
/// one without sources where SplitRule says.
template <class Space>
struct SplitRuleBeside : SplitRule {
  Array<std::uint64_t, Space> keys;  ///< of the targets
  Array<Cell, Space> source_cells;

  KOKKOS_FUNCTION bool operator()(int level, BodyIndex first, BodyIndex body_count) const {
    Cell cell = source_cells(0);
    while (cell.level < level) {
      if (cell.is_leaf()) return false;
      const auto octant = unsigned(keys(first) >> 3 * (max_tree_depth - 1 - cell.level)) & 7;
      int child = cell.child_count == 8 ? int(octant) : 0;
      if (cell.child_count < 8)
        while (child < cell.child_count && octant_in(cell, cell.child_begin + child) != octant)
          ++child;
      if (child == cell.child_count) return SplitRule::operator()(level, first, body_count);
      cell = source_cells(cell.child_begin + child);
    }
    return !cell.is_leaf();
  }
  std::int64_t most_split(int /*level*/, std::int64_t cells, std::int64_t /*n*/) const {
    return cells;
  }

 private:
  KOKKOS_FUNCTION unsigned octant_in(Cell const& parent, CellIndex child) const {
    std::int32_t const(&at)[3] = source_cells(child).centre;
    return unsigned(at[0] > parent.centre[0]) << 2 | unsigned(at[1] > parent.centre[1]) << 1 |
           unsigned(at[2] > parent.centre[2]);
  }
};

/// The level's cells that are split, in their order, and how many they are.
template <class Space, class Rule = SplitRule>
struct SelectParents {
  Rule rule;
  Array<Cell, Space> cells;
  CellIndex level_begin, level_end;
  Array<CellIndex, Space> parents;
  Array<Offset, Space> count;

  KOKKOS_FUNCTION void operator()(std::int64_t i, Offset& before, bool final) const {
    const CellIndex cell = level_begin + CellIndex(i);
    const bool splits = rule(cells(cell).level, cells(cell).body_begin, cells(cell).body_count);
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
    Cell child;
    for (int d = 0; d < 3; ++d) child.centre[d] = child_centre(cells(parent), octant, d);
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
    const int count = int((std::int64_t(cell.body_count) + tile_size - 1) / tile_size);
    if (final)
      for (int t = 0; t < count; ++t) {
        const std::int64_t steps = (std::int64_t(cell.body_count) + tile_step - 1) / tile_step;
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
template <class Space, class Rule = SplitRule>
struct FirstCells {
  Rule rule;
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
    if (c.count == 0 || c.level == 0) return c.count > 0;
    const Candidate parent = at(c.level - 1, c.place / 8);
    return rule(parent.level, parent.begin, parent.count);
  }
  /// Not known yet of the last level.
  KOKKOS_FUNCTION bool splits(Candidate const& c) const {
    return c.level < last && rule(c.level, c.begin, c.count);
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
template <class Space, class Rule = SplitRule>
struct NumberFirstCells {
  FirstCells<Space, Rule> first;
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
template <class Space, class Rule = SplitRule>
struct WriteFirstCells {
  FirstCells<Space, Rule> first;
  Array<Cell, Space> cells;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto c = first.candidate(i);
    if (!first.exists(c)) return;
    Cell cell{{}, c.begin, c.count, -1, 0, std::int16_t(c.level), 0};
    for (int d = 0; d < 3; ++d) {
      std::int32_t before = 0;
      for (int l = 0; l < c.level; ++l) before |= std::int32_t(c.place >> (3 * l + 2 - d) & 1) << l;
      cell.centre[d] = centre_after(before, c.level);
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

}  // namespace fmm::tree
