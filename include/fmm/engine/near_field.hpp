// SPDX-License-Identifier: BSD-3-Clause
// The near field: P2P with the leaves of a list.
#pragma once

#include "../kernels/p2p/p2p.hpp"
#include "../options.hpp"
#include "body_tree.hpp"
#include "long_rows.hpp"
#include "workspace.hpp"

namespace fmm::engine {

/// How charges are summed in mixed precision.
inline kernels::MixedSums mixed_sums(Options const& options, ChargeFacts const& charges) {
  return {kernels::margin_for(options.tolerance), charges.need_short_sums};
}

/// The near field of the targets in `tiles`, added to `sums`; of one set, a leaf itself is implied in its row of
/// `list`. The kernel is in units of the cube, if it can be. The options say how sources are taken in mixed precision.
template <class Out, class Space, class Precision, class Shift, class Strengths, class Kernel>
void add_near_field(Space const& space, Workspace<Space, Precision>& memory,
                    BodySets<Space, Precision, Shift> const& sets,
                    SourceStrengths<Space, real_t<Precision>, Strengths> const& sources,
                    Kernel const& kernel, Array<Tile, Space> tiles, Csr<Space> list,
                    Array<Sums<sum_t<Precision>>, Space> sums, Options const& options) {
  const auto segments =
      split_long_rows(space, memory, sets.targets.octree, tiles, list,
                      Tuning<Space, real_t<Precision>>::p2p_segment, Out::records);
  if constexpr (two_part_v<Precision>)
    if (options.one_part)
      return p2p<Out, MixedInOnePart, Strengths>(space, kernel, sets.cells(), tiles, list,
                                                 sets.bodies(), {}, sums, segments, {},
                                                 sources.others);
  p2p<Out, Precision, Strengths>(space, kernel, sets.cells(), tiles, list, sets.bodies(),
                                 sets.low(), sums, segments,
                                 mixed_sums(options, sets.sources.charges), sources.others);
}

/// The same of one set with a charge each.
template <class Out, class Space, class Precision, class Kernel>
void add_near_field(Space const& space, Workspace<Space, Precision>& memory,
                    BodyTree<Space, Precision> const& tree, Kernel const& kernel,
                    Array<Tile, Space> tiles, Csr<Space> list,
                    Array<Sums<sum_t<Precision>>, Space> sums, Options const& options) {
  add_near_field<Out>(space, memory, BodySets<Space, Precision>{tree, tree},
                      SourceStrengths<Space, real_t<Precision>>{tree.bodies, {}}, kernel, tiles,
                      list, sums, options);
}

}  // namespace fmm::engine
