// SPDX-License-Identifier: BSD-3-Clause
// The near field of a tree as a problem of P2P (problem.hpp): targets of a leaf, sources in the cells of the
// leaf's row of a list. Chunks are filled from consecutive source cells, so that small leaves do not leave
// them empty.
//
// The unit is the edge of the targets' leaf, the origin its centre. The leaf itself is implied in its row,
// and skipped in the list: its bodies are the own sources, so that a body is itself by its number in the
// leaf. Of a row in several segments the first one has the leaf. Where targets and sources are two sets no
// leaf is implied, and no body is itself.
#pragma once

#include "../../cells/geometry.hpp"
#include "../../cells/sets.hpp"
#include "../mapping/split_rows.hpp"
#include "close_sources.hpp"
#include "tile_sums.hpp"

namespace fmm::kernels {

/// The edges of the leaves on each level, and the units of potential and field there.
template <class Real>
struct LeafUnits {
  struct Level {
    double edge;
    Real potential, field;
  };
  Level of[max_tree_depth + 1];

  template <class Kernel>
  static LeafUnits make(Kernel const& kernel_of_cube) {
    LeafUnits units;
    for (int level = 0; level <= max_tree_depth; ++level) {
      const double edge = edge_of_level<double>(level);
      const double unit = kernel_of_cube.potential_unit(edge);
      units.of[level] = {edge, Real(unit), Real(unit / edge)};
    }
    return units;
  }
};

/// Near field of a tree: targets of a leaf, sources in the cells of its list. The unit is the leaf's edge. In mixed
/// precision sources are close within `margin` edges of the leaf, of theirs or the targets'.
template <class Space, class Kernel, class Precision, P2PShape Shape, class Out,
          class Strengths = Charges<>, class Cells = Array<Cell, Space>,
          class Bodies = Array<Body<real_t<Precision>>, Space>>
struct ListedSources {
  using precision = Precision;
  using Real = real_t<Precision>;
  using Sum = sum_t<Precision>;
  using kernel = Kernel;
  using strengths = Strengths;
  using outputs = Out;
  using V = Lanes<Space, Real>;
  static constexpr int W = lane_count_v<V>, records = Out::records;
  static constexpr P2PShape shape = Shape;
  static constexpr bool two_part = two_part_v<Precision>, one_set = is_one_set_v<Cells>;
  static constexpr bool leaves_tiles = leaves_close_v<Precision>,
                        sees_close = two_part || leaves_tiles;
  static_assert(is_one_set_v<Bodies> == one_set);
  using MainChunk = Chunk<V, shape.chunk, false, Strengths::numbers>;
  using Memory = WalkMemory<Real>;
  struct Frame {
    CellIndex cell;
    Cell leaf;
    int first, count;  ///< targets of the tile, counted from the leaf's first body
    int own;           ///< sources in the leaf, which go with the row's first segment; of one set
    Offset list_begin, list_end;
    Kernel pair;
    Real potential_unit, field_unit;
    Sums<Sum>* sums;  ///< of the tile's first target
  };
  struct Cursor {
    int entry;  ///< of the leaf's row, the first one that is not among the runs yet
    int run, run_count;
    BodyIndex body;
  };
  static constexpr bool long_sums = two_part;  // mixed precision loses no digits of those either
  /// Groups of threads that load a run each at a time: one run is too short for all threads, and these would
  /// wait for its bodies alone.
  static constexpr int run_groups = shape.team == 1 ? 1 : 8, run_team = shape.team / run_groups;
  static_assert(shape.team % run_groups == 0);
  static constexpr int runs_at_a_time = shape.team, runs = runs_at_a_time + run_groups;
  /// Whether a thread notes the close bodies of a run after it has loaded its share of these.
  static constexpr bool notes_later = two_part && W == 1 && shape.team > 1;
  using CloseBits = std::conditional_t<notes_later, std::uint64_t, std::uint32_t>;
  static_assert(!notes_later || shape.chunk / run_team <= 64);
  static constexpr int close_room =
      two_part ? shape.chunk + (is_host_space_v<Space> ? shape.chunk : 128) : 0;

