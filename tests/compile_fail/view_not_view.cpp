// SPDX-License-Identifier: BSD-3-Clause
// Positions in a std::vector.
// expect: positions, charges and results are Kokkos Views
#include <fmm/fmm.hpp>
#include <vector>

void build(fmm::Solver<fmm::Laplace, fmm::Fmm<4>>& solver, std::vector<double> positions) {
  solver.build(Kokkos::DefaultExecutionSpace(), positions);
}
