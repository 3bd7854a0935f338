// SPDX-License-Identifier: BSD-3-Clause
// The limit of a criterion that holds a tolerance for the bodies at hand, found from a sample of them.
#include <set>

#include "support.hpp"

namespace fmm_test {
namespace {

using fmm::tolerance::HeldTolerance, fmm::tolerance::Likeness, fmm::tolerance::TileSquares;

using Space = Kokkos::DefaultExecutionSpace;
constexpr int low = quick ? 4 : 3, middle = quick ? 8 : 6, high = quick ? 8 : 10;
constexpr double of_high = quick ? 1e-5 : 1e-7;
template <class Kernel, int Order, class Precision>
using Holding = fmm::CalibratedSolver<Kernel, Order, Precision>;

/// 160 tiles of 10 bodies with fields of `field(tile)` and errors of `error(tile)`, both squared.
template <class Field, class Error>
std::vector<TileSquares> tiles_with(Field const& field, Error const& error) {
  std::vector<TileSquares> tiles;
  for (int i = 0; i < 160; ++i) tiles.push_back({10 * field(i), 10 * error(i), 10});
  return tiles;
}

TEST(LikelyErrorOfAll, HasRoomForWhatTheSampleDoesNotSee) {
  using fmm::tolerance::likely_error_of_all;
  const auto four = [](int) { return 4.0; };
  EXPECT_EQ(likely_error_of_all(tiles_with(four, [](int) { return 0.0; })), 0);
  EXPECT_NEAR(likely_error_of_all(tiles_with(four, [](int) { return 1e-6; })), 5e-4, 1e-12);
  // four tiles have all of it: the sum and three of its standard errors, by eight steps of 1e-5
  const auto few = tiles_with(four, [](int i) { return i % 40 == 20 ? 1e-6 : 0.0; });
  EXPECT_NEAR(likely_error_of_all(few),
              std::sqrt((4e-5 + 3 * 1e-5 * std::sqrt(4 * 160 / 159.0)) / 6400), 1e-10);
  // what changes slowly from tile to tile is no matter of luck
  const auto slow = tiles_with([](int i) { return 1 + i / 40.0; }, [](int i) { return 1e-8 * i; });
  EXPECT_NEAR(likely_error_of_all(slow) / std::sqrt(1e-8 * 79.5 / (1 + 79.5 / 40)), 1, 0.01);
  // one tile has nearly all of the field: it counts as the strongest of the weakest 98 %
  const auto one = tiles_with([](int i) { return i == 77      ? 4e6
                                                 : i % 2 == 0 ? 4.0
                                                              : 6.0; },
                              [](int) { return 1e-6; });
  EXPECT_NEAR(likely_error_of_all(one), std::sqrt(1e-6 / 5), 1e-12);
  EXPECT_EQ(
      likely_error_of_all(tiles_with(four, [](int i) { return i == 7 ? std::nan("") : 0.0; })),
      std::numeric_limits<double>::infinity());
}

TEST(LikelyErrorOfAll, CountsCertainTilesOnce) {
  using fmm::tolerance::likely_error_of_all;
  const auto tiles =
      tiles_with([](int) { return 4.0; }, [](int i) { return i < 10 ? 1e-4 : 1e-6; });
  const double error = 10 * (10 * 1e-4 + 30 * 150 * 1e-6), bodies = 10 * (10 + 30 * 150);
  EXPECT_NEAR(likely_error_of_all(tiles, 10, 30), std::sqrt(error / (4 * bodies)), 1e-12);
  // one of them with more of it has its share of the standard errors, by two steps, as if it had been another
  auto one = tiles;
  one[5].error = 0.1;
  const double more = 0.1 - 10 * 1e-4;
  EXPECT_NEAR(likely_error_of_all(one, 10, 30),
              std::sqrt((error + more + 3 * more * std::sqrt(10 / 9.0)) / (4 * bodies)), 1e-10);
  EXPECT_NEAR(likely_error_of_all(tiles, 160, 30),
              std::sqrt((10 * (10 * 1e-4 + 150 * 1e-6) +
                         3 * 10 * (1e-4 - 1e-6) * std::sqrt(160 / 159.0 / 2)) /
                        6400),
              1e-10);
}

/// Whatever the errors are like, the last one is held, and nothing below `safe` is tried.
TEST(LargestLimit, HoldsTheGoalWithLittleToSpare) {
  const double safe = 1e-5, goal = 1e-4;
  for (const double scale : {0.05, 0.3, 1.0, 3.0})
    for (const double growth : {0.6, 1.0, 1.3, 2.0}) {
      int calls = 0;
      const auto error = [&](double pair_error) {
        ++calls;
        EXPECT_GT(pair_error, safe);
        return scale * goal * std::pow(pair_error / safe, growth);
      };
      const double found = fmm::tolerance::largest_limit(safe, 3 * safe, 1, goal, error);
      EXPECT_LE(calls, 6);
      if (found == safe) {
        EXPECT_GT(error(1.1 * safe), 0.85 * goal);
        continue;
      }
      EXPECT_LE(error(found), goal) << scale << ", " << growth;
      EXPECT_GE(error(found), 0.8 * goal) << scale << ", " << growth;
    }
}
/// Two that are too large say how errors grow.
TEST(LargestLimit, IsFoundFromAbove) {
  for (const double growth : {0.5, 1.0, 2.0, 3.0}) {
    const auto error = [&](double limit) { return std::pow(limit / 0.01, growth); };
    const double found = fmm::tolerance::largest_limit(0, 0.3, 0.5, 1, error);
    EXPECT_LE(error(found), 1) << growth;
    EXPECT_GE(error(found), 0.8) << growth;
  }
}
/// Errors that jump: from a few trials on no power of the limit says where.
TEST(LargestLimit, IsNearAStep) {
  for (const double step : {0.05, 0.1, 0.2}) {
    const auto error = [&](double limit) { return limit < step ? 0.3 + limit : 1.3 + limit; };
    const double found = fmm::tolerance::largest_limit(0, 0.02, 0.6, 1, error);
    EXPECT_LT(found, step);
    EXPECT_GE(found, 0.6 * step);
  }
}
/// Also where errors do not depend on the limit (the rounding of float, say), and where nothing is left to try.
TEST(LargestLimit, IsWhatIsHeldIfNothingLargerIs) {
  int calls = 0;
  const auto found = [&](double error, double held, double first, double most, double goal = 1e-4) {
    calls = 0;
    return fmm::tolerance::largest_limit(held, first, most, goal, [&](double limit) {
      ++calls;
      EXPECT_LE(limit, most);
      EXPECT_GT(limit, held);
      return error;
    });
  };
  EXPECT_EQ(found(2e-4, 1e-5, 3e-5, 1), 1e-5);
  EXPECT_GT(calls, 1);
  EXPECT_EQ(found(2e-4, 0, 0.1, 0.5), 0);
  EXPECT_EQ(found(1e-9, 1e-5, 3e-5, 1, 0), 1e-5);
  EXPECT_GT(found(0, 1e-5, 3e-5, 1), 1e-3);
  EXPECT_EQ(found(0, 1e-5, 3e-5, 1e-4), 1e-4);
  EXPECT_EQ(found(5e-5, 1e-5, 3e-5, 2e-5), 2e-5);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(found(5e-5, 1e-5, 3e-5, 1e-5), 1e-5);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(found(std::numeric_limits<double>::infinity(), 1e-5, 3e-5, 1), 1e-5);
  EXPECT_EQ(calls, 1);
}

/// The leaves of a tree over 20,000 bodies, and a sample of them.
struct SampledTree {
  std::vector<fmm::Tile> tiles, sample;
  std::vector<fmm::CellIndex> leaves;
  std::size_t certain;
  double weight;

