// SPDX-License-Identifier: BSD-3-Clause
// What the rounding of coordinates to 2^-50 of a leaf's edge, in mixed precision, makes of the fields of close pairs. Sums
// over all bodies are from the same coordinates and do not see it.
#pragma once

#include <cmath>
#include <limits>

#include "../detail/reduce.hpp"
#include "../engine/body_tree.hpp"

namespace fmm::tolerance {

/// Over a body and all others of its leaf the sum of the squares of what a pair's field errs by, in units of
/// charge / (edge of the cube)^2: twice |q| delta / r^3, where the distance r errs by delta, a pair on its own. Of
/// bodies whose coordinates are the same, though they are at two places, it is infinite.
template <class Space>
struct RoundedPairs {
  /// Three coordinates of two bodies, each off by up to 2^-50 evenly.
  static constexpr double delta = 0x1p-50 * 1.4142135623730951;
  Array<Cell, Space> cells;
  Array<Body<float>, Space> bodies, low;
  double softening;  ///< in edges of the cube

  KOKKOS_FUNCTION double of_body(BodyIndex k, Cell const& leaf) const {
    const double edge = edge_of_level<double>(leaf.level),
                 softening2 = softening * softening / (edge * edge);
    double squares = 0;
    const Body<float> a = bodies(k), rest = low(k);
    for (BodyIndex j = leaf.body_begin; j < leaf.body_begin + leaf.body_count; ++j) {
      const Body<float> b = bodies(j), other = low(j);
      const double x = double(a.x) - b.x + (double(rest.x) - other.x),
                   y = double(a.y) - b.y + (double(rest.y) - other.y),
                   z = double(a.z) - b.z + (double(rest.z) - other.z),
                   r2 = x * x + y * y + z * z + softening2;
      if (j == k) continue;
      if (r2 == 0) {
        if (rest.q == other.q || b.q == 0) continue;  // at its place, by their marks (PlaceBodies)
        return std::numeric_limits<double>::infinity();
      }
      const double error = 2 * delta * double(b.q) / (r2 * std::sqrt(r2));
      squares += error * error;
    }
    return squares / (edge * edge * edge * edge);
  }
};

/// That of a tile's bodies.
template <class Space>
struct SumRoundedPairs {
  RoundedPairs<Space> pairs;
  Array<Tile, Space> tiles;

  KOKKOS_FUNCTION void operator()(std::int64_t i, SumOf<double>& sum) const {
    const Tile tile = tiles(i);
    double squares = 0;
    for (BodyIndex k = tile.first; k < tile.first + tile.count; ++k)
      squares += pairs.of_body(k, pairs.cells(tile.cell));
    sum.value += squares;
  }
};

/// How many of a tile's bodies err by more than a share of their own field.
template <class Space>
struct CountRoundedPairs {
  RoundedPairs<Space> pairs;
  Array<Tile, Space> tiles;
  Array<Sums<double>, Space> sums;
  double share;

  KOKKOS_FUNCTION void operator()(std::int64_t i, SumOf<double>& count) const {
    const Tile tile = tiles(i);
    for (BodyIndex k = tile.first; k < tile.first + tile.count; ++k) {
      const Sums<double> s = sums(k);
      const double field2 = s.x * s.x + s.y * s.y + s.z * s.z;
      count.value += pairs.of_body(k, pairs.cells(tile.cell)) > share * share * field2;
    }
  }
};

/// What all bodies err by, relative to the norm of their fields, whose squares add up to that. Cost: the pairs within
/// leaves, in double.
template <class Space>
double rounding_of_pairs(Space const& space, engine::BodyTree<Space, Mixed> const& tree,
                         double softening, double squares_of_fields) {
  const RoundedPairs<Space> pairs{tree.octree.cells, tree.bodies, tree.low,
                                  softening / tree.cube.edge};
  const double squares =
      reduce<SumOf<double>>("fmm::verification::rounding", space, tree.octree.tiles.extent(0),
                            SumRoundedPairs<Space>{pairs, tree.octree.tiles})
          .value;
  space.fence();
  return std::sqrt(squares / squares_of_fields);
}

/// What no more than a hundredth of the bodies exceed, relative to their own fields in `sums`: `enough`, or within a
/// factor of 1.3 of it if that is more; infinite above 1000. Cost: the same, some times if it is more.
template <class Space>
double own_rounding_of_pairs(Space const& space, engine::BodyTree<Space, Mixed> const& tree,
                             double softening, Array<Sums<double>, Space> sums, double enough) {
  const RoundedPairs<Space> pairs{tree.octree.cells, tree.bodies, tree.low,
                                  softening / tree.cube.edge};
  double share = enough;
  const auto is_exceeded = [&] {
    const double count =
        reduce<SumOf<double>>("fmm::verification::rounded", space, tree.octree.tiles.extent(0),
                              CountRoundedPairs<Space>{pairs, tree.octree.tiles, sums, share})
            .value;
    space.fence();
    return count > double(tree.size) / 100;
  };
  while (share < 1e3 && is_exceeded()) share *= 1.3;
  return share < 1e3 ? share : std::numeric_limits<double>::infinity();
}

}  // namespace fmm::tolerance
