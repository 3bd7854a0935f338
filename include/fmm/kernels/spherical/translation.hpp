// SPDX-License-Identifier: BSD-3-Clause
// Translation schemes: how M2M, M2L and L2L move a spherical-harmonic expansion from one centre to
// another. In place, in the lanes of `V`; lengths and scaling as kernels/expansion.hpp says.
#pragma once

#include "rotation_simd.hpp"

namespace fmm {

/// O(p^3): rotate the direction of the shift to the z axis, shift along z, rotate back.
struct Rotation {
  template <int Order, class V>
  KOKKOS_INLINE_FUNCTION static void m2m(V x, V y, V z, V* M) {
    shift<Order, kernels::Axial::m2m>(x, y, z, M);
  }

  template <int Order, class V>
  KOKKOS_INLINE_FUNCTION static void l2l(V x, V y, V z, V* L) {
    shift<Order, kernels::Axial::l2l>(x, y, z, L);
  }

  template <int Order, class V>
  KOKKOS_INLINE_FUNCTION static void m2l(V x, V y, V z, V s, V t, V* a) {
    const kernels::Rotator<V> rotator(x, y, z);
    const V inverse = rotator.inverse_length;
    translate<Order, kernels::Axial::m2l>(rotator, s * inverse, inverse, t * inverse, a);
  }

 private:
  template <int Order, kernels::Axial Kind, class V>
  KOKKOS_INLINE_FUNCTION static void shift(V x, V y, V z, V* a) {
    const kernels::Rotator<V> rotator(x, y, z);
    const V one(simd::lane_scalar_t<V>(1)), inverse = rotator.inverse_length,
                                            length = (x * x + y * y + z * z) * inverse;
    // r^(j-n) of an upward shift is r^j r^-n; a downward shift has the transpose
    if constexpr (Kind == kernels::Axial::m2m)
      translate<Order, Kind>(rotator, inverse, one, length, a);
    else
      translate<Order, Kind>(rotator, length, one, inverse, a);
  }

  template <int Order, kernels::Axial Kind, class V>
  KOKKOS_INLINE_FUNCTION static void translate(kernels::Rotator<V> const& rotator, V in, V front,
                                               V out, V* a) {
    if constexpr (kernels::translates_in_packs_v<Order, V>)
      kernels::translate_in_packs<Order, Kind>(rotator, in, front, out, a);
    else
      kernels::translate_by_rotation<Order, Kind>(rotator, in, front, out, a);
  }
};

/// O(p^4): the sums over all pairs of coefficients as Yokota & Barba print them. M2L has a kernel of its
/// own form (kernels/m2l.hpp), which loads these functions' harmonics in scratch memory.
struct NaiveTranslation {
  /// M'_j^k = sum_(n<=j) sum_m U_n^m(d) M_(j-n)^(k-m), |k-m| <= j-n.
  template <int Order, class V>
  KOKKOS_INLINE_FUNCTION static void m2m(V x, V y, V z, V* a) {
    using namespace kernels;
    using Real = lane_scalar_t<V>;
    static constexpr auto table = NormTable<Order, Real>::make();
    V u[coefficient_count(Order)], M[coefficient_count(Order)];
    regular_harmonics<Order>(x, y, z, u);
    for (int i = 0; i < coefficient_count(Order); ++i) M[i] = a[i] * V(table.inverse[i]);
    for (int j = 0; j <= Order; ++j)
      for (int k = 0; k <= j; ++k) {
        Complex<V> sum{V(Real(0)), V(Real(0))};
        for (int n = 0; n <= j; ++n) {
          const int first = k - (j - n) > -n ? k - (j - n) : -n;
          const int last = k + (j - n) < n ? k + (j - n) : n;
          for (int m = first; m <= last; ++m) sum += harmonic(u, n, m) * harmonic(M, j - n, k - m);
        }
        a[index_re(j, k)] = sum.re * V(table.regular[index_re(j, k)]);
        if (k > 0) a[index_im(j, k)] = sum.im * V(table.regular[index_im(j, k)]);
      }
  }

