// SPDX-License-Identifier: BSD-3-Clause
// The plan of two sets: what Solver::build makes of sources and targets of their own, and Solver::evaluate uses.
#pragma once

#include <array>
#include <memory>

#include "engine/plan_data.hpp"

namespace fmm {

/// Made by Solver::build where Inputs have targets, used by Solver::evaluate any number of times, one after the other.
/// It moves, and is not copied; of a plan that was moved from all throw InvalidArgument.
template <class Space, class Precision>
class TwoSetPlan {
  using Set = engine::PlanData<site_t<Space>, Precision>;

 public:
  using execution_space = Space;
  using Data = engine::TwoSetData<site_t<Space>, Precision>;

  TwoSetPlan() : data_{std::make_shared<Set>(), std::make_shared<Set>()} {}
  explicit TwoSetPlan(Data data) : data_(std::move(data)) {}
  TwoSetPlan(TwoSetPlan&&) = default;
  TwoSetPlan& operator=(TwoSetPlan&&) = default;

  /// Numbers of targets, M, and of sources, N.
  std::int64_t targets() const { return data().targets->tree.size; }
  std::int64_t sources() const { return data().sources->tree.size; }
  /// Cells of either set's octree; 0 with DirectSum.
  std::int64_t target_cells() const { return cells(*data().targets); }
  std::int64_t source_cells() const { return cells(*data().sources); }
  /// Cell pairs in the lists of M2L, P2L, M2P and P2P.
  std::int64_t m2l_entries() const { return entries(data().targets->lists.m2l); }
  std::int64_t p2l_entries() const { return entries(data().targets->lists.p2l); }
  std::int64_t m2p_entries() const { return entries(data().targets->lists.m2p); }
  std::int64_t p2p_entries() const { return entries(data().targets->lists.p2p); }
  /// With sources: the cube in which all bodies are, and targets to come shall be (Solver::retarget): from low()[d] to
  /// low()[d] + edge() in each direction d.
  std::array<double, 3> low() const { return std::to_array(data().sources->tree.cube.low); }
  double edge() const { return data().sources->tree.cube.edge; }
  /// Bytes held in the execution space's memory.
  std::size_t memory_bytes() const {
    return data().targets->memory.bytes() + data().sources->memory.bytes();
  }

  /// What the plan consists of, for callers that compose an evaluation's steps.
  Data& data() {
    check();
    return data_;
  }
  Data const& data() const {
    check();
    return data_;
  }

 private:
  void check() const {
    if (!data_.targets) engine::refuse_moved_plan();
  }
  static std::int64_t cells(Set const& set) {
    return std::int64_t(set.tree.octree.cells.extent(0));
  }
  static std::int64_t entries(Csr<site_t<Space>> const& list) {
    return std::int64_t(list.entries.extent(0));
  }

  Data data_;
};

}  // namespace fmm
