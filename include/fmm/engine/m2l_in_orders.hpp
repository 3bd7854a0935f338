// SPDX-License-Identifier: BSD-3-Clause
// M2L at several orders: one kernel for each, of the pairs that it is enough for (tree/lists/rows_by_order.hpp).
#pragma once

#include "../tree/traversal.hpp"
#include "m2l_scheme.hpp"

namespace fmm::engine {

/// The same expansion with degrees up to Order; its numbers are the first of the larger one's.
template <class Expansion, int Order>
struct AtOrder;
template <int Larger, class Real, int Order>
struct AtOrder<SphericalExpansion<Larger, Real, Rotation>, Order> {
  using type = SphericalExpansion<Order, Real, Rotation>;
};

/// Entries in ranges of all rows.
template <class Space>
struct CountRanges {
  RowRanges<Space> list;
  KOKKOS_FUNCTION void operator()(std::int64_t row, SumOf<std::int64_t>& sum) const {
    sum.value += list.end(row) - list.begin(row);
  }
};

/// M2L of VariableOrder's lists: of the expansions' own order, which sets the local expansions, then of the lower ones.
template <int... Lower>
struct M2LInOrders {
  static constexpr int lower = sizeof...(Lower);
  static constexpr bool takes_some_rows = false;  ///< rows' orders are kept beside the list

  /// The range of each row that is of lower order k, or of the expansions' own if k is the number of these.
  template <class Space, class Precision>
  static RowRanges<Space> rows_of_order(Workspace<Space, Precision> const& memory, Csr<Space> list,
                                        int k) {
    const auto rows = std::int64_t(list.offsets.extent(0)) - 1;
    const auto ends = memory.traversal.order_ends.view(lower * rows);
    const auto end_of = [&](int p) { return subarray<Offset, Space>(ends, p * rows, rows); };
    auto const& offsets = list.offsets;
    return {k == 0 ? subarray<Offset, Space>(offsets, 0, rows) : end_of(k - 1),
            k == lower ? subarray<Offset, Space>(offsets, 1, rows) : end_of(k), list.entries};
  }

  template <class Expansion, class Space, class Precision, class Cells, class Real>
  static void m2l(Space const& space, Workspace<Space, Precision>& memory, Cells const& cells,
                  Csr<Space> list, Array<Real, Space> multipoles, Array<Real, Space> locals,
                  Expansion const& = {}) {
    static_assert(is_one_set_v<Cells>,
                  "fmm: VariableOrder is for targets that are the sources, in their place");
    m2l_of<Expansion, Expansion>(space, cells, rows_of_order(memory, list, lower), multipoles,
                                 locals);
    int k = 0;
    (m2l_of<typename AtOrder<Expansion, Lower>::type, Expansion>(
         space, cells, rows_of_order(memory, list, k++), multipoles, locals),
     ...);
  }

  template <class Expansion, class Space, class Precision>
  static void count(Space const& space, Workspace<Space, Precision> const& memory, Csr<Space> list,
                    Report& report, Expansion const& = {}) {
    using Real = real_t<Precision>;
    auto others = std::int64_t(list.entries.extent(0));
    const auto add = [&](int k, std::int64_t flops) {
      const auto entries =
          reduce<SumOf<std::int64_t>>("fmm::count", space, std::int64_t(list.offsets.extent(0)) - 1,
                                      CountRanges<Space>{rows_of_order(memory, list, k)})
              .value;
      add_work(report, "m2l", entries, flops);
      others -= entries;
    };
    int k = 0;
    (add(k++, translation_flops<typename AtOrder<Expansion, Lower>::type, Real>().m2l), ...);
    add_work(report, "m2l", others, translation_flops<Expansion, Real>().m2l);
  }

 private:
  template <class Expansion, class Largest, class Space, class Real>
  static void m2l_of(Space const& space, Array<Cell, Space> cells, RowRanges<Space> list,
                     Array<Real, Space> multipoles, Array<Real, Space> locals) {
    using Op = M2L<Space, Expansion, Real, RowRanges<Space>, row_length(Largest::size),
                   !std::is_same_v<Expansion, Largest>>;
    gather_translated<Axial::m2l, Expansion>("fmm::m2l", space, int(cells.extent(0)),
                                             Tuning<Space, Real>::gather_team,
                                             Op{Expansion(), cells, list, multipoles, locals});
  }
};

template <class Method>
struct M2LSchemeOf {
  using type = M2LBy<typename Method::translation>;
};
template <class Method>
  requires(!Method::has_locals)
struct M2LSchemeOf<Method> {
  using type = NoM2L;
};
template <class Method>
  requires(Method::has_locals&& has_lower_orders_v<typename Method::traversal::criterion>)
struct M2LSchemeOf<Method> {
  template <int... Lower>
  static M2LInOrders<Lower...> in(std::integer_sequence<int, Lower...>);
  using type = decltype(in(typename Method::traversal::criterion::lower_order_sequence()));
};

/// How a method does M2L.
template <class Method, class Scheme = typename M2LSchemeOf<Method>::type>
using m2l_scheme_t =
    std::conditional_t<traits_v<typename Method::traversal>.only_m2l && Method::has_locals,
                       OnlyM2L<Scheme>, Scheme>;

}  // namespace fmm::engine
