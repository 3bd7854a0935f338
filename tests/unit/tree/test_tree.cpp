// SPDX-License-Identifier: BSD-3-Clause
// Keys, sort and octree: the invariants that the headers state.
#include <algorithm>
#include <numeric>

#include "support.hpp"

namespace fmm_test {
namespace {

using namespace fmm;
using namespace fmm::engine;

/// Every third bit: the inverse of spread_bits.
std::uint32_t gather_bits(std::uint64_t x) {
  x &= 0x1249249249249249ull;
  x = (x | x >> 2) & 0x10c30c30c30c30c3ull;
  x = (x | x >> 4) & 0x100f00f00f00f00full;
  x = (x | x >> 8) & 0x1f0000ff0000ffull;
  x = (x | x >> 16) & 0x1f00000000ffffull;
  x = (x | x >> 32) & 0x1fffff;
  return std::uint32_t(x);
}

template <class T>
class TreeTest : public testing::Test {};
TYPED_TEST_SUITE(TreeTest, Spaces);

TEST(Morton, KeysInterleaveTheirCoordinates) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    const std::uint32_t x = random() >> 43, y = random() >> 43, z = random() >> 43;
    std::uint64_t expected = 0;
    for (int bit = 0; bit < 21; ++bit)
      expected |= std::uint64_t(x >> bit & 1) << (3 * bit + 2) |
                  std::uint64_t(y >> bit & 1) << (3 * bit + 1) |
                  std::uint64_t(z >> bit & 1) << (3 * bit);
    EXPECT_EQ(morton_key(x, y, z), expected);
    EXPECT_EQ(gather_bits(expected >> 2), x);
    EXPECT_EQ(gather_bits(expected >> 1), y);
    EXPECT_EQ(gather_bits(expected), z);
  }
  EXPECT_EQ(grid_coordinate(-1, 0, 1), 0u);
  EXPECT_EQ(grid_coordinate(1, 0, 1), (1u << 21) - 1);
  EXPECT_EQ(grid_coordinate(0.5, 0, 1), 1u << 20);
}

template <class Space>
struct SetKeys {
  Array<std::uint64_t, Space> keys;
  UnsortedKeys<Space> unsorted;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { unsorted.set(i, keys(i)); }
};

TYPED_TEST(TreeTest, SortIsStableAndComplete) {
  using Space = fmm::site_t<TypeParam>;
  const Space space = site<TypeParam>();
  SortBuffers<Space> buffers;
  // all bits; few different keys; all but few with the same first digits; these of four kinds
  constexpr std::uint64_t all = ~std::uint64_t(0), few = std::uint64_t(7) << 60, low = all >> 30,
                          four = std::uint64_t(5) << 60 | all >> 30;
  for (const std::size_t n : {1, 2, 255, 4097, 100000})
    for (const int first_bit : {0, 3, 17, 24, 42, 60})
      for (const std::uint64_t mask : {all, few, low, four}) {
        std::mt19937_64 random(n);
        std::vector<std::uint64_t> keys(n);
        for (auto& key : keys) key = random() >> 1 & mask;
        if (mask == low)
          for (std::size_t i = 0; i < n; i += 100) keys[i] = random() >> 1;
        std::vector<BodyIndex> order(n);
        std::iota(order.begin(), order.end(), 0);
        using Host = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
        Buffer<std::uint64_t, Space> unsorted("keys"), spare("spare keys");
        Kokkos::deep_copy(spare.resize(n).view(),
                          Kokkos::View<std::uint64_t*, Kokkos::HostSpace, Host>(keys.data(), n));
        const auto set = unsorted_keys(buffers, unsorted.resize(n), first_bit);
        for_range("keys", space, n, SetKeys<Space>{spare.view(n), set});
        const auto sorted = sort_keys(space, buffers, set, spare.view(n), first_bit);
        space.fence();
        std::stable_sort(order.begin(), order.end(), [&](BodyIndex a, BodyIndex b) {
          return keys[a] >> first_bit < keys[b] >> first_bit;
        });
        EXPECT_EQ(to_host(sorted.permutation), order) << n << " " << first_bit;
        std::vector<std::uint64_t> expected;
        for (const BodyIndex i : order) expected.push_back(keys[i] >> first_bit);
        auto in_order = to_host(sorted.keys);
        for (auto& key : in_order) key >>= first_bit;
        EXPECT_EQ(in_order, expected);
      }
}

