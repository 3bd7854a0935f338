// SPDX-License-Identifier: BSD-3-Clause
// The octree over bodies sorted by Morton key.
//
// Invariants: cells lie breadth first, a level contiguous, in Morton order inside it; the children of a
// cell are contiguous and in octant order; a cell's bodies are contiguous in tree order; empty cells do
// not exist; the root is cell 0 on level 0. Expansion centres are the centres of the cubes.
//
// Built level by level in the execution space: a cell finds its children's bodies by binary search in
// the sorted keys. Two scalars a level come back to the host (the cells of the next one, and its parents'
// place), and three lengths at the end.
#pragma once

#include "../detail/memory.hpp"
#include "../detail/scan.hpp"
#include "morton.hpp"

namespace fmm::detail {

/// When to split: uniform trees to their depth, adaptive ones while a cell is too full.
struct SplitRule {
  int depth;
  int leaf_capacity;  ///< 0 for a uniform tree

  KOKKOS_INLINE_FUNCTION bool operator()(Cell const& cell) const {
    return cell.level < depth && cell.body_count > leaf_capacity;
  }
};

template <class Space>
struct FindChildren {
  Array<std::uint64_t, Space> keys;
  SplitRule rule;

  /// The first body of octants 0..7 of the cell, and its end.
  KOKKOS_FUNCTION void octants(Cell const& cell, BodyIndex (&begin)[9]) const {
    const int shift = 3 * (max_tree_depth - 1 - cell.level);
    BodyIndex from = cell.body_begin;
    const BodyIndex end = cell.body_begin + cell.body_count;
    begin[0] = from;
    for (unsigned octant = 1; octant < 8; ++octant) {
      BodyIndex low = from, high = end;  // first body whose octant is not below
      while (low < high) {
        const BodyIndex middle = low + (high - low) / 2;
        if ((keys(middle) >> shift & 7) < octant)
          low = middle + 1;
        else
          high = middle;
      }
      begin[octant] = from = low;
    }
    begin[8] = end;
  }
};

template <class Space>
struct CountChildren : FindChildren<Space> {
  Array<Cell, Space> cells;
  Array<int, Space> counts;
  CellIndex level_begin;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Cell cell = cells(level_begin + i);
    int count = 0;
    if (this->rule(cell)) {
      BodyIndex begin[9];
      this->octants(cell, begin);
      for (int octant = 0; octant < 8; ++octant) count += begin[octant] < begin[octant + 1];
    }
    counts(i) = count;
  }
};

template <class Space>
struct WriteChildren : FindChildren<Space> {
  Array<Cell, Space> cells;
  Array<Offset, Space> offsets;  ///< absolute index of the first child
  CellIndex level_begin;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const CellIndex index = level_begin + CellIndex(i);
    Cell cell = cells(index);
    cell.child_begin = CellIndex(offsets(i));
    cell.child_count = std::int16_t(offsets(i + 1) - offsets(i));
    cells(index) = cell;
    if (cell.child_count == 0) return;
    BodyIndex begin[9];
    this->octants(cell, begin);
    const std::int32_t quarter = cell.edge() / 4;
    CellIndex next = cell.child_begin;
    for (int octant = 0; octant < 8; ++octant) {
      if (begin[octant] == begin[octant + 1]) continue;
      Cell child;
      for (int d = 0; d < 3; ++d)
        child.centre[d] = cell.centre[d] + (octant >> (2 - d) & 1 ? quarter : -quarter);
      child.body_begin = begin[octant];
      child.body_count = begin[octant + 1] - begin[octant];
      child.parent = index;
      child.child_begin = 0;
      child.level = std::int16_t(cell.level + 1);
      child.child_count = 0;
      cells(next++) = child;
    }
  }
};

/// Whether a cell belongs to a selection, as 0 or 1, or into how many tiles it is cut.
template <class Space>
struct CountSelected {
  enum Which { leaves, parents, tiles };
  Array<Cell, Space> cells;
  Array<int, Space> counts;
  Which which;
  int tile_size;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Cell& cell = cells(i);
    counts(i) = which == parents  ? !cell.is_leaf()
                : !cell.is_leaf() ? 0
                : which == leaves ? 1
                                  : (cell.body_count + tile_size - 1) / tile_size;
  }
};

