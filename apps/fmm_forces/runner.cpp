// SPDX-License-Identifier: BSD-3-Clause
// What the measurements of all solvers share; see runner.hpp.
#include "runner.hpp"

#include <algorithm>

namespace forces {

namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

}  // namespace

void summarise(Measurement& measurement, std::vector<double> const& builds,
               std::vector<double> const& evaluations) {
  measurement.build = median(builds);
  measurement.evaluate = median(evaluations);
  for (std::size_t i = 0; i < builds.size(); ++i)
    measurement.totals.push_back(builds[i] + evaluations[i]);
  measurement.total = median(measurement.totals);
}

Measurement measure_runs(std::function<TimedRun(fmm::Report*)> const& run,
                         MethodSettings const& settings, std::int64_t bodies, int repeats,
                         Progress& progress) {
  const std::string name = name_of(settings.method) + ", " + std::to_string(bodies) + " bodies: ";
  Measurement measurement;
  measurement.settings = settings;
  std::vector<double> builds, evaluations;
  const auto timed = [&](std::string const& what, fmm::Report* report) {
    progress.phase(name + what);
    const auto times = run(report);
    builds.push_back(times.build);
    evaluations.push_back(times.evaluate);
    measurement.depth = times.depth;
  };
  if (repeats > 0)
    timed("warm-up", nullptr);
  else
    timed("the only run", &measurement.report);
  measurement.first = builds[0] + evaluations[0];
  if (repeats > 0) {
    builds.clear();
    evaluations.clear();
  }
  for (int i = 1; i <= repeats; ++i)
    timed("run " + std::to_string(i) + " of " + std::to_string(repeats), nullptr);

  summarise(measurement, builds, evaluations);
  if (repeats > 0) timed("stages", &measurement.report);
  return measurement;
}

}  // namespace forces
