// SPDX-License-Identifier: BSD-3-Clause
// A tolerance for any strengths, targets and results, against sums in long double: of charges, dipoles and both, at the
// sources, at some of them and at others, of several densities, softened, and without excluded pairs.
#include <numeric>

#include "carried.hpp"
#include "refusal.hpp"
#include "support.hpp"

namespace fmm_test {
namespace {

using DefaultSpace = Kokkos::DefaultExecutionSpace;
/// visit(strengths) of the kind.
template <Carries kind, class Visit>
void with_strengths(Sources const& sources, Visit const& visit) {
  if constexpr (kind == Carries::charges)
    visit(column_in<DefaultSpace>(sources.charges));
  else if constexpr (kind == Carries::dipoles)
    visit(fmm::Strengths{.dipoles = to_space<DefaultSpace>(sources.dipoles)});
  else
    visit(fmm::Strengths{.charges = column_in<DefaultSpace>(sources.charges),
                         .dipoles = to_space<DefaultSpace>(sources.dipoles)});
}

/// All three results, in rows of ten.
template <Carries kind, class Solver, class Plan, class... Exclusions>
std::vector<double> evaluated(Solver& solver, Plan& plan, Sources const& sources,
                              Exclusions const&... exclusions) {
  const DefaultSpace space;
  const auto m = std::size_t(plan.targets());
  const ViewIn<double*, DefaultSpace> u("u", m);
  const ViewIn<double* [3], DefaultSpace> f("f", m);
  const ViewIn<double* [6], DefaultSpace> h("h", m);
  with_strengths<kind>(sources, [&](auto const& strengths) {
    solver.evaluate(space, plan, strengths, fmm::Results{.potential = u, .field = f, .hessian = h},
                    exclusions...);
  });
  space.fence();
  const auto hu = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), u);
  const auto hf = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), f);
  const auto hh = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), h);
  std::vector<double> rows;
  for (std::size_t i = 0; i < m; ++i) {
    rows.push_back(hu(i));
    for (int c = 0; c < 3; ++c) rows.push_back(hf(i, c));
    for (int c = 0; c < 6; ++c) rows.push_back(hh(i, c));
  }
  return rows;
}

/// The fields, or Hessians, of some targets in rows of ten, in which all other results are 0.
template <class View>
std::vector<double> rows_at(View const& view, std::vector<int> const& targets) {
  const auto here = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  const int columns = int(here.extent(1)), first = columns == 6 ? 4 : 1;
  std::vector<double> rows(10 * targets.size());
  for (std::size_t k = 0; k < targets.size(); ++k)
    for (int c = 0; c < columns; ++c) rows[10 * k + first + c] = here(targets[k], c);
  return rows;
}

void expect_held(std::vector<double> const& found, std::vector<Number> const& exact,
                 double tolerance, char const* what) {
  EXPECT_LE(error_of(found, exact, 0, 1), tolerance) << what;
  EXPECT_LE(error_of(found, exact, 1, 3), tolerance) << what;
  EXPECT_LE(error_of(found, exact, 4, 6), tolerance) << what;
}

Points gathered(Points const& from, std::vector<int> const& numbers) {
  Points rows;
  for (const int i : numbers)
    rows.insert(rows.end(), from.begin() + 3 * i, from.begin() + 3 * i + 3);
  return rows;
}

template <class Precision>
using SolverIn = fmm::ToleranceSolver<Laplace, fmm::Orders<4, 8, 12>, Precision>;

/// At the sources, at some of them, and at others, each result within the tolerance.
template <class Precision, Carries kind>
void expect_tolerance(Model model, std::size_t n, double tolerance) {
  const DefaultSpace space;
  const Sources sources = sources_of(model, n, kind);
  const auto x = to_space<DefaultSpace>(sources.x);
  SolverIn<Precision> solver({.tolerance = tolerance, .tolerance_of = fmm::ToleranceOf::all});
  std::vector<int> all(n), some;
  std::iota(all.begin(), all.end(), 0);
  for (int i = int(n) - 1; i >= 0; i -= 9) some.push_back(i);
  auto plan = solver.build(space, x);
  expect_held(evaluated<kind>(solver, plan, sources), summed(sources.x, all, sources), tolerance,
              name_of(model));
  solver.retarget(space, plan, column_in<DefaultSpace>(some));
  expect_held(evaluated<kind>(solver, plan, sources),
              summed(gathered(sources.x, some), some, sources), tolerance, "some");
  const Points targets = make_bodies(model, n / 2, false, 5).x;
  auto others =
      solver.build(space, fmm::Inputs{.sources = x, .targets = to_space<DefaultSpace>(targets)});
  expect_held(evaluated<kind>(solver, others, sources), summed(targets, {}, sources), tolerance,
              "others");
}

