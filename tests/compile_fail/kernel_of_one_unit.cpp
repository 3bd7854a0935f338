// SPDX-License-Identifier: BSD-3-Clause
// A criterion that compares errors with a field, and a kernel that cannot be counted in the field's unit.
// expect: needs a pair kernel with rescaled
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
    static constexpr int order = Order;
    KOKKOS_FUNCTION static Real power(Real const*, int) { return 1; }
    template <bool P, bool F, class V>
    KOKKOS_FUNCTION static void m2p(V, V, V, Real, Real const*,
                                    fmm::kernels::PotentialGradient<V>&) {}
  };
};

fmm::Solver<Kernel, fmm::Treecode<4, fmm::DualTree<fmm::MultipolePowerCriterion>>> solver;
