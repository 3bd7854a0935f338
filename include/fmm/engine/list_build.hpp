// SPDX-License-Identifier: BSD-3-Clause
// Interaction lists of a tree: what the criterion is to know of the cells, and the walks.
#pragma once

#include <cmath>
#include <limits>

#include "../tree/cell_measures.hpp"
#include "../tree/coarse_field.hpp"
#include "../tree/lists/lists.hpp"
#include "../tree/lists/rows_by_order.hpp"
#include "../tree/traversal.hpp"
#include "../tuning.hpp"
#include "body_tree.hpp"
#include "root_rule.hpp"
#include "stage.hpp"
#include "workspace.hpp"

namespace fmm::engine {

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

/// What the traversal's criterion may know of the cells. Charges are those of the tree's bodies; powers are in
/// the memory already. Fields of a criterion that uses powers, too, have room only: see FieldStrength.
template <class Traversal, class Space, class Precision>
CellMeasures<Space> measure_for_lists(Space const& space, Workspace<Space, Precision>& memory,
                                      BodyTree<Space, Precision> const& tree, FarFieldRule far) {
  using Shape = Tuning<Space, real_t<Precision>>;
  using Criterion = typename Traversal::criterion;
  auto& t = memory.traversal;
  const std::int64_t cells = tree.octree.cells.extent(0);
  CellMeasures<Space> measures{{}, {}, {}, {}, float(tree.size), far.order + 1};
  if constexpr (traits_v<Criterion>.uses_radii) measures.radii = t.radii.view(cells);
  if constexpr (traits_v<Criterion>.uses_charges) {
    measures.charges = t.charges.resize(cells);
    measure_cells(space, "fmm::charges", tree.octree,
                  SumOfCharges<Space, real_t<Precision>>(tree.bodies), measures.charges,
                  Shape::gather_team);
  }
  if constexpr (traits_v<Criterion>.uses_powers) {
    measures.powers = t.powers.view(cells * measures.power_row);
    if (tree.charges.both_signs && far.order > 0)  // the power of degree 0 is the charge
      for_range("fmm::powers::raise", space, cells,
                RaiseLastPower<Space>{measures, float(tree.charges.largest / tree.charges.unit)});
  }
  if constexpr (traits_v<Criterion>.uses_field) {
    measures.fields = t.fields.resize(cells);
    if constexpr (traits_v<Criterion>.uses_last_field) {
      for_range(
          "fmm::lists::last_field", space, cells,
          FieldsInUnit<Space>{memory.last_fields.view(cells), tree.charges.unit, measures.fields});
    } else {
      measures.at_one_place = cells_at_one_place(
          space, subarray<Cell, Space>(tree.octree.cells, 0, tree.octree.own_cells()), tree.bodies,
          tree.low, t.at_one_place);
      if constexpr (!traits_v<Criterion>.uses_powers)
        coarse_field<false>(space, tree.octree, tree.size, measures.at_one_place, t.coarse,
                            CellWeights<Space>{}, measures.fields, {}, Shape::gather_team);
    }
  }
  return measures;
}

/// What a criterion may depend on.
template <class Shape>
CriterionOptions criterion_options(Options const& options, FarFieldRule far) {
  return {options.theta.value_or(0),
          options.pair_error.value_or(0),
          far.order,
          Shape::pairs_per_m2l(far.order),
          Shape::pairs_per_m2p(far.order),
          far.has_p2l ? Shape::pairs_per_p2l(far.order) : std::numeric_limits<double>::infinity()};
}

/// Interaction lists by the dual traversal; of `wanted` targets, as in DualWalk.
template <class Traversal, class Space, class Precision>
InteractionLists<Space> build_dual_lists(Space const& space, Workspace<Space, Precision>& memory,
                                         BodyTree<Space, Precision> const& tree,
                                         Options const& options, FarFieldRule far,
                                         CellMeasures<Space> const& measures,
                                         Array<int, Space> wanted = {}) {
  using Shape = Tuning<Space, real_t<Precision>>;
  using Criterion = typename Traversal::criterion;
  memory.gemm.kept.forget();
  const auto known = criterion_options<Shape>(options, far);
  auto const& octree = tree.octree;
  const auto lists = dual_lists(
      space, memory.traversal, octree, octree, make_criterion<Criterion>(known), measures,
      rounded_up(in_edges(far, tree.cube)), far.has_p2l, Shape::list_team, wanted);
  if constexpr (has_lower_orders_v<Criterion>)
    rows_by_order<Criterion>(
        space, octree.cells, known, measures, lists.m2l,
        memory.traversal.order_ends.resize(octree.cells.extent(0) * Criterion::lower_count));
  return lists;
}

/// The same by RadiusCriterion and the options' theta. The tree has radii.
template <class Space, class Precision>
InteractionLists<Space> build_lists_by_radii(Space const& space,
                                             Workspace<Space, Precision>& memory,
                                             BodyTree<Space, Precision> const& tree,
                                             Options const& options, FarFieldRule far,
                                             Array<int, Space> wanted = {}) {
  using ByRadii = DualTree<RadiusCriterion>;
  return build_dual_lists<ByRadii>(space, memory, tree, options, far,
                                   measure_for_lists<ByRadii>(space, memory, tree, far), wanted);
}

/// Interaction lists of two sets, whose trees are over one cube; both have radii if the criterion uses them. The lists
/// are in the targets' `memory`, whose sums are lost. A criterion may know the geometry alone: how strong the field of
/// another set is around a target is not known.
template <class Traversal, class Space, class Precision, class Shift>
InteractionLists<Space> build_lists_of_two(Space const& space, Workspace<Space, Precision>& memory,
                                           Workspace<Space, Precision>& memory_of_sources,
                                           BodySets<Space, Precision, Shift> const& sets,
                                           Options const& options, FarFieldRule far) {
  using Shape = Tuning<Space, real_t<Precision>>;
  constexpr auto traits = traits_v<Traversal>;
  static_assert(!BodySets<Space, Precision, Shift>::one_set);
  static_assert(!traits.uses_charges && !traits.uses_field && !traits.uses_powers,
                "fmm: targets that are another set than the sources, or sources at a shift, need a "
                "criterion that uses neither charges nor fields nor powers");
  auto const& [targets, sources, shift] = sets;
  check_one_cube(targets.cube, sources.cube);
  memory.gemm.kept.forget();
  memory.traversal.borrow(Lender<Space>(memory.sums.view()),
                          std::int64_t(targets.octree.cells.extent(0)));
  const float far_from = rounded_up(in_edges(far, targets.cube));
  InteractionLists<Space> lists;
  if constexpr (is_dual_v<Traversal>) {
    using Criterion = typename Traversal::criterion;
    static_assert(!has_lower_orders_v<Criterion>,
                  "fmm: VariableOrder is for targets that are the sources, in their place");
    if constexpr (std::is_same_v<Shift, GridShift> && std::is_base_of_v<CubeCriterion, Criterion>)
      if (!shift.is_whole_edges())
        throw InvalidArgument("the sources' shift", "a part of the root's edge",
                              "whole edges of the root, since the lists are of cubes in one grid");
    const TwoSets<CellMeasures<Space>> measures{
        measure_for_lists<Traversal>(space, memory, targets, far),
        measure_for_lists<Traversal>(space, memory_of_sources, sources, far)};
    lists = dual_lists(space, memory.traversal, targets.octree, sources.octree,
                       make_criterion<Criterion>(criterion_options<Shape>(options, far)), measures,
                       far_from, far.has_p2l, Shape::list_team, {}, shift);
  } else {
    lists = barnes_hut_lists(space, memory.traversal, targets.octree, sources.octree,
                             *options.theta, far_from, Shape::list_team, shift);
  }
  memory.traversal.give_back();
  return lists;
}

template <class Space>
void add_list_work(Report& report, InteractionLists<Space> const& lists) {
  for (auto const* list : {&lists.m2l, &lists.p2l, &lists.m2p, &lists.p2p})
    add_work(report, "lists", std::int64_t(list->entries.extent(0)));
}

/// Entries of lists but for those of bodies with bodies.
template <class Space>
std::int64_t entries_of_cells(InteractionLists<Space> const& lists) {
  std::int64_t entries = 0;
  for (auto const* list : {&lists.m2l, &lists.p2l, &lists.m2p})
    entries += std::int64_t(list->entries.extent(0));
  return entries;
}

/// Interaction lists of a traversal whose lists do not wait for multipoles.
template <class Traversal, class Space, class Precision>
InteractionLists<Space> build_lists(Space const& space, Workspace<Space, Precision>& memory,
                                    BodyTree<Space, Precision> const& tree, Options const& options,
                                    FarFieldRule far) {
  if constexpr (is_dual_v<Traversal>) {
    return build_dual_lists<Traversal>(space, memory, tree, options, far,
                                       measure_for_lists<Traversal>(space, memory, tree, far));
  } else {
    memory.gemm.kept.forget();
    return barnes_hut_lists(space, memory.traversal, tree.octree, tree.octree, *options.theta,
                            rounded_up(in_edges(far, tree.cube)),
                            Tuning<Space, real_t<Precision>>::list_team);
  }
}

/// Radii of images that came after those of other cells, if the criterion uses any.
template <class Traversal, class Space, class Precision>
void measure_images(Space const& space, Workspace<Space, Precision>& memory,
                    Octree<Space> const& octree, CellIndex from) {
  if constexpr (traits_v<Traversal>.uses_radii)
    for_range("fmm::images::radii", space, octree.images.count() - from,
              SetRadiiOfImages<Space>{octree.images, from, octree.cells,
                                      memory.traversal.radii.grow(space, octree.cells.extent(0),
                                                                  octree.images.begin + from)});
}

/// Opens the images that these lists ask for. False if there are none: then the lists are good.
template <class Traversal, class Space, class Precision>
bool open_wanted_images(Space const& space, Workspace<Space, Precision>& memory,
                        Octree<Space>& octree, InteractionLists<Space> const& lists) {
  const CellIndex before = octree.images.count();
  if (!open_wanted(space, memory.octree, octree, lists)) return false;
  measure_images<Traversal>(space, memory, octree, before);
  return true;
}

/// The same as a stage of its own, counted in list entries.
template <class Traversal, class Space, class Precision>
InteractionLists<Space> lists_stage(Space const& space, Workspace<Space, Precision>& memory,
                                    BodyTree<Space, Precision> const& tree, Options const& options,
                                    FarFieldRule far, Report* report) {
  InteractionLists<Space> lists;
  stage(space, report, "lists",
        [&] { lists = build_lists<Traversal>(space, memory, tree, options, far); });
  if (report) add_list_work(*report, lists);
  return lists;
}

}  // namespace fmm::engine
