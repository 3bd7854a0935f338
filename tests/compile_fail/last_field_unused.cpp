// SPDX-License-Identifier: BSD-3-Clause
// A build with the last step's field under a criterion that uses charges alone.
// expect: build takes the last step's field, after the charges, if, and only if
#include <fmm/fmm.hpp>

using Traversal = fmm::DualTree<fmm::MultipolePowerCriterion>;

void build(fmm::Solver<fmm::Laplace, 4, fmm::Rotation, Traversal>& solver,
           Kokkos::View<double* [3]> positions, Kokkos::View<double*> charges,
           Kokkos::View<double* [3]> last_field) {
  solver.build(Kokkos::DefaultExecutionSpace(), positions, charges, last_field);
}
