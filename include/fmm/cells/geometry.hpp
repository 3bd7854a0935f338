// SPDX-License-Identifier: BSD-3-Clause
// How cells lie to each other. An operator asks here where one cell is as another sees it, and in which
// unit:
//
//     operator     frame             where in it
//     -----------  ----------------  ----------------------------------------------------------------
//     M2M, L2L     parent            a child's centre: centre_in(parent, child, d)
//     M2P          source cell       the target leaf's centre: centre_in(source, leaf, d)
//     P2L          target cell       the source leaf's centre, and the edge of the leaf
//     P2P          target leaf       the source cell's centre, and the edge of the source cell
//     M2L          edges of root     the target's centre from the source's: offset_in_root(target, source, d)
//     classes      half edges of     the same, without its sign: half_edges(..)
//     of offsets   the smaller cell
//     criteria     edges of root     distances of centres and of cubes
//
// A frame is a cell: lengths in the edges of the cell, counted from its centre. A body at x in its leaf is at
// x edge_in(frame, leaf) + centre_in(frame, leaf, d) in the frame.
#pragma once

#include <cmath>

#include "cell.hpp"

namespace fmm {

/// Coordinate d of a cell's centre from another's, in grid units.
KOKKOS_FORCEINLINE_FUNCTION std::int32_t offset(Cell const& cell, Cell const& from, int d) {
  return cell.centre[d] - from.centre[d];
}
/// The same in edges of the root.
template <class Real>
KOKKOS_FORCEINLINE_FUNCTION Real offset_in_root(Cell const& cell, Cell const& from, int d) {
  return in_root_edges<Real>(offset(cell, from, d));
}
/// A length in half edges of a level's cells, of which it is a multiple.
KOKKOS_FORCEINLINE_FUNCTION std::int32_t half_edges(std::int32_t grid_units, int level) {
  return grid_units >> (grid_bits - 1 - level);
}

/// Edges of the frame in a grid unit.
template <class Real>
KOKKOS_FORCEINLINE_FUNCTION Real per_grid_unit(Cell const& frame) {
  return Real(1) / Real(frame.edge());
}
/// Coordinate d of a cell's centre.
template <class Real>
KOKKOS_FORCEINLINE_FUNCTION Real centre_in(Cell const& frame, Cell const& cell, int d) {
  return Real(offset(cell, frame, d)) * per_grid_unit<Real>(frame);
}
/// A cell's edge.
template <class Real>
KOKKOS_FORCEINLINE_FUNCTION Real edge_in(Cell const& frame, Cell const& cell) {
  return Real(cell.edge()) * per_grid_unit<Real>(frame);
}

/// Coordinate d of the centre of a cell's child in that octant.
KOKKOS_FORCEINLINE_FUNCTION std::int32_t child_centre(Cell const& parent, int octant, int d) {
  const std::int32_t quarter = parent.edge() / 4;
  return parent.centre[d] + (octant >> (2 - d) & 1 ? quarter : -quarter);
}
/// A coordinate of the centre of the cell with so many of its level's cells before it.
KOKKOS_FORCEINLINE_FUNCTION std::int32_t centre_after(std::int32_t cells, int level) {
  return (2 * cells + 1) * (grid_edge(level) / 2);
}

// ---- of anything that has a centre, in the unit of the centre

/// The squared distance of two centres.
template <class A, class B>
KOKKOS_INLINE_FUNCTION float distance2(A const& a, B const& b) {
  const float x = a.centre[0] - b.centre[0], y = a.centre[1] - b.centre[1],
              z = a.centre[2] - b.centre[2];
  return x * x + y * y + z * z;
}

/// Squares of the distances of two centres, and of two cubes around them.
struct Distances {
  float centres2 = 0, cubes2 = 0;
};
/// `reach`: half the edges of both cubes; of one, if the other is a point.
template <class A, class B>
KOKKOS_FORCEINLINE_FUNCTION Distances distances(A const& a, B const& b, float reach) {
  Distances squared;
  for (int d = 0; d < 3; ++d) {
    const float x = std::fabs(float(a.centre[d] - b.centre[d])), gap = x > reach ? x - reach : 0;
    squared.centres2 += x * x;
    squared.cubes2 += gap * gap;
  }
  return squared;
}

/// Whether two cubes touch, or nearly so: `reach` is half the edges of both, or a little more.
template <class A, class B>
KOKKOS_FORCEINLINE_FUNCTION bool touch(A const& a, B const& b, float reach) {
  bool all = true;
  for (int d = 0; d < 3; ++d) {
    const float gap = a.centre[d] - b.centre[d];
    if (gap > reach || -gap > reach) all = false;
  }
  return all;
}

}  // namespace fmm
