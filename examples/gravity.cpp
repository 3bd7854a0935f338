// SPDX-License-Identifier: BSD-3-Clause
// Gravity of a million bodies in a unit cube, to about 1e-4, with the default execution space.
#include <fmm/fmm.hpp>
#include <iostream>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  const int n = 1'000'000;
  Kokkos::View<double* [3]> positions("positions", n);
  Kokkos::View<double*> masses("masses", n);
  // spread evenly, by Roberts's sequence
  const auto place = KOKKOS_LAMBDA(int i) {
    const double step[] = {0.819172513396, 0.671043606704, 0.549700477902};
    for (int d = 0; d < 3; ++d) positions(i, d) = step[d] * i - std::floor(step[d] * i);
    masses(i) = 1.0 / n;
  };
  Kokkos::parallel_for(n, place);

  Kokkos::View<float*> potential("potential", n);
  Kokkos::View<float* [3]> acceleration("acceleration", n);
  Kokkos::DefaultExecutionSpace space;
  fmm::Solver<fmm::SoftenedGravity, fmm::Fmm<5>> solver({.theta = 0.6});
  auto plan = solver.build(space, positions);
  solver.evaluate(space, plan, masses, potential, acceleration);

  const auto error =
      fmm::measure_error(space, solver.kernel(), positions, masses, potential, acceleration, 1000);
  std::cout << "relative L2 error of the force: " << error.field_l2 << '\n';
}
