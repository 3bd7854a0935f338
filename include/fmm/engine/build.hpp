// SPDX-License-Identifier: BSD-3-Clause
// The build: keys, sort, tree and lists from positions. Depends on the traversal and the precision; of the
// pair kernel and its expansions it knows a FarFieldRule.
#pragma once

#include <algorithm>
#include <array>

#include "../tree/coarse_field.hpp"
#include "../tree/lists/blocks.hpp"
#include "../tree/lists/order_rows.hpp"
#include "../tree/place_bodies.hpp"
#include "../tuning.hpp"
#include "bodies.hpp"
#include "field_strength.hpp"
#include "stage.hpp"
#include "workspace.hpp"

namespace fmm::engine {

/// What the lists are to know of the expansions: the highest degree, from which distance on, in the unit of
/// the positions, they stand for the pair kernel, and whether there is P2L.
struct FarFieldRule {
  int order;
  double from;
  bool has_p2l;

  FarFieldRule(int p, double distance = 0, bool p2l = false)
      : order(p), from(distance), has_p2l(p2l) {}
};

/// The distance in edges of the root, where no two bodies are farther apart than 2.
inline double in_edges(FarFieldRule const& far, Cube const& cube) {
  return std::min(far.from / cube.edge, 2.0);
}

inline float rounded_up(double distance) { return float(distance) * 1.000001f; }

/// The deepest level whose cells are not much smaller than the near field of radius `far_from`, in edges of
/// the root: what smaller leaves save in pairs they cost in list entries.
inline int deepest_level(double far_from) {
  int level = max_tree_depth;
  while (level > 0 && std::ldexp(8.0, -level) < far_from) --level;
  return level;
}

/// When to split the cells of n bodies, down to `deepest`; a uniform tree's depth from its leaf capacity if
/// it is not set.
inline SplitRule split_rule(Options const& options, std::int64_t n, int deepest) {
  if (options.tree == TreeKind::adaptive)
    return {std::min(*options.depth, deepest), *options.leaf_capacity};
  if (options.depth) return {*options.depth, 0};
  int depth = 0;
  while (depth<deepest&& double(n)> * options.leaf_capacity * std::pow(8.0, depth)) ++depth;
  return {depth, 0};
}

/// Layers of leaves, two fifths full, of n bodies that fill a cube evenly. Even, so that the leaves' parents end with
/// the bodies, too: a thin layer in a cell is a small target, whose error is larger (docs/design.md).
inline int layers_if_uniform(std::int64_t n, int leaf_capacity) {
  const double layers = 2 * std::round(0.5 * std::cbrt(double(n) / (0.4 * leaf_capacity)));
  return layers > 2 ? int(layers) : 1;
}

/// The layers of leaves that an adaptive tree is to have along the bodies' largest extent, as if these were uniform:
/// the bounding cube itself gives 2^d layers, and leaves eight times as full at one N as at another. 1 for the
/// bounding cube itself, where leaves have to be larger than that: on level `deepest` of it or above.
inline int layers_of_leaves(Options const& options, std::int64_t n, int deepest) {
  if (options.tree != TreeKind::adaptive) return 1;
  const int layers = layers_if_uniform(n, *options.leaf_capacity);
  return double(layers) <= std::ldexp(1.0, std::min(*options.depth, deepest)) ? layers : 1;
}

/// The root of a tree of n bodies in the box.
inline Cube root_of_tree(Box const& box, std::int64_t n, Options const& options, FarFieldRule far) {
  const Cube around = root_cube(box);
  return root_cube(box, layers_of_leaves(options, n, deepest_level(in_edges(far, around))));
}

/// Where charges have both signs, whole degrees of a multipole may vanish by symmetry (of a cube of
/// rock salt all but 3, 7, 9, ..), and the last one then says nothing of those that are left out.
/// The power of the last degree becomes the largest of what it is, of what the three degrees before
/// it would be there if they fell as the cell's radius r does, and of what charges without any
/// order have in a ball of that radius: sqrt(sum q^2 3 / (2 p + 3)) r^p, with sum q^2 <= sum |q|
/// max |q|. All twice: errors of many cells of a lattice add up in the same direction.
template <class Space>
struct RaiseLastPower {
  static constexpr int degrees_before = 3;
  CellMeasures<Space> measures;
  float largest_charge;

