// SPDX-License-Identifier: BSD-3-Clause
// A number of every cell for acceptance criteria: of leaves from their bodies, of all others from their
// children, level by level.
#pragma once

#include <cmath>

#include "../cells/geometry.hpp"
#include "octree.hpp"

namespace fmm::tree {

/// What is measured, with
///
///     BodyValue, Value            types of what a body gives, and of a cell's number
///     template <class T> Reducer  Kokkos::Sum, Max or Min, over a leaf's bodies and over children
///     of_body(i) -> BodyValue     of body i in tree order
///     of_leaf(reduced) -> Value   of a leaf whose bodies give that in all
///     of_child(value) -> Value    what a child with that number gives to its parent
///     of_parent(reduced) -> Value of a cell whose children give that in all
///
/// and here where bodies, leaves and cells have the same kind of number.
template <class T>
struct CellMeasure {
  using BodyValue = T;
  using Value = T;
  KOKKOS_FUNCTION T of_leaf(T reduced) const { return reduced; }
  KOKKOS_FUNCTION T of_child(T value) const { return value; }
  KOKKOS_FUNCTION T of_parent(T reduced) const { return reduced; }
};

/// A team a leaf.
template <class Space, class Measure>
struct MeasureLeaves {
  Measure measure;
  Array<Cell, Space> cells;
  Array<CellIndex, Space> leaves;
  Array<typename Measure::Value, Space> values;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    using BodyValue = typename Measure::BodyValue;
    using Reducer = typename Measure::template Reducer<BodyValue>;
    const CellIndex leaf = leaves(team.league_rank());
    const BodyIndex begin = cells(leaf).body_begin;
    BodyValue all;
    reduce_in_team(
        team, cells(leaf).body_count,
        [&](int i, BodyValue& some) { Reducer(some).join(some, measure.of_body(begin + i)); },
        Reducer(all));
    if (team.team_rank() == 0) values(leaf) = measure.of_leaf(all);
  }
};

template <class Space, class Measure>
struct MeasureParents {
  Measure measure;
  Array<Cell, Space> cells;
  Array<CellIndex, Space> parents;
  Array<typename Measure::Value, Space> values;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    using Value = typename Measure::Value;
    const Cell cell = cells(parents(i));
    Value all;
    const typename Measure::template Reducer<Value> reducer(all);
    reducer.init(all);
    for (int c = 0; c < cell.child_count; ++c)
      reducer.join(all, measure.of_child(values(cell.child_begin + c)));
    values(parents(i)) = measure.of_parent(all);
  }
};

/// values(cell) of all cells but leaves, which have theirs.
template <class Space, class Measure>
void measure_parents(Space const& space, char const* label, Octree<Space> const& tree,
                     Measure const& measure, Array<typename Measure::Value, Space> values) {
  const std::string parents_label = std::string(label) + "::parents";
  for (int level = tree.depth - 1; level >= 0; --level) {
    const auto parents = tree.parents_of(level);
    for_range(parents_label.c_str(), space, parents.extent(0),
              MeasureParents<Space, Measure>{measure, tree.cells, parents, values});
  }
}

/// values(image) = values(the cell that it is of).
template <class Space, class T>
struct CopyToImages {
  ImageCells<Space> images;
  Array<T, Space> values;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    values(images.begin + i) = values(images.of(i));
  }
};
template <class Space, class T>
void copy_to_images(Space const& space, ImageCells<Space> const& images, Array<T, Space> values) {
  if (images.count() > 0)
    for_range("fmm::images::values", space, images.count(), CopyToImages<Space, T>{images, values});
}

/// Radii of images from number `from` on, which are in edges of the cell.
template <class Space>
struct SetRadiiOfImages {
  ImageCells<Space> images;
  CellIndex from;
  Array<Cell, Space> cells;
  Array<float, Space> radii;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const CellIndex image = images.begin + from + CellIndex(i);
    radii(image) = radii(images.of(from + i)) + images.rest * per_grid_unit<float>(cells(image));
  }
};

/// values(cell) of all cells; kernels are labelled `label`. Cost: O(N).
template <class Space, class Measure>
void measure_cells(Space const& space, char const* label, Octree<Space> const& tree,
                   Measure const& measure, Array<typename Measure::Value, Space> values,
                   int team_size) {
  for_teams((std::string(label) + "::leaves").c_str(),
            TeamPolicy<Space>(space, int(tree.leaves.extent(0)), team_size),
            MeasureLeaves<Space, Measure>{measure, tree.cells, tree.leaves, values});
  measure_parents(space, label, tree, measure, values);
  copy_to_images(space, tree.images, values);
}

/// The largest distance of a cell's bodies from its centre, in edges of the cell: of leaves from their
/// bodies, of others a bound from their children, never more than the cube's half diagonal.
template <class Space, class Real>
struct TightRadius {
  using BodyValue = Real;  // squared
  using Value = float;
  template <class T>
  using Reducer = Kokkos::Max<T>;
  Array<Body<Real>, Space> bodies;

  KOKKOS_FUNCTION Real of_body(BodyIndex i) const {
    return square(bodies(i).x, bodies(i).y, bodies(i).z);
  }
  KOKKOS_FUNCTION static Real square(Real x, Real y, Real z) { return x * x + y * y + z * z; }
  KOKKOS_FUNCTION float of_leaf(Real largest) const {
    return float(std::sqrt(double(largest))) * 1.000001f;  // rounded up
  }
  KOKKOS_FUNCTION float of_child(float radius) const { return child_distance + 0.5f * radius; }
  KOKKOS_FUNCTION float of_parent(float largest) const {
    return largest < half_diagonal ? largest : half_diagonal;
  }
};

/// sum |q| of a cell, in units of the charge scale.
template <class Space, class Real>
struct SumOfCharges : CellMeasure<float> {
  template <class T>
  using Reducer = Kokkos::Sum<T>;
  Array<Body<Real>, Space> bodies;

  explicit SumOfCharges(Array<Body<Real>, Space> all) : bodies(all) {}
  KOKKOS_FUNCTION float of_body(BodyIndex i) const { return std::fabs(float(bodies(i).q)); }
};

/// The smallest |field| of a cell's bodies, in `unit`; 0 if the unit is.
template <class Space, class Field>
struct SmallestField : CellMeasure<double> {
  template <class T>
  using Reducer = Kokkos::Min<T>;
  Field field;
  Array<BodyIndex, Space> permutation;
  double unit;

  SmallestField(Field const& all, Array<BodyIndex, Space> indices, double one)
      : field(all), permutation(indices), unit(one) {}
  KOKKOS_FUNCTION double of_body(BodyIndex i) const {
    const BodyIndex from = permutation(i);
    const double x = field(from, 0), y = field(from, 1), z = field(from, 2);
    return unit > 0 ? std::hypot(std::hypot(x, y), z) / unit : 0;
  }
};

/// The same for a walk: in units of a charge, too, and in float.
template <class Space>
struct FieldsInUnit {
  Array<double, Space> smallest;
  double charge_unit;
  Array<float, Space> fields;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    fields(i) = float(smallest(i) / charge_unit);
  }
};

}  // namespace fmm::tree
