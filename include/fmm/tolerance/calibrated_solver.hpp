// SPDX-License-Identifier: BSD-3-Clause
// An FMM of one order that is told an error, and finds for the bodies at hand what holds it.
#pragma once

#include "../solver.hpp"
#include "calibrated_core.hpp"

namespace fmm {

/// Potential and field by FMM of order `Order` with a relative error, of Options::tolerance_of and ::error_norm, of at
/// most Options::tolerance.
/// Before anything is known of the bodies, a pair_error of MultipolePowerCriterion is taken that is safe. The first
/// evaluation of 20,000 bodies or more, or for own errors of any, finds, at a sample of them, how large pair_error
/// may be, or RadiusCriterion's theta where that costs less; it is verified, and evaluations of bodies like them keep
/// what was found (docs/math.md). ToleranceSolver chooses the order, too.
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
  using OfOrder =
      Solver<Kernel, Fmm<Order, DualTree<MultipolePowerCriterion>>, Precision, ExecutionSpace>;
  using Core = tolerance::CalibratedCore<Kernel, Precision, site_t<ExecutionSpace>>;

 public:
  using execution_space = ExecutionSpace;
  using plan_type = Plan<ExecutionSpace, Precision>;
  static constexpr int order = Order;
  static constexpr bool uses_charges = true;
  static constexpr bool uses_last_field = false;

  /// With Options::tolerance, theta, pair_error and one_part must not be set. Without one, pair_error is taken as it
  /// is: one that is known to hold a tolerance for such bodies. Throws InvalidArgument, for a tolerance that the
  /// precision does not reach, too.
  explicit CalibratedSolver(Options const& options, Kernel kernel = {})
      : core_(options, kernel, tolerance::order_of_many<OfOrder>()) {}

  /// As asked for, with defaults filled in. What an evaluation goes by is in Report::found.
  Options const& options() const { return core_.options(); }
  Kernel const& kernel() const { return core_.kernel(); }

  /// A plan for Inputs of positions and charges, as of Solver.
  template <class Given>
  plan_type build(ExecutionSpace const& space, Given const& inputs, Report* report = nullptr) {
    return plan_type(core_.build(space, tolerance::checked_inputs<ExecutionSpace>(inputs), report));
  }

  /// Potential (N) and field (N,3) of all bodies from (N) `charges`, as of Solver. Throws InvalidArgument, besides, for
  /// a tolerance that is not reached. Cost: as of ToleranceSolver.
  template <class Charges, class Potential, class Field>
  void evaluate(ExecutionSpace const& space, plan_type& plan, Charges const& charges,
                Potential const& potential, Field const& field, Report* report = nullptr) {
    core_.evaluate(space, plan.data(),
                   &OfOrder::template make_operators<engine::OutputsOf<Potential, Field>>,
                   engine::EvaluationEnds{charges, potential, field}, report);
  }

 private:
  Core core_;
};

}  // namespace fmm
