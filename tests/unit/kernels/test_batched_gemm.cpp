// SPDX-License-Identifier: BSD-3-Clause
// BatchedGemm: buckets of pairs, matrices, and sums, against Rotation and the definition. Nothing is
// dropped, whatever a bucket, a sorted part or a slab may hold.
#include <algorithm>
#include <array>
#include <fmm/batched_gemm.hpp>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "support.hpp"

namespace fmm_test {
namespace {

using fmm::BatchedGemm;
using namespace fmm;
using namespace fmm::engine;

/// Limits so small that every loop over parts is gone through many times.
constexpr fmm::GemmShape small_parts{5, 1 << 22, 1000, 20000};

/// Lists of a few thousand bodies; which trees and lists the tests go through.
template <class T>
class Gemm : public testing::Test {
 public:
  using KokkosSpace = typename T::Space;
  using Space = fmm::site_t<KokkosSpace>;
  using Real = typename T::Real;
  static constexpr double rounding = sizeof(Real) == 4 ? 2e-6 : 1e-14;

  Space space = site<KokkosSpace>();
  Bodies bodies = make_bodies(Model::plummer, 3000);
  DeviceBodies<Space> device{bodies};
  PlanData<Space, Real> s;

  template <class Traversal>
  void build(fmm::Options options) {
    options = fmm::Solver<Laplace, fmm::Fmm<2, Traversal>, Real, Space>(options).options();
    const ViewIn<double const* [3], Space> positions = device.x;
    const ViewIn<double const*, Space> charges = device.q;
    build_plan<Traversal>(space, s, positions, options, 2, nullptr);
    take_charges(space, inspect_charges(space, false, charges).unit, charges, s.tree.permutation,
                 charges_of(s.tree.bodies), s.memory.sums.resize(s.tree.size));
    space.fence();
  }

  /// check() with uniform and adaptive classic lists, and with pairs of unequal cells.
  template <class Check>
  void for_all_lists(Check const& check) {
    build<FmmList>({.depth = 3, .tree = fmm::TreeKind::uniform});
    check();
    build<FmmList>({.leaf_capacity = 20});
    check();
    build<DualTree<>>({.theta = 0.6, .leaf_capacity = 20});
    check();
  }

