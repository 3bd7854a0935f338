// SPDX-License-Identifier: BSD-3-Clause
// Targets of their own with a criterion that knows the field around a target.
// expect: need a criterion that uses neither charges nor fields nor powers
#include <fmm/fmm.hpp>

using Points = Kokkos::View<double* [3]>;
using Method = fmm::Treecode<4, fmm::DualTree<fmm::SourceCriterion>>;

void build(fmm::Solver<fmm::Laplace, Method>& solver, Points sources, Points targets) {
  solver.build(Kokkos::DefaultExecutionSpace(), fmm::Inputs{sources, fmm::none, targets});
}
