// SPDX-License-Identifier: BSD-3-Clause
// Each operator as it is launched, on the cells of a tree, against its definition on the host.
#include <map>
#include <set>

#include "support.hpp"

namespace fmm_test {
namespace {

using namespace fmm;
using namespace fmm::engine;

template <class T>
class Operators : public testing::Test {
 public:
  using KokkosSpace = typename T::Space;
  using Space = fmm::site_t<KokkosSpace>;
  using Real = typename T::Real;
  static constexpr int order = quick ? 4 : 5;
  static constexpr int size = fmm::coefficient_count(order), row = row_length(size);
  static constexpr double rounding = sizeof(Real) == 4 ? 2e-6 : 1e-14;

  Space space = site<KokkosSpace>();
  Bodies bodies = make_bodies(Model::plummer, 3000, true);
  DeviceBodies<Space> device{bodies};
  PlanData<Space, Real> s;
  std::vector<Cell> cells;
  std::vector<Body<Real>> placed;

  /// Tree and lists, charges in tree order, sums zero.
  template <class Traversal>
  void build(fmm::Options options) {
    options = fmm::Solver<fmm::Laplace, fmm::Fmm<order, Traversal>, Real, Space>(options).options();
    const ViewIn<double const* [3], Space> positions = device.x;
    const ViewIn<double const*, Space> charges = device.q;
    build_plan<Traversal>(space, s, positions, options, {2, 0, true}, nullptr);
    take_charges(space, inspect_charges(space, false, charges).unit, charges, s.tree.permutation,
                 charges_of(s.tree.bodies), s.memory.sums.resize(s.tree.size));
    s.memory.multipoles.resize(s.tree.octree.cells.extent(0) * row);
    s.memory.locals.resize(s.tree.octree.cells.extent(0) * row);
    space.fence();
    cells = to_host(s.tree.octree.cells);
    placed = to_host(s.tree.bodies);
  }

  Array<Real, Space> multipoles() { return s.memory.multipoles.view(cells.size() * row); }
  Array<Real, Space> locals() { return s.memory.locals.view(cells.size() * row); }

  template <class Expansion>
  void upward() {
    p2m<Expansion>(space, s.tree.octree.cells, s.tree.octree.leaves, charges_of(s.tree.bodies),
                   multipoles());
    for (int level = s.tree.octree.depth - 1; level >= 0; --level)
      m2m<Expansion>(space, s.tree.octree.cells, s.tree.octree.parents_of(level), multipoles());
    space.fence();
  }

  /// A body's position from the centre of `cell`, in that cell's edges.
  void relative(Cell const& leaf, Body<Real> const& body, Cell const& cell, double (&x)[3]) const {
    const double ratio = double(leaf.edge()) / cell.edge();
    const double from_leaf[3] = {body.x, body.y, body.z};
    for (int d = 0; d < 3; ++d)
      x[d] = from_leaf[d] * ratio + double(leaf.centre[d] - cell.centre[d]) / cell.edge();
  }

  Cell const& leaf_of(int body) const {
    CellIndex c = 0;
    while (!cells[c].is_leaf()) {
      CellIndex child = cells[c].child_begin;
      while (body >= cells[child].body_begin + cells[child].body_count) ++child;
      c = child;
    }
    return cells[c];
  }

