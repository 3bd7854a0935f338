// SPDX-License-Identifier: BSD-3-Clause
// Sessions on the backends that Kokkos has, the direct sum, and the table of all orders.
#include "session.hpp"

#include <algorithm>
#include <cmath>
#include <fmm/fmm.hpp>
#include <type_traits>
#include <utility>

#include "runner.hpp"
#include "versions.hpp"

namespace forces {

namespace {

using Orders = std::integer_sequence<int, FORCES_ORDERS>;

template <class Space, class Real>
using Runner = Measurement (*)(BodiesOn<Space> const&, ResultsOn<Space, Real> const&,
                               MethodSettings const&, int repeats, Progress&);

/// Those of the orders compiled in; nullptr for another one.
template <class Space, class Real, int... Order>
Runner<Space, Real> find_runner(int order, std::integer_sequence<int, Order...>) {
  Runner<Space, Real> found = nullptr;
  ((order == Order ? void(found = &run_expansion<Order, Real, Space>) : void()), ...);
  return found;
}

/// Calls `run` with the kernel that the settings name.
template <class Run>
auto with_kernel(KernelKind kind, fmm::Options const& options, Run&& run) {
  return kind == KernelKind::laplace
             ? run(fmm::Laplace{})
             : run(fmm::SoftenedGravity{.softening = options.softening, .G = options.G});
}

/// A copy in the space's memory, or the host's own memory where the space works on that.
template <class Space, class T>
T const* in_space(std::vector<T> const& host, Column<Space, T>& storage) {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  if constexpr (Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible) {
    return host.data();
  } else {
    storage = allocate<Column<Space, T>>("the bodies", host.size());
    Kokkos::deep_copy(
        storage, Kokkos::View<T const*, Kokkos::HostSpace, Unmanaged>(host.data(), host.size()));
    return storage.data();
  }
}

ErrorStatistics statistics_of(fmm::ErrorMeasure const& measure) {
  ErrorStatistics statistics{.force_l2 = measure.force_l2,
                             .force_p99 = measure.force_p99,
                             .force_max = measure.force_max,
                             .potential_l2 = measure.potential_l2,
                             .samples = static_cast<std::int64_t>(measure.samples),
                             .histogram = {}};
  for (const double error : measure.force)
    if (error > 0 && std::isfinite(error))
      ++statistics.histogram[static_cast<int>(std::floor(10 * std::log10(error)))];
  return statistics;
}

/// Turns the measurement of the direct sum of `part` bodies into that of n bodies.
void extrapolate(Measurement& measurement, std::int64_t part, std::int64_t n) {
  const double linear = static_cast<double>(n) / static_cast<double>(part);
  const auto scaled = [&](auto& value, double factor) {
    value =
        static_cast<std::remove_reference_t<decltype(value)>>(static_cast<double>(value) * factor);
  };
  measurement.extrapolated_from = part;
  scaled(measurement.build, linear);
  scaled(measurement.evaluate, linear * linear);
  measurement.total = measurement.build + measurement.evaluate;
  measurement.totals = {measurement.total};
  fmm::Report& report = measurement.report;
  for (auto& stage : report.stages) {
    const double factor = stage.name == "p2p" ? linear * linear : linear;
    scaled(stage.seconds, factor);
    scaled(stage.flops, factor);
    scaled(stage.count, factor);
  }
  report.p2p_pairs = n * (n - 1);
  scaled(report.memory_bytes, linear);
}

template <class Space>
class SessionOn final : public Session {
 public:
  explicit SessionOn(Bodies const& bodies) {
    bodies_.set(in_space<Space>(bodies.positions, positions_),
                in_space<Space>(bodies.charges, charges_), bodies.size());
  }

  std::string device() const override {
#ifdef KOKKOS_ENABLE_CUDA
    if constexpr (std::is_same_v<Space, Kokkos::Cuda>) {
      cudaDeviceProp properties;
      int device = 0;
      if (cudaGetDevice(&device) == cudaSuccess &&
          cudaGetDeviceProperties(&properties, device) == cudaSuccess)
        return properties.name;
      return "unknown";
    }
#endif
    return processor_name();
  }

  std::optional<int> threads() const override {
    if constexpr (on_host) return static_cast<int>(bodies_.space.concurrency());
    return std::nullopt;
  }

  Measurement run(MethodSettings const& settings, RunRequest const& request,
                  Progress& progress) override {
    return settings.precision == Precision::single_precision
               ? run_in<float>(settings, request, progress)
               : run_in<double>(settings, request, progress);
  }

 private:
  static constexpr bool on_host = Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible;

