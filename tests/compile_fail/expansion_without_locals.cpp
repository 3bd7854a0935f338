// SPDX-License-Identifier: BSD-3-Clause
// An expansion whose local expansions act on nothing.
// expect: must have l2l.x, y, z, L. and l2p<P, F>
#include "own_expansion.hpp"

struct Kernel : KernelWithoutExpansion {
  template <int Order, class Real, class Translation>
  struct Expansion : TakesBodies, ActsOnBodies<Real> {
    template <class V>
    KOKKOS_FUNCTION static void m2l(V, V, V, V, V, V*) {}
  };
};

fmm::Solver<Kernel, fmm::Fmm<4>> solver;