  double largest(std::vector<double> const& values) const {
    double m = 0;
    for (const double v : values) m = std::max(m, std::fabs(v));
    return m;
  }
};
TYPED_TEST_SUITE(Operators, Cases);

TYPED_TEST(Operators, MultipolesOfAllCellsAreTheirDefinition) {
  using F = TestFixture;
  this->template build<fmm::FmmList>({.leaf_capacity = 40});
  const auto check = [&]<class Translation>(Translation) {
    using Expansion = fmm::SphericalExpansion<F::order, typename F::Real, Translation>;
    this->template upward<Expansion>();
    const auto M = to_host(this->multipoles());
    for (std::size_t c = 0; c < this->cells.size(); ++c) {
      Cell const& cell = this->cells[c];
      std::vector<double> expected(F::size, 0.0), absolute(F::size, 0.0);
      for (int i = cell.body_begin; i < cell.body_begin + cell.body_count; ++i) {
        double x[3];
        this->relative(this->leaf_of(i), this->placed[i], cell, x);
        std::vector<double> one(F::size, 0.0);
        fmm::SphericalBasis<F::order, double>::p2m(x[0], x[1], x[2], double(this->placed[i].q),
                                                   one.data());
        for (int k = 0; k < F::size; ++k) {
          expected[k] += one[k];
          absolute[k] += std::fabs(one[k]);
        }
      }
      const double scale = this->largest(absolute);
      for (int k = 0; k < F::size; ++k)
        ASSERT_NEAR(M[c * F::row + k], expected[k], 10 * F::rounding * scale) << c << " " << k;
    }
  };
  check(fmm::Rotation());
  check(fmm::NaiveTranslation());
}

/// Of charges in double that cancel in each leaf: float's multipoles are those of double, rounded, and no more.
TYPED_TEST(Operators, MultipolesOfLeavesAreRoundedOnce) {
  using F = TestFixture;
  using Space = typename F::Space;
  this->template build<fmm::FmmList>({.leaf_capacity = 40});
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(-0.5, 0.5);
  std::vector<Body<double>> bodies(this->placed.size());
  for (std::size_t i = 0; i < bodies.size(); ++i)
    bodies[i] = {uniform(random), uniform(random), uniform(random), uniform(random)};
  for (std::size_t i = 1; i < bodies.size(); i += 2)
    bodies[i] = {bodies[i - 1].x, bodies[i - 1].y, bodies[i - 1].z, 1e-9 - bodies[i - 1].q};
  detail::Buffer<Body<double>, Space> there("bodies");
  detail::Buffer<double, Space> memory("in double");
  detail::Buffer<float, Space> rounded("multipoles");
  auto const& octree = this->s.tree.octree;
  const auto multipoles = rounded.resize(this->cells.size() * F::row);
  p2m_rounded_once<fmm::SphericalExpansion<F::order, float, fmm::Rotation>>(
      this->space, octree.cells, octree.leaves, detail::to_device(this->space, there, bodies),
      memory, multipoles);
  this->space.fence();
  const auto M = to_host(multipoles);
  for (const CellIndex c : to_host(octree.leaves)) {
    Cell const& cell = this->cells[c];
    std::vector<double> expected(F::size, 0.0);
    for (int i = cell.body_begin; i < cell.body_begin + cell.body_count; ++i)
      fmm::SphericalBasis<F::order, double>::p2m(bodies[i].x, bodies[i].y, bodies[i].z, bodies[i].q,
                                                 expected.data());
    for (int k = 0; k < F::size; ++k)
      ASSERT_NEAR(M[c * F::row + k], expected[k], 0x1p-24 * std::fabs(expected[k]) + 1e-14)
          << c << " " << k;
  }
}

TYPED_TEST(Operators, LocalsOfAllCellsAreTheSumsOverTheirLists) {
  using F = TestFixture;
  using Real = typename F::Real;
  const auto check = [&]<class Translation>(Translation) {
    using Expansion = fmm::SphericalExpansion<F::order, Real, Translation>;
    this->template upward<Expansion>();
    m2l<Expansion>(this->space, this->s.tree.octree.cells, this->s.lists.m2l, this->multipoles(),
                   this->locals());
    this->space.fence();
    const auto M = to_host(this->multipoles());
    const auto L = to_host(this->locals());
    const auto offsets = to_host(this->s.lists.m2l.offsets);
    const auto entries = to_host(this->s.lists.m2l.entries);
    for (std::size_t c = 0; c < this->cells.size(); c += 3) {
      std::vector<double> expected(F::size, 0.0), absolute(F::size, 0.0);
      for (Offset e = offsets[c]; e < offsets[c + 1]; ++e) {
        Cell const &target = this->cells[c], &source = this->cells[entries[e]];
        std::vector<double> a(M.begin() + entries[e] * F::row,
                              M.begin() + entries[e] * F::row + F::size);
        const double unit = 1.0 / (1 << grid_bits);
        fmm::NaiveTranslation::m2l<F::order>((target.centre[0] - source.centre[0]) * unit,
                                             (target.centre[1] - source.centre[1]) * unit,
                                             (target.centre[2] - source.centre[2]) * unit,
                                             source.edge() * unit, target.edge() * unit, a.data());
        for (int k = 0; k < F::size; ++k) {
          expected[k] += a[k];
          absolute[k] += std::fabs(a[k]);
        }
      }
      const double scale = this->largest(absolute);
      for (int k = 0; k < F::size; ++k)
        ASSERT_NEAR(L[c * F::row + k], expected[k], 10 * F::rounding * scale) << c << " " << k;
    }
  };
  this->template build<fmm::FmmList>({.depth = 3, .tree = fmm::TreeKind::uniform});
  check(fmm::Rotation());
  check(fmm::NaiveTranslation());
  this->template build<fmm::DualTree<>>({.theta = 0.6, .leaf_capacity = 20});  // unequal cells
  check(fmm::Rotation());
  check(fmm::NaiveTranslation());
}

/// What is in the locals stays there; the sums are irregular harmonics at the bodies.
template <int Order, class F>
void check_bodies_in_locals(F& f) {
  using Real = typename F::Real;
  using Expansion = fmm::SphericalExpansion<Order, Real, fmm::Rotation>;
  constexpr int size = Expansion::size, row = row_length(size);
  static constexpr auto table = NormTable<Order, double>::make();
  const auto locals = f.s.memory.locals.resize(f.cells.size() * row);
  const double before = 0.5;
  Kokkos::deep_copy(locals.view(), Real(before));
  p2l<Expansion>(f.space, f.s.tree.octree.cells, f.s.lists.p2l, charges_of(f.s.tree.bodies),
                 locals);
  f.space.fence();
  const auto L = to_host(locals);
  const auto list = to_host(f.s.lists.p2l);
  std::size_t rows = 0;
  for (std::size_t c = 0; c < f.cells.size(); ++c) {
    std::vector<double> expected(size, before), absolute(size, before);
    for (const CellIndex source : list[c]) {
      Cell const& leaf = f.cells[source];
      for (int i = leaf.body_begin; i < leaf.body_begin + leaf.body_count; ++i) {
        double x[3], v[size];
        f.relative(leaf, f.placed[i], f.cells[c], x);
        irregular_harmonics<Order>(x[0], x[1], x[2], v);
        for (int n = 0; n <= Order; ++n)
          for (int k = n * n; k < (n + 1) * (n + 1); ++k) {
            const double term = double(f.placed[i].q) * (1 << f.cells[c].level) * v[k] *
                                table.inverse[k] * (k == n * n ? 1 : 2);
            expected[k] += term;
            absolute[k] += std::fabs(term);
          }
      }
    }
    rows += !list[c].empty();
    const double rounding = list[c].empty() ? 0 : 10 * F::rounding * f.largest(absolute);
    for (int k = 0; k < size; ++k)
      ASSERT_NEAR(L[c * row + k], expected[k], rounding) << Order << ": " << c << " " << k;
  }
  EXPECT_GT(rows, 20u);
}

TYPED_TEST(Operators, BodiesInLocalsAreTheirDefinition) {
  const auto check = [this]() {
    for_orders<4, 0, 1, 2, 5, 8, 9, 16>([&]<int Order> { check_bodies_in_locals<Order>(*this); });
  };
  this->template build<fmm::FmmList>({.leaf_capacity = 40});
  check();
  this->template build<fmm::FmmList>({.leaf_capacity = 3});  // long rows of small leaves
  check();
}

/// L2L adds to a child what its parent's expansion is there: both give the same potential at a body.
TYPED_TEST(Operators, LocalsOfChildrenGiveTheParentsPotential) {
  using F = TestFixture;
  using Real = typename F::Real;
  using Expansion = fmm::SphericalExpansion<F::order, Real, fmm::Rotation>;
  this->template build<fmm::FmmList>({.leaf_capacity = 40});
  const auto locals = this->locals();
  std::vector<Real> L(locals.extent(0), Real(0));
  std::mt19937_64 random(1);
  for (int k = 0; k < F::size; ++k) L[k] = Real(double(random() >> 11) * 0x1p-53 - 0.5);  // root
  Kokkos::deep_copy(locals.view(),
                    Kokkos::View<Real*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                        L.data(), L.size()));
  for (int level = 1; level <= this->s.tree.octree.depth; ++level)
    l2l<Expansion>(this->space, this->s.tree.octree.cells, this->s.tree.octree.level_begin[level],
                   this->s.tree.octree.level_begin[level + 1], locals);
  l2p<Expansion, Outputs<true, true>>(this->space, this->s.tree.octree.cells,
                                      this->s.tree.octree.tiles, this->s.tree.bodies, locals,
                                      this->s.memory.sums.view(this->s.tree.size));
  this->space.fence();
  const auto sums = to_host(this->s.memory.sums.view(this->s.tree.size));
  using Reference = fmm::SphericalBasis<F::order, double>;
  const std::vector<double> root(L.begin(), L.begin() + F::size);
  std::vector<double> prepared(Reference::prepared_size);
  for (int k = 0; k < Reference::prepared_size; ++k)
    prepared[k] = Reference::prepare_local(root.data(), k);
  for (int i = 0; i < this->s.tree.size; i += 7) {
    double x[3];
    this->relative(this->leaf_of(i), this->placed[i], this->cells[0], x);
    const auto value = Reference::template l2p<true, true>(x[0], x[1], x[2], prepared.data());
    ASSERT_NEAR(sums[i].potential, value.potential, 100 * F::rounding);
    ASSERT_NEAR(sums[i].x, -value.x, 300 * F::rounding);
    ASSERT_NEAR(sums[i].y, -value.y, 300 * F::rounding);
    ASSERT_NEAR(sums[i].z, -value.z, 300 * F::rounding);
  }
}

/// M2P adds the rows of the leaf and, of the far list, those of its ancestors.
TYPED_TEST(Operators, MultipolesAtBodiesAreTheirDefinition) {
  using F = TestFixture;
  using Real = typename F::Real;
  using Expansion = fmm::SphericalExpansion<F::order, Real, fmm::Rotation>;
  this->template build<fmm::FmmList>({.leaf_capacity = 40});
  this->template upward<Expansion>();
  const auto all_staged =
      prepare_multipoles<Expansion>(this->space, this->multipoles(), this->s.memory.locals);
  m2p<Expansion, Outputs<true, true>>(this->space, this->s.tree.octree.cells,
                                      this->s.tree.octree.tiles, this->s.lists.m2p,
                                      this->s.lists.m2l, this->s.tree.bodies, all_staged,
                                      this->s.memory.sums.view(this->s.tree.size));
  this->space.fence();
  const auto sums = to_host(this->s.memory.sums.view(this->s.tree.size));
  const auto M = to_host(this->multipoles());
  static constexpr auto table = NormTable<F::order, double>::make();
  for (int i = 0; i < this->s.tree.size; i += 11) {
    double potential = 0, field[3] = {}, absolute = 0, absolute_field = 0;
    const auto add = [&](Csr<typename F::Space> const& list, CellIndex row) {
      static std::map<void const*, std::pair<std::vector<Offset>, std::vector<CellIndex>>> copies;
      auto& copy = copies[list.offsets.data()];
      if (i == 0) copy = {to_host(list.offsets), to_host(list.entries)};
      for (Offset e = copy.first[row]; e < copy.first[row + 1]; ++e) {
        const CellIndex source = copy.second[e];
        double x[3], prepared[F::size], v[fmm::coefficient_count(F::order + 1)];
        this->relative(this->leaf_of(i), this->placed[i], this->cells[source], x);
        for (int k = 0; k < F::size; ++k)
          prepared[k] = double(M[source * F::row + k]) * table.inverse[k];
        irregular_harmonics<F::order + 1>(x[0], x[1], x[2], v);
        const auto value = evaluate_multipole<F::order, true, true>(v, prepared);
        const double unit = 1 << this->cells[source].level;
        potential += value.potential * unit;
        absolute += std::fabs(value.potential * unit);
        const double gradient[3] = {value.x, value.y, value.z};
        for (int d = 0; d < 3; ++d) {
          field[d] -= gradient[d] * unit * unit;
          absolute_field += std::fabs(gradient[d] * unit * unit);
        }
      }
    };
    Cell const& leaf = this->leaf_of(i);
    CellIndex c = CellIndex(&leaf - this->cells.data());
    add(this->s.lists.m2p, c);
    for (; c >= 0; c = this->cells[c].parent) add(this->s.lists.m2l, c);
    ASSERT_NEAR(sums[i].potential, potential, 10 * F::rounding * absolute);
    const double computed[3] = {double(sums[i].x), double(sums[i].y), double(sums[i].z)};
    for (int d = 0; d < 3; ++d)
      ASSERT_NEAR(computed[d], field[d], 10 * F::rounding * absolute_field);
  }
}

TYPED_TEST(Operators, NearFieldAgreesInEveryShape) {
  using F = TestFixture;
  using Shapes = fmm::Tuning<typename F::Space, typename F::Real>;
  this->template build<DualTree<>>({.leaf_capacity = 100});
  std::vector<double> expected;
  const auto check = [&]<fmm::P2PShape shape>() {
    const ViewIn<double const*, typename F::Space> charges = this->device.q;
    const auto placed = this->s.tree.bodies;
    const auto sums = this->s.memory.sums.view(this->s.tree.size);
    take_charges(this->space, inspect_charges(this->space, false, charges).unit, charges,
                 this->s.tree.permutation, charges_of(placed), sums);
    launch_p2p(
        this->space, std::int64_t(this->s.tree.octree.tiles.extent(0)),
        ListedSources<typename F::Space, Laplace, typename F::Real, shape, Outputs<true, true>>{
            this->s.tree.octree.cells,
            this->s.tree.octree.tiles,
            this->s.lists.p2p,
            placed,
            {},
            sums,
            Laplace()});
    this->space.fence();
    const auto values = numbers_of(sums);
    if (expected.empty()) expected = values;
    EXPECT_LE(relative_l2(values, expected), F::rounding) << shape.team;
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (check.template operator()<Shapes::near_field[I]>(), ...);
  }
  (std::make_index_sequence<Shapes::near_field.size()>());
  if constexpr (Shapes::host) {
    check.template operator()<fmm::P2PShape{1, 1, 2, Shapes::tile, 128}>();
  }
}

/// Tiles of every size, none of whose bodies may miss a multipole: most of the charge is in the opposite
/// corner of the cube.
TYPED_TEST(Operators, MultipolesReachEveryBodyOfATile) {
  using F = TestFixture;
  constexpr int tile = fmm::Tuning<typename F::Space, typename F::Real>::tile;
  for (const int n : {1, 7, 8, 9, 15, 16, 17, 33, tile - 1, tile, tile + 1, 2 * tile + 1}) {
    Bodies bodies = make_bodies(Model::cube, 60 + n, true);
    for (std::size_t i = 0; i < bodies.size(); ++i)
      for (int d = 0; d < 3; ++d)
        bodies.x[3 * i + d] =
            i < std::size_t(n) ? 0.2 * bodies.x[3 * i + d] : 0.5 + 0.5 * bodies.x[3 * i + d];
    for (std::size_t i = 0; i < bodies.size(); ++i)
      bodies.q[i] = i < std::size_t(n) ? 1e-6 : 1 + 0.1 * double(i % 7);
    const Results reference = direct_reference(bodies, false);
    fmm::Solver<fmm::Laplace, fmm::Treecode<8, fmm::FmmList>, typename F::Real,
                typename F::KokkosSpace>
        solver({.depth = 2, .tree = fmm::TreeKind::uniform});
    const Results r = run(solver, bodies);
    for (int i = 0; i < n; ++i) {
      EXPECT_NEAR(r.potential[i], reference.potential[i], 1e-4 * reference.potential[i])
          << i << " of " << n;
      double error = 0, size = 0;
      for (int d = 0; d < 3; ++d) {
        error += std::pow(r.field[3 * i + d] - reference.field[3 * i + d], 2);
        size += std::pow(reference.field[3 * i + d], 2);
      }
      EXPECT_LT(error, 1e-6 * size) << i << " of " << n;
    }
  }
}

/// One leaf that is larger than a team, a tile and a chunk; sizes around their edges.
TYPED_TEST(Operators, PairsOfLargeLeavesAreComplete) {
  using F = TestFixture;
  using Shape = fmm::Tuning<typename F::Space, typename F::Real>;
  std::set<int> sizes = {1};
  for (const fmm::P2PShape& shape : Shape::near_field)
    for (const int edge : {shape.tile, shape.chunk})
      sizes.insert({edge - 1, edge, edge + 1, 2 * edge + shape.tile + 1});
  for (const int n : sizes) {
    const Bodies bodies = make_bodies(Model::cube, n, true);
    const Results reference = direct_reference(bodies, false);
    for (const int depth : {0, 1}) {  // all in the own leaf, or spread over its neighbours too
      fmm::Solver<fmm::Laplace, fmm::Fmm<2, fmm::FmmList>, typename F::Real,
                  typename F::KokkosSpace>
          solver({.depth = depth, .tree = fmm::TreeKind::uniform});
      const Results r = run(solver, bodies);
      EXPECT_LE(relative_l2(r.potential, reference.potential), 20 * F::rounding) << n;
      EXPECT_LE(relative_l2(r.field, reference.field), 20 * F::rounding) << n;
    }
  }
}

/// Laplace's kernel as one that knows nothing of bodies that are apart, and cannot be assigned.
struct PlainLaplace {
  const double one = 1;

