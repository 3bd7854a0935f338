// SPDX-License-Identifier: BSD-3-Clause
// Long rows of lists in segments: what the segments are, and that P2P and M2P by segments are those of whole rows.
#include <algorithm>

#include "support.hpp"

namespace fmm_test {
namespace {

using namespace fmm;
using namespace fmm::engine;

template <class Precision>
class SplitRowsOf : public testing::Test {
 public:
  using KokkosSpace = Kokkos::DefaultExecutionSpace;
  using Space = fmm::site_t<KokkosSpace>;
  using Real = real_t<Precision>;
  using Sum = sum_t<Precision>;
  using Want = Outputs<true, true>;
  using Expansion = fmm::SphericalExpansion<5, Real, fmm::Rotation>;
  static constexpr int tile = fmm::Tuning<Space, Real>::tile;
  static constexpr double rounding = sizeof(Real) == 4 ? 1e-6 : 1e-14;

  Space space = site<KokkosSpace>();
  DeviceBodies<Space> device{make_bodies(Model::disk, 4000, false)};
  PlanData<Space, Precision> s;
  SplitRowBuffers<Space, Sum> memory;

  /// A tree with leaves of very different sizes, whose lists leave the far field to radii; charges and multipoles.
  SplitRowsOf() {
    const auto options = fmm::Solver<fmm::Laplace, fmm::Fmm<5>, Precision, KokkosSpace>(
                             {.theta = 0.5, .leaf_capacity = 60})
                             .options();
    const ViewIn<double const* [3], Space> positions = device.x;
    const ViewIn<double const*, Space> charges = device.q;
    build_plan<fmm::DualTree<>>(space, s, positions, options, {2, 0, true}, nullptr);
    take_charges(space, inspect_charges(space, false, charges).unit, charges, s.tree.permutation,
                 charges_of(s.tree.bodies), s.memory.sums.resize(s.tree.size));
    const auto multipoles =
        s.memory.multipoles.resize(s.tree.octree.cells.extent(0) * row_length(Expansion::size));
    p2m<Expansion>(space, s.tree.octree.cells, s.tree.octree.leaves, charges_of(s.tree.bodies),
                   multipoles);
    for (int level = s.tree.octree.depth - 1; level >= 0; --level)
      m2m<Expansion>(space, s.tree.octree.cells, s.tree.octree.parents_of(level), multipoles);
    space.fence();
  }

  SplitRows<Space, Sum> split(Csr<Space> const& list, Offset longest) {
    return split_rows(space, s.tree.octree.tiles, list, longest, tile, memory);
  }

  /// The sums of an operator, which adds to them.
  template <class F>
  std::vector<double> sums_of(F const& add) {
    const auto sums = s.memory.sums.view(s.tree.size);
    Kokkos::deep_copy(sums.view(), Sums<Sum>{});
    add(sums);
    space.fence();
    return numbers_of(sums);
  }
  std::vector<double> pairs(SplitRows<Space, Sum> const& rows) {
    return sums_of([&](auto sums) {
      p2p<Want, Precision>(space, fmm::Laplace(), s.tree.octree.cells, s.tree.octree.tiles,
                           s.lists.p2p, s.tree.bodies, s.tree.low, sums, rows);
    });
  }
  /// Multipoles of M2L's list at the bodies: of the leaf's row, and of its own and its ancestors' once more.
  std::vector<double> multipoles(SplitRows<Space, Sum> const& rows) {
    const auto prepared =
        prepare_multipoles<Expansion>(space, s.memory.multipoles.view(), s.memory.locals);
    return sums_of([&](auto sums) {
      m2p<Expansion, Want>(space, s.tree.octree.cells, s.tree.octree.tiles, s.lists.m2l,
                           s.lists.m2l, s.tree.bodies, prepared, sums, rows);
    });
  }

  /// By segments of several lengths the same as by whole rows, and the same bits each time.
  template <class F>
  void expect_whole(Csr<Space> const& list, F const& sums) {
    const auto whole = sums(SplitRows<Space, Sum>());
    for (const Offset longest : {1, 3, 16}) {
      const auto rows = split(list, longest);
      ASSERT_GT(rows.count(), 0) << longest;
      const auto in_segments = sums(rows);
      EXPECT_LE(relative_l2(in_segments, whole), rounding) << longest;
      EXPECT_EQ(sums(split(list, longest)), in_segments) << longest;
    }
  }
};
using Precisions =
    std::conditional_t<quick, testing::Types<double>, testing::Types<float, double, fmm::Mixed>>;
TYPED_TEST_SUITE(SplitRowsOf, Precisions);

TYPED_TEST(SplitRowsOf, AreTheRows) {
  const auto list = this->s.lists.p2p;
  auto offsets = to_host(list.offsets);
  const auto tiles = to_host(this->s.tree.octree.tiles);
  const Offset longest = 7;
  const auto split = this->split(list, longest);
  const auto further = to_host(split.further);
  EXPECT_EQ(split.sums.extent(0), further.size() * split.tile);
  using Host = Kokkos::DefaultHostExecutionSpace;
  const Csr<Host> rows{Array<Offset, Host>(offsets.data(), offsets.size()), {}};
  std::size_t next = 0;
  Offset longest_segment = 0, longest_row = 0;
  for (std::size_t t = 0; t < tiles.size(); ++t) {
    const Offset begin = offsets[tiles[t].cell], end = offsets[tiles[t].cell + 1];
    const Offset expected = std::max<Offset>(end - begin + longest - 1, longest) / longest;
    Offset at = begin;
    for (Offset k = 0; k < expected; ++k) {
      const RowSegment segment =
          k == 0 ? segment_of_row(tiles[t], rows, longest, 0) : further[next++];
      ASSERT_EQ(segment.tile.first, tiles[t].first);
      ASSERT_EQ(segment.tile.count, tiles[t].count);
      ASSERT_EQ(segment.begin, at);
      ASSERT_EQ(segment.further, k == 1 ? expected - 1 : 0);
      at = segment.end;
      longest_segment = std::max(longest_segment, segment.end - segment.begin);
    }
    ASSERT_EQ(at, end);
    longest_row = std::max(longest_row, end - begin);
  }
  EXPECT_EQ(next, further.size());
  EXPECT_EQ(longest_segment, longest);
  EXPECT_GT(this->split(list, longest_row - 1).count(), 0);
  EXPECT_EQ(this->split(list, longest_row).count(), 0);
  // a GPU's traversal finds the longest row on its way
  EXPECT_EQ(list.longest, is_host_space_v<typename TestFixture::Space> ? 0 : longest_row);
}

TYPED_TEST(SplitRowsOf, HaveAllPairs) {
  this->expect_whole(this->s.lists.p2p, [&](auto const& rows) { return this->pairs(rows); });
}

TYPED_TEST(SplitRowsOf, HaveAllMultipoles) {
  this->expect_whole(this->s.lists.m2l, [&](auto const& rows) { return this->multipoles(rows); });
}

}  // namespace
}  // namespace fmm_test
