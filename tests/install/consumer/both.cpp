// SPDX-License-Identifier: BSD-3-Clause
// The installed library beside templates, which this program compiles for another instruction set than the library
// was: neither may take the other's code for its own.
#include <cmath>
#include <cstdio>
#include <fmm/fmm.hpp>
#include <fmm/runtime.hpp>
#include <vector>

namespace {

constexpr int n = 2000, order = 4;
constexpr fmm::Options options{.theta = 0.5, .leaf_capacity = 20};

template <class A, class B>
double relative_l2(A const& a, B const& b) {
  double difference = 0, norm = 0;
  for (int i = 0; i < n; ++i)
    for (int d = 0; d < 3; ++d) {
      difference += std::pow(a(i, d) - b(i, d), 2);
      norm += std::pow(b(i, d), 2);
    }
  return std::sqrt(difference / norm);
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard guard(argc, argv);
  using Space = Kokkos::DefaultHostExecutionSpace;
  using Vectors = Kokkos::View<double* [3], Kokkos::LayoutRight, Kokkos::HostSpace>;
  using Numbers = Kokkos::View<double*, Kokkos::HostSpace>;
  Vectors positions("positions", n), by_library("by_library", n), by_templates("by_templates", n),
      exact("exact", n);
  Numbers charges("charges", n);
  const double step[] = {0.819172513396, 0.671043606704, 0.549700477902};
  for (int i = 0; i < n; ++i) {
    for (int d = 0; d < 3; ++d) positions(i, d) = step[d] * i - std::floor(step[d] * i);
    charges(i) = i % 3 == 0 ? -1 : 1;
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double r[3], r2 = 0;
      for (int d = 0; d < 3; ++d) r2 += std::pow(r[d] = positions(i, d) - positions(j, d), 2);
      for (int d = 0; d < 3 && j != i; ++d) exact(i, d) += charges(j) * r[d] / (r2 * std::sqrt(r2));
    }

  fmm::AnySolver library({.order = order,
                          .precision = fmm::runtime::Precision::full,
                          .backend = fmm::runtime::backends().front()},
                         options);
  auto library_plan = library.build(positions);
  library.evaluate(library_plan, charges, fmm::none, by_library);

  const Space space;
  fmm::Solver<fmm::Laplace, fmm::Fmm<order>, double, Space> templates(options);
  auto plan = templates.build(space, positions);
  templates.evaluate(space, plan, charges, fmm::none, by_templates);
  space.fence();

  const double of_library = relative_l2(by_library, exact),
               of_templates = relative_l2(by_templates, exact),
               between = relative_l2(by_library, by_templates);
  std::printf("errors of the library %.2e, of templates %.2e, between them %.1e\n", of_library,
              of_templates, between);
  return of_library < 1e-2 && of_templates < 1e-2 && between < 1e-12 ? 0 : 1;
}
