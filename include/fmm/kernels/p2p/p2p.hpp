// SPDX-License-Identifier: BSD-3-Clause
// P2P: the pair kernel summed directly between bodies (Yokota & Barba listing 9.1). A team takes a tile
// of targets of one leaf and walks the sources in chunks through scratch memory. Chunks are filled from
// consecutive source cells, so that small leaves do not leave them empty.
//
// A thread holds several targets in registers while a chunk passes, and sources come W at a time in the
// lanes of a vector. On a GPU, where W = 1, `split` threads share the same targets and take every
// split-th source each, so that a tile of any size keeps nearly all threads of the team busy; a last row of
// targets that is at most half full is shared by twice as many.
//
// Coordinates in a chunk are counted from the targets' origin in the targets' unit: in float, differences
// are good to 2^-24 of that unit. In mixed precision they have a low part besides, which makes differences
// good to 2^-47. On a tree that matters to close sources only, those in the targets' leaf and in a margin around
// it: a sixteenth of the edge, of the source's leaf if that is larger. Beyond it differences of high parts are good to
// 2^-20 of themselves; sums of a tolerance t have a margin of 2^-18 / t at most, beyond which they are good to t / 64.
// Whether a source is close is seen once, as it is staged: the main loop is float's, without
// the close ones. These are noted, and added at the end together with the targets' leaf, from two parts: a few
// hundredths of all pairs.
//
// Cost: 20 flops a pair for potential and force, 19 for the force, as the chapter counts.
#pragma once

#include <algorithm>
#include <new>
#include <optional>

#include "../../precision.hpp"
#include "../mapping/tile.hpp"
#include "../mapping/tile_parts.hpp"
#include "../pair_kernel.hpp"

namespace fmm::kernels {

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

/// A chunk, and with two parts a second one for the low parts, where charges mean nothing.
template <class V, int Capacity, bool TwoPart>
struct Chunk {
  static constexpr bool two_part = TwoPart;
  static constexpr int capacity = Capacity;
  static constexpr int numbers = (TwoPart ? 2 : 1) * SourceChunk<V, Capacity>::size;
  SourceChunk<V, Capacity> high, low;

  KOKKOS_FORCEINLINE_FUNCTION explicit Chunk(lane_scalar_t<V>* data)
      : high{data}, low{data + (TwoPart ? SourceChunk<V, Capacity>::size : 0)} {}
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
  Real reach;  ///< coordinates of bodies close to the targets' leaf are smaller; 0: none are close
};

/// A source so close to the targets' leaf that differences are wanted from two parts.
struct CloseSource {
  BodyIndex body;
  CellIndex cell;
};

/// Each coordinate of an uncharged source that fills a gap in a chunk.
template <class Real>
inline constexpr Real far_away = Real(1e3);

/// What a walk through the sources keeps in scratch memory.
template <class Real>
struct WalkMemory {
  SourceRun<Real>* run;
  int* close_count = nullptr;  ///< of the sources in `close`; both for problems that note such
  CloseSource* close = nullptr;
  int* again = nullptr;  ///< threads with totals that are not finite, if they may add again
};

/// How sources may meet targets.
enum class Meeting {
  apart,           ///< not at one point, as a rule: if they do, the sums may be infinite or NaN
  self,            ///< the same, but one of the sources is the target itself
  coincident,      ///< perhaps at one point
  coincident_self  ///< and one of the sources is the target itself
};
KOKKOS_INLINE_FUNCTION constexpr bool are_apart(Meeting kind) {
  return kind == Meeting::apart || kind == Meeting::self;
}
KOKKOS_INLINE_FUNCTION constexpr bool have_self(Meeting kind) {
  return kind == Meeting::self || kind == Meeting::coincident_self;
}

/// Whether the sums of sources that are apart are those of 2 / sqrt(s2), twice the potential and eight times the
/// field.
template <Meeting Kind, class Kernel, class V>
inline constexpr bool sums_twice_rsqrt =
    are_apart(Kind) && IsNewtonian<Kernel>&& has_twice_rsqrt<V>;

/// Whether potential and field of such sources share q / r: to packs that saves a multiplication, since an addition
/// has units of its own; all pairs on an H200 are 4 % slower.
template <Meeting Kind, class Kernel, class V>
inline constexpr bool shares_q_over_r = are_apart(Kind) && IsNewtonian<Kernel> &&
                                        (lane_count_v<V> > 1);

/// Sources that come together, and in mixed precision their low parts.
template <class V, bool TwoPart>
struct TwoPartSources {
  Sources<V> high, low;

