// SPDX-License-Identifier: BSD-3-Clause
// What the benchmarks share: the points that they run at, bodies and plans there, manual time between
// fences, and the counters.
//
// Everything runs in Kokkos's default execution space, or in BENCH_SPACE. Bodies are gravity's, of the program's
// models, handed over in double on a CPU and in the precision of the sums on a GPU.
//
// Counters of one run: <items>_per_second; flops_per_second, as the chapter counts (chapter_flops.hpp);
// issued_flops_per_second, counted by running the library's own code (detail/flops.hpp); bytes_per_second,
// every array that is read or written once (what caches that are large enough leave of the traffic).
#pragma once

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "chapter_flops.hpp"
#include "shared_instances.hpp"

namespace fmm_bench {

#ifdef BENCH_SPACE
using KokkosSpace = Kokkos::BENCH_SPACE;
#else
using KokkosSpace = Kokkos::DefaultExecutionSpace;
#endif
using Space = fmm::site_t<KokkosSpace>;
inline constexpr bool on_host = std::is_same_v<Space, fmm::Host>;

/// Once Kokkos is initialised.
inline Space default_space() {
  static const KokkosSpace space;
  return space;
}

/// What bodies are handed over in.
template <class Precision>
using DataOf = std::conditional_t<!on_host && std::is_same_v<Precision, float>, float, double>;

/// The largest N whose N^2 pairs are summed here.
inline constexpr std::int64_t most_direct = on_host ? 200'000 : 2'000'000;

/// A distribution, a number of bodies and the capacity of its leaves.
struct Point {
  forces::Model model;
  std::int64_t n;
  int leaf;

  friend bool operator==(Point const&, Point const&) = default;
  std::string name() const {
    return forces::name_of(model) + "/n:" + std::to_string(n) + "/leaf:" + std::to_string(leaf);
  }
};

// ---- registration ---------------------------------------------------------------------------------

/// Each translation unit hands in functions that are called once the points are known: the first point is
/// the base, and the others differ from it in one thing.
using Register = void (*)(std::vector<Point> const& points);
inline std::vector<Register>& registry() {
  static std::vector<Register> functions;
  return functions;
}
struct Registrar {
  explicit Registrar(Register function) { registry().push_back(function); }
};

/// A line of the table of operations per order, from each translation unit of an order.
struct FlopsRow {
  int order;
  std::int64_t m2l_direct, m2l_rotation, m2p;  ///< the library's own
};
inline std::vector<FlopsRow>& flops_rows() {
  static std::vector<FlopsRow> rows;
  return rows;
}

template <class Precision>
constexpr char const* precision_name = std::is_same_v<Precision, float>        ? "float"
                                       : std::is_same_v<Precision, fmm::Mixed> ? "mixed"
                                                                               : "double";

/// Registers f(state) under that name.
template <class F>
void add(std::string const& name, F f) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) {
                                 try {
                                   f(state);
                                 } catch (std::exception const& error) {
                                   state.SkipWithError(error.what());
                                 }
                               })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

/// Registers f(state, point) as name/<precision>/<point>.
template <class Precision, class F>
void add(std::string const& name, Point const& point, F f) {
  add(name + "/" + precision_name<Precision> + "/" + point.name(),
      [=](benchmark::State& state) { f(state, point); });
}

// ---- time and counters ----------------------------------------------------------------------------

/// Runs prepare(), and then f() on the clock, as often as `state` wants, after one run for warm-up.
template <class Prepare, class F>
void time(benchmark::State& state, Space const& space, Prepare const& prepare, F const& f) {
  prepare();
  f();
  for (auto _ : state) {
    prepare();
    space.fence();
    const fmm::engine::Stopwatch watch;
    f();
    space.fence();
    state.SetIterationTime(watch.seconds());
  }
}
template <class F>
void time(benchmark::State& state, Space const& space, F const& f) {
  time(
      state, space, [] {}, f);
}

/// `count` of something in each iteration, as a rate.
inline void rate(benchmark::State& state, std::string const& what, double count) {
  state.counters[what + "_per_second"] =
      benchmark::Counter(count, benchmark::Counter::kIsIterationInvariantRate);
}

/// Work of one iteration. The chapter has no count for some operators: 0.
struct Work {
  char const* items;
  double count, chapter_flops, issued_flops, bytes;
};
inline void report(benchmark::State& state, Work const& work) {
  rate(state, work.items, work.count);
  if (work.chapter_flops > 0) rate(state, "flops", work.chapter_flops);
  if (work.issued_flops > 0) rate(state, "issued_flops", work.issued_flops);
  rate(state, "bytes", work.bytes);
}

// ---- bodies and plans -----------------------------------------------------------------------------

/// The T of a point, kept until that of another one is wanted or Kokkos ends.
template <class T>
T& kept(Point const& point) {
  static Point of;
  static std::unique_ptr<T> value;
  static const bool hooked = [] {
    Kokkos::push_finalize_hook([] { value.reset(); });
    return true;
  }();
  (void)hooked;
  if (!value || !(of == point)) {
    value.reset();
    value = std::make_unique<T>(point);
    of = point;
  }
  return *value;
}

/// A model's bodies in memory of the space.
template <class Data>
struct ModelBodies {
  forces::Table3<Space, Data> positions;
  forces::Column<Space, Data> charges;
  forces::BodiesOn<Space, Data> view{default_space()};

