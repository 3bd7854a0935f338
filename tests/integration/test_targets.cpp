// SPDX-License-Identifier: BSD-3-Clause
// Targets that are another set than the sources, through the solver's own door.
#include "support.hpp"

namespace fmm_test {
namespace {

using DefaultSpace = Kokkos::DefaultExecutionSpace;
using Points = std::vector<double>;  // 3 N

/// The definition in double, from positions that are rounded to the arrays' type. A source at a target's point adds
/// its softened potential, or nothing without softening.
Results summed(Points const& targets, Bodies const& sources, bool gravity, double softening,
               bool in_float) {
  const auto number = [&](double x) { return in_float ? double(float(x)) : x; };
  const double sign = gravity ? -1 : 1;
  Results sums{std::vector<double>(targets.size() / 3), std::vector<double>(targets.size())};
  for (std::size_t i = 0; i < targets.size() / 3; ++i)
    for (std::size_t j = 0; j < sources.size(); ++j) {
      double d[3], s2 = softening * softening;
      for (int c = 0; c < 3; ++c) {
        d[c] = number(targets[3 * i + c]) - number(sources.x[3 * j + c]);
        s2 += d[c] * d[c];
      }
      if (s2 == 0) continue;
      const double u = 1 / std::sqrt(s2), q = sign * number(sources.q[j]);
      sums.potential[i] += q * u;
      for (int c = 0; c < 3; ++c) sums.field[3 * i + c] += q * u * u * u * d[c];
    }
  return sums;
}

template <class Space, class Real>
Kokkos::View<Real* [3], Space> points_in(Points const& points) {
  const Kokkos::View<Real* [3], Space> there("points", points.size() / 3);
  const auto here = Kokkos::create_mirror_view(there);
  for (std::size_t i = 0; i < points.size(); ++i) here(i / 3, i % 3) = Real(points[i]);
  Kokkos::deep_copy(there, here);
  return there;
}

/// Build and evaluation with arrays of Real, the results full of rubbish before.
template <class Real, class Solver>
Results run_two(Solver& solver, Points const& targets, Bodies const& sources,
                fmm::Report* report = nullptr) {
  using Space = typename Solver::execution_space;
  const Space space;
  const Kokkos::View<Real*, Space> potential("potential", targets.size() / 3);
  const Kokkos::View<Real* [3], Space> field("field", targets.size() / 3);
  Kokkos::deep_copy(potential, Real(7));
  Kokkos::deep_copy(field, Real(7));
  const auto charges = column_in<Space>(std::vector<Real>(sources.q.begin(), sources.q.end()));
  auto plan = solver.build(
      space,
      fmm::Inputs{points_in<Space, Real>(sources.x), fmm::none, points_in<Space, Real>(targets)},
      report);
  EXPECT_EQ(plan.targets(), std::int64_t(targets.size() / 3));
  EXPECT_EQ(plan.sources(), std::int64_t(sources.size()));
  solver.evaluate(space, plan, charges, potential, field, report);
  space.fence();
  return to_host(potential, field);
}

template <class Kernel, class Method, class Precision, class Real = double,
          class Space = DefaultSpace>
void expect_sums(double tolerance, Points const& targets, Bodies const& sources,
                 std::string const& name, fmm::Options const& options = {}) {
  fmm::Solver<Kernel, Method, Precision, Space> solver(options);
  const Results sums = run_two<Real>(solver, targets, sources),
                expected = summed(targets, sources, std::is_same_v<Kernel, SoftenedGravity>,
                                  options.softening, sizeof(Real) == 4);
  EXPECT_LE(relative_l2(sums.potential, expected.potential), tolerance) << name;
  EXPECT_LE(relative_l2(sums.field, expected.field), tolerance) << name;
}

Points moved(Points points, double scale, double by) {
  for (double& x : points) x = scale * x + by;
  return points;
}
Points together(Points a, Points const& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
/// The place of every so many bodies.
Points some_of(Bodies const& bodies, std::size_t step) {
  Points points;
  for (std::size_t i = 0; i < bodies.size(); i += step)
    points.insert(points.end(), &bodies.x[3 * i], &bodies.x[3 * i] + 3);
  return points;
}

/// Sets of every kind: few and many, apart and in each other, at each other's points. Where all bodies of a cell are
/// in its corner errors are nearer to their bound.
template <class Method, class Precision, class Real = double, class Space = DefaultSpace>
void sets_of_all_kinds(double tolerance, fmm::Options const& options = {}) {
  const auto check = [&](Points const& targets, Bodies const& sources, char const* name,
                         double in_corners = 1) {
    expect_sums<Laplace, Method, Precision, Real, Space>(in_corners * tolerance, targets, sources,
                                                         name, options);
  };
  const Bodies cloud = make_bodies(Model::plummer, 1500, false, 3),
               few = make_bodies(Model::cube, 9), one = make_bodies(Model::cube, 1),
               point = make_bodies(Model::point, 70);
  const Points grid = make_bodies(Model::cube, 400, false, 4).x;
  check(grid, cloud, "targets among sources");
  check(some_of(cloud, 7), cloud, "some of the sources' points");
  check(together(grid, cloud.x), few, "many targets, few sources");
  check(cloud.x, cloud, "all of the sources' points");
  check(moved(grid, 1, 50), cloud, "targets outside of the sources' cube");
  check(moved(grid, 1e-3, 0.1), cloud, "targets close together");
  check(together(grid, moved(grid, 1e-3, -40)), cloud, "two clouds of targets");
  check(one.x, cloud, "one target");
  check(together(grid, one.x), one, "one source");
  check(one.x, one, "one target at one source");
  check(point.x, point, "all at one point");
  check(together(point.x, grid), cloud, "targets at one point");
  check(cloud.x, point, "sources at one point", 20);
  check({}, cloud, "no targets");
  check(grid, {}, "no sources");
  check({}, {}, "nothing");
}

const fmm::Options of_tree{.theta = 0.4, .leaf_capacity = 16};

TEST(Targets, AreSummedAsByDefinition) {
  sets_of_all_kinds<DirectSum, double>(1e-14);
  sets_of_all_kinds<fmm::Fmm<8>, double>(3e-5, of_tree);
  sets_of_all_kinds<fmm::Treecode<8>, double, double, Kokkos::Serial>(3e-5, of_tree);
  sets_of_all_kinds<fmm::Fmm<8, FmmList>, double>(2e-4, {.leaf_capacity = 16});
}

TEST(Targets, AreSummedInFloatAndMixedPrecision) {
  sets_of_all_kinds<DirectSum, float, float>(3e-6);
  sets_of_all_kinds<DirectSum, fmm::Mixed>(1e-6);
  sets_of_all_kinds<fmm::Fmm<8>, float, float>(3e-5, of_tree);
  sets_of_all_kinds<fmm::Fmm<8>, fmm::Mixed>(3e-5, of_tree);
}

/// Of a source at a target's very point the softened potential is all that there is.
template <class Method, class Precision>
void softened(double tolerance) {
  const Bodies cloud = make_bodies(Model::plummer, 2000, false, 3);
  for (const double softening : {0.0, 1e-3, 0.05})
    expect_sums<SoftenedGravity, Method, Precision>(tolerance, some_of(cloud, 3), cloud, "softened",
                                                    {.softening = softening});
  fmm::Solver<SoftenedGravity, Method, Precision> solver({.softening = 0.25, .G = 2});
  const Results sums = run_two<double>(solver, {1, 2, 3}, {{1, 2, 3}, {0.5}});
  EXPECT_NEAR(sums.potential[0], -2 * 0.5 / 0.25, 1e-6);
  EXPECT_EQ(sums.field, std::vector<double>(3, 0.0));
}

TEST(Targets, AtASourceFeelItsSoftenedPotentialAndNoForce) {
  softened<DirectSum, float>(1e-5);
  softened<fmm::Fmm<8>, fmm::Mixed>(2e-4);  // softening_error
  softened<fmm::Treecode<8>, float>(2e-4);
}

#if !defined(__clang__) || __clang_major__ >= 17
/// By their names, as users write them.
static_assert(std::is_same_v<decltype(fmm::Inputs{.sources = 1, .targets = 2.0}),
                             fmm::Inputs<int, fmm::None, double>>);
static_assert(std::is_same_v<decltype(fmm::Inputs{.sources = 1, .charges = 2.0, .last_field = 3}),
                             fmm::Inputs<int, double, fmm::None, int>>);
#endif

TEST(Targets, AreCountedInReports) {
  const Bodies cloud = make_bodies(Model::plummer, 3000, false, 3);
  const Points grid = make_bodies(Model::cube, 500).x;
  fmm::Solver<Laplace, DirectSum, double> all_pairs;
  fmm::Solver<Laplace, fmm::Fmm<4>, double> tree;
  fmm::Report of_all, of_tree;
  run_two<double>(all_pairs, grid, cloud, &of_all);
  EXPECT_EQ(of_all.p2p_pairs, 500 * 3000);
  run_two<double>(tree, grid, cloud, &of_tree);
  EXPECT_GT(of_tree.p2p_pairs, 0);
  EXPECT_LT(of_tree.p2p_pairs, of_all.p2p_pairs);
  EXPECT_GT(of_tree.m2l, 0);
  EXPECT_EQ(of_tree.stage("sort").count, 3500);
  EXPECT_EQ(of_tree.stage("p2m").count, 3000);
  EXPECT_EQ(of_tree.stage("l2p").count, 500);
  EXPECT_GT(of_tree.build_seconds, 0);
  EXPECT_GT(of_tree.evaluate_seconds, 0);
  const std::size_t bytes = tree.memory_bytes();
  run_two<double>(tree, grid, cloud);
  EXPECT_EQ(tree.memory_bytes(), bytes) << "a second build of the same size allocates nothing";
}

TEST(Targets, ThatAreNotAllowedAreRefused) {
  using Solver = fmm::Solver<SoftenedGravity, fmm::Fmm<4>, double>;
  const DefaultSpace space;
  const auto points = [](std::size_t n) {
    return points_in<DefaultSpace, double>(make_bodies(Model::cube, n).x);
  };
  const auto numbers = [](std::size_t n) { return Kokkos::View<double*, DefaultSpace>("q", n); };
  Solver solver({.softening = 1e-3});
  for (const double wrong : {std::nan(""), HUGE_VAL}) {
    Points bad = make_bodies(Model::cube, 5).x;
    bad[4] = wrong;
    const auto there = points_in<DefaultSpace, double>(bad);
    EXPECT_THROW(solver.build(space, fmm::Inputs{points(9), fmm::none, there}),
                 fmm::InvalidArgument);
    EXPECT_THROW(solver.build(space, fmm::Inputs{there, fmm::none, points(9)}),
                 fmm::InvalidArgument);
  }
  const Kokkos::View<double**, DefaultSpace> plane("plane", 5, 2);
  EXPECT_THROW(solver.build(space, fmm::Inputs{points(9), fmm::none, plane}), fmm::InvalidArgument);

  auto plan = solver.build(space, fmm::Inputs{points(9), fmm::none, points(5)});
  const auto refused = [&](Solver& by, std::size_t n, std::size_t m_potential,
                           std::size_t m_field) {
    EXPECT_THROW(by.evaluate(space, plan, numbers(n), numbers(m_potential), points(m_field)),
                 fmm::InvalidArgument);
  };
  refused(solver, 5, 5, 5);
  refused(solver, 9, 9, 5);
  refused(solver, 9, 5, 9);
  Solver softer({.softening = 0.5});  // the plan's near field is too small for it
  refused(softer, 9, 5, 5);
  solver.evaluate(space, plan, numbers(9), numbers(5), points(5));
}

}  // namespace
}  // namespace fmm_test
