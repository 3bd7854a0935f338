// SPDX-License-Identifier: BSD-3-Clause
// The compiled solvers with targets of their own and chosen ones, dipoles, Hessians, several densities, transposes, a
// tolerance of any strengths, against sums in long double.
#include <fmm/runtime.hpp>
#include <numeric>

#include "carried.hpp"
#include "refusal.hpp"
#include "support.hpp"

namespace fmm_test {
namespace {

namespace rt = fmm::runtime;
using Space = Kokkos::DefaultExecutionSpace;
using fmm::AnySolver;
using rt::Method;
using rt::Precision;

/// An order that the library is sure to have where it has any of these tests' orders.
int an_order() {
  const auto orders = rt::orders();
  for (const int order : {8, 6, 4})
    if (std::find(orders.begin(), orders.end(), order) != orders.end()) return order;
  return orders.back();
}

/// Several densities of the same places.
struct Densities {
  Points x;
  std::vector<Sources> of;
  std::size_t count() const { return of.size(); }
};
Densities densities_of(std::size_t n, std::size_t count, Carries kind) {
  Densities all;
  for (std::size_t k = 0; k < count; ++k) {
    Sources one = sources_of(Model::cube, n, kind);
    std::mt19937_64 random(100 + k);
    std::uniform_real_distribution<double> uniform(0.5, 1.5);
    const double scale = std::pow(10.0, double(k) - 2);
    for (double& q : one.charges) q *= scale * uniform(random);
    for (double& p : one.dipoles) p *= scale * uniform(random);
    all.x = one.x;
    all.of.push_back(std::move(one));
  }
  return all;
}

/// All arrays of an evaluation as Views; of one density as such, unless `as_several`.
template <class T, class Layout>
struct Arrays {
  using One = Kokkos::View<T*, Layout, Space>;
  using Two = Kokkos::View<T**, Layout, Space>;
  using Three = Kokkos::View<T***, Layout, Space>;
  Two x, y, charges, potential;
  Three dipoles, field, hessian;
  Kokkos::View<int*, Space> numbers;
  bool as_several;

  Arrays(Densities const& all, Points const& targets, std::vector<int> const& chosen,
         std::size_t results, bool several)
      : x("x", all.x.size() / 3, 3),
        y("y", targets.size() / 3, 3),
        charges("q", x.extent(0), all.count()),
        potential("u", results, all.count()),
        dipoles("p", x.extent(0), all.count(), 3),
        field("f", results, all.count(), 3),
        hessian("h", results, all.count(), 6),
        numbers("numbers", chosen.size()),
        as_several(several) {
    const auto set = [](auto const& view, auto const& value) {
      const auto here = Kokkos::create_mirror_view(view);
      for (std::size_t i = 0; i < view.extent(0); ++i) value(here, i);
      Kokkos::deep_copy(view, here);
    };
    set(x, [&](auto const& v, std::size_t i) {
      for (int d = 0; d < 3; ++d) v(i, d) = T(all.x[3 * i + d]);
    });
    set(y, [&](auto const& v, std::size_t i) {
      for (int d = 0; d < 3; ++d) v(i, d) = T(targets[3 * i + d]);
    });
    set(numbers, [&](auto const& v, std::size_t i) { v(i) = chosen[i]; });
    set(charges, [&](auto const& v, std::size_t i) {
      for (std::size_t k = 0; k < all.count(); ++k)
        if (!all.of[k].charges.empty()) v(i, k) = T(all.of[k].charges[i]);
    });
    set(dipoles, [&](auto const& v, std::size_t i) {
      for (std::size_t k = 0; k < all.count(); ++k)
        for (int d = 0; d < 3; ++d)
          if (!all.of[k].dipoles.empty()) v(i, k, d) = T(all.of[k].dipoles[3 * i + d]);
    });
  }
  template <class Array>
  Array of(Two const& view) const {
    if (as_several) return Array(view);
    return Array(Kokkos::subview(view, Kokkos::ALL, 0));
  }
  template <class Array>
  Array of(Three const& view) const {
    if (as_several) return Array(view);
    return Array(Kokkos::subview(view, Kokkos::ALL, 0, Kokkos::ALL));
  }
  rt::AnyStrengths strengths(Carries kind) const {
    rt::AnyStrengths all;
    if (kind != Carries::dipoles) all.charges = of<rt::ConstArray>(charges);
    if (kind != Carries::charges) all.dipoles = of<rt::ConstArray>(dipoles);
    return all;
  }
  /// Density k in rows of ten.
  std::vector<double> rows(std::size_t k) const {
    const auto u = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), potential);
    const auto f = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), field);
    const auto h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), hessian);
    std::vector<double> all;
    for (std::size_t i = 0; i < u.extent(0); ++i) {
      all.push_back(u(i, k));
      for (int d = 0; d < 3; ++d) all.push_back(f(i, k, d));
      for (int d = 0; d < 6; ++d) all.push_back(h(i, k, d));
    }
    return all;
  }
};

