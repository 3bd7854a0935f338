// SPDX-License-Identifier: BSD-3-Clause
// What is measured of one method: times, stages, errors.
#pragma once

#include <cstdint>
#include <fmm/report.hpp>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "results.hpp"
#include "settings.hpp"

namespace forces {

/// Errors against the direct sum in double; NaN: not measured. Of several densities the largest ones.
struct ErrorStatistics {
  double field_l2 = 0, field_p99 = 0, field_max = 0;  ///< as in fmm::ErrorMeasure
  double potential_l2 = 0, potential_p99 = 0, potential_max = 0;
  double hessian_l2 = std::numeric_limits<double>::quiet_NaN();
  double least_share = 0;  ///< that own errors were measured with
  std::int64_t samples = 0;
  std::int64_t not_finite = 0;  ///< of these, with a result that is infinite or not a number

  /// The fields' own errors counted in tenths of a decade: bin b holds 10^(b/10) to 10^((b+1)/10).
  std::map<int, std::int64_t> histogram;
};

/// The search for the fastest setting that holds a tolerance.
struct TuningFacts {
  bool held;       ///< whether one was found; if not, the setting is the one that needs no search
  int trials;      ///< settings that were tried
  double seconds;  ///< that it took
};

/// One method on one set of bodies. Seconds are medians of the repeats, without stage timing.
struct Measurement {
  MethodSettings settings{};   ///< options as the solver has them
  int depth = 0;               ///< deepest level of the tree
  std::vector<double> totals;  ///< from unsorted bodies to results in their order, each repeat
  double total = 0;            ///< as everything here, without the first run, which warms up
  double build = 0;
  double evaluate = 0;
  std::optional<double>
      first;  ///< of that: memory is allocated and, with a tolerance, pair_error found
  std::optional<std::int64_t> sampled_targets;  ///< of a direct sum that was not run in full
  fmm::Report report;                           ///< stages and counts of one more run
  std::optional<ErrorStatistics> error;
  std::optional<TuningFacts> tuning;
  Results results;  ///< if the request wants them
};

}  // namespace forces
