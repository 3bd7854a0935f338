// SPDX-License-Identifier: BSD-3-Clause
// The arrays and indices that all rooms speak of.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace fmm {

/// Where `Space` computes and its memory.
template <class Space>
using Device = Kokkos::Device<Space, typename Space::memory_space>;

/// A view of memory that somebody else owns (a Buffer, as a rule): free to copy into functors.
template <class T, class Space>
using Array = Kokkos::View<T*, Device<Space>, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// Elements begin .. begin + count - 1 of memory that somebody else owns.
template <class T, class Space>
Array<T, Space> part(Array<T, Space> const& array, std::int64_t begin, std::int64_t count) {
  return Array<T, Space>(array.data() + begin, std::size_t(count));
}

/// Bodies are counted in 32 bits (the largest N is 2^31 - 1), list entries in 64.
using BodyIndex = std::int32_t;
using CellIndex = std::int32_t;
using Offset = std::int64_t;

}  // namespace fmm
