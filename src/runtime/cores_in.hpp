// SPDX-License-Identifier: BSD-3-Clause
// What AnySolver consists of in one space and precision: a core for each way of making lists, put together with the
// expansions of an order and a pair kernel that are chosen at run time.
#pragma once

#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "plan_in.hpp"
#include "strengths.hpp"

namespace fmm::runtime {

/// The orders of fmm::ToleranceSolver where none are named.
template <int... Order>
bool is_one_of(int order, Orders<Order...>) {
  return ((order == Order) || ...);
}
using DefaultOrders = Orders<2, 3, 4, 5, 6, 8, 10, 12, 16>;

// ---- what there is to know of a core

template <class Core>
inline constexpr bool is_solver_core_v = false;
template <class Traversal, class Precision, class Space>
inline constexpr bool
    is_solver_core_v<engine::SolverCore<kernels::AnyKernel, Traversal, Precision, Space>> = true;

/// Whether it has the traversal of a SolverCore.
template <class Core, class Traversal>
inline constexpr bool is_by_v = false;
template <class Traversal, class Precision, class Space>
inline constexpr bool
    is_by_v<engine::SolverCore<kernels::AnyKernel, Traversal, Precision, Space>, Traversal> = true;

/// Whether lists are of the geometry alone, so that it takes any strengths.
template <class Core>
inline constexpr bool takes_strengths_v = is_by_v<Core, DirectSum> || is_by_v<Core, BarnesHut> ||
                                          is_by_v<Core, DualTree<RadiusCriterion>>;
template <class Core>
inline constexpr bool has_transpose_v =
    is_by_v<Core, DirectSum> || is_by_v<Core, DualTree<RadiusCriterion>>;
template <class Core>
inline constexpr bool uses_charges_v = is_by_v<Core, DualTree<MultipolePowerCriterion>>;
template <class Precision, class Space>
inline constexpr bool
    uses_charges_v<tolerance::ToleranceCore<kernels::AnyKernel, Precision, Space>> = true;
template <class Space>
inline constexpr bool uses_charges_v<tolerance::AllPairsCore<kernels::AnyKernel, Space>> = true;
template <class Core>
inline constexpr bool sums_all_pairs_v = is_by_v<Core, DirectSum>;
template <class Space>
inline constexpr bool sums_all_pairs_v<tolerance::AllPairsCore<kernels::AnyKernel, Space>> = true;

template <class Space, class Precision>
class CoresIn : public AnySolver::Implementation {
 protected:
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
  using SomePlanIn = PlanIn<Space, Precision>;
  using OneSetPlan = typename SomePlanIn::OfOne;
  using TwoSetsPlan = typename SomePlanIn::OfTwo;

 public:
  CoresIn(KeptSite<Space> const& space, Policies const& asked, Options const& options)
      : Implementation(asked),
        kept_space_(space.kept),
        space_(space.site),
        asked_options_(options),
        kernel_(kernel_of(asked.kernel)),
        expansions_(all_expansions<Space, Precision>()),
        core_(make(asked, options)) {}

  Options options() const override {
    return std::visit([](auto const& core) { return core.options(); }, core_);
  }
  /// With the softening and G that are in force.
  Kernel kernel() const {
    return std::visit([](auto const& core) -> Kernel { return core.kernel(); }, core_);
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

 protected:
  /// visit(core) of one that is no tolerance's.
  template <class Visit>
  void visit_core(Visit const& visit) {
    std::visit(
        [&]<class Core>(Core& core) {
          if constexpr (is_solver_core_v<Core>)
            visit(core);
          else
            throw InvalidArgument("plan", "built with charges",
                                  "built without, for any strengths and targets");
        },
        core_);
  }
  [[noreturn]] static void refuse_strengths() {
    throw InvalidArgument(
        "criterion", "of charges",
        "radius, for targets of their own, dipoles, Hessians, several densities and "
        "transposes");
  }
  template <class Core>
  MakeOperators<Space, Precision> const* operators_of(Core const& core) const {
    if constexpr (std::is_same_v<Core, Direct>) {
      return nullptr;
    } else {
      All const& one = of_order(core.order());
      return policies.method == Method::treecode ? &one.treecode : &one.fmm;
    }
  }

  bool takes_verified() const { return bool(asked_options_.tolerance); }
  using VerifiedHere = Verified<Space, std::conditional_t<has_tolerance, Precision, double>>;
  VerifiedHere& verified() {
    if (!verified_)
      verified_.emplace(asked_options_, kernel(), wanted_orders(policies), policies.method);
    return *verified_;
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
  /// What a tolerance is held with, ascending.
  std::vector<int> wanted_orders(Policies const& asked) const {
    auto const& given = asked.orders_to_choose_from;
    const bool has_default =
        std::any_of(expansions_.begin(), expansions_.end(),
                    [](All const& one) { return is_one_of(one.facts.order, DefaultOrders()); });
    const auto is_wanted = [&](int order) {
      if (asked.order) return order == *asked.order;
      if (given.empty()) return is_one_of(order, DefaultOrders()) || !has_default;
      return std::find(given.begin(), given.end(), order) != given.end();
    };
    std::vector<int> wanted;
    for (All const& one : expansions_)
      if (is_wanted(one.facts.order)) wanted.push_back(one.facts.order);
    return wanted;
  }
  std::vector<tolerance::OrderOfMany<Kernel, Space, Precision>> orders_for(Policies const& asked) {
    std::vector<tolerance::OrderOfMany<Kernel, Space, Precision>> chosen;
    for (const int order : wanted_orders(asked)) {
      All const& one = of_order(order);
      if (asked.method == Method::treecode)
        chosen.push_back({one.without_p2l(), one.treecode.template get<Both>()});
      else
        chosen.push_back({one.facts, one.fmm.template get<Both>()});
      highest_ = order;
    }
    return chosen;
  }

 protected:
  std::shared_ptr<void const> kept_space_;
  Space space_;
  Options asked_options_;
  Kernel kernel_;
  std::vector<All> expansions_;
  int highest_ = 0;  ///< order, with a tolerance
  Cores core_;
  std::optional<VerifiedHere>
      verified_;  ///< from the first plan for any strengths with a tolerance on
};

}  // namespace fmm::runtime
