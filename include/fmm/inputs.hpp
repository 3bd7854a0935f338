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
///     solver.build(space, fmm::Inputs{.sources = positions, .targets = points});
///
/// All are Kokkos Views of float or double that the solver's space can access; a plan keeps none of them. clang
/// before 17 takes them without names, in their order, with fmm::none for one that is left out: Inputs{positions,
/// masses}, Inputs{positions, fmm::none, points}.
///
/// Targets are a set of their own, which may lie anywhere; without them the sources are the targets, too. Every source
/// acts on every target: none of them is the other, whatever their places. A source at a target's very point exerts no
/// force on it; its potential is counted with softening and left out without (docs/math.md).
///
/// Targets that are a View of rank 1 of whole numbers are chosen among the sources: each has the bits that it has with
/// all sources as targets, and results are in the order of the numbers.
template <class Sources, class Charges = None, class Targets = None, class LastField = None>
struct Inputs {
  Sources sources;            ///< (N,3): the bodies' positions
  Charges charges = {};       ///< (N): for a criterion that uses charges
  Targets targets = {};       ///< (M,3): points that results are wanted at; or (M): numbers of sources
  LastField last_field = {};  ///< (N,3): for a criterion that uses it: `field` of the step before
};

#if defined(__clang__) && __clang_major__ < 17
template <class Sources>
Inputs(Sources) -> Inputs<Sources>;
template <class Sources, class Charges>
Inputs(Sources, Charges) -> Inputs<Sources, Charges>;
template <class Sources, class Charges, class Targets>
Inputs(Sources, Charges, Targets) -> Inputs<Sources, Charges, Targets>;
template <class Sources, class Charges, class Targets, class LastField>
Inputs(Sources, Charges, Targets, LastField) -> Inputs<Sources, Charges, Targets, LastField>;
#endif

}  // namespace fmm
