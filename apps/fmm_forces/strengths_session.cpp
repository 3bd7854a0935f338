// SPDX-License-Identifier: BSD-3-Clause
// Sessions of any strengths at any targets, by the library's compiled solvers (fmm/runtime.hpp).
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "bodies_on.hpp"
#include "device_name.hpp"
#include "open_on.hpp"
#include "runner.hpp"

namespace forces {

namespace {

namespace rt = fmm::runtime;

/// Numbers in memory of the space, one after the other.
template <class Array, class Space, class Numbers>
Array array_of(Numbers* numbers, std::initializer_list<std::size_t> extents) {
  rt::ArrayShape shape{rt::number_of<Numbers>(),
                       rt::memory_of(Space::memory_space::name()),
                       static_cast<int>(extents.size()),
                       {0, 1, 1},
                       {rt::ArrayShape::dense, rt::ArrayShape::dense, rt::ArrayShape::dense}};
  std::transform(extents.begin(), extents.end(), shape.extent,
                 [](std::size_t extent) { return static_cast<std::int64_t>(extent); });
  return Array(numbers, shape);
}

/// Results of so many targets and densities.
template <class Space, class Data>
class AnyResultsOn {
 public:
  AnyResultsOn(std::size_t targets, std::optional<int> densities, bool has_hessian)
      : targets_(targets),
        densities_(densities),
        potential_(allocate<Column<Space, Data>>("the potential", count())),
        field_(allocate<Column<Space, Data>>("the field", 3 * count())),
        hessian_(allocate<Column<Space, Data>>("the Hessian", has_hessian ? 6 * count() : 0)),
        has_hessian_(has_hessian) {}

  rt::AnyResults arrays() const {
    rt::AnyResults all;
    all.potential = array(potential_, 1);
    all.field = array(field_, 3);
    if (has_hessian_) all.hessian = array(hessian_, 6);
    return all;
  }
  Results on_host() const {
    Results results{.potential = numbers(potential_),
                    .field = numbers(field_),
                    .hessian = numbers(hessian_),
                    .has_hessian = has_hessian_,
                    .densities = densities_};
    return results;
  }

 private:
  std::size_t count() const { return targets_ * static_cast<std::size_t>(densities_.value_or(1)); }
  rt::MutableArray array(Column<Space, Data> const& view, std::size_t row) const {
    const auto k = static_cast<std::size_t>(densities_.value_or(1));
    const auto of = [&](std::initializer_list<std::size_t> extents) {
      return array_of<rt::MutableArray, Space>(view.data(), extents);
    };
    if (!densities_) return row == 1 ? of({targets_}) : of({targets_, row});
    return row == 1 ? of({targets_, k}) : of({targets_, k, row});
  }
  static std::vector<double> numbers(Column<Space, Data> const& view) {
    const auto here = Kokkos::create_mirror_view(view);
    Kokkos::deep_copy(here, view);
    return {here.data(), here.data() + here.size()};
  }

  std::size_t targets_;
  std::optional<int> densities_;
  Column<Space, Data> potential_, field_, hessian_;
  bool has_hessian_;
};

/// The largest relative L2 error of the densities; numbers off a Hessian's diagonal count twice.
double largest_error(std::vector<double> const& found, std::vector<double> const& exact,
                     std::vector<std::int32_t> const& targets, std::size_t densities,
                     std::size_t row) {
  double largest = 0;
  for (std::size_t k = 0; k < densities; ++k) {
    double error = 0, norm = 0, most = 0;
    for (std::size_t i = k * row; i < exact.size(); i += densities * row)
      for (std::size_t c = 0; c < row; ++c) most = std::max(most, std::abs(exact[i + c]));
    if (most == 0) most = 1;
    for (std::size_t i = 0; i < targets.size(); ++i)
      for (std::size_t c = 0; c < row; ++c) {
        const double weight = row == 6 && c >= 3 ? 2 : 1;
        const std::size_t of = static_cast<std::size_t>(targets[i]);
        const double known = exact[(i * densities + k) * row + c] / most,
                     d = found[(of * densities + k) * row + c] / most - known;
        error += weight * d * d;
        norm += weight * known * known;
      }
    const double relative = norm > 0 ? std::sqrt(error / norm) : error > 0 ? INFINITY : 0;
    largest = fmm::tolerance::larger(largest, relative);
  }
  return largest;
}

template <class Space, class Data>
class StrengthsSession final : public Session {
  using Site = fmm::site_t<Space>;

