// SPDX-License-Identifier: BSD-3-Clause
// EvaluationEnds of run-time arrays: what depends on the types of the numbers is here, and nothing else does.
#pragma once

#include "any_kernel.hpp"
#include "views.hpp"

namespace fmm::runtime {

template <class Space, class Precision, class WantedOutputs>
struct ArrayEnds {
  using Out = WantedOutputs;
  using Strengths = kernels::Charges<>;
  using Evaluation = engine::Evaluation<Space, Precision, Out>;
  using Data = engine::PlanData<Space, Precision>;

  ConstArray const& charges;
  MutableArray const& potential;
  MutableArray const& field;

  template <class>
  void check(std::int64_t n) const {
    check_arrays(n, n, "bodies", "bodies");
  }
  /// The same where the targets are others.
  template <class>
  void check(std::int64_t targets, std::int64_t sources) const {
    check_arrays(targets, sources, "targets", "sources");
  }
  bool are_results_in_float() const {
    return (Out::potential && potential.shape().number == Number::in_float) ||
           (Out::field && field.shape().number == Number::in_float);
  }
  void take(Evaluation& evaluation) const;
  template <class Real>
  void take_charges_again(Space const& space, engine::BodyTree<Space, Precision> const& tree,
                          double unit, Array<Body<Real>, Space> bodies) const;
  void give(Evaluation& evaluation) const;
  void all_pairs(Space const& space, Data& plan, kernels::AnyKernel const& kernel,
                 tree::TileSample<Space> const* sample, Report* report,
                 engine::SeePairs<Space, Precision, kernels::AnyKernel> const& see) const;

 private:
  void check_arrays(std::int64_t targets, std::int64_t sources, char const* of_targets,
                    char const* of_sources) const {
    check_size("charges", charges, sources, of_sources);
    if (Out::potential) check_size("potential", potential, targets, of_targets);
    if (Out::field) check_size("field", field, targets, of_targets);
    if (Out::potential && Out::field)
      engine::check_no_overlap("field", place_of(field, 3), "potential", place_of(potential, 1));
  }
  template <class Array>
  static void check_size(char const* name, Array const& array, std::int64_t n, char const* of) {
    if (array.size() != n) engine::refuse_size(name, std::size_t(array.size()), n, of);
  }

  /// visit(potential, field), as Views or none.
  template <class Visit>
  void visit_results(Visit const& visit) const {
    if constexpr (Out::potential && Out::field)
      with_column<Space>(potential, [&](auto const& p) {
        with_rows<Space>(field, [&](auto const& f) { visit(p, f); });
      });
    else if constexpr (Out::potential)
      with_column<Space>(potential, [&](auto const& p) { visit(p, none); });
    else
      with_rows<Space>(field, [&](auto const& f) { visit(none, f); });
  }
};

}  // namespace fmm::runtime
