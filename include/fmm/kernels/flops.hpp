// SPDX-License-Identifier: BSD-3-Clause
// Floating point operations of an operator: every add, multiply, divide, square root or reciprocal square root is one,
// as Yokota & Barba count. They are found by running the operator once with numbers that count; those of the library's
// own expansions by the polynomials that this gives, since counting costs as much compilation as the operators.
#pragma once

#include <cstdint>

#include "../simd/simd.hpp"
#include "expansion.hpp"
#include "hessian.hpp"
#include "p2p/pairs.hpp"

namespace fmm::kernels {

/// A lane that counts what is done to it. Runs on the host only; marked for the device since the
/// operators that it goes through are.
template <class Real>
struct CountingLane {
  Real value;
  static inline thread_local std::int64_t count = 0;

  KOKKOS_DEFAULTED_FUNCTION CountingLane() = default;
  KOKKOS_FUNCTION CountingLane(Real x) : value(x) {}

  friend KOKKOS_FUNCTION CountingLane operator+(CountingLane a, CountingLane b) {
    return counted(a.value + b.value);
  }
  friend KOKKOS_FUNCTION CountingLane operator-(CountingLane a, CountingLane b) {
    return counted(a.value - b.value);
  }
  friend KOKKOS_FUNCTION CountingLane operator*(CountingLane a, CountingLane b) {
    return counted(a.value * b.value);
  }
  friend KOKKOS_FUNCTION CountingLane operator/(CountingLane a, CountingLane b) {
    return counted(a.value / b.value);
  }
  friend KOKKOS_FUNCTION CountingLane operator-(CountingLane a) { return CountingLane(-a.value); }
  KOKKOS_FUNCTION CountingLane& operator+=(CountingLane b) { return *this = *this + b; }
  KOKKOS_FUNCTION CountingLane& operator-=(CountingLane b) { return *this = *this - b; }
  KOKKOS_FUNCTION CountingLane& operator*=(CountingLane b) { return *this = *this * b; }
  friend KOKKOS_FUNCTION bool operator<(CountingLane a, CountingLane b) {
    return a.value < b.value;
  }
  friend KOKKOS_FUNCTION bool operator>(CountingLane a, CountingLane b) {
    return a.value > b.value;
  }
  friend KOKKOS_FUNCTION bool operator==(CountingLane a, CountingLane b) {
    return a.value == b.value;
  }
  friend KOKKOS_FUNCTION CountingLane select(bool m, CountingLane a, CountingLane b) {
    return m ? a : b;
  }
  friend KOKKOS_FUNCTION CountingLane rsqrt(CountingLane x) {
    return counted(Real(1) / std::sqrt(x.value));
  }

