// SPDX-License-Identifier: BSD-3-Clause
// Plans for any strengths with a tolerance: of charges, dipoles or both, of one density or several, in potential, field
// and Hessian, at the sources, at some of them, or at targets of their own, without excluded pairs.
//
// Lists are of the geometry alone, by RadiusCriterion: the order and theta that hold the tolerance are found by trial.
// All pairs of few bodies are summed, in double. Of others the first evaluation with a plan is compared with one in
// double at the highest order and a smaller theta, at all targets, and both with sums over all sources at some targets.
// If it errs by more than the tolerance the plan is built again, of the positions that it keeps, and the evaluation
// made again, before any result is written. Later ones are compared at a few targets each, and with the other one where
// their results are weaker beside their strengths, or their strengths elsewhere, than those of the last ones that were
// compared: errors are linear in the strengths. A frozen plan is a linear operator.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "../detail/host_thread.hpp"
#include "held_tolerance.hpp"
#include "verified_errors.hpp"

namespace fmm::tolerance {

/// Template parameters as of VerifiedPlans.
template <class Kernel, class Precision, class Space, class Family>
class VerifiedCore : public VerifiedErrors<Kernel, Precision, Space, Family> {
  using Base = VerifiedErrors<Kernel, Precision, Space, Family>;
  using Base::compare_all, Base::errors_of, Base::forget, Base::are_few_pairs,
      Base::are_least_pairs, Base::make, Base::of_plan, Base::options_, Base::orders_, Base::sample,
      Base::search_, Base::setting_, Base::single, Base::strengths_of, Base::sum, Base::tolerance_;

 public:
  template <bool HasTargets>
  using Data = typename Base::template Data<HasTargets>;

  /// by_pairs    all pairs are summed, however many there are
  VerifiedCore(Options const& options, Kernel kernel, std::vector<int> orders, Family family = {},
               bool by_pairs = false)
      : Base(options, kernel, std::move(orders), family), by_pairs_(by_pairs) {
    safe_options(options, tolerance_, orders_[0], single, false);  // throws for what it refuses
    if (options.error_norm != ErrorNorm::l2 && !by_pairs)
      throw InvalidArgument("error_norm", "p99",
                            "l2, for a plan that is built without charges, but by all pairs");
  }

  /// From `given` charges or fmm::Strengths. Throws InvalidArgument before any result is touched.
  template <bool HasTargets, class Given, class Potential, class Field, class Hessian,
            class SomeExclusions>
  void evaluate(Space const& space, Data<HasTargets>& plan, Given const& given,
                Results<Potential, Field, Hessian> const& results, SomeExclusions const& exclusions,
                Report* report) {
    const ResultKinds wanted{!std::is_same_v<Potential, None>, !std::is_same_v<Field, None>,
                             !std::is_same_v<Hessian, None>};
    evaluate(space, plan, given, results, wanted, are_in_float(results), exclusions, report);
  }
  /// The same where only some of the results are wanted in the end, perhaps in float, of one density of several.
  template <bool HasTargets, class Given, class Potential, class Field, class Hessian,
            class SomeExclusions>
  void evaluate(Space const& space, Data<HasTargets>& plan, Given const& given,
                Results<Potential, Field, Hessian> const& results, ResultKinds const& wanted,
                bool are_in_float, SomeExclusions const& exclusions, Report* report,
                PartOfDensities const& part = {}) {
    const HostThread<Space> thread(space);
    static_assert(!HasTargets || std::is_same_v<SomeExclusions, None>,
                  "fmm: exclusions are for a plan of one set of bodies");
    Base::check_is_mine(plan);
    if (plan.is_frozen && plan.pairs)
      return sum_pairs(space, plan, given, results, exclusions, report);
    if (plan.is_frozen)
      return sum(space, *plan.core, plan.plan, given, results, exclusions, of_plan(plan), report);
    const auto kinds = kinds_of<HasTargets, Given>(bounded_results(options_.tolerance_of, wanted));
    check_results(tolerance_, are_in_float);
    if (by_pairs_ || are_least_pairs(plan) || plan.sources.size() <= Base::most_carriers)
      return evaluate_pairs(space, plan, given, results, kinds.bounded, exclusions, report);
    if (std::exchange(plan.is_new, false) && !setting_)
      plan.setting = search_.first({kinds.bounded.hessian, kinds.bounded.field, kinds.dipoles});
    SettingKept<HasTargets> kept{plan, plan.setting, plan.softening_share};
    if (!plan.has_plan()) make(space, plan, report);
    Base::template check<Precision>(space, plan, plan.plan, given, results);
    const Arrays<Potential, Field, Hessian> found(results);
    search(space, plan, given, found, exclusions, kinds, part, report);
    kept.is_over = true;
    if (part.number + 1 == part.all) {
      ++plan.evaluations;
      if (const double before = std::exchange(plan.tightened_from, 0.0); before > 0)
        plan.can_be_tightened = plan.seen_error() < least_gain * before;
    }
    found.give(space, results);
    space.fence();  // what has waited goes now
    if (report)
      report->found = FoundLimit{.order = orders_[plan.setting.index],
                                 .theta = plan.setting.theta,
                                 .held_by = HeldBy::sample,
                                 .seen_error = plan.seen_error()};
  }

