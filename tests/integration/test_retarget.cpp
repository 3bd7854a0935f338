// SPDX-License-Identifier: BSD-3-Clause
// New targets for sources whose tree and multipoles stay, against sums over all pairs.
#include "refusal.hpp"
#include "support.hpp"

namespace fmm_test {
namespace {

using DefaultSpace = Kokkos::DefaultExecutionSpace;
using Points = std::vector<double>;  // 3 N

Results summed(Points const& targets, Bodies const& sources) {
  Results sums{std::vector<double>(targets.size() / 3), std::vector<double>(targets.size())};
  for (std::size_t i = 0; i < targets.size() / 3; ++i)
    for (std::size_t j = 0; j < sources.size(); ++j) {
      double d[3], r2 = 0;
      for (int c = 0; c < 3; ++c) {
        d[c] = targets[3 * i + c] - sources.x[3 * j + c];
        r2 += d[c] * d[c];
      }
      if (r2 == 0) continue;
      const double u = sources.q[j] / std::sqrt(r2);
      sums.potential[i] += u;
      for (int c = 0; c < 3; ++c) sums.field[3 * i + c] += u / r2 * d[c];
    }
  return sums;
}

/// What a plan gives at so many targets.
template <class Solver, class Strengths>
Results evaluated(Solver& solver, fmm::TwoSetPlan<DefaultSpace, typename Solver::precision>& plan,
                  Strengths const& strengths, fmm::Report* report = nullptr) {
  const DefaultSpace space;
  const auto m = std::size_t(plan.targets());
  const ViewIn<double*, DefaultSpace> potential("potential", m);
  const ViewIn<double* [3], DefaultSpace> field("field", m);
  solver.evaluate(space, plan, strengths, fmm::Results{.potential = potential, .field = field},
                  report);
  space.fence();
  const auto u = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), potential);
  const auto f = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), field);
  Results results;
  for (std::size_t i = 0; i < m; ++i) {
    results.potential.push_back(u(i));
    for (int d = 0; d < 3; ++d) results.field.push_back(f(i, d));
  }
  return results;
}

/// Points in a part of the unit cube, from `low` on.
Points points_in(std::size_t n, double low, double edge, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(low, low + edge);
  Points x;
  for (std::size_t k = 0; k < 3 * n; ++k) x.push_back(uniform(random));
  return x;
}
const Points corners = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1};

/// Sets of targets in the place of another: as many as sources, few in one leaf, more than the sources in a part
/// without any, at the sources' very points, one, none.
std::vector<Points> sets_of_targets(Bodies const& sources) {
  Points few = points_in(40, 0.3, 1e-3, 5), at_sources = points_in(60, 0.2, 0.5, 6);
  at_sources.insert(at_sources.end(), sources.x.begin(), sources.x.begin() + 300);
  return {points_in(1500, 0, 1, 3),   few,        points_in(4000, 0.8, 0.2, 4),
          points_in(1, 0.5, 0.1, 7),  at_sources, {},
          points_in(700, 0.1, 0.5, 8)};
}

template <class Method, class Precision>
void expect_new_targets(double most) {
  const DefaultSpace space;
  Bodies sources{points_in(2000, 0.1, 0.6, 1), {}};
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> uniform(-0.5, 1);
  for (int i = 0; i < 2000; ++i) sources.q.push_back(uniform(random));
  fmm::Options options;
  if constexpr (!std::is_same_v<Method, DirectSum>) options = {.theta = 0.5, .leaf_capacity = 16};
  fmm::Solver<Laplace, Method, Precision> solver(options);
  const auto x = to_space<DefaultSpace>(sources.x);
  const auto q = column_in<DefaultSpace>(sources.q);
  auto plan =
      solver.build(space, fmm::Inputs{.sources = x, .targets = to_space<DefaultSpace>(corners)});
  evaluated(solver, plan, q);
  for (Points const& targets : sets_of_targets(sources)) {
    SCOPED_TRACE(targets.size() / 3);
    solver.retarget(space, plan, to_space<DefaultSpace>(targets));
    ASSERT_EQ(plan.targets(), std::int64_t(targets.size() / 3));
    fmm::Report report;
    const Results kept =
        evaluated(solver, plan, fmm::Strengths{.charges = q, .unchanged = true}, &report);
    EXPECT_EQ(report.find("p2m"), nullptr);
    if (targets.empty()) continue;
    const Results anew = evaluated(solver, plan, q);
    EXPECT_EQ(kept.potential, anew.potential);
    EXPECT_EQ(kept.field, anew.field);
    const Results exact = summed(targets, sources);
    EXPECT_LT(relative_l2(kept.potential, exact.potential), most);
    EXPECT_LT(relative_l2(kept.field, exact.field), most);
  }
}

