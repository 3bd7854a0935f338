// SPDX-License-Identifier: BSD-3-Clause
// A batch of independent sets against sums over the pairs of each.
#include "refusal.hpp"
#include "support.hpp"

namespace fmm_test {
namespace {

using DefaultSpace = Kokkos::DefaultExecutionSpace;
using Numbers = std::vector<double>;

/// Sets of all sizes, each at a place, in a size and at a distance of its own.
struct Sets {
  Numbers x, q, p;
  std::vector<int> offsets = {0};

  void add(std::size_t size, double scale, double apart, unsigned seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    for (std::size_t i = 0; i < size; ++i) {
      for (int d = 0; d < 3; ++d) x.push_back(apart + scale * normal(random));
      q.push_back(normal(random));
      for (int d = 0; d < 3; ++d) p.push_back(scale * normal(random));
    }
    offsets.push_back(int(q.size()));
  }
  std::size_t size() const { return q.size(); }
};

Sets sets_of_all_sizes(double most_apart) {
  Sets sets;
  sets.add(0, 1, 0, 1);
  sets.add(700, 1, 0, 2);
  sets.add(1, 1, 0.3, 3);
  sets.add(0, 1, 0, 4);
  sets.add(2, 1e-3, 0.5, 5);
  sets.add(333, 0.1, most_apart, 6);
  sets.add(64, 2, -3, 7);
  sets.add(65, 2, 0, 8);
  sets.add(1500, 0.5, 0, 9);
  sets.add(0, 1, 0, 10);
  return sets;
}

Results summed(Sets const& sets) {
  Results sums{Numbers(sets.size()), Numbers(3 * sets.size())};
  for (std::size_t s = 0; s + 1 < sets.offsets.size(); ++s)
    for (int i = sets.offsets[s]; i < sets.offsets[s + 1]; ++i)
      for (int j = sets.offsets[s]; j < sets.offsets[s + 1]; ++j) {
        double d[3], r2 = 0;
        for (int c = 0; c < 3; ++c) {
          d[c] = sets.x[3 * i + c] - sets.x[3 * j + c];
          r2 += d[c] * d[c];
        }
        if (r2 == 0) continue;
        const double u = sets.q[j] / std::sqrt(r2);
        sums.potential[i] += u;
        for (int c = 0; c < 3; ++c) sums.field[3 * i + c] += u / r2 * d[c];
      }
  return sums;
}

template <class Number, class Plan, class Solver>
Results evaluated(Solver& solver, Plan& plan, Numbers const& q, fmm::Report* report = nullptr) {
  const DefaultSpace space;
  const ViewIn<Number*, DefaultSpace> potential("potential", q.size());
  const ViewIn<Number* [3], DefaultSpace> field("field", q.size());
  solver.evaluate(space, plan, column_in<DefaultSpace>(q), potential, field, report);
  space.fence();
  return to_host(potential, field);
}

/// Errors of each set, relative to it.
void expect_each_set(Sets const& sets, Results const& found, Results const& exact, double most) {
  for (std::size_t s = 0; s + 1 < sets.offsets.size(); ++s) {
    const auto part = [&](Numbers const& all, int row) {
      return Numbers(all.begin() + row * sets.offsets[s], all.begin() + row * sets.offsets[s + 1]);
    };
    if (sets.offsets[s + 1] - sets.offsets[s] < 2) {
      for (const double u : part(found.potential, 1)) EXPECT_EQ(u, 0);
      continue;
    }
    EXPECT_LT(relative_l2(part(found.potential, 1), part(exact.potential, 1)), most) << s;
    EXPECT_LT(relative_l2(part(found.field, 3), part(exact.field, 3)), most) << s;
  }
}

template <class Precision>
void expect_batch(double most) {
  const DefaultSpace space;
  const Sets sets = sets_of_all_sizes(1e6);
  fmm::Solver<Laplace, DirectSum, Precision> solver;
  const fmm::Batch batch{.sources = to_space<DefaultSpace>(sets.x),
                         .offsets = column_in<DefaultSpace>(sets.offsets)};
  auto plan = solver.build(space, batch);
  std::int64_t pairs = 0;
  for (std::size_t s = 0; s + 1 < sets.offsets.size(); ++s) {
    const std::int64_t size = sets.offsets[s + 1] - sets.offsets[s];
    pairs += size * (size - 1);
  }
  EXPECT_EQ(plan.size(), std::int64_t(sets.size()));
  EXPECT_EQ(plan.pairs(), pairs);
  fmm::Report report;
  expect_each_set(sets, evaluated<double>(solver, plan, sets.q, &report), summed(sets), most);
  EXPECT_EQ(report.p2p_pairs, pairs);
}
TEST(Batch, IsEachSetByItself) {
  expect_batch<float>(2e-5);
  expect_batch<fmm::Mixed>(1e-6);
  expect_batch<double>(1e-9);  // what 1e6 away from 0.1 leaves of double
}

/// Offsets of any type of whole numbers, one set, and none.
TEST(Batch, OfOneSetIsTheDirectSum) {
  const DefaultSpace space;
  Sets one;
  one.add(900, 1, 0, 3);
  fmm::Solver<Laplace, DirectSum, double> solver;
  const auto x = to_space<DefaultSpace>(one.x);
  auto all = solver.build(space, x);
  const Results exact = evaluated<double>(solver, all, one.q);
  const auto expect_same = [&](auto const& offsets) {
    auto plan = solver.build(space, fmm::Batch{.sources = x, .offsets = offsets});
    const Results found = evaluated<double>(solver, plan, one.q);
    EXPECT_LT(relative_l2(found.field, exact.field), 1e-14);
    EXPECT_LT(relative_l2(found.potential, exact.potential), 1e-14);
  };
  expect_same(column_in<DefaultSpace>(std::vector<std::int64_t>{0, 900}));
  expect_same(column_in<DefaultSpace>(std::vector<std::uint32_t>{0, 900}));
  expect_same(column_in<DefaultSpace>(std::vector<std::size_t>{0, 0, 900, 900}));
  const auto nothing = to_space<DefaultSpace>({});
  for (std::vector<int> const& offsets : {std::vector<int>{0}, {0, 0, 0}}) {
    auto none = solver.build(
        space, fmm::Batch{.sources = nothing, .offsets = column_in<DefaultSpace>(offsets)});
    EXPECT_EQ(evaluated<double>(solver, none, {}).potential.size(), 0u);
  }
}

/// A set's results do not depend on what other sets there are.
TEST(Batch, SetsKnowNothingOfEachOther) {
  const DefaultSpace space;
  Sets many = sets_of_all_sizes(10), alone;
  alone.add(700, 1, 0, 2);
  fmm::Solver<fmm::SoftenedGravity, DirectSum, double> solver({.softening = 0.01});
  for (double& q : many.q) q = std::fabs(q);
  for (double& q : alone.q) q = std::fabs(q);
  auto of_many = solver.build(space, fmm::Batch{.sources = to_space<DefaultSpace>(many.x),
                                                .offsets = column_in<DefaultSpace>(many.offsets)});
  auto of_one = solver.build(space, to_space<DefaultSpace>(alone.x));
  const Results found = evaluated<double>(solver, of_many, many.q),
                exact = evaluated<double>(solver, of_one, alone.q);
  EXPECT_LT(relative_l2({found.field.begin(), found.field.begin() + 2100}, exact.field), 1e-14);
  const Results again = evaluated<double>(solver, of_many, many.q);
  EXPECT_EQ(again.field, found.field);
}

/// Dipoles, Hessians and densities are those of each set's direct sum.
TEST(Batch, OfDipolesHessiansAndDensities) {
  const DefaultSpace space;
  const Sets sets = sets_of_all_sizes(3);
  constexpr int count = 3;
  const std::size_t n = sets.size();
  fmm::Solver<Laplace, DirectSum, double> solver;
  auto plan = solver.build(space, fmm::Batch{.sources = to_space<DefaultSpace>(sets.x),
                                             .offsets = column_in<DefaultSpace>(sets.offsets)});
  const auto q = column_in<DefaultSpace>(sets.q);
  const auto p = to_space<DefaultSpace>(sets.p);
  const ViewIn<double* [6], DefaultSpace> hessian("hessian", n);
  solver.evaluate(space, plan, fmm::Strengths{.charges = q, .dipoles = p},
                  fmm::Results{.hessian = hessian});
  const ViewIn<double**, DefaultSpace> charges("charges", n, count), potential("u", n, count);
  for (int k = 0; k < count; ++k) Kokkos::deep_copy(Kokkos::subview(charges, Kokkos::ALL, k), q);
  solver.evaluate(space, plan, charges, fmm::Results{.potential = potential});
  const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), hessian);
  const auto u = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), potential);
  const Results of_one = evaluated<double>(solver, plan, sets.q);
  for (std::size_t i = 0; i < n; ++i)
    for (int k = 0; k < count; ++k) ASSERT_NEAR(u(i, k), of_one.potential[i], 1e-12);
  for (std::size_t s = 0; s + 1 < sets.offsets.size(); ++s) {
    const int begin = sets.offsets[s], end = sets.offsets[s + 1];
    if (begin == end) continue;
    const std::pair<int, int> rows(begin, end);
    auto alone = solver.build(space, to_space<DefaultSpace>(Numbers(sets.x.begin() + 3 * begin,
                                                                    sets.x.begin() + 3 * end)));
    const ViewIn<double* [6], DefaultSpace> h("h", end - begin);
    solver.evaluate(space, alone,
                    fmm::Strengths{.charges = Kokkos::subview(q, rows),
                                   .dipoles = Kokkos::subview(p, rows, Kokkos::ALL)},
                    fmm::Results{.hessian = h});
    const auto exact = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), h);
    double difference2 = 0, norm2 = 0;
    for (int i = begin; i < end; ++i)
      for (int d = 0; d < 6; ++d) {
        difference2 += std::pow(found(i, d) - exact(i - begin, d), 2);
        norm2 += std::pow(exact(i - begin, d), 2);
      }
    EXPECT_LE(difference2, 1e-26 * norm2) << s;
  }
}

