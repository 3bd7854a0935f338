// SPDX-License-Identifier: BSD-3-Clause
// Several densities of which nothing is wanted.
// expect: at least one of potential, field and Hessian must be wanted
#include <fmm/fmm.hpp>

using Solver = fmm::Solver<fmm::Laplace, fmm::Fmm<4>>;

void evaluate(Solver& solver, Solver::plan_type plan, Kokkos::View<double**> charges) {
  solver.evaluate(Kokkos::DefaultExecutionSpace(), plan, charges, fmm::Results{});
}
