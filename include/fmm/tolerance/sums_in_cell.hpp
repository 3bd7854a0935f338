// SPDX-License-Identifier: BSD-3-Clause
// Sums over all bodies and their images, of a plan in a periodic cell: Ewald's, of which nothing is shared with the tree.
// They stand where sums over all pairs do for bodies without images. In units of the cube, as the kernels are.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "../engine/evaluation.hpp"
#include "../engine/ewald_sums.hpp"
#include "../engine/measures_by_powers.hpp"
#include "../kernels/ewald/magnitudes.hpp"
#include "known_field.hpp"
#include "nearest_bodies.hpp"
#include "pair_coordinates.hpp"
#include "quantities.hpp"
#include "sums_over_all.hpp"

namespace fmm::tolerance {

/// A periodic cell in edges of a plan's cube.
struct CellInCube {
  periodic::Lattice lattice;
  double softened;  ///< up to where kernels count
  double error;     ///< of Ewald's sums
};

/// The bodies of a tree from these coordinates, in edges of the cube, with charges.
template <class Space>
using BodiesInEdges = Array<Body<double>, Space>;
template <class Space, class Real>
BodiesInEdges<Space> bodies_in_edges(Space const& space, Octree<Space> const& octree,
                                     PairCoordinates<Space, Real> const& from,
                                     Buffer<Body<double>, Space>& memory, std::int64_t count) {
  const auto bodies = memory.resize(count);
  for_range(
      "fmm::verification::in_edges", space, std::int64_t(octree.tiles.extent(0)),
      engine::BodiesInCube<Space, Real>{octree.cells, octree.tiles, from.bodies, from.low, bodies});
  return bodies;
}

/// AddOverAll of a plan's bodies and all images, whose coordinates are these; `charged` has the charges in the tree's
/// arithmetic, whose dipole counts in a vacuum. Cost: Ewald's sums; memory for as long: 32 bytes a body.
template <class Space, class Precision, class Kernel, class Real>
AddOverAll<Space, double> images_over_all(Space const& space,
                                          engine::PlanData<Space, Precision> const& plan,
                                          engine::BodyTree<Space, Precision> const& charged,
                                          Kernel const& in_cube, CellInCube const& cell,
                                          PairCoordinates<Space, Real> const& coordinates) {
  const auto memory = std::make_shared<Buffer<Body<double>, Space>>("bodies in edges");
  const auto bodies =
      bodies_in_edges(space, plan.tree.octree, coordinates, *memory, plan.tree.size);
  return [=, &space, &plan, &charged](std::vector<Tile> const&, auto const& tiles,
                                      auto const& sums) {
    engine::ewald_sums<Outputs<true, true>>(space, cell.lattice, in_cube, cell.softened, 1,
                                            charges_of(memory->view(bodies.extent(0))), bodies,
                                            true, tiles, bodies_of_group, sums, false, cell.error);
    if (plan.periodic.given.extent(0) > 0)
      engine::add_vacuum<Outputs<true, true>>(
          space, plan, plan, charges_of(charged.bodies), engine::DensityFacts<1>{{charged.charges}},
          plan.periodic.far->volume, 1 / plan.tree.cube.edge, 1.0, tiles, sums);
  };
}

/// exerted_on_nearest of bodies and images, from some bodies, evenly chosen. Cost: 27 N distances for each of these.
template <class Space, class Kernel>
PerQuantity<double> exerted_on_nearest_images(Space const& space, Kernel const& in_cube,
                                              CellInCube const& cell, double softening,
                                              BodiesInEdges<Space> bodies) {
  constexpr std::int64_t most = 256;
  const auto all = std::int64_t(bodies.extent(0));
  Buffer<BodyIndex, Space> numbers("bodies whose neighbours are sought");
  const auto chosen = numbers.resize(std::size_t(std::min(all, most)));
  const auto count = std::int64_t(chosen.extent(0));
  for_range("fmm::number", space, count, SpreadNumbers<Space>{all, chosen});
  PerQuantity<double> squares;
  for (kernels::Magnitudes const& one :
       kernels::magnitudes_in_cell(space, in_cube, 1, cell.lattice, bodies, chosen)) {
    const PerQuantity<double> term =
        exerted_by(one.charge_of_nearest, one.nearest2, softening * softening, 1);
    squares += {term.field * term.field, term.potential * term.potential};
  }
  const double per_chosen = double(all) / double(count);
  return {per_chosen * squares.field, per_chosen * squares.potential};
}

/// Sums of some bodies of a plan over all others, and over their images.
template <class Kernel, class Precision, class Space>
struct SumsOfPlan {
  static constexpr double error_of_means = 1e-4;  ///< of sums whose mean square counts
  Space const& space;
  Kernel const& kernel;
  engine::PlanData<Space, Precision> const& plan;
  Options const& in_pairs;  ///< options_of_pairs, in a periodic cell
  double tolerance;

  /// That of a plan that has one.
  std::optional<CellInCube> cell() const {
    if (!plan.periodic.far) return std::nullopt;
    const double edge = plan.tree.cube.edge;
    return CellInCube{plan.periodic.lattice->times(1 / edge), far_from(kernel, in_pairs) / edge,
                      ewald_error_for(tolerance)};
  }
  auto in_cube() const { return in_units_of(plan.tree.cube.edge, kernel); }
  /// Sets the sums of chosen bodies.
  engine::SumChosen<Space> chosen() const {
    if constexpr (kernels::is_harmonic<Kernel>())
      if (const auto in = cell())
        return [cell = *in, kernel = in_cube(), &space = space](
                   auto const& bodies, auto const& chosen, auto const& sums) {
          engine::ewald_sums_of_chosen(space, cell.lattice, kernel, cell.softened, 1, bodies,
                                       chosen, sums, error_of_means);
        };
    return [kernel = in_cube(), &space = space](auto const& bodies, auto const& chosen,
                                                auto const& sums) {
      p2p_chosen<Outputs<true, true>>(space, kernel, 1, bodies, chosen, sums);
    };
  }
  /// The same in a periodic cell; nothing without one.
  engine::SumChosen<Space> with_images() const {
    return plan.periodic.far ? chosen() : engine::SumChosen<Space>();
  }
  std::vector<kernels::Magnitudes> magnitudes(BodiesInEdges<Space> bodies,
                                              Array<BodyIndex, Space> chosen) const {
    if constexpr (kernels::is_harmonic<Kernel>())
      if (const auto in = cell())
        return kernels::magnitudes_in_cell(space, in_cube(), 1, in->lattice, bodies, chosen);
    return p2p_magnitudes(space, in_cube(), 1, bodies, chosen);
  }
  /// exerted_on_nearest_images.
  PerQuantity<double> on_nearest(BodiesInEdges<Space> bodies, double softening) const {
    if constexpr (kernels::is_harmonic<Kernel>())
      return exerted_on_nearest_images(space, in_cube(), *cell(), softening, bodies);
    else
      return {};
  }
};

}  // namespace fmm::tolerance
