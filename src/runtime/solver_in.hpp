// SPDX-License-Identifier: BSD-3-Clause
// AnySolver in one space and precision: cores for each way of making lists, put together with the expansions of an
// order, a pair kernel and arrays that are all chosen at run time.
#pragma once

#include <utility>
#include <variant>
#include <vector>

#include "array_ends.hpp"
#include "expansions.hpp"
#include "implementation.hpp"
#include "reference.hpp"

namespace fmm::runtime {

template <class Space, class Precision>
class PlanIn final : public AnyPlan::Implementation {
 public:
  PlanIn(Backend backend, std::shared_ptr<engine::PlanData<Space, Precision>> data)
      : backend(backend), plan(std::move(data)) {}
  Facts facts() const override {
    return {plan.size(),        plan.cells(),       plan.leaves(),
            plan.depth(),       plan.m2l_entries(), plan.p2l_entries(),
            plan.m2p_entries(), plan.p2p_entries(), plan.memory_bytes()};
  }

  Backend backend;
  Plan<Space, Precision> plan;
};

/// The orders of fmm::ToleranceSolver where none are named.
template <int... Order>
bool is_one_of(int order, Orders<Order...>) {
  return ((order == Order) || ...);
}
using DefaultOrders = Orders<2, 3, 4, 5, 6, 8, 10, 12, 16>;

template <class Space, class Precision>
class SolverIn final : public AnySolver::Implementation {
  using Kernel = kernels::AnyKernel;
  using All = Expansions<Space, Precision>;
  template <class Traversal>
  using Core = engine::SolverCore<Kernel, Traversal, Precision, Space>;
  using Direct = Core<DirectSum>;
  using OfTree = Core<BarnesHut>;
  using OfTreeByField = Core<DualTree<SourceCriterion>>;
  using ByRadii = Core<DualTree<RadiusCriterion>>;
  using ByField = Core<DualTree<FieldCriterion>>;
  using ByPowers = Core<DualTree<MultipolePowerCriterion>>;
  static constexpr bool has_tolerance = !std::is_same_v<Precision, float>;
  using ByTolerance =
      tolerance::ToleranceCore<Kernel, std::conditional_t<has_tolerance, Precision, double>, Space>;
  static constexpr bool is_double = std::is_same_v<Precision, double>;
  using PairsByTolerance = tolerance::AllPairsCore<Kernel, Space>;
  using Cores = std::conditional_t<
      is_double,
      std::variant<Direct, OfTree, OfTreeByField, ByRadii, ByField, ByPowers, ByTolerance,
                   PairsByTolerance>,
      std::conditional_t<
          has_tolerance,
          std::variant<Direct, OfTree, OfTreeByField, ByRadii, ByField, ByPowers, ByTolerance>,
          std::variant<Direct, OfTree, OfTreeByField, ByRadii, ByField, ByPowers>>>;
  template <class Core>
  static constexpr bool has_tree_v =
      !std::is_same_v<Core, Direct> && !(is_double && std::is_same_v<Core, PairsByTolerance>);
  template <class Core>
  static constexpr bool uses_charges_v = std::is_same_v<Core, ByPowers> ||
                                         (has_tolerance && std::is_same_v<Core, ByTolerance>);

 public:
  SolverIn(KeptSite<Space> const& space, Policies const& asked, Options const& options)
      : Implementation(asked),
        kept_space_(space.kept),
        space_(space.site),
        kernel_(kernel_of(asked.kernel)),
        expansions_(all_expansions<Space, Precision>()),
        core_(make(asked, options)) {}

  Options options() const override {
    return std::visit([](auto const& core) { return core.options(); }, core_);
  }
  int order() const override {
    return std::visit([](auto const& core) { return core.order(); }, core_);
  }
  bool uses_charges() const override {
    return std::visit([]<class Core>(Core const&) { return uses_charges_v<Core>; }, core_);
  }
  std::size_t memory_bytes() const override {
    return std::visit([](auto const& core) { return core.memory_bytes(); }, core_);
  }

  std::unique_ptr<AnyPlan::Implementation> build(ConstArray const& positions,
                                                 ConstArray const& charges,
                                                 Report* report) override {
    check("positions", positions, 2);
    if (uses_charges()) check("charges", charges, 1);
    auto plan = with_rows<Space>(positions, [&](auto const& x) {
      return std::visit(
          [&]<class Core>(Core& core) -> std::unique_ptr<AnyPlan::Implementation> {
            if constexpr (uses_charges_v<Core>)
              return with_column<Space>(charges, [&](auto const& q) {
                return plan_of(core.build(space_, inputs_of(x, q), report));
              });
            else
              return plan_of(core.build(space_, inputs_of(x), report));
          },
          core_);
    });
    space_.fence();  // positions are the caller's again
    return plan;
  }