  SampledTree(Model model, int leaf_capacity) {
    using namespace fmm;
    using namespace fmm::engine;
    const DeviceBodies<Space> device(make_bodies(model, 20000, false, 5));
    const ViewIn<double const* [3], Space> positions = device.x;
    const fmm::Solver<Laplace, fmm::Fmm<2>> solver({.leaf_capacity = leaf_capacity});
    PlanData<Space, double> storage;
    build_plan<DualTree<>>(Space(), storage, positions, solver.options(), {2, 0, true}, nullptr);
    Buffer<Tile, Space> memory("sample");
    const auto found = fmm::tolerance::sample_of_leaves(Space(), storage.tree.octree, memory);
    tiles = to_host(storage.tree.octree.tiles);
    leaves = to_host(storage.tree.octree.leaves);
    sample = to_host(found.tiles);
    certain = std::size_t(found.certain);
    weight = found.weight;
  }
};

TEST(SampleOfLeaves, StandsForAllTilesOfAnyTree) {
  for (const Model model : all_models)
    for (const int leaf_capacity : {8, 64, 300, 2500}) {
      const std::string what =
          name_of(model) + std::string(", leaves of ") + std::to_string(leaf_capacity);
      const SampledTree tree(model, leaf_capacity);
      auto const& sample = tree.sample;
      EXPECT_LE(sample.size(), std::max<std::size_t>(384, 3 * tree.tiles.size() / 16)) << what;
      EXPECT_GE(sample.size(), std::min<std::size_t>(tree.tiles.size(), 128)) << what;
      EXPECT_NEAR(double(tree.certain) + tree.weight * double(sample.size() - tree.certain),
                  double(tree.tiles.size()), 1e-9 * double(tree.tiles.size()))
          << what;
      std::set<std::int64_t> all, taken;
      for (auto const& tile : tree.tiles) all.insert(tile.first);
      for (auto const& tile : sample) {
        EXPECT_EQ(all.count(tile.first), 1u) << what;
        EXPECT_TRUE(taken.insert(tile.first).second) << what;
      }
      if (tree.certain == 0) continue;
      const auto last = sample[tree.certain - 1].cell;
      std::size_t of_largest = 0;  // all tiles of the first leaves, and no others
      for (auto const& tile : tree.tiles) of_largest += tile.cell <= last;
      EXPECT_EQ(of_largest, tree.certain) << what;
      for (std::size_t i = 0; i < tree.certain; ++i) EXPECT_LE(sample[i].cell, last) << what;
    }
}

/// Which have most of the error by radii.
TEST(SampleOfLeaves, HasTheLargest) {
  const SampledTree tree(Model::plummer, 64);
  EXPECT_GT(tree.certain, 16u);
  for (std::size_t i = 0; i < 16; ++i)
    EXPECT_TRUE(std::any_of(tree.sample.begin(), tree.sample.end(), [&](auto const& tile) {
      return tile.cell == tree.leaves[i];
    })) << i;
}

TEST(HeldTolerance, IsFoundAnewWhenBodiesOrChargesAreOthers) {
  HeldTolerance held(1e-4, 1e-5);
  const Likeness bodies{30000, 2000, {1, 0.1f, 0.3f}};
  const auto is_found = [&](Likeness const& like) {
    if (held.knows(like)) return false;
    held.remember(like, {.pair_error = 3e-5, .field_scale = 2});
    return true;
  };
  EXPECT_TRUE(is_found(bodies));
  EXPECT_FALSE(is_found(bodies));
  auto others = bodies;
  others.bodies = 31000;
  others.cells = 2100;
  others.powers = {1.01f, 0.12f, 0.28f};
  EXPECT_FALSE(is_found(others));
  EXPECT_EQ(held.now().pair_error, 3e-5);
  EXPECT_EQ(held.now().field_scale, 2);
  for (const auto& like :
       {Likeness{40000, 2000, {1, 0.1f, 0.3f}}, Likeness{30000, 3000, {1, 0.1f, 0.3f}},
        Likeness{30000, 2000, {0.1f, 0.1f, 0.3f}}, Likeness{30000, 2000, {1, 0.5f, 0.3f}},
        Likeness{30000, 2000, {1, 0.1f, 0.3f}, {.field = false, .potential = true}}}) {
    EXPECT_TRUE(is_found(like));
    EXPECT_TRUE(is_found(bodies));
  }
  // whose near fields are weaker; stronger ones leave errors as they are
  Likeness strong = bodies, weaker = bodies;
  strong.near_strength = 10;
  weaker.near_strength = 8.9;
  EXPECT_FALSE(is_found(strong));
  EXPECT_TRUE(is_found({40000, 2000, {1, 0.1f, 0.3f}, {}, 10}));
  EXPECT_TRUE(is_found(strong));
  EXPECT_TRUE(is_found(weaker));
  EXPECT_FALSE(is_found(strong));
  EXPECT_TRUE(is_found({40000, 2000, {1, 0.1f, 0.3f}}));
  EXPECT_TRUE(is_found(bodies));
  int evaluations = 1;
  while (!is_found(bodies)) ++evaluations;
  EXPECT_EQ(evaluations, fmm::tolerance::constants.most_evaluations);
  // of few bodies; what was found for others stays, until it is corrected
  EXPECT_TRUE(is_found({1000, 50, {1}}));
  held.correct({1e-5});
  EXPECT_FALSE(is_found({1000, 50, {1}}));
  EXPECT_EQ(held.now().pair_error, 1e-5);
  EXPECT_FALSE(is_found(bodies));
  EXPECT_EQ(held.now().pair_error, 3e-5);
  held.forget();
  EXPECT_TRUE(is_found(bodies));
  EXPECT_FALSE(is_found({1000, 50, {1}}));
}

/// The criterion whose limit was found, and that.
struct Limit {
  bool by_radii;
  double value;
  friend bool operator==(Limit const&, Limit const&) = default;
};
Limit limit_of(fmm::Report const& report) {
  auto const& found = report.found.value();
  EXPECT_NE(found.pair_error.has_value(), found.theta.has_value());
  return found.pair_error ? Limit{false, *found.pair_error} : Limit{true, *found.theta};
}
/// The limit that an evaluation of these bodies goes by, and its field.
struct Evaluated {
  Limit limit;
  std::vector<double> field;
};
template <class Solver>
Evaluated evaluated(Solver& solver, Bodies const& bodies) {
  fmm::Report report;
  const auto field = run(solver, bodies, {}, &report).field;
  EXPECT_EQ(report.found.value().order, solver.order);
  return {limit_of(report), field};
}

/// Returns by which criterion.
template <class Kernel, int Order, class Precision>
Limit holds(Model model, bool mixed, double tolerance, fmm::Options options = {}) {
  const std::string what = name_of(model) + std::string(mixed ? ", mixed" : "");
  const Bodies bodies = make_bodies(model, 30000, mixed, 5);
  options.tolerance = tolerance;
  Holding<Kernel, Order, Precision> solver(options);
  const double safe = fmm::tolerance::pair_error_for(tolerance, Order);
  const auto [found, field] = evaluated(solver, bodies);
  const double error =
      relative_l2(field, direct_sum<Kernel>(bodies, {.softening = options.softening}).field);
  EXPECT_LT(error, tolerance) << what;
  // close pairs are most of a shell's field, and their luck in the sample decides
  if (model != Model::shell) {
    EXPECT_GT(error, 0.1 * tolerance) << what;
  }
  EXPECT_GT(found.value, found.by_radii ? 0.4 : safe) << what;
  const Evaluated again = evaluated(solver, bodies);
  EXPECT_EQ(again.field, field) << what;
  EXPECT_EQ(again.limit, found) << what;
  EXPECT_EQ(solver.options().tolerance, tolerance) << what;  // what was asked for
  EXPECT_FALSE(solver.options().pair_error) << what;
  return found;
}

TEST(Calibration, HoldsTheTolerance) {
  holds<Laplace, low, fmm::Mixed>(Model::cube, false, 1e-2);
  holds<Laplace, middle, fmm::Mixed>(Model::cube, true, 1e-4);
  holds<Laplace, middle, fmm::Mixed>(Model::plummer, false, 1e-4);
  holds<Laplace, middle, fmm::Mixed>(Model::clusters, false, 1e-3);
  holds<Laplace, middle, fmm::Mixed>(Model::disk, false, 1e-4);
  holds<Laplace, 8, double>(Model::cube, false, 1e-6);
  holds<Laplace, 8, double>(Model::shell, false, 1e-5);
}

TEST(Calibration, HoldsTheToleranceWhereChargesCancel) {
  holds<Laplace, middle, fmm::Mixed>(Model::plummer, true, 1e-4);
  holds<Laplace, middle, fmm::Mixed>(Model::disk, true, 1e-3);
  holds<Laplace, 8, double>(Model::shell, true, 1e-5);
}

TEST(Calibration, HoldsTheToleranceWithPlummerSoftening) {
  holds<fmm::SoftenedGravity, quick ? 4 : 5, double>(Model::cube, false, 1e-4, {.softening = 1e-3});
}

/// In a cube radii are as good, and their lists take less time; at small errors in a Plummer sphere they are not.
TEST(Calibration, GoesByRadiiWhereTheyCostLess) {
  EXPECT_TRUE((holds<Laplace, low, fmm::Mixed>(Model::cube, false, 1e-2).by_radii));
  EXPECT_FALSE((holds<Laplace, high, double>(Model::plummer, false, of_high).by_radii));
}

/// One solver for bodies of either kind, one after the other.
TEST(Calibration, ChangesTheCriterionWithTheBodies) {
  const Bodies cube = make_bodies(Model::cube, 30000, false, 5),
               plummer = make_bodies(Model::plummer, 30000, false, 5);
  Holding<Laplace, high, double> solver({.tolerance = of_high}), other({.tolerance = of_high});
  const Evaluated of_cube = evaluated(solver, cube);
  EXPECT_TRUE(of_cube.limit.by_radii);
  const Evaluated of_plummer = evaluated(solver, plummer);
  EXPECT_FALSE(of_plummer.limit.by_radii);
  EXPECT_EQ(of_plummer.field, run(other, plummer).field);
  EXPECT_EQ(run(solver, cube).field, of_cube.field);
}

/// What was found for bodies holds while they move, until it is found anew.
TEST(Calibration, HoldsForBodiesThatMove) {
  Bodies bodies = make_bodies(Model::plummer, 30000, false, 5);
  const Bodies velocities = make_bodies(Model::cube, 30000, false, 6);
  Holding<Laplace, middle, fmm::Mixed> solver({.tolerance = 1e-4});
  int kept = 0;
  Limit last{};  // none that is found
  for (int step = 0; step < 16; ++step) {
    const Evaluated now = evaluated(solver, bodies);
    kept += now.limit == last;
    last = now.limit;
    if (step % 3 == 0) {
      EXPECT_LT(relative_l2(now.field, direct_sum<Laplace>(bodies).field), 1e-4) << step;
    }
    // all contract, and each moves by a few per cent of the core's size in a direction of its own
    for (std::size_t i = 0; i < bodies.x.size(); ++i)
      bodies.x[i] += 0.05 * (velocities.x[i] - 0.5) - 0.02 * bodies.x[i];
  }
  EXPECT_GT(kept, 8);
}

/// Every second body close to the one before it, a number of distances that is normally distributed; or on a sphere,
/// anywhere or spread evenly.
Bodies pairs(std::size_t n, double distance) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  Bodies bodies = make_bodies(Model::cube, n);
  for (std::size_t i = 1; i < n; i += 2)
    for (std::size_t d = 0; d < 3; ++d)
      bodies.x[3 * i + d] = bodies.x[3 * i + d - 3] + distance * normal(random);
  return bodies;
}
Bodies on_sphere(std::size_t n, bool evenly) {
  std::mt19937_64 random(8);
  std::uniform_real_distribution<double> uniform(0, 1);
  Bodies bodies = make_bodies(Model::cube, n);
  for (std::size_t i = 0; i < n; ++i) {
    const double z = 2 * (evenly ? (double(i) + 0.5) / double(n) : uniform(random)) - 1,
                 turns = evenly ? 0.6180339887498949 * double(i) : uniform(random),
                 r = std::sqrt(1 - z * z), angle = 6.283185307179586 * turns;
    bodies.x[3 * i] = r * std::cos(angle);
    bodies.x[3 * i + 1] = r * std::sin(angle);
    bodies.x[3 * i + 2] = z;
  }
  return bodies;
}

/// As many bodies with the same multipoles, whose field was what close pairs exert and is so no more.
TEST(Calibration, IsFoundAnewWhereNearFieldsAreWeaker) {
  const std::size_t n = 24000;
  const auto holds_one_after_the_other = [](Bodies const& first, Bodies const& second,
                                            double tolerance) {
    Holding<Laplace, 8, double> solver({.tolerance = tolerance});
    evaluated(solver, first);
    EXPECT_LT(relative_l2(evaluated(solver, second).field, direct_sum<Laplace>(second).field),
              tolerance);
  };
  holds_one_after_the_other(pairs(n, 1e-5), pairs(n, 1e-2), 1e-5);
  holds_one_after_the_other(on_sphere(n, false), on_sphere(n, true), 1e-4);
}

/// What evaluations of one plan give, one after the other.
template <class Solver>
class OnePlan {
 public:
  OnePlan(Solver& solver, Bodies const& bodies)
      : solver_(solver),
        device_(bodies),
        plan_(solver.build(Space(), fmm::Inputs{device_.x, device_.q})) {}

