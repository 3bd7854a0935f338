// SPDX-License-Identifier: BSD-3-Clause
// A solver that is told an error, and finds order and criterion itself.
//
//     fmm::ToleranceSolver<fmm::SoftenedGravity> solver({.tolerance = 1e-5});
//     solver.tune(space, fmm::Inputs{positions, masses});             // perhaps: (N,3), (N)
//     auto plan = solver.build(space, fmm::Inputs{positions, masses});
//     solver.evaluate(space, plan, masses, potential, acceleration);  // (N), (N), (N,3)
#pragma once

#include <algorithm>

#include "../solver.hpp"
#include "all_pairs_core.hpp"
#include "tolerance_core.hpp"
#include "verified_plan.hpp"

namespace fmm {

/// Expansion orders of an FMM that are compiled in, in ascending order.
template <int... Order>
struct Orders {
  static_assert(sizeof...(Order) > 0, "fmm: Orders needs an order");
  template <int P>
  using method = Fmm<P, DualTree<MultipolePowerCriterion>>;
  template <int P>
  using by_radii = Fmm<P, DualTree<RadiusCriterion>>;
};
/// The same of a treecode.
template <int... Order>
struct TreecodeOrders {
  static_assert(sizeof...(Order) > 0, "fmm: TreecodeOrders needs an order");
  template <int P>
  using method = Treecode<P, DualTree<MultipolePowerCriterion>>;
  template <int P>
  using by_radii = Treecode<P, DualTree<RadiusCriterion>>;
};

/// Potential and field by FMM or treecode with a relative error, of Options::tolerance_of and ::error_norm, of at most
/// Options::tolerance: by default sqrt(sum |a - a_exact|^2 / sum |a_exact|^2). Chooses one of the `OrderList`, Orders
/// or TreecodeOrders, for it, a higher one if the charges of the first build cancel, and, unless that is set,
/// Options::softening_error. The first evaluation finds the
/// MultipolePowerCriterion's pair_error for its bodies and charges, or the RadiusCriterion's theta where that costs
/// less, and is verified; evaluations of others like them keep it (docs/math.md). The fewer
/// orders there are, the more it costs, not the more it errs. `tune` finds by measurement what costs least for bodies
/// like those at hand.
///
/// Kernel, ExecutionSpace   as in Solver
/// Precision                the same; float means Mixed, without which close pairs may err by more (but see tune)
///
/// Not to be used from two threads at a time.
template <class Kernel, class OrderList = Orders<2, 3, 4, 5, 6, 8, 10, 12, 16>,
          class Precision = Mixed, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class ToleranceSolver;

template <class Kernel, template <int...> class OrderList, int... Order, class Precision,
          class ExecutionSpace>
class ToleranceSolver<Kernel, OrderList<Order...>, Precision, ExecutionSpace> {
  using UsedPrecision = std::conditional_t<std::is_same_v<Precision, float>, Mixed, Precision>;
  using Site = site_t<ExecutionSpace>;
  using Core = tolerance::ToleranceCore<Kernel, UsedPrecision, Site>;
  template <int P, class RealPrecision = UsedPrecision>
  using OfOrder = Solver<Kernel, typename OrderList<Order...>::template method<P>, RealPrecision,
                         ExecutionSpace>;

 public:
  using execution_space = ExecutionSpace;
  using plan_type = Plan<ExecutionSpace, UsedPrecision>;
  template <bool HasTargets>
  using AnyStrengths = VerifiedPlan<Kernel, ExecutionSpace, UsedPrecision, HasTargets>;
  static constexpr bool uses_charges = true;
  static constexpr bool uses_last_field = false;

  /// Options::tolerance is required; theta, pair_error and one_part must not be set. Throws InvalidArgument, for a
  /// tolerance that the precision does not reach, too.
  explicit ToleranceSolver(Options const& options, Kernel kernel = {})
      : core_(options, kernel, {tolerance::order_of_many<OfOrder<Order>>()...}), asked_(options) {}

