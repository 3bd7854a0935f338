// SPDX-License-Identifier: BSD-3-Clause
// An acceptance criterion with a pair_error that it is not told.
// expect: whose traits.default_pair_error is set, to more than
#include <fmm/tree/criteria/contract.hpp>

struct ByError {
  static constexpr fmm::CriterionTraits traits{.default_pair_error = 1e-4, .uses_field = true};
  explicit ByError(double) {}
  KOKKOS_FUNCTION fmm::Acceptance operator()(fmm::CellView const&, fmm::CellView const&) const {
    return fmm::Acceptance::not_accepted;
  }
};

static_assert(fmm::tree::check_criterion<ByError>());
