// SPDX-License-Identifier: BSD-3-Clause
// The rows of a slab in the order of their targets. Pairs are sorted by bucket (offset_buckets.hpp) and translated a
// slab at a time, so many after each other; here each slab's pairs are put back in the order of the list, where those
// of one target are neighbours, so that one kernel a slab adds all of a target's rows to its local expansion.
#pragma once

#include <vector>

#include "../../cells/offset_class.hpp"
#include "../../detail/launch.hpp"
#include "../keys/sort.hpp"

namespace fmm::tree {

/// Memory of what follows, kept from evaluation to evaluation.
template <class Space>
struct SlabSumBuffers {
  Buffer<BodyIndex, Space> places{"places of pairs"}, firsts{"first rows of targets"};
  Buffer<Addend, Space> addends{"rows by target"};

  std::size_t bytes() const { return places.bytes() + firsts.bytes() + addends.bytes(); }
};

/// What is added of each slab: its rows by target, and where in `addends` those of a target begin.
template <class Space>
struct SlabSums {
  Array<Addend, Space> addends;
  Array<BodyIndex, Space> firsts;  ///< and the end of the last target's
  std::vector<Offset> begins;      ///< of each slab's targets in `firsts`, and the end of the last
};

template <class Space>
struct SlabKeys {
  Array<BodyIndex, Space> places;
  std::int64_t slab;
  int first_bit;
  UnsortedKeys<Space> keys;

  KOKKOS_FUNCTION void operator()(std::int64_t pair) const {
    keys.set(pair, std::uint64_t(places(pair) / slab) << first_bit);
  }
};

template <class Space>
struct PermuteAddends {
  Array<CellPair, Space> pairs;
  Array<BodyIndex, Space> permutation, places;
  std::int64_t slab;
  Array<Addend, Space> addends;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const BodyIndex pair = permutation(i);
    addends(i) = Addend(pairs(pair), std::uint32_t(places(pair) % slab));
  }
};

/// The first addend of each target in each slab, and how many of these come before each slab and in all.
template <class Space>
struct FindFirsts {
  Array<Addend, Space> addends;
  std::int64_t slab;
  Array<BodyIndex, Space> firsts;
  Array<Offset, Space> begins;

  KOKKOS_FUNCTION void operator()(std::int64_t i, int& count, bool final) const {
    const bool opens_slab = i % slab == 0;
    const bool first = opens_slab || addends(i - 1).target != addends(i).target;
    if (final) {
      if (opens_slab) begins(i / slab) = count;
      if (first) firsts(count) = BodyIndex(i);
    }
    count += first;
    if (final && i + 1 == std::int64_t(addends.extent(0))) {
      begins(i / slab + 1) = count;
      firsts(count) = BodyIndex(i + 1);
    }
  }
};

/// Puts `pairs`, in the order of the list, whose `permutation` sorts them by bucket, in slabs of so many and those
/// by target. `begins` gets room for SlabSums::begins, which is to be read back. Cost: a sort of a digit or
/// two and three passes over the pairs. Asynchronous.
template <class Space>
SlabSums<Space> sum_by_target(Space const& space, SlabSumBuffers<Space>& buffers,
                              SortBuffers<Space>& sort, Array<CellPair, Space> pairs,
                              Array<BodyIndex, Space> permutation, std::int64_t slab,
                              Array<std::uint64_t, Space> keys,
                              Array<std::uint64_t, Space> sorted_keys,
                              Array<Offset, Space> begins) {
  const std::int64_t count = pairs.extent(0);
  const auto places = buffers.places.resize(count);
  for_range("fmm::buckets::places", space, count, InvertPermutation<Space>{permutation, places});
  const int first_bit = first_bit_of<Space>((count + slab - 1) / slab);
  const auto unsorted = unsorted_keys(sort, keys, first_bit);
  for_range("fmm::buckets::slabs", space, count,
            SlabKeys<Space>{places, slab, first_bit, unsorted});
  const auto sorted = sort_keys(space, sort, unsorted, sorted_keys, first_bit);
  const SlabSums<Space> sums{buffers.addends.resize(count), buffers.firsts.resize(count + 1), {}};
  for_range("fmm::buckets::addends", space, count,
            PermuteAddends<Space>{pairs, sorted.permutation, places, slab, sums.addends});
  scan<int>("fmm::buckets::firsts", space, count,
            FindFirsts<Space>{sums.addends, slab, sums.firsts, begins});
  return sums;
}

}  // namespace fmm::tree
