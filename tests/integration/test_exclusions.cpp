// SPDX-License-Identifier: BSD-3-Clause
// Sums without given pairs, near ones and far ones, against sums of all others.
#include "refusal.hpp"
#include "support.hpp"

namespace fmm_test {
namespace {

using DefaultSpace = Kokkos::DefaultExecutionSpace;
using Numbers = std::vector<double>;

/// Bodies in pairs that are very close, and pairs of them all over the box, that exert nothing on each other.
struct Molecules {
  Numbers x, q, p;
  std::vector<std::vector<int>> rows;

  Molecules(int count, double bond, unsigned seed) : rows(count) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (int i = 0; i < count; ++i) {
      for (int d = 0; d < 3; ++d)
        x.push_back(i % 2 == 0 ? uniform(random) : x[3 * (i - 1) + d] + bond * uniform(random));
      q.push_back(uniform(random));
      for (int d = 0; d < 3; ++d) p.push_back(0.1 * uniform(random));
    }
    for (int i = 0; i + 1 < count; i += 2) exclude(i, i + 1);
    for (int k = 0; k < count / 5; ++k)
      exclude(int(random() % std::uint64_t(count)), int(random() % std::uint64_t(count)));
  }
  void exclude(int i, int j) {
    if (i == j || is_excluded(i, j)) return;
    rows[i].push_back(j);
    rows[j].push_back(i);
  }
  bool is_excluded(int i, int j) const {
    return std::find(rows[i].begin(), rows[i].end(), j) != rows[i].end();
  }
  int size() const { return int(q.size()); }
};

auto exclusions_of(std::vector<std::vector<int>> const& rows) {
  std::vector<std::int64_t> offsets = {0};
  std::vector<int> bodies;
  for (auto const& row : rows) {
    bodies.insert(bodies.end(), row.begin(), row.end());
    offsets.push_back(std::int64_t(bodies.size()));
  }
  return fmm::Exclusions{.offsets = column_in<DefaultSpace>(offsets),
                         .bodies = column_in<DefaultSpace>(bodies)};
}

/// Potential, field and Hessian in rows of ten, of charges and dipoles.
Numbers summed(Molecules const& all, double softening, bool with_dipoles) {
  Numbers sums(10 * all.q.size());
  for (int i = 0; i < all.size(); ++i)
    for (int j = 0; j < all.size(); ++j) {
      if (j == i || all.is_excluded(i, j)) continue;
      double d[3], r2 = softening * softening;
      for (int c = 0; c < 3; ++c) {
        d[c] = all.x[3 * i + c] - all.x[3 * j + c];
        r2 += d[c] * d[c];
      }
      if (r2 == 0) continue;
      const double u = 1 / std::sqrt(r2), u3 = u * u * u, u5 = u3 / r2, u7 = u5 / r2, q = all.q[j];
      double* const sum = &sums[10 * i];
      double const* const p = &all.p[3 * j];
      const double pd = with_dipoles ? p[0] * d[0] + p[1] * d[1] + p[2] * d[2] : 0;
      sum[0] += q * u + pd * u3;
      for (int c = 0; c < 3; ++c)
        sum[1 + c] += q * u3 * d[c] + 3 * pd * u5 * d[c] - (with_dipoles ? p[c] * u3 : 0);
      const int at[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
      for (int k = 0; k < 6; ++k) {
        const int a = at[k][0], b = at[k][1];
        double h = q * (3 * u5 * d[a] * d[b] - (a == b) * u3);
        if (with_dipoles)
          h += 15 * pd * u7 * d[a] * d[b] - 3 * u5 * ((a == b) * pd + p[a] * d[b] + p[b] * d[a]);
        sum[4 + k] += h;
      }
    }
  return sums;
}
Numbers columns(Numbers const& sums, int first, int count) {
  Numbers part;
  for (std::size_t i = 0; i < sums.size() / 10; ++i)
    for (int k = 0; k < count; ++k) part.push_back(sums[10 * i + first + k]);
  return part;
}

template <bool with_dipoles = false, class Solver, class Plan, class SomeExclusions>
Numbers evaluated(Solver& solver, Plan& plan, Molecules const& all,
                  SomeExclusions const& exclusions) {
  const DefaultSpace space;
  const std::size_t n = all.q.size();
  const ViewIn<double*, DefaultSpace> u("u", n);
  const ViewIn<double* [3], DefaultSpace> f("f", n);
  const ViewIn<double* [6], DefaultSpace> h("h", n);
  const auto q = column_in<DefaultSpace>(all.q);
  if constexpr (with_dipoles)
    solver.evaluate(space, plan,
                    fmm::Strengths{.charges = q, .dipoles = to_space<DefaultSpace>(all.p)},
                    fmm::Results{.potential = u, .field = f, .hessian = h}, exclusions);
  else
    solver.evaluate(space, plan, q, fmm::Results{.potential = u, .field = f}, exclusions);
  space.fence();
  const auto hu = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), u);
  const auto hf = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), f);
  const auto hh = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), h);
  Numbers sums;
  for (std::size_t i = 0; i < n; ++i) {
    sums.push_back(hu(i));
    for (int d = 0; d < 3; ++d) sums.push_back(hf(i, d));
    for (int d = 0; d < 6; ++d) sums.push_back(hh(i, d));
  }
  return sums;
}

