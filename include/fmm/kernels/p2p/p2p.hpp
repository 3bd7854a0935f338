// SPDX-License-Identifier: BSD-3-Clause
// P2P: the pair kernel summed over pairs of bodies (Yokota & Barba 2011, listing 9.1), for the near field of
// a tree, for all pairs, and for chosen targets. Include this for P2P; each file beside it has one idea:
//
//     chunk.hpp          sources in chunks in scratch memory
//     pairs.hpp          what sources of a chunk add to a target's sums
//     problem.hpp        the contract of a problem: tiles of targets, their sources, what becomes of sums
//     tile_layout.hpp    which thread sums what, and what a team has in scratch memory
//     tile_sums.hpp      the tile kernel, and its launch
//     close_sources.hpp  sources that mixed precision wants in two parts
//     listed_sources.hpp the problem of a tree: the leaves of a list
//     all_sources.hpp    the problem of all pairs and of chosen targets
//     batch_sources.hpp  the problem of all pairs within each of many sets
//
// Here the team's shape is chosen: shapes are template parameters, and Tuning says which one a number of
// tiles or targets gets. All calls are asynchronous in `space`; a target's sums are written by one thread.
#pragma once

#include "all_sources.hpp"
#include "batch_sources.hpp"
#include "listed_sources.hpp"

