// SPDX-License-Identifier: BSD-3-Clause
// The walks of a level's targets on a GPU, in two passes: the first counts entries, the second writes them.
#pragma once

#include "walks.hpp"

namespace fmm::tree {

/// Both passes over the rows of `begin` + i. In the first the rows' lengths are counted, list by list; in the
/// second offsets and entries are written. A team walks the sources of one target; those that wait are on a
/// stack in scratch memory, from which it decides one a thread at a time. Where a level has few rows, a row has
/// `shares` teams: all decide about the sources that the target starts with, and each takes every eighth of these and
/// one child of those that are split.
template <class Space, class Walk, bool Write>
struct TraverseRows {
  static constexpr int stack_size = 1024;
  static constexpr int reserve = depth_first_stack;
  static constexpr std::size_t scratch_bytes = stack_size * sizeof(CellIndex) + scratch_alignment;

  Walk walk;
  CellIndex begin;
  std::int64_t rows;
  int shares;                 ///< of a row: 1 or 8
  Array<int, Space> counts;   ///< of entries, list by list, row by row, share by share
  Array<Offset, Space> sums;  ///< second pass: of all counts before
  Csr<Space>
      lists[list_kinds];  ///< second pass: offsets of these rows, and all the memory for entries
  Array<Offset, Space> base;     ///< second pass: where each list ended before this level
  Array<Offset, Space> end;      ///< second pass: where it ends after it
  Array<Offset, Space> longest;  ///< second pass: of M2P's and P2P's rows so far

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const int index = team.league_rank() / shares, share = team.league_rank() - index * shares;
    CellIndex* const stack = scratch_array<CellIndex>(team, 0, stack_size);
    Row row{};
    if constexpr (Write) begin_row(team, index, share, row);
    in_batches(team, row, walk.target(begin + index), share, stack);
    if constexpr (!Write)
      if (team.team_rank() == 0)
        for (int list = 0; list < list_kinds; ++list)
          counts((list * rows + index) * shares + share) = row.length[list];
  }

 private:
  using Target = typename Walk::Target;
  struct Row {
    int length[list_kinds];        ///< entries so far
    CellIndex* entry[list_kinds];  ///< where they go; nullptr if there is no room
  };

  /// Writes the row's offsets and finds the memory for the share's entries.
  KOKKOS_FORCEINLINE_FUNCTION void begin_row(TeamMember<Space> const& team, int index, int share,
                                             Row& row) const {
    FMM_UNROLL
    for (int list = 0; list < list_kinds; ++list) {
      const std::int64_t first_share = (list * rows + index) * shares, at = first_share + share;
      const Offset first = list == list_open || begin == 0 ? 0 : base(list),
                   from = first + sums(at) - sums(list * rows * shares), to = from + counts(at);
      row.entry[list] =
          to <= Offset(lists[list].entries.extent(0)) ? lists[list].entries.data() + from : nullptr;
      if (team.team_rank() != 0 || share != 0) continue;
      if (Walk::fills(list)) lists[list].offsets(index) = from;
      const Offset length = sums(first_share + shares) - sums(first_share);
      if ((list == list_m2p || list == list_p2p) && length > longest(list))
        Kokkos::atomic_fetch_max(&longest(list), length);
      if (index < rows - 1) continue;
      if (Walk::fills(list)) lists[list].offsets(rows) = from + length;
      end(list) = from + length;
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void in_batches(TeamMember<Space> const& team, Row& row,
                                              Target const& target, int share,
                                              CellIndex* stack) const {
    constexpr int batch = 32;  // the team
    const int rank = team.team_rank();
    const std::uint32_t lower_ranks = (std::uint32_t(1) << rank) - 1;
    int waiting = 0;
    for (int started = 0;;) {
      int n, number = -1;  // number: of a start
      CellIndex index = 0;
      if (waiting > 0) {
        // so few that the children of all find room
        const int room = (stack_size - reserve - waiting) / 7;
        const int most = room < 1 ? 1 : room < batch ? room : batch;
        n = waiting < most ? waiting : most;
        waiting -= n;
        if (rank < n) index = stack[waiting + rank];
        team.team_barrier();
      } else {
        if (started == target.starts) break;
        n = target.starts - started < batch ? target.starts - started : batch;
        number = started + rank;
        if (rank < n) index = walk.start(target, number);
        started += n;
      }
      int decision = -1, children = 0;
      CellIndex child = 0;
      if (rank < n) {
        const Cell source = walk.source_cell(index);
        decision = walk.decide(target, index, source);
        if (decision == split && source.is_unopened())
          decision = list_p2p;  // an entry that says that its children are wanted (images.hpp)
        if (decision == split) {
          children = source.child_count;
          child = source.child_begin;
        }
        if (shares > 1 && number >= 0) {
          const int mine = (number + share) % shares;
          if (decision == split) {
            child += mine;
            children = mine < children;
          } else if (mine != 0) {
            decision = -1;
          }
        }
      }
      FMM_UNROLL
      for (int list = 0; list < list_kinds; ++list) {
        if (!Walk::fills(list)) continue;
        const std::uint32_t mine = vote(team, decision == list);
        if constexpr (Write)
          if (decision == list && row.entry[list])
            row.entry[list][row.length[list] + count_bits(mine & lower_ranks)] = index;
        row.length[list] += count_bits(mine);
      }
      int top = waiting;
      FMM_UNROLL
      for (int bit = 0; bit < 4; ++bit) {  // the sums of up to eight children each
        const std::uint32_t set = vote(team, children >> bit & 1);
        top += count_bits(set & lower_ranks) << bit;
        waiting += count_bits(set) << bit;
      }
      for (int i = 0; i < children; ++i) stack[top + i] = child + i;
      team.team_barrier();
    }
  }
};

}  // namespace fmm::tree
