// SPDX-License-Identifier: BSD-3-Clause
// The order and the pair_error of MultipolePowerCriterion for an error that is wanted (docs/design.md).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "../errors.hpp"
#include "../options.hpp"
#include "constants.hpp"

namespace fmm::tolerance {

/// Whether sums in float, or else in double, are sure to reach the tolerance of that norm.
inline bool is_reached(double tolerance, bool single, ErrorNorm norm) {
  const double least = norm == ErrorNorm::p99
                           ? (single ? constants.least_own_in_float : constants.least_own_in_double)
                           : (single ? constants.least_in_float : constants.least_in_double);
  return tolerance >= least && tolerance <= constants.largest;
}
/// In words, the tolerances for which they do.
inline std::string reached_tolerances(bool single, ErrorNorm norm) {
  static_assert(constants.least_in_float == 3e-6 && constants.least_in_double == 1e-12 &&
                constants.least_own_in_float == 1e-4 && constants.least_own_in_double == 1e-10 &&
                constants.largest == 1e-2);
  const bool own = norm == ErrorNorm::p99;
  return (single ? std::string(own ? "1e-4" : "3e-6") + " to 1e-2 in float and mixed precision"
                 : std::string(own ? "1e-10" : "1e-12") + " to 1e-2 in double") +
         (own ? " for the bodies' own errors" : "");
}

/// The words of a refusal for what can be had, in two digits, rounded up.
FMM_NOINLINE inline std::string at_least(double reached) {
  if (!(reached <= constants.largest)) return "none up to " + to_text(constants.largest);
  const double unit = std::pow(10.0, std::floor(std::log10(reached)) - 1);
  char text[16];
  std::snprintf(text, sizeof text, "%.2g", std::ceil(reached / unit * (1 - 1e-9)) * unit);
  return "at least " + std::string(text);
}

/// The options' tolerance. Throws InvalidArgument if there is none.
inline double required(Options const& options, bool single) {
  if (!options.tolerance)
    throw InvalidArgument("tolerance", "none",
                          reached_tolerances(single, options.error_norm) + ": it has to be set");
  return *options.tolerance;
}

/// Throws InvalidArgument for a tolerance that results in Views of float do not keep.
FMM_NOINLINE inline void check_results(double tolerance, bool in_float) {
  if (in_float && tolerance < constants.least_of_float_results)
    throw InvalidArgument("tolerance", tolerance,
                          ">= " + to_text(constants.least_of_float_results) +
                              " for results in float: take Views of double");
}

/// Whether sums in float are to be short for a tolerance of charges of both signs, whose fields cancel: a neighbour's
/// field is so many times the root mean square field.
inline bool needs_short_sums(double tolerance, double neighbour_over_field) {
  return constants.rounding_in_float * neighbour_over_field >
         constants.share_of_rounding * tolerance;
}

/// Whether short sums in float reach the tolerance for charges of both signs, whose fields cancel.
inline bool is_reached_by_short_sums(double tolerance, double neighbour_over_field) {
  return tolerance >= constants.rounding_of_short_sums * neighbour_over_field;
}

/// The pair_error whose sums hold the tolerance: the error of these was found to be 0.3 of it as a rule, and up
/// to 2.3 (2.6 at order 2).
inline double pair_error_for(double tolerance, int order) {
  return tolerance /
         (constants.error_of_pair_error + constants.and_over_order / std::max(order, 1));
}

/// The options of sums by MultipolePowerCriterion that are safe for a tolerance before anything is known of the
/// bodies. Throws InvalidArgument for a tolerance that is not reached, and for options that it decides itself.
inline Options safe_options(Options options, double tolerance, int order, bool single,
                            bool has_softening_error) {
  validate(options);
  if (!is_reached(tolerance, single, options.error_norm))
    throw InvalidArgument("tolerance", tolerance, reached_tolerances(single, options.error_norm));
  constexpr char not_set[] = "not set, with a tolerance";
  if (options.theta) throw InvalidArgument("theta", *options.theta, not_set);
  if (options.pair_error) throw InvalidArgument("pair_error", *options.pair_error, not_set);
  if (options.one_part)
    throw InvalidArgument("one_part", 1, "0, with a tolerance: tune finds whether it holds that");
  options.tolerance = std::nullopt;
  options.pair_error = pair_error_for(tolerance, order);
  if (has_softening_error && !options.softening_error)
    options.softening_error = constants.softening_error * tolerance;
  return options;
}

/// The options of sums of all pairs that a tolerance is looked at by, or held by. In a periodic box, where a kernel
/// has to end somewhere, softening errs by a share of what the tolerance allows.
inline Options options_of_pairs(Options options, double tolerance, bool has_softening_error) {
  const double allowed = options.softening_error.value_or(constants.softening_error * tolerance);
  options.tolerance = options.softening_error = std::nullopt;
  if (options.periodic && has_softening_error)
    options.softening_error = constants.softening_of_ewald * allowed;
  return options;
}

/// What Ewald's sums may leave out that errors within a tolerance are seen by: it is relative to terms, and fields may be
/// a thousandth of these.
inline double ewald_error_for(double tolerance) { return std::max(1e-5 * tolerance, 1e-15); }

/// What sums of a tolerance are made with.
struct Arithmetic {
  bool host;    ///< on a CPU, where an M2L costs fewer pairs than on a GPU
  bool single;  ///< in float
};

/// How much the charges of some bodies and their fields cancel.
struct Cancellation {
  double net_share = 1;    ///< |sum q| / sum |q|
  double field_share = 1;  ///< the field over what a neighbour exerts, 1 at most
  double far_share =
      1;  ///< of the magnitudes of terms, without that of the companion in a close pair
};

/// The order for which sums of that tolerance cost least. Where charges cancel their field is weaker,
/// and a criterion has to be the stricter for it, so that a higher order gains more; where fields
/// cancel, as if the tolerance were less by the square of their share, as measured in lattices of ions
/// (docs/accuracy.md); where own errors count and each body has a companion, as if it were more. On a GPU beside P2P
/// an M2L of order 6 costs float little more than one of order 5, one of order 4 than one of order 3, one of order 9
/// three times one of order 8: float has 4 at least, and 6 to 8 for more than 2.5 digits. Orders beyond 12 pay later
/// than lower ones do (docs/accuracy.md).
inline double order_for(double tolerance, Arithmetic arithmetic, Cancellation charges) {
  const double digits = std::max(
      -std::log10(tolerance * charges.field_share * charges.field_share / charges.far_share), 1.0);
  const bool cancel = charges.net_share < 0.1;
  if (arithmetic.host) return cancel ? 2.75 * digits - 2.45 : 2 * digits - 0.8;
  const double order =
      cancel ? 2 * digits - 0.8 : std::min(1.52 * digits + 0.4, 1.4 * digits + 1.3);
  if (!arithmetic.single) return order;
  return digits > 2.5 ? std::clamp(order, 6.0, 8.0) : std::max(order, 4.0);
}

/// The order to go on with in mixed precision on a GPU, where one of 6 and more was found to take so many pairs of P2P
/// a body: where these are most of the time, the fewer pairs of a higher order, of 8 at most, are worth its M2L.
inline int order_by_work(int order, double near_pairs, std::vector<int> const& orders) {
  int next = order;
  if (order >= 6 && near_pairs > constants.many_near_pairs)
    for (const int other : orders)
      if (other <= 8) next = std::max(next, other);
  return next;
}

/// The index of the nearest of some orders, the higher of two.
template <class Orders>
std::size_t nearest_order(double tolerance, Arithmetic arithmetic, Cancellation charges,
                          Orders const& orders) {
  const double best = order_for(tolerance, arithmetic, charges);
  const auto distance = [&](std::size_t i) { return std::fabs(orders[i] - best); };
  std::size_t nearest = 0;
  for (std::size_t i = 1; i < std::size(orders); ++i)
    if (distance(i) <= distance(nearest)) nearest = i;
  return nearest;
}

}  // namespace fmm::tolerance
