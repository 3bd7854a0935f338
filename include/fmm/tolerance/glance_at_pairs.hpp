// SPDX-License-Identifier: BSD-3-Clause
// What close pairs are rounded by, at a glance: of every evaluation in mixed precision, or from coordinates in one
// part, in a few hundredths of its time. Whether it is more than the last verification saw is all that it tells; what
// can be had a verification says (rounded_pairs.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "../accuracy/error_measure.hpp"
#include "../detail/reduce.hpp"
#include "../engine/list_build.hpp"
#include "../kernels/mapping/tile.hpp"
#include "../tuning.hpp"
#include "constants.hpp"
#include "leaves_beyond.hpp"
#include "pair_coordinates.hpp"
#include "result_strength.hpp"

namespace fmm::tolerance {

/// Sums over bodies: how strong results are, and for L2 errors the squares of the rounding of close pairs, for own
/// errors the number of bodies whose rounding is more than a share of their result.
template <class Strength>
struct Glance {
  Strength strength;
  PerQuantity<double> rounded;
  KOKKOS_FUNCTION void join(Glance const& other) {
    strength.join(other.strength);
    rounded += other.rounded;
  }
};

/// Which tiles may have close bodies. Where P2P leaves tiles with such bodies to a launch of their own, a tile that it
/// did not leave has none: its margin is at least 25 times what a glance looks for. (Bodies that are softened more than
/// the margin are not close to P2P, and are not rounded by much.)
template <class Space>
struct TilesWithClose {
  Array<int, Space> left;  ///< of teams, those of the tiles last; empty: nothing is known
  Csr<Space> list;
  Offset longest;  ///< a longer row may have teams besides that of its tile

  KOKKOS_FUNCTION bool may_have(std::int64_t tile, std::int64_t tiles, CellIndex leaf) const {
    const auto teams = std::int64_t(left.extent(0));
    return teams == 0 || left(teams - tiles + tile) != 0 || list.length(leaf) > longest;
  }
};

/// Bodies of a tile side by side; none beyond its end.
struct BodiesSideBySide {
  std::int64_t tile;
  CellIndex leaf;
  BodyIndex first;
  int count;

  template <class Space>
  KOKKOS_FUNCTION static BodiesSideBySide of(Array<Tile, Space> const& tiles, std::int64_t i,
                                             int rows_of_tile, int most) {
    const Tile tile = tiles(i / rows_of_tile);
    const int before = int(i % rows_of_tile) * most, left = tile.count - before;
    return {i / rows_of_tile, tile.cell, tile.first + before, left < most ? left : most};
  }
};

/// Of each body whether another one may be within the reach of it: one in its leaf whose x and y differ by less, or one
/// beyond a border. Few have any, and this is all that the others cost.
template <class Space, class Real>
struct FindCloseBodies {
  using V = Lanes<Space, Real>;
  static constexpr int W = lane_count_v<V>;
  static constexpr int rows =
      (Tuning<Space, Real>::tile + W - 1) / W;  ///< of a tile's bodies, side by side
  static constexpr float to_be_found = -1;
  Array<Cell, Space> cells;
  Array<Tile, Space> tiles;
  TilesWithClose<Space> close;
  Array<Body<Real>, Space> bodies;
  Real reach;  ///< edges of a leaf
  Array<RoundingOfBody, Space> found;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto [tile, leaf, first, count] = BodiesSideBySide::of(tiles, i, rows, W);
    if (count <= 0) return;
    if (!close.may_have(tile, std::int64_t(tiles.extent(0)), leaf)) {
      for (int l = 0; l < count; ++l) found(first + l) = {0, 0};
      return;
    }
    Real nearest[W];
    LaneTraits<V>::store(nearest_to(cells(leaf), first, count), nearest);
    for (int l = 0; l < count; ++l) {
      const Body<Real> b = bodies(first + l);
      const Real from_border =
          Real(0.5) - std::fmax(std::fmax(std::fabs(b.x), std::fabs(b.y)), std::fabs(b.z));
      const float rounding = nearest[l] < reach || from_border < reach ? to_be_found : 0;
      found(first + l) = {rounding, rounding};
    }
  }

