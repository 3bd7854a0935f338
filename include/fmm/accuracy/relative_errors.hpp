// SPDX-License-Identifier: BSD-3-Clause
// The one definition of relative errors (docs/math.md, "Relative errors"): of computed fields and potentials against
// exact ones, of all bodies and of each.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "../cells/cell.hpp"
#include "../detail/noinline.hpp"
#include "error_measure.hpp"

namespace fmm::accuracy {

/// What errors of a body's field and potential may be relative to where these cancel: the sums of the magnitudes of
/// their terms, and the magnitudes of what it exerts itself on the nearest body at another place, 0 if there is none;
/// and of what that exerts on it.
struct Scales {
  double field = 0, potential = 0, neighbour_field = 0, neighbour_potential = 0,
         field_of_nearest = 0;
};

/// The norms of differences and of what they are differences from, over any vectors, or what counts as that at least.
/// Squares are those of numbers in units of a power of two near the largest one, so that none overflows and none that
/// counts underflows.
class RelativeNorm {
 public:
  explicit RelativeNorm(double largest) {
    if (largest > 0 && std::isfinite(largest))
      per_unit_ = std::ldexp(1.0, -std::max(std::ilogb(largest), -1000));
  }

  void add(double computed, double exact) {
    const double difference = (computed - exact) * per_unit_, reference = exact * per_unit_;
    difference2_ += difference * difference;
    reference2_ += reference * reference;
    differs_ = differs_ || computed != exact;
  }
  /// The norm is at least that of these numbers.
  void add_least(double least) {
    if (std::isfinite(least)) least2_ += (least * per_unit_) * (least * per_unit_);
  }
  /// Infinite if it is not a number.
  double ratio() const {
    const double norm2 = std::isfinite(reference2_) ? std::fmax(reference2_, least2_) : reference2_;
    if (differs_ && norm2 == 0) return std::numeric_limits<double>::infinity();
    if (difference2_ == 0 && std::isfinite(norm2)) return 0;
    const double ratio = std::sqrt(difference2_ / norm2);
    return std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
  }

 private:
  double per_unit_ = 1, difference2_ = 0, reference2_ = 0, least2_ = 0;
  bool differs_ = false;
};

/// A field or a potential, and its scale and neighbour's of Scales.
struct Compared {
  double computed[3] = {}, exact[3] = {}, terms = 0, neighbour = 0;

  double largest() const {
    return std::fmax(std::fabs(exact[0]), std::fmax(std::fabs(exact[1]), std::fabs(exact[2])));
  }
};

inline Compared compared_fields(Sums<double> const& computed, Sums<double> const& exact,
                                Scales const& scales) {
  return {{computed.x, computed.y, computed.z},
          {exact.x, exact.y, exact.z},
          scales.field,
          scales.neighbour_field};
}
inline Compared compared_potentials(Sums<double> const& computed, Sums<double> const& exact,
                                    Scales const& scales) {
  return {{computed.potential, 0, 0},
          {exact.potential, 0, 0},
          scales.potential,
          scales.neighbour_potential};
}

/// Of ascending numbers the largest but for one in so many of them: the nearest rank.
inline double largest_but_for(std::vector<double> const& ascending, std::size_t one_in) {
  return ascending[ascending.size() - 1 - ascending.size() / one_in];
}

/// Relative errors of all, and of each, ascending.
struct RelativeErrors {
  double l2 = 0;
  std::vector<double> own = {};

  double p99() const { return own.empty() ? 0 : largest_but_for(own, 100); }
  double max() const { return own.empty() ? 0 : own.back(); }
};

/// Of the numbers that of(i) gives for i of 0 .. count - 1. A template, so that only who measures errors compiles it.
template <class Of>
FMM_NOINLINE RelativeErrors relative_errors(std::size_t count, double least_share, Of const& of) {
  RelativeErrors errors;
  double largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Compared one = of(i);
    const double least = least_share_of_neighbours * one.neighbour;
    largest = std::fmax(largest, std::fmax(one.largest(), std::isfinite(least) ? least : 0));
  }
  RelativeNorm all(largest);
  for (std::size_t i = 0; i < count; ++i) {
    const Compared one = of(i);
    const double least = least_share * one.terms;
    RelativeNorm own(std::isfinite(least) ? std::fmax(one.largest(), least) : one.largest());
    for (int d = 0; d < 3; ++d) {
      all.add(one.computed[d], one.exact[d]);
      own.add(one.computed[d], one.exact[d]);
    }
    all.add_least(least_share_of_neighbours * one.neighbour);
    own.add_least(least);
    errors.own.push_back(own.ratio());
  }
  errors.l2 = all.ratio();
  std::sort(errors.own.begin(), errors.own.end());
  return errors;
}

/// Errors of `computed` sums against `exact` ones of the same targets, and the scales of these.
template <class Numbers = std::vector<Sums<double>>>
FMM_NOINLINE ErrorMeasure compare(Numbers const& computed, Numbers const& exact,
                                  std::vector<Scales> const& scales, bool potential, bool field,
                                  double least_share) {
  ErrorMeasure error;
  error.samples = exact.size();
  error.least_share = least_share;
  for (Sums<double> const& a : computed)
    error.not_finite +=
        !((!potential || std::isfinite(a.potential)) &&
          (!field || (std::isfinite(a.x) && std::isfinite(a.y) && std::isfinite(a.z))));
  if (potential) {
    auto errors = relative_errors(exact.size(), least_share, [&](std::size_t i) {
      return compared_potentials(computed[i], exact[i], scales[i]);
    });
    error.potential_l2 = errors.l2;
    error.potential_p99 = errors.p99();
    error.potential_max = errors.max();
    error.potential = std::move(errors.own);
  }
  if (field) {
    auto errors = relative_errors(exact.size(), least_share, [&](std::size_t i) {
      return compared_fields(computed[i], exact[i], scales[i]);
    });
    error.field_l2 = errors.l2;
    error.field_p99 = errors.p99();
    error.field_max = errors.max();
    error.field = std::move(errors.own);
  }
  return error;
}

}  // namespace fmm::accuracy
