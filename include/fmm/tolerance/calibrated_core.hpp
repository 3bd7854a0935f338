// SPDX-License-Identifier: BSD-3-Clause
// The core of a CalibratedSolver: everything but its expansions, whose order is a number here.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "../engine/solver_core.hpp"
#include "attempt_in_double.hpp"
#include "autotuner.hpp"
#include "calibration.hpp"
#include "checked_inputs.hpp"
#include "correct_limit.hpp"
#include "glance_at_pairs.hpp"
#include "known_groups.hpp"
#include "order_of_many.hpp"
#include "order_selection.hpp"
#include "potential_share.hpp"
#include "seen_by_verification.hpp"
#include "stricter_sums.hpp"
#include "sums_in_cell.hpp"

namespace fmm::tolerance {

/// Kernel, Precision, Space   as of CalibratedSolver
template <class Kernel, class Precision, class Space>
class CalibratedCore {
  using Traversal = DualTree<MultipolePowerCriterion>;
  using PairPrecision = for_close_pairs_t<Precision>;
  using Inner = SolverCore<Kernel, Traversal, Precision, Space, PairPrecision>;
  using Real = real_t<Precision>;
  using Attempt = tolerance::Attempt<Space, Precision>;
  static constexpr bool single = std::is_same_v<Precision, Mixed>;

 public:
  using Data = typename Inner::Data;
  using Order = OrderOfMany<Kernel, Space, Precision>;

  /// As CalibratedSolver's. With a tolerance and what was `tuned` for it that limit is the first one, and all of the
  /// setting is kept that does not break the tolerance.
  CalibratedCore(Options const& options, Kernel kernel, Order const& order,
                 std::optional<Setting> const& tuned = {})
      : solver_(options.tolerance ? safe_options(options, *options.tolerance, order.facts.order,
                                                 single, traits_of_kernel(kernel).has_far_from)
                                  : options,
                kernel, order.facts, single && options.tolerance),
        options_(solver_.options()),
        near_options_(options_),
        is_softening_given_(options.softening_error.has_value()),
        far_field_(order.far_field),
        tuned_(tuned) {
    if (!options.tolerance) return;
    held_.emplace(*options.tolerance, *options_.pair_error);
    in_pairs_ =
        options_of_pairs(options_, *options.tolerance, traits_of_kernel(kernel).has_far_from);
    solver_.want_images(far_from(kernel, in_pairs_), *options.tolerance);
    options_.tolerance = options.tolerance;
    options_.pair_error = std::nullopt;
    options_.one_part = tuned && tuned->one_part;
  }

  Options const& options() const { return options_; }
  Kernel const& kernel() const { return solver_.kernel(); }
  int order() const { return solver_.order(); }
  /// Pairs of P2P a body, in mixed precision on a GPU, by what the last calibration found; 0 if none did.
  double near_pairs() const { return near_pairs_; }
  std::size_t memory_bytes() const { return solver_.memory_bytes(); }

  template <class Sources, class Charges>
  std::shared_ptr<Data> build(Space const& space, Inputs<Sources, Charges> const& inputs,
                              Report* report) {
    return solver_.build(space, inputs, report);
  }

  /// `operators` are of the same order, and `ends` as in SolverCore.
  template <class Ends>
  void evaluate(Space const& space, Data& plan,
                MakeFarField<Kernel, Space, Precision, typename Ends::Out> operators,
                Ends const& ends, Report* report) {
    Attempt attempt;
    using Out = typename Ends::Out;
    const auto take_charges = [&](double unit, auto bodies) {
      ends.take_charges_again(space, plan.tree, unit, bodies);
    };
    attempt.take_charges = take_charges;
    if constexpr (single) attempt.take_charges_in_double = take_charges;
    if (held_) {
      check_results(held_->tolerance(), ends.are_results_in_float());
      check_parts(plan.tree);
      attempt.of = quantities_of(options_, Out::potential, Out::field);
    }
    try {
      solver_.evaluate_listed(
          space, plan, operators, ends, report,
          [&](auto& steps) {
            attempt.are_leaves_in_double = is_in_double();
            if (attempt.are_leaves_in_double)
              steps.upward(true, in_double(space, plan, attempt).leaves(1));
            else
              steps.upward(true);
          },
          [&](Array<Real, Space> multipoles) {
            return list(space, plan, multipoles, attempt, report) &&
                   attempt.are_leaves_in_double == is_in_double();  // it may have found that
          },
          [&](auto& steps) {
            if (is_in_double())
              stage(space, report, "p2p", [&] {
                plan.memory.left = {};  // no tile is left for a launch of its own
                in_double(space, plan, attempt)
                    .sums()(plan.tree.octree.tiles, plan.lists.p2p, steps.sums());
                space.fence();  // what they have made goes with the attempt
              });
            else
              steps.template near_field<PairPrecision>(kernel(), held_ ? near_options_ : options_);
          },
          [&](auto const& sums) {
            return !is_to_be_verified(space, plan, sums, attempt, report) ||
                   holds(space, plan, sums, attempt, report);
          });
    } catch (...) {
      if (held_ && attempt.is_verified) held_->forget();  // what was found was not verified
      throw;
    }
    if (report && held_ && plan.tree.size > 0)
      report->found = held_->found(order(), options_.error_norm);
  }

