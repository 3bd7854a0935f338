// SPDX-License-Identifier: BSD-3-Clause
// What the rounding of coordinates to 2^-50 of a leaf's edge, in mixed precision, makes of the fields of close pairs.
// Sums over all bodies are from the same coordinates and do not see it.
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

/// Of a body and all others of its leaf, in units of charge / (edge of the cube)^2: the sum of the squares of what a
/// pair's field errs by, twice |q| delta / r^3, where the distance r errs by delta, a pair on its own; what the nearest
/// one feels, and the sum of the magnitudes of the terms; and whether one that is at another place has the same
/// coordinates.
struct RoundedBody {
  double squares = 0, neighbour = 0, terms = 0;
  bool is_taken_for_another = false;
};

template <class Space>
struct RoundedPairs {
  /// Three coordinates of two bodies, each off by up to 2^-50 evenly.
  static constexpr double delta = 0x1p-50 * 1.4142135623730951;
  Array<Cell, Space> cells;
  Array<Body<float>, Space> bodies, low;
  double softening;  ///< in edges of the cube

  KOKKOS_FUNCTION RoundedBody of_body(BodyIndex k, Cell const& leaf) const {
    const double edge = edge_of_level<double>(leaf.level),
                 softening2 = softening * softening / (edge * edge);
    RoundedBody all;
    double nearest2 = std::numeric_limits<double>::max();
    const Body<float> a = bodies(k), rest = low(k);
    for (BodyIndex j = leaf.body_begin; j < leaf.body_begin + leaf.body_count; ++j) {
      if (j == k) continue;
      const Body<float> b = bodies(j), other = low(j);
      const double x = double(a.x) - b.x + (double(rest.x) - other.x),
                   y = double(a.y) - b.y + (double(rest.y) - other.y),
                   z = double(a.z) - b.z + (double(rest.z) - other.z),
                   r2 = x * x + y * y + z * z + softening2;
      if (r2 == 0) {  // by their marks (PlaceBodies) at one place, or not
        all.is_taken_for_another = all.is_taken_for_another || (rest.q != other.q && b.q != 0);
        continue;
      }
      const double error = 2 * delta * double(b.q) / (r2 * std::sqrt(r2));
      all.squares += error * error;
      all.terms += std::fabs(double(b.q)) / r2;
      if (r2 < nearest2) nearest2 = r2;
    }
    all.squares /= edge * edge * edge * edge;
    all.terms /= edge * edge;
    all.neighbour = std::fabs(double(a.q)) / (nearest2 * edge * edge);
    return all;
  }
};

/// Sums over bodies.
struct RoundedSum {
  double squares = 0, neighbours = 0, taken_for_others = 0;
  KOKKOS_FUNCTION void join(RoundedSum const& other) {
    squares += other.squares;
    neighbours += other.neighbours;
    taken_for_others += other.taken_for_others;
  }
};
template <class Space>
struct SumRoundedPairs {
  RoundedPairs<Space> pairs;
  Array<Tile, Space> tiles;

  KOKKOS_FUNCTION void operator()(std::int64_t i, RoundedSum& sum) const {
    const Tile tile = tiles(i);
    for (BodyIndex k = tile.first; k < tile.first + tile.count; ++k) {
      const RoundedBody body = pairs.of_body(k, pairs.cells(tile.cell));
      sum.squares += body.squares;
      sum.neighbours += body.neighbour * body.neighbour;
      sum.taken_for_others += body.is_taken_for_another;
    }
  }
};

/// How many bodies err by more than a share of their own field, or of what counts as that: `squares`.
template <class Space>
struct CountRoundedPairs {
  RoundedPairs<Space> pairs;
  Array<Tile, Space> tiles;
  Array<Sums<double>, Space> sums;
  double share;

  KOKKOS_FUNCTION void operator()(std::int64_t i, RoundedSum& count) const {
    const Tile tile = tiles(i);
    for (BodyIndex k = tile.first; k < tile.first + tile.count; ++k) {
      const RoundedBody body = pairs.of_body(k, pairs.cells(tile.cell));
      const Sums<double> s = sums(k);
      const double least = least_share_in_float * body.terms,
                   field2 = std::fmax(s.x * s.x + s.y * s.y + s.z * s.z, least * least);
      count.squares += body.is_taken_for_another || body.squares > share * share * field2;
      count.taken_for_others += body.is_taken_for_another;
    }
  }
};

