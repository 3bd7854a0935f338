// SPDX-License-Identifier: BSD-3-Clause
// What an evaluation adds for periodic images that no list has: what they exert on the bodies' cells, and the part of a
// background's potential that is no harmonic.
#pragma once

#include "../kernels/image_expansion.hpp"
#include "../kernels/strengths.hpp"
#include "plan_data.hpp"

namespace fmm::engine {

/// A body's place in edges of the root, from the middle of the periodic cell.
struct PlaceInCell {
  double x[3], square = 0;

  template <class Real>
  KOKKOS_FUNCTION PlaceInCell(Middle const& middle, Cell const& leaf, Body<Real> const& body) {
    const double own[3] = {double(body.x), double(body.y), double(body.z)},
                 edge = edge_of_level<double>(leaf.level);
    for (int c = 0; c < 3; ++c) {
      x[c] = in_root_edges<double>(leaf.centre[c]) - middle.at[c] + own[c] * edge;
      square += x[c] * x[c];
    }
  }
};

/// Of a tile's bodies: sum q and sum q |x|^2, x in edges of the root from the middle of the periodic cell, of density d
/// at 2 d. Of a dipole the derivative.
template <class Space, class Real, class Strengths>
struct BackgroundOfTiles {
  static constexpr int row = 2 * Strengths::densities;
  Middle middle;
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
      const PlaceInCell place(middle, cell, body);
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

/// What `of_tiles`, with its array of sums, sums of each of so many tiles, of all, in `memory`.
template <class Space, class OfTiles>
Array<double, Space> sums_of_tiles(char const* label, Space const& space, std::int64_t tiles,
                                   OfTiles of_tiles, Buffer<double, Space>& memory) {
  constexpr std::int64_t row = OfTiles::row, at_a_time = 128;
  std::int64_t rows = tiles;
  const auto all = memory.resize(row * (rows + rows / (at_a_time - 1) + 64));
  auto sums = subarray<double, Space>(all, 0, rows * row);
  of_tiles.sums = sums;
  for_range(label, space, rows, of_tiles);
  for (std::int64_t end = rows * row; rows > 1; end += rows * row) {
    rows = (rows + at_a_time - 1) / at_a_time;
    const auto next = subarray<double, Space>(all, end, rows * row);
    for_range("fmm::background::sum", space, rows, SumRows<Space>{int(row), at_a_time, sums, next});
    sums = next;
  }
  return sums;
}

/// Adds f Q |x|^2, and what derives from it, to the sums of the tiles' bodies.
template <class Space, class Real, class Sum, class Out>
struct AddBackground {
  double factor;
  Middle middle;
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
        const PlaceInCell place(middle, cell, bodies(b));
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

/// The same, of such sums.
template <class Out, class Space, class Real, class Sum>
void add_background(Space const& space, FarImages const& far, Array<double, Space> background,
                    Array<Cell, Space> cells, Array<Tile, Space> tiles,
                    Array<Body<Real>, Space> bodies, Array<Sums<Sum>, Space> sums) {
  for_range("fmm::background", space, std::int64_t(tiles.extent(0)),
            AddBackground<Space, Real, Sum, Out>{far.background, far.middle, background, cells,
                                                 tiles, bodies, sums});
}

/// The tiles' bodies, and the tiles, as those of a cell above that has a local expansion of images: what a treecode
/// evaluates these at.
template <class Space, class Real>
struct MoveToAncestor {
  kernels::CellsOfImages<Space> of;
  Array<Cell, Space> cells;
  Array<Tile, Space> tiles;
  Array<Body<Real>, Space> bodies;
  Array<Body<Real>, Space> in_ancestor;
  Array<Tile, Space> of_ancestor;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Tile tile = tiles(i);
    const Cell cell = cells(tile.cell);
    CellIndex index = tile.cell;
    while (cells(index).level > of.level) index = cells(index).parent;
    const Cell ancestor = cells(index);
    const Real edge = edge_in<Real>(ancestor, cell);
    Real centre[3];
    for (int c = 0; c < 3; ++c) centre[c] = centre_in<Real>(ancestor, cell, c);
    for (BodyIndex b = tile.first; b < tile.first + tile.count; ++b) {
      const Body<Real> body = bodies(b);
      in_ancestor(b) = {centre[0] + body.x * edge, centre[1] + body.y * edge,
                        centre[2] + body.z * edge, body.q};
    }
    of_ancestor(i) = {index, tile.first, tile.count};
  }
};

/// Tiles and bodies, in `memory`.
template <class Space, class Precision, class Real>
std::pair<Array<Tile, Space>, Array<Body<Real>, Space>> move_to_ancestors(
    Space const& space, Workspace<Space, Precision>& memory,
    kernels::CellsOfImages<Space> const& of, Array<Cell, Space> cells, Array<Tile, Space> tiles,
    Array<Body<Real>, Space> bodies) {
  const auto of_ancestor = memory.periodic.tiles.resize(tiles.extent(0));
  const auto in_ancestor = memory.in_ancestor.resize(bodies.extent(0));
  for_range("fmm::images::bodies", space, std::int64_t(tiles.extent(0)),
            MoveToAncestor<Space, Real>{of, cells, tiles, bodies, in_ancestor, of_ancestor});
  return {of_ancestor, in_ancestor};
}

/// Adds to local expansions of targets' cells what images exert that no list has, of multipoles of sources' cells, and
/// returns the background's sums. The expansions have so many numbers each; local ones may be those of `to` alone.
template <class Space, class Precision, class Strengths, class Real>
Array<double, Space> add_far_images(Space const& space, kernels::CellsOfImages<Space> const& of,
                                    kernels::CellsOfImages<Space> const& to,
                                    PeriodicParts<Space> const& periodic,
                                    Workspace<Space, Precision>& memory,
                                    Octree<Space> const& octree,
                                    SourceStrengths<Space, Real, Strengths> const& sources, int row,
                                    Array<Real, Space> multipoles, Array<Real, Space> locals) {
  constexpr int densities = Strengths::densities, threads = kernels::threads_of_sum<Space>;
  auto const& far = *periodic.far;
  const std::int64_t cells = of.count(), size = coefficient_count(of.order),
                     wide = coefficient_count(of.wide);
  const auto background =
      sums_of_tiles("fmm::background::tiles", space, std::int64_t(octree.tiles.extent(0)),
                    BackgroundOfTiles<Space, Real, Strengths>{
                        far.middle, octree.cells, octree.tiles, sources, {}},
                    memory.periodic.sums);
  const auto numbers = memory.periodic.numbers.resize(cells * (size + wide) + 2 * wide);
  const auto sums = subarray<double, Space>(numbers, 0, cells * size),
             parts = subarray<double, Space>(numbers, cells * size, cells * wide),
             multipole = subarray<double, Space>(numbers, cells * (size + wide), wide),
             local = subarray<double, Space>(numbers, cells * (size + wide) + wide, wide);
  for (int d = 0; d < densities; ++d) {
    const auto plane_of = [&](Array<Real, Space> all) { return kernels::plane(all, d, densities); };
    for_range("fmm::images::take", space, cells * size,
              kernels::TakeMultipoles<Space, Real>{of, row, plane_of(multipoles), sums});
    for_range("fmm::images::up", space, cells * wide, kernels::MoveUp<Space>{of, sums, parts});
    for_range("fmm::images::sum", space, wide, kernels::SumParts<Space>{of, parts, multipole});
    for_teams("fmm::images::apply", TeamPolicy<Space>(space, int(wide), threads),
              kernels::ApplyImages<Space>{of.wide, periodic.matrix, of.norms, multipole, local,
                                          background, 2 * d + 1, far.background});
    for_teams("fmm::images::down", TeamPolicy<Space>(space, int(to.count() * size), threads),
              kernels::MoveDown<Space, Real>{to, row, local, plane_of(locals)});
  }
  return background;
}

}  // namespace fmm::engine
