// SPDX-License-Identifier: BSD-3-Clause
// A build for a tolerance of one order from positions alone.
// expect: a tolerance is held for charges
#include <fmm/fmm.hpp>

void build(fmm::CalibratedSolver<fmm::Laplace, 4, double>& solver,
           Kokkos::View<double* [3]> positions) {
  solver.build(Kokkos::DefaultExecutionSpace(), positions);
}