  /// The order in force; before the first build the one for charges of one sign.
  int order() const { return core_.order(); }
  /// As asked for, with the defaults of the order that was chosen; after `tune` with the leaf capacity and parts that
  /// it found. What an evaluation goes by is in Report::found.
  Options const& options() const { return core_.options(); }
  Kernel const& kernel() const { return core_.kernel(); }

  /// A plan for Inputs of positions and charges. The first build chooses the order, for such charges, and
  /// later ones keep it, but for one on a GPU in mixed precision, where an evaluation before it found that near fields
  /// are most of the work: plans that are there are evaluated with the new order then, too. Throws InvalidArgument for
  /// positions or charges that are not finite, and OutOfMemory. Cost: as of Solver; the first time two reductions over
  /// the charges more, and 256 N pairs if these have both signs.
  template <class Sources, class Charges, class Targets, class LastField>
    requires(!std::is_same_v<Charges, None>)
  plan_type build(ExecutionSpace const& space,
                  Inputs<Sources, Charges, Targets, LastField> const& inputs,
                  Report* report = nullptr) {
    return plan_type(core_.build(space, tolerance::checked_inputs<ExecutionSpace>(inputs), report));
  }
  /// Potential (N) and field (N,3) of all bodies from (N) `charges`, in the caller's order, as of Solver. Throws
  /// InvalidArgument before any result is touched, for a tolerance that is not reached, too. Cost: O(N), or of a
  /// treecode O(N log N). The first
  /// time, every 32nd time, and where bodies are no longer like those before, it is verified: a stricter evaluation,
  /// whose memory is there for as long, and 128 to 4096 N pairs, and again where it is not held; of 20,000 bodies or
  /// more also 2 to 14 evaluations for a sample of them (tolerance/sample.hpp). For own errors 8192 N pairs in double,
  /// and up to 14 evaluations for 4096 bodies. For potentials 256 N pairs more.
  template <class Charges, class Potential, class Field>
  void evaluate(ExecutionSpace const& space, plan_type& plan, Charges const& charges,
                Potential const& potential, Field const& field, Report* report = nullptr) {
    core_.evaluate(space, plan.data(), operators<engine::OutputsOf<Potential, Field>>(),
                   engine::EvaluationEnds{charges, potential, field}, report);
  }

