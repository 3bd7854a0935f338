// SPDX-License-Identifier: BSD-3-Clause
// The memory of a plan's build and of its evaluations. It grows, and is used again by the next build.
//
// Three pieces of memory hold several arrays, one after the other:
//
//     stage                   bodies             sums                        locals
//     ----------------------  -----------------  --------------------------  -------------------------------
//     keys, sort              second indices,    keys, twice
//                             on a CPU
//     tree                    child ranges and   keys
//                             tiles unsorted,
//                             then the bodies
//     lists, before charges   bodies             small arrays of the walk, and the open sources of two
//                                                levels
//     charges                 bodies             sums, if they begin at zero
//     p2m, m2m                bodies             multipoles, or sums (1)
//     lists, by multipoles    bodies             multipoles, or early sums   early sums, if multipoles are in
//                                                                            the sums' place
//     calibration             bodies             fields of the sample        local expansions of trials, then
//                                                                            multipoles as M2P wants them
//     m2l, p2l, l2l           bodies             multipoles, or nothing      local expansions
//     l2p                     bodies             sums                        local expansions
//     m2p, p2p, results       bodies             sums                        multipoles as M2P wants them (2)
//
// (1) Multipoles lie in the place of the sums where these come after them, that is, where there are local
//     expansions, of one set of bodies and one density, and where lists have M2L alone, no M2P, or so few entries of
//     it that what it needs finds room (2); else in `multipoles`, a piece of their own.
// (2) Where multipoles lie in the place of the sums, those that M2P needs are kept in `multipoles` before
//     L2P sets the sums.
//
// Every other array has memory of its own for as long as the plan lives.
#pragma once

#include <algorithm>

#include "../cells/cell.hpp"
#include "../kernels/mapping/split_rows.hpp"
#include "../kernels/spherical/dense_m2l.hpp"
#include "../precision.hpp"
#include "../tree/keys/sort.hpp"
#include "../tree/lists/chosen_rows.hpp"
#include "../tree/lists/lists.hpp"
#include "../tree/lists/offset_buckets.hpp"
#include "../tree/octree.hpp"

namespace fmm::engine {

/// What BatchedGemm keeps.
template <class Space, class Real>
struct GemmMemory {
  OffsetBucketBuffers<Space> buckets;
  KeptBuckets<Space> kept;  ///< in that memory; not for another list
  DenseBuffers<Space, Real> dense;

  std::size_t bytes() const { return buckets.bytes() + dense.bytes(); }
};

/// What a body's sums are rounded by in its close pairs, in units of the cube.
struct RoundingOfBody {
  float field, potential;
};

/// Where each set of a batch begins, and its box.
template <class Space>
struct BatchMemory {
  Buffer<BodyIndex, Space> offsets{"offsets of sets"};
  Buffer<Box, Space> boxes{"boxes of sets"};
  Buffer<Offset, Space> blocks{"blocks of sets"};

  std::size_t bytes() const { return offsets.bytes() + boxes.bytes() + blocks.bytes(); }
};

/// Rows of excluded pairs, and sums without near fields.
template <class Space, class Sum>
struct ExclusionMemory {
  Buffer<BodyIndex, Space> offsets{"offsets of exclusions"};
  Buffer<Sum, Space> far_sums{"sums without near fields"};

  std::size_t bytes() const { return offsets.bytes() + far_sums.bytes(); }
};

/// Of targets that are chosen among the bodies.
template <class Space>
struct ChosenMemory {
  Buffer<BodyIndex, Space> places{"places of targets"}, bodies{"targets of cells"};
  Buffer<int, Space> marks{"marks of targets"};
  Buffer<Tile, Space> tiles{"tiles of targets"};
  Buffer<Offset, Space> count{"number of tiles"};
  ListBuffers<Space> m2l{"chosen m2l offsets", "chosen m2l list"},
      p2l{"chosen p2l offsets", "chosen p2l list"};

  std::size_t bytes() const {
    return places.bytes() + bodies.bytes() + marks.bytes() + tiles.bytes() + count.bytes() +
           m2l.bytes() + p2l.bytes();
  }
};

/// Of plans in a periodic cell.
template <class Space>
struct PeriodicMemory {
  Buffer<double, Space> positions{"wrapped positions"}, given{"given positions"},
      matrix{"images' matrix"}, norms{"images' norms"}, harmonics{"images' harmonics"},
      rests{"images' rests"}, harmonics_of_rests{"harmonics of rests"},
      inverse_norms{"inverse norms"}, sums{"sums of the background"}, numbers{"images' expansions"};
  Buffer<Tile, Space> tiles{"tiles of ancestors"};  ///< of a treecode

  std::size_t bytes() const {
    return positions.bytes() + given.bytes() + matrix.bytes() + norms.bytes() + harmonics.bytes() +
           rests.bytes() + harmonics_of_rests.bytes() + inverse_norms.bytes() + sums.bytes() +
           numbers.bytes() + tiles.bytes();
  }
};

template <class Space, class Precision>
struct Workspace {
  using Real = real_t<Precision>;
  using Sum = Sums<sum_t<Precision>>;

