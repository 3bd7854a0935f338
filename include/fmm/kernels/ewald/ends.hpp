// SPDX-License-Identifier: BSD-3-Clause
// Ewald's sums in double, of which nothing is shared with trees, expansions and lattice sums: what they are of, and
// where they go. Sums are of charges and dipoles, one density at a time, with all results: compiled once for all
// strengths and results.
#pragma once

#include <cmath>
#include <limits>

#include "../../arrays.hpp"
#include "../../cells/cell.hpp"
#include "../../detail/launch.hpp"
#include "../../periodic/lattice.hpp"
#include "../../simd/error_functions.hpp"

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
  double vectors[3][3] = {}, inverse[3][3] = {};

  CellVectors() = default;
  explicit CellVectors(periodic::Lattice const& lattice) {
    for (int k = 0; k < 3; ++k)
      for (int d = 0; d < 3; ++d) {
        vectors[k][d] = lattice.vectors()[std::size_t(k)][std::size_t(d)];
        inverse[k][d] = lattice.inverse()[std::size_t(k)][std::size_t(d)];
      }
  }
  /// Adds whole vectors, so that d has factors of them from -1/2 to 1/2.
  template <class V>
  KOKKOS_FUNCTION void wrap(V (&d)[3]) const {
    for (int k = 0; k < 3; ++k) {
      const V cells = nearest_whole(V(inverse[k][0]) * d[0] + V(inverse[k][1]) * d[1] +
                                    V(inverse[k][2]) * d[2]);
      for (int c = 0; c < 3; ++c) d[c] -= cells * V(vectors[k][c]);
    }
  }
};

/// Where the nearest images are.
template <class Space>
struct NearestImages {
  CellVectors cell;
  Array<double, Space>
      images;  ///< three numbers each, 0 first: those that may be the nearest of a wrapped difference
  double sure2;  ///< the square of half the smallest height: nearer ones are wrapped differences

  /// Of an image at another place: its difference, and the square of it; infinite if there is none, or none nearer
  /// than that.
  KOKKOS_FUNCTION double find(double (&d)[3],
                              double within2 = std::numeric_limits<double>::infinity()) const {
    cell.wrap(d);
    const double wrapped2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    if (wrapped2 > 0 && wrapped2 < sure2) return wrapped2;
    double least2 = std::numeric_limits<double>::infinity(), least[3] = {};
    if (within2 <= sure2) return least2;
    for (int image = 0; image < int(images.extent(0)) / 3; ++image) {
      double at[3], r2 = 0;
      for (int c = 0; c < 3; ++c) {
        at[c] = d[c] + images(3 * image + c);
        r2 += at[c] * at[c];
      }
      if (r2 > 0 && r2 < least2) {
        least2 = r2;
        for (int c = 0; c < 3; ++c) least[c] = at[c];
      }
    }
    for (int c = 0; c < 3; ++c) d[c] = least[c];
    return least2;
  }
};

}  // namespace fmm::kernels
