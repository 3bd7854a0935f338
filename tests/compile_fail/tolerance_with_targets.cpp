// SPDX-License-Identifier: BSD-3-Clause
// Targets of their own for a tolerance.
// expect: for targets of their own take fmm::Solver
#include <fmm/fmm.hpp>

void build(fmm::ToleranceSolver<fmm::Laplace, fmm::Orders<4>>& solver,
           Kokkos::View<double* [3]> positions, Kokkos::View<double*> charges) {
  solver.build(Kokkos::DefaultExecutionSpace(), fmm::Inputs{positions, charges, positions});
}
