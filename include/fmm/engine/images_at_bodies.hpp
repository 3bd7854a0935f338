// SPDX-License-Identifier: BSD-3-Clause
// What the images that no list has, a background and a vacuum add to sums of bodies, where it does not come through the
// local expansions of the tree.
#pragma once

#include "far_field.hpp"
#include "periodic_images.hpp"
#include "vacuum.hpp"

namespace fmm::engine {

/// Sets the sums of the targets in these tiles to what the far images of the sources exert, whose multipoles are there,
/// by local expansions of a few large cells, which are in the targets' memory of such. Returns the background's sums.
template <class Space, class Precision, class Out, class Shift, class Strengths>
Array<double, Space> set_far_images(
    Space const& space, FarField<Space, Precision, Out, Shift, Strengths> const& far,
    PlanData<Space, Precision>& targets, PlanData<Space, Precision> const& sources,
    SourceStrengths<Space, real_t<Precision>, Strengths> const& strengths,
    Array<real_t<Precision>, Space> multipoles, Array<Tile, Space> tiles,
    Array<Sums<sum_t<Precision>>, Space> sums) {
  using Real = real_t<Precision>;
  auto& memory = targets.memory;
  auto const& octree = targets.tree.octree;
  const int row = far.traits().row;
  const auto to = targets.periodic.cells(octree);
  const auto locals = memory.locals.resize(std::size_t(to.count()) * row * Strengths::densities);
  fill(space, locals, Real(0));
  const auto background =
      add_far_images(space, sources.periodic.cells(sources.tree.octree), to, targets.periodic,
                     memory, sources.tree.octree, strengths, row, multipoles, locals);
  const auto [of_ancestor, in_ancestor] =
      move_to_ancestors(space, memory, to, octree.cells, tiles, targets.tree.bodies);
  far.l2p(space, octree, of_ancestor, in_ancestor, locals, sums);
  return background;
}

/// Adds to the sums of the targets in these tiles the part of the background's potential that is no harmonic, and the
/// vacuum's.
template <class Out, class Space, class Precision, class Strengths>
void add_surroundings(Space const& space, PlanData<Space, Precision> const& targets,
                      PlanData<Space, Precision> const& sources,
                      SourceStrengths<Space, real_t<Precision>, Strengths> const& strengths,
                      DensityFacts<Strengths::densities> const& facts,
                      Array<double, Space> background, Array<Tile, Space> tiles,
                      Array<Sums<sum_t<Precision>>, Space> sums) {
  auto const& far = *targets.periodic.far;
  add_background<Out>(space, far, background, targets.tree.octree.cells, tiles, targets.tree.bodies,
                      sums);
  if (targets.periodic.given.extent(0) > 0)
    add_vacuum<Out>(space, targets, sources, strengths, facts, far.volume,
                    1 / targets.tree.cube.edge, 1.0, tiles, sums);
}

}  // namespace fmm::engine
