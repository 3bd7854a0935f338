// SPDX-License-Identifier: BSD-3-Clause
// Every pair of bodies is summed exactly once, by every traversal, on every tree and model: a counting
// kernel adds integer charges, exactly in double. And the lists are what they are said to be.
#include <set>

#include "counting_kernel.hpp"

namespace fmm_test {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
template <class Traversal, class Translation = fmm::Rotation, bool WithP2L = true>
using Counter =
    fmm::Solver<CountingKernel<WithP2L>, MethodOf<0, Traversal, Translation>, double, Space>;

/// The smallest criterion: it goes by nothing, but has to take theta. It takes the bodies of every leaf by P2L, which
/// only a counting kernel can do.
struct AllLeaves {
  static constexpr fmm::CriterionTraits traits{};
  explicit AllLeaves(double) {}
  KOKKOS_FUNCTION fmm::Acceptance operator()(fmm::CellView const&, fmm::CellView const&) const {
    return fmm::Acceptance::p2l;
  }
};
static_assert(fmm::AcceptanceCriterion<AllLeaves>);

template <class Solver>
void count_pairs(std::string const& name, fmm::Options const& options, Bodies const& bodies,
                 double distance = 0) {
  Solver solver(options, std::decay_t<decltype(std::declval<Solver>().kernel())>{distance});
  double all = 0;
  for (const double q : bodies.q) all += q;
  std::vector<double> last_field(bodies.x.size());
  for (std::size_t i = 0; i < last_field.size(); ++i) last_field[i] = all * double(i % 7);
  const Results r = run(solver, bodies, last_field);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < bodies.size(); ++i) wrong += r.potential[i] != all - bodies.q[i];
  EXPECT_EQ(wrong, 0u) << name << ", " << bodies.size() << " bodies";
}

/// By all traversals of trees, whose expansions act from `distance` on.
void count_in_trees(std::string const& name, fmm::Options const& options, Bodies const& bodies,
                    double distance = 0) {
  using fmm::DualTree, fmm::FmmList;
  const auto count = [&]<class Solver>(std::string const& traversal, std::type_identity<Solver>) {
    count_pairs<Solver>(traversal + ", " + name, options, bodies, distance);
  };
  count("lists", std::type_identity<Counter<FmmList>>());
  count("leaves", std::type_identity<Counter<DualTree<AllLeaves>>>());
  count("leaves, M2P", std::type_identity<Counter<DualTree<AllLeaves>, NoTranslation>>());
  count("dual", std::type_identity<Counter<DualTree<>>>());
  count("powers", std::type_identity<Counter<DualTree<fmm::MultipolePowerCriterion>>>());
  count("last field", std::type_identity<Counter<DualTree<fmm::RelativeForceCriterion>>>());
  count("treecode", std::type_identity<Counter<fmm::BarnesHut, NoTranslation>>());
  unless_quick([&](auto) {
    count("lists, M2P", std::type_identity<Counter<FmmList, NoTranslation>>());
    count("lists without P2L", std::type_identity<Counter<FmmList, fmm::Rotation, false>>());
    count("stencil", std::type_identity<Counter<fmm::FmmStencil>>());
    count("stencil, M2P", std::type_identity<Counter<fmm::FmmStencil, NoTranslation>>());
    count("leaves without P2L",
          std::type_identity<Counter<DualTree<AllLeaves>, fmm::Rotation, false>>());
    count("dual, M2P", std::type_identity<Counter<DualTree<>, NoTranslation>>());
    count("field", std::type_identity<Counter<DualTree<fmm::FieldCriterion>>>());
    count("powers, M2P",
          std::type_identity<Counter<DualTree<fmm::MultipolePowerCriterion>, NoTranslation>>());
    count("last field, M2P",
          std::type_identity<Counter<DualTree<fmm::RelativeForceCriterion>, NoTranslation>>());
    count("sources, M2P",
          std::type_identity<Counter<DualTree<fmm::SourceCriterion>, NoTranslation>>());
  });
}

TEST(Counting, EveryPairIsSummedExactlyOnce) {
  const std::vector models = quick ? std::vector{Model::plummer, Model::plane}
                                   : std::vector(std::begin(all_models), std::end(all_models));
  for (const Model model : models)
    for (const std::size_t n : {1, 2, 3, 9, 100, 3000}) {
      Bodies bodies = make_bodies(model, n);
      std::mt19937_64 random(n);
      for (double& q : bodies.q) q = double(random() >> 34);  // sums stay exact in double
      for (const int capacity : {1, 7, 64}) {
        if (capacity == 1 && n > 100) continue;
        fmm::Options adaptive{.leaf_capacity = capacity}, uniform = adaptive, shallow = adaptive;
        uniform.tree = fmm::TreeKind::uniform;
        shallow.depth = 2;
        for (auto const& options : {adaptive, uniform, shallow}) {
          const std::string name = std::string(name_of(model)) + ", capacity " +
                                   std::to_string(capacity) +
                                   (options.tree == fmm::TreeKind::uniform ? ", uniform" : "");
          count_in_trees(name, options, bodies);
        }
      }
      count_pairs<Counter<fmm::DirectSum>>("all pairs", {}, bodies);
    }
}

