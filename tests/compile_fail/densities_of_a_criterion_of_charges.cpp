// SPDX-License-Identifier: BSD-3-Clause
// Several densities with a criterion that uses the charges.
// expect: several densities are for criteria of the geometry alone
#include <fmm/fmm.hpp>

using Solver = fmm::Solver<fmm::Laplace, fmm::Fmm<4, fmm::DualTree<fmm::MultipolePowerCriterion>>>;

void evaluate(Solver& solver, Solver::plan_type plan, Kokkos::View<double**> charges,
              Kokkos::View<double**> potential) {
  solver.evaluate(Kokkos::DefaultExecutionSpace(), plan, charges,
                  fmm::Results{.potential = potential});
}
