// SPDX-License-Identifier: BSD-3-Clause
// An FMM of one order that is told an error, and finds for the bodies at hand what holds it.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "../engine/measures_by_powers.hpp"
#include "../solver.hpp"
#include "calibration.hpp"
#include "order_selection.hpp"

namespace fmm {

/// Potential and field by FMM of order `Order` with a relative L2 error of the field of at most Options::tolerance.
/// Before anything is known of the bodies, a pair_error of MultipolePowerCriterion is taken that is safe. The first
/// evaluation of 20,000 bodies or more finds, at a sample of them, how large pair_error may be, or RadiusCriterion's theta
/// where that costs less; evaluations of bodies like them keep what was found (docs/math.md). ToleranceSolver chooses the
/// order, too.
///
/// Kernel, ExecutionSpace   as in Solver
/// Precision                double or Mixed
///
/// Not to be used from two threads at a time.
template <class Kernel, int Order, class Precision = Mixed,
          class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class CalibratedSolver {
  static_assert(!std::is_same_v<Precision, float>,
                "fmm: CalibratedSolver's precision must be double or fmm::Mixed: in float alone "
                "close pairs may err by more than any tolerance");
  using Traversal = DualTree<MultipolePowerCriterion>;
  using Inner = Solver<Kernel, Fmm<Order, Traversal>, Precision, ExecutionSpace>;
  using Data = engine::PlanData<ExecutionSpace, Precision>;
  using Real = real_t<Precision>;
  static constexpr bool single = std::is_same_v<Precision, Mixed>;

 public:
  using execution_space = ExecutionSpace;
  using plan_type = typename Inner::plan_type;
  static constexpr int order = Order;
  static constexpr bool uses_charges = true;
  static constexpr bool uses_last_field = false;

  /// With Options::tolerance, theta, pair_error and one_part must not be set. Without one, pair_error is taken as it is:
  /// one that is known to hold a tolerance for such bodies. Throws InvalidArgument, for a tolerance that the precision
  /// does not reach, too.
  explicit CalibratedSolver(Options const& options, Kernel kernel = {})
      : solver_(options.tolerance ? tolerance::safe_options(options, *options.tolerance, Order,
                                                            single, kernels::HasFarFrom<Kernel>)
                                  : options,
                kernel),
        options_(solver_.options()) {
    if (!options.tolerance) return;
    held_.emplace(*options.tolerance, *options_.pair_error);
    options_.tolerance = options.tolerance;
    options_.pair_error = std::nullopt;
  }

  /// As asked for, with defaults filled in. What an evaluation goes by is in Report::found.
  Options const& options() const { return options_; }
  Kernel const& kernel() const { return solver_.kernel(); }

  /// A plan for positions with charges, as of Solver.
  template <class Sources, class Charges>
  plan_type build(ExecutionSpace const& space, Inputs<Sources, Charges> const& inputs,
                  Report* report = nullptr) {
    return solver_.build(space, inputs, report);
  }

  /// Potential (N) and field (N,3) of all bodies from (N) `charges`, as of Solver. Throws InvalidArgument, besides, for
  /// charges whose fields cancel so much that float does not reach the tolerance. Cost: O(N); of 20,000 bodies or more
  /// the first time, every 32nd time, and where bodies are no longer like those before, also 2 to 14 evaluations for an
  /// eighth of them (1024 tiles if these are fewer).
  template <class Charges, class Potential, class Field>
  void evaluate(ExecutionSpace const& space, plan_type& plan, Charges const& charges,
                Potential const& potential, Field const& field, Report* report = nullptr) {
    const detail::HostThread<ExecutionSpace> thread(space);
    solver_.check(plan, charges, potential, field);
    if (plan.size() == 0) return;
    const engine::EvaluationClock clock(space, report);
    auto steps =
        solver_.template evaluation<engine::OutputsOf<Potential, Field>>(space, plan, report);
    steps.template take_charges<Potential, Field>(charges);
    steps.upward(true);
    list(space, plan.data(), steps.multipoles(), report);
    steps.interact();
    steps.downward();
    steps.near_field(kernel(), options_);
    steps.give_results(potential, field);
    clock.stop(plan.size(), potential, field, solver_.memory_bytes());
  }

