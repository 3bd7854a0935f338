// SPDX-License-Identifier: BSD-3-Clause
// RelativeForceCriterion: by the pair's error, compared with the field of the last step.
#pragma once

#include "contract.hpp"
#include "pair_error.hpp"

namespace fmm {

/// FieldCriterion with the charges as they are, and the field that the bodies had in the step before, as in
/// GADGET (Springel 2005, MNRAS 364:1105, eq. 18; Springel et al. 2021, MNRAS 506:2871, sec. 2): Q / R^2
/// eta^(p+1) with Q = sum |q| of the source has to be less than `pair_error`, GADGET's alpha, times the
/// smallest |field| of the last step among the target's bodies. That field cancels where it does in truth: a
/// body with none has all sources opened, and so has a first step whose last field is zero, which is a
/// direct sum. Start with an evaluation by FieldCriterion instead. As a treecode (Treecode) it is the
/// same, since eta is never less than the r_b / D of SourceCriterion: somewhat stricter.
struct RelativeForceCriterion {
  static constexpr CriterionTraits traits{.theta = {.by_default = 0.87},
                                          .default_pair_error = 2.4e-4,
                                          .uses_radii = true,
                                          .uses_charges = true,
                                          .uses_field = true,
                                          .uses_last_field = true,
                                          .only_m2l = true};

  tree::PairErrorOfRadii error;

  explicit RelativeForceCriterion(CriterionOptions const& options) : error(options) {}

  template <class V>
  KOKKOS_FUNCTION auto candidates(V r, V R2) const {
    return error.holds(r, R2);
  }

  KOKKOS_FUNCTION Acceptance operator()(CellView const& target, CellView const& source) const {
    return error.accepts(target, source, source.charge) ? Acceptance::m2l
                                                        : Acceptance::not_accepted;
  }
};

}  // namespace fmm