template <class KokkosSpace>
void check_tree(Bodies const& bodies, fmm::Options options) {
  using Space = fmm::site_t<KokkosSpace>;
  const Space space = site<KokkosSpace>();
  const DeviceBodies<Space> device(bodies);
  PlanData<Space, double> s;
  options = fmm::Solver<fmm::Laplace, fmm::Fmm<2>, double, Space>(options).options();
  const ViewIn<double const* [3], Space> positions = device.x;
  build_plan<fmm::DualTree<>>(space, s, positions, options, 2, nullptr);
  space.fence();
  const auto cells = to_host(s.tree.octree.cells);
  const auto order = to_host(s.tree.permutation);
  const auto placed = to_host(s.tree.bodies);
  const auto radii = to_host(s.memory.traversal.radii.view(cells.size()));
  const int n = int(bodies.size());

  // the order is a permutation
  std::vector<BodyIndex> seen = order;
  std::sort(seen.begin(), seen.end());
  for (int i = 0; i < n; ++i) ASSERT_EQ(seen[i], i);

  // levels are contiguous and in Morton order, cells not empty
  EXPECT_EQ(cells[0].body_count, n);
  EXPECT_EQ(cells[0].parent, -1);
  for (int level = 0; level <= s.tree.octree.depth; ++level) {
    int next = 0;
    for (int c = s.tree.octree.level_begin[level]; c < s.tree.octree.level_begin[level + 1]; ++c) {
      EXPECT_EQ(cells[c].level, level);
      EXPECT_GT(cells[c].body_count, 0);
      EXPECT_GE(cells[c].body_begin, next);
      next = cells[c].body_begin + cells[c].body_count;
    }
  }
  EXPECT_EQ(s.tree.octree.level_begin[s.tree.octree.depth + 1], int(cells.size()));

  const bool uniform = options.tree == fmm::TreeKind::uniform;
  int leaves = 0, parents = 0;
  for (int c = 0; c < int(cells.size()); ++c) {
    const Cell& cell = cells[c];
    EXPECT_GE(radii[c], 0);
    EXPECT_LE(radii[c], 0.867f);
    double largest = 0;
    for (int i = cell.body_begin; i < cell.body_begin + cell.body_count; ++i) {
      double r2 = 0;
      for (int d = 0; d < 3; ++d) {
        const double unit = s.tree.cube.edge / double(1 << grid_bits);
        const double x =
            (bodies.x[3 * order[i] + d] - (s.tree.cube.low[d] + unit * cell.centre[d])) /
            (unit * cell.edge());
        EXPECT_LE(std::fabs(x), 0.5 + 1e-6) << "a body is outside its cell";
        r2 += x * x;
        if (cell.is_leaf()) {
          const double stored[3] = {placed[i].x, placed[i].y, placed[i].z};
          EXPECT_NEAR(stored[d], x, 1e-9);
        }
      }
      largest = std::max(largest, r2);
    }
    EXPECT_LE(std::sqrt(largest), radii[c] * 1.00001 + 1e-9);
    if (cell.is_leaf()) {
      ++leaves;
      if (uniform) {
        EXPECT_EQ(cell.level, s.tree.octree.depth);
      } else if (cell.level < *options.depth) {
        EXPECT_LE(cell.body_count, *options.leaf_capacity);
      }
    } else {
      ++parents;
      if (!uniform) {
        EXPECT_GT(cell.body_count, *options.leaf_capacity);
      }
      int next = cell.body_begin;
      for (int k = 0; k < cell.child_count; ++k) {
        const Cell& child = cells[cell.child_begin + k];
        EXPECT_EQ(child.parent, c);
        EXPECT_EQ(child.level, cell.level + 1);
        EXPECT_EQ(child.body_begin, next);
        next += child.body_count;
        for (int d = 0; d < 3; ++d)
          EXPECT_EQ(std::abs(child.centre[d] - cell.centre[d]), cell.edge() / 4);
      }
      EXPECT_EQ(next, cell.body_begin + cell.body_count);
    }
  }
  EXPECT_EQ(int(s.tree.octree.leaves.extent(0)), leaves);
  EXPECT_EQ(int(s.tree.octree.parents.extent(0)), parents);

  // tiles cover the bodies once, none longer than a team takes
  std::vector<int> covered(n, 0);
  for (const Tile& tile : to_host(s.tree.octree.tiles)) {
    EXPECT_LE(tile.count, (fmm::Tuning<Space, double>::tile));
    EXPECT_GE(tile.first, cells[tile.cell].body_begin);
    EXPECT_LE(tile.first + tile.count, cells[tile.cell].body_begin + cells[tile.cell].body_count);
    for (int i = 0; i < tile.count; ++i) ++covered[tile.first + i];
  }
  for (const int count : covered) EXPECT_EQ(count, 1);
}

