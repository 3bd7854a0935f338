// SPDX-License-Identifier: BSD-3-Clause
// What a comparison with a direct sum says. Free of Kokkos.
#pragma once

#include <cstddef>
#include <vector>

namespace fmm {

/// Errors of a result against the direct sum in double. An error is infinite if a number that it is
/// made of is not finite, and where the reference is 0 and the result is not.
struct ErrorMeasure {
  double field_l2 = 0;         ///< sqrt(sum |a - a_ref|^2 / sum |a_ref|^2)
  double field_p99 = 0;        ///< 99th percentile of |a - a_ref| / |a_ref|
  double field_max = 0;        ///< largest |a - a_ref| / |a_ref|
  double potential_l2 = 0;     ///< sqrt(sum (phi - phi_ref)^2 / sum phi_ref^2)
  std::size_t samples = 0;     ///< targets compared
  std::size_t not_finite = 0;  ///< of these, targets with a result that is infinite or not a number
  double direct_seconds = 0;   ///< time of the direct sum for them
  std::vector<double> field;   ///< |a - a_ref| / |a_ref| of each target, ascending
};

}  // namespace fmm
