// SPDX-License-Identifier: BSD-3-Clause
// Periodic cells, against Ewald's sums in long double: cells, charges and masses, criteria and precisions; where bodies
// are in their cell; what is not there yet.
#include <fmm/fmm.hpp>

#include "carried.hpp"
#include "ewald_reference.hpp"
#include "refusal.hpp"
#include "support.hpp"

namespace fmm_test {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using fmm::DualTree;
using fmm::Fmm;
using fmm::Laplace;
using fmm::PeriodicBox;

enum class Kind { ions, masses, random };

struct Bodies {
  std::vector<double> x, q;
  int size() const { return int(q.size()); }
};
/// In three cells along each axis.
Bodies bodies_of(Kind kind, int n, PeriodicBox const& box, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  Bodies bodies;
  for (int i = 0; i < n; ++i) {
    double at[3] = {};
    for (auto const& vector : box.vectors) {
      const double factor = 3 * uniform(random) - 1;
      for (int d = 0; d < 3; ++d) at[d] += factor * vector[d];
    }
    bodies.x.insert(bodies.x.end(), at, at + 3);
    const double charge = uniform(random);
    bodies.q.push_back(kind == Kind::ions ? (i % 2 ? -1 : 1)
                                          : (kind == Kind::masses ? charge : charge - 0.5));
  }
  return bodies;
}

PeriodicSources sources_in(PeriodicBox const& box, Bodies const& bodies) {
  PeriodicSources sources;
  for (int k = 0; k < 3; ++k)
    for (int d = 0; d < 3; ++d) sources.cell[k][d] = box.vectors[k][d];
  for (int i = 0; i < bodies.size(); ++i) {
    sources.x.push_back({bodies.x[3 * i], bodies.x[3 * i + 1], bodies.x[3 * i + 2]});
    sources.charges.push_back(bodies.q[i]);
  }
  return sources;
}

/// Potential and field in rows of four.
template <class Solver>
std::vector<double> evaluated(Solver& solver, Bodies const& bodies) {
  const Space space;
  const auto x = to_space<Space>(bodies.x);
  const auto q = column_in<Space>(bodies.q);
  auto plan = [&] {
    if constexpr (Solver::uses_charges)
      return solver.build(space, fmm::Inputs{.sources = x, .charges = q});
    else
      return solver.build(space, x);
  }();
  const ViewIn<double*, Space> u("u", bodies.size());
  const ViewIn<double* [3], Space> f("f", bodies.size());
  solver.evaluate(space, plan, q, u, f);
  space.fence();
  const auto hu = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), u);
  const auto hf = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), f);
  std::vector<double> rows;
  for (int i = 0; i < bodies.size(); ++i)
    for (int c = 0; c < 4; ++c) rows.push_back(c == 0 ? hu(i) : hf(i, c - 1));
  return rows;
}

/// Relative L2 errors of potential and field at every `step`-th body.
struct Errors {
  double potential, field;
};
Errors errors_of(std::vector<double> const& found, PeriodicBox const& box, Bodies const& bodies,
                 int step, double factor = 1) {
  const auto sources = sources_in(box, bodies);
  long double error[2] = {}, norm[2] = {};
  for (int i = 0; i < bodies.size(); i += step) {
    const auto exact = ewald(sources, sources.x[i], i);
    for (int c = 0; c < 4; ++c) {
      const long double value = factor * exact[c];
      error[c > 0] += (found[4 * i + c] - value) * (found[4 * i + c] - value);
      norm[c > 0] += value * value;
    }
  }
  return {double(std::sqrt(error[0] / norm[0])), double(std::sqrt(error[1] / norm[1]))};
}

const PeriodicBox cube(1), box(1, 1.5, 2), column(1, 1, 4);
// whose vectors are no whole grid units
const PeriodicBox odd(1, 1.2345678, 0.87654321),
    oblique(std::array<std::array<double, 3>, 3>{{{1, 0.2, 0.1}, {0.3, 1.2, 0}, {-0.1, 0.4, 1.1}}});

template <class Solver>
void expect_ewald(PeriodicBox const& cell, Kind kind, int n, int step, fmm::Options options,
                  double potential, double field, double factor = 1) {
  options.periodic = cell;
  Solver solver(options);
  const Bodies bodies = bodies_of(kind, n, cell);
  const Errors errors = errors_of(evaluated(solver, bodies), cell, bodies, step, factor);
  EXPECT_LT(errors.potential, potential) << n;
  EXPECT_LT(errors.field, field) << n;
}

TEST(Periodic, SumsAreEwalds) {
  using Order8 = fmm::Solver<Laplace, Fmm<8, DualTree<>>, double>;
  for (PeriodicBox const& cell : {cube, box, column})
    for (const Kind kind : {Kind::ions, Kind::masses, Kind::random}) {
      expect_ewald<Order8>(cell, kind, 10, 2, {.theta = 0.5}, 3e-5, 3e-5);
      expect_ewald<Order8>(cell, kind, 1000, 250, {.theta = 0.5}, 3e-5, 2e-5);
    }
}

