// SPDX-License-Identifier: BSD-3-Clause
// Tolerances of periodic fields, against all pairs, which are Ewald's sums (test_periodic.cpp).
#include <fmm/fmm.hpp>

#include "refusal.hpp"
#include "support.hpp"

namespace fmm_test {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using fmm::Laplace;
using fmm::PeriodicBox;
template <class Precision, class Kernel = Laplace>
using Tolerant = fmm::ToleranceSolver<Kernel, fmm::Orders<4, 8, 12, 16>, Precision>;

const PeriodicBox cube(1), box(1, 1.5, 2), column(1, 1, 4),
    oblique(std::array<std::array<double, 3>, 3>{{{1, 0.2, 0.1}, {0.3, 1.2, 0}, {-0.1, 0.4, 1.1}}});

enum class Kind { ions, masses };

Bodies bodies_of(Kind kind, int n, PeriodicBox const& cell, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  Bodies bodies;
  for (int i = 0; i < n; ++i) {
    double at[3] = {};
    for (auto const& vector : cell.vectors) {
      const double factor = 2 * uniform(random);
      for (int d = 0; d < 3; ++d) at[d] += factor * vector[d];
    }
    add_body(bodies, at[0], at[1], at[2],
             kind == Kind::ions ? (i % 2 ? -1 : 1) : 0.1 + uniform(random));
  }
  return bodies;
}

/// What is evaluated with a plan: strengths of these sources, and results at so many targets.
struct Evaluated {
  ViewIn<double*, Space> q, u;
  ViewIn<double*[3], Space> p, f;
  ViewIn<double* [6], Space> h;

