// SPDX-License-Identifier: BSD-3-Clause
// Pairs of bodies that are left out of sums.
#pragma once

namespace fmm {

/// What Solver::evaluate takes besides, for one set of bodies; an aggregate for designated initialisers:
///
///     solver.evaluate(space, plan, charges, fmm::Results{.field = field},
///                     fmm::Exclusions{.offsets = offsets, .bodies = bonded});
///
/// Rows of body numbers, a row of each body: bodies(offsets(i)) to bodies(offsets(i + 1) - 1) exert nothing on body i,
/// such as atoms that are bonded to it. With j in the row of i, i is in the row of j; a row has no body twice, and not
/// its own. Kokkos Views of whole numbers that the solver's space can access. Near ones do not enter the sums, far ones
/// are taken off exactly: what remains has the error that all pairs have.
template <class Offsets, class Bodies>
struct Exclusions {
  Offsets offsets;  ///< (N + 1): ascending, from 0 to the number of entries
  Bodies bodies;    ///< (offsets(N)): the caller's numbers
};

#if defined(__clang__) && __clang_major__ < 17
template <class Offsets, class Bodies>
Exclusions(Offsets, Bodies) -> Exclusions<Offsets, Bodies>;
#endif

}  // namespace fmm