TEST(Periodic, SumsOfHighOrderAreEwaldsToManyDigits) {
  using Order16 = fmm::Solver<Laplace, Fmm<16, DualTree<>>, double>;
  for (PeriodicBox const& cell : {cube, box, column})
    expect_ewald<Order16>(cell, Kind::ions, 1000, 250, {.theta = 0.4}, 1e-10, 1e-10);
}

TEST(Periodic, EveryCriterionKnowsImages) {
  using Lists = fmm::Solver<Laplace, Fmm<8, fmm::FmmList>, double>;
  using Powers = fmm::Solver<Laplace, Fmm<6, DualTree<fmm::MultipolePowerCriterion>>, float>;
  using InMixed = fmm::Solver<Laplace, Fmm<6, DualTree<fmm::MultipolePowerCriterion>>, fmm::Mixed>;
  using Masses = fmm::Solver<fmm::SoftenedGravity, Fmm<6, DualTree<>>, float>;
  for (const Kind kind : {Kind::ions, Kind::masses, Kind::random}) {
    expect_ewald<Lists>(cube, kind, 1000, 250, {}, 3e-4, 3e-4);
    expect_ewald<Powers>(cube, kind, 10, 2, {}, 1e-4, 1e-4);
    expect_ewald<Powers>(box, kind, 1000, 250, {}, 3e-3, 5e-4);
    expect_ewald<InMixed>(column, kind, 1000, 250, {.pair_error = 1e-5}, 2e-3, 2e-4);
  }
  expect_ewald<Masses>(cube, Kind::masses, 1000, 250, {.theta = 0.5}, 3e-4, 2e-4, -1);
}

TEST(Periodic, TreecodesKnowImages) {
  using OfLeaves = fmm::Solver<Laplace, fmm::Treecode<8>, double>;
  using ByRadii = fmm::Solver<Laplace, fmm::Treecode<8, DualTree<>>, double>;
  using ByPowers =
      fmm::Solver<Laplace, fmm::Treecode<6, DualTree<fmm::MultipolePowerCriterion>>, float>;
  for (PeriodicBox const& cell : {cube, column})
    for (const Kind kind : {Kind::ions, Kind::masses}) {
      expect_ewald<OfLeaves>(cell, kind, 700, 250, {.theta = 0.5}, 1e-4, 1e-4);
      expect_ewald<ByRadii>(cell, kind, 700, 250, {.theta = 0.5}, 1e-4, 1e-4);
      expect_ewald<ByPowers>(cell, kind, 700, 250, {}, 3e-3, 5e-4);
    }
}

/// Images are at any distance then.
TEST(Periodic, CellsMayHaveAnyShape) {
  using Order8 = fmm::Solver<Laplace, Fmm<8, DualTree<>>, double>;
  using Order16 = fmm::Solver<Laplace, Fmm<16, DualTree<>>, double>;
  using Lists = fmm::Solver<Laplace, Fmm<8, fmm::FmmList>, double>;
  using Powers = fmm::Solver<Laplace, Fmm<6, DualTree<fmm::MultipolePowerCriterion>>, float>;
  using InMixed = fmm::Solver<Laplace, Fmm<8, DualTree<>>, fmm::Mixed>;
  using OfLeaves = fmm::Solver<Laplace, fmm::Treecode<8>, double>;
  for (PeriodicBox const& cell : {odd, oblique})
    for (const Kind kind : {Kind::ions, Kind::masses}) {
      expect_ewald<Order8>(cell, kind, 10, 2, {.theta = 0.4}, 3e-5, 3e-5);
      expect_ewald<Order8>(cell, kind, 1000, 250, {.theta = 0.5}, 3e-5, 2e-5);
      expect_ewald<Lists>(cell, kind, 1000, 250, {}, 3e-4, 3e-4);
      expect_ewald<Powers>(cell, kind, 1000, 250, {}, 3e-3, 5e-4);
      expect_ewald<InMixed>(cell, kind, 1000, 250, {.theta = 0.5}, 2e-4, 2e-5);
      expect_ewald<OfLeaves>(cell, kind, 700, 250, {.theta = 0.5}, 1e-4, 1e-4);
    }
  for (PeriodicBox const& cell : {odd, oblique})
    expect_ewald<Order16>(cell, Kind::ions, 1000, 250, {.theta = 0.4}, 1e-10, 1e-10);
}

