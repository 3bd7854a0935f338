// SPDX-License-Identifier: BSD-3-Clause
// AnySolver in one space and precision: plans and evaluations by its cores (cores_in.hpp), of arrays that are chosen at
// run time.
#pragma once

#include <utility>
#include <variant>
#include <vector>

#include "array_ends.hpp"
#include "cores_in.hpp"
#include "reference.hpp"

namespace fmm::runtime {

template <class Space, class Precision>
class SolverIn final : public CoresIn<Space, Precision> {
  using Base = CoresIn<Space, Precision>;
  using Base::has_tolerance;
  using typename Base::All, typename Base::ByTolerance, typename Base::OneSetPlan,
      typename Base::SomePlanIn, typename Base::TwoSetsPlan;

 public:
  using Base::Base, Base::uses_charges;

  std::unique_ptr<AnyPlan::Implementation> build(ConstArray const& positions,
                                                 ConstArray const& charges,
                                                 ConstArray const& targets,
                                                 Report* report) override {
    check_points("positions", positions);
    check_targets(targets);
    const bool is_for_any = this->takes_verified() && !charges;
    if (uses_charges() && !is_for_any) check("charges", charges, 1);
    auto plan = is_for_any            ? build_verified(positions, targets)
                : are_points(targets) ? build_two(positions, targets, report)
                                      : build_one(positions, charges, targets, report);
    this->space_.fence();  // positions are the caller's again
    return plan;
  }

  void retarget(AnyPlan::Implementation& any_plan, ConstArray const& targets,
                Report* report) override {
    check_targets(targets);
    visit_plan(any_plan, [&]<class SomePlan>(SomePlan& plan) {
      if (has_targets_v<SomePlan> != are_points(targets))
        throw InvalidArgument("targets", are_points(targets) ? "positions" : "not positions",
                              has_targets_v<SomePlan>
                                  ? "positions, for a plan that was built with such"
                                  : "numbers of sources, or none, for a plan of one set");
      if constexpr (is_verified_v<SomePlan>) {
        retarget_verified(plan, targets);
      } else {
        this->visit_core([&]<class Core>(Core& core) {
          if constexpr (!has_targets_v<SomePlan>) {
            choose(core, plan.data(), targets, report);
          } else if constexpr (takes_strengths_v<Core>) {
            const StagedPositions<Space> y(this->space_, targets);
            core.retarget(this->space_, plan.data(), y.view(), report);
            this->space_.fence();
          } else {
            this->refuse_strengths();
          }
        });
      }
    });
    this->space_.fence();
  }

  void freeze(AnyPlan::Implementation& any_plan) override {
    visit_plan(any_plan, [&]<class SomePlan>(SomePlan& plan) {
      if constexpr (is_verified_v<SomePlan>)
        this->verified().freeze(plan.data());
      else
        this->visit_core([&]<class Core>(Core&) {
          if constexpr (!takes_strengths_v<Core>) this->refuse_strengths();
        });
    });
  }

  std::unique_ptr<AnyPlan::Implementation> transposed(AnyPlan::Implementation const& any_plan,
                                                      Report* report) override {
    if (this->policies.method == Method::treecode)
      throw InvalidArgument("method", "treecode", "fmm or direct, for a transposed plan");
    std::unique_ptr<AnyPlan::Implementation> result;
    visit_plan(any_plan, [&]<class SomePlan>(SomePlan const& plan) {
      if constexpr (is_verified_v<SomePlan>)
        result = plan_of(SomePlan(this->verified().transposed(this->space_, plan.data(), report)));
      else
        this->visit_core([&]<class Core>(Core& core) {
          if constexpr (has_transpose_v<Core>) {
            if constexpr (has_targets_v<SomePlan>)
              result = plan_of(SomePlan(core.transposed(this->space_, plan.data(), report)));
            else
              result = plan_of(
                  SomePlan(core.transposed(this->space_, plan.data(), report), plan.lease()));
          } else {
            this->refuse_strengths();
          }
        });
    });
    this->space_.fence();
    return result;
  }