  /// l'_j^k = sum_(n>=j) sum_m conj(U_(n-j)^(m-k)(d)) l_n^m, |m-k| <= n-j.
  template <int Order, class V>
  KOKKOS_INLINE_FUNCTION static void l2l(V x, V y, V z, V* a) {
    using namespace kernels;
    using Real = lane_scalar_t<V>;
    static constexpr auto table = NormTable<Order, Real>::make();
    V u[coefficient_count(Order)], l[coefficient_count(Order)];
    regular_harmonics<Order>(x, y, z, u);
    for (int i = 0; i < coefficient_count(Order); ++i) l[i] = a[i] * V(table.dual[i]);
    for (int j = 0; j <= Order; ++j)
      for (int k = 0; k <= j; ++k) {
        Complex<V> sum{V(Real(0)), V(Real(0))};
        for (int n = j; n <= Order; ++n)
          for (int m = k - (n - j); m <= k + (n - j); ++m)
            sum += conj(harmonic(u, n - j, m - k)) * harmonic(l, n, m);
        // 1 / dual
        const V f(Real((k == 0 ? 1.0 : 2.0)) * table.inverse[index_re(j, k)]);
        a[index_re(j, k)] = sum.re * f;
        if (k > 0) a[index_im(j, k)] = sum.im * f;
      }
  }

  /// L_j^k = (-1)^j sum_n sum_m conj(M_n^m) V_(n+j)^(m+k)(d) from complex multipoles M (sum q U) and
  /// irregular harmonics v to degree 2 Order.
  template <int Order, class V>
  KOKKOS_INLINE_FUNCTION static kernels::Complex<V> m2l_coefficient(int j, int k, V const* M,
                                                                    V const* v) {
    using namespace kernels;
    using Real = lane_scalar_t<V>;
    Complex<V> sum{V(Real(0)), V(Real(0))};
    for (int n = 0; n <= Order; ++n) {
      sum += harmonic(v, n + j, k) * M[index_re(n, 0)];
      for (int m = 1; m <= n; ++m) {
        // m and -m together: conj(M) v^(k+m) + (-1)^m M v^(k-m)
        const Complex<V> a{M[index_re(n, m)], M[index_im(n, m)]};
        const Complex<V> up{v[index_re(n + j, k + m)], v[index_im(n + j, k + m)]};
        const Complex<V> down = harmonic(v, n + j, k - m);
        const V sign(Real(m % 2 == 0 ? 1 : -1));
        sum += conj(a) * up + a * down * sign;
      }
    }
    return j % 2 == 0 ? sum : -sum;
  }

  /// 1/8 to the power of the degree keeps (4p-1)!! of the diagonal harmonics inside float's range.
  template <class Real>
  static constexpr Real degree_scale = Real(0.125);

  /// Irregular harmonics of the direction of (x, y, z), to degree 2 Order, times degree_scale^n, into v;
  /// returns 1 / r.
  template <int Order, class V>
  KOKKOS_INLINE_FUNCTION static V m2l_harmonics(V x, V y, V z, V* v) {
    using namespace kernels;
    using Real = lane_scalar_t<V>;
    const V inverse = rsqrt(x * x + y * y + z * z);
    irregular_harmonics<2 * Order>(x * inverse, y * inverse, z * inverse, v, degree_scale<Real>);
    return inverse;
  }

  template <int Order, class V>
  KOKKOS_INLINE_FUNCTION static void m2l(V x, V y, V z, V s, V t, V* a) {
    using namespace kernels;
    using Real = lane_scalar_t<V>;
    static constexpr auto table = NormTable<Order, Real>::make();
    V v[coefficient_count(2 * Order)], M[coefficient_count(Order)];
    const V inverse = m2l_harmonics<Order>(x, y, z, v), one(Real(1)), scale(1 / degree_scale<Real>);
    for (int i = 0; i < coefficient_count(Order); ++i) M[i] = a[i] * V(table.inverse[i]);
    scale_degrees<Order>(M, one, s * inverse * scale);
    for (int j = 0; j <= Order; ++j)
      for (int k = 0; k <= j; ++k) {
        const auto sum = m2l_coefficient<Order>(j, k, M, v);
        const V f(Real((k == 0 ? 1.0 : 2.0)) * table.inverse[index_re(j, k)]);
        a[index_re(j, k)] = sum.re * f;
        if (k > 0) a[index_im(j, k)] = sum.im * f;
      }
    scale_degrees<Order>(a, inverse, t * inverse * scale);
  }
};

/// Matrices, one for each class of offsets between cells, times the multipoles of many pairs at once:
/// O(p^4), but at the speed of matrix products. Multipoles move up and local expansions down the tree by
/// `Rotation`, which also takes the pairs whose class is rare. Needs Kokkos Kernels and
/// `#include <fmm/batched_gemm.hpp>`.
struct BatchedGemm : Rotation {};

/// Whether what a scheme needs beyond its class was included.
template <class Translation>
inline constexpr bool is_available = !std::is_same_v<Translation, BatchedGemm>;

}  // namespace fmm
