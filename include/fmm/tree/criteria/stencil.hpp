// SPDX-License-Identifier: BSD-3-Clause
// StencilCriterion: the classic lists with fewer translations.
#pragma once

#include "cube.hpp"
#include "separation.hpp"

namespace fmm {

/// The classic lists with parents in the place of their eight children where all of these are in the list of
/// cells (V) and the expansions of the parent converge as fast as the slowest of that list: 119 translations
/// instead of 189 in a uniform tree (Gumerov & Duraiswami 2008, J. Comput. Phys. 227:8290). That is from a
/// distance of three of the target's edges on: (r_a + r_b) / R is sqrt(3) / 2 there for a parent, too.
struct StencilCriterion : CubeCriterion {
  using CubeCriterion::CubeCriterion;

  KOKKOS_FUNCTION Acceptance operator()(CellView const& target, CellView const& source) const {
    const float reach2 =
        8.99f * target.edge * target.edge;  // no R2 is between 8.75 and 9.75 edges^2
    if (source.level + 1 == target.level && !source.leaf && distance2(target, source) > reach2)
      return Acceptance::m2l;
    return CubeCriterion::operator()(target, source);
  }
};

}  // namespace fmm
