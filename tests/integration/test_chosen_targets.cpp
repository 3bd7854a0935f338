// SPDX-License-Identifier: BSD-3-Clause
// Targets that are chosen among the bodies have the bits that all bodies' results have.
#include <cstring>
#include <numeric>

#include "refusal.hpp"
#include "support.hpp"

namespace fmm_test {
namespace {

using DefaultSpace = Kokkos::DefaultExecutionSpace;
using Indices = std::vector<int>;
using Numbers = std::vector<double>;

/// What a plan gives its targets: potential, field and, if it is wanted, Hessian, in rows.
template <bool with_hessian = false, class Solver, class Plan, class Strengths>
Numbers evaluated(Solver& solver, Plan& plan, Strengths const& strengths,
                  fmm::Report* report = nullptr) {
  const DefaultSpace space;
  const auto m = std::size_t(plan.targets());
  const ViewIn<double*, DefaultSpace> potential("potential", m);
  const ViewIn<double* [3], DefaultSpace> field("field", m);
  const ViewIn<double* [6], DefaultSpace> hessian("hessian", m);
  if constexpr (with_hessian)
    solver.evaluate(space, plan, strengths,
                    fmm::Results{.potential = potential, .field = field, .hessian = hessian},
                    report);
  else
    solver.evaluate(space, plan, strengths, potential, field, report);
  space.fence();
  const auto u = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), potential);
  const auto f = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), field);
  const auto h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), hessian);
  Numbers rows;
  for (std::size_t i = 0; i < m; ++i) {
    rows.push_back(u(i));
    for (int d = 0; d < 3; ++d) rows.push_back(f(i, d));
    if constexpr (with_hessian)
      for (int d = 0; d < 6; ++d) rows.push_back(h(i, d));
  }
  return rows;
}

void expect_rows(Numbers const& all, Indices const& chosen, Numbers const& found) {
  const std::size_t row = chosen.empty() ? 1 : found.size() / chosen.size();
  ASSERT_EQ(found.size(), row * chosen.size());
  for (std::size_t m = 0; m < chosen.size(); ++m)
    ASSERT_EQ(
        std::memcmp(&found[row * m], &all[row * std::size_t(chosen[m])], row * sizeof(double)), 0)
        << m;
}

/// Every seventh from the end on, one, all turned round, some twice, none, a corner's.
std::vector<Indices> choices(Bodies const& bodies) {
  const int n = int(bodies.size());
  Indices seventh, all(bodies.size()), corner;
  for (int i = n - 1; i >= 0; i -= 7) seventh.push_back(i);
  std::iota(all.rbegin(), all.rend(), 0);
  for (int i = 0; i < n; ++i)
    if (bodies.x[3 * i] < 0.1 && bodies.x[3 * i + 1] < 0.1) corner.push_back(i);
  return {seventh, {n / 2}, all, {5, 3, 5, 5, 0, n - 1}, {}, corner};
}

template <class Method, class Precision, class Kernel = Laplace>
void expect_chosen(Bodies const& bodies, fmm::Options const& options) {
  const DefaultSpace space;
  fmm::Solver<Kernel, Method, Precision> solver(options);
  const auto x = to_space<DefaultSpace>(bodies.x);
  const auto q = column_in<DefaultSpace>(bodies.q);
  const auto build = [&] {
    if constexpr (decltype(solver)::uses_charges)
      return solver.build(space, fmm::Inputs{.sources = x, .charges = q});
    else
      return solver.build(space, x);
  };
  auto plan = build();
  const Numbers all = evaluated(solver, plan, q);
  for (auto const& chosen : choices(bodies)) {
    solver.retarget(space, plan, column_in<DefaultSpace>(chosen));
    ASSERT_EQ(std::size_t(plan.targets()), chosen.size());
    expect_rows(all, chosen, evaluated(solver, plan, q));
  }
  solver.retarget(space, plan, fmm::none);
  EXPECT_EQ(evaluated(solver, plan, q), all);
}
const Bodies& cube() {
  static const Bodies bodies = make_bodies(Model::cube, 6000, true);
  return bodies;
}

