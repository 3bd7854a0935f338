// SPDX-License-Identifier: BSD-3-Clause
// Pairs that sums leave out. Of a target with such pairs the near field is summed anew without them, in double, in the
// place of what P2P summed; terms of far ones are taken off. A difference of sums would keep what rounds a large term.
#pragma once

#include "../../cells/geometry.hpp"
#include "../../cells/near_cells.hpp"
#include "../../detail/launch.hpp"
#include "pairs.hpp"

namespace fmm::kernels {

/// Sources that a target's row leaves out, in the tree's order.
template <class Space, class Bodies>
struct ExcludedRows {
  Array<BodyIndex, Space> offsets;  ///< by the caller's number
  Bodies bodies;                    ///< the caller's numbers
  Array<BodyIndex, Space> permutation, place;

  KOKKOS_FORCEINLINE_FUNCTION BodyIndex begin(BodyIndex target) const {
    return offsets(permutation(target));
  }
  KOKKOS_FORCEINLINE_FUNCTION BodyIndex end(BodyIndex target) const {
    return offsets(permutation(target) + 1);
  }
  KOKKOS_FORCEINLINE_FUNCTION BodyIndex source(BodyIndex entry) const {
    return place(std::int64_t(bodies(entry)));
  }
};

/// Bodies of a tree: which sources P2P sums for a target, and where they are, in edges of the root.
template <class Space, class Real>
struct TreePlaces {
  Array<Cell, Space> cells;
  Csr<Space> list;
  Array<Body<Real>, Space> bodies, low;  ///< low parts of coordinates, or none

  KOKKOS_FUNCTION CellIndex leaf_of(BodyIndex body) const { return fmm::leaf_of(cells, body); }
  KOKKOS_FUNCTION bool is_near(CellIndex leaf, BodyIndex source) const {
    const CellIndex other = leaf_of(source);
    if (other == leaf) return true;
    for (Offset k = list.begin(leaf); k < list.end(leaf); ++k)
      if (list.entries(k) == other) return true;
    return false;
  }
  /// visit(cell, first body, number of bodies) for all cells whose bodies are near.
  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void visit_near(CellIndex leaf, Visit const& visit) const {
    for_near_cells<true>(list, leaf, [&](CellIndex cell) {
      visit(cell, cells(cell).body_begin, cells(cell).body_count);
    });
  }
  /// Of the target from the source, whose leaf may be a cell above that which is given.
  KOKKOS_FUNCTION void difference(CellIndex leaf, BodyIndex target, CellIndex cell,
                                  BodyIndex source, double (&d)[3]) const {
    const Cell to = cells(leaf), from = cells(cell);
    const double edge = in_root_edges<double>(to.edge()),
                 other = in_root_edges<double>(from.edge());
    const Body<Real> a = bodies(target), b = bodies(source);
    d[0] = offset_in_root<double>(to, from, 0) + (a.x * edge - b.x * other);
    d[1] = offset_in_root<double>(to, from, 1) + (a.y * edge - b.y * other);
    d[2] = offset_in_root<double>(to, from, 2) + (a.z * edge - b.z * other);
    if (low.extent(0) == 0) return;
    const Body<Real> c = low(target), e = low(source);
    d[0] += c.x * edge - e.x * other;
    d[1] += c.y * edge - e.y * other;
    d[2] += c.z * edge - e.z * other;
  }
};

/// The same without a tree: all pairs are near.
template <class Space>
struct PlacesOfAll {
  Array<Body<double>, Space> bodies;
  double per_unit;

