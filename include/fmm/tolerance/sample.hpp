// SPDX-License-Identifier: BSD-3-Clause
// A sample of a tree's leaves, the fields of its bodies by the lists that there are, and what these lists cost.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "../engine/evaluation.hpp"
#include "constants.hpp"
#include "error_at_sample.hpp"
#include "quantities.hpp"

namespace fmm::tolerance {

/// The tiles of the first `largest` leaves, which are the largest, and behind them all others, in the opposite order.
template <class Space>
struct LargestLeavesFirst {
  Array<CellIndex, Space> leaves;  ///< level by level
  std::int64_t largest;
  Array<Tile, Space> tiles, sorted;
  Array<Offset, Space> count;  ///< of the largest leaves' tiles

  KOKKOS_FUNCTION void operator()(std::int64_t i, Offset& before, bool final) const {
    const bool is_large = largest > 0 && tiles(i).cell <= leaves(largest - 1);
    const auto all = std::int64_t(tiles.extent(0));
    if (final) sorted(is_large ? before : all - 1 - (i - before)) = tiles(i);
    before += is_large;
    if (final && i + 1 == all) count(0) = before;
  }
};

/// The first `certain` of `tiles`, and of all others one of each stretch, of about the same length, not always at the
/// same place of it: a tree's own steps are as even.
template <class Space>
struct SpreadSample {
  std::int64_t certain;
  Array<Tile, Space> tiles, sample;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (i < certain) {
      sample(i) = tiles(i);
      return;
    }
    const std::int64_t k = i - certain, others = std::int64_t(tiles.extent(0)) - certain,
                       stretches = std::int64_t(sample.extent(0)) - certain,
                       begin = k * others / stretches, end = (k + 1) * others / stretches;
    const double turns = 0.6180339887498949 * double(k), place = turns - std::floor(turns);
    sample(i) = tiles(certain + begin + std::int64_t(place * double(end - begin)));
  }
};

/// Some tiles of a tree's leaves: of the largest ones, whose expansions err most, all, and of the others some.
template <class Space>
struct SampleOfLeaves {
  Array<Tile, Space> tiles;
  std::int64_t certain;  ///< tiles, the first ones, that are all of their kind
  double weight;         ///< tiles that each of the others stands for
};

/// About a sixteenth of the tree's tiles, at least 128 and at most 512, of the largest leaves and about as many of the
/// others, in `memory`; all tiles of a tree that has no more than 128. At most three sixteenths of the tiles, and 1536.
template <class Space>
SampleOfLeaves<Space> sample_of_leaves(Space const& space, Octree<Space> const& tree,
                                       Buffer<Tile, Space>& memory) {
  const std::int64_t tiles = tree.tiles.extent(0), leaves = tree.leaves.extent(0),
                     count = std::clamp(tiles / constants.share_of_tiles, constants.least_tiles,
                                        constants.most_tiles);
  if (tiles <= count) return {tree.tiles, 0, 1};
  Buffer<Tile, Space> sorted_buffer("calibration's tiles");
  Buffer<Offset, Space> count_buffer("calibration's counts");
  const auto sorted = sorted_buffer.resize(tiles);
  const auto of_largest = count_buffer.resize(1);
  scan<Offset>("fmm::calibration::tiles", space, tiles,
               LargestLeavesFirst<Space>{tree.leaves, count * leaves / tiles, tree.tiles, sorted,
                                         of_largest});
  std::int64_t certain = read_back(space, of_largest.data());
  if (certain > 2 * count) certain = 0;  // few large leaves have far more bodies than others
  const std::int64_t left = tiles - certain, taken = std::min(left, count);
  const auto sample = memory.resize(certain + taken);
  for_range("fmm::calibration::sample", space, certain + taken,
            SpreadSample<Space>{certain, sorted, sample});
  space.fence();  // the buffers go now
  return {sample, certain, taken > 0 ? double(left) / double(taken) : 1};
}

/// Keeps the sums of a sample's bodies.
template <class Space, class Sum>
struct KeepSums {
  Array<Tile, Space> sample;
  Array<Sums<Sum>, Space> sums, kept;
  std::int64_t row;  ///< bodies of a tile at most

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Tile tile = sample(i);
    for (int k = 0; k < tile.count; ++k) kept(i * row + k) = sums(tile.first + k);
  }
};

/// Adds to the sums of a sample's bodies what is kept.
template <class Space, class Sum>
struct AddKept {
  KeepSums<Space, Sum> of;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Tile tile = of.sample(i);
    for (int k = 0; k < tile.count; ++k) {
      Sums<Sum>& sum = of.sums(tile.first + k);
      const Sums<Sum> kept = of.kept(i * of.row + k);
      sum = {sum.potential + kept.potential, sum.x + kept.x, sum.y + kept.y, sum.z + kept.z};
    }
  }
};

