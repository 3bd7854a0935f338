// SPDX-License-Identifier: BSD-3-Clause
// How a target cell meets source cells: which list each goes into, or whether it is split.
//
// * DualWalk descends targets and sources together, a level of targets at a time. A target inherits from
//   its parent the sources that are still open; each is accepted, split, or passed on to the target's
//   own children. Between two leaves it becomes P2P.
// * BarnesHutWalk descends the sources for each target leaf on its own.
//
// A source is decided alone, or, on a CPU, a family of siblings at a time: `candidates` are those that may go
// into a list of expansions, and all others are `refused`. The sources that a target starts with, which are those of
// its siblings, too, are decided for all of them together: `candidate_targets` are the targets that may take one.
//
// Targets and sources are one set, or two (cells/sets.hpp): a cell is never its own partner in one set.
#pragma once

#include "../../cells/geometry.hpp"
#include "../../cells/sets.hpp"
#include "../../simd/simd.hpp"
#include "../coarse_field.hpp"
#include "../criteria/contract.hpp"
#include "../octree.hpp"

namespace fmm::tree {

/// What criteria may know of the cells besides the cells themselves; empty what a criterion does not use.
template <class Space>
struct CellMeasures {
  Array<float, Space> radii, charges, fields, powers;
  float bodies;                                  ///< of all cells
  int power_row;                                 ///< numbers of a cell in `powers`
  Array<std::uint8_t, Space> at_one_place = {};  ///< cells_at_one_place, of those with `fields`
};

/// The lists that one target's walk fills: one index each. A source that goes into none of
/// them is split.
enum ListIndex { list_m2l, list_p2l, list_m2p, list_p2p, list_open, split, list_kinds = split };

/// Sources that wait to be split, at most, if a walk takes the one that came last.
inline constexpr int depth_first_stack = 7 * max_tree_depth + 8;

/// What a CPU knows of siblings before it looks at the cells themselves: their balls, coordinate by coordinate,
/// in edges of the root (for criteria that have candidates), and by parent which of the children are leaves (bit c:
/// child c). For criteria that decide about siblings how many bodies they have, whether they are leaves (1 or 0), and
/// the sizes of their multipoles' degrees, those of degree 0 first. Behind the last cell there are seven empty ones.
template <class Space>
struct Families {
  Array<float, Space> x, y, z, radius;
  Array<std::uint8_t, Space> leaf_children;
  Array<float, Space> bodies = {}, is_leaf = {}, powers = {};

  std::int64_t row() const { return x.extent(0); }
};

template <class Space, class Cells = Array<Cell, Space>>
struct MakeFamilies {
  Cells cells;
  Array<float, Space> radii;   ///< in edges of their cells; none: half diagonals
  Array<float, Space> powers;  ///< cell by cell; none, unless families have any
  Families<Space> families;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Cell cell = cells(i);
    if (families.x.extent(0) > 0) {
      const float radius = radii.extent(0) > 0 ? radii(i) : half_diagonal;
      set_ball(i, in_root_edges(cell.centre[0]), in_root_edges(cell.centre[1]),
               in_root_edges(cell.centre[2]), in_root_edges(cell.edge()) * radius);
      if (i + 1 == std::int64_t(cells.extent(0)))
        for (int empty = 1; empty < 8; ++empty) set_ball(i + empty, 0, 0, 0, 0);
    }
    std::uint32_t leaves = 0;
    for (int child = 0; child < cell.child_count && !cell.is_unopened(); ++child)
      leaves |= std::uint32_t(cells(cell.child_begin + child).is_leaf()) << child;
    families.leaf_children(i) = std::uint8_t(leaves);
    if (families.powers.extent(0) == 0) return;
    families.bodies(i) = float(cell.body_count);
    families.is_leaf(i) = cell.is_leaf() ? 1 : 0;
    const auto degrees = std::int64_t(powers.extent(0) / cells.extent(0));
    for (std::int64_t n = 0; n < degrees; ++n)
      families.powers(n * families.row() + i) = std::fabs(powers(i * degrees + n));
  }

 private:
  KOKKOS_FUNCTION void set_ball(std::int64_t i, float x, float y, float z, float radius) const {
    families.x(i) = x;
    families.y(i) = y;
    families.z(i) = z;
    families.radius(i) = radius;
  }
};