/// Leaves on faces that cut cells are as small as others, and images are those near the faces: else a tree of an
/// oblique cell had up to six times as many cells as that of a cube, and twice its work.
TEST(Periodic, ObliqueCellsCostLittleMoreThanCubes) {
  const auto cost = [](PeriodicBox const& box) {
    const Space space;
    const Bodies bodies = bodies_of(Kind::ions, 30000, box);
    fmm::Options options{.theta = 0.6};
    options.leaf_capacity = 64;
    options.periodic = box;
    fmm::Solver<Laplace, Fmm<6>, double> solver(options);
    fmm::Report report;
    auto plan = solver.build(space, to_space<Space>(bodies.x), &report);
    const ViewIn<double*, Space> u("u", bodies.size());
    solver.evaluate(space, plan, column_in<Space>(bodies.q), u, fmm::none, &report);
    double cells = 0;
    for (auto const& stage : report.stages)
      if (stage.name == "tree") cells = double(stage.count);
    return std::pair{cells, double(report.p2p_pairs) + 60.0 * double(report.m2l)};
  };
  const auto [cells, work] = cost(PeriodicBox(1));
  for (PeriodicBox const& box : {PeriodicBox({{{1, 0.2, 0.1}, {0.3, 1.2, 0}, {-0.1, 0.4, 1.1}}}),
                                 PeriodicBox({{{1, 0, 0}, {0.5, std::sqrt(0.75), 0}, {0, 0, 1.7}}}),
                                 PeriodicBox({{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}}})}) {
    const auto [cells_here, work_here] = cost(box);
    EXPECT_LT(cells_here, 2.7 * cells);
    EXPECT_LT(work_here, 1.45 * work);
  }
}

/// The lattice counts, not the vectors that it is given by.
TEST(Periodic, VectorsMayBeAnyThatSpanTheLattice) {
  using Order12 = fmm::Solver<Laplace, Fmm<12, DualTree<>>, double>;
  const Bodies bodies = bodies_of(Kind::random, 700, oblique);
  Order12 solver({.theta = 0.4, .periodic = oblique});
  const auto expected = evaluated(solver, bodies);
  auto const& [a, b, c] = oblique.vectors;
  std::array<std::array<double, 3>, 3> others;  // left-handed
  for (int d = 0; d < 3; ++d) {
    others[0][d] = a[d] + 3 * b[d];
    others[1][d] = 2 * a[d] + 5 * b[d];
    others[2][d] = c[d] - 4 * a[d] + b[d];
  }
  Order12 other({.theta = 0.4, .periodic = PeriodicBox(others)});
  EXPECT_LT(relative_l2(evaluated(other, bodies), expected), 1e-9);
}

/// Bodies that are given elsewhere in the lattice, and all bodies at a shift.
TEST(Periodic, SumsDoNotDependOnWhereTheCellIs) {
  using Order12 = fmm::Solver<Laplace, Fmm<12, DualTree<>>, double>;
  Order12 solver({.theta = 0.4, .periodic = box});
  const Bodies bodies = bodies_of(Kind::random, 700, box);
  const auto found = evaluated(solver, bodies);
  Bodies elsewhere = bodies, shifted = bodies;
  for (int i = 0; i < bodies.size(); ++i)
    for (int d = 0; d < 3; ++d) {
      elsewhere.x[3 * i + d] += (i % 5 - 2) * box.vectors[d][d];
      shifted.x[3 * i + d] += 0.37 + 0.1 * d;
    }
  EXPECT_LT(relative_l2(evaluated(solver, elsewhere), found), 1e-9);
  EXPECT_LT(relative_l2(evaluated(solver, shifted), found), 1e-7);
  EXPECT_EQ(relative_l2(evaluated(solver, bodies), found), 0);
}

/// Rows of any View: a strided one is copied on the device alone.
template <class View>
struct SetRows {
  ViewIn<double* [3], Space> from;
  View to;
  KOKKOS_FUNCTION void operator()(int i) const {
    for (int d = 0; d < 3; ++d) to(i, d) = typename View::value_type(from(i, d));
  }
};

/// Positions in any View are wrapped: by rows, by columns, in a larger array, in float. Wrapped ones are of the type
/// that was given; the code of another View is compiled anew, so that sums may round in another way.
TEST(Periodic, PositionsMayBeInAnyView) {
  using Order8 = fmm::Solver<Laplace, Fmm<8, DualTree<>>, double>;
  const Space space;
  Order8 solver({.theta = 0.5, .periodic = box});
  Bodies bodies = bodies_of(Kind::random, 500, box);
  for (double& x : bodies.x) x = float(x);
  const int n = bodies.size();
  const auto results = evaluated(solver, bodies);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = results[4 * i];
  const auto q = column_in<Space>(bodies.q);
  const auto check = [&](auto const& positions, double bound) {
    using View = std::remove_cvref_t<decltype(positions)>;
    Kokkos::parallel_for(Kokkos::RangePolicy<Space>(space, 0, n),
                         SetRows<View>{to_space<Space>(bodies.x), positions});
    auto plan = solver.build(space, positions);
    const ViewIn<double*, Space> u("u", n);
    solver.evaluate(space, plan, q, u, fmm::none);
    const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), u);
    EXPECT_LT(relative_l2({found.data(), found.data() + n}, expected), bound);
  };
  check(Kokkos::View<double* [3], Kokkos::LayoutRight, Space>("rows", n), 1e-13);
  check(Kokkos::View<double* [3], Kokkos::LayoutLeft, Space>("columns", n), 1e-13);
  check(Kokkos::View<double**, Kokkos::LayoutLeft, Space>("both", n, 3), 1e-13);
  check(Kokkos::View<float* [3], Space>("float", n), 1e-6);
  const Kokkos::View<double* [3], Kokkos::LayoutStride, Space> strided(
      "strided", Kokkos::LayoutStride(n, 5, 3, 1));
  check(strided, 1e-13);
}

