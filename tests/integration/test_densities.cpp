// SPDX-License-Identifier: BSD-3-Clause
// Several densities of the same sources, (N,K), against a sum over all pairs in long double of each.
#include "refusal.hpp"
#include "support.hpp"

namespace fmm_test {
namespace {

using DefaultSpace = Kokkos::DefaultExecutionSpace;
using Points = std::vector<double>;  // 3 N

/// Number i of density k at i K + k, of dipoles and fields 3 (i K + k) + d. Each density has a scale of its own.
struct Densities {
  int count;
  std::vector<double> charges, dipoles;
};

double scale(int k) { return std::pow(10.0, (k % 2 ? -9 : 6) * k); }

Densities random_densities(std::size_t n, int count, bool with_dipoles = false) {
  std::mt19937_64 random(17);
  std::uniform_real_distribution<double> uniform(-0.5, 1);
  Densities all{count, {}, {}};
  for (std::size_t i = 0; i < n; ++i)
    for (int k = 0; k < count; ++k) {
      all.charges.push_back(scale(k) * uniform(random));
      for (int d = 0; d < 3 && with_dipoles; ++d)
        all.dipoles.push_back(0.02 * scale(k) * uniform(random));
    }
  return all;
}

/// 1/r: potential, field and Hessian, numbers 0, 1 to 3 and 4 to 9, of density k at some points.
std::vector<std::array<long double, 10>> summed(Points const& targets, Points const& sources,
                                                Densities const& all, int k) {
  const bool same = &targets == &sources;
  std::vector<std::array<long double, 10>> sums(targets.size() / 3);
  constexpr int a[] = {0, 1, 2, 0, 0, 1}, b[] = {0, 1, 2, 1, 2, 2};
  for (std::size_t i = 0; i < sums.size(); ++i)
    for (std::size_t j = 0; j < sources.size() / 3; ++j) {
      if (same && i == j) continue;
      long double x[3], r2 = 0, p[3] = {}, along = 0;
      for (int d = 0; d < 3; ++d) {
        x[d] = (long double)(targets[3 * i + d]) - sources[3 * j + d];
        r2 += x[d] * x[d];
        if (!all.dipoles.empty()) p[d] = all.dipoles[3 * (j * all.count + k) + d];
        along += p[d] * x[d];
      }
      if (r2 == 0) continue;
      const long double q = all.charges[j * all.count + k], u = 1 / std::sqrt(r2), w = u / r2,
                        t = 3 * w / r2, s = 5 * t / r2;
      sums[i][0] += q * u + w * along;
      for (int d = 0; d < 3; ++d) sums[i][1 + d] += q * w * x[d] + t * along * x[d] - w * p[d];
      for (int m = 0; m < 6; ++m) {
        const long double one = a[m] == b[m];
        sums[i][4 + m] += q * (t * x[a[m]] * x[b[m]] - one * w) + s * along * x[a[m]] * x[b[m]] -
                          t * (one * along + x[a[m]] * p[b[m]] + x[b[m]] * p[a[m]]);
      }
    }
  return sums;
}

/// The relative L2 error of `width` numbers from `first` on.
template <class Found>
double error(std::vector<std::array<long double, 10>> const& exact, int first, int width,
             Found const& found) {
  long double difference2 = 0, norm2 = 0;
  for (std::size_t i = 0; i < exact.size(); ++i)
    for (int d = 0; d < width; ++d) {
      const long double value = exact[i][first + d], off = found(i, d) - value;
      difference2 += off * off;
      norm2 += value * value;
    }
  return double(std::sqrt(difference2 / norm2));
}

template <class View>
void fill(View const& view, std::vector<double> const& numbers) {
  const auto here = Kokkos::create_mirror_view(view);
  std::size_t next = 0;
  for (std::size_t i = 0; i < view.extent(0); ++i)
    for (std::size_t k = 0; k < view.extent(1); ++k)
      if constexpr (View::rank == 2)
        here(i, k) = numbers[next++];
      else
        for (int d = 0; d < 3; ++d) here(i, k, d) = numbers[next++];
  Kokkos::deep_copy(view, here);
}
template <class View>
auto on_host(View const& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

/// Errors of all densities below `most`, at the sources and at others.
template <class Method, class Precision>
void expect_each_density(int count, double most) {
  SCOPED_TRACE(count);
  const DefaultSpace space;
  const Points sources = make_bodies(Model::cube, 700, true, 3).x,
               others = make_bodies(Model::cube, 300, true, 4).x;
  const Densities all = random_densities(700, count);
  const ViewIn<double**, DefaultSpace> charges("charges", 700, count);
  fill(charges, all.charges);
  fmm::Options options;
  if constexpr (!std::is_same_v<Method, DirectSum>) options = {.theta = 0.5, .leaf_capacity = 12};
  fmm::Solver<Laplace, Method, Precision> solver(options);
  const auto x = to_space<DefaultSpace>(sources);
  const auto expect = [&](auto plan, Points const& targets) {
    const std::size_t m = targets.size() / 3;
    const ViewIn<double**, DefaultSpace> potential("potential", m, count);
    const ViewIn<double** [3], DefaultSpace> field("field", m, count);
    solver.evaluate(space, plan, charges, potential, field);
    space.fence();
    const auto u = on_host(potential);
    const auto f = on_host(field);
    for (int k = 0; k < count; ++k) {
      const auto exact = summed(targets, sources, all, k);
      EXPECT_LT(error(exact, 0, 1, [&](auto i, int) { return u(i, k); }), most) << k;
      EXPECT_LT(error(exact, 1, 3, [&](auto i, int d) { return f(i, k, d); }), most) << k;
    }
  };
  expect(solver.build(space, x), sources);
  expect(solver.build(space, fmm::Inputs{.sources = x, .targets = to_space<DefaultSpace>(others)}),
         others);
}

template <class Precision>
class DensitiesIn : public testing::Test {
 public:
  static constexpr double rounding = std::is_same_v<Precision, double> ? 1e-13 : 2e-5;
};
using Precisions = testing::Types<float, fmm::Mixed, double>;
TYPED_TEST_SUITE(DensitiesIn, Precisions);

TYPED_TEST(DensitiesIn, AreEachThatOfTheDefinition) {
  for (const int count : {1, 3, 4, 5, 9, 16})
    expect_each_density<fmm::Fmm<6>, TypeParam>(count, 5e-5 + TestFixture::rounding);
}
TYPED_TEST(DensitiesIn, AreThoseOfAllPairs) {
  for (const int count : {1, 4, 7})
    expect_each_density<DirectSum, TypeParam>(count, 10 * TestFixture::rounding);
}
TEST(Densities, AreThoseOfATreecode) {
  for (const int count : {2, 3, 8}) expect_each_density<fmm::Treecode<8>, double>(count, 5e-6);
}

/// One density in (N,1) has the bits of (N); and each has its bits whatever the others are.
TEST(Densities, HaveTheirBits) {
  const DefaultSpace space;
  const Points sources = make_bodies(Model::plummer, 2000, true, 3).x;
  fmm::Solver<Laplace, fmm::Fmm<5>, float> solver({.leaf_capacity = 24});
  auto plan = solver.build(space, to_space<DefaultSpace>(sources));
  const auto results = [&](Densities const& all) {
    const ViewIn<double**, DefaultSpace> charges("charges", 2000, all.count),
        potential("potential", 2000, all.count);
    const ViewIn<double** [3], DefaultSpace> field("field", 2000, all.count);
    fill(charges, all.charges);
    solver.evaluate(space, plan, charges, potential, field);
    space.fence();
    return std::pair{on_host(potential), on_host(field)};
  };
  const Densities one = random_densities(2000, 1);
  const auto [u1, f1] = results(one);
  const ViewIn<double*, DefaultSpace> potential("potential", 2000);
  const ViewIn<double* [3], DefaultSpace> field("field", 2000);
  solver.evaluate(space, plan, column_in<DefaultSpace>(one.charges), potential, field);
  space.fence();
  const auto u = on_host(potential);
  const auto f = on_host(field);
  for (int i = 0; i < 2000; ++i) {
    ASSERT_EQ(u(i), u1(i, 0)) << i;
    for (int d = 0; d < 3; ++d) ASSERT_EQ(f(i, d), f1(i, 0, d)) << i;
  }
  Densities all = random_densities(2000, 13), some = all;
  for (int i = 0; i < 2000; ++i)
    for (int k = 0; k < 13; ++k)
      if (k % 3 != 1) some.charges[i * 13 + k] *= -1e3 * (1 + i % 7);
  const auto [ua, fa] = results(all);
  const auto [us, fs] = results(some);
  for (int i = 0; i < 2000; ++i)
    for (int k = 1; k < 13; k += 3) {
      ASSERT_EQ(ua(i, k), us(i, k)) << i << ", " << k;
      for (int d = 0; d < 3; ++d) ASSERT_EQ(fa(i, k, d), fs(i, k, d)) << i << ", " << k;
    }
}

/// Dipoles and Hessians, too, in arrays of several layouts and types, with room between their numbers.
template <class Space>
void expect_all_results_in_any_layout() {
  const Space space;
  constexpr int n = 600, count = 5;
  const Points sources = make_bodies(Model::cube, n, true, 3).x;
  const Densities all = random_densities(n, count, true);
  const Kokkos::View<double**, Kokkos::LayoutLeft, Space> charges("charges", n, count);
  const Kokkos::View<double***, Kokkos::LayoutRight, Space> dipoles("dipoles", n, count, 3);
  fill(charges, all.charges);
  fill(dipoles, all.dipoles);
  const Kokkos::View<double***, Kokkos::LayoutLeft, Space> field("field", n, count, 3);
  const Kokkos::View<double***, Kokkos::LayoutRight, Space> both("both", n, count + 3, 8);
  const std::pair<int, int> densities(2, 2 + count), numbers(1, 7);
  const auto hessian = Kokkos::subview(both, Kokkos::ALL, densities, numbers);
  const Kokkos::View<double**, Kokkos::LayoutRight, Space> potential("potential", n, count);
  fmm::Solver<Laplace, fmm::Fmm<8>, double, Space> solver({.theta = 0.4, .leaf_capacity = 12});
  auto plan = solver.build(space, to_space<Space>(sources));
  solver.evaluate(space, plan, fmm::Strengths{.charges = charges, .dipoles = dipoles},
                  fmm::Results{.potential = potential, .field = field, .hessian = hessian});
  space.fence();
  const auto u = on_host(potential);
  const auto f = on_host(field);
  const auto h = on_host(both);
  for (int k = 0; k < count; ++k) {
    SCOPED_TRACE(k);
    const auto exact = summed(sources, sources, all, k);
    EXPECT_LT(error(exact, 0, 1, [&](auto i, int) { return u(i, k); }), 2e-6);
    EXPECT_LT(error(exact, 1, 3, [&](auto i, int d) { return f(i, k, d); }), 2e-6);
    EXPECT_LT(error(exact, 4, 6, [&](auto i, int d) { return h(i, 2 + k, 1 + d); }), 2e-6);
  }
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < count + 3; ++k)
      for (int d = 0; d < 8; ++d)
        if (k < 2 || k >= 2 + count || d < 1 || d >= 7) ASSERT_EQ(h(i, k, d), 0) << i;
}
TEST(Densities, OfDipolesAndHessiansInAnyLayout) {
  expect_all_results_in_any_layout<DefaultSpace>();
}

/// A plan whose lists know the geometry alone is a linear operator of any charges, and errs by a share of the field of
/// their magnitudes, though fields of charges that cancel may be a thousandth of it.
TEST(Densities, OfAPlanAreALinearOperator) {
  const DefaultSpace space;
  constexpr int n = 2000, count = 4;
  std::vector<double> x = make_bodies(Model::plummer, n, false, 3).x;
  for (int i = 0; i < n; i += 2)
    for (int d = 0; d < 3; ++d) x[3 * (i + 1) + d] = x[3 * i + d] + (d == 0 ? 1e-4 : 0);
  Densities all{count, {}, {}};
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int i = 0; i < n; ++i) {
    const double a = uniform(random), b = uniform(random), q = i % 2 == 0 ? 1 : -1;
    for (const double charge : {a, b, 2 * a - 3 * b, q}) all.charges.push_back(charge);
  }
  const ViewIn<double**, DefaultSpace> charges("charges", n, count),
      potential("potential", n, count);
  const ViewIn<double** [3], DefaultSpace> field("field", n, count);
  fill(charges, all.charges);
  fmm::Solver<Laplace, fmm::Fmm<8>, double> solver({.theta = 0.5, .leaf_capacity = 16});
  auto plan = solver.build(space, to_space<DefaultSpace>(x));
  solver.evaluate(space, plan, charges, potential, field);
  space.fence();
  const auto f = on_host(field);
  double off2 = 0, norm2 = 0;
  for (int i = 0; i < n; ++i)
    for (int d = 0; d < 3; ++d) {
      off2 += std::pow(f(i, 2, d) - (2 * f(i, 0, d) - 3 * f(i, 1, d)), 2);
      norm2 += std::pow(f(i, 2, d), 2);
    }
  EXPECT_LT(std::sqrt(off2 / norm2), 1e-13);
  const auto exact = summed(x, x, all, 3);
  Densities magnitudes = all;
  for (double& q : magnitudes.charges) q = std::fabs(q);
  const auto of_magnitudes = summed(x, x, magnitudes, 3);
  double error2 = 0, size2 = 0;
  for (int i = 0; i < n; ++i)
    for (int d = 0; d < 3; ++d) {
      error2 += std::pow(f(i, 3, d) - double(exact[i][1 + d]), 2);
      size2 += std::pow(double(of_magnitudes[i][1 + d]), 2);
    }
  EXPECT_LT(std::sqrt(error2 / size2), 1e-6);
}

/// Bad input in the last block is found before the first one's results are written.
TEST(Densities, BadInputIsRefused) {
  const DefaultSpace space;
  constexpr int n = 100, count = 10;
  fmm::Solver<SoftenedGravity, fmm::Fmm<4>> solver;
  auto plan = solver.build(space, to_space<DefaultSpace>(make_bodies(Model::cube, n).x));
  Densities all{count, std::vector<double>(n * count, 1.0), {}};
  const ViewIn<double**, DefaultSpace> charges("charges", n, count),
      potential("potential", n, count), nine("nine", n, 9), few("few", 99, count);
  const ViewIn<double** [3], DefaultSpace> field("field", n, count);
  Kokkos::deep_copy(potential, 7);
  fill(charges, all.charges);
  const auto evaluate = [&](auto const& q, auto const& u, auto const& f) {
    solver.evaluate(space, plan, q, fmm::Results{.potential = u, .field = f});
  };
  expect_refused([&] { evaluate(charges, nine, field); }, "potential.extent(1)");
  expect_refused([&] { evaluate(charges, few, field); }, "potential.extent(0)");
  expect_refused([&] { evaluate(few, potential, field); }, "charges.extent(0)");
  const ViewIn<double***, DefaultSpace> narrow("narrow", n, count, 2);
  expect_refused([&] { evaluate(charges, potential, narrow); }, "field.extent(2)");
  expect_refused([&] { evaluate(charges, charges, field); }, "in the memory of the charges");
  const auto first = Kokkos::subview(field, Kokkos::ALL, Kokkos::ALL, 1);
  expect_refused([&] { evaluate(charges, first, field); }, "in the memory of the potential");
  all.charges[57 * count + 9] = -1;
  fill(charges, all.charges);
  expect_refused([&] { evaluate(charges, potential, field); }, "charges(57,9)");
  all.charges[57 * count + 9] = std::nan("");
  fill(charges, all.charges);
  expect_refused([&] { evaluate(charges, potential, field); }, "charges(57,9)");
  const auto u = on_host(potential);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < count; ++k) ASSERT_EQ(u(i, k), 7);
  const ViewIn<double**, DefaultSpace> none("none", n, 0), of_none("of none", n, 0);
  evaluate(none, of_none, fmm::none);  // nothing to do
}

/// What is not finite is counted for each block.
TEST(Densities, ThatAreNotFiniteAreCounted) {
  const DefaultSpace space;
  Points x = make_bodies(Model::cube, 200, true, 3).x;
  for (int d = 0; d < 3; ++d) x[d] = x[3 + d] * (1 + (d == 0 ? 1e-15 : 0));
  fmm::Solver<Laplace, DirectSum, double> solver;
  auto plan = solver.build(space, to_space<DefaultSpace>(x));
  const ViewIn<double**, DefaultSpace> charges("charges", 200, 9);
  const ViewIn<float** [3], DefaultSpace> field("field", 200, 9);
  fill(charges, std::vector<double>(200 * 9, 1e13));
  fmm::Report report;
  solver.evaluate(space, plan, charges, fmm::Results{.field = field}, &report);
  EXPECT_EQ(report.not_finite, 4);  // two bodies in blocks of 8 and 1
  EXPECT_EQ(report.p2p_pairs, 2 * 200 * 199);
}

}  // namespace
}  // namespace fmm_test
