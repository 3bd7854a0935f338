// SPDX-License-Identifier: BSD-3-Clause
// What an evaluation is checked at, and what it says of all bodies.
#include "support.hpp"

namespace fmm_test {
namespace {

using fmm::tolerance::DrawnGroup, fmm::tolerance::GroupDraws, fmm::tolerance::SumOverGroups,
    fmm::tolerance::TileWeight, fmm::tolerance::seen_error;
constexpr int row = 16;

/// 2000 tiles of 10 to 64 bodies; `expected(t, g)` of group g of tile t.
struct Tiles {
  std::vector<TileWeight> weights;
  std::vector<std::vector<float>> groups;

  template <class Expected>
  explicit Tiles(Expected const& expected) {
    for (int t = 0; t < 2000; ++t) {
      TileWeight weight{0, 1 + t % 7, 0, double(10 + t % 55)};
      std::vector<float> of_tile(row);
      for (int g = 0; g < int(weight.groups()); ++g) weight.expected += of_tile[g] = expected(t, g);
      weights.push_back(weight);
      groups.push_back(of_tile);
    }
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
      EXPECT_GE(above, seeds - 2);
    }
  }
}

TEST(GroupDraws, OfFewTakeAll) {
  std::vector<TileWeight> weights(20, TileWeight{0, 1, 1, 10});
  GroupDraws draws(weights, 1);
  EXPECT_TRUE(draws.draws_all_groups(512));
  EXPECT_FALSE(draws.draws_all_groups(59));
  EXPECT_EQ(draws.field_squares(), 20);
  SumOverGroups sum;
  for (DrawnGroup const& group : draws.draw_groups(64, 512, row, [](auto const&) {
         ADD_FAILURE();
         return std::vector<float>();
       }))
    sum.add(double(group.tile + group.number), group);
  EXPECT_EQ(sum.likely(), 3 * 190 + 20 * 3);
  EXPECT_EQ(sum.likely(3), sum.likely());
}

TEST(SeenError, OfNothingIsNone) {
  SumOverGroups none, some;
  none.add(0, {0, 0, 1, 0});
  some.add(4, {0, 0, 1, 0});
  EXPECT_EQ(seen_error(none, 0).most, 0);
  EXPECT_EQ(seen_error(some, 16).most, 0.5);
  EXPECT_EQ(seen_error(some, 0).most, std::numeric_limits<double>::infinity());
  EXPECT_EQ(seen_error(some, std::numeric_limits<double>::infinity()).most, 0);
  some.add(4, {0, 1, 0.5, 1});  // one draw says nothing of others
  EXPECT_EQ(seen_error(some, 12).likely, 1);
  EXPECT_EQ(seen_error(some, 12).most, std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace fmm_test
