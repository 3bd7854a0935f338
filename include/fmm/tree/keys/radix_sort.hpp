// SPDX-License-Identifier: BSD-3-Clause
// Stable radix sort of keys and their indices on a CPU. Where an index has room in its key, all threads share out the
// keys by their highest digit, and again those of a bucket that is large, and then each bucket is sorted in the cache
// of a thread; else all threads sort by one digit after the other, from the lowest on.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "../../detail/noinline.hpp"
#include "../../detail/scan.hpp"
#include "unsorted_keys.hpp"

namespace fmm::tree {

/// Keys that have all digits from bit `shift` on in common.
struct KeyBucket {
  Offset begin, count;
  int shift;
  bool out;  ///< they are in keys_out
};

/// Some keys of a bucket, for one thread: those of a digit are counted in counts(first + blocks * digit), where
/// `blocks` is how many its bucket has, and go `to` places behind what all counts before that one add up to.
struct KeyBlock {
  Offset begin, end, first, blocks, to;
};

/// Blocks of buckets that are sorted by a digit each, enough to share the work and so few that their counts stay in
/// cache.
struct KeyBlocks {
  std::vector<KeyBlock> blocks;
  std::vector<Offset> firsts;  ///< of each bucket the first of its counts; and one more
};

template <int radix>
FMM_NOINLINE KeyBlocks cut_into_blocks(std::vector<KeyBucket> const& buckets,
                                       std::int64_t threads) {
  KeyBlocks all;
  Offset keys = 0, before = 0;
  for (KeyBucket const& bucket : buckets) keys += bucket.count;
  const Offset size = std::max<Offset>(4096, (keys + 4 * threads - 1) / (4 * threads));
  for (KeyBucket const& bucket : buckets) {
    const Offset first = Offset(all.blocks.size()) * radix,
                 count = (bucket.count + size - 1) / size;
    all.firsts.push_back(first);
    for (Offset i = 0; i < count; ++i)
      all.blocks.push_back({bucket.begin + i * size,
                            bucket.begin + std::min((i + 1) * size, bucket.count), first + i, count,
                            bucket.begin - before});
    before += bucket.count;
  }
  all.firsts.push_back(Offset(all.blocks.size()) * radix);
  return all;
}

/// Counts of each digit in each block of keys.
template <class Space>
struct CountDigits {
  static constexpr int radix = 1 << radix_bits_v<Space>;

  std::vector<KeyBlock> const& blocks;
  Array<std::uint64_t, Space> keys;
  Array<Offset, Space> counts;
  int shift;

  void operator()(std::int64_t i) const {
    const KeyBlock block = blocks[i];
    Offset count[radix] = {};
    for (Offset k = block.begin; k < block.end; ++k) ++count[keys(k) >> shift & (radix - 1)];
    for (int digit = 0; digit < radix; ++digit)
      counts(block.first + digit * block.blocks) = count[digit];
  }
};

/// Indices that move with their keys: beside them, or in them.
template <class Space>
struct IndicesBeside {
  Array<BodyIndex, Space> permutation, permutation_out;
  void move(Offset from, Offset to) const { permutation_out(to) = permutation(from); }
};
struct IndicesInKeys {
  static void move(Offset, Offset) {}
};

/// Moves each block's keys to where its digits begin.
template <class Space, class Indices>
struct ScatterDigits {
  static constexpr int radix = 1 << radix_bits_v<Space>;

  std::vector<KeyBlock> const& blocks;
  Array<std::uint64_t, Space> keys, keys_out;
  Indices indices;
  Array<Offset, Space> offsets;
  int shift;

  void operator()(std::int64_t i) const {
    const KeyBlock block = blocks[i];
    Offset next[radix];
    for (int digit = 0; digit < radix; ++digit)
      next[digit] = block.to + offsets(block.first + digit * block.blocks);
    for (Offset k = block.begin; k < block.end; ++k) {
      const std::uint64_t key = keys(k);
      const Offset place = next[key >> shift & (radix - 1)]++;
      keys_out(place) = key;
      indices.move(k, place);
    }
  }
};

/// Sorts buckets by their other digits, from first_bit on; the sorted keys are in keys_out. Indices are in the keys.
template <class Space>
struct SortBuckets {
  static constexpr int radix = 1 << radix_bits_v<Space>;

  std::vector<KeyBucket> const& buckets;
  Array<std::uint64_t, Space> keys, keys_out;
  Array<BodyIndex, Space> permutation;
  int first_bit;
  std::uint64_t index_bits;

  void operator()(std::int64_t i) const {
    constexpr Offset few = 128;
    const KeyBucket bucket = buckets[i];
    const Offset n = bucket.count;
    std::uint64_t *from = (bucket.out ? keys_out : keys).data() + bucket.begin,
                  *to = (bucket.out ? keys : keys_out).data() + bucket.begin;
    if (n <= few) {
      std::sort(from, from + n);
    } else {
      for (int shift = first_bit; shift < bucket.shift; shift += radix_bits_v<Space>) {
        sort_by_digit(shift, from, to, n);
        std::swap(from, to);
      }
    }
    to = keys_out.data() + bucket.begin;
    if (from != to) std::copy(from, from + n, to);
    for (Offset k = 0; k < n; ++k) permutation(bucket.begin + k) = BodyIndex(to[k] & index_bits);
  }