  Array<Real, Space> multipoles(int row) {
    return s.memory.multipoles.view(s.tree.octree.cells.extent(0) * row);
  }
};
TYPED_TEST_SUITE(Gemm, Cases);

TYPED_TEST(Gemm, ClassAndReflectionAreTheOffset) {
  std::set<int> differences;
  this->for_all_lists([&] {
    const auto cells = to_host(this->s.tree.octree.cells);
    const auto rows = to_host(this->s.lists.m2l);
    for (std::size_t t = 0; t < rows.size(); ++t)
      for (const CellIndex i : rows[t]) {
        Cell const &target = cells[t], &source = cells[i];
        const auto offset_class = OffsetClass::of(target, source);
        const double edge = std::min(target.edge(), source.edge());
        double largest = 0;
        for (int d = 0; d < 3; ++d)
          largest = std::max(largest, std::fabs(target.centre[d] - source.centre[d]) / edge);
        const int difference = source.level - target.level;
        const bool has_class = largest < 16 && std::abs(difference) <= 2;
        ASSERT_EQ(offset_class.number >= 0, has_class);
        if (!has_class) continue;
        differences.insert(difference);
        const auto geometry = offset_class.geometry();
        ASSERT_EQ(geometry.source_edge, source.edge() / edge);
        ASSERT_EQ(geometry.target_edge, target.edge() / edge);
        const int reflection = OffsetClass::reflection(target, source);
        for (int d = 0; d < 3; ++d)
          ASSERT_EQ((reflection >> d & 1 ? -1 : 1) * geometry.offset[d] * edge,
                    target.centre[d] - source.centre[d]);
      }
  });
  EXPECT_TRUE(differences.contains(0) && differences.contains(-1) && differences.contains(1));
}

/// The 316 offsets of the classic lists.
TYPED_TEST(Gemm, ClassicListsHave56Classes) {
  this->bodies = make_bodies(Model::cube, 20000);
  this->device = DeviceBodies<typename TestFixture::Space>(this->bodies);
  this->template build<FmmList>({.depth = 4, .tree = fmm::TreeKind::uniform});
  const auto list = split_list(this->space, this->s.memory.gemm.buckets, this->s.tree.octree.cells,
                               this->s.lists.m2l, 1, 1000);
  EXPECT_EQ(list.classes.size(), 56u);
  EXPECT_EQ(list.pairs, Offset(this->s.lists.m2l.entries.extent(0)));
}

/// Every entry of the list is in the rest or, once, in its bucket, where targets ascend.
TYPED_TEST(Gemm, BucketsAndRestAreTheList) {
  using Pairs = std::map<std::pair<CellIndex, CellIndex>, int>;
  this->for_all_lists([&] {
    const auto cells = to_host(this->s.tree.octree.cells);
    for (const auto& [least, most] : {std::pair(1, 100000), {50, 100000}, {1, 20}, {1 << 30, 20}}) {
      const auto list = split_list(this->space, this->s.memory.gemm.buckets,
                                   this->s.tree.octree.cells, this->s.lists.m2l, least, most);
      ASSERT_LE(list.classes.size(), std::size_t(most));
      Pairs expected, found;
      const auto add = [](Pairs& pairs, auto const& rows) {
        for (std::size_t t = 0; t < rows.size(); ++t)
          for (const CellIndex i : rows[t]) ++pairs[{CellIndex(t), i}];
      };
      add(expected, to_host(this->s.lists.m2l));
      add(found, to_host(list.split.rest));
      std::vector<Offset> sizes(list.classes.size());
      constexpr Offset part = 3000, slab = 700;
      for (Offset first = 0; first < list.pairs; first += part) {
        const Offset count = std::min(part, list.pairs - first);
        const auto bucketed =
            bucket_pairs(this->space, this->s.memory.gemm.buckets, list, first, count, slab);
        ASSERT_EQ(bucketed.begins.front(), 0);
        ASSERT_EQ(bucketed.begins.back(), count);
        const auto pairs = to_host(bucketed.pairs);
        for (std::size_t b = 0; b < list.classes.size(); ++b) {
          sizes[b] += bucketed.begins[b + 1] - bucketed.begins[b];
          for (Offset p = bucketed.begins[b]; p < bucketed.begins[b + 1]; ++p) {
            const CellPair pair = pairs[p];
            Cell const &target = cells[pair.target], &source = cells[pair.source];
            ++found[{pair.target, pair.source}];
            ASSERT_EQ(OffsetClass::of(target, source).number, list.classes[b]);
            ASSERT_EQ(pair.reflection, OffsetClass::reflection(target, source));
            ASSERT_EQ(pair.level, std::max(target.level, source.level));
            if (p > bucketed.begins[b]) {
              ASSERT_GE(pair.target, pairs[p - 1].target);
            }
          }
        }
      }
      ASSERT_EQ(found, expected);
      for (const Offset size : sizes) ASSERT_GE(size, least);
      EXPECT_EQ(list.classes.empty(), least == 1 << 30);
    }
  });
}

/// Each slab's rows once, every target's together and in the order of the list.
TYPED_TEST(Gemm, SumsOfASlabAreItsPairs) {
  this->for_all_lists([&] {
    const auto rows = to_host(this->s.lists.m2l);
    const auto list = split_list(this->space, this->s.memory.gemm.buckets,
                                 this->s.tree.octree.cells, this->s.lists.m2l, 5, 100000);
    const auto in_list = [&](CellIndex target, CellIndex source) {
      auto const& row = rows[target];
      return std::find(row.begin(), row.end(), source) - row.begin();
    };
    for (const auto& [first, most, slab] : {std::array<Offset, 3>{0, 1 << 30, 1000},
                                            {100, 3000, 1},
                                            {0, 3000, 3000},
                                            {7, 1, 5},
                                            {0, 2000, 1 << 29}}) {
      const Offset count = std::min(most, list.pairs - first);
      ASSERT_GT(count, 0);
      const auto bucketed =
          bucket_pairs(this->space, this->s.memory.gemm.buckets, list, first, count, slab);
      const auto pairs = to_host(bucketed.pairs);
      const auto addends = to_host(bucketed.sums.addends);
      const auto firsts = to_host(bucketed.sums.firsts);
      auto const& begins = bucketed.sums.begins;
      const Offset slabs = (count + slab - 1) / slab;
      ASSERT_EQ(Offset(begins.size()), slabs + 1);
      ASSERT_EQ(begins.front(), 0);
      ASSERT_EQ(firsts[begins.back()], count);
      for (Offset s = 0; s < slabs; ++s) {
        ASSERT_EQ(firsts[begins[s]], s * slab);
        std::set<std::int64_t> seen;
        std::set<CellIndex> targets;
        for (Offset t = begins[s]; t < begins[s + 1]; ++t) {
          const CellIndex target = addends[firsts[t]].target;
          ASSERT_TRUE(targets.insert(target).second);
          std::int64_t place_before = -1;
          for (Offset a = firsts[t]; a < firsts[t + 1]; ++a) {
            const CellPair pair = pairs[s * slab + addends[a].row()];
            ASSERT_EQ(addends[a].target, target);
            ASSERT_EQ(pair.target, target);
            ASSERT_EQ(pair.reflection, addends[a].reflection());
            ASSERT_TRUE(seen.insert(addends[a].row()).second);
            const std::int64_t place = in_list(target, pair.source);
            ASSERT_GT(place, place_before);
            place_before = place;
          }
        }
        ASSERT_EQ(Offset(seen.size()), std::min(slab, count - s * slab));
        ASSERT_EQ(*seen.rbegin() + 1, Offset(seen.size()));
      }
    }
  });
}

/// Kept from evaluation to evaluation, but not for another order's limits, another part or another list.
TYPED_TEST(Gemm, KeptBucketsAreThoseOfTheList) {
  using Pairs = std::vector<std::array<std::int64_t, 4>>;
  auto& kept = this->s.memory.gemm.kept;
  OffsetBucketBuffers<fmm::site_t<typename TypeParam::Space>> fresh_memory;
  const auto numbers = [](auto const& bucketed) {
    Pairs all;
    for (const CellPair& pair : to_host(bucketed.pairs))
      all.push_back({pair.target, pair.source, pair.reflection, pair.level});
    std::vector<std::array<std::int64_t, 3>> sums;
    for (const Addend& addend : to_host(bucketed.sums.addends))
      sums.push_back({addend.target, addend.row(), addend.reflection()});
    const auto begins = bucketed.sums.begins;
    auto firsts = to_host(bucketed.sums.firsts);
    firsts.resize(begins.back() + 1);
    return std::tuple(all, bucketed.begins, sums, firsts, begins);
  };
  const auto check = [&](Offset least, int most, Offset first, Offset count, Offset slab = 300) {
    auto const& s = this->s;
    auto const& list = kept.split(this->space, this->s.memory.gemm.buckets, s.tree.octree.cells,
                                  s.lists.m2l, least, most);
    const auto expected =
        split_list(this->space, fresh_memory, s.tree.octree.cells, s.lists.m2l, least, most);
    ASSERT_EQ(list.pairs, expected.pairs);
    ASSERT_EQ(list.classes, expected.classes);
    count = std::min(count, list.pairs - first);
    const auto bucketed = bucket_pairs(this->space, fresh_memory, expected, first, count, slab);
    ASSERT_EQ(numbers(kept.sorted(this->space, this->s.memory.gemm.buckets, first, count, slab)),
              numbers(bucketed));
  };
  this->for_all_lists([&] {
    for (int again = 0; again < 2; ++again) {
      check(50, 20, 0, 1 << 30);  // at first what the list before was asked last
      check(5, 100000, 0, 1000);
      check(5, 100000, 1000, 1000);
      check(5, 100000, 1000, 900);
      check(5, 100000, 1000, 900, 50);
      check(5, 20, 0, 900);
      check(50, 20, 0, 1 << 30);
      check(50, 20, 0, 1 << 30);
    }
  });
}

int bucket_kernels = 0;
void count_bucket_kernel(const char* name, std::uint32_t, std::uint64_t*) {
  bucket_kernels += std::string(name).starts_with("fmm::buckets");
}

/// Seen from Kokkos's tool callbacks.
TYPED_TEST(Gemm, ASecondEvaluationSortsNothing) {
  using Space = typename TypeParam::Space;
  using Real = typename TypeParam::Real;
  const Space space;
  const ViewIn<Real*, Space> potential("potential", this->bodies.size());
  fmm::Solver<Laplace, fmm::Fmm<4, FmmList, BatchedGemm>, Real, Space> solver({.leaf_capacity = 2});
  auto plan = solver.build(space, this->device.x);
  const auto evaluate = [&] {
    bucket_kernels = 0;
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(count_bucket_kernel);
    solver.evaluate(space, plan, this->device.q, potential, fmm::none);
    space.fence();
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
    return bucket_kernels;
  };
  EXPECT_GT(evaluate(), 0);
  EXPECT_EQ(evaluate(), 0);
}

template <int Order, class Fixture>
void check_locals(Fixture& f) {
  using Real = typename Fixture::Real;
  using Space = typename Fixture::Space;
  using Expansion = fmm::SphericalExpansion<Order, Real, Rotation>;
  constexpr int row = row_length(Expansion::size);
  Offset by_rotation = 0;
  f.for_all_lists([&] {
    auto& s = f.s;
    const std::size_t numbers = s.tree.octree.cells.extent(0) * row;
    const auto multipoles = s.memory.multipoles.resize(numbers),
               locals = s.memory.locals.resize(numbers);
    p2m<Expansion>(f.space, s.tree.octree.cells, s.tree.octree.leaves, charges_of(s.tree.bodies),
                   multipoles);
    for (int level = s.tree.octree.depth - 1; level >= 0; --level)
      m2m<Expansion>(f.space, s.tree.octree.cells, s.tree.octree.parents_of(level), multipoles);
    m2l<Expansion>(f.space, s.tree.octree.cells, s.lists.m2l, multipoles, locals);
    f.space.fence();
    const auto expected = to_host(locals);
    auto usual = fmm::Tuning<Space, Real>::gemm;
    usual.least_pairs = std::min<std::int64_t>(usual.least_pairs, 64);  // these lists are short
    for (auto const& shape : {usual, small_parts}) {
      Kokkos::deep_copy(locals.view(), Real(1e9));
      m2l_by_gemm<Order>(f.space, s.memory.gemm, s.tree.octree.cells, s.lists.m2l, multipoles,
                         locals, shape);
      f.space.fence();
      const auto all = Offset(s.lists.m2l.entries.extent(0));
      EXPECT_GT(s.memory.gemm.dense.pairs, all / 4);
      EXPECT_LE(s.memory.gemm.dense.pairs, all);
      by_rotation += all - s.memory.gemm.dense.pairs;
      const auto found = to_host(locals);
      for (std::size_t c = 0; c < s.tree.octree.cells.extent(0); ++c) {
        double largest = 0;
        for (int k = 0; k < Expansion::size; ++k)
          largest = std::max(largest, std::fabs(double(expected[c * row + k])));
        for (int k = 0; k < Expansion::size; ++k)
          ASSERT_NEAR(found[c * row + k], expected[c * row + k], 20 * f.rounding * largest)
              << Order << " " << c << " " << k;
      }
    }
  });
  EXPECT_GT(by_rotation, 0);  // both ways were gone
}

TYPED_TEST(Gemm, LocalsAreThoseOfRotation) {
  for_orders<4, 0, 2, 5, 8>([&]<int Order> { check_locals<Order>(*this); });
}

/// A plan serves solvers of several orders; matrices are made anew for each.
TYPED_TEST(Gemm, SolversAgreeWithRotation) {
  using Space = typename TypeParam::Space;
  using Real = typename TypeParam::Real;
  const Space space;
  const auto n = this->bodies.size();
  ViewIn<double*, Space> potential("potential", n);
  ViewIn<double* [3], Space> field("field", n);
  const auto check = [&](auto traversal, fmm::Options const& options) {
    using Traversal = decltype(traversal);
    constexpr int low = quick ? 4 : 3, high = quick ? 8 : 6;
    fmm::Solver<SoftenedGravity, fmm::Fmm<low, Traversal, BatchedGemm>, Real, Space> third(options);
    fmm::Solver<SoftenedGravity, fmm::Fmm<high, Traversal, BatchedGemm>, Real, Space> sixth(
        options);
    fmm::Solver<SoftenedGravity, fmm::Fmm<low, Traversal>, Real, Space> third_reference(options);
    fmm::Solver<SoftenedGravity, fmm::Fmm<high, Traversal>, Real, Space> sixth_reference(options);
    const Bodies masses = make_bodies(Model::plummer, n);
    const DeviceBodies<Space> on_device(masses);
    auto plan = third.build(space, on_device.x);
    const auto compare = [&](auto& solver, auto& reference) {
      fmm::Report report;
      solver.evaluate(space, plan, on_device.q, potential, field, &report);
      const Results found = to_host(potential, field), expected = run(reference, masses);
      EXPECT_LE(relative_l2(found.potential, expected.potential), 10 * this->rounding);
      EXPECT_LE(relative_l2(found.field, expected.field), 50 * this->rounding);
      EXPECT_EQ(report.m2l, plan.m2l_entries());
      EXPECT_EQ(report.count("m2l"), plan.m2l_entries());
      return report.memory_bytes;
    };
    compare(third, third_reference);
    compare(sixth, sixth_reference);
    const auto bytes = compare(third, third_reference);
    EXPECT_EQ(compare(third, third_reference), bytes);
  };
  check(FmmList(), {.leaf_capacity = 10});
  check(DualTree<>(), {.leaf_capacity = 10});
}

TYPED_TEST(Gemm, NothingToTranslateIsRight) {
  using Space = typename TypeParam::Space;
  using Real = typename TypeParam::Real;
  for (const int n : {0, 1, 2, 30}) {
    const Bodies few = make_bodies(Model::cube, n);
    const Results expected = direct_reference(few, false);
    fmm::Solver<Laplace, fmm::Fmm<8, DualTree<>, BatchedGemm>, Real, Space> solver(
        {.theta = 0.3, .leaf_capacity = 1});
    const Results found = run(solver, few);
    EXPECT_LE(relative_l2(found.potential, expected.potential), 1e-5) << n;
    EXPECT_LE(relative_l2(found.field, expected.field), 1e-5) << n;
  }
}

/// Targets that are chosen among the bodies have the bits that all bodies' results have.
TYPED_TEST(Gemm, ChosenTargetsHaveTheSameBits) {
  using Space = typename TypeParam::Space;
  using Real = typename TypeParam::Real;
  const Space space;
  const Bodies bodies = make_bodies(Model::cube, 3000);
  const DeviceBodies<Space> on_device(bodies);
  fmm::Solver<Laplace, fmm::Fmm<4, FmmList, BatchedGemm>, Real, Space> solver(
      {.leaf_capacity = 16});
  auto plan = solver.build(space, on_device.x);
  const auto evaluated = [&] {
    const ViewIn<double*, Space> potential("potential", std::size_t(plan.targets()));
    solver.evaluate(space, plan, on_device.q, potential, fmm::none);
    space.fence();
    return to_host(potential);
  };
  const auto all = evaluated();
  const std::vector<int> chosen{2999, 5, 17, 5};
  solver.retarget(space, plan, column_in<Space>(chosen));
  const auto some = evaluated();
  for (std::size_t m = 0; m < chosen.size(); ++m) EXPECT_EQ(some[m], all[std::size_t(chosen[m])]);
}

/// Twice; and, with Kokkos Kernels' own product, OpenMP with as many threads as the test was started with
/// (ctest: 1, 2, 3) and Serial.
TEST(GemmDeterminism, TheSameBits) {
  const Bodies bodies = make_bodies(Model::plummer, 5000, true);
  const auto check = [&]<class Traversal, class Real>(Traversal, Real) {
    const fmm::Options options{.leaf_capacity = 20};
    using Default = Kokkos::DefaultExecutionSpace;
    fmm::Solver<Laplace, fmm::Fmm<4, Traversal, BatchedGemm>, Real, Default> solver(options);
    const Results first = run(solver, bodies), second = run(solver, bodies);
    EXPECT_EQ(first.potential, second.potential);
    EXPECT_EQ(first.field, second.field);
#if defined(KOKKOS_ENABLE_OPENMP) && !defined(KOKKOSKERNELS_ENABLE_TPL_BLAS)
    fmm::Solver<Laplace, fmm::Fmm<4, Traversal, BatchedGemm>, Real, Kokkos::OpenMP> threads(
        options);
    fmm::Solver<Laplace, fmm::Fmm<4, Traversal, BatchedGemm>, Real, Kokkos::Serial> serial(options);
    const Results a = run(threads, bodies), b = run(serial, bodies);
    EXPECT_EQ(a.potential, b.potential);
    EXPECT_EQ(a.field, b.field);
#endif
  };
  check(FmmList(), double());
  unless_quick([&](auto) { check(DualTree<>(), float()); });
}

}  // namespace
}  // namespace fmm_test
