// SPDX-License-Identifier: BSD-3-Clause
// Everything runs in the execution space. Watched through Kokkos's tool callbacks: the bytes that are
// copied and the kernels that are launched do not grow with N at a fixed depth, no kernel leaves its work
// to one thread, the host does nothing between them that grows with N, and a second build of the same
// size allocates nothing.
#include <algorithm>
#include <ctime>
#include <map>

#include "support.hpp"

#if defined(KOKKOS_ENABLE_OPENMP)
#include <omp.h>
#include <pthread.h>
#endif

namespace fmm_test {
namespace {

using Space = Kokkos::DefaultExecutionSpace;

/// Clocks of the threads' processor time, the caller's first.
std::vector<clockid_t> clocks;

/// Processor seconds of the thread that launches, and of all threads.
struct Seconds {
  double caller = 0, all = 0;
  static Seconds now() {
    Seconds seconds;
    for (clockid_t clock : clocks) {
      timespec time;
      clock_gettime(clock, &time);
      seconds.all += double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
      if (clock == clocks.front()) seconds.caller = seconds.all;
    }
    return seconds;
  }
  void add(Seconds const& begin, Seconds const& end) {
    caller += end.caller - begin.caller;
    all += end.all - begin.all;
  }
};

struct Counts {
  std::map<std::string, int> kernels;
  std::map<std::string, Seconds> seconds;  // of the kernels, by name
  Seconds between;                         // of what is done between kernels
  std::uint64_t copied_bytes = 0;
  std::vector<std::string> allocations;  // labels of the library's own
  std::vector<std::string> regions;
  int total() const {
    int sum = 0;
    for (auto const& kernel : kernels) sum += kernel.second;
    return sum;
  }
};
Counts* counts = nullptr;
std::string current;  // the kernel that runs
Seconds last;         // when the last kernel, or else the count, began or ended

void begin_kernel(const char* name, std::uint32_t, std::uint64_t*) {
  if (!counts) return;
  ++counts->kernels[name];
  current = name;
  const Seconds now = Seconds::now();
  counts->between.add(last, now);
  last = now;
}
void end_kernel(std::uint64_t) {
  if (!counts) return;
  const Seconds now = Seconds::now();
  counts->seconds[current].add(last, now);
  last = now;
}
void begin_copy(Kokkos::Tools::SpaceHandle, const char*, const void*, Kokkos::Tools::SpaceHandle,
                const char*, const void*, std::uint64_t bytes) {
  if (counts) counts->copied_bytes += bytes;
}
// Kokkos's own scratch memory (one allocation a team policy with CUDA, in some versions) is left out.
void allocate(Kokkos::Tools::SpaceHandle, const char* label, const void*, std::uint64_t) {
  if (counts && std::string(label).rfind("fmm::", 0) == 0) counts->allocations.push_back(label);
}
void push_region(const char* name) {
  if (counts) counts->regions.push_back(name);
}

class HostWork : public testing::Test {
 protected:
  void SetUp() override {
    using namespace Kokkos::Tools::Experimental;
    set_begin_parallel_for_callback(begin_kernel);
    set_begin_parallel_reduce_callback(begin_kernel);
    set_begin_parallel_scan_callback(begin_kernel);
    set_end_parallel_for_callback(end_kernel);
    set_end_parallel_reduce_callback(end_kernel);
    set_end_parallel_scan_callback(end_kernel);
    set_begin_deep_copy_callback(begin_copy);
    set_allocate_data_callback(allocate);
    set_push_region_callback(push_region);
  }
  void TearDown() override {
    counts = nullptr;
    clocks.clear();
    using namespace Kokkos::Tools::Experimental;
    set_begin_parallel_for_callback(nullptr);
    set_begin_parallel_reduce_callback(nullptr);
    set_begin_parallel_scan_callback(nullptr);
    set_end_parallel_for_callback(nullptr);
    set_end_parallel_reduce_callback(nullptr);
    set_end_parallel_scan_callback(nullptr);
    set_begin_deep_copy_callback(nullptr);
    set_allocate_data_callback(nullptr);
    set_push_region_callback(nullptr);
  }
};

template <class Solver>
Counts count(Solver& solver, Bodies const& bodies) {
  using Space = typename Solver::execution_space;
  const Space space;
  const DeviceBodies<Space> device(bodies);
  ViewIn<double*, Space> potential("potential", bodies.size());
  ViewIn<double* [3], Space> field("field", bodies.size());
  Counts result;
  counts = &result;
  last = Seconds::now();
  {
    auto plan = solver.build(space, device.x);
    solver.evaluate(space, plan, device.q, potential, field);
  }
  space.fence();
  counts = nullptr;
  return result;
}

template <class Solver>
void check_growth(fmm::Options const& options) {
  Solver small_solver(options), large_solver(options);
  // the first run of each lets its buffers grow
  const Bodies few = make_bodies(Model::cube, 20000), many = make_bodies(Model::cube, 80000);
  count(small_solver, few);
  count(large_solver, many);
  const Counts small = count(small_solver, few), large = count(large_solver, many);
  EXPECT_EQ(small.kernels, large.kernels);
  EXPECT_EQ(small.copied_bytes, large.copied_bytes);
  EXPECT_LT(large.copied_bytes, 4096u);
  EXPECT_GE(large.total(), 8);
  for (auto const& kernel : large.kernels)
    EXPECT_EQ(kernel.first.rfind("fmm::", 0), 0u) << "[" << kernel.first << "] is not labelled";
}

TEST_F(HostWork, DoesNotGrowWithTheNumberOfBodies) {
  using namespace fmm;
  const Options uniform{.depth = 3, .tree = TreeKind::uniform};
  check_growth<Solver<Laplace, Fmm<3, FmmList>, float>>(uniform);
  check_growth<Solver<Laplace, fmm::Fmm<3, DualTree<>, fmm::NaiveTranslation>, double>>(uniform);
  check_growth<Solver<Laplace, Treecode<3>, float>>(uniform);
  check_growth<Solver<Laplace, DirectSum, float>>({});
}

#if defined(KOKKOS_ENABLE_OPENMP)
/// Keeps the most favourable of both measurements.
void keep_best(Counts& best, Counts const& again) {
  best.between.caller = std::min(best.between.caller, again.between.caller);
  for (auto const& [name, seconds] : again.seconds)
    if (seconds.caller * best.seconds[name].all < best.seconds[name].caller * seconds.all)
      best.seconds[name] = seconds;
}

/// Kernels that take long enough to tell, and of these the ones that the caller works on nearly alone.
std::vector<std::string> lonely_kernels(Counts const& counts, int& timed) {
  std::vector<std::string> lonely;
  timed = 0;
  for (auto const& [name, seconds] : counts.seconds) {
    if (seconds.all < 5e-4) continue;
    ++timed;
    if (seconds.caller > 0.9 * seconds.all) lonely.push_back(name);
  }
  return lonely;
}

/// The machine may be busy with other work, which takes threads away: what a program does alone, it does
/// every time.
template <class Solver>
void check_shares(fmm::Options const& options = {}) {
  constexpr int attempts = 60;
  constexpr double loop_over_bodies = 5e-4;  // seconds for 10^6 of them, at the least
  Solver solver(options);
  const Bodies few = make_bodies(Model::plummer, 30000),
               many = make_bodies(Model::plummer, 1000000);
  for (auto const* bodies : {&few, &many}) count(solver, *bodies);  // the buffers grow
  Counts of_few = count(solver, few), of_many = count(solver, many);
  const auto alone = [&] { return of_many.between.caller - of_few.between.caller; };
  int timed = 0;
  for (int i = 1;
       i < attempts && (alone() > loop_over_bodies || !lonely_kernels(of_many, timed).empty());
       ++i) {
    keep_best(of_few, count(solver, few));
    keep_best(of_many, count(solver, many));
  }
  // a deeper tree has more kernels to launch; a loop over the bodies takes longer than that
  EXPECT_LT(alone(), loop_over_bodies);
  EXPECT_EQ(lonely_kernels(of_many, timed), std::vector<std::string>());
  EXPECT_GE(timed, 5);
}

TEST_F(HostWork, NoThreadWorksAloneThroughTheBodies) {
  using namespace fmm;
  using OpenMP = Kokkos::OpenMP;
  const int threads = OpenMP().concurrency();
  if (threads < 2) GTEST_SKIP() << "needs two threads";
  clocks.resize(threads);
#pragma omp parallel num_threads(threads)
  pthread_getcpuclockid(pthread_self(), &clocks[omp_get_thread_num()]);
  check_shares<Solver<Laplace, Fmm<1>, float, OpenMP>>();
  check_shares<Solver<Laplace, fmm::Fmm<1, FmmList, fmm::NaiveTranslation>, float, OpenMP>>(
      {.leaf_capacity = 100});
  check_shares<Solver<Laplace, Treecode<0>, float, OpenMP>>({.theta = 1});
}
#endif

TEST_F(HostWork, ASecondBuildOfTheSameSizeAllocatesNothing) {
  using namespace fmm;
  const auto check = [](auto solver) {
    const Bodies bodies = make_bodies(Model::plummer, 20000);
    EXPECT_FALSE(count(solver, bodies).allocations.empty());
    for (int repeat = 0; repeat < 2; ++repeat)
      EXPECT_EQ(count(solver, bodies).allocations, std::vector<std::string>());
  };
  check(Solver<Laplace, Fmm<3>, float>());
  check(Solver<Laplace, fmm::Fmm<3, FmmList, fmm::NaiveTranslation>, double>());
  check(Solver<Laplace, Treecode<3>, float>());
  check(Solver<Laplace, DirectSum, float>());
}

TEST_F(HostWork, RegionsHaveTheNamesOfTheStages) {
  fmm::Solver<fmm::Laplace, fmm::Fmm<3>> solver;
  const Counts result = count(solver, make_bodies(Model::cube, 5000));
  const std::vector<std::string> expected = {
      "fmm::build", "fmm::bounds",   "fmm::keys",    "fmm::sort", "fmm::tree",
      "fmm::lists", "fmm::evaluate", "fmm::charges", "fmm::p2m",  "fmm::m2m",
      "fmm::m2l",   "fmm::l2l",      "fmm::l2p",     "fmm::p2p",  "fmm::results"};
  EXPECT_EQ(result.regions, expected);
}

}  // namespace
}  // namespace fmm_test
