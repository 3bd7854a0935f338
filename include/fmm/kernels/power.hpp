// SPDX-License-Identifier: BSD-3-Clause
// The power of a multipole, degree by degree: what an acceptance criterion may estimate errors from
// (Dehnen 2014, Comput. Astrophys. Cosmol. 1:1, eq. 13).
#pragma once

#include <cmath>

#include "../detail/launch.hpp"
#include "expansion.hpp"

namespace fmm::kernels {

template <class Space, class Basis, class Real>
struct MultipolePowers : WithExpansion<Basis> {
  Array<Real, Space> multipoles;
  Array<float, Space> powers;

  KOKKOS_FUNCTION void operator()(std::int64_t cell) const {
    Real const* const M = multipoles.data() + cell * row_length(Basis::size);
    for (int n = 0; n <= Basis::order; ++n)
      powers(cell * (Basis::order + 1) + n) = float(this->expansion().power(M, n));
  }
};

/// powers(cell, n) of the degrees n = 0 .. order, (cells, order + 1), in units of edge^n; that of degree 0 is
/// the charge, with its sign. Cost: 2 (p+1)^2 flops a cell.
template <class Expansion, class Space, class Real>
void multipole_powers(Space const& space, std::int64_t cells, Array<Real, Space> multipoles,
                      Array<float, Space> powers, Expansion const& expansion = {}) {
  static_assert(
      requires(Real const* M) { expansion.power(M, basis_t<Expansion>::order); },
      "fmm: a criterion that uses powers needs an expansion that has order and power(M, n)");
  for_range("fmm::powers", space, cells,
            MultipolePowers<Space, basis_t<Expansion>, Real>{expansion, multipoles, powers});
}

}  // namespace fmm::kernels