  template <int Capacity>
  KOKKOS_FORCEINLINE_FUNCTION TwoPartSources(Chunk<V, Capacity, TwoPart> const& chunk, int block)
      : high(chunk.high.load(block)) {
    if constexpr (TwoPart) low = chunk.low.load(block);
  }
};

/// Adds W sources to a target. If this is among them it is lane `self`, which is left out.
template <class Want, Meeting Kind, class Kernel, class V, class Real, bool TwoPart>
KOKKOS_FORCEINLINE_FUNCTION void add_sources(Kernel const& kernel,
                                             TwoPartSources<V, TwoPart> const& source, V start,
                                             [[maybe_unused]] int self,
                                             Place<Real, TwoPart> const& at, TargetSums<V>& sum) {
  V dx = V(at.x[0]) - source.high.x, dy = V(at.x[1]) - source.high.y,
    dz = V(at.x[2]) - source.high.z, q = source.high.q;
  if constexpr (TwoPart) {
    dx += V(at.low[0]) - source.low.x;
    dy += V(at.low[1]) - source.low.y;
    dz += V(at.low[2]) - source.low.z;
  }
  V r2 = dz * dz + (dy * dy + (dx * dx + start));
  if constexpr (have_self(Kind)) {
    const auto is_self = LaneTraits<V>::iota() == V(Real(self));
    q = select(is_self, V(Real(0)), q);
    r2 = select(is_self, V(Real(1)) + start, r2);
  }
  if constexpr (shares_q_over_r<Kind, Kernel, V>) {
    V u;
    if constexpr (sums_twice_rsqrt<Kind, Kernel, V>)
      u = twice_rsqrt(r2);
    else
      u = rsqrt(r2);
    const V potential = q * u;
    if constexpr (Want::potential) sum.potential += potential;
    if constexpr (Want::field) {
      const V w = potential * (u * u);
      sum.x += w * dx;
      sum.y += w * dy;
      sum.z += w * dz;
    }
  } else {
    const auto term = pair_term<are_apart(Kind)>(kernel, r2);
    if constexpr (Want::potential) sum.potential += q * term.potential;
    if constexpr (Want::field) {
      const V w = q * term.weight;
      sum.x += w * dx;
      sum.y += w * dy;
      sum.z += w * dz;
    }
  }
}

/// Adds blocks begin, begin + step, .. of `count` staged sources to `Targets` targets. If these are among
/// them, target t is number self[t] of the chunk. The loop is unrolled to `Pairs` pairs or more.
template <class Want, Meeting Kind, int Targets, int Pairs, class Kernel, class V, class Real,
          bool TwoPart, int Capacity, int Most>
KOKKOS_FORCEINLINE_FUNCTION void accumulate(Kernel const& kernel, Chunk<V, Capacity, TwoPart> chunk,
                                            int begin, int count, int step, int const (&self)[Most],
                                            Place<Real, TwoPart> const (&at)[Most],
                                            TargetSums<V> (&sum)[Most]) {
  constexpr int W = lane_count_v<V>;
  const int blocks = (count + W - 1) / W;
  const V start(are_apart(Kind) ? softening2<Real>(kernel) : Real(0));
  FMM_UNROLL_BY(have_self(Kind) ? 1 : (Pairs + Targets - 1) / Targets)
  for (int block = begin; block < blocks; block += step) {
    const TwoPartSources<V, TwoPart> source(chunk, block);
    FMM_UNROLL
    for (int t = 0; t < Targets; ++t)
      add_sources<Want, Kind>(kernel, source, start, self[t] - block * W, at[t], sum[t]);
  }
}

/// The same for an even number of such blocks, without the targets themselves, where the last target takes every
/// second block: the first of two, or the other one (`odd`).
template <class Want, int Targets, int Pairs, class Kernel, class V, class Real, bool TwoPart,
          int Capacity, int Most>
KOKKOS_FORCEINLINE_FUNCTION void accumulate_halved(Kernel const& kernel,
                                                   Chunk<V, Capacity, TwoPart> chunk, int begin,
                                                   int count, int step, bool odd,
                                                   Place<Real, TwoPart> const (&at)[Most],
                                                   TargetSums<V> (&sum)[Most]) {
  constexpr int W = lane_count_v<V>, pairs = 2 * Targets - 1, last = Targets - 1;
  const int blocks = (count + W - 1) / W, mine = odd ? step : 0;
  const V start(softening2<Real>(kernel));
  FMM_UNROLL_BY((Pairs + pairs - 1) / pairs)
  for (int block = begin; block < blocks; block += 2 * step) {
    FMM_UNROLL
    for (int k = 0; k < (last > 0 ? 2 : 0); ++k) {
      const TwoPartSources<V, TwoPart> source(chunk, block + k * step);
      FMM_UNROLL
      for (int t = 0; t < last; ++t)
        add_sources<Want, Meeting::apart>(kernel, source, start, 0, at[t], sum[t]);
    }
    const TwoPartSources<V, TwoPart> of_last(chunk, block + mine);
    add_sources<Want, Meeting::apart>(kernel, of_last, start, 0, at[last], sum[last]);
  }
}

/// The tile kernel. `Problem` says which targets a tile has and where its sources are:
///
///   using precision;  using kernel;  static constexpr P2PShape shape;
///   static constexpr bool long_sums;    whether a target has very many sources
///   static constexpr int runs;          SourceRuns that it wants in scratch memory
///   static constexpr int close_room;    CloseSources that it wants there, more than a chunk's; 0: it notes none
///   struct Frame                        what the tile's coordinates are counted from, and
///     int first, count;                   its targets; the targets' kernel; the units of its sums
///     kernel pair; Real potential_unit, field_unit;
///   Frame frame(tile index);
///   void target(frame, i, Place& place);           coordinates of target i, in one part or two
///   struct Cursor;  Cursor begin(frame);           a walk through all sources but the tile's own leaf
///   int stage(team, frame, cursor, memory, chunk)  fills the chunk, with gaps for what it notes; 0 at the end
///   int own_count(frame);                          sources among which the targets themselves are,
///   int stage_own(team, frame, memory, noted, begin, chunk)  which are staged apart, and after them the noted;
///   int own_index(frame, i);                       and the number of target i among them
///   void store(frame, i, sums of target i)
template <class Space, class Want, class Problem>
struct P2P {
  using Precision = typename Problem::precision;
  using Real = real_t<Precision>;
  using V = Lanes<Space, Real>;
  static constexpr P2PShape shape = Problem::shape;
  static constexpr bool two_part = two_part_v<Precision>;
  static constexpr int W = lane_count_v<V>;
  static constexpr int chunk_size = shape.chunk, targets = shape.targets, split = shape.split;
  static constexpr int columns = shape.team / split;  ///< threads with different targets
  static constexpr int scratch_level = Tuning<Space, Real>::scratch_level;
  /// Blocks of targets that a thread works through for every chunk.
  static constexpr int blocks = shape.tile / (columns * targets);
  /// Whether close sources are noted, and added with the own ones; others are in one part then.
  static constexpr bool notes_close = Problem::close_room > 0;
  static constexpr bool main_two_part = two_part && !notes_close;
  /// Whether totals in Real are handed on to the problem's own sums, in double, every so many sources: totals in double
  /// would take registers.
  static constexpr bool hands_on = notes_close && split > 1;
  static constexpr int handed_on_after = 512 * split;
  using Total = std::conditional_t<Problem::long_sums && !hands_on, sum_t<Precision>, Real>;
  using MainChunk = Chunk<V, chunk_size, main_two_part>;
  using OwnChunk = Chunk<V, chunk_size / (notes_close ? 2 : 1), two_part>;
  using Memory = WalkMemory<Real>;
  /// Sources, and afterwards the sums of the threads that share targets.
  static constexpr int source_bytes =
                           std::max(MainChunk::numbers, OwnChunk::numbers) * int(sizeof(Real)),
                       totals = split > 1 ? shape.tile *split : 0,
                       total_bytes = totals * int(sizeof(Body<Total>));
  static constexpr int shared_bytes = source_bytes > total_bytes ? source_bytes : total_bytes;
  static constexpr std::size_t scratch_bytes =
      shared_bytes + Problem::runs * sizeof(SourceRun<Real>) +
      Problem::close_room * sizeof(CloseSource) + 2 * sizeof(int) +
      sizeof(typename Problem::Frame) + 6 * scratch_alignment;
  static_assert(shape.tile == blocks * columns * targets);
  static_assert(split == 1 || (blocks == 1 && W == 1));
  static_assert(split == 1 || shape.tile <= 31 * shape.team);  // bits of what a thread stores

