// SPDX-License-Identifier: BSD-3-Clause
// The pattern of M2M and M2L for expansions that are too large for a thread's registers, on a GPU: a team
// owns a cell and takes its items some at a time. These lie in scratch memory; a few threads, the parts,
// translate two of them step by step (rotation_parts.hpp). Then every thread adds some
// coefficients over the items, in a fixed order. No atomics; the same bits every time.
#pragma once

#include "../spherical/rotation_parts.hpp"
#include "gather.hpp"

namespace fmm::kernels {

/// Threads that read neighbouring numbers together.
inline constexpr int warp = 32;

/// Bytes of scratch memory for the expansions and routes of two items a lane.
template <class Real>
constexpr std::size_t parts_scratch(int order, int lanes) {
  return std::size_t(coefficient_count(order) + Route<Real>::size) * (lanes + 1) *
             sizeof(Two<Real>) +
         2 * scratch_alignment;
}

/// As many threads a part as there is scratch memory for.
template <class Space, class Real>
constexpr int parts_lanes(int order) {
  constexpr int most = 16, least = 4;
  for (int lanes = most; lanes >= least; lanes /= 2)
    if (parts_scratch<Real>(order, lanes) <= Tuning<Space, Real>::team_scratch) return lanes;
  return most;  // in the scratch memory that is not on the multiprocessor
}

/// A team that translates some expansions at a time in scratch memory, in so many parts. With two expansions a
/// thread uses every number of a table twice: to read it costs as much as four multiply-adds of doubles.
template <class Space, int Order, Axial Kind, class Real, int Parts>
struct PartsTeam {
  using V = Two<Real>;
  static constexpr int size = coefficient_count(Order);
  /// Threads of a part, and from one coefficient's Two to the next: padded against bank conflicts.
  static constexpr int lanes = parts_lanes<Space, Real>(Order), stride = lanes + 1;
  static constexpr int items = 2 * lanes, threads = lanes * Parts;
  static constexpr int warps = threads / warp;
  static_assert(threads % warp == 0 && lanes % warps == 0);
  static constexpr std::size_t scratch_bytes = parts_scratch<Real>(Order, lanes);
  using Steps = PartSteps<Order, Parts, stride>;
  static constexpr int scratch_level =
      scratch_bytes <= Tuning<Space, Real>::team_scratch ? Tuning<Space, Real>::scratch_level : 1;

  TeamMember<Space> const& team;
  int rank;
  V *numbers, *routes;  ///< coefficient k of items 2 l and 2 l + 1 is numbers[k * stride + l]

  KOKKOS_FORCEINLINE_FUNCTION explicit PartsTeam(TeamMember<Space> const& member)
      : team(member),
        rank(member.team_rank()),
        numbers(scratch_array<V>(member, scratch_level, size * stride)),
        routes(scratch_array<V>(member, scratch_level, Route<V>::size * stride)) {}

  /// Translates items 0 .. count - 1, from source(item) along route(item), into `numbers`; those from `count`
  /// on become 0. For all threads of the team; it begins and ends with a barrier.
  template <class Source, class ToRoute>
  KOKKOS_FORCEINLINE_FUNCTION void translate(int count, Source const& source,
                                             ToRoute const& to_route) const {
    team.team_barrier();
    if (rank < items)
      to_route(rank < count ? rank : 0)
          .template store<2 * stride>(reinterpret_cast<Real*>(routes) + rank);
    // the warps take turns at pairs of items; an item's numbers go to as many threads
    FMM_UNROLL_BY(2)
    for (int i = 0; i < lanes / warps; ++i) {
      const int pair = i * warps + rank / warp;
      const bool first = 2 * pair < count, second = 2 * pair + 1 < count;
      Real const *const from = source(first ? 2 * pair : 0), *const from_second =
                                                                 source(second ? 2 * pair + 1 : 0);
      FMM_UNROLL
      for (int begin = 0; begin < size; begin += warp) {
        const int k = begin + rank % warp;
        if (k < size)
          numbers[k * stride + pair] = {first ? load_once(from + k) : Real(0),
                                        second ? load_once(from_second + k) : Real(0)};
      }
    }
    team.team_barrier();
    const int lane = rank % lanes, part = rank / lanes;
    const auto route = Route<V>::template load<stride>(routes + lane);
    V* const a = numbers + lane;
    FMM_UNROLL_BY(1)
    for (int back = 0; back < 2; ++back) {  // one code for both rotations
      Steps::rotate(route, back, part, a);
      team.team_barrier();
      if (back) break;
      Steps::template shift<Kind>(part, a);
      team.team_barrier();
    }
  }

