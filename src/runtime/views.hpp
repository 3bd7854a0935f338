// SPDX-License-Identifier: BSD-3-Clause
// Run-time arrays as Views, and their checks.
#pragma once

#include <fmm/fmm.hpp>
#include <fmm/runtime/arrays.hpp>
#include <string>

namespace fmm::runtime {

/// Views of any strides.
template <class T, class Space>
using Column =
    Kokkos::View<T*, Kokkos::LayoutStride, Device<Space>, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
template <class T, class Space>
using Rows = Kokkos::View<T* [3], Kokkos::LayoutStride, Device<Space>,
                          Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <class T, class Space, class Pointer>
Column<T, Space> column(ArrayOf<Pointer> const& array) {
  auto const& shape = array.shape();
  return Column<T, Space>(
      static_cast<T*>(array.data()),
      Kokkos::LayoutStride(std::size_t(shape.extent[0]), std::size_t(shape.stride_of(0))));
}
template <class T, class Space, class Pointer>
Rows<T, Space> rows(ArrayOf<Pointer> const& array) {
  auto const& shape = array.shape();
  return Rows<T, Space>(
      static_cast<T*>(array.data()),
      Kokkos::LayoutStride(std::size_t(shape.extent[0]), std::size_t(shape.stride_of(0)),
                           std::size_t(shape.extent[1]), std::size_t(shape.stride_of(1))));
}

/// A Number of an array, const where it is an input.
template <class Number, class Pointer>
using OfArray = std::conditional_t<std::is_same_v<Pointer, void const*>, Number const, Number>;

/// visit(View of float or of double).
template <class Space, class Pointer, class Visit>
auto with_column(ArrayOf<Pointer> const& array, Visit const& visit) {
  if (array.shape().number == Number::in_float)
    return visit(column<OfArray<float, Pointer>, Space>(array));
  return visit(column<OfArray<double, Pointer>, Space>(array));
}
template <class Space, class Pointer, class Visit>
auto with_rows(ArrayOf<Pointer> const& array, Visit const& visit) {
  if (array.shape().number == Number::in_float)
    return visit(rows<OfArray<float, Pointer>, Space>(array));
  return visit(rows<OfArray<double, Pointer>, Space>(array));
}

/// Number c of density k of body i: where it is in an array.
struct Strides {
  std::int64_t body, density, number;
};
inline Strides strides_of(ArrayShape const& shape, int row) {
  const bool has_densities = shape.rank == (row == 1 ? 2 : 3);
  return {shape.stride_of(0), has_densities ? shape.stride_of(1) : 0,
          row == 1 ? 0 : shape.stride_of(shape.rank - 1)};
}

/// Where an array of so many densities lies, to be told apart from others.
template <class Pointer>
engine::ResultPlace place_of(ArrayOf<Pointer> const& array, int row, int densities = 1) {
  ArrayShape const& shape = array.shape();
  const std::ptrdiff_t size = shape.number == Number::in_float ? sizeof(float) : sizeof(double);
  const Strides strides = strides_of(shape, row);
  return {array.data(),
          array.size(),
          std::int64_t(densities) * row,
          strides.body * size,
          strides.density * size,
          size,
          row,
          strides.number * size};
}

/// How an array is to be.
struct Expected {
  int rank;
  bool on_host;     ///< in memory that the host can access, or else the device
  bool is_written;  ///< each number has a place of its own
  char const* backend;
  int row = 3;            ///< numbers in the last dimension, of rank 2 and 3; 0: any
  bool is_whole = false;  ///< of whole numbers
};

/// Throws InvalidArgument unless there is such an array, with memory.
void check_array(char const* name, void const* data, ArrayShape const& shape,
                 Expected const& expected);

}  // namespace fmm::runtime