 private:
  /// All pairs, in double: what rounding leaves of the tolerance is looked at.
  template <bool HasTargets, class Given, class Potential, class Field, class Hessian,
            class SomeExclusions>
  void evaluate_pairs(Space const& space, Data<HasTargets>& plan, Given const& given,
                      Results<Potential, Field, Hessian> const& results, ResultKinds const& bounded,
                      SomeExclusions const& exclusions, Report* report) {
    if (!plan.pairs) this->make_pairs(space, plan, report);
    if (plan.target_count() == 0 || plan.sources.size() == 0) {
      plan.pairs_are_verified = true;
      return sum_pairs(space, plan, given, results, exclusions, report);
    }
    constexpr bool in_float =
        engine::EvaluationEnds<None, Potential, Field, Hessian>::are_results_in_float();
    Base::template check<double, in_float>(space, plan, plan.of_pairs, given, results);
    const Arrays<Potential, Field, Hessian> found(results);
    sum_pairs(space, plan, given, found.views(), exclusions, report);
    double error = 0;
    engine::stage(space, report, "verification", [&] {
      error = this->rounding_error(space, plan, given, found, exclusions, bounded,
                                   by_pairs_ ? constants.seen_pairs : this->few_targets(),
                                   [](int) { return true; });
    });
    if (!(error <= tolerance_))
      refuse_tolerance(tolerance_, constants.above_seen * error, std::nullopt);
    plan.pairs_are_verified = true;
    found.give(space, results);
    space.fence();  // what has waited goes now
    if (report) report->found = FoundLimit{.held_by = HeldBy::sample, .seen_error = error};
  }
  template <bool HasTargets, class Given, class SomeResults, class SomeExclusions>
  static void sum_pairs(Space const& space, Data<HasTargets>& plan, Given const& given,
                        SomeResults const& results, SomeExclusions const& exclusions,
                        Report* report) {
    sum(space, *plan.pairs, plan.of_pairs, given, results, exclusions, typename Base::OfNone(),
        report);
  }

  template <class Potential, class Field, class Hessian>
  using Arrays = ResultArrays<Space, Potential, Field, Hessian>;
  template <bool HasTargets>
  using Kinds = typename Data<HasTargets>::Kinds;

  /// Has a plan's setting be what it was where an evaluation throws.
  template <bool HasTargets>
  struct SettingKept {
    Data<HasTargets>& plan;
    RadiusSetting setting;
    double softening_share;
    bool is_over = false;

    ~SettingKept() {
      if (is_over || (plan.setting == setting && plan.softening_share == softening_share)) return;
      plan.setting = setting;
      plan.softening_share = softening_share;
      Base::forget(plan);
    }
  };

