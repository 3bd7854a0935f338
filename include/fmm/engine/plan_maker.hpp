// SPDX-License-Identifier: BSD-3-Clause
// What makes a solver's plans: options, kernel, and the plans' memory. Compiled once for all orders and translations.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "../detail/host_thread.hpp"
#include "batch_build.hpp"
#include "build.hpp"
#include "checks.hpp"
#include "chosen_targets.hpp"
#include "clocks.hpp"
#include "completed_options.hpp"
#include "measures_by_powers.hpp"
#include "near_pairs.hpp"
#include "transpose.hpp"
#include "two_set_build.hpp"

namespace fmm::engine {

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

/// Options, kernel and plans' memory; makes plans, and keeps the memory of those that are no longer used for the next
/// build.
///
/// Kernel, Precision, Space   as of Solver
/// Traversal                  DirectSum, or that of a Treecode or an Fmm
/// PairPrecision              of a tree's P2P
template <class Kernel, class Traversal, class Precision, class Space,
          class PairPrecision = Precision>
class PlanMaker {
  using Shape = Tuning<Space, real_t<Precision>>;
  static constexpr bool is_direct = std::is_same_v<Traversal, DirectSum>,
                        two_parts = two_part_v<PairPrecision> && !is_direct;
  static constexpr bool uses_charges = traits_v<Traversal>.uses_charges;
  static constexpr bool uses_powers = traits_v<Traversal>.uses_powers;
  static constexpr bool brings_expansion = requires {
    typename Kernel::template Expansion<2, double, Rotation>;
  };

 public:
  using precision = Precision;
  using Data = PlanData<Space, Precision>;
  using Facts = ExpansionFacts<Kernel, Space, Precision>;

  /// Validates `options` and fills in the defaults. Throws InvalidArgument. `in_three_parts`: whether plans in mixed
  /// precision have bodies' coordinates so.
  PlanMaker(Options const& options, Kernel kernel, Facts const& expansions,
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
    if (options.periodic) {
      if (has_lower_orders()) refuse_periodic("this method");
      if (!kernels::is_harmonic<Kernel>()) refuse_periodic("kernels that are not 1/r far away");
      if (brings_expansion && !is_direct) refuse_periodic("expansions of a kernel's own");
      cell_.emplace(*options.periodic);
    }
    if constexpr (requires { kernel.with(options); }) kernel_ = kernel.with(options);
  }

  Options const& options() const { return options_; }
  Kernel const& kernel() const { return kernel_; }
  int order() const { return expansions_.order; }
  PowersOf<Space, real_t<Precision>> powers_of(Cube const& cube) const {
    return expansions_.powers_of(kernel_, cube);
  }
  /// What lists are to know of the expansions.
  FarFieldRule far_field() const {
    return {expansions_.order, far_from(kernel_, options_), expansions_.has_p2l};
  }
  /// Bytes that plans hold in the execution space's memory.
  std::size_t memory_bytes() const { return pool_.bytes(); }

  /// In a periodic cell: has lists have images up to where kernels count, and what all others exert be so exact.
  void want_images(double far_from, double error) {
    if (cell_) cell_->want(far_from, error);
  }

