// SPDX-License-Identifier: BSD-3-Clause
// Errors of evaluations for any strengths: of results that wait, against a stricter evaluation in double at all
// targets, and against sums over all sources at some of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "close_targets.hpp"
#include "few_sources.hpp"
#include "rounded_sums.hpp"
#include "verified_plans.hpp"

namespace fmm::tolerance {

/// Template parameters as of VerifiedPlans.
template <class Kernel, class Precision, class Space, class Family>
class VerifiedErrors : public VerifiedPlans<Kernel, Precision, Space, Family> {
  using Base = VerifiedPlans<Kernel, Precision, Space, Family>;
  using KnownCore = SolverCore<Kernel, DualTree<RadiusCriterion>, double, Space, DoubleInTwoParts>;

 protected:
  using Base::build_by, Base::data_of, Base::for_pairs, Base::kernel_, Base::options_,
      Base::options_of, Base::orders_, Base::sum, Base::tolerance_;
  template <bool HasTargets>
  using Data = typename Base::template Data<HasTargets>;
  template <bool HasTargets>
  using Kinds = typename Data<HasTargets>::Kinds;
  using Base::Base;
  /// So few sources are summed term by term, and at so many targets rounding and errors are looked at.
  static constexpr std::int64_t most_carriers = is_host_space_v<Space> ? 64 : 512;
  std::int64_t few_targets() const {
    return (is_host_space_v<Space> ? 16 : 64) / (options_.periodic ? 4 : 1);
  }
  /// Where there is less room for others.
  std::int64_t more_targets() const { return (options_.periodic ? 4 : 16) * few_targets(); }

  /// Of each density what its sources carry, and nothing of results yet.
  template <bool HasTargets, class Given, class SomeArrays>
  auto strengths_of(Space const& space, Data<HasTargets>& plan, Given const& given,
                    SomeArrays const& found) const {
    std::vector<typename Data<HasTargets>::Seen> all;
    engine::for_ends<Precision, false>(
        space, data_of(plan.plan), kernel_, given, found.views(), nullptr, [&](auto const& ends) {
          using Ends = std::remove_cvref_t<decltype(ends)>;
          using Strengths = typename Ends::Strengths;
          const auto facts = engine::inspect_strengths<Strengths>(
              space, false, engine::constant(ends.charges), 1 / edge_of(plan));
          for (auto const& of_density : facts.of)
            all.push_back(
                {.strength = of_density.sum,
                 .sources = of_density.sum > 0 ? of_density.sum / of_density.largest : 0});
        });
    const int densities =
        std::max({found.potential.densities, found.field.densities, found.hessian.densities});
    all.resize(std::size_t(densities));  // a last block has room for more
    return all;
  }
  /// Adds how large results are of those that were not summed term by term.
  template <class Seen, class SomeArrays>
  static void measure_results(Space const& space, SomeArrays const& found, std::vector<Seen>& all) {
    const auto root_mean_square = [&](ResultArray<Space> const& results, int k) {
      if (!results.numbers) return 0.0;
      const double largest = largest_of(space, results, k);
      if (!(largest > 0)) return largest;
      const auto squares = compare(space, results, results, k, 1 / largest);
      return largest * std::sqrt(squares.norm / double(results.targets));
    };
    for (int k = 0; k < int(all.size()); ++k) {
      if (all[k].is_exact) continue;
      all[k].potential = root_mean_square(found.potential, k);
      all[k].field = root_mean_square(found.field, k);
      all[k].hessian = root_mean_square(found.hessian, k);
    }
  }
  /// The sources that carry a density, where they are few; which densities these are is noted.
  template <bool HasTargets, class Given, class SomeArrays, class Seen>
  std::vector<std::vector<BodyIndex>> carriers_of(Space const& space, Data<HasTargets>& plan,
                                                  Given const& given, SomeArrays const& found,
                                                  std::vector<Seen>& all) const {
    std::vector<std::vector<BodyIndex>> lists(all.size());
    if (options_.periodic) return lists;           // terms have images
    const auto may_be_few = [](Seen const& one) {  // a source has up to four numbers
      return one.strength > 0 && one.sources <= 4.01 * double(most_carriers);
    };
    if (std::none_of(all.begin(), all.end(), may_be_few)) return lists;
    for_each_terms_of(plan, given, found, [&](auto const& terms, int k) {
      if (!may_be_few(all[k])) return;
      lists[k] = carriers(space, terms, most_carriers);
      all[k].is_exact = !lists[k].empty();
    });
    return lists;
  }
  /// Adds where the strengths are of those that are not summed term by term.
  template <bool HasTargets, class Given, class SomeArrays, class Seen>
  void add_profiles(Space const& space, Data<HasTargets>& plan, Given const& given,
                    SomeArrays const& found, std::vector<Seen>& all) const {
    for_each_terms_of(plan, given, found, [&](auto const& terms, int k) {
      if (all[k].strength > 0 && !all[k].is_exact)
        all[k].profile =
            profile_of(space, terms, tree_of(plan).permutation, all[k].strength, 1 / edge_of(plan));
    });
  }
  /// Sums these term by term.
  template <bool HasTargets, class Given, class SomeArrays, class SomeExclusions>
  void sum_carriers(Space const& space, Data<HasTargets>& plan, Given const& given,
                    SomeArrays const& found, SomeExclusions const& exclusions,
                    std::vector<std::vector<BodyIndex>> const& lists) const {
    if (std::all_of(lists.begin(), lists.end(), [](auto const& list) { return list.empty(); }))
      return;
    for_each_terms_of(plan, given, found, [&](auto const& terms, int k) {
      using Terms = std::remove_cvref_t<decltype(terms)>;
      if (lists[k].empty()) return;
      Buffer<BodyIndex, Space> buffer("carriers");
      const auto list = to_device(space, buffer, lists[k]);
      for_range("fmm::verification::sum_carriers", space, plan.target_count(),
                SumCarriers<Space, Terms, SomeExclusions>{
                    terms,
                    list,
                    plan.are_chosen ? plan.chosen() : Array<BodyIndex, Space>(),
                    !HasTargets,
                    exclusions,
                    {found.potential, found.field, found.hessian},
                    k});
      space.fence();  // the list goes now
    });
  }
  /// f(terms, density) of all targets.
  template <bool HasTargets, class Given, class SomeArrays, class F>
  void for_each_terms_of(Data<HasTargets>& plan, Given const& given, SomeArrays const& found,
                         F const& f) const {
    const auto sources = plan.sources.rows();
    auto targets = sources;
    if constexpr (HasTargets) targets = plan.targets.rows();
    const double length = plan.pairs ? engine::cube_of(data_of(plan.of_pairs)).exact_unit()
                                     : engine::cube_of(data_of(plan.plan)).exact_unit();
    for_each_terms(kernel_, length, targets, sources, given, found, f);
  }
  /// Of the sources.
  template <bool HasTargets>
  static auto const& tree_of(Data<HasTargets> const& plan) {
    if constexpr (HasTargets)
      return plan.plan.sources->tree;
    else
      return plan.plan->tree;
  }
  template <bool HasTargets>
  static double edge_of(Data<HasTargets> const& plan) {
    return tree_of(plan).cube.edge;
  }

