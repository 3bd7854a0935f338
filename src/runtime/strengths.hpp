// SPDX-License-Identifier: BSD-3-Clause
// Evaluations of any strengths by a core, compiled apart from it (strengths.cpp.in).
#pragma once

#include "expansions.hpp"
#include "staged.hpp"

namespace fmm::runtime {

/// A core of AnySolver.
template <class Space, class Precision, class Traversal>
using CoreOf = engine::SolverCore<kernels::AnyKernel, Traversal, Precision, Space>;

/// By a core of DirectSum, BarnesHut or DualTree<RadiusCriterion>, which has no operators without a tree; of a plan of
/// one set, a PlanData, or of two, a TwoSetData.
template <class Space, class Precision, class Traversal, class Data>
void evaluate_strengths(Space const& space, CoreOf<Space, Precision, Traversal>& core, Data& plan,
                        Staged<Space>& staged, MakeOperators<Space, Precision> const* operators,
                        Report* report);

}  // namespace fmm::runtime
