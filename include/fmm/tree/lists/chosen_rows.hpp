// SPDX-License-Identifier: BSD-3-Clause
// Lists of chosen targets: of all rows those of cells with such targets, the others empty.
#pragma once

#include "lists.hpp"

namespace fmm::tree {

/// Adds the bodies of some tiles to the numbers of bodies in their leaves and in all cells above.
template <class Space>
struct CountBodiesOfTiles {
  Array<Cell, Space> cells;
  Array<Tile, Space> tiles;
  Array<BodyIndex, Space> bodies;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Tile tile = tiles(i);
    for (CellIndex cell = tile.cell; cell >= 0; cell = cells(cell).parent)
      Kokkos::atomic_fetch_add(&bodies(cell), tile.count);
  }
};

/// bodies(cell) = number of bodies in so many tiles, of which the cell has them. Cost: O(depth) a tile.
template <class Space>
void count_bodies_of_tiles(Space const& space, Array<Cell, Space> cells, Array<Tile, Space> tiles,
                           Array<BodyIndex, Space> bodies) {
  fill<BodyIndex>(space, bodies, 0);
  for_range("fmm::lists::chosen", space, std::int64_t(tiles.extent(0)),
            CountBodiesOfTiles<Space>{cells, tiles, bodies});
}

/// Where the rows begin, one more than there are rows.
template <class Space>
struct ChosenOffsets {
  Csr<Space> list;
  Array<BodyIndex, Space> bodies;
  Array<Offset, Space> offsets;

  KOKKOS_FUNCTION void operator()(std::int64_t row, Offset& sum, bool final) const {
    if (final) offsets(row) = sum;
    if (row < std::int64_t(bodies.extent(0)) && bodies(row) > 0) sum += list.length(row);
  }
};

template <class Space>
struct CopyChosenRows {
  Csr<Space> list, chosen;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    const Offset begin = list.begin(row), to = chosen.begin(row), length = chosen.length(row);
    for (Offset k = 0; k < length; ++k) chosen.entries(to + k) = list.entries(begin + k);
  }
};

/// The rows of cells with `bodies` above 0, in the memory of `buffers`. Cost: O(1) a cell and an entry of these, and a
/// wait for their number.
template <class Space>
Csr<Space> chosen_rows(Space const& space, Csr<Space> list, Array<BodyIndex, Space> bodies,
                       ListBuffers<Space>& buffers) {
  if (list.entries.extent(0) == 0) return list;
  const auto rows = std::int64_t(bodies.extent(0));
  const auto offsets = buffers.offsets.resize(rows + 1);
  scan<Offset>("fmm::lists::chosen", space, rows + 1, ChosenOffsets<Space>{list, bodies, offsets});
  buffers.total = read_back(space, offsets.data() + rows);
  buffers.make_room();
  const Csr<Space> chosen = buffers.csr(rows);
  for_range("fmm::lists::chosen", space, rows, CopyChosenRows<Space>{list, chosen});
  return chosen;
}

}  // namespace fmm::tree