TEST(AnyStrengths, OfChargesHoldTheTolerance) {
  expect_tolerance<fmm::Mixed, Carries::charges>(Model::cube, 3000, 1e-4);
  expect_tolerance<double, Carries::charges>(Model::plummer, 3000, 1e-7);
}
TEST(AnyStrengths, OfDipolesHoldTheTolerance) {
  expect_tolerance<fmm::Mixed, Carries::dipoles>(Model::disk, 3000, 1e-4);
  expect_tolerance<double, Carries::dipoles>(Model::shell, 3000, 1e-6);
}
TEST(AnyStrengths, OfBothHoldTheTolerance) {
  expect_tolerance<fmm::Mixed, Carries::both>(Model::clusters, 3000, 3e-5);
  expect_tolerance<double, Carries::both>(Model::cube, 3000, 1e-8);
}

/// Masses, softened; a Hessian alone; a treecode.
TEST(AnyStrengths, OfOtherKernelsAndMethodsHoldTheTolerance) {
  const DefaultSpace space;
  constexpr double tolerance = 1e-5, softening = 0.02;
  const Sources sources = sources_of(Model::plummer, 4000, Carries::charges, true);
  const auto x = to_space<DefaultSpace>(sources.x);
  const auto masses = column_in<DefaultSpace>(sources.charges);
  std::vector<int> all(sources.size());
  std::iota(all.begin(), all.end(), 0);
  const auto exact = summed(sources.x, all, sources, softening, -2);
  const ViewIn<double* [6], DefaultSpace> h("h", sources.size());
  fmm::ToleranceSolver<SoftenedGravity, fmm::TreecodeOrders<6, 10>, double> solver(
      {.tolerance = tolerance, .softening = softening, .G = 2});
  auto plan = solver.build(space, x);
  fmm::Report report;
  solver.evaluate(space, plan, masses, fmm::Results{.hessian = h}, &report);
  space.fence();
  const auto rows = rows_at(h, all);
  EXPECT_LE(error_of(rows, exact, 4, 6), tolerance);
  ASSERT_TRUE(report.found.has_value());
  EXPECT_LE(report.found->seen_error, tolerance);
  EXPECT_GT(report.found->seen_error, error_of(rows, exact, 4, 6) / 2);
}

/// Each by its own norm: one is a millionth of another, one has dipoles' field at one corner alone.
TEST(AnyStrengths, OfSeveralDensitiesHoldTheToleranceEach) {
  const DefaultSpace space;
  constexpr int densities = 3;
  constexpr double tolerance = 1e-6;
  const Sources sources = sources_of(Model::cube, 4000, Carries::charges);
  const std::size_t n = sources.size();
  const ViewIn<double* [densities], DefaultSpace> charges("charges", n);
  const auto q = Kokkos::create_mirror_view(charges);
  for (std::size_t i = 0; i < n; ++i) {
    q(i, 0) = 1;
    q(i, 1) = 1e-6 * sources.charges[i];
    q(i, 2) = sources.x[3 * i] < 0.1 && sources.x[3 * i + 1] < 0.1 ? 1e3 : 0;
  }
  Kokkos::deep_copy(charges, q);
  const Points targets = make_bodies(Model::shell, 1500).x;
  SolverIn<double> solver({.tolerance = tolerance, .tolerance_of = fmm::ToleranceOf::both});
  auto plan = solver.build(space, fmm::Inputs{.sources = to_space<DefaultSpace>(sources.x),
                                              .targets = to_space<DefaultSpace>(targets)});
  const std::size_t m = targets.size() / 3;
  const ViewIn<double* [densities], DefaultSpace> u("u", m);
  const ViewIn<double* [densities][3], DefaultSpace> f("f", m);
  solver.evaluate(space, plan, charges, u, f);
  space.fence();
  const auto hu = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), u);
  const auto hf = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), f);
  for (int k = 0; k < densities; ++k) {
    Sources one = sources;
    for (std::size_t i = 0; i < n; ++i) one.charges[i] = q(i, k);
    const auto exact = summed(targets, {}, one);
    std::vector<double> rows;
    for (std::size_t i = 0; i < m; ++i) {
      rows.push_back(hu(i, k));
      for (int c = 0; c < 3; ++c) rows.push_back(hf(i, k, c));
      rows.insert(rows.end(), 6, 0);
    }
    EXPECT_LE(error_of(rows, exact, 0, 1), tolerance) << k;
    EXPECT_LE(error_of(rows, exact, 1, 3), tolerance) << k;
  }
}

