// SPDX-License-Identifier: BSD-3-Clause
// P2P: the pair kernel summed directly between bodies (Yokota & Barba listing 9.1). A team takes a tile
// of targets of one leaf and walks the sources in chunks through scratch memory; targets are in
// registers while a chunk passes, sources come W at a time in the lanes of a vector. Chunks are filled
// from consecutive source cells, so that small leaves do not leave them empty.
//
// Coordinates in a chunk are counted from the targets' origin in the targets' unit: in float, differences
// are good to 2^-24 of that unit.
//
// Cost: 20 flops a pair for potential and force, 19 for the force, as the chapter counts.
#pragma once

#include "pair_kernel.hpp"
#include "tile.hpp"

namespace fmm::detail {

/// Chunk of sources in scratch memory: blocks of W bodies, [x * W][y * W][z * W][q * W].
template <class V>
struct SourceChunk {
  using Real = lane_scalar_t<V>;
  static constexpr int W = lane_count_v<V>;
  Real* data;

  KOKKOS_FORCEINLINE_FUNCTION void store(int j, Real x, Real y, Real z, Real q) const {
    Real* const at = data + (j / W) * (4 * W) + j % W;
    at[0] = x;
    at[W] = y;
    at[2 * W] = z;
    at[3 * W] = q;
  }
  KOKKOS_FORCEINLINE_FUNCTION V load(int block, int coordinate) const {
    return LaneTraits<V>::load(data + (block * 4 + coordinate) * W);
  }
};

/// Sums of one target, a lane for each residue of the sources.
template <class V>
struct TargetSums {
  V potential, x, y, z;
};

/// Adds `count` staged sources to `Targets` targets. With Own, source number self[t] of the chunk is
/// target t itself and is left out.
template <class Want, bool Own, int Targets, class Kernel, class V, class Real>
KOKKOS_FORCEINLINE_FUNCTION void accumulate(Kernel const& kernel, SourceChunk<V> chunk, int count,
                                            int const (&self)[Targets], Real const (&x)[Targets][3],
                                            TargetSums<V> (&sum)[Targets]) {
  constexpr int W = lane_count_v<V>;
  const int blocks = (count + W - 1) / W;
  FMM_UNROLL(8)
  for (int block = 0; block < blocks; ++block) {
    const V sx = chunk.load(block, 0), sy = chunk.load(block, 1), sz = chunk.load(block, 2);
    const V sq = chunk.load(block, 3);
    FMM_UNROLL(Targets)
    for (int t = 0; t < Targets; ++t) {
      const V dx = V(x[t][0]) - sx, dy = V(x[t][1]) - sy, dz = V(x[t][2]) - sz;
      const auto term = pair_term(kernel, dx * dx + dy * dy + dz * dz);
      V q = sq;
      if constexpr (Own)
        q = select(LaneTraits<V>::iota() == V(Real(self[t] - block * W)), V(Real(0)), q);
      if constexpr (Want::potential) sum[t].potential += q * term.potential;
      if constexpr (Want::field) {
        const V w = q * term.weight;
        sum[t].x += w * dx;
        sum[t].y += w * dy;
        sum[t].z += w * dz;
      }
    }
  }
}

/// The tile kernel. `Problem` says which targets a tile has and where its sources are:
///
///   using real;  using kernel;  static constexpr P2PShape shape;
///   struct Frame                        what the tile's coordinates are counted from, and
///     int first, count;                   its targets; the targets' kernel; the units of its sums
///     kernel pair; Real potential_unit, field_unit;
///   Frame frame(tile index);
///   void target(frame, i, Real (&x)[3]);           coordinates of target i
///   struct Cursor;  Cursor begin(frame);           a walk through all sources but the tile's own leaf
///   int stage(team, frame, cursor, chunk, capacity)    fills the chunk; 0 at the end
///   int own_count(frame);                          sources among which the targets themselves are,
///   int stage_own(team, frame, begin, chunk, capacity) which are staged apart;
///   int own_index(frame, i);                       and the number of target i among them
///   void store(frame, i, sums of target i)
template <class Space, class Want, class Problem>
struct P2P {
  using Real = typename Problem::real;
  using V = Lanes<Space, Real>;
  static constexpr P2PShape shape = Problem::shape;
  static constexpr int W = lane_count_v<V>;
  static constexpr int chunk_size = shape.chunk;
  static constexpr int targets = shape.targets;
  static constexpr int scratch_level = Tuning<Space, Real>::scratch_level;
  /// Blocks of targets that a thread works through for every chunk.
  static constexpr int blocks = shape.tile / (shape.team * targets);
  static constexpr std::size_t scratch_bytes = 4 * chunk_size * sizeof(Real) + scratch_alignment;
  Problem problem;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const auto frame = problem.frame(team.league_rank());
    const SourceChunk<V> chunk{scratch_array<Real>(team, scratch_level, 4 * chunk_size)};
    Real x[blocks][targets][3], total[blocks][targets][4];
    FMM_UNROLL(blocks)
    for (int b = 0; b < blocks; ++b) FMM_UNROLL(targets)
    for (int t = 0; t < targets; ++t) {
      const int i = target_of(team, b, t);
      problem.target(frame, i < frame.count ? i : frame.count - 1, x[b][t]);
      for (int c = 0; c < 4; ++c) total[b][t][c] = Real(0);
    }
    for (std::int64_t begin = 0; begin < problem.own_count(frame); begin += chunk_size) {
      team.team_barrier();
      const int count = problem.stage_own(team, frame, int(begin), chunk, chunk_size);
      pad(team, chunk, count);
      team.team_barrier();
      add<true>(team, frame, chunk, count, int(begin), x, total);
    }
    auto cursor = problem.begin(frame);
    while (true) {
      team.team_barrier();
      const int count = problem.stage(team, frame, cursor, chunk, chunk_size);
      if (count == 0) break;
      pad(team, chunk, count);
      team.team_barrier();
      add<false>(team, frame, chunk, count, 0, x, total);
    }
    FMM_UNROLL(blocks)
    for (int b = 0; b < blocks; ++b) FMM_UNROLL(targets)
    for (int t = 0; t < targets; ++t) {
      const int i = target_of(team, b, t);
      if (i < frame.count)
        problem.store(
            frame, i,
            Sums<Real>{total[b][t][0] * frame.potential_unit, total[b][t][1] * frame.field_unit,
                       total[b][t][2] * frame.field_unit, total[b][t][3] * frame.field_unit});
    }
  }

