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
Bodies clustered(double edge, std::size_t n = 1500) {
  Bodies bodies = make_bodies(Model::cube, n, false);
  const Bodies ball = make_bodies(Model::plummer, n, false);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 3 * i; k < 3 * i + 3; ++k) {
      if (i % 2) bodies.x[k] = 0.15 + 0.007 * ball.x[k];
      bodies.x[k] = edge * (7 + bodies.x[k]);
    }
    bodies.q[i] = i % 5 == 0 ? -1.0 : 1.0;
  }
  return bodies;
}

constexpr double edges[] = {0.01, 1, 300};

/// Small leaves: most pairs are far.
template <class Kernel, class Method, class Real = double>
Results summed(Bodies const& bodies, Kernel const& kernel) {
  fmm::Solver<Kernel, Method, Real> solver({.leaf_capacity = 12}, kernel);
  fmm::Report report;
  const Results r = run(solver, bodies, {}, &report);
  EXPECT_GT(report.m2l + report.m2p, 0) << "there is no far field";
  if constexpr (std::is_same_v<typename Method::traversal, FmmList>) {
    EXPECT_EQ(report.p2l > 0, Method::order > 0) << "with P2L of Taylor expansions";
  }
  return r;
}

template <class Kernel>
Kernel yukawa(double kappa) {
  Kernel kernel;
  kernel.kappa = kappa;
  return kernel;
}

/// Whatever the unit of length and however fast the kernel falls. (Its far field is that of kappa, or errors would be
/// larger: see TellsKernelsApart.)
template <class Kernel, class Method, class Real = double>
void expect_errors_below(double potential, double field) {
  for (const double edge : edges)
    for (const double kappa : {0.0, 1.0, 5.0}) {
      const Bodies bodies = clustered(edge);
      const Results reference = yukawa_reference(bodies, kappa / edge),
                    r = summed<Kernel, Method, Real>(bodies, yukawa<Kernel>(kappa / edge));
      EXPECT_LT(relative_l2(r.potential, reference.potential), potential)
          << "edge " << edge << ", kappa edge " << kappa;
      EXPECT_LT(relative_l2(r.field, reference.field), field)
          << "edge " << edge << ", kappa edge " << kappa;
    }
}

TEST(Yukawa, IsSummedByTreecode) {
  expect_errors_below<Yukawa, fmm::Treecode<6>>(3e-6, 1e-5);
  expect_errors_below<Yukawa, fmm::Treecode<6>, float>(3e-6, 1e-5);
}

TEST(Yukawa, IsSummedByFmm) {
  expect_errors_below<Yukawa, fmm::Fmm<6>>(1e-4, 2e-3);
  expect_errors_below<Yukawa, fmm::Fmm<6>, float>(1e-4, 2e-3);
  expect_errors_below<Yukawa, fmm::Fmm<6, FmmList>>(1e-4, 2e-3);
}

TEST(Yukawa, IsSummedInAnyUnit) {
  expect_errors_below<ScaledYukawa, fmm::Treecode<6>>(3e-6, 1e-5);
  expect_errors_below<ScaledYukawa, fmm::Fmm<6>, float>(1e-4, 2e-3);
}

/// About as theta^p, theta = 0.6.
template <template <int> class Method>
void expect_errors_to_fall(double kappa) {
  const Bodies bodies = clustered(1);
  const Results reference = yukawa_reference(bodies, kappa);
  const auto error = [&]<int Order>() {
    return relative_l2(summed<Yukawa, Method<Order>>(bodies, yukawa<Yukawa>(kappa)).field,
                       reference.field);
  };
  const double of_4 = error.template operator()<4>(), of_6 = error.template operator()<6>(),
               of_8 = error.template operator()<8>();
  EXPECT_LT(of_6, 0.36 * of_4) << of_4;
  EXPECT_LT(of_8, 0.36 * of_6) << of_6;
}

template <int Order>
using ByTreecode = fmm::Treecode<Order>;
template <int Order>
using ByFmm = fmm::Fmm<Order>;

TEST(Yukawa, ErrsLessWithEveryOrder) {
  for (const double kappa : {0.0, 5.0}) {
    expect_errors_to_fall<ByTreecode>(kappa);
    expect_errors_to_fall<ByFmm>(kappa);
  }
}

/// Multipoles of 1/r up to a degree are the same numbers in whichever basis.
TEST(Yukawa, WithoutScreeningIsLaplace) {
  for (const double edge : edges) {
    const Bodies bodies = clustered(edge);
    const Results a = summed<Yukawa, fmm::Treecode<6>>(bodies, Yukawa{0}),
                  b = summed<Laplace, fmm::Treecode<6>>(bodies, Laplace());
    EXPECT_LT(relative_l2(a.potential, b.potential), 1e-12) << edge;
    EXPECT_LT(relative_l2(a.field, b.field), 1e-12) << edge;
    const Results c = summed<Yukawa, fmm::Fmm<6>>(bodies, Yukawa{0}),
                  d = summed<Laplace, fmm::Fmm<6>>(bodies, Laplace());
    EXPECT_LT(relative_l2(c.potential, d.potential), 1e-4) << edge;
    EXPECT_LT(relative_l2(c.field, d.field), 2e-3) << edge;
  }
}

/// One solver type, two kernels.
TEST(Yukawa, TellsKernelsApart) {
  const Bodies bodies = clustered(1);
  for (const double kappa : {1.0, 1.1}) {
    const Results r = summed<Yukawa, fmm::Fmm<6>>(bodies, Yukawa{kappa});
    EXPECT_LT(relative_l2(r.potential, yukawa_reference(bodies, kappa).potential), 1e-4);
    EXPECT_GT(relative_l2(r.potential, yukawa_reference(bodies, 2.1 - kappa).potential), 1e-3);
  }
}

