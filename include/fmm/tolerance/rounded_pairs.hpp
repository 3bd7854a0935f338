// SPDX-License-Identifier: BSD-3-Clause
// What the rounding of coordinates in two parts makes of close pairs: to 2^-50 of a leaf's edge in mixed precision, to
// 2^-107 in double. Sums over all bodies are from the same coordinates and do not see it.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "../accuracy/error_measure.hpp"
#include "../detail/reduce.hpp"
#include "../engine/body_tree.hpp"
#include "order_selection.hpp"
#include "quantities.hpp"

namespace fmm::tolerance {

/// Of a body and all others of its leaf, in units of charge / (edge of the cube)^2 and charge / edge: the sums of the
/// squares of what a pair's field and potential err by, 2 |q| delta / r^3 and |q| delta / r^2, where the distance r
/// errs by delta, a pair on its own; what the nearest one at another place feels, and the sums of the magnitudes of the
/// terms; and whether one that is at another place has the same coordinates.
struct RoundedBody {
  PerQuantity<double> squares, neighbour, terms;
  bool is_taken_for_another = false;
};

template <class Space, class Precision>
struct RoundedPairs {
  using Real = real_t<Precision>;
  using V = Lanes<Space, double>;
  static constexpr int W = lane_count_v<V>;
  /// Three coordinates of two bodies, each off by up to that evenly.
  static constexpr double delta = (sizeof(Real) == 4 ? 0x1p-50 : 0x1p-107) * 1.4142135623730951;
  Array<Cell, Space> cells;
  Array<Body<Real>, Space> bodies, low;
  double softening;  ///< in edges of the cube

  /// f(i, RoundedBody) for each body i of a tile.
  template <class F>
  KOKKOS_FUNCTION void each_of(Tile const& tile, F const& f) const {
    const Cell leaf = cells(tile.cell);
    const BodyIndex end = tile.first + tile.count;
    for (BodyIndex first = tile.first; first < end; first += W) {
      const int count = end - first < W ? int(end - first) : W;
      RoundedBody some[W];
      find(leaf, first, count, some);
      for (int l = 0; l < count; ++l) f(first + l, some[l]);
    }
  }