template <class Space>
struct WriteSelected {
  Array<Offset, Space> offsets;
  Array<CellIndex, Space> selected;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (offsets(i + 1) > offsets(i)) selected(offsets(i)) = CellIndex(i);
  }
};

template <class Space>
struct WriteTiles {
  Array<Cell, Space> cells;
  Array<Offset, Space> offsets;
  Array<Tile, Space> tiles;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int count = int(offsets(i + 1) - offsets(i));
    const Cell& cell = cells(i);
    for (int t = 0; t < count; ++t) {  // as even as can be
      const BodyIndex begin = BodyIndex(std::int64_t(cell.body_count) * t / count);
      const BodyIndex end = BodyIndex(std::int64_t(cell.body_count) * (t + 1) / count);
      tiles(offsets(i) + t) = {CellIndex(i), cell.body_begin + begin, end - begin};
    }
  }
};

template <class Space>
struct WriteRoot {
  Array<Cell, Space> cells;
  BodyIndex bodies;

  KOKKOS_FUNCTION void operator()(std::int64_t) const {
    Cell root{{}, 0, bodies, -1, 0, 0, 0};
    for (int d = 0; d < 3; ++d) root.centre[d] = std::int32_t(1) << (grid_bits - 1);
    cells(0) = root;
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
};

/// Memory of an octree, kept from build to build.
template <class Space>
struct OctreeBuffers {
  Buffer<Cell, Space> cells{"cells"};
  Buffer<CellIndex, Space> leaves{"leaves"}, parents{"parents"};
  Buffer<Tile, Space> tiles{"tiles"};
  Buffer<int, Space> counts{"cell counts"};
  Buffer<Offset, Space> offsets{"cell offsets"};

  std::size_t bytes() const {
    return cells.bytes() + leaves.bytes() + parents.bytes() + tiles.bytes() + counts.bytes() +
           offsets.bytes();
  }
};

/// The octree over sorted `keys` (N >= 1). `tile_size` >= 1. Cost: O(cells log N) in the space, and two
/// host synchronisations for each level.
template <class Space>
Octree<Space> build_octree(Space const& space, OctreeBuffers<Space>& buffers,
                           Array<std::uint64_t, Space> keys, SplitRule rule, int tile_size) {
  Octree<Space> tree;
  const BodyIndex n = BodyIndex(keys.extent(0));
  tree.cells = buffers.cells.grow(space, 1, 0);
  Kokkos::parallel_for("fmm::tree::root", range(space, 1), WriteRoot<Space>{tree.cells, n});
  tree.level_begin[1] = 1;
  int level = 0;
  for (CellIndex begin = 0, end = 1; begin < end; ++level) {
    tree.depth = level;
    auto counts = buffers.counts.resize(end - begin);
    auto offsets = buffers.offsets.resize(end - begin + 1);
    const FindChildren<Space> find{keys, rule};
    if (level < rule.depth) {
      Kokkos::parallel_for("fmm::tree::count", range(space, end - begin),
                           CountChildren<Space>{find, tree.cells, counts, begin});
      exclusive_scan(space, counts, offsets, end);
      const Offset next = read_back(space, offsets.data() + (end - begin));
      if (next > std::numeric_limits<CellIndex>::max())
        throw OutOfMemory("cells", std::size_t(next) * sizeof(Cell));
      if (next == end) break;
      tree.cells = buffers.cells.grow(space, next, end);
      Kokkos::parallel_for("fmm::tree::write", range(space, end - begin),
                           WriteChildren<Space>{find, tree.cells, offsets, begin});
      begin = end;
      end = CellIndex(next);
      tree.level_begin[level + 2] = end;
    } else {
      break;
    }
  }
  const std::int64_t cells = tree.cells.extent(0);
  auto counts = buffers.counts.resize(cells);
  auto offsets = buffers.offsets.resize(cells + 1);
  const auto select = [&](typename CountSelected<Space>::Which which) {
    Kokkos::parallel_for("fmm::tree::select", range(space, cells),
                         CountSelected<Space>{tree.cells, counts, which, tile_size});
    exclusive_scan(space, counts, offsets);
    return std::int64_t(read_back(space, offsets.data() + cells));
  };
  tree.leaves = buffers.leaves.resize(select(CountSelected<Space>::leaves));
  Kokkos::parallel_for("fmm::tree::leaves", range(space, cells),
                       WriteSelected<Space>{offsets, tree.leaves});
  tree.tiles = buffers.tiles.resize(select(CountSelected<Space>::tiles));
  Kokkos::parallel_for("fmm::tree::tiles", range(space, cells),
                       WriteTiles<Space>{tree.cells, offsets, tree.tiles});
  tree.parents = buffers.parents.resize(select(CountSelected<Space>::parents));
  Kokkos::parallel_for("fmm::tree::parents", range(space, cells),
                       WriteSelected<Space>{offsets, tree.parents});
  for (int l = 0; l <= tree.depth; ++l)
    tree.parent_begin[l] = read_back(space, offsets.data() + tree.level_begin[l]);
  tree.parent_begin[tree.depth + 1] = std::int64_t(tree.parents.extent(0));
  return tree;
}

/// Bodies relative to their leaves, formed in double before they are rounded: x = (position - centre) /
/// edge. A tile a team.
template <class Space, class Positions, class Real>
struct PlaceBodies {
  Positions positions;
  Cube cube;
  Array<Cell, Space> cells;
  Array<Tile, Space> tiles;
  Array<BodyIndex, Space> order;
  Array<Body<Real>, Space> bodies;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const Tile tile = tiles(team.league_rank());
    const Cell cell = cells(tile.cell);
    const double unit = cube.edge / double(std::int32_t(1) << grid_bits);
    double centre[3];
    for (int d = 0; d < 3; ++d) centre[d] = cube.low[d] + unit * cell.centre[d];
    const double per_edge = 1 / (unit * cell.edge());
    for (int i = team.team_rank(); i < tile.count; i += team.team_size()) {
      const std::int64_t from = order(tile.first + i);
      Body<Real>& body = bodies(tile.first + i);
      body.x = Real((double(positions(from, 0)) - centre[0]) * per_edge);
      body.y = Real((double(positions(from, 1)) - centre[1]) * per_edge);
      body.z = Real((double(positions(from, 2)) - centre[2]) * per_edge);
    }
  }
};

