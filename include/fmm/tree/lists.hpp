// SPDX-License-Identifier: BSD-3-Clause
// Interaction lists: which source cells act on which target cells, and how. Rows by target, so that
// every target owns its sums.
//
// Two traversals fill them, in two passes (count, scan, write):
//
// * DualWalk descends targets and sources together, a level of targets at a time. A target inherits from
//   its parent the sources that are still open; each is accepted, split, or passed on to the target's
//   own children. Between two leaves it becomes P2P.
// * BarnesHutWalk descends the sources for each target leaf on its own.
//
// The lengths of the lists are not known beforehand. If there is memory from an earlier build, the passes
// of all levels are put into the space's queue without waiting for any; only where that memory turns out
// to be too small, and the first time, the host waits for every level's lengths and makes room.
//
// Every pair of bodies is in exactly one entry, counted along the target's ancestors. Where expansions stand
// for the pair kernel only from some distance on, no two bodies of an accepted pair of cells are nearer.
#pragma once

#include <array>

#include "../detail/scan.hpp"
#include "../detail/simd.hpp"
#include "coarse_field.hpp"
#include "criteria.hpp"
#include "octree.hpp"

namespace fmm::detail {

template <class Space>
struct InteractionLists {
  Csr<Space> m2l;  ///< by cell
  Csr<Space> p2l;  ///< by cell; the sources are leaves
  Csr<Space> m2p;  ///< by cell; only leaves have entries
  Csr<Space> p2p;  ///< by cell; only leaves have entries; a leaf is in its own row
};

/// A list under construction: offsets of all cells, and entries that are added level by level.
template <class Space>
struct ListBuffers {
  Buffer<Offset, Space> offsets;
  Buffer<CellIndex, Space> entries;
  Offset total = 0;

  ListBuffers(char const* offsets_label, char const* entries_label)
      : offsets(offsets_label), entries(entries_label) {}

  Csr<Space> csr(std::int64_t rows) const { return {offsets.view(rows + 1), entries.view(total)}; }
  Offset capacity() const { return Offset(entries.view().extent(0)); }
  std::size_t bytes() const { return offsets.bytes() + entries.bytes(); }
};

/// What criteria may know of the cells besides the cells themselves; empty what a criterion does not use.
template <class Space>
struct CellMeasures {
  Array<float, Space> radii, charges, fields, powers;
  float bodies;   ///< of all cells
  int power_row;  ///< numbers of a cell in `powers`
};

/// The lists that one target's walk counts, or writes: one index each. A source that goes into none of
/// them is split.
enum ListIndex { list_m2l, list_p2l, list_m2p, list_p2p, list_open, split, list_kinds = split };

template <class Space>
struct TraversalBuffers {
  ListBuffers<Space> m2l{"m2l offsets", "m2l list"}, p2l{"p2l offsets", "p2l list"},
      m2p{"m2p offsets", "m2p list"}, p2p{"p2p offsets", "p2p list"},
      open{"open offsets", "open list"}, next_open{"next open offsets", "next open list"};
  Buffer<int, Space> counts{"list counts"};
  int decisions_per_row = 256;    ///< that there is room for
  std::int64_t logged_level = 0;  ///< rows of the largest level so far
  Buffer<std::uint8_t, Space> decisions{"decisions"};
  Buffer<int, Space> logged_rows{"logged rows"};
  Buffer<Offset, Space> sums{"list sums"}, ends{"list ends"};
  Buffer<float, Space> radii{"radii"}, charges{"cell charges"}, fields{"cell fields"},
      powers{"multipole powers"};
  CoarseBuffers<Space> coarse;
  Buffer<float, Space> vectors{"coarse field"};
  Buffer<Tile, Space> sample{"sampled tiles"};
  Buffer<double, Space> squares{"squared fields"}, scale{"field scale"};

  /// By ListIndex; the last is that of the level's open sources.
  std::array<ListBuffers<Space>*, list_kinds> lists() {
    return {&m2l, &p2l, &m2p, &p2p, &next_open};
  }

