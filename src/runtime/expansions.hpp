// SPDX-License-Identifier: BSD-3-Clause
// The expansions of one order as values: what is compiled for an order, and for it alone (expansions.cpp.in).
#pragma once

#include "any_kernel.hpp"

namespace fmm::runtime {

using Potential = kernels::Outputs<true, false>;
using Field = kernels::Outputs<false, true>;
using Both = kernels::Outputs<true, true>;

/// Functions that make the operators, by what is wanted of an evaluation.
template <class Space, class Precision>
struct MakeOperators {
  engine::MakeFarField<kernels::AnyKernel, Space, Precision, Potential> potential = nullptr;
  engine::MakeFarField<kernels::AnyKernel, Space, Precision, Field> field = nullptr;
  engine::MakeFarField<kernels::AnyKernel, Space, Precision, Both> both = nullptr;

  template <class Out>
  engine::MakeFarField<kernels::AnyKernel, Space, Precision, Out> get() const {
    if constexpr (std::is_same_v<Out, Both>)
      return both;
    else if constexpr (Out::potential)
      return potential;
    else
      return field;
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
