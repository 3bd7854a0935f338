// SPDX-License-Identifier: BSD-3-Clause
// RadiusCriterion: by the radii of both cells' bodies.
#pragma once

#include "contract.hpp"
#include "separation.hpp"

namespace fmm {

/// (r_a + r_b) < theta R with the tight radii of both cells' bodies and R between the centres
/// (Dehnen 2002, J. Comput. Phys. 179:27). The field's error falls as theta^p.
struct RadiusCriterion {
  static constexpr CriterionTraits traits{.theta = {.by_default = 0.6},
                                          .uses_radii = true,
                                          .only_m2l = true,
                                          .accepts_candidates = true};

  tree::Separation separation;

  explicit RadiusCriterion(double theta) : separation(theta) {}

  template <class V>
  KOKKOS_FUNCTION auto candidates(V r, V R2) const {
    return separation.holds(r, R2);
  }

  KOKKOS_FUNCTION Acceptance operator()(CellView const& target, CellView const& source) const {
    return candidates(target.radius + source.radius, distance2(target, source))
               ? Acceptance::m2l
               : Acceptance::not_accepted;
  }
};

}  // namespace fmm
