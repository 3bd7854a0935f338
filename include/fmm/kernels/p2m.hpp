// SPDX-License-Identifier: BSD-3-Clause
// P2M: the multipole expansion of every leaf, M_nm = sum_j q_j e_nm(x_j - centre), lengths in edges of
// the leaf (Yokota & Barba 2011). Cost: about 6 (p+1)^2 flops a body.
#pragma once

#include "../detail/memory.hpp"
#include "mapping/gather.hpp"
#include "source_terms.hpp"

namespace fmm::kernels {

template <class Space, class Expansion, class Real, class Strengths = Charges<>>
struct P2M : WithExpansion<Expansion> {
  using real = Real;
  static constexpr int size = Expansion::size;
  Array<Cell, Space> cells;
  Array<CellIndex, Space> leaves;
  SourceStrengths<Space, Real, Strengths> sources;
  Array<Real, Space> multipoles;
  int density;

  KOKKOS_FUNCTION std::int64_t items(int owner) const { return cells(leaves(owner)).body_count; }
  KOKKOS_FUNCTION Real* output(int owner) const {
    return multipoles.data() + std::int64_t(leaves(owner)) * row_length(Expansion::size);
  }

  template <class V>
  KOKKOS_FUNCTION void add(int owner, std::int64_t first, int count, V* sum) const {
    Cell const& leaf = cells(leaves(owner));
    const BodyIndex begin = leaf.body_begin + BodyIndex(first);
    const Body<Real>* const body = sources.bodies.data() + begin;
    constexpr int W = lane_count_v<V>;
    if constexpr (W == 1 && !Strengths::has_dipoles) {  // by way of lanes nvcc fuses other products
      at_level<Real>(this->expansion(), leaf.level)
          .p2m(body->x, body->y, body->z, sources.charge(begin, *body, density), sum);
    } else {
      Real x[W] = {}, y[W] = {}, z[W] = {};  // empty lanes: no charge at the centre
      LaneStrengths<Strengths, V> strengths;
      for (int l = 0; l < (W == 1 ? 1 : count); ++l) {
        x[l] = body[l].x;
        y[l] = body[l].y;
        z[l] = body[l].z;
        strengths.load(l, sources, begin + l, body[l], density, edges_of_level<Real>(leaf.level));
      }
      using T = LaneTraits<V>;
      strengths.expand(p2m_of(leaf), T::load(x), T::load(y), T::load(z), sum);
    }
  }
  /// What adds a body's terms to the leaf's multipole.
  KOKKOS_FORCEINLINE_FUNCTION auto p2m_of(Cell const& leaf) const {
    return [this, level = leaf.level](auto x, auto y, auto z, auto q, auto& sum) {
      at_level<Real>(this->expansion(), level).p2m(x, y, z, q, sum);
    };
  }
};

/// The same for TeamTerms: a body a thread.
template <class Space, class Expansion, class Real, class Strengths>
struct P2MTerms {
  static constexpr int size = Expansion::size;
  P2M<Space, Expansion, Real, Strengths> op;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const int owner = team.league_rank(), rank = team.team_rank();
    Real* const out = op.output(owner);
    for (int k = rank; k < size; k += team.team_size()) out[k] = Real(0);
    TeamTerms<Space, Real> terms(team, out);
    Cell const& leaf = op.cells(op.leaves(owner));
    const BodyIndex begin = leaf.body_begin;
    const std::int64_t items = op.items(owner);
    for (std::int64_t first = 0; first < items; first += team.team_size()) {
      const bool there = first + rank < items;
      const BodyIndex i = begin + BodyIndex(there ? first + rank : 0);
      const Body<Real> body = op.sources.bodies(i);
      LaneStrengths<Strengths, Real> strengths;
      if (there)
        strengths.load(0, op.sources, i, body, op.density, edges_of_level<Real>(leaf.level));
      strengths.expand(op.p2m_of(leaf), body.x, body.y, body.z, terms);
    }
    terms.flush();
  }
};

/// Multipoles of `leaves`, of one of the densities; other rows of `multipoles` ((cells) x (row length)) are not
/// touched.
template <class Expansion, class Space, class Real, class Strengths>
void p2m(Space const& space, Array<Cell, Space> cells, Array<CellIndex, Space> leaves,
         SourceStrengths<Space, Real, Strengths> const& sources, Array<Real, Space> multipoles,
         int density = 0, Expansion const& expansion = {}) {
  using Basis = basis_t<Expansion>;
  if constexpr (!std::is_same_v<Expansion, Basis>) {  // the same for all translations
    p2m<Basis>(space, cells, leaves, sources, multipoles, density, expansion);
  } else {
    const P2M<Space, Basis, Real, Strengths> op{expansion, cells,      leaves,
                                                sources,   multipoles, density};
    constexpr int team_size = Tuning<Space, Real>::gather_team;
    const int owners = int(leaves.extent(0));
    if constexpr (sums_terms<Space, Basis>) {
      if (owners > 0)
        for_teams("fmm::p2m", summing_teams<Real>(space, owners, team_size),
                  P2MTerms<Space, Basis, Real, Strengths>{op});
    } else {
      gather("fmm::p2m", space, owners, team_size, op);
    }
  }
}

/// Multipoles of leaves, of so many numbers, rounded to another type.
template <int Size, class Space, class From, class To>
struct RoundMultipoles {
  Array<CellIndex, Space> leaves;
  Array<From, Space> from;
  Array<To, Space> to;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t number = std::int64_t(leaves(i / Size)) * row_length(Size) + i % Size;
    to(number) = To(from(number));
  }
};

/// Multipoles of `leaves` in float that are rounded once: those of bodies in double, in `memory` for as long. Where
/// strong charges cancel in a leaf, charges in float leave more than the multipole.
template <class Expansion, class Space, class Real>
void p2m_rounded_once(Space const& space, Array<Cell, Space> cells, Array<CellIndex, Space> leaves,
                      Array<Body<double>, Space> bodies, Buffer<double, Space>& memory,
                      Array<Real, Space> multipoles) {
  using Wide = in_double_t<basis_t<Expansion>>;
  const auto wide = memory.resize(std::size_t(cells.extent(0)) * row_length(Wide::size));
  p2m<Wide>(space, cells, leaves, charges_of(bodies), wide);
  for_range("fmm::p2m::round", space, std::int64_t(leaves.extent(0)) * Wide::size,
            RoundMultipoles<Wide::size, Space, double, Real>{leaves, wide, multipoles});
}

}  // namespace fmm::kernels
