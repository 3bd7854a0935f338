// SPDX-License-Identifier: BSD-3-Clause
// Long rows of lists in parts: what the parts are, and that P2P and M2P by parts are those of whole rows.
#include <algorithm>

#include "support.hpp"

namespace fmm_test {
namespace {

using namespace fmm;
using namespace fmm::engine;

template <class Precision>
class TilePartsOf : public testing::Test {
 public:
  using Space = Kokkos::DefaultExecutionSpace;
  using Real = real_t<Precision>;
  using Sum = sum_t<Precision>;
  using Want = Wanted<true, true>;
  using Expansion = fmm::SphericalExpansion<5, Real, fmm::Rotation>;
  static constexpr int tile = fmm::Tuning<Space, Real>::tile;
  static constexpr double rounding = sizeof(Real) == 4 ? 1e-6 : 1e-14;

  Space space;
  DeviceBodies<Space> device{make_bodies(Model::disk, 4000, false)};
  PlanData<Space, Precision> s;
  TilePartBuffers<Space, Sum> memory;

  /// A tree with leaves of very different sizes, whose lists leave the far field to radii; charges and multipoles.
  TilePartsOf() {
    const auto options =
        fmm::Solver<fmm::Laplace, 5, fmm::Rotation, fmm::DualTree<>, Precision, Space>(
            {.theta = 0.5, .leaf_capacity = 60})
            .options();
    const Kokkos::View<double const* [3], Space> positions = device.x;
    const Kokkos::View<double const*, Space> charges = device.q;
    build_plan<fmm::DualTree<>>(space, s, positions, options, {2, 0, true}, nullptr);
    take_charges(space, inspect_charges(space, false, charges).unit, charges, s.tree.permutation,
                 s.tree.bodies, s.memory.sums.resize(s.tree.size));
    const auto multipoles =
        s.memory.multipoles.resize(s.tree.octree.cells.extent(0) * row_length(Expansion::size));
    p2m<Expansion>(space, s.tree.octree.cells, s.tree.octree.leaves, s.tree.bodies, multipoles);
    for (int level = s.tree.octree.depth - 1; level >= 0; --level)
      m2m<Expansion>(space, s.tree.octree.cells, s.tree.octree.parents_of(level), multipoles);
    space.fence();
  }

  TileParts<Space, Sum> parts_of(Csr<Space> const& list, Offset longest) {
    return cut_rows(space, s.tree.octree.tiles, list, longest, tile, memory);
  }

  /// The sums of an operator, which adds to them.
  template <class F>
  std::vector<double> sums_of(F const& add) {
    const auto sums = s.memory.sums.view(s.tree.size);
    Kokkos::deep_copy(space, sums, Sums<Sum>{});
    add(sums);
    space.fence();
    return numbers_of(sums);
  }
  std::vector<double> pairs(TileParts<Space, Sum> const& parts) {
    return sums_of([&](auto sums) {
      p2p<Want, Precision>(space, fmm::Laplace(), s.tree.octree.cells, s.tree.octree.tiles,
                           s.lists.p2p, s.tree.bodies, s.tree.low, sums, parts);
    });
  }
  /// Multipoles of M2L's list at the bodies: of the leaf's row, and of its own and its ancestors' once more.
  std::vector<double> multipoles(TileParts<Space, Sum> const& parts) {
    const auto staged =
        stage_multipoles<Expansion>(space, s.memory.multipoles.view(), s.memory.locals);
    return sums_of([&](auto sums) {
      m2p<Expansion, Want>(space, s.tree.octree.cells, s.tree.octree.tiles, s.lists.m2l,
                           s.lists.m2l, s.tree.bodies, staged, sums, parts);
    });
  }

  /// By parts of several lengths the same as by whole rows, and the same bits each time.
  template <class F>
  void expect_whole(Csr<Space> const& list, F const& sums) {
    const auto whole = sums(TileParts<Space, Sum>());
    for (const Offset longest : {1, 3, 16}) {
      const auto parts = parts_of(list, longest);
      ASSERT_GT(parts.count(), 0) << longest;
      const auto in_parts = sums(parts);
      EXPECT_LE(relative_l2(in_parts, whole), rounding) << longest;
      EXPECT_EQ(sums(parts_of(list, longest)), in_parts) << longest;
    }
  }
};
using Precisions = testing::Types<float, double, fmm::Mixed>;
TYPED_TEST_SUITE(TilePartsOf, Precisions);

TYPED_TEST(TilePartsOf, AreTheRows) {
  const auto list = this->s.lists.p2p;
  auto offsets = to_host(list.offsets);
  const auto tiles = to_host(this->s.tree.octree.tiles);
  const Offset longest = 7;
  const auto parts = this->parts_of(list, longest);
  const auto others = to_host(parts.others);
  EXPECT_EQ(parts.sums.extent(0), others.size() * parts.tile);
  using Host = Kokkos::DefaultHostExecutionSpace;
  const Csr<Host> rows{Array<Offset, Host>(offsets.data(), offsets.size()), {}};
  std::size_t other = 0;
  Offset longest_part = 0, longest_row = 0;
  for (std::size_t t = 0; t < tiles.size(); ++t) {
    const Offset begin = offsets[tiles[t].cell], end = offsets[tiles[t].cell + 1];
    const Offset expected = std::max<Offset>(end - begin + longest - 1, longest) / longest;
    Offset at = begin;
    for (Offset k = 0; k < expected; ++k) {
      const TilePart part = k == 0 ? part_of_row(tiles[t], rows, longest, 0) : others[other++];
      ASSERT_EQ(part.tile.first, tiles[t].first);
      ASSERT_EQ(part.tile.count, tiles[t].count);
      ASSERT_EQ(part.begin, at);
      ASSERT_EQ(part.others, k == 1 ? expected - 1 : 0);
      at = part.end;
      longest_part = std::max(longest_part, part.end - part.begin);
    }
    ASSERT_EQ(at, end);
    longest_row = std::max(longest_row, end - begin);
  }
  EXPECT_EQ(other, others.size());
  EXPECT_EQ(longest_part, longest);
  EXPECT_GT(this->parts_of(list, longest_row - 1).count(), 0);
  EXPECT_EQ(this->parts_of(list, longest_row).count(), 0);
  // a GPU's traversal finds the longest row on its way
  EXPECT_EQ(list.longest, is_host_space_v<typename TestFixture::Space> ? 0 : longest_row);
}

TYPED_TEST(TilePartsOf, HaveAllPairs) {
  this->expect_whole(this->s.lists.p2p, [&](auto const& parts) { return this->pairs(parts); });
}

TYPED_TEST(TilePartsOf, HaveAllMultipoles) {
  this->expect_whole(this->s.lists.m2l, [&](auto const& parts) { return this->multipoles(parts); });
}

}  // namespace
}  // namespace fmm_test