 private:
  /// Neighbouring threads take neighbouring blocks of targets.
  KOKKOS_FORCEINLINE_FUNCTION static int target_of(TeamMember<Space> const& team, int b, int t) {
    return (b * team.team_size() + team.team_rank()) * targets + t;
  }

  /// Uncharged sources, far away, up to a full block.
  KOKKOS_FORCEINLINE_FUNCTION static void pad(TeamMember<Space> const& team, SourceChunk<V> chunk,
                                              int count) {
    if constexpr (W > 1)
      if (team.team_rank() == 0)
        for (int j = count; j % W != 0; ++j)
          chunk.store(j, Real(1e3), Real(1e3), Real(1e3), Real(0));
  }

  template <bool Own, class Frame>
  KOKKOS_FORCEINLINE_FUNCTION void add(TeamMember<Space> const& team, Frame const& frame,
                                       SourceChunk<V> chunk, int count, int begin,
                                       Real const (&x)[blocks][targets][3],
                                       Real (&total)[blocks][targets][4]) const {
    FMM_UNROLL(blocks)
    for (int b = 0; b < blocks; ++b) {
      if (target_of(team, b, 0) >= frame.count) break;
      TargetSums<V> sum[targets];
      FMM_UNROLL(targets)
      for (int t = 0; t < targets; ++t) sum[t] = {V(Real(0)), V(Real(0)), V(Real(0)), V(Real(0))};
      int self[targets] = {};
      if constexpr (Own) {
        FMM_UNROLL(targets)
        for (int t = 0; t < targets; ++t) {
          const int i = target_of(team, b, t);
          self[t] = problem.own_index(frame, i < frame.count ? i : frame.count - 1) - begin;
        }
      }
      accumulate<Want, Own>(frame.pair, chunk, count, self, x[b], sum);
      FMM_UNROLL(targets)
      for (int t = 0; t < targets; ++t) {
        total[b][t][0] += LaneTraits<V>::sum(sum[t].potential);
        total[b][t][1] += LaneTraits<V>::sum(sum[t].x);
        total[b][t][2] += LaneTraits<V>::sum(sum[t].y);
        total[b][t][3] += LaneTraits<V>::sum(sum[t].z);
      }
    }
  }
};

