// SPDX-License-Identifier: BSD-3-Clause
// What close pairs are rounded by, at a glance: of every evaluation in mixed precision, or from coordinates in one part,
// in a few hundredths of its time. Whether it is more than the last verification saw is all that it tells; what can be
// had a verification says (rounded_pairs.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "../accuracy/error_measure.hpp"
#include "../detail/reduce.hpp"
#include "../engine/body_tree.hpp"
#include "../engine/list_build.hpp"
#include "../kernels/mapping/tile.hpp"
#include "../tuning.hpp"
#include "constants.hpp"
#include "leaves_beyond.hpp"
#include "result_strength.hpp"

namespace fmm::tolerance {

/// Sums over bodies: of the squares of what pairs are rounded by, and of the results; how many are rounded by more than a
/// share of their own; and how strong results are.
template <class Strength>
struct Glance {
  Strength strength;
  PerQuantity<double> rounded, results, exceeded;
  KOKKOS_FUNCTION void join(Glance const& other) {
    strength.join(other.strength);
    rounded += other.rounded;
    results += other.results;
    exceeded += other.exceeded;
  }
};

/// Each pair on its own, in the arithmetic of its precision: a pair whose coordinates err by delta errs by 2 delta / r
/// of its field, and by delta / r of its potential.
template <class Space, class Precision>
struct GlanceAtPairs {
  using Real = real_t<Precision>;
  using V = Lanes<Space, Real>;
  using Strength = AddStrength<Space, sum_t<Precision>>;
  using All = Glance<typename Strength::All>;
  static constexpr int W = lane_count_v<V>;
  static constexpr int groups =
      (Tuning<Space, Real>::tile + W - 1) / W;  ///< of a tile's bodies, side by side
  Array<Cell, Space> cells;
  Array<Tile, Space> tiles;
  Array<Body<Real>, Space> bodies, low;
  Strength strength;    ///< with the results
  double softening;     ///< in edges of the cube
  double delta, reach;  ///< edges of a leaf; pairs farther apart are rounded by next to nothing
  double share;

  KOKKOS_FUNCTION void operator()(std::int64_t i, All& all) const {
    const Tile tile = tiles(i / groups);
    const int before = int(i % groups) * W, left = tile.count - before, count = left < W ? left : W;
    if (count <= 0) return;
    const BodyIndex first = tile.first + before;
    const Cell leaf = cells(tile.cell);
    const double edge = edge_of_level<double>(leaf.level),
                 softening2 = softening * softening / (edge * edge);
    const LaneBodies<V> at(&bodies(first), count);
    OfBody of[W];
    if (has_pair(leaf, first, count, at.x)) add_within(leaf, first, count, at, softening2, of);
    for (int l = 0; l < count; ++l) {
      add_beyond(tile.cell, first + l, softening2, of[l]);
      const double taken = of[l].is_taken_for_another ? std::numeric_limits<double>::infinity() : 0;
      strength(first + l, all.strength);
      const Sums<sum_t<Precision>> s = strength.sums(first + l);
      const double field = 4 * of[l].fields / (edge * edge * edge * edge) + taken,
                   potential = of[l].potentials / (edge * edge) + taken,
                   of_field = double(s.x) * s.x + double(s.y) * s.y + double(s.z) * s.z,
                   of_potential = double(s.potential) * s.potential;
      all.rounded += {field, potential};
      all.results += {of_field, of_potential};
      all.exceeded += {double(field > share * share * of_field),
                       double(potential > share * share * of_potential)};
    }
  }