  /// Whether a thread adds to its totals source by source; else chunk by chunk, which rounds less.
  static constexpr bool direct = split > 1 && (!Problem::long_sums || hands_on);
  /// Whether a last row of targets that fills half of the columns at most is shared by all: two threads have
  /// the same target then, and every second of their sources each.
  static constexpr bool halves = direct && columns % 2 == 0;
  static_assert(!halves || targets <= 7);  // a loop of its own for every number of rows
  /// A chunk is filled up to a multiple of so many sources.
  static constexpr int row = split * W * (halves ? 2 : 1);
  static_assert(MainChunk::capacity % row == 0 && OwnChunk::capacity % row == 0);
  static_assert(!notes_close || Problem::close_room >= chunk_size);
  /// Pairs that the main loop is unrolled to. Teams with tiles of all sizes run together, each size has loops of
  /// its own, and all that runs together shall fit into the cache of instructions.
  static constexpr int unrolled = direct ? 4 : 8;
  /// Whether the kernel's faster form is tried first, and all of a tile's sources or (where sums are handed on) its own
  /// and the close ones, which alone may meet a target then, are added again if it fails.
  static constexpr bool has_apart = HasApart<typename Problem::kernel>,
                        adds_again = direct && has_apart;
  using Frame = typename Problem::Frame;
  using Totals = TargetSums<Total>[targets];
  using Places = Place<Real, main_two_part>[targets];

  Problem problem;

