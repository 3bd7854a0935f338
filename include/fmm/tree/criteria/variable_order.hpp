// SPDX-License-Identifier: BSD-3-Clause
// An acceptance criterion whose pairs are translated at the order that each of them needs.
#pragma once

#include <cmath>
#include <concepts>
#include <utility>

#include "contract.hpp"

namespace fmm {

namespace tree {

/// Whether pairs are translated at several orders.
template <class C>
inline constexpr bool has_lower_orders_v = requires {
  typename C::lower_order_sequence;
};

}  // namespace tree

/// `Criterion`, with M2L of each pair at the lowest of these orders, ascending and lower than the solver's, at which
/// it accepts the pair by M2L, too; all others at the solver's order (Dachsel 2010, J. Chem. Phys. 132:119901). What
/// it accepts at all is decided at the solver's order p. A criterion that knows no order but theta accepts a pair at
/// order q below theta^((p+1)/(q+1)): eta^(q+1) is less than theta^(p+1) then, eta = (r_a + r_b) / R. One of the two it
/// has to go by; not MultipolePowerCriterion, to which a multipole without the lower degrees is nothing. A plan is
/// for solvers of the order that made it.
///
///     fmm::Solver<fmm::Laplace, Fmm<10, fmm::DualTree<fmm::VariableOrder<fmm::RadiusCriterion, 5, 7>>>>
///
/// Translations by Rotation, of the library's spherical harmonics. Cost: a pass over the list of M2L for each of these
/// orders, 8 bytes a cell and order, and one M2L kernel for each order, which adds to what is there. At the same
/// setting the error is several times that of the criterion alone, mostly 6 to 40 times, since most pairs then err by
/// as much as they may; at equal error it hardly ever pays (docs/accuracy.md).
template <class Criterion, int... Lower>
struct VariableOrder : Criterion {
  using Criterion::Criterion;
  using base = Criterion;
  static constexpr int lower_count = sizeof...(Lower);
  using lower_order_sequence = std::integer_sequence<int, Lower...>;
  static_assert(lower_count > 0, "fmm: VariableOrder needs orders lower than the solver's");
  static_assert(!tree::has_lower_orders_v<Criterion>,
                "fmm: VariableOrder takes all orders at once");
  static_assert(tree::takes_options_v<Criterion> || tree::traits_v<Criterion>.theta.is_free(),
                "fmm: VariableOrder needs a criterion that goes by the order or by theta");
  static_assert(!tree::traits_v<Criterion>.uses_powers,
                "fmm: VariableOrder is not for criteria that use powers of multipoles");

  /// Whether they ascend from 0 or more and are less than `order`.
  static constexpr bool ascend_to(int order) {
    const int all[] = {-1, Lower..., order};
    for (int k = 0; k <= lower_count; ++k)
      if (all[k] >= all[k + 1]) return false;
    return true;
  }
};

namespace tree {

/// What decides whether pairs that C accepts under these options need no more than order q.
template <class C>
C criterion_at(CriterionOptions options, int q) {
  if constexpr (!takes_options_v<C>)
    options.theta = std::pow(options.theta, double(options.order + 1) / (q + 1));
  options.order = q;
  return make_criterion<C>(options);
}

}  // namespace tree
}  // namespace fmm
