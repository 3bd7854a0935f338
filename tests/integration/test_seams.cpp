// SPDX-License-Identifier: BSD-3-Clause
// What stands between the steps of an evaluation: callers that compose the steps themselves, with targets that are
// the sources or another set, and with sources at a shift.
#include "two_sets.hpp"

namespace fmm_test {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using fmm::kernels::Wanted;

/// An exchange between ranks: all multipoles leave the evaluation before the lists are made, and others take their
/// place until they come back.
template <class Traversal>
void exchange_multipoles() {
  using Solver = fmm::Solver<Laplace, fmm::Fmm<6, Traversal>, double>;
  const Bodies bodies = make_bodies(Model::plummer, 5000, true, 3);
  const DeviceBodies<Space> device(bodies);
  Kokkos::View<double*, Space> potential("potential", bodies.size());
  Kokkos::View<double* [3], Space> field("field", bodies.size());
  const Space space;
  Solver solver;
  auto plan = [&] {
    if constexpr (Solver::uses_charges)
      return solver.build(space, fmm::Inputs{device.x, device.q});
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

// ---- targets and sources

template <class Traversal, class Precision = double, class Space_ = Space>
using SolverBy = fmm::Solver<
    Laplace,
    MethodOf<8, Traversal,
             std::conditional_t<std::is_same_v<Traversal, BarnesHut>, NoTranslation, Rotation>>,
    Precision, Space_>;

/// Adds what sources exert that are `shift` along x from their place, in double; a pair without distance is none.
void add_exerted(Bodies const& targets, Bodies const& sources, double shift, Results& sums) {
  sums.potential.resize(targets.size());
  sums.field.resize(3 * targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i)
    for (std::size_t j = 0; j < sources.size(); ++j) {
      double d[3], r2 = 0;
      for (int c = 0; c < 3; ++c) {
        d[c] = targets.x[3 * i + c] - (sources.x[3 * j + c] + (c == 0 ? shift : 0));
        r2 += d[c] * d[c];
      }
      if (r2 == 0) continue;
      const double u = 1 / std::sqrt(r2);
      sums.potential[i] += sources.q[j] * u;
      for (int c = 0; c < 3; ++c) sums.field[3 * i + c] += sources.q[j] * u * u * u * d[c];
    }
}

void expect_near(Results const& sums, Results const& expected, double tolerance) {
  EXPECT_LT(relative_l2(sums.field, expected.field), tolerance);
  EXPECT_LT(relative_l2(sums.potential, expected.potential), tolerance);
}

/// Targets that are another set than the sources: fewer, elsewhere, in a tree of their own.
template <class Traversal, class Precision = double, class Space = Space>
void other_targets(double tolerance, Bodies const& targets, Bodies const& sources) {
  const SolverBy<Traversal, Precision, Space> solver;
  const DeviceBodies<Space> to(targets), from(sources);
  const auto cube = cube_of<Space>(targets, sources);
  auto of_targets = tree_over<Traversal>(cube, solver, to.x),
       of_sources = tree_over<Traversal>(cube, solver, from.x);
  fmm::Report report;
  const Results sums = exerted<Traversal, Precision>(solver, of_targets, of_sources, fmm::NoShift(),
                                                     from.q, &report);
  EXPECT_GT(report.p2p_pairs, 0);
  EXPECT_LT(report.p2p_pairs, std::int64_t(targets.size() * sources.size()));
  Results expected;
  add_exerted(targets, sources, 0, expected);
  expect_near(sums, expected, tolerance);
}

TEST(Seams, TargetsAreAnotherSet) {
  const Bodies cloud = make_bodies(Model::plummer, 5000, false, 3),
               cube = make_bodies(Model::cube, 1500, false, 4), one = make_bodies(Model::cube, 1);
  other_targets<DualTree<>>(1e-5, cube, cloud);
  other_targets<DualTree<>>(8e-5, cloud, cube);
  other_targets<DualTree<>, double, Kokkos::Serial>(1e-5, cube, cloud);
  other_targets<DualTree<>, float>(1e-5, cube, cloud);
  other_targets<DualTree<>, fmm::Mixed>(1e-5, cube, cloud);
  other_targets<DualTree<>>(3e-7, one, cloud);
  other_targets<fmm::FmmList>(2e-5, cube, cloud);
  other_targets<fmm::FmmStencil>(5e-5, cloud, cube);
  other_targets<BarnesHut>(2e-6, cube, cloud);
}

/// An image of all bodies beside them: home and image, and a body is a source of itself in the image.
template <class Traversal, class Precision = double>
void image_beside(double tolerance) {
  SolverBy<Traversal, Precision> solver;
  const Bodies bodies = make_bodies(Model::cube, 3000, false, 5);
  const DeviceBodies<Space> device(bodies);
  Kokkos::View<double*, Space> potential("potential", bodies.size());
  Kokkos::View<double* [3], Space> field("field", bodies.size());
  auto plan = solver.build(Space(), device.x);
  solver.evaluate(Space(), plan, device.q, potential, field);
  Space().fence();
  Results sums = to_host(potential, field), expected;
  const Results image =
      exerted<Traversal, Precision>(solver, plan, plan, fmm::GridShift::of_root(1, 0, 0), device.q);
  add_exerted(bodies, bodies, 0, expected);
  const Results home = expected;
  add_exerted(bodies, bodies, plan.data().tree.cube.edge, expected);
  Results of_image = expected;
  for (std::size_t i = 0; i < image.field.size(); ++i) {
    sums.field[i] += image.field[i];
    of_image.field[i] -= home.field[i];
  }
  for (std::size_t i = 0; i < image.potential.size(); ++i) {
    sums.potential[i] += image.potential[i];
    of_image.potential[i] -= home.potential[i];
  }
  expect_near(sums, expected, tolerance);
  expect_near(image, of_image, tolerance);
}

TEST(Seams, ImageOfTheSources) {
  image_beside<DualTree<>>(3e-6);
  image_beside<DualTree<>, float>(3e-6);
  image_beside<DualTree<>, fmm::Mixed>(3e-6);
  image_beside<fmm::FmmList>(2e-5);
  image_beside<fmm::FmmStencil>(3e-5);
  image_beside<BarnesHut>(1e-6);
}

TEST(Seams, SetsThatDoNotFitAreRefused) {
  const Bodies bodies = make_bodies(Model::cube, 500);
  const DeviceBodies<Space> device(bodies);
  const SolverBy<fmm::FmmList> solver;
  const fmm::tree::Cube cube{{0, 0, 0}, 1}, other{{0, 0, 0}, 2};
  auto plan = tree_over<fmm::FmmList>(cube, solver, device.x),
       of_other = tree_over<fmm::FmmList>(other, solver, device.x);
  const auto list = [&](auto& sources, fmm::GridShift shift) {
    exerted<fmm::FmmList, double>(solver, plan, sources, shift, device.q);
  };
  EXPECT_THROW(list(of_other, fmm::GridShift::of_root(0, 0, 0)), fmm::InvalidArgument);
  EXPECT_THROW(list(plan, fmm::GridShift{{1, 0, 0}}), fmm::InvalidArgument);
}

}  // namespace
}  // namespace fmm_test
