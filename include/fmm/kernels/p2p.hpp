// SPDX-License-Identifier: BSD-3-Clause
// P2P: the pair kernel summed directly between bodies (Yokota & Barba listing 9.1). A team takes a tile
// of targets of one leaf and walks the sources in chunks through scratch memory. Chunks are filled from
// consecutive source cells, so that small leaves do not leave them empty.
//
// A thread holds several targets in registers while a chunk passes, and sources come W at a time in the
// lanes of a vector. On a GPU, where W = 1, `split` threads share the same targets and take every
// split-th source each, so that a tile of any size keeps nearly all threads of the team busy.
//
// Coordinates in a chunk are counted from the targets' origin in the targets' unit: in float, differences
// are good to 2^-24 of that unit. In mixed precision they have a low part besides, which makes differences
// good to 2^-47. (Two parts for sources in near cells only, in a walk of their own, took longer on a GPU.)
//
// Cost: 20 flops a pair for potential and force, 19 for the force, as the chapter counts.
#pragma once

#include "../precision.hpp"
#include "pair_kernel.hpp"
#include "tile.hpp"

namespace fmm::detail {

/// W sources, one a lane.
template <class V>
struct Sources {
  V x, y, z, q;
};

/// Chunk of at most `Capacity` sources in scratch memory: bodies on a GPU; on a CPU all x, all y, all z, all q,
/// with room for W more behind each.
template <class V, int Capacity>
struct SourceChunk {
  using Real = lane_scalar_t<V>;
  static constexpr int W = lane_count_v<V>;
  static constexpr int row = Capacity + (W > 1 ? W : 0), size = 4 * row;  ///< numbers
  Real* data;

