// SPDX-License-Identifier: BSD-3-Clause
// Pairs of a list in buckets, one for each way that two cells can lie to each other
// (cells/offset_class.hpp): what one matrix translates.
//
// Classes with too few pairs to be worth a matrix, and pairs that are too far apart for a class, are left
// to another scheme: `ListSplit::rest`, a list of its own. Every entry of the list is in exactly one of the
// two. Inside a bucket pairs are in the order of the list, so that those of one target are neighbours.
// Nothing here depends on charges or on the number of threads.
#pragma once

#include <vector>

#include "../../cells/offset_class.hpp"
#include "../../detail/search.hpp"
#include "slab_sums.hpp"

namespace fmm::tree {

/// Memory of what follows, kept from evaluation to evaluation.
template <class Space>
struct OffsetBucketBuffers {
  Buffer<Offset, Space> counts{"pairs of each class"};
  Buffer<int, Space> buckets{"bucket of each class"}, classes{"class of each bucket"};
  Buffer<int, Space> rest_counts{"rest counts"};
  Buffer<Offset, Space> rest_offsets{"rest offsets"}, begins{"bucket begins"};
  Buffer<CellIndex, Space> rest_entries{"rest list"};
  Buffer<std::uint64_t, Space> keys{"bucket keys"}, sorted_keys{"sorted bucket keys"};
  Buffer<CellPair, Space> pairs{"pairs"}, sorted_pairs{"sorted pairs"};
  SortBuffers<Space> sort;
  SlabSumBuffers<Space> sums;

  std::size_t bytes() const {
    return counts.bytes() + buckets.bytes() + classes.bytes() + rest_counts.bytes() +
           rest_offsets.bytes() + begins.bytes() + rest_entries.bytes() + keys.bytes() +
           sorted_keys.bytes() + pairs.bytes() + sorted_pairs.bytes() + sort.bytes() + sums.bytes();
  }
};

/// A list whose pairs have a bucket, or are in the list `rest`.
template <class Space>
struct ListSplit {
  Array<Cell, Space> cells;
  Csr<Space> list;
  Array<int, Space> bucket_of;  ///< by class; -1 for none
  Csr<Space> rest;

  KOKKOS_FUNCTION int bucket(Cell const& target, Cell const& source) const {
    const int number = OffsetClass::of(target, source).number;
    return number < 0 ? -1 : bucket_of(number);
  }
};

template <class Space>
struct CountClasses {
  Array<Cell, Space> cells;
  Csr<Space> list;
  Array<Offset, Space> counts;  ///< by class

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    const Cell target = cells(row);
    for (Offset e = list.offsets(row); e < list.offsets(row + 1); ++e) {
      const int number = OffsetClass::of(target, cells(list.entries(e))).number;
      if (number >= 0)
        Kokkos::atomic_add(&counts(number), Offset(1));  // whole numbers: in any order
    }
  }
};

/// Numbers the classes with at least `least` pairs.
template <class Space>
struct ChooseClasses {
  Array<Offset, Space> counts;
  Array<int, Space> bucket_of, classes;
  Offset least;

  KOKKOS_FUNCTION void operator()(std::int64_t number, int& buckets, bool final) const {
    const bool chosen = counts(number) >= least;
    if (final) {
      bucket_of(number) = chosen ? buckets : -1;
      if (chosen) classes(buckets) = int(number);
    }
    buckets += chosen;
  }
};

/// Counts each row's pairs without a bucket or, once they have room, writes their sources.
template <class Space, bool Write>
struct RestRows {
  ListSplit<Space> split;
  Array<int, Space> counts;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    const Cell target = split.cells(row);
    int count = 0;
    for (Offset e = split.list.offsets(row); e < split.list.offsets(row + 1); ++e) {
      const CellIndex source = split.list.entries(e);
      if (split.bucket(target, split.cells(source)) >= 0) continue;
      if constexpr (Write) split.rest.entries(split.rest.offsets(row) + count) = source;
      ++count;
    }
    if constexpr (!Write) counts(row) = count;
  }
};