/// Whether bodies of the two cells can be nearer to each other than `distance`, as far as their cubes and
/// their radii tell.
KOKKOS_INLINE_FUNCTION bool can_be_nearer(CellView const& a, CellView const& b, float distance) {
  const Distances of = distances(a, b, 0.5f * (a.edge + b.edge));
  return of.cubes2 < distance * distance &&
         std::sqrt(of.centres2) - (a.radius + b.radius) < distance;
}

/// The cell as this criterion sees it.
template <class Criterion, class Space>
KOKKOS_FUNCTION CellView view_for(CellIndex index, Cell const& cell,
                                  CellMeasures<Space> const& measures) {
  const float edge = in_root_edges(cell.edge());
  CellView v{
      {in_root_edges(cell.centre[0]), in_root_edges(cell.centre[1]), in_root_edges(cell.centre[2])},
      edge,
      half_diagonal * edge,
      0,
      0,
      float(cell.body_count) / measures.bodies,
      float(cell.body_count),
      cell.level,
      cell.is_leaf(),
      nullptr};
  if constexpr (traits_v<Criterion>.uses_radii) v.radius = measures.radii(index) * edge;
  if constexpr (traits_v<Criterion>.uses_charges) v.charge = measures.charges(index);
  if constexpr (traits_v<Criterion>.uses_field) v.field = measures.fields(index);
  if constexpr (traits_v<Criterion>.uses_powers)
    v.powers = measures.powers.data() + std::int64_t(index) * measures.power_row;
  return v;
}

/// Images of the sources' root, with which a walk begins, too.
struct RootImages {
  CellIndex begin = 0;
  int count = 0;

  template <class Space>
  static RootImages of(Octree<Space> const& tree) {
    return {tree.images.begin, int(tree.images.roots)};
  }
  /// Start i, of 1 + count.
  KOKKOS_FORCEINLINE_FUNCTION CellIndex start(int i) const { return i == 0 ? 0 : begin + i - 1; }
};

template <class Space, class Criterion, class Shift = OneSet>
struct DualWalk {
  static_assert(check_criterion<Criterion>());
  static constexpr bool one_set = std::is_same_v<Shift, OneSet>;
  Criterion criterion;
  float far_from;  ///< nothing nearer is accepted; in edges of the root
  bool has_p2l;    ///< else what could be taken by P2L is not accepted
  CellsOfSets<Space, Shift> cells;
  OfSets<CellMeasures<Space>, Shift> measures;
  OfSets<Families<Space>, Shift> families;  ///< none on a GPU
  Csr<Space> open;                          ///< of the parents' level, by cell - parents_begin
  CellIndex parents_begin;
  Array<int, Space> wanted = {};  ///< 0 for targets without lists; none: all have
  RootImages images = {};         ///< of the sources

  KOKKOS_FUNCTION decltype(auto) target_cell(CellIndex i) const { return targets_of(cells)(i); }
  KOKKOS_FUNCTION decltype(auto) source_cell(CellIndex i) const { return sources_of(cells)(i); }
  std::uint32_t leaf_children(CellIndex source) const {
    return sources_of(families).leaf_children(source);
  }
  KOKKOS_FUNCTION CellView target_view(CellIndex index, Cell const& cell) const {
    return view_for<Criterion>(index, cell, targets_of(measures));
  }
  KOKKOS_FUNCTION CellView source_view(CellIndex index, Cell const& cell) const {
    return view_for<Criterion>(index, cell, sources_of(measures));
  }

  struct Target {
    CellIndex index;
    CellView view;
    Offset open_begin;  ///< of the sources that its parent left open
    int starts;         ///< how many these are
  };
  KOKKOS_FUNCTION Target target(CellIndex index) const {
    const Cell cell = target_cell(index);
    if (cell.parent < 0) return {index, target_view(index, cell), 0, 1 + images.count};
    const Offset begin = open.offsets(cell.parent - parents_begin),
                 end = open.offsets(cell.parent - parents_begin + 1);
    const bool there = end <= Offset(open.entries.extent(0)) &&  // else the memory was too small
                       (wanted.extent(0) == 0 || wanted(index) != 0);
    return {index, target_view(index, cell), begin, there ? int(end - begin) : 0};
  }
  KOKKOS_FUNCTION CellIndex start(Target const& target, int i) const {
    return target.index == 0 ? images.start(i) : open.entries(target.open_begin + i);
  }

