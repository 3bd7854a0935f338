// SPDX-License-Identifier: BSD-3-Clause
// Near fields of mixed precision in double: of coordinates in both parts, and of charges as they were given.
#pragma once

#include <cstdint>
#include <memory>

#include "../engine/evaluation.hpp"
#include "../engine/evaluation_ends.hpp"
#include "sums_over_all.hpp"

namespace fmm::tolerance {

/// Coordinates in one part, of those in two parts of float; no charges.
template <class Space>
struct BodiesInDouble {
  Array<Body<float>, Space> bodies, low;
  Array<Body<double>, Space> out;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Body<float> b = bodies(i), l = low(i);
    out(i) = {double(b.x) + l.x, double(b.y) + l.y, double(b.z) + l.z, 0};
  }
};

/// Adds sums in double over the leaves of a list, in mixed precision, as Verification wants them, of the charges as
/// they were given: it rounds these to float, and where strong ones balance each other what is left may be no more than
/// that. Memory for as long as the result is there: 32 bytes a body.
template <class Space, class Kernel>
typename SumsOverAll<Space, double>::ExactSums sums_in_double(
    Space const& space, engine::PlanData<Space, Mixed>& data, Kernel const& in_cube,
    engine::TakeChargesAgain<Space, double> const& take_charges) {
  auto const& tree = data.tree;
  auto bodies = std::make_shared<Buffer<Body<double>, Space>>("verification's bodies");
  for_range("fmm::verification::bodies", space, tree.size,
            BodiesInDouble<Space>{tree.bodies, tree.low, bodies->resize(tree.size)});
  take_charges(tree.charges.unit, bodies->view());
  return [=, &space, &data](auto const& tiles, auto const& list, auto const& sums) {
    auto const& octree = data.tree.octree;
    const auto rows = split_long_rows(space, data.memory, octree, tiles, list,
                                      Tuning<Space, double>::p2p_segment, 1);
    p2p<Outputs<true, true>, double>(space, in_cube, octree.cells, tiles, list, bodies->view(), {},
                                     sums, rows);
  };
}

}  // namespace fmm::tolerance
