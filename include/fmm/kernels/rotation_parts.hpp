// SPDX-License-Identifier: BSD-3-Clause
// Translations by rotation of expansions that are too large for one thread's registers.
//
// Several threads, the parts, translate one expansion together. It lies in scratch memory, and each step
// takes a piece of it through registers: the rotations act within a degree, so a part rotates whole
// degrees, each read once and written once for all four steps of a rotation; the shift along z acts
// within an order, so a part shifts whole orders. Between the steps the parts wait for each other.
//
// Every part has its own code, in which a degree's or an order's numbers are registers. There is much of
// it, and it has to fit into the instruction cache: so all turns and swaps of a degree, forth and back,
// are passes through the same instructions, and so are the two halves of an order.
#pragma once

#include "rotation.hpp"

namespace fmm::detail {

/// The degrees and the orders of an expansion, dealt out so that each part has about as many
/// multiply-adds: the costliest first, each to the part that has least.
template <int Order, int Parts>
struct Shares {
  int degree[Order + 1];  ///< the part that rotates degree n
  int order[Order + 1];   ///< the part that shifts order m

  KOKKOS_FUNCTION static constexpr Shares make() {
    Shares s{};
    int load[Parts] = {};
    for (int n = Order; n >= 0; --n) {
      const int p = lightest(load);
      s.degree[n] = p;
      load[p] += 2 * n * (n + 8) + 2;
    }
    bool dealt[Order + 1] = {};
    for (int& l : load) l = 0;
    for (int i = 0; i <= Order; ++i) {
      int next = -1;
      for (int m = 0; m <= Order; ++m)
        if (!dealt[m] && (next < 0 || cost(m) > cost(next))) next = m;
      const int p = lightest(load);
      dealt[next] = true;
      s.order[next] = p;
      load[p] += cost(next);
    }
    return s;
  }

 private:
  KOKKOS_FUNCTION static constexpr int cost(int m) {
    return (m == 0 ? 1 : 2) * (Order + 1 - m) * (Order + 1 - m);
  }
  KOKKOS_FUNCTION static constexpr int lightest(int const (&load)[Parts]) {
    int p = 0;
    for (int i = 1; i < Parts; ++i)
      if (load[i] < load[p]) p = i;
    return p;
  }
};

/// a <- swap(a) of one degree's 2n+1 numbers. An element of the symmetric matrix is used for both its
/// places at once: to bring a constant to a GPU's arithmetic can cost as much as the arithmetic.
template <int Order, int n, class V>
KOKKOS_FORCEINLINE_FUNCTION void swap_degree(V* a) {
  using Real = lane_scalar_t<V>;
  using Table = SwapTable<Order, Real>;
  static constexpr auto table = Table::make();
  FMM_UNROLL
  for (int sine = 0; sine < 2; ++sine) {
    V b[n + 1];
    FMM_UNROLL
    for (int m = 0; m <= n; ++m) b[m] = V(Real(0));
    FMM_UNROLL
    for (int m = sine; m <= n; ++m) {
      FMM_UNROLL
      for (int l = m; l <= n; ++l)
        if ((n + m + l + sine) % 2 == 0) {
          const V s(sine ? table.sin[Table::index_sin(n, m, l)]
                         : table.cos[Table::index_cos(n, m, l)]);
          b[m] += s * a[(sine ? index_im(n, l) : index_re(n, l)) - n * n];
          if (l > m) b[l] += s * a[(sine ? index_im(n, m) : index_re(n, m)) - n * n];
        }
    }
    FMM_UNROLL
    for (int m = sine; m <= n; ++m) a[(sine ? index_im(n, m) : index_re(n, m)) - n * n] = b[m];
  }
}

/// a_n^m <- f a_n^m (c + i s)^m of one degree's numbers. The factor costs three multiplications.
template <int n, class V>
KOKKOS_FORCEINLINE_FUNCTION void turn_degree(V* a, V c, V s, V f) {
  V cm = c * f, sm = s * f;
  a[0] *= f;
  FMM_UNROLL
  for (int m = 1; m <= n; ++m) {
    const V re = a[2 * m - 1], im = a[2 * m];
    a[2 * m - 1] = re * cm - im * sm;
    a[2 * m] = re * sm + im * cm;
    const V next = cm * c - sm * s;
    sm = sm * c + cm * s;
    cm = next;
  }
}

/// A translation as its steps take it: the turns that bring its direction to z, and the factors of degree
/// n, in^n before the shift along z and front out^n after it.
template <class V>
struct Route {
  static constexpr int size = 7;
  V cos_azimuth, sin_azimuth, cos_polar, sin_polar, in, front, out;

