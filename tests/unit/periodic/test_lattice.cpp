// SPDX-License-Identifier: BSD-3-Clause
// Lattices: the cell that is chosen, vectors within a distance.
#include <gtest/gtest.h>

#include <fmm/periodic/lattice.hpp>
#include <random>

using fmm::periodic::dot;
using fmm::periodic::Lattice;
using fmm::periodic::Vector;

namespace {

/// Whether a vector is one of the lattice's.
bool is_of(Lattice const& lattice, Vector const& vector) {
  for (Vector const& inverse : lattice.inverse()) {
    const double factor = dot(vector, inverse);
    if (std::fabs(factor - std::round(factor)) > 1e-9) return false;
  }
  return true;
}

TEST(Lattice, KeepsTheEdgesOfABox) {
  const Lattice box({Vector{3, 0, 0}, Vector{0, 1, 0}, Vector{0, 0, 2}});
  EXPECT_EQ(box.vectors()[0], (Vector{3, 0, 0}));
  EXPECT_EQ(box.vectors()[1], (Vector{0, 1, 0}));
  EXPECT_EQ(box.volume(), 6);
  EXPECT_EQ(box.longest(), 3);
  EXPECT_EQ(box.aspect(), 3);
  EXPECT_DOUBLE_EQ(box.farthest_corner(), 0.5 * std::sqrt(14.0));
}

TEST(Lattice, ChoosesShortVectorsOfTheSameLattice) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> number(-1, 1);
  std::uniform_int_distribution<int> factor(-4, 4);
  for (int trial = 0; trial < 200; ++trial) {
    std::array<Vector, 3> given;
    for (Vector& vector : given) vector = {number(random), number(random), number(random)};
    const Lattice lattice(given);
    // sheared: the same lattice by longer vectors, of either hand
    std::array<Vector, 3> sheared = given;
    for (int step = 0; step < 6; ++step) {
      const int a = step % 3, b = (step + 1 + trial % 2) % 3;
      sheared[a] = fmm::periodic::plus(sheared[a], factor(random), sheared[b]);
    }
    if (trial % 3 == 0) std::swap(sheared[0], sheared[1]);
    const Lattice same(sheared);
    EXPECT_GT(same.volume(), 0);
    EXPECT_NEAR(same.volume() / lattice.volume(), 1, 1e-9);
    for (int k = 0; k < 3; ++k) {
      EXPECT_TRUE(is_of(lattice, same.vectors()[k]));
      EXPECT_TRUE(is_of(same, given[k]));
      EXPECT_NEAR(dot(same.vectors()[k], same.vectors()[k]),
                  dot(lattice.vectors()[k], lattice.vectors()[k]), 1e-9);
      for (int l = 0; l < 3; ++l)
        EXPECT_NEAR(dot(same.vectors()[k], same.inverse()[l]), k == l, 1e-9);
    }
    // no other vector of the lattice is shorter than the shortest
    for (Vector const& vector : lattice.vectors_within(3))
      EXPECT_GE(dot(vector, vector), dot(lattice.vectors()[0], lattice.vectors()[0]) * (1 - 1e-9));
  }
}

TEST(Lattice, FindsItsVectorsWithinADistance) {
  const Lattice lattice({Vector{1, 0.2, 0}, Vector{-0.4, 1.1, 0.3}, Vector{0.1, 0.1, 1.6}});
  const double radius = 4.5;
  const auto found = lattice.vectors_within(radius);
  std::size_t count = 0;
  for (int i = -20; i <= 20; ++i)
    for (int j = -20; j <= 20; ++j)
      for (int k = -20; k <= 20; ++k) {
        const Vector n = lattice.at(i, j, k);
        count += (i != 0 || j != 0 || k != 0) && dot(n, n) <= radius * radius;
      }
  EXPECT_EQ(found.size(), count);
  for (std::size_t i = 1; i < found.size(); ++i)
    EXPECT_LE(dot(found[i - 1], found[i - 1]), dot(found[i], found[i]));
  for (Vector const& n : found) EXPECT_TRUE(is_of(lattice, n));
}

TEST(Lattice, HasAReciprocalAndOtherUnits) {
  const Lattice lattice({Vector{1, 0.2, 0}, Vector{-0.4, 1.1, 0.3}, Vector{0.1, 0.1, 1.6}});
  EXPECT_NEAR(lattice.reciprocal().volume(), 1 / lattice.volume(), 1e-12);
  const Lattice scaled = lattice.times(3);
  EXPECT_NEAR(scaled.volume(), 27 * lattice.volume(), 1e-12);
  EXPECT_NEAR(scaled.height(1), 3 * lattice.height(1), 1e-12);
}

}  // namespace
