// SPDX-License-Identifier: BSD-3-Clause
// VariableOrder: every pair is translated once, at the lowest order that its criterion accepts, and what that does to
// error and operations.
#include <algorithm>
#include <numeric>

#include "support.hpp"

namespace fmm_test {
namespace {

using namespace fmm;
using namespace fmm::engine;
using fmm::FieldCriterion;
using fmm::RadiusCriterion;
using fmm::VariableOrder;

template <class T>
class OrdersPerPair : public testing::Test {
 public:
  using KokkosSpace = typename T::Space;
  using Space = fmm::site_t<KokkosSpace>;
  using Real = typename T::Real;
  // on a GPU several threads translate at the higher two together
  static constexpr int order = quick ? 8 : 12, lower[] = {quick ? 4 : 6, quick ? 6 : 9};
  static constexpr double theta = 0.7;
  using Ordered = DualTree<VariableOrder<RadiusCriterion, lower[0], lower[1]>>;

  Space space = site<KokkosSpace>();
  Bodies bodies = make_bodies(Model::plummer, 4000);
  DeviceBodies<Space> device{bodies};
  PlanData<Space, Real> s;

  template <class Traversal>
  void build() {
    const fmm::Options options = fmm::Solver<Laplace, fmm::Fmm<order, Traversal>, Real, Space>(
                                     fmm::Options{.theta = theta, .leaf_capacity = 20})
                                     .options();
    const ViewIn<double const* [3], Space> positions = device.x;
    const ViewIn<double const*, Space> charges = device.q;
    build_plan<Traversal>(space, s, positions, options, order, nullptr);
    take_charges(space, inspect_charges(space, false, charges).unit, charges, s.tree.permutation,
                 charges_of(s.tree.bodies), s.memory.sums.resize(s.tree.size));
    space.fence();
  }