 private:
  static void sort_by_digit(int shift, std::uint64_t const* from, std::uint64_t* to, Offset n) {
    Offset next[radix] = {};
    for (Offset i = 0; i < n; ++i) ++next[from[i] >> shift & (radix - 1)];
    Offset sum = 0;
    for (Offset& count : next) sum += std::exchange(count, sum);
    for (Offset i = 0; i < n; ++i) to[next[from[i] >> shift & (radix - 1)]++] = from[i];
  }
};

/// Sorts buckets by one digit each, by all threads together. The counts of bucket i, digit by digit, begin in
/// buffers.offsets at the returned blocks' firsts[i].
template <class Space, class Indices>
KeyBlocks sort_by_digit(Space const& space, SortBuffers<Space>& buffers,
                        std::vector<KeyBucket> const& buckets, int shift,
                        Array<std::uint64_t, Space> keys, Array<std::uint64_t, Space> keys_out,
                        Indices const& indices) {
  KeyBlocks all = cut_into_blocks<CountDigits<Space>::radix>(buckets, space.concurrency());
  const auto counts = buffers.counts.resize(all.firsts.back());
  const auto offsets = buffers.offsets.resize(all.firsts.back() + 1);
  const std::int64_t blocks = all.blocks.size();
  for_range("fmm::sort::count", space, blocks, CountDigits<Space>{all.blocks, keys, counts, shift});
  exclusive_scan(space, counts, offsets);
  for_range("fmm::sort::scatter", space, blocks,
            ScatterDigits<Space, Indices>{all.blocks, keys, keys_out, indices, offsets, shift});
  return all;
}

/// Cuts `keys`, with indices in them, into buckets, each in its place, by as many of their first digits as that takes.
template <class Space>
std::vector<KeyBucket> cut_into_buckets(Space const& space, SortBuffers<Space>& buffers,
                                        Array<std::uint64_t, Space> keys,
                                        Array<std::uint64_t, Space> keys_out, int first_bit) {
  constexpr int bits = radix_bits_v<Space>;
  const std::int64_t n = keys.extent(0);
  // enough buckets to share the work, but none not worth it
  constexpr std::int64_t least = 1 << 14, parts_per_thread = 8;
  const std::int64_t most =
      std::max<std::int64_t>(n / (parts_per_thread * space.concurrency()), least);
  std::vector<KeyBucket> buckets, large{{0, n, key_bits, false}};
  for (int shift = key_bits; !large.empty();) {
    shift = std::max(shift - bits, first_bit);
    const auto blocks =
        sort_by_digit(space, buffers, large, shift, keys, keys_out, IndicesInKeys{});
    const auto offsets = buffers.offsets.view();
    std::vector<KeyBucket> larger;
    for (std::size_t i = 0; i < large.size(); ++i) {
      const Offset first = blocks.firsts[i], stride = (blocks.firsts[i + 1] - first) >> bits,
                   to = large[i].begin - offsets(first);
      for (std::int64_t digit = 0; digit < 1 << bits; ++digit) {
        const Offset begin = offsets(first + digit * stride),
                     end = offsets(first + (digit + 1) * stride);
        if (begin == end) continue;
        auto& list = end - begin > most && shift > first_bit ? larger : buckets;
        list.push_back({to + begin, end - begin, shift, !large[i].out});
      }
    }
    large.swap(larger);
    std::swap(keys, keys_out);
  }
  return buckets;
}

/// As sort_keys (sort.hpp). On return all is done.
template <class Space>
Sorted<Space> radix_sort(Space const& space, SortBuffers<Space>& buffers,
                         UnsortedKeys<Space> const& unsorted, Array<std::uint64_t, Space> keys_out,
                         int first_bit) {
  static_assert(is_host_space_v<Space>, "fmm: for devices other than CUDA's there is no sort yet");
  auto [keys, permutation, index_bits] = unsorted;
  const std::int64_t n = keys.extent(0);
  if (index_bits != 0) {
    const auto buckets = cut_into_buckets(space, buffers, keys, keys_out, first_bit);
    permutation = buffers.permutation.view(n);
    for_uneven("fmm::sort::buckets", space, buckets.size(), 1,
               SortBuckets<Space>{buckets, keys, keys_out, permutation, first_bit, index_bits});
    return {keys_out, permutation, {}};
  }
  auto permutation_out = permutation.data() == buffers.permutation.view(n).data()
                             ? buffers.permutation_out.view(n)
                             : buffers.permutation.view(n);
  for (int shift = first_bit; shift < key_bits; shift += radix_bits_v<Space>) {
    sort_by_digit(space, buffers, {{0, n, shift, false}}, shift, keys, keys_out,
                  IndicesBeside<Space>{permutation, permutation_out});
    std::swap(keys, keys_out);
    std::swap(permutation, permutation_out);
  }
  return {keys, permutation, permutation_out};
}

}  // namespace fmm::tree