 private:
  /// Of up to W bodies side by side.
  KOKKOS_FUNCTION void find(Cell const& leaf, BodyIndex first, int count,
                            RoundedBody (&some)[W]) const {
    using T = LaneTraits<V>;
    using simd::rsqrt, simd::select;
    constexpr double far = 1e200;  // as a square; none is near
    double numbers[7][W];
    for (int l = 0; l < W; ++l) {
      const BodyIndex k = first + (l < count ? l : 0);
      const Body<Real> body = bodies(k), rest = low(k);
      const Real all[7] = {body.x, body.y, body.z, rest.x, rest.y, rest.z, rest.q};
      for (int n = 0; n < 7; ++n) numbers[n][l] = all[n];
    }
    const V x = T::load(numbers[0]), y = T::load(numbers[1]), z = T::load(numbers[2]),
            x_low = T::load(numbers[3]), y_low = T::load(numbers[4]), z_low = T::load(numbers[5]),
            marks = T::load(numbers[6]), none(0.0), one(1.0);
    const double edge = edge_of_level<double>(leaf.level),
                 softening2 = softening * softening / (edge * edge);
    V field_squares(0.0), potential_squares(0.0), fields(0.0), potentials(0.0), nearest2(far),
        taken_for_others(0.0);
    for (BodyIndex j = leaf.body_begin; j < leaf.body_begin + leaf.body_count; ++j) {
      const Body<Real> b = bodies(j), rest = low(j);
      const V dx = x - V(double(b.x)) + (x_low - V(double(rest.x))),
              dy = y - V(double(b.y)) + (y_low - V(double(rest.y))),
              dz = z - V(double(b.z)) + (z_low - V(double(rest.z))),
              apart2 = dx * dx + dy * dy + dz * dz, r2 = apart2 + V(softening2),
              q = select(T::iota() == V(double(j - first)), none, V(std::fabs(double(b.q))));
      const auto apart = r2 > none;
      // by their marks (PlaceBodies) at one place, or not
      taken_for_others += select(apart, none, select(marks == V(double(rest.q)), none, q));
      const V u = rsqrt(select(apart, r2, one)), potential = select(apart, q, none) * u,
              field = potential * u, steep = field * u;
      potential_squares += field * field;
      field_squares += steep * steep;
      potentials += potential;
      fields += softening2 > 0 ? steep * root(apart2) : field;
      nearest2 = select(apart2 > none, select(r2 < nearest2, r2, nearest2), nearest2);
    }
    T::store(field_squares, numbers[0]);
    T::store(potential_squares, numbers[1]);
    T::store(fields, numbers[2]);
    T::store(potentials, numbers[3]);
    T::store(nearest2, numbers[4]);
    T::store(taken_for_others, numbers[5]);
    const double of_potential = delta / edge, of_field = 2 * delta / (edge * edge);
    for (int l = 0; l < count; ++l) {
      const double q = std::fabs(double(bodies(first + l).q));
      some[l] = {{of_field * of_field * numbers[0][l], of_potential * of_potential * numbers[1][l]},
                 {q / (numbers[4][l] * edge * edge), q / (std::sqrt(numbers[4][l]) * edge)},
                 {numbers[2][l] / (edge * edge), numbers[3][l] / edge},
                 numbers[5][l] > 0};
    }
  }
  KOKKOS_FUNCTION static V root(V x) {
    using simd::rsqrt, simd::select;
    return x * rsqrt(select(x > V(0.0), x, V(1.0)));
  }
};

/// Sums over bodies.
struct RoundedSum {
  PerQuantity<double> squares, neighbours;
  double taken_for_others = 0;
  KOKKOS_FUNCTION void join(RoundedSum const& other) {
    squares += other.squares;
    neighbours += other.neighbours;
    taken_for_others += other.taken_for_others;
  }
};
template <class Space, class Precision>
struct SumRoundedPairs {
  RoundedPairs<Space, Precision> pairs;
  Array<Tile, Space> tiles;

  KOKKOS_FUNCTION void operator()(std::int64_t i, RoundedSum& sum) const {
    pairs.each_of(tiles(i), [&](BodyIndex, RoundedBody const& body) {
      sum.join({body.squares,
                {body.neighbour.field * body.neighbour.field,
                 body.neighbour.potential * body.neighbour.potential},
                double(body.is_taken_for_another)});
    });
  }
};

/// How many bodies err by more than a share of their own field, or potential, or of what counts as that.
struct RoundedCount {
  std::int64_t bodies = 0, taken_for_others = 0;
  KOKKOS_FUNCTION void join(RoundedCount const& other) {
    bodies += other.bodies;
    taken_for_others += other.taken_for_others;
  }
};
template <class Space, class Precision>
struct CountRoundedPairs {
  RoundedPairs<Space, Precision> pairs;
  Array<Tile, Space> tiles;
  Array<Sums<double>, Space> sums;
  Quantity of;
  double share, least_share;

