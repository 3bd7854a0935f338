// SPDX-License-Identifier: BSD-3-Clause
// Lattice sums, and what they make of a root's multipole, against known constants and Ewald's sums.
#include <gtest/gtest.h>

#include <fmm/kernels/root_images.hpp>
#include <random>

#include "../../ewald_reference.hpp"

namespace {

using fmm::periodic::dot;
using fmm::periodic::Lattice;
using fmm::periodic::lattice_sums;
using fmm::periodic::LatticeSums;
using fmm::periodic::plus;
using fmm::periodic::Vector;

const Lattice cube({Vector{1, 0, 0}, Vector{0, 1, 0}, Vector{0, 0, 1}}),
    box({Vector{1, 0, 0}, Vector{0, 1.5, 0}, Vector{0, 0, 2}}),
    column({Vector{1, 0, 0}, Vector{0, 1, 0}, Vector{0, 0, 4}}),
    oblique({Vector{1, 0.2, 0.1}, Vector{0.3, 1.2, 0}, Vector{-0.1, 0.4, 1.1}});

TEST(LatticeSums, AreTheKnownOnes) {
  const LatticeSums of_cube = lattice_sums(cube, 0, 8);
  const auto sum = [&](int l, int m) { return of_cube.of[fmm::periodic::index_of(l, m)]; };
  EXPECT_NEAR(double(sum(4, 0).real()), 74.597, 1e-3);
  EXPECT_NEAR(double(sum(4, 4).real()), 372.987, 1e-3);
  EXPECT_LT(std::abs(sum(2, 0)) + std::abs(sum(2, 2)) + std::abs(sum(4, 2)), 1e-15L);
  // potential of a charge in its background: simple, body-centred and face-centred cubic
  const auto xi = [](std::array<Vector, 3> const& vectors) {
    const Lattice lattice(vectors);
    return double(lattice_sums(lattice, 0, 2).constant * std::cbrt(lattice.volume()));
  };
  constexpr double h = 0.5;
  EXPECT_NEAR(double(of_cube.constant), -2.837297479480620, 3e-15);
  EXPECT_NEAR(xi({Vector{-h, h, h}, Vector{h, -h, h}, Vector{h, h, -h}}), -2.888461503053941,
              3e-15);
  EXPECT_NEAR(xi({Vector{0, h, h}, Vector{h, 0, h}, Vector{h, h, 0}}), -2.888282119020324, 3e-15);
}

/// Those without the vectors within a radius, where they are large enough to be summed one by one.
TEST(LatticeSums, LoseNoDigitsToTheVectorsThatAreLeftOut) {
  constexpr int degree = 40;
  std::vector<long double> factorial{1};
  for (int l = 1; l <= 2 * degree; ++l) factorial.push_back(factorial.back() * l);
  for (Lattice const& lattice : {cube, box, column, oblique}) {
    const double radius = 4 * lattice.farthest_corner();
    const LatticeSums sums = lattice_sums(lattice, radius, degree);
    std::vector<std::complex<long double>> one_by_one(sums.of.size());
    for (Vector const& n : lattice.vectors_within(3 * radius)) {
      const long double n2 = dot(n, n);
      if (dot(n, n) <= radius * radius) continue;
      fmm::periodic::for_each_regular(n, degree, [&](int l, int m, auto const& u) {
        if (l % 2 == 0)
          one_by_one[fmm::periodic::index_of(l, m)] +=
              factorial[l - m] * factorial[l + m] * std::pow(n2, -l - 0.5L) * u;
      });
    }
    for (int l = 24; l <= degree; l += 4) {
      long double error = 0, all = 0;
      for (int m = 0; m <= l; ++m) {
        const int k = fmm::periodic::index_of(l, m);
        const long double weight = 1 / (factorial[l - m] * factorial[l + m]);
        error += weight * std::norm(sums.of[k] - one_by_one[k]);
        all += weight * std::norm(one_by_one[k]);
      }
      EXPECT_LT(std::sqrt(error / all), 2e-8L) << "degree " << l;
    }
  }
}

/// Explicit images, and the rest by an expansion of order P about the middle of the cell, against Ewald's sums: the
/// largest error of the potentials at the charges, relative to their root mean square.
template <int P>
double error_of_order(Lattice const& lattice, bool neutral, unsigned seed) {
  using Basis = fmm::SphericalBasis<P, double>;
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> number(-0.5, 0.5);
  fmm_test::PeriodicSources all;
  std::vector<Vector> x;
  std::vector<double> q;
  constexpr int n = 10;
  double net = 0, squares = 0;
  for (int i = 0; i < n; ++i) {
    x.push_back(lattice.at(number(random), number(random), number(random)));
    q.push_back(i + 1 < n || !neutral ? 0.3 + number(random) : -net);
    net += q[i];
    squares += q[i] * dot(x[i], x[i]);
    all.x.push_back({x[i][0], x[i][1], x[i][2]});
    all.charges.push_back(q[i]);
  }
  for (int k = 0; k < 3; ++k)
    for (int d = 0; d < 3; ++d) all.cell[k][d] = lattice.vectors()[k][d];
  const double radius = 4 * lattice.farthest_corner();
  const auto images = lattice.vectors_within(radius);
  const auto matrix =
      fmm::kernels::root_image_matrix(lattice, lattice_sums(lattice, radius, 2 * P), P);
  double multipole[Basis::size] = {}, local[Basis::size] = {};
  for (int i = 0; i < n; ++i) Basis::p2m(x[i][0], x[i][1], x[i][2], q[i], multipole);
  for (int row = 0; row < Basis::size; ++row)
    for (int k = 0; k < Basis::size; ++k)
      local[row] += matrix[row * Basis::size + k] * multipole[k];
  const double factor = fmm::kernels::background_factor(lattice);
  double worst = 0, norm = 0;
  for (int i = 0; i < n; ++i) {
    double at[Basis::size] = {};  // a unit charge's multipole: the basis itself
    Basis::p2m(x[i][0], x[i][1], x[i][2], 1.0, at);
    double potential = factor * (net * dot(x[i], x[i]) + squares);
    for (int k = 0; k < Basis::size; ++k) potential += local[k] * at[k];
    for (int j = 0; j < n; ++j) {
      const Vector d = plus(x[i], -1, x[j]);
      if (j != i) potential += q[j] / std::sqrt(dot(d, d));
      for (Vector const& image : images) {
        const Vector e = plus(d, -1, image);
        potential += q[j] / std::sqrt(dot(e, e));
      }
    }
    const double exact = double(fmm_test::ewald(all, all.x[i], i)[0]);
    worst = std::max(worst, std::fabs(potential - exact));
    norm += exact * exact / n;
  }
  return worst / std::sqrt(norm);
}

TEST(RootImages, AreEwaldsSums) {
  // measured: 1e-5 to 3e-3 of order 4, 4e-8 to 3e-6 of order 8, below 4e-12 of order 16
  for (Lattice const& lattice : {cube, box, column, oblique})
    for (bool neutral : {true, false}) {
      EXPECT_LT(error_of_order<4>(lattice, neutral, 1), 1e-2);
      EXPECT_LT(error_of_order<8>(lattice, neutral, 2), 1e-5);
      EXPECT_LT(error_of_order<16>(lattice, neutral, 3), 1e-11);
    }
}

}  // namespace
