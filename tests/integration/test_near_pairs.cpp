// SPDX-License-Identifier: BSD-3-Clause
// The pairs that a plan says its near field has are those that it sums: all others make up the far field.
#include "refusal.hpp"
#include "support.hpp"

namespace fmm_test {
namespace {

using DefaultSpace = Kokkos::DefaultExecutionSpace;
using Points = std::vector<double>;  // 3 N

/// 1/r far away, and nothing near: what a solver gives is the far field alone.
struct OnlyFar {
  static constexpr bool harmonic = true;
  template <class Real>
  KOKKOS_FUNCTION fmm::PairTerm<Real> operator()(Real) const {
    return {Real(0), Real(0)};
  }
  KOKKOS_FUNCTION OnlyFar rescaled(double) const { return *this; }
  KOKKOS_FUNCTION double potential_unit(double length) const { return 1 / length; }
};

double distance(Points const& a, std::size_t i, Points const& b, std::size_t j) {
  return std::hypot(a[3 * i] - b[3 * j], a[3 * i + 1] - b[3 * j + 1], a[3 * i + 2] - b[3 * j + 2]);
}

/// Rows in which each source is once, and not the target itself, and potentials that are those of all others.
template <class Plan, class Solver>
void expect_near_pairs(Solver& solver, Plan& plan, Points const& sources, Points const& targets,
                       std::vector<double> const& charges, double most) {
  const DefaultSpace space;
  const bool same = &sources == &targets;
  const std::size_t n = sources.size() / 3, m = targets.size() / 3;
  const ViewIn<double*, DefaultSpace> potential("potential", m);
  solver.evaluate(space, plan, column_in<DefaultSpace>(charges), potential, fmm::none);
  space.fence();
  const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), potential);
  const auto near = solver.near_pairs(space, plan);
  const auto offsets = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), near.offsets);
  const auto rows = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), near.sources);
  ASSERT_EQ(offsets.extent(0), m + 1);
  ASSERT_EQ(std::size_t(offsets(m)), rows.extent(0));
  EXPECT_GT(offsets(m), std::int64_t(5 * m));
  EXPECT_LT(offsets(m), std::int64_t(m * n / 2));
  double difference2 = 0, norm2 = 0;
  for (std::size_t i = 0; i < m; ++i) {
    std::vector<bool> is_near(n);
    for (std::int64_t k = offsets(i); k < offsets(i + 1); ++k) {
      ASSERT_LT(std::size_t(rows(k)), n);
      ASSERT_FALSE(is_near[rows(k)]) << i;
      is_near[rows(k)] = true;
    }
    if (same) ASSERT_FALSE(is_near[i]) << i;
    double exact = 0;
    for (std::size_t j = 0; j < n; ++j)
      if (!is_near[j] && !(same && i == j)) exact += charges[j] / distance(targets, i, sources, j);
    difference2 += (found(i) - exact) * (found(i) - exact);
    norm2 += exact * exact;
  }
  EXPECT_LT(std::sqrt(difference2 / norm2), most);
}

template <class Method>
void expect_near_pairs_of(double most) {
  const DefaultSpace space;
  const Bodies bodies = make_bodies(Model::plummer, 3000, false, 3);
  const Points others = make_bodies(Model::cube, 900, false, 4).x;
  fmm::Solver<OnlyFar, Method, double> solver({.theta = 0.4, .leaf_capacity = 12});
  const auto x = to_space<DefaultSpace>(bodies.x);
  auto plan = solver.build(space, x);
  expect_near_pairs(solver, plan, bodies.x, bodies.x, bodies.q, most);
  auto two =
      solver.build(space, fmm::Inputs{.sources = x, .targets = to_space<DefaultSpace>(others)});
  expect_near_pairs(solver, two, bodies.x, others, bodies.q, most);
}

TEST(NearPairs, AreThoseOfAnFmm) { expect_near_pairs_of<fmm::Fmm<10>>(1e-7); }
TEST(NearPairs, AreThoseOfATreecode) { expect_near_pairs_of<fmm::Treecode<10>>(1e-7); }

TEST(NearPairs, OfFewBodies) {
  const DefaultSpace space;
  fmm::Solver<Laplace, fmm::Fmm<4>> solver;
  const auto x = to_space<DefaultSpace>({0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.1, 0.2, 0.3});
  const auto count = [&](auto const& plan) {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(),
                                               solver.near_pairs(space, plan).offsets);
  };
  const auto of_three = count(solver.build(space, x));
  for (int i = 0; i <= 3; ++i) EXPECT_EQ(of_three(i), 2 * i);
  const auto nothing = to_space<DefaultSpace>({});
  const auto of_none = count(solver.build(space, nothing));
  ASSERT_EQ(of_none.extent(0), 1u);
  EXPECT_EQ(of_none(0), 0);
  const auto of_no_sources =
      count(solver.build(space, fmm::Inputs{.sources = nothing, .targets = x}));
  ASSERT_EQ(of_no_sources.extent(0), 4u);
  EXPECT_EQ(of_no_sources(3), 0);
}

/// A plan of another traversal, or one that was never built, is refused.
TEST(NearPairs, OfAnotherTraversalAreRefused) {
  const DefaultSpace space;
  fmm::Solver<Laplace, fmm::Fmm<4>> solver;
  fmm::Solver<Laplace, fmm::Treecode<4, fmm::BarnesHut>> treecode;
  const auto x = to_space<DefaultSpace>(make_bodies(Model::cube, 800, true, 3).x);
  const auto plan = treecode.build(space, x);
  const auto two = treecode.build(space, fmm::Inputs{.sources = x, .targets = x});
  EXPECT_NO_THROW(treecode.near_pairs(space, plan));
  expect_refused([&] { solver.near_pairs(space, plan); }, "another traversal");
  expect_refused([&] { solver.near_pairs(space, two); }, "another traversal");
}

/// Lists that follow the multipoles are there after an evaluation.
TEST(NearPairs, OfListsThatFollowMultipoles) {
  const DefaultSpace space;
  const Bodies bodies = make_bodies(Model::cube, 800, true, 3);
  const auto x = to_space<DefaultSpace>(bodies.x);
  const auto q = column_in<DefaultSpace>(bodies.q);
  fmm::Solver<Laplace, fmm::Fmm<6, DualTree<fmm::MultipolePowerCriterion>>> solver;
  auto plan = solver.build(space, fmm::Inputs{.sources = x, .charges = q});
  EXPECT_THROW(solver.near_pairs(space, plan), fmm::InvalidArgument);
  const ViewIn<double*, DefaultSpace> potential("potential", 800);
  solver.evaluate(space, plan, q, potential, fmm::none);
  EXPECT_GT(solver.near_pairs(space, plan).sources.extent(0), 800u);
}

}  // namespace
}  // namespace fmm_test
