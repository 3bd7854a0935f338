// SPDX-License-Identifier: BSD-3-Clause
// The walks of a level's targets, in two passes: the first counts entries, the second writes them.
#pragma once

#include "walks.hpp"

namespace fmm::detail {

/// What the walks of a level's rows decided: blocks of rows, each with as much memory, and how many rows of a
/// block found room in it. A byte a decision: a ListIndex, or the suspects of a family. On a GPU, which does not
/// keep it, a block is a row.
template <class Space>
struct DecisionLog {
  std::int64_t blocks;
  int rows_per_block;
  Array<std::uint8_t, Space> decisions;
  Array<int, Space> logged_rows;

  KOKKOS_FUNCTION std::uint8_t* begin(std::int64_t block) const {
    return decisions.data() + std::int64_t(decisions.extent(0)) / blocks * block;
  }
};

/// By a set of up to eight siblings: these, one after the other.
struct Members {
  std::uint8_t of[256][8];

  constexpr Members() : of{} {
    for (int set = 0; set < 256; ++set)
      for (int i = 0, n = 0; i < 8; ++i)
        if (set >> i & 1) of[set][n++] = std::uint8_t(i);
  }
};
inline constexpr Members members;

/// `first` + each member of `set`, one after the other, to memory with that much `room`. Behind them entries within
/// the room may be overwritten, which later calls fill.
KOKKOS_FORCEINLINE_FUNCTION void write_members(std::uint32_t set, CellIndex first, CellIndex* to,
                                               int room) {
#if !defined(__CUDA_ARCH__)
  if (room >= 8) {
    for (int i = 0; i < 8; ++i) to[i] = first + members.of[set][i];
    return;
  }
#endif
  for (; set != 0 && room > 0; set &= set - 1, --room) *to++ = first + lowest_bit(set);
}

/// What sibling targets, which start with the same sources, make of the first of these: decided once for all of
/// them, on a CPU.
template <class Walk>
class SiblingStarts {
 public:
  /// For the targets that have this one's parent. Keeps what it knows of the family asked for last.
  KOKKOS_FORCEINLINE_FUNCTION void of(Walk const& walk, typename Walk::Target const& target) {
    if constexpr (Walk::starts_in_families) {
      const CellIndex parent = walk.cells(target.index).parent;
      if (parent == parent_) return;
      parent_ = parent;
      count_ = 0;
      if (parent < 0) return;
      first_ = walk.cells(parent).child_begin;
      const int siblings = walk.cells(parent).child_count;
      count_ = target.starts < most ? target.starts : most;
      for (int i = 0; i < count_; ++i) {
        const CellIndex source = walk.start(target, i);
        const Cell cell = walk.cells(source);
        starts_[i] = {std::uint8_t(walk.suspecting(source, first_, siblings)),
                      std::int8_t(cell.is_leaf() ? -1 - cell.level : cell.level)};
      }
    }
  }

  /// Whether start i of the target is known, and then whether it is suspect.
  KOKKOS_FORCEINLINE_FUNCTION bool knows(int i) const { return i < count_; }
  KOKKOS_FORCEINLINE_FUNCTION bool is_suspect(typename Walk::Target const& target, int i) const {
    return starts_[i].targets >> (target.index - first_) & 1;
  }
  /// What becomes of it if it is not accepted.
  KOKKOS_FORCEINLINE_FUNCTION ListIndex refused(typename Walk::Target const& target, int i) const {
    const int level = starts_[i].level;
    return Walk::refused(target, level < 0 ? -1 - level : level, level < 0);
  }

 private:
  static constexpr int most = 512;
  struct Start {
    std::uint8_t targets;  ///< that suspect it: bits
    std::int8_t level;     ///< of a leaf -1 - level
  };
  CellIndex parent_ = -2, first_ = 0;
  int count_ = 0;
  Start starts_[most];
};

/// Decides the sources of one target, `one` alone or which `suspects` there are among siblings, and writes down what
/// it decides as long as there is room.
template <class Walk>
struct Deciding {
  Walk const& walk;
  typename Walk::Target const& target;
  SiblingStarts<Walk> const& starts;
  std::uint8_t* next;
  std::uint8_t* full;
  bool room = true;

