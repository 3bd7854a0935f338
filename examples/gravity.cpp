// SPDX-License-Identifier: BSD-3-Clause
// Gravity of a million bodies in a unit cube, to about 1e-4, with the default execution space.
#include <Kokkos_Random.hpp>
#include <fmm/fmm.hpp>
#include <iostream>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  const int n = 1'000'000;
  Kokkos::View<double* [3]> positions("positions", n);
  Kokkos::View<double*> masses("masses", n);
  Kokkos::Random_XorShift64_Pool<> random(1);
  Kokkos::fill_random(positions, random, 1.0);
  Kokkos::deep_copy(masses, 1.0 / n);

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
