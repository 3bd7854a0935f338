// SPDX-License-Identifier: BSD-3-Clause
// The own errors of drawn bodies, and what they say of all bodies': the error that no more than a
// hundredth of the bodies exceed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "drawn_groups.hpp"

namespace fmm::tolerance {

/// Those of drawn tiles or groups.
class OwnErrors {
 public:
  void add(float const* errors, int bodies, DrawnGroup const& group) {
    groups_.push_back(group);
    errors_.insert(errors_.end(), errors, errors + bodies);
    ends_.push_back(errors_.size());
  }

  /// Of those that are there; infinite if one is no number.
  double largest() const {
    float largest = 0;
    for (const float error : errors_)
      if (!(error <= largest)) largest = error > 0 ? error : std::numeric_limits<float>::infinity();
    return largest;
  }
  /// The error that of so many bodies a hundredth exceed, their number so many standard errors higher than these tell.
  FMM_NOINLINE double exceeded(double bodies, double more) const {
    constexpr float none = 1e-30f;
    const double most = bodies / 100;
    float largest = 0, smallest = std::numeric_limits<float>::max();
    for (const float error : errors_) {
      if (!std::isfinite(error)) continue;
      largest = std::max(largest, error);
      if (error > none) smallest = std::min(smallest, error);
    }
    if (count_above(largest, more) > most) return std::numeric_limits<double>::infinity();
    if (!(largest > none)) return largest;
    float low = smallest * 0.5f, high = largest;
    if (count_above(low, more) <= most) return low;
    while (high > 1.005f * low) {
      const float middle = std::sqrt(low) * std::sqrt(high);
      (count_above(middle, more) > most ? low : high) = middle;
    }
    return high;
  }

 private:
  /// How many bodies have a larger error, or one that is not a number.
  double count_above(float error, double more) const {
    SumOverGroups count;
    std::size_t i = 0;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      int above = 0;
      for (; i < ends_[g]; ++i) above += !(errors_[i] <= error);
      count.add(above, groups_[g]);
    }
    return count.likely(more);
  }

  std::vector<DrawnGroup> groups_;
  std::vector<std::size_t> ends_;
  std::vector<float> errors_;
};

inline SeenError seen_error(OwnErrors const& errors, double bodies) {
  return {errors.exceeded(bodies, 0), errors.exceeded(bodies, 2),
          errors.exceeded(bodies, constants.standard_errors),
          errors.exceeded(bodies, -constants.standard_errors), errors.largest()};
}

}  // namespace fmm::tolerance
