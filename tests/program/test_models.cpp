// SPDX-License-Identifier: BSD-3-Clause
// The program's models: distributions, charges, and the same bodies for the same seed everywhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "bodies.hpp"

namespace {

using forces::Bodies;
using forces::ChargeKind;
using forces::make_model;
using forces::Model;

constexpr std::size_t n = 200000;

double radius(Bodies const& bodies, std::size_t i) {
  double const* const x = &bodies.positions[3 * i];
  return std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

/// The largest distance between the distribution of `values` and the one that `cumulative` gives.
template <class Cumulative>
double kolmogorov_smirnov(std::vector<double> values, Cumulative&& cumulative) {
  std::sort(values.begin(), values.end());
  double distance = 0;
  const double count = static_cast<double>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double expected = cumulative(values[i]);
    distance = std::max({distance, std::abs(expected - static_cast<double>(i) / count),
                         std::abs(expected - static_cast<double>(i + 1) / count)});
  }
  return distance * std::sqrt(count);  // beyond 1.95 with probability 0.001
}

template <class Value>
std::vector<double> collect(Bodies const& bodies, Value&& value) {
  std::vector<double> values(bodies.size());
  for (std::size_t i = 0; i < bodies.size(); ++i) values[i] = value(i);
  return values;
}

constexpr double critical = 1.95;

double uniform(double u) { return std::clamp(u, 0.0, 1.0); }

TEST(Models, CubeIsUniform) {
  const Bodies bodies = make_model(Model::cube, n, 1, ChargeKind::equal);
  for (std::size_t axis = 0; axis < 3; ++axis)
    EXPECT_LT(kolmogorov_smirnov(
                  collect(bodies, [&](std::size_t i) { return bodies.positions[3 * i + axis]; }),
                  uniform),
              critical);
}

TEST(Models, ShellIsUniformOnTheUnitSphere) {
  const Bodies bodies = make_model(Model::shell, n, 1, ChargeKind::equal);
  for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(radius(bodies, i), 1, 1e-15);
  for (std::size_t axis = 0; axis < 3; ++axis)  // Archimedes: every coordinate is uniform
    EXPECT_LT(kolmogorov_smirnov(
                  collect(bodies, [&](std::size_t i) { return bodies.positions[3 * i + axis]; }),
                  [](double x) { return uniform(0.5 * (x + 1)); }),
              critical);
}

TEST(Models, PlummerHasItsMassProfileUpToTheCut) {
  const Bodies bodies = make_model(Model::plummer, n, 1, ChargeKind::equal);
  const auto mass = [](double r) { return std::pow(r / std::sqrt(1 + r * r), 3); };
  EXPECT_NEAR(mass(20), 0.9963, 5e-5);
  const auto radii = collect(bodies, [&](std::size_t i) { return radius(bodies, i); });
  EXPECT_LE(*std::max_element(radii.begin(), radii.end()), 20 * (1 + 1e-12));
  EXPECT_GT(*std::max_element(radii.begin(), radii.end()), 15);
  EXPECT_LT(kolmogorov_smirnov(radii, [&](double r) { return mass(std::min(r, 20.0)) / mass(20); }),
            critical);
  for (std::size_t axis = 0; axis < 3; ++axis)
    EXPECT_LT(kolmogorov_smirnov(
                  collect(bodies,
                          [&](std::size_t i) { return bodies.positions[3 * i + axis] / radii[i]; }),
                  [](double x) { return uniform(0.5 * (x + 1)); }),
              critical);
}

TEST(Models, DiskIsExponentialInRadiusAndHeight) {
  const Bodies bodies = make_model(Model::disk, n, 1, ChargeKind::equal);
  const auto at = [&](std::size_t i, std::size_t axis) { return bodies.positions[3 * i + axis]; };
  EXPECT_LT(kolmogorov_smirnov(
                collect(bodies, [&](std::size_t i) { return std::hypot(at(i, 0), at(i, 1)); }),
                [](double r) { return 1 - (1 + r) * std::exp(-r); }),
            critical);
  EXPECT_LT(kolmogorov_smirnov(collect(bodies, [&](std::size_t i) { return at(i, 2); }),
                               [](double z) {
                                 const double tail = 0.5 * std::exp(-std::abs(z) / 0.1);
                                 return z < 0 ? tail : 1 - tail;
                               }),
            critical);
  EXPECT_LT(kolmogorov_smirnov(
                collect(bodies, [&](std::size_t i) { return std::atan2(at(i, 1), at(i, 0)); }),
                [](double angle) { return uniform(0.5 * (angle / std::acos(-1) + 1)); }),
            critical);
}

TEST(Models, ClustersAreTwoPlummerSpheresFarApart) {
  const Bodies clusters = make_model(Model::clusters, n, 1, ChargeKind::equal);
  const Bodies sphere = make_model(Model::plummer, n, 1, ChargeKind::equal);
  for (std::size_t i = 0; i < n; ++i) {
    const bool small = i % 3 == 0;
    for (std::size_t axis = 0; axis < 3; ++axis)
      ASSERT_NEAR(
          clusters.positions[3 * i + axis],
          sphere.positions[3 * i + axis] * (small ? 0.3 : 1) + (small || axis > 0 ? 0 : 300),
          1e-12);
  }
}

/// The cell of a body in a grid of 2^level cells an axis over the unit cube.
std::array<int, 3> cell_of(Bodies const& bodies, std::size_t i, int level) {
  std::array<int, 3> cell;
  for (std::size_t axis = 0; axis < 3; ++axis)
    cell[axis] = static_cast<int>(std::ldexp(bodies.positions[3 * i + axis], level));
  return cell;
}

TEST(Models, FractalKeepsHalfOfTheEighthsOfEveryCell) {
  const Bodies bodies = make_model(Model::fractal, n, 1, ChargeKind::equal);
  const int levels = 7;  // 16 * 4^7 is the first that is n at least
  for (int level = 1; level <= levels; ++level) {
    std::map<std::array<int, 3>, std::size_t> counts;
    for (std::size_t i = 0; i < n; ++i) ++counts[cell_of(bodies, i, level)];
    const double cells = std::pow(4, level), mean = n / cells;
    ASSERT_EQ(static_cast<double>(counts.size()), cells) << "no cell of these is empty by chance";
    double square = 0;
    for (auto const& [cell, count] : counts)
      square += std::pow(static_cast<double>(count) - mean, 2) / mean;
    EXPECT_LT(std::abs(square - cells), 5 * std::sqrt(2 * cells)) << "level " << level;
    EXPECT_TRUE(level < levels || mean <= 16);
  }
  for (std::size_t axis = 0; axis < 3; ++axis)
    EXPECT_LT(kolmogorov_smirnov(collect(bodies,
                                         [&](std::size_t i) {
                                           double whole;
                                           return std::modf(
                                               std::ldexp(bodies.positions[3 * i + axis], levels),
                                               &whole);
                                         }),
                                 uniform),
              critical);
}

TEST(Models, FractalsOfOtherSeedsKeepOtherCells) {
  std::set<std::set<std::array<int, 3>>> all;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Bodies bodies = make_model(Model::fractal, 20000, seed, ChargeKind::equal);
    std::set<std::array<int, 3>> cells;
    for (std::size_t i = 0; i < bodies.size(); ++i) cells.insert(cell_of(bodies, i, 2));
    all.insert(cells);
  }
  EXPECT_EQ(all.size(), 10u);
}