TEST(Periodic, EightCellsAreOne) {
  using Order12 = fmm::Solver<Laplace, Fmm<12, DualTree<>>, double>;
  Order12 of_one({.theta = 0.4, .periodic = cube}),
      of_eight({.theta = 0.4, .periodic = PeriodicBox(2)});
  const Bodies one = bodies_of(Kind::random, 300, cube);
  Bodies eight;
  for (int cell = 0; cell < 8; ++cell)
    for (int i = 0; i < one.size(); ++i) {
      for (int d = 0; d < 3; ++d) eight.x.push_back(one.x[3 * i + d] + (cell >> d & 1));
      eight.q.push_back(one.q[i]);
    }
  const auto found = evaluated(of_one, one);
  std::vector<double> eight_times;
  for (int cell = 0; cell < 8; ++cell)
    eight_times.insert(eight_times.end(), found.begin(), found.end());
  EXPECT_LT(relative_l2(evaluated(of_eight, eight), eight_times), 1e-6);
}

/// Of many bodies close to a face images are opened far down.
TEST(Periodic, AClumpOnAFaceSeesAcrossIt) {
  using Order8 = fmm::Solver<Laplace, Fmm<8, DualTree<>>, double>;
  Bodies bodies = bodies_of(Kind::random, 200, cube);
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal(0, 1e-4);
  for (int i = 0; i < 800; ++i) {
    for (int d = 0; d < 3; ++d) bodies.x.push_back((d == 0 ? 0 : 0.5) + normal(random));
    bodies.q.push_back(i % 2 ? 1 : -0.9);
  }
  Order8 solver({.theta = 0.5, .periodic = cube});
  const Errors errors = errors_of(evaluated(solver, bodies), cube, bodies, 199);
  EXPECT_LT(errors.potential, 1e-5);
  EXPECT_LT(errors.field, 1e-5);
}

/// A cubic crystal: a cell's ions in edges of the cell, the distance of neighbours in these, and the energy of what a
/// chemist's formula has in squares of a charge over it, with the opposite sign (M. Born and K. Huang, Dynamical Theory
/// of Crystal Lattices, appendix II, to more digits by Ewald's sums).
struct Crystal {
  char const* name;
  std::vector<std::array<double, 4>> ions;  ///< x, y, z, q
  double distance, formulas, energy;
};
std::vector<Crystal> crystals() {
  const std::array<double, 3> face_centred[] = {{0, 0, 0}, {0, .5, .5}, {.5, 0, .5}, {.5, .5, 0}};
  const double third = std::sqrt(3.0) / 4;
  Crystal salt{"NaCl", {}, 0.5, 4, 1.747564594633182},
      caesium{"CsCl", {{0, 0, 0, 1}, {.5, .5, .5, -1}}, 2 * third, 1, 1.762674773070988},
      blende{"ZnS", {}, third, 4, 1.63805505338879},
      fluorite{"CaF2", {}, third, 4, 5.03878487984856};
  for (auto const& [x, y, z] : face_centred) {
    salt.ions.push_back({x, y, z, 1});
    salt.ions.push_back({x + 0.5, y, z, -1});
    blende.ions.push_back({x, y, z, 1});
    blende.ions.push_back({x + 0.25, y + 0.25, z + 0.25, -1});
    fluorite.ions.push_back({x, y, z, 2});
    fluorite.ions.push_back({x + 0.25, y + 0.25, z + 0.25, -1});
    fluorite.ions.push_back({x + 0.75, y + 0.75, z + 0.75, -1});
  }
  return {salt, caesium, blende, fluorite};
}

