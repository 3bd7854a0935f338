// SPDX-License-Identifier: BSD-3-Clause
// Errors that another sum shares, if it is made in the same way: of rounding and of softening, and of bodies that have
// moved since they were verified.
#include <array>

#include "support.hpp"

namespace fmm_test {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Site = fmm::site_t<Space>;
using FewOrders = std::conditional_t<quick, fmm::Orders<4, 8>, fmm::Orders<4, 6, 8>>;
using ManyDigits = std::conditional_t<quick, fmm::Orders<4, 8>, fmm::Orders<4, 8, 12>>;

/// The error of the field, relative to no less than a thousandth of what neighbours exert.
template <class Solver>
double floored_error(fmm::Options const& options, Bodies const& bodies, Bodies const& exact,
                     fmm::Report* report = nullptr) {
  const std::size_t n = bodies.size();
  const DeviceBodies<Space> device(bodies), in_double(exact);
  const ViewIn<double*, Space> potential("potential", n);
  const ViewIn<double* [3], Space> field("field", n);
  Solver solver(options);
  auto plan = solver.build(Space(), fmm::Inputs{device.x, device.q});
  solver.evaluate(Space(), plan, device.q, potential, field, report);
  return fmm::measure_error(Space(), fmm::Laplace{}, in_double.x, in_double.q, potential, field, n)
      .field_l2;
}

/// Groups of three charges in equilibrium: the fields at all of them vanish, but for what other groups exert, and what
/// is left is relative to a thousandth of what a neighbour exerts. Groups lie across the borders of leaves.
TEST(SharedErrors, OfCoordinatesAreSeenInGroupsInEquilibrium) {
  using Solver = fmm::ToleranceSolver<fmm::Laplace, ManyDigits, double>;
  const std::pair<double, double> cases[] = {
      {1e-12, 0.014765}, {1e-11, 0.0023}, {1e-10, 2.468e-4}, {1e-9, 1.83e-5}, {1e-7, 3.05e-7}};
  for (const auto& [tolerance, apart] : cases) {
    Bodies bodies;
    for (int i = 0; i < 125; ++i) {
      const double x = i % 5, y = i / 5 % 5, z = i / 25,
                   sign = (i % 5 + i / 5 % 5 + i / 25) % 2 ? -1 : 1;
      add_body(bodies, x - apart, y, z, sign);
      add_body(bodies, x, y, z, -0.25 * sign);
      add_body(bodies, x + apart, y, z, sign);
    }
    EXPECT_LT(floored_error<Solver>({.tolerance = tolerance}, bodies, bodies), tolerance) << apart;
  }
}

/// Groups of five charges in equilibrium in leaves of fewer: of fields that vanish everything would be too much.
TEST(SharedErrors, AreRelativeToWhatNeighboursExert) {
  using Solver = fmm::ToleranceSolver<fmm::Laplace, ManyDigits, double>;
  constexpr double apart = 1e-6;
  const double middle = 1.125 * std::sqrt(2.0 / 3);
  Bodies bodies;
  for (int i = 0; i < 8; ++i) {
    const double x = 0.3 * i, y = 0.7 * (i % 3), z = 0.4 * (i % 2);
    for (const int sign : {1, -1}) {
      add_body(bodies, x + apart, y + sign * apart, z + sign * apart, 1);
      add_body(bodies, x - apart, y + sign * apart, z - sign * apart, 1);
    }
    add_body(bodies, x, y, z, -middle);
  }
  for (const double tolerance : {1e-12, 1e-9, 1e-6})
    EXPECT_LT(floored_error<Solver>({.tolerance = tolerance, .leaf_capacity = 3}, bodies, bodies),
              tolerance);
}

/// Strong charges that sum to zero at each of some places: what is left is what sums are rounded by, which is held, or
/// the tolerance is refused.
TEST(SharedErrors, OfRoundedSumsAreSeen) {
  using Solver = fmm::ToleranceSolver<fmm::Laplace, fmm::Orders<8>, double>;
  constexpr int places = 4, at_one = 1000;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform;
    Bodies bodies;
    for (int i = 0; i < places; ++i) {
      const double x = uniform(random), y = uniform(random), z = uniform(random);
      std::vector<double> charges;
      for (int k = 0; k < at_one / 2; ++k) charges.push_back(0.1 + 0.9 * uniform(random));
      for (const double q : charges) add_body(bodies, x, y, z, q);
      for (const double q : charges) add_body(bodies, x, y, z, -q);
    }
    const Results exact = direct_reference(bodies, false);
    double norm2 = 0;  // of what neighbours exert
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      double nearest2 = 1e9;
      for (std::size_t j = 0; j < bodies.size(); j += at_one) {
        double r2 = 0;
        for (int d = 0; d < 3; ++d) r2 += std::pow(bodies.x[3 * i + d] - bodies.x[3 * j + d], 2);
        if (r2 > 0) nearest2 = std::min(nearest2, r2);
      }
      norm2 += std::pow(bodies.q[i] / nearest2, 2);
    }
    for (const double tolerance : {1e-11, 1e-9}) {
      Solver solver({.tolerance = tolerance});
      try {
        const Results found = run(solver, bodies);
        double error2 = 0;
        for (std::size_t k = 0; k < exact.field.size(); ++k)
          error2 += std::pow(found.field[k] - exact.field[k], 2);
        EXPECT_LT(std::sqrt(error2 / norm2), 1e-3 * tolerance) << seed;
      } catch (fmm::InvalidArgument const&) {
        EXPECT_EQ(tolerance, 1e-11) << seed;
      }
    }
  }
}