  KOKKOS_FUNCTION CellIndex leaf_of(BodyIndex) const { return 0; }
  KOKKOS_FUNCTION bool is_near(CellIndex, BodyIndex) const { return true; }
  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void visit_near(CellIndex, Visit const& visit) const {
    visit(CellIndex(0), BodyIndex(0), BodyIndex(bodies.extent(0)));
  }
  KOKKOS_FUNCTION void difference(CellIndex, BodyIndex target, CellIndex, BodyIndex source,
                                  double (&d)[3]) const {
    const Body<double> a = bodies(target), b = bodies(source);
    d[0] = (a.x - b.x) * per_unit;
    d[1] = (a.y - b.y) * per_unit;
    d[2] = (a.z - b.z) * per_unit;
  }
};

/// A team for each target. `Sources` are SourceStrengths, whose lengths times `per_unit` are in the places' unit;
/// `far_sums` are what targets have besides their near field; none: 0.
template <class Space, class Kernel, class Out, class Places, class Rows, class Sources, class Sum>
struct LeaveOutPairs {
  using Strengths = typename Sources::strengths;
  using Total = TargetSums<double, Out::records>;
  static constexpr int records = Out::records;
  Kernel kernel;
  Places places;
  Rows rows;
  Sources sources;
  double per_unit;
  Array<Sums<Sum>, Space> far_sums, sums;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const auto target = BodyIndex(team.league_rank());
    const BodyIndex begin = rows.begin(target), end = rows.end(target);
    if (begin == end) return;
    const int rank = team.team_rank(), step = team.team_size();
    const CellIndex leaf = places.leaf_of(target);
    Total near{}, far{};
    int near_ones = 0;
    for (BodyIndex e = begin + rank; e < end; e += step) {
      const BodyIndex source = rows.source(e);
      if (places.is_near(leaf, source))
        ++near_ones;
      else
        add(leaf, target, places.leaf_of(source), source, far);
    }
    sum_over_team(team, near_ones);
    if (near_ones > 0)
      places.visit_near(leaf, [&](CellIndex cell, BodyIndex first, BodyIndex count) {
        bool has_excluded = false;
        for (BodyIndex e = begin; e < end; ++e) {
          const BodyIndex source = rows.source(e);
          has_excluded = has_excluded || (source >= first && source < first + count);
        }
        for (BodyIndex source = first + rank; source < first + count; source += step)
          if (source != target && !(has_excluded && is_excluded(begin, end, source)))
            add(leaf, target, cell, source, near);
      });
    for (int r = 0; r < records; ++r) {
      auto &of_near = near.record(r), &of_far = far.record(r);
      double numbers[8] = {of_near.potential, of_near.x, of_near.y, of_near.z,
                           of_far.potential,  of_far.x,  of_far.y,  of_far.z};
      for (double& number : numbers) sum_over_team(team, number);
      if (rank > 0) continue;
      const std::int64_t at = std::int64_t(target) * records + r;
      Sums<Sum> all = sums(at);
      if (near_ones > 0) {
        all = far_sums.extent(0) > 0 ? far_sums(at) : Sums<Sum>{Sum(0), Sum(0), Sum(0), Sum(0)};
        all = with(all, numbers, 1);
      }
      sums(at) = with(all, numbers + 4, -1);
    }
  }

 private:
  KOKKOS_FUNCTION bool is_excluded(BodyIndex begin, BodyIndex end, BodyIndex source) const {
    for (BodyIndex e = begin; e < end; ++e)
      if (rows.source(e) == source) return true;
    return false;
  }
  KOKKOS_FUNCTION static Sums<Sum> with(Sums<Sum> const& a, double const* b, double sign) {
    return {Sum(a.potential + sign * b[0]), Sum(a.x + sign * b[1]), Sum(a.y + sign * b[2]),
            Sum(a.z + sign * b[3])};
  }
  KOKKOS_FUNCTION void add(CellIndex leaf, BodyIndex target, CellIndex cell, BodyIndex source,
                           Total& sum) const {
    double d[3];
    places.difference(leaf, target, cell, source, d);
    const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    SourcePack<double, Strengths::numbers> strengths{0, 0, 0, double(sources.number(source, 0))};
    if constexpr (Strengths::numbers > 1)
      for (int k = 1; k < Strengths::numbers; ++k)
        strengths.others[k - 1] =
            double(sources.number(source, k)) * (Strengths::is_dipole(k) ? per_unit : 1.0);
    if constexpr (wants_derivatives<Strengths, Out>)
      Strengths::template add<Out>(pair_derivatives<false>(kernel, r2), d[0], d[1], d[2], strengths,
                                   sum);
    else
      Strengths::template add<Out>(pair_term<false>(kernel, r2), d[0], d[1], d[2], strengths, sum);
  }
};

/// Takes the rows' pairs out of the sums of so many targets. Cost: near pairs of the targets that have rows, in double.
template <class Out, class Space, class Kernel, class Places, class Rows, class Sources, class Sum>
void leave_out_pairs(Space const& space, std::int64_t targets, Kernel const& kernel,
                     Places const& places, Rows const& rows, Sources const& sources,
                     double per_unit, Array<Sums<Sum>, Space> far_sums,
                     Array<Sums<Sum>, Space> sums) {
  constexpr int team_size = is_host_space_v<Space> ? 1 : 32;
  for_teams("fmm::p2p::leave_out", TeamPolicy<Space>(space, int(targets), team_size),
            LeaveOutPairs<Space, Kernel, Out, Places, Rows, Sources, Sum>{
                kernel, places, rows, sources, per_unit, far_sums, sums});
}

}  // namespace fmm::kernels
