// SPDX-License-Identifier: BSD-3-Clause
// The plan for any strengths with a tolerance.
#pragma once

#include "verified_core.hpp"

namespace fmm {

/// Made by ToleranceSolver::build of positions without charges, used by ToleranceSolver::evaluate any number of times,
/// with any charges, dipoles and densities, and by retarget and freeze. It keeps the positions. It moves, and is not
/// copied; of a plan that was moved from all throw InvalidArgument.
template <class Kernel, class Space, class Precision, bool HasTargets>
class VerifiedPlan {
 public:
  using execution_space = Space;
  using Data = tolerance::VerifiedData<Kernel, Precision, site_t<Space>, HasTargets>;
  /// Whether targets are a set of their own.
  static constexpr bool has_targets = HasTargets;

  explicit VerifiedPlan(Data data) : data_(std::make_unique<Data>(std::move(data))) {}
  VerifiedPlan(VerifiedPlan&&) = default;
  VerifiedPlan& operator=(VerifiedPlan&&) = default;

  /// Numbers of sources, N, and of targets, M.
  std::int64_t sources() const { return data().sources.size(); }
  std::int64_t targets() const { return data().target_count(); }
  /// RadiusCriterion's theta in force, where there is a tree; its order is in Report::found.
  double theta() const { return data().setting.theta; }
  bool is_frozen() const { return data().is_frozen; }

  Data& data() { return *checked(); }
  Data const& data() const { return *checked(); }

 private:
  std::unique_ptr<Data> const& checked() const {
    if (!data_) engine::refuse_moved_plan();
    return data_;
  }

  std::unique_ptr<Data> data_;
};

}  // namespace fmm
