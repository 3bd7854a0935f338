// SPDX-License-Identifier: BSD-3-Clause
// An acceptance criterion that says yes or no.
// expect: an acceptance criterion must decide about a pair: `fmm::Acceptance
#include <fmm/fmm.hpp>

struct Always {
  static constexpr fmm::CriterionTraits traits{.theta = {.by_default = 0.5}};
  explicit Always(double) {}
  KOKKOS_FUNCTION bool operator()(fmm::CellView const&, fmm::CellView const&) const { return true; }
};

fmm::Solver<fmm::Laplace, fmm::Fmm<4, fmm::DualTree<Always>>> solver;
