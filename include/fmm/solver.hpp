// SPDX-License-Identifier: BSD-3-Clause
// The solver: composes kernels and trees. `build` makes a plan from positions, `evaluate` sums with it.
//
//     fmm::Solver<fmm::SoftenedGravity, 6> solver({.softening = 0.01});
//     auto plan = solver.build(space, positions);                 // (N,3)
//     solver.evaluate(space, plan, masses, potential, acceleration);  // (N), (N), (N,3)
//
// Definitions (docs/math.md): Laplace phi_i = sum_(j/=i) q_j / r_ij and field = -grad phi; gravity
// phi_i = -G sum_(j/=i) m_j / sqrt(r^2 + eps^2) and field = acceleration = -grad phi; SplineGravity has the
// same potential at r = 0 and is exactly 1/r from 2.8 eps on.
#pragma once

#include "accuracy/accuracy.hpp"
#include "detail/host_thread.hpp"
#include "engine/build.hpp"
#include "engine/checks.hpp"
#include "engine/completed_options.hpp"
#include "engine/evaluation.hpp"
#include "engine/evaluation_clock.hpp"
#include "engine/far_field_in_orders.hpp"
#include "engine/measures_by_powers.hpp"
#include "plan.hpp"
#include "report.hpp"
#include "tuning.hpp"

namespace fmm {

/// Sums a pair kernel over all pairs of bodies.
///
/// Kernel          PairKernel: Laplace, SoftenedGravity, SplineGravity, or one's own
/// Order           highest degree of the expansions, 0 or more; ignored by AllPairs
/// Translation     Rotation (O(p^3)), Direct (O(p^4)), BatchedGemm (matrix products; batched_gemm.hpp), or
///                 NoTranslation (a treecode)
/// Traversal       AllPairs, BarnesHut (a treecode), FmmList, FmmStencil or DualTree<criterion>; with
///                 DualTree<VariableOrder<criterion, orders...>> M2L has several orders
/// Precision       of the computation: float, double or Mixed; positions, charges and results have types
///                 of their own
/// ExecutionSpace  where everything runs; Views must be accessible from there
///
/// A solver keeps the memory of plans that are no longer used for the next build: a second build of the
/// same size allocates nothing. It is not to be used from two threads at a time.
template <class Kernel, int Order, class Translation = Rotation, class Traversal = DualTree<>,
          class Precision = float, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class Solver {
  static_assert(
      engine::check_policies<Kernel, Order, Translation, Traversal, Precision, ExecutionSpace>());

  using Real = real_t<Precision>;
  using Data = engine::PlanData<ExecutionSpace, Precision>;
  using Shape = Tuning<ExecutionSpace, Real>;
  static constexpr bool all_pairs = std::is_same_v<Traversal, AllPairs>;
  static constexpr bool dual = tree::is_dual_v<Traversal>;
  static constexpr bool needs_multipoles = tree::traits_v<Traversal>.uses_powers;
  using Expansion = kernels::expansion_t<Kernel, Order, Real, Translation>;
  static constexpr bool only_m2l = tree::traits_v<Traversal>.only_m2l;
  /// A treecode evaluates multipoles at the bodies; an FMM goes through local expansions.
  using FarField =
      typename engine::FarFieldOf<Traversal,
                                  std::conditional_t<dual, Translation, NoTranslation>>::type;
  using FarFieldScheme = std::conditional_t<only_m2l && engine::has_locals_v<FarField>,
                                            engine::OnlyM2L<FarField>, FarField>;
  static constexpr bool has_p2l = engine::has_locals_v<FarField> && !only_m2l &&
                                  kernels::has_p2l<kernels::basis_t<Expansion>>();

 public:
  using execution_space = ExecutionSpace;
  using plan_type = Plan<ExecutionSpace, Precision>;
  static constexpr int order = Order;
  /// Whether `build` takes charges: where the traversal's criterion uses them.
  static constexpr bool uses_charges = tree::traits_v<Traversal>.uses_charges;
  /// Whether it takes the last step's field, too.
  static constexpr bool uses_last_field = tree::traits_v<Traversal>.uses_last_field;

