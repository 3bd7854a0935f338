// SPDX-License-Identifier: BSD-3-Clause
// Plans for any strengths with a tolerance: of charges, dipoles or both, of one density or several, in potential, field
// and Hessian, at the sources, at some of them, or at targets of their own, without excluded pairs.
//
// Lists are of the geometry alone, by RadiusCriterion: the order and theta that hold the tolerance are found by trial.
// The first evaluation with a plan is compared with one in double at the highest order and a smaller theta, at all
// targets, and both with sums over all sources at some targets. If it errs by more than the tolerance the plan is built
// again, of the positions that it keeps, and the evaluation made again, before any result is written. Later ones are
// compared at a few targets each, and with the other one where their results are weaker beside their strengths than
// those that were compared: errors are linear in the strengths. A frozen plan is a linear operator.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "../detail/host_thread.hpp"
#include "held_tolerance.hpp"
#include "verified_plans.hpp"

namespace fmm::tolerance {

/// Template parameters as of VerifiedPlans.
template <class Kernel, class Precision, class Space, class Family>
class VerifiedCore : public VerifiedPlans<Kernel, Precision, Space, Family> {
  using Base = VerifiedPlans<Kernel, Precision, Space, Family>;
  using Base::build_by, Base::check, Base::data_of, Base::for_pairs, Base::forget, Base::kernel_,
      Base::make, Base::of_plan, Base::options_, Base::options_of, Base::orders_, Base::search_,
      Base::setting_, Base::single, Base::sum, Base::tolerance_;
  using KnownCore = SolverCore<Kernel, DualTree<RadiusCriterion>, double, Space, DoubleInTwoParts>;

 public:
  template <bool HasTargets>
  using Data = typename Base::template Data<HasTargets>;