TEST(ChosenTargets, OfAnFmm) {
  expect_chosen<fmm::Fmm<4>, float>(cube(), {.theta = 0.6});
  expect_chosen<fmm::Fmm<6>, fmm::Mixed>(cube(), {.theta = 0.5, .leaf_capacity = 16});
  expect_chosen<fmm::Fmm<8>, double>(cube(), {.theta = 0.5, .leaf_capacity = 16});
}
TEST(ChosenTargets, OfLists) {
  expect_chosen<fmm::Fmm<6, FmmList>, float>(make_bodies(Model::plummer, 5000), {});
  unless_quick([](auto) {
    expect_chosen<fmm::Fmm<6, fmm::FmmStencil>, double>(make_bodies(Model::clusters, 5000), {});
    expect_chosen<fmm::Fmm<4, FmmList, NaiveTranslation>, double>(make_bodies(Model::disk, 3000),
                                                                  {.leaf_capacity = 16});
  });
}
TEST(ChosenTargets, OfATreecode) {
  expect_chosen<fmm::Treecode<4, BarnesHut>, fmm::Mixed>(cube(), {.theta = 0.6});
  expect_chosen<fmm::Treecode<6>, double>(make_bodies(Model::plummer, 5000), {.theta = 0.6});
}
TEST(ChosenTargets, OfAllPairs) {
  expect_chosen<DirectSum, float>(cube(), {});
  expect_chosen<DirectSum, fmm::Mixed>(make_bodies(Model::plummer, 3000), {});
  expect_chosen<DirectSum, double>(make_bodies(Model::disk, 700), {});
}
/// Their lists follow the charges, and are made anew in each evaluation.
TEST(ChosenTargets, OfCriteriaWithCharges) {
  expect_chosen<fmm::Fmm<8, DualTree<fmm::MultipolePowerCriterion>>, fmm::Mixed>(
      cube(), {.pair_error = 1e-6});
  unless_quick([](auto) {
    expect_chosen<fmm::Fmm<6, DualTree<fmm::SourceCriterion>>, double, SoftenedGravity>(
        make_bodies(Model::plummer, 4000), {.softening = 0.01});
    expect_chosen<fmm::Treecode<6, DualTree<fmm::FieldCriterion>>, double>(
        make_bodies(Model::plummer, 4000), {});
  });
}
TEST(ChosenTargets, OfSeveralOrders) {
  using Criterion = fmm::VariableOrder<fmm::RadiusCriterion, 4, 6>;
  expect_chosen<fmm::Fmm<8, DualTree<Criterion>>, fmm::Mixed>(cube(), {.theta = 0.5});
}

/// Halos around a dense core, whose long rows a GPU cuts, and a few bodies at many places.
TEST(ChosenTargets, OfUnevenBodies) {
  Bodies halo = make_bodies(Model::plummer, 20000);
  for (int i = 0; i < 40; ++i) add_body(halo, 3 * i - 60, 0.1 * i, 50 - 3 * i, 1e-3);
  expect_chosen<fmm::Fmm<4>, float>(halo, {.theta = 0.7});
  expect_chosen<fmm::Fmm<4, FmmList>, float>(halo, {.leaf_capacity = 64});
}