  /// Validates `options` and fills in the defaults. Throws InvalidArgument.
  explicit Solver(Options const& options = {}, Kernel kernel = {}) : kernel_(kernel) {
    constexpr bool takes_options = requires { kernel.with(options); };
    constexpr engine::KernelTraits traits{takes_options, kernels::HasFarFrom<Kernel>};
    engine::check_one_part(options, two_part_v<Precision> && !all_pairs);
    constexpr int leaf_capacity =
        needs_multipoles ? Shape::leaf_capacity_by_power(Order) : Shape::leaf_capacity(Order);
    options_ = engine::completed<Traversal>(options, traits, leaf_capacity);
    if constexpr (takes_options) kernel_ = kernel.with(options);
  }

  /// The options in force; only a uniform tree's depth may still be open (see Plan::depth).
  Options const& options() const { return options_; }
  Kernel const& kernel() const { return kernel_; }

  /// A plan for (N,3) `positions`: keys, sort, tree, lists. Throws InvalidArgument for positions that are
  /// not finite and OutOfMemory; returns when the lists are being written. Cost: O(N log N) for the sort,
  /// O(N) else (treecode: O(N log N) list entries).
  template <class Positions>
  plan_type build(ExecutionSpace const& space, Positions const& positions,
                  Report* report = nullptr) {
    return build_with(space, positions, none, none, report);
  }
  template <class Positions>
  plan_type build(ExecutionSpace const& space, Positions const& positions, Report& report) {
    return build_with(space, positions, none, none, &report);
  }

  /// The same for a criterion that uses charges. Evaluations redo acceptance and lists, but neither sort
  /// nor tree; if the criterion uses the powers of multipoles, there are no lists before the first one.
  template <class Positions, class Charges>
    requires(Kokkos::is_view<Charges>::value)
  plan_type build(ExecutionSpace const& space, Positions const& positions, Charges const& charges,
                  Report* report = nullptr) {
    return build_with(space, positions, charges, none, report);
  }
  template <class Positions, class Charges>
    requires(Kokkos::is_view<Charges>::value)
  plan_type build(ExecutionSpace const& space, Positions const& positions, Charges const& charges,
                  Report& report) {
    return build_with(space, positions, charges, none, &report);
  }

  /// The same for a criterion that uses the last field, too: (N,3) `last_field` is that of the step before,
  /// as `evaluate` gave it, for bodies in the order of `positions`. The plan keeps what it needs of it, for
  /// evaluations with other charges, too. Throws InvalidArgument if it is not finite. Where it is zero
  /// nothing is accepted: a direct sum.
  template <class Positions, class Charges, class LastField>
    requires(Kokkos::is_view<Charges>::value&& Kokkos::is_view<LastField>::value)
  plan_type build(ExecutionSpace const& space, Positions const& positions, Charges const& charges,
                  LastField const& last_field, Report* report = nullptr) {
    return build_with(space, positions, charges, last_field, report);
  }
  template <class Positions, class Charges, class LastField>
    requires(Kokkos::is_view<Charges>::value&& Kokkos::is_view<LastField>::value)
  plan_type build(ExecutionSpace const& space, Positions const& positions, Charges const& charges,
                  LastField const& last_field, Report& report) {
    return build_with(space, positions, charges, last_field, &report);
  }

  /// Potential (N) and field (N,3) of all bodies from (N) `charges`, in the caller's order; pass fmm::none
  /// for a result that is not wanted. Asynchronous in `space` but for one reduction over the charges.
  /// Throws InvalidArgument before any result is touched.
  template <class Charges, class Potential, class Field>
  void evaluate(ExecutionSpace const& space, plan_type const& plan, Charges const& charges,
                Potential const& potential, Field const& field, Report* report = nullptr) {
    evaluate_with(space, plan, charges, potential, field, report);
  }
  template <class Charges, class Potential, class Field>
  void evaluate(ExecutionSpace const& space, plan_type const& plan, Charges const& charges,
                Potential const& potential, Field const& field, Report& report) {
    evaluate_with(space, plan, charges, potential, field, &report);
  }

