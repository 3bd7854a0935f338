// SPDX-License-Identifier: BSD-3-Clause
// What surrounds a build or an evaluation: its profiling region and its time.
#pragma once

#include "../report.hpp"
#include "stage.hpp"

namespace fmm::engine {

/// An evaluation's. What a report says of the last evaluation alone is forgotten.
template <class Space>
class EvaluationClock {
 public:
  EvaluationClock(Space const& space, Report* report)
      : space_(space), report_(report), region_("evaluate") {
    if (!report_) return;
    report_->not_finite = 0;
    report_->found.reset();
  }

  /// With a report: its time, and the bytes held by plan and solver.
  void stop(std::size_t memory_bytes) const {
    if (!report_) return;
    space_.fence();
    report_->evaluate_seconds += watch_.seconds();
    report_->memory_bytes = memory_bytes;
  }

 private:
  Space const& space_;
  Report* report_;
  Region region_;
  Stopwatch watch_;
};

/// A build's.
template <class Space>
class BuildClock {
 public:
  BuildClock(Space const& space, Report* report)
      : space_(space), report_(report), region_("build") {}

  /// The same.
  void stop(std::size_t memory_bytes) const {
    if (!report_) return;
    space_.fence();
    report_->build_seconds += watch_.seconds();
    report_->memory_bytes = memory_bytes;
  }

 private:
  Space const& space_;
  Report* report_;
  Region region_;
  Stopwatch watch_;
};

}  // namespace fmm::engine