  /// Whether there may be entries in that list.
  KOKKOS_FUNCTION static constexpr bool fills(int list) {
    constexpr bool only_m2l = traits_v<Criterion>.only_m2l;
    return !only_m2l || (list != list_m2p && list != list_p2l);
  }

  FMM_NOINLINE KOKKOS_FUNCTION bool is_too_near(CellIndex target, CellIndex source) const {
    return can_be_nearer(target_view(target, target_cell(target)),
                         source_view(source, source_cell(source)), far_from);
  }

  /// Whether all candidates go to M2L.
  static constexpr bool accepts_candidates = accepts_candidates_v<Criterion>;

  /// Of the `count` siblings from `first` on those that may be accepted: bits.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t candidates(Target const& target, CellIndex first,
                                                       int count) const {
    std::uint32_t bits = (1u << count) - 1;
    if constexpr (has_candidates_v<Criterion>)
      bits &= partners(target.view.centre[0], target.view.centre[1], target.view.centre[2],
                       target.view.radius, sources_of(families), first);
    return without_neighbours(bits, target.index, first,
                              [&](CellIndex source) { return is_too_near(target.index, source); });
  }

  /// Whether candidates are decided about together, as far as can be.
  static constexpr bool decides_siblings = decides_siblings_v<Criterion>;

  /// What becomes of those of the `count` siblings from `first` on, on that level, that may be accepted.
  SiblingDecisions decide_siblings(Target const& target, CellIndex first, int count, int level,
                                   std::uint32_t leaves, std::uint32_t candidates) const {
    using V = UpToEightFloats;
    using Lane = LaneTraits<V>;
    auto const& known = sources_of(families);
    SiblingDecisions all{};
    if (far_from > 0) {
      all.alone = candidates;
      return all;
    }
    for (int i = 0; i < count; i += Lane::count) {
      const std::uint32_t these = candidates >> i & ((1u << Lane::count) - 1);
      if (these == 0) continue;
      const auto load = [&](Array<float, Space> const& numbers) {
        return Lane::load(numbers.data() + first + i);
      };
      const V dx = V(target.view.centre[0]) - load(known.x),
              dy = V(target.view.centre[1]) - load(known.y),
              dz = V(target.view.centre[2]) - load(known.z);
      const SourceLanes<V> sources{load(known.radius),
                                   load(known.bodies),
                                   load(known.is_leaf),
                                   dx * dx + dy * dy + dz * dz,
                                   edge_of_level<float>(level),
                                   leaves >> i,
                                   known.powers.data() + first + i,
                                   known.row()};
      const auto some = criterion.decide_siblings(target.view, sources, these);
      all.m2l |= some.m2l << i;
      all.split_source |= some.split_source << i;
      all.split_target |= some.split_target << i;
      all.alone |= some.alone << i;
    }
    return all;
  }

  /// Whether sibling targets decide together about a source that they start with.
  static constexpr bool starts_in_families = has_candidates_v<Criterion>;

  /// Of the `count` sibling targets from `first` on those that may accept the source: bits.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t candidate_targets(CellIndex source, CellIndex first,
                                                              int count) const {
    auto const& ball = sources_of(families);
    const std::uint32_t bits =
        ((1u << count) - 1) & partners(ball.x(source), ball.y(source), ball.z(source),
                                       ball.radius(source), targets_of(families), first);
    return without_neighbours(bits, source, first,
                              [&](CellIndex target) { return is_too_near(target, source); });
  }

  /// What becomes of a source that is not accepted.
  KOKKOS_FORCEINLINE_FUNCTION static ListIndex refused(Target const& target, int level,
                                                       bool source_leaf) {
    if (target.view.leaf) return source_leaf ? list_p2p : split;
    return source_leaf || level >= target.view.level ? list_open : split;
  }

  KOKKOS_FUNCTION ListIndex decide(Target const& target, CellIndex index,
                                   Cell const& source) const {
    const bool leaf = target.view.leaf;
    Acceptance decision = one_set && index == target.index
                              ? Acceptance::not_accepted
                              : criterion(target.view, source_view(index, source));
    if (decision != Acceptance::not_accepted && far_from > 0 && is_too_near(target.index, index))
      decision = Acceptance::not_accepted;
    if (decision == Acceptance::m2l) return list_m2l;
    if constexpr (fills(list_m2p)) {
      if (decision == Acceptance::m2p && leaf) return list_m2p;
      if (decision == Acceptance::p2l && has_p2l && source.is_leaf()) return list_p2l;
    }
    if (decision == Acceptance::split_source && !source.is_leaf()) return split;
    if (decision == Acceptance::split_target && !leaf) return list_open;
    return refused(target, source.level, source.is_leaf());
  }

 private:
  /// Which of the eight balls from `first` on the criterion may accept with this one, whichever is the source.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t partners(float x, float y, float z, float radius,
                                                     Families<Space> const& balls,
                                                     CellIndex first) const {
    using V = UpToEightFloats;
    using Lane = LaneTraits<V>;
    std::uint32_t bits = 0;
    for (int i = 0; i < 8; i += Lane::count) {
      const V dx = V(x) - Lane::load(balls.x.data() + first + i),
              dy = V(y) - Lane::load(balls.y.data() + first + i),
              dz = V(z) - Lane::load(balls.z.data() + first + i);
      const V sum = V(radius) + Lane::load(balls.radius.data() + first + i);
      bits |= bits_of(criterion.candidates(sum, dx * dx + dy * dy + dz * dz)) << i;
    }
    return bits;
  }

  /// Clears the cell itself and, if candidates are accepted, what is too near to it.
  template <class IsTooNear>
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t without_neighbours(std::uint32_t bits, CellIndex cell,
                                                               CellIndex first,
                                                               IsTooNear const& is_near) const {
    if constexpr (one_set) {
      const std::uint32_t own = std::uint32_t(cell - first);
      if (own < 8) bits &= ~(1u << own);
    }
    if constexpr (accepts_candidates)
      if (far_from > 0)
        for (std::uint32_t left = bits; left != 0; left &= left - 1) {
          const int i = lowest_bit(left);
          if (is_near(first + i)) bits &= ~(1u << i);
        }
    return bits;
  }
};

