// SPDX-License-Identifier: BSD-3-Clause
// The field around every cell, roughly: what an acceptance criterion may measure a pair's error against.
//
// A few hundred coarse cells, the largest that hold at most a certain share of the bodies, stand for all
// bodies. At the centre of each of them, and of the cells above them, the field is the sum of the
// magnitudes w / (R^2 + h^2 / 4) over all of them, itself included: w is the source's share of the bodies,
// or its charge, and h its edge. Cells below take the value of the coarse cell that they are in.
// Magnitudes, since these neither cancel nor vanish: the sum is near the force in the halo of a clump, and
// several times as large inside it. The field as a vector is summed in the same way.
#pragma once

#include <algorithm>
#include <cmath>

#include "../detail/memory.hpp"
#include "octree.hpp"

namespace fmm::detail {

/// Coarse cells hold at most this share of the bodies.
inline constexpr int coarse_share = 256;

/// Cells with more bodies than `capacity`, and their children.
template <class Space>
struct CoarseCells {
  Array<Cell, Space> cells;
  BodyIndex capacity;

  /// Whether the field is summed at this cell, and not taken from an ancestor.
  KOKKOS_FUNCTION bool has_own(Cell const& cell) const {
    return cell.parent < 0 || cells(cell.parent).body_count > capacity;
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
  KOKKOS_FUNCTION BodyIndex bodies(Cell const& cell) const {
    return cell.is_leaf() || cell.body_count <= capacity ? cell.body_count : 0;
  }
};

template <class Space>
struct SelectCoarse {
  CoarseCells<Space> coarse;
  Array<CellIndex, Space> selected;
  Array<Offset, Space> count;

  KOKKOS_FUNCTION void operator()(std::int64_t i, Offset& sum, bool final) const {
    const bool own = coarse.has_own(coarse.cells(i));
    if (final && own) selected(sum) = CellIndex(i);
    if (own) ++sum;
    if (final && i + 1 == std::int64_t(coarse.cells.extent(0))) count(0) = sum;
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

/// The coarse cells and all cells above them.
template <class Space>
struct SelectedCells {
  CoarseCells<Space> coarse;
  Array<CellIndex, Space> selected;
  Array<Offset, Space> count;
};

/// What sums at the selected cells have in common: a team has every so many of them.
template <class Space>
struct AtSelected {
  SelectedCells<Space> all;
  CellWeights<Space> weights;

  /// f(the cell's index, sum_over) for each of the team's; sum_over(g) is the sum of g(weight, r2, x) over all
  /// coarse cells, at r2 = R^2 + h^2 / 4 and x = the target's less the source's centre, in edges of the cube.
  template <class F>
  KOKKOS_FUNCTION void for_each(TeamMember<Space> const& team, F const& f) const {
    constexpr double unit = 1.0 / double(std::int32_t(1) << grid_bits);
    const Offset count = all.count(0);
    const double per_body = 1.0 / all.coarse.cells(0).body_count;
    for (Offset i = team.league_rank(); i < count; i += team.league_size()) {
      const CellIndex index = all.selected(i);
      const Cell target = all.coarse.cells(index);
      f(index, [&](auto const& term) {
        double result = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamThreadRange(team, int(count)),
            [&](int j, double& sum) {
              const CellIndex from = all.selected(j);
              const Cell source = all.coarse.cells(from);
              const BodyIndex bodies = all.coarse.bodies(source);
              if (bodies == 0) return;
              const double half = 0.5 * source.edge() * unit;
              double r2 = half * half, x[3];
              for (int d = 0; d < 3; ++d) {
                x[d] = (double(target.centre[d]) - source.centre[d]) * unit;
                r2 += x[d] * x[d];
              }
              sum += term(weights(from, bodies * per_body), r2, x);
            },
            result);
        return result;
      });
    }
  }
};

/// Magnitudes.
template <class Space>
struct SumCoarse : AtSelected<Space> {
  Array<float, Space> fields;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    this->for_each(team, [&](CellIndex index, auto const& sum_over) {
      const double field =
          sum_over([](double w, double r2, double const*) { return std::fabs(w) / r2; });
      if (team.team_rank() == 0) fields(index) = float(field);
    });
  }
};

/// Vectors, of charges with their signs: vectors(3 index + d).
template <class Space>
struct SumCoarseVectors : AtSelected<Space> {
  Array<float, Space> vectors;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    this->for_each(team, [&](CellIndex index, auto const& sum_over) {
      for (int d = 0; d < 3; ++d) {
        const double field = sum_over(
            [=](double w, double r2, double const* x) { return w * x[d] / (r2 * std::sqrt(r2)); });
        if (team.team_rank() == 0) vectors(3 * std::int64_t(index) + d) = float(field);
      }
    });
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

/// Calls `functor`, a SumCoarse.. of all selected cells, in teams.
template <class Space, class Functor>
void sum_coarse(Space const& space, std::int64_t cells, Functor const& functor, int team_size) {
  constexpr std::int64_t teams = 2048;
  Kokkos::parallel_for("fmm::field::sum",
                       TeamPolicy<Space>(space, int(std::min(cells, teams)), team_size), functor);
}

/// fields(cell), in units of the weights / (edge of the cube)^2; returns where they were summed. Cost:
/// O(cells), and the square of the number of coarse cells, about two times 256 in a cube.
template <class Space>
SelectedCells<Space> coarse_field(Space const& space, Octree<Space> const& tree,
                                  std::int64_t bodies, Buffer<CellIndex, Space>& selected_buffer,
                                  Buffer<Offset, Space>& count_buffer,
                                  CellWeights<Space> const& weights, Array<float, Space> fields,
                                  int team_size) {
  const std::int64_t cells = tree.cells.extent(0);
  const CoarseCells<Space> coarse{tree.cells, BodyIndex(bodies / coarse_share)};
  const SelectedCells<Space> all{coarse, selected_buffer.resize(cells), count_buffer.resize(1)};
  Kokkos::parallel_scan("fmm::field::select", range(space, cells),
                        SelectCoarse<Space>{coarse, all.selected, all.count});
  sum_coarse(space, cells, SumCoarse<Space>{{all, weights}, fields}, team_size);
  Kokkos::parallel_for("fmm::field::inherit", range(space, cells),
                       InheritCoarse<Space>{coarse, fields});
  return all;
}

}  // namespace fmm::detail
