// SPDX-License-Identifier: BSD-3-Clause
// The bodies in the memory of one backend, and the sums that are measured there. This header keeps
// Kokkos and the library out of everything that only handles settings, files and reports.
#pragma once

#include <cstdint>
#include <fmm/tolerance/order_selection.hpp>
#include <fmm/report.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bodies.hpp"
#include "progress.hpp"
#include "results.hpp"
#include "settings.hpp"

namespace forces {

/// How to measure, for all methods alike.
struct RunRequest {
  int repeats = 1;
  double direct_limit = 0;  ///< seconds that a full direct sum may take
  double long_direct = 0;   ///< seconds from which a full direct sum is run only once
  std::int64_t check = 0;   ///< random targets whose sums are compared with a direct sum in double
  std::uint64_t check_seed = 0;
  bool wants_results = false;  ///< all results are wanted on the host (of a direct sum in full)
};

/// Errors against the direct sum in double.
struct ErrorStatistics {
  double force_l2 = 0;      ///< sqrt(sum |a - a_ref|^2 / sum |a_ref|^2)
  double force_p99 = 0;     ///< 99th percentile of |a - a_ref| / |a_ref|
  double force_max = 0;     ///< largest |a - a_ref| / |a_ref|
  double potential_l2 = 0;  ///< as force_l2
  std::int64_t samples = 0;
  std::int64_t not_finite = 0;  ///< of these, with a result that is infinite or not a number

  /// |a - a_ref| / |a_ref| counted in tenths of a decade: bin b holds 10^(b/10) to 10^((b+1)/10).
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

class Session {
 public:
  virtual ~Session() = default;

  /// Name of the device that computes.
  virtual std::string device() const = 0;
  /// Threads of the host that compute; nothing for a GPU.
  virtual std::optional<int> threads() const = 0;
  /// Of the bodies.
  virtual fmm::tolerance::Cancellation cancellation() const = 0;
  virtual Measurement run(MethodSettings const& settings, RunRequest const& request,
                          Progress& progress) = 0;
};

/// The bodies, handed to the backend in that precision, must outlive the session. Kokkos must be
/// initialised.
std::unique_ptr<Session> open_session(Backend backend, Data data, Bodies const& bodies);

/// Orders and backends compiled in.
Build build_facts();

}  // namespace forces
