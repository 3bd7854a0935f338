// SPDX-License-Identifier: BSD-3-Clause
// Expansions as polynomials: what L2P and M2P evaluate. The potential of a local expansion is
//
//     Phi(x) = H(x),        H(s) = sum_k L_k e_k(s),
//
// and by Kelvin's inversion, s = x / |x|^2, that of a multipole is
//
//     Phi(x) = |s| H(s),    H(s) = sum_k M_k e_k(s),
//
// with the basis e of harmonics.hpp: a harmonic polynomial of degree p. Written in monomials x^a y^b z^c
// it takes more numbers, C(p+3, 3) for (p+1)^2, but Horner's rule gives its value and its gradient with 65
// multiply-adds at order 4 and 325 at order 8, in a few registers, where the harmonics and their sums take
// three times as many. docs/math.md has the formulas.
//
// Coefficients lie in the order in which `horner` wants them: those of z^p first, then those of z^(p-1),
// ..; among these y^p first; among these x^p first. So the first C(n+3, 3) of them are, for every n, those
// of a polynomial of degree n that has yet to be multiplied by z^(p-n).
#pragma once

#include "../hessian.hpp"
#include "harmonics.hpp"

namespace fmm::kernels {

/// Up to this order expansions are evaluated as polynomials; above, their number of coefficients and the
/// table that makes them grow large.
inline constexpr int largest_polynomial_order = 8;

/// Monomials of degree n or less in `variables` of x, y, z: C(n + variables, variables).
KOKKOS_INLINE_FUNCTION constexpr int monomial_count(int variables, int n) {
  int count = 1;
  for (int v = 1; v <= variables; ++v) count = count * (n + v) / v;
  return count;
}

/// Place of x^a y^b z^c among the coefficients of a polynomial of degree `order`.
KOKKOS_INLINE_FUNCTION constexpr int monomial_index(int order, int a, int b, int c) {
  const int in_xy = order - c, in_x = in_xy - b, rest = in_x - a;
  return (in_xy > 0 ? monomial_count(3, in_xy - 1) : 0) +
         (in_x > 0 ? monomial_count(2, in_x - 1) : 0) + rest;
}

/// The basis functions e_nm in monomials. x^a y^b z^c is found only in those with n = a + b + c and
/// m = a + b, a + b - 2, .. 0 or 1, in the cosines if b is even and in the sines if it is odd.
template <int Order, class Real>
struct MonomialTable {
  static constexpr int size = monomial_count(3, Order);
  std::int8_t degree[size], largest_m[size], sine[size];  ///< a + b + c, a + b, b mod 2
  Real weight[size][Order / 2 + 1];                       ///< for each m, the largest first

