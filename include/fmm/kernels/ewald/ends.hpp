// SPDX-License-Identifier: BSD-3-Clause
// Ewald's sums in double, of which nothing is shared with trees, expansions and lattice sums: what they are of, and
// where they go. Sums are of charges and dipoles, one density at a time, with all results: compiled once for all
// strengths and results.
#pragma once

#include <cmath>

#include "../../arrays.hpp"
#include "../../cells/cell.hpp"
#include "../../detail/launch.hpp"
#include "../../periodic/lattice.hpp"

namespace fmm::kernels {

/// The strengths of one density of bodies: where its numbers are among those of SourceStrengths.
template <class Space>
struct DensityStrengths {
  Array<Body<double>, Space> bodies;
  Array<double, Space> others;
  int charge = 0;         ///< which number
  int dipole = -1;        ///< the first of three, or none
  double per_length = 1;  ///< units of length in one of the dipoles'

  KOKKOS_FUNCTION double number(std::int64_t i, int k) const {
    return k == 0 ? bodies(i).q : others((k - 1) * std::int64_t(bodies.extent(0)) + i);
  }
  KOKKOS_FUNCTION double q(std::int64_t i) const { return number(i, charge); }
  KOKKOS_FUNCTION double p(std::int64_t i, int c) const {
    return dipole < 0 ? 0 : number(i, dipole + c) * per_length;
  }
};

/// Potential, field, and xx, yy, zz, xy, xz and yz of the Hessian.
inline constexpr int numbers_of_target = 10;

/// Where the sums of one density go: targets in tiles, some records each.
template <class Space, class Sum>
struct DensityTargets {
  Array<Body<double>, Space> bodies;
  Array<Tile, Space> tiles;
  int tile;  ///< targets of a tile, at most
  bool are_sources;
  Array<BodyIndex, Space> numbers;  ///< of targets among the sources, or none: their own
  int records, first;               ///< of a target, and which of them is the density's
  bool hessian;
  Array<Sums<Sum>, Space> sums;

  /// Which source a target is; -1: none.
  KOKKOS_FUNCTION std::int64_t source(std::int64_t i) const {
    return !are_sources ? -1 : numbers.extent(0) > 0 ? std::int64_t(numbers(i)) : i;
  }
  KOKKOS_FUNCTION void add(std::int64_t i, double const (&of)[numbers_of_target]) const {
    Sums<Sum>* const to = &sums(i * records + first);
    to[0] = {Sum(to[0].potential + of[0]), Sum(to[0].x + of[1]), Sum(to[0].y + of[2]),
             Sum(to[0].z + of[3])};
    if (!hessian) return;
    to[1] = {Sum(to[1].potential + of[4]), Sum(to[1].x + of[5]), Sum(to[1].y + of[6]),
             Sum(to[1].z + of[7])};
    to[2] = {Sum(to[2].potential + of[8]), Sum(to[2].x + of[9]), to[2].y, to[2].z};
  }
};

/// A lattice's vectors and their inverse.
struct CellVectors {
  double vectors[3][3], inverse[3][3];

  explicit CellVectors(periodic::Lattice const& lattice) {
    for (int k = 0; k < 3; ++k)
      for (int d = 0; d < 3; ++d) {
        vectors[k][d] = lattice.vectors()[std::size_t(k)][std::size_t(d)];
        inverse[k][d] = lattice.inverse()[std::size_t(k)][std::size_t(d)];
      }
  }
  /// Adds whole vectors, so that d has factors of them from -1/2 to 1/2.
  KOKKOS_FUNCTION void wrap(double (&d)[3]) const {
    for (int k = 0; k < 3; ++k) {
      const double cells =
          std::floor(inverse[k][0] * d[0] + inverse[k][1] * d[1] + inverse[k][2] * d[2] + 0.5);
      for (int c = 0; c < 3; ++c) d[c] -= cells * vectors[k][c];
    }
  }
};

}  // namespace fmm::kernels
