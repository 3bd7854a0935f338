// SPDX-License-Identifier: BSD-3-Clause
// The plan of a batch: what Solver::build makes of many independent sets, and Solver::evaluate uses.
#pragma once

#include <memory>

#include "engine/plan_data.hpp"

namespace fmm {

/// Made by Solver::build of a Batch, used by Solver::evaluate any number of times, one after the other. It moves, and
/// is not copied; of a plan that was moved from all throw InvalidArgument.
template <class Space, class Precision>
class BatchPlan {
 public:
  using execution_space = Space;
  using Data = engine::PlanData<site_t<Space>, Precision>;

  BatchPlan() : data_(std::make_shared<Data>()) {}
  explicit BatchPlan(std::shared_ptr<Data> data) : data_(std::move(data)) {}
  BatchPlan(BatchPlan&&) = default;
  BatchPlan& operator=(BatchPlan&&) = default;

  /// Numbers of bodies of all sets, N, and of ordered pairs within sets.
  std::int64_t size() const { return data().tree.size; }
  std::int64_t pairs() const { return data().facts.pairs_of_batch; }
  /// Bytes held in the execution space's memory.
  std::size_t memory_bytes() const { return data().memory.bytes(); }

  /// What the plan consists of, for callers that compose an evaluation's steps.
  Data& data() { return *checked(); }
  Data const& data() const { return *checked(); }

 private:
  std::shared_ptr<Data> const& checked() const {
    if (!data_) engine::refuse_moved_plan();
    return data_;
  }

  std::shared_ptr<Data> data_;
};

}  // namespace fmm
