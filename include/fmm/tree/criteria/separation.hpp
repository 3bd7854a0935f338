// SPDX-License-Identifier: BSD-3-Clause
// Two balls far enough apart for expansions: what criteria that go by radii share.
#pragma once

#include "../../cells/geometry.hpp"
#include "../../detail/kokkos_compat.hpp"
#include "acceptance.hpp"

namespace fmm::tree {

/// (r_a + r_b)^2 < theta^2 R^2. Two empty radii at one centre are two bodies at one point: never separated.
struct Separation {
  float theta2;
  explicit Separation(double theta) : theta2(float(theta * theta)) {}

  template <class V>
  KOKKOS_FUNCTION auto holds(V r, V R2) const {
    return r * r < theta2 * R2;
  }
};

}  // namespace fmm::tree
