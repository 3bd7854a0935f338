// SPDX-License-Identifier: BSD-3-Clause
// What the rounding of coordinates in two parts makes of close pairs: to 2^-50 of a leaf's edge in mixed precision, to
// 2^-107 in double, to 2^-74 in double of mixed precision's three parts. Sums over all bodies are from the same
// coordinates and do not see it.
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "../accuracy/error_measure.hpp"
#include "../detail/reduce.hpp"
#include "../kernels/softening.hpp"
#include "leaves_beyond.hpp"
#include "nearest_bodies.hpp"
#include "order_selection.hpp"
#include "pair_coordinates.hpp"
#include "quantities.hpp"

namespace fmm::tolerance {

/// Of a body and all others of its leaf, and those that are close to it beyond the leaf's border, in units of
/// charge / (edge of the cube)^2 and charge / edge: the squares of what its field and potential err by; what the
/// nearest one at another place feels, and the sums of the magnitudes of the terms; and whether one that is at another
/// place has the same coordinates.
struct RoundedBody {
  PerQuantity<double> squares, neighbour, terms;
  bool is_taken_for_another = false;
};

/// Sums over the sources of a body, in the edges of its leaf, or of bodies side by side. Where a source's coordinates
/// err, its field and potential do by 2 |q| / r^3 and |q| / r^2 times as much, each source on its own; where the body's
/// own do, by the gradients of all.
template <class U>
struct SumsOfRounding {
  U field_squares = U(0.0), potential_squares = U(0.0), fields = U(0.0), potentials = U(0.0),
    nearest2 = U(no_body), taken_for_others = U(0.0);
  U field[3] = {U(0.0), U(0.0), U(0.0)};
  U gradient[6] = {U(0.0), U(0.0), U(0.0), U(0.0), U(0.0), U(0.0)};

  /// A source of charge q at a distance whose parts are `d`, which errs by so many times as much as the body;
  /// `is_at_place`: as marks of places have it (PlaceBodies).
  template <class Mask>
  KOKKOS_FORCEINLINE_FUNCTION void add(U q, U const (&d)[3], SofteningBounds const& softening2,
                                       double times, Mask const& is_at_place) {
    using simd::abs, simd::rsqrt, simd::select;
    const U none(0.0), one(1.0), apart2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2],
                                 r2 = apart2 + U(softening2.least), size = abs(q);
    const auto apart = r2 > none;
    taken_for_others += select(apart, none, select(is_at_place, none, size));
    const auto if_rounded =
        [&](U const& x) {  // bodies at one place are so however they are rounded
          return select(apart2 > none, x, select(is_at_place, none, select(apart, x, none)));
        };
    const U u = rsqrt(select(apart, r2, one)), u2 = u * u,
            of_potential = if_rounded(size) * u2 * U(times), of_field = of_potential * u,
            part = if_rounded(q) * u * u2, three = U(3.0) * part * u2;
    potential_squares += of_potential * of_potential;
    field_squares += of_field * of_field;
    const bool is_spread = softening2.most != softening2.least;
    const U v = is_spread ? rsqrt(apart2 + U(softening2.most)) : u,
            term = select(apart, size, none) * v;
    potentials += term;
    fields += softening2.most > 0 ? term * (v * v) * root(apart2) : term * v;
    nearest2 = select(apart2 > none, select(apart2 < nearest2, apart2, nearest2), nearest2);
    for (int a = 0, n = 0; a < 3; ++a) {
      field[a] += part * d[a];
      for (int b = a; b < 3; ++b, ++n) gradient[n] += three * d[a] * d[b] - (a == b ? part : none);
    }
  }
  static constexpr int numbers = 15;
  /// f(number) for each.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void each(F const& f) {
    f(field_squares), f(potential_squares), f(fields), f(potentials), f(nearest2);
    f(taken_for_others);
    for (U& number : field) f(number);
    for (U& number : gradient) f(number);
  }
  KOKKOS_FORCEINLINE_FUNCTION static U root(U x) {
    using simd::rsqrt, simd::select;
    return x * rsqrt(select(x > U(0.0), x, U(1.0)));
  }
  /// What the field and the potential err by, squared, where a distance does by 1, and half of it for either body's
  /// coordinates; of the gradients of one source 6 q^2 / r^6.
  KOKKOS_FUNCTION PerQuantity<U> squares() const {
    U gradients(0.0);
    for (int a = 0, n = 0; a < 3; ++a)
      for (int b = a; b < 3; ++b, ++n)
        gradients += U(a == b ? 1.0 : 2.0) * gradient[n] * gradient[n];
    return {U(2.0) * field_squares + U(1.0 / 3) * gradients,
            U(0.5) * (potential_squares + field[0] * field[0] + field[1] * field[1] +
                      field[2] * field[2])};
  }
};

