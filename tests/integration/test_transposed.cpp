// SPDX-License-Identifier: BSD-3-Clause
// Transposed plans: <A x, y> = <x, A^T y> to rounding, where A alone errs by its expansions.
#include "refusal.hpp"
#include "support.hpp"

namespace fmm_test {
namespace {

using DefaultSpace = Kokkos::DefaultExecutionSpace;
using Numbers = std::vector<double>;

Numbers random_numbers(std::size_t count, unsigned seed, double low = -1, double high = 1) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  Numbers x(count);
  for (double& number : x) number = uniform(random);
  return x;
}
double product(Numbers const& a, Numbers const& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
/// |<a, b> - <c, d>| over sum |a_i b_i|.
double difference(Numbers const& a, Numbers const& b, Numbers const& c, Numbers const& d) {
  double sizes = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sizes += std::fabs(a[i] * b[i]);
  return std::fabs(product(a, b) - product(c, d)) / sizes;
}

Numbers numbers_of(ViewIn<double*, DefaultSpace> const& view) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  return {host.data(), host.data() + host.extent(0)};
}
Numbers numbers_of(ViewIn<double* [3], DefaultSpace> const& view) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  Numbers numbers;
  for (std::size_t i = 0; i < host.extent(0); ++i)
    for (int d = 0; d < 3; ++d) numbers.push_back(host(i, d));
  return numbers;
}

/// Potentials, or fields, of so many targets by strengths.
template <class Solver, class Plan, class Strengths>
Numbers potentials(Solver& solver, Plan& plan, std::size_t targets, Strengths const& strengths) {
  const DefaultSpace space;
  const ViewIn<double*, DefaultSpace> potential("potential", targets);
  solver.evaluate(space, plan, strengths, fmm::Results{.potential = potential});
  space.fence();
  return numbers_of(potential);
}
template <class Solver, class Plan, class Strengths>
Numbers fields(Solver& solver, Plan& plan, std::size_t targets, Strengths const& strengths) {
  const DefaultSpace space;
  const ViewIn<double* [3], DefaultSpace> field("field", targets);
  solver.evaluate(space, plan, strengths, fmm::Results{.field = field});
  space.fence();
  return numbers_of(field);
}
auto charges_of(Numbers const& q) { return fmm::Strengths{.charges = column_in<DefaultSpace>(q)}; }
auto dipoles_of(Numbers const& p) { return fmm::Strengths{.dipoles = to_space<DefaultSpace>(p)}; }

/// All three kinds of products with a plan, of n sources and m targets, and its transpose.
template <class Solver, class Plan>
void expect_transposed(Solver& solver, Plan& plan, Plan& transposed, std::size_t n, std::size_t m,
                       double most) {
  const Numbers x = random_numbers(n, 1), y = random_numbers(m, 2), x3 = random_numbers(3 * n, 3),
                y3 = random_numbers(3 * m, 4);
  EXPECT_LT(difference(potentials(solver, plan, m, charges_of(x)), y, x,
                       potentials(solver, transposed, n, charges_of(y))),
            most);
  Numbers minus_y3 = y3;
  for (double& number : minus_y3) number = -number;
  EXPECT_LT(difference(fields(solver, plan, m, charges_of(x)), minus_y3, x,
                       potentials(solver, transposed, n, dipoles_of(y3))),
            most);
  EXPECT_LT(difference(fields(solver, plan, m, dipoles_of(x3)), y3, x3,
                       fields(solver, transposed, n, dipoles_of(y3))),
            most);
}

template <class Method, class Precision>
void expect_transposed_plans(fmm::Options const& options, double most) {
  const DefaultSpace space;
  const Bodies bodies = make_bodies(Model::plummer, 3000, false, 3),
               others = make_bodies(Model::cube, 1100, false, 4);
  fmm::Solver<Laplace, Method, Precision> solver(options);
  const auto x = to_space<DefaultSpace>(bodies.x), y = to_space<DefaultSpace>(others.x);
  auto one = solver.build(space, x);
  auto one_transposed = solver.transposed(space, one);
  EXPECT_EQ(one_transposed.m2p_entries(), one.p2l_entries());
  EXPECT_EQ(one_transposed.p2l_entries(), one.m2p_entries());
  expect_transposed(solver, one, one_transposed, 3000, 3000, most);
  auto two = solver.build(space, fmm::Inputs{.sources = x, .targets = y});
  auto two_transposed = solver.transposed(space, two);
  EXPECT_EQ(two_transposed.targets(), 3000);
  EXPECT_EQ(two_transposed.sources(), 1100);
  EXPECT_EQ(two_transposed.m2l_entries(), two.m2l_entries());
  EXPECT_EQ(two_transposed.p2p_entries(), two.p2p_entries());
  expect_transposed(solver, two, two_transposed, 3000, 1100, most);
}
template <class Method>
void expect_transposed_in_all_precisions(fmm::Options const& options) {
  expect_transposed_plans<Method, float>(options, 1e-6);
  expect_transposed_plans<Method, fmm::Mixed>(options, 1e-6);
  expect_transposed_plans<Method, double>(options, 1e-14);
}

