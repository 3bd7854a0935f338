// SPDX-License-Identifier: BSD-3-Clause
// Two unit masses at distance 2 by the installed library, without Kokkos or a template.
#include <cmath>
#include <cstdio>
#include <fmm/runtime.hpp>

int main(int argc, char** argv) {
  fmm::runtime::KokkosSession const kokkos(argc, argv);
  std::vector<std::array<double, 3>> const positions = {{0, 0, 0}, {2, 0, 0}};
  std::vector<double> const masses = {1, 1};
  std::vector<double> potential(2);
  std::vector<std::array<double, 3>> acceleration(2);

  fmm::AnySolver solver({.kernel = fmm::runtime::Kernel::softened_gravity,
                         .order = fmm::runtime::orders().front(),
                         .precision = fmm::runtime::Precision::full,
                         .backend = fmm::runtime::backends().front()});
  auto plan = solver.build(positions);
  solver.evaluate(plan, masses, potential, acceleration);

  std::printf("fmm %s: potential %g, acceleration %g\n", fmm::version_string, potential[0],
              acceleration[0][0]);
  return std::abs(potential[0] + 0.5) < 1e-12 && std::abs(acceleration[0][0] - 0.25) < 1e-12 ? 0
                                                                                             : 1;
}