TEST(Counting, AndSoItIsWhereExpansionsActFromADistanceOn) {
  const std::vector models =
      quick ? std::vector{Model::clusters}
            : std::vector{Model::cube, Model::plummer, Model::clusters, Model::line};
  for (const Model model : models) {
    Bodies bodies = make_bodies(model, 3000);
    for (std::size_t i = 0; i < bodies.size(); ++i) bodies.q[i] = double(1 + i % 1000);
    for (const double distance : {1e-3, 0.03, 0.3, 3.0, 1e9}) {
      fmm::Options adaptive{.leaf_capacity = 7}, uniform = adaptive;
      uniform.tree = fmm::TreeKind::uniform;
      for (auto const& options : {adaptive, uniform})
        count_in_trees(std::string(name_of(model)) + ", from " + std::to_string(distance), options,
                       bodies, distance);
    }
  }
}

TEST(Counting, ALostPairShows) {
  Bodies bodies = make_bodies(Model::cube, 100);
  for (double& q : bodies.q) q = 1;
  Counter<fmm::DualTree<>> solver({.leaf_capacity = 4});
  const Results r = run(solver, bodies);
  for (const double p : r.potential) EXPECT_EQ(p, 99);
}

/// P2L is where there are locals that take it, and a plan with it is for no other solver.
TEST(Counting, ByP2LIsWhereItCanBe) {
  const Bodies bodies = make_bodies(Model::plummer, 3000);
  const DeviceBodies<Space> device(bodies);
  const auto entries = [&]<class Solver>(std::type_identity<Solver>) {
    Solver solver({.leaf_capacity = 7});
    return solver.build(Space(), device.x).p2l_entries();
  };
  using fmm::DualTree, fmm::FmmList, fmm::Rotation;
  EXPECT_GT(entries(std::type_identity<Counter<FmmList>>()), 0);
  EXPECT_GT(entries(std::type_identity<Counter<DualTree<AllLeaves>>>()), 0);
  EXPECT_EQ(entries(std::type_identity<Counter<DualTree<>>>()), 0);
  EXPECT_EQ(entries(std::type_identity<Counter<fmm::BarnesHut, NoTranslation>>()), 0);
  EXPECT_EQ(entries(std::type_identity<Counter<FmmList, NoTranslation>>()), 0);
  EXPECT_EQ(entries(std::type_identity<Counter<FmmList, Rotation, false>>()), 0);

  Counter<FmmList> solver({.leaf_capacity = 7});
  Counter<FmmList, NoTranslation> treecode({.leaf_capacity = 7});
  auto plan = solver.build(Space(), device.x);
  ViewIn<double*, Space> potential("potential", bodies.size());
  EXPECT_THROW(treecode.evaluate(Space(), plan, device.q, potential, fmm::none),
               fmm::InvalidArgument);
}

// ---- the lists themselves -------------------------------------------------------------------------

using namespace fmm;
using namespace fmm::engine;

struct HostLists {
  std::vector<Cell> cells;
  int depth;
  std::vector<std::vector<CellIndex>> m2l, p2l, m2p, p2p;
};

HostLists lists_of(PlanData<Space, double> const& storage) {
  Space().fence();
  const auto rows = [&](Csr<Space> const& list) {
    auto all = to_host(list);
    all.resize(storage.tree.octree.cells.extent(0));
    return all;
  };
  auto const& lists = storage.lists;
  return {to_host(storage.tree.octree.cells),
          storage.tree.octree.depth,
          rows(lists.m2l),
          rows(lists.p2l),
          rows(lists.m2p),
          rows(lists.p2p)};
}

template <class Traversal>
HostLists make_lists(PlanData<Space, double>& storage, Bodies const& bodies, fmm::Options options,
                     double far_from = 0) {
  const Space space;
  const DeviceBodies<Space> device(bodies);
  options =
      fmm::Solver<fmm::Laplace, fmm::Treecode<2, Traversal>, double, Space>(options).options();
  const ViewIn<double const* [3], Space> positions = device.x;
  build_plan<Traversal>(space, storage, positions, options, {2, far_from, true}, nullptr);
  return lists_of(storage);
}

template <class Traversal>
HostLists make_lists(Bodies const& bodies, fmm::Options const& options, double far_from = 0) {
  PlanData<Space, double> storage;
  return make_lists<Traversal>(storage, bodies, options, far_from);
}

int distance(Cell const& a, Cell const& b) {  // of centres, in cells of one level
  int largest = 0;
  for (int d = 0; d < 3; ++d)
    largest = std::max(largest, std::abs(a.centre[d] - b.centre[d]) / a.edge());
  return largest;
}