  /// A plan for any strengths, of Inputs without charges: sources and, if there are any, targets, (M,3) positions or
  /// (M) numbers of sources. It keeps the positions, 24 bytes each; trees, and lists of the geometry alone, are made by
  /// the first evaluation, whose verification keeps about 100 bytes a body more until the plan is frozen. Throws
  /// InvalidArgument for positions that are not finite, for numbers that are not sources', and for ErrorNorm::p99, and
  /// OutOfMemory.
  template <class Sources, class Targets, class LastField>
  auto build(ExecutionSpace const& space, Inputs<Sources, None, Targets, LastField> const& inputs) {
    static_assert(std::is_same_v<LastField, None>, "fmm: a tolerance takes no last_field");
    static_assert(tolerance::check_points<ExecutionSpace, Sources>());
    static_assert(tolerance::check_points<ExecutionSpace, Targets>());
    constexpr bool has_targets = !std::is_same_v<Targets, None> && !engine::are_numbers_v<Targets>;
    return AnyStrengths<has_targets>(
        verified().template build<has_targets>(Site(space), inputs.sources, inputs.targets));
  }
  /// Short for `Inputs{.sources = positions}`.
  template <class Positions>
  requires Kokkos::is_view<Positions>::value auto build(ExecutionSpace const& space,
                                                        Positions const& positions) {
    return build(space, Inputs<Positions>{positions});
  }
  /// Other targets for such a plan: (M,3) positions anywhere, or (M) numbers of sources, or fmm::none: all sources. The
  /// next evaluation makes trees of both sets anew, and is verified.
  template <bool HasTargets, class Targets>
  void retarget(ExecutionSpace const& space, AnyStrengths<HasTargets>& plan,
                Targets const& targets) {
    static_assert(tolerance::check_points<ExecutionSpace, Targets>());
    static_assert(HasTargets != (engine::are_numbers_v<Targets> || std::is_same_v<Targets, None>),
                  "fmm: a plan has targets of their own, or its sources, from the beginning");
    verified().retarget(Site(space), plan.data(), targets);
  }
  /// Any of potential, field and Hessian at the targets from charges, dipoles or both, of one density or of several, as
  /// of Solver. The tolerance is held for each density by its own norm, or a thousandth of what the nearest sources
  /// exert where that is more. Throws InvalidArgument before any result is touched, for a tolerance that is not
  /// reached, too. Cost: O(N); all pairs of few bodies (2.4e6, 2^28 on a GPU), in double; of up to 64 sources that
  /// carry anything, 512 on a GPU, their terms one by one. The first evaluation with a plan, those whose strengths are
  /// elsewhere than in the last ones, and some others are compared with one in double of the highest order, and made
  /// again where they err; all others with sums over all sources at 16 to 256 targets, on a GPU four times as many.
  /// Results wait in double until then.
  template <bool HasTargets, class SomeStrengths, class Potential, class Field, class Hessian>
  void evaluate(ExecutionSpace const& space, AnyStrengths<HasTargets>& plan,
                SomeStrengths const& strengths, Results<Potential, Field, Hessian> const& results,
                Report* report = nullptr) {
    verified().evaluate(Site(space), plan.data(), strengths, results, none, report);
  }
  /// The same of potential and field.
  template <bool HasTargets, class SomeStrengths, class Potential, class Field>
  void evaluate(ExecutionSpace const& space, AnyStrengths<HasTargets>& plan,
                SomeStrengths const& strengths, Potential const& potential, Field const& field,
                Report* report = nullptr) {
    evaluate(space, plan, strengths, Results<Potential, Field>{potential, field}, report);
  }
  /// The same without some pairs, of one set: the tolerance holds for what remains.
  template <class SomeStrengths, class Potential, class Field, class Hessian, class Offsets,
            class Bodies>
  void evaluate(ExecutionSpace const& space, AnyStrengths<false>& plan,
                SomeStrengths const& strengths, Results<Potential, Field, Hessian> const& results,
                Exclusions<Offsets, Bodies> const& exclusions, Report* report = nullptr) {
    static_assert(engine::check_whole_numbers<ExecutionSpace, Offsets>());
    static_assert(engine::check_whole_numbers<ExecutionSpace, Bodies>());
    verified().evaluate(Site(space), plan.data(), strengths, results, exclusions, report);
  }
  /// Has such a plan, once it was evaluated, stay as it is: evaluations with it are a linear operator then, for Krylov
  /// methods and adjoints, whose results are no longer compared with others, and few sources no longer summed term by
  /// term. The error is bounded relative to the field of the magnitudes, not to the field, for strengths of the kinds,
  /// and results, that the plan was evaluated for before: a few tolerances (docs/math.md, "Any strengths"). Throws
  /// InvalidArgument for a plan that was not evaluated since it was built or got other targets, or only with strengths
  /// of 0 or of few sources, unless it sums all pairs.
  template <bool HasTargets>
  void freeze(AnyStrengths<HasTargets>& plan) {
    verified().freeze(plan.data());
  }
  /// A frozen plan of the transposed sums, as of Solver, of a frozen plan; not of one of chosen targets.
  template <bool HasTargets>
  AnyStrengths<HasTargets> transposed(ExecutionSpace const& space,
                                      AnyStrengths<HasTargets> const& plan,
                                      Report* report = nullptr) {
    static_assert(engine::check_transposed<
                  typename OrderList<Order...>::template by_radii<std::max({Order...})>, false>());
    return AnyStrengths<HasTargets>(verified().transposed(Site(space), plan.data(), report));
  }

