// SPDX-License-Identifier: BSD-3-Clause
// FieldCriterion: by the pair's error, compared with the field around the target.
#pragma once

#include "contract.hpp"
#include "pair_error.hpp"

namespace fmm {

/// RadiusCriterion with a large theta, and a bound on what the pair errs by: w / R^2 eta^(p+1) for a source
/// with a share w of all bodies at eta = (r_a + r_b) / R < theta has to be less than `pair_error` times the
/// field around the target, for which the sum of w / R^2 over all bodies stands. So the large cells, whose
/// errors are the largest, are opened the most, and bodies in a weak field get errors as small as that
/// field. Every body counts as one, whatever its charge: a plan does not depend on charges. (Dehnen 2014,
/// Comput. Astrophys. Cosmol. 1:1, section 3, has the idea, with the multipoles' own power.)
struct FieldCriterion {
  static constexpr CriterionTraits traits{.theta = {.by_default = 0.87},
                                          .default_pair_error = 2.4e-4,
                                          .uses_radii = true,
                                          .uses_field = true,
                                          .only_m2l = true};

  tree::PairErrorOfRadii error;

  explicit FieldCriterion(CriterionOptions const& options) : error(options) {}

  template <class V>
  KOKKOS_FUNCTION auto candidates(V r, V R2) const {
    return error.holds(r, R2);
  }

  KOKKOS_FUNCTION Acceptance operator()(CellView const& target, CellView const& source) const {
    return error.accepts(target, source, source.share) ? Acceptance::m2l : Acceptance::not_accepted;
  }
};

}  // namespace fmm