/// Memory of earlier builds is too small for the lists, for the open sources, or for both; or it is enough.
TEST(Lists, DoNotDependOnEarlierBuilds) {
  const auto check = [&]<class Traversal>(std::type_identity<Traversal>) {
    PlanData<Space, double> storage;
    for (auto const& [model, n, leaf] : {std::tuple(Model::cube, 500, 8),
                                         {Model::cube, 20000, 200},
                                         {Model::cube, 20000, 8},
                                         {Model::cube, 500, 8},
                                         {Model::clusters, 20000, 8},
                                         {Model::plummer, 20000, 4},
                                         {Model::plummer, 20000, 4}}) {
      const Bodies bodies = make_bodies(model, std::size_t(n));
      const fmm::Options options{.leaf_capacity = leaf};
      const HostLists lists = make_lists<Traversal>(storage, bodies, options),
                      expected = make_lists<Traversal>(bodies, options);
      EXPECT_EQ(lists.m2l, expected.m2l) << Traversal::name << ", " << n << ", " << leaf;
      EXPECT_EQ(lists.p2l, expected.p2l) << Traversal::name;
      EXPECT_EQ(lists.m2p, expected.m2p) << Traversal::name;
      EXPECT_EQ(lists.p2p, expected.p2p) << Traversal::name;
    }
  };
  check(std::type_identity<fmm::DualTree<>>());
  check(std::type_identity<fmm::DualTree<fmm::FieldCriterion>>());
  check(std::type_identity<fmm::FmmList>());
  check(std::type_identity<fmm::BarnesHut>());
}

/// A criterion of the library that does not inherit the candidates, since it decides itself: source by source.
template <class Criterion>
struct OneByOne : Criterion {
  using Criterion::Criterion;
  KOKKOS_FUNCTION fmm::Acceptance operator()(fmm::CellView const& a, fmm::CellView const& b) const {
    return Criterion::operator()(a, b);
  }
};

template <class Criterion>
void compare_with_one_by_one(fmm::Options const& options, double far_from) {
  static_assert(has_candidates_v<Criterion> && !has_candidates_v<OneByOne<Criterion>>);
  for (const Model model : {Model::cube, Model::plummer}) {
    const Bodies bodies = make_bodies(model, 4000);
    const auto lists = make_lists<fmm::DualTree<Criterion>>(bodies, options, far_from),
               expected = make_lists<fmm::DualTree<OneByOne<Criterion>>>(bodies, options, far_from);
    const auto as_sets = [](std::vector<std::vector<CellIndex>> rows) {
      for (auto& row : rows) std::sort(row.begin(), row.end());
      return rows;
    };
    std::size_t pairs = 0;
    for (auto const& row : lists.m2l) pairs += row.size();
    EXPECT_GT(pairs, 1000u);
    EXPECT_EQ(as_sets(lists.m2l), as_sets(expected.m2l));
    EXPECT_EQ(as_sets(lists.p2p), as_sets(expected.p2p));
  }
}

/// Siblings that are decided together, by packs on a CPU, are decided as each alone.
TEST(Lists, OfFamiliesAreThoseOfTheirMembers) {
  for (const double far_from : {0.0, 0.15}) {
    compare_with_one_by_one<fmm::RadiusCriterion>({.theta = 0.7, .leaf_capacity = 10}, far_from);
    compare_with_one_by_one<fmm::FieldCriterion>({.pair_error = 1e-3, .leaf_capacity = 10},
                                                 far_from);
  }
}

/// Of some targets only, and those above them: the rows of all lists, and no others.
template <class Criterion>
void compare_of_wanted(fmm::Options options) {
  const Space space;
  using Traversal = fmm::DualTree<Criterion>;
  using Traits = fmm::Solver<fmm::Laplace, fmm::Treecode<2, Traversal>, double, Space>;
  PlanData<Space, double> storage;
  const Bodies bodies = make_bodies(Model::plummer, 8000);
  const auto cells =
      make_lists<fmm::DualTree<>>(storage, bodies, {.leaf_capacity = options.leaf_capacity}).cells;
  options = Traits(options).options();

  const std::size_t n = cells.size(), row = 3;
  std::vector<float> charges(n), fields(n, 1), powers(n * row);
  std::vector<int> wanted(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    charges[i] = float(cells[i].body_count) / 8000;
    for (std::size_t k = 0; k < row; ++k)
      powers[row * i + k] = charges[i] * std::pow(0.4f, float(k));
    if (cells[i].is_leaf() && i % 5 == 0)
      for (CellIndex c = CellIndex(i); c >= 0; c = cells[c].parent) wanted[std::size_t(c)] = 1;
  }
  const auto q = column_in<Space>(charges), f = column_in<Space>(fields),
             m = column_in<Space>(powers);
  const auto marks = column_in<Space>(wanted);
  const CellMeasures<Space> measures{storage.memory.traversal.radii.view(n),
                                     Array<float, Space>(q.data(), n),
                                     Array<float, Space>(f.data(), n),
                                     Array<float, Space>(m.data(), n * row),
                                     8000,
                                     int(row)};
  const FarFieldRule far{2, 0, true};
  storage.lists =
      build_dual_lists<Traversal>(space, storage.memory, storage.tree, options, far, measures);
  HostLists expected = lists_of(storage);
  storage.lists = build_dual_lists<Traversal>(space, storage.memory, storage.tree, options, far,
                                              measures, Array<int, Space>(marks.data(), n));
  const HostLists some = lists_of(storage);
  std::size_t entries = 0, left_out = 0;
  const auto compare = [&](auto const& rows, auto const& all) {
    for (std::size_t i = 0; i < n; ++i) {
      if (wanted[i] != 0) {
        EXPECT_EQ(rows[i], all[i]) << i;
        entries += rows[i].size();
      } else {
        EXPECT_TRUE(rows[i].empty()) << i;
        left_out += all[i].size();
      }
    }
  };
  compare(some.m2l, expected.m2l);
  compare(some.p2l, expected.p2l);
  compare(some.m2p, expected.m2p);
  compare(some.p2p, expected.p2p);
  EXPECT_GT(entries, 1000u);
  EXPECT_GT(left_out, 1000u);
}

