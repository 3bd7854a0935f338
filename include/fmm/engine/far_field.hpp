// SPDX-License-Identifier: BSD-3-Clause
// The far field's operators in their order: how M2L is done, local expansions, and the far field of some tiles.
#pragma once

#include "../kernels/flops.hpp"
#include "../kernels/l2l.hpp"
#include "../kernels/l2p.hpp"
#include "../kernels/m2l.hpp"
#include "../kernels/m2p.hpp"
#include "../kernels/p2l.hpp"
#include "../report.hpp"
#include "body_tree.hpp"
#include "long_rows.hpp"
#include "stage.hpp"
#include "workspace.hpp"

namespace fmm::engine {

/// A far field through local expansions, whose M2L is that of a translation scheme: one translation a list
/// entry, unless the scheme has a way of its own (batched_gemm.hpp).
template <class Translation>
struct FarFieldBy {
  template <class Expansion, class Space, class Precision, class Cells, class Real>
  static void m2l(Space const& space, Workspace<Space, Precision>&, Cells const& cells,
                  Csr<Space> list, Array<Real, Space> multipoles, Array<Real, Space> locals) {
    kernels::m2l<Expansion>(space, cells, list, multipoles, locals);
  }
  template <class Expansion, class Space, class Precision>
  static void count(Space const&, Workspace<Space, Precision> const&, Csr<Space> list,
                    Report& report) {
    add_work(report, "m2l", std::int64_t(list.entries.extent(0)),
             translation_flops<Expansion, real_t<Precision>>().m2l);
  }
};
/// A treecode's, without local expansions.
struct WithoutLocals {};

/// One whose lists have M2L (without local expansions: M2P in its place) and no other way.
template <class FarFieldScheme>
struct OnlyM2L : FarFieldScheme {};

template <class FarFieldScheme>
inline constexpr bool has_locals_v = !std::is_base_of_v<WithoutLocals, FarFieldScheme>;
template <class FarFieldScheme>
inline constexpr bool has_only_m2l_scheme_v = false;
template <class FarFieldScheme>
inline constexpr bool has_only_m2l_scheme_v<OnlyM2L<FarFieldScheme>> = true;

/// What acts on each of the targets' cells itself, set as its local expansion: M2L and P2L.
template <class Expansion, class FarFieldScheme, class Space, class Precision, class Shift,
          class Real>
void set_locals(Space const& space, Workspace<Space, Precision>& memory,
                BodySets<Space, Precision, Shift> const& sets, InteractionLists<Space> const& lists,
                Array<Real, Space> multipoles, Array<Real, Space> locals, Report* report) {
  stage(space, report, "m2l", [&] {
    FarFieldScheme::template m2l<Expansion>(space, memory, sets.cells(), lists.m2l, multipoles,
                                            locals);
  });
  if constexpr (!has_only_m2l_scheme_v<FarFieldScheme> && has_p2l<basis_t<Expansion>>())
    if (lists.p2l.entries.extent(0) > 0)
      stage(space, report, "p2l",
            [&] { p2l<Expansion>(space, sets.cells(), lists.p2l, sets.sources.bodies, locals); });
}

/// Adds to each cell's local expansion those of the cells above it: L2L.
template <class Expansion, class Space, class Real>
void pass_locals_down(Space const& space, Octree<Space> const& octree, Array<Real, Space> locals,
                      Report* report) {
  stage(space, report, "l2l", [&] {
    for (int level = 1; level <= octree.depth; ++level)
      l2l<Expansion>(space, octree.cells, octree.level_begin[level], octree.level_begin[level + 1],
                     locals);
  });
}

/// Far field of the bodies in `tiles` alone, set as `sums`, from multipoles that are there; lists need not have
/// entries but for those tiles' leaves and the cells above these. Local expansions, and what was in their memory, are
/// lost.
template <class Expansion, class FarFieldScheme, class Want, class Space, class Precision>
void set_far_field_of(Space const& space, Workspace<Space, Precision>& memory,
                      BodyTree<Space, Precision> const& tree, InteractionLists<Space> const& lists,
                      Array<Tile, Space> tiles, Array<Sums<sum_t<Precision>>, Space> sums) {
  auto const& octree = tree.octree;
  const std::size_t coefficients = octree.cells.extent(0) * row_length(Expansion::size);
  const auto multipoles = memory.multipoles.view(coefficients),
             locals = memory.locals.resize(coefficients);
  set_locals<Expansion, FarFieldScheme>(space, memory, BodySets<Space, Precision>{tree, tree},
                                        lists, multipoles, locals, nullptr);
  pass_locals_down<Expansion>(space, octree, locals, nullptr);
  l2p<Expansion, Want>(space, octree.cells, tiles, tree.bodies, locals, sums);
  if (lists.m2p.entries.extent(0) > 0)
    m2p<Expansion, Want>(space, octree.cells, tiles, lists.m2p, Csr<Space>{}, tree.bodies,
                         stage_multipoles<Expansion>(space, multipoles, memory.locals), sums,
                         split_long_rows(space, memory, octree, tiles, lists.m2p,
                                         Tuning<Space, real_t<Precision>>::m2p_segment));
}

}  // namespace fmm::engine