  /// With these charges; `report` is of this evaluation.
  std::vector<double> field(std::vector<double> const& charges, fmm::Report& report) {
    const auto q = column_in<Space>(charges);
    ViewIn<double*, Space> potential("potential", charges.size());
    ViewIn<double* [3], Space> field("field", charges.size());
    report = {};
    solver_.evaluate(Space(), plan_, q, potential, field, &report);
    return to_host(potential, field).field;
  }

 private:
  Solver& solver_;
  DeviceBodies<Space> device_;
  typename Solver::plan_type plan_;
};

/// One plan: half of the charges have the other sign, and less may be accepted.
TEST(Calibration, IsOfTheChargesOfTheEvaluation) {
  const Bodies bodies = make_bodies(Model::cube, 30000, false, 5);
  Bodies mixed = bodies;
  for (std::size_t i = 0; i < mixed.size(); i += 2) mixed.q[i] *= -1;
  Holding<Laplace, middle, double> solver({.tolerance = 1e-4});
  OnePlan one(solver, bodies);
  fmm::Report report;
  const auto first = one.field(bodies.q, report);
  EXPECT_NE(report.find("calibration"), nullptr);
  EXPECT_EQ(one.field(bodies.q, report), first);
  EXPECT_EQ(report.find("calibration"), nullptr);
  const Limit of_one_sign = limit_of(report);
  const auto field = one.field(mixed.q, report);
  EXPECT_NE(report.find("calibration"), nullptr);
  EXPECT_LT(relative_l2(field, direct_sum<Laplace>(mixed).field), 1e-4);
  const Limit of_both = limit_of(report);
  EXPECT_NE(of_both, of_one_sign);
  if (of_both.by_radii == of_one_sign.by_radii) {
    EXPECT_LT(of_both.value, of_one_sign.value);
  }
}

/// Few bodies have all of the charge, in total the same.
TEST(Calibration, IsFoundAnewForChargesOfFewBodies) {
  const Bodies bodies = make_bodies(Model::cube, 30000, false, 5);
  Bodies few = bodies;
  for (std::size_t i = 0; i < few.size(); ++i) few.q[i] *= i % 1000 == 0 ? 1000 : 0;
  Holding<Laplace, middle, double> solver({.tolerance = 1e-4});
  OnePlan one(solver, bodies);
  fmm::Report report;
  one.field(bodies.q, report);
  const auto field = one.field(few.q, report);
  EXPECT_NE(report.find("calibration"), nullptr);
  EXPECT_LT(relative_l2(field, direct_sum<Laplace>(few).field), 1e-4);
}

TEST(Calibration, ToleranceIsForSolversThatCanHoldIt) {
  const auto refused = [](auto solver_of, fmm::Options const& options, std::string const& word) {
    using Solver = typename decltype(solver_of)::type;
    try {
      Solver solver(options);
      FAIL() << word;
    } catch (fmm::InvalidArgument const& e) {
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
    }
  };
  const std::type_identity<Holding<Laplace, 4, double>> in_double;
  const std::type_identity<fmm::Solver<Laplace, fmm::Fmm<4>>> by_radii;
  const std::type_identity<
      fmm::Solver<Laplace, fmm::Fmm<4, DualTree<fmm::MultipolePowerCriterion>>, double>>
      by_powers;
  refused(by_radii, {.tolerance = 1e-3}, "ToleranceSolver");
  refused(by_powers, {.tolerance = 1e-3}, "ToleranceSolver");
  refused(in_double, {.tolerance = 1e-13}, "1e-12 to 1e-2");
  refused(in_double, {.tolerance = 1e-3, .pair_error = 1e-3}, "pair_error");
  refused(in_double, {.tolerance = 1e-3, .theta = 0.5}, "theta");
  refused(in_double, {.tolerance = 1e-3, .one_part = true}, "one_part");
}

}  // namespace
}  // namespace fmm_test