  /// What a thread holds in registers.
  struct Held {
    Places at[blocks];
    Totals total[blocks];
  };

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    if constexpr (split == 1) {
      sum(team, problem.frame(team.league_rank()));
    } else {  // where it takes no registers
      Frame* const frame = scratch_array<Frame>(team, scratch_level, 1);
      if (team.team_rank() == 0) new (frame) Frame(problem.frame(team.league_rank()));
      team.team_barrier();
      sum(team, *frame);
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void sum(TeamMember<Space> const& team, Frame const& frame) const {
    char* const shared = scratch_array<char>(team, scratch_level, shared_bytes);
    Memory memory{scratch_array<SourceRun<Real>>(team, scratch_level, Problem::runs)};
    if constexpr (notes_close) {
      memory.close_count = scratch_array<int>(team, scratch_level, 1);
      memory.close = scratch_array<CloseSource>(team, scratch_level, Problem::close_room);
    }
    Held held;
    FMM_UNROLL
    for (int b = 0; b < blocks; ++b) FMM_UNROLL
    for (int t = 0; t < targets; ++t) {
      int i = target_of(team, b, t);
      if (is_halved(frame, b, t) && is_odd(team)) i -= columns / 2;
      problem.target(frame, within(frame, i), held.at[b][t]);
    }
    if constexpr (adds_again) {
      memory.again = scratch_array<int>(team, scratch_level, 1);
      if (team.team_rank() == 0) *memory.again = 0;
    }
    walk<Meeting::apart>(team, frame, shared, memory, held);
    if constexpr (!hands_on)
      store_or_again(team, frame, shared, memory, held,
                     [&] { walk<Meeting::coincident>(team, frame, shared, memory, held); });
  }

  /// Stores the totals; those that are not finite after again(), which adds the same sources by the kernel's other
  /// form.
  template <class Again>
  KOKKOS_FORCEINLINE_FUNCTION void store_or_again(TeamMember<Space> const& team, Frame const& frame,
                                                  char* shared, Memory memory, Held& held,
                                                  Again const& again) const {
    [[maybe_unused]] const unsigned left = store(team, frame, shared, held, ~0u);
    if constexpr (adds_again) {
      if (left != 0) Kokkos::atomic_add(memory.again, 1);
      team.team_barrier();
      if (*memory.again != 0) {
        clear(held);
        again();
        store(team, frame, shared, held, left);
        team.team_barrier();
        if (team.team_rank() == 0) *memory.again = 0;
      }
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION static void clear(Held& held) {
    FMM_UNROLL
    for (int b = 0; b < blocks; ++b) FMM_UNROLL
    for (int t = 0; t < targets; ++t) held.total[b][t] = {};
  }

  /// The threads' targets are interleaved, so that a part of a tile leaves none without.
  KOKKOS_FORCEINLINE_FUNCTION static int target_of(TeamMember<Space> const& team, int b, int t) {
    return (b * targets + t) * columns + team.team_rank() % columns;
  }
  /// Beyond the tile's end threads repeat its last target.
  KOKKOS_FORCEINLINE_FUNCTION static int within(Frame const& frame, int i) {
    return i < frame.count ? i : frame.count - 1;
  }
  /// Rows of targets in block b: those of its longest column.
  KOKKOS_FORCEINLINE_FUNCTION static int rows(Frame const& frame, int b) {
    return (frame.count - b * columns * targets + columns - 1) / columns;
  }
  /// Whether the last row is halved.
  KOKKOS_FORCEINLINE_FUNCTION static bool ends_halved(Frame const& frame) {
    return halves && (frame.count - 1) % columns < columns / 2;
  }
  /// Whether the threads' target t of block b is that of two threads each.
  KOKKOS_FORCEINLINE_FUNCTION static bool is_halved(Frame const& frame, int b, int t) {
    return ends_halved(frame) && t + 1 == rows(frame, b);
  }
  /// Whether this is the second one of such two threads.
  KOKKOS_FORCEINLINE_FUNCTION static bool is_odd(TeamMember<Space> const& team) {
    return team.team_rank() % columns >= columns / 2;
  }

  /// Adds all sources; those of other leaves meet the targets as `Others` says.
  template <Meeting Others>
  KOKKOS_FORCEINLINE_FUNCTION void walk(TeamMember<Space> const& team, Frame const& frame,
                                        char* shared, Memory memory, Held& held) const {
    if constexpr (!notes_close)
      add_own<Others>(team, frame, shared, memory, 0, 0, held);
    else if (team.team_rank() == 0)
      *memory.close_count = 0;
    [[maybe_unused]] int own = 0;  // how many of the own sources were added
    const MainChunk chunk(reinterpret_cast<Real*>(shared));
    auto cursor = problem.begin(frame);
    [[maybe_unused]] int added = 0;  // sources that are not handed on yet
    while (true) {
      team.team_barrier();
      const int count = problem.stage(team, frame, cursor, memory, chunk);
      if (count > 0) add<Others>(team, frame, chunk, pad(team, chunk, count), 0, held);
      added += count;
      if constexpr (notes_close) {
        const int noted = *memory.close_count;
        const bool now = count == 0 || noted > Problem::close_room - chunk_size;
        if (hands_on && added > 0 && (now || added >= handed_on_after)) {
          store(team, frame, shared, held, ~0u >> 1);  // whatever they are: these meet no target
          clear(held);
          added = 0;
        }
        if (now) {
          add_own<Others>(team, frame, shared, memory, own, noted, held);
          if constexpr (hands_on) {
            store_or_again(team, frame, shared, memory, held, [&] {
              add_own<Meeting::coincident>(team, frame, shared, memory, own, noted, held);
            });
            clear(held);
          }
          own = problem.own_count(frame);
          if (team.team_rank() == 0) *memory.close_count = 0;
        }
      }
      if (count == 0) break;
    }
  }

  /// Adds the own sources, from number `begin` on, and after them the noted ones.
  template <Meeting Others>
  KOKKOS_FORCEINLINE_FUNCTION void add_own(TeamMember<Space> const& team, Frame const& frame,
                                           char* shared, Memory memory, std::int64_t begin,
                                           int noted, Held& held) const {
    const OwnChunk chunk(reinterpret_cast<Real*>(shared));
    const std::int64_t end = problem.own_count(frame) + noted;
    for (; begin < end; begin += OwnChunk::capacity) {
      team.team_barrier();
      const int count = problem.stage_own(team, frame, memory, noted, int(begin), chunk);
      add<are_apart(Others) ? Meeting::self : Meeting::coincident_self>(
          team, frame, chunk, pad(team, chunk, count), int(begin), held);
    }
  }

  /// Uncharged sources, far away, up to a full row of blocks; returns how many sources there are then.
  template <class SomeChunk>
  KOKKOS_FORCEINLINE_FUNCTION static int pad(TeamMember<Space> const& team, SomeChunk chunk,
                                             int count) {
    const int padded = (count + row - 1) / row * row;
    for (int j = count + team.team_rank(); j < padded; j += team.team_size()) {
      chunk.high.store(j, far_away<Real>, far_away<Real>, far_away<Real>, Real(0));
      if constexpr (SomeChunk::two_part) chunk.low.store(j, Real(0), Real(0), Real(0), Real(0));
    }
    team.team_barrier();
    return padded;
  }

  /// Adds the staged sources to all blocks of targets.
  template <Meeting Kind, class SomeChunk>
  KOKKOS_FORCEINLINE_FUNCTION void add(TeamMember<Space> const& team, Frame const& frame,
                                       SomeChunk chunk, int count, int begin, Held& held) const {
    // only the main loop is compiled for every number of targets: code has its caches, too
    constexpr bool main = Kind == Meeting::apart, own = direct && Kind == Meeting::self;
    constexpr int least = main ? 1 : own ? targets - 1 : targets;
    FMM_UNROLL
    for (int b = 0; b < blocks; ++b)
      if (rows(frame, b) > 0) add_block<Kind, least>(team, frame, chunk, count, begin, b, held);
  }

  /// Adds them to block b, which needs at least `Targets` targets a thread.
  template <Meeting Kind, int Targets, class SomeChunk>
  KOKKOS_FORCEINLINE_FUNCTION void add_block(TeamMember<Space> const& team, Frame const& frame,
                                             SomeChunk chunk, int count, int begin, int b,
                                             Held& held) const {
    if constexpr (Targets < targets)
      if (rows(frame, b) > Targets)
        return add_block<Kind, (Targets < 6 ? Targets + 1 : targets)>(team, frame, chunk, count,
                                                                      begin, b, held);
    Place<Real, SomeChunk::two_part> at[targets];
    FMM_UNROLL
    for (int t = 0; t < Targets; ++t)
      if constexpr (SomeChunk::two_part == main_two_part) {
        at[t] = held.at[b][t];
      } else {  // low parts take no registers in the main loop
        problem.target(frame, within(frame, target_of(team, b, t)), at[t]);
        FMM_UNROLL
        for (int d = 0; d < 3; ++d) at[t].x[d] = held.at[b][t].x[d];
      }
    Totals& total = held.total[b];
    int self[targets] = {};
    if constexpr (have_self(Kind)) {
      FMM_UNROLL
      for (int t = 0; t < Targets; ++t)
        self[t] = problem.own_index(frame, within(frame, target_of(team, b, t))) - begin;
      if constexpr (!direct && !notes_close) {  // scattered targets are in few of the chunks
        bool among = false;
        FMM_UNROLL
        for (int t = 0; t < Targets; ++t) among = among || (self[t] >= 0 && self[t] < count);
        if (!among)
          return add_block < are_apart(Kind) ? Meeting::apart : Meeting::coincident,
                 targets > (team, frame, chunk, count, begin, b, held);
      }
    }
    const int first = split == 1 ? 0 : team.team_rank() / columns;
    if constexpr (direct) {
      if (halves && Kind == Meeting::apart && ends_halved(frame))
        accumulate_halved<Want, Targets, unrolled>(frame.pair, chunk, first, count, split,
                                                   is_odd(team), at, total);
      else
        accumulate<Want, Kind, Targets, unrolled>(frame.pair, chunk, first, count, split, self, at,
                                                  total);
      // one of two threads is enough here, where no others were added before
      if constexpr (Kind != Meeting::apart) {
        FMM_UNROLL
        for (int t = 0; t < targets; ++t)
          if (is_halved(frame, b, t) && is_odd(team)) total[t] = {};
      }
    } else {
      TargetSums<V> part[targets];
      accumulate<Want, Kind, Targets, unrolled>(frame.pair, chunk, first, count, split, self, at,
                                                part);
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
      // where close sources are noted, others meet no target
      if constexpr (are_apart(Kind) && has_apart && (!notes_close || have_self(Kind)))
        if (!finite) return add_coincident<Kind>(team, frame, chunk, count, begin, b, held);
      FMM_UNROLL
      for (int t = 0; t < Targets; ++t) total[t] += sum[t];
    }
  }

  /// The same again for sources of which one was found to be at a target.
  template <Meeting Kind, class SomeChunk>
  FMM_SELDOM KOKKOS_FUNCTION void add_coincident(TeamMember<Space> const& team, Frame const& frame,
                                                 SomeChunk chunk, int count, int begin, int b,
                                                 Held& held) const {
    add_block<have_self(Kind) ? Meeting::coincident_self : Meeting::coincident, targets>(
        team, frame, chunk, count, begin, b, held);
  }

  /// Stores the totals of the targets whose bits of `wanted` are set: bit k for the k-th one that this thread
  /// stores. Threads that share targets meet in scratch memory. Returns the bits of those that were not stored
  /// since they are not finite, where the kernel has another form for these.
  KOKKOS_FORCEINLINE_FUNCTION unsigned store(TeamMember<Space> const& team, Frame const& frame,
                                             char* shared, Held const& held,
                                             unsigned wanted) const {
    const auto put = [&](int i, TargetSums<Total> const& total) {
      problem.store(
          frame, i,
          Sums<sum_t<Precision>>{total.potential * frame.potential_unit, total.x * frame.field_unit,
                                 total.y * frame.field_unit, total.z * frame.field_unit});
    };
    unsigned left = 0;
    if constexpr (split == 1) {
      FMM_UNROLL
      for (int b = 0; b < blocks; ++b) FMM_UNROLL
      for (int t = 0; t < targets; ++t)
        if (const int i = target_of(team, b, t); i < frame.count) put(i, held.total[b][t]);
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
      unsigned bit = 1;
      for (int i = team.team_rank(); i < frame.count; i += team.team_size(), bit <<= 1) {
        TargetSums<Total> total;
        for (int s = 0; s < split; ++s) {
          const Body<Total> part = scratch[s * shape.tile + i];
          total += TargetSums<Total>{part.q, part.x, part.y, part.z};
          if (is_halved(frame, 0, i / columns)) {
            const Body<Total> other = scratch[s * shape.tile + i + columns / 2];
            total += TargetSums<Total>{other.q, other.x, other.y, other.z};
          }
        }
        if (adds_again && wanted == ~0u && !total.finite())
          left |= bit;
        else if ((wanted & bit) != 0)
          put(i, total);
      }
    }
    return left;
  }
};

template <class Want, class Space, class Problem>
void launch_p2p(Space const& space, std::int64_t tiles, Problem const& problem) {
  using Functor = P2P<Space, Want, Problem>;
  if (tiles == 0) return;
  using Policy = std::conditional_t<
      Functor::shape.resident == 0, TeamPolicy<Space>,
      BoundedTeamPolicy<Space, Functor::shape.team, std::max(1, Functor::shape.resident)>>;
  Policy policy(space, int(tiles), Functor::shape.team);
  policy.set_scratch_size(Functor::scratch_level, Kokkos::PerTeam(Functor::scratch_bytes));
  for_teams("fmm::p2p", policy, Functor{problem});
}

/// f(integral constant) with a run-time index of 0 .. Count - 1.
template <int Count, int Index = 0, class F>
void with_index(int index, F const& f) {
  if constexpr (Index + 1 < Count)
    if (index > Index) return with_index<Count, Index + 1>(index, f);
  f(std::integral_constant<int, Index>());
}

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
      const double edge = 1.0 / double(std::int32_t(1) << level);
      const double unit = kernel_of_cube.potential_unit(edge);
      units.of[level] = {edge, Real(unit), Real(unit / edge)};
    }
    return units;
  }
};

/// Edges of a leaf within which sources are close in mixed precision.
inline constexpr double largest_margin = 1.0 / 16;

/// The margin for sums of a tolerance, if there is one.
inline double margin_for(std::optional<double> tolerance) {
  return tolerance ? std::min(0x1p-18 / *tolerance, largest_margin) : largest_margin;
}

/// Near field of a tree: targets of a leaf, sources in the cells of its list. The unit is the leaf's edge. In mixed
/// precision sources are close within `margin` edges of the leaf, of theirs or the targets'.
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
  using MainChunk = Chunk<V, shape.chunk, false>;
  using Memory = WalkMemory<Real>;
  struct Frame {
    CellIndex cell;
    Cell leaf;
    int first, count;  ///< targets of the tile, counted from the leaf's first body
    int own;           ///< sources in the leaf, which go with the row's first part
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
  /// Groups of threads that stage a run each at a time: one run is too short for all threads, and these would
  /// wait for its bodies alone.
  static constexpr int run_groups = shape.team == 1 ? 1 : 8, run_team = shape.team / run_groups;
  static_assert(shape.team % run_groups == 0);
  static constexpr int runs_at_a_time = shape.team, runs = runs_at_a_time + run_groups;
  /// Whether a thread notes the close bodies of a run after it has staged its share of these.
  static constexpr bool notes_later = two_part && W == 1 && shape.team > 1;
  using CloseBits = std::conditional_t<notes_later, std::uint64_t, std::uint32_t>;
  static_assert(!notes_later || shape.chunk / run_team <= 64);
  static constexpr int close_room =
      two_part ? shape.chunk + (is_host_space_v<Space> ? shape.chunk : 128) : 0;

