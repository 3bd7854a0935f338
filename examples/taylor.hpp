// SPDX-License-Identifier: BSD-3-Clause
// A far field for any radial pair kernel: Cartesian Taylor expansions. To copy, and to change.
//
// With u(x) = u(r) the potential of a unit charge, multi-indices k = (a, b, c), x^[k] = x^a y^b z^c / (a! b! c!) and
// D_k = d^k u:
//
//     multipole   M_k = sum_j q_j (-x_j)^[k]                            x_j from the centre of the cell
//     its field   phi(R) = sum_k D_k(R) M_k                             R from the centre of the cell
//     local       L_n = sum_(|k| <= p - |n|) D_(n+k)(R) M_k             R between the centres
//     its field   phi(x) = sum_n L_n x^[n]
//
// All with the highest degree p, in edges of the cell. The error falls as theta^p.
//
// The kernel gives its radial derivatives: `template <int Count> void radial_derivatives(Real r, Real (&g)[Count])
// const`, for Real = float and double, device code, with g[i] = r^2i (1/r d/dr)^i u(r). They determine all others,
// since d/dx f(r) = x (1/r d/dr) f(r) (McMurchie & Davidson 1978, J. Comput. Phys. 26:218).
#pragma once

#include <fmm/fmm.hpp>

/// Polynomials of three variables with degrees up to p: coefficient (a, b, c) is number row(a, b) + c.
template <int p>
struct Polynomial {
  static constexpr int size = (p + 1) * (p + 2) * (p + 3) / 6;

  KOKKOS_INLINE_FUNCTION static constexpr int row(int a, int b) {
    const int q = p - a;  // the highest degree of those that x^a leaves
    return size - (q + 1) * (q + 2) * (q + 3) / 6 + b * (q + 1) - b * (b - 1) / 2;
  }
};

/// x^i / i! for i = 0 .. p, along each axis.
template <int p, class V>
struct Powers {
  V x[p + 1], y[p + 1], z[p + 1];

  KOKKOS_INLINE_FUNCTION Powers(V dx, V dy, V dz) {
    using Real = fmm::simd::lane_scalar_t<V>;
    x[0] = y[0] = z[0] = V(Real(1));
    for (int i = 1; i <= p; ++i) {
      const V per_i(Real(1) / Real(i));
      x[i] = x[i - 1] * dx * per_i;
      y[i] = y[i - 1] * dy * per_i;
      z[i] = z[i - 1] * dz * per_i;
    }
  }
};

/// Coefficients of degree n times f^n.
template <int p, class V>
KOKKOS_INLINE_FUNCTION void scale_degrees(V f, V* to) {
  V power[p + 1];
  power[0] = V(fmm::simd::lane_scalar_t<V>(1));
  for (int n = 1; n <= p; ++n) power[n] = power[n - 1] * f;
  for (int a = 0; a <= p; ++a)
    for (int b = 0; a + b <= p; ++b)
      for (int c = 0; a + b + c <= p; ++c) to[Polynomial<p>::row(a, b) + c] *= power[a + b + c];
}

/// The `Expansion<p, Real, Translation>` of a kernel, whatever the translation scheme.
template <class Kernel, int p, class Real>
struct Taylor {
  static constexpr int size = Polynomial<p>::size;
  using only_adds = Taylor;

  Kernel kernel;
  double root_edge;  ///< in the unit of length that the kernel counts in

  Taylor(Kernel const& of, double edge) : kernel(of), root_edge(edge) {}

  template <class V, class Moments>
  KOKKOS_INLINE_FUNCTION static void p2m(V x, V y, V z, V q, Moments&& M) {
    const Powers<p, V> power(-x, -y, -z);
    for_all<p>(
        [&](int a, int b, int c, int k) { M[k] += q * power.x[a] * power.y[b] * power.z[c]; });
  }

