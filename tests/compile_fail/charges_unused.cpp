// SPDX-License-Identifier: BSD-3-Clause
// A build with charges under a geometric criterion.
// expect: build takes charges if, and only if, the acceptance criterion declares
#include <fmm/fmm.hpp>

void build(fmm::Solver<fmm::Laplace, fmm::Fmm<4>>& solver, Kokkos::View<double* [3]> positions,
           Kokkos::View<double*> charges) {
  solver.build(Kokkos::DefaultExecutionSpace(), fmm::Inputs{positions, charges});
}