TEST(Lists, OfWantedTargetsAreTheirRowsOfAll) {
  compare_of_wanted<fmm::RadiusCriterion>({.theta = 0.7, .leaf_capacity = 10});
  compare_of_wanted<fmm::MultipolePowerCriterion>({.pair_error = 1e-2, .leaf_capacity = 10});
}

TEST(ClassicLists, Have27NeighboursAnd189Cells) {
  const HostLists lists = make_lists<fmm::FmmList>(make_bodies(Model::cube, 40000),
                                                   {.depth = 3, .tree = fmm::TreeKind::uniform});
  ASSERT_EQ(lists.cells.size(), 1u + 8 + 64 + 512);
  std::size_t largest = 0, neighbours = 0;
  bool equality = false;
  for (std::size_t i = 0; i < lists.cells.size(); ++i) {
    largest = std::max(largest, lists.m2l[i].size());
    neighbours = std::max(neighbours, lists.p2p[i].size());
    for (const CellIndex j : lists.m2l[i]) {
      EXPECT_EQ(lists.cells[i].level, lists.cells[j].level);
      EXPECT_GE(distance(lists.cells[i], lists.cells[j]), 2);
      EXPECT_LE(distance(lists.cells[i], lists.cells[j]), 3);
      // theta = 2/3: edge / distance from the source's centre to the nearest point of the target's cube
      double d2 = 0;
      for (int d = 0; d < 3; ++d) {
        const double gap = std::abs(lists.cells[i].centre[d] - lists.cells[j].centre[d]) -
                           0.5 * lists.cells[i].edge();
        if (gap > 0) d2 += gap * gap;
      }
      const double theta = lists.cells[i].edge() / std::sqrt(d2);
      EXPECT_LE(theta, 2.0 / 3 + 1e-12);
      equality |= std::fabs(theta - 2.0 / 3) < 1e-12;
    }
    for (const CellIndex j : lists.p2p[i]) EXPECT_LE(distance(lists.cells[i], lists.cells[j]), 1);
    EXPECT_TRUE(lists.m2p[i].empty());
    EXPECT_TRUE(lists.p2l[i].empty());
  }
  EXPECT_EQ(largest, 189u);
  EXPECT_EQ(neighbours, 27u);
  EXPECT_TRUE(equality);
}

/// (r_a + r_b) / R of the cells' spheres: at most sqrt(3) / 2 for any two cells that are translated.
double spheres(Cell const& a, Cell const& b) {
  double R2 = 0;
  for (int d = 0; d < 3; ++d) R2 += std::pow(double(a.centre[d]) - b.centre[d], 2);
  return std::sqrt(0.75) * (a.edge() + b.edge()) / std::sqrt(R2);
}

TEST(Stencil, Has119CellsThatConvergeAsThe189Do) {
  const Bodies bodies = make_bodies(Model::cube, 40000);
  const fmm::Options options{.depth = 3, .tree = fmm::TreeKind::uniform};
  const HostLists lists = make_lists<fmm::FmmStencil>(bodies, options),
                  classic = make_lists<fmm::FmmList>(bodies, options);
  std::size_t largest = 0;
  double slowest = 0;
  for (std::size_t i = 0; i < lists.cells.size(); ++i) {
    largest = std::max(largest, lists.m2l[i].size());
    std::set<CellIndex> sources;  // with the children of parents in their place
    for (const CellIndex j : lists.m2l[i]) {
      Cell const &target = lists.cells[i], &source = lists.cells[j];
      slowest = std::max(slowest, spheres(target, source));
      if (source.level == target.level) {
        sources.insert(j);
      } else {
        EXPECT_EQ(source.level + 1, target.level);
        for (int child = 0; child < source.child_count; ++child)
          sources.insert(source.child_begin + child);
      }
    }
    EXPECT_EQ(sources, std::set<CellIndex>(classic.m2l[i].begin(), classic.m2l[i].end()));
    EXPECT_EQ(std::set(lists.p2p[i].begin(), lists.p2p[i].end()),
              std::set(classic.p2p[i].begin(), classic.p2p[i].end()));
  }
  EXPECT_EQ(largest, 119u);
  EXPECT_NEAR(slowest, std::sqrt(0.75), 1e-12);
}