TEST(Retarget, OfAnFmm) {
  expect_new_targets<fmm::Fmm<6>, float>(2e-4);
  expect_new_targets<fmm::Fmm<10>, double>(2e-6);
}
TEST(Retarget, OfATreecode) { expect_new_targets<fmm::Treecode<8>, double>(5e-6); }
TEST(Retarget, OfLists) {
  const DefaultSpace space;
  Bodies sources{points_in(2000, 0, 1, 1), std::vector<double>(2000, 1.0)};
  for (const fmm::TreeKind tree : {fmm::TreeKind::uniform, fmm::TreeKind::adaptive}) {
    fmm::Solver<Laplace, fmm::Fmm<8, fmm::FmmList>, double> solver(
        {.leaf_capacity = 16, .tree = tree});
    auto plan = solver.build(space, fmm::Inputs{.sources = to_space<DefaultSpace>(sources.x),
                                                .targets = to_space<DefaultSpace>(corners)});
    const auto q = column_in<DefaultSpace>(sources.q);
    for (Points const& targets : {points_in(900, 0, 1, 2), points_in(50, 0.4, 0.01, 3)}) {
      solver.retarget(space, plan, to_space<DefaultSpace>(targets));
      const Results found = evaluated(solver, plan, q), exact = summed(targets, sources);
      EXPECT_LT(relative_l2(found.potential, exact.potential), 1e-5);
      EXPECT_LT(relative_l2(found.field, exact.field), 1e-4);
    }
  }
}
TEST(Retarget, OfAllPairs) { expect_new_targets<DirectSum, double>(1e-13); }

/// A plan without targets gets some; one without sources gives zeros.
TEST(Retarget, OfNone) {
  const DefaultSpace space;
  const Bodies sources{points_in(500, 0, 1, 1), std::vector<double>(500, 1.0)};
  const Points none, targets = points_in(200, 0.2, 0.5, 2);
  fmm::Solver<Laplace, fmm::Fmm<8>, double> solver({.theta = 0.4, .leaf_capacity = 16});
  auto plan = solver.build(space, fmm::Inputs{.sources = to_space<DefaultSpace>(sources.x),
                                              .targets = to_space<DefaultSpace>(none)});
  const auto q = column_in<DefaultSpace>(sources.q);
  evaluated(solver, plan, q);
  solver.retarget(space, plan, to_space<DefaultSpace>(targets));
  const Results found = evaluated(
      solver, plan, fmm::Strengths{.charges = q, .unchanged = true});  // there are none yet
  EXPECT_LT(relative_l2(found.potential, summed(targets, sources).potential), 1e-6);
  auto of_none = solver.build(space, fmm::Inputs{.sources = to_space<DefaultSpace>(none),
                                                 .targets = to_space<DefaultSpace>(none)});
  solver.retarget(space, of_none, to_space<DefaultSpace>(targets));
  for (const double u : evaluated(solver, of_none, column_in<DefaultSpace>(none)).potential)
    EXPECT_EQ(u, 0);
}

/// Multipoles of another order, of dipoles, or of other charges are not taken for those that are wanted.
TEST(Retarget, TakesNoOtherMultipoles) {
  const DefaultSpace space;
  Bodies sources{points_in(1500, 0, 1, 1), std::vector<double>(1500, 1.0)};
  const Points targets = points_in(400, 0.2, 0.5, 2);
  fmm::Solver<Laplace, fmm::Fmm<4>, double> low({.theta = 0.4, .leaf_capacity = 16});
  fmm::Solver<Laplace, fmm::Fmm<9>, double> high({.theta = 0.4, .leaf_capacity = 16});
  const auto x = to_space<DefaultSpace>(sources.x);
  auto plan =
      low.build(space, fmm::Inputs{.sources = x, .targets = to_space<DefaultSpace>(targets)});
  const auto q = column_in<DefaultSpace>(sources.q);
  const fmm::Strengths unchanged{.charges = q, .unchanged = true};
  const Results exact = summed(targets, sources);
  evaluated(low, plan, q);
  EXPECT_LT(relative_l2(evaluated(high, plan, unchanged).potential, exact.potential), 1e-7);
  evaluated(low, plan, fmm::Strengths{.dipoles = x});
  EXPECT_LT(relative_l2(evaluated(low, plan, unchanged).potential, exact.potential), 1e-3);
  for (double& charge : sources.q) charge = 3;
  const auto thrice = column_in<DefaultSpace>(sources.q);
  EXPECT_LT(relative_l2(evaluated(low, plan, thrice).potential, summed(targets, sources).potential),
            1e-3);
}

