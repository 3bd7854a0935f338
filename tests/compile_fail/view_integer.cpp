// SPDX-License-Identifier: BSD-3-Clause
// Integer charges.
// expect: Views of float or double
#include <fmm/fmm.hpp>

using Solver = fmm::Solver<fmm::Laplace, fmm::Fmm<4>>;

void evaluate(Solver& solver, Solver::plan_type plan, Kokkos::View<int*> charges,
              Kokkos::View<double*> potential) {
  solver.evaluate(Kokkos::DefaultExecutionSpace(), plan, charges, potential, fmm::none);
}
