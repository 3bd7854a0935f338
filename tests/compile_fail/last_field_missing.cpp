// SPDX-License-Identifier: BSD-3-Clause
// A build without the last step's field under a criterion that uses it.
// expect: build takes the last step's field if, and only if
#include <fmm/fmm.hpp>

using Traversal = fmm::DualTree<fmm::RelativeForceCriterion>;

void build(fmm::Solver<fmm::Laplace, fmm::Fmm<4, Traversal>>& solver,
           Kokkos::View<double* [3]> positions, Kokkos::View<double*> charges) {
  solver.build(Kokkos::DefaultExecutionSpace(), fmm::Inputs{positions, charges});
}