template <class Solver>
void expect_madelung(double theta, double bound, double field_bound) {
  for (Crystal const& crystal : crystals()) {
    Bodies bodies;
    for (auto const& ion : crystal.ions) {
      bodies.x.insert(bodies.x.end(), {ion[0], ion[1], ion[2]});
      bodies.q.push_back(ion[3]);
    }
    Solver solver({.theta = theta, .periodic = cube});
    const auto found = evaluated(solver, bodies);
    double energy = 0;
    for (int i = 0; i < bodies.size(); ++i) {
      energy += bodies.q[i] * found[4 * i] / 2;
      for (int d = 1; d < 4; ++d)
        EXPECT_NEAR(found[4 * i + d] * crystal.distance * crystal.distance, 0, field_bound)
            << crystal.name;
    }
    EXPECT_NEAR(-energy * crystal.distance / crystal.formulas, crystal.energy, bound)
        << crystal.name;
  }
}
TEST(Periodic, CrystalsHaveMadelungsConstant) {
  expect_madelung<fmm::Solver<Laplace, Fmm<16, DualTree<>>, double>>(0.25, 1e-10, 1e-11);
  expect_madelung<fmm::Solver<Laplace, Fmm<20, DualTree<>>, double>>(0.2, 1e-12, 1e-12);
}

template <class Solver>
void test_all_strengths(PeriodicBox const& cell, std::optional<double> theta, long double bound) {
  const Space space;
  const Bodies bodies = bodies_of(Kind::random, 400, cell);
  const int n = bodies.size();
  auto sources = sources_in(cell, bodies);
  std::vector<double> p;
  for (int i = 0; i < n; ++i) {
    for (int d = 0; d < 3; ++d) p.push_back(0.1 * std::sin(7.0 * i + d));
    sources.dipoles.push_back({p[3 * i], p[3 * i + 1], p[3 * i + 2]});
  }
  Solver solver({.theta = theta, .periodic = cell});
  const auto x = to_space<Space>(bodies.x);
  auto plan = solver.build(space, x);
  const ViewIn<double*, Space> u("u", n);
  const ViewIn<double* [3], Space> f("f", n);
  const ViewIn<double* [6], Space> h("h", n);
  solver.evaluate(
      space, plan,
      fmm::Strengths{.charges = column_in<Space>(bodies.q), .dipoles = to_space<Space>(p)},
      fmm::Results{.potential = u, .field = f, .hessian = h});
  space.fence();
  const auto hu = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), u);
  const auto hf = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), f);
  const auto hh = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), h);
  long double error[3] = {}, norm[3] = {};
  for (int i = 0; i < n; i += 100) {
    const auto exact = ewald(sources, sources.x[i], i);
    for (int c = 0; c < 10; ++c) {
      const double found = c == 0 ? hu(i) : c < 4 ? hf(i, c - 1) : hh(i, c - 4);
      const int of = c == 0 ? 0 : c < 4 ? 1 : 2;
      error[of] += (found - exact[c]) * (found - exact[c]);
      norm[of] += exact[c] * exact[c];
    }
  }
  for (int of = 0; of < 3; ++of) EXPECT_LT(std::sqrt(error[of] / norm[of]), bound) << of;

  // densities have the numbers that each has alone
  const ViewIn<double**, Space> charges("charges", n, 2), both("both", n, 2);
  const auto host = Kokkos::create_mirror_view(charges);
  for (int i = 0; i < n; ++i) {
    host(i, 0) = bodies.q[i];
    host(i, 1) = i % 3;
  }
  Kokkos::deep_copy(charges, host);
  solver.evaluate(space, plan, charges, fmm::Results{.potential = both});
  const auto hb = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), both);
  for (int k = 0; k < 2; ++k) {
    std::vector<double> q(n);
    for (int i = 0; i < n; ++i) q[i] = host(i, k);
    solver.evaluate(space, plan, column_in<Space>(q), u, fmm::none);
    const auto alone = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), u);
    for (int i = 0; i < n; ++i) EXPECT_NEAR(hb(i, k), alone(i), 1e-11 * std::fabs(alone(i)) + 1e-9);
  }
}
TEST(Periodic, SeveralDensitiesDipolesAndHessiansToo) {
  using Order12 = fmm::Solver<Laplace, Fmm<12, DualTree<>>, double>;
  using Pairs = fmm::Solver<Laplace, fmm::DirectSum, double>;
  for (PeriodicBox const& cell : {box, oblique}) {
    test_all_strengths<Order12>(cell, 0.4, 1e-6L);
    test_all_strengths<Pairs>(cell, {}, 1e-13L);
  }
}

