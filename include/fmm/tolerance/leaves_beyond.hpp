// SPDX-License-Identifier: BSD-3-Clause
// The leaves on the other side of a border that a body is close to.
#pragma once

#include <cmath>

#include "../cells/geometry.hpp"
#include "../detail/launch.hpp"
#include "../options.hpp"

namespace fmm::tolerance {

/// f(other leaf) for each other leaf of the tree that is closer than `reach` edges of the larger of both, at most a
/// quarter, to a body of leaf number `leaf`, at x in the edges of that from its centre. Cost: O(1) for a body inside
/// its leaf, else O(depth).
template <class Space, class F>
KOKKOS_FUNCTION void for_leaves_beyond(Array<Cell, Space> const& cells, CellIndex leaf,
                                       double const (&x)[3], double reach, F const& f) {
  const Cell own = cells(leaf);
  const double within = 0.5 - reach;
  if (std::fabs(x[0]) < within && std::fabs(x[1]) < within && std::fabs(x[2]) < within) return;
  constexpr int most =
      7 * max_tree_depth + 8;  // of a cell's eight children one is opened at a time
  CellIndex open[most];
  int count = 0;
  open[count++] = 0;
  while (count > 0) {
    const CellIndex index = open[--count];
    const Cell cell = cells(index);
    const double edge = edge_in<double>(own, cell),
                 half = 0.5 * edge + reach * (edge > 1 ? edge : 1);
    bool is_near = true;
    for (int d = 0; d < 3; ++d)
      is_near = is_near && std::fabs(x[d] - centre_in<double>(own, cell, d)) < half;
    if (!is_near) continue;
    for (int child = 0; child < cell.child_count; ++child) open[count++] = cell.child_begin + child;
    if (cell.is_leaf() && index != leaf) f(cell);
  }
}

}  // namespace fmm::tolerance