/// Pairs of opposite charges beside each other that do not act on each other.
TEST(AnyStrengths, OfWhatExclusionsLeaveHoldTheTolerance) {
  const DefaultSpace space;
  constexpr double tolerance = 1e-6;
  Sources sources = sources_of(Model::cube, 3000, Carries::both);
  std::vector<std::vector<int>> rows(3000);
  std::vector<int> all(3000), offsets{0}, bonded;
  std::iota(all.begin(), all.end(), 0);
  for (int i = 0; i < 3000; ++i) {
    if (i % 2)
      for (int c = 0; c < 3; ++c) sources.x[3 * i + c] = sources.x[3 * (i - 1) + c] + 1e-5 * c;
    rows[i] = {i ^ 1};
    bonded.push_back(i ^ 1);
    offsets.push_back(i + 1);
  }
  const fmm::Exclusions exclusions{.offsets = column_in<DefaultSpace>(offsets),
                                   .bodies = column_in<DefaultSpace>(bonded)};
  SolverIn<double> solver({.tolerance = tolerance, .tolerance_of = fmm::ToleranceOf::all});
  auto plan = solver.build(space, to_space<DefaultSpace>(sources.x));
  expect_held(evaluated<Carries::both>(solver, plan, sources, exclusions),
              summed(sources.x, all, sources, 0, 1, rows), tolerance, "excluded");
}

/// Strengths that follow each other, of which some have far weaker fields than those that were verified.
TEST(AnyStrengths, OfEvaluationsThatFollowHoldTheTolerance) {
  const DefaultSpace space;
  constexpr double tolerance = 1e-5;
  Sources sources = sources_of(Model::cube, 3000, Carries::charges, true);
  std::vector<int> all(sources.size());
  std::iota(all.begin(), all.end(), 0);
  SolverIn<fmm::Mixed> solver({.tolerance = tolerance, .tolerance_of = fmm::ToleranceOf::all});
  auto plan = solver.build(space, to_space<DefaultSpace>(sources.x));
  for (int turn = 0; turn < 6; ++turn) {
    for (std::size_t i = 0; i < sources.size(); ++i)
      sources.charges[i] = turn % 2 ? std::cos(double(i * turn)) : 1 + std::sin(double(i * turn));
    if (turn == 4)
      for (std::size_t i = 0; i < sources.size(); ++i) sources.charges[i] = i == 17;
    expect_held(evaluated<Carries::charges>(solver, plan, sources), summed(sources.x, all, sources),
                tolerance, std::to_string(turn).c_str());
  }
}

/// A source by itself, or those of one place: errors of expansions that differ in sign for all together do not.
TEST(AnyStrengths, OfFewSourcesAmongManyHoldTheTolerance) {
  const DefaultSpace space;
  constexpr double tolerance = 1e-6;
  constexpr int electrodes = 50, of_one = 80, n = electrodes * of_one;
  Sources sources = sources_of(Model::shell, n, Carries::charges, true);
  const Points places = make_bodies(Model::cube, electrodes).x;
  for (int i = 0; i < 3 * n; ++i) {
    const double radius = 0.01 + 0.02 * (i % 3 == 0);
    sources.x[i] = places[3 * (i / 3 / of_one) + i % 3] + radius * sources.x[i];
  }
  const Points targets = make_bodies(Model::cube, 1500, false, 7).x;
  SolverIn<double> solver({.tolerance = tolerance, .tolerance_of = fmm::ToleranceOf::all});
  const auto x = to_space<DefaultSpace>(sources.x);
  auto others =
      solver.build(space, fmm::Inputs{.sources = x, .targets = to_space<DefaultSpace>(targets)});
  std::vector<int> some;
  for (int i = 1; i < n; i += 3) some.push_back(i);
  auto of_sources =
      solver.build(space, fmm::Inputs{.sources = x, .targets = column_in<DefaultSpace>(some)});
  const auto check = [&](auto const& carries, int turn, double most) {
    for (int i = 0; i < n; ++i) sources.charges[i] = carries(i) ? 1 + 0.1 * std::sin(i) : 0;
    const std::string what = "turn " + std::to_string(turn);
    expect_held(evaluated<Carries::charges>(solver, others, sources), summed(targets, {}, sources),
                tolerance, what.c_str());
    expect_held(evaluated<Carries::charges>(solver, of_sources, sources),
                summed(gathered(sources.x, some), some, sources), tolerance, what.c_str());
  };
  check([](int) { return true; }, 0, tolerance);
  for (const int turn : {1, 2, 3}) {
    check([&](int i) { return i / of_one == (7 * turn) % electrodes; }, turn, tolerance);
    check([&](int i) { return i == 1001 * turn || i == 331 * turn; }, turn, 1e-13);  // exact
  }
}

