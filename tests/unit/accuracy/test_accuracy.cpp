// SPDX-License-Identifier: BSD-3-Clause
// The reference itself: direct sums at chosen targets and the errors measured against them.
#include <algorithm>
#include <numeric>
#include <random>
#include <unordered_map>

#include "support.hpp"

namespace fmm_test {
namespace {

TEST(Sample, NumbersAreThoseOfTheMersenneTwister) {
  for (const std::uint64_t seed : {std::uint64_t(1), std::uint64_t(5489), ~std::uint64_t(0)}) {
    fmm::accuracy::RandomNumbers numbers(seed);
    std::mt19937_64 random(seed);
    for (int i = 0; i < 2000; ++i) ASSERT_EQ(numbers(), random()) << i;
  }
}

TEST(Sample, IsTheBeginningOfAShuffle) {
  for (const std::size_t n : {1, 2, 10, 1000, 1000000})
    for (const std::size_t m : {std::size_t(0), std::size_t(1), n / 2, n - 1, n})
      if (m <= 1000) {
        std::mt19937_64 random(7);
        std::unordered_map<std::size_t, std::size_t> moved;
        const auto at = [&](std::size_t k) { return moved.count(k) ? moved[k] : k; };
        std::vector<std::int64_t> chosen(m);
        for (std::size_t i = 0; i < m; ++i) {
          const std::size_t j = m == n ? i : i + random() % (n - i);
          chosen[i] = std::int64_t(at(j));
          moved[j] = at(i);
        }
        std::sort(chosen.begin(), chosen.end());
        EXPECT_EQ(fmm::accuracy::choose(m, n, 7), chosen) << m << " of " << n;
      }
}

template <class T>
class Accuracy : public testing::Test {};
TYPED_TEST_SUITE(Accuracy, Spaces);

TYPED_TEST(Accuracy, DirectSumsAreTheDefinitionAtChosenTargets) {
  using Space = TypeParam;
  const Space space;
  for (const double softening : {0.0, 0.2})
    for (const Model model : {Model::plummer, Model::clusters, Model::point}) {
      const Bodies bodies = make_bodies(model, 777);
      const DeviceBodies<Space> device(bodies);
      const Results reference = direct_reference(bodies, true, softening);
      const int chosen[] = {776, 0, 5, 300, 301};
      ViewIn<int*, Space> targets("targets", 5);
      ViewIn<double*, Space> potential("p", 5);
      ViewIn<double* [3], Space> field("a", 5);
      Kokkos::deep_copy(
          targets,
          Kokkos::View<int const*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
              chosen, 5));
      fmm::direct_sum(space, fmm::SoftenedGravity{softening, 1}, device.x, device.q, targets,
                      potential, field);
      const Results r = to_host(potential, field);
      for (int i = 0; i < 5; ++i) {
        EXPECT_NEAR(r.potential[i], reference.potential[chosen[i]],
                    1e-13 * std::fabs(reference.potential[chosen[i]]));
        double scale = 0;
        for (int d = 0; d < 3; ++d) scale += std::fabs(reference.field[3 * chosen[i] + d]);
        for (int d = 0; d < 3; ++d)
          EXPECT_NEAR(r.field[3 * i + d], reference.field[3 * chosen[i] + d], 1e-12 * scale);
      }
    }
}

TYPED_TEST(Accuracy, TargetsThatAreNoBodiesAreRefused) {
  using Space = TypeParam;
  const Space space;
  for (const std::size_t n : {0, 10})
    for (const int bad : {-1, 10, 1 << 30}) {
      const DeviceBodies<Space> device(make_bodies(Model::cube, n));
      const auto targets = column_in<Space>(n == 0 ? std::vector{bad} : std::vector{0, 9, bad, 1});
      const ViewIn<double*, Space> potential("p", targets.extent(0));
      Kokkos::deep_copy(potential, 7);
      try {
        fmm::direct_sum(space, Laplace{}, device.x, device.q, targets, potential, fmm::none);
        FAIL() << bad;
      } catch (fmm::InvalidArgument const& e) {
        const std::string says = e.what();
        EXPECT_NE(says.find(n == 0 ? "targets(0)" : "targets(2)"), std::string::npos) << says;
        EXPECT_NE(says.find("target < " + std::to_string(n)), std::string::npos) << says;
      }
      EXPECT_EQ(to_host(potential), std::vector<double>(targets.extent(0), 7));
    }
}

TYPED_TEST(Accuracy, ErrorsAreWhatTheyAreDefinedAs) {
  using Space = TypeParam;
  const Space space;
  const std::size_t n = 500;
  const Bodies bodies = make_bodies(Model::plummer, n);
  const DeviceBodies<Space> device(bodies);
  Results wrong = direct_reference(bodies, false);
  const Results reference = wrong;
  double difference = 0, norm = 0, potential_difference = 0, potential_norm = 0;
  std::vector<double> each;
  for (std::size_t i = 0; i < n; ++i) {
    const double relative = 1e-4 * double(i + 1);
    double d2 = 0, a2 = 0;
    for (int d = 0; d < 3; ++d) {
      wrong.field[3 * i + d] *= 1 + relative;
      a2 += std::pow(reference.field[3 * i + d], 2);
      d2 += std::pow(wrong.field[3 * i + d] - reference.field[3 * i + d], 2);
    }
    wrong.potential[i] *= 1 - relative;
    potential_difference += std::pow(wrong.potential[i] - reference.potential[i], 2);
    potential_norm += std::pow(reference.potential[i], 2);
    difference += d2;
    norm += a2;
  }
  ViewIn<double*, Space> potential("p", n);
  ViewIn<double* [3], Space> field("a", n);
  const auto hp = Kokkos::create_mirror_view(potential);
  const auto hf = Kokkos::create_mirror_view(field);
  for (std::size_t i = 0; i < n; ++i) {
    hp(i) = wrong.potential[i];
    for (int d = 0; d < 3; ++d) hf(i, d) = wrong.field[3 * i + d];
  }
  Kokkos::deep_copy(potential, hp);
  Kokkos::deep_copy(field, hf);
  const auto error =
      fmm::measure_error(space, fmm::Laplace(), device.x, device.q, potential, field, n);
  EXPECT_EQ(error.samples, n);
  EXPECT_NEAR(error.field_l2, std::sqrt(difference / norm), 1e-10);
  EXPECT_NEAR(error.potential_l2, std::sqrt(potential_difference / potential_norm), 1e-10);
  EXPECT_NEAR(error.field_max, 1e-4 * double(n), 1e-10);
  EXPECT_NEAR(error.field_p99, 0.99 * 1e-4 * double(n), 2e-4);

  const auto sampled =
      fmm::measure_error(space, fmm::Laplace(), device.x, device.q, potential, field, 100, 3);
  EXPECT_EQ(sampled.samples, 100u);
  EXPECT_NEAR(sampled.field_l2, error.field_l2, 0.5 * error.field_l2);
  const auto again =
      fmm::measure_error(space, fmm::Laplace(), device.x, device.q, potential, field, 100, 3);
  EXPECT_EQ(sampled.field_l2, again.field_l2);
  const auto field_only =
      fmm::measure_error(space, fmm::Laplace(), device.x, device.q, fmm::none, field, n);
  EXPECT_EQ(field_only.field_l2, error.field_l2);
  EXPECT_EQ(
      fmm::measure_error(space, fmm::Laplace(), device.x, device.q, potential, field, 0).samples,
      0u);

  ViewIn<int*, Space> targets("targets", 2);
  Kokkos::deep_copy(targets, 7);
  EXPECT_NEAR(
      fmm::measure_error(space, fmm::Laplace(), device.x, device.q, potential, field, targets, 9)
          .field_l2,
      8e-4, 1e-12);
  Kokkos::deep_copy(targets, int(n));
  EXPECT_THROW(
      fmm::measure_error(space, fmm::Laplace(), device.x, device.q, potential, field, targets, 9),
      fmm::InvalidArgument);
}

/// The errors of one vector of results against another, each of five bodies.
fmm::ErrorMeasure compared(double result, double exact, fmm::accuracy::Scales const& scale = {}) {
  using fmm::Sums;
  constexpr std::size_t bodies = 5;
  std::vector<Sums<double>> computed(bodies, {exact, exact, 0, 0}), known = computed;
  const std::vector<fmm::accuracy::Scales> scales(bodies, scale);
  computed[2] = {result, result, 0, 0};
  return fmm::accuracy::compare(computed, known, scales, true, true, fmm::least_share_in_double);
}

TEST(Errors, OfResultsThatAreNotFiniteAreInfinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {std::nan(""), infinity, -infinity}) {
    const auto error = compared(bad, 1);
    EXPECT_EQ(error.field_l2, infinity) << bad;
    EXPECT_EQ(error.field_max, infinity) << bad;
    EXPECT_EQ(error.field_p99, infinity) << bad;  // one of five is more than a hundredth
    EXPECT_EQ(error.potential_l2, infinity) << bad;
    EXPECT_EQ(error.not_finite, 1u) << bad;
    EXPECT_EQ(error.field.back(), infinity);
    EXPECT_EQ(compared(bad, bad).field_l2, infinity);  // the reference, too
  }
  for (const double wrong : {1.0, 1e-170, 5e-324})
    EXPECT_EQ(compared(wrong, 0).field_l2, infinity) << wrong;
  EXPECT_EQ(compared(0, 0).field_l2, 0);
  EXPECT_EQ(compared(0, 0).not_finite, 0u);
}

