// SPDX-License-Identifier: BSD-3-Clause
// Pair kernels whose expansions lack something: what they do have.
#pragma once

#include <fmm/fmm.hpp>

/// u = w = r^2.
struct KernelWithoutExpansion {
  template <class Real>
  KOKKOS_FUNCTION fmm::PairTerm<Real> operator()(Real r2) const {
    return {r2, r2};
  }
};

/// Of an expansion: bodies into multipoles, and multipoles up the tree.
struct TakesBodies {
  template <class V>
  KOKKOS_FUNCTION static void p2m(V, V, V, V, V*) {}
  template <class V>
  KOKKOS_FUNCTION static void m2m(V, V, V, V*) {}
};

/// Of an expansion: multipoles on bodies.
template <class Real>
struct ActsOnBodies {
  static constexpr int size = 1;
  template <bool P, bool F, class V>
  KOKKOS_FUNCTION static void m2p(V, V, V, Real, Real const*, fmm::kernels::PotentialGradient<V>&) {
  }
};
