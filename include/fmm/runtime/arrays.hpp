// SPDX-License-Identifier: BSD-3-Clause
// Arrays as values: a pointer, extents, strides, the type of the numbers and the memory that they are in. They own
// nothing and copy nothing; whoever makes one keeps what it points to. Free of Kokkos, and made from its Views.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ranges>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../inputs.hpp"

namespace fmm::runtime {

/// The type of an array's numbers. Whole ones are numbers of sources.
enum class Number { in_float, in_double, in_int32, in_int64 };

/// Who can access an array.
enum class Memory { host, device, both };

/// Shape and place of (N), (N,3) or (N,K,3) numbers: (i, k, c) is `stride_of(0) i + stride_of(1) k + stride_of(2) c`
/// numbers behind the first. In an input strides may be 0.
struct ArrayShape {
  /// A stride that is not told: numbers lie one after the other, row by row.
  static constexpr std::int64_t dense = std::numeric_limits<std::int64_t>::min();

  Number number = Number::in_double;
  Memory memory = Memory::host;
  int rank = 0;  ///< 0: there is no array
  std::int64_t extent[3] = {0, 1, 1};
  std::int64_t stride[3] = {dense, dense, dense};

  constexpr std::int64_t extent_of(int r) const { return r < rank ? extent[r] : 1; }
  constexpr std::int64_t stride_of(int r) const {
    if (stride[r] != dense) return stride[r];
    return r == 0 ? extent_of(1) * extent_of(2) : r == 1 ? extent_of(2) : 1;
  }
};

// ---- what arrays are made from

/// A Kokkos::View, or what looks like one.
template <class T>
concept ViewLike = requires(T const view) {
  typename T::value_type;
  view.data();
  view.extent(0);
  view.stride(0);
};
/// A std::vector, std::span or std::array, or another range of numbers one after the other: N numbers, or N std::arrays
/// of so many.
template <class T>
concept SequenceLike = !ViewLike<T> && std::ranges::contiguous_range<T&> &&
                       std::ranges::sized_range<T&> && requires(T & sequence) {
  sequence.data();
  sequence.size();
};

/// How many numbers are in an element that is a std::array; 0: it is a number.
template <class T>
inline constexpr std::size_t row_of_element_v = 0;
template <class T, std::size_t Row>
inline constexpr std::size_t row_of_element_v<std::array<T, Row>> = Row;

template <class T>
constexpr Number number_of() {
  using U = std::remove_const_t<T>;
  constexpr bool is_whole = std::is_integral_v<U> && std::is_signed_v<U>;
  static_assert(
      std::is_same_v<U, float> || std::is_same_v<U, double> ||
          (is_whole && (sizeof(U) == 4 || sizeof(U) == 8)),
      "fmm: arrays are of float or double, those of body numbers of signed integers of 32 or 64 "
      "bits");
  if constexpr (is_whole) return sizeof(U) == 4 ? Number::in_int32 : Number::in_int64;
  return std::is_same_v<U, float> ? Number::in_float : Number::in_double;
}

/// By the name that a Kokkos memory space has.
constexpr Memory memory_of(std::string_view space) {
  if (space == "Host" || space == "HBW") return Memory::host;
  for (const std::string_view shared : {"UVM", "Managed", "HostPinned", "Shared"})
    if (space.find(shared) != std::string_view::npos) return Memory::both;
  return Memory::device;
}

template <class View>
ArrayShape shape_of_view(View const& view) {
  constexpr int rank = int(View::rank);
  static_assert(rank >= 1 && rank <= 3, "fmm: arrays are (N), (N,3) or (N,K,3)");
  ArrayShape shape{number_of<typename View::value_type>(), Memory::host, rank};
  if constexpr (requires { View::memory_space::name(); })
    shape.memory = memory_of(View::memory_space::name());
  for (int r = 0; r < rank; ++r) {
    shape.extent[r] = std::int64_t(view.extent(r));
    shape.stride[r] = std::int64_t(view.stride(r));
  }
  return shape;
}
template <class Element>
ArrayShape shape_of_sequence(std::size_t size) {
  constexpr auto row = std::int64_t(row_of_element_v<std::remove_const_t<Element>>);
  if constexpr (row > 0)
    return {number_of<typename Element::value_type>(),
            Memory::host,
            2,
            {std::int64_t(size), row, 1},
            {row, 1, 1}};
  else
    return {number_of<Element>(), Memory::host, 1, {std::int64_t(size), 1, 1}, {1, 1, 1}};
}

/// What a sequence has.
template <class Sequence>
using ElementOf = std::remove_pointer_t<decltype(std::declval<Sequence&>().data())>;

/// An array of Pointer, `void const*` or `void*`.
template <class Pointer>
class ArrayOf {
  static constexpr bool is_const = std::is_same_v<Pointer, void const*>;
  template <class T>
  static constexpr bool serves = is_const || !std::is_const_v<T>;

 public:
  /// No array: of an input or a result that there is not.
  ArrayOf() = default;
  ArrayOf(None) {}
  /// Shape and place as they are told.
  ArrayOf(Pointer data, ArrayShape const& shape) : data_(data), shape_(shape) {}
  /// N numbers in the host's memory, one after the other.
  template <class T>
  ArrayOf(T* data, std::int64_t size) requires serves<T>
      : data_(data), shape_{number_of<T>(), Memory::host, 1, {size, 1, 1}, {1, 1, 1}} {}
  /// N rows of so many numbers in the host's memory, one after the other.
  template <class T>
  static ArrayOf rows(T* data, std::int64_t size, std::int64_t row = 3) requires serves<T> {
    return {data, {number_of<T>(), Memory::host, 2, {size, row, 1}, {row, 1, 1}}};
  }

  template <ViewLike View>
  ArrayOf(View const& view) requires serves<typename View::value_type>
      : data_(view.data()), shape_(shape_of_view(view)) {}
  // clang-format off: it takes what follows a requires clause for nested
  template <class Sequence>
    requires SequenceLike<Sequence> && serves<ElementOf<Sequence>> ArrayOf(Sequence& sequence)
        : data_(sequence.data()), shape_(shape_of_sequence<ElementOf<Sequence>>(sequence.size())) {}
    /// A temporary that owns nothing, as a std::span.
    template <class Sequence>
      requires SequenceLike<Sequence> && std::ranges::borrowed_range<Sequence> &&
          serves<ElementOf<Sequence>>
          ArrayOf(Sequence const&& sequence) : ArrayOf(sequence) {}
      /// A result is an input, too.
      template <class Result>
        requires(is_const&& std::is_same_v<Result, ArrayOf<void*>>)
      ArrayOf(Result const& other) : data_(other.data()), shape_(other.shape()) {}
      // clang-format on

      /// Whether there is an array.
      explicit operator bool() const { return shape_.rank > 0; }
      Pointer data() const { return data_; }
      ArrayShape const& shape() const { return shape_; }
      std::int64_t size() const { return shape_.extent[0]; }

     private:
      Pointer data_ = nullptr;
      ArrayShape shape_;
};

using ConstArray = ArrayOf<void const*>;
using MutableArray = ArrayOf<void*>;

}  // namespace fmm::runtime