/// Whose squares are 0 or infinite.
TEST(Errors, OfVerySmallAndLargeFieldsAreThose) {
  for (const double unit : {5e-324, 1e-310, 1e-200, 1.0, 1e200, 1e307}) {
    const auto error = compared(2 * unit, unit);
    EXPECT_NEAR(error.field_l2, 1 / std::sqrt(5.0), 1e-15) << unit;
    EXPECT_NEAR(error.potential_l2, 1 / std::sqrt(5.0), 1e-15) << unit;
    EXPECT_EQ(error.field_max, 1) << unit;
    EXPECT_EQ(error.not_finite, 0u);
  }
}

TEST(Errors, WhereResultsCancelAreRelativeToWhatTheTermsAre) {
  // fields and potentials are 0, terms add up to 10 and 5, neighbours feel 2 and 4
  const auto error = compared(3e-9, 0, {10, 5, 2, 4});
  EXPECT_NEAR(error.field_max, 3e-9 / (10 * fmm::least_share_in_double), 1e-16);
  EXPECT_NEAR(error.potential_max, 3e-9 / (5 * fmm::least_share_in_double), 1e-16);
  EXPECT_NEAR(error.field_l2, 3e-9 / (1e-3 * 2 * std::sqrt(5.0)), 1e-18);
  EXPECT_NEAR(error.potential_l2, 3e-9 / (1e-3 * 4 * std::sqrt(5.0)), 1e-18);
  // not where they are larger than that
  EXPECT_NEAR(compared(2, 1, {1e4, 1e4, 900, 900}).field_l2, 1 / std::sqrt(5.0), 1e-15);
  EXPECT_NEAR(compared(2, 1, {1e4, 1e4, 0, 0}).field_max, 1, 1e-15);
  // and a scale that overflows hides nothing
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(compared(2, 1, {infinity, infinity, infinity, infinity}).field_max, 1);
  EXPECT_NEAR(compared(2, 1, {infinity, infinity, infinity, infinity}).field_l2, 1 / std::sqrt(5.0),
              1e-15);
}

