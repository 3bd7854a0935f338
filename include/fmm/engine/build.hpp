// SPDX-License-Identifier: BSD-3-Clause
// The build: a plan from positions. Depends on the traversal and the precision; of the pair kernel and its
// expansions it knows a FarFieldRule.
#pragma once

#include <cmath>
#include <memory>

#include "../inputs.hpp"
#include "../methods.hpp"
#include "../tree/lists/blocks.hpp"
#include "charges_stage.hpp"
#include "clocks.hpp"
#include "list_build.hpp"
#include "periodic_cell.hpp"
#include "plan_data.hpp"
#include "tree_build.hpp"
#include "vacuum.hpp"

namespace fmm::engine {

/// The choices for n bodies in a box.
template <class Traversal, class Space, class Real>
BuildChoices choose_build(Space const& space, Box const& box, std::int64_t n,
                          Options const& options, FarFieldRule far) {
  if constexpr (std::is_same_v<Traversal, DirectSum>) {
    return {root_cube(box), {}, Tuning<Space, Real>::all_pairs_shape(n, space.concurrency())};
  } else {
    const Cube cube = root_of_tree(box, n, options, far);
    return {cube, split_rule(options, n, deepest_level(in_edges(far, cube)))};
  }
}

/// Bodies of DirectSum: in the order of their keys, in tiles of at most that size, which are taken from the order
/// itself, whatever the options say of a tree.
template <class Space, class Precision, class Positions>
void sort_into_tiles(Space const& space, Workspace<Space, Precision>& memory,
                     BodyTree<Space, Precision>& tree, Positions const& positions, int tile,
                     Report* report) {
  const auto sorted = sort_bodies(space, memory, tree, positions, max_tree_depth, report);
  stage(space, report, "tree", [&] {
    copy_positions(space, memory, tree, positions);
    tree.octree.tiles =
        block_tiles(space, sorted.keys, tile, memory.octree.tiles, memory.octree.totals);
  });
}

/// Whether a traversal's lists are of cubes in one grid.
template <class Traversal>
inline constexpr bool has_cubes_v = false;
template <class Traversal>
  requires is_dual_v<Traversal>
inline constexpr bool has_cubes_v<Traversal> =
    std::is_base_of_v<CubeCriterion, typename Traversal::criterion>;

/// Positions in the periodic cell, in the plan's memory, which has those that are given, too, if the cell is in a
/// vacuum.
template <class Space, class Precision, class Positions>
auto wrapped(Space const& space, PeriodicCell const& cell, Positions const& positions,
             PlanData<Space, Precision>& plan) {
  if (cell.is_in_vacuum())
    for_range("fmm::given", space, std::int64_t(positions.extent(0)),
              CopyGiven<Space, Positions>{
                  positions, plan.memory.periodic.given.resize(3 * positions.extent(0))});
  return cell.wrap(space, positions,
                   plan.memory.periodic.positions.resize(3 * positions.extent(0)).data());
}

/// Has the plan's parts have the given positions, which `wrapped` copied.
template <class Space, class Precision>
void take_given(PeriodicCell const& cell, PlanData<Space, Precision>& plan) {
  if (cell.is_in_vacuum())
    plan.periodic.given = plan.memory.periodic.given.view(3 * plan.tree.size);
}

/// The harmonics of the tree's cells that the expansions of images come into, or are made of.
template <class Space, class Precision>
void set_harmonics(Space const& space, PlanData<Space, Precision>& plan) {
  auto& parts = plan.periodic;
  const std::int64_t cells = parts.number_of_cells(plan.tree.octree);
  parts.harmonics =
      plan.memory.periodic.harmonics.resize(cells * coefficient_count(parts.far->order));
  for_range("fmm::images::harmonics", space, cells,
            kernels::SetHarmonics<Space>{parts.cells(plan.tree.octree)});
}

/// Images behind the cells of a tree of sources that is there, and what all others exert.
template <class Traversal, class Space, class Precision>
void build_images(Space const& space, PlanData<Space, Precision>& plan, PeriodicCell& cell,
                  PeriodicRoot const& root, Options const& options, int order) {
  auto& octree = plan.tree.octree;
  octree.images.rest = 1.000001f * float(root.largest_rest);
  // a cell is opened by one of its size that is nearer than its radius and the other's over theta
  const double theta = options.theta.value_or(0.6);
  make_images(space, plan.memory.octree, octree, root.images,
              cell.reach(root, 2 * half_diagonal / theta - 1));
  measure_images<Traversal>(space, plan.memory, octree, 0);
  auto& parts = plan.periodic;
  auto& memory = plan.memory.periodic;
  parts.far = cell.far_images(root, order);
  auto const& far = *parts.far;
  parts.matrix = to_device(space, memory.matrix, far.matrix);
  parts.norms = to_device(space, memory.norms, far.norms);
  parts.order = order;
  if (root.largest_rest > 0) {
    parts.rests = to_device(space, memory.rests, far.rests);
    parts.harmonics_of_rests = to_device(space, memory.harmonics_of_rests, far.harmonics_of_rests);
    parts.inverse_norms = to_device(space, memory.inverse_norms, far.inverse_norms);
  }
  set_harmonics(space, plan);
}

/// The choices for n bodies in a periodic cell, whose root is set.
template <class Traversal, class Space, class Real>
BuildChoices choose_in_cell(Space const& space, PeriodicCell const& cell, std::int64_t n,
                            Options const& options, FarFieldRule far, PeriodicRoot& root) {
  if constexpr (std::is_same_v<Traversal, DirectSum>) {
    root = cell.bounds();
    cell.check_softening(far.from);
    return {root.cube, {}, Tuning<Space, Real>::all_pairs_shape(n, space.concurrency())};
  } else {
    root = cell.root(n, options, far, has_cubes_v<Traversal>);
    BuildChoices chosen{root.cube, split_rule(options, n, deepest_level(in_edges(far, root.cube)))};
    // cells that are small beside the distance of images that no list has
    chosen.split.depth = std::max(chosen.split.depth, level_of_images);
    chosen.split.least_depth = std::max(level_of_images, std::min(root.depth, chosen.split.depth));
    return chosen;
  }
}

/// The plan of (N,3) `positions`, but for the lists of a criterion that uses charges; with the choices that are
/// `given`, or its own.
template <class Traversal, class Space, class Precision, class Positions>
void build_plan(Space const& space, PlanData<Space, Precision>& plan, Positions const& positions,
                Options const& options, FarFieldRule far, Report* report,
                BuildChoices const* given = nullptr, PeriodicCell* cell = nullptr) {
  const std::int64_t n = std::int64_t(positions.extent(0));
  auto& facts = plan.facts;
  auto& tree = plan.tree;
  auto& lists = plan.lists;
  auto& memory = plan.memory;
  facts = {&traversal_mark<Traversal>, far.from, far.order, 0};
  tree = {};
  tree.size = n;
  lists = {};
  plan.periodic = {};
  if (n == 0) return;
  BuildChoices chosen;
  PeriodicRoot root;
  stage(space, report, "bounds", [&] {
    const Box box = bounding_box(space, positions);
    if (given) check_in_cube(box, given->cube);
    if (cell) {
      chosen =
          choose_in_cell<Traversal, Space, real_t<Precision>>(space, *cell, n, options, far, root);
      plan.periodic.lattice = cell->lattice();
      take_given(*cell, plan);
    } else {
      chosen = given
                   ? *given
                   : choose_build<Traversal, Space, real_t<Precision>>(space, box, n, options, far);
    }
    tree.cube = chosen.cube;
  });
  if constexpr (std::is_same_v<Traversal, DirectSum>) {
    using Shapes = Tuning<Space, real_t<Precision>>;
    facts.all_pairs_shape = chosen.all_pairs_shape;
    sort_into_tiles(space, memory, tree, positions, Shapes::all_pairs[facts.all_pairs_shape].tile,
                    report);
  } else {
    build_tree<Traversal>(space, memory, tree, positions, chosen.split, report);
    if (cell)
      stage(space, report, "tree",
            [&] { build_images<Traversal>(space, plan, *cell, root, options, far.order); });
    if constexpr (!traits_v<Traversal>.uses_charges) {
      memory.traversal.borrow(Lender<Space>(memory.sums.view()),
                              std::int64_t(tree.octree.cells.extent(0)));
      do lists = lists_stage<Traversal>(space, memory, tree, options, far, report);
      while (open_wanted_images<Traversal>(space, memory, tree.octree, lists));
    }
  }
  if (report) {
    for (char const* name : {"bounds", "keys", "sort"}) add_work(*report, name, n);
    add_work(*report, "tree", std::int64_t(tree.octree.cells.extent(0)));
  }
}

/// Solver::build; charges and last field are None where the traversal has no use for them.
template <class Traversal, class Space, class Precision, class Sources, class Charges,
          class LastField>
std::shared_ptr<PlanData<Space, Precision>> make_plan(
    Space const& space, PlanPool<Space, Precision>& pool, Options const& options, FarFieldRule far,
    KernelProfile const& kernel, Inputs<Sources, Charges, None, LastField> const& inputs,
    Report* report, BuildChoices const* given, PeriodicCell* cell = nullptr) {
  constexpr bool needs_multipoles = traits_v<Traversal>.uses_powers;
  const typename Sources::const_type positions = inputs.sources;
  const std::int64_t n = checked_size("positions", positions);
  check_extents("charges", inputs.charges, n);
  check_extents("last_field", inputs.last_field, n);
  const BuildClock clock(space, report);
  if constexpr (traits_v<Traversal>.uses_last_field)
    check_finite(space, "last_field", typename LastField::const_type(inputs.last_field));
  if constexpr (needs_multipoles)  // charges are only checked: the evaluation takes them
    inspect_charges(space, kernel.positive, typename Charges::const_type(inputs.charges));
  auto plan = pool.free_plan();
  auto& tree = plan->tree;
  auto& memory = plan->memory;
  if (cell) {
    build_plan<Traversal>(space, *plan, wrapped(space, *cell, positions, *plan), options, far,
                          report, given, cell);
  } else {
    build_plan<Traversal>(space, *plan, positions, options, far, report, given);
  }
  if (n > 0) {
    if constexpr (traits_v<Traversal>.uses_last_field) {
      const typename LastField::const_type last_field = inputs.last_field;
      const double edge = tree.cube.edge;
      take_last_field(space, memory, tree, last_field,
                      std::fabs(kernel.potential_unit(edge)) / edge, report);
    }
    if constexpr (traits_v<Traversal>.uses_charges && !needs_multipoles) {
      charges_stage<None, None>(space, memory, tree, kernel, inputs.charges,
                                charges_of(tree.bodies), true, report);
      do plan->lists = lists_stage<Traversal>(space, memory, tree, options, far, report);
      while (open_wanted_images<Traversal>(space, memory, tree.octree, plan->lists));
    }
  }
  clock.stop(pool.bytes());
  return plan;
}

}  // namespace fmm::engine