/// A stable sort of each stretch by falling number of rows, whatever the number of tiles.
TYPED_TEST(TreeTest, TilesOfAStretchComeBySize) {
  using S = fmm::site_t<TypeParam>;
  const S space = site<TypeParam>();
  const TileRule rule{48, is_host_space_v<S> ? 1 : 64};
  const auto stretch = std::size_t(rule.stretch());
  std::mt19937 random(1);
  for (const std::size_t n : {std::size_t(1), stretch - 1, stretch, 3 * stretch + 7}) {
    std::vector<Tile> tiles(n);
    for (std::size_t i = 0; i < n; ++i)
      tiles[i] = {CellIndex(i), BodyIndex(2 * i), BodyIndex(1 + random() % rule.size)};
    const ViewIn<Tile*, S> there("tiles", n), sorted("sorted", n);
    Kokkos::deep_copy(there, Kokkos::View<Tile*, Kokkos::HostSpace>(tiles.data(), n));
    sort_tiles<S>(space, rule, Array<Tile, S>(there.data(), n), Array<Tile, S>(sorted.data(), n));
    space.fence();
    for (std::size_t begin = 0; begin < n; begin += stretch)
      std::stable_sort(tiles.begin() + begin, tiles.begin() + std::min(begin + stretch, n),
                       [](Tile const& a, Tile const& b) {
                         return (a.count + tile_step - 1) / tile_step >
                                (b.count + tile_step - 1) / tile_step;
                       });
    const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sorted);
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_EQ(found(i).cell, tiles[i].cell) << i;
      ASSERT_EQ(found(i).first, tiles[i].first);
      ASSERT_EQ(found(i).count, tiles[i].count);
    }
  }
}

/// The tiles of a tree, sorted, are those of the tree.
TYPED_TEST(TreeTest, SortedTilesAreTheTrees) {
  using S = fmm::site_t<TypeParam>;
  const S space = site<TypeParam>();
  const std::size_t n = 100000;
  const DeviceBodies<S> device(make_bodies(Model::plummer, n));
  const ViewIn<double const* [3], S> positions = device.x;
  PlanData<S, double> s;
  s.tree.size = std::int64_t(n);
  s.tree.cube = root_cube(bounding_box(space, positions));
  const SplitRule rule{fmm::max_tree_depth, 24};
  const auto sorted = sort_bodies(space, s.memory, s.tree, positions, fmm::max_tree_depth, nullptr);
  const auto tiles_in = [&](int team) {
    s.memory.lend_place_of_bodies(s.tree.size);
    const auto tree = build_octree(space, s.memory.octree, sorted.keys, rule, TileRule{48, team},
                                   fmm::max_tree_depth);
    return to_host(tree->tiles);
  };
  auto expected = tiles_in(0), tiles = tiles_in(is_host_space_v<S> ? 1 : 64);
  ASSERT_EQ(tiles.size(), expected.size());
  ASSERT_GT(tiles.size(), 4u * 64 * TileRule::per_thread);
  const auto is_before = [](Tile const& a, Tile const& b) { return a.first < b.first; };
  EXPECT_FALSE(std::equal(tiles.begin(), tiles.end(), expected.begin(),
                          [](Tile const& a, Tile const& b) { return a.first == b.first; }));
  std::sort(tiles.begin(), tiles.end(), is_before);
  std::sort(expected.begin(), expected.end(), is_before);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    ASSERT_EQ(tiles[i].cell, expected[i].cell);
    ASSERT_EQ(tiles[i].first, expected[i].first);
    ASSERT_EQ(tiles[i].count, expected[i].count);
  }
}

