// SPDX-License-Identifier: BSD-3-Clause
// A tolerance to be held from evaluation to evaluation, and when what holds it is found anew.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "../errors.hpp"
#include "../report.hpp"
#include "constants.hpp"
#include "drawn_groups.hpp"
#include "likeness.hpp"
#include "order_selection.hpp"
#include "quantities.hpp"
#include "result_strength.hpp"

namespace fmm::tolerance {

/// What was found for some bodies.
struct Calibrated {
  double pair_error = 0;    ///< of MultipolePowerCriterion
  double safe = 0;          ///< one that is safe for such bodies before anything is tried
  double field_scale = 0;   ///< of their cells (field_strength.hpp)
  double opening = 0;       ///< theta of MultipolePowerCriterion; 0: its own
  double theta = 0;         ///< of RadiusCriterion, if lists by that cost less; else 0
  double softening = 1;     ///< what it may add to the error, in Options::softening_error
  bool short_sums = false;  ///< of the near field (kernels::MixedSums)
  bool one_part = false;    ///< coordinates of the near field (Options::one_part)
  // in mixed precision:
  bool wide_margin =
      false;               ///< of coordinates in two parts, where fields cancel; in double at last
  bool in_double = false;  ///< the near field, where fields cancel or pairs are close
  HeldBy held_by = HeldBy::bound;
};

/// A limit under which errors are `ratio` times those, or less; and softening's, unless that `is_given`.
inline Calibrated stricter(Calibrated found, double ratio, int order, bool is_given) {
  const double less = constants.tightening * std::max(ratio, constants.least_tightening);
  if (!is_given) found.softening *= less;
  if (found.theta > 0)
    found.theta *= std::pow(less, 1.0 / (order + 2));
  else
    found.pair_error *= less;
  return found;
}

/// The same after so many tightenings: an error that falls in steps does not follow, and the limit is what is safe at
/// most then; at last all pairs are near, if they may be.
inline Calibrated tightened(Calibrated found, double ratio, int order, bool is_given,
                            int tightenings, bool may_be_all_near, bool single) {
  found = stricter(found, ratio, order, is_given);
  found.held_by = HeldBy::sample;
  if (tightenings == constants.tightenings_until_safe) {
    found.theta = 0;
    found.pair_error = std::min(found.pair_error, found.safe);
  }
  if (tightenings == constants.most_tightenings && may_be_all_near) {
    found.theta = constants.theta_all_near;
    (single ? found.in_double : found.wide_margin) = true;
  }
  return found;
}

/// That of the sums which `found` is verified by; `again` after another verification.
inline Calibrated verifying(Calibrated const& found, bool again) {
  if (found.theta == constants.theta_all_near) return found;
  Calibrated truth{.opening = constants.opening_of_truth,
                   .softening = constants.truth * found.softening};
  truth.pair_error = found.theta == 0 ? std::min(found.safe, constants.truth * found.pair_error)
                     : again          ? constants.truth * found.safe
                                      : found.safe;
  return truth;
}

/// Throws InvalidArgument, with what can be had; NaN is reached by sums that are not finite.
[[noreturn]] FMM_NOINLINE inline void refuse_tolerance(double tolerance, double reached,
                                                       std::optional<double> softening_error) {
  if (std::isnan(reached))
    throw InvalidArgument("tolerance", tolerance, "none for sums that are not finite");
  throw InvalidArgument(
      "tolerance", tolerance,
      at_least(reached) + " for these bodies and charges in this precision" +
          (softening_error ? ", or a smaller softening_error than " + to_text(*softening_error)
                           : ""));
}

/// A tolerance to be held, and what was found for the last bodies; for few ones and for many apart.
class HeldTolerance {
 public:
  static constexpr bool are_enough(std::int64_t bodies) { return bodies >= constants.least_bodies; }

  /// `safe` is a pair_error for bodies of which nothing is known.
  HeldTolerance(double tolerance, double safe) : tolerance_(tolerance), safe_(safe) {}