 private:
  /// The least distance of some bodies side by side from others of their leaf, in x or y, whichever is more.
  KOKKOS_FORCEINLINE_FUNCTION V nearest_to(Cell const& leaf, BodyIndex first, int count) const {
    using simd::abs, simd::max, simd::min, simd::select;
    const LaneBodies<V> at(&bodies(first), count);
    const V far(Real(1));
    V nearest = far;
    const auto apart = [&](BodyIndex j) {
      return max(abs(at.x - V(bodies(j).x)), abs(at.y - V(bodies(j).y)));
    };
    const auto look = [&](BodyIndex begin, BodyIndex end) {
      FMM_UNROLL_BY(8)
      for (BodyIndex j = begin; j < end; ++j) nearest = min(nearest, apart(j));
    };
    look(leaf.body_begin, first);
    if constexpr (W > 1)
      for (int m = 0; m < count; ++m)
        nearest = min(nearest, select(LaneTraits<V>::iota() == V(Real(m)), far, apart(first + m)));
    look(first + count, leaf.body_begin + leaf.body_count);
    return nearest;
  }
};

/// What the found bodies are rounded by, each pair on its own: one whose coordinates err by delta errs by 2 delta / r
/// of its field, and by delta / r of its potential.
template <class Space, class Real>
struct RoundCloseBodies {
  using Find = FindCloseBodies<Space, Real>;
  Array<Cell, Space> cells;
  Array<Tile, Space> tiles;
  Array<Body<Real>, Space> bodies, low;
  double softening;     ///< in edges of the cube
  double delta, reach;  ///< edges of a leaf; pairs farther apart are rounded by next to nothing
  Array<RoundingOfBody, Space> found;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto [tile, leaf, first, count] = BodiesSideBySide::of(tiles, i, Find::rows, Find::W);
    for (BodyIndex k = first; k < first + count; ++k) {
      if (found(k).field != Find::to_be_found) continue;
      const PerQuantity<double> squares = squares_of(leaf, k);
      found(k) = {float(std::sqrt(squares.field)), float(std::sqrt(squares.potential))};
    }
  }

 private:
  /// What a body's sums are rounded by, squared; infinite if it is taken for another one.
  KOKKOS_FUNCTION PerQuantity<double> squares_of(CellIndex leaf, BodyIndex k) const {
    const Cell own = cells(leaf);
    const double edge = edge_of_level<double>(own.level), edge2 = edge * edge,
                 softening2 = softening * softening / edge2;
    PerQuantity<double> squares;
    const auto add = [&](BodyIndex j, double const(&apart)[3], double scale) {
      const double apart2 = apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2],
                   q = bodies(j).q;
      if (!(apart2 > 0)) {
        if (q != 0 && low(k).q != low(j).q)
          squares +=
              {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
        return;
      }
      const double r2 = apart2 + softening2, potential = q * delta * scale / r2;
      squares += {4 * potential * potential / r2 / (edge2 * edge2), potential * potential / edge2};
    };
    for_bodies_of<Space>(bodies, low, own, own, k, reach, add);
    for_bodies_beyond(cells, bodies, low, leaf, k, reach, add);
    return squares;
  }
};

/// Adds up what bodies are rounded by.
template <class Space, class Sum>
struct GlanceAtBodies {
  using Strength = AddStrength<Space, Sum>;
  using All = Glance<typename Strength::All>;
  Array<RoundingOfBody, Space> rounding;
  Strength strength;  ///< with the results
  double share;