  std::size_t bytes() const {
    return m2l.bytes() + p2l.bytes() + m2p.bytes() + p2p.bytes() + open.bytes() +
           next_open.bytes() + counts.bytes() + sums.bytes() + ends.bytes() + radii.bytes() +
           charges.bytes() + fields.bytes() + powers.bytes() + coarse.bytes() + vectors.bytes() +
           sample.bytes() + squares.bytes() + scale.bytes() + decisions.bytes() +
           logged_rows.bytes();
  }
};

/// Whether bodies of the two cells can be nearer to each other than `distance`, as far as their cubes and
/// their radii tell.
KOKKOS_INLINE_FUNCTION bool can_be_nearer(CellView const& a, CellView const& b, float distance) {
  const float half = 0.5f * (a.edge + b.edge);
  float R2 = 0, gap2 = 0;  // of the centres, and of the cubes
  for (int d = 0; d < 3; ++d) {
    const float x = std::fabs(a.centre[d] - b.centre[d]), gap = x > half ? x - half : 0;
    R2 += x * x;
    gap2 += gap * gap;
  }
  return gap2 < distance * distance && std::sqrt(R2) - (a.radius + b.radius) < distance;
}

template <class Space, class Criterion>
struct DualWalk {
  Criterion criterion;
  float far_from;  ///< nothing nearer is accepted; in edges of the root
  bool has_p2l;    ///< else what could be taken by P2L is not accepted
  Array<Cell, Space> cells;
  CellMeasures<Space> measures;
  Csr<Space> open;  ///< of the parents' level, by cell - parents_begin
  CellIndex parents_begin;

  KOKKOS_FUNCTION CellView view(CellIndex index, Cell const& cell) const {
    const float unit = 1.0f / float(std::int32_t(1) << grid_bits);
    const float edge = float(cell.edge()) * unit;
    CellView v{
        {float(cell.centre[0]) * unit, float(cell.centre[1]) * unit, float(cell.centre[2]) * unit},
        edge,
        0.8660255f * edge,
        0,
        0,
        float(cell.body_count) / measures.bodies,
        float(cell.body_count),
        cell.level,
        cell.is_leaf(),
        nullptr};
    if constexpr (Criterion::uses_radii) v.radius = measures.radii(index) * edge;
    if constexpr (Criterion::uses_charges) v.charge = measures.charges(index);
    if constexpr (uses_field_v<Criterion>) v.field = measures.fields(index);
    if constexpr (uses_powers_v<Criterion>)
      v.powers = measures.powers.data() + std::int64_t(index) * measures.power_row;
    return v;
  }

  struct Target {
    CellIndex index;
    CellView view;
    Offset open_begin;  ///< of the sources that its parent left open
    int starts;         ///< how many these are
  };
  KOKKOS_FUNCTION Target target(CellIndex index) const {
    const Cell cell = cells(index);
    if (cell.parent < 0) return {index, view(index, cell), 0, 1};
    const Offset begin = open.offsets(cell.parent - parents_begin),
                 end = open.offsets(cell.parent - parents_begin + 1);
    const bool there = end <= Offset(open.entries.extent(0));  // else the memory was too small
    return {index, view(index, cell), begin, there ? int(end - begin) : 0};
  }
  KOKKOS_FUNCTION CellIndex start(Target const& target, int i) const {
    return target.index == 0 ? 0 : open.entries(target.open_begin + i);
  }

  /// Whether there may be entries in that list.
  KOKKOS_FUNCTION static constexpr bool fills(int list) {
    return !only_m2l_v<Criterion> || (list != list_m2p && list != list_p2l);
  }

  FMM_SELDOM KOKKOS_FUNCTION bool is_too_near(CellIndex a, CellIndex b) const {
    return can_be_nearer(view(a, cells(a)), view(b, cells(b)), far_from);
  }

  KOKKOS_FUNCTION ListIndex decide(Target const& target, CellIndex index,
                                   Cell const& source) const {
    const bool leaf = target.view.leaf;
    Acceptance decision =
        index == target.index ? Acceptance::no : criterion(target.view, view(index, source));
    if (decision != Acceptance::no && far_from > 0 && is_too_near(target.index, index))
      decision = Acceptance::no;
    if (decision == Acceptance::m2l) return list_m2l;
    if constexpr (fills(list_m2p)) {
      if (decision == Acceptance::m2p && leaf) return list_m2p;
      if (decision == Acceptance::p2l && has_p2l && source.is_leaf()) return list_p2l;
    }
    if (decision == Acceptance::split_source && !source.is_leaf()) return split;
    if (decision == Acceptance::split_target && !leaf) return list_open;
    if (leaf && source.is_leaf()) return list_p2p;
    if (source.is_leaf() || (!leaf && source.level >= target.view.level)) return list_open;
    return split;
  }
};

/// A source cell opens for a target leaf unless edge / d < theta, d from its centre to the nearest point
/// of the leaf's cube (Barnes & Hut 1986, Nature 324:446).
template <class Space>
struct BarnesHutWalk {
  float theta;
  float far_from;  ///< between the cubes, at least; in grid units
  Array<Cell, Space> cells;