template <class Space, class Real>
struct RoundedPairs {
  using V = Lanes<Space, double>;
  static constexpr int W = lane_count_v<V>;
  PairCoordinates<Space, Real> in;
  SofteningBounds softening;  ///< in edges of the cube
  ClosePairs close;

  /// f(i, RoundedBody) for each body i of a tile.
  template <class F>
  KOKKOS_FUNCTION void each_of(Tile const& tile, F const& f) const {
    const BodyIndex end = tile.first + tile.count;
    for (BodyIndex first = tile.first; first < end; first += W) {
      const int count = end - first < W ? int(end - first) : W;
      RoundedBody some[W];
      find(tile.cell, first, count, some);
      for (int l = 0; l < count; ++l) f(first + l, some[l]);
    }
  }

 private:
  using OfOne = SumsOfRounding<double>;

  /// A body's parts, and its mark.
  struct Parts {
    double high[3], low[3], mark;
  };
  KOKKOS_FUNCTION Parts parts_of(BodyIndex k) const {
    const Body<Real> b = in.bodies(k), l = in.low(k);
    return {{b.x, b.y, b.z}, {l.x, l.y, l.z}, double(l.q)};
  }
  /// Of up to W bodies side by side.
  KOKKOS_FUNCTION void find(CellIndex index, BodyIndex first, int count,
                            RoundedBody (&some)[W]) const {
    using T = LaneTraits<V>;
    using simd::select;
    const Cell leaf = in.cells(index);
    const double edge = edge_of_level<double>(leaf.level);
    const SofteningBounds softening2 = softening.squared_in(edge);
    double parts[7][W];
    for (int l = 0; l < W; ++l) {
      const Parts body = parts_of(first + (l < count ? l : 0));
      for (int d = 0; d < 3; ++d) parts[d][l] = body.high[d], parts[3 + d][l] = body.low[d];
      parts[6][l] = body.mark;
    }
    V x[3], x_low[3];
    for (int d = 0; d < 3; ++d) x[d] = T::load(parts[d]), x_low[d] = T::load(parts[3 + d]);
    const V mark = T::load(parts[6]);
    SumsOfRounding<V> sums;
    for (BodyIndex j = leaf.body_begin; j < leaf.body_begin + leaf.body_count; ++j) {
      const Parts b = parts_of(j);
      V apart[3];
      for (int d = 0; d < 3; ++d) apart[d] = x[d] - V(b.high[d]) + (x_low[d] - V(b.low[d]));
      const V q = select(T::iota() == V(double(j - first)), V(0.0), V(double(in.bodies(j).q)));
      sums.add(q, apart, softening2, 1, mark == V(b.mark));
    }
    double stored[OfOne::numbers][W];
    int n = 0;
    sums.each([&](V const& number) { T::store(number, stored[n++]); });
    for (int l = 0; l < count; ++l) {
      OfOne one;
      n = 0;
      one.each([&](double& number) { number = stored[n++][l]; });
      const double mark_of_one = parts[6][l];
      for_bodies_beyond(in.cells, in.bodies, in.low, index, first + l, close.reach,
                        [&](BodyIndex j, double const(&apart)[3], double scale) {
                          one.add(double(in.bodies(j).q), apart, softening2, scale,
                                  mark_of_one == double(in.low(j).q));
                        });
      some[l] = rounded(one, std::fabs(double(in.bodies(first + l).q)), edge, softening2.most);
    }
  }
  KOKKOS_FUNCTION RoundedBody rounded(OfOne const& sums, double q, double edge,
                                      double softening2) const {
    const double of_potential = close.delta / edge, of_field = close.delta / (edge * edge);
    const PerQuantity<double> squares = sums.squares();
    return {{of_field * of_field * squares.field, of_potential * of_potential * squares.potential},
            exerted_by(q, sums.nearest2, softening2, edge),
            {sums.fields / (edge * edge), sums.potentials / edge},
            sums.taken_for_others > 0};
  }
};

