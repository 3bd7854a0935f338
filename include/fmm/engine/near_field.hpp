// SPDX-License-Identifier: BSD-3-Clause
// The near field: P2P with the leaves of a list.
#pragma once

#include "../kernels/p2p/p2p.hpp"
#include "../options.hpp"
#include "body_tree.hpp"
#include "long_rows.hpp"
#include "workspace.hpp"

namespace fmm::engine {

/// How charges are summed where coordinates are in two parts.
template <class Real>
kernels::MixedSums mixed_sums(Options const& options, ChargeFacts const& charges) {
  return {.margin = kernels::margin_for<Real>(options.tolerance),
          .leaving = kernels::leaving_for<Real>(options.tolerance, charges.need_short_sums),
          .short_sums = charges.need_short_sums};
}

/// The near field of the targets in `tiles`, added to `sums`; of one set, a leaf itself is implied in its row of
/// `list`. The kernel is in units of the cube, if it can be. The options say how sources are taken where coordinates
/// are in two parts, as in PairPrecision, P2P's own; `first_in_one_part`: on a GPU there are two parts only for leaves
/// with close sources.
template <class Out, class PairPrecision, class Space, class Precision, class Shift,
          class Strengths, class Kernel>
void add_near_field(Space const& space, Workspace<Space, Precision>& memory,
                    BodySets<Space, Precision, Shift> const& sets,
                    SourceStrengths<Space, real_t<Precision>, Strengths> const& sources,
                    Kernel const& kernel, std::type_identity_t<TargetTiles<Space>> const& tiles,
                    Csr<Space> list, Array<Sums<sum_t<Precision>>, Space> sums,
                    Options const& options, bool first_in_one_part = false) {
  memory.left = {};
  const auto segments =
      split_long_rows(space, memory, sets.targets.octree, tiles, list,
                      Tuning<Space, real_t<Precision>>::p2p_segment, Out::records);
  static_assert(std::is_same_v<real_t<PairPrecision>, real_t<Precision>>);
  if constexpr (two_part_v<PairPrecision>)
    if (options.one_part)
      return p2p<Out, in_one_part_t<PairPrecision>, Strengths>(space, kernel, sets.cells(), tiles,
                                                               list, sets.bodies(), {}, sums,
                                                               segments, {}, sources.others);
  const auto how = mixed_sums<real_t<Precision>>(options, sets.sources.charges);
  if (kernels::may_leave_tiles<Space, PairPrecision> && first_in_one_part && how.leaving > 0)
    memory.left = memory.left_tiles.resize(std::int64_t(tiles.tiles.extent(0)) + segments.count());
  p2p<Out, PairPrecision, Strengths>(space, kernel, sets.cells(), tiles, list, sets.bodies(),
                                     sets.low(), sums, segments, how, sources.others, memory.left);
}

/// The same of one set with a charge each.
template <class Out, class PairPrecision, class Space, class Precision, class Kernel>
void add_near_field(Space const& space, Workspace<Space, Precision>& memory,
                    BodyTree<Space, Precision> const& tree, Kernel const& kernel,
                    Array<Tile, Space> tiles, Csr<Space> list,
                    Array<Sums<sum_t<Precision>>, Space> sums, Options const& options) {
  add_near_field<Out, PairPrecision>(space, memory, BodySets<Space, Precision>{tree, tree},
                                     SourceStrengths<Space, real_t<Precision>>{tree.bodies, {}},
                                     kernel, tiles, list, sums, options);
}

}  // namespace fmm::engine
