// SPDX-License-Identifier: BSD-3-Clause
// The walks of a level's targets on a CPU, in one pass. A thread walks a block of targets, a family of siblings at a
// time, and collects the entries. The block before tells it where they go: blocks begin in their order, and each
// waits only until those before have been walked.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <new>

#include "../../detail/launch.hpp"
#include "walks.hpp"

namespace fmm::tree {

/// By a set of up to eight siblings: these, one after the other.
struct Members {
  std::uint8_t of[256][8];

  constexpr Members() : of{} {
    for (int set = 0; set < 256; ++set)
      for (int i = 0, n = 0; i < 8; ++i)
        if (set >> i & 1) of[set][n++] = std::uint8_t(i);
  }
};
inline constexpr Members members;

/// Entries of a list that have no place yet; the memory is kept for the next ones.
class Collected {
 public:
  Collected() = default;
  Collected(Collected const&) = delete;
  Collected& operator=(Collected const&) = delete;
  ~Collected() { std::free(entries_); }

  void clear() { count_ = 0; }
  Offset count() const { return count_; }
  CellIndex const* data() const { return entries_; }

  /// Adds `first` + each member of `set`.
  void add(CellIndex first, std::uint32_t set) {
    CellIndex* const to = room_for(8);
    for (int i = 0; i < 8; ++i) to[i] = first + members.of[set][i];
    count_ += count_bits(set);
  }
  /// Memory for the next entries, `most` of them.
  CellIndex* room_for(int most) {
    if (count_ + most > room_) enlarge();
    return entries_ + count_;
  }
  /// So many were written there.
  void added(int count) { count_ += count; }

 private:
  FMM_NOINLINE void enlarge() {
    const Offset room = std::max<Offset>(4096, 2 * room_);
    void* const larger = std::realloc(entries_, room * sizeof(CellIndex));
    if (!larger) throw std::bad_alloc();
    entries_ = static_cast<CellIndex*>(larger);
    room_ = room;
  }

  CellIndex* entries_ = nullptr;
  Offset count_ = 0, room_ = 0;
};

/// Of the calling thread, by ListIndex.
inline Collected* collected() {
  static thread_local Collected lists[list_kinds];
  return lists;
}

/// What sibling targets, which start with the same sources, make of the first of these: decided once for all of
/// them.
template <class Walk>
class SiblingStarts {
 public:
  /// For the targets that have this one's parent; it has starts. Keeps what it knows of the family asked for last.
  void of(Walk const& walk, typename Walk::Target const& target) {
    if constexpr (Walk::starts_in_families) {
      const CellIndex parent = walk.target_cell(target.index).parent;
      if (parent != parent_) meet(walk, target, parent);
      sibling_ = int(target.index - first_);
      leaf_ = target.view.leaf;
    }
  }

  /// How many starts of the target are known, from the first on: these, which of them are its candidates, and which it
  /// splits unless it accepts them.
  int known() const { return count_; }
  CellIndex source(int i) const { return sources_[i]; }
  bool is_candidate(int i) const { return candidate_for_[i] >> sibling_ & 1; }
  bool splits(int i) const { return splitting_[i] >> leaf_ & 1; }

 private:
  void meet(Walk const& walk, typename Walk::Target const& target, CellIndex parent) {
    parent_ = parent;
    count_ = 0;
    if (parent < 0) return;
    first_ = walk.target_cell(parent).child_begin;
    const int siblings = walk.target_cell(parent).child_count;
    count_ = std::min(target.starts, most);
    auto leaf = target, other = target;
    leaf.view.leaf = true;
    other.view.leaf = false;
    for (int i = 0; i < count_; ++i) {
      const CellIndex source = walk.start(target, i);
      const Cell cell = walk.source_cell(source);
      const auto splits = [&](auto const& by) {
        return Walk::refused(by, cell.level, cell.is_leaf()) == split;
      };
      sources_[i] = source;
      candidate_for_[i] = std::uint8_t(walk.candidate_targets(source, first_, siblings));
      splitting_[i] = std::uint8_t(splits(leaf) << 1 | splits(other));
    }
  }

  static constexpr int most = 512;
  CellIndex parent_ = -2, first_ = 0;
  int count_ = 0, sibling_ = 0;
  bool leaf_ = false;
  CellIndex sources_[most];
  std::uint8_t candidate_for_[most],
      splitting_[most];  // by sibling; by whether the target is a leaf
};

/// How long the lists are, by ListIndex.
using ListEnds = std::array<Offset, list_kinds>;

/// Walks the targets `begin` + i of a block, and writes the offsets of their rows and the entries for which there is
/// memory.
template <class Space, class Walk>
struct WalkBlocks {
  Walk walk;
  CellIndex begin;
  std::int64_t rows, rows_per_block;
  Csr<Space> lists[list_kinds];  ///< offsets of these rows, and all the memory for entries
  HandedOn<ListEnds>& ends;
  std::atomic<bool>& out_of_memory;

  void operator()(std::int64_t block) const {
    const std::int64_t first = block * rows_per_block,
                       last = std::min(first + rows_per_block, rows);
    Collected* const found = collected();
    for (int k = 0; k < list_kinds; ++k) found[k].clear();
    try {
      walk_rows(first, last, found);
    } catch (std::bad_alloc const&) {  // the next block waits for this one all the same
      out_of_memory = true;
    }
    const ListEnds before = ends.to_next(block, [&](ListEnds& all) {
      for (int k = 0; k < list_kinds; ++k) all[k] += found[k].count();
    });
    for (int k = 0; k < list_kinds; ++k)
      if (Walk::fills(k)) place(lists[k], found[k], before[k], first, last);
  }