TYPED_TEST(TreeTest, OctreesKeepTheirInvariants) {
  for (const Model model : all_models)
    for (const std::size_t n : {1, 2, 65, 2000}) {
      const Bodies bodies = make_bodies(model, n);
      check_tree<TypeParam>(bodies, {.leaf_capacity = 10});
      check_tree<TypeParam>(bodies, {.leaf_capacity = 100});
      check_tree<TypeParam>(bodies, {.leaf_capacity = 1, .depth = 5});
      check_tree<TypeParam>(bodies, {.depth = 3, .tree = fmm::TreeKind::uniform});
      check_tree<TypeParam>(bodies, {.leaf_capacity = 20, .tree = fmm::TreeKind::uniform});
    }
}

TYPED_TEST(TreeTest, DuplicatesStopAtTheDepthLimit) {
  using Space = fmm::site_t<TypeParam>;
  const Space space = site<TypeParam>();
  const DeviceBodies<Space> device(make_bodies(Model::point, 500));
  for (const int depth : {0, 4, 21}) {
    fmm::Solver<fmm::Laplace, fmm::Fmm<2>, double, Space> solver(
        {.leaf_capacity = 8, .depth = depth});
    auto plan = solver.build(space, device.x);
    EXPECT_EQ(plan.depth(), depth);
    EXPECT_EQ(plan.cells(), depth + 1);
    EXPECT_EQ(plan.leaves(), 1);
  }
}

/// The tiles of sorted keys as blocks.hpp defines them, step by step.
std::vector<Tile> plain_tiles(std::vector<std::uint64_t> const& keys, int block) {
  const auto common_level = [&](int i, int j) {
    int level = fmm::max_tree_depth;
    for (std::uint64_t difference = keys[i] ^ keys[j]; difference != 0; difference >>= 3) --level;
    return level;
  };
  const auto next_jump = [&](int begin, int end, int level) {
    int k = begin + 1;
    while (k < end && common_level(k - 1, k) > level) ++k;
    return k;
  };
  const auto is_clump = [&](int begin, int end, int level) {
    return end - begin > 1 && common_level(begin, end - 1) >= level + clump_levels;
  };
  std::vector<Tile> tiles;
  const int n = int(keys.size());
  for (int begin = 0; begin < n;) {
    int end = std::min(n, (begin / block + 1) * block);
    while (end - begin > 1) {
      const int level = common_level(begin, end - 1), jump = next_jump(begin, end, level);
      if (jump == end ||
          (!is_clump(begin, jump, level) && !is_clump(jump, next_jump(jump, end, level), level)))
        break;
      end = jump;
    }
    tiles.push_back({-1, begin, end - begin});
    begin = end;
  }
  return tiles;
}

TYPED_TEST(TreeTest, BlocksAreCutWhereTheyJumpToAClump) {
  using Space = fmm::site_t<TypeParam>;
  const Space space = site<TypeParam>();
  const auto check = [&](Bodies const& bodies) {
    std::size_t most = 0;
    for (const int block : {1, 8, 16, 96, 384}) {
      PlanData<Space, double> s;
      const DeviceBodies<Space> device(bodies);
      const ViewIn<double const* [3], Space> positions = device.x;
      s.tree.size = std::int64_t(bodies.size());
      s.tree.cube = root_cube(bounding_box(space, positions));
      const auto keys =
          sort_bodies(space, s.memory, s.tree, positions, fmm::max_tree_depth, nullptr).keys;
      const auto tiles =
          to_host(block_tiles(space, keys, block, s.memory.octree.tiles, s.memory.octree.totals));
      const auto expected = plain_tiles(to_host(keys), block);
      EXPECT_EQ(tiles.size(), expected.size());
      for (std::size_t i = 0; i < std::min(tiles.size(), expected.size()); ++i) {
        EXPECT_EQ(tiles[i].first, expected[i].first);
        EXPECT_EQ(tiles[i].count, expected[i].count);
      }
      most = std::max(most, tiles.size() - (bodies.size() + block - 1) / block);
    }
    return most;
  };
  for (const Model model : all_models)
    for (const std::size_t n : {1, 2, 65, 3000}) check(make_bodies(model, n));
  // clumps of 1 .. 50 bodies, far smaller than their distances
  Bodies clumps = make_bodies(Model::cube, 3000);
  for (int i = 0; i < 3000; ++i)
    for (int d = 0; d < 3; ++d)
      clumps.x[3 * i + d] = 1e-6 * clumps.x[3 * i + d] + clumps.x[3 * (i - i % (1 + i / 60)) + d];
  EXPECT_GT(check(clumps), 10u);
}

