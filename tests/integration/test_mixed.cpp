// SPDX-License-Identifier: BSD-3-Clause
// Mixed precision: float arithmetic that loses neither close pairs nor digits of long sums.
#include <cmath>

#include "support.hpp"

namespace fmm_test {
namespace {

using fmm::DirectSum, fmm::BarnesHut, fmm::DualTree, fmm::FmmList, fmm::Laplace, fmm::Mixed,
    fmm::Rotation;

template <class Precision, class Traversal = DualTree<>, class Translation = Rotation>
using SolverIn = fmm::Solver<Laplace, MethodOf<12, Traversal, Translation>, Precision>;

/// Relative L2 errors of field and potential.
struct FieldAndPotential {
  double field, potential;
};
template <class Solver>
FieldAndPotential mixed_errors(Solver solver, Bodies const& bodies, Results const& reference) {
  const Results sums = run(solver, bodies);
  return {relative_l2(sums.field, reference.field),
          relative_l2(sums.potential, reference.potential)};
}

class MixedPrecision : public testing::TestWithParam<Model> {};

/// Whatever the traversal, errors are those of float's rounding; and a leaf may be large.
TEST_P(MixedPrecision, HasFloatsRoundingOnly) {
  const Bodies bodies = make_bodies(GetParam(), 20000, false, 3);
  const Results reference = direct_sum<Laplace>(bodies);
  const auto expect_small = [&](auto const& solver) {
    const FieldAndPotential errors = mixed_errors(solver, bodies, reference);
    EXPECT_LT(errors.field, 6e-7);
    EXPECT_LT(errors.potential, 5e-7);
  };
  for (const int leaf_capacity : {50, 2000})
    expect_small(SolverIn<Mixed>({.theta = 0.5, .leaf_capacity = leaf_capacity}));
  expect_small(SolverIn<Mixed, BarnesHut, NoTranslation>({.theta = 0.4}));
  expect_small(SolverIn<Mixed, DirectSum>());
}

INSTANTIATE_TEST_SUITE_P(All, MixedPrecision,
                         testing::Values(Model::cube, Model::plummer, Model::shell, Model::disk,
                                         Model::clusters),
                         [](auto const& info) { return std::string(name_of(info.param)); });

/// So many tiles that a GPU takes the shape of P2P for many, and leaves of several chunks of sources.
TEST(Mixed, HasFloatsRoundingInManyLargeLeaves) {
  using Space = Kokkos::DefaultExecutionSpace;
  const std::size_t n =
      Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible ? 20000 : 150000;
  for (const Model model : {Model::cube, Model::shell}) {
    const DeviceBodies<Space> device(make_bodies(model, n, false, 3));
    for (const int leaf_capacity : {130, 260, 600}) {
      SolverIn<Mixed> solver({.theta = 0.5, .leaf_capacity = leaf_capacity});
      ViewIn<double*, Space> potential("potential", n);
      ViewIn<double* [3], Space> field("field", n);
      auto plan = solver.build(Space(), device.x);
      solver.evaluate(Space(), plan, device.q, potential, field);
      const auto error =
          fmm::measure_error(Space(), Laplace{}, device.x, device.q, potential, field, 2048);
      EXPECT_LT(error.field_l2, 6e-7) << name_of(model) << ", " << leaf_capacity;
    }
  }
}

/// What it is there for: bodies on a surface, some of which are very close to each other.
TEST(Mixed, KeepsWhatFloatLoses) {
  const Bodies bodies = make_bodies(Model::shell, 20000, false, 3);
  const Results reference = direct_sum<Laplace>(bodies);
  const fmm::Options options{.theta = 0.5};
  const double in_float = mixed_errors(SolverIn<float>(options), bodies, reference).field,
               in_mixed = mixed_errors(SolverIn<Mixed>(options), bodies, reference).field;
  EXPECT_GT(in_float, 1e-5);
  EXPECT_LT(in_mixed, 0.03 * in_float);
  // with coordinates in one part P2P is float's
  const fmm::Options one_part{.theta = 0.5, .one_part = true};
  const double in_one = mixed_errors(SolverIn<Mixed>(one_part), bodies, reference).field;
  EXPECT_GT(in_one, 0.5 * in_float);
  EXPECT_LT(in_one, 2 * in_float);
}

/// Two bodies of which the one is 1e-9 edges of the cube away from the other, in cells of any size.
TEST(Mixed, KeepsPairsAcrossCellsOfAnySize) {
  Bodies bodies = make_bodies(Model::plummer, 5000);
  // on both sides of the cube's middle, a border of a uniform tree's cells
  for (std::size_t i = 0; i < 10; ++i)
    for (int d = 0; d < 3; ++d)
      bodies.x[3 * i + d] = d == 0 ? (i % 2 == 0 ? 1e-8 : -1e-8) : 1e-3 * double(i / 2);
  const Results reference = direct_sum<Laplace>(bodies);
  const fmm::Options options{.theta = 0.5, .leaf_capacity = 20};
  EXPECT_LT(mixed_errors(SolverIn<Mixed>(options), bodies, reference).field, 3e-7);
  EXPECT_LT(mixed_errors(SolverIn<Mixed>(
                             {.theta = 0.5, .leaf_capacity = 20, .tree = fmm::TreeKind::uniform}),
                         bodies, reference)
                .field,
            6e-7);
  EXPECT_LT(mixed_errors(SolverIn<Mixed, FmmList>({.leaf_capacity = 20}), bodies, reference).field,
            3e-7);
  EXPECT_GT(mixed_errors(SolverIn<float>(options), bodies, reference).field, 1e-3);
}

/// Pairs of bodies 1e-6 edges of the cube apart, each body in a leaf of its own: in double nothing but the rounding
/// of the coordinates in such a leaf, which is larger where a border of larger cells is between the two: 6.1e-15.
TEST(Double, KeepsPairsAcrossCells) {
  const std::size_t pairs = 500;
  Bodies bodies = make_bodies(Model::cube, 2 * pairs);
  for (std::size_t i = 0; i < pairs; ++i)
    for (int d = 0; d < 3; ++d)
      bodies.x[3 * (pairs + i) + d] = bodies.x[3 * i + d] + (d == 0 ? 1e-6 : 3e-7);
  using Solver =
      SolverIn<double, DualTree<fmm::MultipolePowerCriterion>>;  // which sums them directly
  EXPECT_LT(mixed_errors(Solver({.pair_error = 1e-10, .leaf_capacity = 1}), bodies,
                         direct_sum<Laplace>(bodies))
                .field,
            8e-15);
}

/// A unit cube far from the origin: positions in double have what it takes.
template <class Precision>
double error_far_away(double offset) {
  Bodies bodies = make_bodies(Model::cube, 20000);
  for (double& x : bodies.x) x += offset;
  return mixed_errors(SolverIn<Precision>({.theta = 0.5}), bodies, direct_sum<Laplace>(bodies))
      .field;
}
TEST(Mixed, LargeOffsetsLoseNothing) {
  EXPECT_LT(error_far_away<Mixed>(1e6), 6e-7);
  EXPECT_LT(error_far_away<float>(1e6), 2 * error_far_away<float>(0));
  EXPECT_LT(error_far_away<double>(1e6), 2 * error_far_away<double>(0));
}

/// Sources beyond the margin of a tolerance are taken in one part, which errs by a small part of it.
TEST(Mixed, HasAMarginForATolerance) {
  using namespace fmm;
  using namespace fmm::engine;
  using Space = Kokkos::DefaultExecutionSpace;
  const Space space;
  for (const Model model : {Model::shell, Model::plummer}) {
    const DeviceBodies<Space> device(make_bodies(model, 20000, false, 3));
    const ViewIn<double const* [3], Space> positions = device.x;
    const ViewIn<double const*, Space> charges = device.q;
    PlanData<Space, Mixed> s;
    build_plan<DualTree<>>(space, s, positions, SolverIn<Mixed>({.theta = 0.5}).options(),
                           {2, 0, true}, nullptr);
    take_charges(space, inspect_charges(space, false, charges).unit, charges, s.tree.permutation,
                 charges_of(s.tree.bodies), s.memory.sums.resize(s.tree.size));
    const auto pairs = [&](double margin) {
      const auto sums = s.memory.sums.view(s.tree.size);
      Kokkos::deep_copy(space, sums.view(), Sums<sum_t<Mixed>>{});
      p2p<Outputs<true, true>, Mixed>(space, Laplace(), s.tree.octree.cells, s.tree.octree.tiles,
                                      s.lists.p2p, s.tree.bodies, s.tree.low, sums, {},
                                      {.margin = margin});
      space.fence();
      return numbers_of(sums);
    };
    const auto known = pairs(margin_for<float>(std::nullopt));
    EXPECT_EQ(pairs(margin_for<float>(1e-5)), known);
    for (const double tolerance : {1e-2, 1e-3, 1e-4}) {
      const double error = relative_l2(pairs(margin_for<float>(tolerance)), known);
      EXPECT_GT(error, 0) << tolerance;
      EXPECT_LT(error, tolerance / 64) << tolerance;
    }
  }
}

/// Pairs of bodies that are as close as they are to the cube's middle, some in a leaf and some across the face of two.
/// Where tiles may be left to another launch, those of such pairs are, and few others.
template <class Precision, class InTwoParts, class InOnePart>
void expect_two_parts_for_close_bodies_alone(double distance, double tolerance, double not_less,
                                             double most) {
  using namespace fmm;
  using namespace fmm::engine;
  using Space = Kokkos::DefaultExecutionSpace;
  const Space space;
  using Real = real_t<Precision>;
  Bodies bodies = make_bodies(Model::cube, 20000);
  for (double& x : bodies.x) x -= 0.5;
  for (std::size_t i = 0; i < 80; i += 2)
    for (int d = 0; d < 3; ++d) {
      bodies.x[3 * (i + 1) + d] = d == 0 ? 0.71 * distance : bodies.x[3 * i + d];
      if (d == 0) bodies.x[3 * i] = (i < 40 ? -0.23 : 1.9) * distance;
    }
  for (int d = 0; d < 3; ++d) {  // the root is the unit cube
    bodies.x[3 * 100 + d] = -0.5;
    bodies.x[3 * 101 + d] = 0.5;
  }
  const DeviceBodies<Space> device(bodies);
  const ViewIn<double const* [3], Space> positions = device.x;
  const ViewIn<double const*, Space> charges = device.q;
  PlanData<Space, Precision> s;
  s.memory.parts = 2;
  build_plan<DualTree<>>(space, s, positions, SolverIn<Precision>({.theta = 0.5}).options(),
                         {2, 0, true}, nullptr);
  take_charges(space, inspect_charges(space, false, charges).unit, charges, s.tree.permutation,
               charges_of(s.tree.bodies), s.memory.sums.resize(s.tree.size));
  const auto tiles = s.tree.octree.tiles;
  const std::int64_t count = tiles.extent(0);
  const auto pairs = [&]<class OfPairs>(OfPairs, Array<int, Space> left,
                                        SplitRows<Space, double> const& segments = {}) {
    const auto sums = s.memory.sums.view(s.tree.size);
    Kokkos::deep_copy(space, sums.view(), Sums<double>{});
    p2p<Outputs<true, true>, OfPairs>(
        space, Laplace(), s.tree.octree.cells, tiles, s.lists.p2p, s.tree.bodies, s.tree.low, sums,
        segments,
        {.margin = margin_for<Real>(tolerance), .leaving = leaving_for<Real>(tolerance, false)}, {},
        left);
    space.fence();
    return numbers_of(sums);
  };
  const auto known = pairs(InTwoParts(), {});
  EXPECT_GT(relative_l2(pairs(InOnePart(), {}), known), not_less);
  const auto left = s.memory.left_tiles.resize(count);
  EXPECT_LT(relative_l2(pairs(InTwoParts(), left), known), most);
  const auto expect_few_left = [&](Array<int, Space> of_teams) {
    if (!may_leave_tiles<Space, InTwoParts>) return;
    const auto on_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), of_teams.view());
    std::int64_t are_left = 0;
    for (std::size_t t = 0; t < on_host.extent(0); ++t) are_left += on_host(t) != 0;
    EXPECT_GE(are_left, 20);
    EXPECT_LE(are_left, 80);
  };
  expect_few_left(left);
  // of rows in several segments those with close bodies alone
  SplitRowBuffers<Space, double> of_segments;
  const auto segments =
      split_rows(space, tiles, s.lists.p2p, 8, Tuning<Space, Real>::tile, of_segments);
  EXPECT_GT(segments.count(), count / 2);
  const auto all_left = s.memory.left_tiles.resize(count + segments.count());
  EXPECT_LT(relative_l2(pairs(InTwoParts(), all_left, segments), known), 5 * most);  // other chunks
  expect_few_left(all_left);
}

