// SPDX-License-Identifier: BSD-3-Clause
// Plans for any strengths with a tolerance, and sums by them: of the positions that they keep, for any setting.
#pragma once

#include <atomic>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "quantities.hpp"
#include "radius_setting.hpp"
#include "sampled_targets.hpp"
#include "strength_profile.hpp"

namespace fmm::tolerance {

/// What a plan for any strengths consists of.
template <class Kernel, class Precision, class Space, bool HasTargets>
struct VerifiedData {
  using Core =
      SolverCore<Kernel, DualTree<RadiusCriterion>, Precision, Space, for_close_pairs_t<Precision>>;
  using Pairs = SolverCore<Kernel, DirectSum, double, Space>;
  template <class SomePrecision>
  using PlanOf = std::conditional_t<HasTargets, engine::TwoSetData<Space, SomePrecision>,
                                    std::shared_ptr<engine::PlanData<Space, SomePrecision>>>;

  using Seen = SeenDensity;
  /// What that evaluation was of.
  struct Kinds {
    ResultKinds bounded;
    bool charges = false, dipoles = false;
    bool operator==(Kinds const&) const = default;
  };

  Points<Space> sources, targets;
  Buffer<BodyIndex, Space> numbers{"numbers of targets"};
  std::int64_t count = 0;  ///< of chosen targets
  bool are_chosen = false, is_frozen = false, is_new = true;
  std::uint64_t solver = 0;  ///< the number of its own
  RadiusSetting setting;
  double softening_share = 1;  ///< of the softening_error
  std::shared_ptr<Core> core;
  PlanOf<Precision> plan;        ///< none: to be made when it is needed
  std::shared_ptr<Pairs> pairs;  ///< sums all pairs instead
  PlanOf<double> of_pairs;
  bool pairs_are_verified = false;
  double none_within = 0;  ///< no target is so near a source at another place, in the terms' unit
  std::vector<std::vector<Seen>>
      seen;  ///< of each density, the last one first; empty: to be verified
  Kinds seen_kinds;
  bool has_room = true;          ///< whether what was seen leaves room for others
  bool can_be_tightened = true;  ///< whether a stricter setting makes errors smaller
  double tightened_from = 0;  ///< the error before a stricter setting whose error is not known yet
  int evaluations = 0;        ///< since the first one with this setting
  std::uint64_t looks = 0;    ///< at targets, others each time
  double known_theta = 1;     ///< of what results are compared with
  std::optional<SampledTargets<Kernel, Space>> sampled;

  bool has_plan() const {
    if constexpr (HasTargets)
      return bool(plan.targets);
    else
      return bool(plan);
  }
  /// The largest error of the densities.
  double seen_error() const {
    double error = 0;
    for (auto const& density : seen)
      for (Seen const& one : density) error = std::fmax(error, one.error);
    return error;
  }
  Array<BodyIndex, Space> chosen() const { return numbers.view(std::size_t(count)); }
  /// Bytes in the execution space's memory.
  std::size_t memory_bytes() const {
    std::size_t bytes = sources.bytes() + targets.bytes() + numbers.bytes();
    if (core) bytes += core->memory_bytes();
    if (pairs) bytes += pairs->memory_bytes();
    if (sampled) bytes += sampled->memory_bytes();
    return bytes;
  }
  std::int64_t target_count() const {
    return are_chosen ? count : HasTargets ? targets.size() : sources.size();
  }
};

/// Makes them, and sums by them.
///
/// Kernel, Space   as of ToleranceSolver
/// Precision       Mixed or double
/// Family          the operators of all orders: far_field<Out, Shift, Strengths>(order) of the precision, and
///                 known_far_field<..>(order) in double
template <class Kernel, class Precision, class Space, class Family>
class VerifiedPlans {
 public:
  template <bool HasTargets>
  using Data = VerifiedData<Kernel, Precision, Space, HasTargets>;

