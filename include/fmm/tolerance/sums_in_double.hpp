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
      : unit_(tree.charges.unit), size_(tree.size), take_charges_(take_charges) {
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
  /// With those of periodic images behind them, where these have bodies of their own.
  PairCoordinates<Space, double> with_images(Space const& space,
                                             engine::PlanData<Space, Mixed>& plan) {
    auto const& octree = plan.tree.octree;
    if (octree.images.rest > 0) {
      const std::int64_t own = plan.tree.size;
      const std::int64_t count =
          engine::number_bodies_of_images(space, plan.memory.octree, octree, own);
      const auto all = bodies_.grow(space, count, own);
      const auto low = low_.grow(space, count, own);
      engine::place_bodies_of_images(space, octree.images, octree.cells, plan.periodic.rests,
                                     charges_of(all), charges_of(all), low);
    }
    return coordinates(octree);
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
    if (share != share_) take_charges_(unit_ / share, bodies_.view(size_));
    share_ = share;
  }

  double unit_, share_ = 0;
  std::int64_t size_;
  engine::TakeChargesAgain<Space, double> take_charges_;
  Buffer<Body<double>, Space> bodies_{"verification's bodies"}, low_{"their low parts"};
  Buffer<double, Space> multipoles_{"multipoles in double"};
  Buffer<int, Space> left_{"verification's tiles with close sources"};
};

/// Adds the near field of a list by P2P in that precision, as the options say: of the bodies of a plan's tree, and of
/// its images where these have bodies of their own.
template <class PairPrecision, class Space, class Precision, class Kernel>
AddNearField<Space, Precision> sums_by_p2p(Space const& space, Workspace<Space, Precision>& memory,
                                           engine::PlanData<Space, Precision>& plan,
                                           Kernel const& kernel, Options const& options) {
  return [=, &space, &memory, &plan](auto const& tiles, auto const& list, auto const& sums) {
    auto const& tree = plan.tree;
    const auto in_cube = in_units_of(tree.cube.edge, kernel);
    if (tree.octree.images.rest > 0)
      add_near_field<Outputs<true, true>, PairPrecision>(space, memory,
                                                         engine::tree_with_images(space, plan),
                                                         in_cube, tiles, list, sums, options);
    else
      add_near_field<Outputs<true, true>, PairPrecision>(space, memory, tree, in_cube, tiles, list,
                                                         sums, options);
  };
}

/// Adds sums in double of a share of the charges over the leaves of a list, in mixed precision, as Verification wants
/// them. For own errors all pairs of a leaf are in two parts: bodies may be far within their softening.
template <class Space, class Kernel>
AddExactly<Space, double> sums_in_double(Space const& space, engine::PlanData<Space, Mixed>& data,
                                         Kernel const& in_cube,
                                         std::shared_ptr<BodiesInDouble<Space>> bodies,
                                         double tolerance, Quantities of, double share = 1) {
  const double least = of.is_own() ? least_share_v<Mixed> : least_share_of_neighbours,
               margin = kernels::margin_for<double>(tolerance * least);
  const bool leaves = kernels::may_leave_tiles<Space, DoubleInTwoParts> && !of.is_own();
  return [=, &space, &data](auto const& tiles, auto const& list, auto const& sums) {
    auto const& octree = data.tree.octree;
    const auto rows = split_long_rows(space, data.memory, octree, tiles, list,
                                      Tuning<Space, double>::p2p_segment, 1);
    Array<int, Space> left;
    if (leaves) left = bodies->left(std::int64_t(tiles.extent(0)) + rows.count());
    bodies->with_share(share, [&] {
      const auto [cells, high, low, rounding] = bodies->with_images(space, data);
      p2p<Outputs<true, true>, DoubleInTwoParts>(space, in_cube, cells, tiles, list, high, low,
                                                 sums, rows, {.margin = margin, .leaving = margin},
                                                 {}, left);
    });
  };
}

}  // namespace fmm::tolerance
