// SPDX-License-Identifier: BSD-3-Clause
// What a criterion declares about itself, and a traversal with it: which options mean anything to it, what it wants
// to know of the cells, and what it never does.
#pragma once

#include <limits>

namespace fmm {

/// The opening parameters theta that a criterion or a traversal takes: 0 < theta < `upper`, one alone, or none.
struct ThetaRange {
  double by_default = 0;        ///< where Options::theta is not set; 0: theta means nothing
  double upper = 1;             ///< where the range ends
  bool includes_upper = false;  ///< whether theta may be `upper`
  bool is_fixed = false;        ///< whether theta is `by_default` and no other

  /// Whether theta means anything, be it one alone.
  constexpr bool exists() const { return by_default > 0; }
  /// Whether theta can be chosen.
  constexpr bool is_free() const { return exists() && !is_fixed; }

  /// Whether Options::theta may be that. A fixed one may be rounded.
  constexpr bool contains(double theta) const {
    if (is_fixed) return theta - by_default <= 1e-3 && by_default - theta <= 1e-3;
    return exists() && theta > 0 && (theta < upper || (includes_upper && theta == upper));
  }
  /// Whether the default is in the range.
  constexpr bool is_sound() const { return by_default == 0 || contains(by_default); }
};

/// An aggregate for designated initialisers, which a criterion declares as `static constexpr CriterionTraits traits`.
struct CriterionTraits {
  /// Options::theta, and the default.
  ThetaRange theta = {};

  /// Options::pair_error where it is not set, > 0. 0: pair_error means nothing to the criterion, and may not be set.
  double default_pair_error = 0;

  /// There are no solvers of higher orders with the criterion.
  int largest_order = std::numeric_limits<int>::max();

  /// CellView::radius is that of the cell's bodies.
  bool uses_radii = false;

  /// CellView::charge is known: `build` takes the charges, and every evaluation makes the lists anew.
  bool uses_charges = false;

  /// CellView::field is known.
  bool uses_field = false;

  /// CellView::field is the smallest of the last step among the cell's bodies: `build` takes that (Inputs::last_field).
  /// Besides uses_charges and uses_field.
  bool uses_last_field = false;

  /// CellView::powers are known: there are no lists before there are multipoles. Besides uses_charges.
  bool uses_powers = false;

  /// Pairs are accepted by M2L or not at all: lists and operators of other ways are left out.
  bool only_m2l = false;

  /// All candidates (siblings.hpp) get Acceptance::m2l.
  bool accepts_candidates = false;
};

namespace tree {

template <class T>
constexpr CriterionTraits traits_of() {
  if constexpr (requires { CriterionTraits(T::traits); })
    return T::traits;
  else
    return {};
}
/// Of a criterion or a traversal. Of a class that declares none they are the defaults, so that what the compiler says
/// of such a class is the contract's message alone.
template <class T>
inline constexpr CriterionTraits traits_v = traits_of<T>();

}  // namespace tree
}  // namespace fmm
