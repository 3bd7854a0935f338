// SPDX-License-Identifier: BSD-3-Clause
// Offsets of a batch that are no whole numbers.
// expect: offsets and numbers of bodies are Kokkos Views of rank 1 of whole numbers
#include <fmm/fmm.hpp>

void build(fmm::Solver<fmm::Laplace, fmm::DirectSum>& solver, Kokkos::View<double* [3]> positions,
           Kokkos::View<double*> offsets) {
  solver.build(Kokkos::DefaultExecutionSpace(), fmm::Batch{positions, offsets});
}
