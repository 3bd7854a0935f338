// SPDX-License-Identifier: BSD-3-Clause
// What the library asks of a pair kernel (pair_kernel.hpp): its optional members, each with its default, and the
// kernel in another unit of length.
#pragma once

#include <cmath>
#include <concepts>
#include <functional>
#include <type_traits>

#include "pair_derivatives.hpp"
#include "pair_kernel.hpp"
#include "softening.hpp"

namespace fmm {

namespace kernels {

// The optional flags of a kernel, false where it says nothing.
template <class Kernel>
KOKKOS_INLINE_FUNCTION constexpr bool is_harmonic() {
  if constexpr (requires { Kernel::harmonic; })
    return Kernel::harmonic;
  else
    return false;
}
template <class Kernel>
KOKKOS_INLINE_FUNCTION constexpr bool is_vectorised() {
  if constexpr (requires { Kernel::vectorised; })
    return Kernel::vectorised;
  else
    return false;
}
template <class Kernel>
KOKKOS_INLINE_FUNCTION constexpr bool is_positive() {
  if constexpr (requires { Kernel::positive; })
    return Kernel::positive;
  else
    return false;
}

/// How many densities P2P sums at a time at most: 8, or 4 if the kernel says so (`most_densities`).
template <class Kernel>
inline constexpr int most_densities_v = [] {
  if constexpr (requires { Kernel::most_densities; })
    return Kernel::most_densities;
  else
    return 8;
}();

/// f(kernel), or of a kernel that stands for others the one that it stands for (src/runtime).
template <class Kernel, class F>
void with_kernel(Kernel const& kernel, F const& f) {
  f(kernel);
}

}  // namespace kernels

/// A pair kernel whose far field is that of 1/r, so that multipole and local expansions apply.
template <class Kernel>
concept HarmonicKernel = PairKernel<Kernel> && kernels::is_harmonic<Kernel>();

/// A pair kernel that brings its expansion.
template <class Kernel, int Order, class Real, class Translation>
concept HasExpansion = requires {
  typename Kernel::template Expansion<Order, Real, Translation>;
};

namespace kernels {

template <class Kernel>
double prefactor(Kernel const& kernel) {
  if constexpr (requires { kernel.prefactor(); })
    return kernel.prefactor();
  else
    return 1;
}

/// A kernel that can be counted in any unit of length.
template <class Kernel>
concept RescalableKernel = requires(Kernel const kernel) {
  { kernel.rescaled(1.0) } -> std::convertible_to<Kernel>;
  { kernel.potential_unit(1.0) } -> std::convertible_to<double>;
};

/// A kernel that counts in one unit of length alone, called with lengths in another one.
template <class Kernel>
struct InOtherUnit {
  static constexpr bool vectorised = is_vectorised<Kernel>();
  Kernel kernel;
  double unit;  ///< in the kernel's own

  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION PairTerm<V> operator()(V r2) const {
    const V square(lane_scalar_t<V>(unit * unit));
    const auto term = kernel(r2 * square);
    return {term.potential, term.weight * square};
  }
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION PairDerivatives<V> derivatives(V r2) const requires requires {
    kernel.derivatives(r2);
  }
  {
    const V length{lane_scalar_t<V>(unit)}, square = length * length;
    const auto of = kernel.derivatives(r2 * square);
    return {of.potential, of.weight * square, of.second * square, of.third * square * length,
            of.scale * length};
  }
  KOKKOS_FUNCTION InOtherUnit rescaled(double length) const { return {kernel, unit * length}; }
  KOKKOS_FUNCTION double potential_unit(double) const { return 1; }
};

/// The kernel in units of a `length`: a RescalableKernel.
template <class Kernel>
auto in_units_of(double length, Kernel const& kernel) {
  if constexpr (RescalableKernel<Kernel>)
    return Kernel(kernel.rescaled(length));
  else
    return InOtherUnit<Kernel>{kernel, length};
}

/// What potentials that in_units_of(length, kernel) gives are multiplied by; fields by that and 1 / length.
template <class Kernel>
double potential_unit(Kernel const& kernel, double length) {
  if constexpr (RescalableKernel<Kernel>)
    return prefactor(kernel) * kernel.potential_unit(length);
  else
    return prefactor(kernel);
}

/// What code that is shared by all kernels is to know of one.
struct KernelProfile {
  bool positive;     ///< takes no charge below 0
  bool rescalable;   ///< counts lengths in any unit
  double softening;  ///< its length, 0 if it has none
  std::function<double(double)> potential_unit;
};

template <class Kernel>
KernelProfile profile_of(Kernel const& kernel) {
  return {is_positive<Kernel>(), RescalableKernel<Kernel>, softening_of(kernel),
          [kernel](double length) { return potential_unit(kernel, length); }};
}

/// A kernel with the faster form for bodies that are apart.
template <class Kernel>
concept HasApart = requires(Kernel const kernel) {
  { kernel.softening2() } -> std::convertible_to<double>;
  { kernel.apart(1.0f) } -> std::same_as<PairTerm<float>>;
};

/// A kernel that says so itself: one that derives from it may have another force.
template <class Kernel>
concept IsNewtonian = HasApart<Kernel> && std::same_as<typename Kernel::newtonian, Kernel>;

/// A kernel for which 1/r stands from a distance on that depends on the error allowed.
template <class Kernel>
concept HasFarFrom = requires(Kernel const kernel) {
  { kernel.far_from(1e-3) } -> std::convertible_to<double>;
};

/// The distance from which on expansions stand for the kernel.
template <class Kernel>
double far_from(Kernel const& kernel, Options const& options) {
  if constexpr (HasFarFrom<Kernel>)
    return kernel.far_from(options.softening_error.value_or(default_softening_error));
  else if constexpr (requires { kernel.support(); })
    return kernel.support();
  else
    return 0;
}

/// What is added to r^2 for bodies that are apart. A softening that operator() takes for none is none, so that sums
/// with bodies at one point are not finite.
template <class Real, class Kernel>
KOKKOS_FORCEINLINE_FUNCTION Real softening2(Kernel const& kernel) {
  if constexpr (HasApart<Kernel>) {
    const Real square = Real(kernel.softening2());
    return square > coincident_r2<Real> ? square : Real(0);
  } else {
    return Real(0);
  }
}

/// A kernel with higher derivatives, for Hessians and dipoles.
template <class Kernel>
concept HasDerivatives = requires(Kernel const kernel) {
  { kernel.derivatives(1.0f) } -> std::same_as<PairDerivatives<float>>;
  { kernel.derivatives(1.0) } -> std::same_as<PairDerivatives<double>>;
};

/// u and w for every lane; with Apart and a kernel that HasApart, `r2` includes the softening. A kernel
/// that was not written for packs is called lane by lane.
template <bool Apart, class Kernel, class V>
KOKKOS_FORCEINLINE_FUNCTION PairTerm<V> pair_term(Kernel const& kernel, V r2) {
  if constexpr (Apart && HasApart<Kernel>) {
    return kernel.apart(r2);
  } else if constexpr (lane_count_v<V> == 1 || is_vectorised<Kernel>()) {
    return kernel(r2);
  } else {
    using Traits = LaneTraits<V>;
    typename Traits::scalar in[Traits::count], u[Traits::count], w[Traits::count];
    Traits::store(r2, in);
    for (int l = 0; l < Traits::count; ++l) {
      const auto term = kernel(in[l]);
      u[l] = term.potential;
      w[l] = term.weight;
    }
    return {Traits::load(u), Traits::load(w)};
  }
}

/// The same with the next two derivatives.
template <bool Apart, class Kernel, class V>
KOKKOS_FORCEINLINE_FUNCTION PairDerivatives<V> pair_derivatives(Kernel const& kernel, V r2) {
  if constexpr (Apart && HasApart<Kernel>) {
    return kernel.derivatives_apart(r2);
  } else if constexpr (lane_count_v<V> == 1 || is_vectorised<Kernel>()) {
    return kernel.derivatives(r2);
  } else {
    using Traits = LaneTraits<V>;
    typename Traits::scalar in[Traits::count], out[5][Traits::count];
    Traits::store(r2, in);
    for (int l = 0; l < Traits::count; ++l) {
      const auto of = kernel.derivatives(in[l]);
      out[0][l] = of.potential;
      out[1][l] = of.weight;
      out[2][l] = of.second;
      out[3][l] = of.third;
      out[4][l] = of.scale;
    }
    return {Traits::load(out[0]), Traits::load(out[1]), Traits::load(out[2]), Traits::load(out[3]),
            Traits::load(out[4])};
  }
}

}  // namespace kernels
}  // namespace fmm