/// Bodies at one place are so however coordinates are rounded: with softening, however little, they exert nothing on
/// each other either.
template <class Real>
void hold_bodies_at_one_place() {
  using Solver = fmm::ToleranceSolver<SoftenedGravity, fmm::Orders<4, 8>, Real>;
  const auto expect_held = [](std::size_t n, std::size_t at_one, fmm::Options const& options) {
    Bodies bodies = make_bodies(Model::cube, n);
    for (std::size_t i = 0; i < 3 * at_one; ++i) bodies.x[i] = bodies.x[i % 3];
    Solver solver(options);
    const Results found = run(solver, bodies),
                  exact = direct_reference(bodies, true, options.softening);
    if (at_one < n)
      EXPECT_LT(relative_l2(found.field, exact.field), *options.tolerance) << n;
    else
      EXPECT_EQ(found.field, std::vector<double>(3 * n));
  };
  constexpr double least = sizeof(Real) == 4 ? 1e-5 : 1e-10;
  expect_held(2, 2, {.tolerance = 1e-5, .softening = 1e-8});
  expect_held(500, 500, {.tolerance = 1e-2, .softening = 1e-3});
  expect_held(3, 2, {.tolerance = least, .softening = 1e-10});
  expect_held(1000, 2, {.tolerance = least, .softening = 1e-10});
  expect_held(1000, 60, {.tolerance = least, .leaf_capacity = 8, .softening = 1e-9});
  expect_held(300, 4,
              {.tolerance = sizeof(Real) == 4 ? 1e-4 : 1e-10,
               .error_norm = fmm::ErrorNorm::p99,
               .softening = 1e-8});
}
TEST(SharedErrors, OfCoordinatesAreNotThoseOfBodiesAtOnePlace) {
  hold_bodies_at_one_place<double>();
  hold_bodies_at_one_place<float>();
}

/// Rings of charges in balance with one in their middle: charges that are rounded to float, as mixed precision has
/// them, exert more than the tolerance allows.
TEST(SharedErrors, OfRoundedChargesAreSeen) {
  constexpr int members = 20;
  constexpr double tolerance = 1e-5, angle = 2 * 3.14159265358979323846 / members;
  double pull = 0;
  for (int k = 1; k < members; ++k) pull += 0.25 / std::sin(0.5 * angle * k);
  Bodies bodies;
  for (int ring = 0; ring < 8; ++ring) {
    const double x = 1000 * ring, z = 100 * ring * ring, q = 1 + 0.1234567 * ring;
    for (int k = 0; k < members; ++k)
      add_body(bodies, x + std::cos(angle * k), std::sin(angle * k), z, q);
    add_body(bodies, x, 0, z, -pull * q);
  }
  Bodies rounded = bodies;
  for (double& q : rounded.q) q = double(float(q));
  using InDouble = fmm::ToleranceSolver<fmm::Laplace, ManyDigits, double>;
  using InMixed = fmm::ToleranceSolver<fmm::Laplace, ManyDigits, fmm::Mixed>;
  EXPECT_GT(floored_error<InDouble>({.tolerance = 1e-9}, rounded, bodies), tolerance);
  EXPECT_LT(floored_error<InMixed>({.tolerance = tolerance}, bodies, bodies), tolerance);
}