  /// Evaluates into `found` until that holds the tolerance. Throws if it cannot be held.
  template <bool HasTargets, class Given, class SomeArrays, class SomeExclusions>
  void search(Space const& space, Data<HasTargets>& plan, Given const& given,
              SomeArrays const& found, SomeExclusions const& exclusions,
              Kinds<HasTargets> const& kinds, PartOfDensities const& part, Report* report) {
    using All = std::vector<typename Data<HasTargets>::Seen>;
    All strengths;
    std::vector<std::vector<BodyIndex>> carriers;
    engine::stage(space, report, "verification", [&] {
      strengths = strengths_of(space, plan, given, found);
      carriers = this->carriers_of(space, plan, given, found, strengths);
      this->add_profiles(space, plan, given, found, strengths);
    });
    const auto is_exact = [](auto const& one) { return one.is_exact; };
    const auto is_verified = [](auto const& one) { return one.strength > 0 && !one.is_exact; };
    const bool are_exact = std::is_same_v<SomeExclusions, None> &&  // which sums alone check
                           std::all_of(strengths.begin(), strengths.end(), is_exact),
               are_verified = std::any_of(strengths.begin(), strengths.end(), is_verified);
    if (are_verified && !plan.has_room && plan.can_be_tightened && plan.tightened_from == 0)
      tighten(space, plan, report);
    double least = std::numeric_limits<double>::infinity();
    int stuck = 0;
    for (int attempt = 0;; ++attempt) {
      if (!are_exact)
        sum(space, *plan.core, plan.plan, given, found.views(), exclusions, of_plan(plan), report);
      engine::stage(space, report, "p2p",
                    [&] { this->sum_carriers(space, plan, given, found, exclusions, carriers); });
      double error = 0;
      if (attempt == 0 && std::any_of(strengths.begin(), strengths.end(), is_exact)) {
        engine::stage(space, report, "verification", [&] {
          error = this->rounding_error(
              space, plan, given, found, exclusions, kinds.bounded, this->few_targets(),
              [&](int k) { return strengths[k].is_exact; }, &carriers);
        });
        if (!(error <= tolerance_))
          refuse_tolerance(tolerance_, constants.above_seen * error, std::nullopt);
      }
      if (are_exact) forget_multipoles(plan);
      if (!are_verified) return;
      engine::stage(space, report, "verification", [&] {
        All now = strengths;
        this->measure_results(space, found, now);
        if (holds(space, plan, now, given, found, exclusions, kinds, part)) return;
        compare_all(space, plan, given, found, exclusions, kinds, now);
        for (auto const& density : now) error = larger(error, density.error);
        if (error <= tolerance_) note(plan, now, kinds, part, error);
      });
      if (error <= tolerance_) return;
      const bool is_finite = !std::isnan(error);
      if (!is_finite) error = std::numeric_limits<double>::infinity();
      forget_seen(plan);
      stuck = error < constants.fallen * least ? 0 : stuck + 1;
      least = std::fmin(least, error);
      if (attempt + 1 == RadiusSearch::most_attempts || (single && stuck > most_stuck))
        refuse_tolerance(
            tolerance_,
            is_finite ? constants.above_seen * least : std::numeric_limits<double>::quiet_NaN(),
            options_.softening_error && options_.softening > 0 ? options_.softening_error
                                                               : std::nullopt);
      plan.setting = search_.stricter(plan.setting, error, attempt);
      if (attempt + 2 == RadiusSearch::most_attempts && are_few_pairs(plan))
        plan.setting.theta = constants.theta_all_near;
      plan.softening_share *= std::clamp(0.5 * tolerance_ / error, 0.1, 1.0);
      make(space, plan, report);
    }
  }
  /// Others than the strengths that were seen would often have to be compared again: makes the plan stricter.
  template <bool HasTargets>
  void tighten(Space const& space, Data<HasTargets>& plan, Report* report) {
    const double seen = plan.seen_error();
    plan.setting = search_.stricter(plan.setting, seen, 0, constants.goal_for_others);
    plan.softening_share *= std::clamp(constants.goal_for_others * tolerance_ / seen, 0.1, 1.0);
    forget(plan);
    plan.tightened_from = seen;
    make(space, plan, report);
  }
  /// They are not those of the strengths that were summed term by term (Strengths::unchanged).
  template <bool HasTargets>
  static void forget_multipoles(Data<HasTargets>& plan) {
    if constexpr (HasTargets) plan.plan.sources->kept = {};
  }
  template <bool HasTargets>
  static void forget_seen(Data<HasTargets>& plan) {
    plan.seen.clear();
    plan.evaluations = 0;
  }
  /// Whether what was seen is of evaluations of the same kinds, and of as many densities.
  template <bool HasTargets, class Seen>
  static bool are_alike(Data<HasTargets> const& plan, std::vector<Seen> const& now,
                        Kinds<HasTargets> const& kinds, PartOfDensities const& part) {
    return plan.seen.size() == now.size() * std::size_t(part.all) && plan.seen_kinds == kinds;
  }
  /// What was seen, and where the next plans begin.
  template <bool HasTargets, class Seen>
  void note(Data<HasTargets>& plan, std::vector<Seen> const& now, Kinds<HasTargets> const& kinds,
            PartOfDensities const& part, double error) {
    if (!are_alike(plan, now, kinds, part))
      plan.seen.assign(now.size() * std::size_t(part.all), std::vector<Seen>());
    for (std::size_t k = 0; k < now.size(); ++k) {
      if (now[k].strength == 0 || now[k].is_exact) continue;
      auto& seen = plan.seen[now.size() * std::size_t(part.number) + k];
      seen.insert(seen.begin(), now[k]);
      if (seen.size() > most_seen) seen.pop_back();
    }
    plan.seen_kinds = kinds;
    plan.has_room = plan.seen_error() <= constants.room_for_others * tolerance_;
    if (plan.can_be_tightened && plan.setting.theta >= least_to_begin_with)
      setting_ = search_.looser(plan.setting, error);
  }