  template <class Real>
  Measurement run_in(MethodSettings const& settings, RunRequest const& request,
                     Progress& progress) {
    const ResultsOn<Space, Real> results(bodies_.size());
    return with_kernel(settings.kernel, settings.options, [&](auto kernel) {
      if (settings.method == Method::direct)
        return run_direct(kernel, results, settings, request, progress);
      auto measurement = find_runner<Space, Real>(settings.order, Orders{})(
          bodies_, results, settings, request.repeats, progress);
      finish(measurement, kernel, bodies_, results, request, progress);
      return measurement;
    });
  }

  /// In full where that is fast enough. Otherwise part of the bodies are summed, as many as tell
  /// the speed, and the time is scaled with N^2; the errors are those of that smaller sum.
  template <class Kernel, class Real>
  Measurement run_direct(Kernel const& kernel, ResultsOn<Space, Real> const& results,
                         MethodSettings const& settings, RunRequest const& request,
                         Progress& progress) {
    constexpr double enough = 1;  // second
    fmm::Solver<Kernel, 0, fmm::NoTranslation, fmm::AllPairs, Real, Space> solver(settings.options);
    const std::int64_t n = bodies_.size();
    double predicted = 0;
    for (std::int64_t part = 16384; part < n;) {
      const BodiesOn<Space> some = bodies_.first(part);
      const ResultsOn<Space, Real> some_results(part);
      const double seconds = measure(solver, some, some_results, settings, 0, progress).evaluate;
      const double ratio = static_cast<double>(n) / static_cast<double>(part);
      predicted = seconds * ratio * ratio;
      const double growth = std::clamp(std::sqrt(1.5 * enough / (seconds + 1e-9)), 2.0, 32.0);
      if (seconds < enough && growth < ratio) {
        part = static_cast<std::int64_t>(growth * static_cast<double>(part));
        continue;
      }
      if (predicted <= request.direct_limit || request.wants_results) break;
      auto measurement = measure(solver, some, some_results, settings, request.repeats, progress);
      finish(measurement, kernel, some, some_results, request, progress);
      extrapolate(measurement, part, n);
      return measurement;
    }
    // A part of the bodies has warmed up a sum that takes long.
    const int repeats = predicted > request.long_direct ? 0 : request.repeats;
    auto measurement = measure(solver, bodies_, results, settings, repeats, progress);
    finish(measurement, kernel, bodies_, results, request, progress);
    return measurement;
  }

  /// Errors and results, after the times.
  template <class Kernel, class Real>
  static void finish(Measurement& measurement, Kernel const& kernel, BodiesOn<Space> const& bodies,
                     ResultsOn<Space, Real> const& results, RunRequest const& request,
                     Progress& progress) {
    if (request.check > 0 && bodies.size() > 0) {
      progress.phase(name_of(measurement.settings.method) +
                     ": direct sum in double to compare with");
      measurement.error = statistics_of(fmm::measure_error(
          bodies.space, kernel, bodies.positions, bodies.charges, results.potential, results.field,
          static_cast<std::size_t>(request.check), request.check_seed));
    }
    if (request.wants_results) measurement.results = results.on_host();
  }

  BodiesOn<Space> bodies_;
  Column<Space, double> positions_, charges_;  // unused on a CPU
};

/// Calls `found` with a default-constructed space for each backend, in the order of the
/// enumeration.
template <class Found>
void for_each_backend([[maybe_unused]] Found&& found) {
#ifdef KOKKOS_ENABLE_SERIAL
  found(Backend::serial, std::type_identity<Kokkos::Serial>{});
#endif
#ifdef KOKKOS_ENABLE_OPENMP
  found(Backend::openmp, std::type_identity<Kokkos::OpenMP>{});
#endif
#ifdef KOKKOS_ENABLE_CUDA
  found(Backend::cuda, std::type_identity<Kokkos::Cuda>{});
#endif
}

template <int... Order>
std::vector<int> as_vector(std::integer_sequence<int, Order...>) {
  return {Order...};
}

}  // namespace

std::unique_ptr<Session> open_session(Backend backend, Bodies const& bodies) {
  std::unique_ptr<Session> session;
  for_each_backend([&]<class Space>(Backend candidate, std::type_identity<Space>) {
    if (candidate == backend) session = std::make_unique<SessionOn<Space>>(bodies);
  });
  return session;
}

Build build_facts() {
  Build facts;
  facts.orders = as_vector(Orders{});
  for_each_backend([&]<class Space>(Backend backend, std::type_identity<Space>) {
    facts.backends.push_back(backend);
    if (std::is_same_v<Space, Kokkos::DefaultExecutionSpace>) facts.default_backend = backend;
  });
  return facts;
}

}  // namespace forces
