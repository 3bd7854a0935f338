// SPDX-License-Identifier: BSD-3-Clause
// Targets and sources that are two sets, or one with the sources at a shift: every pair is summed exactly once, a body
// with its own image, too.
#include "counting_kernel.hpp"
#include "two_sets.hpp"

namespace fmm_test {
namespace {

using fmm::FmmStencil;
using fmm::GridShift;
using fmm::NoShift;

template <class Traversal, class Translation, class Space>
using Counter =
    fmm::Solver<CountingKernel<true>, MethodOf<0, Traversal, Translation>, double, Space>;

Bodies counted(Model model, std::size_t n) {
  Bodies bodies = make_bodies(model, n);
  for (std::size_t i = 0; i < n; ++i) bodies.q[i] = double(1 + i % 1000);
  return bodies;
}

template <class Traversal, class Translation = Rotation,
          class Space = Kokkos::DefaultExecutionSpace>
struct Count {
  using Solver = Counter<Traversal, Translation, Space>;
  Solver solver;
  Count(int capacity, double from)
      : solver({.leaf_capacity = capacity}, CountingKernel<true>{from}) {}

  template <class Shift>
  void check(std::string const& name, typename Solver::plan_type& targets,
             typename Solver::plan_type& sources, Shift shift, Bodies const& bodies) {
    const DeviceBodies<Space> device(bodies);
    double all = 0;
    for (const double q : bodies.q) all += q;
    std::size_t wrong = 0;
    const Results sums = exerted<Traversal, double>(solver, targets, sources, shift, device.q);
    for (const double p : sums.potential) wrong += p != all;
    EXPECT_EQ(wrong, 0u) << Traversal::name << ", " << name << ", " << targets.size() << " by "
                         << sources.size();
  }

  void two_sets(Bodies const& targets, Bodies const& sources) {
    const DeviceBodies<Space> to(targets), from(sources);
    const auto cube = cube_of<Space>(targets, sources);
    auto of_targets = plan_over(cube, solver, to.x), of_sources = plan_over(cube, solver, from.x);
    check("two sets", of_targets, of_sources, NoShift(), sources);
    check("two sets, right", of_targets, of_sources, GridShift::of_root(1, 0, 0), sources);
    check("two sets, in place", of_targets, of_sources, GridShift::of_root(0, 0, 0), sources);
  }
  void images(Bodies const& bodies) {
    const DeviceBodies<Space> device(bodies);
    auto plan = solver.build(Space(), device.x);
    for (int x = -1; x <= 1; ++x)
      for (int y = -1; y <= 1; ++y)
        if (x != 0 || y != 0) check("image", plan, plan, GridShift::of_root(x, y, x * y), bodies);
    check("far image", plan, plan, GridShift::of_root(3, -7, 20), bodies);
    if constexpr (!std::is_same_v<Traversal, FmmList> && !std::is_same_v<Traversal, FmmStencil>)
      check("overlapping image", plan, plan, GridShift{{12345, -1000001, 77}}, bodies);
  }
};

template <class Traversal, class Translation = Rotation,
          class Space = Kokkos::DefaultExecutionSpace>
void count() {
  for (const int capacity : {3, 32})
    for (const double from : {0.0, 0.3}) {
      Count<Traversal, Translation, Space> count(capacity, from);
      const Bodies cube = counted(Model::cube, 300), cloud = counted(Model::plummer, 600),
                   clusters = counted(Model::clusters, 400), one = counted(Model::cube, 1);
      count.two_sets(cube, cloud);
      count.two_sets(cloud, cube);
      count.two_sets(clusters, cloud);
      count.two_sets(one, cloud);
      count.two_sets(cloud, one);
      count.images(cloud);
      count.images(cube);
    }
}

TEST(TwoSets, EveryPairIsSummedExactlyOnce) {
  count<DualTree<>>();
  count<DualTree<>, NoTranslation>();
  count<DualTree<>, Rotation, Kokkos::Serial>();
  count<FmmList>();
  count<FmmList, NoTranslation>();
  count<FmmStencil>();
  count<BarnesHut, NoTranslation>();
}

}  // namespace
}  // namespace fmm_test
