// SPDX-License-Identifier: BSD-3-Clause
// A solver that is told an error, and finds order and criterion itself.
//
//     fmm::ToleranceSolver<fmm::SoftenedGravity> solver({.tolerance = 1e-5});
//     solver.tune(space, fmm::Inputs{positions, masses});             // perhaps: (N,3), (N)
//     auto plan = solver.build(space, fmm::Inputs{positions, masses});
//     solver.evaluate(space, plan, masses, potential, acceleration);  // (N), (N), (N,3)
#pragma once

#include <chrono>
#include <utility>
#include <variant>
#include <vector>

#include "../solver.hpp"
#include "autotuner.hpp"
#include "calibrated_solver.hpp"
#include "known_field.hpp"
#include "order_selection.hpp"

namespace fmm {

/// Expansion orders that are compiled in, in ascending order.
template <int... Order>
struct Orders {
  static_assert(sizeof...(Order) > 0, "fmm: Orders needs an order");
};

/// What ToleranceSolver::tune found.
struct Tuned {
  bool held;       ///< whether any setting was found; if not, the solver is as it was
  double error;    ///< relative L2 error of the field with it, its square three standard errors up
  double seconds;  ///< of a build and an evaluation with it
  int trials;      ///< settings that were tried
};

/// Potential and field by FMM with a relative L2 error of the field, sqrt(sum |a - a_exact|^2 / sum
/// |a_exact|^2), of at most Options::tolerance. Chooses one of the `OrderList` for it, a higher one if the charges of
/// the first build cancel, and, unless that is set, Options::softening_error. The first evaluation finds the
/// MultipolePowerCriterion's pair_error for its bodies and charges, or the RadiusCriterion's theta where that costs less, and
/// evaluations of others like them keep it (docs/math.md). The fewer orders there are, the more it costs, not the more
/// it errs. `tune` finds by measurement what costs least for bodies like those at hand.
///
/// Kernel, ExecutionSpace   as in Solver
/// Precision                the same; float means Mixed, without which close pairs may err by more (but see tune)
///
/// Not to be used from two threads at a time.
template <class Kernel, class OrderList = Orders<2, 3, 4, 5, 6, 8, 10, 12, 16>,
          class Precision = Mixed, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class ToleranceSolver;

template <class Kernel, int... Order, class Precision, class ExecutionSpace>
class ToleranceSolver<Kernel, Orders<Order...>, Precision, ExecutionSpace> {
  using UsedPrecision = std::conditional_t<std::is_same_v<Precision, float>, Mixed, Precision>;
  template <int P>
  using ByPowers = CalibratedSolver<Kernel, P, UsedPrecision, ExecutionSpace>;
  template <int P>
  using ByRadii = Solver<Kernel, Fmm<P, DualTree<RadiusCriterion>>, UsedPrecision, ExecutionSpace>;

 public:
  using execution_space = ExecutionSpace;
  using plan_type = Plan<ExecutionSpace, UsedPrecision>;
  static constexpr bool uses_charges = true;
  static constexpr bool uses_last_field = false;

  /// Options::tolerance is required; theta and pair_error must not be set. Throws InvalidArgument, for a
  /// tolerance that the precision does not reach, too.
  explicit ToleranceSolver(Options const& options, Kernel kernel = {})
      : tolerance_(tolerance::required(options, single)),
        options_(options),
        kernel_(kernel),
        solver_(make(orders[first_order({})], true, options_)) {}

  /// The order that was chosen; before the first build the one for charges of one sign.
  int order() const {
    return std::visit([](auto const& solver) { return solver.order; }, solver_);
  }
  /// As asked for, with the defaults of the order that was chosen; after `tune` with what that found. What an evaluation
  /// goes by is in Report::found.
  Options const& options() const {
    return std::visit([](auto const& solver) -> Options const& { return solver.options(); },
                      solver_);
  }
  Kernel const& kernel() const {
    return std::visit([](auto const& solver) -> Kernel const& { return solver.kernel(); }, solver_);
  }