  /// The same, and returns the error of the results at a sample of the bodies, against direct sums in
  /// double. Cost besides: samples x N pairs in double.
  template <class Charges, class Potential, class Field, class Positions>
  ErrorMeasure evaluate(ExecutionSpace const& space, plan_type const& plan, Charges const& charges,
                        Potential const& potential, Field const& field,
                        ErrorSample<Positions> const& sample, Report* report = nullptr) {
    engine::check_extents("positions", sample.positions, plan.size());
    evaluate_with(space, plan, charges, potential, field, report);
    return measure_error(space, kernel_, sample.positions, charges, potential, field,
                         sample.samples, sample.seed);
  }

  /// With AllPairs: the sums of about `samples` bodies over all others, to tell the time and the error of
  /// a sum that would take too long. The sample is made of whole tiles, evenly spread over the sorted
  /// bodies, so that a pair costs what it costs in the full sum. The results of all other bodies become
  /// 0. Returns the numbers of the sampled bodies (M). Cost: M N pairs.
  template <class Charges, class Potential, class Field>
    requires std::is_same_v<Traversal, AllPairs> Kokkos::View<BodyIndex*, Device<ExecutionSpace>>
    evaluate_sample(ExecutionSpace const& space, plan_type const& plan, Charges const& charges,
                    Potential const& potential, Field const& field, std::int64_t samples,
                    Report& report) {
      const detail::HostThread<ExecutionSpace> thread(space);
      if (samples <= 0) throw InvalidArgument("samples", double(samples), "1 or more");
      if (plan.size() == 0) return {};
      auto const& tree = plan.data().tree;
      const tree::TileSample<ExecutionSpace> sample(space, tree.octree.tiles, tree.permutation,
                                                    samples);
      evaluate_with(space, plan, charges, potential, field, &report, &sample);
      return sample.bodies;
    }

  // ---- for callers that compose an evaluation's steps themselves

  using expansion_type = Expansion;
  using far_field_scheme = FarFieldScheme;
  /// The steps of an evaluation whose results are a kernels::Wanted.
  template <class Want>
  using evaluation_type =
      engine::Evaluation<Expansion, FarFieldScheme, Want, ExecutionSpace, Precision>;

  /// What lists are to know of the expansions.
  engine::FarFieldRule far_field() const {
    return {Order, kernels::far_from(kernel_, options_), has_p2l};
  }
  /// Throws InvalidArgument unless these arrays have the plan's size, and the plan's lists serve this solver.
  template <class Charges, class Potential, class Field>
  void check(plan_type const& plan, Charges const& charges, Potential const& potential,
             Field const& field) const {
    engine::check_view<ExecutionSpace, Charges, 1>();
    engine::check_result<ExecutionSpace, Potential, 1>();
    engine::check_result<ExecutionSpace, Field, 2>();
    static_assert(!std::is_same_v<Potential, None> || !std::is_same_v<Field, None>,
                  "fmm: at least one of potential and field must be wanted");
    engine::check_extents("charges", charges, plan.size());
    engine::check_extents("potential", potential, plan.size());
    engine::check_extents("field", field, plan.size());
    if (plan.size() > 0) check_lists(plan);
  }
  /// An evaluation with a plan of one body or more that is as `check` wants it.
  template <class Want>
  evaluation_type<Want> evaluation(ExecutionSpace const& space, plan_type const& plan,
                                   Report* report) const {
    return {space, plan.data(), kernels::profile_of(kernel_), report};
  }
  /// The lists of a criterion that uses charges, once the plan has these and, if it uses powers, `multipoles`.
  void list(ExecutionSpace const& space, Data& data, Array<Real, ExecutionSpace> multipoles,
            Report* report) {
    if constexpr (needs_multipoles) {
      engine::stage(space, report, "lists", [&] {
        const auto measures = engine::measures_by_powers<Traversal, Expansion>(
            space, data, kernel_, options_, far_field(), multipoles);
        data.lists = engine::build_dual_lists<Traversal>(space, data.memory, data.tree, options_,
                                                         far_field(), measures);
      });
      if (report) engine::add_list_work(*report, data.lists);
    } else {
      data.lists = engine::lists_stage<Traversal>(space, data.memory, data.tree, options_,
                                                  far_field(), report);
    }
  }
  /// Bytes that the solver's plans hold in the execution space's memory.
  std::size_t memory_bytes() const { return pool_.bytes(); }