  KOKKOS_FUNCTION static constexpr MonomialTable make() {
    // U_n^m from the recurrences of regular_harmonics
    double u[coefficient_count(Order)][size] = {};
    const auto add = [&](int to, int from, int degree, int da, int db, int dc, double factor) {
      for (int a = 0; a <= degree; ++a)
        for (int b = 0; a + b <= degree; ++b) {
          const int c = degree - a - b;
          u[to][monomial_index(Order, a + da, b + db, c + dc)] +=
              factor * u[from][monomial_index(Order, a, b, c)];
        }
    };
    u[0][monomial_index(Order, 0, 0, 0)] = 1;
    for (int m = 0; m <= Order; ++m) {
      if (m > 0) {
        const int re = index_re(m, m), im = index_im(m, m), re1 = index_re(m - 1, m - 1),
                  im1 = index_im(m - 1, m - 1);
        const double f = 0.5 / m;
        add(re, re1, m - 1, 1, 0, 0, f);
        add(im, re1, m - 1, 0, 1, 0, f);
        if (m > 1) {
          add(re, im1, m - 1, 0, 1, 0, -f);
          add(im, im1, m - 1, 1, 0, 0, f);
        }
      }
      for (int n = m + 1; n <= Order; ++n)
        for (int part = 0; part < (m > 0 ? 2 : 1); ++part) {
          const auto at = [&](int k) { return part == 0 ? index_re(k, m) : index_im(k, m); };
          const double f = 1.0 / ((n - m) * (n + m));
          add(at(n), at(n - 1), n - 1, 0, 0, 1, (2 * n - 1) * f);
          if (n == m + 1) continue;
          add(at(n), at(n - 2), n - 2, 2, 0, 0, -f);
          add(at(n), at(n - 2), n - 2, 0, 2, 0, -f);
          add(at(n), at(n - 2), n - 2, 0, 0, 2, -f);
        }
    }
    MonomialTable table{};
    const auto norm = NormTable<Order, double>::make();
    for (int n = 0; n <= Order; ++n)
      for (int a = 0; a <= n; ++a)
        for (int b = 0; a + b <= n; ++b) {
          const int i = monomial_index(Order, a, b, n - a - b);
          table.degree[i] = std::int8_t(n);
          table.largest_m[i] = std::int8_t(a + b);
          table.sine[i] = std::int8_t(b % 2);
          for (int m = a + b; m >= b % 2; m -= 2) {
            const int k = b % 2 ? index_im(n, m) : index_re(n, m);
            table.weight[i][(a + b - m) / 2] = Real(norm.regular[k] * u[k][i]);
          }
        }
    return table;
  }
};

/// Coefficient i of the polynomial of expansion M.
template <int Order, class Real>
KOKKOS_INLINE_FUNCTION Real polynomial_coefficient(Real const* M, int i) {
  static constexpr auto table = MonomialTable<Order, Real>::make();
  const int n = table.degree[i], top = table.largest_m[i], sine = table.sine[i];
  Real sum(0);
  for (int m = top; m >= sine; m -= 2)
    sum += table.weight[i][(top - m) / 2] * M[sine ? index_im(n, m) : index_re(n, m)];
  return sum;
}

/// A polynomial's value and its derivatives by the first `Variables` of x, y, z.
template <class V, int Variables>
struct Jet {
  V value;
  V d[Variables > 0 ? Variables : 1];
};

/// Horner's rule in the last of the variables: P = x_last Q + R, with Q of a degree less and R in one
/// variable less, and both by the same rule. Without Gradient only the value is computed.
template <int Variables, int Degree, bool Gradient, class V, class Real>
KOKKOS_FORCEINLINE_FUNCTION Jet<V, Variables> horner(V const (&x)[3], Real const* coefficients) {
  Jet<V, Variables> p{};
  if constexpr (Variables == 0 || Degree == 0) {
    p.value = V(coefficients[0]);
    for (V& d : p.d) d = V(Real(0));
  } else {
    constexpr int last = Variables - 1, skip = monomial_count(Variables, Degree - 1);
    const auto q = horner<Variables, Degree - 1, Gradient>(x, coefficients);
    const auto r = horner<Variables - 1, Degree, Gradient>(x, coefficients + skip);
    p.value = x[last] * q.value + r.value;
    if constexpr (Gradient) {
      // the first step is a copy: Q is a constant there
      p.d[last] = Degree > 1 ? x[last] * q.d[last] + q.value : q.value;
      FMM_UNROLL
      for (int i = 0; i < last; ++i) p.d[i] = Degree > 1 ? x[last] * q.d[i] + r.d[i] : r.d[i];
    }
  }
  return p;
}

/// A polynomial's value, its gradient and its second derivatives by the first `Variables` of x, y, z: row by row, those
/// on the diagonal and beyond it.
template <class V, int Variables>
struct Jet2 {
  V value;
  V d[Variables > 0 ? Variables : 1];
  V h[Variables > 0 ? Variables : 1][Variables > 0 ? Variables : 1];  ///< h[i][j], i <= j
};

/// The same rule with second derivatives.
template <int Variables, int Degree, class V, class Real>
KOKKOS_FORCEINLINE_FUNCTION Jet2<V, Variables> horner_hessian(V const (&x)[3],
                                                              Real const* coefficients) {
  Jet2<V, Variables> p;
  if constexpr (Variables == 0 || Degree == 0) {
    p.value = V(coefficients[0]);
    FMM_UNROLL
    for (int i = 0; i < Variables; ++i) {
      p.d[i] = V(Real(0));
      FMM_UNROLL
      for (int j = i; j < Variables; ++j) p.h[i][j] = V(Real(0));
    }
  } else {
    constexpr int last = Variables - 1, skip = monomial_count(Variables, Degree - 1);
    const auto q = horner_hessian<Variables, Degree - 1>(x, coefficients);
    const auto r = horner_hessian<Variables - 1, Degree>(x, coefficients + skip);
    p.value = x[last] * q.value + r.value;
    p.d[last] = x[last] * q.d[last] + q.value;
    p.h[last][last] = x[last] * q.h[last][last] + (q.d[last] + q.d[last]);
    FMM_UNROLL
    for (int i = 0; i < last; ++i) {
      p.d[i] = x[last] * q.d[i] + r.d[i];
      p.h[i][last] = x[last] * q.h[i][last] + q.d[i];
      FMM_UNROLL
      for (int j = i; j < last; ++j) p.h[i][j] = x[last] * q.h[i][j] + r.h[i][j];
    }
  }
  return p;
}

/// A local expansion's.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION PotentialHessian<V> as_potential(Jet2<V, 3> const& H) {
  return {{H.value, H.d[0], H.d[1], H.d[2]},
          {H.h[0][0], H.h[1][1], H.h[2][2], H.h[0][1], H.h[0][2], H.h[1][2]}};
}