  template <class Real>
  KOKKOS_FUNCTION fmm::PairTerm<Real> operator()(Real r2) const {
    return fmm::Laplace()(r2);
  }
  KOKKOS_FUNCTION PlainLaplace rescaled(double) const { return *this; }
  KOKKOS_FUNCTION double potential_unit(double length) const { return one / length; }
};

/// The pairs of a built tree by teams of one shape, in the caller's order and units.
template <class Want, fmm::P2PShape Shape, class Kernel, class Fixture>
Results near_field_in_shape(Fixture& f) {
  using Space = typename Fixture::Space;
  const ViewIn<double const*, Space> charges = f.device.q;
  const auto placed = f.s.tree.bodies;
  const auto sums = f.s.memory.sums.view(f.s.tree.size);
  const double charge_unit = inspect_charges(f.space, false, charges).unit,
               unit = charge_unit / f.s.tree.cube.edge;
  take_charges(f.space, charge_unit, charges, f.s.tree.permutation, charges_of(placed), sums);
  launch_p2p(
      f.space, std::int64_t(f.s.tree.octree.tiles.extent(0)),
      ListedSources<Space, Kernel, typename Fixture::Real, Shape, Want>{
          f.s.tree.octree.cells, f.s.tree.octree.tiles, f.s.lists.p2p, placed, {}, sums, Kernel()});
  f.space.fence();
  const auto order = to_host(f.s.tree.permutation);
  const auto values = to_host(sums);
  Results r{std::vector<double>(order.size()), std::vector<double>(3 * order.size())};
  for (std::size_t i = 0; i < order.size(); ++i) {
    r.potential[order[i]] = values[i].potential * unit;
    double* const field = &r.field[3 * order[i]];
    field[0] = values[i].x * unit / f.s.tree.cube.edge;
    field[1] = values[i].y * unit / f.s.tree.cube.edge;
    field[2] = values[i].z * unit / f.s.tree.cube.edge;
  }
  return r;
}

/// check(a shape's integral constant) for every one that a tree's pairs may be summed in.
template <class Fixture, class Check>
void for_near_field_shapes(Check const& check) {
  using Shapes = fmm::Tuning<typename Fixture::Space, typename Fixture::Real>;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (check.template operator()<Shapes::near_field[I]>(), ...);
  }
  (std::make_index_sequence<Shapes::near_field.size()>());
}

