// SPDX-License-Identifier: BSD-3-Clause
// The core of a ToleranceSolver: everything but its expansions, whose orders are numbers here. The choice of an order,
// the search for what holds a tolerance at the least cost, and the field that errors are measured against.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "autotuner.hpp"
#include "calibrated_core.hpp"
#include "known_bodies.hpp"
#include "known_field.hpp"
#include "tuned.hpp"

namespace fmm::tolerance {

/// Kernel, Space   as of ToleranceSolver
/// Precision       Mixed or double
template <class Kernel, class Precision, class Space>
class ToleranceCore {
  using ByPowers = CalibratedCore<Kernel, Precision, Space>;
  using ByRadii =
      SolverCore<Kernel, DualTree<RadiusCriterion>, Precision, Space, for_close_pairs_t<Precision>>;
  using OneSetting = std::variant<ByPowers, ByRadii>;  ///< without a tolerance

 public:
  using Data = PlanData<Space, Precision>;
  using Order = OrderOfMany<Kernel, Space, Precision>;
  /// The highest order in double, for the field that errors are measured against.
  using HighestOrder = OrderOfMany<Kernel, Space, double>;

  /// As ToleranceSolver's; one order or more, in ascending order.
  ToleranceCore(Options const& options, Kernel kernel, std::vector<Order> orders)
      : tolerance_(required(options, single)),
        options_(options),
        kernel_(kernel),
        orders_(std::move(orders)),
        solver_(options_, kernel_, orders_[first_order({})]) {}

  int order() const { return solver_.order(); }
  Options const& options() const { return solver_.options(); }
  Kernel const& kernel() const { return solver_.kernel(); }
  std::size_t memory_bytes() const { return solver_.memory_bytes(); }

  template <class Sources, class Charges>
  std::shared_ptr<Data> build(Space const& space, Inputs<Sources, Charges> const& inputs,
                              Report* report) {
    const HostThread<Space> thread(space);
    if (orders_.size() > 1) {
      const int best = is_for_charges_
                           ? index_of(order_by_work(order(), solver_.near_pairs(), orders()))
                           : first_order(seen_in(space, inputs));
      if (order_of(best) != order()) solver_ = ByPowers(options_, kernel_, orders_[best]);
    }
    auto plan = solver_.build(space, inputs, report);
    is_for_charges_ = true;
    return plan;
  }
  /// `operators` are of this order(), and `ends` as in SolverCore.
  template <class Ends>
  void evaluate(Space const& space, Data& plan,
                MakeFarField<Kernel, Space, Precision, typename Ends::Out> operators,
                Ends const& ends, Report* report) {
    solver_.evaluate(space, plan, operators, ends, report);
  }

  template <class Sources, class Charges>
  Tuned tune(Space const& space, Inputs<Sources, Charges> const& inputs,
             HighestOrder const& highest) {
    const HostThread<Space> thread(space);
    auto const& positions = inputs.sources;
    auto const& charges = inputs.charges;
    check_extents("charges", charges, checked_size("positions", positions));
    const auto of = quantities_of(options_, true, true);
    if (charges.extent(0) == 0) return {false, 0, 0, 0};
    Buffer<double, Space> known_numbers("tuning's known results"), numbers("tuning's results");
    Results known;
    std::optional<KnownBodies<Space>> known_bodies;
    if (of.is_own()) {
      known_bodies.emplace(space, kernel_, positions, charges, single, in_cell());
    } else {
      known = results_in(known_numbers, charges.extent(0));
      find_field(space, inputs, highest, known);
      const double none = error_of(space, known, known, of);
      if (none > 0) return {false, none, 0, 0};  // nothing to be relative to
    }
    const auto results = results_in(numbers, charges.extent(0));
    const auto error_of_results = [&] {
      return known_bodies ? known_bodies->error(space, results.potential, results.field, of)
                          : error_of(space, results, known, of);
    };

    const auto measure = [&](Setting const& setting, double goal) {
      OneSetting solver = with(setting);
      auto const& order = orders_[index_of(setting.order)];
      const auto seconds = [&] {
        const engine::Stopwatch watch;
        auto plan = build_by(solver, space, inputs, nullptr);
        std::visit(
            [&](auto& one) {
              one.evaluate(space, *plan, order.far_field,
                           EvaluationEnds{charges, results.potential, results.field}, nullptr);
            },
            solver);
        space.fence();
        return watch.seconds();
      };
      seconds();  // allocates, too
      Trial trial{setting, error_of_results()};
      if (trial.error <= goal) trial.seconds = std::min(seconds(), seconds());
      return trial;
    };
    SettingSearch search(constants.tuned_error * tolerance_, orders(), leaves_to_try(options_),
                         of.field, &default_leaf, measure);
    const Trial found = search.fastest(first_order(seen_in(space, inputs)));
    const bool held = found.error <= tolerance_;
    if (held) {
      Options options = options_;
      options.leaf_capacity = found.setting.leaf_capacity;
      solver_ = ByPowers(options, kernel_, orders_[index_of(found.setting.order)], found.setting);
      is_for_charges_ = true;
    }
    return {held, found.error, found.seconds, search.trials()};
  }

