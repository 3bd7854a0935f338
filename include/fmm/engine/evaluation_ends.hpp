// SPDX-License-Identifier: BSD-3-Clause
// The ends of an evaluation: which arrays charges come from, and which ones results go into. A core knows no more of
// the arrays than is here, so that what lies between the ends is compiled once for arrays of all types.
#pragma once

#include <functional>

#include "checks.hpp"
#include "evaluation.hpp"
#include "pairs_evaluation.hpp"
#include "result_places.hpp"

namespace fmm::engine {

/// Sets the charges of bodies in a plan's tree order to an evaluation's, in a unit: EvaluationEnds::take_charges_again.
template <class Space, class Real>
using TakeChargesAgain = std::function<void(double unit, Array<Body<Real>, Space>)>;

/// What sources carry of which these are the arrays, of so many densities.
template <class Charges, int Densities>
struct StrengthsOf {
  using type = kernels::Charges<Densities>;
};
template <class Charges, class Dipoles, int Densities>
struct StrengthsOf<fmm::Strengths<Charges, Dipoles>, Densities> {
  using type = kernels::Dipoles<!std::is_same_v<Charges, None>, Densities>;
};

/// Whether these are strengths of a block of densities.
template <class Charges>
inline constexpr bool is_block_v = kernels::is_density_block_v<Charges>;
template <class Charges, class Dipoles>
inline constexpr bool is_block_v<fmm::Strengths<Charges, Dipoles>> =
    kernels::is_density_block_v<Dipoles>;

/// Of Views: charges, or fmm::Strengths. Others have the same functions (src/runtime).
template <class Charges, class Potential, class Field, class Hessian = None, int Densities = 1>
struct EvaluationEnds {
  using Out = OutputsOf<Potential, Field, Hessian, Densities>;
  using Strengths = typename StrengthsOf<Charges, Densities>::type;
  static constexpr bool is_block = is_block_v<Charges>;
  Charges const& charges;
  Potential const& potential;
  Field const& field;
  Hessian const& hessian = fmm::none;
  /// Of blocks of densities, whose arrays were checked together (density_blocks.hpp).
  DensityFacts<Densities> const* facts = nullptr;
  bool unchanged = false;  ///< Strengths::unchanged
  bool are_all = true;     ///< of all densities, and not one block of several

  /// Throws InvalidArgument unless all have n bodies.
  template <class Space>
  void check(std::int64_t n) const {
    check_arrays<Space>(n, n, "bodies", "bodies");
  }
  /// The same of two sets.
  template <class Space>
  void check(std::int64_t targets, std::int64_t sources) const {
    check_arrays<Space>(targets, sources, "targets", "sources");
  }
  /// Whether a View of results has numbers of float.
  static constexpr bool are_results_in_float() {
    return has_numbers_of_float<Potential> || has_numbers_of_float<Field> ||
           has_numbers_of_float<Hessian>;
  }
  template <class Evaluation>
  void take(Evaluation& evaluation) const {
    if (unchanged && evaluation.template take_kept<Potential, Field, Hessian>()) return;
    evaluation.template take_charges<Potential, Field, Hessian>(charges, facts);
  }
  /// The charges once more, in the tree's order and that unit: no other number of the bodies is touched.
  template <class Space, class Precision, class Real>
  void take_charges_again(Space const& space, BodyTree<Space, Precision> const& tree, double unit,
                          Array<Body<Real>, Space> bodies) const {
    const typename Charges::const_type constant = charges;
    engine::take_charges(space, unit, constant, tree.permutation, charges_of(bodies),
                         Array<Sums<double>, Space>());
  }
  template <class Evaluation>
  void give(Evaluation& evaluation) const {
    evaluation.give_results(potential, field, hessian);
  }
  /// Everything between, by all pairs.
  template <class Space, class Precision, class Kernel>
  void all_pairs(Space const& space, PlanData<Space, Precision>& plan, Kernel const& kernel,
                 TileSample<Space> const* sample, Report* report,
                 SeePairs<Space, Precision, Kernel> const& see) const {
    evaluate_all_pairs<Out, OneSet, Strengths>(space, plan, plan, kernel, charges, results(),
                                               sample, report, see, facts);
  }
  /// The same of two sets.
  template <class Space, class Precision, class Kernel>
  void all_pairs(Space const& space, TwoSetData<Space, Precision>& plan, Kernel const& kernel,
                 Report* report) const {
    constexpr TileSample<Space> const* all = nullptr;
    evaluate_all_pairs<Out, NoShift, Strengths>(space, *plan.targets, *plan.sources, kernel,
                                                charges, results(), all, report, {}, facts);
  }
  /// The same of one set without some pairs.
  template <class Space, class Precision, class Kernel, class Rows>
  void pairs_without(Rows const& rows, Space const& space, PlanData<Space, Precision>& plan,
                     Kernel const& kernel, Report* report) const {
    auto const& tree = plan.tree;
    const SeePairs<Space, Precision, Kernel> leave_out = [&](Kernel const& kernel_of_unit,
                                                             double per_unit, auto sums,
                                                             auto others) {
      stage(space, report, "p2p", [&] {
        kernels::leave_out_pairs<Out>(
            space, tree.size, kernel_of_unit, kernels::PlacesOfAll<Space>{tree.positions, per_unit},
            rows, SourceStrengths<Space, double, Strengths>{tree.positions, others}, per_unit,
            decltype(sums){}, sums);
      });
    };
    constexpr TileSample<Space> const* all = nullptr;
    all_pairs(space, plan, kernel, all, report, leave_out);
  }
  /// The same of a batch.
  template <class Space, class Precision, class Kernel>
  void batch(Space const& space, PlanData<Space, Precision>& plan, Kernel const& kernel,
             Report* report) const {
    evaluate_batch<Out, Strengths>(space, plan, kernel, charges, results(), report, facts);
  }
  /// Everything between, where there are no sources.
  template <class Space>
  void give_nothing(Space const& space, std::int64_t targets) const {
    for_range("fmm::results", space, targets,
              GiveNothing<Out, Potential, Field, Hessian>{potential, field, hessian});
  }