  KOKKOS_FORCEINLINE_FUNCTION ListIndex start(int i, CellIndex index) {
    if constexpr (Walk::starts_in_families)
      if (starts.knows(i)) {
        if (!starts.is_suspect(target, i))
          return ListIndex(logged(std::uint8_t(starts.refused(target, i))));
        if constexpr (Walk::certain) return ListIndex(logged(list_m2l));
      }
    return one(index);
  }
  KOKKOS_FORCEINLINE_FUNCTION ListIndex one(CellIndex index) {
    return ListIndex(logged(std::uint8_t(walk.decide(target, index, walk.cells(index)))));
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t suspects(CellIndex first, int count) {
    return logged(std::uint8_t(walk.suspects(target, first, count)));
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION std::uint8_t logged(std::uint8_t decision) {
    if (next < full)
      *next++ = decision;
    else
      room = false;
    return decision;
  }
};

/// Repeats what was written down.
struct Repeating {
  std::uint8_t* next;
  KOKKOS_FORCEINLINE_FUNCTION ListIndex start(int, CellIndex) { return ListIndex(*next++); }
  KOKKOS_FORCEINLINE_FUNCTION ListIndex one(CellIndex) { return ListIndex(*next++); }
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t suspects(CellIndex, int) { return *next++; }
};

/// Both passes over the rows of `begin` + i. In the first the rows' lengths are counted, list by list; in the
/// second offsets and entries are written. On a GPU a team walks the sources of one target; those that wait
/// are on a stack in scratch memory, from which it decides one a thread at a time. On a CPU a thread walks a
/// block of rows one by one, a family of siblings at a time, and writes down what it decides, so that the second
/// pass need not decide again.
template <class Space, class Walk, bool Write>
struct TraverseRows {
  static constexpr int stack_size = 1024;
  /// Depth first, one at a time, a walk needs no more than this.
  static constexpr int reserve = 7 * max_tree_depth + 8;
  static constexpr std::size_t scratch_bytes = stack_size * sizeof(CellIndex) + scratch_alignment;

  Walk walk;
  Array<Cell, Space> cells;
  CellIndex begin;
  std::int64_t rows;
  DecisionLog<Space> log;
  Array<int, Space> counts;   ///< of entries, list by list
  Array<Offset, Space> sums;  ///< second pass: of all counts before
  Csr<Space>
      lists[list_kinds];  ///< second pass: offsets of these rows, and all the memory for entries
  Array<Offset, Space> base;  ///< second pass: where each list ended before this level
  Array<Offset, Space> end;   ///< second pass: where it ends after it

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    CellIndex* const stack = scratch_array<CellIndex>(team, 0, stack_size);
    if constexpr (is_host_space_v<Space>) {
      walk_block(team, stack);
    } else {
      Row row = opened_row(team, team.league_rank());
      in_batches(team, row, walk.target(begin + row.index), stack);
      close_row(team, row);
    }
  }

 private:
  using Target = typename Walk::Target;
  struct Row {
    int index;
    int length[list_kinds];        ///< entries so far
    int room[list_kinds];          ///< second pass: entries in all
    CellIndex* entry[list_kinds];  ///< where they go; nullptr if there is no room
  };

  /// With the offsets of the row, and the memory for its entries.
  KOKKOS_FORCEINLINE_FUNCTION Row opened_row(TeamMember<Space> const& team, int index) const {
    Row row{index, {}, {}, {}};
    if constexpr (Write) {
      FMM_UNROLL
      for (int list = 0; list < list_kinds; ++list) {
        const std::int64_t at = list * rows + index;
        const Offset first = list == list_open || begin == 0 ? 0 : base(list),
                     from = first + sums(at) - sums(list * rows), to = from + counts(at);
        row.room[list] = counts(at);
        row.entry[list] = to <= Offset(lists[list].entries.extent(0))
                              ? lists[list].entries.data() + from
                              : nullptr;
        if (team.team_rank() != 0) continue;
        if (Walk::fills(list)) lists[list].offsets(index) = from;
        if (index < rows - 1) continue;
        if (Walk::fills(list)) lists[list].offsets(rows) = to;
        end(list) = to;
      }
    }
    return row;
  }
  KOKKOS_FORCEINLINE_FUNCTION void close_row(TeamMember<Space> const& team, Row const& row) const {
    if constexpr (!Write)
      if (team.team_rank() == 0)
        for (int list = 0; list < list_kinds; ++list)
          counts(list * rows + row.index) = row.length[list];
  }

  KOKKOS_FORCEINLINE_FUNCTION void walk_block(TeamMember<Space> const& team,
                                              CellIndex* stack) const {
    const std::int64_t block = team.league_rank(), first = block * log.rows_per_block,
                       past = first + log.rows_per_block, last = past < rows ? past : rows;
    std::uint8_t *next = log.begin(block), *const full = log.begin(block + 1);
    std::int64_t logged = Write ? first + log.logged_rows(block) : first;  // rows before this one
    bool room = true;
    SiblingStarts<Walk> starts;
    for (std::int64_t i = first; i < last; ++i) {
      Row row = opened_row(team, int(i));
      const auto target = walk.target(begin + row.index);
      if (Write && i < logged) {
        Repeating repeating{next};
        in_families(row, target, stack, repeating);
        next = repeating.next;
      } else {
        starts.of(walk, target);
        Deciding<Walk> deciding{walk, target, starts, next, Write ? next : full};
        in_families(row, target, stack, deciding);
        next = deciding.next;
        room = room && deciding.room;
        if (!Write && room) logged = i + 1;
      }
      close_row(team, row);
    }
    if constexpr (!Write) log.logged_rows(block) = int(logged - first);
  }

  /// The sources that a target starts with one by one, and whatever is split, on the stack, family by family.
  template <class Judge>
  KOKKOS_FORCEINLINE_FUNCTION void in_families(Row& row, Target const& target, CellIndex* stack,
                                               Judge& judge) const {
    int waiting = 0;
    const auto add = [&](int list, CellIndex first, std::uint32_t siblings) {
      if constexpr (Write)
        if (row.entry[list])
          write_members(siblings, first, row.entry[list] + row.length[list],
                        row.room[list] - row.length[list]);
      row.length[list] += count_bits(siblings);
    };
    const auto add_one = [&](CellIndex index, ListIndex list) {
      if (list == split)
        stack[waiting++] = index;
      else
        add(list, index, 1);
    };
    for (int start = 0; start < target.starts; ++start) {
      const CellIndex index = walk.start(target, start);
      add_one(index, judge.start(start, index));
      while (waiting > 0) {
        const CellIndex parent = stack[--waiting];
        const CellIndex first = cells(parent).child_begin;
        const int count = cells(parent).child_count, level = cells(parent).level + 1;
        const std::uint32_t leaves = walk.families.leaf_children(parent),
                            suspects = judge.suspects(first, count),
                            refused = ((1u << count) - 1) & ~suspects;
        const ListIndex of_leaves = Walk::refused(target, level, true),
                        of_others = Walk::refused(target, level, false);
        if constexpr (Walk::certain) {
          add(list_m2l, first, suspects);
        } else {
          for (std::uint32_t left = suspects; left != 0; left &= left - 1) {
            const CellIndex index = first + lowest_bit(left);
            add_one(index, judge.one(index));
          }
        }
        add(of_leaves, first, refused & leaves);
        if (of_others != split) {
          add(of_others, first, refused & ~leaves);
        } else {
          for (std::uint32_t left = refused & ~leaves; left != 0; left &= left - 1)
            stack[waiting++] = first + lowest_bit(left);
        }
      }
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void in_batches(TeamMember<Space> const& team, Row& row,
                                              Target const& target, CellIndex* stack) const {
    constexpr int batch = 32;  // the team
    const int rank = team.team_rank();
    const std::uint32_t lower_ranks = (std::uint32_t(1) << rank) - 1;
    int waiting = 0;
    for (int started = 0;;) {
      int n;
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
        if (rank < n) index = walk.start(target, started + rank);
        started += n;
      }
      int decision = -1, children = 0;
      CellIndex child = 0;
      if (rank < n) {
        const Cell source = cells(index);
        decision = walk.decide(target, index, source);
        if (decision == split) {
          children = source.child_count;
          child = source.child_begin;
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

}  // namespace fmm::detail
