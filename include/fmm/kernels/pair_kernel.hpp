// SPDX-License-Identifier: BSD-3-Clause
// What is summed: the contract of a pair kernel, and the three kernels that come with the library.
//
// A pair kernel is the interaction of a unit source with a target at distance r:
//
//     phi_i = prefactor * sum_j q_j u(r_ij)          field_i = -grad phi_i = prefactor * sum_j q_j w(r_ij) d_ij
//
// with d = x_i - x_j and w(r) = -u'(r)/r. The functor receives r^2 and gives u and w:
//
//     struct Yukawa {
//       double kappa = 1;
//       template <class Real>
//       KOKKOS_FUNCTION fmm::PairTerm<Real> operator()(Real r2) const;
//     };
//
// Two bodies at one point (r2 = 0) exert no force on each other: w is multiplied by d = 0. Both u and w
// must be finite at every r2 >= 0. Optional members, each with its default:
//
//     static constexpr bool harmonic     (false)  u = 1/r away from the softening: expansions apply
//     static constexpr bool vectorised   (false)  operator() also takes packs of lanes (simd/simd.hpp)
//     static constexpr bool positive     (false)  negative charges are refused
//     double prefactor() const           (1)      multiplies potential and field
//     Kernel rescaled(double s) const             the kernel for lengths counted in units of s
//     double potential_unit(double s) const       u(s rho) = potential_unit(s) * rescaled(s).u(rho); with
//                                                 these two float works in any unit of length; without them r^2
//                                                 is in the caller's, of which float must have room for the square
//     Expansion<Order, Real, Translation>         a far field of its own (expansion.hpp)
//     double softening2() const, apart(s2)        the same u and w from s2 = r^2 + softening2(), for s2 > 0:
//                                                 faster; operator() is called only where the sums of these
//                                                 are not finite
//     using newtonian = the kernel itself         apart(s2) is {1/sqrt(s2), 1/sqrt(s2)^3}: a CPU sums these in
//                                                 a form of its own
//     double support() const                      u = 1/r exactly from this distance on: no expansion acts on
//                                                 a body that may be nearer to one of its sources
//     double far_from(double error) const         the same where u only approaches 1/r: the distance from which
//                                                 on the force of 1/r errs by `error` at most, relative to it
//     Kernel with(Options const&) const           takes softening and G from the options and checks them
//     PairDerivatives<Real> derivatives(Real r2) const   u, w and what comes next (pair_derivatives.hpp), for
//                                                 Hessians and dipoles; derivatives_apart(s2), as apart
#pragma once

#include <cmath>
#include <concepts>
#include <functional>
#include <limits>
#include <type_traits>

#include "../options.hpp"
#include "../simd/simd.hpp"
#include "pair_derivatives.hpp"

namespace fmm {

/// Potential u and force weight w of a unit charge at one distance.
template <class Real>
struct PairTerm {
  Real potential;
  Real weight;
};

namespace kernels {

/// Below this distance, in the cell's own unit, two bodies count as being at one point: 1/r^3 stays finite
/// above it.
template <class Real>
inline constexpr Real coincident_r = sizeof(Real) == 4 ? Real(1e-12) : Real(1e-100);
template <class Real>
inline constexpr Real coincident_r2 = coincident_r<Real>* coincident_r<Real>;

/// 1/sqrt(r2), or 0 for coincident bodies.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V guarded_rsqrt(V r2) {
  const V tiny(coincident_r2<lane_scalar_t<V>>);
  return select(r2 > tiny, rsqrt(r2), V(0));
}

/// u and w of a unit source that is spread as the cubic spline of radius h; inverse = 1/r, 0 at one point.
/// GADGET's polynomials in r/h lose a digit near h, where these, in t = 1 - r/h, 0 from h on, do not: for
/// r >= h/2 a source has 1 - t^4 (16 - 128/5 t + 32/3 t^2) of its mass within r. An h below the distance of
/// coincident bodies counts as none.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION PairTerm<V> spline_term(V r2, V inverse, double h) {
  using Real = lane_scalar_t<V>;
  constexpr Real tiny = coincident_r<Real>;
  const bool spread = Real(h) > tiny;
  const Real per_h = Real(1) / (spread ? Real(h) : tiny), unit = spread ? per_h : Real(0);
  const auto number = [](double x) { return V(Real(x)); };
  const V v = r2 * inverse * V(per_h), v2 = v * v;
  const V t = select(v < number(1), number(1) - v, number(0)), t2 = t * t, t4 = t2 * t2;
  const V outer_u = number(1) - t4 * t * (number(16.0 / 5) - number(32.0 / 15) * t);
  const V outer_w = number(1) - t4 * (number(16) - t * (number(128.0 / 5) - number(32.0 / 3) * t));
  const V inner_u =
      number(14.0 / 5) - v2 * (number(16.0 / 3) - v2 * (number(48.0 / 5) - number(32.0 / 5) * v));
  const V inner_w = number(32.0 / 3) - v2 * (number(192.0 / 5) - number(32) * v);
  const auto inner = v < number(0.5);
  return {select(inner, V(unit) * inner_u, inverse * outer_u),
          select(inner, V(unit * unit * unit) * inner_w, inverse * inverse * inverse * outer_w)};
}