 private:
  static constexpr bool single = std::is_same_v<Precision, Mixed>;

  /// What direct sums are in.
  auto in_cell() const {
    if constexpr (engine::is_harmonic<Kernel>())
      return accuracy::direct_sums_in(
          kernel(), options_of_pairs(options_, tolerance_, traits_of_kernel(kernel_).has_far_from));
    else
      return none;
  }
  template <class Columns>
  using Rows = Kokkos::View<Columns, Kokkos::LayoutRight, Device<Space>,
                            Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  struct Results {
    Rows<double*> potential;  ///< (N)
    Rows<double* [3]> field;  ///< (N,3)
  };
  /// Arrays for n bodies in the buffer's memory.
  static Results results_in(Buffer<double, Space>& buffer, std::size_t n) {
    double* const first = buffer.resize(4 * n).data();
    return {Rows<double*>(first, n), Rows<double* [3]>(first + n, n)};
  }

  /// The L2 error of what the tolerance is of, in its units; both results are there.
  static double error_of(Space const& space, Results const& results, Results const& known,
                         Quantities of) {
    double largest = 0;
    of.each([&](Quantity one) {
      const auto columns = [&](Results const& of) {
        return one == Quantity::field
                   ? Rows<double**>(of.field.data(), of.field.extent(0), 3)
                   : Rows<double**>(of.potential.data(), of.potential.extent(0), 1);
      };
      largest =
          std::max(largest, likely_error(space, columns(results), columns(known)) / of.values(one));
    });
    return largest;
  }

  /// What errors are measured against.
  template <class Sources, class Charges>
  void find_field(Space const& space, Inputs<Sources, Charges> const& inputs,
                  HighestOrder const& highest, Results const& results) const {
    const std::int64_t like_bodies = options_.periodic ? 4 : 1;  // each, of Ewald's sums
    if (are_few(inputs.sources.extent(0) * like_bodies, is_host_space_v<Space>))
      return direct_results(space, kernel(), inputs.sources, inputs.charges, results.potential,
                            results.field, in_cell());
    SolverCore<Kernel, DualTree<MultipolePowerCriterion>, double, Space, DoubleInTwoParts> solver(
        known_field_options(options_, tolerance_, highest.facts.order,
                            traits_of_kernel(kernel_).has_far_from),
        kernel_, highest.facts);
    auto plan = solver.build(space, inputs, nullptr);
    solver.evaluate(space, *plan, highest.far_field,
                    EvaluationEnds{inputs.charges, results.potential, results.field}, nullptr);
    space.fence();  // the solver's memory goes now
  }

  template <class Sources, class Charges>
  static std::shared_ptr<Data> build_by(OneSetting& any, Space const& space,
                                        Inputs<Sources, Charges> const& inputs, Report* report) {
    if (auto* const by_powers = std::get_if<ByPowers>(&any))
      return by_powers->build(space, inputs, report);
    return std::get<ByRadii>(any).build(space, Inputs<Sources>{inputs.sources}, report);
  }

  static int default_leaf(int order) {
    return Tuning<Space, real_t<Precision>>::leaf_capacity_by_power(order);
  }

  int order_of(int index) const { return orders_[index].facts.order; }
  int index_of(int order) const {
    int index = 0;
    while (order_of(index) != order) ++index;
    return index;
  }
  std::vector<int> orders() const {
    std::vector<int> numbers;
    for (Order const& order : orders_) numbers.push_back(order.facts.order);
    return numbers;
  }
  template <class Sources, class Charges>
  Cancellation seen_in(Space const& space, Inputs<Sources, Charges> const& inputs) const {
    Cancellation seen = cancellation_of(space, kernel_, inputs.sources, inputs.charges, in_cell());
    if (options_.error_norm == ErrorNorm::p99)
      seen.far_share = far_share_of(space, kernel_, inputs.sources, inputs.charges, in_cell());
    return seen;
  }
  /// The index of the order that holds the tolerance at the least cost, as a rule.
  int first_order(Cancellation charges) const {
    const double tolerance =
        tolerance_ * (options_.error_norm == ErrorNorm::p99 ? constants.tolerance_for_own : 1);
    return int(nearest_order(tolerance, {is_host_space_v<Space>, single}, charges, orders()));
  }

  /// A solver of that setting alone.
  OneSetting with(Setting const& setting) const {
    Options options = with_setting(options_, setting);
    if (traits_of_kernel(kernel_).has_far_from && !options.softening_error)
      options.softening_error = constants.softening_error * tolerance_;
    Order const& order = orders_[index_of(setting.order)];
    if (setting.by_power) return OneSetting(std::in_place_type<ByPowers>, options, kernel_, order);
    auto facts = order.facts;
    facts.has_p2l = false;  // RadiusCriterion knows M2L only
    return OneSetting(std::in_place_type<ByRadii>, options, kernel_, facts);
  }

  double tolerance_;
  Options options_;
  Kernel kernel_;
  std::vector<Order> orders_;
  ByPowers solver_;
  bool is_for_charges_ = false;  ///< whether its order was chosen for charges that were there
};

}  // namespace fmm::tolerance
