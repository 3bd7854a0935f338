// SPDX-License-Identifier: BSD-3-Clause
// A criterion that compares errors with a field, and a kernel that cannot be counted in the field's unit.
// expect: needs a pair kernel with rescaled
#include "own_expansion.hpp"

struct Kernel : KernelWithoutExpansion {
  template <int Order, class Real, class Translation>
  struct Expansion : TakesBodies, ActsOnBodies<Real> {
    static constexpr int order = Order;
    KOKKOS_FUNCTION static Real power(Real const*, int) { return 1; }
  };
};

fmm::Solver<Kernel, fmm::Treecode<4, fmm::DualTree<fmm::MultipolePowerCriterion>>> solver;
