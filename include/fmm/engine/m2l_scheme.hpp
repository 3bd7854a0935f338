// SPDX-License-Identifier: BSD-3-Clause
// How M2L is done with all pairs of a list by an expansion: a scheme has `m2l`, and `count`, which adds its work to a
// report. Others: batched_gemm.hpp, m2l_in_orders.hpp.
#pragma once

#include "../kernels/flops.hpp"
#include "../kernels/m2l.hpp"
#include "../report.hpp"
#include "stage.hpp"
#include "workspace.hpp"

namespace fmm::engine {

/// One translation a list entry, unless the translation has a way of its own (batched_gemm.hpp).
template <class Translation>
struct M2LBy {
  template <class Expansion, class Space, class Precision, class Cells, class Real>
  static void m2l(Space const& space, Workspace<Space, Precision>&, Cells const& cells,
                  Csr<Space> list, Array<Real, Space> multipoles, Array<Real, Space> locals,
                  Expansion const& expansion = {}) {
    kernels::m2l<Expansion>(space, cells, list, multipoles, locals, expansion);
  }
  /// The same of several densities, whose expansions follow one another.
  template <class Expansion, int Densities, class Space, class Cells, class Real>
  static void m2l_of_densities(Space const& space, Cells const& cells, Csr<Space> list,
                               Array<Real, Space> multipoles, Array<Real, Space> locals,
                               Expansion const& expansion) {
    kernels::m2l_of_densities<Expansion, Densities>(space, cells, list, multipoles, locals,
                                                    expansion);
  }
  template <class Expansion, class Space, class Precision>
  static void count(Space const&, Workspace<Space, Precision> const&, Csr<Space> list,
                    Report& report, Expansion const& expansion = {}) {
    add_work(report, "m2l", std::int64_t(list.entries.extent(0)),
             translation_flops<Expansion, real_t<Precision>>(expansion).m2l);
  }
};

/// A treecode's: there are no local expansions.
struct NoM2L {};

/// One whose lists have M2L (without local expansions: M2P in its place) and no other way.
template <class M2LScheme>
struct OnlyM2L : M2LScheme {};

/// Whether M2L may be given some rows of the plan's list alone; if a scheme says nothing, it may.
template <class M2LScheme>
inline constexpr bool takes_some_rows_v = true;
template <class M2LScheme>
  requires requires { M2LScheme::takes_some_rows; }
inline constexpr bool takes_some_rows_v<M2LScheme> = M2LScheme::takes_some_rows;

template <class M2LScheme>
inline constexpr bool has_locals_v = !std::is_base_of_v<NoM2L, M2LScheme>;
template <class M2LScheme>
inline constexpr bool has_only_m2l_v = false;
template <class M2LScheme>
inline constexpr bool has_only_m2l_v<OnlyM2L<M2LScheme>> = true;

}  // namespace fmm::engine