 public:
  explicit StrengthsSession(AnySums const& sums)
      : sums_(sums), targets_(sums.targets ? *sums.targets : sums.bodies) {
    auto const& bodies = sums.bodies;
    const std::size_t n = bodies.size();
    positions_ = input(bodies.positions, storage_[0], {n, 3});
    if (const auto k = bodies.densities)
      strengths_.charges = input(bodies.charges, storage_[1], {n, static_cast<std::size_t>(*k)});
    else
      strengths_.charges = input(bodies.charges, storage_[1], {n});
    if (!bodies.dipoles.empty()) strengths_.dipoles = input(bodies.dipoles, storage_[2], {n, 3});
    if (sums.targets)
      points_ = input(sums.targets->positions, storage_[3], {sums.targets->size(), 3});
  }

  std::string device() const override { return device_name<Space>(); }

  std::optional<int> threads() const override {
    if constexpr (on_host<Space>) return static_cast<int>(space_.concurrency());
    return std::nullopt;
  }

  Measurement run(MethodSettings const& settings, RunRequest const& request,
                  Progress& progress) override {
    const AnyResultsOn<Site, Data> results(targets_.size(), sums_.bodies.densities, sums_.hessian);
    fmm::AnySolver solver(policies_of(settings), settings.options);
    int repeats = request.repeats;
    if (settings.method == Method::direct) {
      const double predicted = predicted_seconds(solver, settings, progress);
      if (predicted > request.direct_limit && !request.wants_results)
        return not_run(settings, solver, predicted);
      if (predicted > request.long_direct) repeats = 0;
    }
    auto measurement = measure_steps(
        space_, solver, settings, static_cast<std::int64_t>(targets_.size()), repeats, progress,
        [&](fmm::Report* report) { return solver.build(positions_, {}, points_, report); },
        [&](fmm::AnyPlan& plan, fmm::Report* report) {
          solver.evaluate(plan, strengths_, results.arrays(), report);
        });
    auto& used = measurement.settings;
    used.order = solver.order();
    if (auto const& found = measurement.report.found) {
      if (found->order > 0) used.order = found->order;
      if (found->theta) used.options.theta = found->theta;
    }
    check(measurement, results, request, progress);
    if (request.wants_results) measurement.results = results.on_host();
    return measurement;
  }

 private:
  rt::ConstArray input(std::vector<double> const& numbers, Column<Space, Data>& storage,
                       std::initializer_list<std::size_t> extents) {
    return array_of<rt::ConstArray, Space>(in_space<Space, Data>(numbers, storage), extents);
  }

  /// Results at some targets by all pairs: positions, if they are no bodies, or these bodies' numbers.
  Results sum_at(fmm::AnySolver& solver, std::vector<std::int32_t> const& numbers) {
    const AnyResultsOn<Site, double> results(numbers.size(), sums_.bodies.densities, sums_.hessian);
    Kokkos::View<std::int32_t*, typename Space::device_type> chosen("chosen targets",
                                                                    numbers.size());
    Column<Space, Data> places;
    std::vector<double> some;
    rt::ConstArray at;
    if (sums_.targets) {
      for (const std::int32_t i : numbers)
        some.insert(some.end(), &targets_.positions[3 * static_cast<std::size_t>(i)],
                    &targets_.positions[3 * static_cast<std::size_t>(i)] + 3);
      at = input(some, places, {numbers.size(), 3});
    } else {
      const Kokkos::View<std::int32_t const*, Kokkos::HostSpace,
                         Kokkos::MemoryTraits<Kokkos::Unmanaged>>
          here(numbers.data(), numbers.size());
      Kokkos::deep_copy(chosen, here);
      at = array_of<rt::ConstArray, Space>(chosen.data(), {numbers.size()});
    }
    auto plan = solver.build(positions_, {}, at);
    solver.evaluate(plan, strengths_, results.arrays());
    return results.on_host();
  }