/// Centres of cells are exact in double: shifting all bodies by a multiple of a large power of two shifts
/// the cube by just that.
TYPED_TEST(TreeTest, CubesMoveWithTheirBodies) {
  using Space = fmm::site_t<TypeParam>;
  const Space space = site<TypeParam>();
  Bodies bodies = make_bodies(Model::cube, 1000);
  for (double& x : bodies.x) x = std::round(x * 0x1p20) * 0x1p-20;
  for (const int layers : {1, 6, 26}) {
    const Cube cube = root_cube(bounding_box(space, DeviceBodies<Space>(bodies).x), layers);
    Bodies far = bodies;
    for (double& x : far.x) x += 0x1p20;
    const Cube moved = root_cube(bounding_box(space, DeviceBodies<Space>(far).x), layers);
    EXPECT_EQ(moved.edge, cube.edge) << layers;
    for (int d = 0; d < 3; ++d) EXPECT_EQ(moved.low[d] - 0x1p20, cube.low[d]) << layers;
  }
}

/// Coordinates in three parts of float: good to 2^-74 of a leaf's edge, of bodies near the origin, too, whose positions
/// are finer than their leaves' centres are.
TYPED_TEST(TreeTest, KeepsCoordinatesInThreeParts) {
  if (std::numeric_limits<long double>::digits < 64) GTEST_SKIP() << "long double is double";
  using Space = fmm::site_t<TypeParam>;
  const Space space = site<TypeParam>();
  Bodies bodies = make_bodies(Model::cube, 3000);
  for (double& x : bodies.x) x -= 0.5;
  for (int i = 0; i < 30; ++i) bodies.x[i] *= std::pow(10.0, -i);
  for (int d = 0; d < 3; ++d) {  // the root is the unit cube
    bodies.x[3 * 100 + d] = -0.5;
    bodies.x[3 * 101 + d] = 0.5;
  }
  const DeviceBodies<Space> device(bodies);
  const ViewIn<double const* [3], Space> positions = device.x;
  PlanData<Space, Mixed> s;
  s.memory.parts = 3;
  build_plan<DualTree<>>(
      space, s, positions,
      fmm::Solver<Laplace, fmm::Fmm<4>, Mixed>({.theta = 0.5, .leaf_capacity = 20}).options(),
      {2, 0, true}, nullptr);
  space.fence();
  const auto cells = to_host(s.tree.octree.cells);
  const auto order = to_host(s.tree.permutation);
  const auto high = to_host(s.tree.bodies), low = to_host(s.tree.low),
             lowest = to_host(s.tree.lowest);
  ASSERT_EQ(s.tree.cube.edge, 1);
  double most_of_two = 0;
  for (Cell const& cell : cells)
    for (int i = cell.body_begin; cell.is_leaf() && i < cell.body_begin + cell.body_count; ++i)
      for (int d = 0; d < 3; ++d) {
        const auto part = [d](auto const& body) {
          return (long double)(d == 0 ? body.x : d == 1 ? body.y : body.z);
        };
        const long double edge = std::ldexp(1.0L, -cell.level),
                          centre = s.tree.cube.low[d] +
                                   std::ldexp((long double)cell.centre[d], -grid_bits),
                          left = -(centre + edge * part(high[i])) - edge * part(low[i]) +
                                 (long double)bodies.x[3 * order[i] + d];
        most_of_two = std::max(most_of_two, double(std::fabs(left / edge)));
        ASSERT_LE(double(std::fabs(left / edge - part(lowest[i]))), 0x1p-74) << i;
      }
  EXPECT_LE(most_of_two, 0x1p-50);
  EXPECT_GE(most_of_two, 0x1p-52);
}