  // of several arrays, as above
  Buffer<Body<Real>, Space> bodies{"bodies"};
  Buffer<Sum, Space> sums{"sums"};
  Buffer<Real, Space> locals{"locals"};
  Buffer<Real, Space> multipoles{"multipoles"};  ///< of its own, or lent by the sums

  // of one
  SortBuffers<Space> sort;
  int sort_try = 0;  ///< which number of levels the last tree's keys were sorted by
  OctreeBuffers<Space> octree;
  int parts = two_part_v<Precision> ? 2 : 1;         ///< of bodies' coordinates in a build: 1 to 3
  Buffer<Body<Real>, Space> low{"low parts"};        ///< the second, if there are two
  Buffer<Body<Real>, Space> lowest{"lowest parts"};  ///< the third, if there are three
  Buffer<Body<double>, Space> positions{"positions"};  ///< DirectSum only
  Buffer<Real, Space> others{"other strengths"};       ///< SourceStrengths::others
  Buffer<double, Space> others_in_double{"other strengths, in double"};  ///< DirectSum only
  TraversalBuffers<Space> traversal;
  /// The smallest last field of each cell, in edges of the cube but the caller's unit of charge; of
  /// criteria that use it only.
  Buffer<double, Space> last_fields{"last fields"};
  SplitRowBuffers<Space, sum_t<Precision>> split_rows;  ///< of P2P or M2P
  Buffer<int, Space> left_tiles{"tiles with close sources"};
  Array<int, Space> left = {};  ///< there: kernels::ListedSources::left of the last near field
  Buffer<RoundingOfBody, Space> rounding{"rounding of bodies"};  ///< of a tolerance's glance
  GemmMemory<Space, Real> gemm;
  BatchMemory<Space> batch;
  ExclusionMemory<Space, Sum> exclusions;
  ChosenMemory<Space> chosen;
  Buffer<BodyIndex, Space> place{"places of bodies"};  ///< on a host, where these are asked for
  PeriodicMemory<Space> periodic;
  Buffer<Real, Space> periodic_others{"other strengths, with images"};
  Buffer<Body<Real>, Space> in_ancestor{
      "bodies in ancestors"};  ///< of a treecode in a periodic cell

  // ---- keys, sort, tree

  /// Room for the keys of n bodies: of two such arrays, number `which`.
  Array<std::uint64_t, Space> keys(int which, std::int64_t n) {
    static_assert(sizeof(Sum) >= 2 * sizeof(std::uint64_t));
    auto* const memory = reinterpret_cast<std::uint64_t*>(sums.resize(n).data());
    return Array<std::uint64_t, Space>(memory + which * n, std::size_t(n));
  }

  /// Has what the sort and the octree need for a while lie where n bodies will be. A GPU keeps the sort's second
  /// indices as BodyTree::place.
  void lend_place_of_bodies(std::int64_t n) {
    bodies.resize(n);
    Lender<Space> lender(bodies.view());
    if constexpr (is_host_space_v<Space>) lender.lend(sort.permutation_out, n);
    lender.lend(octree.ranges, lender.share(1) / sizeof(ChildRange));
  }

  // ---- an evaluation; n bodies

  /// Numbers that find room in the place of the sums.
  static std::size_t numbers_in_sums(std::int64_t n) {
    return std::size_t(n) * (sizeof(Sum) / sizeof(Real));
  }

  /// Room for multipoles of so many numbers, in the place of the sums if these come later.
  Array<Real, Space> place_multipoles(std::size_t numbers, std::int64_t n, bool sums_come_later) {
    constexpr std::size_t per_body = sizeof(Sum) / sizeof(Real);
    multipoles.lend({});
    if (sums_come_later) {
      const auto memory =
          sums.resize(std::max(std::size_t(n), (numbers + per_body - 1) / per_body));
      Lender<Space>(memory).lend(multipoles, numbers);
    }
    return multipoles.resize(numbers);
  }
  /// Whether they lie there.
  bool are_in_sums() const {
    return static_cast<void*>(multipoles.view().data()) == static_cast<void*>(sums.view().data());
  }

  /// Room for sums of the bodies while lists are made that wait for multipoles. Contents are lost.
  Array<Sum, Space> early_sums(std::int64_t n) {
    if (!are_in_sums()) return sums.view(n);
    auto* const memory = reinterpret_cast<Sum*>(locals.resize(numbers_in_sums(n)).data());
    return Array<Sum, Space>(memory, std::size_t(n));
  }

  std::size_t bytes() const {
    return sort.bytes() + octree.bytes() + traversal.bytes() + last_fields.bytes() +
           bodies.bytes() + low.bytes() + lowest.bytes() + positions.bytes() + multipoles.bytes() +
           locals.bytes() + gemm.bytes() + split_rows.bytes() + left_tiles.bytes() +
           rounding.bytes() + sums.bytes() + others.bytes() + others_in_double.bytes() +
           batch.bytes() + exclusions.bytes() + chosen.bytes() + place.bytes() + periodic.bytes() +
           in_ancestor.bytes() + periodic_others.bytes();
  }
};

}  // namespace fmm::engine
