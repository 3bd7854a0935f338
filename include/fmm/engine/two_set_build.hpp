// SPDX-License-Identifier: BSD-3-Clause
// The build of two sets: targets and sources in a tree each, over one cube, and the lists between both trees.
//
// A cell is split where it is too full of targets or of sources: where both sets have bodies the trees have the same
// cells. A target at the very point of a source is thus in the same leaf and rounded as the source is, so that their
// distance is 0 in every precision; and few targets among many sources are in leaves as small as the sources'.
//
// Both trees are sorted and built by the same levels. The rule of either tree reads the keys of both, which lie in the
// sums' memory until the lists are made.
#pragma once

#include "build.hpp"

namespace fmm::engine {

/// The compile-time door of two sets.
template <class Method, class Charges, class LastField>
constexpr bool check_two_sets() {
  using Traversal = typename Method::traversal;
  constexpr auto traits = traits_v<Traversal>;
  static_assert(
      !traits.uses_charges && !traits.uses_field && !traits.uses_powers && !traits.uses_last_field,
      "fmm: targets that are another set than the sources need a criterion that uses "
      "neither charges nor fields nor powers (fmm::RadiusCriterion, fmm::BarnesHut, "
      "fmm::FmmList, fmm::FmmStencil)");
  static_assert(std::is_same_v<Charges, None> && std::is_same_v<LastField, None>,
                "fmm: a build with targets of their own takes neither charges nor the last step's "
                "field");
  if constexpr (is_dual_v<Traversal>)
    static_assert(!has_lower_orders_v<typename Traversal::criterion>,
                  "fmm: VariableOrder is for targets that are the sources, in their place");
  static_assert(!std::is_same_v<typename Method::translation, BatchedGemm>,
                "fmm: BatchedGemm is for targets that are the sources, in their place: use "
                "fmm::Rotation");
  return true;
}

/// The compile-time door of transposed plans.
template <class Method, bool HasP2L>
constexpr bool check_transposed() {
  using Traversal = typename Method::traversal;
  constexpr auto traits = traits_v<Traversal>;
  static_assert(
      !traits.uses_charges,
      "fmm: transposed plans are for criteria of the geometry alone (fmm::RadiusCriterion, "
      "fmm::FmmList, fmm::FmmStencil)");
  static_assert(Method::has_locals || std::is_same_v<Method, DirectSum>,
                "fmm: the transpose of a treecode has local expansions: use fmm::Fmm");
  static_assert(!Method::has_locals || traits.only_m2l || HasP2L,
                "fmm: the transpose of these lists has P2L, which the expansion lacks");
  static_assert(!std::is_same_v<typename Method::translation, BatchedGemm>,
                "fmm: BatchedGemm is for lists that are not transposed: use fmm::Rotation");
  if constexpr (is_dual_v<Traversal>)
    static_assert(!has_lower_orders_v<typename Traversal::criterion>,
                  "fmm: VariableOrder is for lists that are not transposed");
  return true;
}

/// The smallest box with both. Throws as bounding_box does.
template <class Space, class Targets, class Sources>
Box box_of_two(Space const& space, Targets const& targets, Sources const& sources) {
  BoxOfFinite both;
  const auto add = [&](char const* name, auto const& positions) {
    if (positions.extent(0) == 0) return;
    const Box box = bounding_box(space, positions, name);
    both.add(box.low, box.high);
  };
  add("sources", sources);
  add("targets", targets);
  if (targets.extent(0) > 0 && sources.extent(0) > 0)
    check_extent("targets' and sources", both.box);
  return both.box;
}

/// Both sets sorted and in trees over the cube that they have. Neither is empty.
template <class Traversal, class Space, class Precision, class Targets, class Sources>
void build_two_trees(Space const& space, TwoSetData<Space, Precision>& plan, Targets const& targets,
                     Sources const& sources, SplitRule const& rule, Report* report) {
  auto& of_targets = *plan.targets;
  auto& of_sources = *plan.sources;
  const auto sort = [&](auto& set, auto const& positions, int levels) {
    set.memory.lend_place_of_bodies(set.tree.size);
    return sort_bodies(space, set.memory, set.tree, positions, levels, report).keys;
  };
  const auto build_from = [&](int levels) {
    const auto keys = sort(of_targets, targets, levels), others = sort(of_sources, sources, levels);
    bool built = false;
    stage(space, report, "tree", [&] {
      const auto build = [&](auto& set, auto const& own, auto const& other) {
        const auto octree =
            build_octree(space, set.memory.octree, own, SplitRuleOfTwo<Space>{rule, own, other},
                         tile_rule<Space, real_t<Precision>>(), levels);
        if (octree) set.tree.octree = *octree;
        return octree.has_value();
      };
      built = build(of_targets, keys, others) && build(of_sources, others, keys);
      if (!built) return;
      place_in_tree<Traversal>(space, of_targets.memory, of_targets.tree, targets);
      place_in_tree<Traversal>(space, of_sources.memory, of_sources.tree, sources);
    });
    return built;
  };
  const std::int64_t larger = std::max(of_targets.tree.size, of_sources.tree.size);
  for (const int levels : sorted_levels<Space>(rule, larger))
    if (build_from(levels)) return;
}

/// The lists between both trees, and what targets have of the sources' periodic cell.
template <class Traversal, class Space, class Precision>
void list_two_sets(Space const& space, TwoSetData<Space, Precision>& plan, Options const& options,
                   FarFieldRule far, Report* report) {
  auto& to = *plan.targets;
  auto& from = *plan.sources;
  if (from.periodic.far) {
    const auto given = to.periodic.given;
    to.periodic = from.periodic;
    to.periodic.given = given;
    set_harmonics(space, to);
  }
  const auto list = [&] {
    to.lists = build_lists_of_two<Traversal>(
        space, to.memory, from.memory, BodySets<Space, Precision, NoShift>{to.tree, from.tree},
        options, far);
  };
  do stage(space, report, "lists", list);
  while (open_wanted_images<Traversal>(space, from.memory, from.tree.octree, to.lists));
  if (report) add_list_work(*report, to.lists);
}

/// The trees and lists of two sets, whose plans have nothing yet but their sizes.
template <class Traversal, class Space, class Precision, class Targets, class Sources>
void build_two_sets(Space const& space, TwoSetData<Space, Precision>& plan, Options const& options,
                    FarFieldRule far, Targets const& targets, Sources const& sources,
                    PeriodicCell* cell, Report* report) {
  using Real = real_t<Precision>;
  constexpr bool is_direct = std::is_same_v<Traversal, DirectSum>;
  auto& to = *plan.targets;
  auto& from = *plan.sources;
  const std::int64_t m = to.tree.size, n = from.tree.size, size = is_direct ? m : std::max(m, n);
  Box box;
  stage(space, report, "bounds", [&] { box = box_of_two(space, targets, sources); });
  if (n == 0) return;
  PeriodicRoot root;
  const BuildChoices chosen =
      cell ? choose_in_cell<Traversal, Space, Real>(space, *cell, size, options, far, root)
           : choose_build<Traversal, Space, Real>(space, box, size, options, far);
  if (cell) {
    take_given(*cell, to);
    take_given(*cell, from);
  }
  to.tree.cube = from.tree.cube = chosen.cube;
  from.facts.split = chosen.split;
  from.facts.at_point = chosen.cube.is_point;
  if constexpr (is_direct) {
    if (cell) to.periodic.lattice = from.periodic.lattice = cell->lattice();
    to.facts.all_pairs_shape = from.facts.all_pairs_shape = chosen.all_pairs_shape;
    const int tile = Tuning<Space, Real>::all_pairs[chosen.all_pairs_shape].tile;
    if (m > 0) sort_into_tiles(space, to.memory, to.tree, targets, tile, report);
    sort_into_tiles(space, from.memory, from.tree, sources, tile, report);
  } else {
    if (m == 0)
      build_tree<Traversal>(space, from.memory, from.tree, sources, chosen.split, report);
    else
      build_two_trees<Traversal>(space, plan, targets, sources, chosen.split, report);
    if (cell)
      stage(space, report, "tree",
            [&] { build_images<Traversal>(space, from, *cell, root, options, far.order); });
    if (m > 0) list_two_sets<Traversal>(space, plan, options, far, report);
  }
}

/// Solver::build of (M,3) `targets` and (N,3) `sources`. Without sources there are no trees, without targets none of
/// theirs.
template <class Traversal, class Space, class Precision, class Targets, class Sources>
TwoSetData<Space, Precision> make_two_set_plan(Space const& space, PlanPool<Space, Precision>& pool,
                                               Options const& options, FarFieldRule far,
                                               Targets const& targets, Sources const& sources,
                                               PeriodicCell* cell, Report* report) {
  const std::int64_t m = checked_size("targets", targets), n = checked_size("sources", sources);
  const BuildClock clock(space, report);
  TwoSetData<Space, Precision> plan;
  const auto take_plan = [&](std::int64_t size) {
    const auto set = pool.free_plan();
    set->facts = {&traversal_mark<Traversal>, far.from, far.order, 0};
    set->tree = {};
    set->tree.size = size;
    set->lists = {};
    set->periodic = {};
    return set;
  };
  plan.targets = take_plan(m);
  plan.sources = take_plan(n);
  auto& to = *plan.targets;
  auto& from = *plan.sources;
  if (cell)
    build_two_sets<Traversal>(space, plan, options, far, wrapped(space, *cell, targets, to),
                              wrapped(space, *cell, sources, from), cell, report);
  else
    build_two_sets<Traversal>(space, plan, options, far, targets, sources, cell, report);
  if (report) {
    for (char const* name : {"bounds", "keys", "sort"}) add_work(*report, name, m + n);
    add_work(*report, "tree",
             std::int64_t(to.tree.octree.cells.extent(0) + from.tree.octree.cells.extent(0)));
  }
  clock.stop(pool.bytes());
  return plan;
}

/// Whether the box is a point in the centre of the cube, but for the rounding of its corner.
inline bool is_at_centre(Box const& box, Cube const& cube) {
  if (box.extent() > 0) return false;
  for (int d = 0; d < 3; ++d) {
    const double apart = std::fabs(box.low[d] - (cube.low[d] + 0.5 * cube.edge));
    if (apart > 0x1p-31 * cube.edge + 0x1p-50 * std::fabs(box.low[d])) return false;
  }
  return true;
}

/// The tree of new targets and its lists: Solver::retarget without its checks.
template <class Traversal, class Space, class Precision, class Targets>
void build_new_targets(Space const& space, TwoSetData<Space, Precision>& plan,
                       Options const& options, FarFieldRule far, Targets const& targets,
                       PeriodicCell const* cell, Report* report) {
  using Shapes = Tuning<Space, real_t<Precision>>;
  auto& from = *plan.sources;
  const std::int64_t m = std::int64_t(targets.extent(0)), n = from.tree.size;
  PlanFacts facts{&traversal_mark<Traversal>, far.from, far.order, 0};
  if (m > 0)
    stage(space, report, "bounds", [&] {
      const Box box = bounding_box(space, targets, "targets");
      if (n == 0) return;
      check_in_cube(box, from.tree.cube, "a target's coordinate", "in the plan's cube, ",
                    ": build a plan with targets that reach as far");
      // A set at one point has no length; with targets beside it, it has.
      from.tree.cube.is_point = from.facts.at_point && is_at_centre(box, from.tree.cube);
    });
  auto& to = *plan.targets;
  to.facts = {};
  to.tree = {};
  to.tree.size = m;
  to.tree.cube = from.tree.cube;
  to.lists = {};
  to.periodic = from.periodic;
  if (cell) take_given(*cell, to);
  if (m > 0 && n > 0) {
    if constexpr (std::is_same_v<Traversal, DirectSum>) {
      facts.all_pairs_shape = Shapes::all_pairs_shape(m, space.concurrency());
      sort_into_tiles(space, to.memory, to.tree, targets,
                      Shapes::all_pairs[facts.all_pairs_shape].tile, report);
    } else {
      SplitRule const& rule = from.facts.split;
      const auto build_from = [&](int levels) {
        to.memory.lend_place_of_bodies(m);
        const auto keys = sort_bodies(space, to.memory, to.tree, targets, levels, report).keys;
        bool built = false;
        stage(space, report, "tree", [&] {
          const auto octree =
              build_octree(space, to.memory.octree, keys,
                           SplitRuleBeside<Space>{rule, keys, from.tree.octree.cells},
                           tile_rule<Space, real_t<Precision>>(), levels);
          built = octree.has_value();
          if (!built) return;
          to.tree.octree = *octree;
          place_in_tree<Traversal>(space, to.memory, to.tree, targets);
        });
        return built;
      };
      for (const int levels : sorted_levels<Space>(rule, std::max(m, n)))
        if (build_from(levels)) break;
      list_two_sets<Traversal>(space, plan, options, far, report);
    }
  }
  to.facts = facts;
  if (report) {
    for (char const* name : {"bounds", "keys", "sort"}) add_work(*report, name, m);
    add_work(*report, "tree", std::int64_t(to.tree.octree.cells.extent(0)));
  }
}

/// Solver::retarget. Where there are sources the targets' leaves are their leaves, so that a target at a source's very
/// point is rounded as that is. Until all is there the plan is one that was not built.
template <class Traversal, class Space, class Precision, class Targets>
void retarget(Space const& space, PlanPool<Space, Precision>& pool,
              TwoSetData<Space, Precision>& plan, Options const& options, FarFieldRule far,
              Targets const& targets, PeriodicCell* cell, Report* report) {
  auto& from = *plan.sources;
  check_traversal(from.facts.traversal, &traversal_mark<Traversal>);
  if (plan.lease)
    throw InvalidArgument("plan", "transposed", "one that was built: transpose it afterwards");
  checked_size("targets", targets);
  const BuildClock clock(space, report);
  if (!plan.targets->lease.expired()) plan.targets = pool.free_plan();
  if (cell) {
    const CellIndex images = from.tree.octree.images.count();
    build_new_targets<Traversal>(space, plan, options, far,
                                 wrapped(space, *cell, targets, *plan.targets), cell, report);
    if (from.tree.octree.images.count() > images) from.kept = {};  // new images have no multipoles
  } else {
    build_new_targets<Traversal>(space, plan, options, far, targets, cell, report);
  }
  clock.stop(pool.bytes());
}

}  // namespace fmm::engine
