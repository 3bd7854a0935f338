// SPDX-License-Identifier: BSD-3-Clause
// The core of a CalibratedSolver: everything but its expansions, whose order is a number here.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "../engine/solver_core.hpp"
#include "calibration.hpp"
#include "near_strength.hpp"
#include "order_selection.hpp"

namespace fmm::tolerance {

/// The positions and charges of a build for a tolerance. Inputs with targets or a last field do not compile, and say
/// why.
template <class Space, class Sources, class Charges, class Targets, class LastField>
Inputs<Sources, Charges> checked_inputs(
    Inputs<Sources, Charges, Targets, LastField> const& inputs) {
  static_assert(
      !std::is_same_v<Charges, None>,
      "fmm: a tolerance is held for charges: build(space, fmm::Inputs{positions, charges})");
  static_assert(std::is_same_v<Targets, None>,
                "fmm: a tolerance is held where the sources are the targets, too: for targets of "
                "their own take fmm::Solver");
  static_assert(std::is_same_v<LastField, None>, "fmm: a tolerance takes no last_field");
  engine::check_view<Space, Sources, 2>();
  engine::check_optional_view<Space, Charges, 1>();
  return {inputs.sources, inputs.charges};
}
/// Nor do positions alone.
template <class Space, class Positions>
Inputs<Positions> checked_inputs(Positions const& positions) {
  return checked_inputs<Space>(Inputs<Positions>{positions});
}

/// All that a solver for a tolerance knows of one order. What is compiled for an order is behind it.
template <class Kernel, class Space, class Precision>
struct OrderOfMany {
  ExpansionFacts<Kernel, Space, Precision> facts;                         ///< with powers
  MakeFarField<Kernel, Space, Precision, Outputs<true, true>> far_field;  ///< of an Fmm by DualTree
};

/// That of a Solver whose method is an Fmm by DualTree<MultipolePowerCriterion>.
template <class Solver>
auto order_of_many() {
  using Kernel = typename Solver::kernel_type;
  using Space = site_t<typename Solver::execution_space>;
  using Precision = typename Solver::precision;
  return OrderOfMany<Kernel, Space, Precision>{
      Solver::expansion_facts(), &Solver::template make_operators<Outputs<true, true>>};
}

/// Kernel, Precision, Space   as of CalibratedSolver
template <class Kernel, class Precision, class Space>
class CalibratedCore {
  using Traversal = DualTree<MultipolePowerCriterion>;
  using PairPrecision = for_close_pairs_t<Precision>;
  using Inner = SolverCore<Kernel, Traversal, Precision, Space, PairPrecision>;
  using Real = real_t<Precision>;
  static constexpr bool single = std::is_same_v<Precision, Mixed>;

 public:
  using Data = typename Inner::Data;
  using Order = OrderOfMany<Kernel, Space, Precision>;

  /// As CalibratedSolver's.
  CalibratedCore(Options const& options, Kernel kernel, Order const& order)
      : solver_(options.tolerance ? safe_options(options, *options.tolerance, order.facts.order,
                                                 single, traits_of_kernel(kernel).has_far_from)
                                  : options,
                kernel, order.facts),
        options_(solver_.options()),
        far_field_(order.far_field) {
    if (!options.tolerance) return;
    held_.emplace(*options.tolerance, *options_.pair_error);
    options_.tolerance = options.tolerance;
    options_.pair_error = std::nullopt;
  }

