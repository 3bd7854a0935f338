// SPDX-License-Identifier: BSD-3-Clause
// What an evaluation works through: pairs, translations and their operations.
#pragma once

#include "../detail/reduce.hpp"
#include "../kernels/flops.hpp"
#include "far_field.hpp"
#include "plan_data.hpp"
#include "stage.hpp"

namespace fmm::engine {

/// Bodies of the cells in a row of a list.
template <class Cells, class Space>
KOKKOS_FUNCTION std::int64_t bodies_in_row(Cells const& cells, Csr<Space> const& list,
                                           std::int64_t row) {
  std::int64_t bodies = 0;
  const Offset count = list.length(row);
  for (Offset k = 0; k < count; ++k)
    bodies += cells(list.entries(list.offsets(row) + k)).body_count;
  return bodies;
}

/// Pairs of bodies, of a body with a cell's multipole, and of a body with a cell's local expansion; targets, and cells
/// that have some.
struct PairCounts {
  std::int64_t p2p = 0, m2p = 0, p2l = 0, bodies = 0, cells = 0;
  KOKKOS_FUNCTION void join(PairCounts const& other) {
    p2p += other.p2p;
    m2p += other.m2p;
    p2l += other.p2l;
    bodies += other.bodies;
    cells += other.cells;
  }
};

/// Those in the lists of cell i.
template <class Space, class Cells = Array<Cell, Space>>
struct CountPairs {
  Cells cells;
  InteractionLists<Space> lists;
  bool m2l_at_bodies;
  Array<BodyIndex, Space> chosen;  ///< targets of each cell, if they are chosen ones

  KOKKOS_FUNCTION void operator()(std::int64_t i, PairCounts& pairs) const {
    auto const& [m2l, p2l, m2p, p2p] = lists;
    const std::int64_t all = targets_of(cells)(i).body_count,
                       bodies = chosen.extent(0) > 0 ? chosen(i) : all;
    if (bodies == 0) return;
    ++pairs.cells;
    for (Offset k = p2p.offsets(i); k < p2p.offsets(i + 1); ++k) {
      const bool is_self = is_one_set_v<Cells> && p2p.entries(k) == CellIndex(i);
      pairs.p2p += bodies * (is_self ? all - 1 : sources_of(cells)(p2p.entries(k)).body_count);
    }
    pairs.m2p += bodies * (m2p.length(i) + (m2l_at_bodies ? m2l.length(i) : 0));
    pairs.p2l += bodies_in_row(sources_of(cells), p2l, i);
    if (i == 0) pairs.bodies = bodies;
  }
};

/// Those in all lists.
template <class Space, class Cells>
PairCounts pairs_in_lists(Space const& space, std::int64_t targets, Cells const& cells,
                          InteractionLists<Space> const& lists, bool m2l_at_bodies,
                          Array<BodyIndex, Space> chosen = {}) {
  return reduce<PairCounts>("fmm::count", space, targets,
                            CountPairs<Space, Cells>{cells, lists, m2l_at_bodies, chosen});
}

/// Pairs of bodies.
template <class Out, class Strengths>
void count_pairs(std::int64_t pairs, Report& report) {
  report.p2p_pairs += pairs;
  add_work(report, "p2p", pairs, pair_flops<Out, Strengths>());
}

/// Counts and flops of the far field's operators and of P2P; `chosen`: targets of each cell, if they are chosen ones.
template <class Space, class Precision, class Out, class Shift, class Strengths>
void count_tree_work(Space const& space,
                     FarField<Space, Precision, Out, Shift, Strengths> const& far,
                     Workspace<Space, Precision> const& memory,
                     std::type_identity_t<BodySets<Space, Precision, Shift>> const& sets,
                     InteractionLists<Space> const& lists, Report& report,
                     bool has_kept_multipoles = false, Array<BodyIndex, Space> chosen = {}) {
  const bool has_locals = far.traits().has_locals;
  const auto [pairs, m2p_pairs, p2l_pairs, bodies, cells] = pairs_in_lists(
      space, sets.targets.octree.own_cells(), sets.cells(), lists, !has_locals, chosen);
  const OperatorFlops flops = far.flops();
  const auto add = [&](char const* name, std::int64_t count, std::int64_t of_one) {
    add_work(report, name, count, of_one * Strengths::densities);
  };
  if (!has_kept_multipoles) {
    add("p2m", sets.sources.size, flops.p2m);
    add("m2m", std::int64_t(sets.sources.octree.own_cells()) - 1, flops.m2m);
  }
  if (has_locals) {
    report.m2l += std::int64_t(lists.m2l.entries.extent(0));
    far.count_m2l(space, memory, lists.m2l, report);
    if (p2l_pairs > 0) add("p2l", p2l_pairs, flops.p2l);
    report.p2l += p2l_pairs;
    add("l2l", cells - 1, flops.l2l);
    add("l2p", bodies, flops.l2p);
  }
  if (m2p_pairs > 0) add("m2p", m2p_pairs, flops.m2p);
  report.m2p += m2p_pairs;
  count_pairs<Out, Strengths>(pairs, report);
}

}  // namespace fmm::engine
