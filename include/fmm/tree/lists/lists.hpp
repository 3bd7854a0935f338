// SPDX-License-Identifier: BSD-3-Clause
// Interaction lists: which source cells act on which target cells, and how. Rows by target, so that
// every target owns its sums.
//
// Two traversals fill them (walks.hpp): on a GPU in two passes (count, scan, write; traverse_rows.hpp), on a CPU in
// one (walk_blocks.hpp).
//
// The lengths of the lists are not known beforehand. If there is memory from an earlier build, a GPU's passes
// of all levels are put into the space's queue without waiting for any. Where that memory turns out to be too
// small, and the first time, the lists are built again in memory that is as large as they are, which takes the
// place of the old: there are never two copies of a list.
//
// Every pair of bodies is in exactly one entry, counted along the target's ancestors. Where expansions stand
// for the pair kernel only from some distance on, no two bodies of an accepted pair of cells are nearer.
#pragma once

#include <array>

#include "../../detail/scan.hpp"
#include "traverse_rows.hpp"
#include "walk_blocks.hpp"

namespace fmm::tree {

template <class Space>
struct InteractionLists {
  Csr<Space> m2l;  ///< by cell
  Csr<Space> p2l;  ///< by cell; the sources are leaves
  Csr<Space> m2p;  ///< by cell; only leaves have entries
  Csr<Space> p2p;  ///< by cell; only leaves have entries; of one set a leaf is in its own row
};

/// A list under construction: offsets of all cells, and entries that are added level by level.
template <class Space>
struct ListBuffers {
  Buffer<Offset, Space> offsets;
  Buffer<CellIndex, Space> entries;
  Offset total = 0, longest = 0;  ///< as in Csr

  ListBuffers(char const* offsets_label, char const* entries_label)
      : offsets(offsets_label), entries(entries_label) {}

  Csr<Space> csr(std::int64_t rows) const {
    return {offsets.view(rows + 1), entries.view(total), longest};
  }
  Offset capacity() const { return Offset(entries.view().extent(0)); }
  bool fits() const { return total <= capacity(); }
  /// For `total` entries, and some more if there was room before: then lengths change from build to build.
  void make_room() {
    if (!fits()) entries.resize(std::size_t(std::max(total, capacity() + capacity() / 32)));
  }
  std::size_t bytes() const { return offsets.bytes() + entries.bytes(); }
};

template <class Space>
struct FamilyBuffers {
  Buffer<float, Space> balls{"balls"};
  Buffer<std::uint8_t, Space> leaf_children{"leaf children"};

  std::size_t bytes() const { return balls.bytes() + leaf_children.bytes(); }
};

template <class Space>
struct TraversalBuffers {
  ListBuffers<Space> m2l{"m2l offsets", "m2l list"}, p2l{"p2l offsets", "p2l list"},
      m2p{"m2p offsets", "m2p list"}, p2p{"p2p offsets", "p2p list"},
      open{"open offsets", "open list"}, next_open{"next open offsets", "next open list"};
  Buffer<int, Space> counts{"list counts"};
  FamilyBuffers<Space> families;
  FamilyBuffers<Space> families_of_sources;  ///< where these are another set than the targets
  Buffer<Offset, Space> sums{"list sums"}, ends{"list ends"},
      order_ends{"order ends"};  ///< the last: VariableOrder only
  Buffer<float, Space> radii{"radii"}, charges{"cell charges"}, fields{"cell fields"},
      powers{"multipole powers"};
  Buffer<std::uint8_t, Space> at_one_place{"cells at one place"};
  CoarseBuffers<Space> coarse;
  Buffer<float, Space> vectors{"coarse field"};
  Buffer<Tile, Space> sample{"sampled tiles"};
  Buffer<double, Space> squares{"squared fields"}, scale{"field scale"};

  /// By ListIndex; the last is that of the level's open sources.
  std::array<ListBuffers<Space>*, list_kinds> lists() {
    return {&m2l, &p2l, &m2p, &p2p, &next_open};
  }

  /// Has what only a build of lists needs lie in memory that has no other use meanwhile.
  void borrow(Lender<Space> lender, std::int64_t cells) {
    lender.lend(open.offsets, cells + 1);
    lender.lend(next_open.offsets, cells + 1);
    lender.lend(fields, cells);
    if constexpr (is_host_space_v<Space>) {
      lender.lend(families.balls, 4 * (cells + 7));
    } else {
      lender.lend(counts, list_kinds * cells);
      lender.lend(sums, list_kinds * cells + 1);
    }
    const std::size_t share = lender.share(2);
    lender.lend(open.entries, share / sizeof(CellIndex));
    lender.lend(next_open.entries, share / sizeof(CellIndex));
  }
  /// That memory has another use again.
  void give_back() { borrow(Lender<Space>(Array<char, Space>()), 0); }

