// SPDX-License-Identifier: BSD-3-Clause
// What stands between the steps of an evaluation: callers that compose the steps themselves, with targets that are
// the sources or another set, and with sources at a shift.
#include "two_sets.hpp"

namespace fmm_test {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using fmm::kernels::Outputs;

/// An exchange between ranks: all multipoles leave the evaluation before the lists are made, and others take their
/// place until they come back.
template <class Traversal>
void exchange_multipoles() {
  using Solver = fmm::Solver<Laplace, fmm::Fmm<6, Traversal>, double>;
  const Bodies bodies = make_bodies(Model::plummer, 5000, true, 3);
  const DeviceBodies<Space> device(bodies);
  ViewIn<double*, Space> potential("potential", bodies.size());
  ViewIn<double* [3], Space> field("field", bodies.size());
  const Space space;
  Solver solver;
  auto plan = [&] {
    if constexpr (Solver::uses_charges)
      return solver.build(space, fmm::Inputs{device.x, device.q});
    else
      return solver.build(space, device.x);
  }();

  solver.check(plan, device.q, potential, field);
  auto steps = solver.template evaluation<Outputs<true, true>>(space, plan, nullptr);
  steps.template take_charges<decltype(potential), decltype(field)>(device.q);
  steps.upward(Solver::uses_charges);
  const auto multipoles = steps.multipoles();
  const auto sent = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), multipoles.view());
  std::vector<double> packed(sent.data(), sent.data() + sent.size());
  Kokkos::deep_copy(space, multipoles.view(), std::nan(""));
  space.fence();
  std::copy(packed.begin(), packed.end(), sent.data());
  Kokkos::deep_copy(multipoles.view(), sent);
  if constexpr (Solver::uses_charges) solver.list(space, plan.data(), multipoles, nullptr);
  steps.interact();
  steps.downward();
  steps.near_field(solver.kernel(), solver.options());
  steps.give_results(potential, field);
  space.fence();
  const Results exchanged = to_host(potential, field), expected = direct_sum<Laplace>(bodies);
  EXPECT_LT(relative_l2(exchanged.field, expected.field), 2e-4);
  EXPECT_LT(relative_l2(exchanged.potential, expected.potential), 2e-4);

  Solver other;
  const Results whole = run(other, bodies);
  EXPECT_EQ(exchanged.field, whole.field);
  EXPECT_EQ(exchanged.potential, whole.potential);
}

TEST(Seams, MultipolesLeaveAndComeBack) {
  exchange_multipoles<DualTree<>>();
  exchange_multipoles<DualTree<fmm::MultipolePowerCriterion>>();
  exchange_multipoles<fmm::FmmList>();
}

// ---- several densities

/// Two densities of the same sources, summed together: potentials (N,2) and fields (N,2,3) of charges (N,2).
template <class Traversal, class Precision = double, class Space = Space>
void two_densities(double tolerance, Model model) {
  using Strengths = fmm::kernels::Charges<2>;
  using Out = Outputs<true, true, 2>;
  using Solver = fmm::Solver<
      Laplace,
      MethodOf<8, Traversal,
               std::conditional_t<std::is_same_v<Traversal, BarnesHut>, NoTranslation, Rotation>>,
      Precision, Space>;
  Bodies of[2] = {make_bodies(model, 3000, true, 3), make_bodies(model, 3000, false, 3)};
  of[1].x = of[0].x;
  const std::size_t n = of[0].size();
  const DeviceBodies<Space> device(of[0]);
  const ViewIn<double*[2], Space> charges("charges", n), potential("potential", n);
  const ViewIn<double* [2][3], Space> field("field", n);
  const auto given = Kokkos::create_mirror_view(charges);
  for (std::size_t i = 0; i < n; ++i)
    for (int k = 0; k < 2; ++k) given(i, k) = of[k].q[i];
  Kokkos::deep_copy(charges, given);

  const Space space;
  Solver solver;
  auto plan = solver.build(space, device.x);
  auto steps = solver.template evaluation<Out, Strengths>(space, plan, nullptr);
  steps.template take_charges<decltype(potential), decltype(field)>(charges);
  steps.upward(false);
  steps.interact();
  steps.downward();
  steps.near_field(solver.kernel(), solver.options());
  steps.give_results(potential, field);
  space.fence();
  const auto u = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), potential);
  const auto f = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), field);
  for (int k = 0; k < 2; ++k) {
    Results sums;
    for (std::size_t i = 0; i < n; ++i) {
      sums.potential.push_back(u(i, k));
      for (int d = 0; d < 3; ++d) sums.field.push_back(f(i, k, d));
    }
    const Results expected = direct_sum<Laplace>(of[k]);
    EXPECT_LT(relative_l2(sums.field, expected.field), tolerance) << k;
    EXPECT_LT(relative_l2(sums.potential, expected.potential), tolerance) << k;
  }
}

