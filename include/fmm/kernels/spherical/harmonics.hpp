// SPDX-License-Identifier: BSD-3-Clause
// Solid harmonics: the functions that every expansion is made of. docs/math.md derives them.
//
// Without normalisation (Dehnen 2014, Comput. Astrophys. Cosmol. 1:1, eqs. 52 and 53, less (-1)^m):
//
//     U_n^m = r^n / (n+m)! P_n^m(cos theta) e^(i m phi)            regular
//     V_n^m = (n-m)! / r^(n+1) P_n^m(cos theta) e^(i m phi)        irregular
//     1/|y-x| = sum_(n=0)^inf sum_(m=-n)^n conj(U_n^m(x)) V_n^m(y),   |x| < |y|
//
// with P_n^m >= 0 at small theta (no Condon-Shortley phase) and U_n^(-m) = (-1)^m conj(U_n^m). Their
// derivatives are harmonics again, without any factor:
//
//     d_z U_n^m = U_(n-1)^m     (d_x + i d_y) U_n^m = -U_(n-1)^(m+1)    (d_x - i d_y) U_n^m = U_(n-1)^(m-1)
//     d_z V_n^m = -V_(n+1)^m    (d_x + i d_y) V_n^m = -V_(n+1)^(m+1)    (d_x - i d_y) V_n^m = V_(n+1)^(m-1)
//
// Expansions are stored real and normalised: coefficients of e_n0 = N U_n^0, e_nm^c = N Re U_n^m and
// e_nm^s = N Im U_n^m with N = sqrt((2 - delta_m0) (n-m)! (n+m)!). In this basis |e| <= r^n, rotations
// are orthogonal, and 1/|y-x| = sum_nm e_nm(x) e_nm(y) / |y|^(2n+1).
// N U_n^m is, up to sqrt(2), the rho^n Y_n^m of Yokota & Barba (GPU Computing Gems, ch. 9), and
// (n-m)! ... = Y_n^m / (rho^(n+1) |A_n^m|) their M2L's basis, A_n^m = (-1)^n / sqrt((n-m)! (n+m)!).
//
// Storage: degree n occupies n^2 .. (n+1)^2-1 as [Re 0, Re 1, Im 1, Re 2, Im 2, ...].
#pragma once

#include "../../simd/simd.hpp"

namespace fmm {

/// Coefficients of an expansion with degrees 0..order.
KOKKOS_INLINE_FUNCTION constexpr int coefficient_count(int order) {
  return (order + 1) * (order + 1);
}

namespace kernels {

KOKKOS_INLINE_FUNCTION constexpr int index_re(int n, int m) {
  return n * n + (m == 0 ? 0 : 2 * m - 1);
}
KOKKOS_INLINE_FUNCTION constexpr int index_im(int n, int m) { return n * n + 2 * m; }

/// Square root in a constant expression (Newton's iteration from above).
KOKKOS_INLINE_FUNCTION constexpr double constexpr_sqrt(double x) {
  if (x == 0) return 0;
  double scale = 1;
  while (x > 4) x /= 4, scale *= 2;
  while (x < 1) x *= 4, scale /= 2;
  double y = 2;
  for (int i = 0; i < 7; ++i) y = 0.5 * (y + x / y);
  return scale * y;
}

/// n! and its square root for n = 0..Max; sqrt keeps (2p)! from overflowing at high order.
template <int Max>
struct Factorials {
  double factorial[Max + 1];
  double root[Max + 1];

  KOKKOS_FUNCTION static constexpr Factorials make() {
    Factorials table{};
    table.factorial[0] = table.root[0] = 1;
    for (int n = 1; n <= Max; ++n) {
      table.factorial[n] = n * table.factorial[n - 1];
      table.root[n] = constexpr_sqrt(n) * table.root[n - 1];
    }
    return table;
  }

