// SPDX-License-Identifier: BSD-3-Clause
// Charges and targets of their own for a tolerance.
// expect: their own build without charges
#include <fmm/fmm.hpp>

void build(fmm::ToleranceSolver<fmm::Laplace, fmm::Orders<4>>& solver,
           Kokkos::View<double* [3]> positions, Kokkos::View<double*> charges) {
  solver.build(Kokkos::DefaultExecutionSpace(), fmm::Inputs{positions, charges, positions});
}
