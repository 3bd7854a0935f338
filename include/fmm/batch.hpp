// SPDX-License-Identifier: BSD-3-Clause
// Many small problems at once: a batch of sets of bodies.
#pragma once

namespace fmm {

/// What Solver::build takes in the place of Inputs, for DirectSum; an aggregate for designated initialisers:
///
///     auto plan = solver.build(space, fmm::Batch{.sources = positions, .offsets = offsets});
///     solver.evaluate(space, plan, charges, potential, field);  // (N), (N), (N,3)
///
/// Set b has bodies offsets(b) .. offsets(b + 1) - 1 of (N,3) `sources`, and acts on nothing but itself. Sets may be of
/// any sizes, empty ones among them, and lie anywhere. Kokkos Views that the solver's space can access; offsets are
/// whole numbers.
template <class Sources, class Offsets>
struct Batch {
  Sources sources;  ///< (N,3): positions
  Offsets offsets;  ///< (B + 1): ascending, from 0 to N
};

#if defined(__clang__) && __clang_major__ < 17
template <class Sources, class Offsets>
Batch(Sources, Offsets) -> Batch<Sources, Offsets>;
#endif

}  // namespace fmm
