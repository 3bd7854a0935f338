// SPDX-License-Identifier: BSD-3-Clause
// M2L at several orders: one kernel for each, of the pairs that it is enough for (tree/order_rows.hpp).
#pragma once

#include "../tree/traversal.hpp"
#include "evaluation.hpp"

namespace fmm::engine {

/// The same expansion with degrees up to Order; its numbers are the first of the larger one's.
template <class Expansion, int Order>
struct AtOrder;
template <int Larger, class Real, int Order>
struct AtOrder<SphericalExpansion<Larger, Real, Rotation>, Order> {
  using type = SphericalExpansion<Order, Real, Rotation>;
};

/// Entries of some parts of all rows.
template <class Space>
struct CountParts {
  RowParts<Space> list;
  KOKKOS_FUNCTION void operator()(std::int64_t row, std::int64_t& sum) const {
    sum += list.end(row) - list.begin(row);
  }
};

/// M2L of OrderPerPair's lists: of the expansions' own order, which sets the local expansions, then of the lower ones.
template <int... Lower>
struct FarFieldInOrders {
  static constexpr int parts = sizeof...(Lower);

  /// The part of each row that is of lower order k, or of the expansions' own if k is the number of these.
  template <class Space, class Precision>
  static RowParts<Space> part_of_rows(PlanStorage<Space, Precision> const& s, int k) {
    const std::int64_t rows = s.tree.cells.extent(0);
    const auto ends = s.traversal.order_ends.view(parts * rows);
    const auto end_of = [&](int p) { return part<Offset, Space>(ends, p * rows, rows); };
    auto const& offsets = s.lists.m2l.offsets;
    return {k == 0 ? part<Offset, Space>(offsets, 0, rows) : end_of(k - 1),
            k == parts ? part<Offset, Space>(offsets, 1, rows) : end_of(k), s.lists.m2l.entries};
  }

  template <class Expansion, class Space, class Precision, class Real>
  static void m2l(Space const& space, PlanStorage<Space, Precision>& s,
                  Array<Real, Space> multipoles, Array<Real, Space> locals) {
    m2l_of<Expansion, Expansion>(space, s, parts, multipoles, locals);
    int k = 0;
    (m2l_of<typename AtOrder<Expansion, Lower>::type, Expansion>(space, s, k++, multipoles, locals),
     ...);
  }

  template <class Expansion, class Space, class Precision>
  static void count(Space const& space, PlanStorage<Space, Precision> const& s, Report& report) {
    using Real = real_t<Precision>;
    auto others = std::int64_t(s.lists.m2l.entries.extent(0));
    const auto add = [&](int k, std::int64_t flops) {
      std::int64_t entries = 0;
      Kokkos::parallel_reduce("fmm::count", range(space, s.tree.cells.extent(0)),
                              CountParts<Space>{part_of_rows(s, k)}, entries);
      add_work(report, "m2l", entries, flops);
      others -= entries;
    };
    int k = 0;
    (add(k++, translation_flops<typename AtOrder<Expansion, Lower>::type, Real>().m2l), ...);
    add_work(report, "m2l", others, translation_flops<Expansion, Real>().m2l);
  }

 private:
  template <class Expansion, class Largest, class Space, class Precision, class Real>
  static void m2l_of(Space const& space, PlanStorage<Space, Precision>& s, int k,
                     Array<Real, Space> multipoles, Array<Real, Space> locals) {
    using Op = M2L<Space, Expansion, Real, RowParts<Space>, row_length(Largest::size),
                   !std::is_same_v<Expansion, Largest>>;
    gather_translated<Axial::m2l, Expansion>(
        "fmm::m2l", space, int(s.tree.cells.extent(0)), Tuning<Space, Real>::gather_team,
        Op{s.tree.cells, part_of_rows(s, k), multipoles, locals});
  }
};

/// The far field of a traversal by that translation scheme.
template <class Traversal, class Translation>
struct FarFieldOf {
  using type = FarFieldBy<Translation>;
};
template <class Traversal>
  requires has_lower_orders_v<typename Traversal::criterion>
struct FarFieldOf<Traversal, Rotation> {
  template <int... Lower>
  static FarFieldInOrders<Lower...> in(std::integer_sequence<int, Lower...>);
  using type = decltype(in(typename Traversal::criterion::lower_order_sequence()));
};

}  // namespace fmm::engine
