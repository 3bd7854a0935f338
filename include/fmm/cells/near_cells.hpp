// SPDX-License-Identifier: BSD-3-Clause
// The cells whose bodies P2P sums for a target, for operators that visit them one by one.
#pragma once

#include "cell.hpp"

namespace fmm {

/// The leaf of the body with that index in tree order. Cost: O(depth).
template <class Space>
KOKKOS_FUNCTION CellIndex leaf_of(Array<Cell, Space> const& cells, BodyIndex body) {
  CellIndex cell = 0;
  while (!cells(cell).is_leaf()) {
    CellIndex child = cells(cell).child_begin;
    while (body >= cells(child).body_begin + cells(child).body_count) ++child;
    cell = child;
  }
  return cell;
}

/// visit(cell) for the cells in the leaf's row and, of one set, for the leaf itself, once and first.
template <bool OneSet, class Space, class Visit>
KOKKOS_FORCEINLINE_FUNCTION void for_near_cells(Csr<Space> const& list, CellIndex leaf,
                                                Visit const& visit) {
  if constexpr (OneSet) visit(leaf);
  for (Offset entry = list.begin(leaf); entry < list.end(leaf); ++entry)
    if (const CellIndex cell = list.entries(entry); !OneSet || cell != leaf) visit(cell);
}

}  // namespace fmm