TEST(Seams, TwoDensities) {
  two_densities<DualTree<>>(5e-5, Model::plummer);
  two_densities<DualTree<>, float>(5e-5, Model::cube);
  two_densities<DualTree<>, fmm::Mixed>(5e-5, Model::plummer);
  two_densities<DualTree<>, double, Kokkos::Serial>(5e-5, Model::cube);
  two_densities<BarnesHut>(5e-5, Model::plummer);
  two_densities<fmm::FmmList>(5e-5, Model::plummer);
}

// ---- targets and sources

template <class Traversal, class Precision = double, class Space_ = Space>
using SolverBy = fmm::Solver<
    Laplace,
    MethodOf<8, Traversal,
             std::conditional_t<std::is_same_v<Traversal, BarnesHut>, NoTranslation, Rotation>>,
    Precision, Space_>;

/// Adds what sources exert that are `shift` along x from their place, in double; a pair without distance is none.
void add_exerted(Bodies const& targets, Bodies const& sources, double shift, Results& sums) {
  sums.potential.resize(targets.size());
  sums.field.resize(3 * targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i)
    for (std::size_t j = 0; j < sources.size(); ++j) {
      double d[3], r2 = 0;
      for (int c = 0; c < 3; ++c) {
        d[c] = targets.x[3 * i + c] - (sources.x[3 * j + c] + (c == 0 ? shift : 0));
        r2 += d[c] * d[c];
      }
      if (r2 == 0) continue;
      const double u = 1 / std::sqrt(r2);
      sums.potential[i] += sources.q[j] * u;
      for (int c = 0; c < 3; ++c) sums.field[3 * i + c] += sources.q[j] * u * u * u * d[c];
    }
}

void expect_near(Results const& sums, Results const& expected, double tolerance) {
  EXPECT_LT(relative_l2(sums.field, expected.field), tolerance);
  EXPECT_LT(relative_l2(sums.potential, expected.potential), tolerance);
}

/// Targets that are another set than the sources: fewer, elsewhere, in a tree of their own.
template <class Traversal, class Precision = double, class Space = Space>
void other_targets(double tolerance, Bodies const& targets, Bodies const& sources) {
  SolverBy<Traversal, Precision, Space> solver;
  const DeviceBodies<Space> to(targets), from(sources);
  const auto cube = cube_of<Space>(targets, sources);
  auto of_targets = plan_over(cube, solver, to.x), of_sources = plan_over(cube, solver, from.x);
  fmm::Report report;
  const Results sums = exerted<Traversal, Precision>(solver, of_targets, of_sources, fmm::NoShift(),
                                                     from.q, &report);
  EXPECT_GT(report.p2p_pairs, 0);
  EXPECT_LT(report.p2p_pairs, std::int64_t(targets.size() * sources.size()));
  Results expected;
  add_exerted(targets, sources, 0, expected);
  expect_near(sums, expected, tolerance);
}

TEST(Seams, TargetsAreAnotherSet) {
  const Bodies cloud = make_bodies(Model::plummer, 5000, false, 3),
               cube = make_bodies(Model::cube, 1500, false, 4), one = make_bodies(Model::cube, 1);
  other_targets<DualTree<>>(1e-5, cube, cloud);
  other_targets<DualTree<>>(8e-5, cloud, cube);
  other_targets<DualTree<>, double, Kokkos::Serial>(1e-5, cube, cloud);
  other_targets<DualTree<>, float>(1e-5, cube, cloud);
  other_targets<DualTree<>, fmm::Mixed>(1e-5, cube, cloud);
  other_targets<DualTree<>>(3e-7, one, cloud);
  other_targets<fmm::FmmList>(2e-5, cube, cloud);
  other_targets<fmm::FmmStencil>(5e-5, cloud, cube);
  other_targets<BarnesHut>(2e-6, cube, cloud);
}

/// An image of all bodies beside them: home and image, and a body is a source of itself in the image.
template <class Traversal, class Precision = double>
void image_beside(double tolerance) {
  SolverBy<Traversal, Precision> solver;
  const Bodies bodies = make_bodies(Model::cube, 3000, false, 5);
  const DeviceBodies<Space> device(bodies);
  ViewIn<double*, Space> potential("potential", bodies.size());
  ViewIn<double* [3], Space> field("field", bodies.size());
  auto plan = solver.build(Space(), device.x);
  solver.evaluate(Space(), plan, device.q, potential, field);
  Space().fence();
  Results sums = to_host(potential, field), expected;
  const Results image =
      exerted<Traversal, Precision>(solver, plan, plan, fmm::GridShift::of_root(1, 0, 0), device.q);
  add_exerted(bodies, bodies, 0, expected);
  const Results home = expected;
  add_exerted(bodies, bodies, plan.data().tree.cube.edge, expected);
  Results of_image = expected;
  for (std::size_t i = 0; i < image.field.size(); ++i) {
    sums.field[i] += image.field[i];
    of_image.field[i] -= home.field[i];
  }
  for (std::size_t i = 0; i < image.potential.size(); ++i) {
    sums.potential[i] += image.potential[i];
    of_image.potential[i] -= home.potential[i];
  }
  expect_near(sums, expected, tolerance);
  expect_near(image, of_image, tolerance);
}

