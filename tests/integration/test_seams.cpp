// SPDX-License-Identifier: BSD-3-Clause
// What stands between the steps of an evaluation: callers that compose the steps themselves.
#include "support.hpp"

namespace fmm_test {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using fmm::kernels::Wanted;

/// An exchange between ranks: all multipoles leave the evaluation before the lists are made, and others take their
/// place until they come back.
template <class Traversal>
void exchange_multipoles() {
  using Solver = fmm::Solver<Laplace, 6, Rotation, Traversal, double>;
  const Bodies bodies = make_bodies(Model::plummer, 5000, true, 3);
  const DeviceBodies<Space> device(bodies);
  Kokkos::View<double*, Space> potential("potential", bodies.size());
  Kokkos::View<double* [3], Space> field("field", bodies.size());
  const Space space;
  Solver solver;
  const auto plan = [&] {
    if constexpr (Solver::uses_charges)
      return solver.build(space, device.x, device.q);
    else
      return solver.build(space, device.x);
  }();

  solver.check(plan, device.q, potential, field);
  auto steps = solver.template evaluation<Wanted<true, true>>(space, plan, nullptr);
  steps.template take_charges<decltype(potential), decltype(field)>(device.q);
  steps.upward(Solver::uses_charges);
  const auto multipoles = steps.multipoles();
  const auto sent = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), multipoles.view());
  std::vector<double> packed(sent.data(), sent.data() + sent.size());
  Kokkos::deep_copy(space, multipoles.view(), std::nan(""));
  space.fence();
  std::copy(packed.begin(), packed.end(), sent.data());
  Kokkos::deep_copy(multipoles.view(), sent);
  if constexpr (Solver::uses_charges) solver.list(space, plan.data(), multipoles, nullptr);
  steps.interact();
  steps.downward();
  steps.near_field(solver.kernel(), solver.options());
  steps.give_results(potential, field);
  space.fence();
  const Results exchanged = to_host(potential, field), expected = direct_sum<Laplace>(bodies);
  EXPECT_LT(relative_l2(exchanged.field, expected.field), 2e-4);
  EXPECT_LT(relative_l2(exchanged.potential, expected.potential), 2e-4);

  Solver other;
  const Results whole = run(other, bodies);
  EXPECT_EQ(exchanged.field, whole.field);
  EXPECT_EQ(exchanged.potential, whole.potential);
}

TEST(Seams, MultipolesLeaveAndComeBack) {
  exchange_multipoles<DualTree<>>();
  exchange_multipoles<DualTree<fmm::MultipolePowerCriterion>>();
  exchange_multipoles<fmm::FmmList>();
}

}  // namespace
}  // namespace fmm_test