/// A list after the choice of its buckets.
template <class Space>
struct SplitList {
  ListSplit<Space> split;
  std::vector<int> classes;  ///< numbers of the buckets' classes, ascending
  Offset pairs;              ///< that have a bucket
};

/// Chooses the buckets: classes of `least` pairs and more, the largest `most` or fewer of them. Waits for
/// the space three times or more. Cost: three passes over the list.
template <class Space>
SplitList<Space> split_list(Space const& space, OffsetBucketBuffers<Space>& buffers,
                            Array<Cell, Space> cells, Csr<Space> list, Offset least, int most) {
  const std::int64_t rows = cells.extent(0);
  auto counts = buffers.counts.resize(OffsetClass::count);
  ListSplit<Space> split{cells, list, buffers.buckets.resize(OffsetClass::count), {}};
  const auto classes = buffers.classes.resize(OffsetClass::count);
  fill<Offset>(space, counts, 0);
  for_uneven("fmm::buckets::count", space, rows, 64, CountClasses<Space>{cells, list, counts});
  int buckets = 0;
  do {
    scan<int>("fmm::buckets::choose", space, OffsetClass::count,
              ChooseClasses<Space>{counts, split.bucket_of, classes, least}, &buckets);
    least *= 2;
  } while (buckets > most);
  std::vector<int> chosen(buckets);
  if (buckets > 0) read_back(space, classes.data(), chosen.data(), chosen.size());

  const auto rest_counts = buffers.rest_counts.resize(rows);
  split.rest.offsets = buffers.rest_offsets.resize(rows + 1);
  for_uneven("fmm::buckets::rest_count", space, rows, 64,
             RestRows<Space, false>{split, rest_counts});
  exclusive_scan(space, rest_counts, split.rest.offsets);
  const Offset rest = read_back(space, split.rest.offsets.data() + rows);
  split.rest.entries = buffers.rest_entries.resize(rest);
  if (rest > 0)
    for_uneven("fmm::buckets::rest", space, rows, 64, RestRows<Space, true>{split, rest_counts});
  return {split, std::move(chosen), Offset(list.entries.extent(0)) - rest};
}

/// Pairs first .. first + count - 1 of those with a bucket, in the order of the list, and their keys.
template <class Space>
struct WritePairs {
  ListSplit<Space> split;
  Offset first, count;
  int first_bit;
  Array<CellPair, Space> pairs;
  UnsortedKeys<Space> keys;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    Offset at = split.list.offsets(row) - split.rest.offsets(row) - first;
    const Offset end = split.list.offsets(row + 1) - split.rest.offsets(row + 1) - first;
    if (end <= 0 || at >= count) return;
    const Cell target = split.cells(row);
    for (Offset e = split.list.offsets(row); e < split.list.offsets(row + 1); ++e) {
      const CellIndex source = split.list.entries(e);
      const int bucket = split.bucket(target, split.cells(source));
      if (bucket < 0) continue;
      if (at >= 0 && at < count) {
        pairs(at) = CellPair(CellIndex(row), target, source, split.cells(source));
        keys.set(at, std::uint64_t(bucket) << first_bit);
      }
      ++at;
    }
  }
};

template <class Space>
struct PermutePairs {
  Array<CellPair, Space> pairs, sorted;
  Array<BodyIndex, Space> permutation;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { sorted(i) = pairs(permutation(i)); }
};

/// begins(b): the first of the sorted keys that is of bucket b or a later one.
template <class Space>
struct FindBegins {
  Array<std::uint64_t, Space> keys;
  int first_bit;
  Array<Offset, Space> begins;

  KOKKOS_FUNCTION void operator()(std::int64_t bucket) const {
    begins(bucket) = first_not(Offset(0), Offset(keys.extent(0)), [&](Offset pair) {
      return keys(pair) >> first_bit < std::uint64_t(bucket);
    });
  }
};

