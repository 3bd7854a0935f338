// SPDX-License-Identifier: BSD-3-Clause
// The mapping of P2M, M2M and M2L, whose targets are cells: a team owns a cell, its threads and their lanes
// each take items of the cell (bodies, children, sources), turn them into contributions to the cell's
// expansion in registers, and the team sums these in a fixed order. What such an operator provides is the
// comment on the concept GatherOperator.
//
// Invariant: a cell's expansion is written by the one team that owns it, a coefficient by one thread, in an
// order of sums that depends on the items and the team's size alone. There are no atomics on results: the
// same bits every time.
#pragma once

#include <algorithm>
#include <concepts>

#include "../../cells/cell.hpp"
#include "../../detail/launch.hpp"
#include "../../tuning.hpp"
#include "../expansion.hpp"

namespace fmm::kernels {

/// The rows of up to W expansions, one a lane.
template <class V>
struct LaneRows {
  using Real = lane_scalar_t<V>;
  static constexpr int W = lane_count_v<V>;
  Real const* row[W];

  /// The first Size numbers of each. Lanes from `count` on become 0.
  template <int Size>
  KOKKOS_FORCEINLINE_FUNCTION void load(int count, V* to) const {
    if constexpr (W == 1) {
      Quad<Real> const* const quads = reinterpret_cast<Quad<Real> const*>(row[0]);
      FMM_UNROLL
      for (int i = 0; i < loop_end<Size>((Size + 3) / 4); ++i) {
        const Quad<Real> quad = quads[i];
        FMM_UNROLL
        for (int k = 0; k < 4; ++k)
          if (4 * i + k < Size) to[4 * i + k] = quad.value[k];
      }
    } else {
      if constexpr (Size < W) {
        for (int k = 0; k < Size; ++k) {
          Real lane[W];
          for (int l = 0; l < W; ++l) lane[l] = row[l][k];
          to[k] = LaneTraits<V>::load(lane);
        }
      } else {
        for (int k = 0; k < Size; k += W) {
          const int first = k + W <= Size ? k : Size - W;
          V square[W];
          for (int l = 0; l < W; ++l) square[l] = LaneTraits<V>::load(row[l] + first);
          transpose(square);
          for (int i = 0; i < W; ++i) to[first + i] = square[i];
        }
      }
      if (count == W) return;
      const V used = select(LaneTraits<V>::iota() < V(Real(count)), V(Real(1)), V(Real(0)));
      for (int k = 0; k < Size; ++k) to[k] *= used;
    }
  }
};

/// Adds the numbers of `count` lanes to that many rows.
template <int Size, int RowLength, class V, class Real>
KOKKOS_FORCEINLINE_FUNCTION void add_to_rows(V const* from, int count, Real* rows) {
  constexpr int W = lane_count_v<V>;
  if constexpr (W == 1) {
    Quad<Real>* const quads = reinterpret_cast<Quad<Real>*>(rows);
    FMM_UNROLL
    for (int i = 0; i < loop_end<Size>((Size + 3) / 4); ++i) {
      Quad<Real> quad = quads[i];
      FMM_UNROLL
      for (int k = 0; k < 4; ++k)
        if (4 * i + k < Size) quad.value[k] += from[4 * i + k];
      quads[i] = quad;
    }
  } else if constexpr (Size < W) {
    for (int k = 0; k < Size; ++k) {
      Real lane[W];
      LaneTraits<V>::store(from[k], lane);
      for (int l = 0; l < count; ++l) rows[l * RowLength + k] += lane[l];
    }
  } else {
    using T = LaneTraits<V>;
    for (int k = 0; k < Size; k += W) {
      const int first = k + W <= Size ? k : Size - W;
      V square[W];  // what was added before is not added again
      for (int i = 0; i < W; ++i) square[i] = first + i < k ? V(Real(0)) : from[first + i];
      transpose(square);
      for (int l = 0; l < count; ++l) {
        Real* const row = rows + l * RowLength + first;
        T::store(T::load(row) + square[l], row);
      }
    }
  }
}

/// out[k] = sum of partial[k] over all lanes and threads of the team; with Add, it is added to what is there. The same
/// of several densities one after the other, whose numbers in `out` are `plane` apart.
template <class Space, class Real, int Size, bool Add = false, int Densities = 1, class V>
KOKKOS_INLINE_FUNCTION void team_sum(TeamMember<Space> const& team, V const* partial, Real* out,
                                     [[maybe_unused]] std::int64_t plane = 0) {
  constexpr int slice = Tuning<Space, Real>::gather_slice;
  const auto give = [&out](int k, Real sum) {
    if constexpr (Add)
      out[k] += sum;
    else
      out[k] = sum;
  };
  if (team.team_size() == 1) {
    for (int d = 0; d < Densities; ++d, partial += Size, out += plane)
      for (int k = 0; k < Size; ++k) give(k, LaneTraits<V>::sum(partial[k]));
    return;
  }
  const int rank = team.team_rank(), width = team.team_size() + 1;  // padded against bank conflicts
  Real* const scratch = scratch_array<Real>(team, 0, slice * width);
  FMM_UNROLL
  for (int d = 0; d < Densities; ++d, partial += Size, out += plane) {
    FMM_UNROLL
    for (int begin = 0; begin < loop_end<Size>(Size); begin += slice) {
      const int count = Size - begin < slice ? Size - begin : slice;
      FMM_UNROLL
      for (int k = 0; k < slice; ++k)
        if (k < count) scratch[k * width + rank] = LaneTraits<V>::sum(partial[begin + k]);
      team.team_barrier();
      for (int k = rank; k < count; k += team.team_size()) {
        Real sum(0);
        for (int r = 0; r < team.team_size(); ++r) sum += scratch[k * width + r];
        give(begin + k, sum);
      }
      team.team_barrier();
    }
  }
}

/// The coefficients of an expansion that is too large for a GPU's registers, for functions that do no more with
/// them than M[k] += .., each k once, and the same k in all threads of the team at the same time: rows of such
/// terms, a coefficient each, wait in scratch memory until there are as many as threads, which then sum a row
/// each in a fixed order and add it to `out`.
template <class Space, class Real>
class TeamTerms {
 public:
  static constexpr int rows = Tuning<Space, Real>::gather_slice;
  static_assert(Tuning<Space, Real>::gather_team == rows);  // on a GPU

