// SPDX-License-Identifier: BSD-3-Clause
// The compiled solvers: the bits of the templates, arrays of every kind, and what they refuse.
#include <cstring>
#include <fmm/runtime.hpp>

#include "refusal.hpp"
#include "support.hpp"

namespace fmm_test {
namespace {

namespace rt = fmm::runtime;
using Space = Kokkos::DefaultExecutionSpace;
using fmm::AnySolver;

/// An order that the library has; the templates are compared at this one.
constexpr int order = 4;
bool has_order() {
  const auto orders = rt::orders();
  return std::find(orders.begin(), orders.end(), order) != orders.end();
}
#define NEEDS_ORDER() \
  if (!has_order()) GTEST_SKIP() << "FMM_ORDERS does not have " << order

/// Potential and field of bodies in a space, as Views of T.
template <class T>
struct Views {
  ViewIn<T*[3], Space> x, a;
  ViewIn<T*, Space> q, p;

  explicit Views(Bodies const& bodies)
      : x("x", bodies.size()), a("a", bodies.size()), q("q", bodies.size()), p("p", bodies.size()) {
    const auto hx = Kokkos::create_mirror_view(x);
    const auto hq = Kokkos::create_mirror_view(q);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      for (int d = 0; d < 3; ++d) hx(i, d) = T(bodies.x[3 * i + d]);
      hq(i) = T(bodies.q[i]);
    }
    Kokkos::deep_copy(x, hx);
    Kokkos::deep_copy(q, hq);
  }
};

/// The bits of templates that are the library's own instances. Beside a shared library, which shows none, they are
/// compiled twice, and a compiler contracts products and sums differently: then to the rounding of float.
void expect_same(Results const& a, Results const& b, char const* what) {
  ASSERT_EQ(a.potential.size(), b.potential.size());
  const auto same = [](auto const& u, auto const& v) {
#ifdef FMM_HAS_INSTANCES
    return std::memcmp(u.data(), v.data(), u.size() * sizeof(double)) == 0;
#else
    return relative_l2(u, v) < 1e-5;
#endif
  };
  EXPECT_TRUE(same(a.potential, b.potential)) << what << ": potentials";
  EXPECT_TRUE(same(a.field, b.field)) << what << ": fields";
}

template <class Solver, class T>
Results by_template(fmm::Options const& options, Views<T> const& views) {
  const Space space;
  Solver solver(options);
  auto plan = [&] {
    if constexpr (Solver::uses_charges)
      return solver.build(space, fmm::Inputs{views.x, views.q});
    else
      return solver.build(space, views.x);
  }();
  solver.evaluate(space, plan, views.q, views.p, views.a);
  space.fence();
  return to_host(views.p, views.a);
}

template <class T>
Results at_run_time(rt::Policies const& policies, fmm::Options const& options,
                    Views<T> const& views) {
  AnySolver solver(policies, options);
  auto plan = solver.build(fmm::Inputs{views.x, views.q});
  EXPECT_EQ(std::size_t(plan.size()), views.q.extent(0));
  solver.evaluate(plan, views.q, views.p, views.a);
  return to_host(views.p, views.a);
}

template <class Solver>
void compare(char const* what, rt::Policies const& policies, fmm::Options const& options,
             std::size_t n = 3000) {
  const Bodies bodies = make_bodies(Model::plummer, n);
  const Views<double> in_double(bodies);
  expect_same(at_run_time(policies, options, in_double), by_template<Solver>(options, in_double),
              what);
}

using rt::Criterion;
using rt::Kernel;
using rt::Method;
using rt::Precision;

TEST(AnySolver, HasTheBitsOfMethods) {
  NEEDS_ORDER();
  compare<fmm::Solver<Laplace, DirectSum, float>>(
      "direct", {.method = Method::direct, .precision = Precision::single}, {}, 500);
  compare<fmm::Solver<SoftenedGravity, fmm::Treecode<order>, double>>(
      "treecode",
      {.kernel = Kernel::softened_gravity,
       .method = Method::treecode,
       .order = order,
       .precision = Precision::full},
      {.theta = 0.5, .softening = 0.01});
  compare<fmm::Solver<Laplace, fmm::Treecode<order, DualTree<fmm::SourceCriterion>>, float>>(
      "treecode by field",
      {.method = Method::treecode,
       .criterion = Criterion::field,
       .order = order,
       .precision = Precision::single},
      {.pair_error = 1e-3});
  compare<fmm::Solver<Laplace, fmm::Fmm<order, DualTree<fmm::FieldCriterion>>, double>>(
      "field", {.criterion = Criterion::field, .order = order, .precision = Precision::full},
      {.pair_error = 1e-3});
  using ByPowers = DualTree<fmm::MultipolePowerCriterion>;
  compare<fmm::Solver<Laplace, fmm::Fmm<order, ByPowers>, fmm::Mixed>>(
      "powers", {.criterion = Criterion::multipole_power, .order = order}, {.pair_error = 1e-3});
}

TEST(AnySolver, HasTheBitsOfKernelsAndPrecisions) {
  NEEDS_ORDER();
  compare<fmm::Solver<Laplace, fmm::Fmm<order>, float>>(
      "Laplace, float", {.order = order, .precision = Precision::single}, {});
  compare<fmm::Solver<SoftenedGravity, fmm::Fmm<order>, double>>(
      "Plummer, double",
      {.kernel = Kernel::softened_gravity, .order = order, .precision = Precision::full},
      {.softening = 0.02, .softening_error = 1e-3, .G = 2});
  compare<fmm::Solver<fmm::SplineGravity, fmm::Fmm<order>, fmm::Mixed>>(
      "spline, mixed", {.kernel = Kernel::spline_gravity, .order = order}, {.softening = 0.02});
}

TEST(AnySolver, HasTheBitsOfATolerance) {
  NEEDS_ORDER();
  compare<fmm::ToleranceSolver<SoftenedGravity, fmm::Orders<order>, float>>(
      "tolerance, float",
      {.kernel = Kernel::softened_gravity, .order = order, .precision = Precision::single},
      {.tolerance = 1e-3, .softening = 1e-3}, 21000);
  compare<fmm::ToleranceSolver<Laplace, fmm::TreecodeOrders<order>, double>>(
      "tolerance, treecode",
      {.method = Method::treecode, .order = order, .precision = Precision::full},
      {.tolerance = 1e-3, .error_norm = fmm::ErrorNorm::p99}, 3000);
  compare<fmm::ToleranceSolver<Laplace, DirectSum, double>>(
      "tolerance, all pairs", {.method = Method::direct, .precision = Precision::full},
      {.tolerance = 1e-9}, 500);
  for (const Precision any : {Precision::single, Precision::mixed})  // they are in double
    compare<fmm::ToleranceSolver<Laplace, DirectSum, double>>(
        "tolerance, all pairs in double", {.method = Method::direct, .precision = any},
        {.tolerance = 1e-9}, 500);
}

TEST(AnySolver, SumsASample) {
  const Bodies bodies = make_bodies(Model::cube, 3000);
  const Views<double> views(bodies), expected(bodies);
  AnySolver solver({.method = Method::direct, .precision = Precision::full});
  auto plan = solver.build(views.x);
  const auto sampled = solver.evaluate_sample(plan, views.q, views.p, views.a, 200);
  const Space space;
  fmm::Solver<Laplace, DirectSum, double> by_template;
  auto other = by_template.build(space, expected.x);
  const auto numbers =
      to_host(by_template.evaluate_sample(space, other, expected.q, expected.p, expected.a, 200));
  space.fence();
  EXPECT_EQ(sampled, std::vector<std::int32_t>(numbers.begin(), numbers.end()));
  expect_same(to_host(views.p, views.a), to_host(expected.p, expected.a), "a sample");
  const auto error = solver.measure_error(views.x, views.q, views.p, views.a, sampled, 100);
  EXPECT_EQ(error.samples, 100u);
  EXPECT_LT(error.field_l2, 1e-13);
  EXPECT_GT(solver.measure_error(views.x, views.q, views.p, views.a, 100).field_l2, 0.1);
}

TEST(AnySolver, FindsAnOrderForATolerance) {
  NEEDS_ORDER();
  const Bodies bodies = make_bodies(Model::cube, 21000, true);
  const Views<double> views(bodies);
  AnySolver solver({}, {.tolerance = 1e-3});
  EXPECT_TRUE(solver.uses_charges());
  auto plan = solver.build(fmm::Inputs{views.x, views.q});
  fmm::Report report;
  solver.evaluate(plan, views.q, views.p, views.a, &report);
  ASSERT_TRUE(report.found);
  EXPECT_EQ(report.found->order, solver.order());
  EXPECT_EQ(solver.policies().order, solver.order());
  const auto error = solver.measure_error(views.x, views.q, views.p, views.a, 1000);
  EXPECT_LT(error.field_l2, 1e-3);
  EXPECT_GT(error.field_l2, 1e-6);
  EXPECT_EQ(error.samples, 1000u);
  EXPECT_EQ(solver.measure_error(views.x, views.q, views.p, fmm::none, 10).field_l2, 0);
  const Results found = to_host(views.p, views.a);
  expect_same(at_run_time({.order = solver.order()}, {.tolerance = 1e-3}, views), found,
              "the order that was found");
}

TEST(AnySolver, Tunes) {
  NEEDS_ORDER();
  const Views<double> views(make_bodies(Model::cube, 2000));
  AnySolver solver({.order = order}, {.tolerance = 1e-3});
  const fmm::Tuned tuned = solver.tune(fmm::Inputs{views.x, views.q});
  EXPECT_TRUE(tuned.held);
  EXPECT_LE(tuned.error, 1e-3);
  EXPECT_GT(tuned.trials, 1);
  auto plan = solver.build(fmm::Inputs{views.x, views.q});
  solver.evaluate(plan, views.q, views.p, views.a);
  EXPECT_LT(solver.measure_error(views.x, views.q, views.p, views.a, 2000).field_l2, 1e-3);
}

TEST(AnySolver, TakesArraysOfEveryKind) {
  NEEDS_ORDER();
  const std::size_t n = 700;
  const Bodies bodies = make_bodies(Model::disk, n);
  const Views<double> plain(bodies);
  const rt::Policies policies{.order = order};
  const Results expected = at_run_time(policies, {}, plain);

  AnySolver solver(policies);
  const auto check = [&](auto const& x, auto const& q, auto const& p, auto const& a,
                         char const* what) {
    auto plan = solver.build(x);
    solver.evaluate(plan, q, p, a);
    ViewIn<double*, Space> potential("p", n);
    ViewIn<double* [3], Space> field("a", n);
    Kokkos::deep_copy(potential, p);
    for (int d = 0; d < 3; ++d)
      Kokkos::deep_copy(Kokkos::subview(field, Kokkos::ALL, d), Kokkos::subview(a, Kokkos::ALL, d));
    expect_same(to_host(potential, field), expected, what);
  };
  Kokkos::View<double**, Kokkos::LayoutLeft, Space> x_left("x", n, 3), a_left("a", n, 3);
  Kokkos::View<double**, Kokkos::LayoutRight, Space> x_right("x", n, 3), a_right("a", n, 3);
  Kokkos::View<double**, Kokkos::LayoutRight, Space> wide("bodies", n, 8);
  for (int d = 0; d < 3; ++d) {
    const auto column = Kokkos::subview(plain.x, Kokkos::ALL, d);
    Kokkos::deep_copy(Kokkos::subview(x_left, Kokkos::ALL, d), column);
    Kokkos::deep_copy(Kokkos::subview(x_right, Kokkos::ALL, d), column);
    Kokkos::deep_copy(Kokkos::subview(wide, Kokkos::ALL, d), column);
  }
  Kokkos::deep_copy(Kokkos::subview(wide, Kokkos::ALL, 3), plain.q);
  const ViewIn<double const*, Space> q_const = plain.q;
  check(x_left, plain.q, plain.p, a_right, "LayoutLeft");
  check(x_right, q_const, plain.p, a_left, "LayoutRight");
  const auto columns = [&](int first, int last) {
    return Kokkos::subview(wide, Kokkos::ALL, std::make_pair(first, last));
  };
  check(columns(0, 3), Kokkos::subview(wide, Kokkos::ALL, 3), Kokkos::subview(wide, Kokkos::ALL, 4),
        columns(5, 8), "strided");

  const Views<float> in_float(bodies);
  expect_same(at_run_time(policies, {}, in_float),
              by_template<fmm::Solver<Laplace, fmm::Fmm<order>, fmm::Mixed>>({}, in_float),
              "Views of float");

  auto plan = solver.build(plain.x);
  Kokkos::deep_copy(plain.p, 0.0);
  solver.evaluate(plan, plain.q, plain.p, fmm::none);
  EXPECT_LT(relative_l2(to_host(plain.p, plain.a).potential, expected.potential), 1e-6);
}

TEST(AnySolver, TakesArraysOfTheStandardLibrary) {
  NEEDS_ORDER();
  const std::size_t n = 300;
  const Bodies bodies = make_bodies(Model::cube, n);
  const Results expected = direct_reference(bodies, false);
  std::vector<std::array<double, 3>> x(n), a(n);
  for (std::size_t i = 0; i < 3 * n; ++i) x[i / 3][i % 3] = bodies.x[i];
  std::vector<float> p(n);
  for (const rt::Backend backend : rt::backends()) {
    if (backend == rt::Backend::cuda) continue;
    AnySolver solver({.method = Method::direct, .precision = Precision::full, .backend = backend});
    auto plan = solver.build(x);
    solver.evaluate(plan, bodies.q, p, a);
    EXPECT_LT(relative_l2({p.begin(), p.end()}, expected.potential), 1e-6);
    auto raw = solver.build(rt::ConstArray::rows(bodies.x.data(), std::int64_t(n)));
    std::vector<double> field(3 * n);
    solver.evaluate(raw, {bodies.q.data(), std::int64_t(n)}, fmm::none,
                    rt::MutableArray::rows(field.data(), std::int64_t(n)));
    EXPECT_LT(relative_l2(field, expected.field), 1e-13);
  }
}

TEST(AnySolver, RefusesWhatIsWrong) {
  NEEDS_ORDER();
  const Views<double> views(make_bodies(Model::cube, 100));
  AnySolver solver({.order = order});
  const auto build = [&](rt::ConstArray const& x) { return refusal([&] { solver.build(x); }); };
  const rt::ConstArray good = views.x;
  auto shape = good.shape();
  const void* const data = good.data();
  EXPECT_EQ(build({}), "positions = none is not allowed: an array");
  EXPECT_EQ(build(views.q), "positions = of rank 1 is not allowed: of rank 2, (N, 3)");
  EXPECT_EQ(build({nullptr, shape}),
            "positions.data() = null is not allowed: an address, of an array that is not empty");
  shape.extent[1] = 2;
  EXPECT_EQ(build({data, shape}), "positions.extent(1) = 2 is not allowed: 3");
  shape = good.shape();
  shape.stride[0] = -3;
  EXPECT_EQ(build({data, shape}), "positions.stride(0) = -3 is not allowed: 0 or more");
  shape = good.shape();
  shape.memory = shape.memory == rt::Memory::host ? rt::Memory::device : rt::Memory::host;
  EXPECT_NE(build({data, shape}).find("in memory that "), std::string::npos);

  auto plan = solver.build(good);
  const Views<double> others(make_bodies(Model::cube, 99));
  EXPECT_EQ(refusal([&] { solver.evaluate(plan, others.q, views.p, views.a); }),
            "charges.extent(0) = 99 is not allowed: the number of bodies, 100");
  EXPECT_EQ(refusal([&] { solver.evaluate(plan, views.q, views.p, others.a); }),
            "field.extent(0) = 99 is not allowed: the number of bodies, 100");
  EXPECT_EQ(refusal([&] { solver.evaluate(plan, views.q, fmm::none, fmm::none); }),
            "potential and field = none is not allowed: at least one of the two");
  AnySolver in_double({.order = order, .precision = Precision::full});
  EXPECT_NE(refusal([&] { in_double.evaluate(plan, views.q, views.p, views.a); }).find("plan"),
            std::string::npos);

  EXPECT_NE(refusal([&] { AnySolver({.order = 1000}); }).find("order = 1000"), std::string::npos);
  EXPECT_NE(refusal([&] { AnySolver({}); }).find("order = none"), std::string::npos);
  EXPECT_EQ(refusal([&] { AnySolver({.order = order}, {.softening = 1}); }),
            "softening = 1 is not allowed: 0, with a kernel that has none");
  EXPECT_NE(refusal([&] {
              AnySolver({.method = Method::direct}, {.tolerance = 1e-13});
            }).find("tolerance"),
            std::string::npos);
  EXPECT_NE(refusal([&] { solver.tune(views.x, views.q); }).find("tolerance"), std::string::npos);
  EXPECT_NE(refusal([&] {
              solver.evaluate_sample(plan, views.q, views.p, views.a, 10);
            }).find("Method::direct"),
            std::string::npos);
  EXPECT_NE(
      refusal([&] {
        AnySolver(
            {.method = Method::treecode, .criterion = Criterion::multipole_power, .order = order});
      }).find("criterion"),
      std::string::npos);
}

/// In a periodic cell all pairs are Ewald's sums, which errors are measured with.
TEST(AnySolver, SumsInAPeriodicCell) {
  NEEDS_ORDER();
  const fmm::PeriodicBox cell({{{1, 0.2, 0.1}, {0.3, 1.2, 0}, {-0.1, 0.4, 1.1}}});
  const Bodies bodies = make_bodies(Model::cube, 300);
  for (const Kernel kernel : {Kernel::laplace, Kernel::spline_gravity}) {
    const fmm::Options options{.softening = kernel == Kernel::laplace ? 0 : 0.01, .periodic = cell};
    const Views<double> views(bodies), some(bodies);
    AnySolver by_pairs({.kernel = kernel, .method = Method::direct, .precision = Precision::full},
                       options);
    AnySolver by_cells({.kernel = kernel, .order = order}, options);
    auto plan = by_pairs.build(views.x);
    by_pairs.evaluate(plan, views.q, views.p, views.a);
    const auto of_pairs = by_pairs.measure_error(views.x, views.q, views.p, views.a, 100);
    EXPECT_LT(of_pairs.potential_l2, 1e-12);
    EXPECT_LT(of_pairs.field_l2, 1e-12);
    auto with_cells = by_cells.build(some.x);
    by_cells.evaluate(with_cells, some.q, some.p, some.a);
    const auto of_cells = by_cells.measure_error(some.x, some.q, some.p, some.a, 300);
    const Results found = to_host(some.p, some.a), exact = to_host(views.p, views.a);
    EXPECT_NEAR(of_cells.field_l2 / relative_l2(found.field, exact.field), 1, 0.01);
    EXPECT_LT(of_cells.field_l2, 2e-2);
  }
}

TEST(AnySolver, RefusesShapesThatOverlapAndPoliciesThatClash) {
  NEEDS_ORDER();
  const Views<double> views(make_bodies(Model::cube, 100));
  AnySolver solver({.order = order});
  auto plan = solver.build(views.x);
  auto shape = rt::MutableArray(views.a).shape();
  shape.stride[0] = shape.stride[1] = 1;
  EXPECT_NE(refusal([&] {
              solver.evaluate(plan, views.q, views.p, rt::MutableArray(views.a.data(), shape));
            }).find("rows do not overlap"),
            std::string::npos);
  shape = {};
  shape.rank = 2;
  shape.extent[0] = 100, shape.extent[1] = 3;
  EXPECT_EQ(shape.stride_of(0), 3);
  EXPECT_EQ(shape.stride_of(1), 1);
  EXPECT_NE(refusal([&] {
              solver.measure_error(views.x, views.q, fmm::none, fmm::none, 10);
            }).find("potential and field"),
            std::string::npos);

  std::vector<double> results(400);
  const auto over_each_other = [&](std::int64_t field) {
    solver.evaluate(plan, views.q, rt::MutableArray(results.data(), 100),
                    rt::MutableArray::rows(results.data() + field, 100));
  };
  if (Kokkos::DefaultExecutionSpace::name() != std::string("Cuda")) {
    EXPECT_NE(refusal([&] { over_each_other(99); }).find("in the memory of the potential"),
              std::string::npos);
    EXPECT_NO_THROW(over_each_other(100));
  }

  const auto refused = [](rt::Policies const& policies, fmm::Options const& options,
                          char const* argument) {
    EXPECT_EQ(refusal([&] { AnySolver(policies, options); }).rfind(argument, 0), 0u) << argument;
  };
  refused({.criterion = Criterion::radius}, {.tolerance = 1e-3}, "criterion = set");
  refused({.method = Method::direct, .criterion = Criterion::radius}, {}, "criterion = set");
  refused({.method = Method::direct, .order = order}, {}, "order = 4");
  refused({.order = order, .orders_to_choose_from = {order}}, {.tolerance = 1e-3},
          "orders_to_choose_from = set");
  // numbers that are no value of their enumeration
  refused({.kernel = rt::Kernel(3), .order = order}, {}, "kernel = 3");
  refused({.method = Method(-1), .order = order}, {}, "method = -1");
  refused({.criterion = Criterion(17), .order = order}, {}, "criterion = 17");
  refused({.order = order, .precision = rt::Precision(17)}, {}, "precision = 17");
  refused({.order = order, .backend = rt::Backend(17)}, {}, "backend = 17");
  refused({.orders_to_choose_from = {1000}}, {.tolerance = 1e-3}, "orders_to_choose_from = 1000");
}

TEST(AnySolver, RefusesWhatWasMovedFrom) {
  const Views<double> here(make_bodies(Model::cube, 100));
  AnySolver solver({.method = rt::Method::direct});
  auto plan = solver.build(here.x);
  fmm::AnyPlan other_plan = std::move(plan);
  EXPECT_THROW(plan.size(), fmm::InvalidArgument);
  EXPECT_EQ(other_plan.size(), 100);
  AnySolver other = std::move(solver);
  EXPECT_THROW(solver.options(), fmm::InvalidArgument);
  EXPECT_THROW(solver.build(here.x), fmm::InvalidArgument);
  EXPECT_EQ(other.build(here.x).size(), 100);
}

TEST(AnySolver, OfNoBodies) {
  NEEDS_ORDER();
  AnySolver solver({.order = order});
  const Views<double> none(Bodies{});
  auto plan = solver.build(none.x);
  solver.evaluate(plan, none.q, none.p, none.a);
  const Kokkos::View<double* [3], Kokkos::LayoutLeft> columns_of_none("none", 0);
  solver.evaluate(plan, none.q, none.p, columns_of_none);
  EXPECT_EQ(plan.size(), 0);
}

}  // namespace
}  // namespace fmm_test
