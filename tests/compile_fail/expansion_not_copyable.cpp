// SPDX-License-Identifier: BSD-3-Clause
// An expansion with a virtual function.
// expect: must be trivially copyable, without virtual functions
#include "own_expansion.hpp"

struct Kernel : KernelWithoutExpansion {
  template <int Order, class Real, class Translation>
  struct Expansion : TakesBodies, ActsOnBodies<Real> {
    KOKKOS_FUNCTION virtual void m2l() const {}
  };
};

fmm::Solver<Kernel, fmm::Treecode<4>> solver;