 private:
  using T = LaneTraits<V>;
  /// Sums of squares over a body's pairs, in edges of its leaf.
  struct OfBody {
    double fields = 0, potentials = 0;
    bool is_taken_for_another = false;
  };
  /// Whether one of some bodies side by side has another one of its leaf whose x differs by less than the reach: few
  /// have. It is all that most bodies cost.
  KOKKOS_FORCEINLINE_FUNCTION bool has_pair(Cell const& leaf, BodyIndex first, int count,
                                            V x) const {
    using simd::abs, simd::bits_of, simd::min, simd::select;
    const V far(Real(1));
    V nearest = far;
    const auto look = [&](BodyIndex begin, BodyIndex end) {
      FMM_UNROLL_BY(8)
      for (BodyIndex j = begin; j < end; ++j) nearest = min(nearest, abs(x - V(bodies(j).x)));
    };
    look(leaf.body_begin, first);
    if constexpr (W > 1)
      for (int m = 0; m < count; ++m) {  // lanes behind the last body repeat it
        const auto is_other = T::iota() < V(Real(m));
        const V apart = abs(x - V(bodies(first + m).x));
        nearest = min(nearest, select(is_other, apart, far));
      }
    look(first + count, leaf.body_begin + leaf.body_count);
    return bits_of(nearest < V(Real(reach))) != 0;
  }
  /// What bodies side by side have close to them in their leaf.
  KOKKOS_FUNCTION void add_within(Cell const& leaf, BodyIndex first, int count,
                                  LaneBodies<V> const& at, double softening2,
                                  OfBody (&of)[W]) const {
    using simd::abs, simd::bits_of, simd::rsqrt, simd::select;
    const LaneBodies<V> rest(&low(first), count);
    Real marks[W];
    for (int l = 0; l < W; ++l) marks[l] = low(first + (l < count ? l : 0)).q;
    const V mark = T::load(marks), none(Real(0)), one(Real(1)), off = V(Real(delta)),
            close2 = V(Real(reach * reach));
    V fields(none), potentials(none), taken_for_others(none);
    for (BodyIndex j = leaf.body_begin; j < leaf.body_begin + leaf.body_count; ++j) {
      const Body<Real> b = bodies(j);
      const V hx = at.x - V(b.x), hy = at.y - V(b.y), hz = at.z - V(b.z),
              high2 = hx * hx + hy * hy + hz * hz;
      if (bits_of(select(T::iota() == V(Real(j - first)), one, high2) < close2) == 0) continue;
      const Body<Real> other = low(j);
      const V dx = hx + (rest.x - V(other.x)), dy = hy + (rest.y - V(other.y)),
              dz = hz + (rest.z - V(other.z)), apart2 = dx * dx + dy * dy + dz * dz;
      const auto apart = apart2 > none;
      const V charge = V(b.q);
      taken_for_others += select(apart, none, select(mark == V(other.q), none, abs(charge)));
      const V u = rsqrt(select(apart, apart2 + V(Real(softening2)), one)),
              potential = select(apart, charge, none) * u * (off * u), field = potential * u;
      potentials += potential * potential;
      fields += field * field;
    }
    Real stored[3][W];
    T::store(fields, stored[0]);
    T::store(potentials, stored[1]);
    T::store(taken_for_others, stored[2]);
    for (int l = 0; l < count; ++l)
      of[l] = {double(stored[0][l]), double(stored[1][l]), stored[2][l] > Real(0)};
  }
  /// What a body has close to it beyond the border of its leaf.
  KOKKOS_FUNCTION void add_beyond(CellIndex leaf, BodyIndex k, double softening2,
                                  OfBody& of) const {
    for_bodies_beyond(
        cells, bodies, low, leaf, k, reach < constants.most_reach ? reach : constants.most_reach,
        [&](BodyIndex j, double const(&apart)[3], double scale) {
          const double apart2 = apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2];
          if (!(apart2 > 0)) {
            of.is_taken_for_another |= bodies(j).q != 0 && low(k).q != low(j).q;
            return;
          }
          const double r2 = apart2 + softening2, potential = bodies(j).q * delta * scale / r2;
          of.potentials += potential * potential;
          of.fields += potential * potential / r2;
        });
  }
};

/// All bodies' of an evaluation's results. Cost: O(N), the pairs within leaves, and of the bodies at their borders a walk
/// through the tree.
template <class Space, class Precision, class Strength>
auto glance_at_pairs(Space const& space, engine::BodyTree<Space, Precision> const& tree,
                     Strength const& strength, double softening, double tolerance, bool one_part) {
  constexpr bool single = sizeof(real_t<Precision>) == 4;
  using Pairs = GlanceAtPairs<Space, Precision>;
  const double least = one_part ? 1 : least_share_of_neighbours,
               delta = std::sqrt(2.0) * (one_part ? (single ? 0x1p-24 : 0x1p-53) : 0x1p-50),
               reach = constants.reach_of_rounding * delta / (tolerance * least);
  return reduce<typename Pairs::All>("fmm::tolerance::glance", space,
                                     tree.octree.tiles.extent(0) * Pairs::groups,
                                     Pairs{.cells = tree.octree.cells,
                                           .tiles = tree.octree.tiles,
                                           .bodies = tree.bodies,
                                           .low = tree.low,
                                           .strength = strength,
                                           .softening = softening / tree.cube.edge,
                                           .delta = delta,
                                           .reach = std::clamp(reach, 0x1p-20, 0.25),
                                           .share = tolerance / 2});
}

/// What an evaluation's sums tell of it. Of ErrorNorm::p99 the rounding is the tolerance if as many bodies are rounded
/// by half of it as may be. Cost: O(N), and one wait; of mixed precision or one part glance_at_pairs.
template <class Space, class Precision>
ResultStrength strength_of_evaluation(Space const& space,
                                      engine::PlanData<Space, Precision> const& plan,
                                      Array<Sums<sum_t<Precision>>, Space> sums, Quantities of,
                                      double softening, double tolerance, bool one_part) {
  auto const& tree = plan.tree;
  ResultStrength strength;
  if (sizeof(real_t<Precision>) == 4 || one_part) {
    const AddStrength<Space, sum_t<Precision>> add{sums, of.field, of.potential, of.is_own()};
    const auto all = glance_at_pairs(space, tree, add, softening, tolerance, one_part);
    space.fence();
    strength = strength_from(all.strength, tree, of);
    of.each([&](Quantity one) {
      const double rounding =
          of.is_own() ? 100 * tolerance * all.exceeded[one] / double(tree.size)
                      : (all.rounded[one] > 0 ? std::sqrt(all.rounded[one] / all.results[one]) : 0);
      strength.rounding = std::fmax(strength.rounding, rounding);
    });
  } else {
    strength = strength_of(space, tree, sums, of);
  }
  strength.cells = engine::entries_of_cells(plan.lists);
  return strength;
}

}  // namespace fmm::tolerance
