// SPDX-License-Identifier: BSD-3-Clause
// Targets that are chosen among the bodies of a plan, by their numbers: rows of the plan's own tree, and no second
// one. Tiles and cells without such targets are skipped, but launches have the shapes, and long rows the segments, that
// all targets have: a target is given the same bits.
//
// Invariant: the choice stays until another one is made; lists may be made anew meanwhile.
#pragma once

#include "charges.hpp"
#include "plan_data.hpp"
#include "results.hpp"
#include "stage.hpp"

namespace fmm::engine {

/// The first number that is not a body's.
template <class Numbers>
struct CheckNumbers {
  Numbers numbers;
  std::int64_t bodies;

  KOKKOS_FUNCTION void operator()(std::int64_t i, FirstIndex& bad) const {
    const auto number = numbers(i);
    if (number < 0 || std::int64_t(number) >= bodies || std::int64_t(number) < 0) bad.join({i});
  }
};

template <class Space, class Numbers>
struct CopyNumbers {
  Numbers from;
  Array<BodyIndex, Space> to;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { to(i) = BodyIndex(from(i)); }
};

/// Where each target is in the tree's order, which is marked.
template <class Space, class Numbers>
struct MarkTargets {
  Numbers numbers;
  Array<BodyIndex, Space> place_of_bodies, places;
  Array<int, Space> marks;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const BodyIndex place = place_of_bodies(std::int64_t(numbers(i)));
    places(i) = place;
    Kokkos::atomic_exchange(&marks(place), 1);
  }
};

/// The tiles with a mark, in their order, and behind them, in the last place of `count`, their number.
template <class Space>
struct MarkedTiles {
  Array<Tile, Space> tiles, chosen;
  Array<int, Space> marks;
  Array<Offset, Space> count;

  KOKKOS_FUNCTION void operator()(std::int64_t i, Offset& before, bool final) const {
    const Tile tile = tiles(i);
    bool is_marked = false;
    for (BodyIndex k = 0; k < tile.count && !is_marked; ++k) is_marked = marks(tile.first + k) != 0;
    if (final && is_marked) chosen(before) = tile;
    before += is_marked;
    if (final && i + 1 == std::int64_t(tiles.extent(0))) count(0) = before;
  }
};

/// Where the caller's bodies are in the tree's order; on a host in the memory that is given.
template <class Space, class Precision>
Array<BodyIndex, Space> places_of_bodies(Space const& space, BodyTree<Space, Precision> const& tree,
                                         Buffer<BodyIndex, Space>& memory) {
  if constexpr (gathers_results_v<Space>) return tree.place;
  const auto place = memory.resize(tree.size);
  for_range("fmm::places", space, tree.size, InvertPermutation<Space>{tree.permutation, place});
  return place;
}

/// Throws InvalidArgument unless all are numbers of n bodies.
template <class Space, class Numbers>
void check_numbers_of_bodies(Space const& space, Numbers const& numbers, std::int64_t n) {
  if (numbers.extent(0) > std::size_t(std::numeric_limits<BodyIndex>::max()))
    refuse_extent("targets", 0, numbers.extent(0), "at most 2147483647");
  const auto count = std::int64_t(numbers.extent(0));
  const std::int64_t bad =
      first_bad(space, "fmm::targets", count, CheckNumbers<Numbers>{numbers, n});
  if (bad < count)
    throw InvalidArgument("targets(" + std::to_string(bad) + ")", component(space, numbers, bad),
                          n > 0 ? "the number of a body, 0 to " + std::to_string(n - 1)
                                : std::string("none, of a plan without bodies"));
}

/// Solver::retarget by the numbers of bodies. Throws InvalidArgument before the plan is touched.
template <class Space, class Precision, class Numbers>
void choose_targets(Space const& space, PlanData<Space, Precision>& plan, Numbers const& numbers,
                    Report* report) {
  const auto count = std::int64_t(numbers.extent(0));
  const std::int64_t n = plan.tree.size;
  auto& memory = plan.memory.chosen;
  auto const& octree = plan.tree.octree;
  stage(space, report, "targets", [&] {
    check_numbers_of_bodies(space, numbers, n);
    plan.chosen = {false};
    if (count == 0) return;
    auto& chosen = plan.chosen;
    chosen.places = memory.places.resize(count);
    const auto marks = memory.marks.resize(n);
    fill(space, marks, 0);
    for_range(
        "fmm::targets::mark", space, count,
        MarkTargets<Space, Numbers>{numbers, places_of_bodies(space, plan.tree, plan.memory.place),
                                    chosen.places, marks});
    const auto tiles = std::int64_t(octree.tiles.extent(0));
    const auto number_of_tiles = memory.count.resize(1);
    scan<Offset>(
        "fmm::targets::tiles", space, tiles,
        MarkedTiles<Space>{octree.tiles, memory.tiles.resize(tiles), marks, number_of_tiles});
    chosen.tiles = memory.tiles.view(read_back(space, number_of_tiles.data()));
    const auto cells = std::int64_t(octree.cells.extent(0));
    if (cells == 0) return;
    chosen.bodies = memory.bodies.resize(cells);
    count_bodies_of_tiles(space, octree.cells, chosen.tiles, chosen.bodies);
  });
  if (report) add_work(*report, "targets", count);
}

}  // namespace fmm::engine
