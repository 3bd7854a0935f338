// SPDX-License-Identifier: BSD-3-Clause
// What is behind a solver's interface: its expansions' operators, the steps of an evaluation for callers that compose
// these themselves, and the way from what a caller hands in to the core.
#pragma once

#include "batch_plan.hpp"
#include "engine/any_strengths.hpp"
#include "engine/far_field_of.hpp"
#include "engine/m2l_in_orders.hpp"
#include "engine/solver_core.hpp"
#include "methods.hpp"
#include "plan.hpp"
#include "report.hpp"
#include "results.hpp"
#include "strengths.hpp"
#include "tuning.hpp"
#include "two_set_plan.hpp"

namespace fmm {

/// The base of Solver, whose template parameters it has.
template <class Kernel, class Method, class Precision, class ExecutionSpace>
class SolverSteps {
  static_assert(engine::check_policies<Kernel, Method, Precision, ExecutionSpace>());

 protected:
  using Real = real_t<Precision>;
  using Traversal = typename Method::traversal;
  using Site = site_t<ExecutionSpace>;
  using Core = engine::SolverCore<Kernel, Traversal, Precision, Site>;
  using Data = typename Core::Data;
  using TwoSets = TwoSetPlan<ExecutionSpace, Precision>;
  using Batches = BatchPlan<ExecutionSpace, Precision>;
  static constexpr bool is_direct = std::is_same_v<Method, DirectSum>;
  template <class SomePlan>
  static constexpr bool is_plan =
      std::is_same_v<SomePlan, Plan<ExecutionSpace, Precision>> ||
      std::is_same_v<SomePlan, TwoSets> || std::is_same_v<SomePlan, Batches>;
  using Expansion = kernels::expansion_t<Kernel, Method::order, Real, typename Method::translation>;
  static constexpr bool has_p2l = Method::has_locals && !tree::traits_v<Traversal>.only_m2l &&
                                  kernels::has_p2l<kernels::basis_t<Expansion>>();

 public:
  using execution_space = ExecutionSpace;
  using kernel_type = Kernel;
  using precision = Precision;
  using plan_type = Plan<ExecutionSpace, Precision>;
  static constexpr int order = Method::order;
  /// Whether `build` takes charges: where the traversal's criterion uses them.
  static constexpr bool uses_charges = tree::traits_v<Traversal>.uses_charges;
  /// Whether it takes the last step's field, too.
  static constexpr bool uses_last_field = tree::traits_v<Traversal>.uses_last_field;

  /// Validates `options` and fills in the defaults. Throws InvalidArgument.
  explicit SolverSteps(Options const& options = {}, Kernel kernel = {})
      : core_(options, kernel, expansion_facts()) {}

  /// With defaults filled in; only a uniform tree's depth may still be open (see Plan::depth). Of a kernel that was
  /// handed in with a softening or G of its own kernel() tells those in force.
  Options const& options() const { return core_.options(); }
  Kernel const& kernel() const { return core_.kernel(); }