template <class Want, class Space, class Problem>
void launch_p2p(Space const& space, std::int64_t tiles, Problem const& problem) {
  using Functor = P2P<Space, Want, Problem>;
  if (tiles == 0) return;
  TeamPolicy<Space> policy(space, int(tiles), Functor::shape.team);
  policy.set_scratch_size(Functor::scratch_level, Kokkos::PerTeam(Functor::scratch_bytes));
  Kokkos::parallel_for("fmm::p2p", policy, Functor{problem});
}

/// Near field of a tree: targets of a leaf, sources in the cells of its list. The unit is the leaf's edge.
template <class Space, class Kernel, class Real_>
struct NearField {
  using real = Real_;
  using Real = Real_;
  using kernel = Kernel;
  using V = Lanes<Space, Real>;
  static constexpr P2PShape shape = Tuning<Space, Real>::near_field;
  struct Frame {
    CellIndex cell;
    Cell leaf;
    int first, count;  ///< targets of the tile, counted from the leaf's first body
    Kernel pair;
    Real potential_unit, field_unit;
  };
  struct Cursor {
    Offset entry, end;
    BodyIndex body;
  };

  Array<Cell, Space> cells;
  Array<Tile, Space> tiles;
  Csr<Space> list;
  Array<Body<Real>, Space> bodies;
  Array<Sums<Real>, Space> sums;
  Kernel kernel_of_cube;

  KOKKOS_FUNCTION Frame frame(int index) const {
    const Tile tile = tiles(index);
    const Cell leaf = cells(tile.cell);
    const double edge = 1.0 / double(std::int32_t(1) << leaf.level);
    const double unit = kernel_of_cube.potential_unit(edge);
    return {tile.cell,
            leaf,
            tile.first - leaf.body_begin,
            tile.count,
            kernel_of_cube.rescaled(edge),
            Real(unit),
            Real(unit / edge)};
  }
  KOKKOS_FUNCTION void target(Frame const& f, int i, Real (&x)[3]) const {
    const Body<Real> b = bodies(f.leaf.body_begin + f.first + i);
    x[0] = b.x;
    x[1] = b.y;
    x[2] = b.z;
  }
  KOKKOS_FUNCTION Cursor begin(Frame const& f) const {
    return {list.offsets(f.cell), list.offsets(f.cell + 1), 0};
  }
  KOKKOS_FUNCTION int stage(TeamMember<Space> const& team, Frame const& f, Cursor& at,
                            SourceChunk<V> chunk, int capacity) const {
    int filled = 0;
    const Real per_edge = Real(1) / Real(f.leaf.edge());
    while (at.entry < at.end && filled < capacity) {
      const CellIndex index = list.entries(at.entry);
      if (index == f.cell) {
        ++at.entry;
        continue;
      }
      const Cell source = cells(index);
      const int left = source.body_count - at.body, room = capacity - filled;
      const int take = left < room ? left : room;
      const Real ratio = Real(source.edge()) * per_edge;
      Real shift[3];
      for (int d = 0; d < 3; ++d) shift[d] = Real(source.centre[d] - f.leaf.centre[d]) * per_edge;
      for (int j = team.team_rank(); j < take; j += team.team_size()) {
        const Body<Real> b = bodies(source.body_begin + at.body + j);
        chunk.store(filled + j, b.x * ratio + shift[0], b.y * ratio + shift[1],
                    b.z * ratio + shift[2], b.q);
      }
      filled += take;
      at.body += take;
      if (at.body == source.body_count) {
        ++at.entry;
        at.body = 0;
      }
    }
    return filled;
  }
  KOKKOS_FUNCTION int own_count(Frame const& f) const { return f.leaf.body_count; }
  KOKKOS_FUNCTION int own_index(Frame const& f, int i) const { return f.first + i; }
  KOKKOS_FUNCTION int stage_own(TeamMember<Space> const& team, Frame const& f, int begin,
                                SourceChunk<V> chunk, int capacity) const {
    const int left = f.leaf.body_count - begin, take = left < capacity ? left : capacity;
    for (int j = team.team_rank(); j < take; j += team.team_size()) {
      const Body<Real> b = bodies(f.leaf.body_begin + begin + j);
      chunk.store(j, b.x, b.y, b.z, b.q);
    }
    return take;
  }
  KOKKOS_FUNCTION void store(Frame const& f, int i, Sums<Real> const& value) const {
    Sums<Real>& s = sums(f.leaf.body_begin + f.first + i);
    Sums<Real> old = s;
    old.potential += value.potential;
    old.x += value.x;
    old.y += value.y;
    old.z += value.z;
    s = old;
  }
};