 private:
  /// What fields may be that errors are relative to, in what close pairs exert.
  double least_field(engine::ChargeFacts const& charges) const {
    if (options_.error_norm == ErrorNorm::p99) return least_share_v<Precision>;
    return charges.both_signs ? least_share_of_neighbours : 1;
  }
  /// The near field's tolerance, which margins of coordinates in two parts follow: less where fields cancel, because
  /// coordinates round by more than that leaves; in mixed precision only where that was seen. 0: the widest.
  double near_tolerance(engine::ChargeFacts const& charges) const {
    if (!single && held_->now().wide_margin) return 0;
    return held_->tolerance() * (!single || held_->now().wide_margin ? least_field(charges) : 1);
  }
  /// Whether the near field is, in mixed precision.
  bool is_in_double() const { return single && held_ && held_->now().in_double; }
  /// The options of lists with that pair_error.
  Options by_powers(double pair_error) const {
    Options options = options_;
    options.pair_error = pair_error;
    return options;
  }
  /// Those of the near field in force, but for coordinates in one part.
  Options in_two_parts() const {
    Options options = near_options_;
    options.one_part = false;
    return options;
  }
  /// That of lists for which softening adds `share` of what the options allow.
  FarFieldRule far_field(double share) const {
    Options options = options_;
    if (options.softening_error) *options.softening_error *= share;
    FarFieldRule far = solver_.far_field();
    far.from = far_from(kernel(), options);
    return far;
  }

  /// The lists of an evaluation, from the plan's multipoles, by what holds the tolerance. False if periodic images had
  /// to be made for them, whose multipoles are not there.
  bool list(Space const& space, Data& data, Array<Real, Space> multipoles, Attempt& attempt,
            Report* report) {
    if (!held_) return solver_.list(space, data, multipoles, report);
    auto& tree = data.tree;
    CellMeasures<Space> measures;
    bool known = std::exchange(attempt.is_listed, true);
    stage(space, report, "lists", [&] {
      if (!known || attempt.are_leaves_in_double) {
        Likeness bodies = likeness_of(space, data, solver_.powers_of(tree.cube), order(),
                                      softening_of(kernel()), multipoles, attempt.of);
        if (known) {
          held_->resemble(std::move(bodies));
        } else {
          known = held_->knows(bodies);
          attempt.is_verified = attempt.is_sought = !known;
          attempt.is_tuned = !known && tuned_;
          if (!known) held_->remember(std::move(bodies));
        }
      }
      near_options_ = options_;
      near_options_.tolerance = near_tolerance(tree.charges);
      const double known_scale = attempt.is_sought ? attempt.field_scale : held_->now().field_scale;
      if (attempt.is_sought || held_->now().theta == 0) {
        measures = measure(space, data, multipoles, known_scale);
        if (known_scale == 0) choose_sums(space, data, attempt.of);
      }
    });
    if (!known || attempt.known) know_groups(space, data, attempt, report);
    bool are_listed = true;
    if (attempt.is_sought)
      stage(space, report, "calibration", [&] {
        std::optional<Calibrated> found = find(space, data, measures, attempt);
        are_listed = found.has_value();
        if (!are_listed)  // what was measured stays
          return void(attempt.field_scale =
                          read_back(space, data.memory.traversal.scale.view(2).data()));
        found->wide_margin = held_->now().wide_margin;
        found->in_double = held_->now().in_double;
        found->one_part &= !found->in_double;
        held_->correct(*found);
      });
    if (!are_listed) return false;
    [[maybe_unused]] const bool was_sought = std::exchange(attempt.is_sought, false);
    tree.charges.need_short_sums |= held_->now().short_sums;
    options_.one_part = near_options_.one_part = held_->now().one_part;
    stage(space, report, "lists", [&] {
      make_lists_by(space, data, held_->now(), measures);
      are_listed =
          !engine::open_wanted_images<Traversal>(space, data.memory, data.tree.octree, data.lists);
    });
    if constexpr (single && !is_host_space_v<Space>)
      if (was_sought && !tuned_ && HeldTolerance::are_enough(tree.size))
        near_pairs_ = double(pairs_in_lists(space, tree.octree.own_cells(), tree.octree.cells,
                                            data.lists, false)
                                 .p2p) /
                      double(tree.size);
    if (report) add_list_work(*report, data.lists);
    return are_listed;
  }