/// The same with the next two derivatives: t = 3 / r^5 (1 - t^3 (64/3 - 48 t + 192/5 t^2 - 32/3 t^3)) from h/2 on, and
/// s = 15 / r^7 (1 - t^2 (64/5 - 448/15 t + 144/5 t^2 - 64/5 t^3 + 32/15 t^4)).
template <class V>
KOKKOS_FORCEINLINE_FUNCTION PairDerivatives<V> spline_derivatives(V r2, V inverse, double h) {
  using Real = lane_scalar_t<V>;
  constexpr Real tiny = coincident_r<Real>;
  const PairTerm<V> term = spline_term(r2, inverse, h);
  const bool spread = Real(h) > tiny;
  const Real per_h = Real(1) / (spread ? Real(h) : tiny), unit = spread ? per_h : Real(0),
             unit3 = unit * unit * unit;
  const auto number = [](double x) { return V(Real(x)); };
  const V v = r2 * inverse * V(per_h), v2 = v * v;
  const V t = select(v < number(1), number(1) - v, number(0)), t2 = t * t;
  const V outer_second =
      number(1) -
      t2 * t *
          (number(64.0 / 3) - t * (number(48) - t * (number(192.0 / 5) - number(32.0 / 3) * t)));
  const V outer_third =
      number(1) -
      t2 * (number(64.0 / 5) -
            t * (number(448.0 / 15) -
                 t * (number(144.0 / 5) - t * (number(64.0 / 5) - number(32.0 / 15) * t))));
  const V w = inverse * inverse * inverse;
  const auto inner = v < number(0.5);
  return {term.potential, term.weight,
          select(inner, V(unit3) * v2 * (number(384.0 / 5) - number(96) * v),
                 number(3) * w * outer_second),
          select(inner, V(unit3 * unit) * number(96) * v2, number(15) * w * inverse * outer_third),
          inverse};
}

/// `kernel`, of which options that are not at their defaults replace softening and G. Throws InvalidArgument.
template <class Gravity>
Gravity with_options(Gravity const& kernel, Options options) {
  if (options.softening == 0) options.softening = kernel.softening;
  if (options.G == 1) options.G = kernel.G;
  validate(options);
  return {options.softening, options.G};
}

}  // namespace kernels

/// Coulomb's potential: phi_i = sum_(j/=i) q_j / r_ij, field = -grad phi. Bodies at one point are left
/// out of the potential.
struct Laplace {
  static constexpr bool harmonic = true;
  static constexpr bool vectorised = true;
  using newtonian = Laplace;

  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION PairTerm<V> operator()(V r2) const {
    const V u = kernels::guarded_rsqrt(r2);
    return {u, u * u * u};
  }

  KOKKOS_FORCEINLINE_FUNCTION double softening2() const { return 0; }
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION PairTerm<V> apart(V s2) const {
    const V u = simd::rsqrt(s2);
    return {u, u * u * u};
  }

  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION PairDerivatives<V> derivatives(V r2) const {
    return kernels::newtonian_derivatives(kernels::guarded_rsqrt(r2));
  }
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION PairDerivatives<V> derivatives_apart(V s2) const {
    return kernels::newtonian_derivatives(simd::rsqrt(s2));
  }

