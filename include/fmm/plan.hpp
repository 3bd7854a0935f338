// SPDX-License-Identifier: BSD-3-Clause
// The plan: what Solver::build makes and Solver::evaluate uses.
#pragma once

#include <memory>

#include "engine/workspace.hpp"

namespace fmm {

/// Made by Solver::build, used by Solver::evaluate any number of times. A copy refers to the same plan.
/// Two evaluations with one plan must not overlap: they share its memory.
template <class Space, class Precision>
class Plan {
 public:
  using execution_space = Space;

  Plan() : storage_(std::make_shared<Storage>()) {}

  /// Number of bodies.
  std::int64_t size() const { return storage_->size; }
  /// Cells of the octree; 0 with AllPairs.
  std::int64_t cells() const { return std::int64_t(storage_->tree.cells.extent(0)); }
  std::int64_t leaves() const { return std::int64_t(storage_->tree.leaves.extent(0)); }
  /// The deepest level that has cells.
  int depth() const { return storage_->tree.depth; }
  /// Cell pairs in the lists of M2L, P2L, M2P and P2P.
  std::int64_t m2l_entries() const { return entries(storage_->lists.m2l); }
  std::int64_t p2l_entries() const { return entries(storage_->lists.p2l); }
  std::int64_t m2p_entries() const { return entries(storage_->lists.m2p); }
  std::int64_t p2p_entries() const { return entries(storage_->lists.p2p); }
  /// Bytes held in the execution space's memory.
  std::size_t memory_bytes() const { return storage_->bytes(); }

 private:
  using Storage = engine::PlanStorage<Space, Precision>;
  static std::int64_t entries(Csr<Space> const& list) {
    return std::int64_t(list.entries.extent(0));
  }

  template <class, int, class, class, class, class>
  friend class Solver;
  explicit Plan(std::shared_ptr<Storage> storage) : storage_(std::move(storage)) {}

  std::shared_ptr<Storage> storage_;
};

}  // namespace fmm