  /// Tries orders, leaf capacities (unless the options say), MultipolePowerCriterion with larger
  /// pair_errors, RadiusCriterion and coordinates in one part on these (N,3) positions
  /// and (N) charges, and takes the fastest setting whose error over all bodies, with room for what
  /// differs among bodies of one distribution, is at most 0.9 of the tolerance; where there is none,
  /// as where all fields are 0, the solver stays as it is. Evaluations begin with that setting, and
  /// are verified as all others: it is for bodies that are distributed alike, in number, too, and
  /// costs time for others. Plans that were made before keep their leaves. Results depend
  /// on the times that were measured, as far as the tolerance allows. Throws InvalidArgument for
  /// what `build` and `evaluate` would refuse. Cost: about a hundred builds and evaluations, and one
  /// in double within a twentieth of the tolerance, or a direct sum of few bodies (32,768; 262,144
  /// on a GPU); memory: 64 bytes a body, and what that one evaluation takes.
  template <class Sources, class Charges>
  Tuned tune(ExecutionSpace const& space, Inputs<Sources, Charges> const& inputs) {
    constexpr int highest = std::max({Order...});
    return core_.tune(space, tolerance::checked_inputs<ExecutionSpace>(inputs),
                      tolerance::order_of_many<OfOrder<highest, double>>());
  }

 private:
  template <int P, class RealPrecision = UsedPrecision>
  using ByRadii = Solver<Kernel, typename OrderList<Order...>::template by_radii<P>, RealPrecision,
                         ExecutionSpace>;
  /// Operators of plans for any strengths.
  struct Family {
    template <class Out, class Shift, class Strengths>
    static auto far_field(int order) {
      engine::MakeFarField<Kernel, Site, UsedPrecision, Out, Shift, Strengths> found = nullptr;
      ((Order == order
            ? void(found = &ByRadii<Order>::template make_operators<Out, Shift, Strengths>)
            : void()),
       ...);
      return found;
    }
    template <class Out, class Shift, class Strengths>
    static auto known_far_field(int) {
      return &ByRadii<std::max({Order...}), double>::template make_operators<Out, Shift, Strengths>;
    }
  };
  using Verified = tolerance::VerifiedCore<Kernel, UsedPrecision, Site, Family>;

  Verified& verified() {
    if (!verified_) verified_.emplace(asked_, core_.kernel(), std::vector<int>{Order...});
    return *verified_;
  }
  /// Those of the order in force.
  template <class Out>
  engine::MakeFarField<Kernel, Site, UsedPrecision, Out> operators() const {
    engine::MakeFarField<Kernel, Site, UsedPrecision, Out> found = nullptr;
    ((Order == order() ? void(found = &OfOrder<Order>::template make_operators<Out>) : void()),
     ...);
    return found;
  }

  Core core_;
  Options asked_;
  std::optional<Verified> verified_;  ///< from the first plan for any strengths on
};

/// The same by all pairs, in double whatever the precision: what rounding leaves of a tolerance is seen at 512 bodies,
/// and a tolerance that it breaks is refused. Cost: N^2 pairs, and 1024 N. For any strengths there is
/// Solver<Kernel, DirectSum, double>.
template <class Kernel, class Precision, class ExecutionSpace>
class ToleranceSolver<Kernel, DirectSum, Precision, ExecutionSpace> {
  using Core = tolerance::AllPairsCore<Kernel, site_t<ExecutionSpace>>;

 public:
  using execution_space = ExecutionSpace;
  using plan_type = Plan<ExecutionSpace, double>;
  static constexpr bool uses_charges = true;
  static constexpr bool uses_last_field = false;

  /// Options::tolerance is required. Throws InvalidArgument.
  explicit ToleranceSolver(Options const& options, Kernel kernel = {}) : core_(options, kernel) {}

  Options const& options() const { return core_.options(); }
  Kernel const& kernel() const { return core_.kernel(); }

  /// A plan for Inputs of positions and charges, of which it takes the positions, as of Solver.
  template <class Given>
  plan_type build(ExecutionSpace const& space, Given const& inputs, Report* report = nullptr) {
    return plan_type(core_.build(space, tolerance::checked_inputs<ExecutionSpace>(inputs), report));
  }
  /// Potential (N) and field (N,3) of all bodies from (N) `charges`, in the caller's order. Throws InvalidArgument
  /// before any result is touched.
  template <class Charges, class Potential, class Field>
  void evaluate(ExecutionSpace const& space, plan_type& plan, Charges const& charges,
                Potential const& potential, Field const& field, Report* report = nullptr) {
    core_.evaluate(space, plan.data(), engine::EvaluationEnds{charges, potential, field}, report);
  }

 private:
  Core core_;
};

}  // namespace fmm
