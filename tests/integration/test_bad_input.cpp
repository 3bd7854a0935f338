// SPDX-License-Identifier: BSD-3-Clause
// Every wrong argument is refused before any work, with a message that names it, its value and what is
// allowed.
#include <limits>

#include "support.hpp"

namespace fmm_test {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using fmm::BarnesHut;
using fmm::DirectSum;
using fmm::DualTree;
using fmm::FmmList;
using fmm::InvalidArgument;
using fmm::Laplace;
using fmm::Rotation;
using fmm::SoftenedGravity;
using fmm::SplineGravity;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

template <class F>
void expect_refused(F const& f, std::string const& argument, std::string const& value,
                    std::string const& allowed) {
  try {
    f();
    ADD_FAILURE() << argument << " = " << value << " was accepted";
  } catch (InvalidArgument const& error) {
    EXPECT_EQ(error.argument(), argument);
    EXPECT_EQ(error.value(), value);
    EXPECT_NE(error.allowed().find(allowed), std::string::npos) << error.allowed();
    EXPECT_EQ(std::string(error.what()),
              error.argument() + " = " + error.value() + " is not allowed: " + error.allowed());
  }
}

template <class Solver>
void expect_option_refused(fmm::Options const& options, std::string const& argument,
                           std::string const& value, std::string const& allowed) {
  expect_refused([&] { Solver solver(options); }, argument, value, allowed);
}

using Dual = fmm::Solver<Laplace, fmm::Fmm<2, DualTree<>>, double>;
using Lists = fmm::Solver<Laplace, fmm::Fmm<2, FmmList>, double>;
using Tree = fmm::Solver<Laplace, fmm::Treecode<2>, double>;
using Sum = fmm::Solver<Laplace, fmm::DirectSum, double>;
using Gravity = fmm::Solver<SoftenedGravity, fmm::Fmm<2, DualTree<>>, double>;
using GravitySum = fmm::Solver<SoftenedGravity, fmm::DirectSum, double>;
using Spline = fmm::Solver<SplineGravity, fmm::Fmm<2, DualTree<>>, double>;

TEST(Options, ThetaIsChecked) {
  expect_option_refused<Dual>({.theta = 1}, "theta", "1", "0 < theta < 1");
  expect_option_refused<Dual>({.theta = 0}, "theta", "0", "0 < theta < 1");
  expect_option_refused<Dual>({.theta = nan}, "theta", "nan", "0 < theta < 1");
  expect_option_refused<Tree>({.theta = 1.5}, "theta", "1.5", "0 < theta <= 1");
  expect_option_refused<Tree>({.theta = -0.5}, "theta", "-0.5", "0 < theta <= 1");
  expect_option_refused<Lists>({.theta = 0.5}, "theta", "0.5", "0.6666666666666666");
  expect_option_refused<Sum>({.theta = 0.5}, "theta", "0.5", "not set");
  EXPECT_NO_THROW(Tree({.theta = 1}));
  EXPECT_NO_THROW(Lists({.theta = 2.0 / 3}));
}

TEST(Options, CapacityAndDepthAreChecked) {
  expect_option_refused<Dual>({.leaf_capacity = 0}, "leaf_capacity", "0", ">= 1");
  expect_option_refused<Dual>({.leaf_capacity = -5}, "leaf_capacity", "-5", ">= 1");
  expect_option_refused<Dual>({.depth = 22}, "depth", "22", "0 <= depth <= 21");
  expect_option_refused<Dual>({.depth = -1}, "depth", "-1", "0 <= depth <= 21");
}

TEST(Options, SofteningAndConstantAreChecked) {
  expect_option_refused<Gravity>({.softening = -1}, "softening", "-1", ">= 0");
  expect_option_refused<Gravity>({.softening = nan}, "softening", "nan", ">= 0");
  expect_option_refused<Gravity>({.softening = infinity}, "softening", "inf", ">= 0");
  expect_option_refused<Gravity>({.G = infinity}, "G", "inf", "finite");
  expect_option_refused<Dual>({.softening = 0.1}, "softening", "0.1", "0");
  expect_option_refused<Dual>({.G = 2}, "G", "2", "1");
}

TEST(Options, TheSofteningsErrorIsChecked) {
  expect_option_refused<Gravity>({.softening_error = 0}, "softening_error", "0", "> 0");
  expect_option_refused<Gravity>({.softening_error = nan}, "softening_error", "nan", "> 0");
  expect_option_refused<Gravity>({.softening_error = infinity}, "softening_error", "inf", "> 0");
  expect_option_refused<Dual>({.softening_error = 0.5}, "softening_error", "0.5", "not set");
  expect_option_refused<Spline>({.softening_error = 0.5}, "softening_error", "0.5", "not set");
  expect_option_refused<GravitySum>({.softening_error = 0.5}, "softening_error", "0.5", "not set");
  expect_option_refused<Spline>({.softening = -1}, "softening", "-1", ">= 0");
  EXPECT_EQ(*Gravity().options().softening_error, fmm::default_softening_error);
  EXPECT_FALSE(Spline().options().softening_error);
  EXPECT_FALSE(GravitySum().options().softening_error);
}

TEST(Options, OnePartIsOnlyForMixedOnATree) {
  using InMixed = fmm::Solver<Laplace, fmm::Fmm<2, DualTree<>>, fmm::Mixed>;
  using MixedSum = fmm::Solver<Laplace, fmm::DirectSum, fmm::Mixed>;
  EXPECT_TRUE(InMixed({.one_part = true}).options().one_part);
  expect_option_refused<Dual>({.one_part = true}, "one_part", "1", "mixed precision on a tree");
  expect_option_refused<MixedSum>({.one_part = true}, "one_part", "1", "mixed precision on a tree");
}

TEST(Options, TheLargestLeafHoldsAllBodies) {
  const Bodies bodies = make_bodies(Model::cube, 300);
  Dual solver({.leaf_capacity = std::numeric_limits<int>::max()});
  EXPECT_LE(relative_l2(run(solver, bodies).field, direct_reference(bodies, false).field), 1e-13);
}

TEST(Options, DefaultsAreFilledIn) {
  const Dual dual;
  EXPECT_EQ(*dual.options().theta, DualTree<>::traits.theta.by_default);
  EXPECT_GE(*dual.options().leaf_capacity, 1);
  EXPECT_EQ(*dual.options().depth, 21);
  EXPECT_FALSE(Sum().options().theta);
}

class Input : public testing::Test {
 protected:
  static constexpr int n = 100;
  Bodies bodies = make_bodies(Model::cube, n);
  Space space;
  ViewIn<double*, Space> potential{"potential", n};
  ViewIn<double* [3], Space> field { "field", n };

