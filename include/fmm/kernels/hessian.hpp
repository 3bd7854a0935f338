// SPDX-License-Identifier: BSD-3-Clause
// The Hessian of an expansion's potential (M2P, L2P): rows are derivatives of the gradient, along one axis each.
#pragma once

#include "../simd/dual.hpp"
#include "pair_derivatives.hpp"
#include "spherical/harmonics.hpp"

namespace fmm::kernels {

/// Potential, gradient, and Hessian at one point (or at one point a lane).
template <class V>
struct PotentialHessian : PotentialGradient<V> {
  SymmetricMatrix<V> hessian;
};

/// What is evaluated at a point for these outputs.
template <class Out, class V>
using ValueAt = std::conditional_t<Out::hessian, PotentialHessian<V>, PotentialGradient<V>>;

/// Record r of the sums of one density, before signs and wishes are looked at (strengths.hpp: Outputs).
template <class V>
KOKKOS_FORCEINLINE_FUNCTION PotentialGradient<V> record_of(PotentialGradient<V> const& value, int) {
  return value;
}
template <class V>
KOKKOS_FORCEINLINE_FUNCTION PotentialGradient<V> record_of(PotentialHessian<V> const& value,
                                                           int r) {
  auto const& h = value.hessian;
  if (r == 0) return value;
  if (r == 1) return {h.xx, h.yy, h.zz, h.xy};
  return {h.xz, h.yz, V(lane_scalar_t<V>(0)), V(lane_scalar_t<V>(0))};
}

/// Whether an expansion's potential is harmonic, so that its Hessian has no trace; if it says nothing it is not.
template <class Expansion>
KOKKOS_INLINE_FUNCTION constexpr bool has_no_trace() {
  if constexpr (requires { Expansion::harmonic; })
    return Expansion::harmonic;
  else
    return false;
}

/// Adds the Hessian of a potential, times `unit`: gradient(x, y, z) gives it at coordinates along which it is derived.
template <bool NoTrace, class V, class Gradient>
KOKKOS_FORCEINLINE_FUNCTION void add_hessian_of(Gradient const& gradient, V x, V y, V z, V unit,
                                                SymmetricMatrix<V>& hessian) {
  using D = Dual<V>;
  const V none(lane_scalar_t<V>(0)), one(lane_scalar_t<V>(1));
  const auto along_x = gradient(D(x, one), D(y, none), D(z, none));
  hessian.xx += unit * along_x.x.slope;
  hessian.xy += unit * along_x.y.slope;
  hessian.xz += unit * along_x.z.slope;
  const auto along_y = gradient(D(x, none), D(y, one), D(z, none));
  hessian.yy += unit * along_y.y.slope;
  hessian.yz += unit * along_y.z.slope;
  if constexpr (NoTrace)
    hessian.zz -= unit * (along_x.x.slope + along_y.y.slope);
  else
    hessian.zz += unit * gradient(D(x, none), D(y, none), D(z, one)).z.slope;
}

/// Of a local expansion at a place in edges of its cell, per edge: by the expansion itself, if it can (l2p_hessian,
/// expansion.hpp).
template <class Expansion, class V, class Real>
KOKKOS_FORCEINLINE_FUNCTION PotentialHessian<V> local_with_hessian(Expansion const& expansion, V x,
                                                                   V y, V z, Real const* S) {
  if constexpr (requires { expansion.l2p_hessian(x, y, z, S); }) {
    return expansion.l2p_hessian(x, y, z, S);
  } else {
    PotentialHessian<V> value{expansion.template l2p<true, true>(x, y, z, S), {}};
    add_hessian_of<has_no_trace<Expansion>()>(
        [&](auto dx, auto dy, auto dz) {
          return expansion.template l2p<false, true>(dx, dy, dz, S);
        },
        x, y, z, V(Real(1)), value.hessian);
    return value;
  }
}

/// Adds those of a multipole, per edge of the root, as m2p does.
template <class Expansion, class V, class Real>
KOKKOS_FORCEINLINE_FUNCTION void add_multipole_with_hessian(Expansion const& expansion, V x, V y,
                                                            V z, Real per_edge, Real const* S,
                                                            PotentialHessian<V>& sum) {
  if constexpr (requires { expansion.m2p_hessian(x, y, z, per_edge, S, sum); }) {
    expansion.m2p_hessian(x, y, z, per_edge, S, sum);
  } else {
    expansion.template m2p<true, true>(x, y, z, per_edge, S, sum);
    add_hessian_of<has_no_trace<Expansion>()>(
        [&]<class D>(D dx, D dy, D dz) {
          const D none(V(Real(0)));
          PotentialGradient<D> at{none, none, none, none};
          expansion.template m2p<false, true>(dx, dy, dz, per_edge, S, at);
          return at;
        },
        x, y, z, V(per_edge), sum.hessian);
  }
}

}  // namespace fmm::kernels