  void evaluate(AnyPlan::Implementation& any_plan, ConstArray const& charges,
                MutableArray const& potential, MutableArray const& field, Report* report) override {
    auto* const plan = std::get_if<OneSetPlan>(&checked(any_plan).any);
    if (!plan)
      return evaluate_any(any_plan, {.charges = charges, .dipoles = {}},
                          {.potential = potential, .field = field, .hessian = {}}, report);
    auto& data = plan->data();
    check_ends(charges, potential, field);
    if (potential && field)
      evaluate_as<Both>(data, charges, potential, field, report);
    else if (potential)
      evaluate_as<Potential>(data, charges, potential, field, report);
    else
      evaluate_as<Field>(data, charges, potential, field, report);
    this->space_.fence();
  }

  void evaluate_any(AnyPlan::Implementation& any_plan, AnyStrengths const& strengths,
                    AnyResults const& results, Report* report) override {
    auto& plan = checked(any_plan);
    if (std::holds_alternative<OneSetPlan>(plan.any) && strengths.charges.shape().rank == 1 &&
        !strengths.dipoles && !results.hessian)
      return evaluate(plan, strengths.charges, results.potential, results.field, report);
    Staged<Space> staged(this->space_, strengths, results, bounds_of(plan));
    visit_plan(any_plan, [&]<class SomePlan>(SomePlan& some) {
      if constexpr (is_verified_v<SomePlan>)
        this->verified().evaluate(this->space_, some.data(), staged, report);
      else
        this->visit_core([&]<class Core>(Core& core) {
          if constexpr (takes_strengths_v<Core>)
            evaluate_strengths(this->space_, core, some.data(), staged, this->operators_of(core),
                               report);
          else
            this->refuse_strengths();
        });
    });
    this->space_.fence();
  }

  std::vector<std::int32_t> evaluate_sample(AnyPlan::Implementation& any_plan,
                                            ConstArray const& charges,
                                            MutableArray const& potential,
                                            MutableArray const& field, std::int64_t samples,
                                            Report* report) override {
    auto* const one_set = std::get_if<OneSetPlan>(&checked(any_plan).any);
    if (!one_set) throw InvalidArgument("plan", "of another kind", "one of one set, for a sample");
    check_ends(charges, potential, field);
    auto& plan = one_set->data();
    const auto sample = [&]<class Out>(Out) {
      const ArrayEnds<Space, Precision, Out> ends{charges, potential, field};
      return std::visit(
          [&](auto& core) -> Kokkos::View<BodyIndex*, Device<Space>> {
            if constexpr (sums_all_pairs_v<std::remove_cvref_t<decltype(core)>>)
              return core.evaluate_sample(this->space_, plan, ends, samples, report);
            else
              throw InvalidArgument("method", "one with a tree", "Method::direct, for a sample");
          },
          this->core_);
    };
    const auto bodies = potential && field ? sample(Both())
                        : potential        ? sample(Potential())
                                           : sample(Field());
    std::vector<std::int32_t> numbers(bodies.extent(0));
    detail::read_back(this->space_, bodies.data(), numbers.data(), numbers.size());
    this->space_.fence();
    return numbers;
  }

  Tuned tune(ConstArray const& positions, ConstArray const& charges) override {
    check("positions", positions, 2);
    check("charges", charges, 1);
    if constexpr (has_tolerance)
      if (auto* const core = std::get_if<ByTolerance>(&this->core_)) {
        const auto in_double = all_expansions<Space, double>();
        auto const& highest = *std::find_if(in_double.begin(), in_double.end(), [&](auto const& e) {
          return e.facts.order == this->highest_;
        });
        return with_rows<Space>(positions, [&](auto const& x) {
          return with_column<Space>(charges, [&](auto const& q) {
            return core->tune(this->space_, inputs_of(x, q),
                              {highest.facts, highest.fmm.template get<Both>()});
          });
        });
      }
    if (this->policies.method == Method::direct)
      throw InvalidArgument("method", "direct", "one with a tree: of all pairs nothing is tuned");
    throw InvalidArgument("tolerance", "none", "set: without it there is nothing to tune to");
  }

