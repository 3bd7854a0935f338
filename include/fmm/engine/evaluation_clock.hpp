// SPDX-License-Identifier: BSD-3-Clause
// What surrounds an evaluation: its profiling region, its time, and what is counted at its end.
#pragma once

#include "../report.hpp"
#include "results.hpp"
#include "stage.hpp"

namespace fmm::engine {

template <class Space>
class EvaluationClock {
 public:
  EvaluationClock(Space const& space, Report* report)
      : space_(space), report_(report), region_("evaluate") {}

  /// With a report: its time, results that are not finite, and the bytes held by plan and solver.
  template <class Potential, class Field>
  void stop(std::int64_t bodies, Potential const& potential, Field const& field,
            std::size_t memory_bytes) const {
    if (!report_) return;
    space_.fence();
    report_->evaluate_seconds += watch_.seconds();
    report_->memory_bytes = memory_bytes;
    report_->not_finite = not_finite(space_, bodies, potential, field);
  }

 private:
  Space const& space_;
  Report* report_;
  Region region_;
  Stopwatch watch_;
};

}  // namespace fmm::engine
