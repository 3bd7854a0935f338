// SPDX-License-Identifier: BSD-3-Clause
// What a criterion that uses the powers of multipoles may know of the cells, once there are multipoles.
#pragma once

#include <functional>

#include "../kernels/p2p/p2p.hpp"
#include "../kernels/power.hpp"
#include "field_strength.hpp"
#include "list_build.hpp"
#include "near_field.hpp"
#include "plan_data.hpp"

namespace fmm::engine {

/// kernels::multipole_powers of an expansion.
template <class Space, class Real>
using PowersOf = std::function<void(Space const&, std::int64_t cells, Array<Real, Space> multipoles,
                                    Array<float, Space> powers)>;

/// Sets the sums of chosen bodies over all bodies, in units of the cube.
template <class Space>
using SumChosen =
    std::function<void(Array<Body<double>, Space> bodies, Array<BodyIndex, Space> chosen,
                       Array<Sums<double>, Space> sums)>;

/// The measures of the plan's cells, from its `multipoles` and the bodies' charges; the field's strength as
/// FieldStrength finds it, or by `known_scale`, if that is not 0. The options say how close pairs are summed; `with_images`
/// sums fields of some bodies in a periodic cell, if these are to be known, and count as `least_share` of what neighbours
/// exert at least.
template <class Traversal, class PairPrecision, class Space, class Precision, class Kernel,
          class Real>
CellMeasures<Space> measures_by_powers(Space const& space, PowersOf<Space, Real> const& powers_of,
                                       PlanData<Space, Precision>& plan, Kernel const& kernel,
                                       Options const& options, FarFieldRule far,
                                       Array<Real, Space> multipoles, double known_scale = 0,
                                       SumChosen<Space> const& with_images = {},
                                       double least_share = 0) {
  auto& memory = plan.memory;
  auto const& tree = plan.tree;
  const std::int64_t cells = tree.octree.cells.extent(0);
  powers_of(space, cells, multipoles, memory.traversal.powers.resize(cells * (far.order + 1)));
  const auto measures = measure_for_lists<Traversal>(space, memory, tree, far);
  FieldStrength<Space, Precision> strength(space, memory, tree, measures, known_scale,
                                           with_images               ? 64
                                           : tree.charges.both_signs ? 256
                                                                     : 0,
                                           with_images ? least_share : 0);
  if (strength.is_known()) return measures;
  const auto in_cube = in_units_of(tree.cube.edge, kernel);
  add_near_field<Outputs<true, true>, PairPrecision>(space, memory, tree, in_cube,
                                                     strength.sample(), strength.no_other_leaves(),
                                                     strength.sums(), options);
  if (strength.wants_exact_sums()) {
    strength.choose();
    if (with_images)
      with_images(strength.bodies(), strength.chosen(), strength.exact_sums());
    else
      p2p_chosen<Outputs<false, true>>(space, in_cube, 1, strength.bodies(), strength.chosen(),
                                       strength.exact_sums());
  }
  strength.finish();
  return measures;
}

}  // namespace fmm::engine
