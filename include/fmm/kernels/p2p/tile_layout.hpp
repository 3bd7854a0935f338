// SPDX-License-Identifier: BSD-3-Clause
// How the tile kernel of P2P lays a tile out: which thread sums which targets, how it adds, and what the
// team has in scratch memory.
//
// A thread holds several targets in registers while a chunk passes, and sources come W at a time in the
// lanes of a vector. On a GPU, where W = 1, `split` threads share the same targets and take every
// split-th source each, so that a tile of any size keeps nearly all threads of the team busy; a last row of
// targets that is at most half full is shared by twice as many.
//
// Invariant: a target is summed by the threads of one column, or in a halved row of two, and stored by one
// thread.
#pragma once

#include <algorithm>
#include <cstddef>

#include "problem.hpp"

namespace fmm::kernels {

template <class Space, class Problem>
struct TileLayout {
  using Types = ProblemTypes<Space, Problem>;
  using Real = typename Types::Real;
  using Frame = typename Problem::Frame;
  static constexpr P2PShape shape = Problem::shape;
  static constexpr int records = Types::Out::records;
  static constexpr int W = lane_count_v<typename Types::V>;
  static constexpr int targets = shape.targets, split = shape.split;
  static constexpr int columns = shape.team / split;  ///< threads with different targets
  /// Blocks of targets that a thread works through for every chunk.
  static constexpr int blocks = shape.tile / (columns * targets);
  static_assert(shape.tile == blocks * columns * targets,
                "fmm: a tile of P2P is whole rows of targets of all columns of threads");
  static_assert(split == 1 || (blocks == 1 && W == 1),
                "fmm: threads of P2P that share targets have one block of these, and one lane");
  static_assert(split == 1 ||  // bits of what a thread stores
                (shape.tile + shape.team - 1) / shape.team * records <= 31);

  // ---- how a thread adds ----

  /// Whether totals in Real are handed on to the problem's own sums, in double, every so many sources: totals in double
  /// would take registers.
  static constexpr bool hands_on = Types::notes_close && split > 1;
  static constexpr int handed_on_after = 512 * split;
  using Total = std::conditional_t<Problem::long_sums && !hands_on, typename Types::Sum, Real>;
  /// Whether a thread adds to its totals source by source; else chunk by chunk, which rounds less.
  static constexpr bool source_by_source = split > 1 && (!Problem::long_sums || hands_on);
  /// Whether a last row of targets that fills half of the columns at most is shared by all: two threads have
  /// the same target then, and every second of their sources each.
  static constexpr bool halves = source_by_source && columns % 2 == 0;
  static_assert(!halves || targets <= 7);  // a loop of its own for every number of rows
  /// Pairs that the main loop is unrolled to. Teams with tiles of all sizes run together, each size has loops of
  /// its own, and all that runs together shall fit into the cache of instructions.
  static constexpr int unrolled = source_by_source ? 4 : 8;
  /// Whether the kernel's faster form is tried first, and all of a tile's sources or (where sums are handed on) its own
  /// and the close ones, which alone may meet a target then, are added again if it fails.
  static constexpr bool has_apart = HasApart<typename Problem::kernel>,
                        adds_again = source_by_source && has_apart && !leaves_tiles_v<Problem>;

  // ---- scratch memory ----

  using MainChunk = typename Types::MainChunk;
  using OwnChunk = typename Types::OwnChunk;
  /// A chunk is filled up to a multiple of so many sources.
  static constexpr int row = split * W * (halves ? 2 : 1);
  static_assert(MainChunk::capacity % row == 0 && OwnChunk::capacity % row == 0,
                "fmm: a chunk of P2P is whole rows of sources");
  static_assert(!Types::notes_close || Problem::close_room >= shape.chunk,
                "fmm: a problem of P2P that notes close sources has room for a chunk of them");
  /// Sources, and afterwards the sums of the threads that share targets.
  static constexpr int source_bytes =
                           std::max(MainChunk::numbers, OwnChunk::numbers) * int(sizeof(Real)),
                       totals = split > 1 ? shape.tile *split : 0,
                       total_bytes = totals * int(sizeof(Body<Total>));
  static constexpr int shared_bytes = source_bytes > total_bytes ? source_bytes : total_bytes;
  static constexpr std::size_t scratch_bytes =
      shared_bytes + Problem::runs * sizeof(SourceRun<Real>) +
      Problem::close_room * sizeof(CloseSource) + 2 * sizeof(int) + sizeof(Frame) +
      6 * scratch_alignment;

  // ---- which targets ----

  /// Target t of block b. The threads' targets are interleaved, so that a tile that is not full leaves none without.
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
  /// The one that a thread has in the place of that target: in a halved row the second thread has the first one's.
  KOKKOS_FORCEINLINE_FUNCTION static int held_target(TeamMember<Space> const& team,
                                                     Frame const& frame, int b, int t) {
    int i = target_of(team, b, t);
    if (is_halved(frame, b, t) && is_odd(team)) i -= columns / 2;
    return within(frame, i);
  }
  /// Whether this is the second one of such two threads.
  KOKKOS_FORCEINLINE_FUNCTION static bool is_odd(TeamMember<Space> const& team) {
    return team.team_rank() % columns >= columns / 2;
  }
};

}  // namespace fmm::kernels
