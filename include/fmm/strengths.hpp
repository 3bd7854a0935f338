// SPDX-License-Identifier: BSD-3-Clause
// What sources carry.
#pragma once

#include "inputs.hpp"

namespace fmm {

/// What Solver::evaluate takes in the place of charges, an aggregate for designated initialisers:
///
///     solver.evaluate(space, plan, fmm::Strengths{.dipoles = moments}, fmm::Results{.field = field});
///
/// Kokkos Views of float or double, or fmm::none; of K densities (N,K) and (N,K,3). A dipole p has the potential p.d / r^3 at d from it, in the unit of
/// charge times length; softened as charges are (docs/math.md).
template <class Charges = None, class Dipoles = None>
struct Strengths {
  Charges charges = {};  ///< (N)
  Dipoles dipoles = {};  ///< (N,3)
  /// They are those of the last evaluation with a plan of two sets, by a solver of the same kernel and order: multipoles
  /// that are there are used again, of eight densities or fewer. New ones are made all the same where there are none.
  bool unchanged = false;
};

#if defined(__clang__) && __clang_major__ < 17
template <class Charges>
Strengths(Charges) -> Strengths<Charges>;
template <class Charges, class Dipoles>
Strengths(Charges, Dipoles) -> Strengths<Charges, Dipoles>;
template <class Charges, class Dipoles>
Strengths(Charges, Dipoles, bool) -> Strengths<Charges, Dipoles>;
#endif

}  // namespace fmm
