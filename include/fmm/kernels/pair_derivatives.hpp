// SPDX-License-Identifier: BSD-3-Clause
// Higher derivatives of a pair kernel, for Hessians and dipoles.
//
// With d from the source to the target, u(r) the potential of a unit charge, w = -u'/r, t = -w'/r and s = -t'/r,
//
//     a charge q     potential u          field w d                 Hessian t d d^T - w I                     times q
//     a dipole p     w p.d                t (p.d) d - w p           s (p.d) d d^T - t (p.d I + d p^T + p d^T)
//
// The field is minus the gradient; the Hessian is the potential's. Powers of 1/r of which float has no room are
// avoided: t and s come multiplied by the square and the third power of a length, 1 / scale, of the order of r, and
// d divided by it.
#pragma once

#include "../simd/simd.hpp"

namespace fmm {

/// Of a unit charge at one distance: u, w, and with n = scale d: t d d^T = second n n^T, s d d d = third n n n.
template <class Real>
struct PairDerivatives {
  Real potential, weight, second, third, scale;
};

namespace kernels {

/// Of 1 / sqrt(r^2 + softening^2), which is `u`, or 0 at one point.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION PairDerivatives<V> newtonian_derivatives(V u) {
  using Real = simd::lane_scalar_t<V>;
  const V w = u * (u * u);
  return {u, w, V(Real(3)) * w, V(Real(15)) * w * u, u};
}

/// Of the same, for Hessians of charges: t d d^T is three times weight n n^T, and that factor is left to the end of
/// sums.
template <class V>
struct NewtonianThirds {
  V potential, weight, scale;
};

/// The Hessian's six numbers, in the order of results.
template <class V>
struct SymmetricMatrix {
  V xx, yy, zz, xy, xz, yz;

  KOKKOS_FORCEINLINE_FUNCTION SymmetricMatrix& operator*=(V factor) {
    for (V* const number : {&xx, &yy, &zz, &xy, &xz, &yz}) *number *= factor;
    return *this;
  }
};

}  // namespace kernels
}  // namespace fmm
