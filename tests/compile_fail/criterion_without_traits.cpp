// SPDX-License-Identifier: BSD-3-Clause
// An acceptance criterion that does not say what it goes by.
// expect: an acceptance criterion must declare what it goes by
#include <fmm/fmm.hpp>

struct Never {
  explicit Never(double) {}
  KOKKOS_FUNCTION fmm::Acceptance operator()(fmm::CellView const&, fmm::CellView const&) const {
    return fmm::Acceptance::not_accepted;
  }
};

fmm::Solver<fmm::Laplace, fmm::Fmm<4, fmm::DualTree<Never>>> solver;
