// SPDX-License-Identifier: BSD-3-Clause
// An acceptance criterion that does not say what it uses.
// expect: the acceptance criterion must be constructible from theta and provide
#include <fmm/fmm.hpp>

struct Always {
  explicit Always(double) {}
  KOKKOS_FUNCTION fmm::Acceptance operator()(fmm::CellView const&, fmm::CellView const&) const {
    return fmm::Acceptance::no;
  }
};

fmm::Solver<fmm::Laplace, 4, fmm::Rotation, fmm::DualTree<Always>> solver;