  /// (-x - d)^[k] = sum_(j <= k) (-x)^[j] (-d)^[k - j]. In place: from the highest power down.
  template <class V>
  KOKKOS_INLINE_FUNCTION static void m2m(V x, V y, V z, V* M) {
    scale_degrees<p>(V(Real(0.5)), M);  // from child edges to parent edges
    const Powers<p, V> power(-x, -y, -z);
    for (int a = p; a >= 0; --a)
      for (int b = p - a; b >= 0; --b)
        for (int c = p - a - b; c >= 0; --c) {
          V sum(Real(0));
          for (int i = 0; i <= a; ++i)
            for (int j = 0; j <= b; ++j) {
              V const* const from = M + Polynomial<p>::row(i, j);
              V of_row(Real(0));
              for (int k = 0; k <= c; ++k) of_row += from[k] * power.z[c - k];
              sum += of_row * power.x[a - i] * power.y[b - j];
            }
          M[Polynomial<p>::row(a, b) + c] = sum;
        }
  }

  template <class V>
  KOKKOS_INLINE_FUNCTION void m2l(V x, V y, V z, V s, V t, V* A) const {
    V D[size];
    const V per_r = derivatives<p>(x, y, z, V(Real(1)), D);
    scale_degrees<p>(s * per_r, A);
    V L[size];
    for_all<p>([&](int a, int b, int c, int n) {
      const int left = p - a - b - c;
      V sum(Real(0));
      for (int i = 0; i <= left; ++i)
        for (int j = 0; i + j <= left; ++j) {
          V const* const of_source = A + Polynomial<p>::row(i, j);
          V const* const of_both = D + Polynomial<p>::row(a + i, b + j) + c;
          for (int k = 0; i + j + k <= left; ++k) sum += of_both[k] * of_source[k];
        }
      L[n] = sum;
    });
    scale_degrees<p>(t * per_r, L);
    for (int n = 0; n < size; ++n) A[n] = L[n];
  }

  /// (x + d)^[n] = sum_(k <= n) x^[k] d^[n - k]. In place: from the lowest power up.
  template <class V>
  KOKKOS_INLINE_FUNCTION static void l2l(V x, V y, V z, V* L) {
    const Powers<p, V> power(x, y, z);
    for_all<p>([&](int a, int b, int c, int k) { L[k] = sum_of_products(power, a, b, c, L); });
    scale_degrees<p>(V(Real(0.5)), L);  // from parent edges to child edges
  }

  template <bool WithPotential, bool WithField, class V>
  KOKKOS_INLINE_FUNCTION static fmm::kernels::PotentialGradient<V> l2p(V x, V y, V z,
                                                                       Real const* L) {
    const Powers<p, V> power(x, y, z);
    fmm::kernels::PotentialGradient<V> sum{V(Real(0)), V(Real(0)), V(Real(0)), V(Real(0))};
    if constexpr (WithPotential) sum.potential = sum_of_products(power, 0, 0, 0, L);
    if constexpr (WithField) {
      sum.x = sum_of_products(power, 1, 0, 0, L);
      sum.y = sum_of_products(power, 0, 1, 0, L);
      sum.z = sum_of_products(power, 0, 0, 1, L);
    }
    return sum;
  }

  template <bool WithPotential, bool WithField, class V>
  KOKKOS_INLINE_FUNCTION void m2p(V x, V y, V z, Real per_edge, Real const* M,
                                  fmm::kernels::PotentialGradient<V>& sum) const {
    constexpr int q = p + (WithField ? 1 : 0);
    V D[Polynomial<q>::size], S[size];
    const V per_r = derivatives<q>(x, y, z, V(Real(1) / per_edge), D);
    for (int k = 0; k < size; ++k) S[k] = V(M[k]);
    scale_degrees<p>(per_r, S);
    const V f = per_r * V(per_edge);
    for_all<p>([&](int a, int b, int c, int k) {
      const auto of = [&](int da, int db, int dc) {
        return D[Polynomial<q>::row(a + da, b + db) + c + dc] * S[k];
      };
      if constexpr (WithPotential) sum.potential += of(0, 0, 0);
      if constexpr (WithField) {
        sum.x += f * of(1, 0, 0);
        sum.y += f * of(0, 1, 0);
        sum.z += f * of(0, 0, 1);
      }
    });
  }

