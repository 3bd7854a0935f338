// SPDX-License-Identifier: BSD-3-Clause
// Interaction lists: which source cells act on which target cells, and how. Rows by target, so that
// every target owns its sums.
//
// Two traversals fill them, each in two passes (count, scan, fill):
//
// * DualWalk descends targets and sources together, a level of targets at a time. A target inherits from
//   its parent the sources that are still open; each is accepted, split, or passed on to the target's
//   own children. Between two leaves it becomes P2P.
// * BarnesHutWalk descends the sources for each target leaf on its own.
//
// Every pair of bodies is in exactly one entry, counted along the target's ancestors.
#pragma once

#include "../detail/simd.hpp"
#include "criteria.hpp"
#include "octree.hpp"

namespace fmm::detail {

template <class Space>
struct InteractionLists {
  Csr<Space> m2l;  ///< by cell
  Csr<Space> m2p;  ///< by cell; only leaves have entries
  Csr<Space> p2p;  ///< by cell; only leaves have entries; a leaf is in its own row
};

/// A list under construction: offsets of all cells, and entries that grow level by level.
template <class Space>
struct ListBuffers {
  Buffer<Offset, Space> offsets;
  Buffer<CellIndex, Space> entries;
  Offset total = 0;

  explicit ListBuffers(std::string const& name)
      : offsets(name + " offsets"), entries(name + " list") {}

  Csr<Space> csr(std::int64_t cells) const {
    return {offsets.view(cells + 1), entries.view(total)};
  }
  std::size_t bytes() const { return offsets.bytes() + entries.bytes(); }
};

template <class Space>
struct TraversalBuffers {
  ListBuffers<Space> m2l{"m2l"}, m2p{"m2p"}, p2p{"p2p"};
  ListBuffers<Space> open{"open"}, next_open{"next open"};
  Buffer<int, Space> counts{"list counts"};
  Buffer<Offset, Space> totals{"list totals"};
  Buffer<float, Space> radii{"radii"}, charges{"cell charges"};

  std::size_t bytes() const {
    return m2l.bytes() + m2p.bytes() + p2p.bytes() + open.bytes() + next_open.bytes() +
           counts.bytes() + totals.bytes() + radii.bytes() + charges.bytes();
  }
};

/// The lists that one target's walk counts, or writes: one index each. A source that goes into none of
/// them is split.
enum ListIndex { list_m2l, list_m2p, list_p2p, list_open, list_kinds, split = list_kinds };

template <class Space, class Criterion>
struct DualWalk {
  Criterion criterion;
  Array<Cell, Space> cells;
  Array<float, Space> radii, charges;  ///< empty unless the criterion uses them
  Csr<Space> open;                     ///< of the parents' level, by cell - parents_begin
  CellIndex parents_begin;

  KOKKOS_FUNCTION CellView view(CellIndex index, Cell const& cell) const {
    const float unit = 1.0f / float(std::int32_t(1) << grid_bits);
    const float edge = float(cell.edge()) * unit;
    CellView v{
        {float(cell.centre[0]) * unit, float(cell.centre[1]) * unit, float(cell.centre[2]) * unit},
        edge,
        0.8660255f * edge,
        0,
        cell.level,
        cell.is_leaf()};
    if constexpr (Criterion::uses_radii) v.radius = radii(index) * edge;
    if constexpr (Criterion::uses_charges) v.charge = charges(index);
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
    const Offset begin = open.offsets(cell.parent - parents_begin);
    return {index, view(index, cell), begin,
            int(open.offsets(cell.parent - parents_begin + 1) - begin)};
  }
  KOKKOS_FUNCTION CellIndex start(Target const& target, int i) const {
    return target.index == 0 ? 0 : open.entries(target.open_begin + i);
  }

  KOKKOS_FUNCTION ListIndex decide(Target const& target, CellIndex index,
                                   Cell const& source) const {
    const bool leaf = target.view.leaf;
    const Acceptance decision =
        index == target.index ? Acceptance::no : criterion(target.view, view(index, source));
    if (decision == Acceptance::m2l) return list_m2l;
    if (decision == Acceptance::m2p && leaf) return list_m2p;
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

  KOKKOS_FUNCTION ListIndex decide(Target const& target, CellIndex, Cell const& source) const {
    const float half = 0.5f * float(target.cell.edge()), edge = float(source.edge());
    float d2 = 0;
    for (int d = 0; d < 3; ++d) {
      const float gap = std::fabs(float(source.centre[d] - target.cell.centre[d])) - half;
      if (gap > 0) d2 += gap * gap;
    }
    if (edge * edge < theta * theta * d2) return list_m2p;
    return source.is_leaf() ? list_p2p : split;
  }
};

/// Numbers of candidates of each decision, and of the children of those that are split, in 12 bits each:
/// one number to be summed over the candidates of a batch.
struct BatchCounts {
  std::int64_t packed;

