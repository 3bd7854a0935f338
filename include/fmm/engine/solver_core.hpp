// SPDX-License-Identifier: BSD-3-Clause
// The core of a solver: everything but its expansions, which it knows as a few facts and as a function that makes a
// FarField. Compiled once for all orders and translations.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "../detail/host_thread.hpp"
#include "batch_build.hpp"
#include "build.hpp"
#include "checks.hpp"
#include "completed_options.hpp"
#include "evaluation_clock.hpp"
#include "evaluation_ends.hpp"
#include "excluded_pairs.hpp"
#include "measures_by_powers.hpp"
#include "near_pairs.hpp"
#include "transpose.hpp"
#include "two_set_build.hpp"

namespace fmm::engine {

/// Makes the operators of the kernel's expansion in trees over a cube, for results that are a kernels::Outputs.
template <class Kernel, class Space, class Precision, class Out, class Shift = OneSet,
          class Strengths = Charges<>>
using MakeFarField = std::unique_ptr<FarField<Space, Precision, Out, Shift, Strengths> const> (*)(
    Kernel const&, Cube const&);
/// For what is at the ends of an evaluation.
template <class Kernel, class Space, class Precision, class Ends, class Shift = OneSet>
using MakeFarFieldFor =
    MakeFarField<Kernel, Space, Precision, typename Ends::Out, Shift, typename Ends::Strengths>;

/// What a core is to know of the expansions.
template <class Kernel, class Space, class Precision>
struct ExpansionFacts {
  int order;
  bool has_p2l;  ///< whether lists may have P2L
  /// In trees over a cube; nullptr unless the criterion uses powers.
  PowersOf<Space, real_t<Precision>> (*powers_of)(Kernel const&, Cube const&);
};

/// Throws for what this plan's lists were not made for; see SolverCore::check.
template <class Space>
FMM_NOINLINE void check_lists_of_plan(PlanFacts const& facts, InteractionLists<Space> const& lists,
                                      FarFieldRule far, bool has_lower_orders, Cube const& cube) {
  if (has_lower_orders) check_order(facts.order, far.order);
  refuse_entries("p2l", far.has_p2l ? 0 : std::int64_t(lists.p2l.entries.extent(0)));
  check_near_field(facts.far_from, far.from, cube);
}

/// Options, kernel, plans' memory and the steps of a build and an evaluation. A core keeps the memory of plans that are
/// no longer used for the next build.
///
/// Kernel, Precision, Space   as of Solver
/// Traversal                  DirectSum, or that of a Treecode or an Fmm
/// PairPrecision              of a tree's P2P
template <class Kernel, class Traversal, class Precision, class Space,
          class PairPrecision = Precision>
class SolverCore {
  using Real = real_t<Precision>;
  using Shape = Tuning<Space, Real>;
  static constexpr bool is_direct = std::is_same_v<Traversal, DirectSum>,
                        two_parts = two_part_v<PairPrecision> && !is_direct;
  static constexpr bool uses_charges = traits_v<Traversal>.uses_charges;
  static constexpr bool uses_powers = traits_v<Traversal>.uses_powers;

 public:
  using Data = PlanData<Space, Precision>;
  using Facts = ExpansionFacts<Kernel, Space, Precision>;

  /// Validates `options` and fills in the defaults. Throws InvalidArgument. `in_three_parts`: whether plans in mixed
  /// precision have bodies' coordinates so.
  SolverCore(Options const& options, Kernel kernel, Facts const& expansions,
             bool in_three_parts = false)
      : kernel_(kernel),
        expansions_(expansions),
        pool_(!two_parts                                           ? 1
              : in_three_parts && std::is_same_v<Precision, Mixed> ? 3
                                                                   : 2) {
    check_one_part(options, two_parts);
    const int leaf_capacity = uses_powers ? Shape::leaf_capacity_by_power(expansions.order)
                                          : Shape::leaf_capacity(expansions.order);
    options_ = completed<Traversal>(options, traits_of_kernel(kernel), leaf_capacity);
    if constexpr (requires { kernel.with(options); }) kernel_ = kernel.with(options);
  }

