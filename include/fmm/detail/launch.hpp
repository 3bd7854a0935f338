// SPDX-License-Identifier: BSD-3-Clause
// How kernels start: over a range, over items whose cost is uneven, over teams, in order, and scans. A host's threads
// share the items here, inside one parallel_for over the threads that is compiled for all kernels; where the cost is
// uneven each begins with a share of neighbours and helps the others when it is done. On a device they are Kokkos's
// own. Kokkos's OpenMP threads meet before they share out teams, with 3.4 uneven ranges, too, and again in the middle
// of a scan, and wait for each other asleep: with 16 threads that took longer than most of a build's kernels
// (docs/design.md, measured choices).
#pragma once

#include <algorithm>
#include <atomic>
#include <new>

#include "../errors.hpp"
#include "give_way.hpp"
#include "kokkos_compat.hpp"

namespace fmm::detail {

/// Of a cache: what is on lines of its own is not waited for by threads that write elsewhere.
struct alignas(64) Line {
  char bytes[64];
};

/// Who has memory of the calling thread; each has a piece of its own.
enum class ThreadMemory { shares, values, pieces };

/// Memory of the calling thread, kept from kernel to kernel. Contents are lost. Throws OutOfMemory.
FMM_NOINLINE inline Line* thread_memory(ThreadMemory whose, std::size_t lines) {
  struct Piece {
    Line* first = nullptr;
    std::size_t lines = 0;
    ~Piece() { delete[] first; }
  };
  thread_local Piece pieces[int(ThreadMemory::pieces)];
  Piece& piece = pieces[int(whose)];
  if (piece.lines < lines) {
    delete[] piece.first;
    piece.lines = 0;
    piece.first = new (std::nothrow) Line[lines];
    if (!piece.first) throw OutOfMemory("fmm::threads", lines * sizeof(Line));
    piece.lines = lines;
  }
  return piece.first;
}

/// What a thread begins with, and others help it to finish.
struct Share {
  std::atomic<std::int64_t> next;
  std::int64_t end;
  // in place of alignas, for which nvcc knows no placement new
  char rest[sizeof(Line) - sizeof next - sizeof end];
};
static_assert(sizeof(Share) == sizeof(Line));

/// Calls body(thread, begin, end) for pieces of all shares, the thread's own first.
template <class Body>
struct WorkOnShares {
  Body const& body;
  Share* shares;
  int count;
  std::int64_t chunk;

  void operator()(std::int64_t thread) const {
    for (int k = 0; k < count; ++k) {
      Share& share = shares[(thread + k) % count];
      while (true) {
        const std::int64_t begin = share.next.fetch_add(chunk, std::memory_order_relaxed);
        if (begin >= share.end) break;
        body(thread, begin, std::min(begin + chunk, share.end));
      }
    }
  }
};

inline void start_on_threads(char const* label, Host const& host, int threads, OnThreads const& f) {
  host.start(label, threads, f);
}

/// f(thread) once for each of so many threads.
template <class Space, class F>
void on_threads(char const* label, Space const& space, int threads, F const& f) {
  const auto call = [](void const* f, std::int64_t thread) { (*static_cast<F const*>(f))(thread); };
  start_on_threads(label, space, threads, OnThreads{&f, call});
}

/// body(thread, begin, end) for pieces of 0 .. count - 1, of `chunk` items at most.
template <class Space, class Body>
void for_shares(char const* label, Space const& space, std::int64_t count, std::int64_t chunk,
                Body const& body) {
  if (count == 0) return;
  const int threads = space.concurrency();
  auto* const shares = reinterpret_cast<Share*>(thread_memory(ThreadMemory::shares, threads));
  for (int t = 0; t < threads; ++t)
    new (shares + t) Share{{count * t / threads}, count * (t + 1) / threads, {}};
  on_threads(label, space, threads, WorkOnShares<Body>{body, shares, threads, chunk});
}

/// Each thread has a share of neighbours and no more.
template <class Functor>
struct EvenShares {
  Functor const& functor;
  std::int64_t count;
  int threads;

  void operator()(std::int64_t thread) const {
    const std::int64_t end = count * (thread + 1) / threads;
    for (std::int64_t i = count * thread / threads; i < end; ++i) functor(i);
  }
};

template <class Functor>
struct OneByOne {
  Functor const& functor;
  void operator()(std::int64_t, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t i = begin; i < end; ++i) functor(i);
  }
};

