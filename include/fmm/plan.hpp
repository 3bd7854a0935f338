// SPDX-License-Identifier: BSD-3-Clause
// The plan: what Solver::build makes and Solver::evaluate uses.
#pragma once

#include <array>
#include <memory>

#include "engine/plan_data.hpp"

namespace fmm {

/// Made by Solver::build, used by Solver::evaluate any number of times, one after the other. It moves, and is not
/// copied; of a plan that was moved from all throw InvalidArgument.
template <class Space, class Precision>
class Plan {
 public:
  using execution_space = Space;

  using Data = engine::PlanData<site_t<Space>, Precision>;

  Plan() : data_(std::make_shared<Data>()) {}
  /// `lease` holds what the data need besides their own memory.
  explicit Plan(std::shared_ptr<Data> data, std::shared_ptr<void const> lease = {})
      : data_(std::move(data)), lease_(std::move(lease)) {}
  Plan(Plan&&) = default;
  Plan& operator=(Plan&&) = default;

  /// Number of bodies, N.
  std::int64_t size() const { return data().tree.size; }
  /// Number of targets, M: N, unless they are chosen ones (Solver::retarget).
  std::int64_t targets() const { return data().targets(); }
  /// Cells of the octree; 0 with DirectSum.
  std::int64_t cells() const { return std::int64_t(data().tree.octree.cells.extent(0)); }
  std::int64_t leaves() const { return std::int64_t(data().tree.octree.leaves.extent(0)); }
  /// The deepest level that has cells.
  int depth() const { return data().tree.octree.depth; }
  /// Cell pairs in the lists of M2L, P2L, M2P and P2P.
  std::int64_t m2l_entries() const { return entries(data().lists.m2l); }
  std::int64_t p2l_entries() const { return entries(data().lists.p2l); }
  std::int64_t m2p_entries() const { return entries(data().lists.m2p); }
  std::int64_t p2p_entries() const { return entries(data().lists.p2p); }
  /// The cube that encloses all bodies: from low()[d] to low()[d] + edge() in each direction d. A leaf of level l has
  /// an edge of edge() / 2^l.
  std::array<double, 3> low() const { return std::to_array(data().tree.cube.low); }
  double edge() const { return data().tree.cube.edge; }
  /// Bytes held in the execution space's memory.
  std::size_t memory_bytes() const { return data().memory.bytes(); }

  /// What the plan consists of, for callers that compose an evaluation's steps.
  Data& data() { return *checked(); }
  Data const& data() const { return *checked(); }
  /// Holds all of that for as long as somebody has it.
  std::shared_ptr<void const> lease() const {
    return std::make_shared<std::pair<std::shared_ptr<void const>, std::shared_ptr<void const>>>(
        checked(), lease_);
  }

 private:
  static std::int64_t entries(Csr<site_t<Space>> const& list) {
    return std::int64_t(list.entries.extent(0));
  }

  std::shared_ptr<Data> const& checked() const {
    if (!data_) engine::refuse_moved_plan();
    return data_;
  }

  std::shared_ptr<Data> data_;
  std::shared_ptr<void const> lease_;
};

}  // namespace fmm
