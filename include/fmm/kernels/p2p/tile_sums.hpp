// SPDX-License-Identifier: BSD-3-Clause
// The tile kernel of P2P: a team sums the pairs of a tile's targets with all of the tile's sources (Yokota
// & Barba 2011, listing 9.1). What the tile is a problem says (problem.hpp); which thread does what,
// tile_layout.hpp; what a pair adds, pairs.hpp.
//
// The sources pass in chunks through scratch memory: first, or together with close sources that the
// problem noted, the own sources, with the comparison that leaves a target out of its own sum; then all
// others, which need none. Nor do the others need the pair kernel's guard against bodies at one point: a
// sum that is not finite in the end is summed again with it.
//
// Cost: 20 flops a pair for potential and force, 19 for the force, as the chapter counts. The order of a
// target's sum depends on problem and shape alone.
#pragma once

#include <new>

#include "../mapping/tile.hpp"
#include "tile_layout.hpp"

namespace fmm::kernels {

template <class Space, P2PProblem<Space> Problem>
struct P2P {
  using Layout = TileLayout<Space, Problem>;
  using Types = ProblemTypes<Space, Problem>;
  using Real = typename Types::Real;
  using V = typename Types::V;
  using MainChunk = typename Types::MainChunk;
  using OwnChunk = typename Types::OwnChunk;
  using Memory = typename Types::Memory;
  using Frame = typename Problem::Frame;
  using Pair = decltype(Frame::pair);  ///< the kernel
  using Total = typename Layout::Total;
  using Strengths = typename Types::Strengths;
  using Out = typename Types::Out;
  static constexpr int records = Out::records;
  using TotalSums = TargetSums<Total, records>;
  using Totals = TotalSums[Layout::targets];
  using Places = typename Types::MainPlace[Layout::targets];
  static constexpr P2PShape shape = Problem::shape;
  static constexpr int targets = Layout::targets, blocks = Layout::blocks,
                       columns = Layout::columns, split = Layout::split;
  static constexpr bool notes_close = Types::notes_close, leaves_tiles = leaves_tiles_v<Problem>,
                        hands_on = Layout::hands_on, source_by_source = Layout::source_by_source,
                        halves = Layout::halves, has_apart = Layout::has_apart,
                        adds_again = Layout::adds_again;
  // of a TileAction
  static constexpr int team_size = shape.team, resident = shape.resident;
  static constexpr int scratch_level = Tuning<Space, Real>::scratch_level;
  static constexpr std::size_t scratch_bytes = Layout::scratch_bytes;

  Problem problem;

  /// What a thread holds in registers.
  struct Held {
    Places at[blocks];
    Totals total[blocks];
  };

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    if constexpr (requires { problem.takes(0); })
      if (!problem.takes(team.league_rank())) return;
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
    char* const shared = scratch_array<char>(team, scratch_level, Layout::shared_bytes);
    Memory memory{scratch_array<SourceRun<Real>>(team, scratch_level, Problem::runs)};
    if constexpr (notes_close) {
      memory.close_count = scratch_array<int>(team, scratch_level, 1);
      memory.close = scratch_array<CloseSource>(team, scratch_level, Problem::close_room);
    }
    Held held;
    FMM_UNROLL
    for (int b = 0; b < blocks; ++b) FMM_UNROLL
    for (int t = 0; t < targets; ++t)
      problem.target(frame, Layout::held_target(team, frame, b, t), held.at[b][t]);
    if constexpr (adds_again) {
      memory.again = scratch_array<int>(team, scratch_level, 1);
      if (team.team_rank() == 0) *memory.again = 0;
    }
    if constexpr (leaves_tiles) {
      memory.left = scratch_array<int>(team, scratch_level, 1);
      if (team.team_rank() == 0) *memory.left = 0;
    }
    walk<false>(team, frame, shared, memory, held);
    if constexpr (leaves_tiles) {
      const bool left = *memory.left != 0;
      if (team.team_rank() == 0) problem.leave(team.league_rank(), left);
      if (left) return;
    }
    if constexpr (!hands_on)
      store_or_again(team, frame, shared, memory, held,
                     [&] { walk<true>(team, frame, shared, memory, held); });
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

