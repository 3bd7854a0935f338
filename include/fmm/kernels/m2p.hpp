// SPDX-License-Identifier: BSD-3-Clause
// M2P: potential and gradient of the multipoles in a leaf's lists at the leaf's bodies (Yokota & Barba
// 2011). Cost: about 15 (p+1)^2 flops for each body and cell.
#pragma once

#include "expansion.hpp"
#include "tile.hpp"

namespace fmm::detail {

/// Walks the multipoles that a leaf is to evaluate: its own row of `near`, then the rows of `far` of the
/// leaf and all its ancestors. Every thread of a team walks alike.
template <class Space>
struct MultipoleWalk {
  Csr<Space> const& near;
  Csr<Space> const& far;
  Array<Cell, Space> const& cells;
  CellIndex cell;
  Offset entry, end;
  bool in_far = false;

  KOKKOS_INLINE_FUNCTION MultipoleWalk(Csr<Space> const& near_list, Csr<Space> const& far_list,
                                       Array<Cell, Space> const& all_cells, CellIndex leaf)
      : near(near_list), far(far_list), cells(all_cells), cell(leaf), entry(0), end(0) {
    if (near.offsets.extent(0) > 0) {
      entry = near.offsets(leaf);
      end = near.offsets(leaf + 1);
    }
  }

  /// The next source cell, or -1.
  KOKKOS_INLINE_FUNCTION CellIndex next() {
    while (entry == end) {
      if (far.offsets.extent(0) == 0 || cell < 0) return -1;
      if (in_far) cell = cells(cell).parent;
      if (cell < 0) return -1;
      in_far = true;
      entry = far.offsets(cell);
      end = far.offsets(cell + 1);
    }
    return in_far ? far.entries(entry++) : near.entries(entry++);
  }
};

template <class Space, class Expansion, class Real, class Want>
struct M2P {
  using V = Lanes<Space, Real>;
  static constexpr int W = lane_count_v<V>;
  static constexpr int size = Expansion::size;
  static constexpr int chunk = Tuning<Space, Real>::m2p_chunk;

  /// A staged source: coefficients, then the offset of the tile's leaf, both edges' ratio, 1 / edge.
  static constexpr int stride = size + 5;
  static constexpr int scratch_level = Tuning<Space, Real>::scratch_level;
  static constexpr std::size_t scratch_bytes =
      chunk * (stride * sizeof(Real) + sizeof(CellIndex)) + 2 * scratch_alignment;

  Array<Cell, Space> cells;
  Array<Tile, Space> tiles;
  Csr<Space> near, far;
  Array<Body<Real>, Space> bodies;
  Array<Real, Space> multipoles;
  Array<Sums<Real>, Space> sums;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const Tile tile = tiles(team.league_rank());
    const Cell leaf = cells(tile.cell);
    const int rank = team.team_rank(), threads = team.team_size();
    Real* const staged = scratch_array<Real>(team, scratch_level, chunk * stride);
    CellIndex* const source = scratch_array<CellIndex>(team, scratch_level, chunk);

    constexpr int row = Tuning<Space, Real>::tile_team * W;
    constexpr int held = (Tuning<Space, Real>::tile + row - 1) / row;  // packs that a thread sums
    PotentialGradient<V> sum[held];
    FMM_UNROLL
    for (int b = 0; b < held; ++b) sum[b] = {V(Real(0)), V(Real(0)), V(Real(0)), V(Real(0))};

    MultipoleWalk<Space> walk(near, far, cells, tile.cell);
    for (CellIndex next = walk.next(); next >= 0;) {
      int count = 0;
      team.team_barrier();
      while (next >= 0 && count < chunk) {
        if (rank == 0) source[count] = next;
        ++count;
        next = walk.next();
      }
      team.team_barrier();
      for (int i = rank; i < count * stride; i += threads) {
        const int s = i / stride, k = i - s * stride;
        staged[i] = stage(leaf, source[s], k);
      }
      team.team_barrier();
      FMM_UNROLL
      for (int b = 0; b < held; ++b) {
        const int first = (b * threads + rank) * W;
        if (first >= tile.count) break;
        const int lanes = tile.count - first < W ? tile.count - first : W;
        const LaneBodies<V> body(&bodies(tile.first + first), lanes);
        for (int s = 0; s < count; ++s) {
          Real const* const M = staged + s * stride;
          Real const* const g = M + size;
          const V ratio(g[3]);
          const auto value = Expansion::template m2p<Want::potential, Want::field>(
              body.x * ratio + V(g[0]), body.y * ratio + V(g[1]), body.z * ratio + V(g[2]), M);
          const V unit(g[4]), unit2(g[4] * g[4]);
          sum[b].potential += unit * value.potential;
          sum[b].x += unit2 * value.x;
          sum[b].y += unit2 * value.y;
          sum[b].z += unit2 * value.z;
        }
      }
    }
    FMM_UNROLL
    for (int b = 0; b < held; ++b) {
      const int first = (b * threads + rank) * W;
      if (first >= tile.count) break;
      const int lanes = tile.count - first < W ? tile.count - first : W;
      add_lanes<Want>(&sums(tile.first + first), lanes, sum[b]);
    }
  }

 private:
  /// Number k of a staged source; lengths in edges of the source.
  KOKKOS_FUNCTION Real stage(Cell const& leaf, CellIndex source, int k) const {
    if (k < size)
      return Expansion::stage_multipole(
          k, multipoles(std::int64_t(source) * row_length(Expansion::size) + k));
    const Cell& cell = cells(source);
    const Real per_edge = Real(1) / Real(cell.edge());
    k -= size;
    if (k < 3) return Real(leaf.centre[k] - cell.centre[k]) * per_edge;
    if (k == 3) return Real(leaf.edge()) * per_edge;
    return Real(std::int32_t(1) << cell.level);
  }
};

/// Adds to `sums` the multipoles of each leaf's row of `near`, and those of the rows of `far` of the leaf
/// and of its ancestors. A list with no offsets is left out.
template <class Expansion, class Want, class Space, class Real>
void m2p(Space const& space, Array<Cell, Space> cells, Array<Tile, Space> tiles, Csr<Space> near,
         Csr<Space> far, Array<Body<Real>, Space> bodies, Array<Real, Space> multipoles,
         Array<Sums<Real>, Space> sums) {
  using Functor = M2P<Space, basis_t<Expansion>, Real, Want>;
  TeamPolicy<Space> policy(space, int(tiles.extent(0)), Tuning<Space, Real>::tile_team);
  policy.set_scratch_size(Functor::scratch_level, Kokkos::PerTeam(Functor::scratch_bytes));
  Kokkos::parallel_for("fmm::m2p", policy,
                       Functor{cells, tiles, near, far, bodies, multipoles, sums});
}

}  // namespace fmm::detail
