// SPDX-License-Identifier: BSD-3-Clause
// Memory that grows and is kept: a second build of the same size allocates nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include "../errors.hpp"
#include "kokkos_compat.hpp"

namespace fmm::detail {

/// Bytes of the host's memory that a program can still have (Linux: MemAvailable and SwapFree of
/// /proc/meminfo), or the largest number where the system does not tell. Linux hands out more address
/// space than there is memory and then kills the program: asking first turns that into an exception.
inline std::size_t available_host_memory() {
  std::ifstream info("/proc/meminfo");
  std::size_t available = 0;
  std::string name, unit;
  for (std::size_t kibibytes; info >> name >> kibibytes; std::getline(info, unit))
    if (name == "MemAvailable:" || name == "SwapFree:") available += kibibytes * 1024;
  return available > 0 ? available : std::numeric_limits<std::size_t>::max();
}

/// Smaller requests than this are made without asking how much memory there is.
inline constexpr std::size_t large_allocation = std::size_t(1) << 28;

/// An uninitialised managed View of `count` elements. Throws OutOfMemory naming the bytes asked for
/// (Kokkos itself wraps around on a size that does not fit in 64 bits).
template <class T, class Space>
Kokkos::View<T*, Device<Space>> allocate(std::string const& label, std::size_t count) {
  if (count > std::numeric_limits<std::size_t>::max() / 2 / sizeof(T))
    throw OutOfMemory(label, std::numeric_limits<std::size_t>::max());
  const std::size_t bytes = count * sizeof(T);
  if (is_host_space_v<Space> && bytes > large_allocation && bytes > available_host_memory())
    throw OutOfMemory(label, bytes);
  try {
    return Kokkos::View<T*, Device<Space>>(Kokkos::view_alloc(label, Kokkos::WithoutInitializing),
                                           count);
  } catch (std::bad_alloc const&) {
    throw OutOfMemory(label, bytes);
  } catch (std::runtime_error const&) {
    throw OutOfMemory(label, bytes);
  }
}

/// Device memory that only grows. Contents are lost by `resize` and kept by `grow`.
template <class T, class Space>
class Buffer {
 public:
  explicit Buffer(std::string label) : label_("fmm::" + std::move(label)) {}

  /// `count` elements of unspecified content.
  Array<T, Space> resize(std::size_t count) {
    if (count > storage_.extent(0)) {
      storage_ = {};
      storage_ = allocate<T, Space>(label_, count);
    }
    return view(count);
  }

  /// `count` elements, of which the first `kept` are as they were. Grows by an eighth at least, so that
  /// filling a buffer piece by piece costs O(count) in all.
  Array<T, Space> grow(Space const& space, std::size_t count, std::size_t kept) {
    if (count > storage_.extent(0)) {
      const std::size_t wanted = std::max(count, storage_.extent(0) + storage_.extent(0) / 8);
      auto larger = allocate<T, Space>(label_, wanted);
      if (kept > 0) {
        Array<T, Space> to(larger.data(), kept), from(storage_.data(), kept);
        Kokkos::deep_copy(space, to, from);
        space.fence();  // the old memory goes back now
      }
      storage_ = larger;
    }
    return view(count);
  }

  Array<T, Space> view(std::size_t count) const { return Array<T, Space>(storage_.data(), count); }
  /// All that there is.
  Array<T, Space> view() const { return view(storage_.extent(0)); }
  std::size_t bytes() const { return storage_.extent(0) * sizeof(T); }

 private:
  std::string label_;
  Kokkos::View<T*, Device<Space>> storage_;
};

}  // namespace fmm::detail
