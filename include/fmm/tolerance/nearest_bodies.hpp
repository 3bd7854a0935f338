// SPDX-License-Identifier: BSD-3-Clause
// What bodies exert on the nearest one at another place, in whichever leaf: L2 errors are relative to no less than a
// share of that.
#pragma once

#include <cmath>

#include "../detail/reduce.hpp"
#include "../kernels/softening.hpp"
#include "../tuning.hpp"
#include "leaves_beyond.hpp"
#include "pair_coordinates.hpp"
#include "quantities.hpp"

namespace fmm::tolerance {

/// The field and the potential that a charge exerts at a distance whose square is apart2, with that softening, squared,
/// too; lengths in edges of its leaf, which is `edge` of the cube.
KOKKOS_FUNCTION inline PerQuantity<double> exerted_by(double q, double apart2, double softening2,
                                                      double edge) {
  const double r2 = apart2 + softening2, potential = std::fabs(q) / std::sqrt(r2),
               field = softening2 > 0 ? potential * std::sqrt(apart2) / r2 : std::fabs(q) / r2;
  return {field / (edge * edge), potential / edge};
}

/// The square of a distance at which there is none.
inline constexpr double no_body = 1e200;

/// Finds the nearest body at another place.
template <class Space, class Real>
struct NearestBody {
  PairCoordinates<Space, Real> in;

  /// The square of its distance from body k, in edges of its leaf, or no_body. Cost: the leaf, and a walk through what
  /// is not farther than the nearest one there.
  KOKKOS_FUNCTION double distance2(CellIndex leaf, BodyIndex k) const {
    constexpr double everything = 1e100;
    const Cell own = in.cells(leaf);
    const Body<Real> b = in.bodies(k), rest = in.low(k);
    const double x[3] = {double(b.x) + rest.x, double(b.y) + rest.y, double(b.z) + rest.z};
    double nearest2 = no_body;
    const auto look = [&](Cell const& other) {
      for_bodies_of<Space>(in.bodies, in.low, own, other, k, everything,
                           [&](BodyIndex, double const(&apart)[3], double) {
                             const double apart2 =
                                 apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2];
                             if (apart2 > 0 && apart2 < nearest2) nearest2 = apart2;
                           });
    };
    look(own);
    for_other_leaves<Space>(
        in.cells, leaf, [&](Cell const& cell) { return distance2_to(own, x, cell) < nearest2; },
        look);
    return nearest2;
  }

 private:
  /// Of a place from a cube, both in the frame of `own`.
  KOKKOS_FUNCTION static double distance2_to(Cell const& own, double const (&x)[3],
                                             Cell const& cell) {
    const double half = 0.5 * edge_in<double>(own, cell);
    double sum = 0;
    for (int d = 0; d < 3; ++d) {
      const double beyond = std::fabs(x[d] - centre_in<double>(own, cell, d)) - half;
      if (beyond > 0) sum += beyond * beyond;
    }
    return sum;
  }
};

/// The sum of the squares over bodies.
struct SumOfNearest {
  PerQuantity<double> squares;
  KOKKOS_FUNCTION void join(SumOfNearest const& other) { squares += other.squares; }
};
template <class Space, class Real>
struct SumNearest {
  static constexpr int most = Tuning<Space, Real>::tile;
  NearestBody<Space, Real> nearest;
  Array<Tile, Space> tiles;
  SofteningBounds softening;  ///< in edges of the cube

  KOKKOS_FUNCTION void operator()(std::int64_t i, SumOfNearest& sum) const {
    const Tile tile = tiles(i / most);
    if (i % most >= tile.count) return;
    const BodyIndex k = tile.first + BodyIndex(i % most);
    const double edge = edge_of_level<double>(nearest.in.cells(tile.cell).level);
    const PerQuantity<double> one =
        exerted_by(double(nearest.in.bodies(k).q), nearest.distance2(tile.cell, k),
                   softening.squared_in(edge).most, edge);
    sum.join({{one.field * one.field, one.potential * one.potential}});
  }
};

/// Of all bodies, the sums of the squares, in units of charge / (edge of the cube)^2 and charge / edge; the softening
/// is in edges. Cost: of NearestBody, a body each, and one wait.
template <class Space, class Real>
PerQuantity<double> exerted_on_nearest(Space const& space, PairCoordinates<Space, Real> const& in,
                                       Array<Tile, Space> tiles, SofteningBounds const& softening) {
  using Sum = SumNearest<Space, Real>;
  const auto sum =
      reduce<SumOfNearest>("fmm::verification::nearest", space,
                           std::int64_t(tiles.extent(0)) * Sum::most, Sum{{in}, tiles, softening});
  space.fence();
  return sum.squares;
}

}  // namespace fmm::tolerance