/// Adds to `sums` the pairs of every leaf with the cells of its row of `list`; its own cell is implied and
/// skipped in the list.
template <class Want, class Space, class Kernel, class Real>
void p2p(Space const& space, Kernel const& kernel_of_cube, Array<Cell, Space> cells,
         Array<Tile, Space> tiles, Csr<Space> list, Array<Body<Real>, Space> bodies,
         Array<Sums<Real>, Space> sums) {
  launch_p2p<Want>(
      space, std::int64_t(tiles.extent(0)),
      NearField<Space, Kernel, Real>{cells, tiles, list, bodies, sums, kernel_of_cube});
}

/// All pairs of bodies, or of chosen targets with all bodies, from double coordinates. In float a tile's
/// coordinates are counted from its first target before they are rounded. `per_unit` is a power of two,
/// so that scaling is exact.
template <class Space, class Kernel, class Real_>
struct AllSources {
  using real = Real_;
  using Real = Real_;
  using kernel = Kernel;
  using V = Lanes<Space, Real>;
  static constexpr P2PShape shape = Tuning<Space, Real>::all_pairs;
  struct Frame {
    std::int64_t tile_begin;  ///< in `targets`, or else in `bodies`
    double origin[3];
    int count;
    Kernel pair;
    Real potential_unit, field_unit;
  };
  struct Cursor {
    BodyIndex body;
  };

  Array<Body<double>, Space> bodies;
  Array<Tile, Space> tiles;         ///< of all bodies, if `contiguous`
  Array<BodyIndex, Space> targets;  ///< the targets' bodies, if not
  Array<Sums<Real>, Space> sums;
  Kernel kernel_of_unit;
  double per_unit;
  bool contiguous;

