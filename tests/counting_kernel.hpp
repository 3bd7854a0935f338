// SPDX-License-Identifier: BSD-3-Clause
// A kernel that counts: whether every pair of bodies is summed, and once.
#pragma once

#include "support.hpp"

namespace fmm_test {

/// u = 1, w = 0: the potential is the sum of all other charges. Its expansion is one number, which acts from
/// a distance on, with P2L or without.
template <bool WithP2L>
struct CountingKernel {
  double distance = 0;
  double support() const { return distance; }

  template <int Order, class Real, class Translation>
  struct Expansion {
    static constexpr int size = 1, order = 0;
    KOKKOS_FUNCTION static Real power(Real const* M, int) { return M[0]; }
    template <class V>
    KOKKOS_FUNCTION static void p2m(V, V, V, V q, V* M) {
      M[0] += q;
    }
    template <class V>
    KOKKOS_FUNCTION static void m2m(V, V, V, V*) {}
    template <class V>
    KOKKOS_FUNCTION static void m2l(V, V, V, V, V, V*) {}
    template <class V>
    KOKKOS_FUNCTION static void l2l(V, V, V, V*) {}
    template <class V>
    KOKKOS_FUNCTION static void p2l(V, V, V, V q, Real, V* L) requires WithP2L {
      L[0] += q;
    }
    template <bool P, bool F, class V>
    KOKKOS_FUNCTION static fmm::kernels::PotentialGradient<V> l2p(V, V, V, Real const* L) {
      return {V(L[0]), V(Real(0)), V(Real(0)), V(Real(0))};
    }
    template <bool P, bool F, class V>
    KOKKOS_FUNCTION static void m2p(V, V, V, Real, Real const* M,
                                    fmm::kernels::PotentialGradient<V>& sum) {
      sum.potential += V(M[0]);
    }
  };

  template <class Real>
  KOKKOS_FUNCTION fmm::PairTerm<Real> operator()(Real) const {
    return {Real(1), Real(0)};
  }
  KOKKOS_FUNCTION CountingKernel rescaled(double) const { return *this; }
  KOKKOS_FUNCTION double potential_unit(double) const { return 1; }
};

}  // namespace fmm_test