/// Opposite charges at one place exert nothing, and what few others do is little beside what strong ones are rounded
/// by: that is most of the error, at few bodies. It is seen at all of them.
TEST(SharedErrors, OfRoundingAreSeenWhereFewBodiesHaveMost) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> uniform;
  Bodies bodies;
  for (int i = 0; i < 12000; ++i) {
    const double x = uniform(random), y = uniform(random), z = uniform(random),
                 q = std::exp2(std::floor(-0.9 * std::log2(1 - uniform(random))));
    for (const double sign : {1, -1}) add_body(bodies, x, y, z, sign * q);
  }
  for (int i = 0; i < 300; ++i)
    add_body(bodies, uniform(random), uniform(random), uniform(random), i % 2 ? 0.1 : -0.1);
  for (const double tolerance : {3e-4, 1e-3}) {  // of the first drawn bodies saw a fourteenth
    using Solver = fmm::ToleranceSolver<fmm::Laplace, ManyDigits, fmm::Mixed>;
    fmm::Report report;
    const double error = floored_error<Solver>({.tolerance = tolerance}, bodies, bodies, &report);
    EXPECT_LT(error, tolerance);
    if (error > 0.1 * tolerance) EXPECT_NEAR(report.found->seen_error, error, 0.05 * error);
  }
}

/// Strong charges at one place that sum to zero, next to a few bodies without charge: what is left of the multipole
/// where it is rounded is most of the field there.
TEST(SharedErrors, OfRoundedMultipolesAreSeen) {
  constexpr double tolerance = 3e-5;
  using Solver = fmm::ToleranceSolver<fmm::Laplace, fmm::TreecodeOrders<6>, fmm::Mixed>;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    Bodies bodies;
    double sum = 0;
    for (int i = 0; i < 105; ++i) {
      const double q = 1e4 * normal(random);
      add_body(bodies, 0.37, 0.41, 0.43, q);
      sum += q;
    }
    add_body(bodies, 0.37, 0.41, 0.43, -sum);
    for (int i = 0; i < 20; ++i)
      add_body(bodies, 0.376 + 0.003 * uniform(random), 0.417 + 0.003 * uniform(random),
               0.43 + 0.003 * uniform(random), 0);
    while (bodies.size() < 4400)
      add_body(bodies, uniform(random), uniform(random), uniform(random),
               bodies.size() % 2 ? 1 : -1);
    EXPECT_LT(floored_error<Solver>({.tolerance = tolerance}, bodies, bodies), tolerance) << seed;
  }
}

/// Ions with three electrons at the same place each, and a few charges besides.
Bodies neutral_ions(int ions) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform;
  Bodies bodies;
  for (int ion = 0; ion < ions; ++ion) {
    const double x = uniform(random), y = uniform(random), z = uniform(random),
                 weight = std::exp2(std::floor(12 * std::pow(uniform(random), 4)));
    for (const double q : {3, -1, -1, -1}) add_body(bodies, x, y, z, q * weight);
  }
  for (int i = 0; i < 40; ++i)
    add_body(bodies, uniform(random), uniform(random), uniform(random), i % 2 ? 1 : -1);
  return bodies;
}

/// Near fields have to be in double, and so are the leaves' multipoles then: in float they leave 200 times as much of
/// potentials. A second and a third evaluation know what the first one found, and one of other bodies between does not
/// disturb it.
TEST(SharedErrors, OfMultipolesThatFloatRoundsAreMended) {
  using Solver = fmm::ToleranceSolver<fmm::Laplace, fmm::Orders<8>, fmm::Mixed>;
  constexpr double tolerance = 4e-6;
  const DeviceBodies<Space> many(neutral_ions(8000)), few(make_bodies(Model::cube, 1000));
  Solver solver({.tolerance = tolerance, .tolerance_of = fmm::ToleranceOf::potential});
  const auto build = [&](auto const& bodies) {
    return solver.build(Space(), fmm::Inputs{bodies.x, bodies.q});
  };
  auto plan = build(many), plan_of_few = build(few);
  const auto error = [&](auto const& bodies, auto& plan) {
    const ViewIn<double*, Space> potential("potential", plan.size());
    solver.evaluate(Space(), plan, bodies.q, potential, fmm::none);
    return fmm::measure_error(Space(), fmm::Laplace{}, bodies.x, bodies.q, potential, fmm::none,
                              2000)
        .potential_l2;
  };
  for (int evaluation = 0; evaluation < 3; ++evaluation) {
    EXPECT_LT(error(many, plan), 0.05 * tolerance) << evaluation;
    EXPECT_LT(error(few, plan_of_few), tolerance) << evaluation;
  }
}

