// SPDX-License-Identifier: BSD-3-Clause
// What an evaluation is checked at, and what it says of all bodies.
#include "support.hpp"

namespace fmm_test {
namespace {

using fmm::tolerance::DrawnGroup, fmm::tolerance::GroupDraws, fmm::tolerance::SumOverGroups,
    fmm::tolerance::TileWeight, fmm::tolerance::seen_error;
constexpr int row = 16;

/// 2000 tiles of 10 to 64 bodies; `expected(t, g)` of group g of tile t, in any unit, seven tenths of the draws in all.
struct Tiles {
  std::vector<TileWeight> weights;
  std::vector<std::vector<float>> groups;

  template <class Expected>
  explicit Tiles(Expected const& expected) {
    double all = 0;
    for (int t = 0; t < 2000; ++t) {
      TileWeight weight{0, 10 + t % 55};
      std::vector<float> of_tile(row);
      for (int g = 0; g < int(weight.groups()); ++g) weight.weight += of_tile[g] = expected(t, g);
      all += weight.weight;
      weights.push_back(weight);
      groups.push_back(of_tile);
    }
    if (all > 0)
      for (TileWeight& weight : weights) weight.weight *= 0.7 / all;
  }
  std::vector<DrawnGroup> draw(GroupDraws& draws, int count) const {
    return draws.draw_groups(count, 512, row, [&](auto const& tiles) {
      std::vector<float> rows;
      for (const auto t : tiles) rows.insert(rows.end(), groups[t].begin(), groups[t].end());
      return rows;
    });
  }
};

/// Whatever is expected, estimates are right on average; where errors are rare and expected, so is each of them.
TEST(GroupDraws, SayWhatAllGroupsHave) {
  // of the errors nine tenths are in 30 groups
  const auto error = [](int t, int g) {
    return (t % 67 == 5 && g == 1 ? 30000.0 : 3.0) * (1 + (t + g) % 5);
  };
  const auto is_expected = [&](int t, int g) { return float(error(t, g) * (t % 2 ? 0.3 : 2)); };
  for (const bool knows : {true, false}) {
    const Tiles tiles([&](int t, int g) { return knows ? is_expected(t, g) : 0.0f; });
    double all = 0;
    for (int t = 0; t < 2000; ++t)
      for (int g = 0; g < int(tiles.weights[t].groups()); ++g) all += error(t, g);
    double mean = 0;
    int above = 0;
    constexpr int seeds = 200;
    for (int seed = 1; seed <= seeds; ++seed) {
      GroupDraws draws(tiles.weights, std::uint64_t(seed));
      SumOverGroups sum;
      int count = 0;
      for (DrawnGroup const& group : tiles.draw(draws, 256)) {
        EXPECT_LT(group.number, tiles.weights[group.tile].groups());
        sum.add(error(int(group.tile), int(group.number)), group);
        count += group.times;
      }
      EXPECT_EQ(count, 256);
      mean += sum.likely() / all / seeds;
      above += sum.likely(3) >= all;
      EXPECT_LE(sum.likely(-3), sum.likely());
    }
    EXPECT_NEAR(mean, 1, knows ? 0.03 : 0.5);
    if (knows) {
      EXPECT_GE(above, seeds - 4);  // 0.8 % are expected below
    }
  }
}

TEST(GroupDraws, OfFewTakeAll) {
  std::vector<TileWeight> weights(20, TileWeight{0, 10});
  GroupDraws draws(weights, 1);
  EXPECT_TRUE(draws.draws_all_groups(512));
  EXPECT_FALSE(draws.draws_all_groups(59));
  SumOverGroups sum;
  for (DrawnGroup const& group : draws.draw_groups(64, 512, row, [](auto const&) {
         ADD_FAILURE();
         return std::vector<float>();
       }))
    sum.add(double(group.tile + group.number), group);
  EXPECT_EQ(sum.likely(), 3 * 190 + 20 * 3);
  EXPECT_EQ(sum.likely(3), sum.likely());
}

/// Of two tiles, the second one with three bodies: the groups' shares in what differs and in what there is.
TEST(GroupWeights, AreSharesOfDifferencesAndOfResults) {
  using Site = fmm::site_t<Kokkos::DefaultExecutionSpace>;
  using Sum = fmm::Sums<double>;
  const Site site{Kokkos::DefaultExecutionSpace()};
  constexpr int row = fmm::tolerance::groups_of_tile<Site, double>;
  std::vector<fmm::Tile> tiles(2);
  tiles[0].first = 0, tiles[0].count = 6;
  tiles[1].first = 6, tiles[1].count = 3;
  std::vector<Sum> sums(9, Sum{5, 1, 2, 2}), others = sums;
  others[4].x += 3, others[4].potential += 1;  // the second group
  others[7].z += 1;                            // and the third
  fmm::detail::Buffer<fmm::Tile, Site> tiles_buffer("tiles");
  fmm::detail::Buffer<Sum, Site> sums_buffer("sums"), others_buffer("others");
  fmm::detail::Buffer<float, Site> weights_buffer("weights");
  const auto weights = [&](fmm::tolerance::Quantities of, fmm::tolerance::SquaresOfSums* all) {
    const auto there = weights_buffer.resize(2 * row);
    const auto squares = fmm::tolerance::weigh_groups<Site, double>(
        site, fmm::detail::to_device(site, tiles_buffer, tiles),
        fmm::detail::to_device(site, sums_buffer, sums),
        fmm::detail::to_device(site, others_buffer, others), of, there);
    if (all) *all = squares;
    std::vector<float> numbers(2 * row);
    fmm::detail::read_back(site, there.data(), numbers.data(), numbers.size());
    return std::vector<float>{numbers[0], numbers[1], numbers[row], numbers[2], numbers[row + 1]};
  };
  const auto expect = [&](std::vector<float> const& seen, std::vector<double> const& expected) {
    for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_NEAR(seen[i], expected[i], 1e-6) << i;
  };
  fmm::tolerance::SquaresOfSums all;
  expect(weights({}, &all), {0.2 * 4 / 9, 0.2 * 2 / 9 + 0.45, 0.2 * 3 / 9 + 0.05, 0, 0});
  EXPECT_EQ(all.values.field, 81);
  EXPECT_EQ(all.values.potential, 225);
  EXPECT_EQ(all.differences.field, 10);
  EXPECT_EQ(all.differences.potential, 1);
  expect(weights({.field = false, .potential = true}, nullptr),
         {0.2 * 4 / 9, 0.2 * 2 / 9 + 0.5, 0.2 * 3 / 9, 0, 0});
  expect(weights({.field = true, .potential = true}, nullptr),
         {0.2 * 4 / 9, 0.2 * 2 / 9 + 0.475, 0.2 * 3 / 9 + 0.025, 0, 0});
  others = sums;  // nothing differs
  expect(weights({}, nullptr), {0.2 * 4 / 9, 0.2 * 2 / 9, 0.2 * 3 / 9, 0, 0});
  sums[0].y = std::numeric_limits<double>::infinity();  // and this is no number to have a share in
  expect(weights({}, nullptr), {0, 0, 0, 0, 0});
  sums.assign(9, Sum{0, 0, 0, 0}), others = sums;
  expect(weights({}, nullptr), {0, 0, 0, 0, 0});
}

TEST(SeenError, OfNothingIsNone) {
  SumOverGroups none, some;
  none.add(0, {0, 0, 1, 0});
  some.add(4, {0, 0, 1, 0});
  EXPECT_EQ(seen_error(0, none, 0).most, 0);
  EXPECT_EQ(seen_error(0, some, 16).most, 0.5);
  EXPECT_EQ(seen_error(0, some, 0).most, std::numeric_limits<double>::infinity());
  EXPECT_EQ(seen_error(0, some, std::numeric_limits<double>::infinity()).most, 0);
  EXPECT_EQ(seen_error(5, some, 1).most, 3);   // what is known, and the rest
  EXPECT_EQ(seen_error(-5, some, 1).most, 0);  // which may be negative
  some.add(4, {0, 1, 0.5, 1});                 // one draw says nothing of others
  EXPECT_EQ(seen_error(0, some, 12).likely, 1);
  EXPECT_EQ(seen_error(0, some, 12).most, std::numeric_limits<double>::infinity());
}

/// What other sums err by, too, is no difference: drawn groups alone tell, and few of them would often say too little.
TEST(Verification, SeesWhatOtherSumsErrByToo) {
  using Space = Kokkos::DefaultExecutionSpace;
  using Site = fmm::site_t<Space>;
  constexpr std::size_t n = 6000;
  constexpr double tolerance = 1e-3;
  const Site site{Space()};
  const DeviceBodies<Space> device(make_bodies(Model::plummer, n));
  fmm::Solver<fmm::Laplace, fmm::Fmm<4, fmm::DualTree<fmm::RadiusCriterion>>, double> solver;
  auto plan = solver.build(Space(), fmm::Inputs{device.x});
  solver.evaluate(Space(), plan, device.q, fmm::none, ViewIn<double* [3], Space>("field", n));
  auto& data = plan.data();
  auto const& octree = data.tree.octree;
  const fmm::tolerance::AddExactly<Site, double> add_exactly =
      [&](auto const& tiles, auto const& list, auto const& sums) {
        fmm::engine::add_near_field<fmm::kernels::Outputs<true, true>, double>(
            site, data.memory, data.tree,
            fmm::kernels::in_units_of(data.tree.cube.edge, fmm::Laplace()), tiles, list, sums, {});
      };
  fmm::detail::Buffer<fmm::Sums<double>, Site> sums("sums");
  fmm::detail::Buffer<float, Site> weights_buffer("weights");
  fmm::detail::Buffer<fmm::Tile, Site> some_buffer("tiles");
  const auto there = sums.resize(n);
  fmm::detail::fill(site, there, fmm::Sums<double>{});
  constexpr int row = fmm::tolerance::groups_of_tile<Site, double>;
  const auto weights = weights_buffer.resize(octree.tiles.extent(0) * row);
  fmm::detail::fill(site, weights, 0.0f);
  std::vector<fmm::Tile> tiles(octree.tiles.extent(0));
  fmm::detail::read_back(site, octree.tiles.data(), tiles.data(), tiles.size());
  const auto over_all = fmm::tolerance::pairs_over_all(site, octree, add_exactly);
  constexpr std::size_t at_a_time = fmm::tolerance::tiles_at_a_time;
  for (std::size_t begin = 0; begin < tiles.size(); begin += at_a_time) {
    const std::size_t end = std::min(tiles.size(), begin + at_a_time);
    const std::vector<fmm::Tile> some(tiles.begin() + begin, tiles.begin() + end);
    over_all(some, fmm::detail::to_device(site, some_buffer, some), there);
  }
  std::vector<fmm::Sums<double>> exact(n);
  fmm::detail::read_back(site, there.data(), exact.data(), n);
  double squares = 0;
  for (auto const& s : exact) squares += s.x * s.x + s.y * s.y + s.z * s.z;

  int passed = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    auto with_errors = exact;
    std::vector<double> errors(n);
    double all = 0;
    for (double& error : errors) {
      error = std::exp(1.2 * normal(random));
      all += error * error;
    }
    for (std::size_t i = 0; i < n; ++i)
      with_errors[i].x += errors[i] * 1.3 * tolerance * std::sqrt(squares / all);
    fmm::detail::to_device(site, sums, with_errors);
    site.fence();
    fmm::tolerance::Verification<Site, double> verification(
        site, data, weights, there, there, {.values = {.field = squares}}, {}, over_all, 1, seed);
    passed += verification.see(tolerance).two_more <= tolerance;
  }
  EXPECT_LE(passed, 1);  // of 16 to 128 groups a tenth did
}

/// What errors are relative to at least: what bodies exert on their nearest neighbours, with their softening; of a
/// leaf, and of all leaves.
TEST(RoundingOfPairs, IsBesideWhatNeighboursExert) {
  using Space = Kokkos::DefaultExecutionSpace;
  using Site = fmm::site_t<Space>;
  constexpr std::size_t n = 300;
  const Bodies bodies = make_bodies(Model::plummer, n);
  const DeviceBodies<Space> device(bodies);
  using Solver =
      fmm::Solver<fmm::Laplace, fmm::Fmm<2, fmm::DualTree<fmm::RadiusCriterion>>, fmm::Mixed>;
  const auto planned = [&](int leaf_capacity) {
    Solver solver({.leaf_capacity = leaf_capacity});
    auto plan = solver.build(Space(), fmm::Inputs{device.x});
    solver.evaluate(Space(), plan, device.q, fmm::none, ViewIn<double* [3], Space>("field", n));
    return plan;
  };
  const auto plan = planned(n), with_leaves = planned(8), with_a_body_each = planned(1);
  auto const& tree = plan.data().tree;
  const double edge = tree.cube.edge, unit = tree.charges.unit;
  for (const double softening : {0.0, 1e-3 * edge, 1e3 * edge})
    for (const double most : {softening, fmm::SplineGravity{softening}.support()}) {
      double fields = 0, potentials = 0;
      for (std::size_t i = 0; i < n; ++i) {
        double nearest2 = 1e300;
        for (std::size_t j = 0; j < n; ++j) {
          double apart2 = 0;
          for (int d = 0; d < 3; ++d)
            apart2 += std::pow(bodies.x[3 * i + d] - bodies.x[3 * j + d], 2);
          if (j != i) nearest2 = std::min(nearest2, apart2);
        }
        const double r = std::sqrt(nearest2 + most * most), q = bodies.q[i] / unit;
        fields += std::pow(q * std::sqrt(nearest2) / (r * r * r) * edge * edge, 2);
        potentials += std::pow(q / r * edge, 2);
      }
      const auto found = fmm::tolerance::rounding_of_pairs(
          Site{Space()}, fmm::tolerance::coordinates_of(tree), tree.octree.tiles,
          {softening / edge, most / edge}, 1e-4);
      EXPECT_NEAR(found.neighbours.field / fields, 1, 1e-5) << softening << ", " << most;
      EXPECT_NEAR(found.neighbours.potential / potentials, 1, 1e-5) << softening << ", " << most;
      for (auto const* some : {&plan, &with_leaves, &with_a_body_each}) {
        auto const& other = some->data().tree;
        const auto nearest = fmm::tolerance::exerted_on_nearest(
            Site{Space()}, fmm::tolerance::coordinates_of(other), other.octree.tiles,
            {softening / other.cube.edge, most / other.cube.edge});
        const double scale = std::pow(edge / other.cube.edge, 2);
        EXPECT_NEAR(nearest.field / fields * scale * scale, 1, 1e-5) << softening << ", " << most;
        EXPECT_NEAR(nearest.potential / potentials * scale, 1, 1e-5) << softening << ", " << most;
      }
    }
}

}  // namespace
}  // namespace fmm_test
