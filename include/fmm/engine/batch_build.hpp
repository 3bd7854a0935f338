// SPDX-License-Identifier: BSD-3-Clause
// The build of a batch: many sets of bodies, of which each is summed over its own pairs. Bodies are in the order of
// their sets, within a set in that of its Morton keys, and tiles are of one set.
#pragma once

#include "../batch.hpp"
#include "../tree/keys/batch_keys.hpp"
#include "build.hpp"
#include "offsets.hpp"

namespace fmm::engine {

/// Ordered pairs within set i.
template <class Space>
struct CountPairsOfSets {
  Array<BodyIndex, Space> offsets;

  KOKKOS_FUNCTION void operator()(std::int64_t i, SumOf<std::int64_t>& pairs) const {
    const auto size = std::int64_t(offsets(i + 1)) - offsets(i);
    pairs.value += size * (size - 1);
  }
};

/// The index of the tiles' P2PShape: as for all pairs of so many bodies, but no tile is larger than sets are on
/// average, if there is a smaller one.
template <class Shapes>
int shape_of_batch(std::int64_t bodies, std::int64_t sets, int concurrency) {
  int shape = Shapes::all_pairs_shape(bodies, concurrency);
  while (shape + 1 < int(Shapes::all_pairs.size()) && Shapes::all_pairs[shape].tile * sets > bodies)
    ++shape;
  return shape;
}

/// Solver::build of a Batch.
template <class Space, class Precision, class Sources, class Offsets>
std::shared_ptr<PlanData<Space, Precision>> make_batch_plan(Space const& space,
                                                            PlanPool<Space, Precision>& pool,
                                                            Batch<Sources, Offsets> const& batch,
                                                            Report* report) {
  using Shapes = Tuning<Space, real_t<Precision>>;
  const typename Sources::const_type positions = batch.sources;
  const typename Offsets::const_type given_offsets = batch.offsets;
  const std::int64_t n = checked_size("positions", positions);
  const BuildClock clock(space, report);
  const auto plan = pool.free_plan();
  auto& memory = plan->memory;
  auto& tree = plan->tree;
  plan->facts = {&traversal_mark<DirectSum>};
  plan->lists = {};
  tree = {};
  tree.size = n;
  Array<BodyIndex, Space> offsets;
  Array<Box, Space> boxes;
  stage(space, report, "bounds", [&] {
    offsets = take_offsets(space, given_offsets, n, memory.batch.offsets);
    if (n == 0) return;
    bounding_box(space, positions);  // finite
    const auto sets = std::int64_t(offsets.extent(0)) - 1;
    plan->facts.pairs_of_batch = reduce<SumOf<std::int64_t>>("fmm::batch::pairs", space, sets,
                                                             CountPairsOfSets<Space>{offsets})
                                     .value;
    boxes = memory.batch.boxes.resize(sets);
    fill(space, boxes, BoxOfFinite().box);
    using Add = AddToBoxes<Space, typename Sources::const_type>;
    for_range("fmm::batch::boxes", space, (n - 1) / Add::block + 1, Add{positions, offsets, boxes});
    const double largest =
        reduce<MaxOf<double>>("fmm::batch::extent", space, sets, MeasureBoxes<Space>{boxes}).value;
    space.fence();
    const Box largest_set{{0, 0, 0}, {largest, largest, largest}};
    check_extent("sets", largest_set);
    tree.cube = root_cube(largest_set);
  });
  if (n > 0) {
    plan->facts.all_pairs_shape =
        shape_of_batch<Shapes>(n, std::int64_t(boxes.extent(0)), space.concurrency());
    const int first_bit = first_bit_of(max_tree_depth);
    UnsortedKeys<Space> keys;
    stage(space, report, "keys", [&] {
      keys = unsorted_keys(memory.sort, memory.keys(0, n), first_bit);
      for_range("fmm::keys", space, n,
                MakeBatchKeys<Space, typename Sources::const_type>{
                    positions, offsets, boxes, bits_of_sets(std::int64_t(boxes.extent(0))), keys});
    });
    const auto sorted = sort_unsorted(space, memory, tree, keys, first_bit, report);
    stage(space, report, "tree", [&] {
      copy_positions(space, memory, tree, positions);
      tree.octree.tiles = batch_tiles(
          space, sorted.keys, offsets, Shapes::all_pairs[plan->facts.all_pairs_shape].tile,
          memory.octree.tiles, memory.octree.totals, memory.batch.blocks);
    });
  }
  if (report) {
    for (char const* name : {"bounds", "keys", "sort"}) add_work(*report, name, n);
  }
  clock.stop(pool.bytes());
  return plan;
}

}  // namespace fmm::engine
