// SPDX-License-Identifier: BSD-3-Clause
// SourceCriterion: FieldCriterion for treecodes.
#pragma once

#include <cmath>

#include "contract.hpp"
#include "pair_error.hpp"

namespace fmm {

/// FieldCriterion for treecodes (Treecode), where only the source's expansion is cut off: r_b / D in
/// the place of eta, with the tight radius r_b of the source's bodies and the distance D from its centre to
/// the nearest place where a body of the target can be, in the target's cube and in its tight sphere.
struct SourceCriterion {
  static constexpr CriterionTraits traits{.theta = {.by_default = 0.7},
                                          .default_pair_error = 5e-4,
                                          .uses_radii = true,
                                          .uses_field = true,
                                          .only_m2l = true};

  tree::PairError error;
  float theta;

  explicit SourceCriterion(CriterionOptions const& options)
      : error(options), theta(float(options.theta)) {}

  /// D; 0 for pairs whose translation (M2L) would not converge.
  KOKKOS_FUNCTION static float distance(CellView const& target, CellView const& source) {
    const float half = 0.5f * target.edge;
    const Distances of = distances(target, source, half);  // from the source's centre
    const float to_sphere = std::sqrt(of.centres2) - target.radius, to_cube = std::sqrt(of.cubes2);
    if (!(source.radius < to_sphere)) return 0;
    return to_sphere > to_cube ? to_sphere : to_cube;
  }

  KOKKOS_FUNCTION Acceptance operator()(CellView const& target, CellView const& source) const {
    const float D = distance(target, source);
    if (!(source.radius < theta * D)) return Acceptance::not_accepted;
    return error.is_small(source.share, source.radius / D, D * D, target.field)
               ? Acceptance::m2l
               : Acceptance::not_accepted;
  }
};

}  // namespace fmm
