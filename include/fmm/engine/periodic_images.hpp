// SPDX-License-Identifier: BSD-3-Clause
// What an evaluation does about periodic images: multipoles of those that lists have, which are those of the cells they
// are of; what all others exert on the root; and the part of a background's potential that is no harmonic.
#pragma once

#include "../kernels/strengths.hpp"
#include "plan_data.hpp"

namespace fmm::engine {

/// Four numbers of an image's multipole at a time.
template <class Space, class Real>
struct CopyMultipoles {
  ImageCells<Space> images;
  int quads;  ///< of a cell
  Array<Real, Space> multipoles;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto* const all = reinterpret_cast<kernels::Quad<Real>*>(multipoles.data());
    const std::int64_t image = i / quads, quad = i % quads;
    all[(images.begin + image) * quads + quad] = all[images.of(image) * quads + quad];
  }
};

/// Multipoles of images, in rows of so many numbers, for each of the densities.
template <class Space, class Real>
void copy_multipoles(Space const& space, ImageCells<Space> const& images, int row, int densities,
                     Array<Real, Space> multipoles) {
  if (images.count() == 0) return;
  for (int d = 0; d < densities; ++d)
    for_range(
        "fmm::images::multipoles", space, std::int64_t(images.count()) * (row / 4),
        CopyMultipoles<Space, Real>{images, row / 4, kernels::plane(multipoles, d, densities)});
}

/// A body's place in edges of the root, from its centre.
struct PlaceInRoot {
  double x[3], square = 0;

  template <class Real>
  KOKKOS_FUNCTION PlaceInRoot(Cell const& root, Cell const& leaf, Body<Real> const& body) {
    const double own[3] = {double(body.x), double(body.y), double(body.z)},
                 edge = edge_in<double>(root, leaf);
    for (int c = 0; c < 3; ++c) {
      x[c] = centre_in<double>(root, leaf, c) + own[c] * edge;
      square += x[c] * x[c];
    }
  }
};

/// Of a tile's bodies: sum q and sum q |x|^2, x in edges of the root from its centre, of density d at 2 d. Of a dipole
/// the derivative.
template <class Space, class Real, class Strengths>
struct BackgroundOfTiles {
  static constexpr int row = 2 * Strengths::densities;
  Array<Cell, Space> cells;
  Array<Tile, Space> tiles;
  SourceStrengths<Space, Real, Strengths> sources;
  Array<double, Space> sums;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Tile tile = tiles(i);
    const Cell cell = cells(tile.cell);
    double all[row] = {};
    for (BodyIndex b = tile.first; b < tile.first + tile.count; ++b) {
      const Body<Real> body = sources.bodies(b);
      const PlaceInRoot place(cells(0), cell, body);
      for (int d = 0; d < Strengths::densities; ++d) {
        const double q = double(sources.charge(b, body, d));
        all[2 * d] += q;
        all[2 * d + 1] += q * place.square;
        if constexpr (Strengths::has_dipoles)
          for (int c = 0; c < 3; ++c)
            all[2 * d + 1] += 2 * place.x[c] * double(sources.dipole(b, d, c, Real(1)));
      }
    }
    for (int k = 0; k < row; ++k) sums(i * row + k) = all[k];
  }
};

/// Sums of so many rows at a time, in their order, whatever the threads.
template <class Space>
struct SumRows {
  int row;
  std::int64_t at_a_time;
  Array<double, Space> from, to;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t rows = std::int64_t(from.extent(0)) / row, begin = i * at_a_time,
                       end = begin + at_a_time < rows ? begin + at_a_time : rows;
    for (int k = 0; k < row; ++k) {
      double sum = 0;
      for (std::int64_t j = begin; j < end; ++j) sum += from(j * row + k);
      to(i * row + k) = sum;
    }
  }
};

/// Those of all bodies, in `memory`.
template <class Space, class Real, class Strengths>
Array<double, Space> background_sums(Space const& space, Octree<Space> const& tree,
                                     SourceStrengths<Space, Real, Strengths> const& sources,
                                     Buffer<double, Space>& memory) {
  using OfTiles = BackgroundOfTiles<Space, Real, Strengths>;
  constexpr std::int64_t row = OfTiles::row, at_a_time = 128;
  std::int64_t rows = std::int64_t(tree.tiles.extent(0));
  const auto all = memory.resize(row * (rows + rows / (at_a_time - 1) + 64));
  auto sums = subarray<double, Space>(all, 0, rows * row);
  for_range("fmm::background::tiles", space, rows, OfTiles{tree.cells, tree.tiles, sources, sums});
  for (std::int64_t end = rows * row; rows > 1; end += rows * row) {
    rows = (rows + at_a_time - 1) / at_a_time;
    const auto next = subarray<double, Space>(all, end, rows * row);
    for_range("fmm::background::sum", space, rows, SumRows<Space>{int(row), at_a_time, sums, next});
    sums = next;
  }
  return sums;
}

