// SPDX-License-Identifier: BSD-3-Clause
// Bytes from here to there, and one number into all places of an array. Bytes, and on a CPU without Kokkos's copies
// of Views: each type of View that is copied or filled costs a program that uses the library a tenth of a second of
// compilation and more.
#pragma once

#include <algorithm>
#include <cstring>

#include "launch.hpp"

namespace fmm::detail {

/// A part of a large copy, for each item.
struct CopyPart {
  static constexpr std::size_t bytes = std::size_t(1) << 16;
  char const* from;
  char* to;
  std::size_t count;

  void operator()(std::int64_t i) const {
    const std::size_t begin = std::size_t(i) * bytes;
    std::memcpy(to + begin, from + begin, std::min(bytes, count - begin));
  }
};

/// Starts to copy `count` bytes between two memory spaces. On a CPU they are copied on return, large pieces by all
/// threads.
template <class FromMemory, class ToMemory, class Space>
FMM_NOINLINE void copy_bytes(Space const& space, void const* from, void* to, std::size_t count) {
  if constexpr (is_host_space_v<Space>) {
    static_assert(std::is_same_v<FromMemory, ToMemory>);
    constexpr std::size_t large = 8 * CopyPart::bytes;
    if (count >= large)
      for_range("fmm::copy", space, std::int64_t((count - 1) / CopyPart::bytes + 1),
                CopyPart{static_cast<char const*>(from), static_cast<char*>(to), count});
    else if (count > 0)
      std::memcpy(to, from, count);
  } else {
    using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
    Kokkos::deep_copy(
        space, Kokkos::View<char*, ToMemory, Unmanaged>(static_cast<char*>(to), count),
        Kokkos::View<char const*, FromMemory, Unmanaged>(static_cast<char const*>(from), count));
  }
}

/// A few numbers of device memory, read back: one of the few host synchronisations of a build.
template <class Space, class T>
void read_back(Space const& space, T const* from, T* to, std::size_t count) {
  copy_bytes<typename Space::memory_space, Kokkos::HostSpace>(space, from, to, count * sizeof(T));
  space.fence();
}
template <class Space, class T>
T read_back(Space const& space, T const* from) {
  T value;
  read_back(space, from, &value, 1);
  return value;
}

template <class Space, class T>
struct Fill {
  Array<T, Space> array;
  T value;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { array(i) = value; }
};

/// array(i) = value for all i, asynchronously in `space`.
template <class T, class Space>
void fill(Space const& space, Array<T, Space> array, T value) {
  if constexpr (is_host_space_v<Space>)
    for_range("fmm::fill", space, std::int64_t(array.extent(0)), Fill<Space, T>{array, value});
  else
    Kokkos::deep_copy(space, array.view(), value);
}

}  // namespace fmm::detail
