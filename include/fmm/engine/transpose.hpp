// SPDX-License-Identifier: BSD-3-Clause
// Transposed plans: the trees of another plan, targets and sources exchanged, with transposed lists. Everything else is
// their own, so that both are evaluated as any plan is.
//
// The trees stay where they are, in the other plan's memory, which a lease holds for as long: a pool gives no memory
// away that is leased, and new targets for the other plan come into memory of their own. Bodies of sources are copied,
// since evaluations write charges there.
#pragma once

#include "../tree/lists/transposed_lists.hpp"
#include "list_build.hpp"
#include "plan_data.hpp"

namespace fmm::engine {

/// A plan on the tree of another one, without lists.
template <class Space, class Precision>
std::shared_ptr<PlanData<Space, Precision>> plan_on_tree(PlanPool<Space, Precision>& pool,
                                                         PlanData<Space, Precision> const& other) {
  auto plan = pool.free_plan();
  plan->facts = other.facts;
  plan->tree = other.tree;
  plan->lists = {};
  return plan;
}

/// Has the plan's bodies lie in its own memory.
template <class Space, class Precision>
void copy_bodies(Space const& space, PlanData<Space, Precision>& plan) {
  const auto copy = [&](auto& bodies, auto& buffer) {
    using Memory = typename Space::memory_space;
    if (bodies.extent(0) == 0) return;
    const auto own = buffer.resize(bodies.extent(0));
    copy_bytes<Memory, Memory>(space, bodies.data(), own.data(),
                               own.extent(0) * sizeof(*own.data()));
    bodies = own;
  };
  copy(plan.tree.bodies, plan.memory.bodies);
  copy(plan.tree.positions, plan.memory.positions);
}

/// The lists of `plan`, whose targets and sources have so many cells, transposed in the memory of `to`.
template <class Space, class Precision>
void transpose_lists(Space const& space, PlanData<Space, Precision> const& plan,
                     std::int64_t target_cells, std::int64_t source_cells,
                     PlanData<Space, Precision>& to, Report* report) {
  stage(space, report, "lists", [&] {
    to.lists = transposed(space, plan.lists, target_cells, source_cells, to.memory.traversal);
  });
  if (report) add_list_work(*report, to.lists);
}

/// Solver::transposed of one set.
template <class Space, class Precision>
std::shared_ptr<PlanData<Space, Precision>> make_transposed(Space const& space,
                                                            PlanPool<Space, Precision>& pool,
                                                            PlanData<Space, Precision> const& plan,
                                                            Report* report) {
  const auto result = plan_on_tree(pool, plan);
  copy_bodies(space, *result);
  const std::int64_t cells = plan.tree.octree.cells.extent(0);
  transpose_lists(space, plan, cells, cells, *result, report);
  return result;
}
/// Of two.
template <class Space, class Precision>
TwoSetData<Space, Precision> make_transposed(Space const& space, PlanPool<Space, Precision>& pool,
                                             TwoSetData<Space, Precision> const& plan,
                                             Report* report) {
  TwoSetData<Space, Precision> result;
  result.targets = plan_on_tree(pool, *plan.sources);
  result.sources = plan_on_tree(pool, *plan.targets);
  copy_bodies(space, *result.sources);
  // The lists are those of whoever gave the plan its targets; tiles of all pairs are each set's own.
  PlanFacts const& of_lists = plan.targets->facts;
  PlanFacts& facts = result.targets->facts;
  facts.traversal = of_lists.traversal;
  facts.far_from = of_lists.far_from;
  facts.order = of_lists.order;
  result.lease = plan.targets->lease.lock();
  if (!result.lease)
    plan.targets->lease = result.lease = std::make_shared<TwoSetData<Space, Precision>>(plan);
  transpose_lists(space, *plan.targets, plan.targets->tree.octree.cells.extent(0),
                  plan.sources->tree.octree.cells.extent(0), *result.targets, report);
  return result;
}

}  // namespace fmm::engine