/// What is compared with has no part of a body's own softened term, beside which the rest would be rounded.
TEST(AnyStrengths, OfSmallSofteningsHoldTheTolerance) {
  const DefaultSpace space;
  const Sources sources = sources_of(Model::plummer, 3000, Carries::both, true);
  std::vector<int> all(sources.size());
  std::iota(all.begin(), all.end(), 0);
  for (const double softening : {1e-4, 1e-8}) {
    constexpr double tolerance = 1e-9;
    fmm::ToleranceSolver<SoftenedGravity, fmm::Orders<8, 16>, double> solver(
        {.tolerance = tolerance, .tolerance_of = fmm::ToleranceOf::all, .softening = softening});
    auto plan = solver.build(space, to_space<DefaultSpace>(sources.x));
    expect_held(evaluated<Carries::both>(solver, plan, sources),
                summed(sources.x, all, sources, softening, -1), tolerance, "softened");
  }
}

/// All pairs of few bodies are summed: to rounding, for any strengths and results.
TEST(AnyStrengths, OfFewBodiesAreExact) {
  const DefaultSpace space;
  const Sources sources = sources_of(Model::plummer, 400, Carries::both);
  std::vector<int> all(sources.size());
  std::iota(all.begin(), all.end(), 0);
  SolverIn<fmm::Mixed> solver({.tolerance = 1e-4, .tolerance_of = fmm::ToleranceOf::all});
  auto plan = solver.build(space, to_space<DefaultSpace>(sources.x));
  expect_held(evaluated<Carries::both>(solver, plan, sources), summed(sources.x, all, sources),
              1e-13, "few");
  solver.freeze(plan);
  expect_held(evaluated<Carries::both>(solver, plan, sources), summed(sources.x, all, sources),
              1e-13, "frozen");
}

/// A frozen plan is a linear operator, and its transpose the adjoint, to rounding.
TEST(AnyStrengths, OfAFrozenPlanAreALinearOperator) {
  const DefaultSpace space;
  const Sources sources = sources_of(Model::cube, 5000, Carries::charges, true);
  const Points targets = make_bodies(Model::shell, 3000).x;
  SolverIn<double> solver({.tolerance = 1e-4});
  auto plan = solver.build(space, fmm::Inputs{.sources = to_space<DefaultSpace>(sources.x),
                                              .targets = to_space<DefaultSpace>(targets)});
  expect_refused([&] { solver.freeze(plan); }, "evaluated once before it is frozen");
  const auto apply = [&](auto& of, std::vector<double> const& q) {
    const ViewIn<double*, DefaultSpace> u("u", std::size_t(of.targets()));
    solver.evaluate(space, of, column_in<DefaultSpace>(q), fmm::Results{.potential = u});
    space.fence();
    return to_host(u);
  };
  apply(plan, sources.charges);
  solver.freeze(plan);
  EXPECT_TRUE(plan.is_frozen());
  std::vector<double> a(5000), b(5000), sum(5000), y(3000);
  for (int i = 0; i < 5000; ++i) {
    a[i] = std::sin(i * 1.0);
    b[i] = std::cos(i * i * 1.0);
    sum[i] = 3 * a[i] - b[i];
  }
  for (int i = 0; i < 3000; ++i) y[i] = std::sin(i * 2.0);
  const auto of_a = apply(plan, a), of_b = apply(plan, b), of_sum = apply(plan, sum);
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < of_sum.size(); ++i) {
    difference += std::pow(of_sum[i] - (3 * of_a[i] - of_b[i]), 2);
    norm += of_sum[i] * of_sum[i];
  }
  EXPECT_LE(std::sqrt(difference / norm), 1e-13);
  auto adjoint = solver.transposed(space, plan);
  const auto of_y = apply(adjoint, y);
  double left = 0, right = 0, size = 0;
  for (std::size_t i = 0; i < y.size(); ++i)
    left += of_a[i] * y[i], size += std::fabs(of_a[i] * y[i]);
  for (std::size_t i = 0; i < a.size(); ++i) right += a[i] * of_y[i];
  EXPECT_NEAR(left, right, 1e-13 * size);
  expect_refused([&] { solver.retarget(space, plan, to_space<DefaultSpace>(targets)); }, "frozen");
}

