// SPDX-License-Identifier: BSD-3-Clause
// What the operators with bodies as targets share: a team works on a tile of bodies of one leaf, and the
// lanes of a thread hold W bodies.
#pragma once

#include "../../cells/cell.hpp"
#include "../../detail/launch.hpp"
#include "../../tuning.hpp"
#include "../spherical/harmonics.hpp"

namespace fmm::kernels {

/// Which results are wanted: a compile-time choice that saves the other's work.
template <bool Potential, bool Field>
struct Wanted {
  static constexpr bool potential = Potential;
  static constexpr bool field = Field;
};

/// W bodies of a tile, one a lane; lanes beyond the tile repeat its last body and are not stored.
template <class V>
struct LaneBodies {
  using Real = lane_scalar_t<V>;
  static constexpr int W = lane_count_v<V>;
  V x, y, z;

  KOKKOS_FORCEINLINE_FUNCTION LaneBodies(Body<Real> const* body, int count) {
    if constexpr (W == 1) {
      x = body->x;
      y = body->y;
      z = body->z;
    } else {
      Real a[3][W];
      for (int l = 0; l < W; ++l) {
        const Body<Real>& b = body[l < count ? l : count - 1];
        a[0][l] = b.x;
        a[1][l] = b.y;
        a[2][l] = b.z;
      }
      x = LaneTraits<V>::load(a[0]);
      y = LaneTraits<V>::load(a[1]);
      z = LaneTraits<V>::load(a[2]);
    }
  }
};

/// Adds potentials, and fields = -gradients, of the first `count` lanes to the bodies' sums; or sets these, the
/// first time.
template <class Want, bool First = false, class V, class Sum>
KOKKOS_FORCEINLINE_FUNCTION void add_lanes(Sums<Sum>* sums, int count,
                                           PotentialGradient<V> const& value) {
  constexpr int W = lane_count_v<V>;
  lane_scalar_t<V> a[4][W];
  using T = LaneTraits<V>;
  T::store(value.potential, a[0]);
  T::store(value.x, a[1]);
  T::store(value.y, a[2]);
  T::store(value.z, a[3]);
  for (int l = 0; l < count; ++l) {
    Sums<Sum> s = {};
    if constexpr (!First) s = sums[l];
    if constexpr (Want::potential) s.potential += a[0][l];
    if constexpr (Want::field) {
      s.x -= a[1][l];
      s.y -= a[2][l];
      s.z -= a[3][l];
    }
    sums[l] = s;
  }
}

}  // namespace fmm::kernels
