// SPDX-License-Identifier: BSD-3-Clause
// An expansion that acts on no bodies.
// expect: must have m2p<P, F>
#include "own_expansion.hpp"

struct Kernel : KernelWithoutExpansion {
  template <int Order, class Real, class Translation>
  struct Expansion : TakesBodies {
    static constexpr int size = 1;
  };
};

fmm::Solver<Kernel, fmm::Treecode<4>> solver;