  /// Of sources, and targets: None, (M,3) positions, or (M) numbers of sources. Trees are made when they are needed.
  template <bool HasTargets, class Sources, class Targets>
  Data<HasTargets> build(Space const& space, Sources const& given, Targets const& targets) {
    const HostThread<Space> thread(space);
    const typename Sources::const_type sources = given;
    Data<HasTargets> plan;
    if (engine::checked_size("sources", sources) > 0) bounding_box(space, sources, "sources");
    plan.sources.take(space, sources);
    take_targets(space, plan, targets);
    plan.setting = setting_.value_or(search_.first({.field = true}));
    plan.solver = number_;
    space.fence();  // positions are the caller's again
    return plan;
  }
  template <bool HasTargets, class Targets>
  void retarget(Space const& space, Data<HasTargets>& plan, Targets const& targets) {
    const HostThread<Space> thread(space);
    check_is_mine(plan);
    if (plan.is_frozen) throw InvalidArgument("plan", "frozen", "one that is not");
    take_targets(space, plan, targets);
    space.fence();
    forget(plan);
    plan.can_be_tightened = true;
    plan.sampled.reset();
  }
  /// Frozen, and of the transposed sums.
  template <bool HasTargets>
  Data<HasTargets> transposed(Space const& space, Data<HasTargets> const& plan, Report* report) {
    const HostThread<Space> thread(space);
    check_is_mine(plan);
    if (!plan.is_frozen)
      throw InvalidArgument("plan", "not frozen", "frozen, so that it is one operator");
    Data<HasTargets> result;
    result.solver = plan.solver;
    result.core = plan.core;
    result.setting = plan.setting;
    result.pairs = plan.pairs;
    if (plan.pairs)
      result.of_pairs = transposed_by(space, *plan.pairs, plan.of_pairs, report);
    else
      result.plan = transposed_by(space, *plan.core, plan.plan, report);
    result.sources.take(space, HasTargets ? plan.targets.rows() : plan.sources.rows());
    if constexpr (HasTargets) result.targets.take(space, plan.sources.rows());
    space.fence();
    result.is_frozen = true;
    return result;
  }
  template <bool HasTargets>
  void freeze(Data<HasTargets>& plan) const {
    check_is_mine(plan);
    if (plan.is_frozen) return;
    if (plan.seen.empty() && !plan.pairs_are_verified)
      throw InvalidArgument("plan", "not verified",
                            "evaluated once before it is frozen, with charges of one sign, say");
    plan.is_frozen = true;
    plan.sampled.reset();
  }

 protected:
  static constexpr bool single = std::is_same_v<Precision, Mixed>;

  VerifiedPlans(Options const& options, Kernel kernel, std::vector<int> orders, Family family)
      : family_(family),
        options_(options),
        kernel_(kernel),
        tolerance_(required(options, single)),
        orders_(std::move(orders)),
        search_(tolerance_, orders_, {is_host_space_v<Space>, single}) {}

  /// Of a solver, and of its copies, which are alike.
  static std::uint64_t next_number() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
  }
  template <bool HasTargets>
  void check_is_mine(Data<HasTargets> const& plan) const {
    if (plan.solver != number_)
      throw InvalidArgument("plan", "of another solver", "made by the solver itself");
  }
  /// Has the plan be made, and verified, anew.
  template <bool HasTargets>
  static void forget(Data<HasTargets>& plan) {
    plan.plan = {};
    plan.of_pairs = {};
    plan.pairs = nullptr;
    plan.pairs_are_verified = false;
    plan.none_within = 0;
    plan.seen.clear();
    plan.has_room = true;
    plan.evaluations = 0;
  }

