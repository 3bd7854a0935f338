// SPDX-License-Identifier: BSD-3-Clause
// A build for a tolerance from positions alone.
// expect: a tolerance is held for charges
#include <fmm/fmm.hpp>

void build(fmm::ToleranceSolver<fmm::Laplace, fmm::Orders<4>>& solver,
           Kokkos::View<double* [3]> positions) {
  solver.build(Kokkos::DefaultExecutionSpace(), positions);
}