  void evaluate(AnyPlan::Implementation& any_plan, ConstArray const& charges,
                MutableArray const& potential, MutableArray const& field, Report* report) override {
    auto& plan = checked(any_plan, charges, potential, field);
    if (potential && field)
      evaluate_as<Both>(plan, charges, potential, field, report);
    else if (potential)
      evaluate_as<Potential>(plan, charges, potential, field, report);
    else
      evaluate_as<Field>(plan, charges, potential, field, report);
    space_.fence();
  }

  std::vector<std::int32_t> evaluate_sample(AnyPlan::Implementation& any_plan,
                                            ConstArray const& charges,
                                            MutableArray const& potential,
                                            MutableArray const& field, std::int64_t samples,
                                            Report* report) override {
    auto& plan = checked(any_plan, charges, potential, field);
    const auto sample = [&]<class Out>(Out) {
      const ArrayEnds<Space, Precision, Out> ends{charges, potential, field};
      return std::visit(
          [&](auto& core) -> Kokkos::View<BodyIndex*, Device<Space>> {
            if constexpr (!has_tree_v<std::remove_cvref_t<decltype(core)>>)
              return core.evaluate_sample(space_, plan, ends, samples, report);
            else
              throw InvalidArgument("method", "one with a tree", "Method::direct, for a sample");
          },
          core_);
    };
    const auto bodies = potential && field ? sample(Both())
                        : potential        ? sample(Potential())
                                           : sample(Field());
    std::vector<std::int32_t> numbers(bodies.extent(0));
    detail::read_back(space_, bodies.data(), numbers.data(), numbers.size());
    space_.fence();
    return numbers;
  }

  Tuned tune(ConstArray const& positions, ConstArray const& charges) override {
    check("positions", positions, 2);
    check("charges", charges, 1);
    if constexpr (has_tolerance)
      if (auto* const core = std::get_if<ByTolerance>(&core_)) {
        const auto in_double = all_expansions<Space, double>();
        auto const& highest = *std::find_if(in_double.begin(), in_double.end(), [&](auto const& e) {
          return e.facts.order == highest_;
        });
        return with_rows<Space>(positions, [&](auto const& x) {
          return with_column<Space>(charges, [&](auto const& q) {
            return core->tune(space_, inputs_of(x, q), {highest.facts, highest.fmm.both});
          });
        });
      }
    if (policies.method == Method::direct)
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
    const auto kernel = std::visit([](auto const& core) { return core.kernel(); }, core_);
    constexpr double least_share =
        std::is_same_v<Precision, double> ? least_share_in_double : least_share_in_float;
    return compare_with_reference<Space>(space_, kernel, positions, charges, potential, field,
                                         targets, samples, seed, least_share);
  }

 private:
  static Kernel kernel_of(runtime::Kernel kernel) {
    if (kernel == runtime::Kernel::laplace) return {Laplace()};
    if (kernel == runtime::Kernel::softened_gravity) return {SoftenedGravity()};
    return {SplineGravity()};
  }

  Cores make(Policies const& asked, Options const& options) {
    if constexpr (is_double)
      if (options.tolerance && asked.method == Method::direct)
        return Cores(std::in_place_type<PairsByTolerance>, options, kernel_);
    if constexpr (has_tolerance)
      if (options.tolerance && asked.method != Method::direct)
        return Cores(std::in_place_type<ByTolerance>, options, kernel_, orders_for(asked));
    if (asked.method == Method::direct)
      return Cores(std::in_place_type<Direct>, options, kernel_,
                   engine::ExpansionFacts<Kernel, Space, Precision>{0, false, nullptr});
    All const& one = of_order(*asked.order);
    if (asked.method == Method::treecode) {
      if (asked.criterion == Criterion::field)
        return Cores(std::in_place_type<OfTreeByField>, options, kernel_, one.without_p2l());
      return Cores(std::in_place_type<OfTree>, options, kernel_, one.without_p2l());
    }
    if (asked.criterion.value_or(Criterion::radius) == Criterion::radius)
      return Cores(std::in_place_type<ByRadii>, options, kernel_, one.without_p2l());
    if (asked.criterion == Criterion::field)
      return Cores(std::in_place_type<ByField>, options, kernel_, one.without_p2l());
    return Cores(std::in_place_type<ByPowers>, options, kernel_, one.facts);
  }

