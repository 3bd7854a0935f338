// SPDX-License-Identifier: BSD-3-Clause
// Excluded pairs of targets that are a set of their own.
// expect: exclusions are for a plan of one set of bodies
#include <fmm/fmm.hpp>

void evaluate(fmm::Solver<fmm::Laplace, fmm::Fmm<4>>& solver,
              fmm::TwoSetPlan<Kokkos::DefaultExecutionSpace, float>& plan,
              Kokkos::View<double*> charges, Kokkos::View<int*> rows) {
  solver.evaluate(Kokkos::DefaultExecutionSpace(), plan, charges,
                  fmm::Results<Kokkos::View<double*>>{charges}, fmm::Exclusions{rows, rows});
}
