// SPDX-License-Identifier: BSD-3-Clause
// P2L: adds the bodies of the leaves in a cell's list to its local expansion (Cheng, Greengard & Rokhlin
// 1999, J. Comput. Phys. 155:468, sec. 5: the X list). The mirror image of M2P: bodies too near for their
// leaf's multipole, but outside of the target's sphere. A team owns a cell; its threads and their lanes
// take the list's bodies, numbered through, and sum in registers, or as TeamTerms. Cost: about 6 (p+1)^2 flops a body.
#pragma once

#include "../cells/geometry.hpp"
#include "../cells/sets.hpp"
#include "mapping/gather.hpp"
#include "source_terms.hpp"

namespace fmm::kernels {

/// A place among the bodies of a row of leaves, which are some of these cells.
template <class Cells>
struct BodyWalk {
  Cells const& cells;
  CellIndex const *leaf, *end;
  BodyIndex place = 0;  ///< in the present leaf

  KOKKOS_FORCEINLINE_FUNCTION bool more() const { return leaf != end; }
  /// On by `count` bodies.
  KOKKOS_FORCEINLINE_FUNCTION void skip(BodyIndex count) {
    place += count;
    for (; more() && place >= cells(*leaf).body_count; ++leaf) place -= cells(*leaf).body_count;
  }
};

template <class Space, class Expansion, class Real, class Strengths = Charges<>,
          class Cells = Array<Cell, Space>>
struct P2L : WithExpansion<Expansion> {
  using V = Lanes<Space, Real>;
  static constexpr int W = lane_count_v<V>, size = Expansion::size;
  using Walk = BodyWalk<std::remove_cvref_t<decltype(sources_of(std::declval<Cells const&>()))>>;
  Cells cells;
  Csr<Space> list;
  SourceStrengths<Space, Real, Strengths> sources;
  Array<Real, Space> locals;
  int density;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const int owner = team.league_rank();
    CellIndex const* const row = list.entries.data();
    Walk walk{sources_of(cells), row + list.offsets(owner), row + list.offsets(owner + 1)};
    if (!walk.more()) return;
    const Cell target = targets_of(cells)(owner);
    Real* const out = locals.data() + std::int64_t(owner) * row_length(Expansion::size);
    if constexpr (sums_terms<Space, Expansion>) {
      TeamTerms<Space, Real> terms(team, out);
      for (;;) {  // together
        Walk own = walk;
        own.skip(team.team_rank());
        add(target, own, terms);
        walk.skip(team.team_size());
        if (!walk.more()) break;
      }
      terms.flush();
    } else {
      V sum[size];
      FMM_UNROLL
      for (int k = 0; k < loop_end<size>(size); ++k) sum[k] = V(Real(0));
      for (walk.skip(team.team_rank() * W); walk.more(); walk.skip((team.team_size() - 1) * W))
        add(target, walk, sum);
      team_sum<Space, Real, size, true>(team, sum, out);
    }
  }

 private:
  /// Adds the next body of each lane.
  template <class Sum>
  KOKKOS_FORCEINLINE_FUNCTION void add(Cell const& target, Walk& walk, Sum& sum) const {
    const Real per_edge = edges_of_level<Real>(target.level);
    Real x[W], y[W], z[W];
    LaneStrengths<Strengths, V> strengths;
    for (int l = 0; l < W; ++l) {
      x[l] = y[l] = z[l] = Real(1);  // empty lanes: no charge outside of the cell
      if (!walk.more()) continue;
      const Cell leaf = walk.cells(*walk.leaf);
      const BodyIndex i = leaf.body_begin + walk.place;
      const Body<Real> body = sources.bodies(i);
      const Real ratio = edge_in<Real>(target, leaf);
      x[l] = body.x * ratio + centre_in<Real>(target, leaf, 0);
      y[l] = body.y * ratio + centre_in<Real>(target, leaf, 1);
      z[l] = body.z * ratio + centre_in<Real>(target, leaf, 2);
      strengths.load(l, sources, i, body, density, per_edge);
      walk.skip(1);
    }
    using T = LaneTraits<V>;
    const auto p2l = [&](auto dx, auto dy, auto dz, auto q, auto& to) {
      this->expansion().p2l(dx, dy, dz, q, per_edge, to);
    };
    strengths.expand(p2l, T::load(x), T::load(y), T::load(z), sum);
  }
};

/// Adds to the locals of all targets' cells, of one of the densities, the sources' bodies of the leaves in their rows
/// of `list`. `cells` of one set or of two (cells/sets.hpp).
template <class Expansion, class Space, class Cells, class Real, class Strengths>
void p2l(Space const& space, Cells const& cells, Csr<Space> list,
         SourceStrengths<Space, Real, Strengths> const& sources, Array<Real, Space> locals,
         int density = 0, Expansion const& expansion = {}) {
  using Basis = basis_t<Expansion>;
  if constexpr (!std::is_same_v<Expansion, Basis>)  // the same for all translations
    p2l<Basis>(space, cells, list, sources, locals, density, expansion);
  else
    for_teams("fmm::p2l",
              summing_teams<Real>(space, int(targets_of(cells).extent(0)),
                                  Tuning<Space, Real>::gather_team),
              P2L<Space, Basis, Real, Strengths, Cells>{expansion, cells, list, sources, locals,
                                                        density});
}

}  // namespace fmm::kernels
