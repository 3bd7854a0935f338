// SPDX-License-Identifier: BSD-3-Clause
// Plans for any strengths with a tolerance, compiled apart from the solvers (verified.cpp.in).
#pragma once

#include <memory>
#include <vector>

#include "expansions.hpp"
#include "staged.hpp"

namespace fmm::runtime {

/// Operators of all orders that are compiled in, of FMMs or of treecodes.
template <class Space, class Precision>
struct VerifiedFamily {
  bool is_treecode;

  template <class Out, class Shift, class Strengths>
  auto far_field(int order) const {
    return operators_of<Out, Shift, Strengths, Precision>(order);
  }
  template <class Out, class Shift, class Strengths>
  auto known_far_field(int order) const {
    return operators_of<Out, Shift, Strengths, double>(order);
  }

 private:
  template <class Out, class Shift, class Strengths, class SomePrecision>
  auto operators_of(int order) const {
    static const auto all = all_expansions<Space, SomePrecision>();
    auto const& one = *std::find_if(all.begin(), all.end(),
                                    [&](auto const& e) { return e.facts.order == order; });
    return (is_treecode ? one.treecode : one.fmm).template get<Out, Shift, Strengths>();
  }
};

/// Precision is Mixed or double.
template <class Space, class Precision>
class Verified {
  using Core = tolerance::VerifiedCore<kernels::AnyKernel, Precision, Space,
                                       VerifiedFamily<Space, Precision>>;

 public:
  template <bool HasTargets>
  using Data = typename Core::template Data<HasTargets>;

  Verified(Options const& options, kernels::AnyKernel const& kernel, std::vector<int> orders,
           Method method);
  ~Verified();

  /// All sources are targets, or those of `numbers`.
  Data<false> build(Space const& space, StagedPositions<Space> const& sources,
                    StagedNumbers<Space> const* numbers);
  Data<true> build(Space const& space, StagedPositions<Space> const& sources,
                   StagedPositions<Space> const& targets);
  void retarget(Space const& space, Data<false>& plan, StagedNumbers<Space> const* numbers);
  void retarget(Space const& space, Data<true>& plan, StagedPositions<Space> const& targets);
  template <bool HasTargets>
  void evaluate(Space const& space, Data<HasTargets>& plan, Staged<Space>& staged, Report* report);
  template <bool HasTargets>
  void freeze(Data<HasTargets>& plan) const;
  template <bool HasTargets>
  Data<HasTargets> transposed(Space const& space, Data<HasTargets> const& plan, Report* report);

 private:
  std::unique_ptr<Core> core_;
};

}  // namespace fmm::runtime
