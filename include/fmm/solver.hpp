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
#include "exclusions.hpp"
#include "inputs.hpp"
#include "solver_steps.hpp"

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
class Solver : public SolverSteps<Kernel, Method, Precision, ExecutionSpace> {
  using Base = SolverSteps<Kernel, Method, Precision, ExecutionSpace>;

  using Base::core_, Base::evaluate_any, Base::has_p2l, Base::is_direct;
  using typename Base::Batches;
  using typename Base::TwoSets;

 public:
  using Base::Base, Base::uses_charges, Base::uses_last_field;
  using typename Base::plan_type;

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
  /// The same with targets that are chosen among the sources, by (M) numbers, as `retarget` takes them.
  template <class Sources, class Charges, class Numbers, class LastField>
    requires engine::are_numbers_v<Numbers> plan_type
    build(ExecutionSpace const& space, Inputs<Sources, Charges, Numbers, LastField> const& inputs,
          Report* report = nullptr) {
      auto plan = build(space,
                        Inputs<Sources, Charges, None, LastField>{inputs.sources, inputs.charges,
                                                                  none, inputs.last_field},
                        report);
      retarget(space, plan, inputs.targets, report);
      return plan;
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
  /// Targets of a plan of one set, chosen among its bodies: (M) `numbers`, a View of whole numbers in any order, which
  /// may repeat; with fmm::none all bodies again. Evaluations then give (M) results, in the order of the numbers and
  /// with the bits that all bodies' have; trees, lists and upward pass are all bodies', cells without targets are
  /// skipped after them (but by the M2L of BatchedGemm and of VariableOrder). Throws InvalidArgument for other numbers,
  /// before the plan is touched, and OutOfMemory: then the plan needs targets again. Cost: O(N) of a pass over marks.
  template <class Numbers>
  void retarget(ExecutionSpace const& space, plan_type& plan, Numbers const& numbers,
                Report* report = nullptr) {
    if constexpr (!std::is_same_v<Numbers, None>)
      static_assert(engine::check_whole_numbers<ExecutionSpace, Numbers>());
    core_.choose(space, plan.data(), numbers, report);
  }
  /// A plan of the transposed sums, for iterative solvers and adjoints. If A takes what sources carry to what targets
  /// receive by `plan`, targets are the sources now, and <A x, y> = <x, A^T y> to rounding, where A itself is good to
  /// the error of its expansions. (Of one set, too: lists by radii are not symmetric.) Charges to potentials is the
  /// transpose of charges to potentials, dipoles to potentials that of charges to gradients, which are minus the
  /// fields, and dipoles to fields that of dipoles to fields. For DirectSum, and an Fmm by the geometry alone. It is
  /// evaluated as any plan is, but of two sets has no retarget; its trees are those of `plan`, which may be used, given
  /// new targets, or destroyed. Throws InvalidArgument for a plan of another traversal or whose near field is too small
  /// for this solver, and OutOfMemory. Cost: O(E log E) for rows of E entries, and memory for them and for evaluations.
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

  /// Potential (N) and field (N,3) of all bodies from (N) `charges`, in the caller's order; pass fmm::none for a result
  /// that is not wanted. The plan is one of `build`'s: of one set, of two (then results are the targets', (M) and
  /// (M,3), in their order, and 0 without sources), or of a batch (all of its sets at once). Asynchronous in `space`
  /// but for one reduction over the charges, for lists of a criterion that uses charges, and for what docs/design.md
  /// names besides ("What waits for what"). Throws InvalidArgument before any result is touched, and OutOfMemory. Cost:
  /// O(N) of an Fmm, O(N log N) of a Treecode, N^2 pairs of DirectSum; the memory stays with the plan.
  template <class SomePlan, class Charges, class Potential, class Field>
  void evaluate(ExecutionSpace const& space, SomePlan& plan, Charges const& charges,
                Potential const& potential, Field const& field, Report* report = nullptr) {
    evaluate_any(space, plan, charges, Results<Potential, Field>{potential, field}, report);
  }
  /// Any of potential (N), field (N,3) and Hessian (N,6) from charges, dipoles, or both: `strengths` are
  /// fmm::Strengths, or (N) charges. Throws as above. Dipoles and Hessians are for criteria of the geometry alone.
  /// Cost: as above, with more operations a pair and a coefficient, which a Report counts.
  ///
  /// Of K densities of the same sources, charges are (N,K), dipoles (N,K,3), and results (N,K), (N,K,3) and (N,K,6), in
  /// memory apart from these, for criteria of the geometry alone. They are summed 8, 4 and 1 at a time. What a
  /// density is given does not depend on what the others are. A report counts the pairs of each block, and a
  /// body whose results are not finite once for each.
  template <class SomePlan, class SomeStrengths, class Potential, class Field, class Hessian>
  void evaluate(ExecutionSpace const& space, SomePlan& plan, SomeStrengths const& strengths,
                Results<Potential, Field, Hessian> const& results, Report* report = nullptr) {
    evaluate_any(space, plan, strengths, results, report);
  }
  /// The same without some pairs, such as bonded atoms, of one set. Throws InvalidArgument for rows that are not as
  /// Exclusions say, before any result is touched. Cost besides: the near pairs of all bodies that have rows with near
  /// ones, in double, and the squares of the rows' lengths, which are to be short.
  template <class SomePlan, class SomeStrengths, class Potential, class Field, class Hessian,
            class Offsets, class Bodies>
  void evaluate(ExecutionSpace const& space, SomePlan& plan, SomeStrengths const& strengths,
                Results<Potential, Field, Hessian> const& results,
                Exclusions<Offsets, Bodies> const& exclusions, Report* report = nullptr) {
    static_assert(engine::check_whole_numbers<ExecutionSpace, Offsets>());
    static_assert(engine::check_whole_numbers<ExecutionSpace, Bodies>());
    static_assert(!Base::template is_plan<SomePlan> || std::is_same_v<SomePlan, plan_type>,
                  "fmm: exclusions are for a plan of one set of bodies");
    evaluate_any(space, plan, strengths, results, report, exclusions);
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
};

}  // namespace fmm