/// Adds f sum q |x|^2 to the potential of a root's local expansion.
template <class Space, class Real>
struct AddBackgroundConstant {
  double factor;
  int density;
  Array<double, Space> sums;
  Array<Real, Space> local;

  KOKKOS_FUNCTION void operator()(std::int64_t) const {
    local(0) += Real(factor * sums(2 * density + 1));
  }
};

/// Adds f Q |x|^2, and what derives from it, to the sums of the tiles' bodies.
template <class Space, class Real, class Sum, class Out>
struct AddBackground {
  double factor;
  Array<double, Space> background;
  Array<Cell, Space> cells;
  Array<Tile, Space> tiles;
  Array<Body<Real>, Space> bodies;
  Array<Sums<Sum>, Space> sums;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Tile tile = tiles(i);
    const Cell cell = cells(tile.cell);
    for (int d = 0; d < Out::densities; ++d) {
      const double f = factor * background(2 * d);
      if (f == 0) continue;
      for (BodyIndex b = tile.first; b < tile.first + tile.count; ++b) {
        const PlaceInRoot place(cells(0), cell, bodies(b));
        Sums<Sum>* const to = &sums(std::int64_t(b) * Out::records + Out::record(d));
        to->potential += Sum(f * place.square);
        to->x -= Sum(2 * f * place.x[0]);
        to->y -= Sum(2 * f * place.x[1]);
        to->z -= Sum(2 * f * place.x[2]);
        if constexpr (Out::hessian) to[2].y -= Sum(2 * f);  // what is taken from the diagonal
      }
    }
  }
};

/// The tiles' bodies, and the tiles, as the root's: what a treecode evaluates the root's local expansion at.
template <class Space, class Real>
struct MoveToRoot {
  Array<Cell, Space> cells;
  Array<Tile, Space> tiles;
  Array<Body<Real>, Space> bodies;
  Array<Body<Real>, Space> in_root;
  Array<Tile, Space> of_root;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Tile tile = tiles(i);
    const Cell cell = cells(tile.cell);
    const Real edge = edge_in<Real>(cells(0), cell);
    Real centre[3];
    for (int c = 0; c < 3; ++c) centre[c] = centre_in<Real>(cells(0), cell, c);
    for (BodyIndex b = tile.first; b < tile.first + tile.count; ++b) {
      const Body<Real> body = bodies(b);
      in_root(b) = {centre[0] + body.x * edge, centre[1] + body.y * edge, centre[2] + body.z * edge,
                    body.q};
    }
    of_root(i) = {0, tile.first, tile.count};
  }
};

/// Adds to the root's local expansions what images exert that no list has, and returns the background's sums.
template <class Space, class Precision, class Strengths, class Real>
Array<double, Space> add_far_images(Space const& space, PeriodicParts<Space> const& periodic,
                                    Workspace<Space, Precision>& memory,
                                    Octree<Space> const& octree,
                                    SourceStrengths<Space, Real, Strengths> const& sources,
                                    Array<Real, Space> multipoles, Array<Real, Space> locals) {
  constexpr int densities = Strengths::densities;
  auto const& far = *periodic.far;
  const int size = coefficient_count(far.order), row = kernels::row_length(size);
  const auto sums = background_sums(space, octree, sources, memory.periodic.sums);
  for (int d = 0; d < densities; ++d) {
    const auto of = [&](Array<Real, Space> all) {
      return subarray<Real, Space>(kernels::plane(all, d, densities), 0, row);
    };
    for_range(
        "fmm::images::root", space, size,
        kernels::AddRootImages<Space, Real>{size, periodic.matrix, of(multipoles), of(locals)});
    for_range("fmm::images::background", space, 1,
              AddBackgroundConstant<Space, Real>{far.background, d, sums, of(locals)});
  }
  return sums;
}

}  // namespace fmm::engine