/// So many that results are compared with others in double, and with sums over all sources at some targets: softened,
/// with the masses' own terms; dipoles without some pairs; ions of a lattice whose corner is rounded, moved a little.
TEST(AnyStrengths, OfManyBodiesHoldTheTolerance) {
  const DefaultSpace space;
  constexpr std::size_t n = 20000;
  constexpr double tolerance = 1e-5, softening = 0.05;
  std::vector<int> some;
  for (int i = 3; i < int(n); i += 61) some.push_back(i);
  {
    const Sources masses = sources_of(Model::plummer, n, Carries::charges, true);
    const ViewIn<double* [6], DefaultSpace> h("h", n);
    fmm::ToleranceSolver<SoftenedGravity, fmm::Orders<4, 8, 12>, double> solver(
        {.tolerance = tolerance, .softening = softening});
    auto plan = solver.build(space, to_space<DefaultSpace>(masses.x));
    solver.evaluate(space, plan, column_in<DefaultSpace>(masses.charges),
                    fmm::Results{.hessian = h});
    space.fence();
    EXPECT_LE(error_of(rows_at(h, some),
                       summed(gathered(masses.x, some), some, masses, softening, -1), 4, 6),
              tolerance);
  }
  {
    Sources sources = sources_of(Model::cube, n, Carries::both);
    std::vector<std::vector<int>> rows(n);
    std::vector<int> offsets{0}, bonded;
    for (int i = 0; i < int(n); ++i) {
      if (i % 2)
        for (int c = 0; c < 3; ++c) sources.x[3 * i + c] = sources.x[3 * (i - 1) + c] + 1e-5 * c;
      rows[i] = {i ^ 1};
      bonded.push_back(i ^ 1);
      offsets.push_back(i + 1);
    }
    SolverIn<double> solver({.tolerance = tolerance});
    auto plan = solver.build(space, to_space<DefaultSpace>(sources.x));
    const ViewIn<double* [3], DefaultSpace> f("f", n);
    solver.evaluate(space, plan,
                    fmm::Strengths{.charges = column_in<DefaultSpace>(sources.charges),
                                   .dipoles = to_space<DefaultSpace>(sources.dipoles)},
                    fmm::Results{.field = f},
                    fmm::Exclusions{.offsets = column_in<DefaultSpace>(offsets),
                                    .bodies = column_in<DefaultSpace>(bonded)});
    space.fence();
    EXPECT_LE(error_of(rows_at(f, some),
                       summed(gathered(sources.x, some), some, sources, 0, 1, rows), 1, 3),
              tolerance);
  }
  {
    const Bodies ions = rock_salt(27);
    Sources sources{ions.x, {}, ions.q};
    for (double& x : sources.x) x = 0.1 + x / 16;
    some.clear();
    for (int i = 3; i < int(ions.size()); i += 41) some.push_back(i);
    SolverIn<double> solver({.tolerance = tolerance});
    auto plan = solver.build(space, to_space<DefaultSpace>(sources.x));
    const ViewIn<double* [3], DefaultSpace> f("f", ions.size());
    solver.evaluate(space, plan, column_in<DefaultSpace>(sources.charges),
                    fmm::Results{.field = f});
    space.fence();
    EXPECT_LE(error_of(rows_at(f, some), summed(gathered(sources.x, some), some, sources), 1, 3),
              tolerance);
  }
}

/// Results of one kind say nothing of others, and strengths that are zero nothing of any.
TEST(AnyStrengths, OfOtherKindsAreVerifiedAnew) {
  const DefaultSpace space;
  constexpr double tolerance = 1e-5;
  const Sources sources = sources_of(Model::cube, 3000, Carries::charges);
  std::vector<int> all(sources.size());
  std::iota(all.begin(), all.end(), 0);
  const auto x = to_space<DefaultSpace>(sources.x);
  const auto q = column_in<DefaultSpace>(sources.charges),
             zero = column_in<DefaultSpace>(std::vector<double>(sources.size()));
  const ViewIn<double*, DefaultSpace> u("u", sources.size());
  const ViewIn<double* [6], DefaultSpace> h("h", sources.size());
  SolverIn<double> solver({.tolerance = tolerance});
  auto plan = solver.build(space, x);
  solver.evaluate(space, plan, zero, fmm::Results{.potential = u});
  space.fence();
  for (const double number : to_host(u)) EXPECT_EQ(number, 0);
  if (std::is_same_v<DefaultSpace::memory_space,
                     Kokkos::HostSpace>)  // a GPU sums all pairs of so few
    expect_refused([&] { solver.freeze(plan); }, "evaluated once before it is frozen");
  solver.evaluate(space, plan, q, fmm::Results{.potential = u});
  solver.evaluate(space, plan, q, fmm::Results{.hessian = h});
  space.fence();
  const auto rows = rows_at(h, all);
  EXPECT_LE(error_of(rows, summed(sources.x, all, sources), 4, 6), tolerance);
  // others' plans, plans that were moved from, and targets that are refused
  SolverIn<double> other({.tolerance = tolerance});
  expect_refused([&] { other.evaluate(space, plan, q, fmm::Results{.potential = u}); },
                 "of another solver");
  Points bad = sources.x;
  bad[5] = std::nan("");
  auto two = solver.build(space, fmm::Inputs{.sources = x, .targets = x});
  solver.evaluate(space, two, q, fmm::Results{.potential = u});
  expect_refused([&] { solver.retarget(space, two, to_space<DefaultSpace>(bad)); }, "finite");
  solver.evaluate(space, two, q, fmm::Results{.potential = u});
  auto moved = std::move(two);
  expect_refused([&] { solver.evaluate(space, two, q, fmm::Results{.potential = u}); },
                 "moved from");
}