/// Images within a softening's reach are softened, all others and the background act as points.
TEST(Periodic, SofteningReachesAcrossTheFaces) {
  constexpr double softening = 0.02;
  using Masses = fmm::Solver<fmm::SoftenedGravity, Fmm<8, DualTree<>>, double>;
  const Bodies bodies = bodies_of(Kind::masses, 300, cube);
  Masses solver({.theta = 0.5, .softening = softening, .softening_error = 1e-2, .periodic = cube});
  fmm::Solver<fmm::SoftenedGravity, fmm::DirectSum, double> pairs(
      {.softening = softening, .softening_error = 1e-2, .periodic = cube});
  const auto found = evaluated(solver, bodies), of_pairs = evaluated(pairs, bodies);
  const double far = fmm::SoftenedGravity{.softening = softening}.far_from(1e-2);
  const auto sources = sources_in(cube, bodies);
  long double error = 0, error_of_pairs = 0, norm = 0;
  for (int i = 0; i < bodies.size(); i += 60) {
    auto exact = ewald(sources, sources.x[i], i), up_to_far = exact;
    for (int j = 0; j < bodies.size(); ++j)
      for (int image = 0; image < 125; ++image) {
        long double d[3], r2 = 0;
        for (int c = 0; c < 3; ++c) {
          d[c] = sources.x[i][c] - sources.x[j][c];
          d[c] -= std::round(d[c]);
          d[c] += (image / (c == 0 ? 25 : c == 1 ? 5 : 1)) % 5 - 2;
          r2 += d[c] * d[c];
        }
        if (r2 == 0) continue;
        const long double s2 = r2 + softening * softening;
        for (int c = 0; c < 3; ++c) {
          const long double more = bodies.q[j] * d[c] * (std::pow(s2, -1.5L) - std::pow(r2, -1.5L));
          exact[1 + c] += more;
          if (r2 < far * far) up_to_far[1 + c] += more;
        }
      }
    for (int c = 1; c < 4; ++c) {
      error += std::pow(found[4 * i + c] + exact[c], 2);
      error_of_pairs += std::pow(of_pairs[4 * i + c] + up_to_far[c], 2);
      norm += exact[c] * exact[c];
    }
  }
  EXPECT_LT(std::sqrt(error / norm), 2e-3L);
  EXPECT_LT(std::sqrt(error_of_pairs / norm), 1e-13L);
  // a spline ends within the images that lists have
  const fmm::Options options{.softening = 0.05, .periodic = cube};
  fmm::Options with_theta = options;
  with_theta.theta = 0.35;
  fmm::Solver<fmm::SplineGravity, Fmm<12, DualTree<>>, double> splines(with_theta);
  fmm::Solver<fmm::SplineGravity, fmm::DirectSum, double> spline_pairs(options);
  EXPECT_LT(relative_l2(evaluated(splines, bodies), evaluated(spline_pairs, bodies)), 1e-8);
}

/// All pairs are Ewald's sums, split in another way than the reference's.
TEST(Periodic, AllPairsAreEwaldsToRounding) {
  using Pairs = fmm::Solver<Laplace, fmm::DirectSum, double>;
  for (PeriodicBox const& cell : {cube, box, column, odd, oblique})
    for (const Kind kind : {Kind::ions, Kind::masses, Kind::random})
      for (const int n : {2, 10, 300})
        expect_ewald<Pairs>(cell, kind, n, std::max(1, n / 4), {}, 1e-13, 1e-13);
  expect_ewald<fmm::Solver<Laplace, fmm::DirectSum, float>>(oblique, Kind::ions, 300, 75, {}, 1e-6,
                                                            1e-6);
}

/// Errors are measured with Ewald's sums, and direct sums are these; of a crystal's fields, which vanish, a thousandth
/// of the nearest neighbour's counts at least.
TEST(Periodic, ErrorsAreMeasuredWithEwaldsSums) {
  using Order8 = fmm::Solver<Laplace, Fmm<8, DualTree<>>, double>;
  const Space space;
  for (PeriodicBox const& cell : {box, oblique}) {
    Order8 solver({.theta = 0.5, .periodic = cell});
    const Bodies bodies = bodies_of(Kind::random, 60, cell);
    const Errors errors = errors_of(evaluated(solver, bodies), cell, bodies, 1);
    const auto x = to_space<Space>(bodies.x);
    const auto q = column_in<Space>(bodies.q);
    const ViewIn<double*, Space> u("u", bodies.size());
    const ViewIn<double* [3], Space> f("f", bodies.size());
    auto plan = solver.build(space, x);
    solver.evaluate(space, plan, q, u, f);
    const auto measured = fmm::measure_error(space, Laplace{}, solver.options(), x, q, u, f, 60);
    EXPECT_NEAR(measured.potential_l2 / errors.potential, 1, 1e-6);
    EXPECT_NEAR(measured.field_l2 / errors.field, 1, 1e-6);

    const ViewIn<fmm::BodyIndex*, Space> targets("targets", 3);
    const auto numbers = Kokkos::create_mirror_view(targets);
    for (int i = 0; i < 3; ++i) numbers(i) = 7 * i + 5;
    Kokkos::deep_copy(targets, numbers);
    const ViewIn<double*, Space> some("some", 3);
    const fmm::Options options{.periodic = cell};
    fmm::direct_sum(space, Laplace{}, options, x, q, targets, some, fmm::none);
    const auto sums = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), some);
    const auto sources = sources_in(cell, bodies);
    for (int i = 0; i < 3; ++i) {
      const double exact = double(ewald(sources, sources.x[7 * i + 5], 7 * i + 5)[0]);
      EXPECT_NEAR(sums(i), exact, 1e-12 * std::fabs(exact));
    }
  }
  const Crystal salt = crystals()[0];
  Bodies ions;
  for (auto const& ion : salt.ions) {
    ions.x.insert(ions.x.end(), {ion[0], ion[1], ion[2]});
    ions.q.push_back(ion[3]);
  }
  const auto x = to_space<Space>(ions.x);
  const auto q = column_in<Space>(ions.q);
  const ViewIn<double* [3], Space> f("f", ions.size());
  const auto host = Kokkos::create_mirror_view(f);
  const double of_neighbour = 1 / (salt.distance * salt.distance);
  host(0, 0) = 1e-6 * of_neighbour;
  Kokkos::deep_copy(f, host);
  const fmm::Options options{.periodic = cube};
  const auto measured = fmm::measure_error(space, Laplace{}, options, x, q, fmm::none, f, 8);
  EXPECT_NEAR(measured.field_l2, 1e-3 / std::sqrt(8.0), 1e-8);
}