/// Bonds of 1e-6: their terms are a million times those that remain, which float does not keep in a difference.
template <class Method, class Precision>
void expect_without(fmm::Options const& options, double most) {
  const DefaultSpace space;
  const Molecules all(2600, 1e-6, 3);
  fmm::Solver<Laplace, Method, Precision> solver(options);
  auto plan = solver.build(space, to_space<DefaultSpace>(all.x));
  const Numbers found = evaluated(solver, plan, all, exclusions_of(all.rows)),
                exact = summed(all, 0, false);
  EXPECT_LT(relative_l2(columns(found, 0, 1), columns(exact, 0, 1)), most);
  EXPECT_LT(relative_l2(columns(found, 1, 3), columns(exact, 1, 3)), most);
}
TEST(Exclusions, OfAnFmm) {
  expect_without<fmm::Fmm<6>, float>({.theta = 0.5, .leaf_capacity = 16}, 1e-3);
  expect_without<fmm::Fmm<8>, fmm::Mixed>({.theta = 0.4, .leaf_capacity = 16}, 1e-5);
  expect_without<fmm::Fmm<12>, double>({.theta = 0.4, .leaf_capacity = 16}, 1e-7);
  expect_without<fmm::Fmm<10, fmm::FmmList>, double>({.leaf_capacity = 16}, 1e-4);
}
TEST(Exclusions, OfATreecode) {
  expect_without<fmm::Treecode<10>, double>({.theta = 0.4, .leaf_capacity = 16}, 1e-5);
}
TEST(Exclusions, OfAllPairs) {
  expect_without<DirectSum, float>({}, 1e-5);
  expect_without<DirectSum, fmm::Mixed>({}, 1e-6);
  expect_without<DirectSum, double>({}, 1e-12);
}

/// Lists that follow the charges, which are made anew in each evaluation.
TEST(Exclusions, OfListsByPowers) {
  const DefaultSpace space;
  const Molecules all(2600, 1e-3, 3);
  fmm::Solver<Laplace, fmm::Fmm<8, DualTree<fmm::MultipolePowerCriterion>>, double> solver(
      {.pair_error = 1e-6, .leaf_capacity = 16});
  auto plan = solver.build(space, fmm::Inputs{.sources = to_space<DefaultSpace>(all.x),
                                              .charges = column_in<DefaultSpace>(all.q)});
  const Numbers found = evaluated(solver, plan, all, exclusions_of(all.rows)),
                exact = summed(all, 0, false);
  EXPECT_LT(relative_l2(columns(found, 1, 3), columns(exact, 1, 3)), 1e-3);
}

template <class Method>
void expect_dipoles_without(double most) {
  const DefaultSpace space;
  const Molecules all(2000, 1e-2, 4);
  fmm::Solver<Laplace, Method, double> solver;
  auto plan = solver.build(space, to_space<DefaultSpace>(all.x));
  const Numbers found = evaluated<true>(solver, plan, all, exclusions_of(all.rows)),
                exact = summed(all, 0, true);
  EXPECT_LT(relative_l2(columns(found, 0, 1), columns(exact, 0, 1)), most);
  EXPECT_LT(relative_l2(columns(found, 1, 3), columns(exact, 1, 3)), most);
  EXPECT_LT(relative_l2(columns(found, 4, 6), columns(exact, 4, 6)), most);
}
TEST(Exclusions, OfDipolesAndHessians) {
  expect_dipoles_without<DirectSum>(1e-12);
  expect_dipoles_without<fmm::Fmm<12>>(1e-4);
}

/// Bodies at one point, with and without softening; several densities.
TEST(Exclusions, OfBodiesAtOnePointAndOfDensities) {
  const DefaultSpace space;
  Molecules all(1200, 0, 5);
  for (double& q : all.q) q = std::fabs(q);
  fmm::Solver<SoftenedGravity, fmm::Fmm<10>, double> solver(
      {.theta = 0.4, .leaf_capacity = 12, .softening = 0.01});
  auto plan = solver.build(space, to_space<DefaultSpace>(all.x));
  const auto exclusions = exclusions_of(all.rows);
  const Numbers found = evaluated(solver, plan, all, exclusions), exact = summed(all, 0.01, false);
  Numbers attracted = columns(exact, 1, 3);
  for (double& a : attracted) a = -a;
  EXPECT_LT(relative_l2(columns(found, 1, 3), attracted), 1e-4);  // Options::softening_error
  constexpr int count = 3;
  const auto q = column_in<DefaultSpace>(all.q);
  const ViewIn<double**, DefaultSpace> charges("charges", 1200, count), u("u", 1200, count);
  for (int k = 0; k < count; ++k) Kokkos::deep_copy(Kokkos::subview(charges, Kokkos::ALL, k), q);
  solver.evaluate(space, plan, charges, fmm::Results{.potential = u}, exclusions);
  const auto of_densities = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), u);
  const Numbers of_one = columns(found, 0, 1);
  for (int i = 0; i < 1200; ++i)
    for (int k = 0; k < count; ++k) ASSERT_NEAR(of_densities(i, k), of_one[i], 1e-9);
}

