// SPDX-License-Identifier: BSD-3-Clause
// The expansions of one order as values: what is compiled for an order, and for it alone (expansions.cpp.in).
#pragma once

#include "any_kernel.hpp"
#include "kinds.hpp"

namespace fmm::runtime {

/// Functions that make the operators, one for each kind of evaluations.
template <class Space, class Precision, class... Kinds>
using OperatorsOf =
    std::tuple<engine::MakeFarField<kernels::AnyKernel, Space, Precision, typename Kinds::Out,
                                    typename Kinds::Shift, typename Kinds::Strengths>...>;
template <class Space, class Precision>
struct MakeOperators {
  OperatorsOf<Space, Precision, Kind<Potential>, Kind<Field>, Kind<Both>> of_charges;
  OperatorsOf<Space, Precision, BothOfTwo, HessianOfOne, HessianOfTwo, DipolesOfOne, DipolesOfTwo,
              FourOfOne, FourOfTwo>
      of_any;

  template <class Out, class Shift = OneSet, class Strengths = kernels::Charges<>>
  auto get() const {
    using Wanted =
        engine::MakeFarField<kernels::AnyKernel, Space, Precision, Out, Shift, Strengths>;
    if constexpr (!Out::hessian && std::is_same_v<Strengths, kernels::Charges<>> &&
                  std::is_same_v<Shift, OneSet>)
      return std::get<Wanted>(of_charges);
    else
      return std::get<Wanted>(of_any);
  }
};

template <class Space, class Precision>
struct Expansions {
  engine::ExpansionFacts<kernels::AnyKernel, Space, Precision> facts;  ///< of an Fmm, with powers
  MakeOperators<Space, Precision> fmm, treecode;

  /// What lists of a treecode, and those by radii, are to know.
  engine::ExpansionFacts<kernels::AnyKernel, Space, Precision> without_p2l() const {
    return {facts.order, false, facts.powers_of};
  }
};

template <int Order, class Space, class Precision>
Expansions<Space, Precision> expansions_of_order();

template <class Space, class Precision, int... Order>
std::vector<Expansions<Space, Precision>> expansions_of(std::integer_sequence<int, Order...>) {
  return {expansions_of_order<Order, Space, Precision>()...};
}
/// Of all orders that are compiled in, ascending.
template <class Space, class Precision>
std::vector<Expansions<Space, Precision>> all_expansions() {
  return expansions_of<Space, Precision>(std::integer_sequence<int, FMM_RUNTIME_ORDERS>());
}

}  // namespace fmm::runtime