TEST(Stencil, ConvergesOnAdaptiveTreesToo) {
  const HostLists lists =
      make_lists<fmm::FmmStencil>(make_bodies(Model::plummer, 5000), {.leaf_capacity = 16});
  std::size_t parents = 0;
  for (std::size_t i = 0; i < lists.cells.size(); ++i)
    for (const CellIndex j : lists.m2l[i]) {
      EXPECT_LT(spheres(lists.cells[i], lists.cells[j]), 0.867);
      parents += lists.cells[j].level < lists.cells[i].level;
    }
  EXPECT_GT(parents, 0u);
}

TEST(ClassicLists, OfAdaptiveTreesAreUVWAndX) {
  const HostLists lists =
      make_lists<fmm::FmmList>(make_bodies(Model::plummer, 5000), {.leaf_capacity = 16});
  const auto touch = [](Cell const& a, Cell const& b) {
    bool result = true;
    for (int d = 0; d < 3; ++d)
      result &= 2 * std::abs(a.centre[d] - b.centre[d]) <= a.edge() + b.edge();
    return result;
  };
  std::set<std::pair<CellIndex, CellIndex>> w, x;  // leaf, and the smaller cell
  for (std::size_t i = 0; i < lists.cells.size(); ++i) {
    const Cell& target = lists.cells[i];
    for (const CellIndex j : lists.m2p[i]) {  // W: smaller, not touching, the parent touches
      const Cell &source = lists.cells[j], &parent = lists.cells[source.parent];
      EXPECT_TRUE(target.is_leaf());
      EXPECT_GT(source.level, target.level);
      EXPECT_FALSE(touch(source, target));
      EXPECT_TRUE(touch(parent, target));
      w.insert({CellIndex(i), j});
    }
    for (const CellIndex j : lists.p2l[i]) x.insert({j, CellIndex(i)});
    for (const CellIndex j : lists.p2p[i]) {  // U
      EXPECT_TRUE(target.is_leaf() && lists.cells[j].is_leaf());
      EXPECT_TRUE(touch(target, lists.cells[j]));
    }
    for (const CellIndex j : lists.m2l[i]) EXPECT_EQ(target.level, lists.cells[j].level);
  }
  EXPECT_GT(w.size(), 100u);
  EXPECT_EQ(w, x);  // each the other's mirror image
}

/// What P2L takes, and nothing else, would be pairs without it; its error is that of the other lists.
TEST(ClassicLists, XSavesPairs) {
  const Bodies bodies = make_bodies(Model::plummer, 20000);
  const fmm::Options options{.leaf_capacity = 32};
  const DeviceBodies<Space> device(bodies);
  ViewIn<double*, Space> potential("potential", bodies.size());
  ViewIn<double* [3], Space> field("field", bodies.size());
  const auto reference = direct_sum<fmm::Laplace>(bodies).field;
  const auto report_and_error = [&]<class Kernel>(Kernel) {
    fmm::Solver<Kernel, fmm::Fmm<6, fmm::FmmList>, double, Space> solver(options);
    fmm::Report report;
    auto plan = solver.build(Space(), device.x, &report);
    solver.evaluate(Space(), plan, device.q, potential, field, &report);
    return std::pair(report, relative_l2(to_host(potential, field).field, reference));
  };
  const auto [with, error] = report_and_error(fmm::Laplace());
  const auto [without, error_without] = report_and_error(LaplaceWithoutP2L());
  const HostLists lists = make_lists<fmm::FmmList>(bodies, options);
  std::int64_t saved = 0, taken = 0;
  for (std::size_t i = 0; i < lists.cells.size(); ++i)
    for (const CellIndex j : lists.p2l[i]) {
      taken += lists.cells[j].body_count;
      saved += std::int64_t(lists.cells[i].body_count) * lists.cells[j].body_count;
    }
  EXPECT_EQ(with.p2l, taken);
  EXPECT_EQ(with.count("p2l"), taken);
  EXPECT_EQ(without.find("p2l"), nullptr);
  EXPECT_EQ(with.m2l, without.m2l);
  EXPECT_EQ(with.m2p, without.m2p);
  EXPECT_EQ(with.m2p, taken);
  EXPECT_EQ(without.p2p_pairs - with.p2p_pairs, saved);
  EXPECT_GT(saved, without.p2p_pairs / 10);
  EXPECT_LT(with.flops(), without.flops());
  EXPECT_LT(error, 1.5 * error_without);
}

