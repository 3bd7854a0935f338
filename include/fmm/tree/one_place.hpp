// SPDX-License-Identifier: BSD-3-Clause
// Cells whose bodies are all at one place. More bodies than a leaf holds end in one of the deepest level then, in a
// cell of each level above, whose edges say nothing of the field there: bodies at one place exert none on each other.
#pragma once

#include <cstdint>

#include "../detail/launch.hpp"
#include "../detail/memory.hpp"
#include "octree.hpp"

namespace fmm::tree {

/// Marks of cells, as far as some of their bodies tell: of a leaf, and of a cell that has no more than one.
template <class Space, class Real>
struct MarkOnePlace {
  Array<Cell, Space> cells;
  Array<Body<Real>, Space> bodies, low;  ///< `low`: of coordinates in two parts, or none
  Array<std::uint8_t, Space> marks;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    marks(i) = are_at_one_place(CellIndex(i));
  }

 private:
  KOKKOS_FUNCTION bool are_at_one_place(CellIndex index) const {
    while (cells(index).child_count == 1) index = cells(index).child_begin;
    const Cell cell = cells(index);
    if (!cell.is_leaf() || cell.body_count < 2) return false;
    constexpr int most = 8;
    const int looked_at = cell.body_count < most ? cell.body_count : most;
    for (int k = 1; k < looked_at; ++k) {
      const auto other = BodyIndex(std::int64_t(cell.body_count - 1) * k / (looked_at - 1));
      if (!are_same(bodies, cell.body_begin, other)) return false;
      if (low.extent(0) > 0 && !are_same(low, cell.body_begin, other)) return false;
    }
    return true;
  }
  KOKKOS_FUNCTION static bool are_same(Array<Body<Real>, Space> const& some, BodyIndex first,
                                       BodyIndex other) {
    const Body<Real> a = some(first), b = some(first + other);
    return a.x == b.x && a.y == b.y && a.z == b.z;
  }
};

/// 1 for each such cell, 0 for others. Cost: O(cells), and of a chain of cells with a child each its length.
template <class Space, class Real>
Array<std::uint8_t, Space> cells_at_one_place(Space const& space, Array<Cell, Space> cells,
                                              Array<Body<Real>, Space> bodies,
                                              Array<Body<Real>, Space> low,
                                              Buffer<std::uint8_t, Space>& buffer) {
  const auto marks = buffer.resize(cells.extent(0));
  for_range("fmm::tree::one_place", space, std::int64_t(cells.extent(0)),
            MarkOnePlace<Space, Real>{cells, bodies, low, marks});
  return marks;
}

}  // namespace fmm::tree