/// A leaf of n bodies, and 40 bodies in other leaves: tiles of every size, most of which end within a row of
/// threads, in every shape.
TYPED_TEST(Operators, PairsOfTilesOfEverySizeAreComplete) {
  using F = TestFixture;
  using Both = Outputs<true, true>;
  constexpr int tile = fmm::Tuning<typename F::Space, typename F::Real>::tile;
  for (int n = 1; n <= 2 * tile + 1; ++n) {
    Bodies& bodies = this->bodies;
    bodies = make_bodies(Model::cube, n + 40, true);
    for (int i = 0; i < n; ++i)
      for (int d = 0; d < 3; ++d) bodies.x[3 * i + d] *= 0.49;
    for (std::size_t i = n; i < bodies.size(); ++i) bodies.x[3 * i] = 0.5 + 0.5 * bodies.x[3 * i];
    bodies.x[3 * n] = bodies.x[3 * n + 1] = bodies.x[3 * n + 2] = 1;
    this->device = DeviceBodies<typename F::Space>(bodies);
    this->template build<fmm::FmmList>({.depth = 1, .tree = fmm::TreeKind::uniform});
    const Results reference = direct_reference(bodies, false);
    const auto compare = [&](std::vector<double> const& values, std::vector<double> const& expected,
                             double bound) {
      for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_NEAR(values[i], expected[i], bound * (100 + std::fabs(expected[i])))
            << i << " of " << n;
    };
    for_near_field_shapes<F>([&]<fmm::P2PShape Shape> {
      const Results r = near_field_in_shape<Both, Shape, Laplace>(*this);
      compare(r.potential, reference.potential, 5 * F::rounding);
      compare(r.field, reference.field, 100 * F::rounding);
      if (n % 7 != 0) return;
      using Potential = Outputs<true, false>;
      using Field = Outputs<false, true>;
      compare(near_field_in_shape<Potential, Shape, Laplace>(*this).potential, reference.potential,
              5 * F::rounding);
      compare(near_field_in_shape<Field, Shape, Laplace>(*this).field, reference.field,
              100 * F::rounding);
      compare(near_field_in_shape<Both, Shape, PlainLaplace>(*this).field, reference.field,
              100 * F::rounding);
    });
  }
}