/// A thread alone, with what Kokkos's team members have that functors use.
class TeamOfOne {
 public:
  static constexpr int alignment = alignof(Line);

  KOKKOS_INLINE_FUNCTION TeamOfOne(int rank, int league, Line* scratch)
      : rank_(rank), league_(league), next_(scratch) {}

  KOKKOS_INLINE_FUNCTION int league_rank() const { return rank_; }
  KOKKOS_INLINE_FUNCTION int league_size() const { return league_; }
  KOKKOS_INLINE_FUNCTION static constexpr int team_rank() { return 0; }
  KOKKOS_INLINE_FUNCTION static constexpr int team_size() { return 1; }
  KOKKOS_INLINE_FUNCTION static constexpr void team_barrier() {}
  template <class Reducer>
  KOKKOS_INLINE_FUNCTION static constexpr void team_reduce(Reducer const&) {}
  template <class T>
  KOKKOS_INLINE_FUNCTION static constexpr T team_scan(T const&) {
    return T(0);
  }
  KOKKOS_INLINE_FUNCTION TeamOfOne const& team_scratch(int) const { return *this; }
  /// The next so many bytes, on a line of their own.
  KOKKOS_INLINE_FUNCTION void* get_shmem_aligned(std::size_t bytes, std::size_t) const {
    Line* const first = next_;
    next_ += (bytes + alignment - 1) / alignment;
    return first;
  }

 private:
  int rank_, league_;
  mutable Line* next_;
};

/// The teams of a policy.
template <class Functor>
struct TeamsOfOne {
  Functor const& functor;
  int league;
  std::size_t lines;  ///< of scratch memory that a team has
  Line* scratch;      ///< of all threads

  void operator()(std::int64_t thread, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t r = begin; r < end; ++r)
      functor(TeamOfOne(int(r), league, scratch + lines * thread));
  }
};

template <class Space>
struct TeamMemberOf {
  using type = typename TeamPolicy<Space>::member_type;
};
template <class Space>
  requires is_host_space_v<Space>
struct TeamMemberOf<Space> {
  using type = TeamOfOne;
};
template <class Space>
using TeamMember = typename TeamMemberOf<Space>::type;

/// functor(i) for i of 0 .. count - 1, which cost about the same time.
template <class Space, class Functor>
void for_range(char const* label, Space const& space, std::int64_t count, Functor const& functor) {
  if constexpr (is_host_space_v<Space>) {
    const int threads = int(std::min<std::int64_t>(count, space.concurrency()));
    if (threads > 0)
      on_threads(label, space, threads, EvenShares<Functor>{functor, count, threads});
  } else {
    Kokkos::parallel_for(label, range(space, count), functor);
  }
}

/// functor(i) for i of 0 .. count - 1, which cost very different time; a host's free thread takes the next `chunk` of
/// them.
template <class Space, class Functor>
void for_uneven(char const* label, Space const& space, std::int64_t count, int chunk,
                Functor const& functor) {
  if constexpr (is_host_space_v<Space>)
    for_shares(label, space, count, chunk, OneByOne<Functor>{functor});
  else
    Kokkos::parallel_for(label,
                         Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>,
                                             Kokkos::Schedule<Kokkos::Dynamic>>(
                             space, 0, count, Kokkos::ChunkSize(chunk)),
                         functor);
}

/// functor(team) for each team of the policy; a host's teams have one thread.
template <class Policy, class Functor>
void for_teams(char const* label, Policy const& policy, Functor const& functor) {
  using Space = typename Policy::execution_space;
  if constexpr (is_host_space_v<Space>) {
    constexpr std::int64_t pieces = 256, most = 16;  // of a thread's share; teams at a time
    const int league = policy.league_size();
    const std::size_t lines = policy.scratch_size() / TeamOfOne::alignment + 1;
    Space const& space = policy.space();
    Line* const scratch = thread_memory(ThreadMemory::values, lines * space.concurrency());
    for_shares(label, space, league,
               std::clamp<std::int64_t>(league / (pieces * space.concurrency()), 1, most),
               TeamsOfOne<Functor>{functor, league, lines, scratch});
  } else {
    Kokkos::parallel_for(label, policy, functor);
  }
}

/// A sum over the team's threads, for all of them. A thread alone has it, and takes no reducer of Kokkos's: each costs
/// a program that uses the library compilation.
template <class T, class Team>
KOKKOS_FORCEINLINE_FUNCTION void sum_over_team([[maybe_unused]] Team const& team,
                                               [[maybe_unused]] T& value) {
  if constexpr (!std::is_same_v<Team, TeamOfOne>) team.team_reduce(Kokkos::Sum<T>(value));
}