  double tolerance() const { return tolerance_; }
  double safe() const { return safe_; }

  /// Whether it is known what to take for an evaluation of such bodies; if not, it is to be found.
  bool knows(Likeness const& bodies) {
    last_ = are_enough(bodies.bodies);
    const bool known =
        bodies.resembles(last().bodies) && ++last().evaluations < constants.most_evaluations;
    if (!known) forget();
    return known;
  }
  /// Whether sums with these results hold the tolerance, as far as the last verification tells: if it was of the same
  /// results; or if what it saw, relative to these, leaves room for what bodies that have moved a little change, but
  /// for evaluations 2, 4, 8 and 16 after the first. Very few bodies, and own errors of few, are always verified, and
  /// sums that leave more to cells, or are rounded by more, than those that were.
  bool holds(ResultStrength const& results, ErrorNorm norm) const {
    Kind const& kind = kinds_[last_];
    if (results == kind.results) return true;
    const bool is_due = kind.evaluations > 1 && std::has_single_bit(unsigned(kind.evaluations));
    if (is_due || (norm == ErrorNorm::p99 && !last_)) return false;
    if (kind.bodies.bodies <= constants.always_verified ||
        double(results.cells) > constants.more_cells * double(kind.results.cells) ||
        results.rounding > std::max(constants.rounding_to_look_at * tolerance_,
                                    constants.more_rounding * kind.results.rounding))
      return false;
    return kind.expected * kind.results.over(results) <= constants.room * tolerance_ &&
           results.over(kind.results) <= constants.far_stronger;
  }
  /// Sums with these results were seen to err by no more than that.
  void verified(ResultStrength const& results, double error) {
    last().results = results;
    last().expected = error;
  }
  /// Has the limit be stricter for evaluations to come, if that was too near to the tolerance.
  void leave_room(int order, bool softening_is_given) {
    if (last().expected <= constants.room * tolerance_) return;
    last().found = stricter(now(), 1, order, softening_is_given);
    last().expected *= constants.tightening;
  }
  void remember(Likeness bodies, Calibrated const& found = {}) {
    last() = {std::move(bodies), found};
  }
  /// The bodies asked for last, as their multipoles of another arithmetic have them.
  void resemble(Likeness bodies) { last().bodies = std::move(bodies); }
  /// What the last verification of such bodies saw.
  void note(SeenError const& seen) { last().seen = seen; }
  /// Has what was found be another one: it was seen not to hold the tolerance.
  void correct(Calibrated const& found) { last().found = found; }
  /// Has near fields be in double, from coordinates in all their parts.
  void take_in_double() {
    last().found.in_double = true;
    last().found.one_part = false;
  }
  /// Nothing is known of the bodies asked for last.
  void forget() { last().bodies = {}; }
  /// Of the bodies asked for last; no scale if these are few.
  Calibrated const& now() const { return kinds_[last_].found; }
  /// What is found now, as a Report has it, of sums of that order.
  FoundLimit found(int order, ErrorNorm norm) const {
    Calibrated const& limit = now();
    SeenError const& seen = kinds_[last_].seen;
    FoundLimit found{.order = order, .held_by = limit.held_by, .seen_error = seen.likely};
    if (limit.theta > 0)
      found.theta = limit.theta;
    else
      found.pair_error = limit.pair_error;
    if (norm == ErrorNorm::p99) found.largest_own_error = seen.largest;
    return found;
  }

 private:
  struct Kind {
    Likeness bodies;
    Calibrated found;
    int evaluations = 0;
    SeenError seen = {};
    ResultStrength results = {};  ///< that it was of
    double expected = 0;          ///< their error, or that of the limit in force
  };
  Kind& last() { return kinds_[last_]; }

  double tolerance_, safe_;
  Kind kinds_[2];  ///< of few bodies, and of many
  int last_ = 0;
};

}  // namespace fmm::tolerance