TEST(AnyStrengths, RefuseWhatCannotBeHad) {
  const DefaultSpace space;
  const Sources sources = sources_of(Model::cube, 500, Carries::charges);
  const auto x = to_space<DefaultSpace>(sources.x);
  const auto q = column_in<DefaultSpace>(sources.charges);
  const ViewIn<double*, DefaultSpace> u("u", 500), few("few", 499);
  Kokkos::deep_copy(u, 7);
  const auto untouched = [&] {
    for (const double number : to_host(u))
      if (number != 7) return false;
    return true;
  };
  SolverIn<double> own({.tolerance = 1e-4, .error_norm = fmm::ErrorNorm::p99});
  expect_refused([&] { own.build(space, x); }, "without charges");
  SolverIn<double> of_fields({.tolerance = 1e-4, .tolerance_of = fmm::ToleranceOf::both});
  auto plan = of_fields.build(space, x);
  expect_refused([&] { of_fields.evaluate(space, plan, q, fmm::Results{.potential = u}); },
                 "wanted, which the tolerance is of");
  SolverIn<double> solver({.tolerance = 1e-4});
  auto other = solver.build(space, x);
  expect_refused([&] { solver.evaluate(space, other, q, fmm::Results{.potential = few}); }, "500");
  auto bad = sources.charges;
  bad[3] = std::nan("");
  expect_refused(
      [&] {
        solver.evaluate(space, other, column_in<DefaultSpace>(bad), fmm::Results{.potential = u});
      },
      "charges(3)");
  EXPECT_TRUE(untouched());
  auto infinite = sources.x;
  infinite[7] = infinite[4] = HUGE_VAL;
  expect_refused([&] { solver.build(space, to_space<DefaultSpace>(infinite)); }, "finite");
  const ViewIn<float*, DefaultSpace> in_float("in float", 500);
  SolverIn<double> strict({.tolerance = 1e-9});
  auto of_strict = strict.build(space, x);
  expect_refused([&] { strict.evaluate(space, of_strict, q, fmm::Results{.potential = in_float}); },
                 "double");
  auto none = solver.build(space, fmm::Inputs{.sources = x, .targets = to_space<DefaultSpace>({})});
  const ViewIn<double*, DefaultSpace> nothing("nothing", 0);
  solver.evaluate(space, none, q, fmm::Results{.potential = nothing});
  auto empty =
      solver.build(space, fmm::Inputs{.sources = to_space<DefaultSpace>({}), .targets = x});
  solver.evaluate(space, empty, column_in<DefaultSpace>(std::vector<double>{}),
                  fmm::Results{.potential = u});
  space.fence();
  for (const double number : to_host(u)) EXPECT_EQ(number, 0);
}

