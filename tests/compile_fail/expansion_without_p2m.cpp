// SPDX-License-Identifier: BSD-3-Clause
// An expansion that takes no bodies.
// expect: must have p2m.x, y, z, q, M. and m2m
#include "own_expansion.hpp"

struct Kernel : KernelWithoutExpansion {
  template <int Order, class Real, class Translation>
  struct Expansion : ActsOnBodies<Real> {};
};

fmm::Solver<Kernel, fmm::Treecode<4>> solver;