/// Two heavy groups that just count as far from a few bodies between them, where they pull alike: there is most of the
/// error, that of softening.
TEST(SharedErrors, OfSofteningAreSeen) {
  constexpr double tolerance = 1e-5;
  const double reach = std::sqrt(1.5 / tolerance);
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  Bodies bodies;
  for (int i = 0; i < 100; ++i) {
    add_body(bodies, 1.5 * reach, 0.13 * reach, 0.07 * reach, 0.0225);
    add_body(bodies, -0.5 * reach, 0.13 * reach, 0.07 * reach, 0.0025);
  }
  while (bodies.size() < 20000) {
    const double width = bodies.size() < 600 ? 2e-3 * reach : 100 * reach,
                 x = width * normal(random), y = width * normal(random), z = width * normal(random);
    add_body(bodies, x, 0.13 * reach + y, 0.07 * reach + z, 1e-12);
  }
  fmm::ToleranceSolver<fmm::SoftenedGravity, ManyDigits, double> solver(
      {.tolerance = tolerance, .softening = 1});
  EXPECT_LT(relative_l2(run(solver, bodies).field,
                        direct_sum<fmm::SoftenedGravity>(bodies, {.softening = 1}).field),
            tolerance);
}

/// A ring of charges round one that cancels their pull on each other: fields are a millionth of what neighbours exert,
/// and errors are relative to a thousandth of that, in leaves of a body each, too.
TEST(SharedErrors, AreRelativeToWhatNeighboursInOtherLeavesExert) {
  constexpr double circle = 6.283185307179586;
  constexpr int of_ring = 472;  // with hardly a net charge
  double pull = 0;
  for (int k = 1; k < of_ring; ++k) pull += 0.25 / std::sin(0.5 * circle * k / of_ring);
  Bodies bodies;
  for (int k = 0; k < of_ring; ++k) {
    const double at = circle * k / of_ring;
    add_body(bodies, std::cos(at), 0.8 * std::sin(at), 0.6 * std::sin(at), 1);
  }
  add_body(bodies, 0, 0, 0, -(1 + 1e-5) * pull);
  using Solver = fmm::ToleranceSolver<fmm::Laplace, fmm::Orders<16>, double>;
  for (const int leaf_capacity : {1, 40})
    EXPECT_LT(
        floored_error<Solver>({.tolerance = 2e-12, .leaf_capacity = leaf_capacity}, bodies, bodies),
        2e-12);
}

/// Of pairs that are closer than two parts of float tell apart, potentials are held as fields are.
TEST(SharedErrors, OfRoundedPairsAreSeenInPotentials) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform;
  for (const double apart : {1e-6, 1e-14, 1e-15}) {
    Bodies bodies;
    for (int i = 0; i < 1000; ++i) {
      const double x = uniform(random), y = uniform(random), z = uniform(random);
      add_body(bodies, x, y, z, 1);
      add_body(bodies, x + apart, y, z, -1);
    }
    for (const fmm::ErrorNorm norm : {fmm::ErrorNorm::l2, fmm::ErrorNorm::p99}) {
      fmm::ToleranceSolver<fmm::Laplace, ManyDigits, fmm::Mixed> solver(
          {.tolerance = 1e-3, .tolerance_of = fmm::ToleranceOf::potential, .error_norm = norm});
      const auto found = run(solver, bodies).potential,
                 exact = direct_sum<fmm::Laplace>(bodies).potential;
      EXPECT_LT(relative_l2(found, exact), 1e-3) << apart;
      std::size_t over = 0;
      for (std::size_t i = 0; i < exact.size(); ++i)
        over += std::fabs(found[i] - exact[i]) > 1e-3 * std::fabs(exact[i]);
      if (norm == fmm::ErrorNorm::p99) EXPECT_LE(over, exact.size() / 100) << apart;
    }
  }
}

/// Two bodies on both sides of a leaf's border, which two parts of float round as they do those of a leaf.
TEST(SharedErrors, OfRoundedPairsAcrossABorderAreSeen) {
  using InMixed = fmm::ToleranceSolver<fmm::Laplace, ManyDigits, fmm::Mixed>;
  using InDouble = fmm::ToleranceSolver<fmm::Laplace, ManyDigits, double>;
  for (const std::size_t n : {4, 400})
    for (const double apart : {1e-14, 3e-12, 1e-8}) {
      Bodies bodies;
      add_body(bodies, -1, -1, -1, 1);  // the cube's middle is at 0
      add_body(bodies, 1, 1, 1, 1);
      add_body(bodies, 0.73 * apart, 0.3217, 0.4411, 1);
      add_body(bodies, -0.27 * apart, 0.3217, 0.4411, 1);
      std::mt19937_64 random(5);
      std::uniform_real_distribution<double> uniform(-1, 1);
      while (bodies.size() < n)
        add_body(bodies, uniform(random), uniform(random), uniform(random), 1);
      fmm::Options options{.tolerance = 1e-5};
      if (n == 4) options.leaf_capacity = 1;
      EXPECT_LT(floored_error<InMixed>(options, bodies, bodies), 1e-5) << apart;
      EXPECT_LT(floored_error<InDouble>(options, bodies, bodies), 1e-5) << apart;
    }
}

