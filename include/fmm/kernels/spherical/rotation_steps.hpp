// SPDX-License-Identifier: BSD-3-Clause
// Translations by rotation of expansions that are too large for one thread's registers.
//
// Several threads translate one expansion together: `Split` of them, of which number `share` takes a share
// of the work. The expansion lies in scratch memory, and each step takes a piece of it through registers:
// the rotations act within a degree, so a thread rotates whole degrees, each read once and written once for
// all four steps of a rotation; the shift along z acts within an order, so a thread shifts whole orders.
// Between the steps the threads wait for each other.
//
// A degree's or an order's numbers are registers, so there has to be code for every size; and it has to fit
// into a GPU's instruction cache, since what limits is else the fetching of instructions (p = 12 in double:
// 100 kB, of 12 warps 7 wait for them). So the degrees are taken in groups of as many as there are threads,
// which rotate one each by the same code, made for the largest of the group; what a smaller degree has not
// is zero. The matrices come from tables; all turns and swaps of a degree, forth and back, are passes
// through the same instructions. The same holds of the orders, whose sines and cosines are apart.
#pragma once

#include "rotation.hpp"

namespace fmm::kernels {

/// Two numbers that a GPU loads at once: neighbours in a table, or those of two expansions.
template <class Real>
struct alignas(2 * sizeof(Real)) Two {
  Real value[2];

  Two() = default;
  KOKKOS_FORCEINLINE_FUNCTION constexpr explicit Two(Real x) : value{x, x} {}
  KOKKOS_FORCEINLINE_FUNCTION constexpr Two(Real x, Real y) : value{x, y} {}

  KOKKOS_FORCEINLINE_FUNCTION Two& operator+=(Two x) { return *this = *this + x; }
  KOKKOS_FORCEINLINE_FUNCTION Two& operator*=(Two x) { return *this = *this * x; }
  KOKKOS_FORCEINLINE_FUNCTION friend Two operator-(Two x) { return {-x.value[0], -x.value[1]}; }
  KOKKOS_FORCEINLINE_FUNCTION friend Two operator+(Two x, Two y) {
    return {x.value[0] + y.value[0], x.value[1] + y.value[1]};
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Two operator-(Two x, Two y) {
    return {x.value[0] - y.value[0], x.value[1] - y.value[1]};
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Two operator*(Two x, Two y) {
    return {x.value[0] * y.value[0], x.value[1] * y.value[1]};
  }
};

}  // namespace fmm::kernels
template <class Real>
struct fmm::simd::LaneTraits<fmm::kernels::Two<Real>> {
  using scalar = Real;
  static constexpr int count = 2;
};
namespace fmm::kernels {

/// The numbers of a table one by one.
template <class Real>
struct TableReader {
  Two<Real> const* from;
  Two<Real> now{Real(0)};
  int next = 0;

  KOKKOS_FORCEINLINE_FUNCTION explicit TableReader(Two<Real> const* table) : from(table) {}
  KOKKOS_FORCEINLINE_FUNCTION Real operator()() {
    if (next % 2 == 0) now = from[next / 2];
    return now.value[next++ % 2];
  }
};

/// The same, to be written.
template <class Real>
struct TableWriter {
  Two<Real>* to;
  int next = 0;

  KOKKOS_FUNCTION constexpr void operator()(Real x) {
    to[next / 2].value[next % 2] = x;
    ++next;
  }
};

/// Symmetric matrices, the upper triangles of all that the threads take one after the other: `Groups` of `Split`,
/// those of a group as large as its first and padded by zeros.
template <int Split, int Groups, class Real, class Size>
struct MatrixGroups {
  /// Of the upper triangle, in Twos.
  KOKKOS_FUNCTION static constexpr int length(int group) {
    return (Size::of(group) * (Size::of(group) + 1) / 2 + 1) / 2;
  }
  KOKKOS_FUNCTION static constexpr int begin(int group) {
    int sum = 0;
    for (int g = 0; g < group; ++g) sum += Split * length(g);
    return sum;
  }
  Two<Real> numbers[begin(Groups)] = {};

  template <int group>
  KOKKOS_FORCEINLINE_FUNCTION TableReader<Real> reader(int share) const {
    return TableReader<Real>(numbers + begin(group) + share * length(group));
  }
  KOKKOS_FUNCTION constexpr TableWriter<Real> writer(int group, int share) {
    return {numbers + begin(group) + share * length(group)};
  }
};

/// Degrees n = Order .. 1 by falling size; degree 0 is not rotated. Of a degree, x are the numbers that the swap
/// mixes where their orders are both even or both odd, y those where they are not: e^c and e^s if n is even, e^s
/// and e^c if it is odd. Both have orders 0 .. n, of which that of e^s is zero.
template <int Order, int Split>
struct DegreeGroups {
  static constexpr int count = (Order + Split - 1) / Split;
  KOKKOS_FUNCTION static constexpr int degree(int group, int share) {
    return Order - group * Split - share;
  }
  KOKKOS_FUNCTION static constexpr int of(int group) { return degree(group, 0) + 1; }