  struct Target {
    Cell cell;
    int starts;
  };
  KOKKOS_FUNCTION Target target(CellIndex index) const {
    const Cell cell = cells(index);
    return {cell, cell.is_leaf() ? 1 : 0};
  }
  KOKKOS_FUNCTION CellIndex start(Target const&, int) const { return 0; }

  KOKKOS_FUNCTION static constexpr bool fills(int list) {
    return list == list_m2p || list == list_p2p;
  }

  FMM_SELDOM KOKKOS_FUNCTION bool is_too_near(Cell const& a, Cell const& b) const {
    const float half = 0.5f * float(a.edge() + b.edge());
    float gap2 = 0;
    for (int d = 0; d < 3; ++d) {
      const float gap = std::fabs(float(a.centre[d] - b.centre[d])) - half;
      if (gap > 0) gap2 += gap * gap;
    }
    return gap2 < far_from * far_from;
  }

  KOKKOS_FUNCTION ListIndex decide(Target const& target, CellIndex, Cell const& source) const {
    const float half = 0.5f * float(target.cell.edge()), edge = float(source.edge());
    float d2 = 0;
    for (int d = 0; d < 3; ++d) {
      const float gap = std::fabs(float(source.centre[d] - target.cell.centre[d])) - half;
      if (gap > 0) d2 += gap * gap;
    }
    if (edge * edge < theta * theta * d2 && !(far_from > 0 && is_too_near(target.cell, source)))
      return list_m2p;
    return source.is_leaf() ? list_p2p : split;
  }
};

/// What the walks of a level's rows decided: blocks of rows, each with as much memory, and how many rows of a
/// block found room in it. On a GPU, which does not keep it, a block is a row.
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

/// For so many rows: of about as many decisions as the last build had entries of lists.
template <class Space>
DecisionLog<Space> decision_log(Space const& space, TraversalBuffers<Space>& buffers,
                                std::int64_t rows) {
  if constexpr (is_host_space_v<Space>) {
    constexpr std::int64_t most_rows = 64, blocks_per_thread = 16;
    const std::int64_t rows_per_block =
        std::clamp<std::int64_t>(rows / (blocks_per_thread * space.concurrency()), 1, most_rows);
    const std::int64_t blocks = (rows + rows_per_block - 1) / rows_per_block;
    buffers.logged_level = std::max(buffers.logged_level, rows);
    buffers.decisions.resize(rows * buffers.decisions_per_row);
    return {blocks, int(rows_per_block), buffers.decisions.view(),
            buffers.logged_rows.resize(blocks)};
  } else {
    return {rows, 1, {}, {}};
  }
}

/// Both passes over the rows of `begin` + i. In the first the rows' lengths are counted, list by list; in the
/// second offsets and entries are written. On a GPU a team walks the sources of one target; those that wait
/// are on a stack in scratch memory, from which it decides one a thread at a time. On a CPU a thread walks a
/// block of rows one by one, and writes down what it decides, so that the second pass need not decide again.
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
    CellIndex* entry[list_kinds];  ///< where they go; nullptr if there is no room
  };

  /// With the offsets of the row, and the memory for its entries.
  KOKKOS_FORCEINLINE_FUNCTION Row opened_row(TeamMember<Space> const& team, int index) const {
    Row row{index, {}, {}};
    if constexpr (Write) {
      FMM_UNROLL
      for (int list = 0; list < list_kinds; ++list) {
        const std::int64_t at = list * rows + index;
        const Offset first = list == list_open || begin == 0 ? 0 : base(list),
                     from = first + sums(at) - sums(list * rows), to = from + counts(at);
        row.entry[list] = to <= Offset(lists[list].entries.extent(0))
                              ? lists[list].entries.data() + from
                              : nullptr;
        if (team.team_rank() != 0) continue;
        lists[list].offsets(index) = from;
        if (index == rows - 1) {
          lists[list].offsets(rows) = to;
          end(list) = to;
        }
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
    [[maybe_unused]] bool room = true;
    for (std::int64_t i = first; i < last; ++i) {
      Row row = opened_row(team, int(i));
      const auto target = walk.target(begin + row.index);
      const auto decide = [&](CellIndex index) { return walk.decide(target, index, cells(index)); };
      if constexpr (Write) {
        if (i < logged)
          one_by_one(row, target, stack, [&](CellIndex) { return ListIndex(*next++); });
        else
          one_by_one(row, target, stack, decide);
      } else {
        one_by_one(row, target, stack, [&](CellIndex index) {
          const ListIndex decision = decide(index);
          if (next < full)
            *next++ = std::uint8_t(decision);
          else
            room = false;
          return decision;
        });
        if (room) logged = i + 1;
      }
      close_row(team, row);
    }
    if constexpr (!Write) log.logged_rows(block) = int(logged - first);
  }

  /// `decide(index)` for every source in turn.
  template <class Decide>
  KOKKOS_FORCEINLINE_FUNCTION void one_by_one(Row& row, Target const& target, CellIndex* stack,
                                              Decide const& decide) const {
    for (int start = 0; start < target.starts; ++start) {
      stack[0] = walk.start(target, start);
      for (int waiting = 1; waiting > 0;) {
        const CellIndex index = stack[--waiting];
        const ListIndex decision = decide(index);
        if (decision == split) {
          const Cell& source = cells(index);
          for (int child = 0; child < source.child_count; ++child)
            stack[waiting++] = source.child_begin + child;
        } else {
          if constexpr (Write)
            if (row.entry[decision]) row.entry[decision][row.length[decision]] = index;
          ++row.length[decision];
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

/// Lengths of the level's rows in each list.
template <class Space>
struct LevelTotals {
  Array<Offset, Space> sums, totals;
  std::int64_t rows;

  KOKKOS_FUNCTION void operator()(std::int64_t list) const {
    totals(list) = sums((list + 1) * rows) - sums(list * rows);
  }
};

/// Both passes over the targets begin..end-1, which are those of one level; appends to the lists. The
/// level's open sources go to `next_open`, rows counted from `begin`. With `grow` the host waits for the
/// lengths and makes room.
template <class Space, class Walk>
void traverse_level(Space const& space, TraversalBuffers<Space>& buffers, Walk const& walk,
                    Array<Cell, Space> cells, CellIndex begin, CellIndex end, int level,
                    int team_size, bool grow) {
  using Count = TraverseRows<Space, Walk, false>;
  using Write = TraverseRows<Space, Walk, true>;
  const std::int64_t rows = end - begin;
  const auto counts = buffers.counts.resize(list_kinds * rows);
  const auto sums = buffers.sums.resize(list_kinds * rows + 1);
  const auto log = decision_log(space, buffers, rows);
  TeamPolicy<Space> teams(space, int(log.blocks), team_size);
  teams.set_scratch_size(0, Kokkos::PerTeam(Count::scratch_bytes));
  Kokkos::parallel_for("fmm::lists::count", teams,
                       Count{walk, cells, begin, rows, log, counts, {}, {}, {}, {}});
  exclusive_scan(space, counts, sums);
  const auto list = buffers.lists();
  const auto ends = [&](int row) {
    return part<Offset, Space>(buffers.ends.view(), row * list_kinds, list_kinds);
  };
  if (grow) {
    const auto totals = ends(max_tree_depth + 1);
    Kokkos::parallel_for("fmm::lists::totals", range(space, list_kinds),
                         LevelTotals<Space>{sums, totals, rows});
    Offset added[list_kinds];
    read_back(space, totals.data(), added, list_kinds);
    for (int k = 0; k < list_kinds; ++k) {
      const Offset kept = k == list_open ? 0 : list[k]->total;
      list[k]->total = kept + added[k];
      list[k]->entries.grow(space, list[k]->total, kept);
    }
  }
  Write write{
      walk,       cells, begin, rows, log, counts, sums, {}, level > 0 ? ends(level - 1) : ends(0),
      ends(level)};
  for (int k = 0; k < list_kinds; ++k) {
    const std::int64_t at = k == list_open ? 0 : begin;
    write.lists[k] = {part<Offset, Space>(list[k]->offsets.view(), at, rows + 1),
                      list[k]->entries.view()};
  }
  Kokkos::parallel_for("fmm::lists::write", teams, write);
}

/// The lists' lengths after a pass that did not make room; whether all entries found it.
template <class Space>
bool take_lengths(Space const& space, TraversalBuffers<Space>& buffers, int levels) {
  Offset end[max_tree_depth + 1][list_kinds];
  read_back(space, buffers.ends.view().data(), &end[0][0], levels * list_kinds);
  bool fit = true;
  const auto lists = buffers.lists();
  for (int k = 0; k < list_open; ++k) {
    lists[k]->total = end[levels - 1][k];
    fit = fit && lists[k]->total <= lists[k]->capacity();
  }
  for (int level = 0; level < levels; ++level) {
    auto const& open = level % 2 == 0 ? buffers.next_open : buffers.open;
    fit = fit && end[level][list_open] <= open.capacity();
  }
  return fit;
}

/// Calls pass(grow) for all levels: first with the memory that there is, if any, and where that was too
/// small once more with as much as it takes.
template <class Space, class Pass>
InteractionLists<Space> fill_lists(Space const& space, TraversalBuffers<Space>& buffers,
                                   std::int64_t cells, int levels, Pass const& pass) {
  buffers.ends.resize((max_tree_depth + 2) * list_kinds);
  for (auto* list : buffers.lists()) list->offsets.resize(cells + 1);
  buffers.open.offsets.resize(cells + 1);
  bool filled = false;
  if (buffers.p2p.capacity() > 0) {
    pass(false);
    filled = take_lengths(space, buffers, levels);
  }
  if (!filled) {
    for (auto* list : buffers.lists()) list->total = 0;
    pass(true);
  }
  if constexpr (is_host_space_v<Space>) {  // the next build of this size is to need no more memory
    Offset entries = 0;
    for (auto const* list : buffers.lists()) entries += list->total;
    buffers.decisions_per_row =
        std::max(buffers.decisions_per_row, int(32 + entries * 5 / 4 / cells));
    buffers.decisions.resize(buffers.logged_level * buffers.decisions_per_row);
  }
  return {buffers.m2l.csr(cells), buffers.p2l.csr(cells), buffers.m2p.csr(cells),
          buffers.p2p.csr(cells)};
}

/// Lists of the dual traversal under `criterion`, which has the `measures` that it uses; accepted pairs are
/// at least `far_from` apart, in edges of the root, and none is for P2L unless `has_p2l`.
/// Cost: O(list entries), twice.
template <class Space, class Criterion>
InteractionLists<Space> dual_lists(Space const& space, TraversalBuffers<Space>& buffers,
                                   Octree<Space> const& tree, Criterion const& criterion,
                                   CellMeasures<Space> const& measures, float far_from,
                                   bool has_p2l, int team_size) {
  return fill_lists(space, buffers, tree.cells.extent(0), tree.depth + 1, [&](bool grow) {
    CellIndex parents = 0;
    for (int level = 0; level <= tree.depth; ++level) {
      const CellIndex begin = tree.level_begin[level], end = tree.level_begin[level + 1];
      const Csr<Space> open{buffers.open.offsets.view(begin - parents + 1),
                            buffers.open.entries.view()};
      traverse_level(space, buffers,
                     DualWalk<Space, Criterion>{criterion, far_from, has_p2l, tree.cells, measures,
                                                open, parents},
                     tree.cells, begin, end, level, team_size, grow);
      std::swap(buffers.open, buffers.next_open);
      parents = begin;
    }
    // each buffer in its own place again, so that the next build finds it as large as it needs
    if (tree.depth % 2 == 0) std::swap(buffers.open, buffers.next_open);
  });
}

/// Lists of the treecode: M2P and P2P rows for every leaf; `far_from` as above.
template <class Space>
InteractionLists<Space> barnes_hut_lists(Space const& space, TraversalBuffers<Space>& buffers,
                                         Octree<Space> const& tree, double theta, float far_from,
                                         int team_size) {
  const float grid_far_from = far_from * float(std::int32_t(1) << grid_bits);
  const std::int64_t cells = tree.cells.extent(0);
  return fill_lists(space, buffers, cells, 1, [&](bool grow) {
    traverse_level(space, buffers, BarnesHutWalk<Space>{float(theta), grid_far_from, tree.cells},
                   tree.cells, 0, CellIndex(cells), 0, team_size, grow);
  });
}

}  // namespace fmm::detail
