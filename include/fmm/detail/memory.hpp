// SPDX-License-Identifier: BSD-3-Clause
// Memory that grows and is kept: a second build of the same size allocates nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <limits>
#include <new>
#include <string>

#include "../errors.hpp"
#include "../large_pages.hpp"
#include "copy.hpp"

namespace fmm::detail {

/// Bytes of the host's memory that a program can still have (Linux: MemAvailable and SwapFree of
/// /proc/meminfo), or the largest number where the system does not tell. Linux hands out more address
/// space than there is memory and then kills the program: asking first turns that into an exception.
FMM_NOINLINE inline std::size_t available_host_memory() {
  std::size_t available = 0;
  if (std::FILE* const info = std::fopen("/proc/meminfo", "r")) {
    char line[128], name[32];
    for (unsigned long long kibibytes; std::fgets(line, sizeof line, info);)
      if (std::sscanf(line, "%31s %llu", name, &kibibytes) == 2)
        if (std::strcmp(name, "MemAvailable:") == 0 || std::strcmp(name, "SwapFree:") == 0)
          available += std::size_t(kibibytes) * 1024;
    std::fclose(info);
  }
  return available > 0 ? available : std::numeric_limits<std::size_t>::max();
}

/// Smaller requests than this are made without asking how much memory there is.
inline constexpr std::size_t large_allocation = std::size_t(1) << 28;

/// Bytes of device memory that can be exchanged for more of them. One type for whatever they hold: each
/// type of View costs a program that uses the library a tenth of a second of compilation.
template <class Space>
class Bytes {
 public:
  explicit Bytes(char const* label) : label_(label) {}

  char* data() const { return owned() >= lent_count_ ? storage_.data() : lent_; }
  std::size_t count() const { return std::max(owned(), lent_count_); }
  /// Those that are not lent.
  std::size_t owned() const { return storage_.extent(0); }
  void lend(char* first, std::size_t count) {
    lent_ = first;
    lent_count_ = count;
  }
  /// `count` bytes of unspecified content, in the place of those that there were.
  FMM_NOINLINE void replace(std::size_t count) {
    storage_ = {};
    storage_ = allocate(count);
  }
  /// `count` bytes, of which the first `kept` are as they were.
  FMM_NOINLINE void enlarge(Space const& space, std::size_t count, std::size_t kept) {
    const Managed larger = allocate(count);
    if (kept > 0) {
      using Memory = typename Space::memory_space;
      copy_bytes<Memory, Memory>(space, data(), larger.data(), kept);
      space.fence();  // the old memory goes back now
    }
    storage_ = larger;
  }
  [[noreturn]] FMM_NOINLINE void refuse(std::size_t count) const {
    throw OutOfMemory(std::string("fmm::") + label_, count);
  }

 private:
  using Managed = Kokkos::View<char*, Device<Space>>;

  /// Uninitialised memory, on a CPU in large pages where the system has them, near to the threads that write it
  /// first. Throws OutOfMemory naming the bytes asked for.
  Managed allocate(std::size_t count) const {
    if (is_host_space_v<Space> && count > large_allocation && count > available_host_memory())
      refuse(count);
    try {
      const Managed memory(
          Kokkos::view_alloc(std::string("fmm::") + label_, Kokkos::WithoutInitializing), count);
      if constexpr (is_host_space_v<Space>) prefer_large_pages(memory.data(), count);
      return memory;
    } catch (std::bad_alloc const&) {
      refuse(count);
    } catch (std::runtime_error const&) {
      refuse(count);
    }
  }

  char const* label_;  ///< a literal
  Managed storage_;
  char* lent_ = nullptr;
  std::size_t lent_count_ = 0;
};

/// Device memory for elements of a type, which only grows. Contents are lost by `resize` and kept by `grow`.
template <class T, class Space>
class Buffer {
 public:
  /// `label` names the memory for Kokkos's tools and in OutOfMemory; it is a literal.
  explicit Buffer(char const* label) : bytes_(label) {}

  /// `count` elements of unspecified content.
  Array<T, Space> resize(std::size_t count) {
    if (count > capacity()) bytes_.replace(bytes_of(count));
    return view(count);
  }

  /// `count` elements, of which the first `kept` are as they were. Grows by a thirty-second at least, so that
  /// filling a buffer piece by piece costs O(count) in all.
  Array<T, Space> grow(Space const& space, std::size_t count, std::size_t kept) {
    if (count > capacity())
      bytes_.enlarge(space, bytes_of(std::max(count, capacity() + capacity() / 32)),
                     kept * sizeof(T));
    return view(count);
  }

  Array<T, Space> view(std::size_t count) const {
    return Array<T, Space>(reinterpret_cast<T*>(bytes_.data()), count);
  }
  /// All that there is.
  Array<T, Space> view() const { return view(capacity()); }
  /// Of its own memory.
  std::size_t bytes() const { return bytes_.owned(); }

  /// Has the buffer lie in bytes that nobody else uses for some time, unless it has more of its own, until it
  /// needs more. Contents are lost, and again when the time is over.
  void lend(Array<char, Space> bytes) { bytes_.lend(bytes.data(), bytes.extent(0)); }

 private:
  std::size_t capacity() const { return bytes_.count() / sizeof(T); }
  /// Kokkos itself would wrap around on a size that does not fit in 64 bits.
  std::size_t bytes_of(std::size_t count) const {
    constexpr std::size_t largest = std::numeric_limits<std::size_t>::max();
    if (count > largest / 2 / sizeof(T)) bytes_.refuse(largest);
    return count * sizeof(T);
  }

  Bytes<Space> bytes_;
};

/// The numbers of a host's vector in device memory; asynchronously in `space`, for which the vector has to be there.
template <class Space, class T, class Numbers>
Array<T, Space> to_device(Space const& space, Buffer<T, Space>& buffer, Numbers const& from) {
  const auto to = buffer.resize(from.size());
  copy_bytes<Kokkos::HostSpace, typename Space::memory_space>(space, from.data(), to.data(),
                                                              from.size() * sizeof(T));
  return to;
}

/// Hands out bytes of an array to buffers, one after the other.
template <class Space>
class Lender {
 public:
  template <class T>
  explicit Lender(Array<T, Space> memory)
      : next_(reinterpret_cast<char*>(memory.data())), left_(memory.extent(0) * sizeof(T)) {}

  /// Room for `count` elements; none if there is less left.
  template <class T>
  void lend(Buffer<T, Space>& buffer, std::size_t count) {
    const std::size_t lent = count * sizeof(T) <= left_ ? count * sizeof(T) : 0;
    buffer.lend(Array<char, Space>(next_, lent));
    const std::size_t used = std::min((lent + line - 1) / line * line, left_);
    next_ += used;
    left_ -= used;
  }
  /// Bytes of a share of what is left, so many of which find room.
  std::size_t share(std::size_t shares) const { return left_ / shares / line * line; }

 private:
  static constexpr std::size_t line = 128;  ///< two buffers share no line of a cache
  char* next_;
  std::size_t left_;
};

}  // namespace fmm::detail
