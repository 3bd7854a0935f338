// SPDX-License-Identifier: BSD-3-Clause
// Transposed lists: rows of the cells that were sources, of those that were targets. What was evaluated at bodies (M2P)
// becomes bodies that act on expansions (P2L), and the other way round: the sums with them are the transpose of the
// sums before, to rounding, since P2M and L2P, M2M and L2L, P2L and M2P are each other's transposes.
//
// Invariant: a row's entries ascend, whatever the threads do first.
#pragma once

#include "lists.hpp"

namespace fmm::tree {

/// How often each cell is in a list.
template <class Space>
struct CountColumns {
  Csr<Space> list;
  Array<Offset, Space> counts;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    for (Offset k = list.begin(row); k < list.end(row); ++k)
      Kokkos::atomic_fetch_add(&counts(list.entries(k)), Offset(1));
  }
};

/// Each entry into the row of its cell, in any order; next(cell) moves from the row's begin to its end.
template <class Space>
struct WriteColumns {
  Csr<Space> list;
  Array<Offset, Space> next;
  Array<CellIndex, Space> entries;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    for (Offset k = list.begin(row); k < list.end(row); ++k)
      entries(Kokkos::atomic_fetch_add(&next(list.entries(k)), Offset(1))) = CellIndex(row);
  }
};

/// Sorts each row in its place, by heapsort.
template <class Space>
struct SortRows {
  Csr<Space> list;

  KOKKOS_FUNCTION void operator()(std::int64_t row, MaxOf<Offset>& longest) const {
    CellIndex* const entries = list.entries.data() + list.begin(row);
    const Offset length = list.end(row) - list.begin(row);
    longest.join({length});
    for (Offset root = length / 2 - 1; root >= 0; --root) sift(entries, root, length);
    for (Offset end = length - 1; end > 0; --end) {
      const CellIndex largest = entries[0];
      entries[0] = entries[end];
      entries[end] = largest;
      sift(entries, 0, end);
    }
  }

 private:
  KOKKOS_FUNCTION static void sift(CellIndex* entries, Offset root, Offset end) {
    const CellIndex sinking = entries[root];
    for (Offset child = 2 * root + 1; child < end; child = 2 * root + 1) {
      if (child + 1 < end && entries[child + 1] > entries[child]) ++child;
      if (entries[child] <= sinking) break;
      entries[root] = entries[child];
      root = child;
    }
    entries[root] = sinking;
  }
};

/// One list, of so many targets' `rows`, with a row for each of the sources' `columns`.
template <class Space>
Csr<Space> transposed(Space const& space, Csr<Space> list, std::int64_t rows, std::int64_t columns,
                      ListBuffers<Space>& buffers, Buffer<Offset, Space>& next_buffer) {
  if (list.offsets.extent(0) == 0) return {};
  buffers.total = Offset(list.entries.extent(0));
  buffers.longest = 0;
  buffers.make_room();
  const auto offsets = buffers.offsets.resize(columns + 1);
  const auto next = next_buffer.resize(columns);
  Csr<Space> result = buffers.csr(columns);
  fill(space, next, Offset(0));
  for_range("fmm::lists::count_columns", space, rows, CountColumns<Space>{list, next});
  exclusive_scan(space, next, offsets);
  using Memory = typename Space::memory_space;
  copy_bytes<Memory, Memory>(space, offsets.data(), next.data(), columns * sizeof(Offset));
  for_range("fmm::lists::write_columns", space, rows,
            WriteColumns<Space>{list, next, result.entries});
  result.longest =
      reduce<MaxOf<Offset>>("fmm::lists::sort_columns", space, columns, SortRows<Space>{result})
          .value;
  return result;
}

/// All lists, in the memory of `buffers`. Cost: O(E log E) for a row of E entries, and a wait for each list.
template <class Space>
InteractionLists<Space> transposed(Space const& space, InteractionLists<Space> const& lists,
                                   std::int64_t rows, std::int64_t columns,
                                   TraversalBuffers<Space>& buffers) {
  const auto of = [&](Csr<Space> const& list, ListBuffers<Space>& to) {
    return transposed(space, list, rows, columns, to, buffers.sums);
  };
  return {of(lists.m2l, buffers.m2l), of(lists.m2p, buffers.p2l), of(lists.p2l, buffers.m2p),
          of(lists.p2p, buffers.p2p)};
}

}  // namespace fmm::tree