  /// Adds all sources. They may coincide with targets, or (the kernel's faster form) do not as a rule.
  template <bool MayCoincide>
  KOKKOS_FORCEINLINE_FUNCTION void walk(TeamMember<Space> const& team, Frame const& frame,
                                        char* shared, Memory memory, Held& held) const {
    if constexpr (!notes_close)
      add_own<MayCoincide>(team, frame, shared, memory, 0, 0, held);
    else if (team.team_rank() == 0)
      *memory.close_count = 0;
    if constexpr (leaves_tiles) {
      team.team_barrier();
      if (*memory.left != 0) return;
    }
    if constexpr (!only_own_v<Problem>) add_others<MayCoincide>(team, frame, shared, memory, held);
  }

  /// Adds the sources of `load`, and where close ones are noted the own and these.
  template <bool MayCoincide>
  KOKKOS_FORCEINLINE_FUNCTION void add_others(TeamMember<Space> const& team, Frame const& frame,
                                              char* shared, Memory memory, Held& held) const {
    [[maybe_unused]] int own = 0;  // how many of the own sources were added
    const MainChunk chunk(reinterpret_cast<Real*>(shared));
    auto cursor = problem.begin(frame);
    [[maybe_unused]] int added = 0;  // sources that are not handed on yet
    while (true) {
      team.team_barrier();
      const int count = problem.load(team, frame, cursor, memory, chunk);
      if (count > 0)
        add<Overlap{.may_coincide = MayCoincide, .has_self = false}>(
            team, frame, chunk, pad(team, chunk, count), 0, held);
      if constexpr (leaves_tiles)
        if (count > 0 && *memory.left != 0) break;  // seen by all, after the barrier of pad
      added += count;
      if constexpr (notes_close) {
        const int noted = *memory.close_count;
        const bool now = count == 0 || noted > Problem::close_room - shape.chunk;
        if (hands_on && added > 0 && (now || added >= handed_on_after())) {
          store(team, frame, shared, held, ~0u >> 1);  // whatever they are: these meet no target
          clear(held);
          added = 0;
        }
        if (now) {
          add_own<MayCoincide>(team, frame, shared, memory, own, noted, held);
          if constexpr (hands_on) {
            store_or_again(team, frame, shared, memory, held,
                           [&] { add_own<true>(team, frame, shared, memory, own, noted, held); });
            clear(held);
          }
          own = problem.own_count(frame);
          if (team.team_rank() == 0) *memory.close_count = 0;
        }
      }
      if (count == 0) break;
    }
  }

  /// Sources after which totals are handed on.
  KOKKOS_FORCEINLINE_FUNCTION int handed_on_after() const {
    if constexpr (requires { problem.short_sums; })
      if (problem.short_sums) return shape.chunk;
    return Layout::handed_on_after;
  }

  /// Adds the own sources, from number `begin` on, and after them the noted ones.
  template <bool MayCoincide>
  KOKKOS_FORCEINLINE_FUNCTION void add_own(TeamMember<Space> const& team, Frame const& frame,
                                           char* shared, Memory memory, std::int64_t begin,
                                           int noted, Held& held) const {
    const OwnChunk chunk(reinterpret_cast<Real*>(shared));
    const std::int64_t end = problem.own_count(frame) + noted;
    for (; begin < end; begin += OwnChunk::capacity) {
      team.team_barrier();
      const int count = problem.load_own(team, frame, memory, noted, int(begin), chunk),
                padded = pad(team, chunk, count);
      if constexpr (leaves_tiles)
        look_for_close(team, frame, memory, chunk, padded, int(begin), held);
      add<Overlap{.may_coincide = MayCoincide, .has_self = true}>(team, frame, chunk, padded,
                                                                  int(begin), held);
    }
  }

  /// Whether one of the thread's own sources is close to one of its targets.
  KOKKOS_FORCEINLINE_FUNCTION void look_for_close(TeamMember<Space> const& team, Frame const& frame,
                                                  Memory memory, OwnChunk chunk, int count,
                                                  int begin, Held const& held) const {
    static_assert(blocks == 1 && lane_count_v<V> == 1);
    int self[targets];
    FMM_UNROLL
    for (int t = 0; t < targets; ++t)
      self[t] = problem.own_index(frame, Layout::held_target(team, frame, 0, t)) - begin;
    const bool any = any_closer(chunk, team.team_rank() / columns, count, split, self, held.at[0],
                                softening2<Real>(frame.pair), problem.close2(frame));
    if (any) Kokkos::atomic_add(memory.left, 1);
  }

