// SPDX-License-Identifier: BSD-3-Clause
// What lists leave out at tiles that are drawn by what is expected of them: sums by these lists are
// compared with sums by stricter ones, from the same multipoles. A tile costs as little as in an
// evaluation, so that many are looked at.
#pragma once

#include <cstdint>
#include <vector>

#include "drawn_groups.hpp"
#include "sample.hpp"

namespace fmm::tolerance {

/// Of drawn tiles, the squares of errors and of what these are errors of.
struct ErrorsAtTiles {
  PerQuantity<SumOverGroups> errors = {}, values = {};

  /// If the values' squares add up to that.
  SeenError seen(Quantity one, double squares) const { return seen_error(errors[one], squares); }
  /// As far as these tiles tell.
  SeenError seen(Quantity one) const { return seen(one, values[one].likely()); }
};

/// `expected` are those of expected_of_groups for the lists in question. list(is_truth, wanted) makes the plan's
/// lists for wanted targets, stricter ones or those in question. Lists of the plan, and what SampledFields says, are
/// lost. Cost: two evaluations for constants.drawn_tiles tiles, or all.
template <class Space, class Precision, class List>
ErrorsAtTiles errors_at_tiles(Space const& space,
                              FarField<Space, Precision, Outputs<true, true>> const& operators,
                              PlanData<Space, Precision>& plan,
                              AddNearField<Space, Precision> const& near_field,
                              Array<float, Space> expected, Quantities of, std::uint64_t seed,
                              List const& list) {
  auto const& octree = plan.tree.octree;
  const std::int64_t tiles = octree.tiles.extent(0);
  std::vector<Tile> all(tiles), chosen;
  read_back(space, octree.tiles.data(), all.data(), all.size());
  Buffer<TileWeight, Space> weights("drawn tiles' weights");
  fill(space, weights.resize(tiles), TileWeight{});
  GroupDraws draws(weights_of_tiles(space, octree, groups_of_tile<Space, real_t<Precision>>,
                                    expected, weights.view()),
                   seed);
  const auto drawn = draws.draw_tiles(constants.drawn_tiles);
  for (DrawnGroup const& group : drawn) chosen.push_back(all[group.tile]);
  SampledFields<Space, Precision> sample(
      space, operators, plan, near_field, [&](Buffer<Tile, Space>& memory) {
        return SampleOfLeaves<Space>{to_device(space, memory, chosen), std::int64_t(chosen.size()),
                                     1};
      });
  list(true, sample.wanted());
  sample.sum();
  sample.keep();
  list(false, sample.wanted());
  sample.sum();
  ErrorsAtTiles found;
  of.each([&](Quantity quantity) {
    const auto differences = sample.differences(quantity);
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      found.errors[quantity].add(differences[i].error, drawn[i]);
      found.values[quantity].add(differences[i].field, drawn[i]);
    }
  });
  return found;
}

}  // namespace fmm::tolerance
