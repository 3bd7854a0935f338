// SPDX-License-Identifier: BSD-3-Clause
// An acceptance criterion whose candidates are no packs.
// expect: an acceptance criterion's candidates, which accepts_candidates needs, must
#include <fmm/tree/criteria/contract.hpp>

struct Near {
  static constexpr fmm::CriterionTraits traits{.uses_radii = true};
  explicit Near(double) {}
  KOKKOS_FUNCTION bool candidates(float r, float R2) const { return r * r < R2; }
  KOKKOS_FUNCTION fmm::Acceptance operator()(fmm::CellView const&, fmm::CellView const&) const {
    return fmm::Acceptance::not_accepted;
  }
};

static_assert(fmm::tree::check_criterion<Near>());
