// SPDX-License-Identifier: BSD-3-Clause
// What a plan consists of, what it was made for, and the pool of plans whose memory is used again.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../kernels/image_expansion.hpp"
#include "body_tree.hpp"
#include "periodic_cell.hpp"
#include "workspace.hpp"

namespace fmm::engine {

/// One for each traversal, by whose address their plans are told apart.
template <class Traversal>
inline constexpr char traversal_mark = 0;

/// What a plan was made for.
struct PlanFacts {
  void const* traversal = nullptr;  ///< &traversal_mark<Traversal>
  double far_from = 0;  ///< in the caller's unit: no expansion of the lists acts on a nearer body
  int order = -1;       ///< of the expansions
  int all_pairs_shape = 0;  ///< DirectSum only: the index of the tiles' P2PShape
  SplitRule split = {};     ///< of two sets' trees
  bool at_point = false;    ///< of sources: whether all bodies of the build were at one point
  std::int64_t pairs_of_batch = 0;
  double ewald_error = 1e-15;  ///< of all pairs in a periodic cell: what Ewald's sums leave out
};

/// One for each expansion and kind of strengths, by whose address multipoles are told apart.
template <class Expansion, class Strengths>
inline constexpr char multipoles_mark = 0;

/// Multipoles that stay in a plan of sources after an evaluation, in the memory of multipoles.
struct KeptMultipoles {
  static constexpr int most_densities = 8;
  void const* mark = nullptr;      ///< &multipoles_mark<..>; nullptr: there are none
  std::uint64_t solver = 0;        ///< the number of the solver that made them
  ChargeFacts of[most_densities];  ///< of each density
};

/// Of a plan in a periodic cell.
template <class Space>
struct PeriodicParts {
  std::shared_ptr<periodic::Lattice const> lattice;  ///< of sums of all pairs
  std::shared_ptr<FarImages const> far;              ///< nullptr: nothing repeats
  Array<double, Space> matrix, norms;                ///< far->matrix, far->norms
  Array<double, Space> harmonics;                    ///< of the cells below
  Array<double, Space>
      given;  ///< positions as they were given, three numbers each, with a vacuum around
  Array<double, Space> rests,
      harmonics_of_rests;              ///< of images of the root, in grid units, if there are such
  Array<double, Space> inverse_norms;  ///< then, too
  int order = 0;                       ///< of the tree's expansions

  /// The tree's cells whose expansions those of images are made of, and added to.
  static CellIndex number_of_cells(Octree<Space> const& octree) {
    return octree.level_begin[std::min(octree.depth, level_of_images) + 1];
  }
  kernels::CellsOfImages<Space> cells(Octree<Space> const& octree) const {
    auto const& middle = far->middle.at;
    return {subarray<Cell, Space>(octree.cells, 0, number_of_cells(octree)),
            std::min(octree.depth, level_of_images),
            order,
            far->order,
            {middle[0], middle[1], middle[2]},
            norms,
            harmonics};
  }
};

/// The targets of one set of bodies: all of these, or chosen ones (chosen_targets.hpp).
template <class Space>
struct ChosenTargets {
  bool are_all = true;
  Array<BodyIndex, Space> places;  ///< (M): in the tree's order, in the caller's order of targets
  Array<Tile, Space> tiles;        ///< that have such targets
  Array<BodyIndex, Space> bodies;  ///< of these tiles, in each cell
};

/// A plan: what it was made for, the bodies in their tree, the interaction lists, and the memory of all of it.
template <class Space, class Precision>
struct PlanData {
  PlanFacts facts;
  /// Of targets and sources, which are one set of bodies, or of one of two sets.
  BodyTree<Space, Precision> tree;
  InteractionLists<Space> lists;
  ChosenTargets<Space> chosen;
  Workspace<Space, Precision> memory;
  PeriodicParts<Space> periodic;
  KeptMultipoles kept;  ///< of the sources of two sets
  /// Of targets: held by transposed plans, whose trees lie in this one's memory.
  std::weak_ptr<void const> lease = {};

  /// How many, M.
  std::int64_t targets() const {
    return chosen.are_all ? tree.size : std::int64_t(chosen.places.extent(0));
  }
  /// Where their results are gathered from, or scattered to, and whether they are gathered.
  std::pair<Array<BodyIndex, Space>, bool> way_of_results() const {
    if (!chosen.are_all) return {chosen.places, true};
    constexpr bool gathers = gathers_results_v<Space>;
    return {gathers ? tree.place : tree.permutation, gathers};
  }
  TargetTiles<Space> tiles() const {
    const auto all = std::int64_t(tree.octree.tiles.extent(0));
    return {chosen.are_all ? tree.octree.tiles : chosen.tiles, all};
  }
};

/// A plan of two sets: each set's tree and memory. What the plan was made for and its lists are with the targets.
template <class Space, class Precision>
struct TwoSetData {
  std::shared_ptr<PlanData<Space, Precision>> targets, sources;
  std::shared_ptr<void const> lease = {};  ///< of a transposed plan: holds those whose trees it has
};

[[noreturn]] FMM_NOINLINE inline void refuse_moved_plan() {
  throw InvalidArgument("plan", "moved from", "one that was not moved from");
}

/// Throws unless the plan was made by a solver with that traversal.
FMM_NOINLINE inline void check_traversal(void const* of_plan, void const* mark) {
  if (!of_plan)
    throw InvalidArgument("plan", "not built",
                          "built, or given targets again after a retarget that threw");
  if (of_plan != mark)
    throw InvalidArgument("plan", "one of another traversal", "made with the solver's own");
}

/// Throws unless bodies as near as a kernel's far field begins are in the plan's near field; all
/// are nearer than 2 edges.
FMM_NOINLINE inline void check_near_field(double of_plan, double far_from, Cube const& cube) {
  if (of_plan < std::fmin(far_from, 2 * cube.edge))
    throw InvalidArgument(
        "plan's near field", of_plan,
        "at least " + to_text(far_from) +
            ", as this solver's kernel and softening need it: build the plan with it");
}

/// Throws unless the plan's lists were made for expansions of that order.
FMM_NOINLINE inline void check_order(int of_plan, int order) {
  if (of_plan != order)
    throw InvalidArgument("plan's order", of_plan, std::to_string(order) + ", that of the solver");
}

/// Throws if there are any in a list that a solver has no use for.
FMM_NOINLINE inline void refuse_entries(char const* list, std::int64_t entries) {
  if (entries > 0)
    throw InvalidArgument("plan." + std::string(list) + "_entries()", entries,
                          "0 with this solver: the plan is of another one");
}

/// The memory of a solver's plans; that of plans which nobody holds any more is used again.
template <class Space, class Precision>
class PlanPool {
 public:
  using Data = PlanData<Space, Precision>;

  /// How many parts plans have bodies' coordinates in.
  explicit PlanPool(int parts = two_part_v<Precision> ? 2 : 1) : parts_(parts) {}

  FMM_NOINLINE std::shared_ptr<Data> free_plan() {
    for (auto const& plan : all_)
      if (plan.use_count() == 1) {
        plan->kept = {};
        plan->chosen = {};
        return plan;
      }
    auto const& plan = all_.emplace_back(std::make_shared<Data>());
    plan->memory.parts = parts_;
    return plan;
  }
  FMM_NOINLINE std::size_t bytes() const {
    std::size_t bytes = 0;
    for (auto const& plan : all_) bytes += plan->memory.bytes();
    return bytes;
  }

 private:
  int parts_;
  std::vector<std::shared_ptr<Data>> all_;
};

}  // namespace fmm::engine
