// SPDX-License-Identifier: BSD-3-Clause
// What a build and an evaluation did and how long it took, on request.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fmm {

/// One stage; `count` is in the stage's own unit: bodies for p2m and l2p, cells for tree, translations
/// for m2m, m2l and l2l, body-cell pairs for p2l and m2p, body-body pairs for p2p, list entries for lists.
struct StageReport {
  std::string name;
  double seconds = 0;
  std::int64_t count = 0;
  double flops = 0;  ///< every add, multiply, divide, square root or reciprocal square root is one
};

/// What a tolerance is held by: a limit that was safe for all bodies it was measured with, before anything is known of
/// those at hand; or what a sample of these showed. Either is verified.
enum class HeldBy { bound, sample };

/// The limit of the criterion that holds a tolerance for the bodies at hand.
struct FoundLimit {
  int order = 0;                          ///< of the expansions; 0, and no limit, by all pairs
  std::optional<double> pair_error = {};  ///< of MultipolePowerCriterion, or else
  std::optional<double> theta = {};       ///< of RadiusCriterion
  HeldBy held_by = HeldBy::bound;
  /// What the last verification of such bodies says of the error of all, of the norm that the tolerance has. Of
  /// ErrorNorm::l2 it is the error of what lists leave out, in mixed precision with the rounding of near fields,
  /// without that of softening; by all pairs it is that of rounding. 0 where there is no such error.
  double seen_error = 0;
  std::optional<double> largest_own_error = {};  ///< of ErrorNorm::p99: the largest that it saw
};

/// Hand one to `Solver::build` and `Solver::evaluate`: every stage is then fenced and timed, which
/// costs some time itself, so totals are to be measured without a report. Numbers add up over all calls with one
/// report, but where they are said to be of the last one.
struct Report {
  std::vector<StageReport> stages;  ///< in order of execution; a name that comes again is added to
  double build_seconds = 0;         ///< of all builds that had this report
  double evaluate_seconds = 0;      ///< of all evaluations
  std::int64_t p2p_pairs = 0;       ///< body-body pairs, a body with itself not counted
  std::int64_t m2l = 0;             ///< cell-cell translations
  std::int64_t p2l = 0;             ///< bodies times cells whose local expansions they are added to
  std::int64_t m2p = 0;             ///< body-cell evaluations
  std::int64_t not_finite =
      0;  ///< bodies with a result that is infinite or not a number, of the last evaluation
  std::optional<FoundLimit> found = {};  ///< with a tolerance: what the last evaluation went by
  std::size_t memory_bytes =
      0;  ///< held in the execution space's memory by plan and solver after the last call

  /// The stage of that name, or nullptr.
  StageReport const* find(std::string_view name) const {
    for (auto const& stage : stages)
      if (stage.name == name) return &stage;
    return nullptr;
  }
  double seconds(std::string_view name) const { return find(name) ? find(name)->seconds : 0; }
  std::int64_t count(std::string_view name) const { return find(name) ? find(name)->count : 0; }
  double flops() const {
    double sum = 0;
    for (auto const& stage : stages) sum += stage.flops;
    return sum;
  }

  /// The stage of that name, added at the end if it is new.
  StageReport& stage(std::string_view name) {
    for (auto& stage : stages)
      if (stage.name == name) return stage;
    return stages.emplace_back(StageReport{std::string(name)});
  }
};

}  // namespace fmm
