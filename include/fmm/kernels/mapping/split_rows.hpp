// SPDX-License-Identifier: BSD-3-Clause
// Very long rows of a list of leaves, split into segments, for P2P and M2P. Where large leaves lie near
// small ones, as above a disk or in a sphere's halo, a large one may have most of the small ones in its row,
// and on a GPU the team that has the row works on long after all others are done (docs/performance.md).
//
// The team of a tile has the first segment of the tile's row, and each further segment goes to a team of
// its own, with sums of its own. These are added to the targets' afterwards, in the order of the row, so
// that results do not depend on who came first.
#pragma once

#include "../../cells/cell.hpp"
#include "../../detail/launch.hpp"
#include "../../detail/memory.hpp"
#include "../../simd/simd.hpp"

namespace fmm::kernels {

/// Entries [begin, end) of a list for the targets in a tile.
struct RowSegment {
  Tile tile;
  Offset begin, end;
  Offset further;  ///< of a row's second segment: how many there are from it on; else 0
};

/// How many segments a row of that length has beyond its first, if they have `longest` entries at most; 0: it is whole.
KOKKOS_INLINE_FUNCTION constexpr Offset further_segments(Offset length, Offset longest) {
  return longest > 0 && length > longest ? (length - 1) / longest : 0;
}

/// Segment k of the row that the tile's leaf has in a list; segments are as even as can be.
template <class Space>
KOKKOS_INLINE_FUNCTION RowSegment segment_of_row(Tile const& tile, Csr<Space> const& list,
                                                 Offset longest, Offset k) {
  if (list.offsets.extent(0) == 0) return {tile, 0, 0, 0};
  const Offset begin = list.offsets(tile.cell), length = list.offsets(tile.cell + 1) - begin,
               further = further_segments(length, longest);
  return {tile, begin + length * k / (further + 1), begin + length * (k + 1) / (further + 1),
          k == 1 ? further : Offset(0)};
}

/// The segments of tiles' rows beyond the first ones. Without them a tile has its whole row.
template <class Space, class Sum>
struct SplitRows {
  Array<RowSegment, Space> further;  ///< tile by tile
  Array<Sums<Sum>, Space> sums;      ///< theirs, the records of `tile` targets each
  int tile = 0;
  Offset longest = 0;

  /// Teams with a further segment come first: these take longest.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t count() const { return std::int64_t(further.extent(0)); }
  KOKKOS_FORCEINLINE_FUNCTION bool is_further(std::int64_t team) const { return team < count(); }
  KOKKOS_FORCEINLINE_FUNCTION RowSegment of_team(std::int64_t team, Array<Tile, Space> const& tiles,
                                                 Csr<Space> const& list) const {
    return is_further(team) ? further(team)
                            : segment_of_row(tiles(team - count()), list, longest, Offset(0));
  }
  /// Where the sums of the segment's targets go, so many records each.
  template <int Records = 1>
  KOKKOS_FORCEINLINE_FUNCTION Sums<Sum>* sums_of_team(
      std::int64_t team, RowSegment const& segment,
      Array<Sums<Sum>, Space> const& of_bodies) const {
    return is_further(team) ? &sums(team * tile * Records)
                            : &of_bodies(std::int64_t(segment.tile.first) * Records);
  }
};

/// Memory of SplitRows.
template <class Space, class Sum>
struct SplitRowBuffers {
  Buffer<Offset, Space> before{"segments before tiles"};
  Buffer<RowSegment, Space> segments{"segments of rows"};
  Buffer<Sums<Sum>, Space> sums{"sums of segments"};

  std::size_t bytes() const { return before.bytes() + segments.bytes() + sums.bytes(); }
};

/// before(t): further segments of the tiles before tile t.
template <class Space>
struct CountSegments {
  Array<Tile, Space> tiles;
  Csr<Space> list;
  Offset longest;
  Array<Offset, Space> before;  ///< one longer than tiles

  KOKKOS_FUNCTION void operator()(std::int64_t t, Offset& sum, bool final) const {
    if (final) before(t) = sum;
    if (t < std::int64_t(tiles.extent(0)))
      sum += further_segments(list.length(tiles(t).cell), longest);
  }
};

/// The further segments of tile t.
template <class Space>
struct WriteSegments {
  CountSegments<Space> count;
  Array<RowSegment, Space> segments;

  KOKKOS_FUNCTION void operator()(std::int64_t t) const {
    const Offset first = count.before(t), further = count.before(t + 1) - first;
    for (Offset k = 1; k <= further; ++k)
      segments(first + k - 1) = segment_of_row(count.tiles(t), count.list, count.longest, k);
  }
};

/// Segments of at most `longest` entries of the rows of the tiles' leaves, or none if no row is longer. A tile has at
/// most `size` bodies, with so many records of sums each. Cost: O(1) a tile and a segment, and a wait for the number
/// of these.
template <class Space, class Sum>
SplitRows<Space, Sum> split_rows(Space const& space, Array<Tile, Space> tiles, Csr<Space> list,
                                 Offset longest, int size, SplitRowBuffers<Space, Sum>& buffers,
                                 int records = 1) {
  const auto count = std::int64_t(tiles.extent(0));
  const CountSegments<Space> counts{tiles, list, longest, buffers.before.resize(count + 1)};
  scan<Offset>("fmm::segments::count", space, count + 1, counts);
  const Offset further = read_back(space, counts.before.data() + count);
  if (further == 0) return {};
  // their number changes from build to build
  const Offset room = further + further / 32;
  buffers.segments.resize(room);
  buffers.sums.resize(room * size * records);
  SplitRows<Space, Sum> rows{buffers.segments.view(further),
                             buffers.sums.view(further * size * records), size, longest};
  for_range("fmm::segments::write", space, count, WriteSegments<Space>{counts, rows.further});
  fill<Sums<Sum>>(space, rows.sums, {});
  return rows;
}

/// Adds the sums of a row's further segments, for one record of one target.
template <class Space, class Sum, int Records>
struct AddSegmentSums {
  SplitRows<Space, Sum> rows;
  Array<Sums<Sum>, Space> sums;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    constexpr int batch = 8;  // loads that a thread waits for together
    const int records = rows.tile * Records;
    const std::int64_t number = i / records;
    const int record = int(i - number * records);
    const RowSegment segment = rows.further(number);
    if (segment.further == 0 || record >= segment.tile.count * Records) return;
    const std::int64_t at = std::int64_t(segment.tile.first) * Records + record;
    Sums<Sum> total = sums(at);
    for (Offset begin = 0; begin < segment.further; begin += batch) {
      Sums<Sum> next[batch] = {};
      FMM_UNROLL
      for (int b = 0; b < batch; ++b)
        if (begin + b < segment.further) next[b] = rows.sums(i + (begin + b) * records);
      FMM_UNROLL
      for (int b = 0; b < batch; ++b) {
        total.potential += next[b].potential;
        total.x += next[b].x;
        total.y += next[b].y;
        total.z += next[b].z;
      }
    }
    sums(at) = total;
  }
};

/// Adds the sums of all further segments to those of their targets.
template <int Records, class Space, class Sum>
void add_segment_sums(Space const& space, SplitRows<Space, Sum> const& rows,
                      Array<Sums<Sum>, Space> sums) {
  if (rows.count() > 0)
    for_range("fmm::segments::add", space, rows.count() * rows.tile * Records,
              AddSegmentSums<Space, Sum, Records>{rows, sums});
}

}  // namespace fmm::kernels
