// SPDX-License-Identifier: BSD-3-Clause
// The pairs of bodies that a plan's near field sums.
#pragma once

#include "arrays.hpp"

namespace fmm {

/// Rows of source numbers, a row of each target: sources(offsets(i)) to sources(offsets(i + 1) - 1) are those that P2P
/// adds to target i one by one; all others act on it through expansions. Numbers are the caller's. A row has each of
/// its sources once, in no order, and of one set not the target itself; bodies at one point are in each other's rows.
/// Which others are near depends on the traversal: with FmmList all bodies of cells that touch the target's leaf are,
/// so that on a uniform tree no pair nearer than a leaf's edge is missing; with a criterion by radii pairs may be
/// accepted at any distance if their leaves' bodies lie close together.
template <class Space>
struct NearPairs {
  Kokkos::View<std::int64_t*, Device<Space>> offsets;  ///< (M + 1)
  Kokkos::View<BodyIndex*, Device<Space>> sources;     ///< (offsets(M))
};

}  // namespace fmm
