// SPDX-License-Identifier: BSD-3-Clause
// A solver that is told an error, and finds order and criterion itself.
//
//     fmm::ToleranceSolver<fmm::SoftenedGravity> solver({.tolerance = 1e-5});
//     auto plan = solver.build(space, positions, masses);             // (N,3), (N)
//     solver.evaluate(space, plan, masses, potential, acceleration);  // (N), (N), (N,3)
#pragma once

#include <utility>
#include <variant>

#include "detail/order_choice.hpp"
#include "solver.hpp"

namespace fmm {

/// Expansion orders that are compiled in, in ascending order.
template <int... Order>
struct Orders {
  static_assert(sizeof...(Order) > 0, "fmm: Orders needs an order");
};

/// Potential and field by FMM with a relative L2 error of the field, sqrt(sum |a - a_exact|^2 / sum
/// |a_exact|^2), of at most Options::tolerance. Chooses one of the `OrderList` for it, and the
/// PowerCriterion's pair_error. The fewer orders there are, the more it costs, not the more it errs.
///
/// Kernel, ExecutionSpace   as in Solver
/// Precision                the same; float means Mixed, without which close pairs may err by more
///
/// Not to be used from two threads at a time.
template <class Kernel, class OrderList = Orders<2, 3, 4, 5, 6, 8, 10, 12, 16>,
          class Precision = Mixed, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class ToleranceSolver;

template <class Kernel, int... Order, class Precision, class ExecutionSpace>
class ToleranceSolver<Kernel, Orders<Order...>, Precision, ExecutionSpace> {
  using UsedPrecision = std::conditional_t<std::is_same_v<Precision, float>, Mixed, Precision>;
  template <int P>
  using SolverOf =
      Solver<Kernel, P, Rotation, DualTree<PowerCriterion>, UsedPrecision, ExecutionSpace>;

 public:
  using execution_space = ExecutionSpace;
  using plan_type = Plan<ExecutionSpace, UsedPrecision>;
  static constexpr bool uses_charges = true;
  static constexpr bool uses_last_field = false;

  /// Options::tolerance is required; theta and pair_error must not be set. Throws InvalidArgument, for a
  /// tolerance that the precision does not reach, too.
  explicit ToleranceSolver(Options const& options, Kernel kernel = {})
      : solver_(make(options, kernel, std::make_index_sequence<sizeof...(Order)>())) {}

  /// The order that was chosen.
  int order() const {
    return std::visit([](auto const& solver) { return solver.order; }, solver_);
  }
  /// The options in force; those of the solver that was chosen.
  Options const& options() const {
    return std::visit([](auto const& solver) -> Options const& { return solver.options(); },
                      solver_);
  }
  Kernel const& kernel() const {
    return std::visit([](auto const& solver) -> Kernel const& { return solver.kernel(); }, solver_);
  }

  /// As of Solver, with a criterion that uses charges; `more` is a Report, or an ErrorSample and perhaps a
  /// Report*.
  template <class Positions, class Charges, class... Report>
  plan_type build(ExecutionSpace const& space, Positions const& positions, Charges const& charges,
                  Report&... report) {
    return std::visit(
        [&](auto& solver) { return solver.build(space, positions, charges, report...); }, solver_);
  }
  template <class Charges, class Potential, class Field, class... More>
  auto evaluate(ExecutionSpace const& space, plan_type const& plan, Charges const& charges,
                Potential const& potential, Field const& field, More&&... more) {
    return std::visit(
        [&](auto& solver) {
          return solver.evaluate(space, plan, charges, potential, field, more...);
        },
        solver_);
  }

 private:
  using AnySolver = std::variant<SolverOf<Order>...>;

  template <std::size_t... Index>
  static AnySolver make(Options options, Kernel const& kernel, std::index_sequence<Index...>) {
    if (!options.tolerance)
      throw InvalidArgument("tolerance", "none", allowed() + ": it has to be set");
    const double tolerance = *options.tolerance;
    if (!detail::is_reached(tolerance, single))
      throw InvalidArgument("tolerance", tolerance, allowed());
    for (auto const& [name, value] :
         {std::pair("theta", options.theta), std::pair("pair_error", options.pair_error)})
      if (value) throw InvalidArgument(name, *value, "not set, with a tolerance");
    options.tolerance = std::nullopt;
    constexpr int orders[] = {Order...};
    const std::size_t chosen =
        detail::nearest_order(tolerance, detail::is_host_space_v<ExecutionSpace>, orders);
    options.pair_error = detail::pair_error_for(tolerance, orders[chosen]);
    std::optional<AnySolver> solver;
    ((Index == chosen ? void(solver.emplace(std::in_place_index<Index>, options, kernel)) : void()),
     ...);
    return *std::move(solver);
  }

  static constexpr bool single = std::is_same_v<UsedPrecision, Mixed>;
  static std::string allowed() { return detail::reached_tolerances(single); }

  AnySolver solver_;
};

}  // namespace fmm
