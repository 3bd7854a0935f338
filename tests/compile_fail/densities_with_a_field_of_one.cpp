// SPDX-License-Identifier: BSD-3-Clause
// Several densities with a field that is of one.
// expect: of several densities charges and potentials are Views of rank 2
#include <fmm/fmm.hpp>

using Solver = fmm::Solver<fmm::Laplace, fmm::Fmm<4>>;

void evaluate(Solver& solver, Solver::plan_type plan, Kokkos::View<double**> charges,
              Kokkos::View<double* [3]> field) {
  solver.evaluate(Kokkos::DefaultExecutionSpace(), plan, charges, fmm::Results{.field = field});
}
