// SPDX-License-Identifier: BSD-3-Clause
// A translation scheme without M2L.
// expect: the translation scheme must provide m2m, m2l and l2l
#include <fmm/fmm.hpp>

struct Upward {
  template <int Order, class V>
  KOKKOS_FUNCTION static void m2m(V, V, V, V*) {}
};

fmm::Solver<fmm::Laplace, fmm::Fmm<4, fmm::DualTree<>, Upward>> solver;
