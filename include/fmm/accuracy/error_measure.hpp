// SPDX-License-Identifier: BSD-3-Clause
// What a comparison with a direct sum says. Free of Kokkos.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

namespace fmm {

/// A body's own error is relative to its own field, or to this share of the sum of the magnitudes of the field's
/// terms, whichever is larger: fields vanish by symmetry, and rounding, which is that of the terms, does not. It is
/// rounding's share over half the least tolerance, 1e-10 and 1e-4: 5e-16 in double where charges are in equilibrium,
/// and 3e-8 in float in lattices of ions (docs/math.md).
inline constexpr double least_share_in_double = 1e-5;
inline constexpr double least_share_in_float = 5e-4;  ///< and in mixed precision
template <class Precision>
inline constexpr double least_share_v =
    std::is_same_v<Precision, double> ? least_share_in_double : least_share_in_float;
/// The norm that an L2 error is relative to is at least this share of the norm of what the bodies exert on their
/// nearest neighbours.
inline constexpr double least_share_of_neighbours = 1e-3;

/// Errors of a result against the direct sum in double, over `samples` bodies (docs/math.md, "Relative
/// errors"). An error is infinite if a number that it is made of is not finite, and where the
/// reference is 0, nothing else is there to be relative to, and the result is not 0.
struct ErrorMeasure {
  double field_l2 = 0;  ///< sqrt(sum |a - a_ref|^2 / sum |a_ref|^2)
  /// Of the bodies' own errors |a - a_ref| / |a_ref| the largest but for a hundredth of the bodies, and the largest.
  double field_p99 = 0, field_max = 0;
  double potential_l2 = 0, potential_p99 = 0, potential_max = 0;  ///< the same of potentials
  double least_share = least_share_in_double;  ///< that own errors were measured with
  std::size_t samples = 0;                     ///< targets compared
  std::size_t not_finite = 0;  ///< of these, targets with a result that is infinite or not a number
  double direct_seconds = 0;   ///< time of the direct sum for them
  std::vector<double> field, potential;  ///< own errors of the targets, ascending
};

}  // namespace fmm