TEST(Errors, OfOneInAHundredMayBeLarger) {
  for (const std::size_t n : {1, 99, 100, 150, 199, 200, 1000}) {
    fmm::accuracy::RelativeErrors errors;
    for (std::size_t i = 0; i < n; ++i) errors.own.push_back(double(i));
    const auto larger = std::count_if(errors.own.begin(), errors.own.end(),
                                      [&](double error) { return error > errors.p99(); });
    EXPECT_EQ(std::size_t(larger), n / 100);
  }
}

/// What a body's terms add up to, written on its own.
template <class Kernel>
double sum_of_magnitudes(Bodies const& bodies, std::size_t i, Kernel const& kernel) {
  double sum = 0;
  for (std::size_t j = 0; j < bodies.size(); ++j) {
    double r2 = 0;
    for (int d = 0; d < 3; ++d) r2 += std::pow(bodies.x[3 * i + d] - bodies.x[3 * j + d], 2);
    if (r2 > 0) sum += std::fabs(bodies.q[j] * kernel(r2).weight) * std::sqrt(r2);
  }
  return sum;
}

TYPED_TEST(Accuracy, OwnErrorsAreRelativeToTheSumOfMagnitudes) {
  using Space = TypeParam;
  const Space space;
  const auto check = [&](auto const& kernel, Model model) {
    Bodies bodies = make_bodies(model, 777);
    for (std::size_t i = 0; i < 777; i += 3) bodies.q[i] *= -1;
    for (int d = 0; d < 3; ++d) bodies.x[d] = bodies.x[9 + d];  // two at one place
    const DeviceBodies<Space> device(bodies);
    const ViewIn<double*, Space> potential("p", 777);
    const ViewIn<double* [3], Space> field("a", 777);
    const auto everyone = column_in<Space>([] {
      std::vector<int> all(777);
      std::iota(all.begin(), all.end(), 0);
      return all;
    }());
    fmm::direct_sum(space, kernel, device.x, device.q, everyone, potential, field);
    const auto wrong = Kokkos::create_mirror_view(field);
    Kokkos::deep_copy(wrong, field);
    std::vector<double> expected;
    const double prefactor = fmm::kernels::prefactor(kernel);
    for (std::size_t i = 0; i < 777; ++i) {
      wrong(i, 1) += 1e-3 * double(i);
      expected.push_back(1e-3 * double(i) /
                         (std::fabs(prefactor) * sum_of_magnitudes(bodies, i, kernel)));
    }
    Kokkos::deep_copy(field, wrong);
    std::sort(expected.begin(), expected.end());
    const auto error =
        fmm::measure_error(space, kernel, device.x, device.q, potential, field, 777, 1, 1.0);
    ASSERT_EQ(error.field.size(), 777u);
    EXPECT_EQ(error.least_share, 1);
    for (std::size_t i = 0; i < 777; ++i)
      EXPECT_NEAR(error.field[i], expected[i], 1e-10 * expected[776]) << i;
  };
  check(fmm::Laplace(), Model::cube);
  check(fmm::SoftenedGravity{0.1, 3}, Model::plummer);
  check(fmm::SplineGravity{0.3, 2}, Model::clusters);
}