  /// Uncharged sources, far away, up to a full row of blocks; returns how many sources there are then.
  template <class SomeChunk>
  KOKKOS_FORCEINLINE_FUNCTION static int pad(TeamMember<Space> const& team, SomeChunk chunk,
                                             int count) {
    const int padded = (count + Layout::row - 1) / Layout::row * Layout::row;
    for (int j = count + team.team_rank(); j < padded; j += team.team_size()) {
      chunk.high.store(j, far_away<Real>, far_away<Real>, far_away<Real>, Real(0));
      for (int k = 1; k < SomeChunk::strengths; ++k) chunk.high.store_strength(j, k, Real(0));
      if constexpr (SomeChunk::two_part) chunk.low.store(j, Real(0), Real(0), Real(0), Real(0));
    }
    team.team_barrier();
    return padded;
  }

  /// Adds the loaded sources to all blocks of targets.
  template <Overlap Kind, class SomeChunk>
  KOKKOS_FORCEINLINE_FUNCTION void add(TeamMember<Space> const& team, Frame const& frame,
                                       SomeChunk chunk, int count, int begin, Held& held) const {
    // only the main loop is compiled for every number of targets: code has its caches, too
    constexpr bool main = Kind.none(),
                   own = source_by_source && !Kind.may_coincide && Kind.has_self;
    constexpr int least = main ? 1 : own ? targets - 1 : targets;
    FMM_UNROLL
    for (int b = 0; b < blocks; ++b)
      if (Layout::rows(frame, b) > 0)
        add_block<Kind, least>(team, frame, chunk, count, begin, b, held);
  }

  /// Adds them to block b, which needs at least `Targets` targets a thread.
  template <Overlap Kind, int Targets, class SomeChunk>
  KOKKOS_FORCEINLINE_FUNCTION void add_block(TeamMember<Space> const& team, Frame const& frame,
                                             SomeChunk chunk, int count, int begin, int b,
                                             Held& held) const {
    if constexpr (Targets < targets)
      if (Layout::rows(frame, b) > Targets)
        return add_block<Kind, (Targets < 6 ? Targets + 1 : targets)>(team, frame, chunk, count,
                                                                      begin, b, held);
    Place<Real, SomeChunk::two_part> at[targets];
    FMM_UNROLL
    for (int t = 0; t < Targets; ++t)
      if constexpr (SomeChunk::two_part == Types::main_two_part) {
        at[t] = held.at[b][t];
      } else {  // low parts take no registers in the main loop
        problem.target(frame, Layout::within(frame, Layout::target_of(team, b, t)), at[t]);
        FMM_UNROLL
        for (int d = 0; d < 3; ++d) at[t].x[d] = held.at[b][t].x[d];
      }
    Totals& total = held.total[b];
    int self[targets] = {};
    if constexpr (Kind.has_self) {
      FMM_UNROLL
      for (int t = 0; t < Targets; ++t)
        self[t] =
            problem.own_index(frame, Layout::within(frame, Layout::target_of(team, b, t))) - begin;
      // scattered targets are in few of the chunks
      if constexpr (!source_by_source && !notes_close && !Kind.may_coincide) {
        bool among = false;
        FMM_UNROLL
        for (int t = 0; t < Targets; ++t) among = among || (self[t] >= 0 && self[t] < count);
        if (!among)
          return add_block<Overlap{.may_coincide = Kind.may_coincide, .has_self = false}, targets>(
              team, frame, chunk, count, begin, b, held);
      }
    }
    const int first = split == 1 ? 0 : team.team_rank() / columns;
    if constexpr (source_by_source) {
      if (halves && Kind.none() && Layout::ends_halved(frame))
        accumulate_halved<Strengths, Out, Targets, Layout::unrolled>(
            frame.pair, chunk, first, count, split, Layout::is_odd(team), at, total);
      else
        accumulate<Strengths, Out, Kind, Targets, Layout::unrolled>(frame.pair, chunk, first, count,
                                                                    split, self, at, total);
      // one of two threads is enough here, where no others were added before
      if constexpr (!Kind.none()) {
        FMM_UNROLL
        for (int t = 0; t < targets; ++t)
          if (Layout::is_halved(frame, b, t) && Layout::is_odd(team)) total[t] = {};
      }
    } else {
      TargetSums<V, records> of_lanes[targets];
      accumulate<Strengths, Out, Kind, Targets, Layout::unrolled>(frame.pair, chunk, first, count,
                                                                  split, self, at, of_lanes);
      TargetSums<Real, records> sum[Targets];
      bool finite = true;
      FMM_UNROLL
      for (int t = 0; t < Targets; ++t) {
        sum[t] = of_lanes[t].over_lanes();
        if constexpr (sums_twice_rsqrt<Strengths, Out, Kind, Pair, V>) FMM_UNROLL
        for (int r = 0; r < records; ++r) {
          TargetSums<Real>& s = sum[t].record(r);
          s = {s.potential * Real(0.5), s.x * Real(0.125), s.y * Real(0.125), s.z * Real(0.125)};
        }
        finite = finite && sum[t].finite();
      }
      // where close sources are noted, others meet no target
      if constexpr (!Kind.may_coincide && has_apart && (!notes_close || Kind.has_self))
        if (!finite) return add_coincident<Kind>(team, frame, chunk, count, begin, b, held);
      FMM_UNROLL
      for (int t = 0; t < Targets; ++t) total[t] += sum[t];
    }
  }

