// SPDX-License-Identifier: BSD-3-Clause
// The near field's pairs in rows, for callers that sum some of them in another way.
#pragma once

#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "../detail/scan.hpp"
#include "../errors.hpp"
#include "../near_pairs.hpp"
#include "../tuning.hpp"
#include "plan_data.hpp"

namespace fmm::engine {

/// Visits the sources of one target: those of its leaf's row and, of one set, of the leaf itself.
template <class Space, class Sets>
struct NearSources {
  Sets cells;
  Array<Tile, Space> tiles;
  Csr<Space> list;
  int tile_size;
  static constexpr bool one_set = is_one_set_v<Sets>;

  /// Target i % tile_size of tile i / tile_size, if there is one: visit(target, source), in tree order.
  template <class Begin, class Visit>
  KOKKOS_FUNCTION void operator()(std::int64_t i, Begin const& begin, Visit const& visit) const {
    const Tile tile = tiles(i / tile_size);
    const auto k = BodyIndex(i % tile_size);
    if (k >= tile.count) return;
    const BodyIndex target = tile.first + k;
    begin(target);
    const auto visit_cell = [&](CellIndex index) {
      const Cell cell = sources_of(cells)(index);
      for (BodyIndex j = cell.body_begin; j < cell.body_begin + cell.body_count; ++j)
        if (!one_set || j != target) visit(j);
    };
    if constexpr (one_set) visit_cell(tile.cell);
    for (Offset entry = list.begin(tile.cell); entry < list.end(tile.cell); ++entry)
      if (!one_set || list.entries(entry) != tile.cell) visit_cell(list.entries(entry));
  }
};

/// How many sources each target has, in the caller's order.
template <class Space, class Sets>
struct CountNearSources {
  NearSources<Space, Sets> near;
  Array<BodyIndex, Space> target_numbers;
  Array<Offset, Space> counts;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    Offset* count = nullptr;
    near(
        i, [&](BodyIndex target) { *(count = &counts(target_numbers(target))) = 0; },
        [&](BodyIndex) { ++*count; });
  }
};

template <class Space, class Sets>
struct WriteNearSources {
  NearSources<Space, Sets> near;
  Array<BodyIndex, Space> target_numbers, source_numbers;
  Array<Offset, Space> offsets;
  Array<BodyIndex, Space> sources;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    Offset next = 0;
    near(
        i, [&](BodyIndex target) { next = offsets(target_numbers(target)); },
        [&](BodyIndex source) { sources(next++) = source_numbers(source); });
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

/// The rows of all targets. Throws InvalidArgument for a plan without lists, OutOfMemory for rows that there is no room
/// for. Returns when all is there.
template <class PublicSpace, class Space, class Precision, class Shift>
NearPairs<PublicSpace> near_pairs(Space const& space, BodySets<Space, Precision, Shift> const& sets,
                                  Csr<Space> const& list) {
  const std::int64_t targets = sets.targets.size;
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
  const int tile_size = Tuning<Space, real_t<Precision>>::tile;
  auto const& tiles = sets.targets.octree.tiles;
  const NearSources<Space, Sets> near{sets.cells(), tiles, list, tile_size};
  const auto items = std::int64_t(tiles.extent(0)) * tile_size;
  const Array<Offset, Space> offsets(pairs.offsets.data(), pairs.offsets.size());
  Buffer<Offset, Space> buffer("near pairs' counts");
  const auto counts = buffer.resize(targets);
  for_uneven("fmm::near_pairs::count", space, items, tile_size,
             CountNearSources<Space, Sets>{near, sets.targets.permutation, counts});
  exclusive_scan(space, counts, offsets);
  const auto total = std::size_t(read_back(space, offsets.data() + targets));
  pairs.sources = allocate_rows<decltype(pairs.sources)>("fmm::near_pairs::sources", total);
  for_uneven("fmm::near_pairs::write", space, items, tile_size,
             WriteNearSources<Space, Sets>{
                 near, sets.targets.permutation, sets.sources.permutation, offsets,
                 Array<BodyIndex, Space>(pairs.sources.data(), pairs.sources.size())});
  space.fence();
  return pairs;
}

}  // namespace fmm::engine
