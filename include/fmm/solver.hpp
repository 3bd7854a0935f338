// SPDX-License-Identifier: BSD-3-Clause
// The solver: composes kernels and trees. `build` makes a plan from positions, `evaluate` sums with it.
//
//     fmm::Solver<fmm::SoftenedGravity, fmm::Fmm<6>> solver({.softening = 0.01});
//     auto plan = solver.build(space, positions);                 // (N,3)
//     solver.evaluate(space, plan, masses, potential, acceleration);  // (N), (N), (N,3)
//
//     auto plan = solver.build(space, fmm::Inputs{.sources = positions, .targets = points});  // (N,3), (M,3)
//     solver.evaluate(space, plan, masses, potential, acceleration);                          // (N), (M), (M,3)
//
// Definitions (docs/math.md): Laplace phi_i = sum_(j/=i) q_j / r_ij and field = -grad phi; gravity
// phi_i = -G sum_(j/=i) m_j / sqrt(r^2 + eps^2) and field = acceleration = -grad phi; SplineGravity has the
// same potential at r = 0 and is exactly 1/r from 2.8 eps on.
#pragma once

#include "batch.hpp"
#include "batch_plan.hpp"
#include "engine/density_blocks.hpp"
#include "engine/far_field_of.hpp"
#include "engine/m2l_in_orders.hpp"
#include "engine/solver_core.hpp"
#include "exclusions.hpp"
#include "inputs.hpp"
#include "methods.hpp"
#include "plan.hpp"
#include "report.hpp"
#include "results.hpp"
#include "strengths.hpp"
#include "tuning.hpp"
#include "two_set_plan.hpp"

namespace fmm {

/// Sums a pair kernel over all pairs of bodies.
///
/// Kernel          PairKernel: Laplace, SoftenedGravity, SplineGravity, or one's own
/// Method          DirectSum, Treecode<order, traversal> or Fmm<order, traversal, translation> (methods.hpp)
/// Precision       of the computation: float, double or Mixed; positions, charges and results have types
///                 of their own
/// ExecutionSpace  where everything runs; Views must be accessible from there
///
/// A solver keeps the memory of plans that are no longer used for the next build: a second build of the
/// same size allocates nothing. It is not to be used from two threads at a time.
template <class Kernel, class Method, class Precision = float,
          class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class Solver {
  static_assert(engine::check_policies<Kernel, Method, Precision, ExecutionSpace>());

  using Real = real_t<Precision>;
  using Traversal = typename Method::traversal;
  using Site = site_t<ExecutionSpace>;
  using Core = engine::SolverCore<Kernel, Traversal, Precision, Site>;
  using Data = typename Core::Data;
  using TwoSets = TwoSetPlan<ExecutionSpace, Precision>;
  using Batches = BatchPlan<ExecutionSpace, Precision>;
  static constexpr bool is_direct = std::is_same_v<Method, DirectSum>;
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
  explicit Solver(Options const& options = {}, Kernel kernel = {})
      : core_(options, kernel, expansion_facts()) {}

  /// With defaults filled in; only a uniform tree's depth may still be open (see Plan::depth). Of a kernel that was
  /// handed in with a softening or G of its own kernel() tells those in force.
  Options const& options() const { return core_.options(); }
  Kernel const& kernel() const { return core_.kernel(); }

