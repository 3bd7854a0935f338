// SPDX-License-Identifier: BSD-3-Clause
// Bodies into tree order, relative to their leaves.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "../precision.hpp"
#include "../simd/simd.hpp"
#include "cell_measures.hpp"

namespace fmm::tree {

/// Bodies relative to their leaves, formed in double before they are rounded: x = (position - centre) /
/// edge; in mixed precision, and in double if there is `low`, that gets what rounding leaves out, and as its fourth
/// number a mark of the position; and in mixed precision `lowest`, if there is room, gets what both parts leave out. A
/// tile a team.
template <class Space, class Positions, class Precision>
struct PlaceBodies {
  using Real = real_t<Precision>;
  Positions positions;
  Cube cube;
  Array<Cell, Space> cells;
  Array<Tile, Space> tiles;
  Array<BodyIndex, Space> permutation;
  Array<Body<Real>, Space> bodies, low, lowest;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const Tile tile = tiles(team.league_rank());
    const Frame frame = frame_of(tile.cell);
    for (int i = team.team_rank(); i < tile.count; i += team.team_size())
      place(frame, tile.first + i);
  }

 protected:
  /// A leaf's centre, with what rounding leaves out of it: 0 up to 2^20 edges of the root from the origin.
  struct Frame {
    double centre[3], rest[3], edge, per_edge;
  };
  KOKKOS_FUNCTION Frame frame_of(CellIndex leaf) const {
    const Cell cell = cells(leaf);
    const double unit = grid_unit(cube.edge);
    Frame frame;
    for (int d = 0; d < 3; ++d) {  // Knuth's sum of two numbers, of which one is a product
      const double low = cube.low[d], n = double(cell.centre[d]), centre = std::fma(unit, n, low),
                   added = centre - low;
      frame.centre[d] = centre;
      frame.rest[d] = (low - (centre - added)) + std::fma(unit, n, -added);
    }
    frame.edge = unit * cell.edge();
    frame.per_edge = 1 / frame.edge;
    return frame;
  }

  /// Body `to` in tree order.
  KOKKOS_FORCEINLINE_FUNCTION void place(Frame const& frame, BodyIndex to) const {
    const std::int64_t from = permutation(to);
    double x[3];
    for (int d = 0; d < 3; ++d)
      x[d] = (double(positions(from, d)) - frame.centre[d] - frame.rest[d]) * frame.per_edge;
    if constexpr (std::is_same_v<Precision, double>)
      if (low.extent(0) > 0) {
        double rest[3];
        for (int d = 0; d < 3; ++d) rest[d] = left_out(frame, d, double(positions(from, d)), x[d]);
        set(low(to), rest[0], rest[1], rest[2]);
        low(to).q = mark(from);
      }
    if constexpr (two_part_v<Precision>) {
      const TwoFloats parts[3] = {in_two_parts(x[0]), in_two_parts(x[1]), in_two_parts(x[2])};
      set(bodies(to), parts[0].high, parts[1].high, parts[2].high);
      set(low(to), parts[0].low, parts[1].low, parts[2].low);
      low(to).q = mark(from);
      if (lowest.extent(0) > 0) {
        double rest[3];
        for (int d = 0; d < 3; ++d)
          rest[d] = left_out(parts[d], x[d]) + left_out(frame, d, double(positions(from, d)), x[d]);
        set(lowest(to), float(rest[0]), float(rest[1]), float(rest[2]));
      }
    } else {
      set(bodies(to), Real(x[0]), Real(x[1]), Real(x[2]));
    }
  }