enum class Targets { all, chosen, others };

struct Wanted {
  bool potential, field, hessian;
};

/// Largest error of all densities and results that are wanted.
template <class T = double, class Layout = Kokkos::LayoutRight>
double largest_error(AnySolver& solver, Targets which, Carries kind, std::size_t count,
                     Wanted const& wanted, std::size_t n = 700) {
  const Densities all = densities_of(n, count, kind);
  std::vector<int> chosen;
  Points targets = all.x;
  if (which == Targets::chosen) {
    targets.clear();
    for (int i = int(n) - 1; i >= 0; i -= 3) chosen.push_back(i);
    chosen.push_back(chosen.front());  // once more
    for (const int i : chosen) targets.insert(targets.end(), &all.x[3 * i], &all.x[3 * i] + 3);
  } else if (which == Targets::others) {
    targets = make_bodies(Model::plummer, n / 2).x;
  } else {
    for (int i = 0; i < int(n); ++i) chosen.push_back(i);
  }
  const Arrays<T, Layout> arrays(all, targets, chosen, targets.size() / 3, count > 1);
  auto plan = solver.build(arrays.x, {},
                           which == Targets::all      ? rt::ConstArray()
                           : which == Targets::chosen ? rt::ConstArray(arrays.numbers)
                                                      : rt::ConstArray(arrays.y));
  EXPECT_EQ(plan.size(), std::int64_t(n));
  EXPECT_EQ(plan.targets(), std::int64_t(targets.size() / 3));
  rt::AnyResults results;
  if (wanted.potential) results.potential = arrays.template of<rt::MutableArray>(arrays.potential);
  if (wanted.field) results.field = arrays.template of<rt::MutableArray>(arrays.field);
  if (wanted.hessian) results.hessian = arrays.template of<rt::MutableArray>(arrays.hessian);
  solver.evaluate(plan, arrays.strengths(kind), results);
  double largest = 0;
  for (std::size_t k = 0; k < count; ++k) {
    Sources rounded = all.of[k];
    const auto round = [](std::vector<double>& numbers) {
      for (double& number : numbers) number = double(T(number));
    };
    round(rounded.x), round(rounded.charges), round(rounded.dipoles);
    Points rounded_targets = targets;
    round(rounded_targets);
    const auto exact = summed(rounded_targets, chosen, rounded);
    const auto found = arrays.rows(k);
    const auto add = [&](bool is_wanted, int first, int numbers) {
      if (!is_wanted) {  // nobody writes what is not wanted
        for (std::size_t i = first; i < found.size(); i += 10) EXPECT_EQ(found[i], 0);
        return;
      }
      const double error = error_of(found, exact, first, numbers);
      if (std::isnan(error)) ADD_FAILURE() << "a result that is not a number";
      largest = std::fmax(largest, error);
    };
    add(wanted.potential, 0, 1);
    add(wanted.field, 1, 3);
    add(wanted.hessian, 4, 6);
  }
  return largest;
}

constexpr Carries all_kinds[] = {Carries::charges, Carries::dipoles, Carries::both};
constexpr Targets all_targets[] = {Targets::all, Targets::chosen, Targets::others};
constexpr Wanted all_wanted[] = {
    {true, false, false}, {false, true, false}, {false, false, true}, {true, true, true}};