/// Lengths are counted in the largest set, wherever sets lie; many small sets have small tiles on a GPU.
TEST(Batch, OfTinySetsFarFromTheOrigin) {
  const DefaultSpace space;
  Sets sets;
  sets.add(1, 0, -1e3, 1);
  for (unsigned s = 0; s < 500; ++s) sets.add(2 + s % 9, 1e-14, 0, 2 + s);
  fmm::Solver<Laplace, DirectSum, float> solver;
  auto plan = solver.build(space, fmm::Batch{.sources = to_space<DefaultSpace>(sets.x),
                                             .offsets = column_in<DefaultSpace>(sets.offsets)});
  const Results exact = summed(sets);
  expect_each_set(sets, evaluated<double>(solver, plan, sets.q), exact, 1e-5);
  const std::size_t n = sets.size();
  const ViewIn<double* [6], DefaultSpace> hessian("hessian", n);
  solver.evaluate(space, plan, fmm::Strengths{.charges = column_in<DefaultSpace>(sets.q)},
                  fmm::Results{.hessian = hessian});
  const auto h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), hessian);
  for (std::size_t i = 1; i < n; ++i) {
    EXPECT_TRUE(std::isfinite(h(i, 0)));
    EXPECT_LT(std::fabs(h(i, 0) + h(i, 1) + h(i, 2)),
              1e-4 * (std::fabs(h(i, 0)) + std::fabs(h(i, 1)) + std::fabs(h(i, 2))));
  }
}