  /// A plan: keys, sort, tree, lists. `inputs` are positions and, if the traversal's criterion uses them, charges and
  /// the field of the step before. With charges, evaluations redo acceptance and lists, but neither sort nor tree; if
  /// the criterion uses the powers of multipoles, there are no lists before the first one. Of the last field the
  /// plan keeps what it needs, for evaluations with other charges, too; where it is zero nothing is accepted: a
  /// direct sum. Throws InvalidArgument for inputs that are not finite, and OutOfMemory; returns when the lists are
  /// being written. Cost: O(N log N) for the sort, O(N) else (treecode: O(N log N) list entries). `choices`: those of
  /// another build, of which these bodies are a part.
  template <class Sources, class Charges, class LastField>
  plan_type build(ExecutionSpace const& space,
                  Inputs<Sources, Charges, None, LastField> const& inputs, Report* report = nullptr,
                  engine::BuildChoices const* choices = nullptr) {
    engine::check_view<ExecutionSpace, Sources, 2>();
    constexpr bool has_charges = !std::is_same_v<Charges, None>;
    static_assert(has_charges == uses_charges,
                  "fmm: build takes charges if, and only if, the acceptance criterion declares "
                  "uses_charges");
    constexpr bool has_last_field = !std::is_same_v<LastField, None>;
    static_assert(
        has_last_field == uses_last_field,
        "fmm: build takes the last step's field if, and only if, the acceptance criterion "
        "declares uses_last_field");
    if constexpr (has_charges) engine::check_view<ExecutionSpace, Charges, 1>();
    if constexpr (has_last_field) engine::check_view<ExecutionSpace, LastField, 2>();
    return plan_type(core_.build(space, inputs, report, choices));
  }
  /// A plan of two sets, (M,3) targets and (N,3) sources: trees of both over the cube of both, and the lists between
  /// them. Every source acts on every target. A source at a target's very point exerts no force on it; its potential is
  /// counted with softening and left out without. For DirectSum and criteria of the geometry alone. Throws as above.
  /// Cost: that of a build of M + N bodies.
  template <class Sources, class Charges, class Targets, class LastField>
  TwoSetPlan<ExecutionSpace, Precision> build(
      ExecutionSpace const& space, Inputs<Sources, Charges, Targets, LastField> const& inputs,
      Report* report = nullptr) {
    engine::check_view<ExecutionSpace, Sources, 2>();
    engine::check_view<ExecutionSpace, Targets, 2>();
    static_assert(engine::check_two_sets<Method, Charges, LastField>());
    return TwoSetPlan<ExecutionSpace, Precision>(
        core_.build_two(space, inputs.targets, inputs.sources, report));
  }
  /// Other (M,3) targets for a plan of two sets, whose sources, their tree and their multipoles stay: with
  /// `Strengths::unchanged` the next evaluation costs M2L, L2L, L2P, M2P and P2P alone. The plan may have been built
  /// with any targets, or none; those to come shall lie in its cube, which encloses the sources and the targets
  /// that it was built with (the corners of a region, say). Where there are sources the targets' leaves are theirs: for
  /// targets that are far denser than the sources there, a plan of their own is faster. Throws InvalidArgument for
  /// targets that are not finite or not in the cube, before the plan is touched, and OutOfMemory: then the plan needs
  /// targets again before it is evaluated. Cost: that of a build of M bodies, and the lists.
  template <class Targets>
  void retarget(ExecutionSpace const& space, TwoSets& plan, Targets const& targets,
                Report* report = nullptr) {
    engine::check_view<ExecutionSpace, Targets, 2>();
    core_.retarget(space, plan.data(), targets, report);
  }
  /// A plan of the transposed sums, for iterative solvers and adjoints. If A takes what sources carry to what targets
  /// receive by `plan`, targets are the sources now, and <A x, y> = <x, A^T y> to rounding, where A itself is good to
  /// the error of its expansions. (Of one set, too: lists by radii are not symmetric.) Charges to potentials is the
  /// transpose of charges to potentials, dipoles to potentials that of charges to gradients, which are minus the
  /// fields, and dipoles to fields that of dipoles to fields. For DirectSum, and an Fmm by the geometry alone. It is
  /// evaluated as any plan is, but has no retarget; its trees are those of `plan`, which may be used, given new
  /// targets, or destroyed. Throws InvalidArgument for a plan of another traversal or whose near field is too small for
  /// this solver, and OutOfMemory. Cost: O(E log E) for rows of E entries, and memory for them and for evaluations.
  plan_type transposed(ExecutionSpace const& space, plan_type const& plan,
                       Report* report = nullptr) {
    static_assert(engine::check_transposed<Method, has_p2l>());
    return plan_type(core_.transposed(space, plan.data(), report), plan.lease());
  }
  /// The same of two sets.
  TwoSets transposed(ExecutionSpace const& space, TwoSets const& plan, Report* report = nullptr) {
    static_assert(engine::check_transposed<Method, has_p2l>());
    return TwoSets(core_.transposed(space, plan.data(), report));
  }
  /// With DirectSum: a plan of many independent sets at once. Every set is summed over its own pairs, in one launch.
  /// Throws InvalidArgument for positions that are not finite, and for offsets that do not ascend from 0 to N, and
  /// OutOfMemory. Lengths are counted in the largest extent of a set: in float and Mixed bodies nearer than 1e-12 of it
  /// are for solvers of their own. Cost: a sort of N bodies; of an evaluation the sum of N_b^2 pairs.
  template <class Sources, class Offsets>
    requires is_direct BatchPlan<ExecutionSpace, Precision> build(
        ExecutionSpace const& space, Batch<Sources, Offsets> const& batch,
        Report* report = nullptr) {
      engine::check_view<ExecutionSpace, Sources, 2>();
      static_assert(engine::check_whole_numbers<ExecutionSpace, Offsets>());
      return BatchPlan<ExecutionSpace, Precision>(core_.build_batch(space, batch, report));
    }
  /// Short for `Inputs{.sources = positions}`.
  template <class Positions>
  plan_type build(ExecutionSpace const& space, Positions const& positions,
                  Report* report = nullptr) {
    return build(space, Inputs<Positions>{positions}, report);
  }

