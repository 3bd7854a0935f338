// SPDX-License-Identifier: BSD-3-Clause
// What a build takes.
#pragma once

namespace fmm {

/// In the place of a View: there is none, or that result is not wanted and its work is saved.
struct None {};
inline constexpr None none{};

/// What Solver::build takes, an aggregate for designated initialisers:
///
///     solver.build(space, fmm::Inputs{.sources = positions, .charges = masses});
///
/// All are Kokkos Views of float or double that the solver's space can access; a plan keeps none of them. clang
/// before 17 takes them without names, in their order: Inputs{positions, masses}.
template <class Sources, class Charges = None, class LastField = None>
struct Inputs {
  Sources sources;            ///< (N,3): the bodies' positions
  Charges charges = {};       ///< (N): for a criterion that uses charges
  LastField last_field = {};  ///< (N,3): for a criterion that uses it: `field` of the step before
};

#if defined(__clang__) && __clang_major__ < 17
template <class Sources>
Inputs(Sources) -> Inputs<Sources>;
template <class Sources, class Charges>
Inputs(Sources, Charges) -> Inputs<Sources, Charges>;
template <class Sources, class Charges, class LastField>
Inputs(Sources, Charges, LastField) -> Inputs<Sources, Charges, LastField>;
#endif

}  // namespace fmm
