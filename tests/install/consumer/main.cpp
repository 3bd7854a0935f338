// SPDX-License-Identifier: BSD-3-Clause
// Two unit masses at distance 2 through the installed package.
#include <cmath>
#include <cstdio>
#include <fmm/fmm.hpp>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard guard(argc, argv);
  Kokkos::View<double* [3]> positions("positions", 2);
  Kokkos::View<double*> masses("masses", 2), potential("potential", 2);
  Kokkos::View<double* [3]> acceleration("acceleration", 2);
  Kokkos::deep_copy(masses, 1.0);
  auto const host_positions = Kokkos::create_mirror_view(positions);
  host_positions(1, 0) = 2;
  Kokkos::deep_copy(positions, host_positions);

  fmm::Solver<fmm::SoftenedGravity, fmm::Fmm<4>, double> solver;
  Kokkos::DefaultExecutionSpace const space;
  auto plan = solver.build(space, positions);
  solver.evaluate(space, plan, masses, potential, acceleration);

  auto const phi = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), potential);
  auto const a = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), acceleration);
  std::printf("fmm %s: potential %g, acceleration %g\n", fmm::version_string, phi(0), a(0, 0));
  return std::abs(phi(0) + 0.5) < 1e-12 && std::abs(a(0, 0) - 0.25) < 1e-12 ? 0 : 1;
}
