// SPDX-License-Identifier: BSD-3-Clause
// What surrounds a build or an evaluation: its profiling region and its time.
#pragma once

#include "../report.hpp"
#include "stage.hpp"

namespace fmm::engine {

/// With a report, the time that passes is added to its `Seconds`, a pointer to a member.
template <class Space, double Report::*Seconds>
class Clock {
 public:
  Clock(Space const& space, Report* report, char const* region)
      : space_(space), report_(report), region_(region) {}

  /// With a report: its time, and the bytes held by plans and solver.
  void stop(std::size_t memory_bytes) const {
    if (!report_) return;
    space_.fence();
    report_->*Seconds += watch_.seconds();
    report_->memory_bytes = memory_bytes;
  }

 private:
  Space const& space_;
  Report* report_;
  Region region_;
  Stopwatch watch_;
};

template <class Space>
class BuildClock : public Clock<Space, &Report::build_seconds> {
 public:
  BuildClock(Space const& space, Report* report)
      : Clock<Space, &Report::build_seconds>(space, report, "build") {}
};

/// What a report says of the last evaluation alone is forgotten.
template <class Space>
class EvaluationClock : public Clock<Space, &Report::evaluate_seconds> {
 public:
  EvaluationClock(Space const& space, Report* report)
      : Clock<Space, &Report::evaluate_seconds>(space, report, "evaluate") {
    if (!report) return;
    report->not_finite = 0;
    report->found.reset();
  }
};

}  // namespace fmm::engine