  template <bool HasTargets, class Given, class SomeArrays, class SomeExclusions>
  SomeArrays sample(Space const& space, Data<HasTargets>& plan, Given const& given,
                    SomeArrays const& like, SomeExclusions const& exclusions, std::int64_t most,
                    DrawnTargets<Space>* drawn = nullptr) const {
    if (!plan.sampled) plan.sampled.emplace(for_pairs(), kernel_, tolerance_);
    auto& sampled = *plan.sampled;
    if constexpr (HasTargets)
      sampled.choose(space, plan.sources, plan.targets, false, {}, most, drawn);
    else
      sampled.choose(space, plan.sources, plan.sources, true,
                     plan.are_chosen ? plan.chosen() : Array<BodyIndex, Space>(), most, drawn);
    SomeArrays exact = like.with_targets(sampled.size());
    sampled.sum(space, given, exact, exclusions);
    return exact;
  }

  /// What draws targets by how strong what was found is, of densities that were measured.
  template <bool HasTargets, class SomeArrays, class Seen>
  static DrawnTargets<Space> by_strength(Space const& space, Data<HasTargets> const& plan,
                                         SomeArrays const& found,
                                         std::vector<Seen> const& measured) {
    typename DrawnTargets<Space>::Norms norms;
    const double root = std::sqrt(double(plan.target_count()));
    for (Seen const& one : measured)
      norms.push_back({root * one.potential, root * one.field, root * one.hessian});
    return DrawnTargets<Space>(space, found, norms);
  }

