// SPDX-License-Identifier: BSD-3-Clause
// What a pair of cells errs by, from its geometry and the source's size: what the criteria share that bound it by the
// field around the target (FieldCriterion, RelativeForceCriterion, SourceCriterion).
#pragma once

#include <cmath>

#include "separation.hpp"

namespace fmm::tree {

/// A source with a share w of all bodies (or of charge w), accepted at a ratio eta < 1 of radii to distance d, gives
/// the target a field of w / d^2 in error by about eta^(p+1) of it.
struct PairError {
  float limit;  ///< in units of the field around the target
  int order;

  explicit PairError(CriterionOptions const& options)
      : limit(float(options.pair_error)), order(options.order) {}

  KOKKOS_FUNCTION bool is_small(float w, float eta, float d2, float field) const {
    float error = w * eta;
    for (int n = 0; n < order; ++n) error *= eta;
    return error < limit * field * d2;
  }
};

/// With d between the centres: eta = (r_a + r_b) / R less than theta, and the error of w small.
struct PairErrorOfRadii : PairError, Separation {
  explicit PairErrorOfRadii(CriterionOptions const& options)
      : PairError(options), Separation(options.theta) {}

  KOKKOS_FUNCTION bool accepts(CellView const& target, CellView const& source, float w) const {
    const float r = target.radius + source.radius, R2 = distance2(target, source);
    return holds(r, R2) && is_small(w, r / std::sqrt(R2), R2, target.field);
  }
};

}  // namespace fmm::tree
