// SPDX-License-Identifier: BSD-3-Clause
// What solvers of several orders have of each.
#pragma once

#include "../engine/solver_core.hpp"

namespace fmm::tolerance {

/// All that a solver for a tolerance knows of one order. What is compiled for an order is behind it.
template <class Kernel, class Space, class Precision>
struct OrderOfMany {
  ExpansionFacts<Kernel, Space, Precision> facts;                         ///< with powers
  MakeFarField<Kernel, Space, Precision, Outputs<true, true>> far_field;  ///< by DualTree
};

/// That of a Solver whose method is an Fmm or a Treecode by DualTree<MultipolePowerCriterion>.
template <class Solver>
auto order_of_many() {
  using Kernel = typename Solver::kernel_type;
  using Space = site_t<typename Solver::execution_space>;
  using Precision = typename Solver::precision;
  return OrderOfMany<Kernel, Space, Precision>{
      Solver::expansion_facts(), &Solver::template make_operators<Outputs<true, true>>};
}

}  // namespace fmm::tolerance
