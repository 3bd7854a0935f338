// SPDX-License-Identifier: BSD-3-Clause
// A treecode's expansion in an FMM.
// expect: must have m2l.x, y, z, s, t, M.
#include "own_expansion.hpp"

struct Kernel : KernelWithoutExpansion {
  template <int Order, class Real, class Translation>
  struct Expansion : TakesBodies, ActsOnBodies<Real> {};
};

fmm::Solver<Kernel, fmm::Fmm<4>> solver;
