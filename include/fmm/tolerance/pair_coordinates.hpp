// SPDX-License-Identifier: BSD-3-Clause
// Coordinates of a tree's bodies as near fields have them, and what they are rounded by.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "../engine/body_tree.hpp"
#include "constants.hpp"

namespace fmm::tolerance {

/// Coordinates of a tree's bodies, with the charges and the marks of places (PlaceBodies).
template <class Space, class Real>
struct PairCoordinates {
  Array<Cell, Space> cells;
  Array<Body<Real>, Space> bodies, low;
  double rounding;  ///< what each is off by, in edges of a leaf
};
template <class Space, class Precision>
PairCoordinates<Space, real_t<Precision>> coordinates_of(
    engine::BodyTree<Space, Precision> const& tree) {
  return {tree.octree.cells, tree.bodies, tree.low,
          sizeof(real_t<Precision>) == 4 ? 0x1p-50 : 0x1p-107};
}

/// Pairs that are rounded by enough to be looked at.
struct ClosePairs {
  double
      delta;  ///< what distances are off by, in edges of a leaf: of three coordinates of two bodies, each evenly
  double reach;  ///< how far they are apart at most, in edges of the larger leaf

  /// Where coordinates are off by `rounding` each. Pairs farther apart are rounded by less than a hundredth of an
  /// `error`, relative to what they exert.
  static ClosePairs of(double rounding, double error, double least_reach) {
    const double delta = std::sqrt(2.0) * rounding;
    return {delta, std::clamp(constants.reach_of_rounding * delta / error, least_reach,
                              constants.most_reach)};
  }
};

/// Throws InvalidArgument unless a plan's bodies have all parts that a tolerance wants.
template <class Space, class Precision>
void check_parts(engine::BodyTree<Space, Precision> const& tree) {
  auto const& last = std::is_same_v<Precision, Mixed> ? tree.lowest : tree.low;
  if (std::int64_t(last.extent(0)) < tree.size)
    throw InvalidArgument("plan", "one of a solver without a tolerance",
                          "one of a solver with a tolerance, whose coordinates have more parts");
}

}  // namespace fmm::tolerance
