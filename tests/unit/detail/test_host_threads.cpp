// SPDX-License-Identifier: BSD-3-Clause
// Two host threads with a solver each: right, or refused. At commit dae88fb sums in Serial were
// wrong by up to 4 % and those in OpenMP ended the program, with Kokkos 3.4; sums of two threads in
// one instance of CUDA were wrong, or ended it, too.
#include <atomic>
#include <thread>

#include "support.hpp"

namespace fmm_test {
namespace {

template <class Space>
class HostThreads : public testing::Test {};
TYPED_TEST_SUITE(HostThreads, Spaces);

/// Bodies of a thread's own, and where its results go; made by the test's thread.
template <class Space>
struct Problem {
  using Solver = fmm::Solver<fmm::Laplace, fmm::Fmm<4>, double, Space>;
  Bodies bodies;
  Space space = {};
  DeviceBodies<Space> device{bodies};
  ViewIn<double*, Space> potential{"potential", bodies.size()};
  ViewIn<double* [3], Space> field { "field", bodies.size() };
  Solver solver{};
  Results expected = run(solver, bodies);

  /// Whether they came; false if they were refused.
  bool evaluate() {
    try {
      auto plan = solver.build(space, device.x);
      solver.evaluate(space, plan, device.q, potential, field);
      space.fence();
    } catch (fmm::InvalidArgument const& refusal) {
      EXPECT_EQ(refusal.argument(), "space");
      return false;
    }
    return true;
  }
};

/// Both at once, several times; how many evaluations came. Those that came are right.
template <class Space>
int evaluate_at_once(Problem<Space> (&problems)[2], int runs) {
  int evaluated = 0;
  for (int i = 0; i < runs; ++i) {
    bool came[2] = {};
    std::atomic<int> ready = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t)
      threads.emplace_back([&, t] {
        ++ready;
        while (ready < 2) std::this_thread::yield();
        came[t] = problems[t].evaluate();
      });
    for (auto& thread : threads) thread.join();
    for (int t = 0; t < 2; ++t) {
      if (!came[t]) continue;
      ++evaluated;
      const auto sums = to_host(problems[t].potential, problems[t].field);
      EXPECT_EQ(sums.potential, problems[t].expected.potential) << t;
      EXPECT_EQ(sums.field, problems[t].expected.field) << t;
    }
  }
  return evaluated;
}

TYPED_TEST(HostThreads, AreRightOrRefused) {
  using Space = TypeParam;
  constexpr int runs = 20;
  Problem<Space> problems[] = {{make_bodies(Model::plummer, 4000, true, 1)},
                               {make_bodies(Model::cube, 5000, true, 2)}};
  const int evaluated = evaluate_at_once(problems, runs);
  if (!fmm::detail::takes_one_thread_v<Space> &&
      !fmm::detail::takes_one_thread_an_instance_v<Space>) {
    EXPECT_EQ(evaluated, 2 * runs);
  }
  EXPECT_TRUE(problems[0].evaluate()) << "this thread has the space to itself again";
}

TYPED_TEST(HostThreads, AreRefusedWhereOneIsAtWork) {
  using Space = TypeParam;
  using fmm::detail::takes_one_thread_an_instance_v, fmm::detail::takes_one_thread_v;
  if (!takes_one_thread_v<Space> && !takes_one_thread_an_instance_v<Space>)
    GTEST_SKIP() << "this Kokkos takes several";
  const Bodies bodies = make_bodies(Model::cube, 100);
  Problem<Space> problem{bodies};
  const auto in_another_thread = [&] {
    bool came = true;
    std::thread([&] { came = problem.evaluate(); }).join();
    return came;
  };
  {
    const fmm::detail::HostThread<Space> held(problem.space), and_again(problem.space);
    EXPECT_FALSE(in_another_thread());
    EXPECT_TRUE(problem.evaluate());
  }
  EXPECT_TRUE(problem.evaluate());
  // one after the other is right, but with OpenMP of a Kokkos that knows one thread only
  const bool by_initialiser =
      KOKKOS_VERSION < 30700 && takes_one_thread_v<Space> && !std::is_same_v<Space, Kokkos::Serial>;
  EXPECT_EQ(in_another_thread(), !by_initialiser);
}

#if defined(KOKKOS_ENABLE_CUDA)
TEST(HostThreadsOfCuda, WithStreamsOfTheirOwnAreRight) {
  constexpr int runs = 20;
  cudaStream_t streams[2];
  for (auto& stream : streams) ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  {
    Problem<Kokkos::Cuda> problems[] = {
        {make_bodies(Model::plummer, 4000, true, 1), Kokkos::Cuda(streams[0])},
        {make_bodies(Model::cube, 5000, true, 2), Kokkos::Cuda(streams[1])}};
    EXPECT_EQ(evaluate_at_once(problems, runs), 2 * runs);
  }
  for (auto stream : streams) EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}
#endif

}  // namespace
}  // namespace fmm_test
