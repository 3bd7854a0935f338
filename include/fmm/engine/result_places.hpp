// SPDX-License-Identifier: BSD-3-Clause
// Where results lie, and whether two of them share memory: neither would be right.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "../detail/noinline.hpp"
#include "../errors.hpp"
#include "../inputs.hpp"

namespace fmm::engine {

/// The numbers (i, k) of a result, of which each has a place of its own: `size` bytes at i row + k column bytes behind
/// the first. Of several densities, k / inner is the density, and k % inner its component.
struct ResultPlace {
  void const* first;
  std::int64_t rows, columns;
  std::ptrdiff_t row, column, size;
  std::int64_t inner = 1;
  std::ptrdiff_t inner_column = 0;

  /// The first byte of a column, and the first one behind all of it.
  struct Range {
    std::ptrdiff_t begin, end;
    bool meets(Range const& other) const { return begin < other.end && other.begin < end; }
  };
  std::ptrdiff_t at(std::int64_t i, std::int64_t k) const {
    return reinterpret_cast<std::intptr_t>(first) + i * row + k / inner * column +
           k % inner * inner_column;
  }
  Range column_range(std::int64_t k) const {
    return {std::min(at(0, k), at(rows - 1, k)), std::max(at(0, k), at(rows - 1, k)) + size};
  }
};

/// The bytes from the first number to the last one.
inline ResultPlace::Range whole_range(ResultPlace const& place) {
  ResultPlace::Range range{place.at(0, 0), place.at(0, 0) + place.size};
  const auto add = [&](std::ptrdiff_t stride, std::int64_t count) {
    (stride < 0 ? range.begin : range.end) += stride * (count - 1);
  };
  add(place.row, place.rows);
  add(place.column, place.columns / place.inner);
  add(place.inner_column, place.inner);
  return range;
}

/// Cost: O(1) a pair of columns if rows are as far apart in both, or the columns lie apart; else O(N).
FMM_NOINLINE inline bool share_memory(ResultPlace const& a, ResultPlace const& b) {
  if (a.rows <= 0 || b.rows <= 0 || a.columns <= 0 || b.columns <= 0) return false;
  if (!whole_range(a).meets(whole_range(b))) return false;
  // number i of a's column and the numbers of b's that are nearest to it
  const auto meets = [&](std::int64_t i, std::int64_t k, std::int64_t l) {
    const std::ptrdiff_t from = a.at(i, k), apart = from - b.at(0, l);
    const std::int64_t last = b.rows - 1,
                       near = b.row == 0 ? 0 : std::clamp<std::int64_t>(apart / b.row, 0, last);
    for (std::int64_t j = std::max<std::int64_t>(near - 1, 0); j <= std::min(near + 1, last); ++j)
      if (ResultPlace::Range{from, from + a.size}.meets({b.at(j, l), b.at(j, l) + b.size}))
        return true;
    return false;
  };
  for (std::int64_t k = 0; k < a.columns; ++k)
    for (std::int64_t l = 0; l < b.columns; ++l) {
      if (!a.column_range(k).meets(b.column_range(l))) continue;
      if (a.row == b.row) {  // if any numbers meet, the first or the last one of a's does
        if (meets(0, k, l) || meets(a.rows - 1, k, l)) return true;
        continue;
      }
      for (std::int64_t i = 0; i < a.rows; ++i)
        if (meets(i, k, l)) return true;
    }
  return false;
}

template <class View>
ResultPlace place_of_view(View const& view) {
  const auto size = std::ptrdiff_t(sizeof(*view.data()));
  ResultPlace place{view.data(), std::int64_t(view.extent(0)), 1, 0, 0, size};
  place.row = std::ptrdiff_t(view.stride(0)) * size;
  if constexpr (View::rank > 1) {
    place.columns = std::int64_t(view.extent(1));
    place.column = std::ptrdiff_t(view.stride(1)) * size;
  }
  if constexpr (View::rank > 2) {
    place.inner = std::int64_t(view.extent(2));
    place.columns *= place.inner;
    place.inner_column = std::ptrdiff_t(view.stride(2)) * size;
  }
  return place;
}

/// Throws InvalidArgument if results of those names share memory.
FMM_NOINLINE inline void check_no_overlap(char const* name, ResultPlace const& result,
                                          char const* name_of_other, ResultPlace const& other) {
  if (share_memory(result, other))
    throw InvalidArgument(name, "in the memory of the " + std::string(name_of_other),
                          "in memory of its own");
}
template <class Result, class Other>
void check_no_overlap(char const* name, Result const& result, char const* name_of_other,
                      Other const& other) {
  if constexpr (!std::is_same_v<Result, None> && !std::is_same_v<Other, None>)
    check_no_overlap(name, place_of_view(result), name_of_other, place_of_view(other));
}

}  // namespace fmm::engine
