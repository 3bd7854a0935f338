// SPDX-License-Identifier: BSD-3-Clause
// The mapping of P2P, M2P and L2P, whose targets are bodies: a team works on a tile, some bodies of one
// leaf, so that targets of one cell never share a tile with another's. What such an operator provides is the
// comment on the concept TileAction. In M2P and L2P the lanes of a thread hold W bodies of the tile.
//
// Invariant: a body's sums are written by the one team that owns them, a tile's or a further segment's
// (split_rows.hpp), each by one thread. There are no atomics on results.
#pragma once

#include <algorithm>
#include <concepts>

#include "../../cells/cell.hpp"
#include "../../detail/launch.hpp"
#include "../../tuning.hpp"
#include "../hessian.hpp"
#include "../strengths.hpp"

namespace fmm::kernels {

/// An operator on tiles: a functor for teams, each of which sums for one tile.
///
///   team_size        threads of a team
///   resident         teams that a GPU's multiprocessor shall hold, which bounds a thread's registers; 0: as the
///                    compiler likes
///   scratch_level, scratch_bytes   the team's scratch memory, with scratch_alignment more for each array of it
///   action(team)     sums for tile number team.league_rank(), by all threads of the team
template <class Action, class Space>
concept TileAction = requires(Action const action, TeamMember<Space> const& team) {
  { Action::team_size } -> std::convertible_to<int>;
  { Action::resident } -> std::convertible_to<int>;
  { Action::scratch_level } -> std::convertible_to<int>;
  { Action::scratch_bytes } -> std::convertible_to<std::size_t>;
  { action(team) } -> std::same_as<void>;
};

/// action(team) for each of so many tiles. Asynchronous; without tiles nothing is launched.
template <class Space, class Action>
void for_tiles(char const* label, Space const& space, std::int64_t tiles, Action const& action) {
  static_assert(TileAction<Action, Space>,
                "fmm: an operator on tiles must provide team_size, resident, scratch_level, "
                "scratch_bytes and "
                "operator()(team) -> void (kernels/mapping/tile.hpp)");
  using Policy = std::conditional_t<
      Action::resident == 0, TeamPolicy<Space>,
      BoundedTeamPolicy<Space, Action::team_size, std::max(1, Action::resident)>>;
  if (tiles == 0) return;
  Policy policy(space, int(tiles), Action::team_size);
  add_scratch(policy, Action::scratch_level, Action::scratch_bytes);
  for_teams(label, policy, action);
}

/// W bodies of a tile, one a lane; lanes beyond the tile repeat its last body and are not stored.
template <class V>
struct LaneBodies {
  using Real = lane_scalar_t<V>;
  static constexpr int W = lane_count_v<V>;
  V x, y, z;

  KOKKOS_FORCEINLINE_FUNCTION LaneBodies(Body<Real> const* body, int count) {
    if constexpr (W == 1) {
      x = body->x;
      y = body->y;
      z = body->z;
    } else {
      Real a[3][W];
      for (int l = 0; l < W; ++l) {
        const Body<Real>& b = body[l < count ? l : count - 1];
        a[0][l] = b.x;
        a[1][l] = b.y;
        a[2][l] = b.z;
      }
      x = LaneTraits<V>::load(a[0]);
      y = LaneTraits<V>::load(a[1]);
      z = LaneTraits<V>::load(a[2]);
    }
  }
};

/// Adds potentials, and fields = -gradients, of the first `count` lanes to the bodies' sums, one of the records of
/// each; or sets these, the first time. With `IsHessian` the four are numbers of a Hessian, and taken as they are.
template <class Out, bool First = false, bool IsHessian = false, class V, class Sum>
KOKKOS_FORCEINLINE_FUNCTION void add_lanes(Sums<Sum>* sums, int count,
                                           PotentialGradient<V> const& value) {
  constexpr int W = lane_count_v<V>;
  lane_scalar_t<V> a[4][W];
  using T = LaneTraits<V>;
  T::store(value.potential, a[0]);
  T::store(value.x, a[1]);
  T::store(value.y, a[2]);
  T::store(value.z, a[3]);
  for (int l = 0; l < count; ++l) {
    Sums<Sum> s = {};
    if constexpr (!First) s = sums[l * Out::records];
    if constexpr (Out::potential || IsHessian) s.potential += a[0][l];
    if constexpr (IsHessian) {
      s.x += a[1][l];
      s.y += a[2][l];
      s.z += a[3][l];
    } else if constexpr (Out::field) {
      s.x -= a[1][l];
      s.y -= a[2][l];
      s.z -= a[3][l];
    }
    sums[l * Out::records] = s;
  }
}

/// The same of all records of a density, of which `sums` is the first.
template <class Out, bool First = false, class Value, class Sum>
KOKKOS_FORCEINLINE_FUNCTION void add_records(Sums<Sum>* sums, int count, Value const& value) {
  add_lanes<Out, First>(sums, count, record_of(value, 0));
  FMM_UNROLL
  for (int r = 1; r < Out::of_density; ++r)
    add_lanes<Out, First, true>(sums + r, count, record_of(value, r));
}

}  // namespace fmm::kernels
