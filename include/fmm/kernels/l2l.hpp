// SPDX-License-Identifier: BSD-3-Clause
// L2L: adds a parent's local expansion to those of its children (Yokota & Barba 2011), one level at a
// time from the root down.
#pragma once

#include "gather.hpp"

namespace fmm::detail {

template <class Space, class Expansion, class Real>
struct L2L {
  using V = Lanes<Space, Real>;
  static constexpr int W = lane_count_v<V>;
  static constexpr int size = Expansion::size, row = row_length(Expansion::size);
  Array<Cell, Space> cells;
  CellIndex begin, end;  ///< the children's level
  Array<Real, Space> locals;

  KOKKOS_FUNCTION void operator()(std::int64_t group) const {
    const CellIndex first = begin + CellIndex(group) * W;
    const int count = int(end - first < W ? end - first : W);
    LaneRows<V> parent;
    Real shift[3][W];
    for (int l = 0; l < W; ++l) {
      const Cell child = cells(first + (l < count ? l : 0));
      const Cell& above = cells(child.parent);
      const Real unit = Real(1) / Real(above.edge());
      parent.row[l] = locals.data() + std::int64_t(child.parent) * row;
      for (int d = 0; d < 3; ++d) shift[d][l] = Real(child.centre[d] - above.centre[d]) * unit;
    }
    using T = LaneTraits<V>;
    V L[size];
    parent.template load<size>(count, L);
    Expansion::l2l(T::load(shift[0]), T::load(shift[1]), T::load(shift[2]), L);
    add_to_rows<size, row>(L, count, locals.data() + std::int64_t(first) * row);
  }
};

/// Adds to the locals of cells begin..end-1, all of one level, those of their parents.
template <class Expansion, class Space, class Real>
void l2l(Space const& space, Array<Cell, Space> cells, CellIndex begin, CellIndex end,
         Array<Real, Space> locals) {
  using Functor = L2L<Space, Expansion, Real>;
  Kokkos::parallel_for("fmm::l2l", range(space, (end - begin + Functor::W - 1) / Functor::W),
                       Functor{cells, begin, end, locals});
}

}  // namespace fmm::detail
