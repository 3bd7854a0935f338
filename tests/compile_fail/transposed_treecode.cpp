// SPDX-License-Identifier: BSD-3-Clause
// The transpose of a treecode.
// expect: the transpose of a treecode has local expansions
#include <fmm/fmm.hpp>

using Solver = fmm::Solver<fmm::Laplace, fmm::Treecode<4>>;

Solver::plan_type transposed(Solver& solver, Solver::plan_type const& plan) {
  return solver.transposed(Kokkos::DefaultExecutionSpace(), plan);
}
