// SPDX-License-Identifier: BSD-3-Clause
// Targets and sources: one set of bodies, or two, with the sources at a shift.
//
// What there is of targets and of sources (cells, bodies, low parts of coordinates, what criteria know) is passed on
// as one argument: the thing itself if targets and sources are one set, else TwoSets of it. Code asks
// targets_of(..) and sources_of(..), and takes no notice. Bodies and cells have their own numbers in each set, so
// that a body or a cell is itself in one set only: is_one_set_v.
//
// Trees of two sets are over one cube: centres of both are in one grid. A shift is added to the centres of the
// sources' cells as these are read (SeenCells); bodies are relative to their leaves, and know nothing of it.
// Coordinates of two sets are rounded in leaves of their own: a target in the very place of a source of another set
// is at a distance of rounding from it, unless both trees have the same leaf there, as those of a build of two sets
// have (engine/two_set_build.hpp).
// A periodic image of a set of bodies is the set as sources at a shift, and thus another set than the targets.
#pragma once

#include <type_traits>

#include "cell.hpp"

namespace fmm {

template <class Targets, class Sources = Targets>
struct TwoSets {
  Targets targets;
  Sources sources;
};

template <class Sets>
inline constexpr bool is_one_set_v = true;
template <class Targets, class Sources>
inline constexpr bool is_one_set_v<TwoSets<Targets, Sources>> = false;

template <class Sets>
KOKKOS_FORCEINLINE_FUNCTION auto const& targets_of(Sets const& sets) {
  if constexpr (is_one_set_v<Sets>)
    return sets;
  else
    return sets.targets;
}
template <class Sets>
KOKKOS_FORCEINLINE_FUNCTION auto const& sources_of(Sets const& sets) {
  if constexpr (is_one_set_v<Sets>)
    return sets;
  else
    return sets.sources;
}

/// Sources are the targets, in their place: what a shift is where there is one set.
struct OneSet {};

/// Sources that are another set than the targets, in their place.
struct NoShift {
  KOKKOS_FORCEINLINE_FUNCTION Cell const& operator()(Cell const& cell) const { return cell; }
};

/// Sources that are another set than the targets, or the targets, so many grid units from their place. Up to four
/// edges of the root between two centres are exact in float.
struct GridShift {
  std::int32_t by[3];

  KOKKOS_FORCEINLINE_FUNCTION Cell operator()(Cell cell) const {
    for (int d = 0; d < 3; ++d) cell.centre[d] += by[d];
    return cell;
  }
  /// Of an image of the root: whole edges.
  static GridShift of_root(int x, int y, int z) {
    return {{x * root_edge, y * root_edge, z * root_edge}};
  }
  bool is_whole_edges() const {
    return by[0] % root_edge == 0 && by[1] % root_edge == 0 && by[2] % root_edge == 0;
  }
};

/// Cells of sources where targets see them.
template <class Space, class Shift>
struct SeenCells {
  Array<Cell, Space> cells;
  Shift shift;

  KOKKOS_FORCEINLINE_FUNCTION decltype(auto) operator()(std::int64_t i) const {
    return shift(cells(i));
  }
  KOKKOS_FUNCTION std::size_t extent(int) const { return cells.extent(0); }
};

/// The cells of both, if sources are where the shift says.
template <class Space, class Shift>
using CellsOfSets = std::conditional_t<std::is_same_v<Shift, OneSet>, Array<Cell, Space>,
                                       TwoSets<Array<Cell, Space>, SeenCells<Space, Shift>>>;
template <class Space, class Shift>
CellsOfSets<Space, Shift> cells_of_sets(Array<Cell, Space> targets,
                                        [[maybe_unused]] Array<Cell, Space> sources,
                                        [[maybe_unused]] Shift shift) {
  if constexpr (std::is_same_v<Shift, OneSet>)
    return targets;
  else
    return {targets, {sources, shift}};
}

/// Anything else of both.
template <class T, class Shift>
using OfSets = std::conditional_t<std::is_same_v<Shift, OneSet>, T, TwoSets<T>>;
template <class Shift, class T>
OfSets<T, Shift> of_sets(T const& targets, [[maybe_unused]] T const& sources) {
  if constexpr (std::is_same_v<Shift, OneSet>)
    return targets;
  else
    return {targets, sources};
}

}  // namespace fmm
