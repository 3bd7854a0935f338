// SPDX-License-Identifier: BSD-3-Clause
// Units of length, and the ways from one to another.
//
//     unit                   what is counted in it
//     ---------------------  ---------------------------------------------------------------------------
//     edge of the root       criteria, lists, M2L; the potential of an expansion
//     grid unit              centres and edges of cells: whole numbers, 2^-22 edges of the root
//     edge of a cell         the coefficients of the cell's expansions; the coordinates of a leaf's bodies,
//                            which are counted from the leaf's centre and are thus in [-1/2, 1/2]
//     the caller's           positions; Cube says how long an edge of the root is
//
// Edges are powers of two of each other. A length changes its unit without rounding, and so does the
// difference of two centres, in float up to four edges of the root.
#pragma once

#include <cstdint>

#include "../arrays.hpp"

namespace fmm {

/// Levels of the integer grid of cell centres: one more than the deepest level of a tree.
inline constexpr int grid_bits = 22;

/// The edge of the root, or of another cube that has a root's centres, in grid units.
inline constexpr std::int32_t root_edge = std::int32_t(1) << grid_bits;

/// The edge of a level's cells in grid units.
KOKKOS_INLINE_FUNCTION std::int32_t grid_edge(int level) {
  return std::int32_t(1) << (grid_bits - level);
}

/// Grid units in edges of the root.
template <class Real = float>
KOKKOS_FORCEINLINE_FUNCTION Real in_root_edges(std::int32_t grid_units) {
  return Real(grid_units) * (Real(1) / Real(root_edge));
}

/// Edges of the root in grid units.
template <class Real>
KOKKOS_FORCEINLINE_FUNCTION Real in_grid_units(Real root_edges) {
  return root_edges * Real(root_edge);
}

/// A grid unit where an edge of the root is `edge` long.
KOKKOS_FORCEINLINE_FUNCTION double grid_unit(double edge) { return edge / double(root_edge); }

/// The edge of the root in edges of a level's cells.
template <class Real>
KOKKOS_FORCEINLINE_FUNCTION Real edges_of_level(int level) {
  return Real(std::int32_t(1) << level);
}

/// The edge of a level's cells in edges of the root.
template <class Real>
KOKKOS_FORCEINLINE_FUNCTION Real edge_of_level(int level) {
  return Real(1) / edges_of_level<Real>(level);
}

/// Half the diagonal of a cube, rounded up, in its edges.
inline constexpr float half_diagonal = 0.8660255f;

/// From a cell's centre to that of a child, rounded up, in edges of the cell: sqrt(3) / 4.
inline constexpr float child_distance = 0.43301270f * 1.000001f;

}  // namespace fmm