/// A relative error of all bodies, and whether bodies at two places are taken for one.
struct RoundingOfPairs {
  double error = 0;
  bool takes_two_for_one = false;
};

/// Relative to the norm of the fields, whose squares add up to that, or to what counts as that at least (docs/math.md,
/// "Relative errors"). Cost: the pairs within leaves, in double.
template <class Space>
RoundingOfPairs rounding_of_pairs(Space const& space, engine::BodyTree<Space, Mixed> const& tree,
                                  double softening, double squares_of_fields) {
  const RoundedPairs<Space> pairs{tree.octree.cells, tree.bodies, tree.low,
                                  softening / tree.cube.edge};
  const auto sum =
      reduce<RoundedSum>("fmm::verification::rounding", space, tree.octree.tiles.extent(0),
                         SumRoundedPairs<Space>{pairs, tree.octree.tiles});
  space.fence();
  const double norm2 = std::fmax(
      squares_of_fields, least_share_of_neighbours * least_share_of_neighbours * sum.neighbours);
  return {sum.squares > 0 ? std::sqrt(sum.squares / norm2) : 0, sum.taken_for_others > 0};
}

/// What no more than a hundredth of the bodies exceed, relative to their own fields in `sums`: `enough`, or within a
/// factor of 1.3 of it if that is more. Cost: the same, some times if it is more.
template <class Space>
RoundingOfPairs own_rounding_of_pairs(Space const& space,
                                      engine::BodyTree<Space, Mixed> const& tree, double softening,
                                      Array<Sums<double>, Space> sums, double enough) {
  const RoundedPairs<Space> pairs{tree.octree.cells, tree.bodies, tree.low,
                                  softening / tree.cube.edge};
  const double most = double(tree.size) / 100;
  RoundingOfPairs all{enough, false};
  const auto is_exceeded = [&] {
    const auto count =
        reduce<RoundedSum>("fmm::verification::rounded", space, tree.octree.tiles.extent(0),
                           CountRoundedPairs<Space>{pairs, tree.octree.tiles, sums, all.error});
    space.fence();
    all.takes_two_for_one = count.taken_for_others > most;
    return count.squares > most && !all.takes_two_for_one;
  };
  while (all.error < 1e3 && is_exceeded()) all.error *= 1.3;
  return all;
}

/// Throws InvalidArgument: mixed precision does not keep the tolerance.
[[noreturn]] FMM_NOINLINE inline void refuse_rounding(double tolerance,
                                                      RoundingOfPairs const& rounding) {
  throw InvalidArgument(
      "tolerance", tolerance,
      rounding.takes_two_for_one
          ? std::string(
                "one in double: mixed precision takes bodies so close to each other for one")
          : at_least(rounding.error / constants.share_of_rounding_in_pairs) +
                " in mixed precision for bodies so close to each other; in double less");
}

/// What the coordinates of close bodies, as mixed precision keeps them, add to the L2 error of fields whose squares add
/// up to that; 0 of own errors, and in double. Throws InvalidArgument where it is more than the tolerance allows.
template <class Space, class Precision>
double rounding_of_coordinates(Space const& space, engine::BodyTree<Space, Precision> const& tree,
                               double softening, Quantities of,
                               Array<Sums<sum_t<Precision>>, Space> sums, double squares,
                               double tolerance) {
  if constexpr (std::is_same_v<Precision, Mixed>)
    if (of.field) {
      const bool own = of.norm == ErrorNorm::p99;
      const double enough = constants.share_of_rounding_in_pairs * tolerance;
      const RoundingOfPairs rounding =
          own ? own_rounding_of_pairs(space, tree, softening, sums, enough)
              : rounding_of_pairs(space, tree, softening, squares);
      if (!(rounding.error <= enough) || rounding.takes_two_for_one)
        refuse_rounding(tolerance, rounding);
      return own ? 0 : rounding.error;
    }
  return 0;
}

}  // namespace fmm::tolerance
