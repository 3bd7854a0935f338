// SPDX-License-Identifier: BSD-3-Clause
// Long rows of a list of leaves in parts, for P2P and M2P. Where large leaves lie near small ones, as above a disk or in
// a sphere's halo, a large one may have most of the small ones in its row, and on a GPU the team that has it works on
// long after all others are done (docs/performance.md). Parts of such a row go to teams of their own, whose sums are
// added to the targets' afterwards, in order, so that results do not depend on who came first.
#pragma once

#include "../../detail/memory.hpp"
#include "../../detail/scan.hpp"
#include "tile.hpp"

namespace fmm::kernels {

/// Entries [begin, end) of a list for the targets in a tile.
struct TilePart {
  Tile tile;
  Offset begin, end;
  Offset others;  ///< of a row's second part: how many there are from it on; else 0
};

/// How many parts a row of that length has beyond its first, if they have `longest` entries at most; 0: it is whole.
KOKKOS_INLINE_FUNCTION constexpr Offset other_parts(Offset length, Offset longest) {
  return longest > 0 && length > longest ? (length - 1) / longest : 0;
}

/// Part k of the row that the tile's leaf has in a list; parts are as even as can be.
template <class Space>
KOKKOS_INLINE_FUNCTION TilePart part_of_row(Tile const& tile, Csr<Space> const& list,
                                            Offset longest, Offset k) {
  if (list.offsets.extent(0) == 0) return {tile, 0, 0, 0};
  const Offset begin = list.offsets(tile.cell), length = list.offsets(tile.cell + 1) - begin,
               others = other_parts(length, longest);
  return {tile, begin + length * k / (others + 1), begin + length * (k + 1) / (others + 1),
          k == 1 ? others : Offset(0)};
}

/// The parts of tiles' rows beyond the first ones. Without them a tile has its whole row.
template <class Space, class Sum>
struct TileParts {
  Array<TilePart, Space> others;  ///< tile by tile
  Array<Sums<Sum>, Space> sums;   ///< theirs, `tile` each
  int tile = 0;
  Offset longest = 0;

  /// Teams with one of the others come first: these take longest.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t count() const { return std::int64_t(others.extent(0)); }
  KOKKOS_FORCEINLINE_FUNCTION bool is_other(std::int64_t team) const { return team < count(); }
  KOKKOS_FORCEINLINE_FUNCTION TilePart of_team(std::int64_t team, Array<Tile, Space> const& tiles,
                                               Csr<Space> const& list) const {
    return is_other(team) ? others(team)
                          : part_of_row(tiles(team - count()), list, longest, Offset(0));
  }
  /// Where the sums of the part's targets go.
  KOKKOS_FORCEINLINE_FUNCTION Sums<Sum>* sums_of_team(
      std::int64_t team, TilePart const& part, Array<Sums<Sum>, Space> const& of_bodies) const {
    return is_other(team) ? &sums(team * tile) : &of_bodies(part.tile.first);
  }
};

/// Memory of TileParts.
template <class Space, class Sum>
struct TilePartBuffers {
  Buffer<Offset, Space> before{"parts before tiles"};
  Buffer<TilePart, Space> parts{"parts of rows"};
  Buffer<Sums<Sum>, Space> sums{"sums of parts"};

  std::size_t bytes() const { return before.bytes() + parts.bytes() + sums.bytes(); }
};

/// before(t): other parts of the tiles before tile t.
template <class Space>
struct CountTileParts {
  Array<Tile, Space> tiles;
  Csr<Space> list;
  Offset longest;
  Array<Offset, Space> before;  ///< one longer than tiles

  KOKKOS_FUNCTION void operator()(std::int64_t t, Offset& sum, bool final) const {
    if (final) before(t) = sum;
    if (t < std::int64_t(tiles.extent(0))) sum += other_parts(list.length(tiles(t).cell), longest);
  }
};

/// The other parts of tile t.
template <class Space>
struct WriteTileParts {
  CountTileParts<Space> count;
  Array<TilePart, Space> parts;

  KOKKOS_FUNCTION void operator()(std::int64_t t) const {
    const Offset first = count.before(t), others = count.before(t + 1) - first;
    for (Offset k = 1; k <= others; ++k)
      parts(first + k - 1) = part_of_row(count.tiles(t), count.list, count.longest, k);
  }
};

/// Parts of at most `longest` entries of the rows of the tiles' leaves, or none if no row is longer. A tile has at
/// most `size` bodies. Cost: O(1) a tile and a part, and a wait for the number of these.
template <class Space, class Sum>
TileParts<Space, Sum> cut_rows(Space const& space, Array<Tile, Space> tiles, Csr<Space> list,
                               Offset longest, int size, TilePartBuffers<Space, Sum>& buffers) {
  const auto count = std::int64_t(tiles.extent(0));
  const CountTileParts<Space> counts{tiles, list, longest, buffers.before.resize(count + 1)};
  scan<Offset>("fmm::parts::count", space, count + 1, counts);
  const Offset others = read_back(space, counts.before.data() + count);
  if (others == 0) return {};
  // their number changes from build to build
  const Offset room = others + others / 32;
  buffers.parts.resize(room);
  buffers.sums.resize(room * size);
  TileParts<Space, Sum> parts{buffers.parts.view(others), buffers.sums.view(others * size), size,
                              longest};
  for_range("fmm::parts::write", space, count, WriteTileParts<Space>{counts, parts.others});
  Kokkos::deep_copy(space, parts.sums, Sums<Sum>{});
  return parts;
}

/// Adds the sums of a row's other parts, for one target.
template <class Space, class Sum>
struct AddOtherParts {
  TileParts<Space, Sum> parts;
  Array<Sums<Sum>, Space> sums;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    constexpr int batch = 8;  // loads that a thread waits for together
    const std::int64_t other = i / parts.tile;
    const int target = int(i - other * parts.tile);
    const TilePart part = parts.others(other);
    if (part.others == 0 || target >= part.tile.count) return;
    Sums<Sum> total = sums(part.tile.first + target);
    for (Offset begin = 0; begin < part.others; begin += batch) {
      Sums<Sum> next[batch] = {};
      FMM_UNROLL
      for (int b = 0; b < batch; ++b)
        if (begin + b < part.others) next[b] = parts.sums(i + (begin + b) * parts.tile);
      FMM_UNROLL
      for (int b = 0; b < batch; ++b) {
        total.potential += next[b].potential;
        total.x += next[b].x;
        total.y += next[b].y;
        total.z += next[b].z;
      }
    }
    sums(part.tile.first + target) = total;
  }
};

/// Adds the sums of all other parts to those of their targets.
template <class Space, class Sum>
void add_other_parts(Space const& space, TileParts<Space, Sum> const& parts,
                     Array<Sums<Sum>, Space> sums) {
  if (parts.count() > 0)
    for_range("fmm::parts::add", space, parts.count() * parts.tile,
              AddOtherParts<Space, Sum>{parts, sums});
}

}  // namespace fmm::kernels