TEST(DualTraversal, AcceptsOnlyConvergingPairs) {
  const double theta = 0.7;
  const Space space;
  const DeviceBodies<Space> device(make_bodies(Model::plummer, 5000));
  PlanData<Space, double> s;
  const ViewIn<double const* [3], Space> positions = device.x;
  build_plan<fmm::DualTree<>>(space, s, positions,
                              {.theta = theta, .leaf_capacity = 16, .depth = 21}, 2, nullptr);
  const auto cells = to_host(s.tree.octree.cells);
  const auto radii = to_host(s.memory.traversal.radii.view(cells.size()));
  const auto rows = to_host(s.lists.m2l);
  std::size_t unequal = 0, entries = 0;
  for (std::size_t i = 0; i < cells.size(); ++i)
    for (const CellIndex j : rows[i]) {
      double r2 = 0;
      for (int d = 0; d < 3; ++d)
        r2 += std::pow(double(cells[i].centre[d] - cells[j].centre[d]), 2);
      const double sum = double(radii[i]) * cells[i].edge() + double(radii[j]) * cells[j].edge();
      EXPECT_LT(sum, theta * std::sqrt(r2) * (1 + 1e-5));
      unequal += cells[i].level != cells[j].level;
      ++entries;
    }
  EXPECT_GT(unequal, entries / 100);
}

/// Sum of w / (R^2 + h^2 / 4) over the coarse cells, at the centre of cell i or of the coarse cell above.
double coarse_field_at(std::vector<Cell> const& cells, Bodies const& bodies,
                       std::vector<BodyIndex> const& permutation, CellIndex i) {
  const auto is_divided = [&](Cell const& cell) {
    if (cell.body_count <= cells[0].body_count / coarse_share) return false;
    const BodyIndex first = permutation[cell.body_begin];
    for (BodyIndex k = 1; k < cell.body_count; ++k)
      for (int d = 0; d < 3; ++d)
        if (bodies.x[3 * permutation[cell.body_begin + k] + d] != bodies.x[3 * first + d])
          return true;
    return false;  // all at one place
  };
  const auto own = [&](Cell const& cell) {
    return cell.parent < 0 || is_divided(cells[cell.parent]);
  };
  while (!own(cells[i])) i = cells[i].parent;
  double field = 0;
  for (Cell const& source : cells) {
    if (!own(source) || (!source.is_leaf() && is_divided(source))) continue;
    const double unit = std::ldexp(1.0, -grid_bits);
    double r2 = std::pow(unit * source.edge() / 2, 2);
    for (int d = 0; d < 3; ++d) r2 += std::pow(unit * (cells[i].centre[d] - source.centre[d]), 2);
    field += source.body_count / r2;
  }
  return field / cells[0].body_count;
}

TEST(FieldCriterion, BoundsThePairsErrorByTheField) {
  const fmm::Options options{
      .theta = 0.7, .pair_error = 1e-3, .leaf_capacity = 16, .depth = fmm::max_tree_depth};
  const int order = 3;
  for (const Model model : all_models) {
    const Space space;
    const Bodies bodies = make_bodies(model, 20000);
    const DeviceBodies<Space> device(bodies);
    PlanData<Space, double> s;
    const ViewIn<double const* [3], Space> positions = device.x;
    build_plan<fmm::DualTree<fmm::FieldCriterion>>(space, s, positions, options, order, nullptr);
    const auto cells = to_host(s.tree.octree.cells);
    const auto permutation = to_host(s.tree.permutation);
    const auto radii = to_host(s.memory.traversal.radii.view(cells.size()));
    const auto fields = to_host(s.memory.traversal.fields.view(cells.size()));
    const auto m2l = to_host(s.lists.m2l), p2p = to_host(s.lists.p2p);
    const auto share = [&](Cell const& cell) {
      return double(cell.body_count) / cells[0].body_count;
    };
    struct Pair {
      double theta, error;  // both in units of what is allowed
    };
    const auto pair = [&](std::size_t i, CellIndex j) -> Pair {
      double r2 = 0;
      for (int d = 0; d < 3; ++d)
        r2 += std::pow(double(cells[i].centre[d] - cells[j].centre[d]), 2);
      const double eta =
          (double(radii[i]) * cells[i].edge() + double(radii[j]) * cells[j].edge()) / std::sqrt(r2);
      const double error =
          share(cells[j]) * std::pow(eta, order + 1) / std::ldexp(r2, -2 * grid_bits);
      return {eta / *options.theta, error / (*options.pair_error * fields[i])};
    };
    std::size_t by_theta = 0, by_error = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i % 17 == 0) {
        EXPECT_NEAR(fields[i] / coarse_field_at(cells, bodies, permutation, CellIndex(i)), 1, 1e-5);
      }
      for (const CellIndex j : m2l[i]) {
        EXPECT_LT(pair(i, j).theta, 1 + 1e-5);
        EXPECT_LT(pair(i, j).error, 1 + 1e-5);
      }
      for (const CellIndex j : p2p[i]) {
        if (std::size_t(j) == i) continue;
        const auto [theta, error] = pair(i, j);
        EXPECT_TRUE(theta > 1 - 1e-5 || error > 1 - 1e-5);  // nothing that could be accepted
        by_theta += theta >= 1 && error < 1;
        by_error += theta < 1 && error >= 1;
      }
    }
    if (model != Model::cube && model != Model::plummer) continue;
    EXPECT_GT(by_theta, 0u) << name_of(model);
    EXPECT_GT(by_error, 0u) << name_of(model);
  }
}