/// Some of the pairs that have a bucket, by bucket.
template <class Space>
struct BucketedPairs {
  Array<CellPair, Space> pairs;
  std::vector<Offset> begins;  ///< where each bucket begins, and the end of the last
  SlabSums<Space> sums;        ///< of slabs of the pairs
};

/// Pairs first .. first + count - 1 (less than 2^31) of those with a bucket, sorted by bucket, stably, and who they
/// are added to in slabs of so many. Waits for the space once. Cost: a pass over the list and two sorts of one digit
/// or two.
template <class Space>
BucketedPairs<Space> bucket_pairs(Space const& space, OffsetBucketBuffers<Space>& buffers,
                                  SplitList<Space> const& list, Offset first, Offset count,
                                  std::int64_t slab) {
  const std::int64_t rows = list.split.cells.extent(0), buckets = std::int64_t(list.classes.size()),
                     slabs = (count + slab - 1) / slab;
  const int first_bit = first_bit_of<Space>(buckets);
  const auto keys = unsorted_keys(buffers.sort, buffers.keys.resize(count), first_bit);
  const auto pairs = buffers.pairs.resize(count);
  for_uneven("fmm::buckets::pairs", space, rows, 64,
             WritePairs<Space>{list.split, first, count, first_bit, pairs, keys});
  const auto sorted =
      sort_keys(space, buffers.sort, keys, buffers.sorted_keys.resize(count), first_bit);
  BucketedPairs<Space> result{buffers.sorted_pairs.resize(count), {}, {}};
  for_range("fmm::buckets::order", space, count,
            PermutePairs<Space>{pairs, result.pairs, sorted.permutation});
  // where buckets begin, and behind it where the sums of slabs do
  const auto begins = buffers.begins.resize(buckets + 1 + slabs + 1);
  for_range("fmm::buckets::begins", space, buckets + 1,
            FindBegins<Space>{sorted.keys, first_bit, begins});
  result.sums = sum_by_target(space, buffers.sums, buffers.sort, pairs, sorted.permutation, slab,
                              buffers.keys.view(count), buffers.sorted_keys.view(count),
                              subarray<Offset, Space>(begins, buckets + 1, slabs + 1));
  std::vector<Offset> read(begins.extent(0));
  read_back(space, begins.data(), read.data(), read.size());
  result.begins.assign(read.begin(), read.begin() + buckets + 1);
  result.sums.begins.assign(read.begin() + buckets + 1, read.end());
  return result;
}

/// The buckets of a plan's list, kept from evaluation to evaluation.
template <class Space>
struct KeptBuckets {
  Offset least = 0;  ///< as asked for; 0 before the first evaluation
  int most = 0;
  SplitList<Space> list;
  Offset first = 0, count = 0;    ///< of the pairs that were sorted last
  std::int64_t slab = 0;          ///< of these
  BucketedPairs<Space> bucketed;  ///< these

  /// Of another list.
  void forget() { least = 0; }

  /// split_list(), unless it was asked the same last time.
  SplitList<Space> const& split(Space const& space, OffsetBucketBuffers<Space>& buffers,
                                Array<Cell, Space> cells, Csr<Space> entries, Offset asked_least,
                                int asked_most) {
    if (least != asked_least || most != asked_most) {
      forget();
      list = split_list(space, buffers, cells, entries, asked_least, asked_most);
      least = asked_least;
      most = asked_most;
      count = 0;
    }
    return list;
  }

  /// bucket_pairs() of that list, unless they are the last ones.
  BucketedPairs<Space> const& sorted(Space const& space, OffsetBucketBuffers<Space>& buffers,
                                     Offset asked_first, Offset asked_count,
                                     std::int64_t asked_slab) {
    if (first != asked_first || count != asked_count || slab != asked_slab) {
      count = 0;
      bucketed = bucket_pairs(space, buffers, list, asked_first, asked_count, asked_slab);
      first = asked_first;
      count = asked_count;
      slab = asked_slab;
    }
    return bucketed;
  }
};

}  // namespace fmm::tree