/// A source cell opens for a target leaf unless edge / d < theta, d from its centre to the nearest point
/// of the leaf's cube (Barnes & Hut 1986, Nature 324:446).
template <class Space, class Shift = OneSet>
struct BarnesHutWalk {
  float theta;
  float far_from;  ///< between the cubes, at least; in grid units
  CellsOfSets<Space, Shift> cells;
  Families<Space> families;  ///< the sources'; none on a GPU
  RootImages images = {};    ///< of the sources

  struct Target {
    Cell cell;
    int starts;
  };
  KOKKOS_FUNCTION decltype(auto) source_cell(CellIndex i) const { return sources_of(cells)(i); }
  std::uint32_t leaf_children(CellIndex source) const { return families.leaf_children(source); }
  KOKKOS_FUNCTION Target target(CellIndex index) const {
    const Cell cell = targets_of(cells)(index);
    return {cell, cell.is_leaf() ? 1 + images.count : 0};
  }
  KOKKOS_FUNCTION CellIndex start(Target const&, int i) const { return images.start(i); }

  KOKKOS_FUNCTION static constexpr bool fills(int list) {
    return list == list_m2p || list == list_p2p;
  }

  FMM_NOINLINE KOKKOS_FUNCTION bool is_too_near(Cell const& a, Cell const& b) const {
    return distances(a, b, 0.5f * float(a.edge() + b.edge())).cubes2 < far_from * far_from;
  }

  static constexpr bool accepts_candidates = false, decides_siblings = false,
                        starts_in_families = false;
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t candidates(Target const&, CellIndex, int count) const {
    return (1u << count) - 1;
  }
  KOKKOS_FORCEINLINE_FUNCTION static ListIndex refused(Target const&, int, bool source_leaf) {
    return source_leaf ? list_p2p : split;
  }

  KOKKOS_FUNCTION ListIndex decide(Target const& target, CellIndex, Cell const& source) const {
    const float edge = float(source.edge()),
                d2 = distances(source, target.cell, 0.5f * float(target.cell.edge())).cubes2;
    if (edge * edge < theta * theta * d2 && !(far_from > 0 && is_too_near(target.cell, source)))
      return list_m2p;
    return refused(target, source.level, source.is_leaf());
  }
};

}  // namespace fmm::tree