  ErrorMeasure measure_error(ConstArray const& positions, ConstArray const& charges,
                             ConstArray const& potential, ConstArray const& field,
                             std::vector<std::int32_t> const* targets, std::size_t samples,
                             std::uint64_t seed) const override {
    check("positions", positions, 2);
    check("charges", charges, 1);
    if (potential) check("potential", potential, 1);
    if (field) check("field", field, 2);
    constexpr double least_share =
        std::is_same_v<Precision, double> ? least_share_in_double : least_share_in_float;
    return compare_with_reference<Space>(this->space_, this->kernel(), this->options(), positions,
                                         charges, potential, field, targets, samples, seed,
                                         least_share);
  }

 private:
  // ---- plans

  template <class SomePlan>
  std::unique_ptr<AnyPlan::Implementation> plan_of(SomePlan plan) const {
    return std::make_unique<SomePlanIn>(*this->policies.backend, std::move(plan));
  }
  /// Throws InvalidArgument for a plan of another solver.
  template <class Plan>
  auto& checked(Plan& any_plan) const {
    using Wanted = std::conditional_t<std::is_const_v<Plan>, SomePlanIn const, SomePlanIn>;
    auto* const plan = dynamic_cast<Wanted*>(&any_plan);
    if (!plan || plan->backend != *this->policies.backend)
      throw InvalidArgument("plan", "one of another backend or precision",
                            "made with the solver's own");
    return *plan;
  }
  template <class Plan, class Visit>
  void visit_plan(Plan& any_plan, Visit const& visit) const {
    std::visit(visit, checked(any_plan).any);
  }
  /// How many sources and targets an evaluation has.
  typename Staged<Space>::Bounds bounds_of(SomePlanIn const& plan) const {
    const auto facts = plan.facts();
    const bool are_two = std::visit(
        []<class SomePlan>(SomePlan const&) { return has_targets_v<SomePlan>; }, plan.any);
    return {facts.size, facts.targets, are_two ? "sources" : "bodies",
            are_two || facts.targets != facts.size ? "targets" : "bodies"};
  }
  std::unique_ptr<AnyPlan::Implementation> build_one(ConstArray const& positions,
                                                     ConstArray const& charges,
                                                     ConstArray const& targets, Report* report) {
    return with_rows<Space>(positions, [&](auto const& x) {
      return std::visit(
          [&]<class Core>(Core& core) -> std::unique_ptr<AnyPlan::Implementation> {
            if (targets && !is_solver_core_v<Core>)
              throw InvalidArgument("targets", "set",
                                    "not set, for a plan that is built with charges");
            std::shared_ptr<engine::PlanData<Space, Precision>> data;
            if constexpr (uses_charges_v<Core>)
              with_column<Space>(charges, [&](auto const& q) {
                data = core.build(this->space_, inputs_of(x, q), report);
              });
            else
              data = core.build(this->space_, inputs_of(x), report);
            if constexpr (is_solver_core_v<Core>)
              if (targets) choose(core, *data, targets, report);
            return plan_of(OneSetPlan(std::move(data)));
          },
          this->core_);
    });
  }
  std::unique_ptr<AnyPlan::Implementation> build_two(ConstArray const& positions,
                                                     ConstArray const& targets, Report* report) {
    std::unique_ptr<AnyPlan::Implementation> plan;
    this->visit_core([&]<class Core>(Core& core) {
      if constexpr (takes_strengths_v<Core>) {
        const StagedPositions<Space> x(this->space_, positions), y(this->space_, targets);
        plan = plan_of(TwoSetsPlan(core.build_two(this->space_, y.view(), x.view(), report)));
        this->space_.fence();
      } else {
        this->refuse_strengths();
      }
    });
    return plan;
  }
  template <class Core>
  void choose(Core& core, engine::PlanData<Space, Precision>& plan, ConstArray const& targets,
              Report* report) {
    if (!targets) return core.choose(this->space_, plan, none, report);
    const StagedNumbers<Space> numbers(this->space_, targets);
    core.choose(this->space_, plan, numbers.view(), report);
    this->space_.fence();
  }