/// The largest distance of a cell's bodies from its centre, in edges of the cell: of leaves from their
/// bodies, of others a bound from their children, never more than the cube's half diagonal.
template <class Space, class Real>
struct LeafRadii {
  Array<Cell, Space> cells;
  Array<CellIndex, Space> leaves;
  Array<Body<Real>, Space> bodies;
  Array<float, Space> radii;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const CellIndex leaf = leaves(team.league_rank());
    const BodyIndex begin = cells(leaf).body_begin;
    Real largest(0);
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, cells(leaf).body_count),
        [&](int i, Real& r2) {
          const Body<Real> b = bodies(begin + i);
          const Real d2 = b.x * b.x + b.y * b.y + b.z * b.z;
          if (d2 > r2) r2 = d2;
        },
        Kokkos::Max<Real>(largest));
    // rounded up
    if (team.team_rank() == 0) radii(leaf) = float(std::sqrt(double(largest))) * 1.000001f;
  }
};

template <class Space>
struct ParentRadii {
  Array<Cell, Space> cells;
  Array<CellIndex, Space> parents;
  Array<float, Space> radii;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Cell cell = cells(parents(i));
    const float to_child = 0.43301270f * 1.000001f;  // sqrt(3)/4
    float largest = 0;
    for (int c = 0; c < cell.child_count; ++c) {
      const float r = to_child + 0.5f * radii(cell.child_begin + c);
      if (r > largest) largest = r;
    }
    radii(parents(i)) = largest < 0.8660255f ? largest : 0.8660255f;
  }
};

template <class Space, class Real>
void cell_radii(Space const& space, Octree<Space> const& tree, Array<Body<Real>, Space> bodies,
                Array<float, Space> radii, int team_size) {
  Kokkos::parallel_for("fmm::tree::radii",
                       TeamPolicy<Space>(space, int(tree.leaves.extent(0)), team_size),
                       LeafRadii<Space, Real>{tree.cells, tree.leaves, bodies, radii});
  for (int level = tree.depth - 1; level >= 0; --level) {
    const auto begin = tree.parent_begin[level], end = tree.parent_begin[level + 1];
    Array<CellIndex, Space> parents(tree.parents.data() + begin, end - begin);
    Kokkos::parallel_for("fmm::tree::parent_radii", range(space, end - begin),
                         ParentRadii<Space>{tree.cells, parents, radii});
  }
}

}  // namespace fmm::detail