  /// Potential (N) and field (N,3) of all bodies from (N) `charges`, in the caller's order; pass fmm::none
  /// for a result that is not wanted. Asynchronous in `space` but for one reduction over the charges, for lists of a
  /// criterion that uses charges, and for what docs/design.md names besides ("What waits for what"). Throws
  /// InvalidArgument before any result is touched, and OutOfMemory. Cost: O(N) of an Fmm, O(N log N) of a Treecode, N^2
  /// pairs of DirectSum; the memory stays with the plan.
  template <class Charges, class Potential, class Field>
  void evaluate(ExecutionSpace const& space, plan_type& plan, Charges const& charges,
                Potential const& potential, Field const& field, Report* report = nullptr) {
    evaluate_any(space, plan, charges, Results<Potential, Field>{potential, field}, false, report);
  }

  /// The same of a plan of two sets: potential (M) and field (M,3) of the targets from (N) `charges` of the sources,
  /// each in its order. Without sources all are 0.
  template <class Charges, class Potential, class Field>
  void evaluate(ExecutionSpace const& space, TwoSets& plan, Charges const& charges,
                Potential const& potential, Field const& field, Report* report = nullptr) {
    evaluate_any(space, plan, charges, Results<Potential, Field>{potential, field}, false, report);
  }

  /// The same of a batch: all of its sets at once.
  template <class Charges, class Potential, class Field>
  void evaluate(ExecutionSpace const& space, Batches& plan, Charges const& charges,
                Potential const& potential, Field const& field, Report* report = nullptr) {
    evaluate_any(space, plan, charges, Results<Potential, Field>{potential, field}, false, report);
  }

  /// Any of potential (N), field (N,3) and Hessian (N,6) from charges, dipoles, or both: `strengths` are
  /// fmm::Strengths, or (N) charges. Throws as above. Dipoles and Hessians are for criteria of the geometry alone.
  /// Cost: as above, with more operations a pair and a coefficient, which a Report counts.
  ///
  /// Of K densities of the same sources, charges are (N,K), dipoles (N,K,3), and results (N,K), (N,K,3) and (N,K,6), in
  /// memory apart from these, for criteria of the geometry alone. They are summed 8, 4 and 1 at a time. What a
  /// density is given does not depend on what the others are. A report counts the pairs of each block, and a
  /// body whose results are not finite once for each.
  template <class SomeStrengths, class Potential, class Field, class Hessian>
  void evaluate(ExecutionSpace const& space, plan_type& plan, SomeStrengths const& strengths,
                Results<Potential, Field, Hessian> const& results, Report* report = nullptr) {
    evaluate_strengths(space, plan, strengths, results, report);
  }
  /// The same without some pairs, such as bonded atoms, of one set. Throws InvalidArgument for rows that are not as
  /// Exclusions say, before any result is touched. Cost besides: the near pairs of all bodies that have rows with near
  /// ones, in double, and the squares of the rows' lengths, which are to be short.
  template <class SomeStrengths, class Potential, class Field, class Hessian, class Offsets,
            class Bodies>
  void evaluate(ExecutionSpace const& space, plan_type& plan, SomeStrengths const& strengths,
                Results<Potential, Field, Hessian> const& results,
                Exclusions<Offsets, Bodies> const& exclusions, Report* report = nullptr) {
    static_assert(engine::check_whole_numbers<ExecutionSpace, Offsets>());
    static_assert(engine::check_whole_numbers<ExecutionSpace, Bodies>());
    evaluate_strengths(space, plan, strengths, results, report, exclusions);
  }
  /// The same of a plan of two sets, at the targets.
  template <class SomeStrengths, class Potential, class Field, class Hessian>
  void evaluate(ExecutionSpace const& space, TwoSets& plan, SomeStrengths const& strengths,
                Results<Potential, Field, Hessian> const& results, Report* report = nullptr) {
    evaluate_strengths(space, plan, strengths, results, report);
  }

  /// The same of a batch.
  template <class SomeStrengths, class Potential, class Field, class Hessian>
  void evaluate(ExecutionSpace const& space, Batches& plan, SomeStrengths const& strengths,
                Results<Potential, Field, Hessian> const& results, Report* report = nullptr) {
    evaluate_strengths(space, plan, strengths, results, report);
  }

