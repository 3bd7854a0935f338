// SPDX-License-Identifier: BSD-3-Clause
// Softening: the spline against its definition, and trees whose expansions know no softening against direct
// sums, with softenings from none to ten times the mean spacing of the bodies.
#include "support.hpp"

namespace fmm_test {

/// The spline's softening by a kernel that does not say from where on it is 1/r.
struct SilentSpline {
  static constexpr bool harmonic = true, vectorised = true;
  fmm::SplineGravity spline;
  template <class V>
  KOKKOS_FUNCTION fmm::PairTerm<V> operator()(V r2) const {
    return spline(r2);
  }
  double prefactor() const { return -1; }
  KOKKOS_FUNCTION SilentSpline rescaled(double s) const { return {spline.rescaled(s)}; }
  KOKKOS_FUNCTION double potential_unit(double s) const { return 1 / s; }
};

namespace {

using fmm::FieldCriterion;
using fmm::PairTerm;
using fmm::SourceCriterion;
using fmm::SplineGravity;
using Space = Kokkos::DefaultExecutionSpace;

// ---- the kernels ----------------------------------------------------------------------------------

/// u and w as GADGET has them, piece by piece (Springel, Yoshida & White 2001, New Astron. 6:79, appendix).
PairTerm<double> gadget_spline(double distance, double softening) {
  const long double h = 2.8L * softening, v = distance / h, v2 = v * v, v3 = v2 * v;
  if (v >= 1) return {1 / distance, 1 / (distance * distance * distance)};
  const auto in_units = [&](long double u, long double w) {
    return PairTerm<double>{double(u / h), double(w / (h * h * h))};
  };
  if (v < 0.5L)
    return in_units(14.0L / 5 - 16.0L / 3 * v2 + 48.0L / 5 * v2 * v2 - 32.0L / 5 * v2 * v3,
                    32.0L / 3 - 192.0L / 5 * v2 + 32 * v3);
  return in_units(16.0L / 5 - 1 / (15 * v) - 32.0L / 3 * v2 + 16 * v3 - 48.0L / 5 * v2 * v2 +
                      32.0L / 15 * v2 * v3,
                  64.0L / 3 - 48 * v + 192.0L / 5 * v2 - 32.0L / 3 * v3 - 1 / (15 * v3));
}

template <class Real>
class Spline : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(Spline, Reals);

/// Distances in units of h: both boundaries and their neighbours, and what is between.
template <class Real>
std::vector<Real> distances() {
  std::vector<Real> r{0};
  for (const Real boundary : {Real(0.5), Real(1)})
    for (const Real at :
         {std::nextafter(boundary, Real(0)), boundary, std::nextafter(boundary, Real(2))})
      r.push_back(at);
  for (int i = 1; i < 2000; ++i) r.push_back(Real(i) / 1000);
  for (int i = 1; i < 9; ++i) r.push_back(Real(std::pow(0.1, i)));
  return r;
}

TYPED_TEST(Spline, IsGadgets) {
  using Real = TypeParam;
  constexpr double bound = 8 * std::numeric_limits<Real>::epsilon();
  for (const double softening : {1e-6, 0.5 / 2.8, 30.0}) {
    const SplineGravity kernel{softening};
    for (const Real v : distances<Real>()) {
      const Real r2 = Real(v * kernel.support()) * Real(v * kernel.support());
      const auto expected = gadget_spline(std::sqrt(double(r2)), softening);
      for (const bool apart : {false, true}) {
        if (apart && v == 0) continue;
        const auto term = apart ? kernel.apart(r2) : kernel(r2);
        EXPECT_NEAR(term.potential / expected.potential, 1, bound) << v;
        EXPECT_NEAR(term.weight / expected.weight, 1, bound) << v;
      }
    }
    EXPECT_NEAR(kernel(Real(0)).potential * softening, 1, bound);
  }
}

TYPED_TEST(Spline, IsExactlyNewtonsOutside) {
  using Real = TypeParam;
  const SplineGravity kernel{0.1}, unsoftened{0};
  for (Real r = Real(kernel.support()); r < 10; r *= Real(1.01)) {
    const auto expected = Laplace()(r * r);
    for (const auto term : {kernel(r * r), kernel.apart(r * r), unsoftened(r * r)}) {
      EXPECT_EQ(term.potential, expected.potential) << r;
      EXPECT_EQ(term.weight, expected.weight) << r;
    }
  }
  for (const Real r : {Real(0), Real(1e-9), Real(1e-3)})
    EXPECT_EQ(unsoftened(r * r).weight, Laplace()(r * r).weight) << r;
}

TYPED_TEST(Spline, LanesDoNotDependOnEachOther) {
  using Real = TypeParam;
  using V = fmm::simd::Lanes<Space, Real>;
  using Traits = fmm::simd::LaneTraits<V>;
  const SplineGravity kernel{0.2};
  const auto r = distances<Real>();
  for (std::size_t first = 0; first < r.size(); ++first) {
    Real r2[Traits::count], u[Traits::count], w[Traits::count];
    for (int l = 0; l < Traits::count; ++l) r2[l] = r[(first + 37 * l) % r.size()];
    const auto term = kernel(Traits::load(r2));
    Traits::store(term.potential, u);
    Traits::store(term.weight, w);
    for (int l = 0; l < Traits::count; ++l) {
      const auto alone = kernel(r2[l]);
      EXPECT_NEAR(u[l] / alone.potential, 1, 8 * std::numeric_limits<Real>::epsilon());
      EXPECT_NEAR(w[l] / alone.weight, 1, 8 * std::numeric_limits<Real>::epsilon());
    }
  }
}

TEST(Softening, FieldsAreGradientsOfPotentials) {
  const auto check = [](auto kernel) {
    const auto u = [&](double r) { return kernel(r * r).potential; };
    for (double r = 0.01; r < 4; r += 0.013) {
      const double step = 1e-5, slope = (u(r + step) - u(r - step)) / (2 * step);
      EXPECT_NEAR(-slope / r, kernel(r * r).weight, 1e-7) << r;
    }
  };
  check(SplineGravity{0.5});
  check(SplineGravity{1});
  check(SoftenedGravity{0.5});
}

TEST(Softening, FarFromIsWhereTheForceErrsByTheGivenError) {
  const SoftenedGravity kernel{0.3};
  for (const double error : {1e3, 1.0, 1e-2, 1e-4, 1e-6}) {
    const double r = kernel.far_from(error);
    EXPECT_NEAR(Laplace()(r * r).weight / kernel(r * r).weight / (1 + error), 1, 1e-14);
    if (error < 1e-3) {
      EXPECT_NEAR(r / (0.3 * std::sqrt(1.5 / error)), 1, error);
    }
  }
  EXPECT_EQ(SoftenedGravity{0}.far_from(1e-6), 0);
}

TYPED_TEST(Spline, BodiesAtOnePointAndItsConstantsAreRight) {
  using Real = TypeParam;
  const Bodies bodies = make_bodies(Model::point, 100);
  for (const double softening : {0.0, 0.5}) {
    fmm::Solver<SplineGravity, fmm::DirectSum, Real> direct({.softening = softening, .G = 3});
    fmm::Solver<SplineGravity, fmm::Fmm<4, DualTree<>>, Real> tree(
        {.leaf_capacity = 8}, SplineGravity{.softening = softening, .G = 3});
    for (const Results& r : {run(direct, bodies), run(tree, bodies)}) {
      const double expected = softening == 0 ? 0 : -3 * 0.99 / softening;
      for (const double p : r.potential) EXPECT_NEAR(p, expected, 1e-5);
      for (const double f : r.field) EXPECT_EQ(f, 0);
    }
  }
}

TYPED_TEST(Spline, DirectSumsAreTheDefinition) {
  const Bodies bodies = make_bodies(Model::plummer, 400);
  const double softening = 0.3;
  Results expected{std::vector<double>(400, 0.0), std::vector<double>(1200, 0.0)};
  for (std::size_t i = 0; i < 400; ++i)
    for (std::size_t j = 0; j < 400; ++j) {
      if (i == j) continue;
      double d[3];
      for (int c = 0; c < 3; ++c) d[c] = bodies.x[3 * i + c] - bodies.x[3 * j + c];
      const auto term = gadget_spline(std::hypot(d[0], d[1], d[2]), softening);
      expected.potential[i] -= bodies.q[j] * term.potential;
      for (int c = 0; c < 3; ++c) expected.field[3 * i + c] -= bodies.q[j] * term.weight * d[c];
    }
  fmm::Solver<SplineGravity, fmm::DirectSum, TypeParam> solver({.softening = softening});
  const Results r = run(solver, bodies);
  const double bound = 20 * std::numeric_limits<TypeParam>::epsilon();
  EXPECT_LT(relative_l2(r.potential, expected.potential), bound);
  EXPECT_LT(relative_l2(r.field, expected.field), bound);
}

// ---- trees ----------------------------------------------------------------------------------------

template <class Traversal_, class Translation_, fmm::TreeKind Tree = fmm::TreeKind::adaptive>
struct Method {
  using Traversal = Traversal_;
  using Translation = Translation_;
  static constexpr auto tree = Tree;
};

constexpr double softenings[] = {0, 0.1, 1, 3, 10};  // in mean spacings

template <class Method>
class SoftenedTrees : public testing::Test {
 protected:
  template <class Kernel>
  using Solver =
      fmm::Solver<Kernel, MethodOf<6, typename Method::Traversal, typename Method::Translation>,
                  double>;

