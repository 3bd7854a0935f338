// SPDX-License-Identifier: BSD-3-Clause
// Rotations of expansions by swap matrices, and translations along z: the O(p^3) scheme of
// Cheng, Greengard & Rokhlin (1999, J. Comput. Phys. 155:468) in the form of Dehnen (2014, Comput.
// Astrophys. Cosmol. 1:1, section A.6).
//
// A rotation that takes a direction d to the z axis is four cheap steps: turn about z until d lies in
// the y-z plane (each order m is multiplied by a phase e^(i m a)), swap x and z, turn about z until d
// lies on x, swap x and z again. The swap is an orthogonal and symmetric matrix in each degree, the
// same for every d. Half of its elements vanish by parity: the loops step over them.
#pragma once

#include "harmonics.hpp"

namespace fmm::kernels {

/// Elements of the swap matrices in the normalised real basis: for degree n, cos(n, m, l) takes
/// e_nl^c to e_nm^c (0 <= m, l <= n) and sin(n, m, l) takes e_nl^s to e_nm^s (1 <= m, l <= n).
template <int Order, class Real>
struct SwapTable {
  Real cos[(Order + 1) * (Order + 2) * (2 * Order + 3) / 6];
  Real sin[Order * (Order + 1) * (2 * Order + 1) / 6 + 1];

  KOKKOS_INLINE_FUNCTION static constexpr int index_cos(int n, int m, int l) {
    return n * (n + 1) * (2 * n + 1) / 6 + m * (n + 1) + l;
  }
  KOKKOS_INLINE_FUNCTION static constexpr int index_sin(int n, int m, int l) {
    return (n - 1) * n * (2 * n - 1) / 6 + (m - 1) * n + l - 1;
  }