/// Patches of neighbours, one lit after another: what one errs by says nothing of another one elsewhere.
TEST(AnyStrengths, OfPatchesOneAfterAnotherHoldTheTolerance) {
  constexpr int n = 1660, lit = 200, draws = quick ? 6 : 16;
  std::mt19937_64 random(9);
  std::normal_distribution<double> normal;
  for (const bool on_sphere : {true, false}) {
    Sources sources;
    for (int i = 0; i < n; ++i) {
      double x[3], r2 = 0;
      for (double& number : x) number = normal(random), r2 += number * number;
      for (const double number : x)
        sources.x.push_back(on_sphere ? number / std::sqrt(r2) : std::erf(number));
    }
    Sources patch;  // those that are lit
    const auto light = [&](int middle) {
      std::vector<std::pair<double, int>> by_distance;
      for (int j = 0; j < n; ++j) {
        double r2 = 0;
        for (int d = 0; d < 3; ++d)
          r2 += std::pow(sources.x[3 * j + d] - sources.x[3 * middle + d], 2);
        by_distance.emplace_back(r2, j);
      }
      std::sort(by_distance.begin(), by_distance.end());
      sources.charges.assign(n, 0);
      patch.charges.assign(lit, 1);
      patch.x.clear();
      for (int j = 0; j < lit; ++j) {
        const int number = by_distance[j].second;
        sources.charges[number] = 1;
        for (int d = 0; d < 3; ++d) patch.x.push_back(sources.x[3 * number + d]);
      }
    };
    const auto check = [&](double tolerance, fmm::ToleranceOf of, int first, int count) {
      fmm::ToleranceSolver<Laplace, fmm::Orders<4, 8, 10, 12, 16>> solver(
          {.tolerance = tolerance, .tolerance_of = of});
      for (int draw = 0; draw < draws; ++draw) {
        auto plan = solver.build(DefaultSpace(), to_space<DefaultSpace>(sources.x));
        light(0);
        evaluated<Carries::charges>(solver, plan, sources);
        light(int(random() % n));
        EXPECT_LE(error_of(evaluated<Carries::charges>(solver, plan, sources),
                           summed(sources.x, {}, patch), first, count),
                  tolerance);
      }
    };
    check(1e-5, fmm::ToleranceOf::field, 1, 3);
    check(1e-3, fmm::ToleranceOf::hessian, 4, 6);
    check(1e-5, fmm::ToleranceOf::hessian, 4, 6);
  }
}

/// A source's charge and its dipole may cancel at a target but for rounding, which is that of both.
TEST(AnyStrengths, OfTermsThatCancelInThemselvesAreExact) {
  const DefaultSpace space;
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int draw = 0; draw < 20; ++draw) {
    Sources sources;
    sources.x = {0, 0, 0, uniform(random), uniform(random), uniform(random)};
    sources.charges = {1e6, 1};
    sources.dipoles = {0, 0, 0, sources.x[3], sources.x[4], sources.x[5]};
    SolverIn<double> solver({.tolerance = 1e-9, .tolerance_of = fmm::ToleranceOf::potential});
    auto plan = solver.build(space, to_space<DefaultSpace>(sources.x));
    EXPECT_LE(error_of(evaluated<Carries::both>(solver, plan, sources),
                       summed(sources.x, {0, 1}, sources), 0, 1),
              1e-15);
  }
}

/// A close pair that is lit later, whose coordinates in float are not enough: it is refused, or held, as at first.
TEST(AnyStrengths, OfClosePairsThatAreLitLaterAreSeen) {
  constexpr int n = 2000;
  constexpr double tolerance = 1e-5;
  std::vector<int> all(n);
  std::iota(all.begin(), all.end(), 0);
  for (int pair = 0; pair < 12; pair += 2) {
    Sources sources = sources_of(Model::cube, n, Carries::charges);
    double* const x = &sources.x[3 * pair];
    for (int d = 0; d < 3; ++d) x[3 + d] = x[d] + (d == pair / 2 % 3 ? 1e-13 : 0);
    fmm::ToleranceSolver<Laplace, fmm::Orders<4, 8, 10, 12, 16>, fmm::Mixed> solver(
        {.tolerance = tolerance, .tolerance_of = fmm::ToleranceOf::hessian});
    auto plan = solver.build(DefaultSpace(), to_space<DefaultSpace>(sources.x));
    sources.charges.assign(n, 1);
    sources.charges[pair] = sources.charges[pair + 1] = 0;
    evaluated<Carries::charges>(solver, plan, sources);
    sources.charges[pair] = sources.charges[pair + 1] = 1;
    try {
      EXPECT_LE(error_of(evaluated<Carries::charges>(solver, plan, sources),
                         summed(sources.x, all, sources), 4, 6),
                tolerance)
          << pair;
    } catch (fmm::InvalidArgument const&) {  // as of the first evaluation with a plan
    }
  }
}

