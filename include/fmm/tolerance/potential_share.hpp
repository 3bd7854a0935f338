// SPDX-License-Identifier: BSD-3-Clause
// How much less a pair_error has to be for a tolerance of potentials. MultipolePowerCriterion compares with fields,
// which close pairs may be most of: of stars with planets it takes all pairs of cells, and their potentials err.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "../engine/measures_by_powers.hpp"
#include "constants.hpp"
#include "known_field.hpp"
#include "sums_in_cell.hpp"

namespace fmm::tolerance {

/// The squares of the fields that a criterion compares with, of a tile's bodies.
template <class Space>
struct SquareFieldsOfTiles {
  Array<Tile, Space> tiles;
  Array<float, Space> fields;  ///< of cells
  Array<double, Space> squares;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const double field = fields(tiles(i).cell);
    squares(i) = double(tiles(i).count) * field * field;
  }
};

/// A pair of cells whose fields err by T has potentials that err by r T / (order + 1) at most, r the target's radius,
/// and no cell's is more than half the diagonal of the cube: the root mean square potential of some bodies over what
/// that makes of the `fields`, or 1 if it is less; potentials count so many times. Cost: sums of
/// constants.seen_potentials bodies over all, and for as long 32 bytes a body.
template <class Kernel, class Precision, class Space>
double potential_share(Space const& space, SumsOfPlan<Kernel, Precision, Space> const& over_all,
                       Array<float, Space> fields, int order, double potentials) {
  auto const& tree = over_all.plan.tree;
  const auto tiles = tree.octree.tiles;
  const std::int64_t count = std::min(
      over_all.plan.periodic.far ? constants.seen_potentials_in_cell : constants.seen_potentials,
      tree.size);
  Buffer<Body<double>, Space> bodies("potentials' sources");
  Buffer<BodyIndex, Space> numbers("potentials' bodies");
  Buffer<Sums<double>, Space> sums("potentials");
  bodies_in_edges(space, tree.octree, coordinates_of(tree), bodies, tree.size);
  for_range("fmm::number", space, count, SpreadNumbers<Space>{tree.size, numbers.resize(count)});
  over_all.chosen()(bodies.view(), numbers.view(), sums.resize(count));
  std::vector<Sums<double>> all(count);
  read_back(space, sums.view().data(), all.data(), all.size());
  double squares = 0, of_fields = 0;
  for (auto const& sum : all) squares += sum.potential * sum.potential;
  Buffer<double, Space> buffer("squares of tiles' fields");
  std::vector<double> of_tiles(tiles.extent(0));
  const auto there = buffer.resize(of_tiles.size());
  for_range("fmm::potential_share::fields", space, std::int64_t(of_tiles.size()),
            SquareFieldsOfTiles<Space>{tiles, fields, there});
  read_back(space, there.data(), of_tiles.data(), of_tiles.size());
  for (const double tile : of_tiles) of_fields += tile;
  const double field = std::sqrt(of_fields / double(tree.size));
  const double potential = std::sqrt(squares / double(count)),
               share = potentials * potential * (order + 1) / (half_diagonal * field);
  return share > 0 ? std::min(share, 1.0) : 1;
}

}  // namespace fmm::tolerance
