// SPDX-License-Identifier: BSD-3-Clause
// M2M: the multipole of a cell from those of its children (Yokota & Barba 2011), one level at a time
// from the leaves to the root.
#pragma once

#include "../cells/geometry.hpp"
#include "mapping/gather_steps.hpp"

namespace fmm::kernels {

template <class Space, class Expansion, class Real>
struct M2M : WithExpansion<Expansion> {
  using real = Real;
  static constexpr int size = Expansion::size, row = row_length(Expansion::size);
  Array<Cell, Space> cells;
  Array<CellIndex, Space> parents;  ///< the level's cells that have children
  Array<Real, Space> multipoles;

  KOKKOS_FUNCTION std::int64_t items(int owner) const { return cells(parents(owner)).child_count; }
  KOKKOS_FUNCTION Real* output(int owner) const {
    return multipoles.data() + std::int64_t(parents(owner)) * row;
  }

  KOKKOS_FUNCTION Real const* source(int owner, std::int64_t item) const {
    return multipoles.data() + (cells(parents(owner)).child_begin + item) * row;
  }
  KOKKOS_FUNCTION Route<Real> route(int owner, std::int64_t item) const {
    const Cell parent = cells(parents(owner));
    Cell const& child = cells(parent.child_begin + CellIndex(item));
    return Route<Real>::m2m(centre_in<Real>(parent, child, 0), centre_in<Real>(parent, child, 1),
                            centre_in<Real>(parent, child, 2));
  }

  template <class V>
  KOKKOS_FUNCTION void add(int owner, std::int64_t first, int count, V* sum) const {
    constexpr int W = lane_count_v<V>;
    const Cell parent = cells(parents(owner));
    LaneRows<V> child;
    Real shift[3][W];
    for (int l = 0; l < W; ++l) {
      const CellIndex c = parent.child_begin + CellIndex(first) + (l < count ? l : 0);
      child.row[l] = multipoles.data() + std::int64_t(c) * row;
      for (int d = 0; d < 3; ++d) shift[d][l] = centre_in<Real>(parent, cells(c), d);
    }
    using T = LaneTraits<V>;
    V M[size];
    child.template load<size>(count, M);
    at_level<Real>(this->expansion(), parent.level)
        .m2m(T::load(shift[0]), T::load(shift[1]), T::load(shift[2]), M);
    FMM_UNROLL
    for (int k = 0; k < loop_end<size>(size); ++k) sum[k] += M[k];
  }
};

/// Multipoles of `parents`, all of one level, from those of their children.
template <class Expansion, class Space, class Real>
void m2m(Space const& space, Array<Cell, Space> cells, Array<CellIndex, Space> parents,
         Array<Real, Space> multipoles, Expansion const& expansion = {}) {
  gather_translated<Axial::m2m, Expansion>(
      "fmm::m2m", space, int(parents.extent(0)), Tuning<Space, Real>::m2m_team,
      M2M<Space, Expansion, Real>{expansion, cells, parents, multipoles});
}

}  // namespace fmm::kernels