  /// Whether pairs are so few that a tree is no faster.
  template <bool HasTargets>
  bool are_least_pairs(Data<HasTargets> const& plan) const {
    constexpr double few = is_host_space_v<Space> ? 1536 : 1 << 14;
    return are_few_pairs(plan) && work_of_pairs(plan) <= few * few;
  }
  /// Whether sums of all pairs take no longer than a few evaluations.
  template <bool HasTargets>
  bool are_few_pairs(Data<HasTargets> const& plan) const {
    constexpr double few = is_host_space_v<Space> ? 1 << 14 : 1 << 17;
    return plan.target_count() <= most_few_targets && work_of_pairs(plan) <= few * few;
  }
  /// All pairs, in those of bodies without images.
  template <bool HasTargets>
  double work_of_pairs(Data<HasTargets> const& plan) const {
    return double(plan.target_count()) * double(plan.sources.size()) *
           (options_.periodic ? pairs_of_ewald : 1);
  }
  /// Sets the errors of all densities. What is known is made stricter until it errs by little itself.
  template <bool HasTargets, class Given, class SomeArrays, class SomeExclusions, class Seen>
  void compare_all(Space const& space, Data<HasTargets>& plan, Given const& given,
                   SomeArrays const& found, SomeExclusions const& exclusions,
                   Kinds<HasTargets> const& kinds, std::vector<Seen>& now) const {
    const std::int64_t m = plan.target_count();
    const bool by_pairs = are_few_pairs(plan);
    auto drawn = by_strength(space, plan, found, now);
    const auto exact = sample(space, plan, given, found, exclusions,
                              by_pairs ? m : sampled_count / (options_.periodic ? 8 : 1), &drawn);
    const auto compare_with = [&](SomeArrays const& known) {
      double of_known = 0;
      for (int k = 0; k < int(now.size()); ++k) {
        if (now[k].is_exact) continue;
        const SeenErrors seen = errors_of(space, plan, given, found, known, exact, exclusions, k,
                                          kinds.bounded, by_pairs);
        now[k].error = seen.error;
        of_known = larger(of_known, seen.of_known);
      }
      return of_known;
    };
    if (by_pairs) {
      compare_with(exact);
      plan.sampled->note_errors(drawn, exact);
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
      const double of_known = compare_with(known);
      if (of_known <= largest_of_known * tolerance_ || plan.known_theta == least_known_theta) {
        plan.sampled->note_errors(drawn, known);
        return;
      }
      plan.known_theta *= 0.65;
    }
  }