  Options const& options() const { return options_; }
  Kernel const& kernel() const { return solver_.kernel(); }
  int order() const { return solver_.order(); }
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
    solver_.evaluate_listed(
        space, plan, operators, ends, report, options_,
        [&](Array<Real, Space> multipoles) { list(space, plan, multipoles, report); });
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
  void list(Space const& space, Data& data, Array<Real, Space> multipoles, Report* report) {
    if (report) report->found.reset();
    if (!held_) return solver_.list(space, data, multipoles, report);
    auto& tree = data.tree;
    auto& memory = data.memory;
    const FarFieldRule far = solver_.far_field();
    const std::int64_t cells = tree.octree.cells.extent(0),
                       compared = std::min(cells, Likeness::most_cells);
    Likeness bodies{tree.size, cells};
    CellMeasures<Space> measures;
    bool known = true;
    stage(space, report, "lists", [&] {
      if (HeldTolerance::are_enough(tree.size)) {
        const std::int64_t powers = compared * (order() + 1),
                           strengths = tiles_of_strength(tree.octree.tiles.extent(0));
        const auto both = memory.traversal.powers.resize(powers + strengths);
        solver_.powers_of(tree.cube)(space, compared, multipoles, both);
        near_strengths(space, tree, softening_of(kernel()),
                       Array<float, Space>(both.data() + powers, strengths));
        std::vector<float> numbers(powers + strengths);
        read_back(space, both.data(), numbers.data(), numbers.size());
        bodies.near_strength = usual_strength({numbers.begin() + powers, numbers.end()});
        numbers.resize(powers);
        bodies.powers = std::move(numbers);
      }
      known = held_->knows(bodies);
      if (!known || held_->now().theta == 0)
        measures = measure(space, data, multipoles, known ? held_->now().field_scale : 0);
    });
    if (!known)
      stage(space, report, "calibration", [&] {
        // where charges have both signs their errors may add up to more: the sample is to tell
        const double safe =
            held_->safe() / (tree.charges.both_signs ? constants.less_for_both_signs : 1);
        const AddNearField<Space, Precision> near_field = [&](auto const& tiles, auto const& list,
                                                              auto const& sums) {
          add_near_field<Outputs<true, true>, PairPrecision>(space, memory, tree,
                                              in_units_of(tree.cube.edge, kernel()), tiles, list,
                                              sums, options_);
        };
        held_->find(std::move(bodies), calibrate<Traversal>(space, *far_field_(kernel(), tree.cube),
                                                            data, by_powers(safe), far, measures,
                                                            near_field, held_->tolerance(), safe));
      });
    Calibrated const& found = held_->now();
    tree.charges.need_short_sums |= found.short_sums;
    stage(space, report, "lists", [&] {
      if (found.theta > 0)
        data.lists = build_lists_by_radii(space, memory, tree, by_radii(found.theta), far);
      else
        data.lists = build_dual_lists<Traversal>(space, memory, tree, by_powers(found.pair_error),
                                                 far, measures);
    });
    if (!report) return;
    add_list_work(*report, data.lists);
    report->found = FoundLimit{order(), std::nullopt, std::nullopt};
    (found.theta > 0 ? report->found->theta : report->found->pair_error) =
        found.theta > 0 ? found.theta : found.pair_error;
  }

  /// What the criterion may know of the cells, and whether sums have to be short. Throws InvalidArgument where float
  /// does not reach the tolerance.
  CellMeasures<Space> measure(Space const& space, Data& data, Array<Real, Space> multipoles,
                              double known_scale) {
    const auto measures =
        measures_by_powers<Traversal, PairPrecision>(space, solver_.powers_of(data.tree.cube), data, kernel(),
                                      options_, solver_.far_field(), multipoles, known_scale);
    if (single && data.tree.charges.both_signs && known_scale == 0) {
      const double neighbour = read_back(space, data.memory.traversal.scale.view(2).data() + 1);
      check_reached(held_->tolerance(), neighbour);
      data.tree.charges.need_short_sums = needs_short_sums(held_->tolerance(), neighbour);
    }
    return measures;
  }

  Inner solver_;
  Options options_;
  MakeFarField<Kernel, Space, Precision, Outputs<true, true>> far_field_;  ///< of the sample
  std::optional<HeldTolerance> held_;                                      ///< with a tolerance
};

}  // namespace fmm::tolerance
