// SPDX-License-Identifier: BSD-3-Clause
// M2L: the local expansion of every cell from the multipoles of its list (Yokota & Barba 2011).
//
// Two forms. `M2L` translates one source a lane and sums over the team: for the O(p^3) rotations.
// `M2LByChunks` is the form of the chapter's listing for its O(p^4) sums: a team loads a chunk
// of sources in scratch memory (multipoles and irregular harmonics, by the Legendre recurrence), then
// every thread sums one target coefficient over the chunk.
#pragma once

#include <numeric>

#include "../cells/geometry.hpp"
#include "../cells/sets.hpp"
#include "mapping/gather_steps.hpp"
#include "strengths.hpp"

namespace fmm::kernels {

/// Geometry of the pairs (target, source l) in edges of the root, one a lane.
template <class V>
struct PairGeometry {
  using Real = lane_scalar_t<V>;
  static constexpr int W = lane_count_v<V>;
  Real d[3][W], edge[W];

  KOKKOS_INLINE_FUNCTION void set(int l, Cell const& target, Cell const& source) {
    for (int i = 0; i < 3; ++i) d[i][l] = offset_in_root<Real>(target, source, i);
    edge[l] = in_root_edges<Real>(source.edge());
  }
  KOKKOS_INLINE_FUNCTION V axis(int i) const { return LaneTraits<V>::load(d[i]); }
  KOKKOS_INLINE_FUNCTION V source_edge() const { return LaneTraits<V>::load(edge); }
};

/// `Row` numbers from one expansion to the next; if Adds, to local expansions that are there. `Cells` of one set or of
/// two (cells/sets.hpp).
template <class Space, class Expansion, class Real, class List = Csr<Space>,
          int Row = row_length(Expansion::size), bool Adds = false,
          class Cells = Array<Cell, Space>>
struct M2L : WithExpansion<Expansion> {
  using real = Real;
  static constexpr int size = Expansion::size, row = Row;
  static constexpr bool adds = Adds;
  Cells cells;
  List list;
  Array<Real, Space> multipoles, locals;

  KOKKOS_FUNCTION std::int64_t items(int owner) const {
    return list.end(owner) - list.begin(owner);
  }
  KOKKOS_FUNCTION Real* output(int owner) const {
    return locals.data() + std::int64_t(owner) * row;
  }

  KOKKOS_FUNCTION Real const* source(int owner, std::int64_t item) const {
    return multipoles.data() + std::int64_t(list.entries(list.begin(owner) + item)) * row;
  }
  KOKKOS_FUNCTION Route<Real> route(int owner, std::int64_t item) const {
    const Cell target = targets_of(cells)(owner);
    PairGeometry<Real> pair;
    pair.set(0, target, sources_of(cells)(list.entries(list.begin(owner) + item)));
    return Route<Real>::m2l(pair.axis(0), pair.axis(1), pair.axis(2), pair.source_edge(),
                            in_root_edges<Real>(target.edge()));
  }

  template <class V>
  KOKKOS_FUNCTION void add(int owner, std::int64_t first, int count, V* sum) const {
    constexpr int W = lane_count_v<V>;
    const Cell target = targets_of(cells)(owner);
    const Offset entry = list.begin(owner) + first;
    LaneRows<V> source;
    PairGeometry<V> pair;
    for (int l = 0; l < W; ++l) {
      const CellIndex s = list.entries(entry + (l < count ? l : 0));
      source.row[l] = multipoles.data() + std::int64_t(s) * row;
      pair.set(l, target, sources_of(cells)(s));
    }
    V a[size];
    source.template load<size>(count, a);
    this->expansion().m2l(pair.axis(0), pair.axis(1), pair.axis(2), pair.source_edge(),
                          V(in_root_edges<Real>(target.edge())), a);
    FMM_UNROLL
    for (int k = 0; k < loop_end<size>(size); ++k) sum[k] += a[k];
  }
};

/// The same of several densities at once, whose pairs of cells and rotations are the same: `One` is the M2L of the
/// first, and expansions of the next ones follow, so many numbers from one density's to the next's: `plane` of the
/// local ones.
template <class One, int Densities>
struct M2LOfDensities {
  using real = typename One::real;
  static constexpr int size = One::size, densities = Densities;
  One one;
  std::int64_t plane, plane_of_sources;

  KOKKOS_FUNCTION std::int64_t items(int owner) const { return one.items(owner); }
  KOKKOS_FUNCTION real* output(int owner) const { return one.output(owner); }