  /// N_n^m / sqrt(2 - delta_m0) = sqrt((n-m)! (n+m)!) = 1/|A_n^m|.
  KOKKOS_FUNCTION constexpr double norm(int n, int m) const { return root[n - m] * root[n + m]; }
};

/// sqrt((2p)!) and the irregular harmonics of degree 2p are below float's largest number up to this p.
inline constexpr int largest_order_in_float = 26;

/// Constants of one order, indexed like the coefficients.
template <int Order, class Real>
struct NormTable {
  Real regular[coefficient_count(Order)];  ///< e = regular * U; a multipole: N * sum q U
  Real inverse[coefficient_count(Order)];  ///< 1 / regular: from a multipole to sum q U
  Real dual[coefficient_count(Order)];     ///< from a local expansion sum L e to sum conj(U) l

  KOKKOS_FUNCTION static constexpr NormTable make() {
    NormTable table{};
    const auto factorials = Factorials<2 * Order>::make();
    for (int n = 0; n <= Order; ++n)
      for (int m = 0; m <= n; ++m) {
        const double sqrt2 = m == 0 ? 1 : constexpr_sqrt(2), N = factorials.norm(n, m);
        for (int k : {index_re(n, m), m == 0 ? index_re(n, m) : index_im(n, m)}) {
          table.regular[k] = Real(sqrt2 * N);
          table.inverse[k] = Real(1 / (sqrt2 * N));
          table.dual[k] = Real(N / sqrt2);
        }
      }
    return table;
  }
};

/// 1/((n-m)(n+m)) of the recurrence for U, and 1/(2m) on the diagonal.
template <int Order, class Real>
struct RecurrenceTable {
  Real inverse[(Order + 1) * (Order + 2) / 2];

  KOKKOS_FUNCTION static constexpr RecurrenceTable make() {
    RecurrenceTable table{};
    for (int n = 0; n <= Order; ++n)
      for (int m = 0; m <= n; ++m)
        table.inverse[n * (n + 1) / 2 + m] = Real(m < n   ? 1.0 / ((n - m) * (n + m))
                                                  : m > 0 ? 0.5 / m
                                                          : 1.0);
    return table;
  }
};

/// The largest degree (or order of a degree) as the end of an outer loop; see loop_end.
template <int Order>
KOKKOS_FORCEINLINE_FUNCTION int last_degree() {
  return loop_end<coefficient_count(Order)>(Order);
}

/// visit(n, m, Re U_n^m, Im U_n^m) at (x, y, z) for all 0 <= m <= n <= Order, one m after the other, by
/// (n+m)(n-m) U_n^m = (2n-1) z U_(n-1)^m - r^2 U_(n-2)^m. Holds no array. Cost: about 4 (Order+1)^2 flops.
template <int Order, class V, class Visit>
KOKKOS_FORCEINLINE_FUNCTION void visit_regular_harmonics(V x, V y, V z, Visit const& visit) {
  using Real = lane_scalar_t<V>;
  static constexpr auto table = RecurrenceTable<Order, Real>::make();
  const V r2 = x * x + y * y + z * z, zero(Real(0));
  V top_re(Real(1)), top_im = zero;  // of degree m
  FMM_UNROLL
  for (int m = 0; m <= last_degree<Order>(); ++m) {
    if (m > 0) {
      const V f(table.inverse[m * (m + 1) / 2 + m]);
      const V a = top_re * f, b = m > 1 ? top_im * f : zero;
      top_re = x * a - y * b;
      top_im = y * a + x * b;
    }
    visit(m, m, top_re, top_im);
    V re1 = top_re, im1 = top_im, re2 = zero, im2 = zero;  // of the two degrees before
    FMM_UNROLL
    for (int n = m + 1; n <= last_degree<Order>(); ++n) {
      const Real f = table.inverse[n * (n + 1) / 2 + m];
      const V a = z * V(Real(2 * n - 1) * f), b = r2 * V(f);
      const V re = n == m + 1 ? a * re1 : a * re1 - b * re2;
      const V im = m == 0 ? zero : n == m + 1 ? a * im1 : a * im1 - b * im2;
      visit(n, m, re, im);
      re2 = re1;
      im2 = im1;
      re1 = re;
      im1 = im;
    }
  }
}

/// All of them into u[coefficient_count(Order)].
template <int Order, class V>
KOKKOS_INLINE_FUNCTION void regular_harmonics(V x, V y, V z, V* u) {
  visit_regular_harmonics<Order>(x, y, z, [&](int n, int m, V re, V im) {
    u[index_re(n, m)] = re;
    if (m > 0) u[index_im(n, m)] = im;
  });
}

/// scale^n V_n^m(x, y, z), 0 <= m <= n <= Order, into v[coefficient_count(Order)]; the point is not 0.
/// r^2 V_n^m = (2n-1) z V_(n-1)^m - ((n-1)^2 - m^2) V_(n-2)^m. Cost: about 4 (Order+1)^2 flops.
template <int Order, class V>
KOKKOS_INLINE_FUNCTION void irregular_harmonics(V x, V y, V z, V* v, lane_scalar_t<V> scale = 1) {
  using Real = lane_scalar_t<V>;
  const V inverse = rsqrt(x * x + y * y + z * z), s(scale);
  const V inverse2 = inverse * inverse * s;
  x *= inverse2;
  y *= inverse2;
  z *= inverse2;
  const V back = inverse2 * s;  // (scale / r)^2
  v[0] = inverse;
  FMM_UNROLL
  for (int m = 0; m <= last_degree<Order>(); ++m) {
    const int re = index_re(m, m), im = index_im(m, m);
    if (m > 0) {
      const int re1 = index_re(m - 1, m - 1), im1 = index_im(m - 1, m - 1);
      const V f(Real(2 * m - 1));
      const V a = v[re1] * f, b = m > 1 ? v[im1] * f : V(Real(0));
      v[re] = x * a - y * b;
      v[im] = y * a + x * b;
    }
    if (m < Order) {
      const V f = z * V(Real(2 * m + 1));
      v[index_re(m + 1, m)] = f * v[re];
      if (m > 0) v[index_im(m + 1, m)] = f * v[im];
    }
    FMM_UNROLL
    for (int n = m + 2; n <= last_degree<Order>(); ++n) {
      const V a = z * V(Real(2 * n - 1)), b = back * V(Real((n - 1) * (n - 1) - m * m));
      v[index_re(n, m)] = a * v[index_re(n - 1, m)] - b * v[index_re(n - 2, m)];
      if (m > 0) v[index_im(n, m)] = a * v[index_im(n - 1, m)] - b * v[index_im(n - 2, m)];
    }
  }
}

template <class V>
struct Complex {
  V re, im;

