// SPDX-License-Identifier: BSD-3-Clause
// Strengths that are charges alone.
// expect: fmm::Strengths have dipoles; charges alone are a View
#include <fmm/fmm.hpp>

using Solver = fmm::Solver<fmm::Laplace, fmm::DirectSum>;

void evaluate(Solver& solver, Solver::plan_type plan, Kokkos::View<double*> charges,
              Kokkos::View<double*> potential) {
  solver.evaluate(Kokkos::DefaultExecutionSpace(), plan, fmm::Strengths{.charges = charges},
                  fmm::Results{.potential = potential});
}
