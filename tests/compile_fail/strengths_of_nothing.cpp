// SPDX-License-Identifier: BSD-3-Clause
// Strengths without charges and dipoles.
// expect: fmm::Strengths have charges, dipoles, or both
#include <fmm/fmm.hpp>

using Solver = fmm::Solver<fmm::Laplace, fmm::DirectSum>;

void evaluate(Solver& solver, Solver::plan_type plan, Kokkos::View<double*> potential) {
  solver.evaluate(Kokkos::DefaultExecutionSpace(), plan, fmm::Strengths<>{},
                  fmm::Results{.potential = potential});
}