/// Charges of 4, -1 and 4 in a row exert no force on each other.
TYPED_TEST(Accuracy, ErrorsWhereAllFieldsVanishAreRelativeToNeighbours) {
  using Space = TypeParam;
  const Space space;
  for (const double length : {1.0, 0x1p-40, 0x1p60}) {
    const Bodies bodies{{0, 0, 0, length, 0, 0, 2 * length, 0, 0}, {4, -1, 4}};
    const DeviceBodies<Space> device(bodies);
    const ViewIn<double* [3], Space> field("a", 3);
    const auto wrong = Kokkos::create_mirror_view(field);
    wrong(1, 2) = 1e-8 / (length * length);
    Kokkos::deep_copy(field, wrong);
    const auto error = fmm::measure_error(space, fmm::Laplace(), device.x, device.q, fmm::none,
                                          field, 3, 1, fmm::least_share_in_float);
    EXPECT_NEAR(error.field_l2, 1e-8 / (1e-3 * std::sqrt(33.0)), 1e-16);
    EXPECT_NEAR(error.field_max, 1e-8 / (8 * fmm::least_share_in_float), 1e-15);
    EXPECT_EQ(error.field[0], 0);
  }
}

TYPED_TEST(Accuracy, ResultsThatAreNotFiniteAreSaid) {
  using Space = TypeParam;
  const Space space;
  Bodies bodies = make_bodies(Model::cube, 50);
  for (double& q : bodies.q) q = 1e308;  // potentials overflow
  const DeviceBodies<Space> device(bodies);
  ViewIn<double*, Space> potential("potential", 50);
  ViewIn<double* [3], Space> field("field", 50);
  fmm::Solver<fmm::Laplace, fmm::Fmm<3>, double, Space> solver;
  auto plan = solver.build(space, device.x);
  fmm::Report report;
  solver.evaluate(space, plan, device.q, potential, field, &report);
  EXPECT_EQ(report.not_finite, 50);
  const auto error =
      fmm::measure_error(space, fmm::Laplace(), device.x, device.q, potential, field, 50);
  EXPECT_EQ(error.field_l2, std::numeric_limits<double>::infinity());
  EXPECT_EQ(error.not_finite, 50u);
  const DeviceBodies<Space> good(make_bodies(Model::cube, 50));
  solver.evaluate(space, plan, good.q, potential, field, &report);
  EXPECT_EQ(report.not_finite, 0);
  solver.evaluate(space, plan, device.q, potential, fmm::none, &report);  // another kernel writes
  EXPECT_EQ(report.not_finite, 50);
}

