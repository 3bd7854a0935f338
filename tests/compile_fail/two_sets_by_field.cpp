// SPDX-License-Identifier: BSD-3-Clause
// Lists of two sets by a criterion that knows the field around a target.
// expect: need a criterion that uses neither charges nor fields nor powers
#include <fmm/fmm.hpp>

using Space = Kokkos::DefaultExecutionSpace;
using Data = fmm::engine::PlanData<Space, double>;

void list(Space const& space, Data& targets, Data& sources, fmm::Options const& options) {
  const fmm::engine::BodySets<Space, double, fmm::NoShift> sets{targets.tree, sources.tree, {}};
  fmm::engine::build_lists_of_two<fmm::DualTree<fmm::FieldCriterion>>(
      space, targets.memory, sources.memory, sets, options, {6});
}
