// SPDX-License-Identifier: BSD-3-Clause
// The ends of an evaluation: which arrays charges come from, and which ones results go into. A core knows no more of
// the arrays than is here, so that what lies between the ends is compiled once for arrays of all types.
#pragma once

#include <functional>

#include "checks.hpp"
#include "evaluation.hpp"
#include "result_places.hpp"

namespace fmm::engine {

/// Sets the charges of bodies in a plan's tree order to an evaluation's, in a unit: EvaluationEnds::take_charges_again.
template <class Space, class Real>
using TakeChargesAgain = std::function<void(double unit, Array<Body<Real>, Space>)>;

/// Of Views. Others have the same functions (src/runtime).
template <class Charges, class Potential, class Field>
struct EvaluationEnds {
  using Out = OutputsOf<Potential, Field>;
  Charges const& charges;
  Potential const& potential;
  Field const& field;

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
    return has_numbers_of_float<Potential> || has_numbers_of_float<Field>;
  }
  template <class Evaluation>
  void take(Evaluation& evaluation) const {
    evaluation.template take_charges<Potential, Field>(charges);
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
    evaluation.give_results(potential, field);
  }
  /// Everything between, by all pairs.
  template <class Space, class Precision, class Kernel>
  void all_pairs(Space const& space, PlanData<Space, Precision>& plan, Kernel const& kernel,
                 TileSample<Space> const* sample, Report* report,
                 SeePairs<Space, Precision, Kernel> const& see) const {
    evaluate_all_pairs<Out>(space, plan, plan, kernel, charges, potential, field, sample, report,
                            see);
  }
  /// The same of two sets.
  template <class Space, class Precision, class Kernel>
  void all_pairs(Space const& space, TwoSetData<Space, Precision>& plan, Kernel const& kernel,
                 Report* report) const {
    constexpr TileSample<Space> const* all = nullptr;
    evaluate_all_pairs<Out, NoShift>(space, *plan.targets, *plan.sources, kernel, charges,
                                     potential, field, all, report);
  }
  /// Everything between, where there are no sources.
  template <class Space>
  void give_nothing(Space const& space, std::int64_t targets) const {
    for_range("fmm::results", space, targets, GiveNothing<Potential, Field>{potential, field});
  }

 private:
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
    check_view<Space, Charges, 1>();
    check_result<Space, Potential, 1>();
    check_result<Space, Field, 2>();
    static_assert(!std::is_same_v<Potential, None> || !std::is_same_v<Field, None>,
                  "fmm: at least one of potential and field must be wanted");
    check_extents("charges", charges, sources, of_sources);
    check_extents("potential", potential, targets, of_targets);
    check_extents("field", field, targets, of_targets);
    check_no_overlap(potential, field);
  }
};
template <class Charges, class Potential, class Field>
EvaluationEnds(Charges const&, Potential const&, Field const&)
    -> EvaluationEnds<Charges, Potential, Field>;

}  // namespace fmm::engine