  /// Coefficient k of an item.
  KOKKOS_FORCEINLINE_FUNCTION Real number(int k, int item) const {
    return numbers[k * stride + item / 2].value[item % 2];
  }
  /// Sum of coefficient k over all items, in four chains of additions.
  KOKKOS_FORCEINLINE_FUNCTION Real sum(int k) const {
    V const* const row = numbers + k * stride;
    V even = row[0], odd = row[1];
    FMM_UNROLL
    for (int l = 2; l < lanes; l += 2) {
      even += row[l];
      odd += row[l + 1];
    }
    even += odd;
    return even.value[0] + even.value[1];
  }
};

/// For owner = league rank: out(owner) = sum over items of their translations. `Op` provides
///   static constexpr int size, row;  using real;   numbers of an expansion, and from one to the next
///   int items(owner);  Real* output(owner);
///   Real const* source(owner, item);          the item's expansion
///   Route<Real> route(owner, item);           and how it is translated
///   static constexpr bool adds   as in Gather
template <class Space, int Order, Axial Kind, class Op, int Parts>
struct GatherParts {
  using Real = typename Op::real;
  using Team = PartsTeam<Space, Order, Kind, Real, Parts>;
  static constexpr int threads = Team::threads;
  static constexpr int size = Team::size, own = (size + threads - 1) / threads;
  Op op;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& member) const {
    const int owner = member.league_rank(), rank = member.team_rank();
    const Team team(member);
    Real sum[own];  // of coefficients rank, rank + threads, ...
    FMM_UNROLL
    for (int i = 0; i < own; ++i) sum[i] = Real(0);
    const std::int64_t items = op.items(owner);
    for (std::int64_t first = 0; first < items; first += Team::items) {
      const int count = int(items - first < Team::items ? items - first : Team::items);
      team.translate(
          count, [&](int i) { return op.source(owner, first + i); },
          [&](int i) { return op.route(owner, first + i); });
      FMM_UNROLL
      for (int i = 0; i < own; ++i)
        if (i * threads + rank < size) sum[i] += team.sum(i * threads + rank);
    }
    Real* const out = op.output(owner);
    FMM_UNROLL
    for (int i = 0; i < own; ++i) {
      const int k = i * threads + rank;
      if (k < size) out[k] = adds_v<Op> ? out[k] + sum[i] : sum[i];
    }
  }
};

/// How an expansion is translated: by Rotation, of which order?
template <class Expansion>
struct RotationOrder {
  static constexpr int value = -1;  // otherwise
};
template <int Order, class Real>
struct RotationOrder<SphericalExpansion<Order, Real, Rotation>> {
  static constexpr int value = Order;
};

/// The parts of a translation: 1 if a thread does all of it, in its registers or on a CPU; else a warp of threads
/// at least.
template <class Space, class Expansion, class Real>
inline constexpr int parts_of = [] {
  constexpr int order = RotationOrder<Expansion>::value;
  if constexpr (order < 0 || Tuning<Space, Real>::translation_parts(order) == 1)
    return 1;
  else
    return std::max(Tuning<Space, Real>::translation_parts(order),
                    warp / parts_lanes<Space, Real>(order));
}();

/// One PartsTeam for each of `count`.
template <class Space, class Functor>
void launch_parts(char const* label, Space const& space, int count, Functor const& functor) {
  using Team = typename Functor::Team;
  if (count == 0) return;
  constexpr int teams = Tuning<Space, typename Functor::Real>::parts_teams(
      Team::scratch_level == 0 ? int(Team::scratch_bytes) : 0);
  BoundedTeamPolicy<Space, Team::threads, teams> policy(space, count, Team::threads);
  policy.set_scratch_size(Team::scratch_level, Kokkos::PerTeam(int(Team::scratch_bytes)));
  for_teams(label, policy, functor);
}

/// Sums of translations by whichever pattern suits; `team_size` and `Resident` are those of gather.
template <Axial Kind, class Expansion, int Resident = 0, class Space, class Op>
void gather_translated(char const* label, Space const& space, int owners, int team_size,
                       Op const& op) {
  using Real = typename Op::real;
  constexpr int parts = parts_of<Space, Expansion, Real>;
  if constexpr (parts == 1) {
    gather<Resident>(label, space, owners, team_size, op);
  } else {
    launch_parts(label, space, owners,
                 GatherParts<Space, RotationOrder<Expansion>::value, Kind, Op, parts>{op});
  }
}

}  // namespace fmm::kernels