  /// The far field's operators in trees over that cube, for outputs and strengths of kernels/strengths.hpp, of sources
  /// at a shift (cells/sets.hpp).
  template <class Out, class Shift = OneSet, class Strengths = kernels::Charges<>>
  std::unique_ptr<engine::FarField<Site, Precision, Out, Shift, Strengths> const> operators(
      tree::Cube const& cube) const {
    return make_operators<Out, Shift, Strengths>(kernel(), cube);
  }
  /// The same of any kernel.
  template <class Out, class Shift = OneSet, class Strengths = kernels::Charges<>>
  static std::unique_ptr<engine::FarField<Site, Precision, Out, Shift, Strengths> const>
  make_operators(Kernel const& kernel, tree::Cube const& cube) {
    using Scheme = engine::m2l_scheme_t<Method>;
    return std::make_unique<
        engine::FarFieldOf<Expansion, Scheme, Site, Precision, Out, Shift, Strengths>>(
        kernels::make_expansion<Expansion>(kernel, cube.edge));
  }
  /// What a build of these positions chooses. Waits for a reduction.
  template <class Positions>
  engine::BuildChoices choose(ExecutionSpace const& space, Positions const& positions) const {
    engine::check_view<ExecutionSpace, Positions, 2>();
    return core_.choose(space, positions);
  }
  /// The powers of the expansion's multipoles in trees over that cube, for criteria that use powers.
  engine::PowersOf<Site, Real> powers_of(tree::Cube const& cube) const {
    return make_powers(kernel(), cube);
  }
  /// What a core is to know of the expansions.
  static engine::ExpansionFacts<Kernel, Site, Precision> expansion_facts() {
    if constexpr (tree::traits_v<Traversal>.uses_powers)
      return {order, has_p2l, &make_powers};
    else
      return {order, has_p2l, nullptr};
  }
  /// What lists are to know of the expansions.
  engine::FarFieldRule far_field() const { return core_.far_field(); }
  /// Throws InvalidArgument unless these arrays have the plan's size, and the plan's lists serve this solver.
  template <class Charges, class Potential, class Field>
  void check(plan_type const& plan, Charges const& charges, Potential const& potential,
             Field const& field) const {
    core_.check(plan.data(), engine::EvaluationEnds{charges, potential, field});
  }
  /// An evaluation with a plan of one body or more that is as `check` wants it.
  template <class Out, class Strengths = kernels::Charges<>>
  engine::Evaluation<Site, Precision, Out, OneSet, Strengths> evaluation(
      ExecutionSpace const& space, plan_type& plan, Report* report) const {
    return {space, operators<Out, OneSet, Strengths>(plan.data().tree.cube), plan.data(),
            kernels::profile_of(kernel()), report};
  }
  /// The lists of a criterion that uses charges, once the plan has these and, if it uses powers, `multipoles`. False if
  /// periodic images had to be made for them: then multipoles are to be made again, and lists after them.
  bool list(ExecutionSpace const& space, Data& data, Array<Real, Site> multipoles, Report* report) {
    return core_.list(space, data, multipoles, report);
  }
  /// Bytes that the solver's plans hold in the execution space's memory.
  std::size_t memory_bytes() const { return core_.memory_bytes(); }

 protected:
  /// From `given` charges or fmm::Strengths.
  template <class SomePlan, class Given, class SomeResults, class SomeExclusions = None>
  void evaluate_any(ExecutionSpace const& space, SomePlan& plan, Given const& given,
                    SomeResults const& results, Report* report,
                    SomeExclusions const& exclusions = {}) {
    static_assert(
        is_plan<SomePlan>,
        "fmm: the plan is one of this solver's `build`: of its execution space and precision");
    engine::for_ends<Precision, uses_charges>(
        Site(space), plan.data(), kernel(), given, results, report,
        [&](auto const& ends) { evaluate_ends(space, plan, ends, report, exclusions); });
  }
  template <class SomePlan, class Ends, class SomeExclusions>
  void evaluate_ends(ExecutionSpace const& space, SomePlan& plan, Ends const& ends, Report* report,
                     SomeExclusions const& exclusions) {
    if constexpr (std::is_same_v<SomePlan, Batches>)
      core_.evaluate_batch(space, plan.data(), ends, report);
    else if constexpr (!std::is_same_v<SomeExclusions, None>)
      core_.evaluate_without(exclusions, space, plan.data(), operators_for<SomePlan, Ends>(), ends,
                             report);
    else
      core_.evaluate(space, plan.data(), operators_for<SomePlan, Ends>(), ends, report);
  }
  /// What makes the operators of an evaluation; with DirectSum there are none.
  template <class SomePlan, class Ends>
  static constexpr auto operators_for() {
    using Shift = std::conditional_t<std::is_same_v<SomePlan, TwoSets>, NoShift, OneSet>;
    if constexpr (is_direct)
      return nullptr;
    else
      return &make_operators<typename Ends::Out, Shift, typename Ends::Strengths>;
  }
  static engine::PowersOf<Site, Real> make_powers(Kernel const& kernel, tree::Cube const& cube) {
    return [expansion = kernels::make_expansion<Expansion>(kernel, cube.edge)](
               auto const& space, std::int64_t cells, auto const& multipoles, auto const& powers) {
      kernels::multipole_powers<Expansion>(space, cells, multipoles, powers, expansion);
    };
  }

  Core core_;
};

}  // namespace fmm
