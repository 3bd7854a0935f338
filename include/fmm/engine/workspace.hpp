// SPDX-License-Identifier: BSD-3-Clause
// What a build makes and evaluations use, and the memory of both: bodies in tree order, octree, interaction lists.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "../kernels/p2p/p2p.hpp"
#include "../kernels/spherical/dense_m2l.hpp"
#include "../tree/keys/sort.hpp"
#include "../tree/lists/lists.hpp"
#include "../tree/lists/offset_buckets.hpp"
#include "../tree/octree.hpp"

namespace fmm::engine {

/// One for each traversal, by whose address their plans are told apart.
template <class Traversal>
inline constexpr char traversal_mark = 0;

/// What an inspection of charges finds.
struct ChargeFacts {
  double unit =
      1;  ///< a power of two near the largest |q|, so that any unit works in float; 1 if all are 0
  double largest = 0;  ///< |q|
  double sum = 0;      ///< of |q|
  bool both_signs = false;
};

/// All device memory of a plan and of the evaluations with it; grows, and is used again.
template <class Space, class Precision>
struct PlanStorage {
  using Real = real_t<Precision>;

  // results of the build
  void const* made_for = nullptr;  ///< its traversal: &traversal_mark<Traversal>
  std::int64_t size = 0;
  Cube cube;
  double far_from = 0;  ///< in the caller's unit: no expansion of the lists acts on a nearer body
  ChargeFacts charges;  ///< of the bodies
  Octree<Space> tree;
  InteractionLists<Space> lists;
  int all_pairs_shape = 0;  ///< AllPairs only: the index of the tiles' P2PShape
  int parts_order = -1;     ///< OrderPerPair only: the solver's order that the lists' parts are for
  Array<BodyIndex, Space> order;  ///< order(i): the caller's index of body i in tree order
  Array<BodyIndex, Space> place;  ///< place(i): the index in tree order of the caller's body i,
                                  ///< if results are gathered

  // memory
  int sort_try = 0;  ///< of sorted_levels: which one the last tree took
  SortBuffers<Space> sort;
  OctreeBuffers<Space> octree;
  TraversalBuffers<Space> traversal;
  /// The smallest last field of each cell, in edges of the cube but the caller's unit of charge; of
  /// criteria that use it only.
  Buffer<double, Space> last_fields{"last fields"};
  Buffer<Body<Real>, Space> bodies{"bodies"};
  Buffer<Body<Real>, Space> low{"low parts"};          ///< of the bodies' coordinates; Mixed only
  Buffer<Body<double>, Space> positions{"positions"};  ///< AllPairs only
  Buffer<Real, Space> multipoles{"multipoles"};        ///< where the sums will be, as a rule
  Buffer<Real, Space> locals{"locals"};                ///< after L2P, multipoles as M2P wants them
  OffsetBucketBuffers<Space> buckets;                  ///< BatchedGemm only
  KeptBuckets<Space> kept_buckets;  ///< the same, in that memory; not for another list
  DenseBuffers<Space, Real> dense;  ///< the same
  TilePartBuffers<Space, sum_t<Precision>> parts;  ///< of P2P or M2P
  /// Of an evaluation, after its multipoles; while a tree is built, its keys.
  Buffer<Sums<sum_t<Precision>>, Space> sums{"sums"};

  /// Room for the keys of all bodies, where sums will be: two such arrays fit.
  Array<std::uint64_t, Space> key_memory(int which) {
    static_assert(sizeof(Sums<sum_t<Precision>>) >= 2 * sizeof(std::uint64_t));
    auto* const memory = reinterpret_cast<std::uint64_t*>(sums.resize(size).data());
    return Array<std::uint64_t, Space>(memory + which * size, std::size_t(size));
  }

  /// The memory of the sums, which is made as large as so many numbers take. Contents are lost.
  Array<Sums<sum_t<Precision>>, Space> sums_or(std::size_t numbers) {
    constexpr std::size_t per_body = sizeof(Sums<sum_t<Precision>>) / sizeof(Real);
    return sums.resize(std::max(std::size_t(size), (numbers + per_body - 1) / per_body));
  }

  /// Numbers of the bodies' sums.
  std::size_t sum_numbers() const {
    return std::size_t(size) * (sizeof(Sums<sum_t<Precision>>) / sizeof(Real));
  }
  bool lies_in_sums(Array<Real, Space> numbers) const {
    return static_cast<void*>(numbers.data()) == static_cast<void*>(sums.view().data());
  }
  /// Memory for sums of the bodies while lists are made that wait for multipoles: the sums' own or, where these have
  /// the multipoles in it, that of the local expansions. Contents are lost.
  Array<Sums<sum_t<Precision>>, Space> early_sums() {
    if (!lies_in_sums(multipoles.view())) return sums.view(size);
    auto* const memory =
        reinterpret_cast<Sums<sum_t<Precision>>*>(locals.resize(sum_numbers()).data());
    return Array<Sums<sum_t<Precision>>, Space>(memory, std::size_t(size));
  }

  std::size_t bytes() const {
    return sort.bytes() + octree.bytes() + traversal.bytes() + last_fields.bytes() +
           bodies.bytes() + low.bytes() + positions.bytes() + multipoles.bytes() + locals.bytes() +
           buckets.bytes() + dense.bytes() + parts.bytes() + sums.bytes();
  }
};

/// Throws unless the plan was made by a solver with that traversal.
FMM_SELDOM inline void check_traversal(void const* of_plan, void const* mark) {
  if (of_plan != mark)
    throw InvalidArgument("plan", "one of another traversal", "made with the solver's own");
}

/// Throws unless bodies as near as a kernel's far field begins are in the plan's near field; all
/// are nearer than 2 edges.
FMM_SELDOM inline void check_near_field(double of_plan, double far_from, Cube const& cube) {
  if (of_plan < std::fmin(far_from, 2 * cube.edge))
    throw InvalidArgument(
        "plan's near field", of_plan,
        "at least " + to_text(far_from) +
            ", as this solver's kernel and softening need it: build the plan with it");
}

/// Throws unless the parts of the plan's lists were made for that order.
FMM_SELDOM inline void check_parts_order(int of_plan, int order) {
  if (of_plan != order)
    throw InvalidArgument("plan's order", of_plan, std::to_string(order) + ", that of the solver");
}

/// Throws if there are any in a list that a solver has no use for.
FMM_SELDOM inline void refuse_entries(char const* list, std::int64_t entries) {
  if (entries > 0)
    throw InvalidArgument("plan." + std::string(list) + "_entries()", entries,
                          "0 with this solver: the plan is of another one");
}

/// The memory of a solver's plans; that of plans which nobody holds any more is used again.
template <class Space, class Precision>
class PlanPool {
 public:
  using Storage = PlanStorage<Space, Precision>;

  FMM_SELDOM std::shared_ptr<Storage> free_storage() {
    for (auto const& storage : all_)
      if (storage.use_count() == 1) return storage;
    return all_.emplace_back(std::make_shared<Storage>());
  }
  FMM_SELDOM std::size_t bytes() const {
    std::size_t bytes = 0;
    for (auto const& storage : all_) bytes += storage->bytes();
    return bytes;
  }

 private:
  std::vector<std::shared_ptr<Storage>> all_;
};

}  // namespace fmm::engine