namespace fmm::kernels {

/// f(integral constant) with a run-time index of 0 .. Count - 1.
template <int Count, int Index = 0, class F>
void with_index(int index, F const& f) {
  if constexpr (Index + 1 < Count)
    if (index > Index) return with_index<Count, Index + 1>(index, f);
  f(std::integral_constant<int, Index>());
}

/// A kernel that stands for one of several, chosen at run time. P2P by it has overloads of its own (src/runtime).
template <class Kernel>
concept IsChoice = requires {
  typename Kernel::is_choice;
};

/// On a GPU noted sources take some of the scratch memory, and adding them some registers: of float 16 teams of a warp
/// have enough of both. Chunks of double stay as they are: half as long takes 5 % more time.
template <class Precision>
constexpr P2PShape near_field_shape(P2PShape shape) {
  if (two_part_v<Precision> && shape.split > 1) {
    if (sizeof(real_t<Precision>) == 4) shape.chunk /= 2;
    shape.resident = shape.resident > 0 ? 16 : 0;
  }
  return shape;
}

/// Where a target has several records of sums, registers have room for fewer targets; and where a source has several
/// numbers, a GPU's scratch memory has room for fewer sources.
template <class Space, class Precision, class Out, class Strengths>
constexpr P2PShape with_room_for(P2PShape shape) {
  constexpr int records = Out::records, most_source_bytes = records == 1 ? 28672 : 12288,
                source_bytes = ((two_part_v<Precision> ? 6 : 3) + Strengths::numbers) *
                               int(sizeof(real_t<Precision>));
  if (is_host_space_v<Space>) {
    if (records > 1) shape.targets = records < 4 ? 2 : 1;
    return shape;
  }
  while (shape.chunk * source_bytes > most_source_bytes) shape.chunk /= 2;
  if (records == 1) return shape;
  shape.resident = 0;
  if (records >= 3 && shape.targets % 2 == 0) {
    constexpr int most_stored = 31;  // TileLayout
    const bool fewer_share =
        shape.split > 1 && (shape.tile + shape.team - 1) / shape.team * records <= most_stored;
    if (fewer_share)
      shape.split /= 2;
    else
      shape.team *= 2;
    shape.targets /= 2;
  }
  return shape;
}

/// Adds to `sums` the pairs of the targets in `tiles`, those of a leaf each, with the cells of its row of `list`; its
/// own cell is implied and skipped in the list. `cells`, `bodies` and `low` are of one set or of two (cells/sets.hpp):
/// of two, no cell is implied, and no body is itself. `low` are the low parts of the bodies' coordinates, in mixed
/// precision, which are used for close sources; `how` says which. `others` are the sources' strengths beyond the first.
/// `rows` has further segments of these tiles' rows, if there are any. `left`, as long as there are teams, is for
/// unless_close_t on a GPU, which leaves the tiles with close sources; without it all tiles have two parts.
template <class Out, class Precision, class Strengths = Charges<>, class Space, class Kernel,
          class Cells, class Bodies>
  requires(!IsChoice<Kernel>)
void p2p(Space const& space, Kernel const& kernel_of_cube, Cells cells,
         std::type_identity_t<TargetTiles<Space>> tiles, Csr<Space> list, Bodies bodies,
         std::type_identity_t<Bodies> low, Array<Sums<sum_t<Precision>>, Space> sums,
         SplitRows<Space, sum_t<Precision>> rows = {}, MixedSums how = {},
         Array<real_t<Precision>, Space> others = {}, Array<int, Space> left = {}) {
  using Real = real_t<Precision>;
  using Shapes = Tuning<Space, Real>;
  const auto count = std::int64_t(tiles.tiles.extent(0));
  with_index<int(Shapes::near_field.size())>(
      Shapes::near_field_shape(tiles.all, space.concurrency()), [&](auto index) {
        const auto launch = [&]<class SomePrecision>(SomePrecision) {
          constexpr P2PShape shape = with_room_for<Space, SomePrecision, Out, Strengths>(
              near_field_shape<SomePrecision>(Shapes::near_field[decltype(index)::value]));
          launch_p2p(
              space, count + rows.count(),
              ListedSources<Space, Kernel, SomePrecision, shape, Out, Strengths, Cells, Bodies>{
                  cells, tiles.tiles, list, bodies, low, sums, kernel_of_cube, rows,
                  Real(leaves_close_v<SomePrecision> ? how.leaving : how.margin), how.short_sums,
                  others, left});
        };
        if constexpr (may_leave_tiles<Space, Precision>)
          if (left.extent(0) > 0) launch(unless_close_t<Precision>());
        launch(Precision());
      });
  add_segment_sums<Out::records>(space, rows, sums);
}

/// sums(i) of body i for all bodies, whose `tiles` are at most Tuning::all_pairs[shape].tile long; sums
/// in the unit 1 / per_unit of length. Cost: N^2 pairs. Of two sets (cells/sets.hpp) tiles and sums are the targets'.
template <class Out, class Precision, class Strengths = Charges<>, class Space, class Kernel,
          class Bodies>
  requires(!IsChoice<Kernel>)
void p2p_all(Space const& space, Kernel const& kernel_of_unit, double per_unit,
             Bodies const& bodies, Array<Tile, Space> tiles, int shape,
             Array<Sums<sum_t<Precision>>, Space> sums, Array<double, Space> others = {}) {
  using Shapes = Tuning<Space, real_t<Precision>>;
  with_index<int(Shapes::all_pairs.size())>(shape, [&](auto index) {
    constexpr P2PShape of_records =
        with_room_for<Space, Precision, Out, Strengths>(Shapes::all_pairs[decltype(index)::value]);
    using Problem = AllSources<Space, Kernel, Precision, of_records, Out, true, Strengths, Bodies>;
    launch_p2p(space, std::int64_t(tiles.extent(0)),
               Problem{bodies, tiles, {}, sums, kernel_of_unit, per_unit, others});
  });
}

/// The same within each of many sets: set s has bodies offsets(s) .. offsets(s + 1) - 1, and a tile is of the set that
/// its `cell` says. Cost: the sum of N^2 pairs of each set.
template <class Out, class Precision, class Strengths = Charges<>, class Space, class Kernel>
  requires(!IsChoice<Kernel>)
void p2p_batch(Space const& space, Kernel const& kernel_of_unit, double per_unit,
               Array<Body<double>, Space> bodies, Array<BodyIndex, Space> offsets,
               Array<Tile, Space> tiles, int shape, Array<Sums<sum_t<Precision>>, Space> sums,
               Array<double, Space> others = {}) {
  using Shapes = Tuning<Space, real_t<Precision>>;
  with_index<int(Shapes::all_pairs.size())>(shape, [&](auto index) {
    constexpr P2PShape of_records =
        with_room_for<Space, Precision, Out, Strengths>(Shapes::all_pairs[decltype(index)::value]);
    using Problem = BatchSources<Space, Kernel, Precision, of_records, Out, Strengths>;
    launch_p2p(space, std::int64_t(tiles.extent(0)),
               Problem{{bodies, tiles, {}, sums, kernel_of_unit, per_unit, others}, offsets});
  });
}

/// sums(i) of body targets(i) over the charges of all bodies, in double. Cost: M N pairs.
template <class Out, class Space, class Kernel>
  requires(!IsChoice<Kernel>)
void p2p_chosen(Space const& space, Kernel const& kernel_of_unit, double per_unit,
                Array<Body<double>, Space> bodies, Array<BodyIndex, Space> targets,
                Array<Sums<double>, Space> sums) {
  using Shapes = Tuning<Space, double>;
  const auto count = std::int64_t(targets.extent(0));
  with_index<int(Shapes::all_pairs.size())>(
      Shapes::all_pairs_shape(count, space.concurrency()), [&](auto index) {
        constexpr P2PShape shape = Shapes::all_pairs[decltype(index)::value];
        launch_p2p(space, (count + shape.tile - 1) / shape.tile,
                   AllSources<Space, Kernel, double, shape, Out, false>{
                       bodies, {}, targets, sums, kernel_of_unit, per_unit});
      });
}

}  // namespace fmm::kernels
