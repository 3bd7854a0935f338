// SPDX-License-Identifier: BSD-3-Clause
// Traversal policies of a Solver: which pairs of cells interact, and through which operators.
#pragma once

#include "criteria/criteria.hpp"
#include "criteria/order_per_pair.hpp"

namespace fmm {

/// Direct summation over all pairs of bodies: O(N^2). No tree and no expansions; the order is ignored.
struct AllPairs {
  static constexpr const char* name = "all-pairs";
};

/// Treecode: a source cell acts on a target leaf through its multipole if edge / d < theta, with d from
/// the cell's centre to the nearest point of the leaf's cube; O(N log N). 0 < theta <= 1.
struct BarnesHut {
  static constexpr const char* name = "barnes-hut";
  static constexpr double default_theta = 0.6;
};

/// Dual traversal of targets and sources under an acceptance criterion: O(N).
template <class Criterion = RadiusCriterion>
struct DualTree {
  static constexpr const char* name = "dual";
  static constexpr double default_theta = Criterion::default_theta;
  using criterion = Criterion;
};

/// The classic lists of the FMM: 27 neighbours and a list of at most 189 cells on a uniform tree; the U,
/// V, W and X lists on an adaptive one. Its theta is 2/3 in the words of Yokota & Barba and fixed.
struct FmmList {
  static constexpr const char* name = "lists";
  static constexpr double default_theta = CubeCriterion::default_theta;
  using criterion = CubeCriterion;
};

/// The same with fewer translations, from parents where these are far enough: 119 cells instead of 189. The
/// error is about that of the classic lists at orders up to 6, twice as large at order 10.
struct FmmStencil {
  static constexpr const char* name = "stencil";
  static constexpr double default_theta = StencilCriterion::default_theta;
  using criterion = StencilCriterion;
};

namespace tree {

template <class T>
inline constexpr bool is_dual_v = requires {
  typename T::criterion;
};

template <class T>
constexpr bool uses_theta() {
  if constexpr (is_dual_v<T>)
    return T::criterion::uses_theta;
  else
    return !std::is_same_v<T, AllPairs>;
}
template <class T>
inline constexpr bool uses_theta_v = uses_theta<T>();

/// Whether Options::pair_error means anything to the traversal.
template <class T>
inline constexpr bool uses_pair_error_v = false;
template <class C>
inline constexpr bool uses_pair_error_v<DualTree<C>> = uses_field_v<C>;

template <class T>
inline constexpr bool uses_charges_v = false;
template <class C>
inline constexpr bool uses_charges_v<DualTree<C>> = C::uses_charges;

/// Whether there are lists of M2L and P2P only.
template <class T>
inline constexpr bool has_only_m2l_v = false;
template <class C>
inline constexpr bool has_only_m2l_v<DualTree<C>> = only_m2l_v<C>;

/// Whether `build` takes the last step's field.
template <class T>
inline constexpr bool takes_last_field_v = false;
template <class C>
inline constexpr bool takes_last_field_v<DualTree<C>> = uses_last_field_v<C>;

/// Whether there can be no lists before there are multipoles.
template <class T>
inline constexpr bool needs_multipoles_v = false;
template <class C>
inline constexpr bool needs_multipoles_v<DualTree<C>> = uses_powers_v<C>;

}  // namespace tree

/// One of the above.
template <class T>
concept TraversalPolicy = std::same_as<T, AllPairs> || std::same_as<T, BarnesHut> ||
    (requires { typename T::criterion; } && AcceptanceCriterion<typename T::criterion>);

/// The opening parameter that a traversal takes where the options give none.
template <TraversalPolicy Traversal>
constexpr double default_theta() {
  if constexpr (requires { Traversal::default_theta; })
    return Traversal::default_theta;
  else
    return 0;
}

}  // namespace fmm