/// Targets of their own, anywhere, and new ones for the same sources.
template <class Solver>
void test_targets(PeriodicBox const& cell, std::optional<double> theta, double bound) {
  const Space space;
  const Bodies bodies = bodies_of(Kind::random, 700, cell);
  const auto sources = sources_in(cell, bodies);
  Solver solver({.theta = theta, .periodic = cell});
  const auto x = to_space<Space>(bodies.x);
  const auto q = column_in<Space>(bodies.q);
  auto plan = solver.build(
      space, fmm::Inputs{.sources = x,
                         .targets = to_space<Space>(bodies_of(Kind::random, 300, cell, 2).x)});
  for (const unsigned seed : {2, 3, 4}) {  // multipoles are kept
    const Bodies at = bodies_of(Kind::random, seed == 3 ? 20 : 300, cell, seed);
    if (seed > 2) solver.retarget(space, plan, to_space<Space>(at.x));
    const ViewIn<double*, Space> u("u", at.size());
    const ViewIn<double* [3], Space> f("f", at.size());
    solver.evaluate(space, plan, fmm::Strengths{.charges = q, .unchanged = seed > 2},
                    fmm::Results{.potential = u, .field = f});
    const auto hu = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), u);
    const auto hf = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), f);
    long double error = 0, norm = 0;
    for (int i = 0; i < at.size(); i += at.size() / 4) {
      const auto exact = ewald(sources, {at.x[3 * i], at.x[3 * i + 1], at.x[3 * i + 2]}, -1);
      for (int c = 0; c < 4; ++c) {
        const double found = c == 0 ? hu(i) : hf(i, c - 1);
        error += (found - exact[c]) * (found - exact[c]);
        norm += exact[c] * exact[c];
      }
    }
    EXPECT_LT(std::sqrt(error / norm), bound) << seed;
  }
}
TEST(Periodic, TargetsMayBeOthers) {
  for (PeriodicBox const& cell : {box, oblique}) {
    test_targets<fmm::Solver<Laplace, Fmm<8, DualTree<>>, double>>(cell, 0.5, 3e-5);
    test_targets<fmm::Solver<Laplace, Fmm<8, fmm::FmmList>, double>>(cell, {}, 3e-4);
    test_targets<fmm::Solver<Laplace, fmm::Treecode<8>, double>>(cell, 0.5, 1e-4);
    test_targets<fmm::Solver<Laplace, Fmm<8, DualTree<>>, fmm::Mixed>>(cell, 0.5, 1e-4);
    test_targets<fmm::Solver<Laplace, fmm::DirectSum, double>>(cell, {}, 1e-12);
  }
}

