// SPDX-License-Identifier: BSD-3-Clause
// A set of bodies in tree order, and the tree over them: what a build makes of positions. Targets and
// sources are one such set each, or the same one.
//
// The arrays lie in the memory of a Workspace. Lengths are in edges of the root, but for those of a body,
// which are relative to its leaf (cells/cell.hpp), and for `positions`.
#pragma once

#include "../cells/sets.hpp"
#include "../errors.hpp"
#include "../precision.hpp"
#include "../tree/octree.hpp"

namespace fmm::engine {

/// What an inspection of charges finds.
struct ChargeFacts {
  double unit =
      1;  ///< a power of two near the largest |q|, so that any unit works in float; 1 if all are 0
  double largest = 0;  ///< |q|
  double sum = 0;      ///< of |q|
  bool both_signs = false;
  bool need_short_sums = false;  ///< kernels::MixedSums::short_sums; found with a tolerance
};

/// Whether results are gathered by `place`, in the caller's order (a GPU writes whole lines then), or
/// scattered by `permutation`.
template <class Space>
inline constexpr bool gathers_results_v = !is_host_space_v<Space>;

/// Bodies in tree order, and their octree. Charges are those of the last evaluation.
template <class Space, class Precision>
struct BodyTree {
  using Real = real_t<Precision>;

  std::int64_t size = 0;  ///< bodies
  Cube cube;              ///< the root, in the caller's unit
  Octree<Space> octree;
  Array<BodyIndex, Space> permutation;  ///< (i): the caller's index of body i in tree order
  Array<BodyIndex, Space>
      place;  ///< (i): the index in tree order of the caller's body i, if results
              ///< are gathered
  Array<Body<Real>, Space> bodies;
  Array<Body<Real>, Space> low;     ///< low parts of the bodies' coordinates, or none
  Array<Body<Real>, Space> lowest;  ///< what both leave out; in mixed precision for a tolerance
  Array<Body<double>, Space>
      positions;        ///< in place of `bodies`, as the caller has them; DirectSum only
  ChargeFacts charges;  ///< in whose unit the bodies' charges are
};

/// Targets and sources: one set of bodies, or two with the sources at a shift (cells/sets.hpp). What operators are
/// called with.
template <class Space, class Precision, class Shift = OneSet>
struct BodySets {
  static constexpr bool one_set = std::is_same_v<Shift, OneSet>;
  BodyTree<Space, Precision> const &targets, &sources;
  Shift shift = {};

  auto cells() const { return cells_of_sets(targets.octree.cells, sources.octree.cells, shift); }
  auto bodies() const { return of_sets<Shift>(targets.bodies, sources.bodies); }
  auto low() const { return of_sets<Shift>(targets.low, sources.low); }
};

/// Throws unless the trees of two sets are over one cube: their cells are in one grid then.
FMM_NOINLINE inline void check_one_cube(Cube const& targets, Cube const& sources) {
  bool one = targets.edge == sources.edge;
  for (int d = 0; d < 3; ++d) one = one && targets.low[d] == sources.low[d];
  if (!one)
    throw InvalidArgument("the root of the sources' tree", "another cube",
                          "that of the targets' tree");
}

/// Zero sums of the bodies in some tiles: an FMM's have anything in them until L2P.
template <class Space, class Sum>
struct ClearSums {
  Array<Tile, Space> tiles;
  Array<Sums<Sum>, Space> sums;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Tile tile = tiles(i);
    for (int k = 0; k < tile.count; ++k) sums(tile.first + k) = {Sum(0), Sum(0), Sum(0), Sum(0)};
  }
};

}  // namespace fmm::engine