  KOKKOS_FUNCTION Laplace rescaled(double) const { return *this; }
  KOKKOS_FUNCTION double potential_unit(double length) const { return 1 / length; }
};

/// Gravity with Plummer softening: phi_i = -G sum_(j/=i) m_j / sqrt(r^2 + softening^2), field =
/// acceleration = -grad phi. Expansions are those of unsoftened bodies, whose force errs by about
/// 1.5 (softening / r)^2: traversals keep the distance that Options::softening_error asks for. Bodies at one
/// point count in the potential if softening > 0.
struct SoftenedGravity {
  static constexpr bool harmonic = true;
  static constexpr bool vectorised = true;
  using newtonian = SoftenedGravity;
  static constexpr bool positive = true;

  double softening = 0;  ///< in the unit of the positions, >= 0
  double G = 1;          ///< gravitational constant

  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION PairTerm<V> operator()(V r2) const {
    using Real = simd::lane_scalar_t<V>;
    const V u = kernels::guarded_rsqrt(r2 + V(Real(softening) * Real(softening)));
    return {u, u * u * u};
  }

  KOKKOS_FORCEINLINE_FUNCTION double softening2() const { return softening * softening; }
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION PairTerm<V> apart(V s2) const {
    return Laplace().apart(s2);
  }
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION PairDerivatives<V> derivatives(V r2) const {
    return kernels::newtonian_derivatives((*this)(r2).potential);
  }
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION PairDerivatives<V> derivatives_apart(V s2) const {
    return Laplace().derivatives_apart(s2);
  }

  double prefactor() const { return -G; }
  KOKKOS_FUNCTION SoftenedGravity rescaled(double length) const { return {softening / length, G}; }
  KOKKOS_FUNCTION double potential_unit(double length) const { return 1 / length; }
  /// Where (1 + (softening / r)^2)^(3/2) = 1 + error.
  double far_from(double error) const {
    return softening / std::sqrt(std::expm1(std::log1p(error) / 1.5));
  }
  SoftenedGravity with(Options const& options) const {
    return kernels::with_options(*this, options);
  }
};

/// Gravity with the softening of GADGET (Springel 2005, MNRAS 364:1105, eq. 4): a source is spread over
/// r < h = 2.8 softening as the cubic spline of SPH, whose potential at r = 0 is that of Plummer softening,
/// -G m / softening. From h on it is exactly -G m / r. Bodies at one point count in the potential if
/// softening > 0.
struct SplineGravity {
  static constexpr bool harmonic = true;
  static constexpr bool vectorised = true;
  static constexpr bool positive = true;

  double softening = 0;  ///< in the unit of the positions, >= 0
  double G = 1;          ///< gravitational constant

  KOKKOS_FORCEINLINE_FUNCTION double support() const { return 2.8 * softening; }

  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION PairTerm<V> operator()(V r2) const {
    return kernels::spline_term(r2, kernels::guarded_rsqrt(r2), support());
  }

  KOKKOS_FORCEINLINE_FUNCTION double softening2() const { return 0; }
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION PairTerm<V> apart(V s2) const {
    return kernels::spline_term(s2, simd::rsqrt(s2), support());
  }
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION PairDerivatives<V> derivatives(V r2) const {
    return kernels::spline_derivatives(r2, kernels::guarded_rsqrt(r2), support());
  }
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION PairDerivatives<V> derivatives_apart(V s2) const {
    return kernels::spline_derivatives(s2, simd::rsqrt(s2), support());
  }

  double prefactor() const { return -G; }
  KOKKOS_FUNCTION SplineGravity rescaled(double length) const { return {softening / length, G}; }
  KOKKOS_FUNCTION double potential_unit(double length) const { return 1 / length; }
  SplineGravity with(Options const& options) const { return kernels::with_options(*this, options); }
};

/// The contract above: callable with r^2 in float and double, and copyable to a device.
template <class Kernel>
concept PairKernel = std::is_trivially_copyable_v<Kernel> && requires(Kernel const kernel) {
  { kernel(1.0f) } -> std::same_as<PairTerm<float>>;
  { kernel(1.0) } -> std::same_as<PairTerm<double>>;
};

}  // namespace fmm
