// SPDX-License-Identifier: BSD-3-Clause
// The same call gives the same bits: twice, and with 1, 2 or 3 threads.
#include "support.hpp"

#if defined(KOKKOS_ENABLE_OPENMP)
#include <omp.h>
#endif

namespace fmm_test {
namespace {

template <class F>
void for_each_solver(F const& f) {
  const fmm::Options options{.leaf_capacity = 20};
  using Space = Kokkos::DefaultExecutionSpace;
  f(fmm::Solver<Laplace, fmm::Fmm<4, DualTree<>>, float, Space>(options));
  f(fmm::Solver<Laplace, fmm::Fmm<4, FmmList, NaiveTranslation>, double, Space>(options));
  f(fmm::Solver<Laplace, fmm::Treecode<4>, float, Space>(options));
  f(fmm::Solver<Laplace, fmm::DirectSum, float, Space>(options));
  // on a GPU translated by several threads together
  f(fmm::Solver<Laplace, fmm::Fmm<9, DualTree<fmm::FieldCriterion>>, float, Space>(options));
  f(fmm::Solver<Laplace, fmm::Treecode<3, DualTree<fmm::SourceCriterion>>, float, Space>(options));
  using InOrders = DualTree<fmm::VariableOrder<fmm::FieldCriterion, 2, 4>>;
  f(fmm::Solver<Laplace, fmm::Fmm<6, InOrders>, float, Space>(options));
}

TEST(Determinism, TheSameCallTwiceGivesTheSameBits) {
  for (const Model model : {Model::plummer, Model::clusters, Model::line}) {
    const Bodies bodies = make_bodies(model, 5000, true);
    for_each_solver([&](auto solver) {
      auto fresh = solver;
      const Results first = run(solver, bodies), second = run(solver, bodies),
                    third = run(fresh, bodies);
      EXPECT_EQ(first.potential, second.potential) << name_of(model);
      EXPECT_EQ(first.field, second.field) << name_of(model);
      EXPECT_EQ(first.potential, third.potential) << name_of(model);
      EXPECT_EQ(first.field, third.field) << name_of(model);
    });
  }
}

/// A solver's memory is that of its largest build, and partly lent from one use to the next.
TEST(Determinism, EarlierBuildsOfOtherSizesDoNotMatter) {
  for_each_solver([](auto solver) {
    const auto unused = solver;
    for (const std::size_t n : {20003, 500, 50001, 1, 2, 20003}) {
      auto fresh = unused;
      const Bodies bodies = make_bodies(Model::plummer, n, true);
      const Results used = run(solver, bodies), expected = run(fresh, bodies);
      EXPECT_EQ(used.potential, expected.potential) << n;
      EXPECT_EQ(used.field, expected.field) << n;
    }
  });
}

#if defined(KOKKOS_ENABLE_OPENMP)
/// Serial is one thread; OpenMP runs with as many as the process was started with, and ctest starts this
/// test with 1, 2 and 3 (see CMakeLists.txt). Equal to Serial is equal to each other.
TEST(Determinism, ThreadsDoNotMatter) {
  for (const Model model : {Model::plummer, Model::point}) {
    const Bodies bodies = make_bodies(model, 3000, true);
    const auto check = [&]<class Traversal, class Translation, class Real>(Traversal, Translation,
                                                                           Real) {
      const fmm::Options options{.leaf_capacity = 20};
      fmm::Solver<Laplace, MethodOf<4, Traversal, Translation>, Real, Kokkos::OpenMP> threads(
          options);
      fmm::Solver<Laplace, MethodOf<4, Traversal, Translation>, Real, Kokkos::Serial> serial(
          options);
      const Results a = run(threads, bodies), b = run(serial, bodies);
      EXPECT_EQ(a.potential, b.potential) << name_of(model);
      EXPECT_EQ(a.field, b.field) << name_of(model);
    };
    check(DualTree<>(), Rotation(), float());
    check(FmmList(), NaiveTranslation(), double());
    check(BarnesHut(), NoTranslation(), float());
  }
}
#endif

}  // namespace
}  // namespace fmm_test