  /// The options of a solver with that setting.
  Options options_of(RadiusSetting const& setting, double softening_share) const {
    Options options = options_;
    options.tolerance = std::nullopt;
    options.theta = setting.theta;
    if (options_.periodic)  // no less than all pairs have
      softening_share = std::max(softening_share, constants.softening_of_ewald);
    if (traits_of_kernel(kernel_).has_far_from)
      options.softening_error = softening_share * options_.softening_error.value_or(
                                                      constants.softening_error * tolerance_);
    return options;
  }
  /// Those of all pairs, which have no tree.
  Options for_pairs() const {
    return options_of_pairs(options_, tolerance_, traits_of_kernel(kernel_).has_far_from);
  }
  template <bool HasTargets>
  void make(Space const& space, Data<HasTargets>& plan, Report* report) const {
    using Core = typename Data<HasTargets>::Core;
    const int order = orders_[plan.setting.index];
    space.fence();  // its memory goes now
    plan.plan = {};
    plan.core = std::make_shared<Core>(options_of(plan.setting, plan.softening_share), kernel_,
                                       typename Core::Facts{order, false, nullptr});
    plan.plan = build_by(space, *plan.core, plan, report);
  }
  /// For sums of all pairs.
  template <bool HasTargets>
  void make_pairs(Space const& space, Data<HasTargets>& plan, Report* report) const {
    using Pairs = typename Data<HasTargets>::Pairs;
    auto pairs =
        std::make_shared<Pairs>(for_pairs(), kernel_, typename Pairs::Facts{0, false, nullptr});
    plan.of_pairs = build_by(space, *pairs, plan, report);
    plan.pairs = std::move(pairs);
  }
  template <class SomeCore, class Plan>
  static Plan transposed_by(Space const& space, SomeCore& core, Plan const& plan, Report* report) {
    if constexpr (requires { plan.targets; })
      return core.transposed(space, plan, report);
    else
      return core.transposed(space, *plan, report);
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
      const typename Targets::const_type points = targets;
      if (engine::checked_size("targets", points) > 0) bounding_box(space, points, "targets");
      plan.targets.take(space, points);
    } else if constexpr (std::is_same_v<Targets, None>) {
      plan.are_chosen = false;
    } else {
      const typename Targets::const_type numbers = targets;
      engine::check_numbers_of_bodies(space, numbers, plan.sources.size());
      const auto to = plan.numbers.resize(numbers.extent(0));
      plan.count = std::int64_t(numbers.extent(0));
      for_range("fmm::targets", space, plan.count,
                engine::CopyNumbers<Space, typename Targets::const_type>{numbers, to});
      plan.are_chosen = true;
    }
  }
  /// Operators of ends, of an order of the precision, or for what is compared with, or none of all pairs.
  template <class Shift>
  struct OfOrder {
    Family family;
    int order;
    template <class Ends>
    auto of() const {
      return family.template far_field<typename Ends::Out, Shift, typename Ends::Strengths>(order);
    }
  };
  template <class Shift>
  struct OfKnown {
    Family family;
    int order;
    template <class Ends>
    auto of() const {
      return family.template known_far_field<typename Ends::Out, Shift, typename Ends::Strengths>(
          order);
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
    return {family_, orders_[plan.setting.index]};
  }
  template <bool HasTargets>
  OfKnown<ShiftOf<HasTargets>> of_known() const {
    return {family_, orders_.back()};
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
  /// Throws for what is wrong with the caller's arrays, and for results that their types have no room for.
  ///
  /// made    the plan's own, in SomePrecision
  /// strengths_too    no: an evaluation in double looks at them itself, before it sums
  template <class SomePrecision, bool strengths_too = true, bool HasTargets, class Plan,
            class Given, class Potential, class Field, class Hessian>
  void check(Space const& space, Data<HasTargets>& plan, Plan& made, Given const& given,
             Results<Potential, Field, Hessian> const& results) const {
    using kernels::profile_of;  // also those of kernels that stand for others
    auto& data = data_of(made);
    engine::for_ends<SomePrecision,
                     false>(space, data, kernel_, given, results, nullptr, [&](auto const& ends) {
      using Ends = std::remove_cvref_t<decltype(ends)>;
      ends.template check<Space>(plan.target_count(), plan.sources.size());
      if constexpr (strengths_too && !Ends::is_block)
        engine::check_strengths<SomePrecision, typename Ends::Strengths, Potential, Field, Hessian>(
            space, engine::cube_of(data), profile_of(kernel_), ends.charges);
    });
  }

  Family family_;
  Options options_;
  Kernel kernel_;
  double tolerance_;
  std::vector<int> orders_;
  RadiusSearch search_;
  std::optional<RadiusSetting> setting_;  ///< for the next bodies
  std::uint64_t number_ = next_number();
};

}  // namespace fmm::tolerance