/// Leaves of many bodies at one place and chains of cells that end in one are; not those of one body, nor of
/// bodies of which the last is elsewhere, if only by its low part.
TYPED_TEST(TreeTest, CellsAtOnePlaceAreMarked) {
  using Space = fmm::site_t<TypeParam>;
  const Space space = site<TypeParam>();
  const auto cell = [](int begin, int count, int parent, int child, int level, int children) {
    return Cell{{}, begin, count, parent, child, std::int16_t(level), std::int16_t(children)};
  };
  const std::vector<Cell> cells = {
      cell(0, 71, -1, 1, 0, 4),                            // the root, of
      cell(0, 20, 0, 5, 1, 1),  cell(20, 30, 0, 0, 1, 0),  // a chain; a leaf, whose last body is
      cell(50, 1, 0, 0, 1, 0),  cell(51, 20, 0, 0, 1, 0),  // elsewhere; one body; a low part
      cell(0, 20, 1, 6, 2, 1),  cell(0, 20, 5, 0, 3, 0)};
  std::vector<Body<float>> bodies(71, {0.25f, -0.125f, 0.5f, 1}), low(71, {1e-9f, 0, 0, 0});
  for (int i = 0; i < 71; ++i) bodies[i].q = float(i);
  bodies[49].y = 0;
  low[70].z = 1e-9f;
  fmm::detail::Buffer<Cell, Space> cell_memory("cells");
  fmm::detail::Buffer<Body<float>, Space> body_memory("bodies"), low_memory("low parts");
  fmm::detail::Buffer<std::uint8_t, Space> memory("marks");
  const auto marks = [&](bool in_two_parts) {
    Array<Body<float>, Space> low_parts;
    if (in_two_parts) low_parts = fmm::detail::to_device(space, low_memory, low);
    return to_host(cells_at_one_place(space, fmm::detail::to_device(space, cell_memory, cells),
                                      fmm::detail::to_device(space, body_memory, bodies), low_parts,
                                      memory));
  };
  EXPECT_EQ(marks(true), (std::vector<std::uint8_t>{0, 1, 0, 0, 0, 1, 1}));
  EXPECT_EQ(marks(false), (std::vector<std::uint8_t>{0, 1, 0, 0, 1, 1, 1}));
}

/// A cube of so many layers of cells ends with them: the bodies fill the first ones on the level that has at
/// least as many.
TYPED_TEST(TreeTest, CubesHaveAsManyLayersAsAsked) {
  using Space = fmm::site_t<TypeParam>;
  const Space space = site<TypeParam>();
  Bodies lattice = make_bodies(Model::cube, 7 * 7 * 7);  // of an extent of 96, which has few bits
  for (int i = 0; i < 7 * 7 * 7; ++i)
    for (int d = 0, rest = i; d < 3; ++d, rest /= 7) lattice.x[3 * i + d] = 16 * (rest % 7);
  for (Bodies const& bodies : {make_bodies(Model::cube, 20000), lattice}) {
    const DeviceBodies<Space> device(bodies);
    for (const int layers : {1, 2, 6, 8, 12, 24, 26, 60}) {
      const Cube cube = root_cube(bounding_box(space, device.x), layers);
      int cells = 1;
      while (cells < layers) cells *= 2;
      double most = 0;
      for (std::size_t i = 0; i < bodies.x.size(); ++i) {
        const double at = (bodies.x[i] - cube.low[i % 3]) / cube.edge * cells;
        EXPECT_GE(at, 0) << layers;
        most = std::max(most, at);
      }
      if (cells > layers) {  // or else keys are cut off there
        EXPECT_LT(most, layers) << layers;
      }
      EXPECT_LE(most, layers) << layers;
      EXPECT_GT(most, layers * (1 - 0x1p-9 - 0x1p-19)) << layers;
    }
  }
}

