// SPDX-License-Identifier: BSD-3-Clause
// Far fields that pair kernels bring: Yukawa's by the Taylor expansions of the examples, and one that is exact.
#include "../../examples/taylor.hpp"

#include "support.hpp"

namespace fmm_test {
namespace {

// ---- exp(-kappa r) / r ----------------------------------------------------------------------------

struct Yukawa {
  double kappa = 1;

  template <class Real>
  KOKKOS_FUNCTION fmm::PairTerm<Real> operator()(Real r2) const {
    if (r2 == 0) return {0, 0};
    const Real k = Real(kappa), r = std::sqrt(r2), u = std::exp(-k * r) / r;
    return {u, u * (k * r + 1) / r2};
  }
  template <class Real, int Count>
  KOKKOS_FUNCTION void radial_derivatives(Real r, Real (&g)[Count]) const {
    const Real k = Real(kappa) * r;
    g[0] = std::exp(-k) / r;
    for (int i = 1; i < Count; ++i)
      g[i] = i == 1 ? -(1 + k) * g[0] : Real(1 - 2 * i) * g[i - 1] + k * k * g[i - 2];
  }
  template <int Order, class Real, class Translation>
  using Expansion = Taylor<Yukawa, Order, Real>;
};

/// The same, but in any unit of length.
struct ScaledYukawa : Yukawa {
  KOKKOS_FUNCTION ScaledYukawa rescaled(double length) const { return {{kappa * length}}; }
  KOKKOS_FUNCTION double potential_unit(double length) const { return 1 / length; }
  template <int Order, class Real, class Translation>
  using Expansion = Taylor<ScaledYukawa, Order, Real>;
};

/// The sums from the definition.
Results yukawa_reference(Bodies const& bodies, double kappa) {
  const std::size_t n = bodies.size();
  Results r{std::vector<double>(n), std::vector<double>(3 * n)};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      if (i == j) continue;
      double d[3], r2 = 0;
      for (int c = 0; c < 3; ++c) {
        d[c] = bodies.x[3 * i + c] - bodies.x[3 * j + c];
        r2 += d[c] * d[c];
      }
      const double distance = std::sqrt(r2),
                   u = bodies.q[j] * std::exp(-kappa * distance) / distance;
      r.potential[i] += u;
      for (int c = 0; c < 3; ++c)
        r.field[3 * i + c] += u * (1 / distance + kappa) * d[c] / distance;
    }
  return r;
}

/// Half of the bodies all over a cube of that edge, the other half in a ball in one of its corners; of both signs, but
/// not neutral. The cube is away from the origin.
Bodies clustered(double edge, std::size_t n) {
  Bodies bodies = make_bodies(Model::cube, n, false);
  const Bodies ball = make_bodies(Model::plummer, n, false);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 3 * i; k < 3 * i + 3; ++k) {
      if (i % 2) bodies.x[k] = 0.15 + 0.005 * ball.x[k];
      bodies.x[k] = edge * (7 + bodies.x[k]);
    }
    bodies.q[i] = i % 5 == 0 ? -1.0 : 1.0;
  }
  return bodies;
}

constexpr double edges[] = {0.01, 1, 300};

struct ErrorOf {
  double potential, field;
};

template <class Kernel, class Method, class Real>
ErrorOf yukawa_error(Bodies const& bodies, double kappa, Results const& reference) {
  Kernel kernel;
  kernel.kappa = kappa;
  fmm::Solver<Kernel, Method, Real> solver({.leaf_capacity = 16}, kernel);
  fmm::Report report;
  const Results r = run(solver, bodies, {}, &report);
  EXPECT_GT(report.m2l + report.m2p, 0) << "there is no far field";
  return {relative_l2(r.potential, reference.potential), relative_l2(r.field, reference.field)};
}

template <class Kernel, class Method, class Real = double>
void expect_errors_below(double potential, double field) {
  for (const double edge : edges)
    for (const double kappa : {0.0, 1.0, 5.0}) {
      const Bodies bodies = clustered(edge, 1500);
      const Results reference = yukawa_reference(bodies, kappa / edge);
      const auto error = yukawa_error<Kernel, Method, Real>(bodies, kappa / edge, reference);
      std::printf("edge %g kappa %g: %g %g\n", edge, kappa, error.potential, error.field);
      EXPECT_LT(error.potential, potential) << "edge " << edge << ", kappa edge " << kappa;
      EXPECT_LT(error.field, field) << "edge " << edge << ", kappa edge " << kappa;
    }
}

TEST(Yukawa, IsSummedByTreecode) {
  expect_errors_below<Yukawa, fmm::Treecode<4>>(1e-2, 1e-2);
  expect_errors_below<Yukawa, fmm::Treecode<6>>(1e-3, 1e-3);
  expect_errors_below<Yukawa, fmm::Treecode<8>>(1e-4, 1e-4);
}

TEST(Yukawa, IsSummedByFmm) {
  expect_errors_below<Yukawa, fmm::Fmm<4>>(1e-2, 1e-2);
  expect_errors_below<Yukawa, fmm::Fmm<6>>(1e-3, 1e-3);
  expect_errors_below<Yukawa, fmm::Fmm<8>>(1e-4, 1e-4);
}

TEST(Yukawa, IsSummedByTheClassicLists) {
  expect_errors_below<Yukawa, fmm::Fmm<6, FmmList>>(1e-3, 1e-3);
}

TEST(Yukawa, IsSummedInFloat) {
  expect_errors_below<Yukawa, fmm::Treecode<6>, float>(1e-3, 1e-3);
  expect_errors_below<Yukawa, fmm::Fmm<6>, float>(1e-3, 1e-3);
}

TEST(Yukawa, IsSummedInAnyUnit) {
  expect_errors_below<ScaledYukawa, fmm::Treecode<6>>(1e-3, 1e-3);
  expect_errors_below<ScaledYukawa, fmm::Fmm<6>, float>(1e-3, 1e-3);
}

}  // namespace
}  // namespace fmm_test
