// SPDX-License-Identifier: BSD-3-Clause
// Translations by rotation in a CPU's vector registers: several expansions at once, one a lane.
//
// An expansion in packs is far larger than the registers, and what takes the time is the way between these
// and the first cache. So a matrix row's sums stay in registers while the numbers they are made of are read
// once each; a rotation reads and writes each degree once for both its swaps; scaling goes with the turn next
// to it. Degrees and orders have functions of their own, called for both rotations of all translations: they stay in
// the instruction caches, and are compiled once. Of high orders, whose code would not fit there all the same, only a
// row's sums are unrolled.
#pragma once

#include "rotation.hpp"

namespace fmm::kernels {

/// Whether translations of that order are fastest in this form; those of lower ones are one piece of code in
/// registers, where they are few.
template <int Order, class V>
inline constexpr bool translates_in_packs_v = lane_count_v<V> > 1 && Order > 5;

/// Sums that are in registers at a time, a complex one counted once.
inline constexpr int rows_in_registers = 13;

/// Whether the loops over the numbers that sums are made of are unrolled, too.
template <int Order>
inline constexpr bool unrolls_all_v = Order <= 10;

/// add(l) for l = first, first + step, .. end.
template <bool Unroll, class F>
KOKKOS_FORCEINLINE_FUNCTION void for_each_number(int first, int end, int step, F const& add) {
  if constexpr (Unroll) {
    FMM_UNROLL_TOO
    for (int l = first; l <= end; l += step) add(l);
  } else {
    FMM_ROLLED
    for (int l = first; l <= end; l += step) add(l);
  }
}

/// That of degree n and below: functions of a degree are the same for all orders, which share them.
template <int n, class Real>
inline constexpr auto swap_table = SwapTable<n, Real>::make();

/// The matrices of the translations along z of one kind, with rows for what comes out: one of each for all functions,
/// which share its place in the first cache, and are the same for all kinds.
template <int Order, Axial Kind, class Real>
struct AxialMatrices {
  using Table = AxialTable<Order, Real>;
  Real at[Table::size];

  KOKKOS_FUNCTION static constexpr AxialMatrices make() {
    const Table table = Table::make();
    AxialMatrices matrices{};
    for (int m = 0; m <= Order; ++m)
      for (int j = m; j <= Order; ++j)
        for (int n = m; n <= Order; ++n)
          matrices.at[Table::index(j, n, m)] = Kind == Axial::m2l ? table.m2l[Table::index(j, n, m)]
                                               : Kind == Axial::m2m
                                                   ? table.shift[Table::index(j, n, m)]
                                                   : table.shift[Table::index(n, j, m)];
    return matrices;
  }
};
template <int Order, Axial Kind, class Real>
inline constexpr auto axial_matrices = AxialMatrices<Order, Kind, Real>::make();

/// Phases for functions that are the same for all orders.
template <class V>
struct FirstPhases {
  V const *cos, *sin;
};

/// Elements of a phase (c + i s)^m, m = 0 .. Order.
template <int Order, class V>
struct Phases {
  V cos[Order + 1], sin[Order + 1];