  /// Elements (m, l) in the order in which swap_degree takes them.
  template <class Real>
  KOKKOS_FUNCTION static constexpr auto make() {
    using Table = SwapTable<Order, Real>;
    const auto swap = Table::make();
    MatrixGroups<Split, count, Real, DegreeGroups> all{};
    for (int group = 0; group < count; ++group)
      for (int share = 0; share < Split; ++share) {
        const int n = degree(group, share), top = of(group) - 1;
        auto put = all.writer(group, share);
        for (int odd = 0; odd < 2; ++odd)
          for (int m = 0; m <= top; ++m)
            for (int l = m + odd; l <= top; l += 2)
              if (n < 1 || l > n)
                put(Real(0));
              else if ((n + odd) % 2 == 0)
                put(swap.cos[Table::index_cos(n, m, l)]);
              else
                put(m > 0 ? swap.sin[Table::index_sin(n, m, l)] : Real(0));
      }
    return all;
  }
};

/// Orders m = 0 .. Order by falling number of degrees, e^c and e^s of each: coefficients n^2 + t of t = 0 ..
/// 2 Order, n = Order .. m.
template <int Order, int Split>
struct OrderGroups {
  static constexpr int count = (2 * Order + Split) / Split;
  KOKKOS_FUNCTION static constexpr int degrees(int t) {
    return t > 2 * Order ? 0 : Order + 1 - (t + 1) / 2;
  }
  KOKKOS_FUNCTION static constexpr int of(int group) { return degrees(group * Split); }