  template <class V>
  KOKKOS_FUNCTION void add(int owner, std::int64_t first, int count, V* sum) const {
    constexpr int W = lane_count_v<V>;
    const Cell target = targets_of(one.cells)(owner);
    const Offset entry = one.list.begin(owner) + first;
    LaneRows<V> source;
    PairGeometry<V> pair;
    for (int l = 0; l < W; ++l) {
      const CellIndex s = one.list.entries(entry + (l < count ? l : 0));
      source.row[l] = one.multipoles.data() + std::int64_t(s) * One::row;
      pair.set(l, target, sources_of(one.cells)(s));
    }
    const V edge(in_root_edges<real>(target.edge()));
    FMM_UNROLL
    for (int d = 0; d < Densities; ++d) {
      V a[size];
      source.template load<size>(count, a);
      for (int l = 0; l < W; ++l) source.row[l] += plane_of_sources;
      one.expansion().m2l(pair.axis(0), pair.axis(1), pair.axis(2), pair.source_edge(), edge, a);
      FMM_UNROLL
      for (int k = 0; k < loop_end<size>(size); ++k) sum[d * size + k] += a[k];
    }
  }
};

template <class Space, class Real, int Order, class Cells = Array<Cell, Space>>
struct M2LByChunks {
  using V = Lanes<Space, Real>;
  static constexpr int W = lane_count_v<V>;
  static constexpr int size = coefficient_count(Order), row = row_length(size);
  static constexpr int harmonics = coefficient_count(2 * Order);
  static constexpr int scratch_level = Tuning<Space, Real>::scratch_level;
  static constexpr int sums = (Order + 1) * (Order + 2) / 2;  ///< target coefficients, m >= 0

  /// Groups of W sources that are loaded at a time.
  KOKKOS_FUNCTION static constexpr int chunk() {
    const int fit = Tuning<Space, Real>::m2l_scratch / int((size + harmonics) * sizeof(V));
    return fit < 1 ? 1 : fit > 32 ? 32 : fit;
  }
  KOKKOS_FUNCTION static constexpr std::size_t scratch_bytes() {
    return (chunk() * (size + harmonics) + size + chunk()) * sizeof(V) + 4 * scratch_alignment;
  }

  Cells cells;
  Csr<Space> list;
  Array<Real, Space> multipoles, locals;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const int owner = team.league_rank(), rank = team.team_rank(), threads = team.team_size();
    const Offset begin = list.offsets(owner), end = list.offsets(owner + 1);
    V* const sum = scratch_array<V>(team, scratch_level, size);
    V* const M = scratch_array<V>(team, scratch_level, chunk() * size);
    V* const v = scratch_array<V>(team, scratch_level, chunk() * harmonics);
    V* const ratio = scratch_array<V>(team, scratch_level, chunk());  // target edge / distance
    for (int k = rank; k < size; k += threads) sum[k] = V(Real(0));
    for (Offset first = begin; first < end; first += chunk() * W) {
      const Offset left = end - first;
      const int groups = int(left < chunk() * W ? (left + W - 1) / W : chunk());
      team.team_barrier();
      for (int g = rank; g < groups; g += threads)
        ratio[g] = load(owner, first + g * W, end, M + g * size, v + g * harmonics);
      team.team_barrier();
      for (int c = rank; c < sums; c += threads) {
        const auto [j, k] = degree_and_order(c);
        Complex<V> of_chunk{V(Real(0)), V(Real(0))};
        for (int g = 0; g < groups; ++g) {
          V power(Real(1));
          for (int i = 0; i < j; ++i) power *= ratio[g];
          of_chunk +=
              NaiveTranslation::m2l_coefficient<Order>(j, k, M + g * size, v + g * harmonics) *
              power;
        }
        sum[index_re(j, k)] += of_chunk.re;
        if (k > 0) sum[index_im(j, k)] += of_chunk.im;
      }
    }
    team.team_barrier();
    static constexpr auto table = NormTable<Order, Real>::make();
    Real* const out = locals.data() + std::int64_t(owner) * row;
    for (int c = rank; c < sums; c += threads) {
      const auto [j, k] = degree_and_order(c);
      const Real f = table.inverse[index_re(j, k)] * Real(k == 0 ? 1 : 2);  // normalised again
      out[index_re(j, k)] = LaneTraits<V>::sum(sum[index_re(j, k)]) * f;
      if (k > 0) out[index_im(j, k)] = LaneTraits<V>::sum(sum[index_im(j, k)]) * f;
    }
  }