/// Multipoles of charges before the last ones, or of another solver, are not those of the charges.
TEST(Retarget, TakesMultipolesOfTheLastEvaluationBySolverAlone) {
  const DefaultSpace space;
  Bodies sources{points_in(1500, 0, 1, 1), std::vector<double>(1500, 1.0)};
  const Points none, targets = points_in(400, 0.2, 0.5, 2);
  using Solver = fmm::Solver<Laplace, fmm::Fmm<6>, double>;
  const fmm::Options options = {.theta = 0.4, .leaf_capacity = 16};
  Solver solver(options), other(options), copy = solver;
  const auto x = to_space<DefaultSpace>(sources.x);
  auto plan =
      solver.build(space, fmm::Inputs{.sources = x, .targets = to_space<DefaultSpace>(targets)});
  evaluated(solver, plan, column_in<DefaultSpace>(sources.q));
  for (double& charge : sources.q) charge = 3;
  const auto thrice = column_in<DefaultSpace>(sources.q);
  const fmm::Strengths unchanged{.charges = thrice, .unchanged = true};
  solver.retarget(space, plan, to_space<DefaultSpace>(none));
  evaluated(solver, plan, thrice);
  solver.retarget(space, plan, to_space<DefaultSpace>(targets));
  const Results exact = summed(targets, sources);
  EXPECT_LT(relative_l2(evaluated(solver, plan, unchanged).potential, exact.potential), 1e-4);
  const auto makes_multipoles = [&](Solver& one) {
    fmm::Report report;
    EXPECT_LT(relative_l2(evaluated(one, plan, unchanged, &report).potential, exact.potential),
              1e-4);
    return report.find("p2m") != nullptr;
  };
  EXPECT_FALSE(makes_multipoles(solver));
  EXPECT_FALSE(makes_multipoles(copy));
  EXPECT_TRUE(makes_multipoles(other));
  EXPECT_TRUE(makes_multipoles(solver));
}

/// Of densities that were several blocks none stays: the last block's multipoles are not those of a charge each.
TEST(Retarget, TakesNoMultipolesOfOneBlockOfSeveral) {
  const DefaultSpace space;
  constexpr int densities = 9;
  const Bodies sources{points_in(1500, 0, 1, 1), std::vector<double>(1500, 1.0)};
  const Points targets = points_in(400, 0.2, 0.5, 2);
  fmm::Solver<Laplace, fmm::Fmm<6>, double> solver({.theta = 0.4, .leaf_capacity = 16});
  auto plan = solver.build(space, fmm::Inputs{.sources = to_space<DefaultSpace>(sources.x),
                                              .targets = to_space<DefaultSpace>(targets)});
  const ViewIn<double* [densities], DefaultSpace> many("many", 1500), results("results", 400);
  Kokkos::deep_copy(many, 7);
  solver.evaluate(space, plan, many, fmm::Results{.potential = results});
  const Results found = evaluated(
      solver, plan,
      fmm::Strengths{.charges = column_in<DefaultSpace>(sources.q), .unchanged = true});
  EXPECT_LT(relative_l2(found.potential, summed(targets, sources).potential), 1e-4);
}

/// Results in float are checked where those in double were written before.
TEST(Retarget, UnchangedStrengthsAreCheckedForOtherResults) {
  const DefaultSpace space;
  const Bodies sources{points_in(500, 0, 1, 1), std::vector<double>(500, 1e35)};
  const Points targets = points_in(100, 0.2, 0.5, 2);
  fmm::Solver<Laplace, fmm::Fmm<4>, double> solver;
  auto plan = solver.build(space, fmm::Inputs{.sources = to_space<DefaultSpace>(sources.x),
                                              .targets = to_space<DefaultSpace>(targets)});
  const fmm::Strengths unchanged{.charges = column_in<DefaultSpace>(sources.q), .unchanged = true};
  evaluated(solver, plan, unchanged);
  const ViewIn<float*, DefaultSpace> in_float("in float", 100);
  expect_refused(
      [&] { solver.evaluate(space, plan, unchanged, fmm::Results{.potential = in_float}); },
      "the unit of the potential in float");
}