  /// Of own errors, sums that are known, and what the near field in force rounds them by.
  void know_groups(Space const& space, Data& data, Attempt& attempt, Report* report) const {
    if (!attempt.of.is_own()) return;
    stage(space, report, "verification", [&] {
      if (!attempt.known)
        attempt.known.emplace(
            space, data,
            [&](auto const& bodies, auto const& chosen) {
              return over_all(space, data).magnitudes(bodies, chosen);
            },
            in_double(space, data, attempt).over_all(1), least_share_v<Precision>);
      in_double(space, data, attempt).with_coordinates([&](auto const& coordinates) {
        attempt.known->round(pairs_for_own_errors(data, coordinates));
      });
    });
  }
  auto pairs_for_own_errors(Data const& data, auto const& coordinates) const {
    return rounded_pairs(coordinates, softening_bounds(kernel()).in(data.tree.cube.edge),
                         held_->tolerance(), least_share_v<Precision>);
  }

  /// What holds the tolerance, as far as it is known before lists of all bodies are there.
  std::optional<Calibrated> find(Space const& space, Data& data,
                                 CellMeasures<Space> const& measures, Attempt& attempt) {
    double safe = held_->safe();
    if (attempt.of.potential)
      safe *= potential_share(space, over_all(space, data), measures.fields, order(),
                              attempt.of.potentials);
    if (!attempt.is_tuned && !attempt.known && !HeldTolerance::are_enough(data.tree.size))
      return attempt.of.potential ? safe_limit(space, data, safe)
                                  : Calibrated{.pair_error = safe, .safe = safe};
    // where charges have both signs, or a background has one, their errors may add up to more, and the sample is to tell
    if (data.tree.charges.both_signs || data.periodic.far) safe /= constants.less_for_both_signs;
    if (attempt.is_tuned) return as_tuned(space, data, *tuned_, attempt.of, safe);
    return calibrate<Traversal>(space, *far_field_(kernel(), data.tree.cube), data, by_powers(safe),
                                solver_.far_field(), measures, near_field(space, data, attempt),
                                held_->tolerance(), attempt.of, safe,
                                attempt.known ? &*attempt.known : nullptr);
  }
  AddNearField<Space, Precision> near_field(Space const& space, Data& data,
                                            Attempt& attempt) const {
    if (is_in_double()) return in_double(space, data, attempt).sums();
    return sums_by_p2p<PairPrecision>(space, data.memory, data, kernel(), in_two_parts());
  }
  void make_lists_by(Space const& space, Data& data, Calibrated const& found,
                     CellMeasures<Space> const& measures) const {
    data.lists = lists_by<Traversal>(space, data, by_powers(found.pair_error),
                                     far_field(found.softening), found, measures);
  }

  /// Sums of all bodies by stricter lists than the plan's, with near fields in double, in memory of their own.
  auto stricter_sums(Space const& space, Data& data, Attempt& attempt) {
    const Calibrated now = held_->now(), truth = verifying(now, attempt.tightenings > 0);
    return tolerance::stricter_sums<Traversal>(
        space, far_field_(kernel(), data.tree.cube), profile_of(kernel()), data, attempt.other,
        attempt.take_charges, in_double(space, data, attempt).leaves(constants.share_of_charges),
        [&](Data& other, auto const& multipoles, double share) {
          const auto measures = measure(space, other, multipoles, share * now.field_scale);
          make_lists_by(space, other, truth, measures);
        },
        [&](Data& other, auto const& sums) {
          in_double(space, data, attempt)
              .verifying_sums()(other.tree.octree.tiles, other.lists.p2p, sums);
        });
  }

