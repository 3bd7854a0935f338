// SPDX-License-Identifier: BSD-3-Clause
// Plans for any strengths with a tolerance, and sums by them: of the positions that they keep, for any setting.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "radius_setting.hpp"
#include "sampled_targets.hpp"

namespace fmm::tolerance {

/// What a plan for any strengths consists of.
template <class Kernel, class Precision, class Space, bool HasTargets>
struct VerifiedData {
  using Core =
      SolverCore<Kernel, DualTree<RadiusCriterion>, Precision, Space, for_close_pairs_t<Precision>>;
  using Plan = std::conditional_t<HasTargets, engine::TwoSetData<Space, Precision>,
                                  std::shared_ptr<engine::PlanData<Space, Precision>>>;

  /// Of one density, in the evaluation that was verified last.
  struct Seen {
    double strength;                   ///< sum of magnitudes
    double potential, field, hessian;  ///< root mean squares; 0 of what was not wanted
    double error;                      ///< of what the tolerance is of, relative
  };

  Points<Space> sources, targets;
  Buffer<BodyIndex, Space> numbers{"numbers of targets"};
  std::int64_t count = 0;  ///< of chosen targets
  bool are_chosen = false, is_frozen = false;
  std::uint64_t number = 0;  ///< of these sources and targets, among its solver's
  RadiusSetting setting;
  double softening_share = 1;  ///< of the softening_error
  std::shared_ptr<Core> core;
  Plan plan;
  std::vector<Seen> seen;  ///< empty: to be verified
  int evaluations = 0;     ///< since then

  Array<BodyIndex, Space> chosen() const { return numbers.view(std::size_t(count)); }
  std::int64_t target_count() const {
    return are_chosen ? count : HasTargets ? targets.size() : sources.size();
  }
};

/// Makes them, and sums by them.
///
/// Kernel, Space   as of ToleranceSolver
/// Precision       Mixed or double
/// Family          the operators of all orders: far_field<Out, Shift, Strengths>(order) of the precision, and
///                 known_far_field<..>() of the highest order in double
template <class Kernel, class Precision, class Space, class Family>
class VerifiedPlans {
 public:
  template <bool HasTargets>
  using Data = VerifiedData<Kernel, Precision, Space, HasTargets>;

  /// Of sources, and targets: None, (M,3) positions, or (M) numbers of sources.
  template <bool HasTargets, class Sources, class Targets>
  Data<HasTargets> build(Space const& space, Sources const& sources, Targets const& targets,
                         Report* report) {
    const HostThread<Space> thread(space);
    Data<HasTargets> plan;
    engine::checked_size("sources", sources);
    plan.sources.take(space, typename Sources::const_type(sources));
    take_targets(space, plan, targets);
    plan.setting = setting_.value_or(search_.first({.field = true}));
    plan.number = next_number();
    make(space, plan, report);
    return plan;
  }
  template <bool HasTargets, class Targets>
  void retarget(Space const& space, Data<HasTargets>& plan, Targets const& targets,
                Report* report) {
    const HostThread<Space> thread(space);
    refuse_frozen(plan);
    take_targets(space, plan, targets);
    plan.seen.clear();
    plan.number = next_number();
    if constexpr (HasTargets)
      make(space, plan, report);
    else
      choose(space, *plan.core, plan.plan, plan, report);
  }
  /// Frozen, and of the transposed sums.
  template <bool HasTargets>
  Data<HasTargets> transposed(Space const& space, Data<HasTargets> const& plan, Report* report) {
    const HostThread<Space> thread(space);
    if (!plan.is_frozen)
      throw InvalidArgument("plan", "not frozen", "frozen, so that it is one operator");
    Data<HasTargets> result;
    result.core = plan.core;
    result.setting = plan.setting;
    if constexpr (HasTargets)
      result.plan = plan.core->transposed(space, plan.plan, report);
    else
      result.plan = plan.core->transposed(space, *plan.plan, report);
    result.sources.take(space, HasTargets ? plan.targets.rows() : plan.sources.rows());
    if constexpr (HasTargets) result.targets.take(space, plan.sources.rows());
    result.is_frozen = true;
    return result;
  }

  int order_of(RadiusSetting const& setting) const { return orders_[setting.index]; }
  template <bool HasTargets>
  static void freeze(Data<HasTargets>& plan) {
    if (plan.seen.empty() && plan.target_count() > 0 && plan.sources.size() > 0)
      throw InvalidArgument("plan", "not verified",
                            "evaluated once before it is frozen, with charges of one sign, say");
    plan.is_frozen = true;
  }

 protected:
  static constexpr bool single = std::is_same_v<Precision, Mixed>;

  VerifiedPlans(Options const& options, Kernel kernel, std::vector<int> orders)
      : options_(options),
        kernel_(kernel),
        tolerance_(required(options, single)),
        orders_(std::move(orders)),
        search_(tolerance_, orders_, {is_host_space_v<Space>, single}) {}

  std::uint64_t next_number() { return ++numbers_; }

