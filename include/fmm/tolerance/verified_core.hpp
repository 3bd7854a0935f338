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
  using Base::build_by, Base::check, Base::data_of, Base::for_pairs, Base::kernel_, Base::make,
      Base::of_plan, Base::options_, Base::options_of, Base::orders_, Base::search_, Base::setting_,
      Base::single, Base::sum, Base::tolerance_;
  using KnownCore = SolverCore<Kernel, DualTree<RadiusCriterion>, double, Space, DoubleInTwoParts>;
  using DirectCore = SolverCore<Kernel, DirectSum, double, Space>;

 public:
  template <bool HasTargets>
  using Data = typename Base::template Data<HasTargets>;

  VerifiedCore(Options const& options, Kernel kernel, std::vector<int> orders)
      : Base(options, kernel, std::move(orders)), sampled_(for_pairs(), kernel) {
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
    const HostThread<Space> thread(space);
    static_assert(!HasTargets || std::is_same_v<SomeExclusions, None>,
                  "fmm: exclusions are for a plan of one set of bodies");
    const Wanted wanted = wanted_of(results);
    check_results(tolerance_, are_in_float(results));
    if (plan.is_frozen || plan.target_count() == 0 || plan.sources.size() == 0)
      return sum(space, *plan.core, plan.plan, given, results, exclusions, of_plan(plan), report);
    check(space, plan, given, results);
    if (plan.seen.empty() && !setting_) {
      const RadiusSetting first = search_.first(scale_of<Given>(wanted));
      if (first != plan.setting) {
        plan.setting = first;
        make(space, plan, report);
      }
    }
    Arrays<Potential, Field, Hessian> found(results);
    double least = std::numeric_limits<double>::infinity();
    int stuck = 0;
    for (int attempt = 0;; ++attempt) {
      sum(space, *plan.core, plan.plan, given, found.views(), exclusions, of_plan(plan), report);
      double error = 0;
      bool is_verified = false;
      engine::stage(space, report, "verification", [&] {
        auto now = strengths_of(space, plan, given, found);
        if (attempt > 0 || !holds(space, plan, now, given, found, exclusions, wanted)) {
          compare_all(space, plan, given, found, exclusions, wanted, now);
          is_verified = true;
          for (auto const& density : now)
            if (!(density.error <= error)) error = density.error;  // a NaN stays
          if (error <= tolerance_) plan.seen = std::move(now);
        }
      });
      if (error <= tolerance_) {
        plan.evaluations = is_verified ? 1 : plan.evaluations + 1;
        if (is_verified) setting_ = search_.looser(plan.setting, error);
        break;
      }
      plan.seen.clear();
      stuck = error < constants.fallen * least ? 0 : stuck + 1;
      least = std::fmin(least, error);
      if (attempt + 1 == RadiusSearch::most_attempts || (single && stuck > most_stuck))
        refuse_tolerance(tolerance_, constants.above_seen * least,
                         options_.softening_error && options_.softening > 0
                             ? options_.softening_error
                             : std::nullopt);
      plan.setting = search_.stricter(plan.setting, error, attempt);
      if (attempt + 2 == RadiusSearch::most_attempts && are_few_pairs(plan))
        plan.setting.theta = constants.theta_all_near;
      plan.softening_share *= std::clamp(0.5 * tolerance_ / error, 0.1, 1.0);
      make(space, plan, report);
    }
    found.give(space, results);
    if (report) note(plan, *report);
  }

 private:
  template <class Potential, class Field, class Hessian>
  using Arrays = ResultArrays<Space, Potential, Field, Hessian>;
  struct Wanted {
    bool potential, field, hessian;
  };

  template <class Potential, class Field, class Hessian>
  Wanted wanted_of(Results<Potential, Field, Hessian> const&) const {
    return of_wanted(options_.tolerance_of, !std::is_same_v<Potential, None>,
                     !std::is_same_v<Field, None>, !std::is_same_v<Hessian, None>);
  }
  static Wanted of_wanted(ToleranceOf of, bool potential, bool field, bool hessian) {
    const auto require = [](char const* name, bool is_there) {
      if (!is_there) throw InvalidArgument(name, "none", "wanted, which the tolerance is of");
    };
    switch (of) {
      case ToleranceOf::potential:
        require("potential", potential);
        return {true, false, false};
      case ToleranceOf::hessian:
        require("hessian", hessian);
        return {false, false, true};
      case ToleranceOf::both:
        require("potential", potential);
        require("field", field);
        return {true, true, false};
      case ToleranceOf::all:
        return {potential, field, hessian};
      case ToleranceOf::field:
        break;
    }
    return {!field && potential, field, !field && !potential};
  }
  template <class Given>
  static ErrorScale scale_of(Wanted const& wanted) {
    return {wanted.hessian, wanted.field, engine::StrengthsOf<Given, 1>::type::has_dipoles};
  }
  template <class Potential, class Field, class Hessian>
  static constexpr bool are_in_float(Results<Potential, Field, Hessian> const&) {
    const auto is = []<class View>(std::type_identity<View>) {
      if constexpr (std::is_same_v<View, None>)
        return false;
      else
        return std::is_same_v<typename View::non_const_value_type, float>;
    };
    return is(std::type_identity<Potential>()) || is(std::type_identity<Field>()) ||
           is(std::type_identity<Hessian>());
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
             SomeArrays const& found, SomeExclusions const& exclusions, Wanted const& wanted) {
    if (plan.seen.size() != now.size() || is_due(plan.evaluations)) return false;
    for (std::size_t k = 0; k < now.size(); ++k) {
      Seen const &before = plan.seen[k], &after = now[k];
      double weaker = 1;
      const auto add = [&](bool is_of, double was, double is) {
        if (!is_of) return;
        const double ratio = was * after.strength / (is * before.strength);
        if (!(ratio <= weaker)) weaker = ratio;
      };
      add(wanted.potential, before.potential, after.potential);
      add(wanted.field, before.field, after.field);
      add(wanted.hessian, before.hessian, after.hessian);
      if (after.strength == 0) continue;
      if (!(before.error * weaker <= constants.room * tolerance_)) return false;
    }
    const auto exact =
        sample(space, plan, given, found, exclusions, is_host_space_v<Space> ? 16 : 64);
    for (int k = 0; k < int(now.size()); ++k)
      if (!(errors_of(space, plan, given, found, found, exact, k, wanted, false).error <=
            tolerance_))
        return false;
    return true;
  }
  /// Evaluations after the first that are compared whatever they are.
  static bool is_due(int evaluations) {
    return evaluations == 2 || evaluations == 8 || evaluations % constants.most_evaluations == 0;
  }

  template <bool HasTargets, class Given, class SomeArrays, class SomeExclusions>
  SomeArrays sample(Space const& space, Data<HasTargets>& plan, Given const& given,
                    SomeArrays const& like, SomeExclusions const& exclusions, std::int64_t most) {
    if (plan.number != sampled_of_) sampled_.forget();
    sampled_of_ = plan.number;
    if constexpr (HasTargets) {
      sampled_.choose(space, plan.sources, plan.targets, false, {}, most);
    } else {
      sampled_.choose(space, plan.sources, plan.sources, true,
                      plan.are_chosen ? plan.chosen() : Array<BodyIndex, Space>(), most);
    }
    SomeArrays exact = like.with_targets(sampled_.size());
    sampled_.sum(space, given, exact, exclusions);
    return exact;
  }

  /// Whether all pairs take no longer than a few evaluations.
  template <bool HasTargets>
  static bool are_few_pairs(Data<HasTargets> const& plan) {
    constexpr double few = is_host_space_v<Space> ? 1 << 14 : 1 << 17;
    return double(plan.target_count()) * double(plan.sources.size()) <= few * few;
  }
  /// Sets the errors of all densities. What is known is made stricter until it errs by little itself.
  template <bool HasTargets, class Given, class SomeArrays, class SomeExclusions, class Seen>
  void compare_all(Space const& space, Data<HasTargets>& plan, Given const& given,
                   SomeArrays const& found, SomeExclusions const& exclusions, Wanted const& wanted,
                   std::vector<Seen>& now) {
    const bool by_pairs = are_few_pairs(plan);
    const SomeArrays known = like_found(found);
    const auto exact = sample(space, plan, given, found, exclusions, by_pairs ? 1 : 512);
    const auto errors = [&] {
      double of_known = 0;
      for (int k = 0; k < int(now.size()); ++k) {
        const SeenErrors seen =
            errors_of(space, plan, given, found, known, exact, k, wanted, by_pairs);
        now[k].error = seen.error;
        of_known = std::fmax(of_known, seen.of_known);
      }
      return of_known;
    };
    if (by_pairs) {
      DirectCore core(for_pairs(), kernel_, {0, false, nullptr});
      auto other = build_by(space, core, plan, nullptr);
      sum(space, core, other, given, known.views(), exclusions, typename Base::OfNone(), nullptr);
      space.fence();  // the core's memory goes now
      errors();
      return;
    }
    const int order = orders_.back();
    known_theta_ = std::min({known_theta_, RadiusSearch::theta_of_reference(tolerance_, order),
                             0.9 * plan.setting.theta});
    for (int attempt = 0; attempt < most_known; ++attempt, known_theta_ *= 0.65) {
      KnownCore core(options_of({0, known_theta_}, 0.1 * plan.softening_share), kernel_,
                     typename KnownCore::Facts{order, false, nullptr});
      auto other = build_by(space, core, plan, nullptr);
      sum(space, core, other, given, known.views(), exclusions,
          Base::template of_known<HasTargets>(), nullptr);
      space.fence();
      if (errors() <= largest_of_known * tolerance_) return;
    }
  }
  template <class SomeArrays>
  static SomeArrays like_found(SomeArrays const& found) {
    return found.with_targets(
        std::max({found.potential.targets, found.field.targets, found.hessian.targets}));
  }

  /// Relative L2 errors of what was found, and of what it is compared with.
  struct SeenErrors {
    double error = 0, of_known = 0;
  };
  /// Those of density k, the largest of what the tolerance is of: of `found` against `known`, and of both against
  /// `exact` sums at some targets, unless what is known is exact.
  template <bool HasTargets, class Given, class SomeArrays>
  SeenErrors errors_of(Space const& space, Data<HasTargets>& plan, Given const& given,
                       SomeArrays const& found, SomeArrays const& known, SomeArrays const& exact,
                       int k, Wanted const& wanted, bool is_exact) {
    SeenErrors seen;
    const auto add = [&](bool is_of, auto array_of, auto nearest_of) {
      if (!is_of) return;
      ResultArray<Space> const &result = array_of(found), &other = array_of(known),
                               &sums = array_of(exact);
      const double largest = largest_of(space, other, k), most = largest_of(space, result, k);
      if (largest == 0 && most == 0) return;
      const double unit = 1 / std::fmax(largest, most);
      double error = std::numeric_limits<double>::infinity(), error_of_known = 0;
      if (std::isfinite(unit) && unit > 0) {
        const SquaredError all = compare(space, result, other, k, unit);
        const double share = double(result.targets) / double(sampled_.size());
        double squares = constants.of_stricter_sums * constants.of_stricter_sums * all.error;
        if (is_exact) {
          squares = all.error;
        } else {
          const auto numbers = sampled_.numbers();
          const double of_found = share * compare(space, result, sums, k, unit, numbers).error,
                       of_known = share * compare(space, other, sums, k, unit, numbers).error;
          const double both = std::sqrt(squares) + std::sqrt(of_known);
          squares = std::fmax(both * both, of_found);
          error_of_known = std::sqrt(of_known / all.norm);
        }
        error = std::sqrt(squares / all.norm);
        if (!(error <= tolerance_)) {
          const NearestTerms nearest = sampled_.nearest(space, given, exact, k, unit, unit, unit);
          const double floor = least_of_nearest * least_of_nearest * share * nearest_of(nearest),
                       scale = std::sqrt(all.norm / std::fmax(all.norm, floor));
          error = std::sqrt(squares / std::fmax(all.norm, floor));
          error_of_known *= scale;
        }
      }
      if (!(error <= seen.error)) seen.error = error;
      seen.of_known = std::fmax(seen.of_known, error_of_known);
    };
    add(
        wanted.potential, [](auto const& of) -> auto const& { return of.potential; },
        [](NearestTerms const& of) { return of.potential; });
    add(
        wanted.field, [](auto const& of) -> auto const& { return of.field; },
        [](NearestTerms const& of) { return of.field; });
    add(
        wanted.hessian, [](auto const& of) -> auto const& { return of.hessian; },
        [](NearestTerms const& of) { return of.hessian; });
    return seen;
  }

  template <bool HasTargets>
  void note(Data<HasTargets> const& plan, Report& report) const {
    double error = 0;
    for (auto const& density : plan.seen) error = std::fmax(error, density.error);
    report.found = FoundLimit{.order = orders_[plan.setting.index],
                              .theta = plan.setting.theta,
                              .held_by = HeldBy::sample,
                              .seen_error = error};
  }

  static constexpr double least_of_nearest = 1e-3, largest_of_known = 0.2;
  static constexpr int most_known = 5, most_stuck = 2;

  SampledTargets<Kernel, Space> sampled_;
  double known_theta_ = 1;        ///< of what results are compared with
  std::uint64_t sampled_of_ = 0;  ///< the number of the plan that was sampled last
};

}  // namespace fmm::tolerance
