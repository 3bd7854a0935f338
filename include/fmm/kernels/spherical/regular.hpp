// SPDX-License-Identifier: BSD-3-Clause
// Regular harmonics U_n^m of an order that is known at run time, in double: for what is done once for a build or for a
// few cells. Operators of a compile-time order have them from harmonics.hpp.
#pragma once

#include "harmonics.hpp"

namespace fmm::kernels {

/// U_n^m(d), 0 <= m <= n <= order, at index_re and index_im.
KOKKOS_INLINE_FUNCTION void set_regular(double const (&d)[3], int order, double* u) {
  const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
  Complex<double> diagonal{1, 0};
  for (int m = 0; m <= order; ++m) {
    if (m > 0) diagonal = diagonal * Complex<double>{d[0], d[1]} * (0.5 / m);
    Complex<double> before{0, 0}, here = diagonal;
    for (int l = m; l <= order; ++l) {
      if (l > m) {
        const double f = 1.0 / ((l - m) * (l + m));
        const Complex<double> next = here * ((2 * l - 1) * d[2] * f) + -(before * (r2 * f));
        before = here;
        here = next;
      }
      u[index_re(l, m)] = here.re;
      if (m > 0) u[index_im(l, m)] = here.im;
    }
  }
}

/// sum over m of U_n^m M_(j-n)^(k-m): the terms of degree n of a multipole's coefficient (j, k) about another centre,
/// of sums M(n, m) of U; `u` has harmonics of the centre that these are about, from the other one.
template <class SumsOfU>
KOKKOS_INLINE_FUNCTION Complex<double> product_of_degree(double const* u, int n, SumsOfU const& M,
                                                         int j, int k) {
  Complex<double> sum{0, 0};
  const int first = k - (j - n) > -n ? k - (j - n) : -n, last = k + (j - n) < n ? k + (j - n) : n;
  for (int m = first; m <= last; ++m) sum += harmonic(u, n, m) * M(j - n, k - m);
  return sum;
}

}  // namespace fmm::kernels