 private:
  Results<Potential, Field, Hessian> results() const { return {potential, field, hessian}; }
  template <class Result>
  static constexpr bool has_numbers_of_float = [] {
    if constexpr (std::is_same_v<Result, None>)
      return false;
    else
      return std::is_same_v<typename Result::non_const_value_type, float>;
  }();
  template <class Space>
  void check_arrays(std::int64_t targets, std::int64_t sources, char const* of_targets,
                    char const* of_sources) const {
    if constexpr (is_block)
      return;  // they were checked
    else
      check_views<Space>(targets, sources, of_targets, of_sources);
  }
  template <class Space>
  void check_views(std::int64_t targets, std::int64_t sources, char const* of_targets,
                   char const* of_sources) const {
    check_result<Space, Potential, 1>();
    check_result<Space, Field, 2>();
    check_result<Space, Hessian, 2>();
    static_assert(Out::potential || Out::field || Out::hessian,
                  "fmm: at least one of potential, field and Hessian must be wanted");
    check_strengths<Space>(charges, sources, of_sources);
    check_extents("potential", potential, targets, of_targets);
    check_extents("field", field, targets, of_targets);
    check_extents("hessian", hessian, targets, of_targets, 6);
    check_no_overlap("field", field, "potential", potential);
    check_no_overlap("hessian", hessian, "potential", potential);
    check_no_overlap("hessian", hessian, "field", field);
  }
  template <class Space, class View>
  static void check_strengths(View const& view, std::int64_t sources, char const* of_sources) {
    check_view<Space, View, 1>();
    check_extents("charges", view, sources, of_sources);
  }
  template <class Space, class SomeCharges, class Dipoles>
  static void check_strengths(fmm::Strengths<SomeCharges, Dipoles> const& of, std::int64_t sources,
                              char const* of_sources) {
    check_optional_view<Space, SomeCharges, 1>();
    check_view<Space, Dipoles, 2>();
    check_extents("charges", of.charges, sources, of_sources);
    check_extents("dipoles", of.dipoles, sources, of_sources);
  }
};
template <class Charges, class Potential, class Field>
EvaluationEnds(Charges const&, Potential const&, Field const&)
    -> EvaluationEnds<Charges, Potential, Field>;
template <class Charges, class Potential, class Field, class Hessian>
EvaluationEnds(Charges const&, Potential const&, Field const&, Hessian const&)
    -> EvaluationEnds<Charges, Potential, Field, Hessian>;

}  // namespace fmm::engine