  Evaluated(std::vector<double> const& charges, std::vector<double> const& dipoles, int targets)
      : q(column_in<Space>(charges)),
        u("u", std::size_t(targets)),
        p(to_space<Space>(dipoles)),
        f("f", std::size_t(targets)),
        h("h", std::size_t(targets)) {}
  template <class Solver, class Plan>
  void charges(Solver& solver, Plan& plan) {
    solver.evaluate(Space(), plan, fmm::Strengths{.charges = q},
                    fmm::Results{.potential = u, .field = f});
  }
  template <class Solver, class Plan>
  void both(Solver& solver, Plan& plan) {
    solver.evaluate(Space(), plan, fmm::Strengths{.charges = q, .dipoles = p},
                    fmm::Results{.potential = u, .field = f, .hessian = h});
  }
};

template <class Kernel = Laplace>
fmm::Solver<Kernel, fmm::DirectSum, double> exact_in(PeriodicBox const& cell,
                                                     fmm::Options options = {}) {
  options.periodic = cell;
  return fmm::Solver<Kernel, fmm::DirectSum, double>(options);
}

template <class Precision>
void expect_held(PeriodicBox const& cell, Kind kind, int n, std::vector<double> const& tolerances) {
  const Space space;
  const Bodies bodies = bodies_of(kind, n, cell);
  const auto x = to_space<Space>(bodies.x);
  auto direct = exact_in(cell);
  auto all = direct.build(space, x);
  Evaluated exact(bodies.q, {}, n);
  exact.charges(direct, all);
  for (const double tolerance : tolerances) {
    Tolerant<Precision> solver({.tolerance = tolerance, .periodic = cell});
    auto plan = solver.build(space, x);
    Evaluated found(bodies.q, {}, n);
    found.charges(solver, plan);
    EXPECT_LT(relative_l2(rows_on_host(found.f), rows_on_host(exact.f)), tolerance) << n;
    EXPECT_LT(relative_l2(to_host(found.u), to_host(exact.u)), 10 * tolerance) << n;
  }
}
TEST(PeriodicTolerance, IsHeld) {
  for (PeriodicBox const& cell : {cube, box, column, oblique})
    for (const Kind kind : {Kind::ions, Kind::masses})
      for (const int n : {10, 400, 3000}) {
        expect_held<double>(cell, kind, n, {1e-3, 1e-5, 1e-8, 1e-11});
        expect_held<fmm::Mixed>(cell, kind, n, {1e-3, 1e-4});
      }
}

/// Later evaluations with other strengths, targets of their own, dipoles and Hessians.
TEST(PeriodicTolerance, IsHeldForAnyStrengthsAndTargets) {
  constexpr int n = 2500, m = 700;
  constexpr double tolerance = 1e-5;
  const Space space;
  for (PeriodicBox const& cell : {cube, oblique}) {
    const Bodies bodies = bodies_of(Kind::ions, n, cell);
    const auto x = to_space<Space>(bodies.x);
    Tolerant<double> solver(
        {.tolerance = tolerance, .tolerance_of = fmm::ToleranceOf::all, .periodic = cell});
    auto direct = exact_in(cell);
    const auto y = to_space<Space>(bodies_of(Kind::ions, m, cell, 2).x);
    auto plan = solver.build(space, fmm::Inputs{.sources = x, .targets = y});
    auto all = direct.build(space, fmm::Inputs{.sources = x, .targets = y});
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal;
    for (int k = 0; k < 3; ++k) {
      std::vector<double> q(n), p(3 * n);
      for (double& one : q) one = normal(random) * (k == 2 ? std::exp(3 * normal(random)) : 1);
      for (double& one : p) one = 0.02 * normal(random);
      if (k == 1) {
        const auto z = to_space<Space>(bodies_of(Kind::ions, m, cell, 5).x);
        solver.retarget(space, plan, z);
        direct.retarget(space, all, z);
      }
      Evaluated found(q, p, m), exact(q, p, m);
      found.both(solver, plan);
      exact.both(direct, all);
      EXPECT_LT(relative_l2(to_host(found.u), to_host(exact.u)), tolerance) << k;
      EXPECT_LT(relative_l2(rows_on_host(found.f), rows_on_host(exact.f)), tolerance) << k;
      EXPECT_LT(relative_l2(rows_on_host(found.h), rows_on_host(exact.h)), tolerance) << k;
    }
  }
}

/// Of rock salt, whose ions are apart by 1: where all fields vanish they are relative to what a neighbour exerts.
void expect_crystal(Evaluated const& found, int n, double tolerance) {
  double squares = 0;
  for (const double one : rows_on_host(found.f)) squares += one * one;
  EXPECT_LT(std::sqrt(squares / n), 1e-3 * tolerance);
  for (const double one : to_host(found.u))
    ASSERT_NEAR(std::fabs(one), 1.74756459463318219, 10 * tolerance * 1.75);
}
void test_crystal(double tolerance) {
  constexpr int edge = 14;
  const Space space;
  const Bodies salt = rock_salt(edge);
  const int n = int(salt.size());
  Tolerant<double> solver({.tolerance = tolerance, .periodic = PeriodicBox(edge)});
  auto plan = solver.build(space, to_space<Space>(salt.x));
  Evaluated found(salt.q, {}, n);
  found.charges(solver, plan);
  expect_crystal(found, n, tolerance);
}
TEST(PeriodicTolerance, OfCrystalsIsOfWhatNeighboursExert) {
  test_crystal(1e-4);
  test_crystal(1e-8);
}

TEST(PeriodicTolerance, AllPairsHoldIt) {
  using Direct = fmm::ToleranceSolver<Laplace, fmm::DirectSum>;
  const Space space;
  for (const Kind kind : {Kind::ions, Kind::masses}) {
    const Bodies bodies = bodies_of(kind, 800, box);
    const auto x = to_space<Space>(bodies.x);
    auto direct = exact_in(box);
    auto all = direct.build(space, x);
    Evaluated exact(bodies.q, {}, 800), found(bodies.q, {}, 800);
    exact.charges(direct, all);
    Direct solver({.tolerance = 1e-12, .periodic = box});
    auto plan = solver.build(space, fmm::Inputs{.sources = x, .charges = found.q});
    fmm::Report report;
    solver.evaluate(space, plan, found.q, found.u, found.f, &report);
    EXPECT_EQ(rows_on_host(found.f), rows_on_host(exact.f));
    EXPECT_GT(report.found->seen_error, 0);  // of another split
    EXPECT_LT(report.found->seen_error, 1e-12);
  }
}

/// What is evaluated with a plan that is built with charges.
template <class Solver>
void evaluate_charges(Solver& solver, ViewIn<double* [3], Space> const& x, Evaluated const& to,
                      fmm::Report* report = nullptr) {
  const Space space;
  auto plan = solver.build(space, fmm::Inputs{.sources = x, .charges = to.q});
  solver.evaluate(space, plan, to.q, to.u, to.f, report);
}
template <class Precision, class Kernel = Laplace>
void expect_held_with_charges(PeriodicBox const& cell, Kind kind, int n,
                              std::vector<double> const& tolerances, fmm::Options options = {},
                              fmm::Options exact_options = {}) {
  const Space space;
  const Bodies bodies = bodies_of(kind, n, cell);
  const auto x = to_space<Space>(bodies.x);
  auto direct = exact_in<Kernel>(cell, exact_options);
  auto all = direct.build(space, x);
  Evaluated exact(bodies.q, {}, n), found(bodies.q, {}, n);
  exact.charges(direct, all);
  for (const double tolerance : tolerances) {
    options.tolerance = tolerance;
    options.periodic = cell;
    Tolerant<Precision, Kernel> solver(options);
    for (int k = 0; k < 2; ++k) {
      Kokkos::deep_copy(found.f, 0);
      evaluate_charges(solver, x, found);
      EXPECT_LT(relative_l2(rows_on_host(found.f), rows_on_host(exact.f)), tolerance) << n;
      EXPECT_LT(relative_l2(to_host(found.u), to_host(exact.u)), 10 * tolerance) << n;
    }
  }
}
TEST(PeriodicTolerance, IsHeldWithCharges) {
  for (PeriodicBox const& cell : {cube, box, column, oblique})
    for (const Kind kind : {Kind::ions, Kind::masses})
      for (const int n : {10, 2000}) {
        expect_held_with_charges<double>(cell, kind, n, {1e-3, 1e-5, 1e-8});
        expect_held_with_charges<fmm::Mixed>(cell, kind, n, {1e-3, 1e-4});
      }
  // of so many that limits are sought at a sample
  expect_held_with_charges<double>(cube, Kind::ions, 21000, {1e-5, 1e-11});
  expect_held_with_charges<double>(oblique, Kind::masses, 21000, {1e-5});
  expect_held_with_charges<fmm::Mixed>(box, Kind::ions, 21000, {1e-4});
}

/// One body feels its own images' potential, and no field: Wigner's 2.837297 of a cube.
TEST(PeriodicTolerance, OfOneBodyIsThatOfItsImages) {
  const Space space;
  Tolerant<double> solver({.tolerance = 1e-8, .periodic = cube});
  Bodies one;
  add_body(one, 0.3, 0.9, 0.1, 2);
  Evaluated found(one.q, {}, 1);
  evaluate_charges(solver, to_space<Space>(one.x), found);
  EXPECT_NEAR(to_host(found.u)[0], -2 * 2.8372974794806, 1e-7);
  for (const double component : rows_on_host(found.f)) EXPECT_NEAR(component, 0, 1e-11);
}

/// Own errors, an evaluation in a vacuum, softening, and a setting that was tuned.
TEST(PeriodicTolerance, IsHeldWithChargesInEveryWay) {
  const Space space;
  PeriodicBox in_vacuum = cube;
  in_vacuum.boundary = fmm::Boundary::vacuum;
  expect_held_with_charges<double>(in_vacuum, Kind::ions, 2000, {1e-5});
  expect_held_with_charges<fmm::Mixed>(in_vacuum, Kind::ions, 21000, {1e-4});
  expect_held_with_charges<double, SoftenedGravity>(cube, Kind::masses, 2000, {1e-4},
                                                    {.softening = 0.002},
                                                    {.softening = 0.002, .softening_error = 1e-5});

  constexpr int n = 2000;
  constexpr double tolerance = 1e-5;
  const Bodies bodies = bodies_of(Kind::ions, n, oblique);
  const auto x = to_space<Space>(bodies.x);
  Evaluated found(bodies.q, {}, n);
  Tolerant<double> own(
      {.tolerance = tolerance, .error_norm = fmm::ErrorNorm::p99, .periodic = oblique});
  evaluate_charges(own, x, found);
  const auto measured =
      fmm::measure_error(space, Laplace(), {.periodic = oblique}, x, found.q, found.u, found.f, n);
  EXPECT_LT(measured.field_p99, tolerance);

  Tolerant<double> tuned({.tolerance = tolerance, .periodic = oblique});
  EXPECT_TRUE(tuned.tune(space, fmm::Inputs{.sources = x, .charges = found.q}).held);
  evaluate_charges(tuned, x, found);
  EXPECT_LT(
      fmm::measure_error(space, Laplace(), {.periodic = oblique}, x, found.q, found.u, found.f, n)
          .field_l2,
      tolerance);
}

/// A lattice of so many ions that limits are sought: of a field that is rounding alone.
TEST(PeriodicTolerance, OfLargeCrystalsIsOfWhatNeighboursExert) {
  constexpr int edge = 28;
  constexpr double tolerance = 1e-4;
  const Bodies salt = rock_salt(edge);
  const int n = int(salt.size());
  Tolerant<fmm::Mixed> solver({.tolerance = tolerance, .periodic = PeriodicBox(edge)});
  Evaluated found(salt.q, {}, n);
  evaluate_charges(solver, to_space<Space>(salt.x), found);
  expect_crystal(found, n, tolerance);
}

/// A lattice, whose fields vanish, from step to step as it is set in motion.
TEST(PeriodicTolerance, IsHeldFromStepToStep) {
  constexpr int edge = 12;
  constexpr double tolerance = 1e-6;
  const Space space;
  Bodies salt = rock_salt(edge);
  const int n = int(salt.size());
  Tolerant<double> solver({.tolerance = tolerance, .periodic = PeriodicBox(edge)});
  auto direct = exact_in(PeriodicBox(edge));
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (int step = 0; step < 5; ++step) {
    const auto x = to_space<Space>(salt.x);
    auto all = direct.build(space, x);
    Evaluated exact(salt.q, {}, n), found(salt.q, {}, n);
    exact.charges(direct, all);
    evaluate_charges(solver, x, found);
    double error = 0, norm = 0;
    const auto f = rows_on_host(found.f), f0 = rows_on_host(exact.f);
    for (std::size_t i = 0; i < f.size(); ++i) {
      error += (f[i] - f0[i]) * (f[i] - f0[i]);
      norm += f0[i] * f0[i];
    }
    EXPECT_LT(std::sqrt(error), tolerance * std::max(std::sqrt(norm), 1e-3 * std::sqrt(n))) << step;
    EXPECT_LT(relative_l2(to_host(found.u), to_host(exact.u)), 10 * tolerance) << step;
    for (double& one : salt.x) one += 0.003 * normal(random);
  }
}

/// Softening counts across the faces, too, up to a distance.
TEST(PeriodicTolerance, SofteningReachesAcrossTheFaces) {
  const Space space;
  const Bodies bodies = bodies_of(Kind::masses, 1500, cube);
  const auto x = to_space<Space>(bodies.x);
  Evaluated exact(bodies.q, {}, 1500), found(bodies.q, {}, 1500);
  const double softening = 0.002;
  for (const double tolerance : {1e-3, 1e-4}) {
    auto direct = exact_in<SoftenedGravity>(
        cube, {.softening = softening, .softening_error = 0.1 * tolerance});
    auto all = direct.build(space, x);
    exact.charges(direct, all);
    Tolerant<double, SoftenedGravity> solver(
        {.tolerance = tolerance, .softening = softening, .periodic = cube});
    auto plan = solver.build(space, x);
    found.charges(solver, plan);
    EXPECT_LT(relative_l2(rows_on_host(found.f), rows_on_host(exact.f)), tolerance);
  }
  Tolerant<double, SoftenedGravity> solver(
      {.tolerance = 1e-8, .softening = softening, .periodic = cube});
  auto plan = solver.build(space, x);
  expect_refused([&] { found.charges(solver, plan); }, "counts up to");
}

TEST(PeriodicTolerance, RefusesWhatCannotBe) {
  const Space space;
  const Bodies bodies = bodies_of(Kind::ions, 100, cube);
  const auto x = to_space<Space>(bodies.x);
  const auto q = column_in<Space>(bodies.q);
  Tolerant<double> solver({.tolerance = 1e-5, .periodic = cube});
  auto plan = solver.build(space, x);
  const ViewIn<int*, Space> offsets("offsets", 101), none("none", 0);
  Evaluated found(bodies.q, {}, 100);
  expect_refused(
      [&] {
        solver.evaluate(space, plan, fmm::Strengths{.charges = q}, fmm::Results{.field = found.f},
                        fmm::Exclusions{.offsets = offsets, .bodies = none});
      },
      "periodic");
  PeriodicBox in_vacuum = cube;
  in_vacuum.boundary = fmm::Boundary::vacuum;
  Tolerant<double> other({.tolerance = 1e-5, .periodic = in_vacuum});
  const Bodies masses = bodies_of(Kind::masses, 3000, cube);
  auto of_masses = other.build(space, to_space<Space>(masses.x));
  Evaluated results(masses.q, {}, 3000);
  expect_refused([&] { results.charges(other, of_masses); }, "net charge");
}

}  // namespace
}  // namespace fmm_test