  Array<Cell, Space> cells;
  Array<Tile, Space> tiles;
  Csr<Space> list;
  Array<Body<Real>, Space> bodies, low;  ///< low parts in mixed precision
  Array<Sums<Sum>, Space> sums;
  Kernel kernel_of_cube;
  TileParts<Space, Sum> parts = {};
  Real margin = Real(largest_margin);
  LeafUnits<Real> units = LeafUnits<Real>::make(kernel_of_cube);

  KOKKOS_FUNCTION Frame frame(int index) const {
    const TilePart part = parts.of_team(index, tiles, list);
    const Cell leaf = cells(part.tile.cell);
    const auto unit = units.of[leaf.level];
    return {part.tile.cell,
            leaf,
            part.tile.first - leaf.body_begin,
            part.tile.count,
            parts.is_other(index) ? 0 : leaf.body_count,
            part.begin,
            part.end,
            kernel_of_cube.rescaled(unit.edge),
            unit.potential,
            unit.field,
            parts.sums_of_team(index, part, sums)};
  }
  template <bool TwoPart>
  KOKKOS_FUNCTION void target(Frame const& f, int i, Place<Real, TwoPart>& place) const {
    const BodyIndex index = f.leaf.body_begin + f.first + i;
    const Body<Real> b = bodies(index);
    place.x[0] = b.x;
    place.x[1] = b.y;
    place.x[2] = b.z;
    if constexpr (TwoPart) {
      const Body<Real> l = low(index);
      place.low[0] = l.x;
      place.low[1] = l.y;
      place.low[2] = l.z;
    }
  }
  KOKKOS_FUNCTION Cursor begin(Frame const&) const { return {0, 0, 0, 0}; }
  KOKKOS_FUNCTION int stage(TeamMember<Space> const& team, Frame const& f, Cursor& at,
                            Memory const& memory, MainChunk chunk) const {
    constexpr int capacity = MainChunk::capacity;
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
      const int first_of_thread = team.team_rank() % run_team * W;
      for (int j = first_of_thread, bit = 0; j < take; j += run_team * W, bit += W) {
        const Sources<V> b = load_bodies<V>(&bodies(r.begin + first + j), take - j);
        Sources<V> s{b.x * ratio + shift[0], b.y * ratio + shift[1], b.z * ratio + shift[2], b.q};
        if constexpr (two_part)
          if (W == 1 || r.reach > 0) {  // groups of a GPU's threads have runs of either kind
            CloseBits close = take_close(r.reach, s);
            if (take - j < W) close &= (CloseBits(1) << (take - j)) - 1;
            if constexpr (notes_later)
              close_bits |= close << bit;
            else
              note(memory, f, at, group, r.begin + first + j, 1, close);
          }
        chunk.high.store(filled + before + j, s);
      }
      if constexpr (two_part && notes_later)
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
  KOKKOS_FUNCTION int stage_own(TeamMember<Space> const& team, Frame const& f, Memory const& memory,
                                int noted, int begin, OwnChunk chunk) const {
    constexpr int capacity = OwnChunk::capacity;
    const int own = f.own - begin, all = own + noted;
    const int take_own = own < capacity ? own : capacity, take = all < capacity ? all : capacity;
    for (int j = team.team_rank() * W; j < take_own; j += team.team_size() * W) {
      const BodyIndex index = f.leaf.body_begin + begin + j;
      chunk.high.store(j, load_bodies<V>(&bodies(index), take_own - j));
      if constexpr (two_part) chunk.low.store(j, load_bodies<V>(&low(index), take_own - j));
    }
    if constexpr (two_part)
      for (int i = team.team_rank(); i < noted; i += team.team_size()) {
        const int j = own + place_among(memory.close, noted, i);
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
      if (index == f.cell) r.count = 0;
      run[i] = r;
    }
    for (int i = team.team_rank(); i < run_groups; i += team.team_size())
      run[at.run_count + i].count = 0;  // for groups without a run
    at.entry += at.run_count;
    team.team_barrier();
  }
  KOKKOS_FUNCTION void store(Frame const& f, int i, Sums<Sum> const& value) const {
    Sums<Sum>& s = f.sums[i];
    Sums<Sum> old = s;
    old.potential += value.potential;
    old.x += value.x;
    old.y += value.y;
    old.z += value.z;
    s = old;
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION SourceRun<Real> run_of(Frame const& f, CellIndex index) const {
    const Cell source = cells(index);
    const Real per_edge = Real(1) / Real(f.leaf.edge());
    SourceRun<Real> r{
        source.body_begin, source.body_count, Real(source.edge()) * per_edge, {}, Real(0)};
    Real gap = 0;  // between the source's cube and the middle of the targets' leaf
    for (int d = 0; d < 3; ++d) {
      r.shift[d] = Real(source.centre[d] - f.leaf.centre[d]) * per_edge;
      const Real along = std::fabs(r.shift[d]) - Real(0.5) * r.ratio;
      gap = along > gap ? along : gap;
    }
    if constexpr (two_part) {
      const Real reach = Real(0.5) + margin * (r.ratio > Real(1) ? r.ratio : Real(1));
      if (gap < reach) r.reach = reach;
    }
    return r;
  }
  /// Bit l for body l of those at `s`, whose run has that reach: whether it is close. In `s` it is a gap from then on.
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t take_close(Real reach, Sources<V>& s) {
    if constexpr (W == 1) {
      const bool close =
          std::fmax(std::fmax(std::fabs(s.x), std::fabs(s.y)), std::fabs(s.z)) < reach;
      if (close) s.x = far_away<Real>;
      if (close) s.q = 0;
      return close;
    } else {
      const V x2 = s.x * s.x, y2 = s.y * s.y, z2 = s.z * s.z, xy2 = select(x2 > y2, x2, y2);
      const auto close = select(xy2 > z2, xy2, z2) < V(reach * reach);
      s.x = select(close, V(far_away<Real>), s.x);
      s.q = select(close, V(Real(0)), s.q);
      return bits_of(close);
    }
  }
  /// Bodies of the group's run: bit k for `body` + k step.
  KOKKOS_FORCEINLINE_FUNCTION void note(Memory const& memory, Frame const& f, Cursor const& at,
                                        int group, BodyIndex body, int step, CloseBits bits) const {
    for (; bits != 0; bits &= bits - 1)
      memory.close[next_place(memory)] = {
          body + step * lowest_bit(bits),
          list.entries(f.list_begin + at.entry - at.run_count + at.run + group)};
  }
  KOKKOS_FORCEINLINE_FUNCTION static int next_place(Memory const& memory) {
    if constexpr (shape.team == 1)
      return (*memory.close_count)++;
    else
      return Kokkos::atomic_fetch_add(memory.close_count, 1);
  }
  /// Where source i of those noted comes among them: threads note theirs in any order, sums want one.
  KOKKOS_FORCEINLINE_FUNCTION static int place_among(CloseSource const* close, int noted, int i) {
    if constexpr (shape.team == 1) {
      return i;
    } else {
      int place = 0;
      for (int k = 0; k < noted; ++k) place += close[k].body < close[i].body;
      return place;
    }
  }
  /// A noted source in two parts. What rounding leaves out of a coordinate's sum is found exactly (Dekker): its shift
  /// is larger, or a multiple of the other summand's last bit.
  template <class OwnChunk>
  KOKKOS_FORCEINLINE_FUNCTION void store_close(Frame const& f, CloseSource const& source,
                                               OwnChunk chunk, int to) const {
    const SourceRun<Real> run = run_of(f, source.cell);
    const Body<Real> b = bodies(source.body), l = low(source.body);
    const Real x[3] = {b.x, b.y, b.z}, rest[3] = {l.x, l.y, l.z};
    Real high[3], left[3];
    FMM_UNROLL
    for (int d = 0; d < 3; ++d) {
      high[d] = x[d] * run.ratio + run.shift[d];
      left[d] = (x[d] * run.ratio - (high[d] - run.shift[d])) + rest[d] * run.ratio;
    }
    chunk.high.store(to, high[0], high[1], high[2], b.q);
    chunk.low.store(to, left[0], left[1], left[2], Real(0));
  }
};

/// On a GPU noted sources take some of the scratch memory, and adding them some registers: 16 teams of a warp have
/// enough of both.
template <class Precision>
constexpr P2PShape near_field_shape(P2PShape shape) {
  if (two_part_v<Precision> && shape.split > 1) {
    shape.chunk /= 2;
    shape.resident = shape.resident > 0 ? 16 : 0;
  }
  return shape;
}

/// Adds to `sums` the pairs of every leaf with the cells of its row of `list`; its own cell is implied and
/// skipped in the list. `low` are the low parts of the bodies' coordinates, in mixed precision, which are used for sources
/// within `margin`. `parts` are of the rows of these tiles, if there are any.
template <class Want, class Precision, class Space, class Kernel>
void p2p(Space const& space, Kernel const& kernel_of_cube, Array<Cell, Space> cells,
         Array<Tile, Space> tiles, Csr<Space> list, Array<Body<real_t<Precision>>, Space> bodies,
         Array<Body<real_t<Precision>>, Space> low, Array<Sums<sum_t<Precision>>, Space> sums,
         TileParts<Space, sum_t<Precision>> parts = {}, double margin = largest_margin) {
  using Real = real_t<Precision>;
  using Shapes = Tuning<Space, Real>;
  const auto count = std::int64_t(tiles.extent(0));
  with_index<int(Shapes::near_field.size())>(
      Shapes::near_field_shape(count, space.concurrency()), [&](auto index) {
        constexpr P2PShape shape =
            near_field_shape<Precision>(Shapes::near_field[decltype(index)::value]);
        launch_p2p<Want>(
            space, count + parts.count(),
            NearField<Space, Kernel, Precision, shape>{cells, tiles, list, bodies, low, sums,
                                                       kernel_of_cube, parts, Real(margin)});
      });
  add_other_parts(space, parts, sums);
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
  using Parts = Chunk<V, shape.chunk, two_part>;
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
  static constexpr int runs = 0, close_room = 0;

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
                            WalkMemory<Real> const&, Parts chunk) const {
    constexpr int capacity = Parts::capacity;
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
  KOKKOS_FUNCTION int stage_own(TeamMember<Space> const& team, Frame const& f,
                                WalkMemory<Real> const&, int, int begin, Parts chunk) const {
    constexpr int capacity = Parts::capacity;
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
                            int count, Parts chunk) const {
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

}  // namespace fmm::kernels
