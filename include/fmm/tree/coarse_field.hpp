// SPDX-License-Identifier: BSD-3-Clause
// The field around every cell, roughly: what an acceptance criterion may measure a pair's error against.
//
// A few hundred coarse cells, the largest that hold at most a certain share of the bodies, stand for all
// bodies. At the centre of each of them, and of the cells above them, the field is the sum of the
// magnitudes w / (R^2 + h^2 / 4) over all of them, itself included: w is the source's share of the bodies,
// or its charge, and h its edge. Cells below take the value of the coarse cell that they are in.
// Magnitudes, since these neither cancel nor vanish: the sum is near the force in the halo of a clump, and
// several times as large inside it. The field as a vector is summed with them on request.
#pragma once

#include <algorithm>

#include "../detail/launch.hpp"
#include "../detail/memory.hpp"
#include "../simd/simd.hpp"
#include "octree.hpp"
#include "one_place.hpp"

namespace fmm::tree {

/// Coarse cells hold at most a share of one in so many of the bodies.
inline constexpr int coarse_share = 256;

/// Cells with more bodies than `capacity` that are not all at one place, and their children.
template <class Space>
struct CoarseCells {
  Array<Cell, Space> cells;
  Array<std::uint8_t, Space> at_one_place;  ///< cells_at_one_place
  BodyIndex capacity;

  /// Whether a cell's children are such cells.
  KOKKOS_FUNCTION bool is_divided(CellIndex index) const {
    return cells(index).body_count > capacity && !at_one_place(index);
  }
  /// Whether the field is summed at this cell, and not taken from an ancestor.
  KOKKOS_FUNCTION bool has_own(Cell const& cell) const {
    return cell.parent < 0 || is_divided(cell.parent);
  }
  /// That cell, or the ancestor that it is taken from.
  KOKKOS_FUNCTION CellIndex nearest(CellIndex index) const {
    Cell cell = cells(index);
    while (!has_own(cell)) {
      index = cell.parent;
      cell = cells(index);
    }
    return index;
  }
  /// Bodies for which the cell stands: none if its children do.
  KOKKOS_FUNCTION BodyIndex bodies(CellIndex index) const {
    const Cell cell = cells(index);
    return cell.is_leaf() || !is_divided(index) ? cell.body_count : 0;
  }
};

/// Charges of cells, every `row`-th number of an array; without it, shares of the bodies.
template <class Space>
struct CellWeights {
  Array<float, Space> charges = {};
  int row = 0;

  KOKKOS_FUNCTION double operator()(CellIndex index, double share) const {
    return row > 0 ? charges(std::int64_t(index) * row) : share;
  }
};

/// The coarse cells and all cells above them, side by side; these have no weight. As many more without weight
/// follow as fill the last lanes.
template <class Space>
struct SelectedCells {
  static constexpr int W = lane_count_v<Lanes<Space, float>>;
  enum Row { quarter_h2, weight, x, rows = x + 6 };  // coordinates in two parts, high and low
  Array<CellIndex, Space> selected;
  Array<Offset, Space> count;
  Array<float, Space> numbers;  ///< lengths in edges of the cube

  KOKKOS_FUNCTION float* row(Row r) const {
    return numbers.data() + std::int64_t(r) * std::int64_t(numbers.extent(0) / rows);
  }
};

template <class Space>
struct SelectCoarse {
  CoarseCells<Space> coarse;
  CellWeights<Space> weights;
  SelectedCells<Space> all;

  KOKKOS_FUNCTION void operator()(std::int64_t i, Offset& sum, bool final) const {
    const bool own = coarse.has_own(coarse.cells(i));
    if (final && own) {
      all.selected(sum) = CellIndex(i);
      write(sum, CellIndex(i));
    }
    if (own) ++sum;
    if (!final || i + 1 < std::int64_t(coarse.cells.extent(0))) return;
    all.count(0) = sum;
    for (int l = 0; l < all.W; ++l)
      for (int r = 0; r < all.rows; ++r) all.row(Row(r))[sum + l] = r == all.quarter_h2 ? 1 : 0;
  }

 private:
  using Row = typename SelectedCells<Space>::Row;

