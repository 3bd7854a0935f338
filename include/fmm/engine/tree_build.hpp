// SPDX-License-Identifier: BSD-3-Clause
// Bodies into tree order, and the octree over them: keys, sort, cells, leaves, tiles.
#pragma once

#include <array>
#include <cmath>

#include "../tree/keys/sort.hpp"
#include "../tree/place_bodies.hpp"
#include "../tree/traversal.hpp"
#include "../tuning.hpp"
#include "body_tree.hpp"
#include "results.hpp"
#include "root_rule.hpp"
#include "stage.hpp"
#include "workspace.hpp"

namespace fmm::engine {

/// The first bit of the keys' first `levels` levels.
inline int first_bit_of(int levels) { return key_bits - 3 * levels; }

/// How many levels of the keys to sort, in tries: as many as a uniform distribution's tree has, six more (nearly
/// all others are shallower than that), all. A radix sort saves passes over the data.
template <class Space>
std::array<int, 3> sorted_levels(SplitRule const& rule, std::int64_t n) {
  if (rule.leaf_capacity == 0) return {rule.depth, rule.depth, rule.depth};
  const auto in_whole_passes = [&](int levels) {
    return std::min(rule.depth,
                    radix_passes<Space>(first_bit_of(levels)) * radix_bits_v<Space> / 3);
  };
  const double layers = layers_if_uniform(n, rule.leaf_capacity);
  int levels = 0;
  while (std::ldexp(1.0, levels) < layers) ++levels;
  if (double(n) > 0.5 * rule.leaf_capacity * layers * layers * layers) ++levels;  // some will split
  return {in_whole_passes(levels), in_whole_passes(levels + 6), rule.depth};
}

template <class Space, class Real>
constexpr TileRule tile_rule() {
  static_assert(Tuning<Space, Real>::tile % tile_step == 0);
  return {Tuning<Space, Real>::tile, Tuning<Space, Real>::tile_sorting_team};
}

/// Keys sorted by their bits from first_bit on, and the bodies' places with them.
template <class Space, class Precision>
Sorted<Space> sort_unsorted(Space const& space, Workspace<Space, Precision>& memory,
                            BodyTree<Space, Precision>& tree, UnsortedKeys<Space> const& keys,
                            int first_bit, Report* report) {
  Sorted<Space> sorted;
  stage(space, report, "sort", [&] {
    sorted = sort_keys(space, memory.sort, keys, memory.keys(1, tree.size), first_bit);
    tree.permutation = sorted.permutation;
    if constexpr (gathers_results_v<Space>) {
      tree.place = sorted.spare;
      for_range("fmm::sort::invert", space, tree.size,
                InvertPermutation<Space>{tree.permutation, tree.place});
    }
  });
  return sorted;
}

/// Keys of all bodies, sorted by their first `levels` levels.
template <class Space, class Precision, class Positions>
Sorted<Space> sort_bodies(Space const& space, Workspace<Space, Precision>& memory,
                          BodyTree<Space, Precision>& tree, Positions const& positions, int levels,
                          Report* report) {
  const std::int64_t n = tree.size;
  const int first_bit = first_bit_of(levels);
  UnsortedKeys<Space> keys;
  stage(space, report, "keys", [&] {
    keys = unsorted_keys(memory.sort, memory.keys(0, n), first_bit);
    make_keys(space, positions, tree.cube, keys);
  });
  return sort_unsorted(space, memory, tree, keys, first_bit, report);
}

/// The bodies in tree order, and radii if the criterion uses them.
template <class Traversal, class Space, class Precision, class Positions>
void place_in_tree(Space const& space, Workspace<Space, Precision>& memory,
                   BodyTree<Space, Precision>& tree, Positions const& positions) {
  using Shape = Tuning<Space, real_t<Precision>>;
  tree.bodies = memory.bodies.resize(tree.size);
  tree.low = {};
  tree.lowest = {};
  if (memory.parts > 1) tree.low = memory.low.resize(tree.size);
  if (memory.parts > 2) tree.lowest = memory.lowest.resize(tree.size);
  Array<float, Space> radii;
  if constexpr (traits_v<Traversal>.uses_radii)
    radii = memory.traversal.radii.resize(tree.octree.cells.extent(0));
  place_bodies<Precision>(space, tree.octree, tree.cube, positions, tree.permutation, tree.bodies,
                          tree.low, tree.lowest, radii, Shape::tile_team, Shape::gather_team);
}

/// The smallest (N,3) `last_field` of each cell's bodies, in `unit`, for criteria that use it.
template <class Space, class Precision, class Field>
void take_last_field(Space const& space, Workspace<Space, Precision>& memory,
                     BodyTree<Space, Precision>& tree, Field const& last_field, double unit,
                     Report* report) {
  stage(space, report, "tree", [&] {
    measure_cells(space, "fmm::tree::last_field", tree.octree,
                  SmallestField<Space, Field>(last_field, tree.permutation, unit),
                  memory.last_fields.resize(tree.octree.cells.extent(0)),
                  Tuning<Space, real_t<Precision>>::gather_team);
  });
}

/// Bodies sorted and in an octree. A try succeeds if and only if the tree is no deeper than its levels. The first one
/// that is made is that of the last tree, but the tree is built from the first of all that succeeds: the order of
/// bodies within leaves does not depend on what was built before.
template <class Traversal, class Space, class Precision, class Positions>
void build_tree(Space const& space, Workspace<Space, Precision>& memory,
                BodyTree<Space, Precision>& tree, Positions const& positions, SplitRule const& rule,
                Report* report) {
  const auto build_from = [&](int levels) {
    memory.lend_place_of_bodies(tree.size);
    const auto sorted = sort_bodies(space, memory, tree, positions, levels, report);
    bool built = false;
    stage(space, report, "tree", [&] {
      const auto octree = build_octree(space, memory.octree, sorted.keys, rule,
                                       tile_rule<Space, real_t<Precision>>(), levels);
      built = octree.has_value();
      if (!built) return;
      tree.octree = *octree;
      place_in_tree<Traversal>(space, memory, tree, positions);
    });
    return built;
  };
  const auto levels = sorted_levels<Space>(rule, tree.size);
  while (!build_from(levels[memory.sort_try])) ++memory.sort_try;
  int first = memory.sort_try;
  while (first > 0 && tree.octree.depth <= levels[first - 1]) --first;
  if (first < memory.sort_try) build_from(levels[memory.sort_try = first]);
}

/// Positions in double, in tree order, for DirectSum.
template <class Space, class Positions>
struct CopyPositions {
  Positions positions;
  Array<BodyIndex, Space> permutation;
  Array<Body<double>, Space> bodies;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t from = permutation(i);
    bodies(i).x = positions(from, 0);
    bodies(i).y = positions(from, 1);
    bodies(i).z = positions(from, 2);
  }
};
template <class Space, class Precision, class Positions>
void copy_positions(Space const& space, Workspace<Space, Precision>& memory,
                    BodyTree<Space, Precision>& tree, Positions const& positions) {
  tree.positions = memory.positions.resize(tree.size);
  for_range("fmm::positions", space, tree.size,
            CopyPositions<Space, Positions>{positions, tree.permutation, tree.positions});
}

}  // namespace fmm::engine