  Options const& options() const { return options_; }
  Kernel const& kernel() const { return kernel_; }
  int order() const { return expansions_.order; }
  PowersOf<Space, Real> powers_of(Cube const& cube) const {
    return expansions_.powers_of(kernel_, cube);
  }
  /// What lists are to know of the expansions.
  FarFieldRule far_field() const {
    return {expansions_.order, far_from(kernel_, options_), expansions_.has_p2l};
  }
  /// Bytes that plans hold in the execution space's memory.
  std::size_t memory_bytes() const { return pool_.bytes(); }

  /// Solver::build, of Inputs whose types were checked.
  template <class Sources, class Charges, class LastField>
  std::shared_ptr<Data> build(Space const& space,
                              Inputs<Sources, Charges, None, LastField> const& inputs,
                              Report* report, BuildChoices const* choices = nullptr) {
    const HostThread<Space> thread(space);
    return make_plan<Traversal>(space, pool_, options_, far_field(), profile_of(kernel_), inputs,
                                report, choices);
  }
  /// The same of two sets.
  template <class Targets, class Sources>
  TwoSetData<Space, Precision> build_two(Space const& space, Targets const& given_targets,
                                         Sources const& given_sources, Report* report) {
    const HostThread<Space> thread(space);
    const typename Targets::const_type targets = given_targets;
    const typename Sources::const_type sources = given_sources;
    return make_two_set_plan<Traversal>(space, pool_, options_, far_field(), targets, sources,
                                        report);
  }
  /// Solver::retarget.
  template <class Targets>
  void retarget(Space const& space, TwoSetData<Space, Precision>& plan,
                Targets const& given_targets, Report* report) {
    const HostThread<Space> thread(space);
    const typename Targets::const_type targets = given_targets;
    engine::retarget<Traversal>(space, pool_, plan, options_, far_field(), targets, report);
    if (report) report->memory_bytes = pool_.bytes();
  }
  /// Solver::build of a Batch.
  template <class Sources, class Offsets>
  std::shared_ptr<Data> build_batch(Space const& space, Batch<Sources, Offsets> const& batch,
                                    Report* report) {
    const HostThread<Space> thread(space);
    return make_batch_plan(space, pool_, batch, report);
  }
  /// Solver::near_pairs.
  template <class PublicSpace>
  NearPairs<PublicSpace> near_pairs(Space const& space, Data const& plan) const {
    return pairs_of<PublicSpace>(space, plan.facts, {plan.tree, plan.tree}, plan.lists);
  }
  /// The same of two sets.
  template <class PublicSpace>
  NearPairs<PublicSpace> near_pairs(Space const& space,
                                    TwoSetData<Space, Precision> const& plan) const {
    auto const& targets = *plan.targets;
    return pairs_of<PublicSpace, NoShift>(space, targets.facts, {targets.tree, plan.sources->tree},
                                          targets.lists);
  }
  /// Solver::transposed, of one set or of two.
  template <class SomeData>
  auto transposed(Space const& space, SomeData const& plan, Report* report) {
    const HostThread<Space> thread(space);
    const Region region("build");
    const Stopwatch watch;
    auto result = make_transposed(space, pool_, checked_lists(plan), report);
    if (report) {
      space.fence();
      report->build_seconds += watch.seconds();
      report->memory_bytes = pool_.bytes();
    }
    return result;
  }
  /// Solver::choose.
  template <class Positions>
  BuildChoices choose(Space const& space, Positions const& positions) const {
    const HostThread<Space> thread(space);
    const std::int64_t n = checked_size("positions", positions);
    if (n == 0) return {};
    const typename Positions::const_type constant = positions;
    return choose_build<Traversal, Space, Real>(space, bounding_box(space, constant), n, options_,
                                                far_field());
  }

  /// Throws InvalidArgument unless the arrays at the ends have the plan's size, and the plan's lists serve this solver.
  template <class Ends>
  void check(Data const& plan, Ends const& ends) const {
    const std::int64_t n = plan.tree.size;
    ends.template check<Space>(n);
    if (n > 0) check_lists(plan);
  }
  /// The lists of a criterion that uses charges, once the plan has these and, if it uses powers, `multipoles`.
  void list(Space const& space, Data& data, Array<Real, Space> multipoles, Report* report) {
    const HostThread<Space> thread(space);
    if constexpr (uses_powers) {
      stage(space, report, "lists", [&] {
        const auto measures = measures_by_powers<Traversal, PairPrecision>(
            space, powers_of(data.tree.cube), data, kernel_, options_, far_field(), multipoles);
        data.lists = build_dual_lists<Traversal>(space, data.memory, data.tree, options_,
                                                 far_field(), measures);
      });
      if (report) add_list_work(*report, data.lists);
    } else {
      data.lists =
          lists_stage<Traversal>(space, data.memory, data.tree, options_, far_field(), report);
    }
  }

