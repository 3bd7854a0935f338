// SPDX-License-Identifier: BSD-3-Clause
// An expansion that has a parameter, but is not told it.
// expect: must be constructible from the kernel and the edge of the root
#include "own_expansion.hpp"

struct Kernel : KernelWithoutExpansion {
  template <int Order, class Real, class Translation>
  struct Expansion : TakesBodies, ActsOnBodies<Real> {
    double kappa = 1;
  };
};

fmm::Solver<Kernel, fmm::Treecode<4>> solver;