  KOKKOS_FORCEINLINE_FUNCTION int operator[](int decision) const {
    return int(packed >> (12 * decision) & 0xfff);
  }
};

/// A source that has got its decision.
struct Candidate {
  CellIndex index, child_begin;
  std::int16_t child_count, decision;
  BatchCounts before;  ///< of the candidates before it in the batch

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t counts() const {
    return std::int64_t(decision == split ? child_count : 1) << (12 * decision);
  }
};

/// Both passes over the rows of `begin` + i. A thread and its vector lanes walk the sources of one target;
/// those that wait are on a stack in scratch memory, from which a GPU decides a batch at a time. In the first
/// pass the rows' lengths are counted, list by list; in the second the entries are written.
template <class Space, class Walk, bool Write>
struct TraverseRows {
  static constexpr int batch = 32;
  static constexpr int stack_size = 1024;
  /// Depth first, one at a time, a walk needs no more than this.
  static constexpr int reserve = 7 * max_tree_depth + 8;
  static constexpr std::size_t scratch_bytes =
      stack_size * sizeof(CellIndex) + batch * sizeof(Candidate) + 2 * scratch_alignment;

  Walk walk;
  Array<Cell, Space> cells;
  CellIndex begin;
  std::int64_t rows;
  Array<int, Space> counts;      ///< first pass
  Csr<Space> lists[list_kinds];  ///< second pass

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const int row = team.league_rank();
    CellIndex* const stack = scratch_array<CellIndex>(team, 0, stack_size);
    const auto target = walk.target(begin + row);
    int length[list_kinds] = {};
    if constexpr (is_host_space_v<Space>)
      one_by_one(row, target, stack, length);
    else
      in_batches(team, row, target, stack, length);
    if constexpr (!Write)
      Kokkos::single(Kokkos::PerThread(team), [&] {
        for (int list = 0; list < list_kinds; ++list) counts(list * rows + row) = length[list];
      });
  }

 private:
  using Target = typename Walk::Target;

  KOKKOS_FORCEINLINE_FUNCTION void one_by_one(int row, Target const& target, CellIndex* stack,
                                              int (&length)[list_kinds]) const {
    for (int start = 0; start < target.starts; ++start) {
      stack[0] = walk.start(target, start);
      for (int waiting = 1; waiting > 0;) {
        const CellIndex index = stack[--waiting];
        const Cell& source = cells(index);
        const ListIndex decision = walk.decide(target, index, source);
        if (decision == split) {
          for (int child = 0; child < source.child_count; ++child)
            stack[waiting++] = source.child_begin + child;
        } else {
          if constexpr (Write)
            lists[decision].entries(lists[decision].offsets(row) + length[decision]) = index;
          ++length[decision];
        }
      }
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void in_batches(TeamMember<Space> const& team, int row,
                                              Target const& target, CellIndex* stack,
                                              int (&length)[list_kinds]) const {
    Candidate* const candidates = scratch_array<Candidate>(team, 0, batch);
    int waiting = 0;
    for (int started = 0;;) {
      if (waiting == 0) {
        if (started == target.starts) break;
        waiting = target.starts - started < batch ? target.starts - started : batch;
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, waiting),
                             [&](int i) { stack[i] = walk.start(target, started + i); });
        started += waiting;
      }
      // so few that the children of all find room
      const int room = (stack_size - reserve - waiting) / 7;
      const int most = room < 1 ? 1 : room < batch ? room : batch;
      const int n = waiting < most ? waiting : most;
      waiting -= n;
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, n), [&](int i) {
        const CellIndex index = stack[waiting + i];
        const Cell source = cells(index);
        candidates[i] = {index,
                         source.child_begin,
                         source.child_count,
                         std::int16_t(walk.decide(target, index, source)),
                         {}};
      });
      Kokkos::parallel_scan(Kokkos::ThreadVectorRange(team, n),
                            [&](int i, std::int64_t& before, bool last) {
                              if (last) candidates[i].before.packed = before;
                              before += candidates[i].counts();
                            });
      BatchCounts sum;
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(team, n),
          [&](int i, std::int64_t& all) { all += candidates[i].counts(); }, sum.packed);
      // at the end of this loop all lanes have written to the stack, too
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, n),
                           [&](int i) { put(row, candidates[i], length, stack + waiting); });
      for (int list = 0; list < list_kinds; ++list) length[list] += sum[list];
      waiting += sum[split];
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void put(int row, Candidate const& c, int const (&length)[list_kinds],
                                       CellIndex* top) const {
    if (c.decision == split) {
      for (int child = 0; child < c.child_count; ++child)
        top[c.before[split] + child] = c.child_begin + child;
    } else if constexpr (Write) {
      FMM_UNROLL
      for (int list = 0; list < list_kinds; ++list)
        if (c.decision == list)
          lists[list].entries(lists[list].offsets(row) + length[list] + c.before[list]) = c.index;
    }
  }
};

