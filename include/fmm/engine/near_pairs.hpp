// SPDX-License-Identifier: BSD-3-Clause
// The near field's pairs in rows, for callers that sum some of them in another way.
#pragma once

#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "../cells/near_cells.hpp"
#include "../detail/scan.hpp"
#include "../errors.hpp"
#include "../near_pairs.hpp"
#include "plan_data.hpp"

namespace fmm::engine {

/// Visits the sources of one target: those of the cells near its leaf.
template <class Space, class Sets>
struct NearSources {
  Sets cells;
  Csr<Space> list;
  Array<BodyIndex, Space> places;  ///< of chosen targets in tree order; none: all, in that order
  Array<BodyIndex, Space> numbers, source_numbers;  ///< the caller's
  static constexpr bool one_set = is_one_set_v<Sets>;

  /// The target's row.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row(std::int64_t i) const {
    return places.extent(0) > 0 ? i : std::int64_t(numbers(i));
  }
  /// visit(source) for all sources of target i.
  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, Visit const& visit) const {
    const auto target = places.extent(0) > 0 ? places(i) : BodyIndex(i);
    for_near_cells<one_set>(list, leaf_of(targets_of(cells), target), [&](CellIndex index) {
      const Cell cell = sources_of(cells)(index);
      for (BodyIndex j = cell.body_begin; j < cell.body_begin + cell.body_count; ++j)
        if (!one_set || j != target) visit(source_numbers(j));
    });
  }
};

/// How many sources each target has, in the order of rows.
template <class Space, class Sets>
struct CountNearSources {
  NearSources<Space, Sets> near;
  Array<Offset, Space> counts;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    Offset count = 0;
    near(i, [&](BodyIndex) { ++count; });
    counts(near.row(i)) = count;
  }
};

template <class Space, class Sets>
struct WriteNearSources {
  NearSources<Space, Sets> near;
  Array<Offset, Space> offsets;
  Array<BodyIndex, Space> sources;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    Offset next = offsets(near.row(i));
    near(i, [&](BodyIndex source) { sources(next++) = source; });
  }
};

/// A View of so many numbers, which are not set. Throws OutOfMemory.
template <class View>
View allocate_rows(char const* label, std::size_t count) {
  const std::size_t bytes = count * sizeof(typename View::value_type);
  constexpr bool on_host = std::is_same_v<typename View::memory_space, Kokkos::HostSpace>;
  if (on_host && bytes > available_host_memory()) throw OutOfMemory(label, bytes);
  try {
    return View(Kokkos::view_alloc(Kokkos::WithoutInitializing, std::string(label)), count);
  } catch (std::bad_alloc const&) {
    throw OutOfMemory(label, bytes);
  } catch (std::runtime_error const&) {
    throw OutOfMemory(label, bytes);
  }
}

/// The rows of so many targets: all, or those at these `places`. Throws InvalidArgument for a plan without lists,
/// OutOfMemory for rows that there is no room for. Returns when all is there.
template <class PublicSpace, class Space, class Precision, class Shift>
NearPairs<PublicSpace> near_pairs(Space const& space, BodySets<Space, Precision, Shift> const& sets,
                                  Csr<Space> const& list, std::int64_t targets,
                                  Array<BodyIndex, Space> places) {
  NearPairs<PublicSpace> pairs;
  const bool is_empty = targets == 0 || sets.sources.size == 0;
  if (!is_empty && list.offsets.extent(0) == 0)
    throw InvalidArgument("plan", "without lists", "evaluated once, since its lists follow then");
  pairs.offsets =
      allocate_rows<decltype(pairs.offsets)>("fmm::near_pairs::offsets", std::size_t(targets) + 1);
  if (is_empty) {
    fill(space, Array<Offset, Space>(pairs.offsets.data(), pairs.offsets.size()), Offset(0));
    space.fence();
    return pairs;
  }
  using Sets = decltype(sets.cells());
  constexpr int chunk = 256;
  const NearSources<Space, Sets> near{sets.cells(), list, places, sets.targets.permutation,
                                      sets.sources.permutation};
  const Array<Offset, Space> offsets(pairs.offsets.data(), pairs.offsets.size());
  Buffer<Offset, Space> buffer("near pairs' counts");
  const auto counts = buffer.resize(targets);
  for_uneven("fmm::near_pairs::count", space, targets, chunk,
             CountNearSources<Space, Sets>{near, counts});
  exclusive_scan(space, counts, offsets);
  const auto total = std::size_t(read_back(space, offsets.data() + targets));
  pairs.sources = allocate_rows<decltype(pairs.sources)>("fmm::near_pairs::sources", total);
  for_uneven(
      "fmm::near_pairs::write", space, targets, chunk,
      WriteNearSources<Space, Sets>{
          near, offsets, Array<BodyIndex, Space>(pairs.sources.data(), pairs.sources.size())});
  space.fence();
  return pairs;
}

}  // namespace fmm::engine
