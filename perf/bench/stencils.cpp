// SPDX-License-Identifier: BSD-3-Clause
// Cheaper M2L stencils (Gumerov & Duraiswami 2008, J. Comput. Phys. 227:8290) against the classic lists and
// the dual traversal: M2Ls, their time and the error of a whole evaluation, as JSON, for the default
// execution space, in double.
//
//     stencils [bodies [depth [repeats]]]            10^6, 5, 5
//
// Bodies fill the unit cube, in a uniform tree of that depth. Times are the best of the
// repeats; errors are relative L2 errors of the field at 4096 bodies.
#include <fmm/fmm.hpp>

#include "uniform_cube.hpp"

namespace stencils {

using uniform_cube::Problem, uniform_cube::Space;

template <int Order, class Traversal>
void measure(Space const& space, Problem const& problem, char const* lists, double theta = 0) {
  fmm::Options options{.depth = problem.depth, .tree = fmm::TreeKind::uniform};
  if (theta > 0) options.theta = theta;
  fmm::Solver<fmm::Laplace, fmm::Fmm<Order, Traversal>, double, Space> solver(options);
  const auto n = problem.charges.extent(0);
  const Kokkos::View<double*, Space> potential("potential", n);
  const Kokkos::View<double* [3], Space> field("field", n);
  auto plan = solver.build(space, problem.positions);
  double seconds = 0, m2l_seconds = 0;
  std::int64_t m2l = 0, pairs = 0;
  for (int i = 0; i <= problem.repeats; ++i) {
    fmm::Report report;
    solver.evaluate(space, plan, problem.charges, potential, field, &report);
    const double stage = report.find("m2l")->seconds;
    if (i == 1 || (i > 1 && stage < m2l_seconds)) m2l_seconds = stage;
    if (i == 1 || (i > 1 && report.evaluate_seconds < seconds)) seconds = report.evaluate_seconds;
    m2l = report.m2l, pairs = report.p2p_pairs;
  }
  const auto error = fmm::measure_error(space, solver.kernel(), problem.positions, problem.charges,
                                        potential, field, 4096);
  std::printf(
      "%s{\"order\": %d, \"lists\": \"%s\", \"theta\": %g, \"m2l\": %lld, \"p2p_pairs\": %lld, "
      "\"m2l_seconds\": %.4g, \"evaluate_seconds\": %.4g, \"field_l2\": %.3g}",
      uniform_cube::next_separator(), Order, lists, theta, (long long)m2l, (long long)pairs,
      m2l_seconds, seconds, error.field_l2);
  std::fflush(stdout);
}

template <int Order>
void measure_order(Space const& space, Problem const& problem) {
  measure<Order, fmm::FmmList>(space, problem, "classic");
  measure<Order, fmm::FmmStencil>(space, problem, "stencil");
  for (const double theta : {0.6, 0.65, 0.7, 0.75, 0.8, 0.85})
    measure<Order, fmm::DualTree<>>(space, problem, "dual", theta);
}

}  // namespace stencils

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard guard(argc, argv);
  const stencils::Problem problem(argc, argv);
  uniform_cube::print_list<4, 6, 8, 10>(
      [&](auto order) { stencils::measure_order<order.value>({}, problem); });
}