 private:
  KOKKOS_FUNCTION static CountingLane counted(Real x) {
#if !defined(__CUDA_ARCH__)
    ++count;
#endif
    return CountingLane(x);
  }
};

}  // namespace fmm::kernels
template <class Real>
struct fmm::simd::LaneTraits<fmm::kernels::CountingLane<Real>> {
  using V = fmm::kernels::CountingLane<Real>;
  using scalar = Real;
  static constexpr int count = 1;
  KOKKOS_FUNCTION static V load(Real const* from) { return V(*from); }
  KOKKOS_FUNCTION static void store(V v, Real* to) { *to = v.value; }
};
namespace fmm::kernels {

/// Operations of f().
template <class Real, class F>
std::int64_t count_flops(F const& f) {
  const std::int64_t before = CountingLane<Real>::count;
  f();
  return CountingLane<Real>::count - before;
}

/// Operations of each operator of an expansion, per body, child or translation, whatever its object holds; 0 of those
/// that it lacks.
struct OperatorFlops {
  std::int64_t p2m = 0, m2m = 0, m2l = 0, l2l = 0, p2l = 0, m2p = 0, l2p = 0;
};

/// Of the operators between bodies and cells: p2m, p2l, m2p, l2p; counted.
template <class Basis, class Real, bool Potential, bool Field>
OperatorFlops counted_body_flops(Basis const& basis = {}) {
  using V = CountingLane<Real>;
  static const OperatorFlops flops = [&] {
    const auto at_root = at_level<Real>(basis, 0);
    const V x(Real(0.3)), y(Real(-0.2)), z(Real(0.25)), one(Real(1)), far(Real(3));
    V a[Basis::size] = {};
    constexpr int prepared = [] {
      if constexpr (requires { Basis::prepared_size; })
        return int(Basis::prepared_size);
      else
        return int(Basis::size);
    }();
    const Real zeros[prepared] = {};
    OperatorFlops n;
    n.p2m = count_flops<Real>([&] { at_root.p2m(x, y, z, one, a); });
    if constexpr (requires { basis.p2l(x, y, far, one, Real(1), a); })
      n.p2l = count_flops<Real>([&] { basis.p2l(x, y, far, one, Real(1), a); });
    PotentialGradient<V> sum{x, x, x, x};
    n.m2p = count_flops<Real>(
        [&] { basis.template m2p<Potential, Field>(x, y, far, Real(1), zeros, sum); });
    if constexpr (requires { at_root.template l2p<Potential, Field>(x, y, z, zeros); })
      n.l2p = count_flops<Real>([&] { at_root.template l2p<Potential, Field>(x, y, z, zeros); });
    return n;
  }();
  return flops;
}

/// Of the translations: m2m, m2l, l2l; one addition for each coefficient of the sum included. Counted.
template <class Expansion, class Real>
OperatorFlops counted_translation_flops(Expansion const& expansion = {}) {
  using V = CountingLane<Real>;
  static const OperatorFlops flops = [&] {
    const auto at_root = at_level<Real>(expansion, 0);
    const V x(Real(0.3)), y(Real(-0.2)), z(Real(0.25)), one(Real(1)), far(Real(3));
    V a[Expansion::size] = {};
    OperatorFlops n;
    n.m2m = count_flops<Real>([&] { at_root.m2m(x, y, z, a); }) + Expansion::size;
    if constexpr (requires { expansion.m2l(x, y, far, one, one, a); })
      n.m2l = count_flops<Real>([&] { expansion.m2l(x, y, far, one, one, a); }) + Expansion::size;
    if constexpr (requires { at_root.l2l(x, y, z, a); })
      n.l2l = count_flops<Real>([&] { at_root.l2l(x, y, z, a); }) + Expansion::size;
    return n;
  }();
  return flops;
}

/// a + b p + c p (p - 1) / 2 + d p (p - 1) (p - 2) / 6
constexpr std::int64_t cubic(std::int64_t p, std::int64_t a, std::int64_t b, std::int64_t c,
                             std::int64_t d = 0) {
  return a + b * p + c * (p * (p - 1) / 2) + d * (p * (p - 1) * (p - 2) / 6);
}

/// What is known of an expansion without counting, by specialisations: `of(potential, field)` as body_flops, and
/// `of()` as translation_flops. tests/unit/kernels/test_flops.cpp counts.
template <class Basis>
struct KnownBodyFlops {};
template <class Expansion>
struct KnownTranslationFlops {};

template <int Order, class Real>
struct KnownBodyFlops<SphericalBasis<Order, Real>> {
  static constexpr OperatorFlops of(bool potential, bool field) {
    constexpr int p = Order;
    OperatorFlops n;
    n.p2m = p == 0 ? 8 : cubic(p - 1, 26, 30, 13);
    n.p2l = n.p2m + 12;
    if constexpr (SphericalBasis<Order, Real>::polynomial) {
      n.l2p = !field ? cubic(p, 0, 6, 6, 2) : p == 0 ? 0 : cubic(p - 1, 6, 24, 16, 4);
      n.m2p = n.l2p + (!field ? 13 : potential ? 34 : 32);
    } else if (!field) {
      n.l2p = cubic(p - 9, 575, 123, 12);
      n.m2p = cubic(p - 9, 575, 122, 12);
    } else if (!potential) {
      n.l2p = cubic(p - 9, 1005, 231, 24);
      n.m2p = cubic(p - 9, 1239, 254, 24);
    } else {
      n.l2p = cubic(p - 9, 1205, 273, 28);
      n.m2p = cubic(p - 9, 1441, 296, 28);
    }
    return n;
  }
};

template <int Order, class Real>
struct KnownTranslationFlops<SphericalExpansion<Order, Real, Rotation>> {
  static constexpr OperatorFlops of() {
    OperatorFlops n;
    n.m2m = n.l2l = cubic(Order, 29, 95, 74, 20);
    n.m2l = cubic(Order, 23, 93, 78, 24);
    return n;
  }
};

/// Of the operators between bodies and cells: p2m, p2l, m2p, l2p.
template <class Basis, class Real, bool Potential, bool Field>
OperatorFlops body_flops(Basis const& basis = {}) {
  if constexpr (requires { KnownBodyFlops<Basis>::of(true, true); })
    return KnownBodyFlops<Basis>::of(Potential, Field);
  else
    return counted_body_flops<Basis, Real, Potential, Field>(basis);
}

/// The same for these outputs and strengths: dipoles and Hessians counted.
template <class Out, class Strengths, class Real, class Basis>
OperatorFlops body_flops_of(Basis const& basis) {
  OperatorFlops n = body_flops<Basis, Real, Out::potential, Out::field>(basis);
  using V = CountingLane<Real>;
  const auto at_root = at_level<Real>(basis, 0);
  const V x(Real(0.3)), y(Real(-0.2)), z(Real(0.25)), one(Real(1)), far(Real(3));
  if constexpr (Strengths::has_dipoles) {
    using D = Dual<V>;
    V a[Basis::size] = {};
    V* to = a;
    SlopesInto<V*> slopes{to};
    n.p2m = count_flops<Real>([&] { at_root.p2m(D(x, x), D(y, y), D(z, z), D(one, x), slopes); });
    if constexpr (has_p2l<Basis>())
      n.p2l = count_flops<Real>(
          [&] { basis.p2l(D(x, x), D(y, y), D(far, z), D(one, x), Real(1), slopes); });
  }
  if constexpr (Out::hessian) {
    const Real zeros[prepared_size<Basis>()] = {};
    PotentialHessian<V> value{};
    if constexpr (requires { at_root.template l2p<false, true>(x, y, z, zeros); })
      n.l2p = count_flops<Real>([&] { local_with_hessian(at_root, x, y, z, zeros); });
    n.m2p = count_flops<Real>(
        [&] { add_multipole_with_hessian(basis, x, y, far, Real(1), zeros, value); });
  }
  return n;
}

/// Operations of a pair of bodies, as the chapter counts: 20 for potential and force, 19 for the force, 10 for the
/// potential; with dipoles or Hessians those of 1/r, counted. Of all densities.
template <class Out, class Strengths>
std::int64_t pair_flops() {
  if constexpr (!wants_derivatives<Strengths, Out>) {
    return (Out::field ? (Out::potential ? 20 : 19) : 10) * Strengths::densities;
  } else {
    using V = CountingLane<double>;
    const V x(0.3);
    return count_flops<double>([&] {
      SourcePack<V, Strengths::numbers> source{x, x, x, x};
      TargetSums<V, Out::records> sums;
      const V dx = x - x, dy = x - x, dz = x - x, r2 = dz * dz + (dy * dy + dx * dx);
      Strengths::template add<Out>(newtonian_derivatives(rsqrt(r2 + x)), dx, dy, dz, source, sums);
    });
  }
}

/// Of the translations: m2m, m2l, l2l; one addition for each coefficient of the sum included.
template <class Expansion, class Real>
OperatorFlops translation_flops(Expansion const& expansion = {}) {
  if constexpr (requires { KnownTranslationFlops<Expansion>::of(); })
    return KnownTranslationFlops<Expansion>::of();
  else
    return counted_translation_flops<Expansion, Real>(expansion);
}

}  // namespace fmm::kernels
