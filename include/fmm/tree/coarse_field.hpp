// SPDX-License-Identifier: BSD-3-Clause
// The field around every cell, roughly: what an acceptance criterion may measure a pair's error against.
//
// A few hundred coarse cells, the largest that hold at most a certain share of the bodies, stand for all
// bodies. At the centre of each of them, and of the cells above them, the field is the sum of the
// magnitudes w / (R^2 + h^2 / 4) over all of them, itself included: w is the source's share of the bodies,
// or its charge, and h its edge. Cells below take the value of the coarse cell that they are in.
// Magnitudes, since these neither cancel nor vanish, but for the sign of charges: the sum is near the force
// in the halo of a clump, and several times as large inside it.
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

/// A team sums at every so many of the selected cells.
template <class Space>
struct SumCoarse {
  CoarseCells<Space> coarse;
  CellWeights<Space> weights;
  Array<CellIndex, Space> selected;
  Array<Offset, Space> count;
  Array<float, Space> fields;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const Offset all = count(0);
    const double per_body = 1.0 / coarse.cells(0).body_count;
    for (Offset i = team.league_rank(); i < all; i += team.league_size()) {
      const Cell target = coarse.cells(selected(i));
      double field = 0;
      Kokkos::parallel_reduce(
          Kokkos::TeamThreadRange(team, int(all)),
          [&](int j, double& sum) {
            const Cell source = coarse.cells(selected(j));
            const double half = 0.5 * source.edge();
            double r2 = half * half;
            for (int d = 0; d < 3; ++d) {
              const double x = double(target.centre[d]) - source.centre[d];
              r2 += x * x;
            }
            const BodyIndex bodies = coarse.bodies(source);
            if (bodies > 0) sum += weights(selected(j), bodies * per_body) / r2;
          },
          field);
      constexpr double edge = double(std::int32_t(1) << grid_bits);
      if (team.team_rank() == 0) fields(selected(i)) = float(std::fabs(field) * edge * edge);
    }
  }
};

template <class Space>
struct InheritCoarse {
  CoarseCells<Space> coarse;
  Array<float, Space> fields;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    Cell cell = coarse.cells(i);
    if (coarse.has_own(cell)) return;
    CellIndex ancestor = cell.parent;
    for (cell = coarse.cells(ancestor); !coarse.has_own(cell); cell = coarse.cells(ancestor))
      ancestor = cell.parent;
    fields(i) = fields(ancestor);
  }
};

/// fields(cell), in units of the weights / (edge of the cube)^2. Cost: O(cells), and the square of the
/// number of coarse cells, about two times 256 in a cube.
template <class Space>
void coarse_field(Space const& space, Octree<Space> const& tree, std::int64_t bodies,
                  Buffer<CellIndex, Space>& selected_buffer, Buffer<Offset, Space>& count_buffer,
                  CellWeights<Space> const& weights, Array<float, Space> fields, int team_size) {
  const std::int64_t cells = tree.cells.extent(0);
  const CoarseCells<Space> coarse{tree.cells, BodyIndex(bodies / coarse_share)};
  const auto selected = selected_buffer.resize(cells);
  const auto count = count_buffer.resize(1);
  Kokkos::parallel_scan("fmm::field::select", range(space, cells),
                        SelectCoarse<Space>{coarse, selected, count});
  constexpr std::int64_t teams = 2048;
  Kokkos::parallel_for("fmm::field::sum",
                       TeamPolicy<Space>(space, int(std::min(cells, teams)), team_size),
                       SumCoarse<Space>{coarse, weights, selected, count, fields});
  Kokkos::parallel_for("fmm::field::inherit", range(space, cells),
                       InheritCoarse<Space>{coarse, fields});
}

}  // namespace fmm::detail