  /// The body is a multipole of degree 0, from whose place the centre lies at -x.
  template <class V, class Local>
  KOKKOS_INLINE_FUNCTION void p2l(V x, V y, V z, V q, Real per_edge, Local&& L) const {
    V D[size];
    const V per_r = derivatives<p>(-x, -y, -z, V(Real(1) / per_edge), D);
    scale_degrees<p>(per_r, D);
    for (int n = 0; n < size; ++n) L[n] += q * D[n];
  }

 private:
  /// f(a, b, c, number) for all degrees up to q.
  template <int q, class F>
  KOKKOS_FORCEINLINE_FUNCTION static void for_all(F const& f) {
    for (int a = 0; a <= q; ++a)
      for (int b = 0; a + b <= q; ++b)
        for (int c = 0; a + b + c <= q; ++c) f(a, b, c, Polynomial<q>::row(a, b) + c);
  }

  /// sum_n L_(n + (a, b, c)) x^[n]: the derivative (a, b, c) of a local expansion.
  template <class V, class Number>
  KOKKOS_INLINE_FUNCTION static V sum_of_products(Powers<p, V> const& power, int a, int b, int c,
                                                  Number const* L) {
    const int left = p - a - b - c;
    V sum(Real(0));
    for (int i = 0; i <= left; ++i)
      for (int j = 0; i + j <= left; ++j) {
        Number const* const from = L + Polynomial<p>::row(a + i, b + j) + c;
        V of_row(Real(0));
        for (int k = 0; i + j + k <= left; ++k) of_row += V(from[k]) * power.z[k];
        sum += of_row * power.x[i] * power.y[j];
      }
    return sum;
  }

  /// D_k r^|k| at (x, y, z), in a unit of `unit` edges of the root; returns 1 / r. With D^(i) those of (1/r d/dr)^i u,
  /// D^(i) along an axis is x D^(i+1) of a degree less, and a of two degrees less. In place: i from the highest down.
  template <int q, class V>
  KOKKOS_INLINE_FUNCTION V derivatives(V x, V y, V z, V unit, V (&D)[Polynomial<q>::size]) const {
    using fmm::simd::rsqrt;
    const V r2 = x * x + y * y + z * z, per_r = rsqrt(r2);
    V g[q + 1];
    radial(r2 * per_r * unit * V(Real(root_edge)), g);
    x *= per_r;
    y *= per_r;
    z *= per_r;
    constexpr auto at = [](int a, int b, int c) { return Polynomial<q>::row(a, b) + c; };
    for (int i = q; i >= 0; --i)
      for (int a = q - i; a >= 0; --a)
        for (int b = q - i - a; b >= 0; --b)
          for (int c = q - i - a - b; c >= 0; --c) {
            V& d = D[at(a, b, c)];
            if (a > 0) {
              d = x * D[at(a - 1, b, c)];
              if (a > 1) d += V(Real(a - 1)) * D[at(a - 2, b, c)];
            } else if (b > 0) {
              d = y * D[at(a, b - 1, c)];
              if (b > 1) d += V(Real(b - 1)) * D[at(a, b - 2, c)];
            } else if (c > 0) {
              d = z * D[at(a, b, c - 1)];
              if (c > 1) d += V(Real(c - 1)) * D[at(a, b, c - 2)];
            } else {
              d = g[i];
            }
          }
    return per_r;
  }

  /// The kernel's radial derivatives, lane by lane.
  template <class V, int Count>
  KOKKOS_INLINE_FUNCTION void radial(V r, V (&g)[Count]) const {
    using T = fmm::simd::LaneTraits<V>;
    Real lane[T::count], all[Count][T::count];
    T::store(r, lane);
    for (int l = 0; l < T::count; ++l) {
      Real of_lane[Count];
      kernel.radial_derivatives(lane[l], of_lane);
      for (int i = 0; i < Count; ++i) all[i][l] = of_lane[i];
    }
    for (int i = 0; i < Count; ++i) g[i] = T::load(all[i]);
  }
};
