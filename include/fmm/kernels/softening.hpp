// SPDX-License-Identifier: BSD-3-Clause
// How long a pair kernel's softening is.
#pragma once

#include "../detail/kokkos_compat.hpp"
#include "../detail/noinline.hpp"
#include "../errors.hpp"

namespace fmm {

/// The kernel's softening length; 0 if it has none.
template <class Kernel>
double softening_of(Kernel const& kernel) {
  if constexpr (requires { double(kernel.softening); })
    return kernel.softening;
  else
    return 0;
}

/// Plummer softenings between which a kernel's is: its terms are larger than with `least` by a fifth at most, where the
/// spline ends, and no smaller than with `most`.
struct SofteningBounds {
  double least = 0, most = 0;
  SofteningBounds in(double unit) const { return {least / unit, most / unit}; }
  KOKKOS_FUNCTION SofteningBounds squared_in(double unit) const {
    return {least * least / (unit * unit), most * most / (unit * unit)};
  }
};
template <class Kernel>
SofteningBounds softening_bounds(Kernel const& kernel) {
  const double softening = softening_of(kernel);
  if constexpr (requires { double(kernel.support()); })
    return {softening, kernel.support()};
  else
    return {softening, softening};
}

/// Throws InvalidArgument for a softening that is so much longer than the edge of the bodies' cube
/// that its third power is beyond the precision.
FMM_NOINLINE inline void check_softening(double softening, double edge, bool in_double) {
  const double most = in_double ? 1e100 : 1e12;
  if (!(softening / edge <= most))
    throw InvalidArgument("softening", softening,
                          "at most " + to_text(most) + " edges of the bodies' cube, which are " +
                              to_text(edge) + (in_double ? "" : ", unless in double"));
}

}  // namespace fmm