 private:
  struct DegreeAndOrder {
    int j, k;
  };
  /// The pair (j, k), 0 <= k <= j, at position c of the triangle.
  KOKKOS_FUNCTION static DegreeAndOrder degree_and_order(int c) {
    int j = 0;
    while ((j + 1) * (j + 2) / 2 <= c) ++j;
    return {j, c - j * (j + 1) / 2};
  }

  /// One group of sources: complex multipoles sum q U times (s / r)^n / r into M, and the irregular
  /// harmonics of the direction into v. Returns t / r, whose j-th power the sums of degree j lack.
  KOKKOS_FUNCTION V load(int owner, Offset first, Offset end, V* M, V* v) const {
    static constexpr auto table = NormTable<Order, Real>::make();
    const Cell target = targets_of(cells)(owner);
    LaneRows<V> source;
    PairGeometry<V> pair;
    const int count = int(end - first < W ? end - first : W);
    for (int l = 0; l < W; ++l) {
      const CellIndex s = list.entries(first + (l < count ? l : 0));
      source.row[l] = multipoles.data() + std::int64_t(s) * row;
      pair.set(l, target, sources_of(cells)(s));
    }
    source.template load<size>(count, M);
    for (int k = 0; k < size; ++k) M[k] *= V(table.inverse[k]);
    const V inverse =
        NaiveTranslation::m2l_harmonics<Order>(pair.axis(0), pair.axis(1), pair.axis(2), v);
    const V scale(1 / NaiveTranslation::degree_scale<Real>);
    scale_degrees<Order>(M, inverse, pair.source_edge() * inverse * scale);
    return V(in_root_edges<Real>(target.edge())) * inverse * scale;
  }
};

/// Whether the translation scheme takes the listings' form.
template <class Expansion>
struct IsPrepared : std::false_type {};
template <int Order, class Real>
struct IsPrepared<SphericalExpansion<Order, Real, NaiveTranslation>> : std::true_type {};

/// Local expansions of all targets' cells: locals(cell) = sum over the cell's list, 0 if that is empty.
/// Cost: one translation a list entry, O(p^4) or O(p^3) by the scheme.
template <class Expansion, class Space, class Cells, class Real>
void m2l(Space const& space, Cells const& cells, Csr<Space> list, Array<Real, Space> multipoles,
         Array<Real, Space> locals, Expansion const& expansion = {}) {
  const int owners = int(targets_of(cells).extent(0)), team_size = Tuning<Space, Real>::gather_team;
  if constexpr (IsPrepared<Expansion>::value) {
    using Functor = M2LByChunks<Space, Real, Expansion::order, Cells>;
    TeamPolicy<Space> policy(space, owners, team_size);
    add_scratch(policy, Functor::scratch_level, Functor::scratch_bytes());
    for_teams("fmm::m2l", policy, Functor{cells, list, multipoles, locals});
  } else {
    gather_translated<Axial::m2l, Expansion,
                      Tuning<Space, Real>::m2l_resident(RotationOrder<Expansion>::value)>(
        "fmm::m2l", space, owners, team_size,
        M2L<Space, Expansion, Real, Csr<Space>, row_length(Expansion::size), false, Cells>{
            expansion, cells, list, multipoles, locals});
  }
}

/// The same of several densities, whose expansions follow one another: as many at a time as registers have room for.
template <class Expansion, int Densities, class Space, class Cells, class Real>
void m2l_of_densities(Space const& space, Cells const& cells, Csr<Space> list,
                      Array<Real, Space> multipoles, Array<Real, Space> locals,
                      Expansion const& expansion = {}) {
  constexpr int order = RotationOrder<Expansion>::value;
  constexpr bool in_registers = order >= 0 && translation_split<Space, Expansion, Real> == 1;
  constexpr int together =
      in_registers ? std::gcd(Densities, Tuning<Space, Real>::m2l_densities(order)) : 1;
  using One = M2L<Space, Expansion, Real, Csr<Space>, row_length(Expansion::size), false, Cells>;
  for (int d = 0; d < Densities; d += together) {
    const auto of = [&](Array<Real, Space> const& all) { return plane(all, d, Densities); };
    if constexpr (together == 1) {
      m2l<Expansion>(space, cells, list, of(multipoles), of(locals), expansion);
    } else {
      const auto plane_of = [](auto const& all) { return std::int64_t(all.extent(0)) / Densities; };
      gather("fmm::m2l", space, int(targets_of(cells).extent(0)), Tuning<Space, Real>::gather_team,
             M2LOfDensities<One, together>{{expansion, cells, list, of(multipoles), of(locals)},
                                           plane_of(locals),
                                           plane_of(multipoles)});
    }
  }
}

}  // namespace fmm::kernels