  /// A plan for positions with charges. The first build chooses the order, for such charges, and
  /// later ones keep it. Throws InvalidArgument for positions or charges that are not finite, and
  /// OutOfMemory. Cost: as of Solver; the first time two reductions over the charges more, and
  /// 256 N pairs if these have both signs.
  template <class Sources, class Charges>
  plan_type build(ExecutionSpace const& space, Inputs<Sources, Charges> const& inputs,
                  Report* report = nullptr) {
    engine::check_view<ExecutionSpace, Sources, 2>();
    engine::check_view<ExecutionSpace, Charges, 1>();
    const detail::HostThread<ExecutionSpace> thread(space);
    if (!is_for_charges_) {
      const int best = orders[first_order(
          tolerance::cancellation_of(space, kernel_, inputs.sources, inputs.charges))];
      if (best != order()) solver_ = make(best, true, options_);
    }
    auto plan = build_by(solver_, space, inputs, report);
    is_for_charges_ = true;  // plans of another order could no longer be evaluated
    return plan;
  }
  /// Potential (N) and field (N,3) of all bodies from (N) `charges`, in the caller's order, as of Solver. Throws
  /// InvalidArgument before any result is touched. Cost: O(N); of 20,000 bodies or more the first time, every 32nd time, and where bodies
  /// are no longer like those before, also 2 to 14 evaluations for an eighth of them (1024 tiles if these are fewer).
  template <class Charges, class Potential, class Field>
  void evaluate(ExecutionSpace const& space, plan_type& plan, Charges const& charges,
                Potential const& potential, Field const& field, Report* report = nullptr) {
    evaluate_by(solver_, space, plan, charges, potential, field, report);
  }

  /// Tries orders, leaf capacities (unless the options say), MultipolePowerCriterion with larger
  /// pair_errors, RadiusCriterion and, in Mixed, coordinates in one part on these (N,3) positions
  /// and (N) charges, and takes the fastest setting whose error over all bodies, with room for what
  /// differs among bodies of one distribution, is at most 0.9 of the tolerance; where there is none
  /// the solver stays as it is. It is for bodies that are distributed alike, in number, too, and in
  /// float come no closer to each other: plans that were made before can no longer be evaluated.
  /// Results depend on the times that were measured, as far as the tolerance allows. Throws
  /// InvalidArgument for what `build` and `evaluate` would refuse. Cost: about a hundred builds and
  /// evaluations, and one in double within a twentieth of the tolerance, or a direct sum of few
  /// bodies (32,768; 262,144 on a GPU); memory: 64 bytes a body, and what that one evaluation
  /// takes.
  template <class Sources, class Charges>
  Tuned tune(ExecutionSpace const& space, Inputs<Sources, Charges> const& inputs) {
    const detail::HostThread<ExecutionSpace> thread(space);
    auto const& positions = inputs.sources;
    auto const& charges = inputs.charges;
    engine::check_extents("charges", charges, engine::checked_size("positions", positions));
    detail::Buffer<double, ExecutionSpace> known_numbers("tuning's known results");
    const auto known = results_in(known_numbers, charges.extent(0));
    find_field(space, positions, charges, known);
    detail::Buffer<double, ExecutionSpace> numbers("tuning's results");
    const auto results = results_in(numbers, charges.extent(0));

    const auto measure = [&](tolerance::Setting const& setting, double goal) {
      AnySolver solver = with(setting);
      const auto seconds = [&] {
        const auto start = std::chrono::steady_clock::now();
        auto plan = build_by(solver, space, inputs, nullptr);
        evaluate_by(solver, space, plan, charges, results.potential, results.field, nullptr);
        space.fence();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      };
      seconds();  // allocates, too
      tolerance::Trial trial{setting, tolerance::likely_error(space, results.field, known.field)};
      if (trial.error <= goal) trial.seconds = std::min(seconds(), seconds());
      return trial;
    };
    tolerance::SettingSearch search(tolerance::constants.tuned_error * tolerance_, {Order...},
                                    tolerance::leaves_to_try(options_), single, &default_leaf,
                                    measure);
    const tolerance::Trial found =
        search.fastest(first_order(tolerance::cancellation_of(space, kernel_, positions, charges)));
    const bool held = found.error <= tolerance_;
    if (held) {
      solver_ = with(found.setting);
      is_for_charges_ = true;
    }
    return {held, found.error, found.seconds, search.trials()};
  }

