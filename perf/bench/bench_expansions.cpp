// SPDX-License-Identifier: BSD-3-Clause
// Benchmarks of all that depends on the order of the expansions: each operator alone, and treecode and FMM
// from end to end. Compiled once for each order, BENCH_ORDER.
#include "bench.hpp"

#if __has_include(<KokkosBlas3_gemm.hpp>)
#include <fmm/batched_gemm.hpp>
#define BENCH_HAS_GEMM 1
#else
#define BENCH_HAS_GEMM 0
#endif

namespace fmm_bench {
namespace {

using namespace fmm;
using namespace fmm::engine;
using Want = Outputs<true, true>;
constexpr int order = BENCH_ORDER;

/// The program's own choices.
template <class Real>
constexpr bool by_field = !on_host && std::is_same_v<Real, float>;
template <class Real>
using FmmTraversal =
    std::conditional_t<by_field<Real>, fmm::DualTree<fmm::FieldCriterion>, fmm::DualTree<>>;
template <class Real>
using TreecodeTraversal =
    std::conditional_t<by_field<Real>, fmm::DualTree<fmm::SourceCriterion>, fmm::BarnesHut>;

template <class Real, class Translation>
using Expansion = expansion_t<fmm::SoftenedGravity, order, Real, Translation>;

/// A plan with arrays for the expansions of this order, and the multipoles of all cells in place.
template <class Real, class Translation, class Traversal = fmm::DualTree<>>
struct Expanded {
  using E = Expansion<Real, Translation>;
  static constexpr double row_bytes = row_length(E::size) * sizeof(Real);

  Setup<Real, Traversal>& setup;
  Space const& space = setup.space;
  PlanData<Space, Real>& s = setup.s;
  std::size_t coefficients = std::size_t(setup.cells()) * row_length(E::size);
  Array<Real, Space> multipoles = s.memory.multipoles.resize(coefficients);
  Array<Real, Space> locals = s.memory.locals.resize(coefficients);
  Array<Body<Real>, Space> bodies = s.tree.bodies;
  Array<Sums<Real>, Space> sums = s.memory.sums.view(s.tree.size);
  double cells = double(setup.cells()), leaves = double(setup.leaves());
  OperatorFlops flops = translation_flops<E, Real>();
  OperatorFlops flops_at_bodies = body_flops<basis_t<E>, Real, true, true>();

  explicit Expanded(Point const& point) : setup(setup_of<Real, Traversal>(point)) {
    from_bodies();
    upward();
    Kokkos::deep_copy(KokkosSpace(), locals.view(), Real(0));
    space.fence();
  }