  struct Sums {
    Bodies bodies;
    double spacing;  ///< mean distance of neighbours, of the inner half of a Plummer sphere
  };
  static std::vector<Sums> models() {
    constexpr std::size_t n = 4000;
    const double half_mass_sphere = 4.18879 * std::pow(1.3, 3);
    return {{make_bodies(Model::cube, n, false, 3), std::cbrt(1.0 / n)},
            {make_bodies(Model::plummer, n, false, 3), std::cbrt(half_mass_sphere / (0.5 * n))}};
  }
  /// Whether cells that are too near are accepted if nothing forbids it; uniform trees here have leaves
  /// that are large enough.
  static bool breaks(double softening) {
    return softening >= 1 && Method::tree == fmm::TreeKind::adaptive;
  }

  static fmm::Options options() { return {.leaf_capacity = 16, .tree = Method::tree}; }

  /// Calls check(bodies, softening in spacings, options with it) for each model, from no softening on.
  template <class Check>
  static void for_each_softening(Check const& check) {
    for (auto const& [bodies, spacing] : models())
      for (const double softening : softenings) {
        fmm::Options with_softening = options();
        with_softening.softening = softening * spacing;
        check(bodies, softening, with_softening);
      }
  }

  /// |a - b| and |b| over all bodies.
  struct Difference {
    double absolute, norm;
  };
  static Difference difference(Results const& a, Results const& b) {
    double d2 = 0, b2 = 0;
    for (std::size_t i = 0; i < b.field.size(); ++i) {
      d2 += std::pow(a.field[i] - b.field[i], 2);
      b2 += std::pow(b.field[i], 2);
    }
    return {std::sqrt(d2), std::sqrt(b2)};
  }
};

using Methods =
    testing::Types<Method<DualTree<>, Rotation>, Method<DualTree<FieldCriterion>, Rotation>,
                   Method<DualTree<SourceCriterion>, NoTranslation>,
                   Method<BarnesHut, NoTranslation>, Method<FmmList, Rotation>,
                   Method<FmmList, NoTranslation>,
                   Method<FmmList, Rotation, fmm::TreeKind::uniform>>;
TYPED_TEST_SUITE(SoftenedTrees, Methods);

/// What is left is the error of expansions without softening, which does not grow with softening; if cells
/// inside the support are accepted, it does.
TYPED_TEST(SoftenedTrees, ErrWithTheSplineNoMoreThanWithout) {
  using F = TestFixture;
  double unsoftened = 0;
  F::for_each_softening([&](Bodies const& bodies, double softening, fmm::Options const& options) {
    const Results exact = direct_sum<SplineGravity>(bodies, options);
    typename F::template Solver<SplineGravity> solver(options);
    const double error = F::difference(run(solver, bodies), exact).absolute;
    if (softening == 0) unsoftened = error;
    EXPECT_LE(error, 1.1 * unsoftened) << softening;
    if (!F::breaks(softening)) return;
    typename F::template Solver<SilentSpline> silent(F::options(),
                                                     SilentSpline{{options.softening}});
    EXPECT_GT(F::difference(run(silent, bodies), exact).absolute, 3 * unsoftened) << softening;
  });
}

TYPED_TEST(SoftenedTrees, KeepThePlummerSofteningsError) {
  using F = TestFixture;
  double unsoftened = 0;
  F::for_each_softening([&](Bodies const& bodies, double softening, fmm::Options options) {
    const Results exact = direct_sum<SoftenedGravity>(bodies, options);
    const auto error = [&](double softening_error) {
      options.softening_error = softening_error;
      typename F::template Solver<SoftenedGravity> solver(options);
      return F::difference(run(solver, bodies), exact);
    };
    if (softening == 0) unsoftened = error(1).absolute;
    for (const double allowed : {1e-2, fmm::default_softening_error}) {
      const auto found = error(allowed);
      EXPECT_LE(found.absolute, 1.1 * unsoftened + 0.2 * allowed * found.norm) << softening;
    }
    if (!F::breaks(softening)) return;
    const auto unbounded = error(1e9);
    EXPECT_GT(unbounded.absolute, 3 * (unsoftened + 1e-3 * unbounded.norm)) << softening;
  });
}

/// Where the near field is much larger than leaves of a few bodies would be, leaves are larger: their lists
/// would be longer than the pairs are many.
TYPED_TEST(SoftenedTrees, HaveLeavesThatSuitTheNearField) {
  using F = TestFixture;
  const Bodies bodies = F::models()[0].bodies;
  const DeviceBodies<Space> device(bodies);
  fmm::Options options = F::options();
  options.leaf_capacity = 1;
  options.softening = 1.2 / 2.8;  // so that the support is a little longer than the cube
  typename F::template Solver<SplineGravity> solver(options);
  const Space space;
  EXPECT_EQ(solver.build(space, device.x).depth(), 2);
  options.softening = 0;
  typename F::template Solver<SplineGravity> unsoftened(options);
  EXPECT_GE(unsoftened.build(space, device.x).depth(), 4);
}

/// All pairs in mixed precision, with softening up to what it has room for.
TEST(Softening, OfTheSplineHasFloatsRoundingInAllPairs) {
  using Space = Kokkos::DefaultExecutionSpace;
  const Bodies bodies = make_bodies(Model::plummer, 1000);
  const std::size_t n = bodies.size();
  const DeviceBodies<Space> device(bodies);
  const ViewIn<double*, Space> potential("potential", n);
  const ViewIn<double* [3], Space> field("field", n);
  for (const double softening : {0.01, 1.0, 1e3, 1e6, 1e9, 1e11}) {
    fmm::Solver<fmm::SplineGravity, fmm::DirectSum, fmm::Mixed> solver({.softening = softening});
    auto plan = solver.build(Space(), device.x);
    solver.evaluate(Space(), plan, device.q, potential, field);
    const auto error = fmm::measure_error(Space(), fmm::SplineGravity{softening}, device.x,
                                          device.q, potential, field, n);
    EXPECT_LT(error.field_l2, 2e-6) << softening;
    EXPECT_LT(error.potential_l2, 4e-6) << softening;
  }
}

}  // namespace
}  // namespace fmm_test