/// The source's bodies are within theta of the distance to every body of the target, and the pair errs by
/// little.
TEST(SourceCriterion, IsSmallAgainstTheDistanceOfEveryTarget) {
  using Traversal = fmm::DualTree<fmm::SourceCriterion>;
  const int order = 2;
  const fmm::Options options{
      .theta = 0.6, .pair_error = 3e-4, .leaf_capacity = 16, .depth = fmm::max_tree_depth};
  const Space space;
  const Bodies bodies = make_bodies(Model::plummer, 5000);
  const DeviceBodies<Space> device(bodies);
  PlanData<Space, double> s;
  const ViewIn<double const* [3], Space> positions = device.x;
  build_plan<Traversal>(space, s, positions, options, order, nullptr);
  const auto cells = to_host(s.tree.octree.cells);
  const auto fields = to_host(s.memory.traversal.fields.view(cells.size()));
  const auto index = to_host(s.tree.permutation);
  const auto rows = to_host(s.lists.m2l);
  const auto from_centre = [&](Cell const& cell, BodyIndex body) {
    double r2 = 0;
    for (int d = 0; d < 3; ++d)
      r2 += std::pow((bodies.x[3 * index[body] + d] - s.tree.cube.low[d]) / s.tree.cube.edge -
                         cell.centre[d] * std::ldexp(1.0, -grid_bits),
                     2);
    return std::sqrt(r2);
  };
  std::size_t entries = 0;
  double largest_kappa = 0, largest_error = 0;  // in units of what is allowed
  for (std::size_t i = 0; i < cells.size(); ++i)
    for (const CellIndex j : rows[i]) {
      double nearest = 10, radius = 0;
      Cell const &target = cells[i], &source = cells[j];
      for (BodyIndex b = target.body_begin; b < target.body_begin + target.body_count; ++b)
        nearest = std::min(nearest, from_centre(source, b));
      for (BodyIndex b = source.body_begin; b < source.body_begin + source.body_count; ++b)
        radius = std::max(radius, from_centre(source, b));
      const double kappa = radius / nearest, share = source.body_count / 5000.0;
      largest_kappa = std::max(largest_kappa, kappa / *options.theta);
      largest_error =
          std::max(largest_error, share * std::pow(kappa, order + 1) / (nearest * nearest) /
                                      (*options.pair_error * fields[i]));
      ++entries;
    }
  EXPECT_GT(entries, 1000u);
  EXPECT_LT(largest_kappa, 1 + 1e-5);
  EXPECT_GT(largest_kappa, 0.9);
  EXPECT_LT(largest_error, 1 + 1e-5);
  EXPECT_GT(largest_error, 0.3);
}

TEST(BarnesHut, OpensACellUnlessItIsFarForItsSize) {
  const double theta = 0.5;
  const HostLists lists = make_lists<fmm::BarnesHut>(make_bodies(Model::plummer, 5000),
                                                     {.theta = theta, .leaf_capacity = 16});
  const auto ratio = [&](Cell const& target, Cell const& source) {
    double d2 = 0;
    for (int d = 0; d < 3; ++d) {
      const double gap = std::abs(source.centre[d] - target.centre[d]) - 0.5 * target.edge();
      if (gap > 0) d2 += gap * gap;
    }
    return source.edge() / std::sqrt(d2);
  };
  std::size_t entries = 0;
  for (std::size_t i = 0; i < lists.cells.size(); ++i) {
    for (const CellIndex j : lists.m2p[i]) {
      EXPECT_LT(ratio(lists.cells[i], lists.cells[j]), theta * (1 + 1e-6));
      EXPECT_GE(ratio(lists.cells[i], lists.cells[lists.cells[j].parent]), theta * (1 - 1e-6));
      ++entries;
    }
    for (const CellIndex j : lists.p2p[i])
      EXPECT_GE(ratio(lists.cells[i], lists.cells[j]), theta * (1 - 1e-6));
  }
  EXPECT_GT(entries, 1000u);
}

// ---- expansions that act from a distance on -------------------------------------------------------

/// Distances between bodies of different cells are those of their cubes at least, in edges of the whole.
double gap(Cell const& a, Cell const& b) {
  double gap2 = 0;
  for (int d = 0; d < 3; ++d) {
    const double gap = std::abs(a.centre[d] - b.centre[d]) - 0.5 * (a.edge() + b.edge());
    if (gap > 0) gap2 += gap * gap;
  }
  return std::ldexp(std::sqrt(gap2), -grid_bits);
}