  // ---- plans for any strengths with a tolerance

  std::unique_ptr<AnyPlan::Implementation> build_verified(
      [[maybe_unused]] ConstArray const& positions, [[maybe_unused]] ConstArray const& targets) {
    if constexpr (has_tolerance) {
      const StagedPositions<Space> x(this->space_, positions);
      if (are_points(targets))
        return plan_of(typename SomePlanIn::template VerifiedOf<true>(this->verified().build(
            this->space_, x, StagedPositions<Space>(this->space_, targets))));
      const auto numbers = numbers_of(targets);
      return plan_of(typename SomePlanIn::template VerifiedOf<false>(
          this->verified().build(this->space_, x, numbers ? &*numbers : nullptr)));
    } else {
      return nullptr;
    }
  }
  template <class SomePlan>
  void retarget_verified(SomePlan& plan, ConstArray const& targets) {
    if constexpr (SomePlan::has_targets) {
      this->verified().retarget(this->space_, plan.data(),
                                StagedPositions<Space>(this->space_, targets));
    } else {
      const auto numbers = numbers_of(targets);
      this->verified().retarget(this->space_, plan.data(), numbers ? &*numbers : nullptr);
    }
  }
  std::optional<StagedNumbers<Space>> numbers_of(ConstArray const& targets) const {
    if (!targets) return std::nullopt;
    return std::optional<StagedNumbers<Space>>(std::in_place, this->space_, targets);
  }

  // ---- arrays

  static bool are_points(ConstArray const& targets) { return targets.shape().rank == 2; }
  /// Throws unless they are (N,3), as many as can be counted.
  void check_points(char const* name, ConstArray const& points) const {
    check(name, points, 2);
    engine::checked_size(name, rows<double const, Space>(points));
  }
  void check_targets(ConstArray const& targets) const {
    if (!targets) return;
    if (are_points(targets)) return check_points("targets", targets);
    check_array("targets", targets.data(), targets.shape(),
                {1, detail::is_host_space_v<Space>, false, this->space_.name(), 0, true});
    if (targets.size() > std::numeric_limits<BodyIndex>::max())
      engine::refuse_extent("targets", 0, std::size_t(targets.size()), "at most 2147483647");
  }
  void check_ends(ConstArray const& charges, MutableArray const& potential,
                  MutableArray const& field) const {
    check("charges", charges, 1);
    if (potential) check("potential", potential, 1, true);
    if (field) check("field", field, 2, true);
    if (!potential && !field)
      throw InvalidArgument("potential and field", "none", "at least one of the two");
  }
  void check(char const* name, ConstArray const& array, int rank, bool is_written = false) const {
    check_array(name, array.data(), array.shape(),
                {rank, detail::is_host_space_v<Space>, is_written, this->space_.name()});
  }

  template <class X>
  static Inputs<X> inputs_of(X const& positions) {
    return {positions};
  }
  template <class X, class Q>
  static Inputs<X, Q> inputs_of(X const& positions, Q const& charges) {
    return {positions, charges};
  }
  template <class Out>
  void evaluate_as(engine::PlanData<Space, Precision>& plan, ConstArray const& charges,
                   MutableArray const& potential, MutableArray const& field, Report* report) {
    const ArrayEnds<Space, Precision, Out> ends{charges, potential, field};
    std::visit(
        [&]<class Core>(Core& core) {
          if constexpr (is_by_v<Core, DirectSum>) {
            core.evaluate_pairs(this->space_, plan, ends, report, nullptr);
          } else if constexpr (sums_all_pairs_v<Core>) {
            core.evaluate(this->space_, plan, ends, report);
          } else {
            core.evaluate(this->space_, plan, this->operators_of(core)->template get<Out>(), ends,
                          report);
          }
        },
        this->core_);
  }
};

template <class Site, class Precision>
std::unique_ptr<AnySolver::Implementation> make_solver(KeptSite<Site> const& space,
                                                       Policies const& policies,
                                                       Options const& options) {
  return std::make_unique<SolverIn<Site, Precision>>(space, policies, options);
}

}  // namespace fmm::runtime