TEST(Seams, ImageOfTheSources) {
  image_beside<DualTree<>>(3e-6);
  image_beside<DualTree<>, float>(3e-6);
  image_beside<DualTree<>, fmm::Mixed>(3e-6);
  image_beside<fmm::FmmList>(2e-5);
  image_beside<fmm::FmmStencil>(3e-5);
  image_beside<BarnesHut>(1e-6);
}

TEST(Seams, SetsThatDoNotFitAreRefused) {
  const Bodies bodies = make_bodies(Model::cube, 500);
  const DeviceBodies<Space> device(bodies);
  SolverBy<fmm::FmmList> solver;
  const fmm::tree::Cube cube{{0, 0, 0}, 1}, other{{0, 0, 0}, 2};
  auto plan = plan_over(cube, solver, device.x), of_other = plan_over(other, solver, device.x);
  const auto list = [&](auto& sources, fmm::GridShift shift) {
    exerted<fmm::FmmList, double>(solver, plan, sources, shift, device.q);
  };
  EXPECT_THROW(list(of_other, fmm::GridShift::of_root(0, 0, 0)), fmm::InvalidArgument);
  EXPECT_THROW(list(plan, fmm::GridShift{{1, 0, 0}}), fmm::InvalidArgument);
}

// ---- some of the bodies

/// Sums of the bodies of every third leaf alone, with lists for these leaves and the cells above them.
template <class Traversal>
void active_block(double tolerance) {
  using Want = fmm::kernels::Outputs<true, true>;
  SolverBy<Traversal> solver;
  const Space space;
  const Bodies bodies = make_bodies(Model::plummer, 4000, false, 6);
  const DeviceBodies<Space> device(bodies);
  ViewIn<double*, Space> potential("potential", bodies.size());
  ViewIn<double* [3], Space> field("field", bodies.size());
  auto plan = solver.build(space, device.x);
  solver.evaluate(space, plan, device.q, potential, field);
  space.fence();
  const Results of_all = to_host(potential, field);
  auto& data = plan.data();
  auto& tree = data.tree;
  auto& lists = data.lists;
  auto& memory = data.memory;

  const auto cells = to_host(tree.octree.cells);
  std::vector<fmm::Tile> block;
  std::vector<int> wanted(cells.size(), 0);
  for (fmm::Tile const& tile : to_host(tree.octree.tiles))
    if (tile.cell % 3 == 0) {
      block.push_back(tile);
      for (fmm::CellIndex c = tile.cell; c >= 0; c = cells[c].parent) wanted[std::size_t(c)] = 1;
    }
  ASSERT_FALSE(block.empty());
  const auto tiles_there = column_in<Space>(block);
  const auto wanted_there = column_in<Space>(wanted);
  const ViewIn<fmm::Sums<double>*, Space> sums_there("sums", bodies.size());
  using Site = fmm::site_t<Space>;
  Site const& site = space;
  const fmm::Array<fmm::Tile, Site> tiles(tiles_there.data(), block.size());
  const fmm::Array<fmm::Sums<double>, Site> sums(sums_there.data(), bodies.size());

  auto steps = solver.template evaluation<Want>(space, plan, nullptr);
  steps.template take_charges<decltype(potential), decltype(field)>(device.q);
  steps.upward(true);
  lists = fmm::engine::build_dual_lists<Traversal>(
      site, memory, tree, solver.options(), solver.far_field(),
      fmm::engine::measure_for_lists<Traversal>(site, memory, tree, solver.far_field()),
      fmm::Array<int, Site>(wanted_there.data(), wanted.size()));
  fmm::engine::set_far_field_of(site, *solver.template operators<Want>(tree.cube), memory, tree,
                                lists, tiles, sums);
  fmm::engine::add_near_field<Want, double>(
      site, memory, tree, fmm::kernels::in_units_of(tree.cube.edge, solver.kernel()), tiles,
      lists.p2p, sums, solver.options());
  Kokkos::deep_copy(space, steps.sums().view(), sums_there);
  steps.give_results(potential, field);
  space.fence();
  const Results of_block = to_host(potential, field);

  Results exact, chosen, expected, reference;
  add_exerted(bodies, bodies, 0, exact);
  const auto order = to_host(tree.permutation);
  for (fmm::Tile const& tile : block)
    for (int k = 0; k < tile.count; ++k) {
      const auto i = std::size_t(order[std::size_t(tile.first + k)]);
      chosen.potential.push_back(of_block.potential[i]);
      expected.potential.push_back(of_all.potential[i]);
      reference.potential.push_back(exact.potential[i]);
      for (int d = 0; d < 3; ++d) {
        chosen.field.push_back(of_block.field[3 * i + d]);
        expected.field.push_back(of_all.field[3 * i + d]);
        reference.field.push_back(exact.field[3 * i + d]);
      }
    }
  EXPECT_LT(chosen.potential.size(), bodies.size() / 2);
  expect_near(chosen, expected, 1e-14);
  expect_near(chosen, reference, tolerance);
}

