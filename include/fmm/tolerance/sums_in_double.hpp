// SPDX-License-Identifier: BSD-3-Clause
// Near fields of mixed precision in double, and multipoles of leaves: of coordinates in all three parts, and of charges
// as they were given.
#pragma once

#include <cstdint>
#include <memory>

#include "../engine/evaluation.hpp"
#include "../engine/evaluation_ends.hpp"
#include "rounded_pairs.hpp"
#include "sample.hpp"
#include "sums_over_all.hpp"

namespace fmm::tolerance {

/// Coordinates in two parts of double, of three of float; no charges.
template <class Space>
struct TakeInDouble {
  Array<Body<float>, Space> bodies, low, lowest;
  Array<Body<double>, Space> out, low_out;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Body<float> b = bodies(i), l = low(i), rest = lowest(i);
    Body<double> high, left{0, 0, 0, double(l.q)};  // with the mark of the place
    add(b.x, l.x, rest.x, high.x, left.x);
    add(b.y, l.y, rest.y, high.y, left.y);
    add(b.z, l.z, rest.z, high.z, left.z);
    high.q = 0;
    out(i) = high;
    low_out(i) = left;
  }

 private:
  /// Three parts, of which each is small beside the one before, as two whose first one is their sum (Dekker).
  KOKKOS_FORCEINLINE_FUNCTION static void add(double a, double b, double c, double& high,
                                              double& low) {
    const double sum = a + b, rest = b - (sum - a) + c;
    high = sum + rest;
    low = rest - (high - sum);
  }
};

/// A plan's bodies in double: 64 bytes each, and for their multipoles a row of numbers in double for each cell.
template <class Space>
class BodiesInDouble {
 public:
  /// With the charges of an evaluation as they were given: mixed precision rounds these to float, and where strong ones
  /// balance each other what is left may be no more than that.
  BodiesInDouble(Space const& space, engine::BodyTree<Space, Mixed> const& tree,
                 engine::TakeChargesAgain<Space, double> const& take_charges)
      : unit_(tree.charges.unit), take_charges_(take_charges) {
    for_range("fmm::verification::bodies", space, tree.size,
              TakeInDouble<Space>{tree.bodies, tree.low, tree.lowest, bodies_.resize(tree.size),
                                  low_.resize(tree.size)});
    take_share(1);
  }
  /// f(), while charges are a share of those that were given.
  template <class F>
  void with_share(double share, F const& f) {
    take_share(share);
    f();
    take_share(1);
  }
  PairCoordinates<Space, double> coordinates(Octree<Space> const& octree) const {
    return {octree.cells, bodies_.view(), low_.view(), 0x1p-74};
  }
  /// Multipoles of leaves, of a share of the charges: Evaluation::upward.
  template <class FarField, class Numbers>
  bool set_leaves(Space const& space, Octree<Space> const& octree, FarField const& far,
                  Numbers const& multipoles, double share) {
    bool are_set = false;
    with_share(share, [&] {
      are_set = far.p2m_rounded_once(space, octree, bodies_.view(), multipoles_, multipoles);
    });
    return are_set;
  }
  /// Flags of teams of P2P.
  Array<int, Space> left(std::int64_t teams) { return left_.resize(teams); }

 private:
  void take_share(double share) {
    if (share != share_) take_charges_(unit_ / share, bodies_.view());
    share_ = share;
  }

  double unit_, share_ = 0;
  engine::TakeChargesAgain<Space, double> take_charges_;
  Buffer<Body<double>, Space> bodies_{"verification's bodies"}, low_{"their low parts"};
  Buffer<double, Space> multipoles_{"multipoles in double"};
  Buffer<int, Space> left_{"verification's tiles with close sources"};
};

/// Adds the near field of a list by P2P in that precision, as the options say.
template <class PairPrecision, class Space, class Precision, class Kernel>
AddNearField<Space, Precision> sums_by_p2p(Space const& space, Workspace<Space, Precision>& memory,
                                           engine::BodyTree<Space, Precision> const& tree,
                                           Kernel const& kernel, Options const& options) {
  return [=, &space, &memory, &tree](auto const& tiles, auto const& list, auto const& sums) {
    add_near_field<Outputs<true, true>, PairPrecision>(
        space, memory, tree, in_units_of(tree.cube.edge, kernel), tiles, list, sums, options);
  };
}

/// Adds sums in double of a share of the charges over the leaves of a list, in mixed precision, as Verification wants
/// them. For own errors all pairs of a leaf are in two parts: bodies may be far within their softening.
template <class Space, class Kernel>
typename SumsOverAll<Space, double>::ExactSums sums_in_double(
    Space const& space, engine::PlanData<Space, Mixed>& data, Kernel const& in_cube,
    std::shared_ptr<BodiesInDouble<Space>> bodies, double tolerance, Quantities of,
    double share = 1) {
  const double least = of.is_own() ? least_share_v<Mixed> : least_share_of_neighbours,
               margin = kernels::margin_for<double>(tolerance * least);
  const bool leaves = kernels::may_leave_tiles<Space, DoubleInTwoParts> && !of.is_own();
  return [=, &space, &data](auto const& tiles, auto const& list, auto const& sums) {
    auto const& octree = data.tree.octree;
    const auto rows = split_long_rows(space, data.memory, octree, tiles, list,
                                      Tuning<Space, double>::p2p_segment, 1);
    const auto [cells, high, low, rounding] = bodies->coordinates(octree);
    Array<int, Space> left;
    if (leaves) left = bodies->left(std::int64_t(tiles.extent(0)) + rows.count());
    bodies->with_share(share, [&, cells = cells, high = high, low = low] {
      p2p<Outputs<true, true>, DoubleInTwoParts>(space, in_cube, cells, tiles, list, high, low,
                                                 sums, rows, {.margin = margin, .leaving = margin},
                                                 {}, left);
    });
  };
}

}  // namespace fmm::tolerance
