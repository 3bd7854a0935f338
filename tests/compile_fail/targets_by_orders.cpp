// SPDX-License-Identifier: BSD-3-Clause
// Targets of their own with orders per pair.
// expect: VariableOrder is for targets that are the sources, in their place
#include <fmm/fmm.hpp>

using Points = Kokkos::View<double* [3]>;
using Method = fmm::Fmm<6, fmm::DualTree<fmm::VariableOrder<fmm::RadiusCriterion, 4>>>;

void build(fmm::Solver<fmm::Laplace, Method>& solver, Points sources, Points targets) {
  solver.build(Kokkos::DefaultExecutionSpace(), fmm::Inputs{sources, fmm::none, targets});
}
