// SPDX-License-Identifier: BSD-3-Clause
// A build without charges under a criterion that uses them.
// expect: build takes charges if, and only if, the acceptance criterion declares
#include <fmm/fmm.hpp>

struct ByCharge : fmm::RadiusCriterion {
  static constexpr fmm::CriterionTraits traits{
      .theta = {.by_default = 0.6}, .uses_radii = true, .uses_charges = true};
  using fmm::RadiusCriterion::RadiusCriterion;
};

void build(fmm::Solver<fmm::Laplace, fmm::Fmm<4, fmm::DualTree<ByCharge>>>& solver,
           Kokkos::View<double* [3]> positions) {
  solver.build(Kokkos::DefaultExecutionSpace(), positions);
}