 private:
  /// A number made of the position's bits: where it differs bodies are at two places, though all parts of their
  /// coordinates are the same (tolerance/rounded_pairs.hpp); where it does not they are at one, but for one of 2^24.
  KOKKOS_FORCEINLINE_FUNCTION float mark(std::int64_t from) const {
    std::uint64_t hash = 0;
    for (int d = 0; d < 3; ++d) {
      const double x = double(positions(from, d)) + 0.0;  // -0 is 0
      std::uint64_t bits;
      std::memcpy(&bits, &x, sizeof x);
      hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 29;
    }
    return float(hash >> 40);
  }
  /// What x, in edges, leaves out of a coordinate of `position`: (position - centre - rest) / edge - x, good to 2^-53
  /// of itself. The first difference is that of two sums (Knuth), an edge has few bits.
  KOKKOS_FORCEINLINE_FUNCTION static double left_out(Frame const& frame, int d, double position,
                                                     double x) {
    const double from_centre = position - frame.centre[d], back = from_centre - position,
                 lost = (position - (from_centre - back)) - (frame.centre[d] + back);
    return (std::fma(-x, frame.edge, from_centre) + (lost - frame.rest[d])) * frame.per_edge;
  }
  /// What two floats leave out of x, which both are made of: exactly. (As x - high - low it would be 0 for g++ 12, see
  /// in_two_parts.)
  KOKKOS_FORCEINLINE_FUNCTION static double left_out(TwoFloats const& parts, double x) {
    const TwoFloats rest = in_two_parts(x - double(parts.high));
    return double(rest.high - parts.low) + double(rest.low);
  }
  KOKKOS_FUNCTION static void set(Body<Real>& body, Real x, Real y, Real z) {
    body.x = x;
    body.y = y;
    body.z = z;
  }
};

/// The same on a CPU: a leaf a thread, and its radius while its bodies pass, if there are `radii`.
template <class Space, class Positions, class Precision>
struct PlaceLeaves : PlaceBodies<Space, Positions, Precision> {
  using Base = PlaceBodies<Space, Positions, Precision>;
  using Radius = TightRadius<Space, typename Base::Real>;
  Array<CellIndex, Space> leaves;
  Array<float, Space> radii;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const CellIndex leaf = leaves(i);
    const BodyIndex begin = this->cells(leaf).body_begin,
                    end = begin + this->cells(leaf).body_count;
    const auto frame = this->frame_of(leaf);
    typename Base::Real largest = 0;
    for (BodyIndex to = begin; to < end; ++to) {
      prefetch_position(std::int64_t(to) + bodies_ahead);
      this->place(frame, to);
      auto const& body = this->bodies(to);
      const auto square = Radius::square(body.x, body.y, body.z);
      if (square > largest) largest = square;
    }
    if (radii.extent(0) > 0) radii(leaf) = Radius{}.of_leaf(largest);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void prefetch_position(std::int64_t i) const {
    if (i < std::int64_t(this->permutation.extent(0)))
      prefetch_row(this->positions, this->permutation(i));
  }
};

/// Bodies in tree order, and the radii of all cells if there is room for them (else `radii` is empty).
template <class Precision, class Space, class Positions>
void place_bodies(Space const& space, Octree<Space> const& tree, Cube const& cube,
                  Positions const& positions, Array<BodyIndex, Space> permutation,
                  Array<Body<real_t<Precision>>, Space> bodies,
                  Array<Body<real_t<Precision>>, Space> low,
                  Array<Body<real_t<Precision>>, Space> lowest, Array<float, Space> radii,
                  int tile_team, int gather_team) {
  using Real = real_t<Precision>;
  using Radius = TightRadius<Space, Real>;
  const PlaceBodies<Space, Positions, Precision> place{positions,   cube,   tree.cells, tree.tiles,
                                                       permutation, bodies, low,        lowest};
  if constexpr (is_host_space_v<Space>) {
    for_uneven("fmm::bodies", space, std::int64_t(tree.leaves.extent(0)), 16,
               PlaceLeaves<Space, Positions, Precision>{place, tree.leaves, radii});
    if (radii.extent(0) > 0)
      measure_parents(space, "fmm::tree::radii", tree, Radius{bodies}, radii);
  } else {
    for_teams("fmm::bodies", TeamPolicy<Space>(space, int(tree.tiles.extent(0)), tile_team), place);
    if (radii.extent(0) > 0)
      measure_cells(space, "fmm::tree::radii", tree, Radius{bodies}, radii, gather_team);
  }
}

}  // namespace fmm::tree
