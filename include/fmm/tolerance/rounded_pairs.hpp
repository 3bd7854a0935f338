// SPDX-License-Identifier: BSD-3-Clause
// What the rounding of coordinates to 2^-50 of a leaf's edge, in mixed precision, makes of the fields of close pairs. Sums
// over all bodies are from the same coordinates and do not see it.
#pragma once

#include <cmath>

#include "../detail/reduce.hpp"
#include "../engine/body_tree.hpp"

namespace fmm::tolerance {

/// The sum over a tile's bodies, and all others of their leaf, of the squares of what a pair's field errs by, in units of
/// charge / (edge of the cube)^2: twice |q| delta / r^3, where the distance r errs by delta, a pair on its own.
template <class Space>
struct RoundedPairs {
  /// Three coordinates of two bodies, each off by up to 2^-50 evenly.
  static constexpr double delta = 0x1p-50 * 1.4142135623730951;
  Array<Cell, Space> cells;
  Array<Tile, Space> tiles;
  Array<Body<float>, Space> bodies, low;
  double softening;  ///< in edges of the cube

  KOKKOS_FUNCTION void operator()(std::int64_t i, SumOf<double>& sum) const {
    const Tile tile = tiles(i);
    const Cell leaf = cells(tile.cell);
    const double edge = edge_of_level<double>(leaf.level),
                 softening2 = softening * softening / (edge * edge);
    double squares = 0;
    for (BodyIndex k = tile.first; k < tile.first + tile.count; ++k) {
      const Body<float> a = bodies(k), rest = low(k);
      for (BodyIndex j = leaf.body_begin; j < leaf.body_begin + leaf.body_count; ++j) {
        const Body<float> b = bodies(j), other = low(j);
        const double x = double(a.x) - b.x + (double(rest.x) - other.x),
                     y = double(a.y) - b.y + (double(rest.y) - other.y),
                     z = double(a.z) - b.z + (double(rest.z) - other.z),
                     r2 = x * x + y * y + z * z + softening2;
        if (r2 == 0) continue;  // itself, or a body at its place
        const double error = 2 * delta * double(b.q) / (r2 * std::sqrt(r2));
        squares += error * error;
      }
    }
    sum.value += squares / (edge * edge * edge * edge);
  }
};

/// That of all bodies. Cost: the pairs within leaves, in double.
template <class Space>
double rounding_of_pairs(Space const& space, engine::BodyTree<Space, Mixed> const& tree,
                         double softening) {
  const double squares =
      reduce<SumOf<double>>("fmm::verification::rounding", space, tree.octree.tiles.extent(0),
                            RoundedPairs<Space>{tree.octree.cells, tree.octree.tiles, tree.bodies,
                                                tree.low, softening / tree.cube.edge})
          .value;
  space.fence();
  return squares;
}

}  // namespace fmm::tolerance