template <class Space>
struct GatherTotals {
  Array<Offset, Space> offsets[list_kinds];
  Array<Offset, Space> totals;
  std::int64_t rows;

  KOKKOS_FUNCTION void operator()(std::int64_t list) const { totals(list) = offsets[list](rows); }
};

/// Both passes over the targets begin..end-1; appends to the lists in `kind` order. `open_rows` is where
/// the level's open sources go, rows counted from `begin`. One host synchronisation.
template <class Space, class Walk>
void traverse_level(Space const& space, TraversalBuffers<Space>& buffers, Walk const& walk,
                    Array<Cell, Space> cells, CellIndex begin, CellIndex end, int lanes) {
  using Count = TraverseRows<Space, Walk, false>;
  using Write = TraverseRows<Space, Walk, true>;
  const std::int64_t rows = end - begin;
  auto counts = buffers.counts.resize(list_kinds * rows);
  TeamPolicy<Space> teams(space, int(rows), 1, lanes);
  teams.set_scratch_size(0, Kokkos::PerTeam(Count::scratch_bytes));
  Kokkos::parallel_for("fmm::lists::count", teams, Count{walk, cells, begin, rows, counts, {}});
  ListBuffers<Space>* const list[list_kinds] = {&buffers.m2l, &buffers.m2p, &buffers.p2p,
                                                &buffers.next_open};
  buffers.next_open.total = 0;
  buffers.next_open.offsets.resize(rows + 1);
  Write write{walk, cells, begin, rows, counts, {}};
  GatherTotals<Space> gather{{}, buffers.totals.resize(list_kinds), rows};
  for (int k = 0; k < list_kinds; ++k) {
    const std::int64_t at = k == list_open ? 0 : begin;
    Array<Offset, Space> offsets(list[k]->offsets.view(at + rows + 1).data() + at, rows + 1);
    exclusive_scan(space, Array<int, Space>(counts.data() + k * rows, rows), offsets,
                   list[k]->total);
    write.lists[k].offsets = gather.offsets[k] = offsets;
  }
  Kokkos::parallel_for("fmm::lists::totals", range(space, list_kinds), gather);
  Offset totals[list_kinds];
  Kokkos::deep_copy(
      space,
      Kokkos::View<Offset*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(totals,
                                                                                        list_kinds),
      gather.totals);
  space.fence();
  for (int k = 0; k < list_kinds; ++k) {
    write.lists[k].entries = list[k]->entries.grow(space, totals[k], list[k]->total);
    list[k]->total = totals[k];
  }
  Kokkos::parallel_for("fmm::lists::write", teams, write);
}

template <class Space>
void begin_lists(TraversalBuffers<Space>& buffers, std::int64_t cells) {
  for (auto* list : {&buffers.m2l, &buffers.m2p, &buffers.p2p, &buffers.open, &buffers.next_open}) {
    list->total = 0;
    list->offsets.resize(cells + 1);
  }
}

template <class Space>
InteractionLists<Space> end_lists(TraversalBuffers<Space> const& buffers, std::int64_t cells) {
  return {buffers.m2l.csr(cells), buffers.m2p.csr(cells), buffers.p2p.csr(cells)};
}

/// Lists of the dual traversal under `criterion`; `radii` and `charges` are filled where it uses them.
/// Cost: O(list entries), twice; one host synchronisation a level.
template <class Space, class Criterion>
InteractionLists<Space> dual_lists(Space const& space, TraversalBuffers<Space>& buffers,
                                   Octree<Space> const& tree, Criterion const& criterion,
                                   Array<float, Space> radii, Array<float, Space> charges,
                                   int lanes) {
  const std::int64_t cells = tree.cells.extent(0);
  begin_lists(buffers, cells);
  CellIndex parents = 0;
  for (int level = 0; level <= tree.depth; ++level) {
    const CellIndex begin = tree.level_begin[level], end = tree.level_begin[level + 1];
    const DualWalk<Space, Criterion> walk{
        criterion, tree.cells, radii, charges, buffers.open.csr(begin - parents), parents};
    traverse_level(space, buffers, walk, tree.cells, begin, end, lanes);
    std::swap(buffers.open, buffers.next_open);
    parents = begin;
  }
  // each buffer in its own place again, so that the next build finds it as large as it needs
  if (tree.depth % 2 == 0) std::swap(buffers.open, buffers.next_open);
  return end_lists(buffers, cells);
}

/// Lists of the treecode: M2P and P2P rows for every leaf.
template <class Space>
InteractionLists<Space> barnes_hut_lists(Space const& space, TraversalBuffers<Space>& buffers,
                                         Octree<Space> const& tree, double theta, int lanes) {
  const std::int64_t cells = tree.cells.extent(0);
  begin_lists(buffers, cells);
  traverse_level(space, buffers, BarnesHutWalk<Space>{float(theta), tree.cells}, tree.cells, 0,
                 CellIndex(cells), lanes);
  return end_lists(buffers, cells);
}

}  // namespace fmm::detail