/// Bodies at one point, and clumps that are far apart for their size, in one set.
TEST(Batch, OfBodiesAtOnePointAndOfClumps) {
  const DefaultSpace space;
  Sets sets;
  sets.add(50, 0, 0.7, 1);
  sets.add(200, 1e-4, 0, 2);
  sets.offsets.pop_back();
  sets.add(200, 1e-4, 1, 3);
  fmm::Solver<Laplace, DirectSum, float> solver;
  auto plan = solver.build(space, fmm::Batch{.sources = to_space<DefaultSpace>(sets.x),
                                             .offsets = column_in<DefaultSpace>(sets.offsets)});
  const Results found = evaluated<double>(solver, plan, sets.q), exact = summed(sets);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(found.potential[i], 0);
  const auto rest = [](Numbers const& all, int row) {
    return Numbers(all.begin() + 50 * row, all.end());
  };
  EXPECT_LT(relative_l2(rest(found.field, 3), rest(exact.field, 3)), 1e-5);
}

TEST(Batch, BadInputIsRefused) {
  const DefaultSpace space;
  const Sets sets = sets_of_all_sizes(3);
  fmm::Solver<SoftenedGravity, DirectSum> solver;
  const auto build = [&](std::vector<int> const& offsets, Numbers const& x) {
    return solver.build(space, fmm::Batch{.sources = to_space<DefaultSpace>(x),
                                          .offsets = column_in<DefaultSpace>(offsets)});
  };
  const Numbers four(12, 0.5);
  expect_refused([&] { build({}, four); }, "offsets.extent(0)");
  expect_refused([&] { build({1, 4}, four); }, "offsets(0)");
  expect_refused([&] { build({0, 3}, four); }, "offsets(1)");
  expect_refused([&] { build({0, 5}, four); }, "offsets(1)");
  expect_refused([&] { build({0, 3, 2, 4}, four); }, "offsets(2)");
  expect_refused([&] { build({0, -1, 4}, four); }, "offsets(1)");
  Numbers not_finite = sets.x;
  not_finite[31] = std::nan("");
  expect_refused([&] { build(sets.offsets, not_finite); }, "positions(10, 1)");
  auto plan = build(sets.offsets, sets.x);
  expect_refused([&] { evaluated<float>(solver, plan, sets.q); }, "charges(");
  expect_refused([&] { evaluated<float>(solver, plan, Numbers(7, 1.0)); }, "charges.extent(0)");
}

}  // namespace
}  // namespace fmm_test
