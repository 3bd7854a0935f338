// SPDX-License-Identifier: BSD-3-Clause
// AnyPlan in one space and precision: a plan of one set of bodies, of two, or one for any strengths with a tolerance.
#pragma once

#include <utility>
#include <variant>

#include "implementation.hpp"
#include "verified.hpp"

namespace fmm::runtime {

/// Whether a plan is one for any strengths with a tolerance, and whether it has targets of their own.
template <class SomePlan>
inline constexpr bool is_verified_v = false;
template <class Kernel, class Space, class Precision, bool HasTargets>
inline constexpr bool is_verified_v<VerifiedPlan<Kernel, Space, Precision, HasTargets>> = true;
template <class SomePlan>
inline constexpr bool has_targets_v = false;
template <class Space, class Precision>
inline constexpr bool has_targets_v<TwoSetPlan<Space, Precision>> = true;
template <class Kernel, class Space, class Precision>
inline constexpr bool has_targets_v<VerifiedPlan<Kernel, Space, Precision, true>> = true;

template <class Space, class Precision>
class PlanIn final : public AnyPlan::Implementation {
 public:
  static constexpr bool has_tolerance = !std::is_same_v<Precision, float>;
  using OfOne = Plan<Space, Precision>;
  using OfTwo = TwoSetPlan<Space, Precision>;
  template <bool HasTargets>
  using VerifiedOf = VerifiedPlan<kernels::AnyKernel, Space, Precision, HasTargets>;
  using Any = std::conditional_t<has_tolerance,
                                 std::variant<OfOne, OfTwo, VerifiedOf<false>, VerifiedOf<true>>,
                                 std::variant<OfOne, OfTwo>>;

  PlanIn(Backend backend, Any plan) : backend(backend), any(std::move(plan)) {}

  Facts facts() const override {
    return std::visit([](auto const& plan) { return facts_of(plan); }, any);
  }

  Backend backend;
  Any any;

 private:
  using Set = engine::PlanData<Space, Precision>;
  template <class SomePlan>
  static Facts facts_of(SomePlan const& plan) {
    return facts_of_data(plan.data());
  }
  static Facts facts_of_data(Set const& plan) { return facts_of_sets(plan, plan); }
  static Facts facts_of_data(engine::TwoSetData<Space, Precision> const& plan) {
    return facts_of_sets(*plan.targets, *plan.sources);
  }
  template <bool HasTargets>
  static Facts facts_of_data(
      tolerance::VerifiedData<kernels::AnyKernel, Precision, Space, HasTargets> const& plan) {
    Facts facts;
    if constexpr (HasTargets) {
      if (plan.has_plan()) facts = facts_of_data(plan.plan);
    } else {
      if (plan.has_plan()) facts = facts_of_data(*plan.plan);
    }
    facts.memory_bytes = plan.memory_bytes();
    facts.size = plan.sources.size();
    facts.targets = plan.target_count();
    return facts;
  }
  static Facts facts_of_sets(Set const& targets, Set const& sources) {
    const auto count = [](auto const& array) { return std::int64_t(array.extent(0)); };
    auto const& octree = sources.tree.octree;
    auto const& lists = targets.lists;
    return {.size = sources.tree.size,
            .targets = targets.targets(),
            .cells = count(octree.cells),
            .leaves = count(octree.leaves),
            .depth = octree.depth,
            .m2l = count(lists.m2l.entries),
            .p2l = count(lists.p2l.entries),
            .m2p = count(lists.m2p.entries),
            .p2p = count(lists.p2p.entries),
            .memory_bytes =
                targets.memory.bytes() + (&targets != &sources ? sources.memory.bytes() : 0)};
  }
};

}  // namespace fmm::runtime