/// Adds up for each tile the squares of what is kept and of what the sums differ from it, of fields or potentials.
template <class Space, class Sum>
struct SquareDifferences {
  KeepSums<Space, Sum> of;
  bool potential;                ///< or else the field
  Array<double, Space> squares;  ///< three a tile

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Tile tile = of.sample(i);
    double value = 0, error = 0;
    for (int k = 0; k < tile.count; ++k) {
      const Sums<Sum> now = of.sums(tile.first + k), known = of.kept(i * of.row + k);
      if (potential) {
        const double p = known.potential, dp = double(now.potential) - p;
        value += p * p;
        error += dp * dp;
      } else {
        const double x = known.x, y = known.y, z = known.z, dx = double(now.x) - x,
                     dy = double(now.y) - y, dz = double(now.z) - z;
        value += x * x + y * y + z * z;
        error += dx * dx + dy * dy + dz * dz;
      }
    }
    squares(3 * i) = value;
    squares(3 * i + 1) = error;
    squares(3 * i + 2) = tile.count;
  }
};

/// What the lists of a sample's leaves cost, and the tiles' share of those of the cells above: pairs of P2P, by tile.
template <class Space>
struct WorkOfSample {
  Array<Cell, Space> cells;
  Array<Tile, Space> sample;
  InteractionLists<Space> lists;
  bool has_locals;
  double per_m2l, per_m2p,
      per_p2l;  ///< pairs that a list entry is worth, or for the last two a body of it
  Array<double, Space> work;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Tile tile = sample(i);
    CellIndex cell = tile.cell;
    double of_body =
        double(bodies_in_row(cells, lists.p2p, cell)) + per_m2p * double(lists.m2p.length(cell));
    for (; cell >= 0; cell = cells(cell).parent)
      of_body += has_locals ? (per_m2l * double(lists.m2l.length(cell)) +
                               per_p2l * double(bodies_in_row(cells, lists.p2l, cell))) /
                                  double(cells(cell).body_count)
                            : per_m2p * double(lists.m2l.length(cell));
    work(i) = of_body * tile.count;
  }
};

/// Adds to sums of the bodies in some tiles the pairs with the leaves of a list and with their own leaf, in units of
/// the cube, as the solver's kernel has them.
template <class Space, class Precision>
using AddNearField =
    std::function<void(Array<Tile, Space>, Csr<Space>, Array<Sums<sum_t<Precision>>, Space>)>;

/// A sample of the plan's tiles, whose fields are summed from the plan's multipoles by the lists that it has. The
/// plan's sums, unless the multipoles are in their memory, are lost. Takes for as long 32 bytes a body where these are,
/// and at first 12 bytes a tile.
template <class Space, class Precision>
class SampledFields {
  using Sum = sum_t<Precision>;
  using Shape = Tuning<Space, real_t<Precision>>;
  using Operators = FarField<Space, Precision, Outputs<true, true>>;

 public:
  /// Of sample_of_leaves.
  SampledFields(Space const& space, Operators const& far, PlanData<Space, Precision>& plan,
                AddNearField<Space, Precision> const& near_field)
      : SampledFields(space, far, plan, near_field, [&](Buffer<Tile, Space>& memory) {
          return sample_of_leaves(space, plan.tree.octree, memory);
        }) {}
  /// Of a sample that choose(memory) makes, in that memory or the tree's.
  template <class Choose>
  SampledFields(Space const& space, Operators const& far, PlanData<Space, Precision>& plan,
                AddNearField<Space, Precision> const& near_field, Choose const& choose)
      : space_(space), far_(far), plan_(plan), near_field_(near_field), sample_(choose(tiles_)) {
    const std::int64_t tiles = sample_.tiles.extent(0);
    const auto wanted = wanted_.resize(plan.tree.octree.cells.extent(0));
    kept_.resize(tiles * Shape::tile);
    numbers_.resize(3 * tiles);
    const std::int64_t n = plan.tree.size;
    sums_ = plan.memory.are_in_sums() ? own_sums_.resize(n) : plan.memory.sums.view(n);
    count_bodies_of_tiles(space, plan.tree.octree.cells, sample_.tiles, wanted);
    if (plan.periodic.far) keep_far_images();
  }