TEST(Transposed, OfAnFmmByRadii) {
  expect_transposed_in_all_precisions<fmm::Fmm<4>>({.theta = 0.8, .leaf_capacity = 16});
}
/// Without transposed lists the products differ by the expansions' errors: the test above can fail.
TEST(Transposed, AnFmmByRadiiIsNotItsOwnTranspose) {
  const DefaultSpace space;
  const Bodies bodies = make_bodies(Model::plummer, 3000, false, 3);
  fmm::Solver<Laplace, fmm::Fmm<4>, double> solver({.theta = 0.8, .leaf_capacity = 16});
  auto plan = solver.build(space, to_space<DefaultSpace>(bodies.x));
  const Numbers x = random_numbers(3000, 1), y = random_numbers(3000, 2);
  EXPECT_GT(difference(potentials(solver, plan, 3000, charges_of(x)), y, x,
                       potentials(solver, plan, 3000, charges_of(y))),
            1e-8);
}
TEST(Transposed, OfLists) {
  expect_transposed_in_all_precisions<fmm::Fmm<4, fmm::FmmStencil>>({.leaf_capacity = 16});
  for (const fmm::TreeKind tree : {fmm::TreeKind::uniform, fmm::TreeKind::adaptive})
    expect_transposed_in_all_precisions<fmm::Fmm<4, fmm::FmmList>>(
        {.leaf_capacity = 16, .tree = tree});
}
TEST(Transposed, OfAllPairs) { expect_transposed_in_all_precisions<DirectSum>({}); }

/// Trees that a transposed plan has stay while it does, whatever becomes of the plan that it was made of.
TEST(Transposed, OutlivesItsPlan) {
  const DefaultSpace space;
  const Bodies bodies = make_bodies(Model::cube, 2000, false, 3),
               others = make_bodies(Model::cube, 700, false, 4);
  const Numbers new_ones = random_numbers(2700, 5, 0.1, 0.9);
  fmm::Solver<Laplace, fmm::Fmm<6>, double> solver({.theta = 0.5, .leaf_capacity = 16});
  const auto x = to_space<DefaultSpace>(bodies.x), y = to_space<DefaultSpace>(others.x);
  const auto charges = charges_of(random_numbers(700, 1));
  const auto of_bodies = charges_of(random_numbers(2000, 2));
  auto plan = solver.build(space, fmm::Inputs{.sources = x, .targets = y});
  auto transposed = solver.transposed(space, plan), again = solver.transposed(space, plan),
       back = solver.transposed(space, transposed);
  const Numbers before = potentials(solver, transposed, 2000, charges);
  EXPECT_EQ(potentials(solver, again, 2000, charges), before);
  const Numbers forth = potentials(solver, plan, 700, of_bodies);
  EXPECT_LT(relative_l2(potentials(solver, back, 700, of_bodies), forth), 1e-14);
  transposed = {};
  solver.retarget(space, plan, to_space<DefaultSpace>(new_ones));
  auto of_new_ones = solver.transposed(space, plan);
  EXPECT_EQ(potentials(solver, again, 2000, charges), before);
  expect_transposed(solver, plan, of_new_ones, 2000, 900, 1e-14);
  plan = solver.build(space, fmm::Inputs{.sources = y, .targets = y});
  auto other_plan = solver.build(space, fmm::Inputs{.sources = y, .targets = x});
  EXPECT_EQ(potentials(solver, again, 2000, charges), before);
  EXPECT_LT(relative_l2(potentials(solver, back, 700, of_bodies), forth), 1e-14);
  auto one = solver.build(space, y);
  auto one_transposed = solver.transposed(space, one);
  const Numbers of_one = potentials(solver, one_transposed, 700, charges);
  one = solver.build(space, x);
  auto one_more = solver.build(space, x);
  EXPECT_EQ(potentials(solver, one_transposed, 700, charges), of_one);
}