// ---- strength r^2 ---------------------------------------------------------------------------------

/// Exact with five moments, sum q, sum q x and sum q x^2, which are kept in edges of the root: every function has to
/// know the edge of the cell, and how long an edge of the root is.
template <bool WithLocals>
struct Squares {
  static constexpr bool vectorised = true;
  double strength = 0;

  template <class V>
  KOKKOS_FUNCTION fmm::PairTerm<V> operator()(V r2) const {
    using Real = fmm::simd::lane_scalar_t<V>;
    return {V(Real(strength)) * r2, V(Real(-2 * strength))};
  }

  template <int Order, class Real, class Translation>
  struct Expansion {
    static constexpr int size = 5;
    Real square_of_edge;  ///< of the root, times the strength
    Real cell_edge = 0;

    Expansion(Squares const& kernel, double root_edge)
        : square_of_edge(Real(kernel.strength * root_edge * root_edge)) {}
    KOKKOS_FUNCTION Expansion at(Real edge) const {
      Expansion there = *this;
      there.cell_edge = edge;
      return there;
    }

    template <class V>
    KOKKOS_FUNCTION void p2m(V x, V y, V z, V q, V* M) const {
      const V e(cell_edge);
      M[0] += q;
      M[1] += q * x * e;
      M[2] += q * y * e;
      M[3] += q * z * e;
      M[4] += q * (x * x + y * y + z * z) * e * e;
    }
    template <class V>
    KOKKOS_FUNCTION void m2m(V x, V y, V z, V* M) const {
      move(x * V(cell_edge), y * V(cell_edge), z * V(cell_edge), M);
    }
    template <bool P, bool F, class V>
    KOKKOS_FUNCTION void m2p(V x, V y, V z, Real per_edge, Real const* M,
                             fmm::kernels::PotentialGradient<V>& sum) const {
      const V e(Real(1) / per_edge);
      const auto value = at_point(x * e, y * e, z * e, M);
      sum.potential += value.potential;
      sum.x += value.x;
      sum.y += value.y;
      sum.z += value.z;
    }

    template <class V>
    KOKKOS_FUNCTION void m2l(V x, V y, V z, V, V, V* M) const requires WithLocals {
      move(-x, -y, -z, M);
    }
    template <class V>
    KOKKOS_FUNCTION void l2l(V x, V y, V z, V* L) const requires WithLocals {
      move(-x * V(cell_edge), -y * V(cell_edge), -z * V(cell_edge), L);
    }
    template <bool P, bool F, class V>
    KOKKOS_FUNCTION fmm::kernels::PotentialGradient<V> l2p(
        V x, V y, V z, Real const* L) const requires WithLocals {
      const V e(cell_edge);
      const auto value = at_point(x * e, y * e, z * e, L);
      return {value.potential, value.x * e, value.y * e, value.z * e};
    }

   private:
    /// To a centre from which the one before lies (x, y, z).
    template <class V>
    KOKKOS_FUNCTION static void move(V x, V y, V z, V* M) {
      M[4] += V(Real(2)) * (x * M[1] + y * M[2] + z * M[3]) + (x * x + y * y + z * z) * M[0];
      M[1] += x * M[0];
      M[2] += y * M[0];
      M[3] += z * M[0];
    }
    template <class V>
    KOKKOS_FUNCTION fmm::kernels::PotentialGradient<V> at_point(V x, V y, V z,
                                                                Real const* M) const {
      const V unit(square_of_edge), twice = V(Real(2)) * unit, q(M[0]), a(M[1]), b(M[2]), c(M[3]);
      return {unit * (q * (x * x + y * y + z * z) - V(Real(2)) * (a * x + b * y + c * z) + V(M[4])),
              twice * (q * x - a), twice * (q * y - b), twice * (q * z - c)};
    }
  };
};

Results squares_reference(Bodies const& bodies, double strength) {
  const std::size_t n = bodies.size();
  Results r{std::vector<double>(n), std::vector<double>(3 * n)};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (int c = 0; c < 3; ++c) {
        const double d = bodies.x[3 * i + c] - bodies.x[3 * j + c];
        r.potential[i] += bodies.q[j] * strength * d * d;
        r.field[3 * i + c] -= 2 * bodies.q[j] * strength * d;
      }
  return r;
}

template <bool WithLocals, class Method, class Precision = double>
void expect_exact_squares(double rounding) {
  using Kernel = Squares<WithLocals>;
  for (const double edge : edges) {
    const Bodies bodies = clustered(edge);
    const Results reference = squares_reference(bodies, 3 / edge),
                  r = summed<Kernel, Method, Precision>(bodies, Kernel{3 / edge});
    EXPECT_LT(relative_l2(r.potential, reference.potential), rounding) << edge;
    EXPECT_LT(relative_l2(r.field, reference.field), rounding) << edge;
  }
}

TEST(OwnExpansion, KnowsTheEdgesOfTheCellsAndOfTheRoot) {
  expect_exact_squares<true, fmm::Fmm<0>>(1e-12);
  expect_exact_squares<true, fmm::Fmm<0, FmmList>>(1e-12);
  expect_exact_squares<true, fmm::Fmm<0>, float>(1e-5);
  expect_exact_squares<true, fmm::Fmm<0>, fmm::Mixed>(1e-5);
}

TEST(OwnExpansion, OfATreecodeHasNoLocals) {
  expect_exact_squares<false, fmm::Treecode<0>>(1e-12);
  expect_exact_squares<false, fmm::Treecode<0, DualTree<>>>(1e-12);
}

}  // namespace
}  // namespace fmm_test
