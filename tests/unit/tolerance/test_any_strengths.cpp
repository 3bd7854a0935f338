// SPDX-License-Identifier: BSD-3-Clause
// A tolerance for any strengths, targets and results, against sums in long double: of charges, dipoles and both, at the
// sources, at some of them and at others, of several densities, softened, and without excluded pairs.
#include <numeric>

#include "refusal.hpp"
#include "support.hpp"

namespace fmm_test {
namespace {

using DefaultSpace = Kokkos::DefaultExecutionSpace;
using Points = std::vector<double>;  // 3 N
using Number = long double;

/// Charges and dipoles of some bodies; either may be absent.
struct Sources {
  Points x, dipoles;
  std::vector<double> charges;
  std::size_t size() const { return x.size() / 3; }
};

/// Potential, field and Hessian in rows of ten, of targets that are sources with these numbers, or else others.
std::vector<Number> summed(Points const& targets, std::vector<int> const& numbers,
                           Sources const& sources, double softening = 0, Number factor = 1,
                           std::vector<std::vector<int>> const& excluded = {}) {
  const std::size_t m = targets.size() / 3;
  std::vector<Number> all(10 * m);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < sources.size(); ++j) {
      if (!numbers.empty() && numbers[i] == int(j)) continue;
      if (!excluded.empty()) {
        auto const& row = excluded[std::size_t(numbers[i])];
        if (std::find(row.begin(), row.end(), int(j)) != row.end()) continue;
      }
      Number d[3], r2 = Number(softening) * softening;
      for (int c = 0; c < 3; ++c) {
        d[c] = Number(targets[3 * i + c]) - sources.x[3 * j + c];
        r2 += d[c] * d[c];
      }
      if (r2 == 0) continue;
      const Number u = factor / std::sqrt(r2), w = u / r2, t = 3 * w / r2, s = 5 * t / r2,
                   q = sources.charges.empty() ? 0 : sources.charges[j];
      Number p[3] = {}, along = 0;
      for (int c = 0; c < 3 && !sources.dipoles.empty(); ++c)
        p[c] = sources.dipoles[3 * j + c], along += p[c] * d[c];
      Number* const at = &all[10 * i];
      at[0] += q * u + w * along;
      for (int c = 0; c < 3; ++c) at[1 + c] += q * w * d[c] + t * along * d[c] - w * p[c];
      constexpr int rows[] = {0, 1, 2, 0, 0, 1}, columns[] = {0, 1, 2, 1, 2, 2};
      for (int k = 0; k < 6; ++k) {
        const int a = rows[k], b = columns[k], same = a == b;
        at[4 + k] += q * (t * d[a] * d[b] - same * w) + s * along * d[a] * d[b] -
                     t * (same * along + d[a] * p[b] + d[b] * p[a]);
      }
    }
  return all;
}

/// The relative L2 error of numbers first .. first + count - 1 of rows of ten; a Hessian's in its Frobenius norm.
double error_of(std::vector<double> const& found, std::vector<Number> const& exact, int first,
                int count) {
  Number error = 0, norm = 0;
  for (std::size_t i = 0; i < exact.size(); i += 10)
    for (int c = first; c < first + count; ++c) {
      const Number weight = c >= 7 ? 2 : 1, b = exact[i + c], d = found[i + c] - b;
      error += weight * d * d;
      norm += weight * b * b;
    }
  return double(std::sqrt(error / norm));
}

enum class Carries { charges, dipoles, both };

Sources sources_of(Model model, std::size_t n, Carries kind, bool masses = false) {
  const Bodies bodies = make_bodies(model, n, !masses);
  Sources sources{bodies.x, {}, {}};
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal(0, 0.02 / double(n));
  if (kind != Carries::charges)
    for (std::size_t k = 0; k < 3 * n; ++k) sources.dipoles.push_back(normal(random));
  if (kind != Carries::dipoles) sources.charges = bodies.q;
  return sources;
}

/// visit(strengths) of the kind.
template <Carries kind, class Visit>
void with_strengths(Sources const& sources, Visit const& visit) {
  if constexpr (kind == Carries::charges)
    visit(column_in<DefaultSpace>(sources.charges));
  else if constexpr (kind == Carries::dipoles)
    visit(fmm::Strengths{.dipoles = to_space<DefaultSpace>(sources.dipoles)});
  else
    visit(fmm::Strengths{.charges = column_in<DefaultSpace>(sources.charges),
                         .dipoles = to_space<DefaultSpace>(sources.dipoles)});
}

/// All three results, in rows of ten.
template <Carries kind, class Solver, class Plan, class... Exclusions>
std::vector<double> evaluated(Solver& solver, Plan& plan, Sources const& sources,
                              Exclusions const&... exclusions) {
  const DefaultSpace space;
  const auto m = std::size_t(plan.targets());
  const ViewIn<double*, DefaultSpace> u("u", m);
  const ViewIn<double* [3], DefaultSpace> f("f", m);
  const ViewIn<double* [6], DefaultSpace> h("h", m);
  with_strengths<kind>(sources, [&](auto const& strengths) {
    solver.evaluate(space, plan, strengths,
                    fmm::Results{.potential = u, .field = f, .hessian = h}, exclusions...);
  });
  space.fence();
  const auto hu = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), u);
  const auto hf = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), f);
  const auto hh = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), h);
  std::vector<double> rows;
  for (std::size_t i = 0; i < m; ++i) {
    rows.push_back(hu(i));
    for (int c = 0; c < 3; ++c) rows.push_back(hf(i, c));
    for (int c = 0; c < 6; ++c) rows.push_back(hh(i, c));
  }
  return rows;
}

