// SPDX-License-Identifier: BSD-3-Clause
// Positions of rank 1.
// expect: positions and fields are Views of rank 2
#include <fmm/fmm.hpp>

void build(fmm::Solver<fmm::Laplace, fmm::Fmm<4>>& solver, Kokkos::View<double*> positions) {
  solver.build(Kokkos::DefaultExecutionSpace(), positions);
}
