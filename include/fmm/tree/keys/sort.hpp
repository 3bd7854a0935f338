// SPDX-License-Identifier: BSD-3-Clause
// Stable sort of keys and their indices: on CUDA CUB's radix sort, or its merge sort where they are few, and
// radix_sort.hpp on a CPU.
// Equal keys stay in the order of their indices, so that the result does not depend on the number of
// threads.
#pragma once

#include "radix_sort.hpp"

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#define FMM_HAS_CUB 1
#else
#define FMM_HAS_CUB 0
#endif

namespace fmm::tree {

/// place(permutation(i)) = i.
template <class Space>
struct InvertPermutation {
  Array<BodyIndex, Space> permutation, place;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { place(permutation(i)) = BodyIndex(i); }
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

/// Sorts what was set in unsorted_keys(.., first_bit). The sorted keys are where the unsorted were or in `keys_out`;
/// what they hold below first_bit is unspecified. On a CPU the sorted indices are in the buffers' `permutation`. Cost:
/// radix_passes(first_bit) passes over the data, or log N of a merge sort. Asynchronous.
template <class Space>
Sorted<Space> sort_keys(Space const& space, SortBuffers<Space>& buffers,
                        UnsortedKeys<Space> const& unsorted, Array<std::uint64_t, Space> keys_out,
                        int first_bit) {
#if FMM_HAS_CUB
  if constexpr (std::is_same_v<Space, Kokkos::Cuda>) {
    const auto [keys, permutation, index_bits] = unsorted;
    const std::int64_t n = keys.extent(0);
    const auto permutation_out = buffers.permutation_out.view(n);
    if (n <= merge_sort_most) {
      std::size_t bytes = 0;
      cub::DeviceMergeSort::StableSortPairs(nullptr, bytes, keys.data(), permutation.data(),
                                            BodyIndex(n), LessFrom{first_bit}, space.cuda_stream());
      auto temporary = buffers.temporary.resize(bytes);
      cub::DeviceMergeSort::StableSortPairs(temporary.data(), bytes, keys.data(),
                                            permutation.data(), BodyIndex(n), LessFrom{first_bit},
                                            space.cuda_stream());
      return {keys, permutation, permutation_out};
    }
    cub::DoubleBuffer<std::uint64_t> k(keys.data(), keys_out.data());
    cub::DoubleBuffer<BodyIndex> v(permutation.data(), permutation_out.data());
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
    return radix_sort(space, buffers, unsorted, keys_out, first_bit);
  }
}

}  // namespace fmm::tree