/// The order of the bodies, and so the bits of all sums, does not depend on what was built before: deep trees, for
/// which more levels are sorted, or shallow ones.
TYPED_TEST(TreeTest, OrderDoesNotDependOnEarlierBuilds) {
  using Space = fmm::site_t<TypeParam>;
  const Space space = site<TypeParam>();
  const fmm::Options options{.leaf_capacity = 16, .depth = fmm::max_tree_depth};
  const auto order_in = [&](PlanData<Space, double>& s, Bodies const& bodies) {
    const DeviceBodies<Space> device(bodies);
    const ViewIn<double const* [3], Space> positions = device.x;
    const std::int64_t n = s.tree.size = std::int64_t(bodies.size());
    s.tree.cube = root_of_tree(bounding_box(space, positions), n, options, {0});
    build_tree<fmm::DualTree<>>(space, s.memory, s.tree, positions, split_rule(options, n, 21),
                                nullptr);
    return to_host(s.tree.permutation);
  };
  Bodies pairs = make_bodies(Model::cube, 3000);  // nearly at one point
  for (int i = 0; i < 60; ++i)
    for (int d = 0; d < 3; ++d) pairs.x[3 * i + d] = 0.3 + 1e-6 * pairs.x[3 * i + d];
  Bodies point = make_bodies(Model::cube, 3000);  // and at one
  for (int i = 0; i < 60 * 3; ++i) point.x[i] = 0.3;
  const Bodies sets[] = {make_bodies(Model::cube, 3000), make_bodies(Model::plummer, 3000), pairs,
                         point};
  PlanData<Space, double> used;
  std::vector<int> tries;
  for (const int which : {0, 2, 0, 3, 1, 2, 1, 0}) {
    PlanData<Space, double> fresh;
    const auto expected = order_in(fresh, sets[which]);
    EXPECT_EQ(order_in(used, sets[which]), expected) << which;
    EXPECT_EQ(used.memory.sort_try, fresh.memory.sort_try) << which;
    tries.push_back(used.memory.sort_try);
  }
  EXPECT_EQ(tries[0], 0);
  EXPECT_GT(*std::max_element(tries.begin(), tries.end()), 1);
}

/// Leaves of bodies that fill a cube are about equally full whatever N; a tree's depth, where it is given, and a
/// uniform tree's bounding cube hold.
TYPED_TEST(TreeTest, LeavesAreAsFullAtEveryN) {
  using Space = fmm::site_t<TypeParam>;
  fmm::Options options{.leaf_capacity = 64, .depth = fmm::max_tree_depth};
  const Space space = site<TypeParam>();
  for (const std::size_t n : {4000, 6000, 9000, 13000, 20000, 30000}) {
    const Bodies bodies = make_bodies(Model::cube, n);
    const DeviceBodies<Space> device(bodies);
    const ViewIn<double const* [3], Space> positions = device.x;
    PlanData<Space, double> s;
    s.tree.cube = root_of_tree(bounding_box(space, positions), std::int64_t(n), options, {0});
    s.tree.size = std::int64_t(n);
    build_tree<fmm::DualTree<>>(space, s.memory, s.tree, positions,
                                split_rule(options, std::int64_t(n), 21), nullptr);
    const auto cells = to_host(s.tree.octree.cells);
    const auto leaves =
        std::count_if(cells.begin(), cells.end(), [](Cell const& cell) { return cell.is_leaf(); });
    const double mean = double(n) / double(leaves);
    EXPECT_GT(mean, 0.25 * 64) << n;
    EXPECT_LT(mean, 0.60 * 64) << n;
  }
  EXPECT_EQ(layers_of_leaves(options, 64, fmm::max_tree_depth), 1);
  EXPECT_EQ(layers_of_leaves(options, 5529600, fmm::max_tree_depth), 60);
  EXPECT_EQ(layers_of_leaves(options, 5529600, 5), 1);
  options.depth = 5;
  EXPECT_EQ(layers_of_leaves(options, 5529600, fmm::max_tree_depth), 1);
  options.tree = fmm::TreeKind::uniform;
  options.depth.reset();
  EXPECT_EQ(layers_of_leaves(options, 5529600, fmm::max_tree_depth), 1);
}

}  // namespace
}  // namespace fmm_test
