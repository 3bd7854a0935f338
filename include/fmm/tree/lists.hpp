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

/// The lists that one target's walk counts, or writes: one index each.
enum ListIndex { list_m2l, list_m2p, list_p2p, list_open, list_kinds };

/// Receives what a walk decides. In the first pass counts; in the second writes from the row's offset.
struct RowCounter {
  int count[list_kinds] = {};
  KOKKOS_FORCEINLINE_FUNCTION void put(ListIndex list, CellIndex) { ++count[list]; }
};
struct RowWriter {
  CellIndex* to[list_kinds];
  KOKKOS_FORCEINLINE_FUNCTION void put(ListIndex list, CellIndex cell) { *to[list]++ = cell; }
};

/// Sources yet to visit, depth first: at most seven siblings wait on each level.
struct CellStack {
  CellIndex cell[7 * max_tree_depth + 8];
  int size = 0;

  KOKKOS_FORCEINLINE_FUNCTION void push_children(Cell const& parent) {
    for (int c = parent.child_count - 1; c >= 0; --c) cell[size++] = parent.child_begin + c;
  }
};

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

  template <class Row>
  KOKKOS_FUNCTION void walk(CellIndex target_index, Row& row) const {
    const Cell target = cells(target_index);
    const CellView target_view = view(target_index, target);
    const bool root = target.parent < 0;
    const Offset begin = root ? 0 : open.offsets(target.parent - parents_begin);
    const Offset end = root ? 1 : open.offsets(target.parent - parents_begin + 1);
    CellStack stack;
    for (Offset i = begin; i < end; ++i) {
      stack.cell[stack.size++] = root ? 0 : open.entries(i);
      while (stack.size > 0) {
        const CellIndex index = stack.cell[--stack.size];
        const Cell source = cells(index);
        const Acceptance decision =
            index == target_index ? Acceptance::no : criterion(target_view, view(index, source));
        if (decision == Acceptance::m2l)
          row.put(list_m2l, index);
        else if (decision == Acceptance::m2p && target.is_leaf())
          row.put(list_m2p, index);
        else if (target.is_leaf() && source.is_leaf())
          row.put(list_p2p, index);
        else if (source.is_leaf() || (!target.is_leaf() && source.level >= target.level))
          row.put(list_open, index);
        else
          stack.push_children(source);
      }
    }
  }
};

/// A source cell opens for a target leaf unless edge / d < theta, d from its centre to the nearest point
/// of the leaf's cube (Barnes & Hut 1986, Nature 324:446).
template <class Space>
struct BarnesHutWalk {
  float theta;
  Array<Cell, Space> cells;

  template <class Row>
  KOKKOS_FUNCTION void walk(CellIndex target_index, Row& row) const {
    const Cell target = cells(target_index);
    if (!target.is_leaf()) return;
    const float half = 0.5f * float(target.edge());
    CellStack stack;
    stack.cell[stack.size++] = 0;
    while (stack.size > 0) {
      const CellIndex index = stack.cell[--stack.size];
      const Cell source = cells(index);
      float d2 = 0;
      for (int d = 0; d < 3; ++d) {
        const float gap = std::fabs(float(source.centre[d] - target.centre[d])) - half;
        if (gap > 0) d2 += gap * gap;
      }
      const float edge = float(source.edge());
      if (edge * edge < theta * theta * d2)
        row.put(list_m2p, index);
      else if (source.is_leaf())
        row.put(list_p2p, index);
      else
        stack.push_children(source);
    }
  }
};

/// First pass: row lengths of `begin` + i, of each list in turn, stored list by list.
template <class Space, class Walk>
struct CountRows {
  Walk walk;
  Array<int, Space> counts;
  CellIndex begin;
  std::int64_t rows;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    RowCounter row;
    walk.walk(begin + CellIndex(i), row);
    for (int list = 0; list < list_kinds; ++list) counts(list * rows + i) = row.count[list];
  }
};

template <class Space, class Walk>
struct WriteRows {
  Walk walk;
  Csr<Space> lists[list_kinds];
  CellIndex begin;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    RowWriter row;
    for (int list = 0; list < list_kinds; ++list)
      row.to[list] = lists[list].entries.data() + lists[list].offsets(i);
    walk.walk(begin + CellIndex(i), row);
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
                    CellIndex begin, CellIndex end) {
  const std::int64_t rows = end - begin;
  auto counts = buffers.counts.resize(list_kinds * rows);
  Kokkos::parallel_for("fmm::lists::count", range(space, rows),
                       CountRows<Space, Walk>{walk, counts, begin, rows});
  ListBuffers<Space>* const list[list_kinds] = {&buffers.m2l, &buffers.m2p, &buffers.p2p,
                                                &buffers.next_open};
  buffers.next_open.total = 0;
  buffers.next_open.offsets.resize(rows + 1);
  WriteRows<Space, Walk> write{walk, {}, begin};
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
  Kokkos::parallel_for("fmm::lists::write", range(space, rows), write);
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
                                   Array<float, Space> radii, Array<float, Space> charges) {
  const std::int64_t cells = tree.cells.extent(0);
  begin_lists(buffers, cells);
  CellIndex parents = 0;
  for (int level = 0; level <= tree.depth; ++level) {
    const CellIndex begin = tree.level_begin[level], end = tree.level_begin[level + 1];
    const DualWalk<Space, Criterion> walk{
        criterion, tree.cells, radii, charges, buffers.open.csr(begin - parents), parents};
    traverse_level(space, buffers, walk, begin, end);
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
                                         Octree<Space> const& tree, double theta) {
  const std::int64_t cells = tree.cells.extent(0);
  begin_lists(buffers, cells);
  traverse_level(space, buffers, BarnesHutWalk<Space>{float(theta), tree.cells}, 0,
                 CellIndex(cells));
  return end_lists(buffers, cells);
}

}  // namespace fmm::detail