  /// The options of a solver with that setting.
  Options options_of(RadiusSetting const& setting, double softening_share) const {
    Options options = options_;
    options.tolerance = std::nullopt;
    options.theta = setting.theta;
    if (traits_of_kernel(kernel_).has_far_from)
      options.softening_error = softening_share * options_.softening_error.value_or(
                                                      constants.softening_error * tolerance_);
    return options;
  }
  /// Those of all pairs, which have no tree.
  Options for_pairs() const {
    Options options = options_;
    options.tolerance = std::nullopt;
    options.softening_error = std::nullopt;
    return options;
  }
  template <bool HasTargets>
  void make(Space const& space, Data<HasTargets>& plan, Report* report) const {
    using Core = typename Data<HasTargets>::Core;
    const int order = orders_[plan.setting.index];
    plan.plan = {};
    plan.core = std::make_shared<Core>(options_of(plan.setting, plan.softening_share), kernel_,
                                       typename Core::Facts{order, false, nullptr});
    plan.plan = build_by(space, *plan.core, plan, report);
  }
  /// A plan by any core.
  template <bool HasTargets, class SomeCore>
  static auto build_by(Space const& space, SomeCore& core, Data<HasTargets> const& data,
                       Report* report) {
    const auto sources = data.sources.rows();
    if constexpr (HasTargets) {
      return core.build_two(space, data.targets.rows(), sources, report);
    } else {
      auto plan = core.build(space, Inputs<decltype(data.sources.rows())>{sources}, report);
      choose(space, core, plan, data, report);
      return plan;
    }
  }
  template <class SomeCore, class Plan>
  static void choose(Space const& space, SomeCore& core, Plan& plan, Data<false> const& data,
                     Report* report) {
    if (data.are_chosen)
      core.choose(space, *plan, data.chosen().view(), report);
    else
      core.choose(space, *plan, none, report);
  }
  template <bool HasTargets, class Targets>
  void take_targets(Space const& space, Data<HasTargets>& plan, Targets const& targets) const {
    if constexpr (HasTargets) {
      engine::checked_size("targets", targets);
      plan.targets.take(space, typename Targets::const_type(targets));
    } else if constexpr (std::is_same_v<Targets, None>) {
      plan.are_chosen = false;
    } else {
      const typename Targets::const_type numbers = targets;
      engine::check_numbers_of_bodies(space, numbers, plan.sources.size());
      plan.count = std::int64_t(numbers.extent(0));
      const auto to = plan.numbers.resize(std::size_t(plan.count));
      for_range("fmm::targets", space, plan.count,
                CopyNumbers<Space, typename Targets::const_type>{numbers, to});
      plan.are_chosen = true;
    }
  }
  template <bool HasTargets>
  static void refuse_frozen(Data<HasTargets> const& plan) {
    if (plan.is_frozen) throw InvalidArgument("plan", "frozen", "one that is not");
  }

  /// Operators of ends, of an order of the precision, or for what is compared with, or none of all pairs.
  template <class Shift>
  struct OfOrder {
    int order;
    template <class Ends>
    auto of() const {
      return Family::template far_field<typename Ends::Out, Shift, typename Ends::Strengths>(order);
    }
  };
  template <class Shift>
  struct OfKnown {
    template <class Ends>
    auto of() const {
      return Family::template known_far_field<typename Ends::Out, Shift,
                                              typename Ends::Strengths>();
    }
  };
  struct OfNone {
    template <class Ends>
    std::nullptr_t of() const {
      return nullptr;
    }
  };
  template <bool HasTargets>
  using ShiftOf = std::conditional_t<HasTargets, NoShift, OneSet>;
  template <bool HasTargets>
  OfOrder<ShiftOf<HasTargets>> of_plan(Data<HasTargets> const& plan) const {
    return {orders_[plan.setting.index]};
  }

  template <bool HasTargets>
  static OfKnown<ShiftOf<HasTargets>> of_known() {
    return {};
  }

  template <class SomePrecision>
  static auto& data_of(std::shared_ptr<engine::PlanData<Space, SomePrecision>> const& plan) {
    return *plan;
  }
  template <class SomePrecision>
  static auto& data_of(engine::TwoSetData<Space, SomePrecision>& plan) {
    return plan;
  }
  /// Results of a plan by the core that made it.
  template <class SomeCore, class Plan, class Given, class SomeResults, class SomeExclusions,
            class Operators>
  static void sum(Space const& space, SomeCore& core, Plan& plan, Given const& given,
                  SomeResults const& results, SomeExclusions const& exclusions,
                  Operators const& operators, Report* report) {
    auto& data = data_of(plan);
    engine::for_ends<typename SomeCore::precision, false>(
        space, data, core.kernel(), given, results, report, [&](auto const& ends) {
          using Ends = std::remove_cvref_t<decltype(ends)>;
          const auto of_ends = operators.template of<Ends>();
          if constexpr (std::is_same_v<SomeExclusions, None>)
            core.evaluate(space, data, of_ends, ends, report);
          else
            core.evaluate_without(exclusions, space, data, of_ends, ends, report);
        });
  }
  /// Throws for what is wrong with the caller's arrays.
  template <bool HasTargets, class Given, class SomeResults>
  static void check(Space const& space, Data<HasTargets>& plan, Given const& given,
                    SomeResults const& results) {
    auto& data = data_of(plan.plan);
    engine::for_ends<Precision, false>(
        space, data, plan.core->kernel(), given, results, nullptr, [&](auto const& ends) {
          ends.template check<Space>(plan.target_count(), plan.sources.size());
        });
  }

  Options options_;
  Kernel kernel_;
  double tolerance_;
  std::vector<int> orders_;
  RadiusSearch search_;
  std::optional<RadiusSetting> setting_;  ///< for the next bodies
  std::uint64_t numbers_ = 0;             ///< of plans and their targets so far
};

}  // namespace fmm::tolerance
