// SPDX-License-Identifier: BSD-3-Clause
// The transpose of lists that depend on the charges.
// expect: transposed plans are for criteria of the geometry alone
#include <fmm/fmm.hpp>

using Solver = fmm::Solver<fmm::Laplace, fmm::Fmm<4, fmm::DualTree<fmm::MultipolePowerCriterion>>>;

Solver::plan_type transposed(Solver& solver, Solver::plan_type const& plan) {
  return solver.transposed(Kokkos::DefaultExecutionSpace(), plan);
}