TEST(Models, ChargesSumToOneInSize) {
  for (const auto kind : {ChargeKind::equal, ChargeKind::mixed}) {
    const Bodies bodies = make_model(Model::disk, n, 3, kind);
    double sum = 0, size = 0;
    for (const double q : bodies.charges) sum += q, size += std::abs(q);
    EXPECT_NEAR(size, 1, 1e-9);
    if (kind == ChargeKind::equal)
      EXPECT_NEAR(sum, 1, 1e-9);
    else
      EXPECT_LT(std::abs(sum), 4 / std::sqrt(static_cast<double>(n)));
  }
}

TEST(Models, SeedsMakeDifferentBodies) {
  const Bodies one = make_model(Model::cube, 1000, 1, ChargeKind::equal);
  const Bodies two = make_model(Model::cube, 1000, 2, ChargeKind::equal);
  std::set<double> all(one.positions.begin(), one.positions.end());
  all.insert(two.positions.begin(), two.positions.end());
  EXPECT_EQ(all.size(), 6000u);
}

/// Fowler, Noll & Vo's hash of the coordinates' bits.
std::uint64_t fingerprint(Bodies const& bodies) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const double x : bodies.positions) {
    unsigned char bytes[sizeof x];
    std::memcpy(bytes, &x, sizeof x);
    for (const unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  }
  return hash;
}

TEST(Models, EveryMachineMakesTheSameBits) {
  const auto of = [](Model model) {
    return fingerprint(make_model(model, 10000, 1, ChargeKind::equal));
  };
  EXPECT_EQ(of(Model::cube), 12582668786124945438u);
  EXPECT_EQ(of(Model::plummer), 12249504372771709242u);
  EXPECT_EQ(of(Model::shell), 3311792715295466317u);
  EXPECT_EQ(of(Model::disk), 2992249548918643758u);
  EXPECT_EQ(of(Model::clusters), 1342064924513668755u);
  EXPECT_EQ(of(Model::fractal), 5363765529731600516u);
}

TEST(Models, NoBodies) {
  const Bodies bodies = make_model(Model::plummer, 0, 1, ChargeKind::equal);
  EXPECT_EQ(bodies.size(), 0u);
  EXPECT_TRUE(bodies.positions.empty());
}

}  // namespace