/// Adds those of Phi(x) = u H(s), u = 1/|x|, s = u^2 x. With D = s . grad H, T = s (grad grad H), and C = 3 grad H +
/// 2 T - x (3/2 H + 6 D + 2 s . T): grad grad Phi = u^3 (u^2 grad grad H - s C^T - C s^T - (H + 2 D) I).
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void add_inverted(Jet2<V, 3> const& H, V const (&x)[3], V const (&s)[3],
                                              V u, V per_edge, PotentialHessian<V>& sum) {
  using Real = lane_scalar_t<V>;
  const auto number = [](double n) { return V(Real(n)); };
  const V D = s[0] * H.d[0] + s[1] * H.d[1] + s[2] * H.d[2],
          T[3] = {s[0] * H.h[0][0] + s[1] * H.h[0][1] + s[2] * H.h[0][2],
                  s[0] * H.h[0][1] + s[1] * H.h[1][1] + s[2] * H.h[1][2],
                  s[0] * H.h[0][2] + s[1] * H.h[1][2] + s[2] * H.h[2][2]},
          radial = H.value + number(2) * D,
          along = number(1.5) * H.value + number(6) * D +
                  number(2) * (s[0] * T[0] + s[1] * T[1] + s[2] * T[2]),
          f = u * per_edge, weight = f * f * u, third = weight * per_edge, u2 = u * u;
  V C[3];
  FMM_UNROLL
  for (int d = 0; d < 3; ++d) C[d] = number(3) * H.d[d] + number(2) * T[d] - x[d] * along;
  const auto second = [&](int i, int j) {
    return third * (u2 * H.h[i][j] - s[i] * C[j] - s[j] * C[i]);
  };
  sum.potential += f * H.value;
  sum.x += weight * (H.d[0] - x[0] * radial);
  sum.y += weight * (H.d[1] - x[1] * radial);
  sum.z += weight * (H.d[2] - x[2] * radial);
  sum.hessian.xx += second(0, 0) - third * radial;
  sum.hessian.yy += second(1, 1) - third * radial;
  sum.hessian.zz += second(2, 2) - third * radial;
  sum.hessian.xy += second(0, 1);
  sum.hessian.xz += second(0, 2);
  sum.hessian.yz += second(1, 2);
}

}  // namespace fmm::kernels