TEST(StrengthsAtRunTime, OfAllPairsAreExact) {
  for (const Precision precision : {Precision::single, Precision::mixed, Precision::full}) {
    AnySolver solver({.method = Method::direct, .precision = precision});
    const double most = precision == Precision::full ? 1e-13 : 3e-6;
    for (const Targets targets : all_targets)
      for (const Carries kind : all_kinds)
        for (const std::size_t count : {1, 2, 5})
          for (Wanted const& wanted : all_wanted)
            EXPECT_LT(largest_error(solver, targets, kind, count, wanted, 200), most)
                << int(precision) << int(targets) << int(kind) << count;
  }
}

TEST(StrengthsAtRunTime, OfTreesErrByTheirOrder) {
  for (const Method method : {Method::treecode, Method::fmm})
    for (const Precision precision : {Precision::single, Precision::mixed, Precision::full}) {
      AnySolver solver({.method = method, .order = an_order(), .precision = precision},
                       {.theta = 0.4, .leaf_capacity = 16});
      for (const Targets targets : all_targets)
        for (const Carries kind : all_kinds)
          for (const std::size_t count : {1, 5}) {
            const double error = largest_error(solver, targets, kind, count, {true, true, true});
            EXPECT_LT(error, 2e-3) << int(method) << int(targets) << int(kind) << count;
            EXPECT_GT(error, 1e-12);
          }
    }
}

TEST(StrengthsAtRunTime, AreThoseOfTheTemplates) {
  const int order = 4;
  const auto orders = rt::orders();
  if (std::find(orders.begin(), orders.end(), order) == orders.end())
    GTEST_SKIP() << "FMM_ORDERS does not have " << order;
  Densities all = densities_of(3000, 1, Carries::both);
  for (double& mass : all.of[0].charges) mass = std::fabs(mass);
  const Arrays<double, Kokkos::LayoutRight> arrays(all, {}, {}, 3000, false), expected = arrays;
  const fmm::Options options{.theta = 0.6, .softening = 0.02, .softening_error = 1e-3};
  AnySolver solver({.kernel = rt::Kernel::softened_gravity, .order = order}, options);
  auto plan = solver.build(arrays.x);
  const auto results = [](auto const& of) {
    return fmm::Results{.potential = Kokkos::subview(of.potential, Kokkos::ALL, 0),
                        .field = Kokkos::subview(of.field, Kokkos::ALL, 0, Kokkos::ALL),
                        .hessian = Kokkos::subview(of.hessian, Kokkos::ALL, 0, Kokkos::ALL)};
  };
  const fmm::Strengths strengths{
      .charges = Kokkos::subview(arrays.charges, Kokkos::ALL, 0),
      .dipoles = Kokkos::subview(arrays.dipoles, Kokkos::ALL, 0, Kokkos::ALL)};
  solver.evaluate(plan, strengths, results(arrays));
  const auto found = arrays.rows(0);
  fmm::Solver<SoftenedGravity, fmm::Fmm<order>, fmm::Mixed> by_template(options);
  const Space space;
  auto other = by_template.build(space, arrays.x);
  by_template.evaluate(space, other, strengths, results(expected));
  space.fence();
  EXPECT_LT(relative_l2(found, expected.rows(0)), 1e-7);
}

TEST(StrengthsAtRunTime, HoldATolerance) {
  const auto orders = rt::orders();
  if (orders.back() < 8) GTEST_SKIP() << "FMM_ORDERS has none for it";
  for (const Method method : {Method::fmm, Method::treecode, Method::direct})
    for (const Precision precision : {Precision::mixed, Precision::full}) {
      const double tolerance = precision == Precision::full ? 1e-6 : 1e-4;
      AnySolver solver({.method = method, .precision = precision},
                       {.tolerance = tolerance, .tolerance_of = fmm::ToleranceOf::all});
      for (const Targets targets : all_targets)
        for (const Carries kind : all_kinds) {
          for (const std::size_t count : {1, 5})  // all pairs
            EXPECT_LE(largest_error(solver, targets, kind, count, {true, true, true}, 300), 1e-13);
          if (method == Method::direct || (method == Method::treecode && kind != Carries::both))
            continue;
          const bool both = kind == Carries::both;
          EXPECT_LE(largest_error(solver, targets, kind, both ? 2 : 3, {true, true, both}, 3000),
                    tolerance)
              << int(method) << int(targets) << int(kind);
        }
    }
  AnySolver own({.method = Method::direct}, {.tolerance = 1e-9, .error_norm = fmm::ErrorNorm::p99});
  EXPECT_LE(largest_error(own, Targets::others, Carries::both, 2, {true, true, true}), 1e-9);
  // the field's alone, if it is wanted, else the potential's
  AnySolver solver({}, {.tolerance = 1e-4});
  EXPECT_LE(largest_error(solver, Targets::others, Carries::both, 1, {false, true, false}), 1e-4);
  EXPECT_LE(largest_error(solver, Targets::others, Carries::both, 1, {true, false, false}), 1e-4);
}

