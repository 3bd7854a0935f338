// SPDX-License-Identifier: BSD-3-Clause
// The pattern of M2M and M2L for expansions that are too large for a thread's registers, on a GPU: a team
// owns a cell and takes its items 32 at a time. These lie in scratch memory, a lane (thread of a warp) an
// item, and the team's warps, the parts, translate them step by step (rotation_parts.hpp). Then every
// thread adds some coefficients over the items, in a fixed order. No atomics; the same bits every time.
#pragma once

#include "gather.hpp"
#include "rotation_parts.hpp"

namespace fmm::detail {

/// A team of `Parts` warps that translates up to 32 expansions at a time in scratch memory.
template <class Space, int Order, Axial Kind, class Real, int Parts>
struct PartsTeam {
  static constexpr int lanes = 32, threads = lanes * Parts;
  static constexpr int stride = lanes + 1;  ///< padded against bank conflicts
  static constexpr int size = coefficient_count(Order);
  static constexpr std::size_t scratch_bytes =
      (size + Route<Real>::size) * stride * sizeof(Real) + 2 * scratch_alignment;
  static constexpr int scratch_level =
      scratch_bytes <= Tuning<Space, Real>::team_scratch ? Tuning<Space, Real>::scratch_level : 1;

  TeamMember<Space> const& team;
  int lane, part;
  Real *numbers, *routes;  ///< coefficient k of item l is numbers[k * stride + l]

  KOKKOS_FORCEINLINE_FUNCTION explicit PartsTeam(TeamMember<Space> const& member)
      : team(member),
        lane(member.team_rank() % lanes),
        part(member.team_rank() / lanes),
        numbers(scratch_array<Real>(member, scratch_level, size * stride)),
        routes(scratch_array<Real>(member, scratch_level, Route<Real>::size * stride)) {}

  /// Translates items 0 .. count - 1, from source(item) along route(item), into `numbers`; those of the
  /// lanes from `count` on become 0. For all threads of the team; it begins and ends with a barrier.
  template <class Source, class ToRoute>
  KOKKOS_FORCEINLINE_FUNCTION void translate(int count, Source const& source,
                                             ToRoute const& to_route) const {
    team.team_barrier();
    if (part == 0) to_route(lane < count ? lane : 0).template store<stride>(routes + lane);
    // the parts take turns at items; an item's numbers go to as many threads
    FMM_UNROLL_BY(4)
    for (int i = 0; i < lanes / Parts; ++i) {
      const int item = i * Parts + part;
      Real const* const from = source(item < count ? item : 0);
      FMM_UNROLL
      for (int k = 0; k < (size + lanes - 1) / lanes; ++k)
        if (k * lanes + lane < size)
          numbers[(k * lanes + lane) * stride + item] =
              item < count ? from[k * lanes + lane] : Real(0);
    }
    team.team_barrier();
    const auto route = Route<Real>::template load<stride>(routes + lane);
    Real* const a = numbers + lane;
    FMM_UNROLL_BY(1)
    for (int back = 0; back < 2; ++back) {  // one code for both rotations
      for_part([&](auto p) { PartSteps<Order, Parts, p.value, stride>::rotate(route, back, a); });
      team.team_barrier();
      if (back) break;
      for_part([&](auto p) { PartSteps<Order, Parts, p.value, stride>::template shift<Kind>(a); });
      team.team_barrier();
    }
  }

 private:
  /// f with the thread's part as a constant.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_part(F const& f) const {
    for_constants<Parts>([&](auto p) {
      if (part == p.value) f(p);
    });
  }
};

/// For owner = league rank: out(owner) = sum over items of their translations. `Op` provides
///   static constexpr int size, row;  using real;   numbers of an expansion, and from one to the next
///   int items(owner);  Real* output(owner);
///   Real const* source(owner, item);          the item's expansion
///   Route<Real> route(owner, item);           and how it is translated
template <class Space, int Order, Axial Kind, class Op, int Parts>
struct GatherParts {
  using Real = typename Op::real;
  using Team = PartsTeam<Space, Order, Kind, Real, Parts>;
  static constexpr int threads = Team::threads, stride = Team::stride;
  static constexpr int size = Team::size, own = (size + threads - 1) / threads;
  Op op;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& member) const {
    const int owner = member.league_rank(), rank = member.team_rank();
    const Team team(member);
    Real sum[own];  // of coefficients rank, rank + threads, ...
    FMM_UNROLL
    for (int i = 0; i < own; ++i) sum[i] = Real(0);
    const std::int64_t items = op.items(owner);
    for (std::int64_t first = 0; first < items; first += Team::lanes) {
      const int count = int(items - first < Team::lanes ? items - first : Team::lanes);
      team.translate(
          count, [&](int i) { return op.source(owner, first + i); },
          [&](int i) { return op.route(owner, first + i); });
      FMM_UNROLL
      for (int i = 0; i < own; ++i)
        if (i * threads + rank < size)
          sum[i] += row_sum(team.numbers + (i * threads + rank) * stride);
    }
    Real* const out = op.output(owner);
    FMM_UNROLL
    for (int i = 0; i < own; ++i)
      if (i * threads + rank < size) out[i * threads + rank] = sum[i];
  }

 private:
  /// Of a coefficient over all lanes, in four chains of additions.
  KOKKOS_FORCEINLINE_FUNCTION static Real row_sum(Real const* row) {
    Real sum[4];
    FMM_UNROLL
    for (int c = 0; c < 4; ++c) sum[c] = row[c];
    FMM_UNROLL
    for (int l = 4; l < Team::lanes; ++l) sum[l % 4] += row[l];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
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

/// The parts of a translation: 1 if a thread does all of it, in its registers or on a CPU.
template <class Space, class Expansion, class Real>
inline constexpr int parts_of =
    RotationOrder<Expansion>::value < 0
        ? 1
        : Tuning<Space, Real>::translation_parts(RotationOrder<Expansion>::value);

/// One PartsTeam for each of `count`.
template <class Space, class Functor>
void launch_parts(std::string const& label, Space const& space, int count, Functor const& functor) {
  using Team = typename Functor::Team;
  if (count == 0) return;
  constexpr int teams = Tuning<Space, typename Functor::Real>::parts_teams(
      Team::scratch_level == 0 ? int(Team::scratch_bytes) : 0);
  BoundedTeamPolicy<Space, Team::threads, teams> policy(space, count, Team::threads);
  policy.set_scratch_size(Team::scratch_level, Kokkos::PerTeam(int(Team::scratch_bytes)));
  Kokkos::parallel_for(label, policy, functor);
}

/// Sums of translations by whichever pattern suits; `team_size` is that of gather.
template <Axial Kind, class Expansion, class Space, class Op>
void gather_translated(std::string const& label, Space const& space, int owners, int team_size,
                       Op const& op) {
  using Real = typename Op::real;
  constexpr int parts = parts_of<Space, Expansion, Real>;
  if constexpr (parts == 1) {
    gather(label, space, owners, team_size, op);
  } else {
    launch_parts(label, space, owners,
                 GatherParts<Space, RotationOrder<Expansion>::value, Kind, Op, parts>{op});
  }
}

}  // namespace fmm::detail