  KOKKOS_FORCEINLINE_FUNCTION Complex& operator+=(Complex b) {
    re += b.re;
    im += b.im;
    return *this;
  }
  friend KOKKOS_FORCEINLINE_FUNCTION Complex operator+(Complex a, Complex b) { return a += b; }
  friend KOKKOS_FORCEINLINE_FUNCTION Complex operator-(Complex a) { return {-a.re, -a.im}; }
  friend KOKKOS_FORCEINLINE_FUNCTION Complex operator*(Complex a, V b) {
    return {a.re * b, a.im * b};
  }
  friend KOKKOS_FORCEINLINE_FUNCTION Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  friend KOKKOS_FORCEINLINE_FUNCTION Complex conj(Complex a) { return {a.re, -a.im}; }
};

/// h_n^m of either sign of m: h_n^(-m) = (-1)^m conj(h_n^m).
template <class V>
KOKKOS_INLINE_FUNCTION Complex<V> harmonic(V const* h, int n, int m) {
  using Real = lane_scalar_t<V>;
  if (m == 0) return {h[index_re(n, 0)], V(Real(0))};
  if (m > 0) return {h[index_re(n, m)], h[index_im(n, m)]};
  const Complex<V> a{h[index_re(n, -m)], -h[index_im(n, -m)]};
  return m % 2 == 0 ? a : -a;
}

/// Potential and its gradient at one point (or at one point a lane).
template <class V>
struct PotentialGradient {
  V potential, x, y, z;
};

/// Phi = sum conj(U_n^m) l_n^m and its gradient at (x, y, z), from complex coefficients l (see
/// NormTable::dual), which may be shared by all lanes. The derivative shifts indices:
/// (d_x + i d_y) Phi = sum conj(U_n^m) l_(n+1)^(m+1) over all m, d_z Phi = sum conj(U_n^m) l_(n+1)^m.
template <int Order, bool WithPotential, bool WithField, class V, class Real>
KOKKOS_INLINE_FUNCTION PotentialGradient<V> evaluate_local(V x, V y, V z, Real const* l) {
  PotentialGradient<V> sum{V(Real(0)), V(Real(0)), V(Real(0)), V(Real(0))};
  const Real two(2);
  visit_regular_harmonics<Order>(x, y, z, [&](int n, int m, V re, V im) {
    if constexpr (WithPotential) {
      if (m == 0)
        sum.potential += re * V(l[index_re(n, 0)]);
      else
        sum.potential += re * V(two * l[index_re(n, m)]) + im * V(two * l[index_im(n, m)]);
    }
    if (WithField && n < Order) {
      const int k = n + 1;
      const V up_re(l[index_re(k, m + 1)]), up_im(l[index_im(k, m + 1)]);
      if (m == 0) {
        sum.x += re * up_re;
        sum.y += re * up_im;
        sum.z += re * V(l[index_re(k, 0)]);
      } else {
        const V down_re(l[index_re(k, m - 1)]);
        const V down_im(m > 1 ? l[index_im(k, m - 1)] : Real(0));
        // conj(U) l^(m+1) - U conj(l^(m-1))
        sum.x += re * (up_re - down_re) + im * (up_im - down_im);
        sum.y += re * (up_im + down_im) - im * (up_re + down_re);
        sum.z += re * V(two * l[index_re(k, m)]) + im * V(two * l[index_im(k, m)]);
      }
    }
  });
  return sum;
}

/// Phi = sum conj(M_n^m) V_n^m and its gradient, from complex coefficients M and `v` =
/// irregular_harmonics(point) to degree Order + 1 (Order if no field is wanted):
/// (d_x + i d_y) Phi = -sum conj(M_n^m) V_(n+1)^(m+1) over all m, d_z Phi = -sum conj(M_n^m) V_(n+1)^m.
template <int Order, bool WithPotential, bool WithField, class V, class Real>
KOKKOS_INLINE_FUNCTION PotentialGradient<V> evaluate_multipole(V const* v, Real const* M) {
  PotentialGradient<V> sum{V(Real(0)), V(Real(0)), V(Real(0)), V(Real(0))};
  const Real two(2);
  FMM_UNROLL
  for (int n = 0; n <= last_degree<Order>(); ++n) {
    FMM_UNROLL
    for (int m = 0; m <= n; ++m) {
      const Real re = M[index_re(n, m)], im = m > 0 ? M[index_im(n, m)] : Real(0);
      if constexpr (WithPotential) {
        if (m == 0)
          sum.potential += v[index_re(n, 0)] * V(re);
        else
          sum.potential += v[index_re(n, m)] * V(two * re) + v[index_im(n, m)] * V(two * im);
      }
      if constexpr (WithField) {
        const int k = n + 1;
        const V up_re = v[index_re(k, m + 1)], up_im = v[index_im(k, m + 1)];
        if (m == 0) {
          sum.x -= up_re * V(re);
          sum.y -= up_im * V(re);
          sum.z -= v[index_re(k, 0)] * V(re);
        } else {
          const V down_re = v[index_re(k, m - 1)];
          const V down_im = m > 1 ? v[index_im(k, m - 1)] : V(Real(0));
          // -conj(M) V^(m+1) + M conj(V^(m-1))
          sum.x += (down_re - up_re) * V(re) + (down_im - up_im) * V(im);
          sum.y += (up_re + down_re) * V(im) - (up_im + down_im) * V(re);
          sum.z -= v[index_re(k, m)] * V(two * re) + v[index_im(k, m)] * V(two * im);
        }
      }
    }
  }
  return sum;
}

}  // namespace kernels
}  // namespace fmm