  KOKKOS_FUNCTION BodyIndex body_of(Frame const& f, int i) const {
    return contiguous ? BodyIndex(f.tile_begin + i) : targets(f.tile_begin + i);
  }
  KOKKOS_FUNCTION Frame frame(int index) const {
    constexpr int tile = shape.tile;
    Frame f{std::int64_t(index) * tile, {}, tile, kernel_of_unit, Real(1), Real(1)};
    if (contiguous) {
      f.tile_begin = tiles(index).first;
      f.count = tiles(index).count;
    } else {
      const std::int64_t left = std::int64_t(targets.extent(0)) - f.tile_begin;
      if (left < tile) f.count = int(left);
    }
    if constexpr (std::is_same_v<Real, float>) {  // double takes differences as they are
      const Body<double> b = bodies(body_of(f, 0));
      f.origin[0] = b.x;
      f.origin[1] = b.y;
      f.origin[2] = b.z;
    }
    return f;
  }
  KOKKOS_FUNCTION void target(Frame const& f, int i, Real (&x)[3]) const {
    const Body<double> b = bodies(body_of(f, i));
    x[0] = Real((b.x - f.origin[0]) * per_unit);
    x[1] = Real((b.y - f.origin[1]) * per_unit);
    x[2] = Real((b.z - f.origin[2]) * per_unit);
  }
  KOKKOS_FUNCTION Cursor begin(Frame const&) const {
    return {contiguous ? BodyIndex(0) : BodyIndex(bodies.extent(0))};
  }
  KOKKOS_FUNCTION int stage(TeamMember<Space> const& team, Frame const& f, Cursor& at,
                            SourceChunk<V> chunk, int capacity) const {
    if (contiguous && at.body == f.tile_begin) at.body += f.count;
    std::int64_t end = std::int64_t(bodies.extent(0));
    if (contiguous && at.body < f.tile_begin) end = f.tile_begin;
    const int take = int(end - at.body < capacity ? end - at.body : capacity);
    copy(team, f, at.body, take, chunk);
    at.body += take;
    return take;
  }
  /// Scattered targets may be anywhere among the sources: all of these count as own.
  KOKKOS_FUNCTION int own_count(Frame const& f) const {
    return contiguous ? f.count : int(bodies.extent(0));
  }
  KOKKOS_FUNCTION int own_index(Frame const& f, int i) const {
    return contiguous ? i : int(body_of(f, i));
  }
  KOKKOS_FUNCTION int stage_own(TeamMember<Space> const& team, Frame const& f, int begin,
                                SourceChunk<V> chunk, int capacity) const {
    const int left = own_count(f) - begin, take = left < capacity ? left : capacity;
    copy(team, f, BodyIndex(contiguous ? f.tile_begin + begin : begin), take, chunk);
    return take;
  }
  KOKKOS_FUNCTION void store(Frame const& f, int i, Sums<Real> const& value) const {
    sums(f.tile_begin + i) = value;
  }

 private:
  KOKKOS_FUNCTION void copy(TeamMember<Space> const& team, Frame const& f, BodyIndex first,
                            int count, SourceChunk<V> chunk) const {
    for (int j = team.team_rank(); j < count; j += team.team_size()) {
      const Body<double> b = bodies(first + j);
      chunk.store(j, Real((b.x - f.origin[0]) * per_unit), Real((b.y - f.origin[1]) * per_unit),
                  Real((b.z - f.origin[2]) * per_unit), Real(b.q));
    }
  }
};

/// sums(i) of body i for all bodies, whose `tiles` are at most Tuning::all_pairs.tile long; sums in the
/// unit 1 / per_unit of length. Cost: N^2 pairs.
template <class Want, class Space, class Kernel, class Real>
void p2p_all(Space const& space, Kernel const& kernel_of_unit, double per_unit,
             Array<Body<double>, Space> bodies, Array<Tile, Space> tiles,
             Array<Sums<Real>, Space> sums) {
  launch_p2p<Want>(
      space, std::int64_t(tiles.extent(0)),
      AllSources<Space, Kernel, Real>{bodies, tiles, {}, sums, kernel_of_unit, per_unit, true});
}

/// sums(i) of body targets(i) over all bodies, in double. Cost: M N pairs.
template <class Want, class Space, class Kernel>
void p2p_chosen(Space const& space, Kernel const& kernel_of_unit, double per_unit,
                Array<Body<double>, Space> bodies, Array<BodyIndex, Space> targets,
                Array<Sums<double>, Space> sums) {
  constexpr int tile = Tuning<Space, double>::all_pairs.tile;
  launch_p2p<Want>(space, (std::int64_t(targets.extent(0)) + tile - 1) / tile,
                   AllSources<Space, Kernel, double>{
                       bodies, {}, targets, sums, kernel_of_unit, per_unit, false});
}

}  // namespace fmm::detail
