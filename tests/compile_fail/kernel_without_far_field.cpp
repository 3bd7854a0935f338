// SPDX-License-Identifier: BSD-3-Clause
// A pair kernel that is not 1/r at a distance, with a tree.
// expect: needs a pair kernel with .harmonic = true.
#include <fmm/fmm.hpp>

struct Yukawa {
  template <class Real>
  KOKKOS_FUNCTION fmm::PairTerm<Real> operator()(Real r2) const {
    return {r2, r2};
  }
};

fmm::Solver<Yukawa, fmm::Fmm<4>> solver;