 private:
  template <class Positions, class Charges, class LastField>
  plan_type build_with(ExecutionSpace const& space, Positions const& positions,
                       Charges const& charges, LastField const& last_field, Report* report) {
    engine::check_view<ExecutionSpace, Positions, 2>();
    constexpr bool has_charges = !std::is_same_v<Charges, None>;
    static_assert(has_charges == uses_charges,
                  "fmm: build takes charges if, and only if, the acceptance criterion declares "
                  "uses_charges");
    constexpr bool has_last_field = !std::is_same_v<LastField, None>;
    static_assert(has_last_field == uses_last_field,
                  "fmm: build takes the last step's field, after the charges, if, and only if, the "
                  "acceptance criterion declares uses_last_field");
    if constexpr (has_charges) engine::check_view<ExecutionSpace, Charges, 1>();
    if constexpr (has_last_field) engine::check_view<ExecutionSpace, LastField, 2>();
    const detail::HostThread<ExecutionSpace> thread(space);
    return plan_type(engine::make_plan<Traversal>(space, pool_, options_, far_field(),
                                                  kernels::profile_of(kernel_), positions, charges,
                                                  last_field, report));
  }

  /// The sums of all bodies or, with AllPairs, of a sample.
  template <class Charges, class Potential, class Field>
  void evaluate_with(ExecutionSpace const& space, plan_type const& plan, Charges const& charges,
                     Potential const& potential, Field const& field, Report* report,
                     tree::TileSample<ExecutionSpace> const* sample = nullptr) {
    const detail::HostThread<ExecutionSpace> thread(space);
    check(plan, charges, potential, field);
    if (plan.size() == 0) return;
    Data& data = plan.data();
    const engine::EvaluationClock clock(space, report);
    using Want = engine::WantedOf<Potential, Field>;
    if constexpr (all_pairs) {
      engine::evaluate_all_pairs<Want>(space, data, kernel_, charges, potential, field, sample,
                                       report);
    } else {
      auto steps = evaluation<Want>(space, plan, report);
      steps.template take_charges<Potential, Field>(charges);
      steps.upward(uses_charges);
      if constexpr (uses_charges) list(space, data, steps.multipoles(), report);
      steps.interact();
      steps.downward();
      steps.near_field(kernel_, options_);
      steps.give_results(potential, field);
    }
    clock.stop(plan.size(), potential, field, pool_.bytes());
  }

  void check_lists(plan_type const& plan) const {
    auto const& facts = plan.data().facts;
    engine::check_traversal(facts.traversal, &engine::traversal_mark<Traversal>);
    if constexpr (uses_charges || all_pairs) return;
    if constexpr (dual)
      if constexpr (tree::has_lower_orders_v<typename Traversal::criterion>)
        engine::check_order(facts.order, Order);
    engine::refuse_entries("p2l", has_p2l ? 0 : plan.p2l_entries());
    engine::check_near_field(facts.far_from, far_field().from, plan.data().tree.cube);
  }

  Options options_;
  Kernel kernel_;
  engine::PlanPool<ExecutionSpace, Precision> pool_;
};

}  // namespace fmm