  /// Part k of row i is entries parts[i][k] .. parts[i][k + 1] - 1.
  std::vector<std::array<Offset, 4>> parts() const {
    const auto offsets = to_host(s.lists.m2l.offsets);
    const std::size_t rows = offsets.size() - 1;
    const auto ends = to_host(s.memory.traversal.order_ends.view(2 * rows));
    std::vector<std::array<Offset, 4>> parts;
    for (std::size_t i = 0; i < rows; ++i)
      parts.push_back({offsets[i], ends[i], ends[rows + i], offsets[i + 1]});
    return parts;
  }
};
TYPED_TEST_SUITE(OrdersPerPair, Cases);

TYPED_TEST(OrdersPerPair, EveryEntryIsInThePartOfTheLowestOrderThatIsEnough) {
  this->template build<DualTree<>>();
  auto expected = to_host(this->s.lists.m2l);
  this->template build<typename TestFixture::Ordered>();
  auto rows = to_host(this->s.lists.m2l);
  const auto parts = this->parts();
  const auto cells = to_host(this->s.tree.octree.cells);
  const auto radii = to_host(this->s.memory.traversal.radii.view(cells.size()));
  const auto eta = [&](std::size_t a, std::size_t b) {
    const double unit = std::ldexp(1.0, -fmm::grid_bits);
    double r2 = 0;
    for (int d = 0; d < 3; ++d)
      r2 += std::pow((double(cells[a].centre[d]) - double(cells[b].centre[d])) * unit, 2);
    return (radii[a] * cells[a].edge() + radii[b] * cells[b].edge()) * unit / std::sqrt(r2);
  };
  const double allowed = std::pow(TestFixture::theta, TestFixture::order + 1), rounding = 1e-4;
  std::array<std::size_t, 3> entries{};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASSERT_TRUE(std::is_sorted(parts[i].begin(), parts[i].end()));
    for (int k = 0; k < 3; ++k)
      for (Offset e = parts[i][k]; e < parts[i][k + 1]; ++e) {
        const double ratio = eta(i, rows[i][e - parts[i][0]]);
        const auto error = [&](int p) { return std::pow(ratio, p + 1) / allowed; };
        EXPECT_LT(k < 2 ? error(TestFixture::lower[k]) : 0, 1 + rounding);
        EXPECT_GT(k > 0 ? error(TestFixture::lower[k - 1]) : 2, 1 - rounding);
        ++entries[k];
      }
    std::sort(rows[i].begin(), rows[i].end());
    std::sort(expected[i].begin(), expected[i].end());
    ASSERT_EQ(rows[i], expected[i]) << i;
  }
  for (const std::size_t n : entries) EXPECT_GT(n, 1000u);
}

/// The sums over each part, by M2L of that order alone on rows of their own.
TYPED_TEST(OrdersPerPair, LocalsAreTheSumsOfAllParts) {
  using Space = typename TestFixture::Space;
  using Real = typename TestFixture::Real;
  constexpr int order = TestFixture::order;
  using Expansion = fmm::SphericalExpansion<order, Real, Rotation>;
  auto& s = this->s;
  Space const& space = this->space;
  this->template build<typename TestFixture::Ordered>();
  const auto cells = s.tree.octree.cells;
  const std::size_t rows = cells.extent(0);
  constexpr int row = row_length(Expansion::size);
  const auto multipoles = s.memory.multipoles.resize(rows * row),
             locals = s.memory.locals.resize(rows * row);
  p2m<Expansion>(space, cells, s.tree.octree.leaves, charges_of(s.tree.bodies), multipoles);
  for (int level = s.tree.octree.depth - 1; level >= 0; --level)
    m2m<Expansion>(space, cells, s.tree.octree.parents_of(level), multipoles);
  M2LInOrders<TestFixture::lower[0], TestFixture::lower[1]>::template m2l<Expansion>(
      space, s.memory, cells, s.lists.m2l, multipoles, locals);
  space.fence();
  const auto computed = to_host(locals), all_multipoles = to_host(multipoles);

  std::vector<Real> expected(rows * row);
  const auto list = to_host(s.lists.m2l);
  const auto parts = this->parts();
  const auto add_part = [&](int k, auto of_order) {
    constexpr int q = of_order.value, length = row_length(fmm::coefficient_count(q));
    std::vector<Offset> offsets{0};
    std::vector<CellIndex> entries;
    std::vector<Real> low(rows * length);
    for (std::size_t i = 0; i < rows; ++i) {
      const auto begin = list[i].begin() - parts[i][0];
      entries.insert(entries.end(), begin + parts[i][k], begin + parts[i][k + 1]);
      offsets.push_back(Offset(entries.size()));
      for (int c = 0; c < fmm::coefficient_count(q); ++c)
        low[i * length + c] = all_multipoles[i * row + c];
    }
    const auto there = [](auto const& from) {
      using T = typename std::decay_t<decltype(from)>::value_type;
      const ViewIn<T*, Space> to("copy", from.size());
      Kokkos::deep_copy(
          to, Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                  from.data(), from.size()));
      return to;
    };
    const ViewIn<Real*, Space> sums("sums", low.size());
    const auto all_offsets = there(offsets);
    const auto all_entries = there(entries);
    const auto all_low = there(low);
    const auto array = [](auto const& view) {
      return Array<typename std::decay_t<decltype(view)>::value_type, Space>(view.data(),
                                                                             view.size());
    };
    m2l<fmm::SphericalExpansion<q, Real, Rotation>>(
        space, cells, Csr<Space>{array(all_offsets), array(all_entries)}, array(all_low),
        array(sums));
    space.fence();
    const auto part = to_host(sums);
    for (std::size_t i = 0; i < rows; ++i)
      for (int c = 0; c < fmm::coefficient_count(q); ++c)
        expected[i * row + c] += part[i * length + c];
  };
  add_part(2, std::integral_constant<int, order>());
  add_part(0, std::integral_constant<int, TestFixture::lower[0]>());
  add_part(1, std::integral_constant<int, TestFixture::lower[1]>());
  double norm = 0, difference = 0;
  for (std::size_t i = 0; i < rows; ++i)
    for (int c = 0; c < Expansion::size; ++c) {
      norm += std::pow(expected[i * row + c], 2);
      difference += std::pow(double(expected[i * row + c]) - double(computed[i * row + c]), 2);
    }
  EXPECT_GT(norm, 0);
  EXPECT_LT(std::sqrt(difference / norm), sizeof(Real) == 4 ? 1e-6 : 1e-14);
}

struct Outcome {
  double error, m2l_flops;
  std::int64_t m2l;
};

