// SPDX-License-Identifier: BSD-3-Clause
// L2L: adds a parent's local expansion to those of its children (Yokota & Barba 2011), one level at a
// time from the root down.
#pragma once

#include "../cells/geometry.hpp"
#include "mapping/gather_steps.hpp"

namespace fmm::kernels {

/// Whether none of `count` cells has one of the `bodies`, if there are such numbers.
template <class Space>
KOKKOS_FORCEINLINE_FUNCTION bool have_no_targets(Array<BodyIndex, Space> const& bodies,
                                                 CellIndex first, int count) {
  if (bodies.extent(0) == 0) return false;
  for (int i = 0; i < count; ++i)
    if (bodies(first + i) > 0) return false;
  return true;
}

template <class Space, class Expansion, class Real>
struct L2L : WithExpansion<Expansion> {
  using V = Lanes<Space, Real>;
  static constexpr int W = lane_count_v<V>;
  static constexpr int size = Expansion::size, row = row_length(Expansion::size);
  Array<Cell, Space> cells;
  CellIndex begin, end;  ///< the children's level
  Array<Real, Space> locals;
  Array<BodyIndex, Space> bodies;  ///< cells with 0 are left out; without such numbers none

  KOKKOS_FUNCTION void operator()(std::int64_t group) const {
    const CellIndex first = begin + CellIndex(group) * W;
    const int count = int(end - first < W ? end - first : W);
    if (have_no_targets(bodies, first, count)) return;
    LaneRows<V> parent;
    Real shift[3][W];
    for (int l = 0; l < W; ++l) {
      const Cell child = cells(first + (l < count ? l : 0));
      const Cell& above = cells(child.parent);
      parent.row[l] = locals.data() + std::int64_t(child.parent) * row;
      for (int d = 0; d < 3; ++d) shift[d][l] = centre_in<Real>(above, child, d);
    }
    using T = LaneTraits<V>;
    V L[size];
    parent.template load<size>(count, L);
    at_level<Real>(this->expansion(), cells(first).level - 1)
        .l2l(T::load(shift[0]), T::load(shift[1]), T::load(shift[2]), L);
    add_to_rows<size, row>(L, count, locals.data() + std::int64_t(first) * row);
  }
};

/// The same by teams, each for some children, of expansions too large for registers.
template <class Space, int Order, class RealNumber, int Split>
struct L2LInSteps {
  using Real = RealNumber;
  using Team = TranslationTeam<Space, Order, Axial::l2l, Real, Split>;
  static constexpr int size = Team::size, row = row_length(size);
  Array<Cell, Space> cells;
  CellIndex begin, end;  ///< the children's level
  Array<Real, Space> locals;
  Array<BodyIndex, Space> bodies;  ///< as in L2L

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& member) const {
    const CellIndex first = begin + member.league_rank() * Team::items;
    const int count = end - first < Team::items ? end - first : Team::items;
    if (have_no_targets(bodies, first, count)) return;
    const Team team(member);
    team.translate(
        count, [&](int i) { return locals.data() + std::int64_t(cells(first + i).parent) * row; },
        [&](int i) {
          const Cell child = cells(first + i);
          Cell const& above = cells(child.parent);
          return Route<Real>::l2l(centre_in<Real>(above, child, 0),
                                  centre_in<Real>(above, child, 1),
                                  centre_in<Real>(above, child, 2));
        });
    for (int i = team.rank / warp; i < count; i += Team::warps)
      for (int k = team.rank % warp; k < size; k += warp)
        locals(std::int64_t(first + i) * row + k) += team.number(k, i);
  }
};

/// Adds to the locals of cells begin..end-1, all of one level, those of their parents; of all cells, or at least of
/// those that have `bodies` above 0.
template <class Expansion, class Space, class Real>
void l2l(Space const& space, Array<Cell, Space> cells, CellIndex begin, CellIndex end,
         Array<Real, Space> locals, Array<BodyIndex, Space> bodies = {},
         Expansion const& expansion = {}) {
  constexpr int split = translation_split<Space, Expansion, Real>;
  if constexpr (split == 1) {
    using Functor = L2L<Space, Expansion, Real>;
    for_range("fmm::l2l", space, (end - begin + Functor::W - 1) / Functor::W,
              Functor{expansion, cells, begin, end, locals, bodies});
  } else {
    using Functor = L2LInSteps<Space, RotationOrder<Expansion>::value, Real, split>;
    constexpr int items = Functor::Team::items;
    launch_in_steps("fmm::l2l", space, int((end - begin + items - 1) / items),
                    Functor{cells, begin, end, locals, bodies});
  }
}

}  // namespace fmm::kernels