  /// The cells that need lists, as in DualWalk.
  Array<int, Space> wanted() const { return wanted_.view(); }
  /// Sums by the lists that there are now.
  void sum() {
    set_far_field_of(space_, far_, plan_.memory, with_images_ ? *with_images_ : plan_.tree,
                     plan_.lists, sample_.tiles, sums_);
    if (plan_.periodic.far)
      for_range("fmm::calibration::far_images", space_, sample_.tiles.extent(0),
                AddKept<Space, Sum>{kept_sums(of_far_images_)});
    near_field_(sample_.tiles, plan_.lists.p2p, sums_);
  }
  /// Those of all bodies, of which the sample's are there.
  Array<Sums<Sum>, Space> sums() const { return sums_; }
  /// Has the last sums stand for the truth.
  void keep() {
    for_range("fmm::calibration::keep", space_, sample_.tiles.extent(0), kept_sums(kept_));
  }
  /// What the last sums differ from those by, whose values count so many times.
  std::vector<TileSquares> differences(Quantity quantity, double values = 1) {
    std::vector<TileSquares> squares(sample_.tiles.extent(0));
    static_assert(sizeof(TileSquares) == 3 * sizeof(double));
    for_range("fmm::calibration::fields", space_, sample_.tiles.extent(0),
              SquareDifferences<Space, Sum>{kept_sums(kept_), quantity == Quantity::potential,
                                            numbers_.view()});
    read_back(space_, numbers_.view().data(), &squares[0].field, 3 * squares.size());
    if (values != 1)
      for (TileSquares& tile : squares) tile.field *= values * values;
    return squares;
  }
  /// The relative L2 error that all bodies are likely to have at most by the last sums; the largest of several.
  double likely_error(Quantities of) {
    double largest = 0;
    of.each([&](Quantity quantity) {
      largest = std::fmax(largest, likely_error_of_all(differences(quantity, of.values(quantity)),
                                                       sample_.certain, sample_.weight));
    });
    return largest;
  }
  /// What these lists cost for all bodies, with expansions of that order: in pairs of P2P.
  double work(int order) {
    std::vector<double> of_tiles(sample_.tiles.extent(0));
    for_range("fmm::calibration::work", space_, std::int64_t(of_tiles.size()),
              WorkOfSample<Space>{plan_.tree.octree.cells, sample_.tiles, plan_.lists,
                                  far_.traits().has_locals, Shape::pairs_per_m2l(order),
                                  Shape::pairs_per_m2p(order), Shape::pairs_per_p2l(order),
                                  numbers_.view()});
    read_back(space_, numbers_.view().data(), of_tiles.data(), of_tiles.size());
    double certain = 0, others = 0;
    for (std::size_t i = 0; i < of_tiles.size(); ++i)
      (std::int64_t(i) < std::int64_t(sample_.certain) ? certain : others) += of_tiles[i];
    return certain + sample_.weight * others;
  }

 private:
  KeepSums<Space, Sum> kept_sums(Buffer<Sums<Sum>, Space> const& kept) const {
    return {sample_.tiles, sums_, kept.view(), Shape::tile};
  }
  /// What images exert that no list has, a background and a vacuum: the same whatever the lists are.
  void keep_far_images() {
    of_far_images_.resize(sample_.tiles.extent(0) * Shape::tile);
    if (plan_.tree.octree.images.rest > 0) with_images_ = tree_with_images(space_, plan_);
    auto const& tree = plan_.tree;
    const auto strengths = charges_of(tree.bodies);
    const auto background = set_far_images(
        space_, far_, plan_, plan_, strengths,
        plan_.memory.multipoles.view(far_.coefficients(tree.octree)), sample_.tiles, sums_);
    add_surroundings<Outputs<true, true>>(space_, plan_, plan_, strengths,
                                          engine::DensityFacts<1>{{tree.charges}}, background,
                                          sample_.tiles, sums_);
    for_range("fmm::calibration::keep", space_, sample_.tiles.extent(0), kept_sums(of_far_images_));
  }

  Space const& space_;
  Operators const& far_;
  PlanData<Space, Precision>& plan_;
  AddNearField<Space, Precision> const& near_field_;
  Buffer<Tile, Space> tiles_{"calibration's sample"};
  SampleOfLeaves<Space> sample_;  ///< in that memory or the tree's
  Buffer<int, Space> wanted_{"calibration's targets"};
  Buffer<Sums<Sum>, Space> own_sums_{"calibration's sums"}, kept_{"calibration's fields"};
  Buffer<Sums<Sum>, Space> of_far_images_{"calibration's far images"};
  std::optional<engine::BodyTree<Space, Precision>> with_images_;
  Array<Sums<Sum>, Space> sums_;  ///< the plan's, or where multipoles are in its memory these
  Buffer<double, Space> numbers_{"calibration's numbers"};
};

}  // namespace fmm::tolerance