 private:
  using Target = typename Walk::Target;

  void walk_rows(std::int64_t first, std::int64_t last, Collected* found) const {
    SiblingStarts<Walk> starts;
    for (std::int64_t row = first; row < last; ++row) {
      const auto target = walk.target(CellIndex(begin + row));
      if (target.starts > 0) {  // else siblings may have some all the same
        starts.of(walk, target);
        in_families(target, starts, found);
      }
      for (int k = 0; k < list_kinds; ++k)  // until the block's place is known
        if (Walk::fills(k)) lists[k].offsets(row + 1) = found[k].count();
    }
  }

  void place(Csr<Space> const& list, Collected const& found, Offset before, std::int64_t first,
             std::int64_t last) const {
    if (first == 0) list.offsets(0) = before;
    for (std::int64_t row = first; row < last; ++row) list.offsets(row + 1) += before;
    if (before + found.count() <= Offset(list.entries.extent(0)))
      std::copy(found.data(), found.data() + found.count(), list.entries.data() + before);
  }

  /// The sources that a target starts with, and whatever is split, on a stack, family by family.
  void in_families(Target const& target, SiblingStarts<Walk> const& starts,
                   Collected* found) const {
    constexpr int batch = 64;
    CellIndex stack[depth_first_stack + batch];
    int start = 0;
    if constexpr (Walk::accepts_candidates)
      while (start < starts.known()) {
        const int last = std::min(start + batch, starts.known());
        split_all(target, found, stack, share_out(target, starts, start, last, found, stack));
        start = last;
      }
    for (; start < target.starts; ++start) {
      int waiting = 0;
      put(walk.start(target, start), start_decision(target, starts, start), found, stack, waiting);
      split_all(target, found, stack, waiting);
    }
  }

  /// Known starts first .. last - 1: which way each goes is hard to foresee, so that all are written down everywhere
  /// and counted where they belong. Returns how many are to be split.
  int share_out(Target const& target, SiblingStarts<Walk> const& starts, int first, int last,
                Collected* found, CellIndex* stack) const {
    Collected &accepted = found[list_m2l],
              &refused = found[Walk::refused(target, 0, true)];  // a leaf is never split
    CellIndex* const accepted_to = accepted.room_for(last - first);
    CellIndex* const refused_to = refused.room_for(last - first);
    int accepts = 0, refuses = 0, splits = 0;
    for (int i = first; i < last; ++i) {
      const CellIndex index = starts.source(i);
      const bool accept = starts.is_candidate(i), is_split = !accept & starts.splits(i);
      accepted_to[accepts] = refused_to[refuses] = stack[splits] = index;
      accepts += accept;
      splits += is_split;
      refuses += !accept & !is_split;
    }
    accepted.added(accepts);
    refused.added(refuses);
    return splits;
  }

  static void put(CellIndex index, ListIndex list, Collected* found, CellIndex* stack,
                  int& waiting) {
    if (list == split)
      stack[waiting++] = index;
    else
      found[list].add(index, 1);
  }

  /// The sources on the stack, so many, and those that come of them.
  void split_all(Target const& target, Collected* found, CellIndex* stack, int waiting) const {
    while (waiting > 0) {
      const CellIndex parent = stack[--waiting];
      const Cell& cell = walk.source_cell(parent);
      const CellIndex first = cell.child_begin;
      if (cell.is_unopened()) {  // as an entry that says that its children are wanted (images.hpp)
        found[list_p2p].add(parent, 1);
        continue;
      }
      const int count = cell.child_count, level = cell.level + 1;
      const std::uint32_t leaves = walk.leaf_children(parent),
                          candidates = walk.candidates(target, first, count);
      std::uint32_t refused = ((1u << count) - 1) & ~candidates;
      const ListIndex of_leaves = Walk::refused(target, level, true),
                      of_others = Walk::refused(target, level, false);
      if constexpr (Walk::accepts_candidates) {
        found[list_m2l].add(first, candidates);
      } else {
        std::uint32_t alone = candidates;
        if constexpr (Walk::decides_siblings) {
          if (candidates != 0) {
            const auto all = walk.decide_siblings(target, first, count, level, leaves, candidates);
            found[list_m2l].add(first, all.m2l);
            found[list_open].add(first, all.split_target);
            const std::uint32_t splits = all.split_source & ~leaves;
            for (std::uint32_t left = splits; left != 0; left &= left - 1)
              stack[waiting++] = first + lowest_bit(left);
            alone = all.alone;
            refused |= candidates & ~(all.m2l | all.split_target | splits | alone);
          }
        }
        for (std::uint32_t left = alone; left != 0; left &= left - 1) {
          const CellIndex index = first + lowest_bit(left);
          put(index, decision(target, index), found, stack, waiting);
        }
      }
      found[of_leaves].add(first, refused & leaves);
      if (of_others != split) {
        found[of_others].add(first, refused & ~leaves);
      } else {
        for (std::uint32_t left = refused & ~leaves; left != 0; left &= left - 1)
          stack[waiting++] = first + lowest_bit(left);
      }
    }
  }

  ListIndex decision(Target const& target, CellIndex index) const {
    return walk.decide(target, index, walk.source_cell(index));
  }
  ListIndex start_decision(Target const& target, SiblingStarts<Walk> const& starts,
                           int start) const {
    if constexpr (Walk::starts_in_families)
      if (start < starts.known() && !starts.is_candidate(start))
        return starts.splits(start) ? split : Walk::refused(target, 0, true);
    return decision(target, walk.start(target, start));
  }
};

}  // namespace fmm::tree