 private:
  /// The options of lists with that pair_error. The tolerance says how close pairs are summed.
  Options by_powers(double pair_error) const {
    Options options = options_;
    options.pair_error = pair_error;
    return options;
  }
  Options by_radii(double theta) const {
    Options options = options_;
    options.theta = theta;
    return options;
  }

  /// The lists of an evaluation, from the plan's multipoles, by what holds the tolerance.
  void list(ExecutionSpace const& space, Data& data, Array<Real, ExecutionSpace> multipoles,
            Report* report) {
    if (!held_) return solver_.list(space, data, multipoles, report);
    auto& tree = data.tree;
    auto& memory = data.memory;
    const engine::FarFieldRule far = solver_.far_field();
    const std::int64_t cells = tree.octree.cells.extent(0),
                       compared = std::min(cells, tolerance::Likeness::most_cells);
    tolerance::Likeness bodies{tree.size, cells, std::vector<float>(compared * (Order + 1))};
    tree::CellMeasures<ExecutionSpace> measures;
    bool known = true;
    engine::stage(space, report, "lists", [&] {
      if (tolerance::HeldTolerance::are_enough(tree.size)) {
        const auto powers = memory.traversal.powers.resize(cells * (Order + 1));
        solver_.powers_of(tree.cube)(space, compared, multipoles, powers);
        detail::read_back(space, powers.data(), bodies.powers.data(), bodies.powers.size());
      }
      known = held_->knows(bodies);
      if (!known || held_->now().theta == 0)
        measures = measure(space, data, multipoles, known ? held_->now().field_scale : 0);
    });
    if (!known)
      engine::stage(space, report, "calibration", [&] {
        // where charges have both signs their errors may add up to more: the sample is to tell
        const double safe =
            held_->safe() /
            (tree.charges.both_signs ? tolerance::constants.less_for_both_signs : 1);
        const tolerance::NearField<ExecutionSpace, Precision> near_field =
            [&](auto const& tiles, auto const& list, auto const& sums) {
              engine::add_near_field<kernels::Outputs<true, true>>(
                  space, memory, tree, kernels::in_units_of(tree.cube.edge, kernel()), tiles, list,
                  sums, options_);
            };
        held_->find(
            bodies,
            tolerance::calibrate<Traversal>(
                space, *solver_.template operators<kernels::Outputs<true, true>>(tree.cube), data,
                by_powers(safe), far, measures, near_field, held_->tolerance(), safe));
      });
    tolerance::Calibrated const& found = held_->now();
    engine::stage(space, report, "lists", [&] {
      if (found.theta > 0)
        data.lists = engine::build_lists_by_radii(space, memory, tree, by_radii(found.theta), far);
      else
        data.lists = engine::build_dual_lists<Traversal>(
            space, memory, tree, by_powers(found.pair_error), far, measures);
    });
    if (!report) return;
    engine::add_list_work(*report, data.lists);
    report->found = FoundLimit{Order, std::nullopt, std::nullopt};
    (found.theta > 0 ? report->found->theta : report->found->pair_error) =
        found.theta > 0 ? found.theta : found.pair_error;
  }

  /// What the criterion may know of the cells. Throws InvalidArgument where float does not reach the tolerance.
  tree::CellMeasures<ExecutionSpace> measure(ExecutionSpace const& space, Data& data,
                                             Array<Real, ExecutionSpace> multipoles,
                                             double known_scale) {
    const auto measures = engine::measures_by_powers<Traversal>(
        space, solver_.powers_of(data.tree.cube), data, kernel(), options_, solver_.far_field(),
        multipoles, known_scale);
    if (single && data.tree.charges.both_signs && known_scale == 0)
      tolerance::check_reached(
          held_->tolerance(),
          detail::read_back(space, data.memory.traversal.scale.view(2).data() + 1));
    return measures;
  }

  Inner solver_;
  Options options_;
  std::optional<tolerance::HeldTolerance> held_;  ///< with a tolerance
};

}  // namespace fmm
