// SPDX-License-Identifier: BSD-3-Clause
// How kernels start: every item once, whatever their number and cost; sums of all before; blocks in order.
#include <atomic>
#include <thread>

#include "support.hpp"

namespace fmm_test {
namespace {

using namespace fmm;
using namespace fmm::engine;

template <class Space>
class Launch : public testing::Test {};
TYPED_TEST_SUITE(Launch, Spaces);

const std::int64_t counts_of_items[] = {0, 1, 2, 7, 2047, 2048, 4097, 100000};

template <class Space>
struct AddTo {
  Array<int, Space> calls;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { ++calls(i); }
};

/// Each team sums up numbers of its own in its scratch memory, and adds the number of teams.
template <class Space>
struct AddTeam {
  Array<int, Space> calls, sums;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    int* const scratch = scratch_array<int>(team, 0, 100);
    for (int i = team.team_rank(); i < 100; i += team.team_size())
      scratch[i] = i + team.league_rank();
    team.team_barrier();
    int sum = -1;
    reduce_in_team(
        team, 100, [&](int i, int& partial) { partial += scratch[i]; }, Kokkos::Sum<int>(sum));
    if (team.team_rank() != 0) return;
    ++calls(team.league_rank());
    sums(team.league_rank()) = sum + team.league_size();
  }
};

TYPED_TEST(Launch, EveryItemOnce) {
  using Space = TypeParam;
  const Space space;
  for (const std::int64_t n : counts_of_items)
    for (const int chunk : {1, 16, 1000000}) {
      Buffer<int, Space> buffer("calls");
      const auto calls = buffer.resize(n);
      Kokkos::deep_copy(space, calls.view(), 0);
      for_range("range", space, n, AddTo<Space>{calls});
      for_uneven("uneven", space, n, chunk, AddTo<Space>{calls});
      space.fence();
      EXPECT_EQ(to_host(calls), std::vector<int>(n, 2)) << chunk;
    }
}

TYPED_TEST(Launch, EveryTeamOnceWithMemoryOfItsOwn) {
  using Space = TypeParam;
  const Space space;
  for (const int n : {1, 2, 7, 1000, 20000}) {
    Buffer<int, Space> buffer("calls"), sum_buffer("sums");
    const auto calls = buffer.resize(n), sums = sum_buffer.resize(n);
    Kokkos::deep_copy(space, calls.view(), 0);
    TeamPolicy<Space> policy(space, n, is_host_space_v<Space> ? 1 : 32);
    add_scratch(policy, 0, int(100 * sizeof(int)) + scratch_alignment);
    for_teams("teams", policy, AddTeam<Space>{calls, sums});
    space.fence();
    EXPECT_EQ(to_host(calls), std::vector<int>(n, 1));
    std::vector<int> expected(n);
    for (int rank = 0; rank < n; ++rank) expected[rank] = 4950 + 100 * rank + n;
    EXPECT_EQ(to_host(sums), expected);
  }
}

template <class Space>
struct SumSquares {
  Array<std::int64_t, Space> before;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum, bool final) const {
    if (final) before(i) = sum;
    sum += i * i;
  }
};

TYPED_TEST(Launch, ScanHasTheSumOfAllBefore) {
  using Space = TypeParam;
  const Space space;
  for (const std::int64_t n : counts_of_items) {
    Buffer<std::int64_t, Space> buffer("sums");
    const auto before = buffer.resize(n);
    scan<std::int64_t>("scan", space, n, SumSquares<Space>{before});
    space.fence();
    std::vector<std::int64_t> expected(n);
    for (std::int64_t i = 1; i < n; ++i) expected[i] = expected[i - 1] + (i - 1) * (i - 1);
    EXPECT_EQ(to_host(before), expected) << n;
  }
}

/// Items that wait for the one before: no deadlock, with more threads than cores, too.
TYPED_TEST(Launch, InOrderItemsMayWaitForThoseBefore) {
  using Space = TypeParam;
  if constexpr (is_host_space_v<Space>) {
    const Space space;
    for (const std::int64_t n : {0, 1, 2, 1000}) {
      std::atomic<std::int64_t> done = 0;
      for_in_sequence("in order", space, n, [&](std::int64_t i) {
        while (done.load() != i) std::this_thread::yield();
        done.store(i + 1);
      });
      EXPECT_EQ(done.load(), n);
    }
  } else {
    GTEST_SKIP() << "hosts only";
  }
}

}  // namespace
}  // namespace fmm_test
