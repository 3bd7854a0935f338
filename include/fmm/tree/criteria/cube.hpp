// SPDX-License-Identifier: BSD-3-Clause
// CubeCriterion: the classic lists, of cells whose cubes do not touch.
#pragma once

#include "../../cells/geometry.hpp"
#include "contract.hpp"

namespace fmm {

/// The classic lists (Greengard & Rokhlin 1987; adaptive: Carrier, Greengard & Rokhlin 1988). Cells of
/// one level that do not touch are well separated (V). A smaller source that does not touch a target
/// leaf is evaluated at its bodies (W); bodies of a larger source leaf that does not touch the target go
/// to its local expansion (X). In the words of Yokota & Barba theta is 2/3.
struct CubeCriterion {
  static constexpr CriterionTraits traits{.theta = {.by_default = 2.0 / 3.0, .is_fixed = true}};

  explicit CubeCriterion(double = traits.theta.by_default) {}

  KOKKOS_FUNCTION Acceptance operator()(CellView const& target, CellView const& source) const {
    const bool larger = source.level < target.level;
    if (larger && !source.leaf) return Acceptance::not_accepted;
    // In one grid cubes touch, or an edge of the smaller one is between them; periodic images may be anywhere between.
    const float smaller = source.edge < target.edge ? source.edge : target.edge,
                reach = 0.5f * (target.edge + source.edge) + 0.999f * smaller;
    if (touch(target, source, reach)) return Acceptance::not_accepted;
    if (larger) return Acceptance::p2l;
    return source.level == target.level ? Acceptance::m2l : Acceptance::m2p;
  }
};

}  // namespace fmm