  KOKKOS_FUNCTION void operator()(std::int64_t k, All& all) const {
    strength(k, all.strength);
    const double field = rounding(k).field, potential = rounding(k).potential;
    if (strength.own) {
      const Sums<Sum> s = strength.sums(k);
      const double x = s.x, y = s.y, z = s.z, p = s.potential;
      all.rounded += {double(field > share * std::sqrt(x * x + y * y + z * z)),
                      double(potential > share * std::fabs(p))};
    } else {
      all.rounded += {field * field, potential * potential};
    }
  }
};

/// All bodies' of an evaluation's results, from coordinates as its near field had them. Cost: O(N), the pairs within
/// leaves, where P2P left tiles in the left ones alone, and of the bodies at their borders a walk through the tree.
template <class Space, class Precision, class Real>
auto glance_at_pairs(Space const& space, engine::PlanData<Space, Precision>& plan,
                     PairCoordinates<Space, Real> const& in,
                     AddStrength<Space, sum_t<Precision>> const& strength, double softening,
                     double tolerance, bool one_part) {
  using Find = FindCloseBodies<Space, Real>;
  using Bodies = GlanceAtBodies<Space, sum_t<Precision>>;
  auto const& tree = plan.tree;
  auto const& tiles = tree.octree.tiles;
  const double least = one_part ? 1 : least_share_of_neighbours,
               unit = one_part ? (sizeof(Real) == 4 ? 0x1p-24 : 0x1p-53) : in.rounding;
  const auto [delta, reach] = ClosePairs::of(unit, tolerance * least, constants.least_of_glance);
  const auto found = plan.memory.rounding.resize(tree.size);
  const std::int64_t rows = tiles.extent(0) * Find::rows;
  for_range("fmm::tolerance::close", space, rows,
            Find{.cells = in.cells,
                 .tiles = tiles,
                 .close = {.left = std::exchange(plan.memory.left, {}),
                           .list = plan.lists.p2p,
                           .longest = Tuning<Space, Real>::p2p_segment},
                 .bodies = in.bodies,
                 .reach = Real(reach),
                 .found = found});
  for_range("fmm::tolerance::round", space, rows,
            RoundCloseBodies<Space, Real>{.cells = in.cells,
                                          .tiles = tiles,
                                          .bodies = in.bodies,
                                          .low = in.low,
                                          .softening = softening / tree.cube.edge,
                                          .delta = delta,
                                          .reach = reach,
                                          .found = found});
  return reduce<typename Bodies::All>("fmm::tolerance::glance", space, tree.size,
                                      Bodies{found, strength, tolerance / 2});
}

/// What an evaluation's sums tell of it, with coordinates as of glance_at_pairs. Of ErrorNorm::p99 the rounding is the
/// tolerance if as many bodies are rounded by half of it as may be. Cost: O(N), and one wait; of mixed precision or one
/// part glance_at_pairs.
template <class Space, class Precision, class Real>
ResultStrength strength_of_evaluation(Space const& space, engine::PlanData<Space, Precision>& plan,
                                      PairCoordinates<Space, Real> const& in,
                                      Array<Sums<sum_t<Precision>>, Space> sums, Quantities of,
                                      double softening, double tolerance, bool one_part) {
  auto const& tree = plan.tree;
  ResultStrength strength;
  if (sizeof(real_t<Precision>) == 4 || one_part) {
    const AddStrength<Space, sum_t<Precision>> add{sums, of.field, of.potential, of.is_own()};
    const auto all = glance_at_pairs(space, plan, in, add, softening, tolerance, one_part);
    space.fence();
    strength = strength_from(all.strength, tree, of);
    of.each([&](Quantity one) {
      const double rounded = all.rounded[one],
                   rounding = of.is_own()   ? 100 * tolerance * rounded / double(tree.size)
                              : rounded > 0 ? std::sqrt(rounded / all.strength.sums[one])
                                            : 0;
      strength.rounding = std::fmax(strength.rounding, rounding / of.values(one));
    });
  } else {
    strength = strength_of(space, tree, sums, of);
  }
  strength.cells = engine::entries_of_cells(plan.lists);
  return strength;
}

}  // namespace fmm::tolerance