TEST(ChosenTargets, OfDipolesAndHessians) {
  const DefaultSpace space;
  const Bodies bodies = make_bodies(Model::cube, 3000, true);
  fmm::Solver<Laplace, fmm::Fmm<6>, double> solver({.theta = 0.5, .leaf_capacity = 16});
  const fmm::Strengths strengths{.charges = column_in<DefaultSpace>(bodies.q),
                                 .dipoles = to_space<DefaultSpace>(bodies.x)};
  auto plan = solver.build(space, to_space<DefaultSpace>(bodies.x));
  const Numbers all = evaluated<true>(solver, plan, strengths);
  for (auto const& chosen : choices(bodies)) {
    auto of_some = solver.build(space, fmm::Inputs{.sources = to_space<DefaultSpace>(bodies.x),
                                                   .targets = column_in<DefaultSpace>(chosen)});
    expect_rows(all, chosen, evaluated<true>(solver, of_some, strengths));
  }
}

TEST(ChosenTargets, OfSeveralDensities) {
  const DefaultSpace space;
  constexpr int densities = 5;
  const Bodies bodies = make_bodies(Model::cube, 2000, true);
  const ViewIn<double* [densities], DefaultSpace> charges("charges", bodies.size());
  const auto h = Kokkos::create_mirror_view(charges);
  for (std::size_t i = 0; i < bodies.size(); ++i)
    for (int k = 0; k < densities; ++k) h(i, k) = std::sin(double(i * (k + 1)));
  Kokkos::deep_copy(charges, h);
  fmm::Solver<Laplace, fmm::Fmm<6>, fmm::Mixed> solver({.theta = 0.5, .leaf_capacity = 16});
  auto plan = solver.build(space, to_space<DefaultSpace>(bodies.x));
  const auto evaluate = [&] {
    const ViewIn<double* [densities], DefaultSpace> u("u", std::size_t(plan.targets()));
    solver.evaluate(space, plan, charges, fmm::Results{.potential = u});
    space.fence();
    const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), u);
    Numbers rows;
    for (std::size_t i = 0; i < found.extent(0); ++i)
      for (int k = 0; k < densities; ++k) rows.push_back(found(i, k));
    return rows;
  };
  const Numbers all = evaluate();
  for (auto const& chosen : choices(bodies)) {
    solver.retarget(space, plan, column_in<DefaultSpace>(chosen));
    expect_rows(all, chosen, evaluate());
  }
  solver.retarget(space, plan, column_in<DefaultSpace>(Indices{1, 2}));
  const ViewIn<double* [densities], DefaultSpace> u("u", bodies.size());
  expect_refused([&] { solver.evaluate(space, plan, charges, fmm::Results{.potential = u}); },
                 "the number of targets, 2");
}

TEST(ChosenTargets, WithoutExcludedPairs) {
  const DefaultSpace space;
  const Bodies bodies = make_bodies(Model::cube, 2000, true);
  std::vector<int> offsets{0}, partners;
  for (int i = 0; i < 2000; ++i) {
    partners.push_back(i ^ 1);
    offsets.push_back(i + 1);
  }
  const fmm::Exclusions exclusions{.offsets = column_in<DefaultSpace>(offsets),
                                   .bodies = column_in<DefaultSpace>(partners)};
  fmm::Solver<Laplace, fmm::Fmm<6>, fmm::Mixed> solver({.theta = 0.5, .leaf_capacity = 16});
  auto plan = solver.build(space, to_space<DefaultSpace>(bodies.x));
  const auto evaluate = [&] {
    const ViewIn<double*, DefaultSpace> u("u", std::size_t(plan.targets()));
    solver.evaluate(space, plan, column_in<DefaultSpace>(bodies.q), fmm::Results{.potential = u},
                    exclusions);
    space.fence();
    return to_host(u);
  };
  const Numbers all = evaluate();
  for (auto const& chosen : choices(bodies)) {
    solver.retarget(space, plan, column_in<DefaultSpace>(chosen));
    expect_rows(all, chosen, evaluate());
  }
}