/// For errors that are relative to `least` of the terms at least; the softening is in edges of the cube.
template <class Space, class Real>
RoundedPairs<Space, Real> rounded_pairs(PairCoordinates<Space, Real> const& in,
                                        SofteningBounds const& softening, double tolerance,
                                        double least) {
  return {in, softening, ClosePairs::of(in.rounding, tolerance * least, constants.least_reach)};
}

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
template <class Space, class Real>
struct SumRoundedPairs {
  RoundedPairs<Space, Real> pairs;
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
template <class Space, class Real>
struct CountRoundedPairs {
  RoundedPairs<Space, Real> pairs;
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

/// The squares of what all bodies err by and of what their nearest neighbours in their leaves feel, in the units of
/// sums; the softening is in edges of the cube. Cost: the pairs within leaves, in double, a walk through the tree for
/// each body at the border of its leaf, and one wait.
template <class Space, class Real>
RoundedSum rounding_of_pairs(Space const& space, PairCoordinates<Space, Real> const& in,
                             Array<Tile, Space> tiles, SofteningBounds const& softening,
                             double tolerance) {
  const auto pairs = rounded_pairs(in, softening, tolerance, least_share_of_neighbours);
  const auto sum = reduce<RoundedSum>("fmm::verification::rounding", space, tiles.extent(0),
                                      SumRoundedPairs<Space, Real>{pairs, tiles});
  space.fence();
  return sum;
}

/// What rounding is, relative to results, and whether bodies at two places are taken for one.
struct RoundingOfBodies {
  double error = 0;
  bool takes_two_for_one = false;

  /// Whether it leaves room for a tolerance.
  bool keeps(double tolerance) const {
    return error <= constants.share_of_rounding_in_pairs * tolerance && !takes_two_for_one;
  }
};

/// What no more than a hundredth of the bodies exceed, relative to their own fields or potentials in `sums`: what a
/// tolerance leaves room for; or if that is more, infinity, or with `how_much` within a factor of 1.3 of it. Cost: the
/// same; with that, if it is more, some times.
template <class Space, class Real>
RoundingOfBodies own_rounding_of_pairs(Space const& space, RoundedPairs<Space, Real> const& pairs,
                                       Array<Tile, Space> tiles, Quantities of,
                                       Array<Sums<double>, Space> sums, double least_share,
                                       double tolerance, bool how_much) {
  RoundingOfBodies all{constants.share_of_rounding_in_pairs * tolerance, false};
  const double most = double(sums.extent(0)) / 100;
  of.each([&](Quantity one) {
    const auto is_exceeded = [&] {
      const auto count = reduce<RoundedCount>(
          "fmm::verification::rounded", space, tiles.extent(0),
          CountRoundedPairs<Space, Real>{pairs, tiles, sums, one, all.error, least_share});
      space.fence();
      all.takes_two_for_one |= double(count.taken_for_others) > most;
      return double(count.bodies) > most && !all.takes_two_for_one;
    };
    while (all.error < 1e3 && is_exceeded())
      all.error = how_much ? 1.3 * all.error : std::numeric_limits<double>::infinity();
  });
  return all;
}

/// Throws InvalidArgument: coordinates as they are kept do not keep the tolerance.
[[noreturn]] FMM_NOINLINE inline void refuse_rounding(double tolerance, bool single,
                                                      RoundingOfBodies const& rounding) {
  const std::string where = single ? " in mixed precision" : " in a tree",
                    better = single ? "; in double less" : "; by all pairs less";
  throw InvalidArgument(
      "tolerance", tolerance,
      rounding.takes_two_for_one
          ? "none" + where + ", which takes bodies so close to each other for one" + better
          : at_least(rounding.error / constants.share_of_rounding_in_pairs) + where +
                " for bodies so close to each other" + better);
}

}  // namespace fmm::tolerance
