// SPDX-License-Identifier: BSD-3-Clause
// What bodies add to expansions (P2M, P2L): a charge's terms, and those of a dipole, which are the derivatives of a
// charge's along it.
#pragma once

#include "../simd/dual.hpp"
#include "strengths.hpp"

namespace fmm::kernels {

/// Charges, and dipoles if there are any, of W bodies, one a lane, of one density; lengths are in a cell's edges.
template <class Strengths, class V>
struct LaneStrengths {
  using Real = lane_scalar_t<V>;
  static constexpr int W = lane_count_v<V>, numbers = Strengths::has_dipoles ? 4 : 1;
  Real lane[numbers][W] = {};  ///< none

  template <class Sources>
  KOKKOS_FORCEINLINE_FUNCTION void load(int l, Sources const& sources, std::int64_t i,
                                        Body<Real> const& body, int density,
                                        [[maybe_unused]] Real per_edge) {
    lane[0][l] = sources.charge(i, body, density);
    if constexpr (Strengths::has_dipoles) FMM_UNROLL
    for (int c = 0; c < 3; ++c) lane[1 + c][l] = sources.dipole(i, density, c, per_edge);
  }
  KOKKOS_FORCEINLINE_FUNCTION V charge() const { return LaneTraits<V>::load(lane[0]); }

  /// add(x, y, z, q, sum), which adds charges' terms to an expansion, of these charges at x, y, z, and of the dipoles.
  template <class Add, class Sum>
  KOKKOS_FORCEINLINE_FUNCTION void expand(Add const& add, V x, V y, V z, Sum& sum) const {
    if constexpr (Strengths::has_dipoles) {
      using D = Dual<V>;
      using T = LaneTraits<V>;
      SlopesInto<Sum> slopes{sum};
      add(D(x, T::load(lane[1])), D(y, T::load(lane[2])), D(z, T::load(lane[3])),
          D(V(Real(1)), charge()), slopes);
    } else {
      add(x, y, z, charge(), sum);
    }
  }
};

}  // namespace fmm::kernels