  /// U_n^m(z, y, x) = sum_l b_n^(m,l) U_n^l(x, y, z). Differentiating by z and by x gives
  /// b_n^(m,l) = (b_(n-1)^(m-1,l) - b_(n-1)^(m+1,l)) / 2 for |l| < n, and
  /// b_n^(m,l+1) = b_n^(m,l-1) + 2 b_(n-1)^(m,l) for the two columns l = n and l = -n.
  KOKKOS_FUNCTION static constexpr SwapTable make() {
    constexpr int w = 2 * Order + 3, c = Order + 1;  // one ring of zeros around the largest matrix
    double previous[w][w] = {}, b[w][w] = {};
    double norms[Order + 1] = {};
    previous[c][c] = 1;
    SwapTable table{};
    const auto factorials = Factorials<2 * Order>::make();
    table.cos[0] = Real(1);
    for (int n = 1; n <= Order; ++n) {
      for (int m = -n; m <= n; ++m) {
        for (int l = 1 - n; l < n; ++l)
          b[c + m][c + l] = 0.5 * (previous[c + m - 1][c + l] - previous[c + m + 1][c + l]);
        if (n == 1) {  // x = U_1^1 - U_1^(-1), (z + i y)/2 and its mirror image
          b[c + m][c + 1] = m == 0 ? 1 : 0.5;
          b[c + m][c - 1] = m == 0 ? -1 : 0.5;
        } else {
          b[c + m][c + n] = b[c + m][c + n - 2] + 2 * previous[c + m][c + n - 1];
          b[c + m][c - n] = b[c + m][c - n + 2] - 2 * previous[c + m][c - n + 1];
        }
      }
      for (int m = 0; m <= n; ++m)
        norms[m] = (m == 0 ? 1 : constexpr_sqrt(2)) * factorials.norm(n, m);
      for (int m = 0; m <= n; ++m)
        for (int l = 0; l <= n; ++l) {
          const double sign = l % 2 == 0 ? 1 : -1, ratio = norms[m] / norms[l];
          const double plus = b[c + m][c + l], minus = sign * b[c + m][c - l];
          table.cos[index_cos(n, m, l)] = Real(ratio * (l == 0 ? plus : plus + minus));
          if (m > 0 && l > 0) table.sin[index_sin(n, m, l)] = Real(ratio * (plus - minus));
        }
      for (int i = 0; i < w; ++i)
        for (int j = 0; j < w; ++j) previous[i][j] = b[i][j];
    }
    return table;
  }
};

/// a <- swap(a), every degree up to Order, in place. Cost: about (1/3) Order^3 multiply-adds.
template <int Order, class V>
KOKKOS_INLINE_FUNCTION void swap_xz(V* a) {
  using Real = lane_scalar_t<V>;
  using Table = SwapTable<Order, Real>;
  static constexpr auto table = Table::make();
  V b[2 * Order + 1];
  const int last = last_degree<Order>();
  FMM_UNROLL_TOO
  for (int n = 1; n <= last; ++n) {
    FMM_UNROLL_TOO
    for (int m = 0; m <= n; ++m) {  // e^c: non-zero where m + l + n is even
      V sum(Real(0));
      FMM_UNROLL_TOO
      for (int l = (n + m) % 2; l <= n; l += 2)
        sum += V(table.cos[Table::index_cos(n, m, l)]) * a[index_re(n, l)];
      b[m] = sum;
    }
    FMM_UNROLL_TOO
    for (int m = 1; m <= n; ++m) {  // e^s: non-zero where m + l + n is odd
      V sum(Real(0));
      FMM_UNROLL_TOO
      for (int l = 1 + (n + m) % 2; l <= n; l += 2)
        sum += V(table.sin[Table::index_sin(n, m, l)]) * a[index_im(n, l)];
      b[n + m] = sum;
    }
    a[index_re(n, 0)] = b[0];
    FMM_UNROLL_TOO
    for (int m = 1; m <= n; ++m) {
      a[index_re(n, m)] = b[m];
      a[index_im(n, m)] = b[n + m];
    }
  }
}

/// a_n^m <- a_n^m (c + i s)^m: the expansion seen after a turn of the axes about z.
template <int Order, class V>
KOKKOS_INLINE_FUNCTION void turn_about_z(V* a, V c, V s) {
  V cm = c, sm = s;
  const int last = last_degree<Order>();
  FMM_UNROLL_TOO
  for (int m = 1; m <= last; ++m) {
    FMM_UNROLL_TOO
    for (int n = m; n <= last; ++n) {
      const V re = a[index_re(n, m)], im = a[index_im(n, m)];
      a[index_re(n, m)] = re * cm - im * sm;
      a[index_im(n, m)] = re * sm + im * cm;
    }
    const V next = cm * c - sm * s;
    sm = sm * c + cm * s;
    cm = next;
  }
}

enum class Axial { m2l, m2m, l2l };

/// a <- swap(turn(swap(a))): the expansion seen after a turn of the axes about x.
template <int Order, class V>
KOKKOS_FORCEINLINE_FUNCTION void turn_about_x(V* a, V c, V s) {
  swap_xz<Order>(a);
  turn_about_z<Order>(a, c, s);
  swap_xz<Order>(a);
}

/// The same in a function of its own, for several lanes: both rotations of M2M and L2L call it, and it is compiled
/// once. M2L, of which an evaluation has many more, would be up to a fifth slower: a call puts its numbers into memory.
template <int Order, class V>
FMM_NOINLINE KOKKOS_INLINE_FUNCTION void turn_shift_about_x(V* a, V c, V s) {
  turn_about_x<Order>(a, c, s);
}

/// A direction as the two turns that take it to the z axis, and the length that goes with it.
template <class V>
struct Rotator {
  V cos_azimuth, sin_azimuth;  // of the turn that brings the direction into the y-z plane
  V cos_polar, sin_polar;
  V inverse_length;

  KOKKOS_INLINE_FUNCTION Rotator(V x, V y, V z) {
    using Real = lane_scalar_t<V>;
    const V s2 = x * x + y * y, zero(Real(0)), one(Real(1));
    inverse_length = rsqrt(s2 + z * z);
    const auto off_axis = s2 > V(coincident_direction<Real>) * (z * z);
    const V inverse_s = rsqrt(select(off_axis, s2, one));
    cos_azimuth = select(off_axis, y * inverse_s, one);
    sin_azimuth = select(off_axis, x * inverse_s, zero);
    cos_polar = z * inverse_length;
    sin_polar = select(off_axis, s2 * inverse_s * inverse_length, zero);
  }

  /// Coefficients of the same expansion in axes whose z points along the direction, for a translation of that kind.
  template <int Order, Axial Kind = Axial::m2l>
  KOKKOS_INLINE_FUNCTION void to_z(V* a) const {
    turn_about_z<Order>(a, cos_azimuth, sin_azimuth);
    tilt<Order, Kind>(a, -sin_polar);
  }

  template <int Order, Axial Kind = Axial::m2l>
  KOKKOS_INLINE_FUNCTION void from_z(V* a) const {
    tilt<Order, Kind>(a, sin_polar);
    turn_about_z<Order>(a, cos_azimuth, -sin_azimuth);
  }

