// SPDX-License-Identifier: BSD-3-Clause
// Charges of several densities, and a field of one.
// expect: of several densities charges and potentials are Views of rank 2, (N, K); dipoles, fields
#include <fmm/fmm.hpp>

using Solver = fmm::Solver<fmm::Laplace, fmm::Fmm<4>>;

void evaluate(Solver& solver, Solver::plan_type plan, Kokkos::View<double**> charges,
              Kokkos::View<double* [3]> field) {
  solver.evaluate(Kokkos::DefaultExecutionSpace(), plan, charges, fmm::Results{.field = field});
}
