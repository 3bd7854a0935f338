// SPDX-License-Identifier: BSD-3-Clause
// Targets of their own with charges, which a criterion of the geometry has no use for.
// expect: a build with targets of their own takes neither charges nor the last step's field
#include <fmm/fmm.hpp>

using Points = Kokkos::View<double* [3]>;

void build(fmm::Solver<fmm::Laplace, fmm::Fmm<4>>& solver, Points sources,
           Kokkos::View<double*> charges, Points targets) {
  solver.build(Kokkos::DefaultExecutionSpace(), fmm::Inputs{sources, charges, targets});
}