/// A body far from all others: beside their cube coordinates in double do not tell these apart, nor do those in three
/// parts of float, and what that errs by is seen, or refused with what can be had.
TEST(SharedErrors, OfBodiesThatADistantOneLeavesTooCloseAreSeen) {
  using Solver = fmm::ToleranceSolver<fmm::Laplace, ManyDigits, double>;
  using InMixed = fmm::ToleranceSolver<fmm::Laplace, ManyDigits, fmm::Mixed>;
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal;
  for (const double far : {1e12, 1e16, 1e22, 1e28, 1e40}) {
    Bodies bodies;
    for (int i = 0; i < 5; ++i) add_body(bodies, normal(random), normal(random), normal(random), 1);
    add_body(bodies, far, 0.3 * far, -0.2 * far, 1);
    for (const double tolerance : {1e-11, 1e-6}) {
      const bool reached = far <= 1e16 || (far == 1e22 && tolerance == 1e-6);
      if (reached)
        EXPECT_LT(floored_error<Solver>({.tolerance = tolerance}, bodies, bodies), tolerance)
            << far;
      else
        EXPECT_THROW(floored_error<Solver>({.tolerance = tolerance}, bodies, bodies),
                     fmm::InvalidArgument)
            << far;
    }
    for (const double tolerance : {1e-5, 1e-3})
      if (far <= 1e16)
        EXPECT_LT(floored_error<InMixed>({.tolerance = tolerance}, bodies, bodies), tolerance)
            << far;
      else
        EXPECT_THROW(floored_error<InMixed>({.tolerance = tolerance}, bodies, bodies),
                     fmm::InvalidArgument)
            << far;
  }
}

/// Equal charges on a circle, and on a spiral around a sphere, in leaves of a few: cells that nearly touch are taken
/// for good enough at a high order, by stricter limits, too, and the error is at few bodies.
TEST(SharedErrors, OfCellsThatNearlyTouchAreSeen) {
  constexpr double circle = 6.283185307179586;
  constexpr int turns = 10;
  const auto on_circle = [](int i, int n) {
    const double t = circle * i / n;
    return std::array{std::cos(t), std::sin(t), 0.0};
  };
  const auto on_spiral = [](int i, int n) {
    const double t = circle * i / n, z = 1 - 2 * (i + 0.5) / n, s = std::sqrt(1 - z * z);
    return std::array{s * std::cos(turns * t), s * std::sin(turns * t), z};
  };
  const auto holds = [](auto orders, auto const& place, int n, double tolerance) {
    using Solver = fmm::ToleranceSolver<fmm::Laplace, decltype(orders), double>;
    std::mt19937_64 random(5);
    std::normal_distribution<double> normal;
    for (int turned = 0; turned < 8; ++turned) {
      double a[3], b[3], c[3], ab = 0;
      for (int d = 0; d < 3; ++d) a[d] = normal(random);
      for (int d = 0; d < 3; ++d) b[d] = normal(random);
      const double a2 = std::hypot(a[0], a[1], a[2]);
      for (int d = 0; d < 3; ++d) ab += (a[d] /= a2) * b[d];
      for (int d = 0; d < 3; ++d) b[d] -= ab * a[d];
      const double b2 = std::hypot(b[0], b[1], b[2]);
      for (int d = 0; d < 3; ++d) b[d] /= b2;
      for (int d = 0; d < 3; ++d)
        c[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
      Bodies bodies;
      for (int i = 0; i < n; ++i) {
        const auto p = place(i, n);
        double x[3];
        for (int d = 0; d < 3; ++d) x[d] = p[0] * a[d] + p[1] * b[d] + p[2] * c[d];
        add_body(bodies, x[0], x[1], x[2], 1);
      }
      Solver solver({.tolerance = tolerance, .leaf_capacity = 8});
      EXPECT_LT(relative_l2(run(solver, bodies).field, direct_sum<fmm::Laplace>(bodies).field),
                tolerance);
    }
  };
  holds(fmm::Orders<16>(), on_circle, 1000, 1e-2);
  holds(fmm::TreecodeOrders<16>(), on_spiral, 4963, 2.3e-3);
}

using TilesWithClose = fmm::tolerance::TilesWithClose<Space>;

struct MayHaveClose {
  TilesWithClose tiles;
  fmm::Array<int, Space> found;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    found(i) = tiles.may_have(i, found.extent(0), fmm::CellIndex(i));
  }
};