  std::size_t bytes() const {
    return m2l.bytes() + p2l.bytes() + m2p.bytes() + p2p.bytes() + open.bytes() +
           next_open.bytes() + counts.bytes() + sums.bytes() + ends.bytes() + radii.bytes() +
           charges.bytes() + fields.bytes() + powers.bytes() + at_one_place.bytes() +
           coarse.bytes() + vectors.bytes() + sample.bytes() + squares.bytes() + scale.bytes() +
           families.bytes() + families_of_sources.bytes() + order_ends.bytes();
  }
};

/// For walks on a CPU, with balls if they are asked for, and with powers where there are any; `radii` and `powers` as
/// in CellMeasures.
template <class Space, class Cells>
Families<Space> make_families(Space const& space, FamilyBuffers<Space>& buffers, Cells const& cells,
                              bool with_balls, Array<float, Space> radii = {},
                              Array<float, Space> powers = {}) {
  if constexpr (is_host_space_v<Space>) {
    const std::int64_t n = cells.extent(0), room = with_balls ? n + 7 : 0,
                       degrees = std::int64_t(powers.extent(0)) / n;
    const auto balls = buffers.balls.resize((4 + (degrees > 0 ? 2 + degrees : 0)) * room);
    const auto row = [&](int i) { return subarray<float, Space>(balls, i * room, room); };
    Families<Space> families{row(0), row(1), row(2), row(3), buffers.leaf_children.resize(n)};
    if (degrees > 0) {
      families.bodies = row(4);
      families.is_leaf = row(5);
      families.powers = subarray<float, Space>(balls, 6 * room, degrees * room);
    }
    for_range("fmm::lists::families", space, n,
              MakeFamilies<Space, Cells>{cells, radii, powers, families});
    return families;
  } else {
    return {};
  }
}

/// Offsets of a level's rows, and all the memory for entries; open sources' rows are counted from `begin`.
template <class Space>
Csr<Space> level_rows(ListBuffers<Space> const& list, int kind, CellIndex begin,
                      std::int64_t rows) {
  return {subarray<Offset, Space>(list.offsets.view(), kind == list_open ? 0 : begin, rows + 1),
          list.entries.view()};
}

/// The targets begin .. end - 1, which are those of one level; appends to the lists as far as there is room. The
/// level's open sources go to `next_open`, for which room is made. On a CPU.
template <class Space, class Walk>
void walk_level(Space const& space, TraversalBuffers<Space>& buffers, Walk const& walk,
                CellIndex begin, CellIndex end) {
  constexpr std::int64_t most_rows = 64, blocks_per_thread = 16;
  const std::int64_t rows = end - begin;
  const std::int64_t rows_per_block =
      std::clamp<std::int64_t>(rows / (blocks_per_thread * space.concurrency()), 1, most_rows);
  const auto list = buffers.lists();
  ListEnds before{};
  for (int k = 0; k < list_open; ++k) before[k] = begin == 0 ? 0 : list[k]->total;
  while (true) {
    HandedOn<ListEnds> ends(before);
    std::atomic<bool> out_of_memory = false;
    WalkBlocks<Space, Walk> blocks{walk, begin, rows, rows_per_block, {}, ends, out_of_memory};
    for (int k = 0; k < list_kinds; ++k)
      if (Walk::fills(k)) blocks.lists[k] = level_rows(*list[k], k, begin, rows);
    for_in_sequence("fmm::lists", space, (rows + rows_per_block - 1) / rows_per_block, blocks);
    if (out_of_memory)
      throw OutOfMemory("fmm::lists of a thread", sizeof(CellIndex) * rows_per_block);
    for (int k = 0; k < list_kinds; ++k) list[k]->total = ends.last()[k];
    if (buffers.next_open.fits()) return;
    buffers.next_open.make_room();
  }
}

/// The same on a GPU, in two passes that it need not wait for. With `wait` the host waits for the number of open
/// sources and makes room for them.
template <class Space, class Walk>
void traverse_level(Space const& space, TraversalBuffers<Space>& buffers, Walk const& walk,
                    Array<Cell, Space> cells, CellIndex begin, CellIndex end, int level,
                    int team_size, bool wait) {
  using Count = TraverseRows<Space, Walk, false>;
  using Write = TraverseRows<Space, Walk, true>;
  constexpr std::int64_t few_rows = 2048;  // that leave room for more teams than one each
  const std::int64_t rows = end - begin;
  const bool has_room =
      8 * rows <= std::int64_t(cells.extent(0));  // in the memory for one team a row
  const int shares = rows <= few_rows && has_room ? 8 : 1;
  const auto counts = buffers.counts.resize(list_kinds * rows * shares);
  const auto sums = buffers.sums.resize(list_kinds * rows * shares + 1);
  TeamPolicy<Space> teams(space, int(rows * shares), team_size);
  add_scratch(teams, 0, Count::scratch_bytes);
  for_teams("fmm::lists::count", teams,
            Count{walk, begin, rows, shares, counts, {}, {}, {}, {}, {}});
  exclusive_scan(space, counts, sums);
  if (wait && Walk::fills(list_open)) {
    static_assert(list_open == list_kinds - 1);
    const Offset others = read_back(space, sums.data() + list_open * rows * shares);
    buffers.next_open.total = read_back(space, sums.data() + list_kinds * rows * shares) - others;
    buffers.next_open.make_room();
  }
  const auto ends = [&](int row) {  // the first one has the longest rows
    return subarray<Offset, Space>(buffers.ends.view(), row * list_kinds, list_kinds);
  };
  Write write{walk,
              begin,
              rows,
              shares,
              counts,
              sums,
              {},
              level > 0 ? ends(level) : ends(1),
              ends(level + 1),
              ends(0)};
  const auto list = buffers.lists();
  for (int k = 0; k < list_kinds; ++k)
    if (Walk::fills(k)) write.lists[k] = level_rows(*list[k], k, begin, rows);
  for_teams("fmm::lists::write", teams, write);
}

/// Whether there was room for all open sources, and for all entries.
struct Fit {
  bool open, entries;
};

/// Takes the lists' lengths, and their longest rows, after a GPU's passes of so many levels. Those are right if the
/// open sources found room.
template <class Space>
Fit take_lengths(Space const& space, TraversalBuffers<Space>& buffers, int levels) {
  Offset read[max_tree_depth + 2][list_kinds];
  read_back(space, buffers.ends.view().data(), &read[0][0], (levels + 1) * list_kinds);
  auto const* const longest = read[0];
  auto const* const end = read + 1;
  Fit fit{true, true};
  const auto lists = buffers.lists();
  for (int k = 0; k < list_open; ++k) {
    lists[k]->total = end[levels - 1][k];
    lists[k]->longest = longest[k];
    fit.entries = fit.entries && lists[k]->fits();
  }
  for (int level = 0; level < levels; ++level) {
    auto const& open = level % 2 == 0 ? buffers.next_open : buffers.open;
    fit.open = fit.open && end[level][list_open] <= open.capacity();
  }
  return fit;
}

/// Calls pass(wait) for all levels. On a GPU: first with the memory that there is, if any; where that was too small for
/// the open sources with waiting for these; and where it was too small for the lists once more with as much as they
/// take. On a CPU the first pass always finds room for the open sources. Targets are the tree's own cells.
template <class Walk, class Space, class Pass>
InteractionLists<Space> fill_lists(Space const& space, TraversalBuffers<Space>& buffers,
                                   Octree<Space> const& tree, int levels, Pass const& pass) {
  const std::int64_t cells = tree.cells.extent(0), own = tree.own_cells();
  const auto lists = buffers.lists();
  for (int k = 0; k < list_kinds; ++k)
    if (Walk::fills(k)) lists[k]->offsets.resize(cells + 1);
  if (Walk::fills(list_open)) buffers.open.offsets.resize(cells + 1);
  Fit fit{false, false};
  if constexpr (is_host_space_v<Space>) {
    pass(false);
    fit = {true, true};
    for (int k = 0; k < list_open; ++k) fit.entries = fit.entries && lists[k]->fits();
  } else {
    const auto ends = buffers.ends.resize((max_tree_depth + 2) * list_kinds);
    fill<Offset>(space, subarray<Offset, Space>(ends, 0, list_kinds), 0);
    if (buffers.p2p.capacity() > 0) {
      pass(false);
      fit = take_lengths(space, buffers, levels);
    }
    if (!fit.open) {
      pass(true);
      fit = take_lengths(space, buffers, levels);
    }
  }
  if (!fit.entries) {
    for (int k = 0; k < list_open; ++k) lists[k]->make_room();
    pass(false);
  }
  if (own < cells)  // rows of images are empty
    for (int k = 0; k < list_open; ++k)
      if (Walk::fills(k))
        fill<Offset>(space, subarray<Offset, Space>(lists[k]->offsets.view(), own + 1, cells - own),
                     lists[k]->total);
  const auto csr = [&](ListIndex k) {
    return Walk::fills(k) ? lists[k]->csr(cells) : Csr<Space>{};
  };
  return {csr(list_m2l), csr(list_p2l), csr(list_m2p), csr(list_p2p)};
}

/// The targets of one level, either way.
template <class Space, class Walk>
void list_level(Space const& space, TraversalBuffers<Space>& buffers, Walk const& walk,
                Array<Cell, Space> cells, CellIndex begin, CellIndex end, int level, int team_size,
                bool wait) {
  if constexpr (is_host_space_v<Space>)
    walk_level(space, buffers, walk, begin, end);
  else
    traverse_level(space, buffers, walk, cells, begin, end, level, team_size, wait);
}

/// What a dual walk on a CPU knows of the cells of each set.
template <class Criterion, class Space, class Shift>
OfSets<Families<Space>, Shift> families_of_sets(Space const& space,
                                                TraversalBuffers<Space>& buffers,
                                                CellsOfSets<Space, Shift> const& cells,
                                                OfSets<CellMeasures<Space>, Shift> const& measures,
                                                Shift) {
  const auto make = [&](auto& in, auto const& of, auto const& known) {
    return make_families(space, in, of, has_candidates_v<Criterion>, known.radii,
                         decides_siblings_v<Criterion> ? known.powers : Array<float, Space>{});
  };
  if constexpr (std::is_same_v<Shift, OneSet>)
    return make(buffers.families, cells, measures);
  else
    return {make(buffers.families, cells.targets, measures.targets),
            make(buffers.families_of_sources, cells.sources, measures.sources)};
}

/// Lists of the dual traversal under `criterion`, which has the `measures` that it uses; accepted pairs are
/// at least `far_from` apart, in edges of the root, and none is for P2L unless `has_p2l`. `wanted` as in DualWalk.
/// The walk begins with both roots; with a shift that is not OneSet targets and sources are two sets, over one cube,
/// and rows are by target. Cost: O(list entries), on a GPU twice.
template <class Space, class Criterion, class Shift = OneSet>
InteractionLists<Space> dual_lists(Space const& space, TraversalBuffers<Space>& buffers,
                                   Octree<Space> const& tree, Octree<Space> const& sources,
                                   Criterion const& criterion,
                                   OfSets<CellMeasures<Space>, Shift> const& measures,
                                   float far_from, bool has_p2l, int team_size,
                                   Array<int, Space> wanted = {}, Shift shift = {}) {
  const auto cells = cells_of_sets(tree.cells, sources.cells, shift);
  const auto families = families_of_sets<Criterion>(space, buffers, cells, measures, shift);
  using Walk = DualWalk<Space, Criterion, Shift>;
  return fill_lists<Walk>(space, buffers, tree, tree.depth + 1, [&](bool wait) {
    CellIndex parents = 0;
    for (int level = 0; level <= tree.depth; ++level) {
      const CellIndex begin = tree.level_begin[level], end = tree.level_begin[level + 1];
      const Csr<Space> open{buffers.open.offsets.view(begin - parents + 1),
                            buffers.open.entries.view()};
      const Walk walk{criterion, far_from, has_p2l, cells,  measures,
                      families,  open,     parents, wanted, RootImages::of(sources)};
      list_level(space, buffers, walk, tree.cells, begin, end, level, team_size, wait);
      std::swap(buffers.open, buffers.next_open);
      parents = begin;
    }
    // each buffer in its own place again, so that the next build finds it as large as it needs
    if (tree.depth % 2 == 0) std::swap(buffers.open, buffers.next_open);
  });
}

/// Lists of the treecode: M2P and P2P rows for every target leaf; `far_from` and `shift` as above.
template <class Space, class Shift = OneSet>
InteractionLists<Space> barnes_hut_lists(Space const& space, TraversalBuffers<Space>& buffers,
                                         Octree<Space> const& tree, Octree<Space> const& sources,
                                         double theta, float far_from, int team_size,
                                         Shift shift = {}) {
  const CellIndex cells = tree.own_cells();
  using Walk = BarnesHutWalk<Space, Shift>;
  const Walk walk{
      float(theta), in_grid_units(far_from), cells_of_sets(tree.cells, sources.cells, shift),
      make_families(space, buffers.families, sources.cells, false), RootImages::of(sources)};
  return fill_lists<Walk>(space, buffers, tree, 1, [&](bool wait) {
    list_level(space, buffers, walk, tree.cells, 0, cells, 0, team_size, wait);
  });
}

}  // namespace fmm::tree