 private:
  static constexpr int orders[] = {Order...};
  using AnySolver = std::variant<ByPowers<Order>..., ByRadii<Order>...>;

  template <class Columns>
  using Rows = Kokkos::View<Columns, Kokkos::LayoutRight, Device<ExecutionSpace>,
                            Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  template <class Real>
  struct Results {
    Rows<Real*> potential;  ///< (N)
    Rows<Real* [3]> field;  ///< (N,3)
  };
  /// Arrays for n bodies in the buffer's memory.
  template <class Real>
  static Results<Real> results_in(detail::Buffer<Real, ExecutionSpace>& buffer, std::size_t n) {
    Real* const first = buffer.resize(4 * n).data();
    return {Rows<Real*>(first, n), Rows<Real* [3]>(first + n, n)};
  }

  /// The field that errors are measured against, and perhaps the potential.
  template <class Positions, class Charges>
  void find_field(ExecutionSpace const& space, Positions const& positions, Charges const& charges,
                  Results<double> const& results) const {
    if (tolerance::are_few(positions.extent(0), detail::is_host_space_v<ExecutionSpace>))
      return tolerance::direct_field(space, kernel(), positions, charges, results.field);
    constexpr int order = std::max({Order...});
    Solver<Kernel, Fmm<order, DualTree<MultipolePowerCriterion>>, double, ExecutionSpace> solver(
        tolerance::known_field_options(options_, tolerance_, order, kernels::HasFarFrom<Kernel>),
        kernel_);
    auto plan = solver.build(space, Inputs<Positions, Charges>{positions, charges});
    solver.evaluate(space, plan, charges, results.potential, results.field);
    space.fence();  // the solver's memory goes now
  }

  template <class Sources, class Charges>
  static plan_type build_by(AnySolver& any, ExecutionSpace const& space,
                            Inputs<Sources, Charges> const& inputs, Report* report) {
    return std::visit(
        [&]<class Chosen>(Chosen& solver) {
          if constexpr (Chosen::uses_charges)
            return solver.build(space, inputs, report);
          else
            return solver.build(space, inputs.sources, report);
        },
        any);
  }
  template <class Charges, class Potential, class Field>
  static void evaluate_by(AnySolver& any, ExecutionSpace const& space, plan_type& plan,
                          Charges const& charges, Potential const& potential, Field const& field,
                          Report* report) {
    std::visit(
        [&](auto& solver) { solver.evaluate(space, plan, charges, potential, field, report); },
        any);
  }

  static constexpr bool single = std::is_same_v<UsedPrecision, Mixed>;
  static int default_leaf(int order) {
    return Tuning<ExecutionSpace, real_t<UsedPrecision>>::leaf_capacity_by_power(order);
  }

  /// The index of the order that holds the tolerance at the least cost, as a rule.
  int first_order(tolerance::Cancellation charges) const {
    return int(tolerance::nearest_order(
        tolerance_, {detail::is_host_space_v<ExecutionSpace>, single}, charges, orders));
  }
  AnySolver with(tolerance::Setting const& setting) const {
    Options options = tolerance::with_setting(options_, setting);
    if (kernels::HasFarFrom<Kernel> && !options.softening_error)
      options.softening_error = tolerance::constants.softening_error * tolerance_;
    return make(setting.order, setting.by_power, options);
  }

  /// The solver of one of the orders, by MultipolePowerCriterion or else RadiusCriterion; `Index` looks for it.
  template <std::size_t Index = 0>
  AnySolver make(int order, bool by_power, Options const& options) const {
    constexpr std::size_t count = sizeof...(Order);
    if constexpr (Index + 1 < count)
      if (orders[Index] != order) return make<Index + 1>(order, by_power, options);
    if (by_power) return AnySolver(std::in_place_index<Index>, options, kernel_);
    return AnySolver(std::in_place_index<count + Index>, options, kernel_);
  }

  double tolerance_;
  Options options_;
  Kernel kernel_;
  AnySolver solver_;
  bool is_for_charges_ = false;  ///< whether its order was chosen for charges that were there
};

}  // namespace fmm