/// Tiles that P2P left, and those of rows so long that further teams may have had them: of flags of two such teams and
/// the tiles, and without flags all.
TEST(Glance, LooksWherePairsMayBeClose) {
  using fmm::detail::Buffer, fmm::detail::to_device;
  const Space space;
  Buffer<int, Space> flags("flags"), found("found");
  Buffer<fmm::Offset, Space> offsets("offsets");
  const auto looks = [&](std::vector<int> const& left) {
    TilesWithClose tiles{.left = {}, .list = {}, .longest = 5};
    if (!left.empty()) tiles.left = to_device(space, flags, left);
    tiles.list.offsets = to_device(space, offsets, std::vector<fmm::Offset>{0, 3, 9, 14, 15});
    const auto there = found.resize(4);
    fmm::detail::for_range("test::looks", space, 4, MayHaveClose{tiles, there});
    std::vector<int> here(4);
    fmm::detail::read_back(space, there.data(), here.data(), 4);
    return here;
  };
  EXPECT_EQ(looks({1, 1, 0, 0, 0, 1}), (std::vector{0, 1, 0, 1}));
  EXPECT_EQ(looks({0, 0, 1, 0, 0, 0}), (std::vector{1, 1, 0, 0}));
  EXPECT_EQ(looks({}), (std::vector{1, 1, 1, 1}));
}

/// Counts how often a walk from one leaf comes to the others, through cells down to a level.
struct CountOtherLeaves {
  using Space = Site;
  fmm::Array<fmm::Cell, Space> cells;
  fmm::CellIndex from;
  int last_level;
  fmm::Array<int, Space> found;  ///< of each body, as the first one of its leaf
  KOKKOS_FUNCTION void operator()(std::int64_t) const {
    const int last = last_level;
    fmm::tolerance::for_other_leaves<Space>(
        cells, from, [&](fmm::Cell const& cell) { return cell.level <= last; },
        [&](fmm::Cell const& leaf) { ++found(leaf.body_begin); });
  }
};

/// Each other leaf once, whose cells above are all near.
TEST(OtherLeaves, AreAllOfTheTree) {
  const Site space = site<Space>();
  const DeviceBodies<Space> device(make_bodies(Model::clusters, 3000));
  fmm::Solver<fmm::Laplace, fmm::Fmm<4>, double> solver({.leaf_capacity = 10});
  auto plan = solver.build(Space(), fmm::Inputs{device.x});
  auto const& octree = plan.data().tree.octree;
  const auto cells = to_host(octree.cells);
  const auto leaves = to_host(octree.leaves);
  fmm::detail::Buffer<int, Site> buffer("found");
  for (const int last_level : {99, octree.depth - 1})
    for (const std::size_t from : {std::size_t(0), leaves.size() / 2, leaves.size() - 1}) {
      const auto found = buffer.resize(3000);
      fmm::detail::fill<int>(space, found, 0);
      fmm::detail::for_range("test::leaves", space, 1,
                             CountOtherLeaves{octree.cells, leaves[from], last_level, found});
      const auto here = to_host(found);
      int expected = 0;
      for (const auto leaf : leaves) {
        const bool there = leaf != leaves[from] && cells[leaf].level <= last_level;
        EXPECT_EQ(here[cells[leaf].body_begin], there) << leaf;
        expected += there;
      }
      EXPECT_EQ(std::accumulate(here.begin(), here.end(), 0), expected);
    }
}

