// SPDX-License-Identifier: BSD-3-Clause
// The criterion that measures a pair's error against the field of the last step: every cell has the smallest
// of its bodies, the error of the sums follows pair_error, and neither units nor new charges get in the way.
#include <limits>

#include "support.hpp"

namespace fmm_test {
namespace {

using namespace fmm;
using namespace fmm::engine;
using Space = Kokkos::DefaultExecutionSpace;
using Dual = DualTree<fmm::RelativeForceCriterion>;

/// The field as FieldCriterion has it: where a first step starts.
template <int Order>
std::vector<double> first_field(Bodies const& bodies) {
  fmm::Solver<Laplace, fmm::Fmm<Order, DualTree<fmm::FieldCriterion>>, double> solver;
  return run(solver, bodies).field;
}

double size_of(std::vector<double> const& field, std::size_t i) {
  return std::hypot(field[3 * i], field[3 * i + 1], field[3 * i + 2]);
}

/// Tree, last field and lists of a plan, in charges of whatever unit.
template <class Real, class Kernel>
PlanData<Space, Real> make_plan(Bodies const& bodies, std::vector<double> const& last_field,
                                Kernel const& kernel, fmm::Options options) {
  const Space space;
  const DeviceBodies<Space> device(bodies);
  const ViewIn<double const* [3], Space> positions = device.x;
  options = fmm::Solver<Laplace, fmm::Fmm<4, Dual>, Real, Space>(options).options();
  PlanData<Space, Real> s;
  build_plan<Dual>(space, s, positions, options, 4, nullptr);
  const double unit = std::fabs(potential_unit(kernel, s.tree.cube.edge)) / s.tree.cube.edge;
  take_last_field(space, s.memory, s.tree, to_space<Space>(last_field), unit, nullptr);
  charges_stage<fmm::None, fmm::None>(space, s.memory, s.tree, profile_of(kernel), device.q,
                                      charges_of(s.tree.bodies), true, nullptr);
  s.lists = lists_stage<Dual>(space, s.memory, s.tree, options, 4, nullptr);
  space.fence();
  return s;
}

TEST(LastField, OfACellIsTheSmallestOfItsBodies) {
  for (const Model model : {Model::cube, Model::plummer, Model::clusters}) {
    const Bodies bodies = make_bodies(model, 5000, true);
    const auto last_field = first_field<4>(bodies);
    const auto s = make_plan<float>(bodies, last_field, Laplace{}, {.leaf_capacity = 7});
    const auto cells = to_host(s.tree.octree.cells);
    const auto order = to_host(s.tree.permutation);
    const auto smallest = to_host(s.memory.last_fields.view(cells.size()));
    const auto fields = to_host(s.memory.traversal.fields.view(cells.size()));
    const double edge2 = s.tree.cube.edge * s.tree.cube.edge;
    EXPECT_NE(s.tree.charges.unit, 1);
    for (std::size_t c = 0; c < cells.size(); ++c) {
      double expected = std::numeric_limits<double>::max();
      for (int i = cells[c].body_begin; i < cells[c].body_begin + cells[c].body_count; ++i)
        expected = std::min(expected, size_of(last_field, order[i]));
      ASSERT_NEAR(smallest[c] / (expected * edge2), 1, 1e-14) << name_of(model) << ", cell " << c;
      ASSERT_EQ(fields[c], float(smallest[c] / s.tree.charges.unit));
    }
  }
}

/// Lengths, charges and G in units that float has no room for. Powers of two, for the same tree.
TEST(LastField, HasAnyUnit) {
  const Bodies bodies = make_bodies(Model::plummer, 5000);
  const auto field = first_field<4>(bodies);
  const auto reference = make_plan<float>(bodies, field, Laplace{}, {.leaf_capacity = 16});
  const double length = std::ldexp(1.0, 100), mass = std::ldexp(1.0, -100), G = 6.7e-11;
  Bodies scaled = bodies;
  for (double& x : scaled.x) x *= length;
  for (double& q : scaled.q) q *= mass;
  auto scaled_field = field;
  for (double& f : scaled_field) f *= -G * mass / (length * length);
  fmm::SoftenedGravity gravity;
  gravity.G = G;
  const auto same = make_plan<float>(scaled, scaled_field, gravity, {.leaf_capacity = 16});
  EXPECT_GT(reference.lists.m2l.entries.extent(0), 1000u);
  EXPECT_EQ(to_host(same.lists.m2l), to_host(reference.lists.m2l));
  EXPECT_EQ(to_host(same.lists.p2p), to_host(reference.lists.p2p));
}

template <int Order, class Translation = Rotation, class Real = double>
Errors errors_at(Bodies const& bodies, Results const& reference,
                 std::vector<double> const& last_field, double pair_error) {
  fmm::Solver<Laplace, MethodOf<Order, Dual, Translation>, Real> solver(
      {.pair_error = pair_error, .leaf_capacity = 72});
  return errors_of(run(solver, bodies, last_field), reference);
}

class Falling : public testing::TestWithParam<Model> {
 protected:
  const Bodies bodies = make_bodies(GetParam(), 20000, false, 3);
  const Results reference = direct_sum<Laplace>(bodies);