  struct Coefficient {
    TeamTerms& terms;
    int k;
    KOKKOS_FORCEINLINE_FUNCTION void operator+=(Real term) const { terms.add(k, term); }
  };

  KOKKOS_FORCEINLINE_FUNCTION TeamTerms(TeamMember<Space> const& member, Real* expansion)
      : team_(member),
        rank_(member.team_rank()),
        out_(expansion),
        scratch_(scratch_array<Real>(member, 0, rows * width)) {}

  KOKKOS_FORCEINLINE_FUNCTION Coefficient operator[](int k) { return {*this, k}; }

  /// For all threads, after the last term.
  KOKKOS_FORCEINLINE_FUNCTION void flush() {
    team_.team_barrier();
    if (rank_ < waiting_) {
      constexpr int chains = 4, length = rows / chains;  // of neighbours, whose terms cancel best
      Real sum[chains] = {};
      FMM_UNROLL
      for (int i = 0; i < length; ++i) {
        FMM_UNROLL
        for (int c = 0; c < chains; ++c) sum[c] += scratch_[rank_ * width + c * length + i];
      }
      out_[coefficient_] += (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
    team_.team_barrier();
    waiting_ = 0;
  }

 private:
  static constexpr int width = rows + 1;  ///< padded against bank conflicts

  KOKKOS_FORCEINLINE_FUNCTION void add(int k, Real term) {
    scratch_[waiting_ * width + rank_] = term;
    if (waiting_ == rank_) coefficient_ = k;
    if (++waiting_ == rows) flush();
  }

  TeamMember<Space> const& team_;
  int rank_;
  Real *out_, *scratch_;
  int waiting_ = 0, coefficient_ = 0;  ///< that the thread sums
};

/// Whether the sums of P2M and P2L are TeamTerms.
template <class Space, class Expansion>
inline constexpr bool sums_terms = false;
template <class Space, class Expansion>
  requires requires { typename Expansion::only_adds; }
inline constexpr bool sums_terms<Space, Expansion> =
    std::is_same_v<typename Expansion::only_adds, Expansion> && !is_host_space_v<Space> &&
    Expansion::size > register_coefficients;

/// Whether an operator's sums are added to what is there; if it says nothing they are not.
template <class Op>
inline constexpr bool adds_v = false;
template <class Op>
  requires requires { Op::adds; }
inline constexpr bool adds_v<Op> = Op::adds;

/// What a sum into cells has, whatever the mapping: owners are the cells, numbered by the operator, and items what is
/// summed into one.
///
///   real             type of the coefficients
///   items(owner)     how many items there are, std::int64_t, 0 or more
///   output(owner)    real*: the owner's expansion, of row_length numbers
///   adds             optional, a constant: whether sums are added to what is there; else (without items, too) they
///                    are set
template <class Op>
concept SumsIntoCells = std::copy_constructible<Op> && requires(Op const op, int owner) {
  typename Op::real;
  { op.items(owner) } -> std::same_as<std::int64_t>;
  { op.output(owner) } -> std::same_as<typename Op::real*>;
};

/// How many expansions an owner has, if an operator says so.
template <class Op>
inline constexpr int densities_v = 1;
template <class Op>
  requires requires { Op::densities; }
inline constexpr int densities_v<Op> = Op::densities;

/// An operator that gathers in registers, beyond SumsIntoCells:
///
///   size             coefficients of an expansion
///   densities, plane   optional: an owner has so many expansions, each so many numbers after the other, and sum[size]
///                    of each follow one another
///   add(owner, first, count, sum)   adds items first .. first + count - 1, of which there are 1 .. W, to sum[size], an
///                    array of V = Lanes<Space, real> with W lanes: an item a lane, and nothing to the others
///
/// A thread calls these alone, for any items of any owner. All members are device code.
template <class Op, class Space>
concept GatherOperator = SumsIntoCells<Op> &&
    requires(Op const op, int owner, std::int64_t first, int count,
             Lanes<Space, typename Op::real>* sum) {
  { Op::size } -> std::convertible_to<int>;
  { op.add(owner, first, count, sum) } -> std::same_as<void>;
};

/// For owner = league rank: out(owner) = sum over items of op.add.
template <class Space, GatherOperator<Space> Op>
struct Gather {
  using Real = typename Op::real;
  using V = Lanes<Space, Real>;
  Op op;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    constexpr int W = lane_count_v<V>;
    constexpr int densities = densities_v<Op>, numbers = densities * Op::size;
    const int owner = team.league_rank();
    V sum[numbers];
    FMM_UNROLL
    for (int k = 0; k < loop_end<numbers>(numbers); ++k) sum[k] = V(Real(0));
    const std::int64_t items = op.items(owner);
    for (std::int64_t first = std::int64_t(team.team_rank()) * W; first < items;
         first += std::int64_t(team.team_size()) * W)
      op.add(owner, first, int(items - first < W ? items - first : W), sum);
    if constexpr (densities == 1)
      team_sum<Space, Real, Op::size, adds_v<Op>>(team, sum, op.output(owner));
    else
      team_sum<Space, Real, Op::size, adds_v<Op>, densities>(team, sum, op.output(owner), op.plane);
  }
};

/// Teams that have the scratch memory of team_sum.
template <class Real, class Space, class Policy = TeamPolicy<Space>>
Policy summing_teams(Space const& space, int teams, int team_size) {
  Policy policy(space, teams, team_size);
  if (team_size > 1)
    add_scratch(policy, 0,
                int(Tuning<Space, Real>::gather_slice * (team_size + 1) * sizeof(Real)) +
                    scratch_alignment);
  return policy;
}

/// Sums for the owners 0 .. owners - 1. Asynchronous; without owners nothing is launched. With `Resident`, teams are
/// Tuning's gather teams, and a GPU's multiprocessor shall hold so many.
template <int Resident = 0, class Space, class Op>
void gather(char const* label, Space const& space, int owners, int team_size, Op const& op) {
  static_assert(GatherOperator<Op, Space>,
                "fmm: an operator that gathers into cells must provide real, size, items(owner), "
                "output(owner) and "
                "add(owner, first, count, sum) (kernels/mapping/gather.hpp)");
  using Real = typename Op::real;
  using Policy = std::conditional_t<
      Resident == 0, TeamPolicy<Space>,
      BoundedTeamPolicy<Space, Tuning<Space, Real>::gather_team, std::max(1, Resident)>>;
  if (owners == 0) return;
  for_teams(label, summing_teams<Real, Space, Policy>(space, owners, team_size),
            Gather<Space, Op>{op});
}

}  // namespace fmm::kernels
