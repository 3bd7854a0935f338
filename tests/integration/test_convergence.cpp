// SPDX-License-Identifier: BSD-3-Clause
// Errors fall with the order as they should, order by order, with bounds that break when the terms of
// the highest degree are lost.
#include "truncated.hpp"

namespace fmm_test {
namespace {

using Space = Kokkos::DefaultExecutionSpace;

Bodies const& uniform_cube() {
  static const Bodies bodies = make_bodies(Model::cube, 100000, false, 7);
  return bodies;
}

Results const& uniform_cube_reference() {
  static const Results reference = direct_sum<fmm::SoftenedGravity>(uniform_cube());
  return reference;
}

template <int Order, class Translation>
double classic_list_error(bool truncated = false) {
  return error<Order, fmm::FmmList, Translation, fmm::SoftenedGravity>(
      uniform_cube(), uniform_cube_reference(), {.depth = 4, .tree = fmm::TreeKind::uniform},
      truncated);
}

template <int Order_, int Bound>
struct OrderBound {
  static constexpr int order = Order_;
  static constexpr double bound = Bound * 1e-7;
};

template <class T>
class ClassicLists : public testing::Test {};
// N = 10^5, uniform depth 4, gravity, double, all targets
using Bounds = testing::Types<OrderBound<4, 12000>, OrderBound<5, 2500>, OrderBound<6, 800>,
                              OrderBound<8, 120>, OrderBound<10, 23>>;
TYPED_TEST_SUITE(ClassicLists, Bounds);

TYPED_TEST(ClassicLists, MeetTheBoundOfTheirOrder) {
  EXPECT_LE((classic_list_error<TypeParam::order, fmm::Rotation>()), TypeParam::bound);
}

TYPED_TEST(ClassicLists, BreakItWithoutTheHighestDegree) {
  EXPECT_GT((classic_list_error<TypeParam::order, fmm::Rotation>(true)), TypeParam::bound);
}

TEST(ClassicListsDirect, AgreeWithRotationToRounding) {
  const double rotation = classic_list_error<6, fmm::Rotation>();
  const double direct = classic_list_error<6, fmm::NaiveTranslation>();
  EXPECT_NEAR(rotation, direct, 1e-9 * rotation);
}

// ---- orders ---------------------------------------------------------------------------------------

template <class T>
class Orders : public testing::Test {};
template <int N>
using Order = std::integral_constant<int, N>;
using AllOrders = testing::Types<Order<0>, Order<1>, Order<2>, Order<3>, Order<7>, Order<9>,
                                 Order<12>, Order<16>>;
TYPED_TEST_SUITE(Orders, AllOrders);

/// theta^(p+1) bounds the relative error of the potential of an accepted pair.
TYPED_TEST(Orders, StayUnderTheGeometricBound) {
  constexpr int p = TypeParam::value;
  const double theta = 0.5;
  const Bodies bodies = make_bodies(Model::cube, 5000, false, 3);
  const Results reference = direct_sum<fmm::Laplace>(bodies);
  const auto check = [&](auto solver) {
    const Results results = run(solver, bodies);
    EXPECT_LT(relative_l2(results.potential, reference.potential), std::pow(theta, p + 1));
    EXPECT_GT(relative_l2(results.potential, reference.potential),
              1e-4 * std::pow(theta, 2 * p + 2));
  };
  check(fmm::Solver<fmm::Laplace, fmm::Fmm<p>, double>({.theta = theta, .leaf_capacity = 16}));
  check(fmm::Solver<fmm::Laplace, fmm::Fmm<p, fmm::DualTree<>, fmm::NaiveTranslation>, double>(
      {.theta = theta, .leaf_capacity = 16}));
}

/// Float keeps its digits at every order; the floor is a few 10^-7.
TYPED_TEST(Orders, ReachTheFloorOfFloat) {
  constexpr int p = TypeParam::value;
  const Bodies bodies = make_bodies(Model::plummer, 5000, false, 3);
  const Results reference = direct_sum<fmm::Laplace>(bodies);
  const auto check = [&](auto in_double, auto in_float) {
    const double e = relative_l2(run(in_double, bodies).field, reference.field);
    EXPECT_LT(relative_l2(run(in_float, bodies).field, reference.field), 1.01 * e + 2e-6);
  };
  const fmm::Options options{.theta = 0.5, .leaf_capacity = 16};
  check(fmm::Solver<fmm::Laplace, fmm::Fmm<p>, double>(options),
        fmm::Solver<fmm::Laplace, fmm::Fmm<p>, float>(options));
  using ByNaive = fmm::Fmm<p, fmm::DualTree<>, fmm::NaiveTranslation>;
  check(fmm::Solver<fmm::Laplace, ByNaive, double>(options),
        fmm::Solver<fmm::Laplace, ByNaive, float>(options));
}

template <class T>
class HighOrders : public testing::Test {};
// N = 5000, unit cube, uniform depth 2, double, all targets; in units of 10^-12
template <int Order_, int Bound>
struct HighOrderBound {
  static constexpr int order = Order_;
  static constexpr double bound = Bound * 1e-12;
};
using HighBounds = testing::Types<HighOrderBound<24, 520>, HighOrderBound<28, 78>>;
TYPED_TEST_SUITE(HighOrders, HighBounds);

/// Nothing overflows, and rounding does not show: both schemes err by the same truncation.
TYPED_TEST(HighOrders, MeetTheBoundOfTheirOrder) {
  constexpr int p = TypeParam::order;
  const Bodies bodies = make_bodies(Model::cube, 5000, false, 3);
  const Results reference = direct_sum<fmm::Laplace>(bodies);
  const fmm::Options options{.depth = 2, .tree = fmm::TreeKind::uniform};
  const auto by_rotation = [&](bool truncated) {
    return error<p, fmm::FmmList, fmm::Rotation, fmm::Laplace>(bodies, reference, options,
                                                               truncated);
  };
  const double rotation = by_rotation(false), truncated = by_rotation(true);
  const double direct =
      error<p, fmm::FmmList, fmm::NaiveTranslation, fmm::Laplace>(bodies, reference, options);
  EXPECT_LE(rotation, TypeParam::bound);
  EXPECT_GT(truncated, TypeParam::bound);
  EXPECT_NEAR(direct, rotation, 1e-3 * rotation);
}

/// The floor of double is reached with a smaller theta, too: 10^-13 and below at order 24.
TEST(HighOrder, ReachesTheFloorOfDouble) {
  const Bodies bodies = make_bodies(Model::cube, 5000, false, 3);
  const Results reference = direct_sum<fmm::Laplace>(bodies);
  EXPECT_LE((error<24, fmm::DualTree<>, fmm::Rotation, fmm::Laplace>(
                bodies, reference, {.theta = 0.5, .leaf_capacity = 40})),
            1e-13);
}

}  // namespace
}  // namespace fmm_test