/// Sources and targets at one point have no length; with targets beside it they have.
TEST(Retarget, FromAPointToOthers) {
  const DefaultSpace space;
  Bodies sources{{}, std::vector<double>(50, 1e25)};
  for (int i = 0; i < 50; ++i) sources.x.insert(sources.x.end(), {0.3, -1.7, 40.1});
  const Points point = {0.3, -1.7, 40.1}, beside = {0.3 + 1e-7, -1.7, 40.1};
  fmm::Solver<Laplace, fmm::Fmm<4>, double> solver;
  auto plan = solver.build(space, fmm::Inputs{.sources = to_space<DefaultSpace>(sources.x),
                                              .targets = to_space<DefaultSpace>(point)});
  const auto q = column_in<DefaultSpace>(sources.q);
  const ViewIn<float* [6], DefaultSpace> hessian("hessian", 1);
  const auto in_float = [&] {
    solver.evaluate(space, plan, fmm::Strengths{.charges = q}, fmm::Results{.hessian = hessian});
  };
  EXPECT_NO_THROW(in_float());
  solver.retarget(space, plan, to_space<DefaultSpace>(point));
  EXPECT_NO_THROW(in_float());
  for (double& charge : sources.q) charge = 1e33;
  Kokkos::deep_copy(q, 1e33);
  EXPECT_NO_THROW(in_float());
  solver.retarget(space, plan, to_space<DefaultSpace>(beside));
  expect_refused(in_float, "in float");
  EXPECT_LT(relative_l2(evaluated(solver, plan, q).field, summed(beside, sources).field), 1e-6);
  solver.retarget(space, plan, to_space<DefaultSpace>(point));
  EXPECT_NO_THROW(in_float());
}

/// A plan of some sources and targets, and what it gave.
struct Evaluated {
  DefaultSpace space;
  Bodies sources{points_in(500, 0, 1, 1), std::vector<double>(500, 1.0)};
  Points targets = points_in(100, 0.2, 0.5, 2);
  fmm::Solver<Laplace, fmm::Fmm<6>, double> solver;
  fmm::TwoSetPlan<DefaultSpace, double> plan =
      solver.build(space, fmm::Inputs{.sources = to_space<DefaultSpace>(sources.x),
                                      .targets = to_space<DefaultSpace>(targets)});
  ViewIn<double*, DefaultSpace> q = column_in<DefaultSpace>(sources.q);
  Results before = evaluated(solver, plan, q);
};

/// Memory may run out before all is there.
TEST(Retarget, APlanWithoutItsTargetsIsRefusedUntilItHasSome) {
  Evaluated of;
  of.plan.data().targets->facts = {};
  of.plan.data().targets->lists = {};
  expect_refused([&] { evaluated(of.solver, of.plan, of.q); }, "not built");
  of.solver.retarget(of.space, of.plan, to_space<DefaultSpace>(of.targets));
  EXPECT_LT(relative_l2(evaluated(of.solver, of.plan, of.q).potential, of.before.potential), 1e-4);
  fmm::TwoSetPlan<DefaultSpace, double> none;
  expect_refused([&] { of.solver.retarget(of.space, none, to_space<DefaultSpace>(of.targets)); },
                 "not built");
}

TEST(Retarget, BadInputIsRefused) {
  Evaluated of;
  Points far = of.targets, not_a_number = of.targets;
  far[7] = of.plan.low()[1] + 1.01 * of.plan.edge();
  not_a_number[8] = std::nan("");
  const auto retarget = [&](Points const& points) {
    return [&] { of.solver.retarget(of.space, of.plan, to_space<DefaultSpace>(points)); };
  };
  expect_refused(retarget(far), "in the plan's cube");
  expect_refused(retarget(not_a_number), "targets(2, 2)");
  const Results after =
      evaluated(of.solver, of.plan, fmm::Strengths{.charges = of.q, .unchanged = true});
  EXPECT_EQ(of.before.potential, after.potential);
  EXPECT_EQ(of.before.field, after.field);
}

}  // namespace
}  // namespace fmm_test
