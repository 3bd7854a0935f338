// SPDX-License-Identifier: BSD-3-Clause
// A potential that cannot be written.
// expect: results are written to Views of non-const value type
#include <fmm/fmm.hpp>

using Solver = fmm::Solver<fmm::Laplace, fmm::Fmm<4>>;

void evaluate(Solver& solver, Solver::plan_type plan, Kokkos::View<double*> charges,
              Kokkos::View<double const*> potential) {
  solver.evaluate(Kokkos::DefaultExecutionSpace(), plan, charges, potential, fmm::none);
}
