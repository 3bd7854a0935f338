// SPDX-License-Identifier: BSD-3-Clause
// A build with the last step's field under a criterion that uses charges alone.
// expect: build takes the last step's field if, and only if
#include <fmm/fmm.hpp>

using Traversal = fmm::DualTree<fmm::MultipolePowerCriterion>;

void build(fmm::Solver<fmm::Laplace, fmm::Fmm<4, Traversal>>& solver,
           Kokkos::View<double* [3]> positions, Kokkos::View<double*> charges,
           Kokkos::View<double* [3]> last_field) {
  solver.build(Kokkos::DefaultExecutionSpace(),
               fmm::Inputs{positions, charges, fmm::none, last_field});
}
