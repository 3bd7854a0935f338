// SPDX-License-Identifier: BSD-3-Clause
// What sources carry.
#pragma once

#include "inputs.hpp"

namespace fmm {

/// What Solver::evaluate takes in the place of charges, an aggregate for designated initialisers:
///
///     solver.evaluate(space, plan, fmm::Strengths{.dipoles = moments}, fmm::Results{.field = field});
///
/// Kokkos Views of float or double, or fmm::none. A dipole p has the potential p.d / r^3 at d from it, in the unit of
/// charge times length; softened as charges are (docs/math.md).
template <class Charges = None, class Dipoles = None>
struct Strengths {
  Charges charges = {};  ///< (N)
  Dipoles dipoles = {};  ///< (N,3)
};

#if defined(__clang__) && __clang_major__ < 17
template <class Charges>
Strengths(Charges) -> Strengths<Charges>;
template <class Charges, class Dipoles>
Strengths(Charges, Dipoles) -> Strengths<Charges, Dipoles>;
#endif

}  // namespace fmm
