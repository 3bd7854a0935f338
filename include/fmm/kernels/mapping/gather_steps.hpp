// SPDX-License-Identifier: BSD-3-Clause
// The mapping of M2M, M2L and L2L for expansions that are too large for a thread's registers, on a GPU: a team
// owns a cell (L2L: some children) and takes its items some at a time. These lie in scratch memory; a few
// threads translate two of them together, step by step (rotation_steps.hpp). Then every thread adds some
// coefficients over the items. What an operator provides is the comment on the concept TranslationOperator.
//
// Invariant: as in gather.hpp, a coefficient is written by one thread, in a fixed order of sums. There are no
// atomics on results: the same bits every time.
#pragma once

#include "../spherical/rotation_steps.hpp"
#include "gather.hpp"

namespace fmm::kernels {

/// Threads that read neighbouring numbers together.
inline constexpr int warp = 32;

/// Bytes of scratch memory for the expansions and routes of two items a lane.
template <class Real>
constexpr std::size_t step_scratch(int order, int lanes) {
  return std::size_t(coefficient_count(order) + Route<Real>::size) * (lanes + 1) *
             sizeof(Two<Real>) +
         2 * scratch_alignment;
}

/// How many translations of two items a team has at a time: as many as there is scratch memory for.
template <class Space, class Real>
constexpr int step_lanes(int order) {
  constexpr int most = 16, least = 4;
  for (int lanes = most; lanes >= least; lanes /= 2)
    if (step_scratch<Real>(order, lanes) <= Tuning<Space, Real>::team_scratch) return lanes;
  return most;  // in the scratch memory that is not on the multiprocessor
}

/// A team that translates some expansions at a time in scratch memory, two of them by `Split` threads. With two
/// expansions a thread uses every number of a table twice: to read it costs as much as four multiply-adds of doubles.
template <class Space, int Order, Axial Kind, class Real, int Split>
struct TranslationTeam {
  using V = Two<Real>;
  static constexpr int size = coefficient_count(Order);
  /// Translations at a time, and from one coefficient's Two to the next: padded against bank conflicts.
  static constexpr int lanes = step_lanes<Space, Real>(Order), stride = lanes + 1;
  static constexpr int items = 2 * lanes, threads = lanes * Split;
  static constexpr int warps = threads / warp;
  static_assert(threads % warp == 0 && lanes % warps == 0);
  static constexpr std::size_t scratch_bytes = step_scratch<Real>(Order, lanes);
  using Steps = RotationSteps<Order, Split, stride>;
  static constexpr int scratch_level =
      scratch_bytes <= Tuning<Space, Real>::team_scratch ? Tuning<Space, Real>::scratch_level : 1;

  TeamMember<Space> const& team;
  int rank;
  V *numbers, *routes;  ///< coefficient k of items 2 l and 2 l + 1 is numbers[k * stride + l]

  KOKKOS_FORCEINLINE_FUNCTION explicit TranslationTeam(TeamMember<Space> const& member)
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
    const int lane = rank % lanes, share = rank / lanes;
    const auto route = Route<V>::template load<stride>(routes + lane);
    V* const a = numbers + lane;
    FMM_UNROLL_BY(1)
    for (int back = 0; back < 2; ++back) {  // one code for both rotations
      Steps::rotate(route, back, share, a);
      team.team_barrier();
      if (back) break;
      Steps::template shift<Kind>(share, a);
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

/// An operator that translates in steps, beyond SumsIntoCells (gather.hpp):
///
///   source(owner, item)   real const*: the item's expansion
///   route(owner, item)    Route<real>: how it is translated
///
/// A thread calls these alone, for any items of any owner. All members are device code.
template <class Op>
concept TranslationOperator = SumsIntoCells<Op> &&
    requires(Op const op, int owner, std::int64_t item) {
  { op.source(owner, item) } -> std::same_as<typename Op::real const*>;
  { op.route(owner, item) } -> std::same_as<Route<typename Op::real>>;
};

/// For owner = league rank: out(owner) = sum over items of their translations.
template <class Space, int Order, Axial Kind, TranslationOperator Op, int Split>
struct GatherInSteps {
  using Real = typename Op::real;
  using Team = TranslationTeam<Space, Order, Kind, Real, Split>;
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

/// Threads that share a translation: 1 if a thread does all of it, in its registers or on a CPU; else so many that a
/// team is a warp at least.
template <class Space, class Expansion, class Real>
inline constexpr int translation_split = [] {
  constexpr int order = RotationOrder<Expansion>::value;
  if constexpr (order < 0 || Tuning<Space, Real>::translation_threads(order) == 1)
    return 1;
  else
    return std::max(Tuning<Space, Real>::translation_threads(order),
                    warp / step_lanes<Space, Real>(order));
}();

/// One TranslationTeam for each of `count`.
template <class Space, class Functor>
void launch_in_steps(char const* label, Space const& space, int count, Functor const& functor) {
  using Team = typename Functor::Team;
  if (count == 0) return;
  constexpr int teams = Tuning<Space, typename Functor::Real>::translation_teams(
      Team::scratch_level == 0 ? int(Team::scratch_bytes) : 0);
  BoundedTeamPolicy<Space, Team::threads, teams> policy(space, count, Team::threads);
  add_scratch(policy, Team::scratch_level, int(Team::scratch_bytes));
  for_teams(label, policy, functor);
}

/// Sums of translations by whichever mapping suits: `op` is a GatherOperator and a TranslationOperator, for owners
/// 0 .. owners - 1. `team_size` and `Resident` are those of gather. Asynchronous; without owners nothing is launched.
template <Axial Kind, class Expansion, int Resident = 0, class Space, class Op>
void gather_translated(char const* label, Space const& space, int owners, int team_size,
                       Op const& op) {
  static_assert(
      TranslationOperator<Op>,
      "fmm: an operator that translates into cells must provide real, items(owner), output(owner), "
      "source(owner, item) and route(owner, item) (kernels/mapping/gather_steps.hpp)");
  using Real = typename Op::real;
  constexpr int split = translation_split<Space, Expansion, Real>;
  if constexpr (split == 1) {
    gather<Resident>(label, space, owners, team_size, op);
  } else {
    launch_in_steps(label, space, owners,
                    GatherInSteps<Space, RotationOrder<Expansion>::value, Kind, Op, split>{op});
  }
}

}  // namespace fmm::kernels