  /// Solver::evaluate; with DirectSum there are no operators. `ends` are EvaluationEnds or have the same functions.
  template <class Ends>
  void evaluate(Space const& space, Data& data,
                MakeFarFieldFor<Kernel, Space, Precision, Ends> operators, Ends const& ends,
                Report* report) {
    if constexpr (is_direct)
      evaluate_pairs(space, data, ends, report, nullptr);
    else
      evaluate_once(space, data, operators, ends, report, [&](auto& steps) {
        steps.template near_field<PairPrecision>(kernel_, options_);
      });
  }
  /// The same without some pairs.
  template <class Ends, class SomeExclusions>
  void evaluate_without(SomeExclusions const& exclusions, Space const& space, Data& data,
                        MakeFarFieldFor<Kernel, Space, Precision, Ends> operators, Ends const& ends,
                        Report* report) {
    const HostThread<Space> thread(space);
    check(data, ends);
    using Rows = decltype(take_exclusions(space, data.memory, data.tree, exclusions));
    Rows rows;
    stage(space, report, "exclusions",
          [&] { rows = take_exclusions(space, data.memory, data.tree, exclusions); });
    if constexpr (is_direct) {
      const EvaluationClock clock(space, report);
      if (data.tree.size == 0) return;
      ends.pairs_without(rows, space, data, kernel_, report);
      clock.stop(memory_bytes());
    } else {
      evaluate_once(space, data, operators, ends, report, [&](auto& steps) {
        steps.template near_field_without<PairPrecision>(rows, kernel_, options_);
      });
    }
  }
  /// The same with multipoles that `upward(steps)` makes, near fields that `add_near(steps)` adds, and, where the
  /// criterion uses charges, lists that `list(multipoles)` makes, unless it says that multipoles have to be made again;
  /// all again, from the multipoles on, until `accept(sums)`, before anything is given.
  template <class Ends, class Upward, class List, class AddNear, class Accept>
  void evaluate_listed(Space const& space, Data& data,
                       MakeFarFieldFor<Kernel, Space, Precision, Ends> operators, Ends const& ends,
                       Report* report, Upward const& upward, List const& list,
                       AddNear const& add_near, Accept const& accept) {
    const HostThread<Space> thread(space);
    check(data, ends);
    const EvaluationClock clock(space, report);
    if (data.tree.size == 0) return;
    Evaluation<Space, Precision, typename Ends::Out, OneSet, typename Ends::Strengths> steps(
        space, operators(kernel_, data.tree.cube), data, profile_of(kernel_), report);
    ends.take(steps);
    do {
      do upward(steps);
      while (!list(steps.multipoles()));
      if constexpr (uses_powers) steps.clear_sums();
      steps.interact();
      steps.downward();
      add_near(steps);
    } while (!accept(steps.sums()));
    ends.give(steps);
    clock.stop(memory_bytes());
  }

  /// The same of two sets. Multipoles are kept for the next evaluation by this solver.
  template <class Ends>
  void evaluate(Space const& space, TwoSetData<Space, Precision>& data,
                MakeFarFieldFor<Kernel, Space, Precision, Ends, NoShift> operators,
                Ends const& ends, Report* report) {
    const HostThread<Space> thread(space);
    auto const& [targets, sources, lease] = data;
    const std::int64_t m = targets->tree.size, n = sources->tree.size;
    ends.template check<Space>(m, n);
    checked_lists(data);
    const EvaluationClock clock(space, report);
    if ((m == 0 && !ends.unchanged) || sources->kept.solver != number_) sources->kept = {};
    if (m == 0) return;
    if (n == 0) {
      ends.give_nothing(space, m);
    } else if constexpr (is_direct) {
      ends.all_pairs(space, data, kernel_, report);
    } else {
      Evaluation<Space, Precision, typename Ends::Out, NoShift, typename Ends::Strengths> steps(
          space, operators(kernel_, targets->tree.cube), *targets, *sources, {}, targets->lists,
          profile_of(kernel_), report);
      ends.take(steps);
      steps.upward(false);
      sources->kept.solver = number_;
      steps.interact();
      steps.downward();
      steps.template near_field<PairPrecision>(kernel_, options_);
      ends.give(steps);
    }
    clock.stop(memory_bytes());
  }

