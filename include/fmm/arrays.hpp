// SPDX-License-Identifier: BSD-3-Clause
// The arrays and indices that all rooms speak of.
#pragma once

#include "host.hpp"

namespace fmm {

/// Where `Space` computes and its memory.
template <class Space>
using Device = typename Space::device_type;

/// Memory that somebody else owns (a Buffer, as a rule): free to copy into functors. No Kokkos::View, which counts its
/// copies even where it owns nothing: that costs a program that uses the library a third of its compilation.
template <class T, class Space>
class Array {
 public:
  using value_type = T;

  KOKKOS_DEFAULTED_FUNCTION Array() = default;
  KOKKOS_FORCEINLINE_FUNCTION Array(T* first, std::size_t count) : data_(first), size_(count) {}

  KOKKOS_FORCEINLINE_FUNCTION T& operator()(std::int64_t i) const { return data_[i]; }
  KOKKOS_FORCEINLINE_FUNCTION T& operator[](std::int64_t i) const { return data_[i]; }
  KOKKOS_FORCEINLINE_FUNCTION T* data() const { return data_; }
  KOKKOS_FORCEINLINE_FUNCTION std::size_t size() const { return size_; }
  KOKKOS_FORCEINLINE_FUNCTION std::size_t extent(int) const { return size_; }

  /// The same memory as a View.
  auto view() const {
    return Kokkos::View<T*, Device<Space>, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(data_, size_);
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Elements begin .. begin + count - 1 of memory that somebody else owns.
template <class T, class Space>
Array<T, Space> subarray(Array<T, Space> const& array, std::int64_t begin, std::int64_t count) {
  return Array<T, Space>(array.data() + begin, std::size_t(count));
}

/// Bodies are counted in 32 bits (the largest N is 2^31 - 1), list entries in 64.
using BodyIndex = std::int32_t;
using CellIndex = std::int32_t;
using Offset = std::int64_t;

}  // namespace fmm
