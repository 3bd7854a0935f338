// SPDX-License-Identifier: BSD-3-Clause
// The translation schemes against each other: time of an M2L, rate, and error of a whole evaluation, as
// JSON, for the default execution space.
//
//     m2l_schemes [bodies [depth [repeats]]]            10^6, 5, 5
//
// Bodies fill the unit cube; a uniform tree of that depth has the classic lists, whose M2L stage alone is
// timed: the best of the repeats, after one to warm up. For BatchedGemm `library_flops_per_s` is the rate
// of the library's product alone, in calls of the shape that a bucket has, `padded_library_flops_per_s` the
// same with the columns that pad it on a GPU. Flops are counted as reports count them; for products
// 2 (p+1)^4 a pair. Errors are relative L2 errors of potential and field at 4096 bodies. Orders are
// compiled in: -DFMM_M2L_ORDERS=4,8.
#include <fmm/batched_gemm.hpp>
#include <fmm/fmm.hpp>

#include "uniform_cube.hpp"

#ifndef FMM_M2L_ORDERS
#define FMM_M2L_ORDERS 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
#endif

namespace m2l_schemes {

using namespace fmm;
using namespace fmm::engine;
using uniform_cube::Problem, uniform_cube::Space;
using Kernel = fmm::Laplace;
using Traversal = fmm::FmmList;

template <class F>
double best_seconds(Space const& space, int repeats, F const& f) {
  double best = 0;
  for (int i = 0; i <= repeats; ++i) {
    space.fence();
    const Stopwatch watch;
    f();
    space.fence();
    if (i == 1 || (i > 1 && watch.seconds() < best)) best = watch.seconds();
  }
  return best;
}

/// Operations a second of products alone, each of an average bucket or as much of it as a slab holds. `columns` are
/// multiplied, those that pad are not counted.
template <class Real, int Order>
double library_rate(Space const& space, PlanData<Space, Real>& s, int columns, int repeats) {
  constexpr int size = fmm::coefficient_count(Order), row = row_length(size);
  const auto matrices = std::int64_t(s.memory.gemm.dense.classes.size());
  if (s.memory.gemm.dense.pairs == 0) return 0;
  const std::int64_t room = s.memory.gemm.dense.rows.view().extent(0) / row,
                     count = std::min(
                         room, std::max<std::int64_t>(1, s.memory.gemm.dense.pairs / matrices));
  constexpr int calls = 20;
  const double seconds = best_seconds(space, repeats, [&] {
    for (int call = 0; call < calls; ++call)
      multiply(space, columns, row, s.memory.gemm.dense.rows.view().data(), count,
               s.memory.gemm.dense.matrices.view().data(),
               s.memory.gemm.dense.products.view().data());
  });
  return 2.0 * size * size * double(count) * calls / seconds;
}

template <int Order, class Translation, class Real>
void measure(Space const& space, Problem const& problem, char const* scheme) {
  fmm::Solver<Kernel, fmm::Fmm<Order, Traversal, Translation>, Real, Space> solver(
      {.leaf_capacity = 1, .depth = problem.depth, .tree = fmm::TreeKind::uniform});
  using Expansion = expansion_t<Kernel, Order, Real, Translation>;
  using Scheme = M2LBy<Translation>;

  const std::int64_t n = problem.charges.extent(0);
  Kokkos::View<Real*, Space> potential("potential", n);
  Kokkos::View<Real* [3], Space> field("field", n);
  auto plan = solver.build(space, problem.positions);
  solver.evaluate(space, plan, problem.charges, potential, field);
  const auto error = fmm::measure_error(space, solver.kernel(), problem.positions, problem.charges,
                                        potential, field, 4096);

  PlanData<Space, Real> s;
  const Kokkos::View<double const* [3], Space> positions = problem.positions;
  const Kokkos::View<double const*, Space> charges = problem.charges;
  build_plan<Traversal>(space, s, positions, solver.options(), Order, nullptr);
  charges_stage<fmm::None, fmm::None>(space, s.memory, s.tree, profile_of(solver.kernel()), charges,
                                      charges_of(s.tree.bodies), true, nullptr);
  const std::size_t numbers = s.tree.octree.cells.extent(0) * row_length(Expansion::size);
  const auto multipoles = s.memory.multipoles.resize(numbers),
             locals = s.memory.locals.resize(numbers);
  p2m<Expansion>(space, s.tree.octree.cells, s.tree.octree.leaves, charges_of(s.tree.bodies),
                 multipoles);
  for (int level = s.tree.octree.depth - 1; level >= 0; --level)
    m2m<Expansion>(space, s.tree.octree.cells, s.tree.octree.parents_of(level), multipoles);
  const double seconds = best_seconds(space, problem.repeats, [&] {
    Scheme::template m2l<Expansion>(space, s.memory, s.tree.octree.cells, s.lists.m2l, multipoles,
                                    locals);
  });
  fmm::Report report;
  Scheme::template count<Expansion>(space, s.memory, s.lists.m2l, report);
  const auto pairs = report.count("m2l");

  std::printf(
      "%s{\"order\": %d, \"precision\": \"%s\", \"scheme\": \"%s\", \"m2l\": %lld, "
      "\"seconds\": %.4g, \"seconds_per_m2l\": %.4g, \"flops_per_s\": %.4g, "
      "\"potential_l2\": %.3g, \"field_l2\": %.3g",
      uniform_cube::next_separator(), Order, sizeof(Real) == 4 ? "float" : "double", scheme,
      (long long)pairs, seconds, seconds / double(pairs), report.find("m2l")->flops / seconds,
      error.potential_l2, error.field_l2);
  if constexpr (std::is_same_v<Translation, fmm::BatchedGemm>)
    std::printf(", \"library_flops_per_s\": %.4g, \"padded_library_flops_per_s\": %.4g",
                library_rate<Real, Order>(space, s, Expansion::size, problem.repeats),
                library_rate<Real, Order>(space, s, multiplied_v<Space, Order>, problem.repeats));
  std::printf("}");
  std::fflush(stdout);
}

template <int Order>
void measure_order(Space const& space, Problem const& problem) {
  const auto schemes = [&](auto real) {
    using Real = decltype(real);
    measure<Order, fmm::NaiveTranslation, Real>(space, problem, "direct");
    measure<Order, fmm::Rotation, Real>(space, problem, "rotation");
    measure<Order, fmm::BatchedGemm, Real>(space, problem, "gemm");
  };
  schemes(float());
  schemes(double());
}

}  // namespace m2l_schemes

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard guard(argc, argv);
  const m2l_schemes::Problem problem(argc, argv);
  uniform_cube::print_list<FMM_M2L_ORDERS>(
      [&](auto order) { m2l_schemes::measure_order<order.value>({}, problem); });
}