  void from_bodies() {
    p2m<E>(space, s.tree.octree.cells, s.tree.octree.leaves, charges_of(bodies), multipoles);
  }
  void upward() {
    for (int level = s.tree.octree.depth - 1; level >= 0; --level)
      m2m<E>(space, s.tree.octree.cells, s.tree.octree.parents_of(level), multipoles);
  }
  void across() {
    M2LBy<Translation>::template m2l<E>(space, s.memory, s.tree.octree.cells, s.lists.m2l,
                                        multipoles, locals);
  }
  void downward() {
    for (int level = 1; level <= s.tree.octree.depth; ++level)
      l2l<E>(space, s.tree.octree.cells, s.tree.octree.level_begin[level],
             s.tree.octree.level_begin[level + 1], locals);
  }
};

template <class Real>
void bench_p2m(benchmark::State& state, Point const& point) {
  Expanded<Real, fmm::Rotation> x(point);
  time(state, x.space, [&] { x.from_bodies(); });
  report(state, {"bodies", double(point.n), 0, double(point.n) * double(x.flops_at_bodies.p2m),
                 double(point.n) * sizeof(Body<Real>) + x.leaves * x.row_bytes});
}

template <class Real, class Translation>
void bench_m2m(benchmark::State& state, Point const& point) {
  Expanded<Real, Translation> x(point);
  time(state, x.space, [&] { x.upward(); });
  report(state, {"translations", x.cells - 1, 0, (x.cells - 1) * double(x.flops.m2m),
                 x.cells * x.row_bytes});
}

template <class Real, class Translation>
void bench_m2l(benchmark::State& state, Point const& point) {
  Expanded<Real, Translation> x(point);
  time(state, x.space, [&] { x.across(); });
  const double translations = double(x.s.lists.m2l.entries.extent(0));
  constexpr bool as_listed = std::is_same_v<Translation, fmm::NaiveTranslation>;
  fmm::Report issued;
  M2LBy<Translation>::template count<typename decltype(x)::E>(x.space, x.s.memory, x.s.lists.m2l,
                                                              issued);
  report(state,
         {"translations", translations, as_listed ? translations * double(chapter::m2l(order)) : 0,
          issued.flops(), 2 * x.cells * x.row_bytes + translations * sizeof(CellIndex)});
}

template <class Real, class Translation>
void bench_l2l(benchmark::State& state, Point const& point) {
  Expanded<Real, Translation> x(point);
  x.across();
  // sums of sums would soon leave the range of a float
  Kokkos::View<Real*, Device<Space>> fresh("fresh locals", x.locals.extent(0));
  Kokkos::deep_copy(KokkosSpace(), fresh, x.locals.view());
  time(
      state, x.space, [&] { Kokkos::deep_copy(KokkosSpace(), x.locals.view(), fresh); },
      [&] { x.downward(); });
  report(state, {"translations", x.cells - 1, 0, (x.cells - 1) * double(x.flops.l2l),
                 2 * x.cells * x.row_bytes});
}

template <class Real>
void bench_l2p(benchmark::State& state, Point const& point) {
  Expanded<Real, fmm::Rotation> x(point);
  x.across();
  x.downward();
  using E = typename decltype(x)::E;
  time(state, x.space, [&] {
    l2p<E, Want>(x.space, x.s.tree.octree.cells, x.s.tree.octree.tiles, x.bodies, x.locals, x.sums);
  });
  report(state, {"bodies", double(point.n), 0, double(point.n) * double(x.flops_at_bodies.l2p),
                 body_bytes<Real>(point.n) + x.leaves * x.row_bytes});
}

/// The X list of the classic lists.
template <class Real>
void bench_p2l(benchmark::State& state, Point const& point) {
  Expanded<Real, fmm::Rotation, fmm::FmmList> x(point);
  using E = typename decltype(x)::E;
  time(state, x.space, [&] {
    p2l<E>(x.space, x.s.tree.octree.cells, x.s.lists.p2l, charges_of(x.bodies), x.locals);
  });
  const auto count = double(x.setup.count_pairs().p2l);
  const double entries = double(x.s.lists.p2l.entries.extent(0));
  report(state, {"bodies", count, 0, count * double(x.flops_at_bodies.p2l),
                 x.cells * sizeof(Offset) + entries * (sizeof(CellIndex) + sizeof(Cell))});
}

/// Of a treecode: all multipoles that are accepted.
template <class Real>
void bench_m2p(benchmark::State& state, Point const& point) {
  Expanded<Real, fmm::Rotation, TreecodeTraversal<Real>> x(point);
  using E = typename decltype(x)::E;
  time(state, x.space, [&] {
    const auto prepared = prepare_multipoles<E>(x.space, x.multipoles, x.s.memory.locals);
    m2p<E, Want>(x.space, x.s.tree.octree.cells, x.s.tree.octree.tiles, x.s.lists.m2p,
                 x.s.lists.m2l, x.bodies, prepared, x.sums);
  });
  const auto count = double(x.setup.count_pairs().m2p);
  const double entries = double(x.s.lists.m2l.entries.extent(0) + x.s.lists.m2p.entries.extent(0));
  report(state, {"evaluations", count, count * double(chapter::m2p(order)),
                 count * double(x.flops_at_bodies.m2p),
                 body_bytes<Real>(point.n) + x.cells * x.row_bytes + entries * sizeof(CellIndex)});
}

template <class Real>
void add_order(Point const& point) {
  const std::string p = "/order:" + std::to_string(order);
  add<Real>("P2M" + p, point, bench_p2m<Real>);
  add<Real>("M2M/rotation" + p, point, bench_m2m<Real, fmm::Rotation>);
  add<Real>("M2M/direct" + p, point, bench_m2m<Real, fmm::NaiveTranslation>);
  add<Real>("M2L/rotation" + p, point, bench_m2l<Real, fmm::Rotation>);
  add<Real>("M2L/direct" + p, point, bench_m2l<Real, fmm::NaiveTranslation>);
#if BENCH_HAS_GEMM
  add<Real>("M2L/gemm" + p, point, bench_m2l<Real, fmm::BatchedGemm>);
#endif
  add<Real>("L2L/rotation" + p, point, bench_l2l<Real, fmm::Rotation>);
  add<Real>("L2L/direct" + p, point, bench_l2l<Real, fmm::NaiveTranslation>);
  add<Real>("L2P" + p, point, bench_l2p<Real>);
  add<Real>("P2L" + p, point, bench_p2l<Real>);
  add<Real>("M2P" + p, point, bench_m2p<Real>);
  add<Real>("treecode" + p, point, run_solver<fmm::Treecode<order, TreecodeTraversal<Real>>, Real>);
  add<Real>("fmm" + p, point, run_solver<fmm::Fmm<order, FmmTraversal<Real>>, Real>);
}

const Registrar registrar([](std::vector<Point> const& points) {
  for (Point const& point : points) add_order<float>(point);
  add_order<double>(points.front());
  const auto rotation = translation_flops<Expansion<double, fmm::Rotation>, double>();
  const auto direct = translation_flops<Expansion<double, fmm::NaiveTranslation>, double>();
  const auto at_bodies =
      body_flops<basis_t<Expansion<double, fmm::Rotation>>, double, true, true>();
  flops_rows().push_back({order, direct.m2l, rotation.m2l, at_bodies.m2p});
});

}  // namespace
}  // namespace fmm_bench
