// SPDX-License-Identifier: BSD-3-Clause
// Stable sort of (key, index) pairs: on CUDA CUB's radix sort, or its merge sort where they are few, and
// a parallel radix sort with 8-bit digits elsewhere.
// Equal keys stay in the order of their indices, so that the result does not depend on the number of
// threads.
#pragma once

#include "../detail/memory.hpp"
#include "../detail/scan.hpp"

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#define FMM_HAS_CUB 1
#else
#define FMM_HAS_CUB 0
#endif

namespace fmm::detail {

inline constexpr int key_bits = 63, radix_bits = 8, radix = 1 << radix_bits;

/// Indices, with the second buffer that a radix sort needs, and what it counts; kept from build to build.
template <class Space>
struct SortBuffers {
  Buffer<BodyIndex, Space> order{"indices"}, order_out{"sorted indices"};
  Buffer<Offset, Space> counts{"digit counts"}, offsets{"digit offsets"};
  Buffer<unsigned char, Space> temporary{"sort"};

  std::size_t bytes() const {
    return order.bytes() + order_out.bytes() + counts.bytes() + offsets.bytes() + temporary.bytes();
  }
};

template <class Space>
struct Sorted {
  Array<std::uint64_t, Space> keys;
  Array<BodyIndex, Space> order;
  Array<BodyIndex, Space> spare;  ///< the other buffer of indices, free for any use
};

/// Passes over keys whose digits from first_bit on are sorted.
inline int radix_passes(int first_bit) {
  return (key_bits - first_bit + radix_bits - 1) / radix_bits;
}

/// Where the indices are to be before sort_keys(.., first_bit); on a CPU they are in `order` after it.
template <class Space>
Array<BodyIndex, Space> unsorted_order(SortBuffers<Space>& buffers, std::int64_t n, int first_bit) {
  const auto order = buffers.order.resize(n), order_out = buffers.order_out.resize(n);
  return is_host_space_v<Space> && radix_passes(first_bit) % 2 == 1 ? order_out : order;
}

/// place(order(i)) = i.
template <class Space>
struct InvertOrder {
  Array<BodyIndex, Space> order, place;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { place(order(i)) = BodyIndex(i); }
};

/// Counts of each digit in each block of keys, stored digit by digit.
template <class Space>
struct CountDigits {
  Array<std::uint64_t, Space> keys;
  Array<Offset, Space> counts;
  std::int64_t block_size, blocks;
  int shift;

  KOKKOS_FUNCTION void operator()(std::int64_t block) const {
    Offset count[radix] = {};
    const std::int64_t n = keys.extent(0), begin = block * block_size;
    const std::int64_t end = begin + block_size < n ? begin + block_size : n;
    for (std::int64_t i = begin; i < end; ++i) ++count[keys(i) >> shift & (radix - 1)];
    for (int digit = 0; digit < radix; ++digit) counts(digit * blocks + block) = count[digit];
  }
};

/// Moves each block's pairs to where its digits begin.
template <class Space>
struct ScatterDigits {
  Array<std::uint64_t, Space> keys, keys_out;
  Array<BodyIndex, Space> order, order_out;
  Array<Offset, Space> offsets;
  std::int64_t block_size, blocks;
  int shift;

  KOKKOS_FUNCTION void operator()(std::int64_t block) const {
    Offset next[radix];
    for (int digit = 0; digit < radix; ++digit) next[digit] = offsets(digit * blocks + block);
    const std::int64_t n = keys.extent(0), begin = block * block_size;
    const std::int64_t end = begin + block_size < n ? begin + block_size : n;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::uint64_t key = keys(i);
      const Offset to = next[key >> shift & (radix - 1)]++;
      keys_out(to) = key;
      order_out(to) = order(i);
    }
  }
};

/// By all bits from first_bit on.
struct LessFrom {
  int first_bit;
  KOKKOS_FUNCTION bool operator()(std::uint64_t a, std::uint64_t b) const {
    return a >> first_bit < b >> first_bit;
  }
};

/// So few keys that a merge sort's passes, fewer and shorter, outweigh that there are log N of them.
inline constexpr std::int64_t merge_sort_most = 1 << 16;

/// Sorts `keys`, and the indices in unsorted_order with them, by key bits first_bit .. 62. The sorted keys
/// are in `keys` or in `keys_out`. Cost: about ceil((63 - first_bit) / 8) passes over the data, or log N of
/// a merge sort. Asynchronous.
template <class Space>
Sorted<Space> sort_keys(Space const& space, SortBuffers<Space>& buffers,
                        Array<std::uint64_t, Space> keys, Array<std::uint64_t, Space> keys_out,
                        int first_bit) {
  const std::int64_t n = std::int64_t(keys.extent(0));
  auto order = unsorted_order(buffers, n, first_bit), order_out = buffers.order_out.view(n);
  if (order.data() == order_out.data()) order_out = buffers.order.view(n);
#if FMM_HAS_CUB
  if constexpr (std::is_same_v<Space, Kokkos::Cuda>) {
    if (n <= merge_sort_most) {
      std::size_t bytes = 0;
      cub::DeviceMergeSort::StableSortPairs(nullptr, bytes, keys.data(), order.data(), BodyIndex(n),
                                            LessFrom{first_bit}, space.cuda_stream());
      auto temporary = buffers.temporary.resize(bytes);
      cub::DeviceMergeSort::StableSortPairs(temporary.data(), bytes, keys.data(), order.data(),
                                            BodyIndex(n), LessFrom{first_bit}, space.cuda_stream());
      return {keys, order, order_out};
    }
    cub::DoubleBuffer<std::uint64_t> k(keys.data(), keys_out.data());
    cub::DoubleBuffer<BodyIndex> v(order.data(), order_out.data());
    std::size_t bytes = 0;
    cub::DeviceRadixSort::SortPairs(nullptr, bytes, k, v, n, first_bit, key_bits,
                                    space.cuda_stream());
    auto temporary = buffers.temporary.resize(bytes);
    cub::DeviceRadixSort::SortPairs(temporary.data(), bytes, k, v, n, first_bit, key_bits,
                                    space.cuda_stream());
    return {Array<std::uint64_t, Space>(k.Current(), n), Array<BodyIndex, Space>(v.Current(), n),
            Array<BodyIndex, Space>(v.Alternate(), n)};
  } else
#endif
  {
    // enough blocks to share the work, few enough that their counts stay in cache
    const std::int64_t most = 4 * std::int64_t(space.concurrency());
    const std::int64_t block_size = std::max<std::int64_t>(4096, (n + most - 1) / most);
    const std::int64_t blocks = (n + block_size - 1) / block_size;
    auto counts = buffers.counts.resize(radix * blocks);
    auto offsets = buffers.offsets.resize(radix * blocks + 1);
    for (int shift = first_bit; shift < key_bits; shift += radix_bits) {
      Kokkos::parallel_for("fmm::sort::count", range(space, blocks),
                           CountDigits<Space>{keys, counts, block_size, blocks, shift});
      exclusive_scan(space, counts, offsets);
      Kokkos::parallel_for("fmm::sort::scatter", range(space, blocks),
                           ScatterDigits<Space>{keys, keys_out, order, order_out, offsets,
                                                block_size, blocks, shift});
      std::swap(keys, keys_out);
      std::swap(order, order_out);
    }
    return {keys, order, order_out};
  }
}

}  // namespace fmm::detail
