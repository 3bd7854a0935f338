// SPDX-License-Identifier: BSD-3-Clause
// Which bodies the lists leave most out for: what MultipolePowerCriterion estimates of pairs of
// cells, taken to the places of the bodies. As an error it may be wrong by a few times; it says
// which bodies are to be looked at. Of a high order a body at the rim of its cell that a source is
// near to may err by more than all others.
#pragma once

#include <cmath>

#include "../cells/geometry.hpp"
#include "../detail/reduce.hpp"
#include "../engine/body_tree.hpp"
#include "../tree/criteria/multipole_power.hpp"
#include "../tree/lists/lists.hpp"
#include "../tuning.hpp"
#include "constants.hpp"
#include "quantities.hpp"

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

/// Sums over a cell's pairs of the squares of what they err by for the most exposed of its bodies, T^2 and S^2, of S^2 a
/// and of S^2 D^2, with D the distance of that body from the source's centre, in edges of the root.
struct CellErrors {
  double ends = 0, sources = 0, sources_a = 0, sources_D2 = 0;
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
      sum.sources_D2 += S2 * of_pair.D * of_pair.D;
    }
  }
};

/// The squares of what a body's field and potential are expected to err by, in units of charge / (edge of the root)^2
/// and charge / edge: of the pairs of its leaf and of the cells above, as if no two had to do with each other. At rho
/// of a cell's radius T is rho^order of what it is at the rim, and S less as if all sources were on the body's side.
/// A field is the derivative of a potential that goes as the power order + 1, or - (order + 2) where a multipole ends.
template <class Space, class Real>
struct ExpectedErrors {
  ListedPairs<Space> pairs;
  Array<CellErrors, Space> errors;
  Array<Body<Real>, Space> bodies;

  KOKKOS_FUNCTION PerQuantity<double> operator()(CellIndex leaf, BodyIndex index) const {
    const Body<Real> body = bodies(index);
    const CellView of_leaf = pairs.view(leaf);
    const float x[3] = {of_leaf.centre[0] + of_leaf.edge * float(body.x),
                        of_leaf.centre[1] + of_leaf.edge * float(body.y),
                        of_leaf.centre[2] + of_leaf.edge * float(body.z)};
    const auto order = float(pairs.criterion.order);
    PerQuantity<double> sum;
    for (CellIndex cell = leaf; cell >= 0; cell = pairs.cells(cell).parent) {
      const CellErrors e = errors(cell);
      if (!(e.ends + e.sources > 0)) continue;
      const CellView here = pairs.view(cell);
      const float dx = x[0] - here.centre[0], dy = x[1] - here.centre[1],
                  dz = x[2] - here.centre[2], distance = std::sqrt(dx * dx + dy * dy + dz * dz),
                  rho = here.radius > 0 ? std::fmin(distance / here.radius, 1.0f) : 1.0f;
      const double ends = e.ends * std::pow(rho, 2 * order), per_order = distance / (order + 1);
      sum.field += ends;
      sum.potential += ends * per_order * per_order;
      if (!(e.sources > 0)) continue;
      const float a = std::fmin(float(e.sources_a / e.sources), 0.95f),
                  nearer = (1 - a) / (1 - a * rho);
      const double farther = std::pow(nearer, 2 * order + 4);
      sum.field += e.sources * farther;
      sum.potential += e.sources_D2 * farther / ((order + 2) * (order + 2));
    }
    return sum;
  }
};

/// Bodies of a group: neighbours in a tile, fewer at its end.
inline constexpr int bodies_of_group = 4;
/// Groups that a tile has room for.
template <class Space, class Real>
inline constexpr int groups_of_tile = Tuning<Space, Real>::tile / bodies_of_group;

/// Sums of what is expected of a group's bodies, of fields and potentials, each times a weight.
template <class Space, class Real>
struct WeighGroups {
  static constexpr int row = groups_of_tile<Space, Real>;
  static_assert(Tuning<Space, Real>::tile % bodies_of_group == 0);
  Array<Tile, Space> tiles;
  ExpectedErrors<Space, Real> expected;
  PerQuantity<double> weights;
  Array<float, Space> groups;

  KOKKOS_FUNCTION PerQuantity<double> of_group(std::int64_t i) const {
    const Tile tile = tiles(i / row);
    const auto begin = BodyIndex(i % row * bodies_of_group);
    PerQuantity<double> sum;
    for (BodyIndex k = begin; k < begin + bodies_of_group && k < tile.count; ++k) {
      const auto of_body = expected(tile.cell, tile.first + k);
      sum.field += of_body.field;
      sum.potential += of_body.potential;
    }
    return sum;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    constexpr double least = 1e-37, most = 1e37;  // of a float
    const auto of_both = of_group(i);
    const double sum = (weights.field > 0 ? weights.field * of_both.field : 0) +
                       (weights.potential > 0 ? weights.potential * of_both.potential : 0);
    groups(i) = float(sum < least ? 0 : std::fmin(sum, most));
  }
};

struct SumOfBoth : PerQuantity<double> {
  KOKKOS_FUNCTION void join(SumOfBoth const& other) {
    field += other.field;
    potential += other.potential;
  }
};
template <class Space, class Real>
struct SumWeighedGroups {
  WeighGroups<Space, Real> groups;
  KOKKOS_FUNCTION void operator()(std::int64_t i, SumOfBoth& sum) const {
    const auto of_group = groups.of_group(i);
    sum.field += of_group.field;
    sum.potential += of_group.potential;
  }
};

/// What is expected of the groups of all tiles, groups_of_tile each: squares of fields or potentials; of both, the sum
/// of their shares in all. `errors` is memory for one a cell. Cost: the criterion once for each entry of the lists.
template <class Space, class Precision>
void expected_of_groups(Space const& space, BodyTree<Space, Precision> const& tree,
                        ListedPairs<Space> const& pairs, Array<CellErrors, Space> errors,
                        Quantities of, Array<float, Space> groups) {
  using Real = real_t<Precision>;
  const auto count = std::int64_t(groups.extent(0));
  for_uneven("fmm::expected::cells", space, std::int64_t(errors.extent(0)), 64,
             SumPairErrors<Space>{pairs, errors});
  WeighGroups<Space, Real> weigh{tree.octree.tiles,
                                 {pairs, errors, tree.bodies},
                                 {of.field ? 1.0 : 0.0, of.potential ? 1.0 : 0.0},
                                 groups};
  if (of.field && of.potential) {
    const auto all = reduce<SumOfBoth>("fmm::expected::both", space, count,
                                       SumWeighedGroups<Space, Real>{weigh});
    space.fence();
    weigh.weights = {all.field > 0 ? 1 / all.field : 0, all.potential > 0 ? 1 / all.potential : 0};
  }
  for_range("fmm::expected::groups", space, count, weigh);
}

}  // namespace fmm::tolerance
