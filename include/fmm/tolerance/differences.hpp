// SPDX-License-Identifier: BSD-3-Clause
// What two sums of all bodies differ by: those of an evaluation, and others by stricter lists, and in mixed precision
// with near fields in double. Errors have heavy tails, and nobody knows beforehand where: of a crystal's bodies eight
// tiles of 1584 had more than half of the squares' sum, of potentials in a halo five bodies of 30,000. No sample of
// tiles, however it is drawn, is sure to have these, and so all bodies are compared.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "../engine/body_tree.hpp"
#include "../tuning.hpp"
#include "constants.hpp"
#include "quantities.hpp"

namespace fmm::tolerance {

/// Bodies of a group: neighbours in a tile, fewer at its end.
inline constexpr int bodies_of_group = 4;
/// Groups that a tile has room for.
template <class Space, class Real>
inline constexpr int groups_of_tile = Tuning<Space, Real>::tile / bodies_of_group;

/// Those of so many bodies of a tile.
inline std::int64_t groups_of(std::int64_t bodies) {
  return (bodies + bodies_of_group - 1) / bodies_of_group;
}

/// Adds the squares of what a body's sums differ by.
template <class Sum>
KOKKOS_FUNCTION void add_square_difference(Sums<Sum> const& a, Sums<Sum> const& b,
                                           PerQuantity<double>& squares) {
  const double x = double(a.x) - double(b.x), y = double(a.y) - double(b.y),
               z = double(a.z) - double(b.z), p = double(a.potential) - double(b.potential);
  squares.field += x * x + y * y + z * z;
  squares.potential += p * p;
}

/// Sums over bodies of squares: of their fields and potentials, and of what these differ from others by.
struct SquaresOfSums {
  PerQuantity<double> values, differences;

  KOKKOS_FUNCTION void add(SquaresOfSums const& other) {
    values += other.values;
    differences += other.differences;
  }
};

/// Of a group's bodies.
template <class Space, class Precision>
struct SquaresOfGroups {
  using Sum = sum_t<Precision>;
  static constexpr int row = groups_of_tile<Space, real_t<Precision>>;
  static_assert(Tuning<Space, real_t<Precision>>::tile % bodies_of_group == 0);
  Array<Tile, Space> tiles;
  Array<Sums<Sum>, Space> sums, others;

  KOKKOS_FUNCTION SquaresOfSums of_group(std::int64_t tile_number, int group) const {
    const Tile tile = tiles(tile_number);
    const auto begin = BodyIndex(group * bodies_of_group);
    SquaresOfSums all;
    for (BodyIndex k = begin; k < begin + bodies_of_group && k < tile.count; ++k) {
      const Sums<Sum> sum = sums(tile.first + k);
      add_square_difference(sum, {Sum(0), Sum(0), Sum(0), Sum(0)}, all.values);
      add_square_difference(sum, others(tile.first + k), all.differences);
    }
    return all;
  }
};

/// Those of a tile.
template <class Space, class Precision>
struct SquaresOfTiles {
  SquaresOfGroups<Space, Precision> groups;
  Array<SquaresOfSums, Space> of_tiles;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    SquaresOfSums all;
    for (int g = 0; g < groups.row; ++g) all.add(groups.of_group(i, g));
    of_tiles(i) = all;
  }
};

/// The groups' weights: what their squares are times `factors`, which are 0 or finite.
template <class Space, class Precision>
struct WeighGroups {
  SquaresOfGroups<Space, Precision> groups;
  SquaresOfSums factors;
  Array<float, Space> weights;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    constexpr double least = 1e-37;  // of a float
    const SquaresOfSums group = groups.of_group(i / groups.row, int(i % groups.row));
    const double weight = part(group.values.field, factors.values.field) +
                          part(group.values.potential, factors.values.potential) +
                          part(group.differences.field, factors.differences.field) +
                          part(group.differences.potential, factors.differences.potential);
    weights(i) = float(weight > least ? weight : 0);
  }
  KOKKOS_FUNCTION static double part(double sum, double factor) {
    return factor > 0 ? sum * factor : 0;
  }
};

/// Sets the weights of all tiles' groups, groups_of_tile each: their shares in the squares of what differs, times
/// constants.drawn_as_differing, and in the squares of the results, times drawn_by_strength: an error that both sums
/// have, as of softening, is no difference, and is more likely where results are large. Of two quantities each has
/// half. Returns all squares, added in the order of the tiles. Cost: O(N), and one wait; memory for as long: 32 bytes a
/// tile.
template <class Space, class Precision>
SquaresOfSums weigh_groups(Space const& space, Array<Tile, Space> tiles,
                           Array<Sums<sum_t<Precision>>, Space> sums,
                           Array<Sums<sum_t<Precision>>, Space> others, Quantities of,
                           Array<float, Space> weights) {
  const SquaresOfGroups<Space, Precision> groups{tiles, sums, others};
  Buffer<SquaresOfSums, Space> buffer("squares of tiles");
  std::vector<SquaresOfSums> of_tiles(tiles.extent(0));
  const auto there = buffer.resize(of_tiles.size());
  for_range("fmm::verification::squares", space, std::int64_t(of_tiles.size()),
            SquaresOfTiles<Space, Precision>{groups, there});
  read_back(space, there.data(), of_tiles.data(), of_tiles.size());
  SquaresOfSums all, factors;
  for (SquaresOfSums const& tile : of_tiles) all.add(tile);
  const double quantities = of.field && of.potential ? 2 : 1;
  const auto per = [&](double share, double sum) {
    const double factor = share / quantities / sum;
    return std::isfinite(sum) && std::isfinite(factor) ? factor : 0;
  };
  of.each([&](Quantity one) {
    factors.values[one] = per(constants.drawn_by_strength, all.values[one]);
    factors.differences[one] = per(constants.drawn_as_differing, all.differences[one]);
  });
  for_range("fmm::verification::weights", space, std::int64_t(weights.extent(0)),
            WeighGroups<Space, Precision>{groups, factors, weights});
  return all;
}

}  // namespace fmm::tolerance