/// The least of the threads' numbers, for all of them.
template <class T, class Team>
KOKKOS_FORCEINLINE_FUNCTION void least_over_team([[maybe_unused]] Team const& team,
                                                 [[maybe_unused]] T& value) {
  if constexpr (!std::is_same_v<Team, TeamOfOne>) team.team_reduce(Kokkos::Min<T>(value));
}

/// reducer's value = that of f(i, value) for i of 0 .. count - 1, for all threads of the team.
template <class Team, class F, class Reducer>
KOKKOS_FORCEINLINE_FUNCTION void reduce_in_team(Team const& team, int count, F const& f,
                                                Reducer const& reducer) {
  if constexpr (std::is_same_v<Team, TeamOfOne>) {
    reducer.init(reducer.reference());
    for (int i = 0; i < count; ++i) f(i, reducer.reference());
  } else {
    Kokkos::parallel_reduce(Kokkos::TeamThreadRange(team, count), f, reducer);
  }
}

/// The next item, and again until there is none.
template <class Functor>
struct TakeInSequence {
  Functor const& functor;
  std::int64_t count;
  std::atomic<std::int64_t>& next;

  void operator()(std::int64_t) const {
    for (std::int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) functor(i);
  }
};

/// functor(i) for i of 0 .. count - 1, of which each begins after those before it and may wait for what they do. For
/// hosts; on return all is done.
template <class Space, class Functor>
void for_in_sequence(char const* label, Space const& space, std::int64_t count,
                     Functor const& functor) {
  static_assert(is_host_space_v<Space>);
  std::atomic<std::int64_t> next = 0;
  for_range(label, space, std::min<std::int64_t>(count, space.concurrency()),
            TakeInSequence<Functor>{functor, count, next});
  space.fence();
}

/// A value that the items of for_in_sequence hand on from one to the next.
template <class Value>
class HandedOn {
 public:
  explicit HandedOn(Value const& first) : value_(first) {}

  /// Waits for the items before i; add(value) makes what the next one gets of what this one got, which is returned.
  template <class Add>
  Value to_next(std::int64_t i, Add const& add) {
    int patience = 1000;
    while (next_.load(std::memory_order_acquire) != i)
      if (patience > 0)
        --patience;
      else
        give_way();
    const Value before = value_;
    add(value_);
    next_.store(i + 1, std::memory_order_release);
    return before;
  }
  /// After all items.
  Value const& last() const { return value_; }

 private:
  Value value_;
  std::atomic<std::int64_t> next_ = 0;
};

/// A block of items: the sum of what they add, and when the blocks before have theirs the items again.
template <class Sum, class Functor>
struct ScanBlocks {
  Functor const& functor;
  std::int64_t count, blocks;
  HandedOn<Sum>& sums;

  void operator()(std::int64_t block) const {
    Sum sum{};
    if (blocks > 1) pass(block, sum, false);
    Sum before = sums.to_next(block, [&](Sum& all) { all += sum; });
    pass(block, before, true);
  }

 private:
  void pass(std::int64_t block, Sum& sum, bool final) const {
    const std::int64_t end = count * (block + 1) / blocks;
    for (std::int64_t i = count * block / blocks; i < end; ++i) functor(i, sum, final);
  }
};

/// functor(i, sum, final) for i of 0 .. count - 1, as Kokkos::parallel_scan calls it: `sum` is what it added for all
/// items before. The calls with and without `final` may overlap: a functor writes nothing that those without it read.
/// `total`: where the sum of all is wanted, for which the host waits.
template <class Sum, class Space, class Functor>
void scan(char const* label, Space const& space, std::int64_t count, Functor const& functor,
          Sum* total = nullptr) {
  if constexpr (is_host_space_v<Space>) {
    constexpr std::int64_t least = 2048, blocks_per_thread = 4;  // least: items of a block
    const std::int64_t blocks =
        std::clamp<std::int64_t>(count / least, 1, blocks_per_thread * space.concurrency());
    HandedOn<Sum> sums(Sum{});
    for_in_sequence(label, space, blocks, ScanBlocks<Sum, Functor>{functor, count, blocks, sums});
    if (total) *total = sums.last();
  } else if (total) {
    Kokkos::parallel_scan(label, range(space, count), functor, *total);
  } else {
    Kokkos::parallel_scan(label, range(space, count), functor);
  }
}

}  // namespace fmm::detail
