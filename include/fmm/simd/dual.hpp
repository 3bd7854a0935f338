// SPDX-License-Identifier: BSD-3-Clause
// A number and its derivative along one direction. Functions that are written over lanes take it in the place of a
// number, and give the derivative beside the value: of an expansion's terms that of a dipole, of its gradient a row of
// the Hessian.
#pragma once

#include "simd.hpp"

namespace fmm::simd {

template <class V>
struct Dual {
  using Scalar = lane_scalar_t<V>;
  V value, slope;

  Dual() = default;
  KOKKOS_FORCEINLINE_FUNCTION Dual(V v, V s) : value(v), slope(s) {}
  /// A constant.
  KOKKOS_FORCEINLINE_FUNCTION explicit Dual(V v) : value(v), slope(Scalar(0)) {}
  KOKKOS_FORCEINLINE_FUNCTION explicit Dual(Scalar v) requires(!std::is_same_v<V, Scalar>)
      : value(v), slope(Scalar(0)) {}

  KOKKOS_FORCEINLINE_FUNCTION Dual operator-() const { return {-value, -slope}; }
  friend KOKKOS_FORCEINLINE_FUNCTION Dual operator+(Dual a, Dual b) {
    return {a.value + b.value, a.slope + b.slope};
  }
  friend KOKKOS_FORCEINLINE_FUNCTION Dual operator-(Dual a, Dual b) {
    return {a.value - b.value, a.slope - b.slope};
  }
  friend KOKKOS_FORCEINLINE_FUNCTION Dual operator*(Dual a, Dual b) {
    return {a.value * b.value, a.value * b.slope + a.slope * b.value};
  }
  KOKKOS_FORCEINLINE_FUNCTION Dual& operator+=(Dual b) { return *this = *this + b; }
  KOKKOS_FORCEINLINE_FUNCTION Dual& operator-=(Dual b) { return *this = *this - b; }
  KOKKOS_FORCEINLINE_FUNCTION Dual& operator*=(Dual b) { return *this = *this * b; }
};

template <class V>
KOKKOS_FORCEINLINE_FUNCTION Dual<V> rsqrt(Dual<V> x) {
  const V u = rsqrt(x.value);
  return {u, V(lane_scalar_t<V>(-0.5)) * (u * u * u) * x.slope};
}

template <class V>
struct LaneTraits<Dual<V>> {
  using scalar = lane_scalar_t<V>;
  static constexpr int count = lane_count_v<V>;
};

/// Coefficients that take the derivatives of what is added.
template <class Coefficients>
struct SlopesInto {
  Coefficients& all;

  struct Coefficient {
    Coefficients& all;
    int k;
    template <class V>
    KOKKOS_FORCEINLINE_FUNCTION void operator+=(Dual<V> term) const {
      all[k] += term.slope;
    }
  };
  KOKKOS_FORCEINLINE_FUNCTION Coefficient operator[](int k) const { return {all, k}; }
};

}  // namespace fmm::simd
