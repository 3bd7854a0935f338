// SPDX-License-Identifier: BSD-3-Clause
// A plan of a solver in another precision.
// expect: the plan is one of this solver's `build`
#include <fmm/fmm.hpp>

void evaluate(fmm::Solver<fmm::Laplace, fmm::Fmm<4>, float>& solver,
              fmm::Plan<Kokkos::DefaultExecutionSpace, double>& plan,
              Kokkos::View<double*> charges) {
  solver.evaluate(Kokkos::DefaultExecutionSpace(), plan, charges, charges, fmm::none);
}
