// SPDX-License-Identifier: BSD-3-Clause
// How strong the field is that near bodies exert on each other, at a sample of the bodies. Errors of a tolerance count
// relative to the norm of the field, which close pairs may be most of, and no multipole of a large cell knows of these:
// a limit that was found for other bodies holds as long as this is no weaker.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "../engine/body_tree.hpp"
#include "../kernels/mapping/tile.hpp"
#include "constants.hpp"

namespace fmm::tolerance {

/// The root mean square of the field that the bodies of a tile exert on each other, by 1 / r with Plummer's softening,
/// in units of charge / (edge of the cube)^2; of one tile of every so many.
template <class Space, class Real>
struct NearStrengths {
  using V = Lanes<Space, Real>;
  static constexpr int W = lane_count_v<V>;
  Array<Cell, Space> cells;
  Array<Tile, Space> tiles;
  Array<Body<Real>, Space> bodies, low;  ///< `low`: of coordinates in two parts, or none
  double softening;                      ///< in edges of the cube
  Array<float, Space> strengths;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const auto all = std::int64_t(tiles.extent(0)), some = std::int64_t(strengths.extent(0));
    const Tile tile = tiles(team.league_rank() * all / some);
    const double edge = edge_of_level<double>(cells(tile.cell).level);
    // a double that depends on Space: Kokkos's reducer is compiled where it is used
    using Square = decltype(double(strengths(0)));
    Square squares = 0;
    reduce_in_team(
        team, (tile.count + W - 1) / W,
        [&](int i, double& sum) {
          sum += squares_of(tile, i * W, V(Real(softening * softening / (edge * edge))));
        },
        Kokkos::Sum<Square>(squares));
    if (team.team_rank() > 0) return;
    constexpr double most = 1e30;  // of a float; bodies at one point may exert anything
    strengths(team.league_rank()) =
        float(std::fmin(std::sqrt(squares / tile.count) / (edge * edge), most));
  }

 private:
  /// Of up to W bodies of the tile, in edges of its leaf.
  KOKKOS_FUNCTION double squares_of(Tile const& tile, int first, V softening2) const {
    using simd::rsqrt;
    // what it adds to r^2 is nothing, and keeps 1 / r^3 of a body and itself finite
    constexpr Real least = sizeof(Real) == 4 ? Real(1e-24) : Real(1e-180);
    const int count = tile.count - first < W ? tile.count - first : W;
    const LaneBodies<V> at(&bodies(tile.first + first), count);
    const bool two_parts = low.extent(0) > 0;
    const LaneBodies<V> rest(two_parts ? &low(tile.first + first) : &bodies(tile.first + first),
                             count);
    V x(Real(0)), y = x, z = x;
    for (BodyIndex k = tile.first; k < tile.first + tile.count; ++k) {
      const Body<Real> b = bodies(k);
      V dx = at.x - V(b.x), dy = at.y - V(b.y), dz = at.z - V(b.z);
      if (two_parts) {
        const Body<Real> l = low(k);
        dx += rest.x - V(l.x);
        dy += rest.y - V(l.y);
        dz += rest.z - V(l.z);
      }
      const V u = rsqrt(dx * dx + dy * dy + dz * dz + softening2 + V(least)),
              w = V(b.q) * u * u * u;
      x += w * dx;
      y += w * dy;
      z += w * dz;
    }
    using T = LaneTraits<V>;
    Real field[3][W];
    T::store(x, field[0]);
    T::store(y, field[1]);
    T::store(z, field[2]);
    double sum = 0;
    for (int l = 0; l < count; ++l)
      for (int d = 0; d < 3; ++d) sum += double(field[d][l]) * double(field[d][l]);
    return sum;
  }
};

/// Tiles of the sample, for a tree of so many.
inline std::int64_t tiles_of_strength(std::int64_t tiles) {
  return std::min(tiles, std::clamp(tiles / constants.share_of_near_tiles,
                                    constants.least_near_tiles, constants.most_near_tiles));
}

/// Sets `strengths`, which is tiles_of_strength(tiles) long. Cost: the pairs of bodies within so many tiles.
template <class Space, class Precision>
void near_strengths(Space const& space, engine::BodyTree<Space, Precision> const& tree,
                    double softening, Array<float, Space> strengths) {
  using Real = real_t<Precision>;
  for_teams("fmm::near_strengths",
            TeamPolicy<Space>(space, int(strengths.extent(0)), Tuning<Space, Real>::tile_team),
            NearStrengths<Space, Real>{tree.octree.cells, tree.octree.tiles, tree.bodies, tree.low,
                                       softening / tree.cube.edge, strengths});
}

/// The root mean square over the sample, but for the tiles where it is strongest: of these few draws differ by far.
FMM_NOINLINE inline double usual_strength(std::vector<float> strengths) {
  const auto usual =
      std::max<std::size_t>(1, std::size_t(constants.usual_tiles * double(strengths.size())));
  if (usual < strengths.size())
    std::nth_element(strengths.begin(), strengths.begin() + std::ptrdiff_t(usual), strengths.end());
  double squares = 0;
  for (std::size_t i = 0; i < usual && i < strengths.size(); ++i)
    squares += double(strengths[i]) * double(strengths[i]);
  return std::sqrt(squares / double(usual));
}

}  // namespace fmm::tolerance