  Cells cells;
  Array<Tile, Space> tiles;
  Csr<Space> list;
  Bodies bodies, low;  ///< low parts in mixed precision
  Array<Sums<Sum>, Space> sums;
  Kernel kernel_of_cube;
  SplitRows<Space, Sum> rows = {};
  Real margin = Real(largest_margin);
  bool short_sums = false;         ///< MixedSums
  Array<Real, Space> others = {};  ///< SourceStrengths::others of the sources
  /// Of teams: not 0 if a launch in one part leaves the tile to that in two. Empty: that has all tiles.
  Array<int, Space> left = {};
  LeafUnits<Real> units = LeafUnits<Real>::make(kernel_of_cube);

  KOKKOS_FUNCTION Frame frame(int index) const {
    const RowSegment segment = rows.of_team(index, tiles, list);
    const Cell leaf = targets_of(cells)(segment.tile.cell);
    const auto unit = units.of[leaf.level];
    return {segment.tile.cell,
            leaf,
            segment.tile.first - leaf.body_begin,
            segment.tile.count,
            !one_set || rows.is_further(index) ? 0 : leaf.body_count,
            segment.begin,
            segment.end,
            kernel_of_cube.rescaled(unit.edge),
            unit.potential,
            unit.field,
            rows.template sums_of_team<records>(index, segment, sums)};
  }
  // of `left`
  KOKKOS_FUNCTION bool takes(int index) const requires may_leave_tiles<Space, Precision> {
    return left.extent(0) == 0 || left(index) != 0;
  }
  KOKKOS_FUNCTION void leave(int index, bool is_left) const { left(index) = is_left; }
  KOKKOS_FUNCTION Real close2(Frame const&) const { return margin * margin; }
  template <bool TwoPart>
  KOKKOS_FUNCTION void target(Frame const& f, int i, Place<Real, TwoPart>& place) const {
    const BodyIndex index = f.leaf.body_begin + f.first + i;
    const Body<Real> b = targets_of(bodies)(index);
    place.x[0] = b.x;
    place.x[1] = b.y;
    place.x[2] = b.z;
    if constexpr (TwoPart) {
      const Body<Real> l = targets_of(low)(index);
      place.low[0] = l.x;
      place.low[1] = l.y;
      place.low[2] = l.z;
    }
  }
  KOKKOS_FUNCTION Cursor begin(Frame const&) const { return {0, 0, 0, 0}; }
  KOKKOS_FUNCTION int load(TeamMember<Space> const& team, Frame const& f, Cursor& at,
                           Memory const& memory, MainChunk chunk) const {
    const int capacity = at_once();
    SourceRun<Real>* const run = memory.run;
    int filled = 0;
    while (filled < capacity) {
      if (at.run == at.run_count) {
        if (f.list_begin + at.entry == f.list_end) break;
        read_runs(team, f, at, run);
      }
      const int room = capacity - filled, group = team.team_rank() / run_team;
      int before = 0, all = 0;  // bodies of the runs before this group's, and of all groups' runs
      FMM_UNROLL
      for (int g = 0; g < run_groups; ++g) {
        const int left = run[at.run + g].count - (g == 0 ? at.body : 0);
        before += g < group ? left : 0;
        all += left;
      }
      const SourceRun<Real> r = run[at.run + group];
      const int first = group == 0 ? at.body : 0, left = r.count - first;
      const int take = left < room - before ? left : room - before;
      const V ratio(r.ratio), shift[3] = {V(r.shift[0]), V(r.shift[1]), V(r.shift[2])};
      // which are close is noted afterwards: side effects would keep the loads of several bodies apart
      [[maybe_unused]] CloseBits close_bits = 0;
      [[maybe_unused]] bool some_in_reach = false;
      const int first_of_thread = team.team_rank() % run_team * W;
      for (int j = first_of_thread, bit = 0; j < take; j += run_team * W, bit += W) {
        const SourcePack<V> b = load_bodies<V>(&sources_of(bodies)(r.begin + first + j), take - j);
        SourcePack<V, Strengths::numbers> s{b.x * ratio + shift[0], b.y * ratio + shift[1],
                                            b.z * ratio + shift[2], b.q};
        load_others(source_strengths(), r.begin + first + j, take - j, per_edge(f), s);
        if constexpr (two_part)
          if (W == 1 || r.reach > 0) {  // groups of a GPU's threads have runs of either kind
            CloseBits close = take_close(r.reach, s);
            if (take - j < W) close &= (CloseBits(1) << (take - j)) - 1;
            if constexpr (notes_later)
              close_bits |= close << bit;
            else
              note(memory, f, at, group, r.begin + first + j, 1, close);
          }
        if constexpr (leaves_tiles) some_in_reach |= is_in_reach(r, s.x, s.y, s.z);
        chunk.high.store(filled + before + j, s);
      }
      if constexpr (leaves_tiles)
        if (some_in_reach &&
            any_closer(f, r, r.begin + first + first_of_thread, r.begin + first + take))
          Kokkos::atomic_add(memory.left, 1);
      if constexpr (notes_later)
        note(memory, f, at, group, r.begin + first + first_of_thread, run_team, close_bits);
      if (all <= room) {
        filled += all;
        at.run = at.run + run_groups < at.run_count ? at.run + run_groups : at.run_count;
        at.body = 0;
      } else {
        filled = capacity;
        at.body += room;
        while (at.body >= run[at.run].count) at.body -= run[at.run++].count;
      }
    }
    return filled;
  }
  KOKKOS_FUNCTION int own_count(Frame const& f) const { return f.own; }
  /// Where the leaf's bodies are not among the sources, no source has this number.
  KOKKOS_FUNCTION int own_index(Frame const& f, int i) const {
    return f.own > 0 ? f.first + i : -1;
  }
  template <class OwnChunk>
  KOKKOS_FUNCTION int load_own(TeamMember<Space> const& team, Frame const& f, Memory const& memory,
                               int noted, int begin, OwnChunk chunk) const {
    constexpr int capacity = OwnChunk::capacity;
    const int own = f.own - begin, all = own + noted;
    const int take_own = own < capacity ? own : capacity, take = all < capacity ? all : capacity;
    for (int j = team.team_rank() * W; j < take_own; j += team.team_size() * W) {
      const BodyIndex index = f.leaf.body_begin + begin + j;
      const SourcePack<V> b = load_bodies<V>(&sources_of(bodies)(index), take_own - j);
      SourcePack<V, Strengths::numbers> s{b.x, b.y, b.z, b.q};
      load_others(source_strengths(), index, take_own - j, per_edge(f), s);
      chunk.high.store(j, s);
      if constexpr (two_part)
        chunk.low.store(j, load_bodies<V>(&sources_of(low)(index), take_own - j));
    }
    if constexpr (two_part)
      for (int i = team.team_rank(); i < noted; i += team.team_size()) {
        const int j = own + place_among_close<shape.team>(memory.close, noted, i);
        if (j >= 0 && j < take) store_close(f, memory.close[i], chunk, j);
      }
    return take;
  }
  /// The cells of the next entries, one a thread.
  KOKKOS_FUNCTION void read_runs(TeamMember<Space> const& team, Frame const& f, Cursor& at,
                                 SourceRun<Real>* run) const {
    const Offset left = f.list_end - f.list_begin - at.entry;
    at.run = 0;
    at.run_count = int(left < runs_at_a_time ? left : runs_at_a_time);
    team.team_barrier();
    for (int i = team.team_rank(); i < at.run_count; i += team.team_size()) {
      const CellIndex index = list.entries(f.list_begin + at.entry + i);
      SourceRun<Real> r = run_of(f, index);
      if constexpr (one_set)
        if (index == f.cell) r.count = 0;
      run[i] = r;
    }
    for (int i = team.team_rank(); i < run_groups; i += team.team_size())
      run[at.run_count + i].count = 0;  // for groups without a run
    at.entry += at.run_count;
    team.team_barrier();
  }
  KOKKOS_FUNCTION void store(Frame const& f, int i, int record, Sums<Sum> const& value) const {
    Sums<Sum>& s = f.sums[i * records + record];
    Sums<Sum> old = s;
    old.potential += value.potential;
    old.x += value.x;
    old.y += value.y;
    old.z += value.z;
    s = old;
  }

