// SPDX-License-Identifier: BSD-3-Clause
// What a body has close to it on the other side of its leaf's border: leaves, and their bodies.
#pragma once

#include <cmath>

#include "../cells/geometry.hpp"
#include "../detail/launch.hpp"
#include "../options.hpp"

namespace fmm::tolerance {

/// Cells that a walk through a tree has before it at most: of a cell's eight children one is opened at a time.
inline constexpr int most_open_cells = 7 * max_tree_depth + 8;

/// f(other leaf) for each leaf but number `leaf` that `is_near`, as all cells above it: a condition on cells, which may
/// become stricter with what is found. The way to the leaf is gone first.
template <class Space, class Near, class F>
KOKKOS_FUNCTION void for_other_leaves(Array<Cell, Space> const& cells, CellIndex leaf,
                                      Near const& is_near, F const& f) {
  const Cell own = cells(leaf);
  CellIndex open[most_open_cells];
  int count = 0;
  open[count++] = 0;
  while (count > 0) {
    const CellIndex index = open[--count];
    const Cell cell = cells(index);
    if (index == leaf || !is_near(cell)) continue;
    if (cell.is_leaf()) f(cell);
    CellIndex way = -1;
    for (int i = 0; i < cell.child_count; ++i) {
      const CellIndex index_of_child = cell.child_begin + i;
      const Cell child = cells(index_of_child);
      if (child.body_begin <= own.body_begin &&
          own.body_begin < child.body_begin + child.body_count)
        way = index_of_child;
      else
        open[count++] = index_of_child;
    }
    if (way >= 0) open[count++] = way;
  }
}

/// f(other leaf) for each other leaf of the tree that is closer than `reach` edges of the larger of both, at most a
/// quarter, to a body of leaf number `leaf`, at x in the edges of that from its centre. Cost: O(1) for a body inside
/// its leaf, else O(depth).
template <class Space, class F>
KOKKOS_FUNCTION void for_leaves_beyond(Array<Cell, Space> const& cells, CellIndex leaf,
                                       double const (&x)[3], double reach, F const& f) {
  const Cell own = cells(leaf);
  const double within = 0.5 - reach;
  if (std::fabs(x[0]) < within && std::fabs(x[1]) < within && std::fabs(x[2]) < within) return;
  const auto is_near = [&](Cell const& cell) {
    const double edge = edge_in<double>(own, cell),
                 half = 0.5 * edge + reach * (edge > 1 ? edge : 1);
    bool is = true;
    for (int d = 0; d < 3; ++d) is = is && std::fabs(x[d] - centre_in<double>(own, cell, d)) < half;
    return is;
  };
  for_other_leaves<Space>(cells, leaf, is_near, f);
}

/// f(number, its distance's parts, scale) for each body of leaf `other` that is closer than `reach` edges of the larger
/// leaf to body k of leaf `own`, but for that itself: from coordinates in two parts, in edges of `own`; those of the
/// other leaf are in its own, which is rounded by `scale`, at least 1, times as much.
template <class Space, class Real, class F>
KOKKOS_FUNCTION void for_bodies_of(Array<Body<Real>, Space> const& bodies,
                                   Array<Body<Real>, Space> const& low, Cell const& own,
                                   Cell const& other, BodyIndex k, double reach, F const& f) {
  const Body<Real> body = bodies(k), rest = low(k);
  const double x[3] = {body.x, body.y, body.z}, x_low[3] = {rest.x, rest.y, rest.z},
               ratio = edge_in<double>(own, other), scale = ratio > 1 ? ratio : 1,
               near2 = reach * scale * (reach * scale);
  double shift[3];
  for (int d = 0; d < 3; ++d) shift[d] = centre_in<double>(own, other, d);
  for (BodyIndex j = other.body_begin; j < other.body_begin + other.body_count; ++j) {
    const Body<Real> b = bodies(j), l = low(j);
    const double high[3] = {b.x, b.y, b.z}, parts[3] = {l.x, l.y, l.z};
    double apart[3], apart2 = 0;
    for (int d = 0; d < 3; ++d) {  // as in store_in_two_parts
      const double there = high[d] * ratio + shift[d],
                   left = (high[d] * ratio - (there - shift[d])) + parts[d] * ratio;
      apart[d] = (x[d] - there) + (x_low[d] - left);
      apart2 += apart[d] * apart[d];
    }
    if (apart2 <= near2 && j != k) f(j, apart, scale);
  }
}

/// The same of all leaves but its own. Cost: of for_leaves_beyond, and of their bodies.
template <class Space, class Real, class F>
KOKKOS_FUNCTION void for_bodies_beyond(Array<Cell, Space> const& cells,
                                       Array<Body<Real>, Space> const& bodies,
                                       Array<Body<Real>, Space> const& low, CellIndex leaf,
                                       BodyIndex k, double reach, F const& f) {
  const Body<Real> body = bodies(k);
  const double x[3] = {body.x, body.y, body.z};
  for_leaves_beyond(cells, leaf, x, reach, [&](Cell const& other) {
    for_bodies_of<Space>(bodies, low, cells(leaf), other, k, reach, f);
  });
}

}  // namespace fmm::tolerance