TEST(FarField, IsAllThatIsFarEnoughInClassicLists) {
  const double far_from = 0.3;
  const HostLists lists = make_lists<fmm::FmmList>(
      make_bodies(Model::cube, 20000), {.depth = 3, .tree = fmm::TreeKind::uniform}, far_from);
  // neighbours, and what a ball around a cube of an eighth touches
  std::size_t neighbours = 0;
  for (std::size_t i = 0; i < lists.cells.size(); ++i) {
    for (const CellIndex j : lists.m2l[i]) EXPECT_GE(gap(lists.cells[i], lists.cells[j]), far_from);
    for (const CellIndex j : lists.p2p[i]) {
      EXPECT_LT(gap(lists.cells[i], lists.cells[j]), far_from * (1 + 1e-5));
      neighbours += 1;
    }
  }
  std::size_t expected = 0;
  for (Cell const& target : lists.cells)
    for (Cell const& source : lists.cells)
      expected += target.level == 3 && source.level == 3 && gap(target, source) < far_from;
  EXPECT_EQ(neighbours, expected);
  EXPECT_GT(neighbours, 27u * 512);
}

/// Bodies of accepted cells are at least so far apart, and some hardly more.
template <class Traversal>
void check_far_field(char const* name) {
  const double far_from = 0.02;  // of the cube's edge
  const Space space;
  const Bodies bodies = make_bodies(Model::plummer, 3000);
  const DeviceBodies<Space> device(bodies);
  PlanData<Space, double> s;
  const auto options =
      fmm::Solver<fmm::Laplace, fmm::Treecode<2, Traversal>, double, Space>({.leaf_capacity = 8})
          .options();
  const ViewIn<double const* [3], Space> positions = device.x;
  build_plan<Traversal>(space, s, positions, options, {2, 0, true}, nullptr);
  const double distance = far_from * s.tree.cube.edge;
  build_plan<Traversal>(space, s, positions, options, {2, distance, true}, nullptr);
  const auto cells = to_host(s.tree.octree.cells);
  const auto index = to_host(s.tree.permutation);
  double nearest = 1e9;
  for (auto const& list : {to_host(s.lists.m2l), to_host(s.lists.p2l), to_host(s.lists.m2p)})
    for (std::size_t i = 0; i < list.size(); ++i)
      for (const CellIndex j : list[i])
        for (BodyIndex a = 0; a < cells[i].body_count; ++a)
          for (BodyIndex b = 0; b < cells[j].body_count; ++b) {
            const double *x = &bodies.x[3 * index[cells[i].body_begin + a]],
                         *y = &bodies.x[3 * index[cells[j].body_begin + b]];
            nearest = std::min(nearest, std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]));
          }
  EXPECT_GE(nearest, distance * (1 - 1e-6)) << name;
  EXPECT_LT(nearest, distance * 1.2) << name;
}

TEST(FarField, HasNoBodiesThatAreNearer) {
  check_far_field<fmm::FmmList>("lists");
  check_far_field<fmm::FmmStencil>("stencil");
  check_far_field<fmm::DualTree<>>("dual");
  check_far_field<fmm::DualTree<fmm::FieldCriterion>>("field");
  check_far_field<fmm::DualTree<fmm::SourceCriterion>>("sources");
  check_far_field<fmm::BarnesHut>("treecode");
}

// ---- criteria that use charges --------------------------------------------------------------------

/// Accepts converging pairs whose source has little charge for the whole.
struct LightSources {
  static constexpr fmm::CriterionTraits traits{
      .theta = {.by_default = 0.7}, .uses_radii = true, .uses_charges = true};
  fmm::RadiusCriterion radius;
  explicit LightSources(double theta) : radius(theta) {}
  KOKKOS_FUNCTION fmm::Acceptance operator()(fmm::CellView const& target,
                                             fmm::CellView const& source) const {
    return source.charge < 40 ? radius(target, source) : fmm::Acceptance::not_accepted;
  }
};

TEST(ChargeCriterion, NewChargesRedoListsOnly) {
  using Solver = fmm::Solver<fmm::Laplace, fmm::Fmm<4, fmm::DualTree<LightSources>>, double, Space>;
  Bodies bodies = make_bodies(Model::cube, 3000, true);
  Solver solver({.leaf_capacity = 16});
  const Space space;
  const DeviceBodies<Space> device(bodies);
  ViewIn<double*, Space> potential("p", bodies.size());
  ViewIn<double* [3], Space> field("a", bodies.size());
  fmm::Report first, second;
  auto plan = solver.build(space, fmm::Inputs{device.x, device.q}, &first);
  EXPECT_GT(first.seconds("sort"), 0);
  EXPECT_GT(first.seconds("lists"), 0);
  const auto before = plan.m2l_entries();
  for (std::size_t i = 0; i < bodies.size(); ++i) bodies.q[i] *= i % 2 ? 1 : 1e-6;
  const DeviceBodies<Space> other(bodies);
  solver.evaluate(space, plan, other.q, potential, field, &second);
  space.fence();
  EXPECT_EQ(second.find("sort"), nullptr);
  EXPECT_EQ(second.find("tree"), nullptr);
  EXPECT_GT(second.seconds("lists"), 0);
  EXPECT_NE(plan.m2l_entries(), before);
  EXPECT_LT(relative_l2(to_host(potential, field).field, direct_sum<fmm::Laplace>(bodies).field),
            2e-3);
}

}  // namespace
}  // namespace fmm_test