  /// The pairs of bodies that evaluations with the plan sum one by one, for callers that replace some of them (the
  /// singular part of a boundary element method). Throws InvalidArgument for a plan of another traversal, or whose
  /// criterion uses powers before its first evaluation, and OutOfMemory. Cost: two walks through the pairs, and 4 bytes
  /// for each of them.
  NearPairs<ExecutionSpace> near_pairs(ExecutionSpace const& space, plan_type const& plan) const
      requires(!is_direct) {
    return core_.template near_pairs<ExecutionSpace>(space, plan.data());
  }
  /// The same of a plan of two sets: rows of the targets.
  NearPairs<ExecutionSpace> near_pairs(ExecutionSpace const& space, TwoSets const& plan) const
      requires(!is_direct) {
    return core_.template near_pairs<ExecutionSpace>(space, plan.data());
  }

  /// With DirectSum: the sums of about `samples` bodies over all others, to tell the time and the error of
  /// a sum that would take too long. The sample is made of whole tiles, evenly spread over the sorted
  /// bodies, so that a pair costs what it costs in the full sum. The results of all other bodies become
  /// 0. Returns the numbers of the sampled bodies (M). Throws InvalidArgument, for samples below 1, too, before any
  /// result is touched, and OutOfMemory. Cost: M N pairs.
  template <class Charges, class Potential, class Field>
    requires is_direct Kokkos::View<BodyIndex*, Device<ExecutionSpace>> evaluate_sample(
        ExecutionSpace const& space, plan_type& plan, Charges const& charges,
        Potential const& potential, Field const& field, std::int64_t samples,
        Report* report = nullptr) {
      return core_.evaluate_sample(
          space, plan.data(), engine::EvaluationEnds{charges, potential, field}, samples, report);
    }

  // ---- for callers that compose an evaluation's steps themselves

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
  /// The lists of a criterion that uses charges, once the plan has these and, if it uses powers, `multipoles`.
  void list(ExecutionSpace const& space, Data& data, Array<Real, Site> multipoles, Report* report) {
    core_.list(space, data, multipoles, report);
  }
  /// Bytes that the solver's plans hold in the execution space's memory.
  std::size_t memory_bytes() const { return core_.memory_bytes(); }

 private:
  template <class SomePlan, class Charges, class SomeResults, class SomeExclusions = None>
  void evaluate_strengths(ExecutionSpace const& space, SomePlan& plan, Charges const& charges,
                          SomeResults const& results, Report* report,
                          SomeExclusions const& exclusions = {}) {
    evaluate_any(space, plan, charges, results, false, report, exclusions);
  }
  template <class SomePlan, class Charges, class Dipoles, class SomeResults,
            class SomeExclusions = None>
  void evaluate_strengths(ExecutionSpace const& space, SomePlan& plan,
                          Strengths<Charges, Dipoles> const& strengths, SomeResults const& results,
                          Report* report, SomeExclusions const& exclusions = {}) {
    static_assert(!(std::is_same_v<Charges, None> && std::is_same_v<Dipoles, None>),
                  "fmm: fmm::Strengths have charges, dipoles, or both");
    if constexpr (std::is_same_v<Dipoles, None>)
      evaluate_any(space, plan, strengths.charges, results, strengths.unchanged, report,
                   exclusions);
    else
      evaluate_any(space, plan, strengths, results, strengths.unchanged, report, exclusions);
  }
  /// Of one density, or of several block by block.
  template <class SomePlan, class SomeStrengths, class Potential, class Field, class Hessian,
            class SomeExclusions = None>
  void evaluate_any(ExecutionSpace const& space, SomePlan& plan, SomeStrengths const& strengths,
                    Results<Potential, Field, Hessian> const& results, bool unchanged,
                    Report* report, SomeExclusions const& exclusions = {}) {
    if constexpr (engine::has_densities_v<SomeStrengths>) {
      static_assert(!uses_charges, "fmm: several densities are for criteria of the geometry alone");
      engine::evaluate_densities<Precision>(
          Site(space), plan.data(), kernels::profile_of(kernel()), strengths, results, unchanged,
          report, [&](auto const& ends) { evaluate_ends(space, plan, ends, report, exclusions); });
    } else {
      evaluate_ends(
          space, plan,
          engine::EvaluationEnds<SomeStrengths, Potential, Field, Hessian>{
              strengths, results.potential, results.field, results.hessian, nullptr, unchanged},
          report, exclusions);
    }
  }
  template <class Ends>
  static constexpr bool check_ends() {
    using Strengths = typename Ends::Strengths;
    static_assert(engine::check_derivatives<Kernel, Strengths, typename Ends::Out>());
    static_assert(!uses_charges || !(Strengths::has_dipoles || Ends::Out::hessian),
                  "fmm: dipoles and Hessians are for criteria of the geometry alone");
    return true;
  }
  template <class SomePlan, class Ends, class SomeExclusions>
  void evaluate_ends(ExecutionSpace const& space, SomePlan& plan, Ends const& ends, Report* report,
                     SomeExclusions const& exclusions) {
    static_assert(check_ends<Ends>());
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