  /// What rounding makes of the errors of sums over all pairs, of the norm that the tolerance has: the largest of what
  /// that is of.
  ///
  /// most         targets that are looked at
  /// is_of_these  whether a density counts
  /// carriers     of each density, if these alone are summed
  template <bool HasTargets, class Given, class SomeArrays, class SomeExclusions, class IsOf>
  double rounding_error(Space const& space, Data<HasTargets>& plan, Given const& given,
                        SomeArrays const& found, SomeExclusions const& exclusions,
                        ResultKinds const& of, std::int64_t most, IsOf const& is_of_these,
                        std::vector<std::vector<BodyIndex>> const* carriers = nullptr) const {
    if (options_.periodic)  // Ewald's sums at some targets are split in another way
      return difference_of_sums(space, plan, given, found, exclusions, of, most, is_of_these);
    std::vector<std::vector<SumsOfTerms>> seen;
    for_each_terms_of(plan, given, found, [&](auto const& terms, int k) {
      seen.emplace_back();
      if (!is_of_these(k)) return;
      const TargetsOfTerms<Space, SomeExclusions> targets{
          plan.target_count(), plan.are_chosen ? plan.chosen() : Array<BodyIndex, Space>(),
          !HasTargets, exclusions};
      const std::uint64_t seed = most * plan.looks++;
      const auto see = [&](std::vector<CloseTarget> const& close) {
        return see_rounding(space, terms, targets.chosen, !HasTargets, found, k, exclusions, most,
                            seed, close);
      };
      seen.back() = see({});
      const auto close = targets_that_round(
          space, terms, targets, mean_results(seen.back()), of, tolerance_,
          carriers ? (*carriers)[std::size_t(k)] : std::vector<BodyIndex>(), plan.none_within);
      if (!close.empty()) seen.back() = see(close);
    });
    double largest = 0;
    for (std::size_t k = 0; k < seen.size(); ++k) {
      const auto add = [&](bool is_of, int result, auto square_of) {
        if (!is_of) return;
        RoundedSums sums;
        for (SumsOfTerms const& one : seen[k]) sums.targets.push_back(one.of[result]);
        for (SumOfTerms& sum : sums.targets) sum.least *= least_of_nearest;
        double error = sums.error(options_.error_norm, least_share_in_double);
        if (!std::isnan(error) && !(error <= tolerance_)) {
          const double unit = 1 / sums.largest_terms();
          sample(space, plan, given, found, exclusions, most);
          const NearestTerms nearest =
              plan.sampled->nearest(space, given, found, exclusions, int(k), unit);
          for (SumOfTerms& sum : sums.targets)
            if (sum.least == 0) sum.least = least_of_nearest * std::sqrt(square_of(nearest)) / unit;
          error = sums.error(options_.error_norm, least_share_in_double);
        }
        largest = larger(largest, error);
      };
      add(of.potential, 0, [](NearestTerms const& all) { return all.potential; });
      add(of.field, 1, [](NearestTerms const& all) { return all.field; });
      add(of.hessian, 2, [](NearestTerms const& all) { return all.hessian; });
    }
    return largest;
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
    const auto add = [&](double share, auto array_of, auto nearest_of) {
      if (share == 0) return;
      ResultArray<Space> const &result = array_of(found), &other = array_of(known),
                               &sums = array_of(exact);
      const double largest = largest_of(space, other, k), most = largest_of(space, result, k);
      if (largest == 0 && most == 0) return;
      const double unit = 1 / (largest >= most ? largest : most);
      double error = std::isfinite(largest) && std::isfinite(most)
                         ? std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN(),
             of_known = 0;
      if (std::isfinite(largest) && std::isfinite(most) && std::isfinite(unit)) {
        const SquaredError all = compare(space, result, other, k, unit);
        const double targets = double(result.targets), scale = sampled.scale();
        double squares = all.error;
        if (!is_exact) {
          const auto numbers = sampled.numbers();
          const auto weights = sampled.weights();
          const double found_squares =
              scale * compare(space, result, sums, k, unit, numbers, weights).error;
          of_known = scale * compare(space, other, sums, k, unit, numbers, weights).error;
          const double both =
              constants.of_stricter_sums * std::sqrt(all.error) + std::sqrt(of_known);
          squares = std::fmax(both * both, found_squares);
        }
        double norm = all.norm;
        if (!(share * share * squares <= tolerance_ * tolerance_ * norm)) {
          const NearestTerms nearest = sampled.nearest(space, given, exact, exclusions, k, unit);
          norm =
              std::fmax(norm, least_of_nearest * least_of_nearest * targets * nearest_of(nearest));
        }
        error = std::sqrt(squares / norm);
        of_known = std::sqrt(of_known / norm);
      }
      seen.error = larger(seen.error, share * error);
      seen.of_known = larger(seen.of_known, share * of_known);
    };
    // in a periodic cell potentials may cancel to the share of a field's that its tolerance says nothing of
    const bool has_potential = options_.periodic && found.potential.numbers;
    add(
        of.potential    ? 1
        : has_potential ? share_of_other_potentials
                        : 0,
        [](auto const& all) -> auto const& { return all.potential; },
        [](NearestTerms const& all) { return all.potential; });
    add(
        of.field, [](auto const& all) -> auto const& { return all.field; },
        [](NearestTerms const& all) { return all.field; });
    add(
        of.hessian, [](auto const& all) -> auto const& { return all.hessian; },
        [](NearestTerms const& all) { return all.hessian; });
    return seen;
  }

 private:
  /// What sums of all pairs in a periodic cell differ by from such sums at some targets.
  template <bool HasTargets, class Given, class SomeArrays, class SomeExclusions, class IsOf>
  double difference_of_sums(Space const& space, Data<HasTargets>& plan, Given const& given,
                            SomeArrays const& found, SomeExclusions const& exclusions,
                            ResultKinds const& of, std::int64_t most,
                            IsOf const& is_of_these) const {
    const auto exact = sample(space, plan, given, found, exclusions, most);
    const int densities =
        std::max({found.potential.densities, found.field.densities, found.hessian.densities});
    double error = 0;
    for (int k = 0; k < densities; ++k)
      if (is_of_these(k))
        error = larger(
            error,
            errors_of(space, plan, given, found, found, exact, exclusions, k, of, false).error);
    return error;
  }

  static constexpr double share_of_other_potentials = 1 / potentials_in_cell, pairs_of_ewald = 16;
  static constexpr double least_of_nearest = 1e-3, largest_of_known = 0.2, least_known_theta = 0.05;
  static constexpr int most_known = 5;
  static constexpr std::int64_t sampled_count = 512, most_few_targets = 1 << 22;
};

}  // namespace fmm::tolerance