  explicit ModelBodies(Point const& point)
      : positions("positions", std::size_t(point.n)), charges("charges", std::size_t(point.n)) {
    const auto bodies =
        forces::make_model(point.model, std::size_t(point.n), 1, forces::ChargeKind::equal);
    const auto x = Kokkos::create_mirror_view(positions);
    const auto q = Kokkos::create_mirror_view(charges);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      for (int d = 0; d < 3; ++d) x(i, d) = Data(bodies.positions[3 * i + d]);
      q(i) = Data(bodies.charges[i]);
    }
    Kokkos::deep_copy(positions, x);
    Kokkos::deep_copy(charges, q);
    view.set(positions.data(), charges.data(), bodies.size());
  }
};

template <class Precision>
auto const& bodies_of(Point const& point) {
  return kept<ModelBodies<DataOf<Precision>>>(point).view;
}

/// The options that a solver of that traversal and leaf capacity works with.
template <class Precision, class Traversal>
fmm::Options options_of(Point const& point) {
  using Method = std::conditional_t<std::is_same_v<Traversal, fmm::DirectSum>, fmm::DirectSum,
                                    fmm::Treecode<4, Traversal>>;
  return fmm::Solver<fmm::SoftenedGravity, Method, Precision, Space>({.leaf_capacity = point.leaf})
      .options();
}

/// A plan, as Solver::build makes it, with its memory at hand: what the operators are launched on. Charges
/// are in tree order.
template <class Precision, class Traversal>
struct Setup {
  /// What the lists know: expansions of order 6 that act at every distance and have P2L.
  static fmm::engine::FarFieldRule far_field() { return {6, 0, true}; }

  Space space = default_space();
  fmm::Options options;
  fmm::engine::PlanData<Space, Precision> s;

  explicit Setup(Point const& point) : options(options_of<Precision, Traversal>(point)) {
    auto const& bodies = bodies_of<Precision>(point);
    const typename decltype(bodies.positions)::const_type positions = bodies.positions;
    const typename decltype(bodies.charges)::const_type charges = bodies.charges;
    fmm::engine::build_plan<Traversal>(space, s, positions, options, far_field(), nullptr);
    const auto sums = s.memory.sums.resize(s.tree.size);
    const double unit = fmm::engine::inspect_charges(space, true, charges).unit;
    if constexpr (std::is_same_v<Traversal, fmm::DirectSum>)
      fmm::engine::take_charges(space, unit, charges, s.tree.permutation,
                                fmm::kernels::charges_of(s.tree.positions), sums);
    else
      fmm::engine::take_charges(space, unit, charges, s.tree.permutation,
                                fmm::kernels::charges_of(s.tree.bodies), sums);
    space.fence();
  }

  std::int64_t cells() const { return std::int64_t(s.tree.octree.cells.extent(0)); }
  std::int64_t leaves() const { return std::int64_t(s.tree.octree.leaves.extent(0)); }

  /// Body-body pairs of the near field, body-cell pairs of a treecode and of an FMM's X list.
  fmm::engine::PairCounts count_pairs() const {
    return fmm::engine::pairs_in_lists(space, cells(), s.tree.octree.cells, s.lists, true);
  }
};

template <class Precision, class Traversal>
auto& setup_of(Point const& point) {
  return kept<Setup<Precision, Traversal>>(point);
}

/// Bytes of the bodies and of their sums, which an operator at bodies reads and writes.
template <class Precision>
double body_bytes(std::int64_t n) {
  using namespace fmm;
  using namespace fmm::engine;
  return double(n) * double((two_part_v<Precision> ? 2 : 1) * sizeof(Body<real_t<Precision>>) +
                            2 * sizeof(Sums<sum_t<Precision>>));
}

// ---- from end to end ------------------------------------------------------------------------------

/// From unsorted bodies to potential and force of all of them: seconds, rates and the error measured.
template <class Method, class Precision>
void run_solver(benchmark::State& state, Point const& point) {
  struct Facts {
    fmm::Report report;
    fmm::ErrorMeasure error;
  };
  static Point of;
  static std::unique_ptr<Facts> facts;  // a benchmark is called several times

  constexpr std::size_t samples = 1000;
  const Space space = default_space();
  auto const& bodies = bodies_of<Precision>(point);
  const forces::ResultsOn<Space, fmm::real_t<Precision>> results(point.n);
  fmm::Options options;
  if constexpr (!std::is_same_v<Method, fmm::DirectSum>) options.leaf_capacity = point.leaf;
  fmm::Solver<fmm::SoftenedGravity, Method, Precision, Space> solver(options);
  time(state, space, [&] {
    auto plan = solver.build(space, bodies.positions);
    solver.evaluate(space, plan, bodies.charges, results.potential, results.field);
  });
  if (!facts || !(of == point)) {
    facts = std::make_unique<Facts>();
    of = point;
    auto plan = solver.build(space, bodies.positions, &facts->report);
    solver.evaluate(space, plan, bodies.charges, results.potential, results.field, &facts->report);
    facts->error = fmm::measure_error(space, solver.kernel(), bodies.positions, bodies.charges,
                                      results.potential, results.field, samples);
  }
  auto const& report = facts->report;
  rate(state, "bodies", double(point.n));
  rate(state, "pairs", double(report.p2p_pairs));
  rate(state, "issued_flops", report.flops());
  state.counters["m2l"] = double(report.m2l);
  state.counters["p2l"] = double(report.p2l);
  state.counters["m2p"] = double(report.m2p);
  state.counters["memory_bytes"] = double(report.memory_bytes);
  state.counters["force_l2"] = facts->error.field_l2;
  state.counters["force_p99"] = facts->error.field_p99;
}

}  // namespace fmm_bench
