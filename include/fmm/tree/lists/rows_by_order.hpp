// SPDX-License-Identifier: BSD-3-Clause
// The entries of M2L's list by the order that each pair needs: every row in ranges, lowest order first.
#pragma once

#include "../../detail/launch.hpp"
#include "../criteria/variable_order.hpp"
#include "walks.hpp"

namespace fmm::tree {

/// Moves the entries of a row that lower orders are enough for to its front. Part k of row i, of lower order k, ends
/// at ends(k rows + i), where the next begins; what is behind the last of these needs the criterion's own order.
template <class Space, class Criterion>
struct RowsByOrder {
  static constexpr int ranges = Criterion::lower_count;
  typename Criterion::base at[ranges];  ///< the criterion at the lower orders
  Array<Cell, Space> cells;
  CellMeasures<Space> measures;
  Csr<Space> list;
  Array<Offset, Space> ends;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    const CellView target = view(CellIndex(row));
    const Offset end = list.offsets(row + 1);
    Offset front = list.offsets(row);
    for (int k = 0; k < ranges; ++k) {
      for (Offset e = front; e < end; ++e) {
        const CellIndex source = list.entries(e);
        if (at[k](target, view(source)) != Acceptance::m2l) continue;
        list.entries(e) = list.entries(front);
        list.entries(front++) = source;
      }
      ends(k * std::int64_t(cells.extent(0)) + row) = front;
    }
  }

 private:
  KOKKOS_FUNCTION CellView view(CellIndex index) const {
    return view_for<Criterion>(index, cells(index), measures);
  }
};

/// Puts the rows of `list`, which the criterion has filled with these options and measures, in that order. Cost: the
/// criterion once for each entry and order.
template <class Criterion, class Space>
void rows_by_order(Space const& space, Array<Cell, Space> cells, CriterionOptions const& options,
                   CellMeasures<Space> const& measures, Csr<Space> const& list,
                   Array<Offset, Space> ends) {
  using Functor = RowsByOrder<Space, Criterion>;
  const auto make = [&]<int... Lower>(std::integer_sequence<int, Lower...>) {
    return Functor{
        {criterion_at<typename Criterion::base>(options, Lower)...}, cells, measures, list, ends};
  };
  for_uneven("fmm::lists::orders", space, cells.extent(0), 64,
             make(typename Criterion::lower_order_sequence()));
}

}  // namespace fmm::tree
