// SPDX-License-Identifier: BSD-3-Clause
// What a sort starts from, and what it keeps from build to build.
#pragma once

#include <bit>

#include "../../detail/memory.hpp"
#include "../../options.hpp"

namespace fmm::tree {

inline constexpr int key_bits = 3 * max_tree_depth;

/// Of a digit. On a CPU 1 << 9 blocks of memory are written to at the same time about as fast as fewer, and nine bits
/// are three levels of a tree.
template <class Space>
inline constexpr int radix_bits_v = is_host_space_v<Space> ? 9 : 8;

/// Indices, with the second buffer that a radix sort needs, and what it counts; kept from build to build.
template <class Space>
struct SortBuffers {
  Buffer<BodyIndex, Space> permutation{"indices"}, permutation_out{"sorted indices"};
  Buffer<Offset, Space> counts{"digit counts"}, offsets{"digit offsets"};
  Buffer<unsigned char, Space> temporary{"sort"};

  std::size_t bytes() const {
    return permutation.bytes() + permutation_out.bytes() + counts.bytes() + offsets.bytes() +
           temporary.bytes();
  }
};

template <class Space>
struct Sorted {
  Array<std::uint64_t, Space> keys;
  Array<BodyIndex, Space> permutation;
  Array<BodyIndex, Space> spare;  ///< the other buffer of indices, free for any use
};

/// Passes over keys whose digits from first_bit on are sorted.
template <class Space>
int radix_passes(int first_bit) {
  return (key_bits - first_bit + radix_bits_v<Space> - 1) / radix_bits_v<Space>;
}

/// Where the keys 0 .. count - 1 begin whose highest digit begins at bit key_bits - 1, in as few digits as hold them.
template <class Space>
int first_bit_of(std::int64_t count) {
  int digits = 1;
  while (count > std::int64_t(1) << digits * radix_bits_v<Space>) ++digits;
  return key_bits - digits * radix_bits_v<Space>;
}

/// Keys to be sorted, each with its index: beside it, or on a CPU in bits of the key that are not sorted by, where
/// there are enough of them, so that the sort moves one word and not two.
template <class Space>
struct UnsortedKeys {
  Array<std::uint64_t, Space> keys;
  Array<BodyIndex, Space> permutation;  ///< of indices beside the keys
  std::uint64_t index_bits = 0;         ///< of a key; none if indices are beside the keys

  KOKKOS_FORCEINLINE_FUNCTION void set(std::int64_t i, std::uint64_t key) const {
    if (index_bits != 0) {
      keys(i) = (key & ~index_bits) | std::uint64_t(i);
    } else {
      keys(i) = key;
      permutation(i) = BodyIndex(i);
    }
  }
};

/// For sort_keys, by key bits first_bit .. 62.
template <class Space>
UnsortedKeys<Space> unsorted_keys(SortBuffers<Space>& buffers, Array<std::uint64_t, Space> keys,
                                  int first_bit) {
  const std::int64_t n = keys.extent(0);
  const auto permutation = buffers.permutation.resize(n);
  if (is_host_space_v<Space> && int(std::bit_width(std::uint64_t(n))) <= first_bit)
    return {keys, {}, (std::uint64_t(1) << first_bit) - 1};
  const auto permutation_out = buffers.permutation_out.resize(n);
  return {keys,
          is_host_space_v<Space> && radix_passes<Space>(first_bit) % 2 == 1 ? permutation_out
                                                                            : permutation,
          0};
}

}  // namespace fmm::tree
