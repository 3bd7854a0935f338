// SPDX-License-Identifier: BSD-3-Clause
// An acceptance criterion that wants the powers of multipoles, and no charges.
// expect: whose traits say uses_powers must say uses_charges
#include <fmm/tree/criteria/contract.hpp>

struct ByPowers {
  static constexpr fmm::CriterionTraits traits{.uses_powers = true};
  explicit ByPowers(double) {}
  KOKKOS_FUNCTION fmm::Acceptance operator()(fmm::CellView const&, fmm::CellView const&) const {
    return fmm::Acceptance::not_accepted;
  }
};

static_assert(fmm::tree::check_criterion<ByPowers>());