  /// With each tenth of pair_error the error is less, and near pair_error times a factor; the 99th
  /// percentile is near it.
  template <int Order, class Translation = Rotation>
  void check(double least, double most, double tail) {
    const auto last_field = first_field<Order>(bodies);
    double before = 1;
    for (const double pair_error : {1e-2, 1e-3, 1e-4, 1e-5}) {
      const Errors errors =
          errors_at<Order, Translation>(bodies, reference, last_field, pair_error);
      EXPECT_LT(errors.l2, 0.75 * before) << "order " << Order << ", " << pair_error;
      EXPECT_GT(errors.l2, least * pair_error) << "order " << Order;
      EXPECT_LT(errors.l2, most * pair_error) << "order " << Order;
      EXPECT_LT(errors.p99, tail * errors.l2) << "order " << Order << ", " << pair_error;
      before = errors.l2;
    }
    if constexpr (!quick) {
      const Errors in_double = errors_at<Order, Translation>(bodies, reference, last_field, 1e-3),
                   in_float =
                       errors_at<Order, Translation, float>(bodies, reference, last_field, 1e-3);
      EXPECT_NEAR(in_float.l2 / in_double.l2, 1, 0.1);
    }
  }
};

/// Bounds are measured errors with a factor of two, with leaves of one size in every space: at order 4 in the sphere's
/// halo, large leaves have many small sources in one direction.
TEST_P(Falling, ErrorsFollowPairError) {
  const bool cube = GetParam() == Model::cube;
  check<4>(cube ? 0.04 : 0.12, cube ? 1.7 : 40, cube ? 9 : 60);
  unless_quick([&](auto) { check<8>(cube ? 0.003 : 0.015, cube ? 0.06 : 2.6, cube ? 11 : 50); });
  check<4, NoTranslation>(cube ? 0.007 : 0.03, cube ? 0.05 : 0.7, cube ? 7 : 8);
}

INSTANTIATE_TEST_SUITE_P(All, Falling, testing::Values(Model::cube, Model::plummer),
                         [](auto const& info) { return std::string(name_of(info.param)); });

/// A solver of the tests below, and memory for its results.
struct Planned {
  fmm::Solver<Laplace, fmm::Fmm<4, Dual>, double> solver{{.leaf_capacity = 16}};
  Space space;
  ViewIn<double*, Space> potential;
  ViewIn<double* [3], Space> field;
  fmm::Plan<Space, double> plan;

  Planned(Bodies const& bodies, std::vector<double> const& last_field)
      : potential("potential", bodies.size()), field("field", bodies.size()) {
    const DeviceBodies<Space> device(bodies);
    plan = solver.build(space,
                        fmm::Inputs{device.x, device.q, fmm::none, to_space<Space>(last_field)});
  }

