// SPDX-License-Identifier: BSD-3-Clause
// Sessions on the backends that Kokkos has: by the library's compiled solvers (fmm/runtime.hpp) or, for what these do
// not have, by the runners of all orders.
#include "session.hpp"

#include <algorithm>
#include <backends.hpp>
#include <cmath>
#include <fmm/fmm.hpp>
#include <fmm/runtime.hpp>
#include <type_traits>
#include <utility>

#include "device_name.hpp"
#include "open_on.hpp"
#include "runner.hpp"

namespace forces {

namespace {

using Orders = std::integer_sequence<int, FORCES_ORDERS>;

template <class Space, class Data>
using Runner = Measurement (*)(BodiesOn<Space, Data> const&, ResultsOn<Space, Data> const&,
                               MethodSettings const&, int repeats, Progress&);

/// Those of the orders compiled in; nullptr for another one.
template <class Space, class Data, class Real, int... Order>
Runner<Space, Data> find_runner(int order, std::integer_sequence<int, Order...>) {
  Runner<Space, Data> found = nullptr;
  ((order == Order ? void(found = &run_expansion<Order, Real, Data, Space>) : void()), ...);
  return found;
}

/// Whether the library's compiled solvers do not have it, but the program's runners do: what is there to compare with.
bool is_laboratory(MethodSettings const& settings) {
  if (settings.method == Method::direct || settings.options.tolerance) return false;
  if (settings.traversal == Traversal::lists || settings.criterion == Criterion::relative)
    return true;
  if (settings.method == Method::treecode)
    return settings.traversal == Traversal::dual && settings.criterion == Criterion::radius;
  return settings.translation != Translation::rotation;
}

ErrorStatistics statistics_of(fmm::ErrorMeasure const& measure) {
  ErrorStatistics statistics{.field_l2 = measure.field_l2,
                             .field_p99 = measure.field_p99,
                             .field_max = measure.field_max,
                             .potential_l2 = measure.potential_l2,
                             .potential_p99 = measure.potential_p99,
                             .potential_max = measure.potential_max,
                             .hessian_l2 = std::numeric_limits<double>::quiet_NaN(),
                             .least_share = measure.least_share,
                             .samples = static_cast<std::int64_t>(measure.samples),
                             .not_finite = static_cast<std::int64_t>(measure.not_finite),
                             .histogram = {}};
  for (const double error : measure.field)
    if (error > 0 && std::isfinite(error))
      ++statistics.histogram[static_cast<int>(std::floor(10 * std::log10(error)))];
  return statistics;
}

template <class Space, class Data>
class SessionOn final : public Session {
  using Site = fmm::site_t<Space>;

 public:
  explicit SessionOn(Bodies const& bodies) {
    bodies_.set(in_space<Space, Data>(bodies.positions, positions_),
                in_space<Space, Data>(bodies.charges, charges_), bodies.size());
  }

  std::string device() const override { return device_name<Space>(); }

  std::optional<int> threads() const override {
    if constexpr (on_host<Space>) return static_cast<int>(bodies_.space.concurrency());
    return std::nullopt;
  }

  Measurement run(MethodSettings const& settings, RunRequest const& request,
                  Progress& progress) override {
    const ResultsOn<Site, Data> results(bodies_.size());
    if (settings.method == Method::direct) return run_direct(results, settings, request, progress);
    auto measurement = is_laboratory(settings)
                           ? run_laboratory(settings, results, request.repeats, progress)
                           : run_library(settings, results, request.repeats, progress);
    finish(measurement, results, request, progress);
    return measurement;
  }

 private:
  Measurement run_laboratory(MethodSettings const& settings, ResultsOn<Site, Data> const& results,
                             int repeats, Progress& progress) {
    const auto run_in = [&]<class Real>(Real) {
      return find_runner<Site, Data, Real>(settings.order, Orders{})(bodies_, results, settings,
                                                                     repeats, progress);
    };
    if constexpr (std::is_same_v<Data, double>)
      if (settings.precision == Precision::double_precision) return run_in(double());
    return run_in(float());
  }

