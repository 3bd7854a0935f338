// SPDX-License-Identifier: BSD-3-Clause
// The sums of a plan's bodies once more, by other lists than the plan's, in memory of their own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../detail/copy.hpp"
#include "../engine/evaluation.hpp"
#include "../engine/evaluation_ends.hpp"
#include "../engine/list_build.hpp"
#include "constants.hpp"
#include "sums_over_all.hpp"

namespace fmm::tolerance {

/// Fields and potentials of all bodies. They are made of a share of the charges and scaled: so multipoles, expansions
/// and sums are rounded in another way than the plan's, and where the charges' own rounding matters, it is, too.
///
/// `set_leaves` may set the leaves' multipoles, as of Evaluation::upward. `make_lists(other, multipoles, share)` sets
/// the lists of `other`, which has the plan's tree and memory of its own; its multipoles are those of `share` times the
/// charges, as `add_near(other, sums)` adds them. Where the lists want periodic images that are not there, the plan's
/// tree gets them, too. Cost: an evaluation; as much memory.
template <class Traversal, class Space, class Precision, class Operators, class SetLeaves,
          class MakeLists, class AddNear>
Array<Sums<sum_t<Precision>>, Space> stricter_sums(
    Space const& space, Operators far, KernelProfile const& kernel,
    engine::PlanData<Space, Precision>& plan, engine::PlanData<Space, Precision>& other,
    engine::TakeChargesAgain<Space, real_t<Precision>> const& take_charges,
    SetLeaves const& set_leaves, MakeLists const& make_lists, AddNear const& add_near) {
  using Memory = typename Space::memory_space;
  using Bodies = Body<real_t<Precision>>;
  constexpr double share = constants.share_of_charges;
  auto& tree = plan.tree;
  other.tree = tree;
  other.tree.bodies = other.memory.bodies.resize(tree.size);
  copy_bytes<Memory, Memory>(space, tree.bodies.data(), other.tree.bodies.data(),
                             std::size_t(tree.size) * sizeof(Bodies));
  take_charges(tree.charges.unit / share, other.tree.bodies);
  other.periodic = plan.periodic;
  if (tree.octree.images.rest > 0 && tree.low.extent(0) > 0) {  // images' bodies come behind them
    other.tree.low = other.memory.low.resize(tree.size);
    copy_bytes<Memory, Memory>(space, tree.low.data(), other.tree.low.data(),
                               std::size_t(tree.size) * sizeof(Bodies));
  }
  const auto lend_radii = [&] {
    const std::int64_t cells = tree.octree.cells.extent(0);
    engine::Lender<Space>(plan.memory.traversal.radii.view(cells))
        .lend(other.memory.traversal.radii, cells);
  };
  lend_radii();
  other.memory.sums.resize(tree.size);
  engine::Evaluation<Space, Precision, Outputs<true, true>> steps(space, std::move(far), other,
                                                                  kernel, nullptr);
  steps.has_charges(tree.charges);
  const KeptReach<Space> kept(plan.memory.octree);
  for (;;) {
    steps.upward(true, set_leaves);
    make_lists(other, steps.multipoles(), share);
    if (!engine::open_wanted_images<Traversal>(space, plan.memory, tree.octree, other.lists)) break;
    other.tree.octree = tree.octree;
    lend_radii();
  }
  steps.clear_sums();
  steps.interact();
  steps.downward();
  add_near(other, steps.sums());
  scale_sums(space, steps.sums(), 1 / share);
  return steps.sums();
}

}  // namespace fmm::tolerance