/// Of targets that are another set, too; and what a report says of one evaluation the next one forgets.
TYPED_TEST(Accuracy, ResultsOfTwoSetsThatAreNotFiniteAreSaid) {
  using Space = TypeParam;
  const Space space;
  Bodies bodies = make_bodies(Model::cube, 50);
  for (double& q : bodies.q) q = 1e308;
  const DeviceBodies<Space> device(bodies), targets(make_bodies(Model::cube, 20, false, 2));
  const ViewIn<double*, Space> potential("potential", 20), nothing("potential", 0);
  const ViewIn<double const* [3], Space> no_targets(ViewIn<double* [3], Space>("targets", 0));
  const auto expect_said = [&](auto solver) {
    const fmm::Inputs inputs{device.x, fmm::none, targets.x},
        of_none{device.x, fmm::none, no_targets};
    fmm::Report report;
    report.found = fmm::FoundLimit{};
    auto plan = solver.build(space, inputs);
    solver.evaluate(space, plan, device.q, potential, fmm::none, &report);
    EXPECT_EQ(report.not_finite, 20);
    EXPECT_FALSE(report.found);
    auto plan_of_none = solver.build(space, of_none);
    solver.evaluate(space, plan_of_none, device.q, nothing, fmm::none, &report);
    EXPECT_EQ(report.not_finite, 0);
  };
  using Fmm = fmm::Fmm<3, fmm::DualTree<fmm::RadiusCriterion>>;
  expect_said(fmm::Solver<fmm::Laplace, Fmm, double, Space>());
  expect_said(fmm::Solver<fmm::Laplace, fmm::DirectSum, double, Space>());
}

/// A pair so close that its field leaves the range of float, in units that are within it.
TEST(Errors, ResultsThatOverflowFloatAreCounted) {
  using Space = Kokkos::DefaultExecutionSpace;
  const Space space;
  Bodies bodies = make_bodies(Model::cube, 50);
  for (int d = 0; d < 3; ++d) bodies.x[d] = 0, bodies.x[3 + d] = d == 0 ? 1e-25 : 0;
  const DeviceBodies<Space> device(bodies);
  const ViewIn<float*, Space> potential("potential", 50);
  const ViewIn<float* [3], Space> field("field", 50);
  fmm::Solver<fmm::Laplace, fmm::DirectSum, double, Space> solver;
  auto plan = solver.build(space, device.x);
  fmm::Report report;
  solver.evaluate(space, plan, device.q, potential, fmm::none, &report);
  EXPECT_EQ(report.not_finite, 0);
  solver.evaluate(space, plan, device.q, potential, field, &report);
  EXPECT_EQ(report.not_finite, 2);
}

}  // namespace
}  // namespace fmm_test
