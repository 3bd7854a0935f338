// SPDX-License-Identifier: BSD-3-Clause
// Stable radix sort of keys and their indices on a CPU. Where an index has room in its key, all threads share out the
// keys by their highest digit, and again those of a part that is large, and then each part is sorted in the cache of a
// thread; else all threads sort by one digit after the other, from the lowest on.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "../detail/scan.hpp"
#include "unsorted_keys.hpp"

namespace fmm::detail {

/// Keys in blocks, enough to share the work and so few that their counts stay in cache.
struct KeyBlocks {
  std::int64_t size, count;

  template <class Space>
  KeyBlocks(Space const& space, std::int64_t n) {
    const std::int64_t most = 4 * std::int64_t(space.concurrency());
    size = std::max<std::int64_t>(4096, (n + most - 1) / most);
    count = (n + size - 1) / size;
  }
};

/// Counts of each digit in each block of keys, stored digit by digit.
template <class Space>
struct CountDigits {
  static constexpr int radix = 1 << radix_bits_v<Space>;

  Array<std::uint64_t, Space> keys;
  Array<Offset, Space> counts;
  KeyBlocks blocks;
  int shift;

  void operator()(std::int64_t block) const {
    Offset count[radix] = {};
    const std::int64_t n = keys.extent(0), begin = block * blocks.size;
    const std::int64_t end = std::min(begin + blocks.size, n);
    for (std::int64_t i = begin; i < end; ++i) ++count[keys(i) >> shift & (radix - 1)];
    for (int digit = 0; digit < radix; ++digit) counts(digit * blocks.count + block) = count[digit];
  }
};

/// Indices that move with their keys: beside them, or in them.
template <class Space>
struct IndicesBeside {
  Array<BodyIndex, Space> order, order_out;
  void move(Offset from, Offset to) const { order_out(to) = order(from); }
};
struct IndicesInKeys {
  static void move(Offset, Offset) {}
};

/// Moves each block's keys to where its digits begin.
template <class Space, class Indices>
struct ScatterDigits {
  static constexpr int radix = 1 << radix_bits_v<Space>;

  Array<std::uint64_t, Space> keys, keys_out;
  Indices indices;
  Array<Offset, Space> offsets;
  KeyBlocks blocks;
  int shift;

  void operator()(std::int64_t block) const {
    Offset next[radix];
    for (int digit = 0; digit < radix; ++digit) next[digit] = offsets(digit * blocks.count + block);
    const std::int64_t n = keys.extent(0), begin = block * blocks.size;
    const std::int64_t end = std::min(begin + blocks.size, n);
    for (std::int64_t i = begin; i < end; ++i) {
      const std::uint64_t key = keys(i);
      const Offset to = next[key >> shift & (radix - 1)]++;
      keys_out(to) = key;
      indices.move(i, to);
    }
  }
};

/// Keys that have all digits from bit `shift` on in common.
struct KeyPart {
  Offset begin, count;
  int shift;
  bool out;  ///< they are in keys_out
};

/// Sorts parts by their other digits, from first_bit on; the sorted keys are in keys_out. Indices are in the keys.
template <class Space>
struct SortParts {
  static constexpr int radix = 1 << radix_bits_v<Space>;

  std::vector<KeyPart> const& parts;
  Array<std::uint64_t, Space> keys, keys_out;
  Array<BodyIndex, Space> order;
  int first_bit;
  std::uint64_t index_bits;

