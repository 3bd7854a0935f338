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
#include "rounded_sums.hpp"

namespace fmm::tolerance {

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
      : solver_(without_tolerance(options, traits_of_kernel(kernel).has_far_from), kernel,
                {0, false, nullptr}),
        options_(options) {}

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
    solver_.evaluate_pairs(space, plan, ends, report, nullptr,
                           [&](Kernel const& in_unit, double per_length,
                               Array<Sums<double>, Space> sums, Array<double, Space>) {
                             stage(space, report, "verification", [&] {
                               seen_ = see(space, plan, in_unit, per_length, sums, of);
                             });
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
  static SumOfTerms sum_of_terms(accuracy::Compared const& one) {
    SumOfTerms sum{0, 0, one.terms, least_share_of_neighbours * one.neighbour};
    for (int d = 0; d < 3; ++d) {
      sum.error = std::hypot(sum.error, one.computed[d] - one.exact[d]);
      sum.value = std::hypot(sum.value, one.exact[d]);
    }
    sum.terms = std::fmax(sum.terms, sum.value);  // which has those of bodies at one place, too
    return sum;
  }
  static Options without_tolerance(Options const& options, bool has_softening_error) {
    const double tolerance = required(options, false);
    safe_options(options, tolerance, 0, false, false);  // throws for what does not go together
    Options of_pairs = options_of_pairs(options, tolerance, has_softening_error);
    if (!options.periodic) of_pairs.softening_error = options.softening_error;  // which is refused
    return of_pairs;
  }

  /// Sums in double at some bodies; in a periodic cell those of another split than all bodies'.
  static void sum_again(Space const& space, Array<Body<double>, Space> bodies,
                        Kernel const& in_unit, double per_length, Array<BodyIndex, Space> chosen,
                        Array<Sums<double>, Space> sums, accuracy::PerhapsIn const& in) {
    if constexpr (engine::is_harmonic<Kernel>())
      if (in)
        return engine::ewald_sums_of_chosen(space, in->lattice, in_unit, in->softened, per_length,
                                            bodies, chosen, sums, 1e-16);
    p2p_chosen<Outputs<true, true>>(space, in_unit, per_length, bodies, chosen, sums);
  }

  /// The error, of the norm that the tolerance has. Throws where it is larger than that.
  double see(Space const& space, Data const& plan, Kernel const& in_unit, double per_length,
             Array<Sums<double>, Space> sums, Quantities of) const {
    const auto bodies = plan.tree.positions;
    accuracy::PerhapsIn in;
    if (auto const& lattice = plan.periodic.lattice)
      in.emplace(accuracy::DirectSumsIn{*lattice, plan.facts.far_from, false});
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
    sum_again(space, bodies, in_unit, per_length, there, some, in);
    read_back(space, some.data(), exact.data(), exact.size());
    const auto scales = accuracy::scales_at(space, bodies, in_unit, per_length, there, 1, 1, in);
    double largest = 0;
    of.each([&](Quantity one) {
      RoundedSums rounded;
      for (std::size_t i = 0; i < chosen.size(); ++i)
        rounded.targets.push_back(
            one == Quantity::field
                ? sum_of_terms(accuracy::compared_fields(computed[i], exact[i], scales[i]))
                : sum_of_terms(accuracy::compared_potentials(computed[i], exact[i], scales[i])));
      const double error = rounded.error(of.norm, least_share_in_double) / of.values(one);
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