  KOKKOS_FUNCTION void operator()(std::int64_t cell) const {
    float* const power = measures.powers.data() + cell * measures.power_row;
    const int last = measures.power_row - 1;
    const float radius = measures.radii.extent(0) > 0 ? measures.radii(cell) : half_diagonal;
    float size = std::fabs(power[last]), fall = 1;
    for (int k = 1; k <= last; ++k) {
      fall *= radius;
      if (k <= degrees_before) size = std::fmax(size, fall * std::fabs(power[last - k]));
    }
    size = std::fmax(
        size, fall * std::sqrt(measures.charges(cell) * largest_charge * 3 / float(2 * last + 3)));
    power[last] = 2 * size;
  }
};

/// What the traversal's criterion may know of the storage's cells. Charges are those of the
/// storage's bodies; a criterion that uses powers and the field wants `body_sums`, and
/// `known_scale` as of field_strength.
template <class Traversal, class Space, class Precision>
CellMeasures<Space> measure_for_lists(Space const& space, PlanStorage<Space, Precision>& s,
                                      FarFieldRule far,
                                      BodySums<Space, Precision> const& body_sums = {},
                                      double known_scale = 0) {
  using Shape = Tuning<Space, real_t<Precision>>;
  using Criterion = typename Traversal::criterion;
  const std::int64_t cells = s.tree.cells.extent(0);
  CellMeasures<Space> measures{{}, {}, {}, {}, float(s.size), far.order + 1};
  if constexpr (Criterion::uses_radii) measures.radii = s.traversal.radii.view(cells);
  if constexpr (Criterion::uses_charges) {
    measures.charges = s.traversal.charges.resize(cells);
    measure_cells(space, "fmm::charges", s.tree,
                  SumOfCharges<Space, real_t<Precision>>(s.bodies.view(s.size)), measures.charges,
                  Shape::gather_team);
  }
  if constexpr (uses_powers_v<Criterion>) {
    measures.powers = s.traversal.powers.view(cells * measures.power_row);
    if (s.charges.both_signs && far.order > 0)  // the power of degree 0 is the charge
      for_range("fmm::powers::raise", space, cells,
                RaiseLastPower<Space>{measures, float(s.charges.largest / s.charges.unit)});
  }
  if constexpr (uses_field_v<Criterion>) {
    measures.fields = s.traversal.fields.resize(cells);
    if constexpr (uses_last_field_v<Criterion>)
      for_range("fmm::lists::last_field", space, cells,
                FieldsInUnit<Space>{s.last_fields.view(cells), s.charges.unit, measures.fields});
    else if constexpr (uses_powers_v<Criterion>)
      field_strength(space, s, measures, body_sums, known_scale);
    else
      coarse_field<false>(space, s.tree, s.size, s.traversal.coarse, CellWeights<Space>{},
                          measures.fields, {}, Shape::gather_team);
  }
  return measures;
}

/// Interaction lists of the storage's tree by the dual traversal; of `wanted` targets, as in DualWalk.
template <class Traversal, class Space, class Precision>
void build_dual_lists(Space const& space, PlanStorage<Space, Precision>& s, Options const& options,
                      FarFieldRule far, CellMeasures<Space> const& measures,
                      Array<int, Space> wanted = {}) {
  using Shape = Tuning<Space, real_t<Precision>>;
  using Criterion = typename Traversal::criterion;
  s.kept_buckets.forget();
  const CriterionOptions known{
      options.theta.value_or(0),
      options.pair_error.value_or(0),
      far.order,
      Shape::pairs_per_m2l(far.order),
      Shape::pairs_per_m2p(far.order),
      far.has_p2l ? Shape::pairs_per_p2l(far.order) : std::numeric_limits<double>::infinity()};
  s.lists = dual_lists(space, s.traversal, s.tree, make_criterion<Criterion>(known), measures,
                       rounded_up(in_edges(far, s.cube)), far.has_p2l, Shape::list_team, wanted);
  if constexpr (has_lower_orders_v<Criterion>) {
    s.parts_order = far.order;
    order_rows<Criterion>(
        space, s.tree.cells, known, measures, s.lists.m2l,
        s.traversal.order_ends.resize(s.tree.cells.extent(0) * Criterion::lower_count));
  }
}

template <class Space>
void add_list_work(Report& report, InteractionLists<Space> const& lists) {
  for (auto const* list : {&lists.m2l, &lists.p2l, &lists.m2p, &lists.p2p})
    add_work(report, "lists", std::int64_t(list->entries.extent(0)));
}

/// Interaction lists of the storage's tree; not those that wait for multipoles.
template <class Traversal, class Space, class Precision>
void build_lists(Space const& space, PlanStorage<Space, Precision>& s, Options const& options,
                 FarFieldRule far) {
  if constexpr (is_dual_v<Traversal>) {
    build_dual_lists<Traversal>(space, s, options, far,
                                measure_for_lists<Traversal>(space, s, far));
  } else {
    s.kept_buckets.forget();
    s.lists = barnes_hut_lists(space, s.traversal, s.tree, *options.theta,
                               rounded_up(in_edges(far, s.cube)),
                               Tuning<Space, real_t<Precision>>::list_team);
  }
}

/// The same as a stage of its own, counted in list entries.
template <class Traversal, class Space, class Precision>
void lists_stage(Space const& space, PlanStorage<Space, Precision>& s, Options const& options,
                 FarFieldRule far, Report* report) {
  stage(space, report, "lists", [&] { build_lists<Traversal>(space, s, options, far); });
  if (report) add_list_work(*report, s.lists);
}

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

/// Lends the memory of the bodies, until these are placed, to the octree's ranges and on a CPU to the sort's second
/// indices, which a GPU keeps as `place`.
template <class Space, class Precision>
void lend_before_bodies(PlanStorage<Space, Precision>& s) {
  s.bodies.resize(s.size);
  Lender<Space> lender(s.bodies.view());
  if constexpr (is_host_space_v<Space>) lender.lend(s.sort.order_out, s.size);
  lender.lend(s.octree.ranges, lender.share(1) / sizeof(ChildRange));
}

/// Keys of all bodies, sorted by their first `levels` levels.
template <class Space, class Precision, class Positions>
Sorted<Space> sort_bodies(Space const& space, PlanStorage<Space, Precision>& s,
                          Positions const& positions, int levels, Report* report) {
  const std::int64_t n = s.size;
  const int first_bit = first_bit_of(levels);
  UnsortedKeys<Space> keys;
  stage(space, report, "keys", [&] {
    keys = unsorted_keys(s.sort, s.key_memory(0), first_bit);
    for_range("fmm::keys", space, n, MakeKeys<Space, Positions>{positions, s.cube, keys});
  });
  Sorted<Space> sorted;
  stage(space, report, "sort", [&] {
    sorted = sort_keys(space, s.sort, keys, s.key_memory(1), first_bit);
    s.order = sorted.order;
    if constexpr (gathers_results_v<Space>) {
      s.place = sorted.spare;
      for_range("fmm::sort::invert", space, n, InvertOrder<Space>{s.order, s.place});
    }
  });
  return sorted;
}

/// The bodies in tree order, and radii if the criterion uses them.
template <class Traversal, class Space, class Precision, class Positions>
void place_in_tree(Space const& space, PlanStorage<Space, Precision>& s,
                   Positions const& positions) {
  using Shape = Tuning<Space, real_t<Precision>>;
  using Real = real_t<Precision>;
  Array<Body<Real>, Space> low;
  if constexpr (two_part_v<Precision>) low = s.low.resize(s.size);
  Array<float, Space> radii;
  if constexpr (is_dual_v<Traversal>)
    if constexpr (Traversal::criterion::uses_radii)
      radii = s.traversal.radii.resize(s.tree.cells.extent(0));
  place_bodies<Precision>(space, s.tree, s.cube, positions, s.order, s.bodies.resize(s.size), low,
                          radii, Shape::tile_team, Shape::gather_team);
}

/// The smallest (N,3) `last_field` of each cell's bodies, in `unit`, for criteria that use it.
template <class Space, class Precision, class Field>
void take_last_field(Space const& space, PlanStorage<Space, Precision>& s, Field const& last_field,
                     double unit, Report* report) {
  stage(space, report, "tree", [&] {
    measure_cells(space, "fmm::tree::last_field", s.tree,
                  SmallestField<Space, Field>(last_field, s.order, unit),
                  s.last_fields.resize(s.tree.cells.extent(0)),
                  Tuning<Space, real_t<Precision>>::gather_team);
  });
}

/// Bodies sorted and in an octree. A try succeeds if and only if the tree is no deeper than its levels. The first one
/// that is made is that of the last tree, but the tree is built from the first of all that succeeds: the order of
/// bodies within leaves does not depend on what was built before.
template <class Traversal, class Space, class Precision, class Positions>
void build_tree(Space const& space, PlanStorage<Space, Precision>& s, Positions const& positions,
                SplitRule const& rule, Report* report) {
  const auto build_from = [&](int levels) {
    lend_before_bodies(s);
    const auto sorted = sort_bodies(space, s, positions, levels, report);
    bool built = false;
    stage(space, report, "tree", [&] {
      auto tree = build_octree(space, s.octree, sorted.keys, rule,
                               tile_rule<Space, real_t<Precision>>(), levels);
      built = tree.has_value();
      if (!built) return;
      s.tree = *tree;
      place_in_tree<Traversal>(space, s, positions);
    });
    return built;
  };
  const auto levels = sorted_levels<Space>(rule, s.size);
  while (!build_from(levels[s.sort_try])) ++s.sort_try;
  int first = s.sort_try;
  while (first > 0 && s.tree.depth <= levels[first - 1]) --first;
  if (first < s.sort_try) build_from(levels[s.sort_try = first]);
}

/// The plan of (N,3) `positions`, but for the lists of a criterion that uses charges.
template <class Traversal, class Space, class Precision, class Positions>
void build_plan(Space const& space, PlanStorage<Space, Precision>& s, Positions const& positions,
                Options const& options, FarFieldRule far, Report* report) {
  const std::int64_t n = std::int64_t(positions.extent(0));
  s.made_for = &traversal_mark<Traversal>;
  s.size = n;
  s.far_from = far.from;
  s.tree = {};
  s.lists = {};
  s.order = s.place = {};
  if (n == 0) return;
  constexpr bool all_pairs = std::is_same_v<Traversal, AllPairs>;
  stage(space, report, "bounds", [&] {
    const Box box = bounding_box(space, positions);
    s.cube = all_pairs ? root_cube(box) : root_of_tree(box, n, options, far);
  });
  if constexpr (all_pairs) {
    // tiles are taken from the order itself, whatever the options say of a tree
    const auto sorted = sort_bodies(space, s, positions, max_tree_depth, report);
    stage(space, report, "tree", [&] {
      for_range("fmm::positions", space, n,
                CopyPositions<Space, Positions>{positions, s.order, s.positions.resize(n)});
      using Shapes = Tuning<Space, real_t<Precision>>;
      s.all_pairs_shape = Shapes::all_pairs_shape(n, space.concurrency());
      s.tree.tiles = block_tiles(space, sorted.keys, Shapes::all_pairs[s.all_pairs_shape].tile,
                                 s.octree.tiles, s.octree.totals);
    });
  } else {
    const auto rule = split_rule(options, n, deepest_level(in_edges(far, s.cube)));
    build_tree<Traversal>(space, s, positions, rule, report);
    if constexpr (!uses_charges_v<Traversal>) {
      s.traversal.borrow(Lender<Space>(s.sums.view()), std::int64_t(s.tree.cells.extent(0)));
      lists_stage<Traversal>(space, s, options, far, report);
    }
  }
  if (report) {
    for (char const* name : {"bounds", "keys", "sort"}) add_work(*report, name, n);
    add_work(*report, "tree", std::int64_t(s.tree.cells.extent(0)));
  }
}

/// Solver::build; Charges and LastField are None where the traversal has no use for them.
template <class Traversal, class Space, class Precision, class Positions, class Charges,
          class LastField>
std::shared_ptr<PlanStorage<Space, Precision>> make_plan(
    Space const& space, PlanPool<Space, Precision>& pool, Options const& options, FarFieldRule far,
    KernelProfile const& kernel, Positions const& positions, Charges const& charges,
    LastField const& last_field, Report* report) {
  constexpr bool needs_multipoles = needs_multipoles_v<Traversal>;
  const std::int64_t n = checked_size("positions", positions);
  check_extents("charges", charges, n);
  check_extents("last_field", last_field, n);
  const Region region("build");
  const Stopwatch watch;
  if constexpr (takes_last_field_v<Traversal>)
    check_finite(space, "last_field", typename LastField::const_type(last_field));
  if constexpr (needs_multipoles)  // charges are only checked: the evaluation takes them
    inspect_charges(space, kernel.positive, typename Charges::const_type(charges));
  auto storage = pool.free_storage();
  const typename Positions::const_type constant = positions;
  build_plan<Traversal>(space, *storage, constant, options, far, report);
  if (n > 0) {
    if constexpr (takes_last_field_v<Traversal>) {
      const typename LastField::const_type constant_field = last_field;
      const double edge = storage->cube.edge;
      take_last_field(space, *storage, constant_field,
                      std::fabs(kernel.potential_unit(edge)) / edge, report);
    }
    if constexpr (uses_charges_v<Traversal> && !needs_multipoles) {
      charges_stage<None, None>(space, *storage, kernel, charges, storage->bodies.view(n), true,
                                report);
      lists_stage<Traversal>(space, *storage, options, far, report);
    }
  }
  if (report) {
    space.fence();
    report->build_seconds += watch.seconds();
    report->memory_bytes = pool.bytes();
  }
  return storage;
}

}  // namespace fmm::engine
