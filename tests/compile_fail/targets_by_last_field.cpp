// SPDX-License-Identifier: BSD-3-Clause
// Targets of their own with a criterion that uses the last step's field.
// expect: need a criterion that uses neither charges nor fields nor powers
#include <fmm/fmm.hpp>

using Points = Kokkos::View<double* [3]>;
using Method = fmm::Fmm<4, fmm::DualTree<fmm::RelativeForceCriterion>>;

void build(fmm::Solver<fmm::Laplace, Method>& solver, Points sources, Kokkos::View<double*> charges,
           Points targets, Points last_field) {
  solver.build(Kokkos::DefaultExecutionSpace(), fmm::Inputs{sources, charges, targets, last_field});
}