  /// Of all pairs, from those of some targets; 0: so few that nobody waits.
  double predicted_seconds(fmm::AnySolver& solver, MethodSettings const& settings,
                           Progress& progress) {
    constexpr double few = 16384;  // bodies
    const auto m = static_cast<double>(targets_.size()),
               n = static_cast<double>(sums_.bodies.size());
    if (m * n <= few * few) return 0;
    progress.phase(name_of(settings.method) + ": the speed of a sample");
    const std::int64_t count = sample_size();
    std::vector<double> some(targets_.positions.begin(), targets_.positions.begin() + 3 * count);
    Column<Space, Data> places;
    const rt::ConstArray at = input(some, places, {static_cast<std::size_t>(count), 3});
    const AnyResultsOn<Site, Data> results(static_cast<std::size_t>(count), sums_.bodies.densities,
                                           sums_.hessian);
    fmm::Report report;
    auto plan = solver.build(positions_, {}, at);
    solver.evaluate(plan, strengths_, results.arrays(), &report);
    return report.seconds("p2p") * m / static_cast<double>(count);
  }
  /// Targets that keep the device busy.
  std::int64_t sample_size() const {
    return std::min<std::int64_t>(static_cast<std::int64_t>(targets_.size()),
                                  std::max<std::int64_t>(1024, 4 * space_.concurrency()));
  }
  /// What is known of a direct sum that would take longer than it may.
  Measurement not_run(MethodSettings const& settings, fmm::AnySolver const& solver,
                      double predicted) const {
    Measurement measurement;
    measurement.settings = settings;
    measurement.settings.options = solver.options();
    summarise(measurement, {0}, {predicted});
    auto& pairs = measurement.report.stage("p2p");
    pairs.seconds = predicted;
    pairs.count = measurement.report.p2p_pairs =
        static_cast<std::int64_t>(targets_.size()) *
        (static_cast<std::int64_t>(sums_.bodies.size()) - (sums_.targets ? 0 : 1));
    measurement.sampled_targets = sample_size();
    return measurement;
  }

  /// Errors at random targets.
  void check(Measurement& measurement, AnyResultsOn<Site, Data> const& results,
             RunRequest const& request, Progress& progress) {
    if (request.check <= 0 || targets_.size() == 0) return;
    auto direct = measurement.settings;
    progress.phase(name_of(direct.method) + ": direct sum in double to compare with");
    direct.method = Method::direct;
    direct.precision = Precision::double_precision;
    fmm::AnySolver reference(policies_of(direct), reference_options(direct.options));
    const auto chosen = fmm::accuracy::choose_bodies(static_cast<std::size_t>(request.check),
                                                     targets_.size(), request.check_seed);
    const std::vector<std::int32_t> numbers(chosen.begin(), chosen.end());
    const Results exact = sum_at(reference, numbers), found = results.on_host();
    const auto k = static_cast<std::size_t>(sums_.bodies.densities.value_or(1));
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    ErrorStatistics statistics{
        .field_l2 = largest_error(found.field, exact.field, numbers, k, 3),
        .field_p99 = unknown,
        .field_max = unknown,
        .potential_l2 = largest_error(found.potential, exact.potential, numbers, k, 1),
        .potential_p99 = unknown,
        .potential_max = unknown,
        .samples = static_cast<std::int64_t>(numbers.size()),
        .histogram = {}};
    if (sums_.hessian)
      statistics.hessian_l2 = largest_error(found.hessian, exact.hessian, numbers, k, 6);
    measurement.error = statistics;
  }

  Space space_;
  AnySums sums_;
  Bodies const& targets_;
  Column<Space, Data> storage_[4];  // unused where the bodies' own memory serves
  rt::ConstArray positions_, points_;
  rt::AnyStrengths strengths_;
};

}  // namespace

std::unique_ptr<Session> open_session(Backend backend, Data data, AnySums const& sums) {
  return open_on<StrengthsSession>(backend, data, sums);
}

}  // namespace forces