/// Where a few of many targets have the norm, or its error, the first evaluation's error says little of the next ones':
/// clusters' charges with new signs each time, targets in them and beside them.
TEST(AnyStrengths, OfFewTargetsThatHaveTheErrorsHoldTheTolerance) {
  constexpr int clustered = 1000, all = 4000, targets = 703;
  const DefaultSpace space;
  for (const unsigned seed : {3u, 74u}) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal(0, 1e-3);
    std::uniform_real_distribution<double> uniform(-1, 1);
    Points x, y;
    for (int i = 0; i < 3 * all; ++i)
      x.push_back(i < 3 * clustered ? normal(random) : uniform(random));
    for (int i = 0; i < 3 * targets; ++i) y.push_back(i < 6 ? normal(random) : uniform(random));
    const double tolerance = std::pow(10, -6 - 3 * std::fabs(uniform(random)));
    SolverIn<double> solver({.tolerance = tolerance});
    auto plan = solver.build(space, fmm::Inputs{.sources = to_space<DefaultSpace>(x),
                                                .targets = to_space<DefaultSpace>(y)});
    for (int evaluation = 0; evaluation < 5; ++evaluation) {
      Sources sources{.x = x};
      for (int i = 0; i < all; ++i) sources.charges.push_back(uniform(random) > 0 ? 1 : -1);
      const ViewIn<double* [3], DefaultSpace> f("f", targets);
      solver.evaluate(space, plan, column_in<DefaultSpace>(sources.charges),
                      fmm::Results{.field = f});
      std::vector<int> every(targets);
      std::iota(every.begin(), every.end(), 0);
      const double error = error_of(rows_at(f, every), summed(y, {}, sources), 1, 3);
      EXPECT_LE(error, tolerance) << seed << " " << evaluation;
    }
  }
}

/// Numbers that double has no room for are no error that another tolerance would allow: of all pairs, and of a tree.
TEST(AnyStrengths, OfSumsThatAreNotFiniteSaySo) {
  const DefaultSpace space;
  for (const std::size_t n : {500, 3000}) {
    const auto x = to_space<DefaultSpace>(sources_of(Model::cube, n, Carries::charges).x);
    const auto q = column_in<DefaultSpace>(std::vector<double>(n, 1e307));
    const ViewIn<double*, DefaultSpace> u("u", n);
    SolverIn<double> solver({.tolerance = 1e-4});
    auto plan = solver.build(space, x);
    expect_refused([&] { solver.evaluate(space, plan, q, fmm::Results{.potential = u}); },
                   "none for sums that are not finite");
  }
}

/// Where errors stay near the tolerance, whatever the setting, a plan does not become stricter without end.
TEST(AnyStrengths, OfPlansThatCannotBecomeBetterSettle) {
  constexpr int n = 3000;
  const Sources sources = sources_of(Model::plummer, n, Carries::charges, true);
  fmm::ToleranceSolver<SoftenedGravity, fmm::Orders<4, 8, 12>, fmm::Mixed> solver(
      {.tolerance = 1e-4, .softening = 0.05, .softening_error = 2.5e-4});
  auto plan = solver.build(DefaultSpace(), to_space<DefaultSpace>(sources.x));
  double theta = 1;
  for (int evaluation = 0; evaluation < 12; ++evaluation) {
    evaluated<Carries::charges>(solver, plan, sources);
    if (evaluation == 6) theta = plan.theta();
  }
  EXPECT_EQ(plan.theta(), theta);
  EXPECT_GT(theta, 0.15);
}

/// Charges that nobody has seen before, evaluation after evaluation, at places where close pairs have most of the
/// error.
TEST(AnyStrengths, IsHeldEvaluationAfterEvaluation) {
  constexpr int n = 2000, draws = quick ? 5 : 20;
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(-0.5, 0.5);
  for (const int power : {0, 3}) {
    Sources sources;
    for (int i = 0; i < n; ++i) {
      const double scale = std::pow(uniform(random) + 0.5, power);
      for (int d = 0; d < 3; ++d) sources.x.push_back(scale * uniform(random));
    }
    sources.charges.resize(n);
    std::vector<int> numbers(n);
    std::iota(numbers.begin(), numbers.end(), 0);
    fmm::ToleranceSolver<Laplace, fmm::Orders<4, 8, 12>, fmm::Mixed> solver(
        {.tolerance = 1e-4, .tolerance_of = fmm::ToleranceOf::all});
    auto plan = solver.build(DefaultSpace(), to_space<DefaultSpace>(sources.x));
    for (int draw = 0; draw < draws; ++draw) {
      const double some =
          std::pow(10.0, 4 * uniform(random));  // share of the sources that have a charge
      for (double& q : sources.charges) q = uniform(random) + 0.5 < some ? uniform(random) : 0;
      expect_held(evaluated<Carries::charges>(solver, plan, sources),
                  summed(sources.x, numbers, sources), 1e-4, "evaluation after evaluation");
    }
  }
}

}  // namespace
}  // namespace fmm_test