  /// By the library's compiled solvers; one for a tolerance finds order, criterion and perhaps all else.
  Measurement run_library(MethodSettings const& settings, ResultsOn<Site, Data> const& results,
                          int repeats, Progress& progress) {
    fmm::AnySolver solver(policies_of(settings), settings.options);
    std::optional<TuningFacts> tuning;
    if (settings.tune) {
      progress.phase("tuning: settings are tried on these bodies");
      Stopwatch<Site> watch(bodies_.space);
      const fmm::Tuned tuned = solver.tune(bodies_.positions, bodies_.charges);
      tuning = {tuned.held, tuned.trials, watch.lap()};
    }
    auto measurement = measure(solver, results, settings, repeats, progress);
    measurement.tuning = tuning;
    auto& used = measurement.settings;
    used.order = solver.order();
    if (auto const& found = measurement.report.found) {
      used.options.pair_error = found->pair_error;
      if (found->theta) used.options.theta = found->theta;
    }
    if (settings.options.tolerance && bodies_.size() > 0 && !used.options.pair_error)
      used.criterion = Criterion::radius;
    return measurement;
  }

  Measurement measure(fmm::AnySolver& solver, ResultsOn<Site, Data> const& results,
                      MethodSettings const& settings, int repeats, Progress& progress) {
    return measure_steps(
        bodies_.space, solver, settings, bodies_.size(), repeats, progress,
        [&](fmm::Report* report) {
          return solver.build(bodies_.positions, bodies_.charges, report);
        },
        [&](fmm::AnyPlan& plan, fmm::Report* report) {
          solver.evaluate(plan, bodies_.charges, results.potential, results.field, report);
        });
  }

  /// In full where that is fast enough. Otherwise at a sample of the targets, as many as tell the
  /// speed: the time of the pairs is scaled to all targets.
  Measurement run_direct(ResultsOn<Site, Data> const& results, MethodSettings const& settings,
                         RunRequest const& request, Progress& progress) {
    constexpr std::int64_t never_sampled = 16384;  // bodies
    fmm::AnySolver solver(policies_of(settings), settings.options);
    double predicted = 0;
    if (bodies_.size() > never_sampled) {
      const Speed speed = speed_of(solver, results, progress);
      predicted = speed.predicted;
      if (predicted > request.direct_limit && !request.wants_results)
        return run_sample(solver, results, settings, request, speed, progress);
    }
    // The sample has warmed up a sum that takes long.
    const int repeats = predicted > request.long_direct ? 0 : request.repeats;
    auto measurement = measure(solver, results, settings, repeats, progress);
    finish(measurement, results, request, progress);
    return measurement;
  }

  struct Speed {
    std::int64_t samples;  ///< targets that keep the device busy for long enough
    double seconds;        ///< of their pairs
    double predicted;      ///< of the pairs of all targets
  };

  Speed speed_of(fmm::AnySolver& solver, ResultsOn<Site, Data> const& results, Progress& progress) {
    constexpr double enough = 2;  // seconds
    progress.phase("direct: " + std::to_string(bodies_.size()) + " bodies, the speed of a sample");
    auto plan = solver.build(bodies_.positions, bodies_.charges);
    // some targets a thread: with fewer a part of the device would not work
    for (std::int64_t samples = std::max<std::int64_t>(1024, 4 * bodies_.space.concurrency());;) {
      fmm::Report report;
      const auto targets = solver.evaluate_sample(plan, bodies_.charges, results.potential,
                                                  results.field, samples, &report);
      const double seconds = report.seconds("p2p");
      const double share =
          static_cast<double>(bodies_.size()) / static_cast<double>(targets.size());
      if (seconds > 0.7 * enough || share < 2) return {samples, seconds, seconds * share};
      samples = static_cast<std::int64_t>(
          std::clamp(enough / (seconds + 1e-9), 2.0, std::min(32.0, share)) *
          static_cast<double>(samples));
    }
  }