/// Densities with Hessians are summed one after the other, and each is verified.
TEST(StrengthsAtRunTime, HoldATolerancePerDensity) {
  if (rt::orders().back() < 8) GTEST_SKIP() << "FMM_ORDERS has none for it";
  constexpr std::size_t n = 4000;
  constexpr double tolerance = 1e-5;
  Densities all = densities_of(n, 4, Carries::charges);
  for (std::size_t k = 0; k < 4; ++k)
    for (std::size_t i = 0; i < n; ++i)
      all.of[k].charges[i] = k == 0 ? std::cos(20 * all.x[3 * i]) : i / 100 == 9 * k || i == k;
  const Arrays<double, Kokkos::LayoutRight> arrays(all, {}, {}, n, true);
  AnySolver solver({.precision = Precision::full},
                   {.tolerance = tolerance, .tolerance_of = fmm::ToleranceOf::hessian});
  auto plan = solver.build(arrays.x);
  std::vector<int> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0);
  for (const int turn : {0, 1}) {
    solver.evaluate(plan, arrays.strengths(Carries::charges), {{}, {}, arrays.hessian});
    for (std::size_t k = 0; k < 4; ++k)
      EXPECT_LE(error_of(arrays.rows(k), summed(all.x, numbers, all.of[k]), 4, 6), tolerance)
          << turn << k;
  }
}

TEST(StrengthsAtRunTime, OfArraysOfFloatAndOfAnyLayout) {
  AnySolver solver({.method = Method::direct, .precision = Precision::full});
  for (const Targets targets : all_targets)
    for (const std::size_t count : {1, 3}) {
      const Wanted wanted{true, true, true};
      EXPECT_LT((largest_error<float, Kokkos::LayoutRight>(solver, targets, Carries::both, count,
                                                           wanted, 200)),
                2e-7);
      EXPECT_LT((largest_error<double, Kokkos::LayoutLeft>(solver, targets, Carries::both, count,
                                                           wanted, 200)),
                1e-13);
      EXPECT_LT((largest_error<float, Kokkos::LayoutLeft>(solver, targets, Carries::charges, count,
                                                          {true, true, false}, 200)),
                2e-7);
    }
}

TEST(StrengthsAtRunTime, AreRetargeted) {
  const Densities all = densities_of(600, 1, Carries::charges);
  const Points y = make_bodies(Model::cube, 300).x, z = make_bodies(Model::cube, 77).x;
  const std::vector<int> chosen = {5, 599, 0, 5};
  const auto check = [&](AnySolver& solver, double most) {
    const Arrays<double, Kokkos::LayoutRight> a(all, y, chosen, 300, false),
        b(all, z, chosen, 77, false), c(all, {}, chosen, 4, false), d(all, {}, {}, 600, false);
    auto plan = solver.build(fmm::Inputs{a.x, fmm::none, a.y});
    const auto sum = [&](auto const& arrays, Points const& at, std::vector<int> const& numbers) {
      solver.evaluate(plan, arrays.template of<rt::ConstArray>(arrays.charges),
                      arrays.template of<rt::MutableArray>(arrays.potential),
                      arrays.template of<rt::MutableArray>(arrays.field));
      const auto exact = summed(at, numbers, all.of[0]);
      EXPECT_LT(error_of(arrays.rows(0), exact, 1, 3), most);
    };
    sum(a, y, {});
    solver.retarget(plan, b.y);
    EXPECT_EQ(plan.targets(), 77);
    sum(b, z, {});
    EXPECT_NE(refusal([&] { solver.retarget(plan, c.numbers); }).find("targets = not positions"),
              std::string::npos);
    plan = solver.build(a.x);
    solver.retarget(plan, c.numbers);
    Points places;
    for (const int i : chosen) places.insert(places.end(), &all.x[3 * i], &all.x[3 * i] + 3);
    sum(c, places, chosen);
    solver.retarget(plan, fmm::none);
    std::vector<int> numbers(600);
    for (int i = 0; i < 600; ++i) numbers[i] = i;
    sum(d, all.x, numbers);
    EXPECT_NE(refusal([&] { solver.retarget(plan, b.y); }).find("targets = positions"),
              std::string::npos);
  };
  AnySolver direct({.method = Method::direct, .precision = Precision::full});
  check(direct, 1e-13);
  AnySolver by_order({.order = an_order()}, {.theta = 0.4});
  check(by_order, 1e-3);
  if (rt::orders().back() < 8) return;
  AnySolver by_tolerance({}, {.tolerance = 1e-4});
  check(by_tolerance, 1e-4);
}

