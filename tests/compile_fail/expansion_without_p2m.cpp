// SPDX-License-Identifier: BSD-3-Clause
// An expansion that takes no bodies.
// expect: must have p2m.x, y, z, q, M. and m2m
#include <fmm/fmm.hpp>

struct Kernel {
  template <class Real>
  KOKKOS_FUNCTION fmm::PairTerm<Real> operator()(Real r2) const {
    return {r2, r2};
  }

  template <int Order, class Real, class Translation>
  struct Expansion {
    static constexpr int size = 1;
    template <bool P, bool F, class V>
    KOKKOS_FUNCTION static void m2p(V, V, V, Real, Real const*,
                                    fmm::kernels::PotentialGradient<V>&) {}
  };
};

fmm::Solver<Kernel, fmm::Treecode<4>> solver;
