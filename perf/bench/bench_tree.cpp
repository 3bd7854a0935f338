// SPDX-License-Identifier: BSD-3-Clause
// Benchmarks of the build, stage by stage: bounds, keys, sort, tree, and the lists of every traversal.
#include "bench.hpp"

namespace fmm_bench {
namespace {

using namespace fmm;
using namespace fmm::engine;
using Uniform = fmm::FmmList;  // any traversal has the same keys, order and cells

template <class Real>
using Positions = typename decltype(forces::BodiesOn<Space, DataOf<Real>>::positions)::const_type;

template <class Real>
constexpr double position_bytes = 3 * sizeof(DataOf<Real>);
constexpr double key_bytes = sizeof(std::uint64_t), index_bytes = sizeof(BodyIndex);

template <class Real>
void bounds(benchmark::State& state, Point const& point) {
  const Space space = default_space();
  const Positions<Real> positions = bodies_of<Real>(point).positions;
  time(state, space, [&] { benchmark::DoNotOptimize(root_cube(bounding_box(space, positions))); });
  report(state, {"bodies", double(point.n), 0, 0, double(point.n) * position_bytes<Real>});
}

/// A storage of its own for keys: a sort works in them.
template <class Real>
struct KeySetup {
  Space space = default_space();
  Positions<Real> positions;
  PlanData<Space, Real> s;
  UnsortedKeys<Space> keys;

  explicit KeySetup(Point const& point) : positions(bodies_of<Real>(point).positions) {
    s.tree.size = point.n;
    s.tree.cube = root_of_tree(bounding_box(space, positions), point.n,
                               options_of<Real, Uniform>(point), {0});
  }
  /// For a sort from that bit on.
  void make_keys(int first_bit = 0) {
    keys = unsorted_keys(s.memory.sort, s.memory.keys(0, s.tree.size), first_bit);
    fmm::tree::make_keys(space, positions, s.tree.cube, keys);
  }
};

template <class Real>
void keys(benchmark::State& state, Point const& point) {
  KeySetup<Real> setup(point);
  time(state, setup.space, [&] { setup.make_keys(); });
  report(state, {"bodies", double(point.n), 0, 0,
                 double(point.n) * (position_bytes<Real> + key_bytes + index_bytes)});
}

template <class Real>
void sort(benchmark::State& state, Point const& point) {
  KeySetup<Real> setup(point);
  const auto options = options_of<Real, Uniform>(point);
  const auto rule = split_rule(options, point.n, fmm::max_tree_depth);
  build_tree<Uniform>(setup.space, setup.s.memory, setup.s.tree, setup.positions, rule,
                      nullptr);  // tells how many
  const int first_bit = first_bit_of(sorted_levels<Space>(rule, point.n)[setup.s.memory.sort_try]);
  time(
      state, setup.space, [&] { setup.make_keys(first_bit); },
      [&] {
        sort_keys(setup.space, setup.s.memory.sort, setup.keys,
                  setup.s.memory.keys(1, setup.s.tree.size), first_bit);
      });
  report(state, {"bodies", double(point.n), 0, 0, 2 * double(point.n) * (key_bytes + index_bytes)});
}

template <class Real>
void tree(benchmark::State& state, Point const& point) {
  KeySetup<Real> setup(point);
  auto& s = setup.s;
  const auto rule = split_rule(options_of<Real, Uniform>(point), point.n, fmm::max_tree_depth);
  const auto sorted =
      sort_bodies(setup.space, s.memory, s.tree, setup.positions, rule.depth, nullptr);
  time(state, setup.space, [&] {
    s.tree.octree = *build_octree(setup.space, s.memory.octree, sorted.keys, rule,
                                  tile_rule<Space, Real>(), rule.depth);
    place_in_tree<Uniform>(setup.space, s.memory, s.tree, setup.positions);
  });
  const double cells = double(s.tree.octree.cells.extent(0));
  report(state,
         {"bodies", double(point.n), 0, 0,
          double(point.n) * (key_bytes + index_bytes + position_bytes<Real> + sizeof(Body<Real>)) +
              cells * sizeof(Cell)});
  state.counters["cells"] = cells;
}

template <class Real, class Traversal>
void lists(benchmark::State& state, Point const& point) {
  auto& setup = setup_of<Real, Traversal>(point);
  auto& s = setup.s;
  auto const& lists = s.lists;
  time(state, setup.space, [&] {
    s.lists =
        build_lists<Traversal>(setup.space, s.memory, s.tree, setup.options, setup.far_field());
  });
  const double entries = double(lists.m2l.entries.extent(0) + lists.p2l.entries.extent(0) +
                                lists.m2p.entries.extent(0) + lists.p2p.entries.extent(0));
  report(state, {"entries", entries, 0, 0,
                 entries * sizeof(CellIndex) +
                     double(setup.cells()) * (sizeof(Cell) + 4 * sizeof(Offset))});
  rate(state, "bodies", double(point.n));
}

template <class Real>
void add_build(Point const& point) {
  add<Real>("bounds", point, bounds<Real>);
  add<Real>("keys", point, keys<Real>);
  add<Real>("sort", point, sort<Real>);
  add<Real>("tree", point, tree<Real>);
  add<Real>("lists/barnes-hut", point, lists<Real, fmm::BarnesHut>);
  add<Real>("lists/classic", point, lists<Real, fmm::FmmList>);
  add<Real>("lists/radius", point, lists<Real, fmm::DualTree<fmm::RadiusCriterion>>);
  add<Real>("lists/field", point, lists<Real, fmm::DualTree<fmm::FieldCriterion>>);
  add<Real>("lists/source", point, lists<Real, fmm::DualTree<fmm::SourceCriterion>>);
}

const Registrar registrar([](std::vector<Point> const& points) {
  for (Point const& point : points) add_build<float>(point);
  add_build<double>(points.front());
});

}  // namespace
}  // namespace fmm_bench
