// SPDX-License-Identifier: BSD-3-Clause
// What trees and operators both speak of: bodies, cells and lists of cells. In which units: units.hpp.
#pragma once

#include "units.hpp"

namespace fmm {

/// A cell of the octree. A level's cells are contiguous, in Morton order; so are a cell's children.
struct Cell {
  std::int32_t centre[3];  ///< in grid units, from the root's corner
  BodyIndex body_begin, body_count;
  CellIndex parent;       ///< -1 for the root
  CellIndex child_begin;  ///< index of the first child; -1 of an image whose children are not there
  std::int16_t level;
  std::int16_t child_count;  ///< 0 for a leaf

  KOKKOS_INLINE_FUNCTION bool is_leaf() const { return child_count == 0; }
  /// An image (tree/images.hpp) that no list may go beyond yet.
  KOKKOS_INLINE_FUNCTION bool is_unopened() const { return child_begin < 0; }
  /// Edge in grid units.
  KOKKOS_INLINE_FUNCTION std::int32_t edge() const { return grid_edge(level); }
};

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

/// Tiles whose targets an operator sums for: all of so many, or some. By the number of all launches are shaped and rows
/// are cut, so that a target is given the same bits either way.
template <class Space>
struct TargetTiles {
  Array<Tile, Space> tiles;
  std::int64_t all;

  TargetTiles(Array<Tile, Space> const& some, std::int64_t of) : tiles(some), all(of) {}
  TargetTiles(Array<Tile, Space> const& these) : TargetTiles(these, these.extent(0)) {}
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

/// A range of each row of such a list.
template <class Space>
struct RowRanges {
  Array<Offset, Space> begins, ends;
  Array<CellIndex, Space> entries;

  KOKKOS_FORCEINLINE_FUNCTION Offset begin(std::int64_t row) const { return begins(row); }
  KOKKOS_FORCEINLINE_FUNCTION Offset end(std::int64_t row) const { return ends(row); }
};

}  // namespace fmm