/// Means of the bodies' fields and potentials: what is strong determines those of L2 errors, what is weak those of own
/// ones.
TEST(ResultStrength, IsAMeanOfFieldsAndPotentials) {
  const Bodies bodies = make_bodies(Model::clusters, 3000, true);
  using Tree = fmm::engine::BodyTree<Space, double>;
  std::vector<fmm::Sums<double>> host(bodies.size());
  double squares = 0, roots = 0, potentials = 0;
  const Results exact = direct_sum<fmm::Laplace>(bodies);
  for (std::size_t i = 0; i < host.size(); ++i) {
    double const* const f = &exact.field[3 * i];
    host[i] = {exact.potential[i], f[0], f[1], f[2]};
    const double square = f[0] * f[0] + f[1] * f[1] + f[2] * f[2];
    squares += square;
    roots += std::pow(square, -0.25);
    potentials += exact.potential[i] * exact.potential[i];
  }
  Tree tree;
  tree.size = fmm::BodyIndex(host.size());
  tree.cube.edge = 4;
  tree.charges.unit = 3;
  fmm::detail::Buffer<fmm::Sums<double>, Space> buffer("sums");
  fmm::detail::to_device(Space(), buffer, host);
  const auto n = double(host.size());
  using fmm::tolerance::strength_of;
  const auto l2 = strength_of(Space(), tree, buffer.view(), {.field = true, .potential = true});
  EXPECT_NEAR(l2.means.field, 3.0 / 16 * std::sqrt(squares / n), 1e-12 * l2.means.field);
  EXPECT_NEAR(l2.means.potential, 3.0 / 4 * std::sqrt(potentials / n), 1e-12 * l2.means.potential);
  const auto own = strength_of(Space(), tree, buffer.view(), {.norm = fmm::ErrorNorm::p99});
  EXPECT_NEAR(own.means.field, 3.0 / 16 * std::pow(n / roots, 2), 1e-12 * own.means.field);
  EXPECT_EQ(own.means.potential, 0);
  EXPECT_LT(own.means.field, 0.5 * l2.means.field);

  EXPECT_EQ(fmm::tolerance::ResultStrength({6, 2}).over({3, 2}), 2);
  EXPECT_EQ(fmm::tolerance::ResultStrength({0, 2}).over({0, 4}), 1);
  EXPECT_EQ(fmm::tolerance::ResultStrength({1e-30, 2}).over({0, 4}), INFINITY);
}

/// What was verified counts for results that leave it room, and the limit becomes a stricter one if these do not.
TEST(HeldTolerance, HoldsForBodiesThatHaveMoved) {
  using fmm::ErrorNorm;
  fmm::tolerance::HeldTolerance held(1e-3, 4e-4);
  EXPECT_FALSE(held.knows({.bodies = 30000}));
  held.remember({.bodies = 30000}, {.pair_error = 1e-3});
  held.verified({{2, 0}}, 7e-4);
  held.leave_room(6, false);
  EXPECT_EQ(held.now().pair_error, 1e-3);
  EXPECT_TRUE(held.holds({{2, 0}}, ErrorNorm::l2));
  EXPECT_TRUE(held.holds({{1.9, 0}}, ErrorNorm::l2));
  EXPECT_FALSE(held.holds({{1.8, 0}}, ErrorNorm::l2));  // 7.8e-4 of these
  EXPECT_TRUE(held.holds({{7.9, 0}}, ErrorNorm::l2));
  EXPECT_FALSE(held.holds({{8.1, 0}}, ErrorNorm::l2));
  EXPECT_TRUE(held.knows({.bodies = 30000}));
  EXPECT_TRUE(held.holds({{1.9, 0}}, ErrorNorm::l2));
  EXPECT_TRUE(held.knows({.bodies = 30000}));  // the second time it is due
  EXPECT_TRUE(held.holds({{2, 0}}, ErrorNorm::l2));
  EXPECT_FALSE(held.holds({{1.9, 0}}, ErrorNorm::l2));
  EXPECT_TRUE(held.knows({.bodies = 30000}));
  held.verified({{2, 0}}, 9e-4);
  EXPECT_TRUE(held.holds({{2, 0}}, ErrorNorm::p99));
  EXPECT_FALSE(held.holds({{2.001, 0}}, ErrorNorm::l2));
  held.leave_room(6, false);
  EXPECT_LT(held.now().pair_error, 0.81e-3);
  EXPECT_TRUE(held.holds({{2.001, 0}}, ErrorNorm::p99));
  EXPECT_FALSE(held.knows({.bodies = 300}));  // of few bodies another limit is known
  held.remember({.bodies = 300}, {.pair_error = 1e-3});
  held.verified({{2, 0}}, 1e-5);
  EXPECT_FALSE(held.holds({{2.001, 0}}, ErrorNorm::l2));  // very few bodies
  EXPECT_TRUE(held.holds({{2, 0}}, ErrorNorm::l2));
  EXPECT_FALSE(held.knows({.bodies = 3000}));
  held.remember({.bodies = 3000}, {.pair_error = 1e-3});
  held.verified({{2, 0}, 100}, 1e-5);
  EXPECT_TRUE(held.holds({{2.001, 0}, 200}, ErrorNorm::l2));
  EXPECT_FALSE(held.holds({{2.001, 0}, 201}, ErrorNorm::l2));  // of more cells
  EXPECT_FALSE(held.holds({{2.001, 0}, 200}, ErrorNorm::p99));
  EXPECT_TRUE(held.holds({{2, 0}, 200}, ErrorNorm::p99));
  EXPECT_FALSE(held.holds({{2, 0}, 200, 0.01}, ErrorNorm::p99));  // of other close pairs
}

