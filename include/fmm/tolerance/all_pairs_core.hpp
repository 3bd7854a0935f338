// SPDX-License-Identifier: BSD-3-Clause
// The core of a ToleranceSolver that sums all pairs: in double, and what rounding makes of that is seen at some bodies.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "../accuracy/accuracy.hpp"
#include "../engine/solver_core.hpp"
#include "order_selection.hpp"
#include "quantities.hpp"

namespace fmm::tolerance {

/// What rounding makes of a result's error, from some bodies: each body's sum is rounded by a share of the sum of its
/// terms' magnitudes, the largest of those that are seen and at least 2^-52; where close pairs are most of a field,
/// these are the field, so that bodies which are not seen are no worse.
struct RoundedSums {
  std::vector<accuracy::Compared> bodies;

  double error(ErrorNorm norm, double least_share) const {
    double share = std::numeric_limits<double>::epsilon(), terms2 = 0, norm2 = 0, neighbours2 = 0,
           largest = 0;
    std::vector<double> own;
    for (accuracy::Compared const& one : bodies) largest = std::fmax(largest, one.terms);
    for (accuracy::Compared const& one : bodies) {
      if (one.terms == 0) continue;
      double error = 0, value = 0;
      for (int d = 0; d < 3; ++d) {
        error = std::hypot(error, one.computed[d] - one.exact[d]);
        value = std::hypot(value, one.exact[d]);
      }
      if (!std::isfinite(error + value + one.terms)) return std::numeric_limits<double>::infinity();
      share = std::max(share, error / one.terms);
      terms2 += std::pow(one.terms / largest, 2);
      norm2 += std::pow(value / largest, 2);
      if (std::isfinite(one.neighbour))
        neighbours2 += std::pow(least_share_of_neighbours * one.neighbour / largest, 2);
      own.push_back(one.terms / std::max(value, least_share * one.terms));
    }
    if (own.empty()) return 0;
    std::sort(own.begin(), own.end());
    return share * (norm == ErrorNorm::p99 ? accuracy::largest_but_for(own, 100)
                                           : std::sqrt(terms2 / std::max(norm2, neighbours2)));
  }
};

template <class Space>
struct GatherSums {
  Array<Sums<double>, Space> from;
  Array<BodyIndex, Space> numbers;
  Array<Sums<double>, Space> to;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { to(i) = from(numbers(i)); }
};

/// Kernel, Space   as of ToleranceSolver
template <class Kernel, class Space>
class AllPairsCore {
  using Inner = engine::SolverCore<Kernel, DirectSum, double, Space>;

 public:
  using Data = typename Inner::Data;

  explicit AllPairsCore(Options const& options, Kernel kernel)
      : solver_(without_tolerance(options), kernel, {0, false, nullptr}), options_(options) {}

  /// As asked for.
  Options const& options() const { return options_; }
  Kernel const& kernel() const { return solver_.kernel(); }
  int order() const { return 0; }
  std::size_t memory_bytes() const { return solver_.memory_bytes(); }

  template <class Sources, class Charges>
  std::shared_ptr<Data> build(Space const& space, Inputs<Sources, Charges> const& inputs,
                              Report* report) {
    return solver_.build(space, Inputs<Sources>{inputs.sources}, report);
  }
  /// `ends` as in SolverCore. Throws InvalidArgument for a tolerance that rounding does not leave room for, before any
  /// result is written. Cost: N^2 pairs, and 2 N for each of constants.seen_pairs bodies.
  template <class Ends>
  void evaluate(Space const& space, Data& plan, Ends const& ends, Report* report) {
    using Out = typename Ends::Out;
    const Quantities of = quantities_of(options_, Out::potential, Out::field);
    check_results(*options_.tolerance, ends.are_results_in_float());
    solver_.evaluate_pairs(
        space, plan, ends, report, nullptr,
        [&](Kernel const& in_unit, double per_length, Array<Sums<double>, Space> sums,
            Array<double, Space>) {
          stage(space, report, "verification",
                [&] { seen_ = see(space, plan.tree.positions, in_unit, per_length, sums, of); });
        });
    if (report && plan.tree.size > 0)
      report->found = FoundLimit{.held_by = HeldBy::sample, .seen_error = seen_};
  }

  /// Solver::evaluate_sample, whose rounding is not looked at.
  template <class Ends>
  auto evaluate_sample(Space const& space, Data& plan, Ends const& ends, std::int64_t samples,
                       Report* report) {
    return solver_.evaluate_sample(space, plan, ends, samples, report);
  }

 private:
  static Options without_tolerance(Options options) {
    const double tolerance = required(options, false);
    safe_options(options, tolerance, 0, false, false);  // throws for what does not go together
    options.tolerance = std::nullopt;
    return options;
  }

  /// The error, of the norm that the tolerance has. Throws where it is larger than that.
  double see(Space const& space, Array<Body<double>, Space> bodies, Kernel const& in_unit,
             double per_length, Array<Sums<double>, Space> sums, Quantities of) const {
    Buffer<BodyIndex, Space> numbers("seen bodies");
    Buffer<Sums<double>, Space> buffer("seen bodies' sums");
    const auto chosen =
        accuracy::choose_bodies(constants.seen_pairs, bodies.extent(0), constants.known_seed);
    const auto there = to_device(space, numbers, chosen);
    const auto some = buffer.resize(chosen.size());
    std::vector<Sums<double>> computed(chosen.size()), exact(chosen.size());
    for_range("fmm::verification::gather", space, std::int64_t(chosen.size()),
              GatherSums<Space>{sums, there, some});
    read_back(space, some.data(), computed.data(), computed.size());
    p2p_chosen<Outputs<true, true>>(space, in_unit, per_length, bodies, there, some);
    read_back(space, some.data(), exact.data(), exact.size());
    const auto scales = accuracy::scales_at(space, bodies, in_unit, per_length, there, 1, 1);
    double largest = 0;
    of.each([&](Quantity one) {
      RoundedSums rounded;
      for (std::size_t i = 0; i < chosen.size(); ++i)
        rounded.bodies.push_back(
            one == Quantity::field
                ? accuracy::compared_fields(computed[i], exact[i], scales[i])
                : accuracy::compared_potentials(computed[i], exact[i], scales[i]));
      const double error = rounded.error(of.norm, least_share_in_double);
      if (!(error <= largest)) largest = error;
    });
    if (largest <= *options_.tolerance) return largest;
    throw InvalidArgument("tolerance", *options_.tolerance,
                          std::isfinite(largest)
                              ? at_least(constants.above_seen * largest) +
                                    " for these bodies and charges, whose sums are rounded"
                              : "none for sums that are not finite");
  }

  Inner solver_;
  Options options_;
  double seen_ = 0;
};

}  // namespace fmm::tolerance