  KOKKOS_FUNCTION void operator()(std::int64_t i, RoundedCount& count) const {
    pairs.each_of(tiles(i), [&](BodyIndex k, RoundedBody const& body) {
      const Sums<double> s = sums(k);
      const double value2 = of == Quantity::potential ? s.potential * s.potential
                                                      : s.x * s.x + s.y * s.y + s.z * s.z,
                   least = least_share * body.terms[of],
                   scale2 = value2 > least * least ? value2 : least * least;
      count.bodies += body.is_taken_for_another || body.squares[of] > share * share * scale2;
      count.taken_for_others += body.is_taken_for_another;
    });
  }
};

/// A relative error of all bodies, and whether bodies at two places are taken for one; and the squares' sums of what
/// bodies' nearest neighbours in their leaves feel, in the units of sums.
struct RoundingOfPairs {
  double error = 0;
  bool takes_two_for_one = false;
  PerQuantity<double> neighbours = {};
};

/// The larger one of what is wanted, relative to the norms whose squares add up to that, or to what counts as these at
/// least (docs/math.md, "Relative errors"). Cost: the pairs within leaves, in double.
template <class Space, class Precision>
RoundingOfPairs rounding_of_pairs(Space const& space,
                                  engine::BodyTree<Space, Precision> const& tree, double softening,
                                  Quantities of, PerQuantity<double> const& squares) {
  const RoundedPairs<Space, Precision> pairs{tree.octree.cells, tree.bodies, tree.low,
                                             softening / tree.cube.edge};
  const auto sum =
      reduce<RoundedSum>("fmm::verification::rounding", space, tree.octree.tiles.extent(0),
                         SumRoundedPairs<Space, Precision>{pairs, tree.octree.tiles});
  space.fence();
  RoundingOfPairs all{0, sum.taken_for_others > 0, sum.neighbours};
  of.each([&](Quantity one) {
    const double norm2 = std::fmax(
        squares[one], least_share_of_neighbours * least_share_of_neighbours * sum.neighbours[one]);
    if (sum.squares[one] > 0) all.error = std::fmax(all.error, std::sqrt(sum.squares[one] / norm2));
  });
  return all;
}

/// What no more than a hundredth of the bodies exceed, relative to their own fields or potentials in `sums`: `enough`,
/// or within a factor of 1.3 of it if that is more. Cost: the same, some times if it is more.
template <class Space, class Precision>
RoundingOfPairs own_rounding_of_pairs(Space const& space,
                                      engine::BodyTree<Space, Precision> const& tree,
                                      double softening, Quantities of,
                                      Array<Sums<double>, Space> sums, double enough) {
  const RoundedPairs<Space, Precision> pairs{tree.octree.cells, tree.bodies, tree.low,
                                             softening / tree.cube.edge};
  const double most = double(tree.size) / 100;
  RoundingOfPairs all{enough, false};
  of.each([&](Quantity one) {
    const auto is_exceeded = [&] {
      const auto count = reduce<RoundedCount>(
          "fmm::verification::rounded", space, tree.octree.tiles.extent(0),
          CountRoundedPairs<Space, Precision>{pairs, tree.octree.tiles, sums, one, all.error,
                                              least_share_v<Precision>});
      space.fence();
      all.takes_two_for_one = double(count.taken_for_others) > most;
      return double(count.bodies) > most && !all.takes_two_for_one;
    };
    while (all.error < 1e3 && is_exceeded()) all.error *= 1.3;
  });
  return all;
}

/// Throws InvalidArgument: coordinates in two parts do not keep the tolerance.
[[noreturn]] FMM_NOINLINE inline void refuse_rounding(double tolerance, bool single,
                                                      RoundingOfPairs const& rounding) {
  const std::string where = single ? " in mixed precision" : " in a tree",
                    better = single ? "; in double less" : "; by all pairs less";
  throw InvalidArgument(
      "tolerance", tolerance,
      rounding.takes_two_for_one
          ? "none" + where + ", which takes bodies so close to each other for one" + better
          : at_least(rounding.error / constants.share_of_rounding_in_pairs) + where +
                " for bodies so close to each other" + better);
}

/// What the coordinates of close bodies, as they are kept, add to the L2 error of fields and potentials whose squares
/// add up to that; 0 to own errors. Throws InvalidArgument where it is more than the tolerance allows.
template <class Space, class Precision>
RoundingOfPairs rounding_of_coordinates(Space const& space,
                                        engine::BodyTree<Space, Precision> const& tree,
                                        double softening, Quantities of,
                                        Array<Sums<double>, Space> sums,
                                        PerQuantity<double> const& squares, double tolerance) {
  const bool own = of.norm == ErrorNorm::p99;
  const double enough = constants.share_of_rounding_in_pairs * tolerance;
  RoundingOfPairs rounding = own ? own_rounding_of_pairs(space, tree, softening, of, sums, enough)
                                 : rounding_of_pairs(space, tree, softening, of, squares);
  if (!(rounding.error <= enough) || rounding.takes_two_for_one)
    refuse_rounding(tolerance, std::is_same_v<Precision, Mixed>, rounding);
  if (own) rounding.error = 0;
  return rounding;
}

}  // namespace fmm::tolerance