  KOKKOS_FUNCTION void write(Offset at, CellIndex index) const {
    const Cell cell = coarse.cells(index);
    const double half = 0.5 * in_root_edges<double>(cell.edge());
    for (int d = 0; d < 3; ++d) {  // differences are exact, however close the cells
      all.row(Row(all.x + 2 * d))[at] = float(in_root_edges<double>(cell.centre[d] & ~0xffff));
      all.row(Row(all.x + 2 * d + 1))[at] = float(in_root_edges<double>(cell.centre[d] & 0xffff));
    }
    all.row(all.quarter_h2)[at] = float(half * half);
    const BodyIndex bodies = coarse.bodies(index);
    all.row(all.weight)[at] =
        bodies > 0 ? float(weights(index, double(bodies) / coarse.cells(0).body_count)) : 0;
  }
};

/// The sums over all coarse cells at the selected ones: fields(index), and if Vectors, of charges with their
/// signs, vectors(3 index + d). A team has every so many of them.
template <class Space, bool Vectors>
struct SumCoarse {
  using V = Lanes<Space, float>;
  static constexpr int W = lane_count_v<V>;
  SelectedCells<Space> all;
  Array<float, Space> fields, vectors;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const int count = int(all.count(0));
    for (int i = team.league_rank(); i < count; i += team.league_size()) {
      V sums[4] = {V(0.0f), V(0.0f), V(0.0f), V(0.0f)};
      for (int j = team.team_rank() * W; j < count; j += team.team_size() * W) add(i, j, sums);
      const std::int64_t index = all.selected(i);
      for (int k = 0; k < (Vectors ? 4 : 1); ++k) {
        float sum = LaneTraits<V>::sum(sums[k]);
        if (team.team_size() > 1) sum_over_team(team, sum);
        if (team.team_rank() == 0) (k == 0 ? fields(index) : vectors(3 * index + k - 1)) = sum;
      }
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void add(int i, int j, V* sums) const {
    const auto load = [j](float const* row) { return LaneTraits<V>::load(row + j); };
    V x[3], r2 = load(all.row(all.quarter_h2));
    for (int d = 0; d < 3; ++d) {
      float const* const high = all.row(typename SelectedCells<Space>::Row(all.x + 2 * d));
      float const* const low = all.row(typename SelectedCells<Space>::Row(all.x + 2 * d + 1));
      x[d] = (V(high[i]) - load(high)) + (V(low[i]) - load(low));
      r2 += x[d] * x[d];
    }
    const V w = load(all.row(all.weight)), g = w / r2;
    sums[0] += select(w < V(0.0f), -g, g);
    if constexpr (Vectors) {
      const V u = rsqrt(r2);
      for (int d = 0; d < 3; ++d) sums[d + 1] += g * u * x[d];
    }
  }
};

template <class Space>
struct InheritCoarse {
  CoarseCells<Space> coarse;
  Array<float, Space> fields;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const CellIndex from = coarse.nearest(CellIndex(i));
    if (from != CellIndex(i)) fields(i) = fields(from);
  }
};

/// What coarse_field works with.
template <class Space>
struct CoarseBuffers {
  Buffer<CellIndex, Space> selected{"coarse cells"};
  Buffer<Offset, Space> count{"number of coarse cells"};
  Buffer<float, Space> numbers{"coarse cells' numbers"};

  std::size_t bytes() const { return selected.bytes() + count.bytes() + numbers.bytes(); }
};

/// fields(cell), and if Vectors, vectors(3 cell + d) of the cells where they are summed, in units of the weights /
/// (edge of the cube)^2. Cost: O(cells), and the square of the number of coarse cells, about two times 256 in a
/// cube.
template <bool Vectors, class Space>
CoarseCells<Space> coarse_field(Space const& space, Octree<Space> const& tree, std::int64_t bodies,
                                Array<std::uint8_t, Space> at_one_place,
                                CoarseBuffers<Space>& buffers, CellWeights<Space> const& weights,
                                Array<float, Space> fields, Array<float, Space> vectors,
                                int team_size) {
  using All = SelectedCells<Space>;
  constexpr std::int64_t teams = 2048;
  const std::int64_t cells = tree.own_cells();
  const CoarseCells<Space> coarse{subarray<Cell, Space>(tree.cells, 0, cells), at_one_place,
                                  BodyIndex(bodies / coarse_share)};
  // less than coarse_share cells of a level have more bodies than the coarse ones, and eight children each
  const std::int64_t most = std::min<std::int64_t>(cells, 1 + 8 * coarse_share * tree.depth);
  const All all{buffers.selected.resize(most), buffers.count.resize(1),
                buffers.numbers.resize(All::rows * (most + All::W))};
  scan<Offset>("fmm::field::select", space, cells, SelectCoarse<Space>{coarse, weights, all});
  for_teams("fmm::field::sum", TeamPolicy<Space>(space, int(std::min(most, teams)), team_size),
            SumCoarse<Space, Vectors>{all, fields, vectors});
  for_range("fmm::field::inherit", space, cells, InheritCoarse<Space>{coarse, fields});
  return coarse;
}

}  // namespace fmm::tree
