// SPDX-License-Identifier: BSD-3-Clause
// Stages of a build or an evaluation: named for profiling tools, and timed for a report.
#pragma once

#include <chrono>
#include <string>

#include "../detail/kokkos_compat.hpp"
#include "../report.hpp"

namespace fmm::engine {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

FMM_NOINLINE inline void add_seconds(Report& report, char const* name, double seconds) {
  report.stage(name).seconds += seconds;
}
FMM_NOINLINE inline void add_work(Report& report, char const* name, std::int64_t count,
                                  std::int64_t flops_each = 0) {
  report.stage(name).count += count;
  report.stage(name).flops += double(count) * double(flops_each);
}

/// Runs f() in a profiling region `fmm::name`; with a report, between fences and on the clock.
template <class Space, class F>
void stage(Space const& space, Report* report, char const* name, F const& f) {
  const Region region(name);
  if (report) space.fence();
  const Stopwatch watch;
  f();
  if (!report) return;
  space.fence();
  add_seconds(*report, name, watch.seconds());
}

}  // namespace fmm::engine