/// <A x, y> and <x, A^T y> of potentials.
void expect_adjoint(AnySolver& solver, fmm::AnyPlan& plan, std::size_t n, std::size_t m) {
  const auto column = [](std::size_t size, int seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<double> numbers(size);
    for (double& number : numbers) number = uniform(random);
    return numbers;
  };
  const auto dot = [](std::vector<double> const& a, std::vector<double> const& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  };
  const std::vector<double> x = column(n, 1), y = column(m, 2);
  const auto applied = [&](fmm::AnyPlan& to, std::vector<double> const& to_what, std::size_t size) {
    const ViewIn<double*, Space> result("result", size);
    solver.evaluate(to, column_in<Space>(to_what), result, fmm::none);
    const auto here = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), result);
    return std::vector<double>(here.data(), here.data() + size);
  };
  const auto Ax = applied(plan, x, m);
  auto transposed = solver.transposed(plan);
  const auto ATy = applied(transposed, y, n);
  EXPECT_NEAR(dot(Ax, y), dot(x, ATy), 1e-12 * std::sqrt(dot(Ax, Ax) * dot(y, y)));
}

TEST(StrengthsAtRunTime, HaveTransposes) {
  const Points x = make_bodies(Model::cube, 500).x, y = make_bodies(Model::plummer, 200).x;
  const auto from = to_space<Space>(x), to = to_space<Space>(y);
  const auto check = [&](AnySolver& solver, bool freezes) {
    for (const bool has_targets : {false, true}) {
      auto plan = has_targets ? solver.build(fmm::Inputs{from, fmm::none, to}) : solver.build(from);
      const std::size_t m = has_targets ? 200 : 500;
      if (freezes) {
        EXPECT_NE(refusal([&] { solver.transposed(plan); }).find("not frozen"), std::string::npos);
        const ViewIn<double*, Space> u("u", m);
        solver.evaluate(plan, column_in<Space>(std::vector<double>(500, 1.0)), u, fmm::none);
      }
      solver.freeze(plan);
      expect_adjoint(solver, plan, 500, m);
    }
  };
  AnySolver direct({.method = Method::direct, .precision = Precision::full});
  check(direct, false);
  AnySolver by_order({.order = an_order(), .precision = Precision::full});
  check(by_order, false);
  if (rt::orders().back() >= 8) {
    AnySolver by_tolerance({.precision = Precision::full}, {.tolerance = 1e-5});
    check(by_tolerance, true);
  }
  AnySolver treecode({.method = Method::treecode, .order = an_order()});
  auto plan = treecode.build(from);
  EXPECT_NE(refusal([&] { treecode.transposed(plan); }).find("treecode"), std::string::npos);
}