template <class Criterion, int Order>
Outcome outcome(Bodies const& bodies, fmm::Options options) {
  using Solver = fmm::Solver<Laplace, fmm::Fmm<Order, DualTree<Criterion>>, double>;
  using Space = typename Solver::execution_space;
  Solver solver(options);
  const DeviceBodies<Space> device(bodies);
  const ViewIn<double*, Space> potential("potential", bodies.size());
  const ViewIn<double* [3], Space> field("field", bodies.size());
  auto plan = [&] {
    if constexpr (Solver::uses_charges)
      return solver.build(Space(), fmm::Inputs{device.x, device.q});
    else
      return solver.build(Space(), device.x);
  }();
  fmm::Report report;
  solver.evaluate(Space(), plan, device.q, potential, field, &report);
  const auto known = direct_reference(bodies, false);
  return {relative_l2(to_host(potential, field).field, known.field), report.find("m2l")->flops,
          report.m2l};
}

/// Each pair errs by as much as the worst was allowed to: the error grows, by as much as most pairs were better than
/// that. M2L takes fewer operations for the same pairs.
template <class Criterion>
void takes_less_at_a_larger_error(fmm::Options const& options, double most_growth) {
  for (const Model model : {Model::cube, Model::plummer}) {
    const Bodies bodies = make_bodies(model, 5000);
    const Outcome one = outcome<Criterion, 9>(bodies, options),
                  several = outcome<VariableOrder<Criterion, 4, 6>, 9>(bodies, options);
    EXPECT_EQ(several.m2l, one.m2l) << name_of(model);
    EXPECT_GT(several.m2l, 1000) << name_of(model);
    EXPECT_LT(several.m2l_flops, 0.9 * one.m2l_flops) << name_of(model);
    EXPECT_LT(several.error, most_growth * one.error) << name_of(model);
    EXPECT_GT(several.error, one.error) << name_of(model);
  }
}
TEST(VariableOrder, TakesLessAtALargerErrorByRadii) {
  takes_less_at_a_larger_error<RadiusCriterion>({.theta = 0.6, .leaf_capacity = 20}, 20);
}
TEST(VariableOrder, TakesLessAtALargerErrorByField) {
  takes_less_at_a_larger_error<FieldCriterion>({.pair_error = 1e-5, .leaf_capacity = 20}, 60);
}

/// A criterion whose lists, and their parts with them, are made by an evaluation and not by the build alone.
TEST(VariableOrder, TakesOtherChargesByTheLastField) {
  const Bodies bodies = make_bodies(Model::plummer, 3000),
               mixed = make_bodies(Model::plummer, 3000, true);
  using Relative = fmm::RelativeForceCriterion;
  fmm::Solver<Laplace, fmm::Fmm<9, DualTree<VariableOrder<Relative, 4, 6>>>, double> solver(
      fmm::Options{.pair_error = 1e-5, .leaf_capacity = 20});
  for (Bodies const* some : {&bodies, &mixed, &bodies}) {
    const auto known = direct_reference(*some, false);
    EXPECT_LT(relative_l2(run(solver, *some, known.field).field, known.field), 1e-4);
  }
}

TEST(VariableOrder, RefusesAPlanOfAnotherOrder) {
  using Space = Kokkos::DefaultExecutionSpace;
  using Traversal = DualTree<VariableOrder<RadiusCriterion, 2>>;
  const DeviceBodies<Space> device(make_bodies(Model::cube, 1000));
  fmm::Solver<Laplace, fmm::Fmm<4, Traversal>, double> maker;
  fmm::Solver<Laplace, fmm::Fmm<6, Traversal>, double> other;
  const ViewIn<double*, Space> potential("potential", 1000);
  auto plan = maker.build(Space(), device.x);
  maker.evaluate(Space(), plan, device.q, potential, fmm::none);
  EXPECT_THROW(other.evaluate(Space(), plan, device.q, potential, fmm::none), fmm::InvalidArgument);
}

/// Of pairs that all need the solver's own order nothing is moved.
TEST(VariableOrder, IsTheOrderAloneWhereNoPairNeedsLess) {
  const Bodies bodies = make_bodies(Model::cube, 3000);
  const fmm::Options options{.theta = 0.6, .leaf_capacity = 20};
  fmm::Solver<Laplace, fmm::Fmm<9, DualTree<>>> one(options);
  fmm::Solver<Laplace, fmm::Fmm<9, DualTree<VariableOrder<RadiusCriterion, 0>>>> several(options);
  const Results expected = run(one, bodies), computed = run(several, bodies);
  EXPECT_EQ(computed.potential, expected.potential);
  EXPECT_EQ(computed.field, expected.field);
}

}  // namespace
}  // namespace fmm_test