 private:
  template <int Order, Axial Kind>
  KOKKOS_FORCEINLINE_FUNCTION void tilt(V* a, V sine) const {
    if constexpr (Kind != Axial::m2l && lane_count_v < V >> 1)
      turn_shift_about_x<Order>(a, cos_polar, sine);
    else
      turn_about_x<Order>(a, cos_polar, sine);
  }

  // Directions between cell centres are either on the axis or far from it.
  template <class Real>
  static constexpr Real coincident_direction = sizeof(Real) == 4 ? Real(1e-13) : Real(1e-30);
};

/// Constants of the translations along z by a unit length, one row of pairs (j, n) >= m for each m.
template <int Order, class Real>
struct AxialTable {
  static constexpr int size = (Order + 1) * (Order + 2) * (2 * Order + 3) / 6;
  Real m2l[size];    ///< (-1)^(j+m) (j+n)! / (N_j^m N_n^m)
  Real shift[size];  ///< N_j^m / (N_n^m (j-n)!) for n <= j, else 0

  /// Pairs of smaller m come first.
  KOKKOS_INLINE_FUNCTION static constexpr int index(int j, int n, int m) {
    const int w = Order + 1 - m;  // row length for this m
    return size - w * (w + 1) * (2 * w + 1) / 6 + (j - m) * w + (n - m);
  }

  KOKKOS_FUNCTION static constexpr AxialTable make() {
    AxialTable table{};
    const auto f = Factorials<2 * Order>::make();
    for (int m = 0; m <= Order; ++m)
      for (int j = m; j <= Order; ++j)
        for (int n = m; n <= Order; ++n) {
          const double sign = (j + m) % 2 == 0 ? 1 : -1;
          table.m2l[index(j, n, m)] = Real(sign * f.factorial[j + n] / f.norm(j, m) / f.norm(n, m));
          table.shift[index(j, n, m)] =
              Real(n <= j ? f.norm(j, m) / f.norm(n, m) / f.factorial[j - n] : 0);
        }
    return table;
  }
};

/// The translation along +z, the length already scaled out of `a`. m2l: all n; m2m: n <= j; l2l: the
/// transpose of m2m. Cost: about (2/3) Order^3 multiply-adds for m2l, half of it for the others.
template <int Order, Axial Kind, class V>
KOKKOS_INLINE_FUNCTION void translate_along_z(V* a) {
  using Real = lane_scalar_t<V>;
  using Table = AxialTable<Order, Real>;
  static constexpr auto table = Table::make();
  V re[Order + 1], im[Order + 1];
  const int last = last_degree<Order>();
  FMM_UNROLL_TOO
  for (int m = 0; m <= last; ++m) {
    FMM_UNROLL_TOO
    for (int j = m; j <= Order; ++j) {
      V sum_re(Real(0)), sum_im(Real(0));
      const int first = Kind == Axial::l2l ? j : m, end = Kind == Axial::m2m ? j : Order;
      FMM_UNROLL_TOO
      for (int n = first; n <= end; ++n) {
        const V t(Kind == Axial::m2l   ? table.m2l[Table::index(j, n, m)]
                  : Kind == Axial::m2m ? table.shift[Table::index(j, n, m)]
                                       : table.shift[Table::index(n, j, m)]);
        sum_re += t * a[index_re(n, m)];
        if (m > 0) sum_im += t * a[index_im(n, m)];
      }
      re[j] = sum_re;
      im[j] = sum_im;
    }
    FMM_UNROLL_TOO
    for (int j = m; j <= Order; ++j) {
      a[index_re(j, m)] = re[j];
      if (m > 0) a[index_im(j, m)] = im[j];
    }
  }
}

/// a_n^m <- a_n^m f s^n.
template <int Order, class V>
KOKKOS_INLINE_FUNCTION void scale_degrees(V* a, V f, V s) {
  const int last = last_degree<Order>();
  FMM_UNROLL_TOO
  for (int n = 0; n <= last; ++n) {
    FMM_UNROLL_TOO
    for (int k = 0; k < 2 * n + 1; ++k) a[n * n + k] *= f;
    f *= s;
  }
}

/// The whole translation in place: degree n times in^n, the direction rotated to z, a shift along it, rotated
/// back, degree n times front out^n.
template <int Order, Axial Kind, class V>
KOKKOS_INLINE_FUNCTION void translate_by_rotation(Rotator<V> const& rotator, V in, V front, V out,
                                                  V* a) {
  scale_degrees<Order>(a, V(lane_scalar_t<V>(1)), in);
  rotator.template to_z<Order, Kind>(a);
  translate_along_z<Order, Kind>(a);
  rotator.template from_z<Order, Kind>(a);
  scale_degrees<Order>(a, front, out);
}

}  // namespace fmm::kernels
