// SPDX-License-Identifier: BSD-3-Clause
// Benchmarks of P2P, in the near field of a tree and between all bodies, and of the direct sum from end to
// end.
#include "bench.hpp"

namespace fmm_bench {
namespace {

using namespace fmm;
using namespace fmm::engine;
using Want = Outputs<true, true>;

/// Operations of a pair of bodies in accumulate(): differences 3, r^2 with softening 6, 1/r 1, its cube 2,
/// the charge times it 1, the potential 2, the force 6. (Mixed: 6 more.)
constexpr double issued_flops = 21;

Work pair_work(double pairs, double bytes) {
  return {"pairs", pairs, pairs * double(chapter::p2p), pairs * issued_flops, bytes};
}

template <class Precision>
void near_field(benchmark::State& state, Point const& point) {
  auto& setup = setup_of<Precision, fmm::DualTree<>>(point);
  auto& s = setup.s;
  const auto kernel = in_units_of(s.tree.cube.edge, fmm::SoftenedGravity());
  const auto bodies = s.tree.bodies;
  const auto sums = s.memory.sums.view(s.tree.size);
  time(state, setup.space, [&] {
    p2p<Want, Precision>(setup.space, kernel, s.tree.octree.cells, s.tree.octree.tiles, s.lists.p2p,
                         bodies, s.tree.low, sums);
  });
  report(state, pair_work(double(setup.count_pairs().p2p),
                          body_bytes<Precision>(s.tree.size) +
                              double(s.lists.p2p.entries.extent(0)) * sizeof(CellIndex)));
}

template <class Precision>
void all_pairs(benchmark::State& state, Point const& point) {
  auto& setup = setup_of<Precision, fmm::DirectSum>(point);
  auto& s = setup.s;
  const double length = s.tree.cube.exact_unit();
  const auto kernel = in_units_of(length, fmm::SoftenedGravity());
  const auto bodies = s.tree.positions;
  const auto sums = s.memory.sums.view(s.tree.size);
  time(state, setup.space, [&] {
    p2p_all<Want, Precision>(setup.space, kernel, 1 / length, bodies, s.tree.octree.tiles,
                             s.facts.all_pairs_shape, sums);
  });
  report(state, pair_work(double(s.tree.size) * double(s.tree.size - 1),
                          double(s.tree.size) *
                              (sizeof(Body<double>) + 2 * sizeof(Sums<sum_t<Precision>>))));
}

template <class Precision>
void add_pairs(Point const& point, bool leaves_alone) {
  add<Precision>("P2P/near", point, near_field<Precision>);
  if (leaves_alone || point.n > most_direct) return;
  add<Precision>("P2P/all", point, all_pairs<Precision>);
  add<Precision>("direct", point, run_solver<fmm::DirectSum, Precision>);
}

const Registrar registrar([](std::vector<Point> const& points) {
  Point const& base = points.front();
  // a direct sum has no leaves
  for (Point const& point : points) add_pairs<float>(point, point.leaf != base.leaf);
  add_pairs<fmm::Mixed>(base, false);
  add_pairs<double>(base, false);
});

}  // namespace
}  // namespace fmm_bench
