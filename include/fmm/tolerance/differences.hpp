// SPDX-License-Identifier: BSD-3-Clause
// What two sums of all bodies differ by: those of an evaluation, and others by stricter lists. Errors
// have heavy tails, and nobody knows beforehand where: of a crystal's bodies eight tiles of 1584 had
// more than half of the squares' sum, of potentials in a halo five bodies of 30,000. No sample of
// tiles, however it is drawn, is sure to have these, and so all bodies are compared.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "../engine/body_tree.hpp"
#include "../tuning.hpp"
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

/// Of a group's bodies, the squares of what their fields and potentials differ by.
template <class Space, class Precision>
struct SquareDifferencesOfGroups {
  static constexpr int row = groups_of_tile<Space, real_t<Precision>>;
  static_assert(Tuning<Space, real_t<Precision>>::tile % bodies_of_group == 0);
  Array<Tile, Space> tiles;
  Array<Sums<sum_t<Precision>>, Space> sums, others;

  KOKKOS_FUNCTION PerQuantity<double> of_group(std::int64_t tile_number, int group) const {
    const Tile tile = tiles(tile_number);
    const auto begin = BodyIndex(group * bodies_of_group);
    PerQuantity<double> all;
    for (BodyIndex k = begin; k < begin + bodies_of_group && k < tile.count; ++k)
      add_square_difference(sums(tile.first + k), others(tile.first + k), all);
    return all;
  }
};

/// Those of a tile.
template <class Space, class Precision>
struct SquareDifferencesOfTiles {
  SquareDifferencesOfGroups<Space, Precision> squares;
  Array<PerQuantity<double>, Space> of_tiles;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    PerQuantity<double> all;
    for (int g = 0; g < squares.row; ++g) {
      const auto of_group = squares.of_group(i, g);
      all.field += of_group.field;
      all.potential += of_group.potential;
    }
    of_tiles(i) = all;
  }
};

/// The groups' shares in the sums of the squares; of two quantities, these added up.
template <class Space, class Precision>
struct ShareDifferences {
  SquareDifferencesOfGroups<Space, Precision> squares;
  PerQuantity<double> per_square;
  Array<float, Space> shares;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    constexpr double least = 1e-37;  // of a float
    const auto of_group = squares.of_group(i / squares.row, int(i % squares.row));
    const double share = (per_square.field > 0 ? of_group.field * per_square.field : 0) +
                         (per_square.potential > 0 ? of_group.potential * per_square.potential : 0);
    shares(i) = float(share > least ? share : 0);
  }
};

/// Sets the shares of all tiles' groups, groups_of_tile each, in the differences of what is wanted, and returns the
/// squares of these, added in the order of the tiles. Cost: O(N), and one wait; memory for as long: 16 bytes a tile.
template <class Space, class Precision>
PerQuantity<double> share_differences(Space const& space, Array<Tile, Space> tiles,
                                      Array<Sums<sum_t<Precision>>, Space> sums,
                                      Array<Sums<sum_t<Precision>>, Space> others, Quantities of,
                                      Array<float, Space> shares) {
  const SquareDifferencesOfGroups<Space, Precision> squares{tiles, sums, others};
  Buffer<PerQuantity<double>, Space> buffer("differences of tiles");
  std::vector<PerQuantity<double>> of_tiles(tiles.extent(0));
  const auto there = buffer.resize(of_tiles.size());
  for_range("fmm::verification::differences", space, std::int64_t(of_tiles.size()),
            SquareDifferencesOfTiles<Space, Precision>{squares, there});
  read_back(space, there.data(), of_tiles.data(), of_tiles.size());
  PerQuantity<double> all;
  for (auto const& tile : of_tiles) {
    all.field += tile.field;
    all.potential += tile.potential;
  }
  const auto per = [&](Quantity one) {
    return of.has(one) && all[one] > 0 && std::isfinite(all[one]) ? 1 / all[one] : 0.0;
  };
  for_range("fmm::verification::shares", space, std::int64_t(shares.extent(0)),
            ShareDifferences<Space, Precision>{
                squares, {per(Quantity::field), per(Quantity::potential)}, shares});
  return all;
}

}  // namespace fmm::tolerance
