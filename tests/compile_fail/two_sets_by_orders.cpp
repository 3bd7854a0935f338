// SPDX-License-Identifier: BSD-3-Clause
// Orders per pair of two sets.
// expect: VariableOrder is for targets that are the sources, in their place
#include <fmm/fmm.hpp>

using Space = Kokkos::DefaultExecutionSpace;
using Data = fmm::engine::PlanData<Space, double>;

void list(Space const& space, Data& targets, Data& sources, fmm::Options const& options) {
  using Criterion = fmm::VariableOrder<fmm::RadiusCriterion, 4>;
  const fmm::engine::BodySets<Space, double, fmm::NoShift> sets{targets.tree, sources.tree, {}};
  fmm::engine::build_lists_of_two<fmm::DualTree<Criterion>>(space, targets.memory, sources.memory,
                                                            sets, options, {6});
}