  /// Solver::evaluate by all pairs: the sums of all bodies, or of a sample.
  template <class Ends>
  void evaluate_pairs(Space const& space, Data& data, Ends const& ends, Report* report,
                      TileSample<Space> const* sample,
                      SeePairs<Space, Precision, Kernel> const& see = {}) {
    const HostThread<Space> thread(space);
    check(data, ends);
    const EvaluationClock clock(space, report);
    if (data.tree.size == 0) return;
    ends.all_pairs(space, data, kernel_, sample, report, see);
    clock.stop(memory_bytes());
  }

  /// Solver::evaluate of a batch.
  template <class Ends>
  void evaluate_batch(Space const& space, Data& data, Ends const& ends, Report* report) {
    const HostThread<Space> thread(space);
    ends.template check<Space>(data.tree.size);
    const EvaluationClock clock(space, report);
    if (data.tree.size == 0) return;
    ends.batch(space, data, kernel_, report);
    clock.stop(memory_bytes());
  }

  /// Solver::evaluate_sample. Returns the numbers of the sampled bodies.
  template <class Ends>
  Kokkos::View<BodyIndex*, Device<Space>> evaluate_sample(Space const& space, Data& data,
                                                          Ends const& ends, std::int64_t samples,
                                                          Report* report) {
    const HostThread<Space> thread(space);
    if (samples <= 0) throw InvalidArgument("samples", double(samples), "1 or more");
    check(data, ends);
    if (data.tree.size == 0) return {};
    const TileSample<Space> sample(space, data.tree.octree.tiles, data.tree.permutation, samples);
    evaluate_pairs(space, data, ends, report, &sample);
    return sample.bodies;
  }

 private:
  /// On a tree, with near fields that `add_near(steps)` adds.
  template <class Ends, class AddNear>
  void evaluate_once(Space const& space, Data& data,
                     MakeFarFieldFor<Kernel, Space, Precision, Ends> operators, Ends const& ends,
                     Report* report, AddNear const& add_near) {
    evaluate_listed(
        space, data, operators, ends, report, [](auto& steps) { steps.upward(uses_charges); },
        [&](Array<Real, Space> multipoles) {
          if constexpr (uses_charges) list(space, data, multipoles, report);
          return true;
        },
        add_near, [](auto const&) { return true; });
  }
  Data const& checked_lists(Data const& plan) const {
    if (plan.tree.size > 0) check_lists(plan);
    return plan;
  }
  TwoSetData<Space, Precision> const& checked_lists(
      TwoSetData<Space, Precision> const& plan) const {
    if (plan.targets->tree.size > 0 && plan.sources->tree.size > 0) check_lists(*plan.targets);
    return plan;
  }
  template <class PublicSpace, class Shift = OneSet>
  NearPairs<PublicSpace> pairs_of(Space const& space, PlanFacts const& facts,
                                  BodySets<Space, Precision, Shift> const& sets,
                                  InteractionLists<Space> const& lists) const {
    const HostThread<Space> thread(space);
    if (sets.targets.size > 0 && sets.sources.size > 0)
      check_traversal(facts.traversal, &traversal_mark<Traversal>);
    return engine::near_pairs<PublicSpace>(space, sets, lists.p2p);
  }
  void check_lists(Data const& plan) const {
    check_traversal(plan.facts.traversal, &traversal_mark<Traversal>);
    if constexpr (!uses_charges && !is_direct)
      check_lists_of_plan(plan.facts, plan.lists, far_field(), has_lower_orders(), plan.tree.cube);
  }
  static constexpr bool has_lower_orders() {
    if constexpr (is_dual_v<Traversal>)
      return has_lower_orders_v<typename Traversal::criterion>;
    else
      return false;
  }

  /// A number of its own for each core, but copies, which have the same options and kernel.
  static std::uint64_t next_number() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
  }

  Options options_;
  Kernel kernel_;
  std::uint64_t number_ = next_number();
  Facts expansions_;
  PlanPool<Space, Precision> pool_;
};

}  // namespace fmm::engine