/// All pairs but none excluded, all excluded, no bodies.
TEST(Exclusions, OfNoneAndOfAll) {
  const DefaultSpace space;
  Molecules all(60, 0.1, 6);
  fmm::Solver<Laplace, fmm::Fmm<6>, double> solver({.leaf_capacity = 4});
  auto plan = solver.build(space, to_space<DefaultSpace>(all.x));
  const std::vector<std::vector<int>> no_rows(60);
  const ViewIn<double*, DefaultSpace> u("u", 60);
  solver.evaluate(space, plan, column_in<DefaultSpace>(all.q), u, fmm::none);
  const auto plain = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), u);
  const Numbers without_none = columns(evaluated(solver, plan, all, exclusions_of(no_rows)), 0, 1);
  for (int i = 0; i < 60; ++i) EXPECT_NEAR(without_none[i], plain(i), 1e-12);
  for (int i = 0; i < 60; ++i)
    for (int j = 0; j < i; ++j) all.exclude(i, j);
  for (const double number : evaluated(solver, plan, all, exclusions_of(all.rows)))
    EXPECT_NEAR(number, 0, 0.05);  // what expansions leave of far pairs
  auto nothing = solver.build(space, to_space<DefaultSpace>({}));
  const Molecules none(0, 1, 1);
  EXPECT_TRUE(evaluated(solver, nothing, none, exclusions_of({})).empty());
}

/// A transposed plan leaves the same pairs out.
TEST(Exclusions, OfATransposedPlan) {
  const DefaultSpace space;
  const Molecules all(1000, 1e-3, 8);
  fmm::Solver<Laplace, fmm::Fmm<10>, double> solver({.theta = 0.4, .leaf_capacity = 16});
  auto plan = solver.build(space, to_space<DefaultSpace>(all.x));
  auto transposed = solver.transposed(space, plan);
  const auto exclusions = exclusions_of(all.rows);
  const Numbers forth = columns(evaluated(solver, plan, all, exclusions), 0, 1),
                back = columns(evaluated(solver, transposed, all, exclusions), 0, 1);
  EXPECT_LT(relative_l2(back, columns(summed(all, 0, false), 0, 1)), 1e-6);
  EXPECT_LT(relative_l2(back, forth), 1e-6);
}

TEST(Exclusions, BadInputIsRefused) {
  const DefaultSpace space;
  const Molecules all(6, 0.1, 6);
  fmm::Solver<Laplace, fmm::Fmm<4>, double> solver;
  auto plan = solver.build(space, to_space<DefaultSpace>(all.x));
  const auto refuses = [&](std::vector<std::vector<int>> const& rows, std::string const& words) {
    expect_refused([&] { evaluated(solver, plan, all, exclusions_of(rows)); }, words);
  };
  refuses({{1}, {0}, {}, {}, {}}, "exclusions.offsets.extent(0)");
  refuses({{1}, {0, 6}, {}, {}, {}, {}}, "exclusions.bodies(2)");
  refuses({{1}, {0, -1}, {}, {}, {}, {}}, "exclusions.bodies(2)");
  refuses({{1}, {0, 1}, {}, {}, {}, {}}, "exclusions.bodies(2)");
  refuses({{1, 1}, {0}, {}, {}, {}, {}}, "exclusions.bodies(1)");
  refuses({{1}, {0}, {5}, {}, {}, {}}, "exclusions.bodies(2)");
  refuses({{1}, {0}, {5}, {}, {}, {}},
          "in body 2's row the number of another body, once, in whose row 2 is");
  const ViewIn<double*, DefaultSpace> u("u", 6);
  Kokkos::deep_copy(u, 7);
  const auto offsets = column_in<DefaultSpace>(std::vector<int>{0, 1, 1, 2, 2, 2, 1});
  expect_refused(
      [&] {
        solver.evaluate(space, plan, column_in<DefaultSpace>(all.q), fmm::Results{.potential = u},
                        fmm::Exclusions{.offsets = offsets, .bodies = offsets});
      },
      "exclusions.offsets(6)");
  const auto untouched = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), u);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(untouched(i), 7);
}

}  // namespace
}  // namespace fmm_test