/// Charges and multipoles of the last evaluation with each of several plans on the same trees are its own.
TEST(Transposed, KeepsMultipolesOfItsOwn) {
  const DefaultSpace space;
  fmm::Solver<Laplace, fmm::Fmm<6>, double> solver({.leaf_capacity = 16});
  auto plan = solver.build(
      space,
      fmm::Inputs{.sources = to_space<DefaultSpace>(make_bodies(Model::cube, 900).x),
                  .targets = to_space<DefaultSpace>(make_bodies(Model::cube, 500, false, 9).x)});
  auto transposed = solver.transposed(space, plan), other = solver.transposed(space, plan),
       back = solver.transposed(space, transposed);
  const auto evaluate = [&](auto& one, unsigned seed, bool unchanged) {
    auto charges = charges_of(random_numbers(std::size_t(one.sources()), seed));
    charges.unchanged = unchanged;
    const ViewIn<double*, DefaultSpace> potential("potential", std::size_t(one.targets()));
    fmm::Report report;
    solver.evaluate(space, one, charges, fmm::Results{.potential = potential}, &report);
    EXPECT_EQ(report.find("p2m") == nullptr, unchanged);
    return numbers_of(potential);
  };
  const Numbers of_plan = evaluate(plan, 1, false), of_transposed = evaluate(transposed, 2, false),
                of_other = evaluate(other, 3, false), of_back = evaluate(back, 4, false);
  EXPECT_EQ(evaluate(plan, 1, true), of_plan);
  EXPECT_EQ(evaluate(transposed, 2, true), of_transposed);
  EXPECT_EQ(evaluate(other, 3, true), of_other);
  EXPECT_EQ(evaluate(back, 4, true), of_back);
}

/// The lists are those of the solver that gave a plan its targets, and so is the near field that a transposed plan has.
TEST(Transposed, HasTheNearFieldOfItsLists) {
  const DefaultSpace space;
  using Solver = fmm::Solver<SoftenedGravity, fmm::Fmm<4>, double>;
  Solver wide({.leaf_capacity = 8, .softening = 0.1}),
      narrow({.leaf_capacity = 8, .softening = 1e-3});
  const auto x = to_space<DefaultSpace>(make_bodies(Model::cube, 900).x);
  const ViewIn<double*, DefaultSpace> ones("ones", 900), potential("potential", 900);
  Kokkos::deep_copy(ones, 1);
  auto plan = wide.build(space, fmm::Inputs{.sources = x, .targets = x});
  narrow.retarget(space, plan, x);
  auto of_narrow = narrow.transposed(space, plan);
  expect_refused([&] { wide.evaluate(space, of_narrow, ones, potential, fmm::none); },
                 "plan's near field");
  wide.retarget(space, plan, x);
  auto of_wide = wide.transposed(space, plan);
  EXPECT_NO_THROW(wide.evaluate(space, of_wide, ones, potential, fmm::none));
}

TEST(Transposed, OfFewOrNone) {
  const DefaultSpace space;
  fmm::Solver<Laplace, fmm::Fmm<4>, double> solver;
  const Numbers none, point = {0.1, 0.2, 0.3}, others = {0.4, 0.2, 0.3, 0.1, 0.2, 0.3};
  for (Numbers const& targets : {none, point, others})
    for (Numbers const& sources : {none, point, others}) {
      const std::size_t m = targets.size() / 3, n = sources.size() / 3;
      auto plan = solver.build(space, fmm::Inputs{.sources = to_space<DefaultSpace>(sources),
                                                  .targets = to_space<DefaultSpace>(targets)});
      auto transposed = solver.transposed(space, plan);
      const Numbers x = random_numbers(n, 1), y = random_numbers(m, 2);
      EXPECT_NEAR(product(potentials(solver, plan, m, charges_of(x)), y),
                  product(x, potentials(solver, transposed, n, charges_of(y))), 1e-14);
      auto one = solver.build(space, to_space<DefaultSpace>(targets));
      auto one_transposed = solver.transposed(space, one);
      EXPECT_EQ(potentials(solver, one_transposed, m, charges_of(y)),
                potentials(solver, one, m, charges_of(y)));
    }
}

TEST(Transposed, BadInputIsRefused) {
  const DefaultSpace space;
  fmm::Solver<Laplace, fmm::Fmm<4>, double> solver;
  fmm::Solver<Laplace, fmm::Fmm<4, fmm::FmmList>, double> lists;
  const auto x = to_space<DefaultSpace>(make_bodies(Model::cube, 300).x);
  auto plan = solver.build(space, fmm::Inputs{.sources = x, .targets = x});
  auto one = solver.build(space, x);
  expect_refused([&] { lists.transposed(space, plan); }, "another traversal");
  expect_refused([&] { lists.transposed(space, one); }, "another traversal");
  auto transposed = solver.transposed(space, plan);
  expect_refused([&] { solver.retarget(space, transposed, x); }, "transposed");
  const ViewIn<double*, DefaultSpace> of_few("few", 299);
  expect_refused([&] { solver.evaluate(space, transposed, of_few, of_few, fmm::none); },
                 "charges.extent(0)");
}

}  // namespace
}  // namespace fmm_test
