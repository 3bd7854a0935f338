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

/// The type of an array's numbers.
enum class Number { in_float, in_double };

/// Who can access an array.
enum class Memory { host, device, both };

/// Shape and place of (N) or (N,3) numbers: (i, k) is `stride_of(0) i + stride_of(1) k` numbers behind the first. In an
/// input strides may be 0.
struct ArrayShape {
  /// A stride that is not told: numbers lie one after the other, row by row.
  static constexpr std::int64_t dense = std::numeric_limits<std::int64_t>::min();

  Number number = Number::in_double;
  Memory memory = Memory::host;
  int rank = 0;  ///< 0: there is no array
  std::int64_t extent[2] = {0, 1};
  std::int64_t stride[2] = {dense, dense};

  constexpr std::int64_t stride_of(int r) const {
    return stride[r] != dense ? stride[r] : rank == 2 && r == 0 ? extent[1] : 1;
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
/// A std::vector, std::span or std::array, or another range of numbers one after the other: N numbers, or N arrays of
/// three.
template <class T>
concept SequenceLike = !ViewLike<T> && std::ranges::contiguous_range<T&> &&
                       std::ranges::sized_range<T&> && requires(T & sequence) {
  sequence.data();
  sequence.size();
};

template <class T>
inline constexpr bool is_triple_v = false;
template <class T>
inline constexpr bool is_triple_v<std::array<T, 3>> = true;

template <class T>
constexpr Number number_of() {
  using U = std::remove_const_t<T>;
  static_assert(std::is_same_v<U, float> || std::is_same_v<U, double>,
                "fmm: arrays are of float or double");
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
  static_assert(rank == 1 || rank == 2, "fmm: arrays are (N) or (N,3)");
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
  if constexpr (is_triple_v<std::remove_const_t<Element>>)
    return {number_of<typename Element::value_type>(),
            Memory::host,
            2,
            {std::int64_t(size), 3},
            {3, 1}};
  else
    return {number_of<Element>(), Memory::host, 1, {std::int64_t(size), 1}, {1, 1}};
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
      : data_(data), shape_{number_of<T>(), Memory::host, 1, {size, 1}, {1, 1}} {}
  /// N rows of three in the host's memory, one after the other.
  template <class T>
  static ArrayOf rows(T* data, std::int64_t size) requires serves<T> {
    return {data, {number_of<T>(), Memory::host, 2, {size, 3}, {3, 1}}};
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
      ArrayOf(ArrayOf<void*> const& other) requires is_const : data_(other.data()),
                                                               shape_(other.shape()) {}
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