  void operator()(std::int64_t i) const {
    constexpr Offset few = 128;
    const KeyPart part = parts[i];
    const Offset n = part.count;
    std::uint64_t *from = (part.out ? keys_out : keys).data() + part.begin,
                  *to = (part.out ? keys : keys_out).data() + part.begin;
    if (n <= few) {
      std::sort(from, from + n);
    } else {
      for (int shift = first_bit; shift < part.shift; shift += radix_bits_v<Space>) {
        sort_by_digit(shift, from, to, n);
        std::swap(from, to);
      }
    }
    to = keys_out.data() + part.begin;
    if (from != to) std::copy(from, from + n, to);
    for (Offset k = 0; k < n; ++k) order(part.begin + k) = BodyIndex(to[k] & index_bits);
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

/// The sort of one range of keys by one digit, by all threads. Returns the number of blocks: keys with a digit begin
/// at buffers.offsets(blocks * digit).
template <class Space, class Indices>
std::int64_t sort_by_digit(Space const& space, SortBuffers<Space>& buffers, int shift,
                           Array<std::uint64_t, Space> keys, Array<std::uint64_t, Space> keys_out,
                           Indices const& indices) {
  constexpr std::int64_t radix = 1 << radix_bits_v<Space>;
  const KeyBlocks blocks(space, keys.extent(0));
  const auto counts = buffers.counts.resize(radix * blocks.count);
  const auto offsets = buffers.offsets.resize(radix * blocks.count + 1);
  for_range("fmm::sort::count", space, blocks.count,
            CountDigits<Space>{keys, counts, blocks, shift});
  exclusive_scan(space, counts, offsets);
  for_range("fmm::sort::scatter", space, blocks.count,
            ScatterDigits<Space, Indices>{keys, keys_out, indices, offsets, blocks, shift});
  return blocks.count;
}

/// Cuts `keys`, with indices in them, into parts, each in its place, by as many of their first digits as that takes.
template <class Space>
std::vector<KeyPart> cut_into_parts(Space const& space, SortBuffers<Space>& buffers,
                                    Array<std::uint64_t, Space> keys,
                                    Array<std::uint64_t, Space> keys_out, int first_bit) {
  constexpr int bits = radix_bits_v<Space>;
  const std::int64_t n = keys.extent(0);
  // enough parts to share the work, but none not worth it
  constexpr std::int64_t least = 1 << 14, parts_per_thread = 8;
  const std::int64_t most =
      std::max<std::int64_t>(n / (parts_per_thread * space.concurrency()), least);
  std::vector<KeyPart> parts, large{{0, n, key_bits, false}};
  while (!large.empty()) {
    const auto [first, count, shift_before, out] = large.back();
    large.pop_back();
    const int shift = std::max(shift_before - bits, first_bit);
    const auto from = part<std::uint64_t, Space>(out ? keys_out : keys, first, count),
               to = part<std::uint64_t, Space>(out ? keys : keys_out, first, count);
    const auto blocks = sort_by_digit(space, buffers, shift, from, to, IndicesInKeys{});
    const auto offsets = buffers.offsets.view();
    for (std::int64_t digit = 0; digit < 1 << bits; ++digit) {
      const Offset begin = offsets(digit * blocks), end = offsets((digit + 1) * blocks);
      if (begin == end) continue;
      auto& list = end - begin > most && shift > first_bit ? large : parts;
      list.push_back({first + begin, end - begin, shift, !out});
    }
  }
  return parts;
}

/// As sort_keys (sort.hpp). On return all is done.
template <class Space>
Sorted<Space> radix_sort(Space const& space, SortBuffers<Space>& buffers,
                         UnsortedKeys<Space> const& unsorted, Array<std::uint64_t, Space> keys_out,
                         int first_bit) {
  static_assert(is_host_space_v<Space>, "fmm: for devices other than CUDA's there is no sort yet");
  auto [keys, order, index_bits] = unsorted;
  const std::int64_t n = keys.extent(0);
  if (index_bits != 0) {
    const auto parts = cut_into_parts(space, buffers, keys, keys_out, first_bit);
    order = buffers.order.view(n);
    for_uneven("fmm::sort::parts", space, parts.size(), 1,
               SortParts<Space>{parts, keys, keys_out, order, first_bit, index_bits});
    return {keys_out, order, {}};
  }
  auto order_out = order.data() == buffers.order.view(n).data() ? buffers.order_out.view(n)
                                                                : buffers.order.view(n);
  for (int shift = first_bit; shift < key_bits; shift += radix_bits_v<Space>) {
    sort_by_digit(space, buffers, shift, keys, keys_out, IndicesBeside<Space>{order, order_out});
    std::swap(keys, keys_out);
    std::swap(order, order_out);
  }
  return {keys, order, order_out};
}

}  // namespace fmm::detail
