// SPDX-License-Identifier: BSD-3-Clause
// What a vacuum around the repeated cells adds to sums in a conductor: (4 pi / 3 V) x.D, with D the dipole of the
// bodies where they were given, and not where they were wrapped to (docs/math.md, "Periodic boxes").
#pragma once

#include <cmath>
#include <vector>

#include "charges.hpp"
#include "periodic_images.hpp"

namespace fmm::engine {

/// Of a tile's bodies: their dipole and their charge, four numbers a density.
template <class Space, class Real, class Strengths>
struct DipoleOfTiles {
  static constexpr int row = 4 * Strengths::densities;
  Array<Tile, Space> tiles;
  Array<BodyIndex, Space> permutation;
  Array<double, Space> given;  ///< by the caller's numbers
  SourceStrengths<Space, Real, Strengths> sources;
  double per_length, per_dipole;  ///< of positions, and of dipoles: to the unit of the sums
  Array<double, Space> sums;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Tile tile = tiles(i);
    double all[row] = {};
    for (BodyIndex b = tile.first; b < tile.first + tile.count; ++b) {
      const Body<Real> body = sources.bodies(b);
      const std::int64_t from = permutation(b);
      for (int d = 0; d < Strengths::densities; ++d) {
        const double q = double(sources.charge(b, body, d));
        for (int c = 0; c < 3; ++c) {
          all[4 * d + c] += q * given(3 * from + c) * per_length;
          if constexpr (Strengths::has_dipoles)
            all[4 * d + c] += double(sources.dipole(b, d, c, Real(1))) * per_dipole;
        }
        all[4 * d + 3] += q;
      }
    }
    for (int k = 0; k < row; ++k) sums(i * row + k) = all[k];
  }
};

/// Adds `factor` x.D, and less its gradient, to the sums of the tiles' bodies.
template <class Space, class Sum, class Out>
struct AddVacuum {
  double factor, per_length;
  Array<double, Space> dipoles;
  Array<Tile, Space> tiles;
  Array<BodyIndex, Space> permutation;
  Array<double, Space> given;
  Array<Sums<Sum>, Space> sums;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Tile tile = tiles(i);
    for (BodyIndex b = tile.first; b < tile.first + tile.count; ++b) {
      const std::int64_t at = 3 * std::int64_t(permutation(b));
      for (int d = 0; d < Out::densities; ++d) {
        const double D[3] = {factor * dipoles(4 * d), factor * dipoles(4 * d + 1),
                             factor * dipoles(4 * d + 2)};
        Sums<Sum>* const to = &sums(std::int64_t(b) * Out::records + Out::record(d));
        to->potential +=
            Sum((given(at) * D[0] + given(at + 1) * D[1] + given(at + 2) * D[2]) * per_length);
        to->x -= Sum(D[0]);
        to->y -= Sum(D[1]);
        to->z -= Sum(D[2]);
      }
    }
  }
};

/// Positions as they are given, three numbers each.
template <class Space, class Positions>
struct CopyGiven {
  Positions positions;
  Array<double, Space> given;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (int d = 0; d < 3; ++d) given(3 * i + d) = double(positions(i, d));
  }
};

/// Adds that to the targets' sums, whose unit of length is 1 / per_length; `volume` is in it. Throws InvalidArgument
/// for sources with a net charge, of which there is no such sum.
template <class Out, class Space, class Precision, class Real, class Strengths, class Sum>
void add_vacuum(Space const& space, PlanData<Space, Precision> const& targets,
                PlanData<Space, Precision> const& sources_plan,
                SourceStrengths<Space, Real, Strengths> const& sources,
                DensityFacts<Strengths::densities> const& facts, double volume, double per_length,
                double per_dipole, Array<Tile, Space> tiles, Array<Sums<Sum>, Space> sums) {
  constexpr int row = 4 * Strengths::densities;
  constexpr double rounding = sizeof(Real) == 4 ? 1e-6 : 1e-11;
  auto const& tree = sources_plan.tree;
  Buffer<double, Space> memory("dipoles of the bodies");
  const auto dipoles =
      sums_of_tiles("fmm::vacuum::dipole", space, std::int64_t(tree.octree.tiles.extent(0)),
                    DipoleOfTiles<Space, Real, Strengths>{tree.octree.tiles,
                                                          tree.permutation,
                                                          sources_plan.periodic.given,
                                                          sources,
                                                          per_length,
                                                          per_dipole,
                                                          {}},
                    memory);
  std::vector<double> numbers(row);
  read_back(space, dipoles.data(), numbers.data(), numbers.size());
  for (int d = 0; d < Strengths::densities; ++d) {
    const double net = numbers[std::size_t(4 * d + 3)] * facts.of[d].unit;
    if (!(std::fabs(net) <= rounding * facts.of[d].sum))
      throw InvalidArgument("net charge", net, "0, with a vacuum around the periodic cells");
  }
  for_range(
      "fmm::vacuum", space, std::int64_t(tiles.extent(0)),
      AddVacuum<Space, Sum, Out>{4 * std::numbers::pi / (3 * volume), per_length, dipoles, tiles,
                                 targets.tree.permutation, targets.periodic.given, sums});
  space.fence();  // the memory goes now
}

}  // namespace fmm::engine