  /// From edge s to edge t, as Rotation::m2l.
  KOKKOS_INLINE_FUNCTION static Route m2l(V x, V y, V z, V s, V t) {
    const Rotator<V> r(x, y, z);
    return of(r, s * r.inverse_length, r.inverse_length, t * r.inverse_length);
  }
  /// From a child's edges to its parent's, as SphericalExpansion::m2m.
  KOKKOS_INLINE_FUNCTION static Route m2m(V x, V y, V z) {
    const Rotator<V> r(x, y, z);
    const V one(lane_scalar_t<V>(1)), half(lane_scalar_t<V>(0.5));
    return of(r, half * r.inverse_length, one, (x * x + y * y + z * z) * r.inverse_length);
  }
  /// From a parent's edges to a child's, as SphericalExpansion::l2l.
  KOKKOS_INLINE_FUNCTION static Route l2l(V x, V y, V z) {
    const Rotator<V> r(x, y, z);
    const V one(lane_scalar_t<V>(1)), half(lane_scalar_t<V>(0.5));
    return of(r, (x * x + y * y + z * z) * r.inverse_length, one, half * r.inverse_length);
  }

  template <int Stride>
  KOKKOS_INLINE_FUNCTION void store(V* to) const {
    const V numbers[size] = {cos_azimuth, sin_azimuth, cos_polar, sin_polar, in, front, out};
    FMM_UNROLL
    for (int i = 0; i < size; ++i) to[i * Stride] = numbers[i];
  }
  template <int Stride>
  KOKKOS_INLINE_FUNCTION static Route load(V const* from) {
    return {from[0],          from[Stride],     from[2 * Stride], from[3 * Stride],
            from[4 * Stride], from[5 * Stride], from[6 * Stride]};
  }

 private:
  KOKKOS_INLINE_FUNCTION static Route of(Rotator<V> const& r, V in, V front, V out) {
    return {r.cos_azimuth, r.sin_azimuth, r.cos_polar, r.sin_polar, in, front, out};
  }
};

/// The steps of a translation that part `Part` of `Parts` does. Coefficient k is at a[k * Stride].
template <int Order, int Parts, int Part, int Stride>
struct PartSteps {
  static constexpr Shares<Order, Parts> shares = Shares<Order, Parts>::make();

  /// Before the shift (back = 0): scales and rotates the direction to z. After it (back = 1): rotates it
  /// back and scales. In place.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static void rotate(Route<V> const& r, int back, V* a) {
    const V one(lane_scalar_t<V>(1));
    const V sin_azimuth = back ? -r.sin_azimuth : r.sin_azimuth;
    const V sin_polar = back ? r.sin_polar : -r.sin_polar;
    const V base = back ? r.out : r.in;
    V power = back ? r.front : one;
    for_constants<Order + 1>([&](auto degree) {
      constexpr int n = decltype(degree)::value;
      if constexpr (shares.degree[n] == Part) {
        V b[2 * n + 1];
        FMM_UNROLL
        for (int k = 0; k < 2 * n + 1; ++k) b[k] = a[(n * n + k) * Stride];
        // turn, swap, turn, swap; back: swap, turn, swap, turn
        FMM_UNROLL_BY(1)
        for (int i = 0; i < 2 + back; ++i) {
          if (i > 0 || !back) {
            const bool polar = i == 1;
            turn_degree<n>(b, polar ? r.cos_polar : r.cos_azimuth, polar ? sin_polar : sin_azimuth,
                           polar ? one : power);
          }
          if (i < 2) swap_degree<Order, n>(b);
        }
        FMM_UNROLL
        for (int k = 0; k < 2 * n + 1; ++k) a[(n * n + k) * Stride] = b[k];
      }
      power *= base;
    });
  }

  /// The shift along z, in place.
  template <Axial Kind, class V>
  KOKKOS_FORCEINLINE_FUNCTION static void shift(V* a) {
    for_constants<Order + 1>([&](auto order) {
      constexpr int m = decltype(order)::value;
      if constexpr (shares.order[m] == Part) {
        FMM_UNROLL_BY(1)
        for (int i = 0; i < (m == 0 ? 1 : 2); ++i) shift_order<Kind, m>(a + i * Stride);
      }
    });
  }

 private:
  /// The coefficients e^c of order m, or e^s, which come next to them.
  template <Axial Kind, int m, class V>
  KOKKOS_FORCEINLINE_FUNCTION static void shift_order(V* a) {
    using Real = lane_scalar_t<V>;
    using Table = AxialTable<Order, Real>;
    static constexpr auto table = Table::make();
    constexpr int count = Order + 1 - m;
    V b[count], sum[count];
    FMM_UNROLL
    for (int n = 0; n < count; ++n) {
      b[n] = a[index_re(m + n, m) * Stride];
      sum[n] = V(Real(0));
    }
    FMM_UNROLL
    for (int j = 0; j < count; ++j) {
      FMM_UNROLL
      for (int n = 0; n <= j; ++n) {
        if constexpr (Kind == Axial::m2l) {  // symmetric but for the sign
          const V t(table.m2l[Table::index(m + j, m + n, m)]);
          sum[j] += t * b[n];
          if (n < j) sum[n] += ((j + n) % 2 == 0 ? t : -t) * b[j];
        } else {
          const V t(table.shift[Table::index(m + j, m + n, m)]);
          if (Kind == Axial::m2m)
            sum[j] += t * b[n];
          else
            sum[n] += t * b[j];
        }
      }
    }
    FMM_UNROLL
    for (int j = 0; j < count; ++j) a[index_re(m + j, m) * Stride] = sum[j];
  }
};

}  // namespace fmm::detail