/// A light pair that comes close between two of the verifications that are due, in mixed precision, or whose charges
/// grow; in a leaf or across the border of two. At 1e-4 P2P on a GPU has told which tiles have close bodies.
TEST(SharedErrors, OfPairsThatComeCloseLaterAreSeen) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (const auto& [n, tolerance] : {std::pair(50, 1e-5), {3000, 1e-5}, {3000, 1e-4}})
    for (const bool grow : {false, true})
      for (const double beside : {0.0, 0.1}) {  // of the middle of the cube
        Bodies bodies;
        add_body(bodies, -1, -1, -1, 1);
        add_body(bodies, 1, 1, 1, 1);
        for (int i = 2; i < n; ++i)
          add_body(bodies, uniform(random), uniform(random), uniform(random), 1);
        fmm::ToleranceSolver<fmm::Laplace, ManyDigits, fmm::Mixed> solver({.tolerance = tolerance});
        const double strong = n * 1e-24, light = grow ? 1e-30 * strong : strong;
        bodies.q[2] = bodies.q[3] = light;
        const auto close = [&](double apart) {
          for (int d = 0; d < 3; ++d) bodies.x[9 + d] = bodies.x[6 + d];
          bodies.x[6] = beside + 0.73 * apart;
          bodies.x[9] = beside - 0.27 * apart;
        };
        if (grow) close(1e-13);
        for (int evaluation = 1; evaluation < 6; ++evaluation)
          EXPECT_NO_THROW(run(solver, bodies))
              << n << ", " << tolerance << ", " << grow << ", " << beside;
        bodies.q[2] = bodies.q[3] = strong;
        close(1e-13);
        for (const double apart : {1e-13, 1e-13, 6e-14}) {
          close(apart);
          EXPECT_LT(relative_l2(run(solver, bodies).field, direct_sum<fmm::Laplace>(bodies).field),
                    tolerance)
              << n << ", " << tolerance << ", " << grow << ", " << beside;
        }
        if (beside > 0) continue;
        close(1e-20);  // which three parts round by more
        EXPECT_THROW(run(solver, bodies), fmm::InvalidArgument)
            << n << ", " << tolerance << ", " << grow;
      }
}

/// Evaluations of bodies that move: the error of each, in tolerances.
template <class Solver>
std::vector<double> errors_of_steps(fmm::Options const& options, Bodies bodies, double speed) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  Solver solver(options);
  std::vector<double> errors;
  const std::size_t n = bodies.size();
  for (int step = 0; step < 24; ++step) {
    const DeviceBodies<Space> device(bodies);
    const ViewIn<double*, Space> potential("potential", n);
    const ViewIn<double* [3], Space> field("field", n);
    auto plan = solver.build(Space(), fmm::Inputs{device.x, device.q});
    solver.evaluate(Space(), plan, device.q, potential, field);
    const auto error =
        fmm::measure_error(Space(), fmm::Laplace{}, device.x, device.q, potential, field, n);
    errors.push_back((options.error_norm == fmm::ErrorNorm::l2 ? error.field_l2 : error.field_p99) /
                     *options.tolerance);
    std::mt19937_64 velocities(12);
    for (double& x : bodies.x) x += speed * normal(velocities);
  }
  return errors;
}

/// Nothing is known of a body's own error at another place.
TEST(SharedErrors, AreNotThoseOfFewBodiesThatHaveMoved) {
  using Solver = fmm::ToleranceSolver<fmm::Laplace, ManyDigits, double>;
  for (const Model model : {Model::cube, Model::clusters})
    for (const double tolerance : {1e-3, 1e-5}) {
      const auto errors =
          errors_of_steps<Solver>({.tolerance = tolerance, .error_norm = fmm::ErrorNorm::p99},
                                  make_bodies(model, 1500), 3e-3);
      EXPECT_LT(*std::max_element(errors.begin(), errors.end()), 1) << name_of(model) << tolerance;
    }
}

/// A cube of bodies whose closest pairs meet and part: at commit a7352e1 errors grew from 0.69 to 1.04 tolerances.
TEST(SharedErrors, AreNotThoseOfManyBodiesThatHaveMoved) {
  using Solver = fmm::ToleranceSolver<fmm::Laplace, FewOrders, double>;
  const auto errors =
      errors_of_steps<Solver>({.tolerance = 1e-4}, make_bodies(Model::cube, 24000), 3e-4);
  EXPECT_LT(*std::max_element(errors.begin(), errors.end()), 1);
}

}  // namespace
}  // namespace fmm_test
