// SPDX-License-Identifier: BSD-3-Clause
// Traversal policies of a Solver: which pairs of cells interact, and through which operators.
#pragma once

#include "criteria/criteria.hpp"

namespace fmm {

// A traversal has the traits of its criterion: what it takes, and what it goes by. Without a criterion of its own
// it says the same of itself.

/// Treecode: a source cell acts on a target leaf through its multipole if edge / d < theta, with d from
/// the cell's centre to the nearest point of the leaf's cube; O(N log N). 0 < theta <= 1.
struct BarnesHut {
  static constexpr const char* name = "barnes-hut";
  static constexpr CriterionTraits traits{.theta = {.by_default = 0.6, .includes_upper = true}};
};

/// Dual traversal of targets and sources under an acceptance criterion: O(N).
template <class Criterion = RadiusCriterion>
struct DualTree {
  static constexpr const char* name = "dual";
  static constexpr CriterionTraits traits = tree::traits_v<Criterion>;
  using criterion = Criterion;
};

/// The classic lists of the FMM: 27 neighbours and a list of at most 189 cells on a uniform tree; the U,
/// V, W and X lists on an adaptive one. Its theta is 2/3 in the words of Yokota & Barba and fixed.
struct FmmList {
  static constexpr const char* name = "lists";
  static constexpr CriterionTraits traits = CubeCriterion::traits;
  using criterion = CubeCriterion;
};

/// The same with fewer translations, from parents where these are far enough: 119 cells instead of 189. The
/// error is about that of the classic lists at orders up to 6, twice as large at order 10.
struct FmmStencil {
  static constexpr const char* name = "stencil";
  static constexpr CriterionTraits traits = StencilCriterion::traits;
  using criterion = StencilCriterion;
};

namespace tree {

template <class T>
inline constexpr bool is_dual_v = requires {
  typename T::criterion;
};

}  // namespace tree

/// One of the above.
template <class T>
concept TraversalPolicy = std::same_as<T, BarnesHut> ||
    (requires { typename T::criterion; } && AcceptanceCriterion<typename T::criterion>);

}  // namespace fmm