TEST(Seams, BlockOfActiveBodies) { active_block<DualTree<>>(5e-5); }

/// Two parts of the Morton order, each a plan of its own with the choices of all: their cells are the whole's, and
/// what each exerts on itself and on the other is the whole's sum.
TEST(Seams, PartsOfTheOrder) {
  using Traversal = DualTree<>;
  using Plan = SolverBy<Traversal>::plan_type;
  constexpr int shared = 5;  // levels down to which all cells are split
  SolverBy<Traversal> solver;
  const Space space;
  const Bodies bodies = make_bodies(Model::plummer, 6000, false, 7);
  const DeviceBodies<Space> device(bodies);
  auto choices = solver.choose(space, device.x);
  choices.split.least_depth = shared;
  const fmm::Inputs<decltype(device.x)> all{device.x};
  auto whole = solver.build(space, all, nullptr, &choices);

  // cut where a cell begins
  const auto order = to_host(whole.data().tree.permutation);
  const auto cells_of = [&](Plan& plan, std::int64_t first) {
    std::vector<std::vector<std::int64_t>> cells;
    for (fmm::Cell const& c : to_host(plan.data().tree.octree.cells))
      if (c.level >= shared)
        cells.push_back({c.level, c.centre[0], c.centre[1], c.centre[2], first + c.body_begin,
                         c.body_count, c.is_leaf()});
    std::sort(cells.begin(), cells.end());
    return cells;
  };
  std::size_t cut = 0;
  for (auto const& cell : cells_of(whole, 0))
    if (cell[0] == shared && cell[4] < 4000) cut = std::max(cut, std::size_t(cell[4]));
  ASSERT_GT(cut, 2000u);

  Bodies parts[2];
  for (std::size_t i = 0; i < order.size(); ++i) {
    Bodies& part = parts[i < cut ? 0 : 1];
    for (int d = 0; d < 3; ++d) part.x.push_back(bodies.x[3 * order[i] + d]);
    part.q.push_back(bodies.q[order[i]]);
  }
  const DeviceBodies<Space> device_parts[2] = {DeviceBodies<Space>(parts[0]),
                                               DeviceBodies<Space>(parts[1])};
  const auto build = [&](int k) {
    const fmm::Inputs<decltype(device.x)> inputs{device_parts[k].x};
    return solver.build(space, inputs, nullptr, &choices);
  };
  Plan plans[2] = {build(0), build(1)};
  auto cells = cells_of(plans[0], 0);
  const auto others = cells_of(plans[1], std::int64_t(cut));
  cells.insert(cells.end(), others.begin(), others.end());
  std::sort(cells.begin(), cells.end());
  EXPECT_EQ(cells, cells_of(whole, 0));

  Results sums, expected;
  add_exerted(bodies, bodies, 0, expected);
  sums.potential.resize(bodies.size());
  sums.field.resize(3 * bodies.size());
  for (int k = 0; k < 2; ++k) {
    ViewIn<double*, Space> potential("potential", parts[k].size());
    ViewIn<double* [3], Space> field("field", parts[k].size());
    solver.evaluate(space, plans[k], device_parts[k].q, potential, field);
    space.fence();
    const Results own = to_host(potential, field),
                  of_other = exerted<Traversal, double>(solver, plans[k], plans[1 - k],
                                                        fmm::NoShift(), device_parts[1 - k].q);
    for (std::size_t i = 0; i < parts[k].size(); ++i) {
      const auto to = std::size_t(order[(k == 0 ? 0 : cut) + i]);
      sums.potential[to] = own.potential[i] + of_other.potential[i];
      for (int d = 0; d < 3; ++d)
        sums.field[3 * to + d] = own.field[3 * i + d] + of_other.field[3 * i + d];
    }
  }
  const double error = relative_l2(run(solver, bodies).field, expected.field);
  EXPECT_LT(error, 5e-5);
  expect_near(sums, expected, 1.5 * error);

  choices.cube.edge /= 2;
  EXPECT_THROW(solver.build(space, all, nullptr, &choices), fmm::InvalidArgument);
}

}  // namespace
}  // namespace fmm_test