  /// Solver::build, of Inputs whose types were checked.
  template <class Sources, class Charges, class LastField>
  std::shared_ptr<Data> build(Space const& space,
                              Inputs<Sources, Charges, None, LastField> const& inputs,
                              Report* report, BuildChoices const* choices = nullptr) {
    const HostThread<Space> thread(space);
    return make_plan<Traversal>(space, pool_, options_, far_field(), profile_of(kernel_), inputs,
                                report, choices, cell_ ? &*cell_ : nullptr);
  }
  /// The same of two sets.
  template <class Targets, class Sources>
  TwoSetData<Space, Precision> build_two(Space const& space, Targets const& given_targets,
                                         Sources const& given_sources, Report* report) {
    const HostThread<Space> thread(space);
    const typename Targets::const_type targets = given_targets;
    const typename Sources::const_type sources = given_sources;
    return make_two_set_plan<Traversal>(space, pool_, options_, far_field(), targets, sources,
                                        cell_ ? &*cell_ : nullptr, report);
  }
  /// Solver::retarget.
  template <class Targets>
  void retarget(Space const& space, TwoSetData<Space, Precision>& plan,
                Targets const& given_targets, Report* report) {
    const HostThread<Space> thread(space);
    const typename Targets::const_type targets = given_targets;
    engine::retarget<Traversal>(space, pool_, plan, options_, far_field(), targets,
                                cell_ ? &*cell_ : nullptr, report);
  }
  /// Those of one set, chosen by their numbers; without a View all bodies.
  template <class Numbers>
  void choose(Space const& space, Data& plan, Numbers const& given_numbers, Report* report) {
    const HostThread<Space> thread(space);
    check_traversal(plan.facts.traversal, &traversal_mark<Traversal>);
    if constexpr (std::is_same_v<Numbers, None>) {
      plan.chosen = {};
    } else {
      const BuildClock clock(space, report);
      const typename Numbers::const_type numbers = given_numbers;
      choose_targets(space, plan, numbers, report);
      clock.stop(pool_.bytes());
    }
  }
  /// Solver::build of a Batch.
  template <class Sources, class Offsets>
  std::shared_ptr<Data> build_batch(Space const& space, Batch<Sources, Offsets> const& batch,
                                    Report* report) {
    const HostThread<Space> thread(space);
    if (cell_) refuse_periodic("batches");
    return make_batch_plan(space, pool_, batch, report);
  }
  /// Solver::near_pairs.
  template <class PublicSpace>
  NearPairs<PublicSpace> near_pairs(Space const& space, Data const& plan) const {
    return pairs_of<PublicSpace>(space, plan, {plan.tree, plan.tree});
  }
  /// The same of two sets.
  template <class PublicSpace>
  NearPairs<PublicSpace> near_pairs(Space const& space,
                                    TwoSetData<Space, Precision> const& plan) const {
    auto const& targets = *plan.targets;
    return pairs_of<PublicSpace, NoShift>(space, targets, {targets.tree, plan.sources->tree});
  }
  /// Solver::transposed, of one set or of two.
  template <class SomeData>
  auto transposed(Space const& space, SomeData const& plan, Report* report) {
    const HostThread<Space> thread(space);
    if (cell_) refuse_periodic("transposed plans");
    refuse_chosen(plan, "a transposed plan");
    const BuildClock clock(space, report);
    auto result = make_transposed(space, pool_, checked_lists(plan), report);
    clock.stop(pool_.bytes());
    return result;
  }
  /// Solver::choose.
  template <class Positions>
  BuildChoices choose(Space const& space, Positions const& positions) const {
    const HostThread<Space> thread(space);
    if (cell_) refuse_periodic("choices for another build");
    const std::int64_t n = checked_size("positions", positions);
    if (n == 0) return {};
    const typename Positions::const_type constant = positions;
    return choose_build<Traversal, Space, real_t<Precision>>(space, bounding_box(space, constant),
                                                             n, options_, far_field());
  }

 protected:
  [[noreturn]] static void refuse_periodic(char const* what) {
    throw InvalidArgument("periodic", 1, "not set, as yet, with " + std::string(what));
  }
  static void refuse_chosen(Data const& plan, char const* what) {
    if (!plan.chosen.are_all)
      throw InvalidArgument("plan", "one of chosen targets",
                            "one of all bodies, for " + std::string(what));
  }
  static void refuse_chosen(TwoSetData<Space, Precision> const&, char const*) {}
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
  NearPairs<PublicSpace> pairs_of(Space const& space, Data const& plan,
                                  BodySets<Space, Precision, Shift> const& sets) const {
    const HostThread<Space> thread(space);
    if (cell_) refuse_periodic("lists of near pairs");
    if (sets.targets.size > 0 && sets.sources.size > 0)
      check_traversal(plan.facts.traversal, &traversal_mark<Traversal>);
    return engine::near_pairs<PublicSpace>(space, sets, plan.lists.p2p, plan.targets(),
                                           plan.chosen.places);
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

  Options options_;
  Kernel kernel_;
  Facts expansions_;
  PlanPool<Space, Precision> pool_;
  std::optional<PeriodicCell> cell_;
};

}  // namespace fmm::engine