  /// The direct sum at about so many targets, its time scaled to all.
  Measurement run_sample(fmm::AnySolver& solver, ResultsOn<Site, Data> const& results,
                         MethodSettings const& settings, RunRequest const& request,
                         Speed const& speed, Progress& progress) {
    Measurement measurement;
    std::vector<double> builds, evaluations;
    std::vector<std::int32_t> targets;
    double share = 1;
    const int repeats = speed.seconds > request.long_direct ? 1 : std::max(request.repeats, 1);
    for (int i = 1; i <= repeats; ++i) {
      progress.phase("direct, a sample of the targets: run " + std::to_string(i) + " of " +
                     std::to_string(repeats));
      measurement.report = {};
      Stopwatch<Site> watch(bodies_.space);
      auto plan = solver.build(bodies_.positions, bodies_.charges, &measurement.report);
      builds.push_back(watch.lap());
      targets = solver.evaluate_sample(plan, bodies_.charges, results.potential, results.field,
                                       speed.samples, &measurement.report);
      share = static_cast<double>(bodies_.size()) / static_cast<double>(targets.size());
      evaluations.push_back(watch.lap() + (share - 1) * measurement.report.seconds("p2p"));
    }
    summarise(measurement, builds, evaluations);
    auto& pairs = measurement.report.stage("p2p");
    pairs.seconds *= share;
    pairs.flops *= share;
    pairs.count = measurement.report.p2p_pairs = bodies_.size() * (bodies_.size() - 1);
    measurement.sampled_targets = static_cast<std::int64_t>(targets.size());
    measurement.settings = settings;
    measurement.settings.options = solver.options();
    finish(measurement, results, request, progress, targets);
    return measurement;
  }

  /// Errors, at some of the `targets` if only these have results, and results, after the times.
  template <class... Targets>
  void finish(Measurement& measurement, ResultsOn<Site, Data> const& results,
              RunRequest const& request, Progress& progress, Targets const&... targets) {
    auto const& used = measurement.settings;
    if (request.check > 0 && bodies_.size() > 0) {
      progress.phase(name_of(used.method) + ": direct sum in double to compare with");
      auto direct = used;
      direct.method = Method::direct;
      const fmm::AnySolver reference(policies_of(direct), reference_options(used.options));
      measurement.error = statistics_of(reference.measure_error(
          bodies_.positions, bodies_.charges, results.potential, results.field, targets...,
          static_cast<std::size_t>(request.check), request.check_seed));
    }
    if (request.wants_results) measurement.results = results.on_host();
  }

  Space space_;
  BodiesOn<Site, Data> bodies_{space_};
  Column<Space, Data> positions_, charges_;  // unused where the bodies' own memory serves
};

}  // namespace

fmm::runtime::Policies policies_of(MethodSettings const& settings) {
  namespace rt = fmm::runtime;
  rt::Policies policies;
  policies.kernel = settings.kernel == KernelKind::laplace ? rt::Kernel::laplace
                    : settings.softening_kind == SofteningKind::plummer
                        ? rt::Kernel::softened_gravity
                        : rt::Kernel::spline_gravity;
  policies.method = settings.method == Method::direct     ? rt::Method::direct
                    : settings.method == Method::treecode ? rt::Method::treecode
                                                          : rt::Method::fmm;
  if (settings.method != Method::direct) {
    if (!settings.options.tolerance)
      policies.criterion = settings.criterion == Criterion::field   ? rt::Criterion::field
                           : settings.criterion == Criterion::power ? rt::Criterion::multipole_power
                                                                    : rt::Criterion::radius;
    if (settings.order >= 0)
      policies.order = settings.order;
    else
      policies.orders_to_choose_from = fmm::runtime::orders();
  }
  policies.precision = settings.precision == Precision::single_precision  ? rt::Precision::single
                       : settings.precision == Precision::mixed_precision ? rt::Precision::mixed
                                                                          : rt::Precision::full;
  policies.backend = settings.backend;
  return policies;
}

std::unique_ptr<Session> open_session(Backend backend, Data data, Bodies const& bodies) {
  return open_on<SessionOn>(backend, data, bodies);
}

Build build_facts() {
  Build facts;
  facts.orders = fmm::runtime::orders();
  fmm::runtime::for_each_backend([&]<class Space>(Backend backend, std::type_identity<Space>) {
    facts.backends.push_back(backend);
    if (std::is_same_v<Space, Kokkos::DefaultExecutionSpace>) facts.default_backend = backend;
  });
  return facts;
}

}  // namespace forces