 private:
  /// Sources of a chunk at most; on a GPU a constant.
  KOKKOS_FORCEINLINE_FUNCTION int at_once() const {
    if constexpr (two_part && is_host_space_v<Space>)
      if (short_sums) return sources_of_short_sums;
    return MainChunk::capacity;
  }
  KOKKOS_FORCEINLINE_FUNCTION SourceStrengths<Space, Real, Strengths> source_strengths() const {
    return {sources_of(bodies), others};
  }
  KOKKOS_FORCEINLINE_FUNCTION static Real per_edge(Frame const& f) {
    return Strengths::has_dipoles ? edges_of_level<Real>(f.leaf.level) : Real(1);
  }
  KOKKOS_FORCEINLINE_FUNCTION SourceRun<Real> run_of(Frame const& f, CellIndex index) const {
    const Cell source = sources_of(cells)(index);
    SourceRun<Real> r{
        source.body_begin, source.body_count, edge_in<Real>(f.leaf, source), {}, Real(0)};
    Real gap = 0;  // between the source's cube and the middle of the targets' leaf
    for (int d = 0; d < 3; ++d) {
      r.shift[d] = centre_in<Real>(f.leaf, source, d);
      const Real along = std::fabs(r.shift[d]) - Real(0.5) * r.ratio;
      gap = along > gap ? along : gap;
    }
    if constexpr (sees_close) {
      const Real reach = Real(0.5) + margin * (r.ratio > Real(1) ? r.ratio : Real(1));
      if (gap < reach) r.reach = reach;
    }
    return r;
  }
  KOKKOS_FORCEINLINE_FUNCTION static bool is_in_reach(SourceRun<Real> const& r, Real x, Real y,
                                                      Real z) {
    return (std::fabs(x) < r.reach) & (std::fabs(y) < r.reach) & (std::fabs(z) < r.reach);
  }
  /// Whether one of a run's bodies from `body` on, each run_team-th, is close to one of the tile's targets.
  KOKKOS_FORCEINLINE_FUNCTION bool any_closer(Frame const& f, SourceRun<Real> const& r,
                                              BodyIndex body, BodyIndex end) const {
    const Real close = r.reach - Real(0.5), start = softening2<Real>(f.pair);
    for (; body < end; body += run_team) {
      const Body<Real> b = sources_of(bodies)(body);
      const Real x = b.x * r.ratio + r.shift[0], y = b.y * r.ratio + r.shift[1],
                 z = b.z * r.ratio + r.shift[2];
      if (!is_in_reach(r, x, y, z)) continue;
      FMM_ROLLED
      for (int i = 0; i < f.count; ++i) {
        Place<Real, false> at;
        target(f, i, at);
        const Real dx = at.x[0] - x, dy = at.x[1] - y, dz = at.x[2] - z;
        if (dz * dz + (dy * dy + (dx * dx + start)) < close * close) return true;
      }
    }
    return false;
  }
  /// Bodies of the group's run: bit k for `body` + k step.
  KOKKOS_FORCEINLINE_FUNCTION void note(Memory const& memory, Frame const& f, Cursor const& at,
                                        int group, BodyIndex body, int step, CloseBits bits) const {
    for (; bits != 0; bits &= bits - 1)
      memory.close[next_close_place<shape.team>(memory)] = {
          body + step * lowest_bit(bits),
          list.entries(f.list_begin + at.entry - at.run_count + at.run + group)};
  }
  /// A noted source in two parts.
  template <class OwnChunk>
  KOKKOS_FORCEINLINE_FUNCTION void store_close(Frame const& f, CloseSource const& source,
                                               OwnChunk chunk, int to) const {
    store_in_two_parts(run_of(f, source.cell), sources_of(bodies)(source.body),
                       sources_of(low)(source.body), chunk, to);
    for (int k = 1; k < Strengths::numbers; ++k)
      chunk.high.store_strength(to, k, source_strengths().number_in(source.body, k, per_edge(f)));
  }
};

}  // namespace fmm::kernels