  /// Elements (Order - i, Order - k), i <= k, row by row.
  template <Axial Kind, class Real>
  KOKKOS_FUNCTION static constexpr auto make() {
    using Table = AxialTable<Order, Real>;
    const auto axial = Table::make();
    MatrixGroups<Split, count, Real, OrderGroups> all{};
    for (int group = 0; group < count; ++group)
      for (int share = 0; share < Split; ++share) {
        const int t = group * Split + share, size = of(group);
        auto put = all.writer(group, share);
        for (int i = 0; i < size; ++i)
          for (int k = i; k < size; ++k)
            if (k >= degrees(t)) {
              put(Real(0));
            } else {
              const int at = Table::index(Order - i, Order - k, (t + 1) / 2);
              put(Kind == Axial::m2l ? axial.m2l[at] : axial.shift[at]);
            }
      }
    return all;
  }
};

/// x <- swap(x), y <- swap(y) of orders 0 .. top, see DegreeGroups. An element of the symmetric matrix is used
/// for both its places at once.
template <int top, class V, class Reader>
KOKKOS_FORCEINLINE_FUNCTION void swap_degree(Reader next, V* x, V* y) {
  const V zero(lane_scalar_t<V>(0));
  FMM_UNROLL
  for (int odd = 0; odd < 2; ++odd) {
    V* const a = odd ? y : x;
    V b[top + 1];
    FMM_UNROLL
    for (int m = 0; m <= top; ++m) b[m] = zero;
    FMM_UNROLL
    for (int m = 0; m <= top; ++m) {
      FMM_UNROLL
      for (int l = m + odd; l <= top; l += 2) {
        const V s(next());
        b[m] += s * a[l];
        if (l > m) b[l] += s * a[m];
      }
    }
    FMM_UNROLL
    for (int m = 0; m <= top; ++m) a[m] = b[m];
  }
}

/// (x + i y)_m <- f (x + i y)_m (c + i s)^m of orders 0 .. top.
template <int top, class V>
KOKKOS_FORCEINLINE_FUNCTION void turn_degree(V* x, V* y, V c, V s, V f) {
  [[maybe_unused]] const V twice = c + c;
  [[maybe_unused]] V last_cm = f, last_sm(lane_scalar_t<V>(0));
  V cm = c * f, sm = s * f;
  x[0] *= f;
  y[0] *= f;
  FMM_UNROLL
  for (int m = 1; m <= top; ++m) {
    const V re = x[m], im = y[m];
    x[m] = re * cm - im * sm;
    y[m] = re * sm + im * cm;
    if constexpr (sizeof(lane_scalar_t<V>) == 4) {
      const V next = cm * c - sm * s;
      sm = sm * c + cm * s;
      cm = next;
    } else {  // cos((m + 1) a) = 2 cos(a) cos(m a) - cos((m - 1) a), at the cost of a digit or less
      const V next_cm = twice * cm - last_cm, next_sm = twice * sm - last_sm;
      last_cm = cm;
      last_sm = sm;
      cm = next_cm;
      sm = next_sm;
    }
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

/// The steps of a translation, as one of `Split` threads does its share of them. Coefficient k is at a[k * Stride].
template <int Order, int Split, int Stride>
struct RotationSteps {
  /// Before the shift (back = 0): scales and rotates the direction to z. After it (back = 1): rotates it
  /// back and scales. In place.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static void rotate(Route<V> const& r, int back, int share, V* a) {
    using Groups = DegreeGroups<Order, Split>;
    const V sin_azimuth = back ? -r.sin_azimuth : r.sin_azimuth;
    const V sin_polar = back ? r.sin_polar : -r.sin_polar;
    const V base = back ? r.out : r.in;
    const V one(lane_scalar_t<V>(1));
    V power = back ? r.front : one;
    int degree = 0;
    if (share == 0) a[0] *= power;
    for_constants<Groups::count>([&](auto from_last) {
      constexpr int group = Groups::count - 1 - decltype(from_last)::value;
      const int n = Groups::degree(group, share);
      if (n < 1) return;
      FMM_UNROLL_BY(1)
      for (; degree < n; ++degree) power *= base;
      rotate_degree<group>(n, share, {r.cos_azimuth, sin_azimuth, power},
                           {r.cos_polar, sin_polar, one}, back, a + n * n * Stride);
    });
  }

  /// The shift along z, in place.
  template <Axial Kind, class V>
  KOKKOS_FORCEINLINE_FUNCTION static void shift(int share, V* a) {
    using Groups = OrderGroups<Order, Split>;
    for_constants<Groups::count>([&](auto number) {
      constexpr int group = decltype(number)::value;
      const int t = group * Split + share;
      if (t <= 2 * Order) shift_order<Kind, group>(t, share, a + t * Stride);
    });
  }

 private:
  /// About z, and the factor that goes with it.
  template <class V>
  struct Turn {
    V cos, sin, factor;
  };

  /// Turn, swap, turn, swap; back: swap, turn, swap, turn.
  template <int group, class V>
  KOKKOS_FORCEINLINE_FUNCTION static void rotate_degree(int n, int share, Turn<V> const& azimuth,
                                                        Turn<V> const& polar, int back, V* a) {
    using Groups = DegreeGroups<Order, Split>;
    static constexpr auto table = Groups::template make<lane_scalar_t<V>>();
    constexpr int top = Groups::of(group) - 1;
    const int odd = n % 2;
    const V zero(lane_scalar_t<V>(0));
    V x[top + 1], y[top + 1];
    x[0] = odd ? zero : a[0];
    y[0] = odd ? a[0] : zero;
    FMM_UNROLL
    for (int m = 1; m <= top; ++m) {
      x[m] = m <= n ? a[(2 * m - 1 + odd) * Stride] : zero;
      y[m] = m <= n ? a[(2 * m - odd) * Stride] : zero;
    }
    FMM_UNROLL_BY(1)
    for (int i = 0; i < 2 + back; ++i) {
      if (i > 0 || !back) {
        const V sin = i == 1 ? polar.sin : azimuth.sin;
        turn_degree<top>(x, y, i == 1 ? polar.cos : azimuth.cos, odd ? -sin : sin,
                         i == 1 ? polar.factor : azimuth.factor);
      }
      if (i < 2) swap_degree<top>(table.template reader<group>(share), x, y);
    }
    a[0] = odd ? y[0] : x[0];
    FMM_UNROLL
    for (int m = 1; m <= top; ++m)
      if (m <= n) {
        a[(2 * m - 1 + odd) * Stride] = x[m];
        a[(2 * m - odd) * Stride] = y[m];
      }
  }

  /// The coefficients t of an order, see OrderGroups.
  template <Axial Kind, int group, class V>
  KOKKOS_FORCEINLINE_FUNCTION static void shift_order(int t, int share, V* a) {
    using Groups = OrderGroups<Order, Split>;
    static constexpr auto table = Groups::template make<Kind, lane_scalar_t<V>>();
    constexpr int size = Groups::of(group);
    const int degrees = Groups::degrees(t);
    auto next = table.template reader<group>(share);
    const auto at = [](int i) { return (Order - i) * (Order - i) * Stride; };
    const V zero(lane_scalar_t<V>(0));
    V b[size], sum[size];
    FMM_UNROLL
    for (int i = 0; i < size; ++i) {
      b[i] = i < degrees ? a[at(i)] : zero;
      sum[i] = zero;
    }
    FMM_UNROLL
    for (int i = 0; i < size; ++i) {
      FMM_UNROLL
      for (int k = i; k < size; ++k) {
        const V s(next());
        if (Kind != Axial::l2l) sum[i] += s * b[k];
        if (Kind == Axial::l2l)
          sum[k] += s * b[i];
        else if (Kind == Axial::m2l && k > i)  // symmetric but for the sign
          sum[k] += ((i + k) % 2 == 0 ? s : -s) * b[i];
      }
    }
    FMM_UNROLL
    for (int i = 0; i < size; ++i)
      if (i < degrees) a[at(i)] = sum[i];
  }
};

}  // namespace fmm::kernels