/// In float two bodies on both sides of a face of their leaves are at one point: no force acts between them,
/// and all others' is as it was; nor between two in one leaf. Tiles whose sums were not finite are summed once more.
TYPED_TEST(Operators, BodiesThatMeetLeaveNoTrace) {
  using F = TestFixture;
  if constexpr (sizeof(typename F::Real) == sizeof(float)) {
    for (const int n : {30, 100, 333}) {
      Bodies& bodies = this->bodies;
      bodies = make_bodies(Model::cube, n, true);
      for (int d = 0; d < 3; ++d) {
        bodies.x[d] = 0;
        bodies.x[3 + d] = 1;
        bodies.x[6 + d] = bodies.x[9 + d] = d == 0 ? 0.5 : 0.3;
        bodies.x[12 + d] = bodies.x[15 + d] = 0.2;
      }
      const Results reference = direct_reference(bodies, false);  // leaves out what is at one point
      bodies.x[6] -= 1e-12;
      bodies.x[9] += 1e-12;
      this->device = DeviceBodies<typename F::Space>(bodies);
      this->template build<fmm::FmmList>({.depth = 1, .tree = fmm::TreeKind::uniform});
      for_near_field_shapes<F>([&]<fmm::P2PShape Shape> {
        const Results r = near_field_in_shape<Outputs<true, true>, Shape, Laplace>(*this);
        EXPECT_LE(relative_l2(r.potential, reference.potential), 20 * F::rounding) << n;
        EXPECT_LE(relative_l2(r.field, reference.field), 20 * F::rounding) << n;
      });
    }
  }
}

}  // namespace
}  // namespace fmm_test
