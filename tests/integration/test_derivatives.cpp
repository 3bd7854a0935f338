// SPDX-License-Identifier: BSD-3-Clause
// Dipoles and Hessians, beside charges, potentials and fields, against sums in long double.
#include "carried.hpp"
#include "refusal.hpp"
#include "support.hpp"

namespace fmm_test {
namespace {

using DefaultSpace = Kokkos::DefaultExecutionSpace;
/// u = 1/r and its derivatives u_(k+1) = -u_k'/r, k to 3, written out for each softening (docs/math.md).
struct Newton {
  static std::array<Number, 4> at(Number r, double) {
    const Number u = 1 / r, u2 = u * u;
    return {u, u * u2, 3 * u * u2 * u2, 15 * u * u2 * u2 * u2};
  }
};
struct Plummer {
  static std::array<Number, 4> at(Number r, double softening) {
    return Newton::at(std::sqrt(r * r + Number(softening) * softening), 0);
  }
};
/// Springel 2005, MNRAS 364:1105, eq. 4, as polynomials in r / h, and their derivatives.
struct Spline {
  static std::array<Number, 4> at(Number r, double softening) {
    const Number h = 2.8L * softening, v = r / h;
    if (v >= 1) return Newton::at(r, 0);
    const auto in_units = [h2 = h * h, h](Number u, Number w, Number t, Number s) {
      return std::array<Number, 4>{u / h, w / (h * h2), t / (h * h2 * h2), s / (h * h2 * h2 * h2)};
    };
    const Number v2 = v * v, v3 = v * v2, v5 = v2 * v3;
    if (v < 0.5L)
      return in_units(2.8L - v2 * (16 / 3.0L - v2 * (9.6L - 6.4L * v)),
                      32 / 3.0L - v2 * (38.4L - 32 * v), 76.8L - 96 * v, v > 0 ? 96 / v : 0);
    return in_units(3.2L - 1 / (15 * v) - v2 * (32 / 3.0L - v * (16 - v * (9.6L - 32 / 15.0L * v))),
                    64 / 3.0L - 48 * v + 38.4L * v2 - 32 / 3.0L * v3 - 1 / (15 * v3),
                    48 / v - 76.8L + 32 * v - 1 / (5 * v5), 48 / v3 - 32 / v - 1 / (v2 * v5));
  }
};

/// Potential, field and Hessian at one point: xx, yy, zz, xy, xz, yz.
struct All {
  Number potential = 0, field[3] = {}, hessian[6] = {};
};
constexpr int rows[] = {0, 1, 2, 0, 0, 1}, columns[] = {0, 1, 2, 1, 2, 2};

template <class Softening>
std::vector<All> summed(Points const& targets, Sources const& sources, bool are_sources,
                        double softening = 0, Number factor = 1) {
  std::vector<All> all(targets.size() / 3);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < sources.size(); ++j) {
      if (are_sources && i == j) continue;
      Number d[3], r2 = 0;
      for (int c = 0; c < 3; ++c) {
        d[c] = Number(targets[3 * i + c]) - sources.x[3 * j + c];
        r2 += d[c] * d[c];
      }
      if (r2 == 0 && softening == 0) continue;
      const auto [u, w, t, s] = Softening::at(std::sqrt(r2), softening);
      const Number q = sources.charges.empty() ? 0 : sources.charges[j];
      Number p[3] = {}, along = 0;
      if (!sources.dipoles.empty())
        for (int c = 0; c < 3; ++c) p[c] = sources.dipoles[3 * j + c], along += p[c] * d[c];
      All& at = all[i];
      at.potential += factor * (q * u + w * along);
      for (int c = 0; c < 3; ++c)
        at.field[c] += factor * (q * w * d[c] + t * along * d[c] - w * p[c]);
      for (int k = 0; k < 6; ++k) {
        const int a = rows[k], b = columns[k], same = a == b;
        at.hessian[k] += factor * (q * (t * d[a] * d[b] - same * w) + s * along * d[a] * d[b] -
                                   t * (same * along + d[a] * p[b] + d[b] * p[a]));
      }
    }
  return all;
}

/// Relative L2 errors.
struct Errors {
  double potential = 0, field = 0, hessian = 0;
};
std::ostream& operator<<(std::ostream& out, Errors const& e) {
  return out << e.potential << ", " << e.field << ", " << e.hessian;
}

constexpr Carries all_kinds[] = {Carries::charges, Carries::dipoles, Carries::both};

/// What a solver gives of the results that are Views.
template <class Solver, class Plan, class Results>
void evaluate(Solver& solver, Plan& plan, Sources const& sources, Results const& results,
              fmm::Report* report = nullptr) {
  using Space = typename Solver::execution_space;
  const Space space;
  const auto charges = column_in<Space>(sources.charges);
  const auto dipoles = to_space<Space>(sources.dipoles);
  if (sources.dipoles.empty())
    solver.evaluate(space, plan, charges, results, report);
  else if (sources.charges.empty())
    solver.evaluate(space, plan, fmm::Strengths{.dipoles = dipoles}, results, report);
  else
    solver.evaluate(space, plan, fmm::Strengths{.charges = charges, .dipoles = dipoles}, results,
                    report);
  space.fence();
}

template <class Space>
struct Arrays {
  ViewIn<double*, Space> potential;
  ViewIn<double* [3], Space> field;
  ViewIn<double* [6], Space> hessian;
  explicit Arrays(std::size_t n) : potential("potential", n), field("field", n), hessian("h", n) {}
};

template <class View>
std::vector<double> numbers(View const& view) {
  const auto here = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  std::vector<double> all;
  for (std::size_t i = 0; i < here.extent(0); ++i)
    if constexpr (View::rank == 1)
      all.push_back(here(i));
    else
      for (std::size_t d = 0; d < here.extent(1); ++d) all.push_back(here(i, d));
  return all;
}

template <class Space>
Errors errors_of(Arrays<Space> const& arrays, std::vector<All> const& exact) {
  const auto error = [&](auto const& view, int width, auto const& number) {
    const auto found = numbers(view);
    Number difference2 = 0, norm2 = 0;
    for (std::size_t i = 0; i < exact.size(); ++i)
      for (int d = 0; d < width; ++d) {
        const Number value = number(exact[i], d), off = found[width * i + d] - value;
        difference2 += off * off;
        norm2 += value * value;
      }
    return double(std::sqrt(difference2 / norm2));
  };
  return {error(arrays.potential, 1, [](All const& a, int) { return a.potential; }),
          error(arrays.field, 3, [](All const& a, int d) { return a.field[d]; }),
          error(arrays.hessian, 6, [](All const& a, int d) { return a.hessian[d]; })};
}

/// The errors of all three results at once; without targets at the sources.
template <class Softening, class Solver>
Errors errors(Solver& solver, Sources const& sources, Points const& targets = {},
              double softening = 0, Number factor = 1) {
  using Space = typename Solver::execution_space;
  const Space space;
  Arrays<Space> arrays((targets.empty() ? sources.x : targets).size() / 3);
  const fmm::Results results{
      .potential = arrays.potential, .field = arrays.field, .hessian = arrays.hessian};
  const auto x = to_space<Space>(sources.x);
  if (targets.empty()) {
    auto plan = solver.build(space, x);
    evaluate(solver, plan, sources, results);
    return errors_of(arrays, summed<Softening>(sources.x, sources, true, softening, factor));
  }
  auto plan = solver.build(space, fmm::Inputs{.sources = x, .targets = to_space<Space>(targets)});
  evaluate(solver, plan, sources, results);
  return errors_of(arrays, summed<Softening>(targets, sources, false, softening, factor));
}

void expect_below(Errors const& e, double potential, double field, double hessian) {
  EXPECT_LT(e.potential, potential);
  EXPECT_LT(e.field, field);
  EXPECT_LT(e.hessian, hessian);
}

template <class Precision>
class DerivativesIn : public testing::Test {
 public:
  static constexpr bool single = sizeof(fmm::real_t<Precision>) == 4;
  /// Of all pairs. Higher derivatives are those of the nearest pairs, whose distances float rounds.
  static constexpr double rounding = std::is_same_v<Precision, float> ? 2e-4
                                     : single                         ? 3e-6
                                                                      : 3e-14;
};
using Precisions = testing::Types<float, fmm::Mixed, double>;
TYPED_TEST_SUITE(DerivativesIn, Precisions);

TYPED_TEST(DerivativesIn, AllPairsAreThoseOfTheDefinition) {
  const Points others = make_bodies(Model::plummer, 300, false, 5).x;
  for (const Carries kind : all_kinds) {
    SCOPED_TRACE(int(kind));
    const double most = TestFixture::rounding;
    fmm::Solver<Laplace, DirectSum, TypeParam> solver;
    for (Points const& targets : {Points{}, others})
      expect_below(errors<Newton>(solver, sources_of(Model::plummer, 400, kind), targets), most,
                   most, most);
  }
}

TEST(Derivatives, OfSofteningAreThoseOfTheDefinition) {
  for (const Carries kind : all_kinds) {
    SCOPED_TRACE(int(kind));
    const Sources masses = sources_of(Model::plummer, 400, kind, true);
    fmm::Solver<SoftenedGravity, DirectSum, double> plummer({.softening = 0.1, .G = 2});
    expect_below(errors<Plummer>(plummer, masses, {}, 0.1, -2), 3e-14, 3e-14, 3e-14);
    fmm::Solver<fmm::SplineGravity, DirectSum, double> spline({.softening = 0.1, .G = 2});
    expect_below(errors<Spline>(spline, masses, {}, 0.1, -2), 3e-14, 3e-14, 3e-14);
  }
}

/// Errors are those of the expansions, and higher derivatives have more of the near field, which is exact.
TYPED_TEST(DerivativesIn, OfATreeHoldTheOrder) {
  const Points others = make_bodies(Model::cube, 900, false, 5).x;
  const double floor = TestFixture::rounding;
  const fmm::Options options{.theta = 0.5, .leaf_capacity = 16};
  fmm::Solver<Laplace, fmm::Fmm<6>, TypeParam> solver(options);
  for (const Carries kind : all_kinds) {
    SCOPED_TRACE(int(kind));
    const Sources sources = sources_of(Model::cube, 1200, kind);
    for (Points const& targets : {Points{}, others})
      expect_below(errors<Newton>(solver, sources, targets), 5e-5 + floor, 5e-5 + floor,
                   5e-5 + floor);
  }
}

/// Orders beyond those that are evaluated as polynomials, and multipoles at bodies.
template <class Method>
class DerivativesBy : public testing::Test {};
using Methods = std::conditional_t<
    quick, testing::Types<fmm::Treecode<10>>,
    testing::Types<fmm::Fmm<4>, fmm::Fmm<10>, fmm::Treecode<4>, fmm::Treecode<10>>>;
TYPED_TEST_SUITE(DerivativesBy, Methods);

TYPED_TEST(DerivativesBy, HoldTheOrder) {
  const double most = TypeParam::order == 4 ? 1e-3 : 1e-6;
  fmm::Solver<Laplace, TypeParam, double> solver({.theta = 0.5, .leaf_capacity = 16});
  for (const Carries kind : all_kinds)
    expect_below(errors<Newton>(solver, sources_of(Model::cube, 1200, kind)), most, most, most);
}

TEST(Derivatives, OfSofteningAndOfTheSplineAreInTheNearField) {
  const Sources masses = sources_of(Model::plummer, 1200, Carries::both, true);
  fmm::Solver<fmm::SplineGravity, fmm::Fmm<8>, double> spline(
      {.theta = 0.4, .leaf_capacity = 16, .softening = 0.02});
  expect_below(errors<Spline>(spline, masses, {}, 0.02, -1), 5e-6, 5e-6, 5e-6);
  fmm::Solver<SoftenedGravity, fmm::Fmm<8>, double> plummer(
      {.theta = 0.4, .leaf_capacity = 16, .softening = 0.002, .softening_error = 1e-6});
  expect_below(errors<Plummer>(plummer, masses, {}, 0.002, -1), 5e-6, 5e-6, 5e-6);
}

/// The results of one alone are those of all together, but for what rounding makes of another order of operations.
TEST(Derivatives, OfEachResultAloneAreThoseOfAll) {
  const DefaultSpace space;
  for (const Carries kind : all_kinds) {
    const Sources sources = sources_of(Model::plummer, 1000, kind);
    fmm::Solver<Laplace, fmm::Fmm<6>, double> solver({.theta = 0.5, .leaf_capacity = 16});
    auto plan = solver.build(space, to_space<DefaultSpace>(sources.x));
    Arrays<DefaultSpace> all(1000), alone(1000);
    evaluate(solver, plan, sources,
             fmm::Results{.potential = all.potential, .field = all.field, .hessian = all.hessian});
    evaluate(solver, plan, sources, fmm::Results{.potential = alone.potential});
    evaluate(solver, plan, sources, fmm::Results{.field = alone.field});
    evaluate(solver, plan, sources, fmm::Results{.hessian = alone.hessian});
    EXPECT_LT(relative_l2(numbers(alone.potential), numbers(all.potential)), 1e-14);
    EXPECT_LT(relative_l2(numbers(alone.field), numbers(all.field)), 1e-14);
    EXPECT_LT(relative_l2(numbers(alone.hessian), numbers(all.hessian)), 1e-14);
    Arrays<DefaultSpace> two(1000);
    evaluate(solver, plan, sources,
             fmm::Results{.potential = two.potential, .hessian = two.hessian});
    EXPECT_LT(relative_l2(numbers(two.potential), numbers(all.potential)), 1e-14);
    EXPECT_LT(relative_l2(numbers(two.hessian), numbers(all.hessian)), 1e-14);
  }
}

/// 1/r is harmonic: off the sources, and without softening, Hessians have no trace.
TEST(Derivatives, HessiansHaveNoTrace) {
  const DefaultSpace space;
  for (const Carries kind : all_kinds) {
    const Sources sources = sources_of(Model::cube, 2000, kind);
    const Points targets = make_bodies(Model::cube, 700, false, 9).x;
    fmm::Solver<Laplace, fmm::Fmm<5>, double> solver({.theta = 0.6, .leaf_capacity = 32});
    auto plan = solver.build(space, fmm::Inputs{.sources = to_space<DefaultSpace>(sources.x),
                                                .targets = to_space<DefaultSpace>(targets)});
    Arrays<DefaultSpace> arrays(700);
    evaluate(solver, plan, sources, fmm::Results{.hessian = arrays.hessian});
    const auto h = numbers(arrays.hessian);
    for (std::size_t i = 0; i < 700; ++i) {
      const double size = std::hypot(h[6 * i], h[6 * i + 1], h[6 * i + 2]);
      EXPECT_LT(std::fabs(h[6 * i] + h[6 * i + 1] + h[6 * i + 2]), 1e-11 * size) << i;
    }
  }
}

/// Bodies at one point: without softening nothing of the other counts; with it, the field of a dipole's centre and the
/// curvature of a charge's potential do.
TEST(Derivatives, OfBodiesAtOnePointAreThoseOfTheDefinition) {
  for (const Carries kind : all_kinds) {
    Sources sources = sources_of(Model::cube, 200, kind, true);
    for (int i = 0; i < 60; ++i)
      for (int d = 0; d < 3; ++d) sources.x[3 * i + d] = 0.25 + 0.125 * d;
    fmm::Solver<Laplace, DirectSum, double> pairs;
    expect_below(errors<Newton>(pairs, sources), 1e-13, 1e-13, 1e-13);
    fmm::Solver<Laplace, fmm::Fmm<6>, fmm::Mixed> tree({.theta = 0.4, .leaf_capacity = 8});
    expect_below(errors<Newton>(tree, sources), 1e-3, 1e-3, 1e-3);
    fmm::Solver<SoftenedGravity, DirectSum, double> softened({.softening = 0.05});
    expect_below(errors<Plummer>(softened, sources, {}, 0.05, -1), 1e-13, 1e-13, 1e-13);
    fmm::Solver<fmm::SplineGravity, DirectSum, double> spline({.softening = 0.02});
    expect_below(errors<Spline>(spline, sources, {}, 0.02, -1), 1e-13, 1e-13, 1e-13);
  }
}

/// Lengths in any unit, strengths in any other.
TEST(Derivatives, AreInTheUnitsOfTheCaller) {
  for (const double length : {1e-20, 1e12})
    for (const double charge : {1e-9, 1e15}) {
      Sources sources = sources_of(Model::plummer, 500, Carries::both);
      for (double& x : sources.x) x *= length;
      for (double& q : sources.charges) q *= charge;
      for (double& p : sources.dipoles) p *= charge * length;
      fmm::Solver<Laplace, fmm::Fmm<6>, fmm::Mixed> tree({.theta = 0.4, .leaf_capacity = 16});
      expect_below(errors<Newton>(tree, sources), 1e-4, 1e-4, 1e-4);
      fmm::Solver<Laplace, DirectSum, fmm::Mixed> pairs;
      expect_below(errors<Newton>(pairs, sources), 3e-6, 3e-6, 3e-6);
    }
}

/// A kernel of one's own with derivatives: u = exp(-r^2), w = 2 u, t = 4 u, s = 8 u.
struct Gaussian {
  template <class Real>
  KOKKOS_FUNCTION fmm::PairTerm<Real> operator()(Real r2) const {
    const Real u = std::exp(-r2);
    return {u, 2 * u};
  }
  template <class Real>
  KOKKOS_FUNCTION fmm::PairDerivatives<Real> derivatives(Real r2) const {
    const Real u = std::exp(-r2);
    return {u, 2 * u, 4 * u, 8 * u, 1};
  }
};
struct OfGaussian {
  static std::array<Number, 4> at(Number r, double) {
    const Number u = std::exp(-r * r);
    return {u, 2 * u, 4 * u, 8 * u};
  }
};

TEST(Derivatives, OfAKernelOfOnesOwn) {
  for (const Carries kind : all_kinds) {
    const Sources sources = sources_of(Model::cube, 300, kind);
    fmm::Solver<Gaussian, DirectSum, double> solver;
    expect_below(errors<OfGaussian>(solver, sources), 1e-13, 1e-13, 1e-13);
  }
}

TEST(Derivatives, BadInputIsRefused) {
  const DefaultSpace space;
  Sources sources = sources_of(Model::cube, 100, Carries::both, true);
  fmm::Solver<SoftenedGravity, fmm::Fmm<4>, double> solver;
  auto plan = solver.build(space, to_space<DefaultSpace>(sources.x));
  Arrays<DefaultSpace> arrays(100);
  Kokkos::deep_copy(arrays.hessian, 7);
  const fmm::Results results{.hessian = arrays.hessian};
  sources.dipoles[17] = std::nan("");
  expect_refused([&] { evaluate(solver, plan, sources, results); }, "dipoles(5,2)");
  sources.dipoles[17] = -1;  // dipoles of masses have any direction
  evaluate(solver, plan, sources, results);
  Kokkos::deep_copy(arrays.hessian, 7);
  sources.charges[3] = -1;
  expect_refused([&] { evaluate(solver, plan, sources, results); }, "charges(3)");
  sources.charges[3] = 1;
  sources.dipoles.resize(297);
  expect_refused([&] { evaluate(solver, plan, sources, results); }, "dipoles.extent(0)");
  sources.dipoles.resize(300);
  const ViewIn<double**, DefaultSpace> narrow("narrow", 100, 5);
  expect_refused([&] { evaluate(solver, plan, sources, fmm::Results{.hessian = narrow}); },
                 "hessian.extent(1)");
  const ViewIn<double* [6], DefaultSpace> few("few", 99);
  expect_refused([&] { evaluate(solver, plan, sources, fmm::Results{.hessian = few}); },
                 "hessian.extent(0)");
  Sources tiny = sources_of(Model::cube, 100, Carries::both, true);
  for (double& x : tiny.x) x *= 1e-100;
  tiny.dipoles[5] = 1e250;
  auto tiny_plan = solver.build(space, to_space<DefaultSpace>(tiny.x));
  expect_refused([&] { evaluate(solver, tiny_plan, tiny, results); }, "|dipole| / edge");
  const auto same = Kokkos::subview(arrays.hessian, Kokkos::ALL, 2);
  expect_refused(
      [&] {
        evaluate(solver, plan, sources, fmm::Results{.potential = same, .hessian = arrays.hessian});
      },
      "in the memory of the potential");
  for (const double number : numbers(arrays.hessian)) EXPECT_EQ(number, 7);
}

}  // namespace
}  // namespace fmm_test
