// SPDX-License-Identifier: BSD-3-Clause
// Transposed plans: the trees of another plan, targets and sources exchanged, with transposed lists. Everything else is
// their own, so that both are evaluated as any plan is.
//
// The trees stay where they are, in the other plan's memory, which a lease holds for as long: a pool gives no memory
// away that is leased, and new targets for the other plan come into memory of their own.
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
  result.lease = plan.targets->lease.lock();
  if (!result.lease)
    plan.targets->lease = result.lease = std::make_shared<TwoSetData<Space, Precision>>(plan);
  transpose_lists(space, *plan.targets, plan.targets->tree.octree.cells.extent(0),
                  plan.sources->tree.octree.cells.extent(0), *result.targets, report);
  return result;
}

}  // namespace fmm::engine