  template <class Solver>
  void expect_refused_by(std::string const& argument, std::string const& value,
                         std::string const& allowed) {
    const DeviceBodies<Space> device(bodies);
    Kokkos::deep_copy(potential, 42.0);
    Kokkos::deep_copy(field, 42.0);
    expect_refused(
        [&] {
          Solver solver;
          auto plan = solver.build(space, device.x);
          solver.evaluate(space, plan, device.q, potential, field);
        },
        argument, value, allowed);
    space.fence();
    const Results untouched = to_host(potential, field);
    for (const double p : untouched.potential) EXPECT_EQ(p, 42);
    for (const double f : untouched.field) EXPECT_EQ(f, 42);
  }
};

TEST_F(Input, PositionsMustBeFinite) {
  for (const double bad : {nan, infinity, -infinity}) {
    bodies = make_bodies(Model::cube, n);
    bodies.x[3 * 17 + 2] = bodies.x[3 * 63] = bad;
    const std::string text = bad != bad ? "nan" : bad > 0 ? "inf" : "-inf";
    expect_refused_by<Dual>("positions(17, 2)", text, "finite");
    expect_refused_by<Sum>("positions(17, 2)", text, "finite");
  }
  bodies = make_bodies(Model::cube, n);
  bodies.x[5] = 1e200;
  expect_refused_by<Tree>("positions' extent", "1e+200", "1e150");
  for (double& x : bodies.x) x = 1e-160 * (&x - bodies.x.data() > 7);
  expect_refused_by<Tree>("positions' extent", "1e-160", "1e-150");
  expect_refused_by<Sum>("positions' extent", "1e-160", "1e-150");
}

TEST_F(Input, ChargesMustBeFinite) {
  bodies.q[31] = bodies.q[77] = nan;
  expect_refused_by<Dual>("charges(31)", "nan", "finite");
  expect_refused_by<Sum>("charges(31)", "nan", "finite");
  bodies.q[31] = -infinity;
  expect_refused_by<Gravity>("charges(31)", "-inf", "finite and >= 0");
}

TEST_F(Input, TheLastFieldMustBeFiniteAndOfAllBodies) {
  const DeviceBodies<Space> device(bodies);
  fmm::Solver<Laplace, fmm::Fmm<2, DualTree<fmm::RelativeForceCriterion>>, double> solver;
  const auto expect = [&](auto const& last_field, std::string const& argument,
                          std::string const& value, std::string const& allowed) {
    expect_refused(
        [&] {
          solver.build(space, fmm::Inputs{device.x, device.q, fmm::none, last_field});
        },
        argument, value, allowed);
  };
  expect(ViewIn<double* [3], Space>("a", n - 1), "last_field.extent(0)", "99", "100");
  expect(ViewIn<float**, Space>("a", n, 2), "last_field.extent(1)", "2", "3");
  std::vector<double> last_field(3 * n, 1.0);
  for (const double bad : {nan, infinity, -infinity}) {
    last_field[3 * 17 + 2] = last_field[3 * 63] = bad;
    expect(to_space<Space>(last_field), "last_field(17, 2)",
           bad != bad ? "nan"
           : bad > 0  ? "inf"
                      : "-inf",
           "finite");
  }
  last_field[3 * 17 + 2] = last_field[3 * 63] = 0;
  EXPECT_NO_THROW(
      solver.build(space, fmm::Inputs{device.x, device.q, fmm::none, to_space<Space>(last_field)}));
}

TEST_F(Input, MassesMustNotBeNegative) {
  bodies.q[5] = -0.25;
  expect_refused_by<Gravity>("charges(5)", "-0.25", "finite and >= 0");
  const DeviceBodies<Space> device(bodies);
  Dual laplace;
  auto plan = laplace.build(space, device.x);
  EXPECT_NO_THROW(laplace.evaluate(space, plan, device.q, potential, field));
}

TEST_F(Input, ExtentsMustMatch) {
  const DeviceBodies<Space> device(bodies);
  Dual solver;
  auto plan = solver.build(space, device.x);
  const ViewIn<double*, Space> short_charges("q", n - 1), short_potential("p", n + 1);
  const ViewIn<double* [3], Space> short_field("a", 1);
  const ViewIn<double**, Space> flat("x", n, 2);
  expect_refused([&] { solver.evaluate(space, plan, short_charges, potential, field); },
                 "charges.extent(0)", "99", "100");
  expect_refused([&] { solver.evaluate(space, plan, device.q, short_potential, field); },
                 "potential.extent(0)", "101", "100");
  expect_refused([&] { solver.evaluate(space, plan, device.q, potential, short_field); },
                 "field.extent(0)", "1", "100");
  expect_refused([&] { solver.evaluate(space, plan, device.q, potential, flat); },
                 "field.extent(1)", "2", "3");
  expect_refused([&] { solver.build(space, flat); }, "positions.extent(1)", "2", "3");
  const Kokkos::View<double* [3], Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>> too_many(
      device.x.data(), std::size_t(1) << 31);
  expect_refused([&] { solver.build(space, too_many); }, "positions.extent(0)", "2147483648",
                 "2147483647");
}

/// One would be written over the other. In one array they may stand side by side.
TEST_F(Input, ResultsMustNotOverlap) {
  const DeviceBodies<Space> device(bodies);
  Dual solver;
  auto plan = solver.build(space, device.x);
  const ViewIn<double*, Space> memory("memory", 4 * n);
  using Rows =
      Kokkos::View<double* [3], Kokkos::LayoutRight, Kokkos::Device<Space, Space::memory_space>,
                   Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const auto first = Kokkos::subview(memory, std::pair<int, int>(0, n));
  expect_refused(
      [&] { solver.evaluate(space, plan, device.q, first, Rows(memory.data() + n - 1, n)); },
      "field", "in the memory of the potential", "memory of its own");
  EXPECT_NO_THROW(solver.evaluate(space, plan, device.q, first, Rows(memory.data() + n, n)));
  const ViewIn<double**, Space> side_by_side("results", n, 4);
  EXPECT_NO_THROW(
      solver.evaluate(space, plan, device.q, Kokkos::subview(side_by_side, Kokkos::ALL, 0),
                      Kokkos::subview(side_by_side, Kokkos::ALL, std::pair<int, int>(1, 4))));
  for (int column = 1; column < 4; ++column)
    expect_refused(
        [&] {
          solver.evaluate(space, plan, device.q, Kokkos::subview(side_by_side, Kokkos::ALL, column),
                          Kokkos::subview(side_by_side, Kokkos::ALL, std::pair<int, int>(1, 4)));
        },
        "field", "in the memory of the potential", "memory of its own");
  // the potential of a body in the field of another, with rows that are not as far apart
  using Strided =
      Kokkos::View<double*, Kokkos::LayoutStride, Kokkos::Device<Space, Space::memory_space>,
                   Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const ViewIn<double*, Space> room("room", 10 * n);
  const auto place = [&](int first, int row) {
    return Strided(room.data() + first, Kokkos::LayoutStride(n, row));
  };
  const Rows field(room.data(), n);
  expect_refused([&] { solver.evaluate(space, plan, device.q, place(3 * n - 1, 5), field); },
                 "field", "in the memory of the potential", "memory of its own");
  EXPECT_NO_THROW(solver.evaluate(space, plan, device.q, place(3 * n, 5), field));
  // as for inputs, which are read before: the field over the positions
  const auto fields = ViewIn<double* [3], Space>("fields", n);
  solver.evaluate(space, plan, device.q, fmm::none, fields);
  solver.evaluate(space, plan, device.q, fmm::none, device.x);
  EXPECT_EQ(to_host(potential, fields).field, to_host(potential, device.x).field);
}

TEST_F(Input, APlanThatWasMovedFromIsRefused) {
  const DeviceBodies<Space> device(bodies);
  Dual solver;
  auto plan = solver.build(space, device.x);
  auto other = std::move(plan);
  expect_refused([&] { plan.size(); }, "plan", "moved from", "not moved from");
  expect_refused([&] { solver.evaluate(space, plan, device.q, potential, field); }, "plan",
                 "moved from", "not moved from");
  EXPECT_EQ(other.size(), std::int64_t(n));
  auto two_sets = solver.build(space, fmm::Inputs{device.x, fmm::none, device.x});
  auto moved = std::move(two_sets);
  expect_refused([&] { two_sets.sources(); }, "plan", "moved from", "not moved from");
  EXPECT_EQ(moved.targets(), std::int64_t(n));
}

TEST_F(Input, APlanOfAnotherTraversalIsRefused) {
  const DeviceBodies<Space> device(bodies);
  Dual dual;
  Lists lists;
  auto plan = dual.build(space, device.x);
  expect_refused([&] { lists.evaluate(space, plan, device.q, potential, field); }, "plan",
                 "one of another traversal", "made with the solver's own");
  EXPECT_NO_THROW(Dual({.theta = 0.5}).evaluate(space, plan, device.q, potential, field));
}

/// Lists that were made for less softening have bodies in them that the kernel softens.
TEST_F(Input, APlanWhoseNearFieldIsTooSmallIsRefused) {
  const DeviceBodies<Space> device(bodies);
  Gravity none, little({.softening = 1e-3}), much({.softening = 0.1});
  Spline spline({.softening = 0.1});
  Dual laplace;
  const auto refuse = [&](auto& solver, auto plan, std::string const& near) {
    expect_refused([&] { solver.evaluate(space, plan, device.q, potential, field); },
                   "plan's near field", near, "build the plan with it");
  };
  const auto accept = [&](auto& solver, auto plan) {
    solver.evaluate(space, plan, device.q, potential, field);
  };
  refuse(much, none.build(space, device.x), "0");
  refuse(much, laplace.build(space, device.x), "0");
  refuse(spline, laplace.build(space, device.x), "0");
  refuse(much, spline.build(space, device.x), "0.27999999999999997");
  EXPECT_THROW(accept(much, little.build(space, device.x)), InvalidArgument);
  accept(little, little.build(space, device.x));
  accept(little, much.build(space, device.x));
  accept(none, much.build(space, device.x));
  accept(laplace, much.build(space, device.x));
  // all pairs are a near field of any width
  accept(much, Gravity({.softening = 1e3}).build(space, device.x));
  GravitySum pairs, softened_pairs({.softening = 0.1});
  accept(softened_pairs, pairs.build(space, device.x));
}

/// In float; double has room for them.
template <class Solver>
class InUnits : public testing::Test {};
using InFloat = testing::Types<
    fmm::Solver<Laplace, fmm::Fmm<2, DualTree<>>, float>,
    fmm::Solver<Laplace, fmm::Fmm<2, DualTree<fmm::MultipolePowerCriterion>>, fmm::Mixed>,
    fmm::Solver<Laplace, fmm::DirectSum, fmm::Mixed>>;
TYPED_TEST_SUITE(InUnits, InFloat);

TYPED_TEST(InUnits, ResultsThatFloatHasNoRoomForAreRefused) {
  const Space space;
  constexpr int n = 100;
  const ViewIn<float*, Space> potential("potential", n);
  const ViewIn<float* [3], Space> field("field", n);
  const ViewIn<double*, Space> wide_potential("potential", n);
  const ViewIn<double* [3], Space> wide_field("field", n);
  const auto evaluate = [&](double length, double charge, auto const& p, auto const& f) {
    Bodies bodies = make_bodies(Model::cube, n);
    for (double& x : bodies.x) x *= length;
    for (double& q : bodies.q) q = charge;
    const DeviceBodies<Space> device(bodies);
    Kokkos::deep_copy(potential, 42.0f);
    Kokkos::deep_copy(field, 42.0f);
    TypeParam solver;
    auto plan = [&] {
      if constexpr (TypeParam::uses_charges)
        return solver.build(space, fmm::Inputs{device.x, device.q});
      else
        return solver.build(space, device.x);
    }();
    solver.evaluate(space, plan, device.q, p, f);
    space.fence();
    return relative_l2(to_host(p, f).field, direct_sum<Laplace>(bodies).field);
  };
  for (auto const& [length, charge] :
       {std::pair(1e23, 1.0), {1e-20, 1.0}, {1.0, 1e35}, {1.0, 1e-35}, {1e14, 1e-10}}) {
    EXPECT_THROW(evaluate(length, charge, potential, field), InvalidArgument)
        << length << ", " << charge;
    EXPECT_EQ(to_host(potential), std::vector<float>(n, 42)) << "before any result is touched";
    EXPECT_LT(evaluate(length, charge, wide_potential, wide_field), 2e-2)
        << length << ", " << charge;
  }
  EXPECT_LT(evaluate(1e14, 1e30, potential, field), 2e-2);
  EXPECT_THROW(evaluate(1e20, 1, potential, field), InvalidArgument);  // the field alone
  EXPECT_LT(evaluate(1, 0, potential, field), 1);                      // no charges have no unit
}

template <class Solver>
double softened(double softening, double length, Solver&& solver) {
  Bodies bodies = make_bodies(Model::cube, 300);
  for (double& x : bodies.x) x *= length;
  const auto sums = run(solver, bodies);
  const auto exact = direct_reference(bodies, true, softening);
  return relative_l2(sums.field, exact.field);
}

TEST(Softening, FarBeyondTheBodiesIsRefused) {
  using Floats = fmm::Solver<SoftenedGravity, fmm::Fmm<2, DualTree<>>, float>;
  using Pairs = fmm::Solver<SplineGravity, fmm::DirectSum, fmm::Mixed>;
  for (const double length : {1e-20, 1.0, 1e20}) {
    EXPECT_LT(softened(1e11 * length, length, Floats({.softening = 1e11 * length})), 1e-5);
    EXPECT_LT(softened(1e90 * length, length, Gravity({.softening = 1e90 * length})), 1e-12);
    for (const double softening : {1e13, 1e20, 1e25}) {
      const fmm::Options options{.softening = softening * length};
      EXPECT_THROW(softened(1, length, Floats(options)), InvalidArgument);
      EXPECT_THROW(softened(1, length, Pairs(options)), InvalidArgument);
      EXPECT_NO_THROW(softened(1, length, Gravity(options)));
    }
    EXPECT_THROW(softened(1, length, Gravity({.softening = 1e120 * length})), InvalidArgument);
  }
  const DeviceBodies<Space> device(make_bodies(Model::cube, 10));
  const ViewIn<double*, Space> potential("p", 1);
  EXPECT_THROW(fmm::direct_sum(Space(), SoftenedGravity{1e120}, device.x, device.q,
                               column_in<Space>(std::vector{3}), potential, fmm::none),
               InvalidArgument);
}

/// Charges and distances that double has room for, of which results are too small: they would be 0 without a word.
TEST_F(Input, ResultsThatDoubleHasNoRoomForAreRefused) {
  for (double& x : bodies.x) x *= 1e149;
  for (double& q : bodies.q) q = 1e-100;
  expect_refused_by<Dual>("the unit of the field", "0", ">= 1e-312");
  for (double& q : bodies.q) q = 1e-200;
  expect_refused_by<Dual>("the unit of the potential", "0", ">= 1e-312");
  expect_refused_by<Sum>("the unit of the potential", "0", ">= 1e-312");
}

TEST_F(Input, ChargesThatDoubleCannotDivideByAreRefused) {
  for (double& q : bodies.q) q = 1e-310;
  expect_refused_by<Dual>("the largest |charge|", "9.99999999999997e-311",
                          "2.2250738585072014e-308");
  expect_refused_by<Sum>("the largest |charge|", "9.99999999999997e-311", "0, or at least");
  bodies.q[3] = 1e-300;
  const DeviceBodies<Space> device(bodies);
  Dual solver;
  auto plan = solver.build(space, device.x);
  EXPECT_NO_THROW(solver.evaluate(space, plan, device.q, potential, field));
}

}  // namespace
}  // namespace fmm_test