  KOKKOS_FORCEINLINE_FUNCTION void store(int j, Real x, Real y, Real z, Real q) const {
    if constexpr (W == 1) {  // one wide store
      reinterpret_cast<Body<Real>*>(data)[j] = {x, y, z, q};
    } else {
      data[j] = x;
      data[row + j] = y;
      data[2 * row + j] = z;
      data[3 * row + j] = q;
    }
  }
  /// W sources, j and those that follow it.
  KOKKOS_FORCEINLINE_FUNCTION void store(int j, Sources<V> const& s) const {
    if constexpr (W == 1) {
      store(j, s.x, s.y, s.z, s.q);
    } else {
      using T = LaneTraits<V>;
      T::store(s.x, data + j);
      T::store(s.y, data + row + j);
      T::store(s.z, data + 2 * row + j);
      T::store(s.q, data + 3 * row + j);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION Sources<V> load(int block) const {
    if constexpr (W == 1) {
      const Body<Real> b = reinterpret_cast<Body<Real> const*>(data)[block];
      return {b.x, b.y, b.z, b.q};
    } else {
      Real const* const at = data + block * W;
      using T = LaneTraits<V>;
      return {T::load(at), T::load(at + row), T::load(at + 2 * row), T::load(at + 3 * row)};
    }
  }
};

/// A chunk, and in mixed precision a second one for the low parts, where charges mean nothing.
template <class V, int Capacity>
struct TwoPartChunk {
  SourceChunk<V, Capacity> high, low;
};

/// W bodies, or `count` of them if these are fewer, one a lane.
template <class V, class Real>
KOKKOS_FORCEINLINE_FUNCTION Sources<V> load_bodies(Body<Real> const* from, int count) {
  if constexpr (lane_count_v<V> == 1) {
    const Body<Real> b = *from;
    return {b.x, b.y, b.z, b.q};
  } else {
    constexpr int W = lane_count_v<V>;
    Body<Real> rest[W] = {};
    if (count < W) {
      FMM_ROLLED
      for (int i = 0; i < count; ++i) rest[i] = from[i];
      from = rest;
    }
    V v[4];
    for (int k = 0; k < 4; ++k)
      v[k] = LaneTraits<V>::load(reinterpret_cast<Real const*>(from) + k * W);
    transpose_rows(v);
    return {v[0], v[1], v[2], v[3]};
  }
}

/// Coordinates in one part, or in two whose sum they are.
template <class Real, bool TwoPart>
struct Place {
  Real x[3];
};
template <class Real>
struct Place<Real, true> {
  Real x[3], low[3];
};

/// Sums of one target, a lane for each residue of the sources.
template <class V>
struct TargetSums {
  using Real = lane_scalar_t<V>;
  V potential = V(Real(0)), x = V(Real(0)), y = V(Real(0)), z = V(Real(0));

  template <class U>
  KOKKOS_FORCEINLINE_FUNCTION TargetSums& operator+=(TargetSums<U> const& b) {
    potential += b.potential;
    x += b.x;
    y += b.y;
    z += b.z;
    return *this;
  }
  KOKKOS_FORCEINLINE_FUNCTION TargetSums<Real> over_lanes() const {
    using T = LaneTraits<V>;
    return {T::sum(potential), T::sum(x), T::sum(y), T::sum(z)};
  }
  /// Of one lane: neither infinite nor NaN (nor so large that their sum is).
  KOKKOS_FORCEINLINE_FUNCTION bool finite() const {
    const V all = potential + x + y + z;
    return all - all == V(0);
  }
};

/// Bodies of one source cell, and the way from its coordinates to those of the targets' leaf.
template <class Real>
struct SourceRun {
  BodyIndex begin;
  int count;
  Real ratio, shift[3];
};

/// How a source may meet a target.
enum class Meeting {
  apart,       ///< not at one point, as a rule: if they do, the sums may be infinite or NaN
  coincident,  ///< perhaps at one point
  self         ///< and one source of the chunk is the target itself
};

/// Whether the sums of sources that are apart are those of 2 / sqrt(s2), twice the potential and eight times the
/// field.
template <Meeting Kind, class Kernel, class V>
inline constexpr bool sums_twice_rsqrt =
    Kind == Meeting::apart&& IsNewtonian<Kernel>&& has_twice_rsqrt<V>;

/// Adds blocks begin, begin + step, .. of `count` staged sources to `Targets` targets. Among Meeting::self
/// sources, number self[t] of the chunk is target t and is left out.
template <class Want, Meeting Kind, int Targets, class Kernel, class V, class Real, bool TwoPart,
          int Capacity, int Most>
KOKKOS_FORCEINLINE_FUNCTION void accumulate(Kernel const& kernel, TwoPartChunk<V, Capacity> chunk,
                                            int begin, int count, int step, int const (&self)[Most],
                                            Place<Real, TwoPart> const (&at)[Most],
                                            TargetSums<V> (&sum)[Most]) {
  constexpr int W = lane_count_v<V>;
  const int blocks = (count + W - 1) / W;
  const V start(Kind == Meeting::apart ? softening2<Real>(kernel) : Real(0));
  FMM_UNROLL_BY(Kind == Meeting::apart ? (8 + Targets - 1) / Targets : 1)
  for (int block = begin; block < blocks; block += step) {
    const Sources<V> source = chunk.high.load(block);
    [[maybe_unused]] Sources<V> low;
    if constexpr (TwoPart) low = chunk.low.load(block);
    FMM_UNROLL
    for (int t = 0; t < Targets; ++t) {
      V dx = V(at[t].x[0]) - source.x, dy = V(at[t].x[1]) - source.y, dz = V(at[t].x[2]) - source.z;
      if constexpr (TwoPart) {
        dx += V(at[t].low[0]) - low.x;
        dy += V(at[t].low[1]) - low.y;
        dz += V(at[t].low[2]) - low.z;
      }
      const V r2 = dz * dz + (dy * dy + (dx * dx + start));
      if constexpr (sums_twice_rsqrt<Kind, Kernel, V>) {
        const V u = twice_rsqrt(r2), potential = source.q * u;
        if constexpr (Want::potential) sum[t].potential += potential;
        if constexpr (Want::field) {
          const V w = potential * (u * u);
          sum[t].x += w * dx;
          sum[t].y += w * dy;
          sum[t].z += w * dz;
        }
        continue;
      }
      const auto term = pair_term<Kind == Meeting::apart>(kernel, r2);
      V q = source.q;
      if constexpr (Kind == Meeting::self)
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
///   using precision;  using kernel;  static constexpr P2PShape shape;
///   static constexpr bool long_sums;    whether a target has very many sources
///   static constexpr int runs;          SourceRuns that it wants in scratch memory
///   struct Frame                        what the tile's coordinates are counted from, and
///     int first, count;                   its targets; the targets' kernel; the units of its sums
///     kernel pair; Real potential_unit, field_unit;
///   Frame frame(tile index);
///   void target(frame, i, Place& place);           coordinates of target i
///   struct Cursor;  Cursor begin(frame);           a walk through all sources but the tile's own leaf
///   int stage(team, frame, cursor, run scratch, chunk, capacity)    fills the chunk; 0 at the end
///   int own_count(frame);                          sources among which the targets themselves are,
///   int stage_own(team, frame, begin, chunk, capacity) which are staged apart;
///   int own_index(frame, i);                       and the number of target i among them
///   void store(frame, i, sums of target i)
template <class Space, class Want, class Problem>
struct P2P {
  using Precision = typename Problem::precision;
  using Real = real_t<Precision>;
  using Total = std::conditional_t<Problem::long_sums, sum_t<Precision>, Real>;
  using V = Lanes<Space, Real>;
  static constexpr P2PShape shape = Problem::shape;
  static constexpr bool two_part = two_part_v<Precision>;
  static constexpr int W = lane_count_v<V>;
  static constexpr int chunk_size = shape.chunk, targets = shape.targets, split = shape.split;
  static constexpr int columns = shape.team / split;  ///< threads with different targets
  static constexpr int scratch_level = Tuning<Space, Real>::scratch_level;
  /// Blocks of targets that a thread works through for every chunk.
  static constexpr int blocks = shape.tile / (columns * targets);
  /// Sources, and afterwards the sums of the threads that share targets.
  using Chunk = TwoPartChunk<V, chunk_size>;
  static constexpr int chunk_numbers = SourceChunk<V, chunk_size>::size;
  static constexpr int source_bytes = (two_part ? 2 : 1) * chunk_numbers * int(sizeof(Real)),
                       totals = split > 1 ? shape.tile *split : 0,
                       total_bytes = totals * int(sizeof(Body<Total>));
  static constexpr int shared_bytes = source_bytes > total_bytes ? source_bytes : total_bytes;
  static constexpr std::size_t scratch_bytes =
      shared_bytes + Problem::runs * sizeof(SourceRun<Real>) + 2 * scratch_alignment;
  static_assert(chunk_size % (split * W) == 0 && shape.tile == blocks * columns * targets);
  static_assert(split == 1 || blocks == 1);

  /// Whether a thread adds to its totals source by source; else chunk by chunk, which rounds less.
  static constexpr bool direct = W == 1 && !Problem::long_sums;
  /// Whether the kernel's faster form is tried first.
  static constexpr bool has_apart = HasApart<typename Problem::kernel>;
  using Totals = TargetSums<Total>[targets];
  using Places = Place<Real, two_part>[targets];

  Problem problem;

  /// What a thread holds in registers.
  struct Held {
    int needed[blocks];  ///< targets of the block that exist, in its longest column
    Places at[blocks];
    Totals total[blocks];
  };

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const auto frame = problem.frame(team.league_rank());
    char* const shared = scratch_array<char>(team, scratch_level, shared_bytes);
    SourceRun<Real>* const runs =
        scratch_array<SourceRun<Real>>(team, scratch_level, Problem::runs);
    Held held;
    FMM_UNROLL
    for (int b = 0; b < blocks; ++b) {
      const int left = frame.count - b * columns * targets;
      held.needed[b] = (left + columns - 1) / columns;
      FMM_UNROLL
      for (int t = 0; t < targets; ++t) {
        const int i = target_of(team, b, t);
        problem.target(frame, i < frame.count ? i : frame.count - 1, held.at[b][t]);
      }
    }
    walk<Meeting::apart>(team, frame, shared, runs, held);
    if constexpr (direct && has_apart) {
      int again = 0;
      FMM_UNROLL
      for (int t = 0; t < targets; ++t)
        if (!held.total[0][t].finite()) again = 1;
      team.team_reduce(Kokkos::Max<int>(again));
      if (again) {
        FMM_UNROLL
        for (int t = 0; t < targets; ++t) held.total[0][t] = {};
        walk<Meeting::coincident>(team, frame, shared, runs, held);
      }
    }
    store(team, frame, shared, held);
  }

 private:
  /// The threads' targets are interleaved, so that a part of a tile leaves none without.
  KOKKOS_FORCEINLINE_FUNCTION static int target_of(TeamMember<Space> const& team, int b, int t) {
    return (b * targets + t) * columns + team.team_rank() % columns;
  }

  /// Adds all sources; those of other leaves meet the targets as `Others` says.
  template <Meeting Others, class Frame>
  KOKKOS_FORCEINLINE_FUNCTION void walk(TeamMember<Space> const& team, Frame const& frame,
                                        char* shared, SourceRun<Real>* runs, Held& held) const {
    Real* const numbers = reinterpret_cast<Real*>(shared);
    const Chunk chunk{{numbers}, {numbers + (two_part ? chunk_numbers : 0)}};
    for (std::int64_t begin = 0; begin < problem.own_count(frame); begin += chunk_size) {
      team.team_barrier();
      const int count = problem.stage_own(team, frame, int(begin), chunk, chunk_size);
      add<Meeting::self>(team, frame, chunk, pad(team, chunk, count), int(begin), held);
    }
    auto cursor = problem.begin(frame);
    while (true) {
      team.team_barrier();
      const int count = problem.stage(team, frame, cursor, runs, chunk, chunk_size);
      if (count == 0) break;
      add<Others>(team, frame, chunk, pad(team, chunk, count), 0, held);
    }
  }

  /// Uncharged sources, far away, up to a full row of blocks; returns how many sources there are then.
  KOKKOS_FORCEINLINE_FUNCTION static int pad(TeamMember<Space> const& team, Chunk chunk,
                                             int count) {
    constexpr int row = W * split;
    const int padded = (count + row - 1) / row * row;
    for (int j = count + team.team_rank(); j < padded; j += team.team_size()) {
      chunk.high.store(j, Real(1e3), Real(1e3), Real(1e3), Real(0));
      if constexpr (two_part) chunk.low.store(j, Real(0), Real(0), Real(0), Real(0));
    }
    team.team_barrier();
    return padded;
  }

  /// Adds the staged sources to all blocks of targets.
  template <Meeting Kind, class Frame>
  KOKKOS_FORCEINLINE_FUNCTION void add(TeamMember<Space> const& team, Frame const& frame,
                                       Chunk chunk, int count, int begin, Held& held) const {
    // only the main loop is compiled for every number of targets: code has its caches, too
    constexpr int least = Kind == Meeting::apart ? 1 : targets;
    FMM_UNROLL
    for (int b = 0; b < blocks; ++b)
      if (held.needed[b] > 0)
        add_block<Kind, least>(team, frame, chunk, count, begin, held.needed[b], b, held.at[b],
                               held.total[b]);
  }

  /// Adds them to block b, which needs at least `Targets` targets a thread.
  template <Meeting Kind, int Targets, class Frame>
  KOKKOS_FORCEINLINE_FUNCTION void add_block(TeamMember<Space> const& team, Frame const& frame,
                                             Chunk chunk, int count, int begin, int needed, int b,
                                             Places const& at, Totals& total) const {
    if constexpr (Targets < targets)
      if (needed > Targets)
        return add_block<Kind, (Targets < 6 ? Targets + 1 : targets)>(team, frame, chunk, count,
                                                                      begin, needed, b, at, total);
    int self[targets] = {};
    if constexpr (Kind == Meeting::self) {
      FMM_UNROLL
      for (int t = 0; t < Targets; ++t) {
        const int i = target_of(team, b, t);
        self[t] = problem.own_index(frame, i < frame.count ? i : frame.count - 1) - begin;
      }
      if constexpr (!direct) {  // scattered targets are in few of the chunks
        bool among = false;
        FMM_UNROLL
        for (int t = 0; t < Targets; ++t) among = among || (self[t] >= 0 && self[t] < count);
        if (!among)
          return add_block<Meeting::apart, targets>(team, frame, chunk, count, begin, needed, b, at,
                                                    total);
      }
    }
    const int first = split == 1 ? 0 : team.team_rank() / columns;
    if constexpr (direct) {
      accumulate<Want, Kind, Targets>(frame.pair, chunk, first, count, split, self, at, total);
    } else {
      TargetSums<V> part[targets];
      accumulate<Want, Kind, Targets>(frame.pair, chunk, first, count, split, self, at, part);
      TargetSums<Real> sum[Targets];
      bool finite = true;
      FMM_UNROLL
      for (int t = 0; t < Targets; ++t) {
        sum[t] = part[t].over_lanes();
        if constexpr (sums_twice_rsqrt<Kind, decltype(frame.pair), V>)
          sum[t] = {sum[t].potential * Real(0.5), sum[t].x * Real(0.125), sum[t].y * Real(0.125),
                    sum[t].z * Real(0.125)};
        finite = finite && sum[t].finite();
      }
      if constexpr (Kind == Meeting::apart && has_apart)
        if (!finite) return add_coincident(team, frame, chunk, count, begin, needed, b, at, total);
      FMM_UNROLL
      for (int t = 0; t < Targets; ++t) total[t] += sum[t];
    }
  }

  /// The same again for sources of which one was found to be at a target.
  template <class Frame>
  FMM_SELDOM KOKKOS_FUNCTION void add_coincident(TeamMember<Space> const& team, Frame const& frame,
                                                 Chunk chunk, int count, int begin, int needed,
                                                 int b, Places const& at, Totals& total) const {
    add_block<Meeting::coincident, targets>(team, frame, chunk, count, begin, needed, b, at, total);
  }

  /// The totals of all targets; threads that share targets meet in scratch memory.
  template <class Frame>
  KOKKOS_FORCEINLINE_FUNCTION void store(TeamMember<Space> const& team, Frame const& frame,
                                         char* shared, Held const& held) const {
    const auto put = [&](int i, TargetSums<Total> const& total) {
      if (i < frame.count)
        problem.store(frame, i,
                      Sums<sum_t<Precision>>{total.potential * frame.potential_unit,
                                             total.x * frame.field_unit, total.y * frame.field_unit,
                                             total.z * frame.field_unit});
    };
    if constexpr (split == 1) {
      FMM_UNROLL
      for (int b = 0; b < blocks; ++b) FMM_UNROLL
      for (int t = 0; t < targets; ++t) put(target_of(team, b, t), held.total[b][t]);
    } else {
      const int share = team.team_rank() / columns;
      Body<Total>* const scratch = reinterpret_cast<Body<Total>*>(shared);
      team.team_barrier();
      FMM_UNROLL
      for (int t = 0; t < targets; ++t) {
        TargetSums<Total> const& total = held.total[0][t];
        scratch[share * shape.tile + target_of(team, 0, t)] = {total.x, total.y, total.z,
                                                               total.potential};
      }
      team.team_barrier();
      for (int i = team.team_rank(); i < frame.count; i += team.team_size()) {
        TargetSums<Total> total;
        for (int s = 0; s < split; ++s) {
          const Body<Total> part = scratch[s * shape.tile + i];
          total += TargetSums<Total>{part.q, part.x, part.y, part.z};
        }
        put(i, total);
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

/// f(integral constant) with a run-time index of 0 .. Count - 1.
template <int Count, int Index = 0, class F>
void with_index(int index, F const& f) {
  if constexpr (Index + 1 < Count)
    if (index > Index) return with_index<Count, Index + 1>(index, f);
  f(std::integral_constant<int, Index>());
}

/// Near field of a tree: targets of a leaf, sources in the cells of its list. The unit is the leaf's edge.
template <class Space, class Kernel, class Precision, P2PShape Shape>
struct NearField {
  using precision = Precision;
  using Real = real_t<Precision>;
  using Sum = sum_t<Precision>;
  using kernel = Kernel;
  using V = Lanes<Space, Real>;
  static constexpr int W = lane_count_v<V>;
  static constexpr P2PShape shape = Shape;
  static constexpr bool two_part = two_part_v<Precision>;
  using Chunk = TwoPartChunk<V, shape.chunk>;
  struct Frame {
    CellIndex cell;
    Cell leaf;
    int first, count;  ///< targets of the tile, counted from the leaf's first body
    Kernel pair;
    Real potential_unit, field_unit;
  };
  struct Cursor {
    Offset entry, end;  ///< list entries that are not among the runs yet
    int run, run_count;
    BodyIndex body;
  };
  static constexpr bool long_sums = two_part;  // mixed precision loses no digits of those either
  static constexpr int runs = shape.team;

  Array<Cell, Space> cells;
  Array<Tile, Space> tiles;
  Csr<Space> list;
  Array<Body<Real>, Space> bodies, low;  ///< low parts in mixed precision
  Array<Sums<Sum>, Space> sums;
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
  KOKKOS_FUNCTION void target(Frame const& f, int i, Place<Real, two_part>& place) const {
    const BodyIndex index = f.leaf.body_begin + f.first + i;
    const Body<Real> b = bodies(index);
    place.x[0] = b.x;
    place.x[1] = b.y;
    place.x[2] = b.z;
    if constexpr (two_part) {
      const Body<Real> l = low(index);
      place.low[0] = l.x;
      place.low[1] = l.y;
      place.low[2] = l.z;
    }
  }
  KOKKOS_FUNCTION Cursor begin(Frame const& f) const {
    return {list.offsets(f.cell), list.offsets(f.cell + 1), 0, 0, 0};
  }
  KOKKOS_FUNCTION int stage(TeamMember<Space> const& team, Frame const& f, Cursor& at,
                            SourceRun<Real>* run, Chunk chunk, int capacity) const {
    int filled = 0;
    while (filled < capacity) {
      if (at.run == at.run_count) {
        if (at.entry == at.end) break;
        read_runs(team, f, at, run);
      }
      const SourceRun<Real> r = run[at.run];
      const int left = r.count - at.body, room = capacity - filled;
      const int take = left < room ? left : room;
      for (int j = team.team_rank() * W; j < take; j += team.team_size() * W) {
        const Sources<V> b = load_bodies<V>(&bodies(r.begin + at.body + j), take - j);
        const V ratio(r.ratio), shift[3] = {V(r.shift[0]), V(r.shift[1]), V(r.shift[2])};
        const Sources<V> s{b.x * ratio + shift[0], b.y * ratio + shift[1], b.z * ratio + shift[2],
                           b.q};
        chunk.high.store(filled + j, s);
        if constexpr (two_part) {
          const Sources<V> l = load_bodies<V>(&low(r.begin + at.body + j), take - j);
          chunk.low.store(filled + j,
                          {rounded_off(b.x * ratio, shift[0], s.x) + l.x * ratio,
                           rounded_off(b.y * ratio, shift[1], s.y) + l.y * ratio,
                           rounded_off(b.z * ratio, shift[2], s.z) + l.z * ratio, V(Real(0))});
        }
      }
      filled += take;
      at.body += take;
      if (at.body == r.count) {
        ++at.run;
        at.body = 0;
      }
    }
    return filled;
  }
  KOKKOS_FUNCTION int own_count(Frame const& f) const { return f.leaf.body_count; }
  KOKKOS_FUNCTION int own_index(Frame const& f, int i) const { return f.first + i; }
  KOKKOS_FUNCTION int stage_own(TeamMember<Space> const& team, Frame const& f, int begin,
                                Chunk chunk, int capacity) const {
    const int left = f.leaf.body_count - begin, take = left < capacity ? left : capacity;
    for (int j = team.team_rank() * W; j < take; j += team.team_size() * W) {
      const BodyIndex index = f.leaf.body_begin + begin + j;
      chunk.high.store(j, load_bodies<V>(&bodies(index), take - j));
      if constexpr (two_part) chunk.low.store(j, load_bodies<V>(&low(index), take - j));
    }
    return take;
  }
  /// The cells of the next entries, one a thread.
  KOKKOS_FUNCTION void read_runs(TeamMember<Space> const& team, Frame const& f, Cursor& at,
                                 SourceRun<Real>* run) const {
    const Offset left = at.end - at.entry;
    at.run = 0;
    at.run_count = int(left < runs ? left : runs);
    team.team_barrier();
    for (int i = team.team_rank(); i < at.run_count; i += team.team_size()) {
      const CellIndex index = list.entries(at.entry + i);
      const Cell source = cells(index);
      const Real per_edge = Real(1) / Real(f.leaf.edge());
      SourceRun<Real> r{source.body_begin,
                        index == f.cell ? 0 : source.body_count,
                        Real(source.edge()) * per_edge,
                        {}};
      for (int d = 0; d < 3; ++d) r.shift[d] = Real(source.centre[d] - f.leaf.centre[d]) * per_edge;
      run[i] = r;
    }
    at.entry += at.run_count;
    team.team_barrier();
  }
  KOKKOS_FUNCTION void store(Frame const& f, int i, Sums<Sum> const& value) const {
    Sums<Sum>& s = sums(f.leaf.body_begin + f.first + i);
    Sums<Sum> old = s;
    old.potential += value.potential;
    old.x += value.x;
    old.y += value.y;
    old.z += value.z;
    s = old;
  }

 private:
  /// What rounding left out of sum = a + b (Knuth's TwoSum).
  KOKKOS_FORCEINLINE_FUNCTION static V rounded_off(V a, V b, V sum) {
    const V b_in = sum - a;
    return (a - (sum - b_in)) + (b - b_in);
  }
};

/// Adds to `sums` the pairs of every leaf with the cells of its row of `list`; its own cell is implied and
/// skipped in the list. `low` are the low parts of the bodies' coordinates, in mixed precision.
template <class Want, class Precision, class Space, class Kernel>
void p2p(Space const& space, Kernel const& kernel_of_cube, Array<Cell, Space> cells,
         Array<Tile, Space> tiles, Csr<Space> list, Array<Body<real_t<Precision>>, Space> bodies,
         Array<Body<real_t<Precision>>, Space> low, Array<Sums<sum_t<Precision>>, Space> sums) {
  using Shapes = Tuning<Space, real_t<Precision>>;
  const auto count = std::int64_t(tiles.extent(0));
  with_index<int(Shapes::near_field.size())>(
      Shapes::near_field_shape(count, space.concurrency()), [&](auto index) {
        constexpr P2PShape shape = Shapes::near_field[decltype(index)::value];
        launch_p2p<Want>(space, count,
                         NearField<Space, Kernel, Precision, shape>{cells, tiles, list, bodies, low,
                                                                    sums, kernel_of_cube});
      });
}

/// All pairs of bodies, or of chosen targets with all bodies, from double coordinates. In float a tile's
/// coordinates are counted from its first target before they are rounded. `per_unit` is a power of two,
/// so that scaling is exact.
template <class Space, class Kernel, class Precision, P2PShape Shape>
struct AllSources {
  using precision = Precision;
  using Real = real_t<Precision>;
  using Sum = sum_t<Precision>;
  using kernel = Kernel;
  using V = Lanes<Space, Real>;
  static constexpr P2PShape shape = Shape;
  static constexpr bool two_part = two_part_v<Precision>;
  using Chunk = TwoPartChunk<V, shape.chunk>;
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
  static constexpr bool long_sums = true;
  static constexpr int runs = 0;

  Array<Body<double>, Space> bodies;
  Array<Tile, Space> tiles;         ///< of all bodies, if `contiguous`
  Array<BodyIndex, Space> targets;  ///< the targets' bodies, if not
  Array<Sums<Sum>, Space> sums;
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
  KOKKOS_FUNCTION void target(Frame const& f, int i, Place<Real, two_part>& place) const {
    place = place_of(f, bodies(body_of(f, i)));
  }
  KOKKOS_FUNCTION Cursor begin(Frame const&) const {
    return {contiguous ? BodyIndex(0) : BodyIndex(bodies.extent(0))};
  }
  KOKKOS_FUNCTION int stage(TeamMember<Space> const& team, Frame const& f, Cursor& at,
                            SourceRun<Real>*, Chunk chunk, int capacity) const {
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
                                Chunk chunk, int capacity) const {
    const int left = own_count(f) - begin, take = left < capacity ? left : capacity;
    copy(team, f, BodyIndex(contiguous ? f.tile_begin + begin : begin), take, chunk);
    return take;
  }
  KOKKOS_FUNCTION void store(Frame const& f, int i, Sums<Sum> const& value) const {
    sums(f.tile_begin + i) = value;
  }

 private:
  KOKKOS_FUNCTION Place<Real, two_part> place_of(Frame const& f, Body<double> const& b) const {
    const double x[3] = {(b.x - f.origin[0]) * per_unit, (b.y - f.origin[1]) * per_unit,
                         (b.z - f.origin[2]) * per_unit};
    if constexpr (two_part) {
      const TwoFloats parts[3] = {in_two_parts(x[0]), in_two_parts(x[1]), in_two_parts(x[2])};
      return {{parts[0].high, parts[1].high, parts[2].high},
              {parts[0].low, parts[1].low, parts[2].low}};
    } else {
      return {{Real(x[0]), Real(x[1]), Real(x[2])}};
    }
  }
  KOKKOS_FUNCTION void copy(TeamMember<Space> const& team, Frame const& f, BodyIndex first,
                            int count, Chunk chunk) const {
    constexpr int batch = is_host_space_v<Space> ? 1 : 2;  // loads that a thread waits for together
    const int step = team.team_size();
    for (int begin = team.team_rank(); begin < count; begin += batch * step) {
      Body<double> b[batch];
      FMM_UNROLL
      for (int k = 0; k < batch; ++k)
        if (begin + k * step < count) b[k] = bodies(first + begin + k * step);
      FMM_UNROLL
      for (int k = 0; k < batch; ++k)
        if (begin + k * step < count) {
          const auto at = place_of(f, b[k]);
          chunk.high.store(begin + k * step, at.x[0], at.x[1], at.x[2], Real(b[k].q));
          if constexpr (two_part)
            chunk.low.store(begin + k * step, at.low[0], at.low[1], at.low[2], Real(0));
        }
    }
  }
};

/// sums(i) of body i for all bodies, whose `tiles` are at most Tuning::all_pairs[shape].tile long; sums
/// in the unit 1 / per_unit of length. Cost: N^2 pairs.
template <class Want, class Precision, class Space, class Kernel>
void p2p_all(Space const& space, Kernel const& kernel_of_unit, double per_unit,
             Array<Body<double>, Space> bodies, Array<Tile, Space> tiles, int shape,
             Array<Sums<sum_t<Precision>>, Space> sums) {
  using Shapes = Tuning<Space, real_t<Precision>>;
  with_index<int(Shapes::all_pairs.size())>(shape, [&](auto index) {
    using Problem = AllSources<Space, Kernel, Precision, Shapes::all_pairs[decltype(index)::value]>;
    launch_p2p<Want>(space, std::int64_t(tiles.extent(0)),
                     Problem{bodies, tiles, {}, sums, kernel_of_unit, per_unit, true});
  });
}

/// sums(i) of body targets(i) over all bodies, in double. Cost: M N pairs.
template <class Want, class Space, class Kernel>
void p2p_chosen(Space const& space, Kernel const& kernel_of_unit, double per_unit,
                Array<Body<double>, Space> bodies, Array<BodyIndex, Space> targets,
                Array<Sums<double>, Space> sums) {
  using Shapes = Tuning<Space, double>;
  const auto count = std::int64_t(targets.extent(0));
  with_index<int(Shapes::all_pairs.size())>(
      Shapes::all_pairs_shape(count, space.concurrency()), [&](auto index) {
        constexpr P2PShape shape = Shapes::all_pairs[decltype(index)::value];
        launch_p2p<Want>(space, (count + shape.tile - 1) / shape.tile,
                         AllSources<Space, Kernel, double, shape>{
                             bodies, {}, targets, sums, kernel_of_unit, per_unit, false});
      });
}

}  // namespace fmm::detail
