// SPDX-License-Identifier: BSD-3-Clause
// The pair_error of MultipolePowerCriterion that holds a tolerance for the bodies at hand, found from a sample of
// them, and the theta of RadiusCriterion, which may cost less.
//
// A pair_error that is safe before anything is known of the bodies allows for bad ones: most err by
// a seventh of the tolerance (docs/math.md). So the fields of a sample of tiles are summed with a
// pair_error of a quarter of that, which stands for the truth, and then with larger ones: what the
// sums differ by are the latter's errors. All of these are made of the evaluation's own tree and
// multipoles, with lists for the sample only.
#pragma once

#include <cmath>
#include <limits>
#include <optional>

#include "../engine/list_build.hpp"
#include "autotuner.hpp"
#include "held_tolerance.hpp"
#include "known_groups.hpp"
#include "order_selection.hpp"
#include "sample.hpp"

namespace fmm::tolerance {

/// Lists of a plan by what was found: `options` have its pair_error, `far` is of its softening.
template <class Traversal, class Space, class Precision>
InteractionLists<Space> lists_by(Space const& space, PlanData<Space, Precision>& plan,
                                 Options options, FarFieldRule const& far, Calibrated const& found,
                                 CellMeasures<Space> const& measures) {
  const bool by_radii = found.theta > 0;
  if (by_radii || found.opening > 0) options.theta = by_radii ? found.theta : found.opening;
  return by_radii ? build_lists_by_radii(space, plan.memory, plan.tree, options, far, {})
                  : build_dual_lists<Traversal>(space, plan.memory, plan.tree, options, far,
                                                measures, {});
}

/// That limit, with the scale of the plan's fields as it was measured: what the limit means in later evaluations, too,
/// whose pairs may be closer.
template <class Space, class Precision>
Calibrated safe_limit(Space const& space, PlanData<Space, Precision>& plan, double safe) {
  return {.pair_error = safe,
          .safe = safe,
          .field_scale = read_back(space, plan.memory.traversal.scale.view(2).data()),
          .short_sums = plan.tree.charges.need_short_sums};
}

/// The largest pair_error at which the plan's bodies keep `tolerance`, at least `safe`, or far less where own errors
/// are seen at bodies that are `known`; theta, if there is one at which RadiusCriterion keeps it at less cost; and
/// the fields' scale. There are multipoles, and `measures` for the traversal, whose criterion is
/// MultipolePowerCriterion; `options` are the solver's. Lists of the plan, and what SampledFields says, are lost.
/// Nothing if lists wanted periodic images that were not there: these are opened, and want multipoles.
/// Cost: 2 to 14 evaluations for a sample of the bodies (sample.hpp); none if softening may take the tolerance alone.
template <class Traversal, class Space, class Precision>
FMM_NOINLINE std::optional<Calibrated> calibrate(
    Space const& space, FarField<Space, Precision, Outputs<true, true>> const& operators,
    PlanData<Space, Precision>& plan, Options options, FarFieldRule far,
    CellMeasures<Space> const& measures, AddNearField<Space, Precision> const& near_field,
    double tolerance, Quantities of, double safe, KnownGroups<Space, Precision>* known) {
  Calibrated found = safe_limit(space, plan, safe);
  const double neighbour = read_back(space, plan.memory.traversal.scale.view(2).data() + 1);
  // softening adds the same to all these sums, and rounding in float; where fields cancel errors of many
  // cells add up, and of float's rounding the more the more pairs are summed one by one
  const bool fields_cancel =
      (plan.tree.charges.both_signs || plan.periodic.far) && neighbour > constants.fields_cancel;
  const double softened = constants.error_of_softening * options.softening_error.value_or(0),
               rounded = found.short_sums ? constants.usual_rounding *
                                                constants.rounding_of_short_sums * neighbour
                                          : 0,
               share = constants.goal - (fields_cancel ? constants.less_where_fields_cancel : 0),
               goal2 = std::pow(share * tolerance, 2) - softened * softened - rounded * rounded;
  if (!known && !(goal2 > 0)) return found;
  // results that are known have nothing of all that, and err by nothing
  const double goal = known ? constants.goal * tolerance : std::sqrt(goal2),
               of_truth = known ? 0 : safe * constants.truth,
               least = known ? constants.least_limit_for_own * safe : safe;
  using Sample = SampledFields<Space, Precision>;
  Sample sample = known ? Sample(space, operators, plan, near_field,
                                 [&](auto const&) { return known->sample(); })
                        : Sample(space, operators, plan, near_field);
  const KeptReach<Space> kept(plan.memory.octree);
  bool wants_images = false;
  const auto look_for_images = [&] {
    wants_images |=
        engine::open_wanted_images<Traversal>(space, plan.memory, plan.tree.octree, plan.lists);
  };
  const auto list_by_powers = [&](double pair_error) {
    options.pair_error = pair_error;
    plan.lists = build_dual_lists<Traversal>(space, plan.memory, plan.tree, options, far, measures,
                                             sample.wanted());
    look_for_images();
  };
  constexpr double hopeless = std::numeric_limits<double>::infinity();
  const auto likely_error = [&] {
    if (wants_images) return hopeless;  // which ends a search
    sample.sum();
    return known ? known->seen(of, sample.sums()).most : sample.likely_error(of);
  };
  if (!known) {
    list_by_powers(of_truth);
    if (wants_images) return std::nullopt;
    sample.sum();
    sample.keep();
  }

  double work_by_powers = 0, error_of_truth = 0;
  found.pair_error = largest_limit(least, constants.first * safe, 1, goal, [&](double pair_error) {
    list_by_powers(pair_error);
    // errors grow about as pair_error, and what the truth errs by is in both
    const double error = likely_error() * pair_error / (pair_error - of_truth);
    if (std::isfinite(error)) error_of_truth = error * of_truth / pair_error;
    if (error <= goal) work_by_powers = sample.work(far.order);
    return error;
  });
  if (wants_images) return std::nullopt;
  if (work_by_powers == 0 && known) work_by_powers = hopeless;
  if (work_by_powers == 0) {
    list_by_powers(least);
    work_by_powers = sample.work(far.order);
  }

  if (wants_images) return std::nullopt;

  // errors by radii grow as theta^(p+2), and fall with the order
  const double degree = far.order + 2,
               first = constants.radii_scale * goal * std::exp2(constants.radii_fall * far.order),
               most = std::pow(constants.largest_theta, degree),
               most_work =
                   work_by_powers * Tuning<Space, real_t<Precision>>::most_work_by_radii(far.order);
  double work_by_radii = hopeless;
  const double held = largest_limit(0, first, most, goal, [&](double limit) {
    options.theta = std::pow(limit, 1 / degree);
    plan.lists = build_lists_by_radii(space, plan.memory, plan.tree, options, far, sample.wanted());
    look_for_images();
    const double work = sample.work(far.order);
    if (work > constants.hopeless_work * most_work) return hopeless;
    const double error = likely_error() + error_of_truth;
    if (error <= goal) work_by_radii = work;
    return error > goal && work > most_work ? hopeless : error;  // a smaller theta would cost more
  });
  if (wants_images) return std::nullopt;
  if (work_by_radii < most_work) found.theta = std::pow(held, 1 / degree);
  if (known || found.theta > 0 || found.pair_error > safe) found.held_by = HeldBy::sample;
  return found;
}

/// What was `tuned` for bodies like the plan's, of which there are measures.
template <class Space, class Precision>
Calibrated as_tuned(Space const& space, PlanData<Space, Precision>& plan, Setting const& tuned,
                    Quantities of, double safe) {
  Calibrated found = safe_limit(space, plan, safe);
  found.one_part = tuned.one_part && of.field;
  found.held_by = HeldBy::sample;
  (tuned.by_power ? found.pair_error : found.theta) = tuned.limit;
  return found;
}

}  // namespace fmm::tolerance