TEST(StrengthsAtRunTime, RefuseWhatIsWrong) {
  const Densities all = densities_of(100, 2, Carries::both);
  const Arrays<double, Kokkos::LayoutRight> a(all, all.x, {1, 100}, 100, true);
  AnySolver solver({.order = an_order()});
  auto plan = solver.build(a.x);
  const auto said = [&](rt::AnyStrengths const& strengths, rt::AnyResults const& results) {
    return refusal([&] { solver.evaluate(plan, strengths, results); });
  };
  const rt::AnyStrengths good{a.charges, a.dipoles};
  EXPECT_EQ(said({}, {a.potential}),
            "charges and dipoles = none is not allowed: at least one of the two");
  EXPECT_EQ(said(good, {}),
            "potential, field and hessian = none is not allowed: at least one of the three");
  EXPECT_EQ(said({a.charges}, {a.field}),
            "potential = of rank 3 is not allowed: of rank 2, (N, K)");
  EXPECT_EQ(said({a.charges}, {{}, {}, a.field}), "hessian.extent(2) = 3 is not allowed: 6");
  EXPECT_EQ(said({a.charges, a.hessian}, {a.potential}), "dipoles.extent(2) = 6 is not allowed: 3");
  const ViewIn<double**, Space> three("three", 100, 3);
  EXPECT_EQ(said({a.charges}, {three}),
            "potential.extent(1) = 3 is not allowed: that of the charges, 2");
  EXPECT_EQ(said({Kokkos::subview(a.charges, std::make_pair(0, 99), Kokkos::ALL)}, {a.potential}),
            "charges.extent(0) = 99 is not allowed: the number of bodies, 100");
  EXPECT_EQ(said(good, {a.potential,
                        {},
                        rt::MutableArray(a.potential.data(), rt::MutableArray(a.hessian).shape())}),
            "hessian = in the memory of the potential is not allowed: in memory of its own");
  EXPECT_NE(said({Kokkos::subview(a.charges, Kokkos::ALL, 0)}, {a.potential}).find("rank 1"),
            std::string::npos);

  EXPECT_NE(refusal([&] { solver.build(a.x, {}, a.numbers); }).find("targets(1) = 100"),
            std::string::npos);
  EXPECT_EQ(refusal([&] { solver.build(a.x, {}, a.charges); }),
            "targets.extent(1) = 2 is not allowed: 3");
  EXPECT_EQ(refusal([&] { solver.build(a.numbers); }),
            "positions = of integers is not allowed: of float or double");
  const ViewIn<double*, Space> places("places", 4);
  EXPECT_EQ(refusal([&] { solver.build(a.x, {}, places); }),
            "targets = of float or double is not allowed: of integers of 32 or 64 bits");

  AnySolver by_powers({.criterion = rt::Criterion::multipole_power, .order = an_order()});
  const auto q = Kokkos::subview(a.charges, Kokkos::ALL, 0);
  EXPECT_NE(refusal([&] { by_powers.build(a.x, q, a.y); }).find("criterion"), std::string::npos);
  auto of_powers = by_powers.build(a.x, q);
  EXPECT_NE(refusal([&] {
              by_powers.evaluate(of_powers, good, rt::AnyResults{a.potential});
            }).find("criterion"),
            std::string::npos);

  // results that float has no room for: nothing is written
  AnySolver direct({.method = Method::direct, .precision = Precision::full});
  auto pairs = direct.build(a.x);
  const ViewIn<double*, Space> large("large", 100);
  Kokkos::deep_copy(large, 1e38);
  const ViewIn<float* [6], Space> h("h", 100);
  const Kokkos::View<double* [3], Kokkos::LayoutRight, Space> field("field", 100);
  Kokkos::deep_copy(h, 7.0f);
  Kokkos::deep_copy(field, 7);
  EXPECT_NE(refusal([&] {
              direct.evaluate(pairs, rt::AnyStrengths{large}, rt::AnyResults{{}, field, h});
            }).find("in float"),
            std::string::npos);
  const auto here = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), h);
  const auto of_field = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), field);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(here(i, 0), 7.0f);
    EXPECT_EQ(of_field(i, 0), 7);
  }

  if (rt::orders().back() < 8) return;
  AnySolver by_tolerance({}, {.tolerance = 1e-4});
  EXPECT_NE(refusal([&] { by_tolerance.build(a.x, q, a.y); }).find("targets"), std::string::npos);
  auto with_charges = by_tolerance.build(a.x, q);
  EXPECT_NE(refusal([&] {
              by_tolerance.evaluate(with_charges, good, rt::AnyResults{a.potential});
            }).find("built with charges"),
            std::string::npos);
}