/// The rows of near pairs are those of the chosen targets, too.
TEST(ChosenTargets, HaveNearPairs) {
  const DefaultSpace space;
  const Bodies bodies = make_bodies(Model::cube, 1500);
  fmm::Solver<Laplace, fmm::Fmm<4>> solver({.leaf_capacity = 16});
  auto plan = solver.build(space, to_space<DefaultSpace>(bodies.x));
  const auto rows = [&] {
    const auto near = solver.near_pairs(space, plan);
    const auto offsets = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), near.offsets);
    const auto sources = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), near.sources);
    std::vector<std::vector<int>> of_targets;
    for (std::size_t i = 0; i + 1 < offsets.extent(0); ++i)
      of_targets.emplace_back(sources.data() + offsets(i), sources.data() + offsets(i + 1));
    return of_targets;
  };
  const auto all = rows();
  const Indices chosen{7, 1499, 7, 0};
  solver.retarget(space, plan, column_in<DefaultSpace>(chosen));
  const auto some = rows();
  ASSERT_EQ(some.size(), chosen.size());
  for (std::size_t m = 0; m < chosen.size(); ++m) EXPECT_EQ(some[m], all[std::size_t(chosen[m])]);
}

/// Cells and tiles without targets are skipped.
TEST(ChosenTargets, CostWhatTheyNeed) {
  const DefaultSpace space;
  Indices chosen;
  for (int i = 0; i < 6000; ++i)
    if (cube().x[3 * i] < 0.3) chosen.push_back(i);
  fmm::Solver<Laplace, fmm::Fmm<6>, double> solver({.theta = 0.5, .leaf_capacity = 16});
  auto plan = solver.build(space, to_space<DefaultSpace>(cube().x));
  const auto q = column_in<DefaultSpace>(cube().q);
  fmm::Report all, some;
  evaluated(solver, plan, q, &all);
  solver.retarget(space, plan, column_in<DefaultSpace>(chosen));
  evaluated(solver, plan, q, &some);
  EXPECT_EQ(some.stage("p2m").count, all.stage("p2m").count);
  for (char const* name : {"p2p", "m2l", "l2l", "l2p"}) {
    const double share = double(some.stage(name).count) / double(all.stage(name).count);
    EXPECT_GT(share, 0.25) << name;
    EXPECT_LT(share, 0.5) << name;
  }
  EXPECT_EQ(std::size_t(some.stage("results").count), chosen.size());
}

TEST(ChosenTargets, RefuseWhatIsNotABody) {
  const DefaultSpace space;
  fmm::Solver<Laplace, fmm::Fmm<4>> solver;
  const auto x = to_space<DefaultSpace>(make_bodies(Model::cube, 100).x);
  auto plan = solver.build(space, x);
  const auto choose = [&](auto const& numbers) {
    solver.retarget(space, plan, column_in<DefaultSpace>(numbers));
  };
  choose(Indices{3, 4, 5});
  expect_refused([&] { choose(Indices{0, 100}); }, "targets(1) = 100");
  expect_refused([&] { choose(Indices{-1}); }, "0 to 99");
  expect_refused([&] { choose(std::vector<std::int64_t>{1LL << 32}); }, "targets(0)");
  expect_refused([&] { choose(std::vector<std::uint64_t>{~0ull}); }, "targets(0)");
  EXPECT_EQ(plan.targets(), 3) << "a choice that was refused leaves the one before";
  expect_refused([&] { solver.transposed(space, plan); }, "one of all bodies");
  auto empty = solver.build(space, to_space<DefaultSpace>(Numbers{}));
  expect_refused([&] { solver.retarget(space, empty, column_in<DefaultSpace>(Indices{0})); },
                 "without bodies");
  solver.retarget(space, empty, column_in<DefaultSpace>(Indices{}));
  EXPECT_EQ(empty.targets(), 0);
  fmm::Solver<Laplace, fmm::Fmm<4, FmmList>> other;
  expect_refused([&] { other.retarget(space, plan, fmm::none); }, "traversal");
  plan = solver.build(space, x);
  EXPECT_EQ(plan.targets(), 100) << "memory that is used again has all bodies as targets";
}

}  // namespace
}  // namespace fmm_test
