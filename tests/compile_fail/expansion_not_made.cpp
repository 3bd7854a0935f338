// SPDX-License-Identifier: BSD-3-Clause
// An expansion that has a parameter, but is not told it.
// expect: must be constructible from the kernel and the edge of the root
#include <fmm/fmm.hpp>

struct Kernel {
  template <class Real>
  KOKKOS_FUNCTION fmm::PairTerm<Real> operator()(Real r2) const {
    return {r2, r2};
  }

  template <int Order, class Real, class Translation>
  struct Expansion {
    static constexpr int size = 1;
    template <class V>
    KOKKOS_FUNCTION static void p2m(V, V, V, V, V*) {}
    template <class V>
    KOKKOS_FUNCTION static void m2m(V, V, V, V*) {}
    template <bool P, bool F, class V>
    KOKKOS_FUNCTION static void m2p(V, V, V, Real, Real const*,
                                    fmm::kernels::PotentialGradient<V>&) {}
    double kappa = 1;
  };
};

fmm::Solver<Kernel, fmm::Treecode<4>> solver;
