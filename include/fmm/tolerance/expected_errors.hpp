// SPDX-License-Identifier: BSD-3-Clause
// Which bodies the lists leave most out for: what MultipolePowerCriterion estimates of pairs of
// cells, taken to the places of the bodies. As an error it may be wrong by a few times; it says
// which bodies are to be looked at. Of a high order a body at the rim of its cell that a source is
// near to may err by more than all others.
#pragma once

#include <cmath>

#include "../cells/geometry.hpp"
#include "../engine/body_tree.hpp"
#include "../tree/criteria/multipole_power.hpp"
#include "../tree/lists/lists.hpp"
#include "../tuning.hpp"
#include "constants.hpp"

namespace fmm::tolerance {

/// What is known of the lists' pairs of cells.
template <class Space>
struct ListedPairs {
  MultipolePowerCriterion criterion;
  Array<Cell, Space> cells;
  tree::CellMeasures<Space> measures;
  tree::InteractionLists<Space> lists;
  bool has_locals;  ///< or else a treecode, where no local expansion ends

  KOKKOS_FUNCTION CellView view(CellIndex index) const {
    return tree::view_for<MultipolePowerCriterion>(index, cells(index), measures);
  }
};

/// Sums over a cell's pairs of the squares of what they err by for the most exposed of its bodies, T^2 and S^2, and of
/// S^2 a.
struct CellErrors {
  double ends = 0, sources = 0, sources_a = 0;
};

template <class Space>
struct SumPairErrors {
  ListedPairs<Space> pairs;
  Array<CellErrors, Space> errors;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const CellView target = pairs.view(CellIndex(i));
    CellErrors sum;
    add(target, pairs.lists.m2l, i, pairs.has_locals, true, sum);
    add(target, pairs.lists.p2l, i, true, false, sum);  // no multipole ends
    add(target, pairs.lists.m2p, i, false, true, sum);  // nor a local expansion
    errors(i) = sum;
  }

 private:
  KOKKOS_FUNCTION void add(CellView const& target, Csr<Space> const& list, std::int64_t row,
                           bool ends, bool sources, CellErrors& sum) const {
    if (list.length(row) == 0) return;
    for (Offset e = list.begin(row); e < list.end(row); ++e) {
      const auto of_pair = pairs.criterion.errors(target, pairs.view(list.entries(e)));
      const double S2 = sources ? double(of_pair.S) * of_pair.S : 0;
      if (ends) sum.ends += double(of_pair.T) * of_pair.T;
      sum.sources += S2;
      sum.sources_a += S2 * of_pair.a;
    }
  }
};

/// The square of what a body's field is expected to err by, in units of charge / (edge of the root)^2: of the pairs of
/// its leaf and of the cells above, as if no two had to do with each other. At rho of a cell's radius T is rho^order of
/// what it is at the rim, and S less as if all sources were on the body's side.
template <class Space, class Real>
struct ExpectedErrors {
  ListedPairs<Space> pairs;
  Array<CellErrors, Space> errors;
  Array<Body<Real>, Space> bodies;

  KOKKOS_FUNCTION double operator()(CellIndex leaf, BodyIndex index) const {
    const Body<Real> body = bodies(index);
    const CellView of_leaf = pairs.view(leaf);
    const float x[3] = {of_leaf.centre[0] + of_leaf.edge * float(body.x),
                        of_leaf.centre[1] + of_leaf.edge * float(body.y),
                        of_leaf.centre[2] + of_leaf.edge * float(body.z)};
    const auto order = float(pairs.criterion.order);
    double sum = 0;
    for (CellIndex cell = leaf; cell >= 0; cell = pairs.cells(cell).parent) {
      const CellErrors e = errors(cell);
      if (!(e.ends + e.sources > 0)) continue;
      const CellView here = pairs.view(cell);
      const float dx = x[0] - here.centre[0], dy = x[1] - here.centre[1],
                  dz = x[2] - here.centre[2], distance = std::sqrt(dx * dx + dy * dy + dz * dz),
                  rho = here.radius > 0 ? std::fmin(distance / here.radius, 1.0f) : 1.0f;
      sum += e.ends * std::pow(rho, 2 * order);
      if (!(e.sources > 0)) continue;
      const float a = std::fmin(float(e.sources_a / e.sources), 0.95f);
      sum += e.sources * std::pow((1 - a) / (1 - a * rho), 2 * order + 4);
    }
    return sum;
  }
};

/// Bodies of a group: neighbours in a tile, fewer at its end.
inline constexpr int bodies_of_group = 4;
/// Groups that a tile has room for.
template <class Space, class Real>
inline constexpr int groups_of_tile = Tuning<Space, Real>::tile / bodies_of_group;

/// Sums of what is expected of a group's bodies.
template <class Space, class Real>
struct WeighGroups {
  static constexpr int row = groups_of_tile<Space, Real>;
  static_assert(Tuning<Space, Real>::tile % bodies_of_group == 0);
  Array<Tile, Space> tiles;
  ExpectedErrors<Space, Real> expected;
  Array<float, Space> groups;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    constexpr double least = 1e-37, most = 1e37;  // of a float
    const Tile tile = tiles(i / row);
    const auto begin = BodyIndex(i % row * bodies_of_group);
    double sum = 0;
    for (BodyIndex k = begin; k < begin + bodies_of_group && k < tile.count; ++k)
      sum += expected(tile.cell, tile.first + k);
    groups(i) = float(sum < least ? 0 : std::fmin(sum, most));
  }
};

/// What is expected of the groups of all tiles, groups_of_tile each: squares. `errors` is memory for one a cell.
/// Cost: the criterion once for each entry of the lists.
template <class Space, class Precision>
void expected_of_groups(Space const& space, BodyTree<Space, Precision> const& tree,
                        ListedPairs<Space> const& pairs, Array<CellErrors, Space> errors,
                        Array<float, Space> groups) {
  using Real = real_t<Precision>;
  for_uneven("fmm::expected::cells", space, std::int64_t(errors.extent(0)), 64,
             SumPairErrors<Space>{pairs, errors});
  for_range("fmm::expected::groups", space, std::int64_t(groups.extent(0)),
            WeighGroups<Space, Real>{tree.octree.tiles, {pairs, errors, tree.bodies}, groups});
}

}  // namespace fmm::tolerance
