// SPDX-License-Identifier: BSD-3-Clause
// How much less a pair_error has to be for a tolerance of potentials. MultipolePowerCriterion compares with fields,
// which close pairs may be most of: of stars with planets it takes all pairs of cells, and their potentials err.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "../engine/field_strength.hpp"
#include "../kernels/p2p/p2p.hpp"
#include "constants.hpp"
#include "known_field.hpp"

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
/// that makes of the `fields`, or 1 if it is less. In units of the cube, as the kernel is. Cost: N pairs in double for
/// each of constants.seen_potentials bodies, and for as long 32 bytes a body.
template <class Space, class Precision, class Kernel>
double potential_share(Space const& space, engine::BodyTree<Space, Precision> const& tree,
                       Kernel const& in_cube, Array<float, Space> fields, int order) {
  const auto tiles = tree.octree.tiles;
  const std::int64_t count = std::min(constants.seen_potentials, tree.size);
  Buffer<Body<double>, Space> bodies("potentials' sources");
  Buffer<BodyIndex, Space> numbers("potentials' bodies");
  Buffer<Sums<double>, Space> sums("potentials");
  for_range("fmm::potential_share::bodies", space, std::int64_t(tiles.extent(0)),
            engine::BodiesInCube<Space, real_t<Precision>>{tree.octree.cells, tiles, tree.bodies,
                                                           tree.low, bodies.resize(tree.size)});
  for_range("fmm::number", space, count, SpreadNumbers<Space>{tree.size, numbers.resize(count)});
  p2p_chosen<Outputs<true, true>>(space, in_cube, 1, bodies.view(), numbers.view(),
                                  sums.resize(count));
  std::vector<Sums<double>> potentials(count);
  read_back(space, sums.view().data(), potentials.data(), potentials.size());
  double squares = 0, of_fields = 0;
  for (auto const& sum : potentials) squares += sum.potential * sum.potential;
  Buffer<double, Space> buffer("squares of tiles' fields");
  std::vector<double> of_tiles(tiles.extent(0));
  const auto there = buffer.resize(of_tiles.size());
  for_range("fmm::potential_share::fields", space, std::int64_t(of_tiles.size()),
            SquareFieldsOfTiles<Space>{tiles, fields, there});
  read_back(space, there.data(), of_tiles.data(), of_tiles.size());
  for (const double tile : of_tiles) of_fields += tile;
  const double field = std::sqrt(of_fields / double(tree.size));
  const double potential = std::sqrt(squares / double(count)),
               share = potential * (order + 1) / (half_diagonal * field);
  return share > 0 ? std::min(share, 1.0) : 1;
}

}  // namespace fmm::tolerance