  VerifiedCore(Options const& options, Kernel kernel, std::vector<int> orders, Family family = {})
      : Base(options, kernel, std::move(orders), family) {
    safe_options(options, tolerance_, orders_[0], single, false);  // throws for what it refuses
    if (options.error_norm != ErrorNorm::l2)
      throw InvalidArgument("error_norm", "p99", "l2, for a plan that is built without charges");
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
  /// The same where only some of the results are wanted in the end, perhaps in float.
  template <bool HasTargets, class Given, class Potential, class Field, class Hessian,
            class SomeExclusions>
  void evaluate(Space const& space, Data<HasTargets>& plan, Given const& given,
                Results<Potential, Field, Hessian> const& results, ResultKinds const& wanted,
                bool are_in_float, SomeExclusions const& exclusions, Report* report) {
    const HostThread<Space> thread(space);
    static_assert(!HasTargets || std::is_same_v<SomeExclusions, None>,
                  "fmm: exclusions are for a plan of one set of bodies");
    Base::check_is_mine(plan);
    if (plan.is_frozen)
      return sum(space, *plan.core, plan.plan, given, results, exclusions, of_plan(plan), report);
    const auto kinds = kinds_of<HasTargets, Given>(bounded_results(options_.tolerance_of, wanted));
    check_results(tolerance_, are_in_float);
    if (!plan.has_room) {  // others than those that were seen would often have to be compared again
      plan.setting =
          search_.stricter(plan.setting, plan.seen_error(), 0, constants.goal_for_others);
      forget(plan);
    }
    if (!plan.has_plan()) {
      if (std::exchange(plan.is_new, false) && !setting_)
        plan.setting = search_.first({kinds.bounded.hessian, kinds.bounded.field, kinds.dipoles});
      make(space, plan, report);
    }
    if (plan.target_count() == 0 || plan.sources.size() == 0)
      return sum(space, *plan.core, plan.plan, given, results, exclusions, of_plan(plan), report);
    check(space, plan, given, results);
    const Arrays<Potential, Field, Hessian> found(results);
    search(space, plan, given, found, exclusions, kinds, report);
    found.give(space, results);
    space.fence();  // what has waited goes now
    if (report)
      report->found = FoundLimit{.order = orders_[plan.setting.index],
                                 .theta = plan.setting.theta,
                                 .held_by = HeldBy::sample,
                                 .seen_error = plan.seen_error()};
  }

 private:
  template <class Potential, class Field, class Hessian>
  using Arrays = ResultArrays<Space, Potential, Field, Hessian>;
  template <bool HasTargets>
  using Kinds = typename Data<HasTargets>::Kinds;

  /// Evaluates into `found` until that holds the tolerance. Throws if it cannot be held; then the plan's setting is
  /// what it was.
  template <bool HasTargets, class Given, class SomeArrays, class SomeExclusions>
  void search(Space const& space, Data<HasTargets>& plan, Given const& given,
              SomeArrays const& found, SomeExclusions const& exclusions,
              Kinds<HasTargets> const& kinds, Report* report) {
    const RadiusSetting asked = plan.setting;
    const double asked_share = plan.softening_share;
    double least = std::numeric_limits<double>::infinity();
    int stuck = 0;
    for (int attempt = 0;; ++attempt) {
      sum(space, *plan.core, plan.plan, given, found.views(), exclusions, of_plan(plan), report);
      double error = 0;
      engine::stage(space, report, "verification", [&] {
        auto now = strengths_of(space, plan, given, found);
        if (holds(space, plan, now, given, found, exclusions, kinds)) return;
        compare_all(space, plan, given, found, exclusions, kinds, now);
        bool has_strengths = false;
        for (auto const& density : now) {
          error = larger(error, density.error);
          has_strengths = has_strengths || density.strength > 0;
        }
        if (error <= tolerance_ && has_strengths) note(plan, std::move(now), kinds, error);
      });
      if (error <= tolerance_) {
        ++plan.evaluations;
        return;
      }
      if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
      forget_seen(plan);
      stuck = error < constants.fallen * least ? 0 : stuck + 1;
      least = std::fmin(least, error);
      if (attempt + 1 == RadiusSearch::most_attempts || (single && stuck > most_stuck)) {
        plan.setting = asked;
        plan.softening_share = asked_share;
        Base::forget(plan);
        refuse_tolerance(tolerance_, constants.above_seen * least,
                         options_.softening_error && options_.softening > 0
                             ? options_.softening_error
                             : std::nullopt);
      }
      plan.setting = search_.stricter(plan.setting, error, attempt);
      if (attempt + 2 == RadiusSearch::most_attempts && are_few_pairs(plan))
        plan.setting.theta = constants.theta_all_near;
      plan.softening_share *= std::clamp(0.5 * tolerance_ / error, 0.1, 1.0);
      make(space, plan, report);
    }
  }
  template <bool HasTargets>
  static void forget_seen(Data<HasTargets>& plan) {
    plan.seen.clear();
    plan.evaluations = 0;
  }
  /// What was seen, and where the next plans begin.
  template <bool HasTargets>
  void note(Data<HasTargets>& plan, std::vector<typename Data<HasTargets>::Seen> now,
            Kinds<HasTargets> const& kinds, double error) {
    if (plan.seen.size() == now.size() && plan.seen_kinds == kinds)
      for (std::size_t k = 0; k < now.size(); ++k)  // the largest of what was seen is expected
        if (now[k].strength > 0 && plan.seen[k].strength > 0)
          now[k].error =
              std::fmax(now[k].error, std::fmin(expected(plan.seen[k], now[k], kinds), tolerance_));
    plan.seen = std::move(now);
    plan.seen_kinds = kinds;
    plan.has_room = plan.seen_error() <= constants.room_for_others * tolerance_;
    if (plan.setting.theta >= least_to_begin_with) setting_ = search_.looser(plan.setting, error);
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

  /// Of each density, what its sources carry and its results are, with no error yet.
  template <bool HasTargets, class Given, class SomeArrays>
  auto strengths_of(Space const& space, Data<HasTargets>& plan, Given const& given,
                    SomeArrays const& found) const {
    std::vector<typename Data<HasTargets>::Seen> all;
    const auto root_mean_square = [&](ResultArray<Space> const& results, int k) {
      if (!results.numbers) return 0.0;
      const double largest = largest_of(space, results, k);
      if (!(largest > 0)) return largest;
      const auto squares = compare(space, results, results, k, 1 / largest);
      return largest * std::sqrt(squares.norm / double(results.targets));
    };
    engine::for_ends<Precision, false>(
        space, data_of(plan.plan), kernel_, given, found.views(), nullptr, [&](auto const& ends) {
          using Ends = std::remove_cvref_t<decltype(ends)>;
          using Strengths = typename Ends::Strengths;
          const auto facts = engine::inspect_strengths<Strengths>(
              space, false, engine::constant(ends.charges), 1 / edge_of(plan));
          for (auto const& of_density : facts.of) all.push_back({of_density.sum, 0, 0, 0, 0});
        });
    const int densities =
        std::max({found.potential.densities, found.field.densities, found.hessian.densities});
    all.resize(std::size_t(densities));  // a last block has room for more
    for (int k = 0; k < densities; ++k) {
      all[k].potential = root_mean_square(found.potential, k);
      all[k].field = root_mean_square(found.field, k);
      all[k].hessian = root_mean_square(found.hessian, k);
    }
    return all;
  }
  template <bool HasTargets>
  static double edge_of(Data<HasTargets> const& plan) {
    if constexpr (HasTargets)
      return plan.plan.sources->tree.cube.edge;
    else
      return plan.plan->tree.cube.edge;
  }

  /// Whether what was seen before says that these results hold the tolerance, and a few targets do not contradict.
  template <bool HasTargets, class Seen, class Given, class SomeArrays, class SomeExclusions>
  bool holds(Space const& space, Data<HasTargets>& plan, std::vector<Seen>& now, Given const& given,
             SomeArrays const& found, SomeExclusions const& exclusions,
             Kinds<HasTargets> const& kinds) {
    if (plan.seen.size() != now.size() || plan.seen_kinds != kinds || is_due(plan.evaluations))
      return false;
    if (is_always_compared(plan)) return false;
    for (std::size_t k = 0; k < now.size(); ++k) {
      if (now[k].strength == 0) continue;
      const double error = std::fmax(expected(plan.seen[k], now[k], kinds), plan.seen[k].error);
      if (!(error <= constants.room_for_others * tolerance_)) return false;
    }
    const auto exact =
        sample(space, plan, given, found, exclusions, is_host_space_v<Space> ? 16 : 64);
    for (int k = 0; k < int(now.size()); ++k)
      if (!(errors_of(space, plan, given, found, found, exact, exclusions, k, kinds.bounded, false)
                .error <= tolerance_))
        return false;
    return true;
  }
  /// The error of strengths that were not compared, from one that was: errors are linear in the strengths.
  template <class Seen, class Kinds>
  static double expected(Seen const& before, Seen const& after, Kinds const& kinds) {
    double weaker = 0;
    const auto add = [&](bool is_of, double was, double is) {
      if (is_of) weaker = larger(weaker, was * after.strength / (is * before.strength));
    };
    add(kinds.bounded.potential, before.potential, after.potential);
    add(kinds.bounded.field, before.field, after.field);
    add(kinds.bounded.hessian, before.hessian, after.hessian);
    return before.error * weaker;
  }
  /// Evaluations after the first that are compared whatever they are.
  static bool is_due(int evaluations) {
    return evaluations == 2 || evaluations == 8 ||
           (evaluations > 0 && evaluations % constants.most_evaluations == 0);
  }

  template <bool HasTargets, class Given, class SomeArrays, class SomeExclusions>
  SomeArrays sample(Space const& space, Data<HasTargets>& plan, Given const& given,
                    SomeArrays const& like, SomeExclusions const& exclusions,
                    std::int64_t most) const {
    if (!plan.sampled) plan.sampled.emplace(for_pairs(), kernel_);
    auto& sampled = *plan.sampled;
    if constexpr (HasTargets)
      sampled.choose(space, plan.sources, plan.targets, false, {}, most);
    else
      sampled.choose(space, plan.sources, plan.sources, true,
                     plan.are_chosen ? plan.chosen() : Array<BodyIndex, Space>(), most);
    SomeArrays exact = like.with_targets(sampled.size());
    sampled.sum(space, given, exact, exclusions);
    return exact;
  }

  /// Whether pairs are so few that each evaluation is compared with all of them: errors of few bodies differ most.
  template <bool HasTargets>
  static bool is_always_compared(Data<HasTargets> const& plan) {
    constexpr double few = is_host_space_v<Space> ? 1536 : 1 << 14;
    return double(plan.target_count()) * double(plan.sources.size()) <= few * few;
  }
  /// Whether sums of all pairs take no longer than a few evaluations.
  template <bool HasTargets>
  static bool are_few_pairs(Data<HasTargets> const& plan) {
    constexpr double few = is_host_space_v<Space> ? 1 << 14 : 1 << 17;
    return plan.target_count() <= most_few_targets &&
           double(plan.target_count()) * double(plan.sources.size()) <= few * few;
  }
  /// Sets the errors of all densities. What is known is made stricter until it errs by little itself.
  template <bool HasTargets, class Given, class SomeArrays, class SomeExclusions, class Seen>
  void compare_all(Space const& space, Data<HasTargets>& plan, Given const& given,
                   SomeArrays const& found, SomeExclusions const& exclusions,
                   Kinds<HasTargets> const& kinds, std::vector<Seen>& now) const {
    const std::int64_t m = plan.target_count();
    const bool by_pairs = are_few_pairs(plan);
    const auto exact = sample(space, plan, given, found, exclusions, by_pairs ? m : sampled_count);
    const auto compare_with = [&](SomeArrays const& known) {
      double of_known = 0;
      for (int k = 0; k < int(now.size()); ++k) {
        const SeenErrors seen = errors_of(space, plan, given, found, known, exact, exclusions, k,
                                          kinds.bounded, by_pairs);
        now[k].error = seen.error;
        of_known = larger(of_known, seen.of_known);
      }
      return of_known;
    };
    if (by_pairs) {
      compare_with(exact);
      return;
    }
    const int order = orders_.back();
    plan.known_theta =
        std::min({plan.known_theta, RadiusSearch::theta_of_reference(tolerance_, order),
                  0.9 * plan.setting.theta});
    const SomeArrays known = found.with_targets(m);
    for (int attempt = 0; attempt < most_known; ++attempt) {
      plan.known_theta = std::max(plan.known_theta, least_known_theta);
      {
        KnownCore core(options_of({0, plan.known_theta}, 0.1 * plan.softening_share), kernel_,
                       typename KnownCore::Facts{order, false, nullptr});
        auto other = build_by(space, core, plan, nullptr);
        sum(space, core, other, given, known.views(), exclusions,
            Base::template of_known<HasTargets>(), nullptr);
        space.fence();  // the core's memory goes now
      }
      if (compare_with(known) <= largest_of_known * tolerance_ ||
          plan.known_theta == least_known_theta)
        return;
      plan.known_theta *= 0.65;
    }
  }

  /// Relative L2 errors of what was found, and of what it is compared with.
  struct SeenErrors {
    double error = 0, of_known = 0;
  };
  /// Those of density k, the largest of what the tolerance is of: of `found` against `known`, and of both against
  /// `exact` sums at some targets, unless what is known is exact.
  template <bool HasTargets, class Given, class SomeArrays, class SomeExclusions>
  SeenErrors errors_of(Space const& space, Data<HasTargets> const& plan, Given const& given,
                       SomeArrays const& found, SomeArrays const& known, SomeArrays const& exact,
                       SomeExclusions const& exclusions, int k, ResultKinds const& of,
                       bool is_exact) const {
    SeenErrors seen;
    auto const& sampled = *plan.sampled;
    const auto add = [&](bool is_of, auto array_of, auto nearest_of) {
      if (!is_of) return;
      ResultArray<Space> const &result = array_of(found), &other = array_of(known),
                               &sums = array_of(exact);
      const double largest = largest_of(space, other, k), most = largest_of(space, result, k);
      if (largest == 0 && most == 0) return;
      const double unit = 1 / (largest >= most ? largest : most);
      double error = std::numeric_limits<double>::infinity(), of_known = 0;
      if (std::isfinite(largest) && std::isfinite(most) && std::isfinite(unit)) {
        const SquaredError all = compare(space, result, other, k, unit);
        const double targets = double(result.targets), share = targets / double(sampled.size());
        double squares = all.error;
        if (!is_exact) {
          const auto numbers = sampled.numbers();
          const double found_squares = share * compare(space, result, sums, k, unit, numbers).error;
          of_known = share * compare(space, other, sums, k, unit, numbers).error;
          const double both =
              constants.of_stricter_sums * std::sqrt(all.error) + std::sqrt(of_known);
          squares = std::fmax(both * both, found_squares);
        }
        double norm = all.norm;
        if (!(squares <= tolerance_ * tolerance_ * norm)) {
          const NearestTerms nearest = sampled.nearest(space, given, exact, exclusions, k, unit);
          norm =
              std::fmax(norm, least_of_nearest * least_of_nearest * targets * nearest_of(nearest));
        }
        error = std::sqrt(squares / norm);
        of_known = std::sqrt(of_known / norm);
      }
      seen.error = larger(seen.error, error);
      seen.of_known = larger(seen.of_known, of_known);
    };
    add(
        of.potential, [](auto const& all) -> auto const& { return all.potential; },
        [](NearestTerms const& all) { return all.potential; });
    add(
        of.field, [](auto const& all) -> auto const& { return all.field; },
        [](NearestTerms const& all) { return all.field; });
    add(
        of.hessian, [](auto const& all) -> auto const& { return all.hessian; },
        [](NearestTerms const& all) { return all.hessian; });
    return seen;
  }

  static constexpr double least_of_nearest = 1e-3, largest_of_known = 0.2, least_known_theta = 0.05,
                          least_to_begin_with = 0.1;
  static constexpr int most_known = 5, most_stuck = 2;
  static constexpr std::int64_t sampled_count = 512, most_few_targets = 1 << 22;
};

}  // namespace fmm::tolerance
