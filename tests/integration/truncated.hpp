// SPDX-License-Identifier: BSD-3-Clause
// For tests of convergence: the error of a solver, with and without the terms of the highest degree.
#pragma once

#include "support.hpp"

namespace fmm_test {

/// Sets to 0 the terms of the highest degree in rows of one expansion each.
template <class Space, class Real>
void cut_highest_degree(Space const& space, fmm::Array<Real, Space> rows, int order) {
  space.fence();
  const auto there = rows.view();
  const auto here = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), there);
  const int size = fmm::coefficient_count(order), row = fmm::kernels::row_length(size);
  for (std::size_t cell = 0; cell < here.extent(0); cell += row)
    for (int k = order * order; k < size; ++k) here(cell + k) = 0;
  Kokkos::deep_copy(there, here);
}

/// As `run`, without the terms of the highest degree. A multipole's lower degrees come from the children's lower
/// degrees alone, and a local expansion's from all of them: multipoles are cut when all are there, local expansions
/// before L2L.
template <class Solver>
Results run_truncated(Solver& solver, Bodies const& bodies) {
  using Space = typename Solver::execution_space;
  using Potential = ViewIn<double*, Space>;
  using Field = ViewIn<double* [3], Space>;
  const Space space;
  const DeviceBodies<Space> device(bodies);
  const Potential potential("potential", bodies.size());
  const Field field("field", bodies.size());
  auto plan = solver.build(space, device.x);
  auto evaluation =
      solver.template evaluation<fmm::kernels::Outputs<true, true>>(space, plan, nullptr);
  evaluation.template take_charges<Potential, Field>(device.q);
  evaluation.upward(false);
  cut_highest_degree(fmm::site_t<Space>(space), evaluation.multipoles(), Solver::order);
  evaluation.interact();
  if (evaluation.locals().extent(0) > 0)
    cut_highest_degree(fmm::site_t<Space>(space), evaluation.locals(), Solver::order);
  evaluation.downward();
  evaluation.near_field(solver.kernel(), solver.options());
  evaluation.give_results(potential, field);
  space.fence();
  return to_host(potential, field);
}

/// Relative L2 error of the field, in double; `truncated` without the terms of the highest degree.
template <int Order, class Traversal, class Translation, class Kernel>
double error(Bodies const& bodies, Results const& reference, fmm::Options const& options,
             bool truncated = false) {
  fmm::Solver<Kernel, MethodOf<Order, Traversal, Translation>, double> solver(options);
  const Results sums = truncated ? run_truncated(solver, bodies) : run(solver, bodies);
  return relative_l2(sums.field, reference.field);
}

}  // namespace fmm_test