  Results evaluate(Bodies const& charged, fmm::Report* report = nullptr) {
    solver.evaluate(space, plan, DeviceBodies<Space>(charged).q, potential, field, report);
    return to_host(potential, field);
  }
};

/// What a first step begins with: all sources are opened.
TEST(RelativeForceCriterion, WithoutALastFieldSumsDirectly) {
  const Bodies bodies = make_bodies(Model::plummer, 3000);
  Planned planned(bodies, std::vector<double>(bodies.x.size(), 0.0));
  fmm::Report report;
  const Results sums = planned.evaluate(bodies, &report), reference = direct_sum<Laplace>(bodies);
  EXPECT_EQ(planned.plan.m2l_entries(), 0);
  EXPECT_EQ(report.p2p_pairs, 3000 * 2999);
  EXPECT_LT(relative_l2(sums.field, reference.field), 1e-13);
  EXPECT_LT(relative_l2(sums.potential, reference.potential), 1e-13);
}

/// One body without a field costs its leaf, not all others.
TEST(RelativeForceCriterion, OneBodyWithoutAFieldIsSummedDirectly) {
  const Bodies bodies = make_bodies(Model::cube, 20000);
  auto last_field = first_field<4>(bodies);
  for (int d = 0; d < 3; ++d) last_field[3 * 77 + d] = 0;
  Planned planned(bodies, last_field);
  fmm::Report report;
  const Results sums = planned.evaluate(bodies, &report), reference = direct_sum<Laplace>(bodies);
  EXPECT_LT(report.p2p_pairs, std::int64_t(20000) * 20000 / 4);
  EXPECT_GT(planned.plan.m2l_entries(), planned.plan.leaves());
  const auto error_of = [&](std::size_t i) {
    std::vector<double> difference(3);
    for (int d = 0; d < 3; ++d) difference[d] = sums.field[3 * i + d] - reference.field[3 * i + d];
    return size_of(difference, 0) / size_of(reference.field, i);
  };
  EXPECT_LT(error_of(77), 1e-13);
  EXPECT_LT(relative_l2(sums.field, reference.field), 3e-4);
}

/// Evaluations with other charges have the lists of a plan that was built with them.
TEST(RelativeForceCriterion, NewChargesRedoListsOnly) {
  Bodies bodies = make_bodies(Model::cube, 5000);
  const auto last_field = first_field<4>(bodies);
  Planned planned(bodies, last_field);
  const auto before = planned.plan.p2p_entries();
  EXPECT_GT(planned.plan.m2l_entries(), 0);
  for (std::size_t i = 0; i < bodies.size(); ++i) bodies.q[i] *= bodies.x[3 * i] < 0.5 ? 0 : 100;
  fmm::Report report;
  const Results sums = planned.evaluate(bodies, &report);
  EXPECT_EQ(report.find("sort"), nullptr);
  EXPECT_EQ(report.find("tree"), nullptr);
  EXPECT_GT(report.seconds("lists"), 0);
  EXPECT_GT(planned.plan.p2p_entries(),
            before);  // a hundred times the charge against the same field
  Planned fresh(bodies, last_field);
  const Results expected = fresh.evaluate(bodies);
  EXPECT_EQ(planned.plan.m2l_entries(), fresh.plan.m2l_entries());
  EXPECT_EQ(planned.plan.p2p_entries(), fresh.plan.p2p_entries());
  EXPECT_EQ(sums.potential, expected.potential);
  EXPECT_EQ(sums.field, expected.field);
}

TEST(RelativeForceCriterion, NoBodiesAreAllowed) {
  const Bodies none = make_bodies(Model::cube, 0);
  EXPECT_TRUE(Planned(none, {}).evaluate(none).field.empty());
}

}  // namespace
}  // namespace fmm_test