  /// The same again for sources of which one was found to be at a target.
  template <Overlap Kind, class SomeChunk>
  FMM_NOINLINE KOKKOS_FUNCTION void add_coincident(TeamMember<Space> const& team,
                                                   Frame const& frame, SomeChunk chunk, int count,
                                                   int begin, int b, Held& held) const {
    add_block<Overlap{.may_coincide = true, .has_self = Kind.has_self}, targets>(
        team, frame, chunk, count, begin, b, held);
  }

  /// Stores the totals whose bits of `wanted` are set: bit k for the k-th record of a target that this thread
  /// stores. Threads that share targets meet in scratch memory. Returns the bits of those that were not stored
  /// since they are not finite, where the kernel has another form for these.
  KOKKOS_FORCEINLINE_FUNCTION unsigned store(TeamMember<Space> const& team, Frame const& frame,
                                             char* shared, Held const& held,
                                             unsigned wanted) const {
    const auto put = [&](int i, int record, TargetSums<Total> const& total) {
      problem.store(frame, i, record,
                    in_units_of_results<Strengths, Out, Pair, typename Types::Sum>(
                        total, record, frame.potential_unit, frame.field_unit));
    };
    unsigned left = 0;
    if constexpr (split == 1) {
      FMM_UNROLL
      for (int b = 0; b < blocks; ++b) FMM_UNROLL
      for (int t = 0; t < targets; ++t)
        if (const int i = Layout::target_of(team, b, t); i < frame.count) {
          FMM_UNROLL
          for (int r = 0; r < records; ++r) put(i, r, held.total[b][t].record(r));
        }
    } else {
      const int share = team.team_rank() / columns;
      Body<Total>* const scratch = reinterpret_cast<Body<Total>*>(shared);
      unsigned bit = 1;
      FMM_UNROLL
      for (int r = 0; r < records; ++r) {
        team.team_barrier();
        FMM_UNROLL
        for (int t = 0; t < targets; ++t) {
          TargetSums<Total> const& total = held.total[0][t].record(r);
          scratch[share * shape.tile + Layout::target_of(team, 0, t)] = {total.x, total.y, total.z,
                                                                         total.potential};
        }
        team.team_barrier();
        for (int i = team.team_rank(); i < frame.count; i += team.team_size(), bit <<= 1) {
          TargetSums<Total> total;
          for (int s = 0; s < split; ++s) {
            const Body<Total> of_share = scratch[s * shape.tile + i];
            total += TargetSums<Total>{of_share.q, of_share.x, of_share.y, of_share.z};
            if (Layout::is_halved(frame, 0, i / columns)) {
              const Body<Total> other = scratch[s * shape.tile + i + columns / 2];
              total += TargetSums<Total>{other.q, other.x, other.y, other.z};
            }
          }
          if (adds_again && wanted == ~0u && !total.finite())
            left |= bit;
          else if ((wanted & bit) != 0)
            put(i, r, total);
        }
      }
    }
    return left;
  }
};

/// Sums the tiles 0 .. tiles - 1 of a problem. Asynchronous; without tiles nothing is launched.
template <class Space, class Problem>
void launch_p2p(Space const& space, std::int64_t tiles, Problem const& problem) {
  static_assert(P2PProblem<Problem, Space>,
                "fmm: a problem of P2P must provide the members that the comment on P2PProblem "
                "lists (kernels/p2p/problem.hpp)");
  for_tiles("fmm::p2p", space, tiles, P2P<Space, Problem>{problem});
}

}  // namespace fmm::kernels
