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

/// Those of groups of bodies: of all, or of one of each of as many even stretches in the order of the tree; or of
/// random bodies, a group each.
class OwnErrors {
 public:
  /// `weight`: bodies that each of theirs stands for, 1 if they are all.
  explicit OwnErrors(double weight) : weight_(weight) {}

  void add(float const* errors, int bodies) {
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
  /// The smallest error that no more than a hundredth of so many bodies exceed, with so many standard errors of
  /// confidence where these are a sample.
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
  /// How many bodies have a larger error, or one that is not a number. Of a sample: the largest number, or with `more`
  /// below 0 the smallest, of which this sample's is so many standard errors away (Wilson 1927, J. Am. Stat. Assoc.
  /// 22:209). Neighbours tend to err alike: of their groups' numbers the variance, from one to the next, over the mean
  /// tells how many count as one.
  double count_above(float error, double more) const {
    double count = 0, squares = 0, last = 0;
    for (std::size_t g = 0, i = 0; g < ends_.size(); ++g) {
      double above = 0;
      for (; i < ends_[g]; ++i) above += !(errors_[i] <= error);
      if (g > 0) squares += (above - last) * (above - last) / 2;
      count += above;
      last = above;
    }
    const double together =
                     count > 0 ? std::clamp(squares / count, 1.0, double(bodies_of_group)) : 1,
                 errors = more * std::sqrt(1 - 1 / weight_),  // of what is not in the sample
        root = errors / 2 + std::sqrt(errors * errors / 4 + count / together);
    return weight_ * together * root * root;
  }

  double weight_;
  std::vector<std::size_t> ends_;
  std::vector<float> errors_;
};

inline SeenError seen_error(OwnErrors const& errors, double bodies) {
  return {.likely = errors.exceeded(bodies, 0),
          .most = errors.exceeded(bodies, constants.standard_errors),
          .largest = errors.largest()};
}

}  // namespace fmm::tolerance
