// SPDX-License-Identifier: BSD-3-Clause
// Targets at which terms cancel that are far larger than results: rounding in double is seen there, too.
#include <array>
#include <fmm/fmm.hpp>
#include <random>

#include "support.hpp"

namespace fmm_test {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using fmm::Laplace;
using fmm::ToleranceOf;
using Tolerant = fmm::ToleranceSolver<Laplace, fmm::Orders<4>, double>;

/// Charges of random sign in a cube, the last nine of them around a place: eight at the corners of a small cube, whose
/// terms cancel in its middle, and nearer to it one of charge 0.
Bodies with_cage(int others, double half_edge, double const (&place)[3], unsigned seed) {
  Bodies bodies = make_bodies(Model::cube, std::size_t(others), true, seed);
  for (double& q : bodies.q) q = q > 0 ? 1 : -1;
  for (int k = 0; k < 8; ++k) {
    double at[3];
    for (int d = 0; d < 3; ++d) at[d] = place[d] + (k >> d & 1 ? half_edge : -half_edge);
    add_body(bodies, at[0], at[1], at[2], (k ^ k >> 1 ^ k >> 2) & 1 ? 1 : -1);
  }
  add_body(bodies, place[0] + 0.7 * half_edge, place[1], place[2], 0);
  return bodies;
}

/// The relative L2 error of results in rows of potential, field or Hessian (xx, yy, zz, xy, xz, yz), at targets that are
/// no sources, or else at all sources.
double error_at(std::vector<double> const& found, int row, std::vector<double> const& targets,
                Bodies const& sources, bool are_sources) {
  long double error = 0, norm = 0;
  for (std::size_t i = 0; i < targets.size() / 3; ++i) {
    long double sum[10] = {};
    for (std::size_t j = 0; j < sources.size(); ++j) {
      if (are_sources && i == j) continue;
      long double d[3], r2 = 0;
      for (std::size_t c = 0; c < 3; ++c) {
        d[c] = (long double)targets[3 * i + c] - sources.x[3 * j + c];
        r2 += d[c] * d[c];
      }
      const long double u = sources.q[j] / std::sqrt(r2), w = u / r2, t = 3 * w / r2;
      sum[0] += u;
      for (int c = 0; c < 3; ++c) sum[1 + c] += w * d[c];
      const int first[] = {0, 1, 2, 0, 0, 1}, second[] = {0, 1, 2, 1, 2, 2};
      for (int c = 0; c < 6; ++c) sum[4 + c] += t * d[first[c]] * d[second[c]] - (c < 3 ? w : 0);
    }
    const int begin = row == 1 ? 0 : row == 3 ? 1 : 4;
    for (int c = 0; c < row; ++c) {
      const long double times = row == 6 && c >= 3 ? 2 : 1,
                        off = found[i * std::size_t(row) + std::size_t(c)] - sum[begin + c];
      error += times * off * off;
      norm += times * sum[begin + c] * sum[begin + c];
    }
  }
  return double(std::sqrt(error / norm));
}

const double place[3] = {0.3, 0.4, 0.6};

/// Targets in a cube, one of them at that place.
std::vector<double> targets_around(int count) {
  std::vector<double> targets = make_bodies(Model::cube, std::size_t(count), false, 11).x;
  std::copy(place, place + 3, targets.begin() + 3 * (count / 7));
  return targets;
}

/// The error, in tolerances, of Hessians or fields by a plan for any strengths; 0 where they are refused.
double error_in_tolerances(Bodies const& sources, int targets, ToleranceOf of, double tolerance) {
  const Space space;
  Tolerant solver({.tolerance = tolerance, .tolerance_of = of});
  const auto at = targets_around(targets);
  auto plan = solver.build(
      space, fmm::Inputs{.sources = to_space<Space>(sources.x), .targets = to_space<Space>(at)});
  const ViewIn<double* [3], Space> field("field", std::size_t(targets));
  const ViewIn<double* [6], Space> hessian("hessian", std::size_t(targets));
  try {
    solver.evaluate(space, plan, fmm::Strengths{.charges = column_in<Space>(sources.q)},
                    fmm::Results{.field = field, .hessian = hessian});
  } catch (fmm::InvalidArgument const&) {
    return 0;
  }
  const bool is_field = of == ToleranceOf::field;
  return error_at(is_field ? rows_on_host(field) : rows_on_host(hessian), is_field ? 3 : 6, at,
                  sources, false) /
         tolerance;
}

TEST(CloseTargets, CagesHoldTheToleranceOrAreRefused) {
  for (const double tolerance : {1e-9, 1e-6})
    EXPECT_LT(
        error_in_tolerances(with_cage(1400, 4e-6, place, 7), 1000, ToleranceOf::hessian, tolerance),
        1);
  // few of many sources that carry anything
  Bodies sources = with_cage(4000, 1e-5, place, 5);
  for (std::size_t j = 40; j < 4000; ++j) sources.q[j] = 0;
  EXPECT_LT(error_in_tolerances(sources, 1000, ToleranceOf::field, 2e-11), 1);
  EXPECT_LT(error_in_tolerances(sources, 1000, ToleranceOf::hessian, 1e-9), 1);
}

/// A cage is seen though far more targets than are looked at are nearer to sources of next to nothing.
TEST(CloseTargets, AreThoseWithLargeTerms) {
  constexpr int crowd = 1300, weak = 700;
  constexpr double half_edge = 7e-6;
  const Space space;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform;
  std::normal_distribution<double> normal;
  const auto near = [&](double const* at, double distance) {
    std::array<double, 3> d{normal(random), normal(random), normal(random)};
    const double r = std::hypot(d[0], d[1], d[2]);
    for (std::size_t c = 0; c < 3; ++c) d[c] = at[c] + distance / r * d[c];
    return d;
  };
  Bodies sources;
  for (int k = 0; k < 600; ++k)
    add_body(sources, uniform(random), uniform(random), uniform(random), normal(random));
  for (int k = 0; k < 8; ++k) {
    double at[3];
    for (int d = 0; d < 3; ++d) at[d] = place[d] + (k >> d & 1 ? half_edge : -half_edge);
    add_body(sources, at[0], at[1], at[2], 1);
  }
  const auto nearest = near(place, 0.3 * half_edge);
  add_body(sources, nearest[0], nearest[1], nearest[2], 1e-25);
  for (int k = 0; k < weak; ++k)
    add_body(sources, uniform(random), uniform(random), uniform(random), 1e-25);
  std::vector<double> targets;
  for (std::size_t k = 0; k < crowd; ++k) {
    if (k == crowd / 2) targets.insert(targets.end(), place, place + 3);
    const auto at = near(&sources.x[3 * (sources.size() - weak + k % weak)], 1e-7);
    targets.insert(targets.end(), at.begin(), at.end());
  }
  Tolerant solver({.tolerance = 1e-9, .tolerance_of = ToleranceOf::hessian});
  auto plan = solver.build(space, fmm::Inputs{.sources = to_space<Space>(sources.x),
                                              .targets = to_space<Space>(targets)});
  const ViewIn<double* [6], Space> hessian("hessian", targets.size() / 3);
  try {
    solver.evaluate(space, plan, fmm::Strengths{.charges = column_in<Space>(sources.q)},
                    fmm::Results{.hessian = hessian});
    EXPECT_LT(error_at(rows_on_host(hessian), 6, targets, sources, false), 1e-9);
  } catch (fmm::InvalidArgument const&) {
  }
}

/// What the nearest source exerts on the target in the cage, which its errors are relative to at least, counts.
TEST(CloseTargets, AreRelativeToWhatIsNearestToThem) {
  for (const int targets : {70, 700}) {
    Bodies sources = with_cage(600, 7e-6, place, 3);
    sources.x.resize(sources.x.size() - 3);  // without the one that is nearer
    sources.q.pop_back();
    EXPECT_GT(error_in_tolerances(sources, targets, ToleranceOf::hessian, 1e-9), 1);
  }
}

/// Dipoles across a line have no potential on it: errors of rounding are relative to what they would exert along it.
TEST(CloseTargets, PotentialsOfDipolesMayVanish) {
  constexpr int n = 60;
  const Space space;
  std::vector<double> x, p;
  for (int i = 0; i < n; ++i)
    for (int d = 0; d < 3; ++d) {
      x.push_back(0.3 * i * (d + 1));
      p.push_back(d == 0 ? 1 : d == 1 ? 1 : -1);
    }
  Tolerant solver({.tolerance = 1e-9, .tolerance_of = ToleranceOf::all});
  auto plan = solver.build(space, to_space<Space>(x));
  const ViewIn<double*, Space> u("u", n);
  const ViewIn<double* [3], Space> f("f", n);
  solver.evaluate(space, plan, fmm::Strengths{.dipoles = to_space<Space>(p)},
                  fmm::Results{.potential = u, .field = f});
  for (const double one : to_host(u)) EXPECT_LT(std::fabs(one), 1e-12);
}

TEST(CloseTargets, WhatNothingIsCloseToIsNotRefused) {
  const double error = error_in_tolerances(make_bodies(Model::cube, 1400, true, 3), 1000,
                                           ToleranceOf::hessian, 1e-11);
  EXPECT_GT(error, 0);
  EXPECT_LT(error, 1);
}

/// By all pairs with charges: a body of its own amid the cage.
TEST(CloseTargets, CagesHoldTheToleranceOfAllPairs) {
  using Direct = fmm::ToleranceSolver<Laplace, fmm::DirectSum>;
  const Space space;
  Bodies bodies = with_cage(2000, 1e-7, place, 9);
  bodies.x[3 * bodies.size() - 3] = place[0];  // the one of charge 0
  const ViewIn<double*, Space> u("u", bodies.size());
  const ViewIn<double* [3], Space> f("f", bodies.size());
  bool is_held = false;
  for (const double tolerance : {1e-12, 1e-10, 1e-6, 1e-2}) {
    Direct solver({.tolerance = tolerance});
    auto plan = solver.build(space, fmm::Inputs{.sources = to_space<Space>(bodies.x),
                                                .charges = column_in<Space>(bodies.q)});
    try {
      solver.evaluate(space, plan, column_in<Space>(bodies.q), u, f);
      is_held = true;
      EXPECT_LT(error_at(rows_on_host(f), 3, bodies.x, bodies, true), tolerance);
    } catch (fmm::InvalidArgument const&) {
      EXPECT_FALSE(is_held);
    }
  }
  EXPECT_TRUE(is_held);
}

}  // namespace
}  // namespace fmm_test