  KOKKOS_INLINE_FUNCTION Phases(V c, V s) {
    using Real = lane_scalar_t<V>;
    cos[0] = V(Real(1)), sin[0] = V(Real(0));
    cos[1] = c, sin[1] = s;
    for (int m = 2; m <= Order; ++m) {  // from their halves: short chains
      const int h = m / 2, k = m - h;
      cos[m] = cos[h] * cos[k] - sin[h] * sin[k];
      sin[m] = sin[h] * cos[k] + cos[h] * sin[k];
    }
  }
  /// Those of the opposite angle.
  KOKKOS_INLINE_FUNCTION void turn_round() {
    for (int m = 1; m <= Order; ++m) sin[m] = -sin[m];
  }
};

/// The numbers m = First, First + 2, .. (Rows of them) of swap(a), of degree n, to `out`; with Turn, turned
/// by the phases.
template <bool UnrollAll, int n, int First, int Rows, bool Turn, class V>
KOKKOS_FORCEINLINE_FUNCTION void swap_rows(V const* a, FirstPhases<V> phases, V* out) {
  using Real = lane_scalar_t<V>;
  using Table = SwapTable<n, Real>;
  constexpr auto& table = swap_table<n, Real>;  // symmetric
  V re[Rows], im[Rows];
  FMM_UNROLL_TOO
  for (int r = 0; r < Rows; ++r) re[r] = im[r] = V(Real(0));
  constexpr int first_cos = (n + First) % 2, first_sin = first_cos == 0 ? 1 : 2;
  for_each_number<UnrollAll>(first_cos, n, 2, [&](int l) {
    const V x = a[l == 0 ? 0 : 2 * l - 1];
    FMM_UNROLL_TOO
    for (int r = 0; r < Rows; ++r) re[r] += V(table.cos[Table::index_cos(n, l, First + 2 * r)]) * x;
  });
  for_each_number<UnrollAll>(first_sin, n, 2, [&](int l) {
    const V x = a[2 * l];
    FMM_UNROLL_TOO
    for (int r = First == 0 ? 1 : 0; r < Rows; ++r)
      im[r] += V(table.sin[Table::index_sin(n, l, First + 2 * r)]) * x;
  });
  FMM_UNROLL_TOO
  for (int r = 0; r < Rows; ++r) {
    const int m = First + 2 * r;
    if (m == 0) {
      out[0] = re[r];
    } else if (Turn) {
      out[2 * m - 1] = re[r] * phases.cos[m] - im[r] * phases.sin[m];
      out[2 * m] = re[r] * phases.sin[m] + im[r] * phases.cos[m];
    } else {
      out[2 * m - 1] = re[r];
      out[2 * m] = im[r];
    }
  }
}

/// f(first, count) for pieces of 0 .. Total - 1 of about the same length, at most rows_in_registers.
template <int Total, class F>
KOKKOS_FORCEINLINE_FUNCTION void for_pieces(F const& f) {
  constexpr int pieces = (Total + rows_in_registers - 1) / rows_in_registers;
  for_constants<pieces>([&](auto piece) {
    constexpr int i = decltype(piece)::value, first = Total * i / pieces;
    f(std::integral_constant<int, first>(),
      std::integral_constant<int, Total*(i + 1) / pieces - first>());
  });
}

/// out <- swap(a), of degree n; with Turn, turned by the phases.
template <bool UnrollAll, int n, bool Turn, class V>
KOKKOS_FORCEINLINE_FUNCTION void swap_degree_in_packs(V const* a, FirstPhases<V> phases, V* out) {
  for_constants<2>([&](auto parity) {  // of m: sums over the same numbers
    constexpr int odd = decltype(parity)::value, total = odd ? (n + 1) / 2 : n / 2 + 1;
    for_pieces<total>([&](auto first, auto rows) {
      swap_rows<UnrollAll, n, odd + 2 * decltype(first)::value, decltype(rows)::value, Turn>(
          a, phases, out);
    });
  });
}

/// a <- swap(turn(swap(a))), of degree n: a turn about x.
template <bool UnrollAll, int n, class V>
FMM_NOINLINE KOKKOS_INLINE_FUNCTION void tilt_degree(V* a, FirstPhases<V> phases) {
  V b[2 * n + 1];
  swap_degree_in_packs<UnrollAll, n, true>(a, phases, b);
  swap_degree_in_packs<UnrollAll, n, false>(b, phases, a);
}
template <int Order, class V>
KOKKOS_FORCEINLINE_FUNCTION void tilt(V* a, Phases<Order, V> const& phases) {
  for_constants<Order>([&](auto below) {
    constexpr int n = decltype(below)::value + 1;
    tilt_degree<unrolls_all_v<Order>, n>(a + n * n, FirstPhases<V>{phases.cos, phases.sin});
  });
}

/// The translation along +z of the coefficients of order m (translate_along_z) by AxialMatrices.
template <int Order, int m, class V>
FMM_NOINLINE KOKKOS_INLINE_FUNCTION void translate_order(lane_scalar_t<V> const* matrices, V* a) {
  using Real = lane_scalar_t<V>;
  using Table = AxialTable<Order, Real>;
  constexpr int count = Order + 1 - m;
  constexpr bool at_once =
      count <= rows_in_registers;  // else the first sums would be read by the next
  V sum_re[at_once ? 1 : count], sum_im[at_once ? 1 : count];
  for_pieces<count>([&](auto first_row, auto row_count) {
    constexpr int rows = decltype(row_count)::value, first = m + decltype(first_row)::value;
    V re[rows], im[rows];
    FMM_UNROLL_TOO
    for (int r = 0; r < rows; ++r) re[r] = im[r] = V(Real(0));
    for_each_number<unrolls_all_v<Order>>(m, Order, 1, [&](int n) {
      const V x = a[index_re(n, m)], y = m > 0 ? a[index_im(n, m)] : x;
      FMM_UNROLL_TOO
      for (int r = 0; r < rows; ++r) {
        const int j = first + r;
        const V t(matrices[Table::index(j, n, m)]);
        re[r] += t * x;
        if (m > 0) im[r] += t * y;
      }
    });
    FMM_UNROLL_TOO
    for (int r = 0; r < rows; ++r) {
      V* const to_re = at_once ? &a[index_re(first + r, m)] : &sum_re[first + r - m];
      V* const to_im = at_once ? &a[index_im(first + r, m)] : &sum_im[first + r - m];
      *to_re = re[r];
      if (m > 0) *to_im = im[r];
    }
  });
  if constexpr (!at_once)
    for (int j = m; j <= Order; ++j) {
      a[index_re(j, m)] = sum_re[j - m];
      if (m > 0) a[index_im(j, m)] = sum_im[j - m];
    }
}

/// a_n^m <- a_n^m f s^n e^(i m phi), with the phases of phi.
template <int Order, class V>
FMM_NOINLINE KOKKOS_INLINE_FUNCTION void scale_and_turn(V* a, V f, V s,
                                                        Phases<Order, V> const& phases) {
  for (int n = 0; n <= Order; ++n) {
    a[n * n] *= f;
    for (int m = 1; m <= n; ++m) {
      const V re = a[index_re(n, m)] * f, im = a[index_im(n, m)] * f;
      a[index_re(n, m)] = re * phases.cos[m] - im * phases.sin[m];
      a[index_im(n, m)] = re * phases.sin[m] + im * phases.cos[m];
    }
    f *= s;
  }
}

/// The translation of translate_by_rotation, the same to rounding.
template <int Order, Axial Kind, class V>
KOKKOS_INLINE_FUNCTION void translate_in_packs(Rotator<V> const& r, V in, V front, V out, V* a) {
  Phases<Order, V> azimuth(r.cos_azimuth, r.sin_azimuth), polar(r.cos_polar, -r.sin_polar);
  scale_and_turn<Order>(a, V(lane_scalar_t<V>(1)), in, azimuth);
  tilt<Order>(a, polar);
  for_constants<Order + 1>([&](auto m) {
    translate_order<Order, decltype(m)::value>(axial_matrices<Order, Kind, lane_scalar_t<V>>.at, a);
  });
  polar.turn_round();
  tilt<Order>(a, polar);
  azimuth.turn_round();
  scale_and_turn<Order>(a, front, out, azimuth);
}

}  // namespace fmm::kernels