  /// Whether these sums are: those of bodies that are new, and those of others unless what is known of these is enough.
  bool is_to_be_verified(Space const& space, Data& data, Array<Sums<sum_t<Precision>>, Space> sums,
                         Attempt& attempt, Report* report) {
    if (!held_) return false;
    stage(space, report, "verification", [&] {
      in_double(space, data, attempt).with_coordinates([&](auto const& coordinates) {
        attempt.results =
            strength_of_evaluation(space, data, coordinates, sums, attempt.of,
                                   softening_of(kernel()), held_->tolerance(), options_.one_part);
      });
    });
    if (!attempt.is_verified && !held_->holds(attempt.results, attempt.of.norm)) {
      attempt.is_verified = attempt.is_moved = true;
      know_groups(space, data, attempt, report);
    }
    return attempt.is_verified;
  }
  /// Whether these sums of all bodies hold the tolerance (seen_by_verification.hpp). If not, the next attempt has near
  /// fields in double, or a stricter limit.
  bool holds(Space const& space, Data& data, Array<Sums<sum_t<Precision>>, Space> sums,
             Attempt& attempt, Report* report) {
    const double tolerance = held_->tolerance();
    const bool may_be_in_double = single && !is_in_double();
    SeenByVerification seen;
    stage(space, report, "verification", [&] {
      const auto others = attempt.known ? sums : stricter_sums(space, data, attempt);
      in_double(space, data, attempt).with_coordinates([&](auto const& coordinates) {
        auto const& tiles = data.tree.octree.tiles;
        if (attempt.known) {
          seen = see_own_errors(space, *attempt.known, pairs_for_own_errors(data, coordinates),
                                tiles, attempt.of, tolerance, sums, !may_be_in_double);
        } else {
          const auto softening = softening_bounds(kernel()).in(data.tree.cube.edge);
          const auto in = in_double(space, data, attempt);
          L2Error<Space, Precision> error(
              space, data, attempt.of, tolerance, sums, others,
              rounding_of_pairs(space, coordinates, tiles, softening, tolerance),
              in.over_all(constants.share_of_charges), std::uint64_t(attempt.tightenings + 1));
          seen = error.see(attempt.tightenings == constants.most_tightenings,
                           [&] { return in.on_nearest(coordinates, softening); });
        }
      });
    });
    if (!seen.rounding.keeps(tolerance)) {
      if (!may_be_in_double) refuse_rounding(tolerance, single, seen.rounding);
      held_->take_in_double();  // from coordinates in all their parts
      attempt.is_sought = attempt.known.has_value();
      return false;
    }
    held_->note(seen.of_lists);
    if (seen.most <= tolerance) {
      held_->verified(attempt.results, seen.most);
      if (attempt.is_moved) held_->leave_room(order(), is_softening_given_);
      return true;
    }
    if (seen.is_whole) attempt.reached = std::min(attempt.reached, seen.most);
    correct_limit(*held_, attempt, data.tree, order(),
                  is_softening_given_ ? options_.softening_error : std::nullopt,
                  least_field(data.tree.charges), options_.softening > 0, seen.most);
    return false;
  }
  AttemptInDouble<Kernel, Precision, PairPrecision, Space> in_double(Space const& space, Data& data,
                                                                     Attempt& attempt) const {
    return {.space = space,
            .kernel = kernel(),
            .plan = data,
            .attempt = attempt,
            .tolerance = held_->tolerance(),
            .near_options = in_two_parts(),
            .is_in_force = is_in_double(),
            .of_plan = over_all(space, data)};
  }

  /// Sums over all bodies, and over their images.
  SumsOfPlan<Kernel, Precision, Space> over_all(Space const& space, Data const& data) const {
    return {space, kernel(), data, in_pairs_, held_->tolerance()};
  }

  /// What the criterion may know of the cells.
  CellMeasures<Space> measure(Space const& space, Data& data, Array<Real, Space> multipoles,
                              double known_scale) const {
    return measures_by_powers<Traversal, PairPrecision>(
        space, solver_.powers_of(data.tree.cube), data, kernel(), in_two_parts(),
        solver_.far_field(), multipoles, known_scale, over_all(space, data).with_images(),
        least_share_of_neighbours);
  }
  /// Sets whether sums have to be short, or in double, which a measure tells.
  void choose_sums(Space const& space, Data& data, Quantities of) {
    if (!single || !data.tree.charges.both_signs) return;
    const double neighbour = read_back(space, data.memory.traversal.scale.view(2).data() + 1);
    data.tree.charges.need_short_sums = needs_short_sums(held_->tolerance(), neighbour);
    if (of.field && !is_reached_by_short_sums(held_->tolerance(), neighbour))
      held_->take_in_double();
  }

  Inner solver_;
  Options options_, near_options_;
  Options in_pairs_;  ///< of sums over all pairs, in a periodic cell
  bool is_softening_given_;
  MakeFarField<Kernel, Space, Precision, Outputs<true, true>> far_field_;  ///< of other sums
  std::optional<Setting> tuned_;
  std::optional<HeldTolerance> held_;  ///< with a tolerance
  double near_pairs_ = 0;
};

}  // namespace fmm::tolerance
