// SPDX-License-Identifier: BSD-3-Clause
// Floating point operations of an operator, found by running it once with numbers that count: every
// add, multiply, divide, square root or reciprocal square root is one, as Yokota & Barba count.
#pragma once

#include <cstdint>

#include "simd.hpp"

namespace fmm::detail {

/// A lane that counts what is done to it. Runs on the host only; marked for the device since the
/// operators that it goes through are.
template <class Real>
struct CountingLane {
  Real value;
  static inline thread_local std::int64_t count = 0;

  CountingLane() = default;
  KOKKOS_FUNCTION CountingLane(Real x) : value(x) {}

  friend KOKKOS_FUNCTION CountingLane operator+(CountingLane a, CountingLane b) { return counted(a.value + b.value); }
  friend KOKKOS_FUNCTION CountingLane operator-(CountingLane a, CountingLane b) { return counted(a.value - b.value); }
  friend KOKKOS_FUNCTION CountingLane operator*(CountingLane a, CountingLane b) { return counted(a.value * b.value); }
  friend KOKKOS_FUNCTION CountingLane operator/(CountingLane a, CountingLane b) { return counted(a.value / b.value); }
  friend KOKKOS_FUNCTION CountingLane operator-(CountingLane a) { return CountingLane(-a.value); }
  KOKKOS_FUNCTION CountingLane& operator+=(CountingLane b) { return *this = *this + b; }
  KOKKOS_FUNCTION CountingLane& operator-=(CountingLane b) { return *this = *this - b; }
  KOKKOS_FUNCTION CountingLane& operator*=(CountingLane b) { return *this = *this * b; }
  friend KOKKOS_FUNCTION bool operator<(CountingLane a, CountingLane b) { return a.value < b.value; }
  friend KOKKOS_FUNCTION bool operator>(CountingLane a, CountingLane b) { return a.value > b.value; }
  friend KOKKOS_FUNCTION bool operator==(CountingLane a, CountingLane b) { return a.value == b.value; }
  friend KOKKOS_FUNCTION CountingLane select(bool m, CountingLane a, CountingLane b) { return m ? a : b; }
  friend KOKKOS_FUNCTION CountingLane rsqrt(CountingLane x) { return counted(Real(1) / std::sqrt(x.value)); }

 private:
  KOKKOS_FUNCTION static CountingLane counted(Real x) {
#if !defined(__CUDA_ARCH__)
    ++count;
#endif
    return CountingLane(x);
  }
};

template <class Real>
struct LaneTraits<CountingLane<Real>> {
  using scalar = Real;
  static constexpr int count = 1;
};

/// Operations of f().
template <class Real, class F>
std::int64_t count_flops(F const& f) {
  const std::int64_t before = CountingLane<Real>::count;
  f();
  return CountingLane<Real>::count - before;
}

/// Operations of each operator of an expansion, per body, child or translation.
struct OperatorFlops {
  std::int64_t p2m = 0, m2m = 0, m2l = 0, l2l = 0, m2p = 0, l2p = 0;
};

template <class Expansion, class Real, bool Potential, bool Field>
OperatorFlops operator_flops() {
  using V = CountingLane<Real>;
  static const OperatorFlops flops = [] {
    const V x(Real(0.3)), y(Real(-0.2)), z(Real(0.25)), one(Real(1)), far(Real(3));
    V a[Expansion::size];
    Real staged[Expansion::size];
    const auto fill = [&] {
      for (int k = 0; k < Expansion::size; ++k) a[k] = V(staged[k] = Real(1));
    };
    const auto count = [&](auto const& f) {
      fill();
      return count_flops<Real>(f);
    };
    OperatorFlops n;
    n.p2m = count([&] { Expansion::p2m(x, y, z, one, a); });
    // a result is added to the cell's sum: one more for each coefficient
    n.m2m = count([&] { Expansion::m2m(x, y, z, a); }) + Expansion::size;
    n.m2l = count([&] { Expansion::m2l(x, y, far, one, one, a); }) + Expansion::size;
    n.l2l = count([&] { Expansion::l2l(x, y, z, a); }) + Expansion::size;
    n.m2p = count([&] { Expansion::template m2p<Potential, Field>(x, y, far, staged); });
    n.l2p = count([&] { Expansion::template l2p<Potential, Field>(x, y, z, staged); });
    return n;
  }();
  return flops;
}

}  // namespace fmm::detail