/// A density of zeros tells nothing of the next ones.
TEST(StrengthsAtRunTime, HoldAToleranceWhereADensityWasZero) {
  if (rt::orders().back() < 8) GTEST_SKIP() << "FMM_ORDERS has none for it";
  constexpr int n = 2000;
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(-0.5, 0.5);
  Densities all = densities_of(n, 2, Carries::charges);
  all.x.clear();
  for (int i = 0; i < n; ++i) {  // close pairs in the middle
    const double scale = std::pow(uniform(random) + 0.5, 3);
    for (int d = 0; d < 3; ++d) all.x.push_back(scale * uniform(random));
  }
  std::vector<int> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0);
  AnySolver solver({}, {.tolerance = 1e-4, .tolerance_of = fmm::ToleranceOf::all});
  const Arrays<double, Kokkos::LayoutRight> places(all, {}, {}, n, true);
  auto plan = solver.build(places.x);
  for (int evaluation = 0; evaluation < 6; ++evaluation) {
    for (int k = 0; k < 2; ++k)
      for (double& q : all.of[k].charges)
        q = evaluation % 3 == 0 && k == 1 ? 0 : (uniform(random) > 0.4 ? uniform(random) : 0);
    const Arrays<double, Kokkos::LayoutRight> arrays(all, {}, {}, n, true);
    fmm::Report report;
    solver.evaluate(plan, rt::AnyStrengths{arrays.charges},
                    rt::AnyResults{arrays.potential, arrays.field}, &report);
    EXPECT_EQ(report.not_finite, 0);
    for (std::size_t k = 0; k < 2; ++k) {
      const auto found = arrays.rows(k);
      if (evaluation % 3 == 0 && k == 1) {
        for (const double number : found) EXPECT_EQ(number, 0);
        continue;
      }
      const auto exact = summed(all.x, numbers, Sources{all.x, {}, all.of[k].charges});
      EXPECT_LE(error_of(found, exact, 0, 1), 1e-4) << evaluation << k;
      EXPECT_LE(error_of(found, exact, 1, 3), 1e-4) << evaluation << k;
    }
  }
}

TEST(StrengthsAtRunTime, AreRefusedWhereFloatHasNoRoomForOneOfThem) {
  const Densities all = densities_of(50, 2, Carries::charges);
  const Arrays<double, Kokkos::LayoutRight> a(all, {}, {}, 50, true);
  AnySolver solver({.method = Method::direct, .precision = Precision::full});
  auto plan = solver.build(a.x);
  const ViewIn<double**, Space> charges("q", 50, 2);
  const ViewIn<float**, Space> potential("u", 50, 2);
  for (const double unit : {1e-40, 1e38}) {
    const auto here = Kokkos::create_mirror_view(charges);
    for (int i = 0; i < 50; ++i) here(i, 0) = 1, here(i, 1) = unit;
    Kokkos::deep_copy(charges, here);
    Kokkos::deep_copy(potential, 7.0f);
    EXPECT_NE(refusal([&] {
                solver.evaluate(plan, rt::AnyStrengths{charges}, rt::AnyResults{potential});
              }).find("potential in float"),
              std::string::npos)
        << unit;
    const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), potential);
    EXPECT_EQ(found(0, 0), 7.0f);
  }
}

TEST(StrengthsAtRunTime, OfNothing) {
  const Densities none = densities_of(0, 1, Carries::both),
                  some = densities_of(50, 1, Carries::both);
  const auto check = [&](AnySolver& solver) {
    const Arrays<double, Kokkos::LayoutRight> a(none, some.x, {}, 50, false),
        b(some, {}, {}, 0, false);
    Kokkos::deep_copy(a.potential, 7.0);
    auto of_no_sources = solver.build(fmm::Inputs{a.x, fmm::none, a.y});
    solver.evaluate(
        of_no_sources, a.strengths(Carries::both),
        rt::AnyResults{a.of<rt::MutableArray>(a.potential), a.of<rt::MutableArray>(a.field),
                       a.of<rt::MutableArray>(a.hessian)});
    for (const double number : a.rows(0)) EXPECT_EQ(number, 0);
    auto of_no_targets = solver.build(fmm::Inputs{b.x, fmm::none, b.y});
    solver.evaluate(of_no_targets, b.strengths(Carries::both),
                    rt::AnyResults{b.of<rt::MutableArray>(b.potential)});
  };
  AnySolver direct({.method = Method::direct});
  check(direct);
  AnySolver by_order({.order = an_order()});
  check(by_order);
  if (rt::orders().back() < 8) return;
  AnySolver by_tolerance({}, {.tolerance = 1e-4});
  check(by_tolerance);
}

}  // namespace
}  // namespace fmm_test
