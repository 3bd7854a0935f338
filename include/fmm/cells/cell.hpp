// SPDX-License-Identifier: BSD-3-Clause
// What trees and operators both speak of: bodies, cells and lists of cells.
//
// Lengths. The root's edge is the unit of the whole computation. Cell centres are integers in
// units of 2^-22 of it, so that differences of centres are exact in float. A body's coordinates are
// counted from the centre of its leaf in units of the leaf's edge, and are thus in [-1/2, 1/2].
// Expansions are scaled with the edge of their cell; their potentials have the root's unit.
#pragma once

#include "../arrays.hpp"

namespace fmm {

/// Levels of the integer grid of cell centres: one more than the deepest level of a tree.
inline constexpr int grid_bits = 22;

/// Grid units in edges of the root.
KOKKOS_INLINE_FUNCTION float in_root_edges(std::int32_t grid_units) {
  return float(grid_units) * (1.0f / float(std::int32_t(1) << grid_bits));
}

/// Half the diagonal of a cube, rounded up, in its edges.
inline constexpr float half_diagonal = 0.8660255f;

/// A cell of the octree. A level's cells are contiguous, in Morton order; so are a cell's children.
struct Cell {
  std::int32_t centre[3];  ///< in units of 2^-22 of the root's edge
  BodyIndex body_begin, body_count;
  CellIndex parent;       ///< -1 for the root
  CellIndex child_begin;  ///< index of the first child
  std::int16_t level;
  std::int16_t child_count;  ///< 0 for a leaf

  KOKKOS_INLINE_FUNCTION bool is_leaf() const { return child_count == 0; }
  /// Edge in grid units.
  KOKKOS_INLINE_FUNCTION std::int32_t edge() const {
    return std::int32_t(1) << (grid_bits - level);
  }
};

/// Coordinate d of a child's centre, counted from its parent's in edges of the parent.
template <class Real>
KOKKOS_INLINE_FUNCTION Real child_offset(Cell const& parent, Cell const& child, int d) {
  return Real(child.centre[d] - parent.centre[d]) * (Real(1) / Real(parent.edge()));
}

/// A body in tree order: position relative to its leaf, and its charge.
template <class Real>
struct alignas(4 * sizeof(Real)) Body {
  Real x, y, z, q;
};

/// Potential and field (minus its gradient) of a body in tree order, without the kernel's prefactor.
template <class Real>
struct alignas(4 * sizeof(Real)) Sums {
  Real potential, x, y, z;
};

/// Up to a fixed number of bodies of one leaf: what a team works on.
struct Tile {
  CellIndex cell;
  BodyIndex first;  ///< index of the tile's first body in tree order
  BodyIndex count;
};

/// Rows of cell indices: row i is entries(offsets(i)) .. entries(offsets(i+1)-1). Without offsets all are empty.
template <class Space>
struct Csr {
  Array<Offset, Space> offsets;
  Array<CellIndex, Space> entries;
  /// Entries of the longest row, where that is known: in lists of leaves on a GPU.
  Offset longest = 0;

  KOKKOS_FORCEINLINE_FUNCTION Offset length(std::int64_t row) const {
    return offsets.extent(0) > 0 ? offsets(row + 1) - offsets(row) : 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION Offset begin(std::int64_t row) const { return offsets(row); }
  KOKKOS_FORCEINLINE_FUNCTION Offset end(std::int64_t row) const { return offsets(row + 1); }
};

/// Some part of each row of such a list.
template <class Space>
struct RowParts {
  Array<Offset, Space> begins, ends;
  Array<CellIndex, Space> entries;

  KOKKOS_FORCEINLINE_FUNCTION Offset begin(std::int64_t row) const { return begins(row); }
  KOKKOS_FORCEINLINE_FUNCTION Offset end(std::int64_t row) const { return ends(row); }
};

}  // namespace fmm