TEST(Double, HasTwoPartsForCloseBodiesAlone) {
  expect_two_parts_for_close_bodies_alone<double, fmm::DoubleInTwoParts, double>(1e-12, 1e-6, 1e-7,
                                                                                 1e-13);
}

TEST(Mixed, HasTwoPartsForCloseBodiesAlone) {
  expect_two_parts_for_close_bodies_alone<Mixed, Mixed, fmm::MixedInOnePart>(1e-4, 1e-4, 1e-6,
                                                                             2e-8);
}

/// Pairs of bodies, each across the face of two leaves, whose distance is just the margin; at the largest tolerance
/// what one has of the other is nearly all of its field. The margin of a launch that leaves tiles with close bodies is
/// narrower; such pairs are far from each other.
class MarginTest : public testing::TestWithParam<bool> {};
TEST_P(MarginTest, ErrsLittleAtTheMarginOfATolerance) {
  const bool of_leaving = GetParam();
  constexpr bool may_leave = fmm::kernels::may_leave_tiles<Kokkos::DefaultExecutionSpace, Mixed>;
  if (of_leaving && !may_leave) GTEST_SKIP() << "a host leaves no tiles";
  for (const double tolerance : {1e-2, 1e-3, 1e-4}) {
    const double margin = of_leaving ? fmm::kernels::leaving_for<float>(tolerance, false)
                                     : fmm::kernels::margin_for<float>(tolerance),
                 edge = 0.5, distance = (of_leaving ? 1.01 : 1.001) * edge * margin;
    Bodies bodies = make_bodies(Model::cube, 20000, false, 3);
    for (std::size_t i = 0; i + 1 < bodies.size(); i += 2)
      for (int d = 0; d < 3; ++d) {
        double& x = bodies.x[3 * i + d];
        const double number = double(d == 0 ? i : d == 1 ? i / 2 % 100 : i / 200);
        if (d == 0)  // the face comes anywhere between the two, or next to one
          x = 0.5 - (of_leaving ? std::fmod(0.618 * number, 1.0) : 1e-3) * distance;
        else
          x = 0.02 + (of_leaving ? 0.0096 * number : 0.96 * x);
        bodies.x[3 * (i + 1) + d] = d > 0 ? x : of_leaving ? x + distance : 0.5 + distance;
      }
    for (int d = 0; d < 3; ++d) {  // the root is the unit cube
      bodies.x[d] = 0;
      bodies.x[3 + d] = 1;
    }
    const double error =
        mixed_errors(fmm::CalibratedSolver<Laplace, SolverIn<Mixed>::order>(
                         {.tolerance = tolerance, .depth = 1, .tree = fmm::TreeKind::uniform}),
                     bodies, direct_sum<Laplace>(bodies))
            .field;
    EXPECT_GT(error, of_leaving ? tolerance / 100 : 1e-7);
    EXPECT_LT(error, tolerance / (of_leaving ? 4 : may_leave ? 16 : 32));
  }
}
INSTANTIATE_TEST_SUITE_P(Mixed, MarginTest, testing::Bool());

TEST(Mixed, HasTheSameBitsAgain) {
  const Bodies bodies = make_bodies(Model::plummer, 5000);
  SolverIn<Mixed> solver;
  EXPECT_EQ(run(solver, bodies).field, run(solver, bodies).field);
}

}  // namespace
}  // namespace fmm_test