  All const& of_order(int order) const {
    return *std::find_if(expansions_.begin(), expansions_.end(),
                         [&](All const& one) { return one.facts.order == order; });
  }
  /// What a tolerance is held with.
  std::vector<tolerance::OrderOfMany<Kernel, Space, Precision>> orders_for(Policies const& asked) {
    auto const& given = asked.orders_to_choose_from;
    const bool has_default =
        std::any_of(expansions_.begin(), expansions_.end(),
                    [](All const& one) { return is_one_of(one.facts.order, DefaultOrders()); });
    const auto is_wanted = [&](int order) {
      if (asked.order) return order == *asked.order;
      if (given.empty()) return is_one_of(order, DefaultOrders()) || !has_default;
      return std::find(given.begin(), given.end(), order) != given.end();
    };
    std::vector<tolerance::OrderOfMany<Kernel, Space, Precision>> chosen;
    for (All const& one : expansions_)
      if (is_wanted(one.facts.order)) {
        if (asked.method == Method::treecode)
          chosen.push_back({one.without_p2l(), one.treecode.both});
        else
          chosen.push_back({one.facts, one.fmm.both});
        highest_ = one.facts.order;
      }
    return chosen;
  }

  /// The plan's data. Throws InvalidArgument for a plan of another solver, and for arrays that are not as they have
  /// to be.
  engine::PlanData<Space, Precision>& checked(AnyPlan::Implementation& any_plan,
                                              ConstArray const& charges,
                                              MutableArray const& potential,
                                              MutableArray const& field) const {
    auto* const plan = dynamic_cast<PlanIn<Space, Precision>*>(&any_plan);
    if (!plan || plan->backend != *policies.backend)
      throw InvalidArgument("plan", "one of another backend or precision",
                            "made with the solver's own");
    check("charges", charges, 1);
    if (potential) check("potential", potential, 1, true);
    if (field) check("field", field, 2, true);
    if (!potential && !field)
      throw InvalidArgument("potential and field", "none", "at least one of the two");
    return plan->plan.data();
  }

  void check(char const* name, ConstArray const& array, int rank, bool is_written = false) const {
    check_array(name, array.data(), array.shape(),
                {rank, detail::is_host_space_v<Space>, is_written, space_.name()});
  }

  template <class X>
  static Inputs<X> inputs_of(X const& positions) {
    return {positions};
  }
  template <class X, class Q>
  static Inputs<X, Q> inputs_of(X const& positions, Q const& charges) {
    return {positions, charges};
  }
  std::unique_ptr<AnyPlan::Implementation> plan_of(
      std::shared_ptr<engine::PlanData<Space, Precision>> data) const {
    return std::make_unique<PlanIn<Space, Precision>>(*policies.backend, std::move(data));
  }

  template <class Out>
  void evaluate_as(engine::PlanData<Space, Precision>& plan, ConstArray const& charges,
                   MutableArray const& potential, MutableArray const& field, Report* report) {
    const ArrayEnds<Space, Precision, Out> ends{charges, potential, field};
    std::visit(
        [&]<class Core>(Core& core) {
          if constexpr (std::is_same_v<Core, Direct>) {
            core.evaluate_pairs(space_, plan, ends, report, nullptr);
          } else if constexpr (is_double && std::is_same_v<Core, PairsByTolerance>) {
            core.evaluate(space_, plan, ends, report);
          } else {
            All const& one = of_order(core.order());
            const auto& operators = policies.method == Method::treecode ? one.treecode : one.fmm;
            core.evaluate(space_, plan, operators.template get<Out>(), ends, report);
          }
        },
        core_);
  }

  std::shared_ptr<void const> kept_space_;
  Space space_;
  Kernel kernel_;
  std::vector<All> expansions_;
  int highest_ = 0;  ///< order, with a tolerance
  Cores core_;
};

template <class Site, class Precision>
std::unique_ptr<AnySolver::Implementation> make_solver(KeptSite<Site> const& space,
                                                       Policies const& policies,
                                                       Options const& options) {
  return std::make_unique<SolverIn<Site, Precision>>(space, policies, options);
}

}  // namespace fmm::runtime