/// A vacuum around the cells adds (4 pi / 3 V) x.D, D of the positions as they are given.
template <class Solver>
void test_vacuum(PeriodicBox cell, std::optional<double> theta, double bound) {
  const Space space;
  const Bodies bodies = bodies_of(Kind::ions, 300, cell);
  const int n = bodies.size();
  Solver in_foil({.theta = theta, .periodic = cell});
  cell.boundary = fmm::Boundary::vacuum;
  Solver solver({.theta = theta, .periodic = cell});
  const auto found = evaluated(solver, bodies), others = evaluated(in_foil, bodies);
  double D[3] = {};
  for (int i = 0; i < n; ++i)
    for (int d = 0; d < 3; ++d) D[d] += bodies.q[i] * bodies.x[3 * i + d];
  auto const& [a, b, c] = cell.vectors;
  const double volume = std::fabs(a[0] * (b[1] * c[2] - b[2] * c[1]) +
                                  a[1] * (b[2] * c[0] - b[0] * c[2]) +
                                  a[2] * (b[0] * c[1] - b[1] * c[0])),
               factor = 4 * M_PI / (3 * volume);
  auto expected = others;
  for (int i = 0; i < n; ++i)
    for (int d = 0; d < 3; ++d) {
      expected[4 * i] += factor * D[d] * bodies.x[3 * i + d];
      expected[4 * i + 1 + d] -= factor * D[d];
    }
  EXPECT_GT(relative_l2(others, expected), 1e-3);
  EXPECT_LT(relative_l2(found, expected), bound);
  // errors are measured in the vacuum, too
  const ViewIn<double*, Space> potential("potential", n);
  const ViewIn<double* [3], Space> field("field", n);
  auto plan_of_all = solver.build(space, to_space<Space>(bodies.x));
  solver.evaluate(space, plan_of_all, column_in<Space>(bodies.q), potential, field);
  const auto measured =
      fmm::measure_error(space, Laplace{}, solver.options(), to_space<Space>(bodies.x),
                         column_in<Space>(bodies.q), potential, field, 300);
  EXPECT_LT(measured.potential_l2, 1e-3);
  EXPECT_LT(measured.field_l2, 1e-3);

  // targets of their own, with dipoles, too
  const Bodies at = bodies_of(Kind::random, 40, cell, 7);
  std::vector<double> p;
  for (int i = 0; i < n; ++i)
    for (int d = 0; d < 3; ++d) {
      p.push_back(0.1 * std::cos(3.0 * i + d));
      D[d] += p.back();
    }
  std::vector<double> sums[2];
  for (Solver* const one : {&solver, &in_foil}) {
    auto plan = one->build(
        space, fmm::Inputs{.sources = to_space<Space>(bodies.x), .targets = to_space<Space>(at.x)});
    if (one == &solver) one->retarget(space, plan, to_space<Space>(at.x));
    const ViewIn<double*, Space> u("u", at.size());
    one->evaluate(
        space, plan,
        fmm::Strengths{.charges = column_in<Space>(bodies.q), .dipoles = to_space<Space>(p)},
        fmm::Results{.potential = u});
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), u);
    sums[one == &in_foil].assign(host.data(), host.data() + at.size());
  }
  for (int i = 0; i < at.size(); ++i)
    for (int d = 0; d < 3; ++d) sums[1][i] += factor * D[d] * at.x[3 * i + d];
  EXPECT_LT(relative_l2(sums[0], sums[1]), bound);
  expect_refused([&] { evaluated(solver, bodies_of(Kind::masses, 20, cell)); }, "net charge");
}
TEST(Periodic, TheCellsMayBeInAVacuum) {
  for (PeriodicBox const& cell : {box, oblique}) {
    test_vacuum<fmm::Solver<Laplace, Fmm<8, DualTree<>>, double>>(cell, 0.5, 1e-12);
    test_vacuum<fmm::Solver<Laplace, fmm::Treecode<8, DualTree<>>, float>>(cell, 0.5, 1e-4);
    test_vacuum<fmm::Solver<Laplace, fmm::DirectSum, double>>(cell, {}, 1e-12);
  }
}

TEST(Periodic, RefusesWhatCannotBe) {
  using Order4 = fmm::Solver<Laplace, Fmm<4, DualTree<>>, double>;
  using Matrix = std::array<std::array<double, 3>, 3>;
  const auto expect_no = [](PeriodicBox const& cell, char const* words) {
    expect_refused([&] { Order4 solver({.periodic = cell}); }, words);
  };
  expect_no(PeriodicBox(1, 1, 0), "periodic volume");
  expect_no(PeriodicBox(Matrix{{{1, 0, 0}, {0, 1, 0}, {1, 1, 0}}}), "periodic volume");
  expect_no(PeriodicBox(1, std::nan(""), 1), "periodic vector 1");
  expect_no(PeriodicBox(1, 1, 21), "at most 20");
  PeriodicBox sheet(1);
  sheet.axes = {true, true, false};
  expect_no(sheet, "periodic axis 2");
  Order4 solver({.periodic = cube});
  const Space space;
  const Bodies bodies = bodies_of(Kind::ions, 100, cube);
  const auto x = to_space<Space>(bodies.x);
  auto plan = solver.build(space, x);
  expect_refused([&] { solver.near_pairs(space, plan); }, "periodic");
  expect_refused([&] { solver.transposed(space, plan); }, "periodic");
  expect_refused([&] { solver.choose(space, x); }, "periodic");
  auto bad = bodies;
  bad.x[7] = std::numeric_limits<double>::infinity();
  expect_refused([&] { solver.build(space, to_space<Space>(bad.x)); }, "inf");
}

}  // namespace
}  // namespace fmm_test