void expect_held(std::vector<double> const& found, std::vector<Number> const& exact,
                 double tolerance, char const* what) {
  EXPECT_LE(error_of(found, exact, 0, 1), tolerance) << what;
  EXPECT_LE(error_of(found, exact, 1, 3), tolerance) << what;
  EXPECT_LE(error_of(found, exact, 4, 6), tolerance) << what;
}

Points gathered(Points const& from, std::vector<int> const& numbers) {
  Points rows;
  for (const int i : numbers)
    rows.insert(rows.end(), from.begin() + 3 * i, from.begin() + 3 * i + 3);
  return rows;
}

template <class Precision>
using SolverIn = fmm::ToleranceSolver<Laplace, fmm::Orders<4, 8, 12>, Precision>;

/// At the sources, at some of them, and at others, each result within the tolerance.
template <class Precision, Carries kind>
void expect_tolerance(Model model, std::size_t n, double tolerance) {
  const DefaultSpace space;
  const Sources sources = sources_of(model, n, kind);
  const auto x = to_space<DefaultSpace>(sources.x);
  SolverIn<Precision> solver(
      {.tolerance = tolerance, .tolerance_of = fmm::ToleranceOf::all});
  std::vector<int> all(n), some;
  std::iota(all.begin(), all.end(), 0);
  for (int i = int(n) - 1; i >= 0; i -= 9) some.push_back(i);
  auto plan = solver.build(space, x);
  expect_held(evaluated<kind>(solver, plan, sources), summed(sources.x, all, sources), tolerance,
              name_of(model));
  solver.retarget(space, plan, column_in<DefaultSpace>(some));
  expect_held(evaluated<kind>(solver, plan, sources),
              summed(gathered(sources.x, some), some, sources), tolerance, "some");
  const Points targets = make_bodies(model, n / 2, false, 5).x;
  auto others = solver.build(
      space, fmm::Inputs{.sources = x, .targets = to_space<DefaultSpace>(targets)});
  expect_held(evaluated<kind>(solver, others, sources), summed(targets, {}, sources), tolerance,
              "others");
}

TEST(AnyStrengths, OfChargesHoldTheTolerance) {
  expect_tolerance<fmm::Mixed, Carries::charges>(Model::cube, 3000, 1e-4);
  expect_tolerance<double, Carries::charges>(Model::plummer, 3000, 1e-7);
}
TEST(AnyStrengths, OfDipolesHoldTheTolerance) {
  expect_tolerance<fmm::Mixed, Carries::dipoles>(Model::disk, 3000, 1e-4);
  expect_tolerance<double, Carries::dipoles>(Model::shell, 3000, 1e-6);
}
TEST(AnyStrengths, OfBothHoldTheTolerance) {
  expect_tolerance<fmm::Mixed, Carries::both>(Model::clusters, 3000, 3e-5);
  expect_tolerance<double, Carries::both>(Model::cube, 3000, 1e-8);
}

}  // namespace
}  // namespace fmm_test
