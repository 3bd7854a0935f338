// SPDX-License-Identifier: BSD-3-Clause
// The measurement of one solver. Included only by the translation units that instantiate solvers.
#pragma once

#include <chrono>
#include <fmm/fmm.hpp>
#include <fmm/runtime.hpp>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "bodies_on.hpp"
#include "measurement.hpp"
#include "progress.hpp"
#include "settings.hpp"

namespace forces {

/// Whether there are runs in mixed precision beside those in Real.
template <class Real, class Data>
inline constexpr bool has_mixed = std::is_same_v<Real, float>&& std::is_same_v<Data, double>;

/// The policies of a compiled solver of the library.
fmm::runtime::Policies policies_of(MethodSettings const& settings);

/// Seconds since it was made or asked last; the space has finished its work by then.
template <class Space>
class Stopwatch {
 public:
  explicit Stopwatch(Space const& space) : space_(space) { lap(); }
  double lap() {
    space_.fence();
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

 private:
  Space space_;
  std::chrono::steady_clock::time_point last_;
};

/// Seconds of builds and evaluations that were repeated, and their medians, into the measurement.
void summarise(Measurement& measurement, std::vector<double> const& builds,
               std::vector<double> const& evaluations);

/// One build and evaluation.
struct TimedRun {
  double build, evaluate;  ///< seconds
  int depth;               ///< of the tree
};

/// Measures calls of `run`, which times the stages too if it is handed a report: a warm-up, the
/// repeats without stage timing, one run with it. With no repeats the last of these is the only run,
/// and the total comes from it.
Measurement measure_runs(std::function<TimedRun(fmm::Report*)> const& run,
                         MethodSettings const& settings, std::int64_t bodies, int repeats,
                         Progress& progress);

/// Times build(report), which makes a plan, and evaluate(plan, report).
template <class Space, class Solver, class Build, class Evaluate>
Measurement measure_steps(Space const& space, Solver const& solver, MethodSettings const& settings,
                          std::int64_t bodies, int repeats, Progress& progress, Build const& build,
                          Evaluate const& evaluate) {
  const auto timed_run = [&](fmm::Report* report) {
    Stopwatch<Space> watch(space);
    auto plan = build(report);
    const double seconds = watch.lap();
    evaluate(plan, report);
    return TimedRun{seconds, watch.lap(), plan.depth()};
  };
  auto measurement = measure_runs(timed_run, settings, bodies, repeats, progress);
  measurement.settings.options = solver.options();
  return measurement;
}

/// Times `solver` on the bodies; builds take the last step's field, if there is one.
template <class Solver, class Space, class Data, class... LastField>
Measurement measure(Solver& solver, BodiesOn<Space, Data> const& bodies,
                    ResultsOn<Space, Data> const& results, MethodSettings const& settings,
                    int repeats, Progress& progress, LastField const&... last_field) {
  return measure_steps(
      bodies.space, solver, settings, bodies.size(), repeats, progress,
      [&](fmm::Report* report) {
        if constexpr (sizeof...(LastField) > 0)
          return solver.build(
              bodies.space, fmm::Inputs{bodies.positions, bodies.charges, fmm::none, last_field...},
              report);
        else if constexpr (Solver::uses_charges)
          return solver.build(bodies.space, fmm::Inputs{bodies.positions, bodies.charges}, report);
        else
          return solver.build(bodies.space, bodies.positions, report);
      },
      [&](auto& plan, fmm::Report* report) {
        solver.evaluate(bodies.space, plan, bodies.charges, results.potential, results.field,
                        report);
      });
}

/// Treecode or FMM of one order and precision, as the settings ask for; instantiated in a
/// translation unit of its own for each order and precision.
template <int Order, class Real, class Data, class Space>
Measurement run_expansion(BodiesOn<Space, Data> const& bodies,
                          ResultsOn<Space, Data> const& results, MethodSettings const& settings,
                          int repeats, Progress& progress);

}  // namespace forces