  // ---- errors

  template <bool HasTargets, class Given>
  static Kinds<HasTargets> kinds_of(ResultKinds const& bounded) {
    bool charges = true;
    if constexpr (engine::are_strengths_v<Given>)
      charges = !std::is_same_v<decltype(Given::charges), None>;
    bool dipoles = false;
    if constexpr (engine::are_strengths_v<Given>)
      dipoles = !std::is_same_v<decltype(Given::dipoles), None>;
    return {bounded, charges, dipoles};
  }
  template <class Potential, class Field, class Hessian>
  static constexpr bool are_in_float(Results<Potential, Field, Hessian> const&) {
    return engine::EvaluationEnds<None, Potential, Field, Hessian>::are_results_in_float();
  }

  /// Whether what was seen before says that these results hold the tolerance, and a few targets do not contradict.
  template <bool HasTargets, class Seen, class Given, class SomeArrays, class SomeExclusions>
  bool holds(Space const& space, Data<HasTargets>& plan, std::vector<Seen>& now, Given const& given,
             SomeArrays const& found, SomeExclusions const& exclusions,
             Kinds<HasTargets> const& kinds, PartOfDensities const& part) {
    if (!are_alike(plan, now, kinds, part) || is_due(plan.evaluations)) return false;
    // what few targets err by is a matter of luck: they are looked at twice
    if (plan.evaluations == 1 && plan.sampled && plan.sampled->have_errors() < few_have_errors)
      return false;
    double most = 0;
    for (std::size_t k = 0; k < now.size(); ++k)
      if (now[k].strength > 0 && !now[k].is_exact)
        most = larger(
            most, expected(plan.seen[now.size() * std::size_t(part.number) + k], now[k], kinds));
    if (!(most <= most_expected * tolerance_)) return false;
    const bool has_room = most <= constants.room_for_others * tolerance_;
    auto drawn = this->by_strength(space, plan, found, now);
    const auto exact = sample(space, plan, given, found, exclusions,
                              has_room ? this->few_targets() : this->more_targets(), &drawn);
    for (int k = 0; k < int(now.size()); ++k)
      if (!now[k].is_exact &&
          !(errors_of(space, plan, given, found, found, exact, exclusions, k, kinds.bounded, false)
                .error <= (has_room ? 1 : goal_of_more_targets) * tolerance_))
        return false;
    return true;
  }
  /// The error of strengths that were not compared, from the last that were, or from all of those that are known.
  template <class Seen, class Kinds>
  static double expected(std::vector<Seen> const& before, Seen const& after, Kinds const& kinds) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t count = 1; count <= before.size(); ++count) {
      double error = 0;
      const auto add = [&](bool is_of, double Seen::*result) {
        if (is_of) error = larger(error, expected_error(before, count, after, result));
      };
      add(kinds.bounded.potential, &Seen::potential);
      add(kinds.bounded.field, &Seen::field);
      add(kinds.bounded.hessian, &Seen::hessian);
      least = std::fmin(least, error);
    }
    return least;
  }
  /// Evaluations after the first that are compared whatever they are.
  static bool is_due(int evaluations) {
    return evaluations == 2 || evaluations == 8 ||
           (evaluations > 0 && evaluations % constants.most_evaluations == 0);
  }

  bool by_pairs_;

  static constexpr double least_to_begin_with = 0.1, least_gain = 0.9;
  /// In tolerances: evaluations that are expected to err by more are compared; what more targets may show of others.
  static constexpr double most_expected = 1.5, goal_of_more_targets = 0.7;
  static constexpr double few_have_errors = 32;
  static constexpr int most_stuck = 4;
  static constexpr std::size_t most_seen = 8;  ///< comparisons that are kept of a density
};

}  // namespace fmm::tolerance
