// SPDX-License-Identifier: BSD-3-Clause
// What sources carry.
#pragma once

#include "inputs.hpp"

namespace fmm {

/// What Solver::evaluate takes in the place of charges, an aggregate for designated initialisers:
///
///     solver.evaluate(space, plan, fmm::Strengths{.dipoles = moments}, fmm::Results{.field = field});
///
/// Kokkos Views of float or double, or fmm::none; clang before 17 takes them without names, or with their types named
/// (fmm::Strengths<fmm::None, Moments>{.dipoles = moments}), as it does Results. A dipole p has the potential p.d / r^3
/// at d from it, in the unit of charge times length; softened as charges are (docs/math.md).
template <class Charges = None, class Dipoles = None>
struct Strengths {
  Charges charges = {};  ///< (N), of K densities (N,K)
  Dipoles dipoles = {};  ///< (N,3), of K densities (N,K,3)
  /// Charges and dipoles are those of the last evaluation with this plan of two sets. Its multipoles are used again, if
  /// it was by the same solver (or a copy), of the same kinds of strengths, and of densities that are one block (1, 3,
  /// 4, 6, 7 or 8); else new ones are made. Ignored for one set and for DirectSum.
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
