// SPDX-License-Identifier: BSD-3-Clause
// The pair_error of MultipolePowerCriterion that holds a tolerance for the bodies at hand, found from a sample of them, and the
// theta of RadiusCriterion, which may cost less.
//
// A pair_error that is safe before anything is known of the bodies allows for bad ones: most err by
// a seventh of the tolerance (docs/math.md). So the fields of a sample of tiles are summed with a
// pair_error of a quarter of that, which stands for the truth, and then with larger ones: what the
// sums differ by are the latter's errors. All of these are made of the evaluation's own tree and
// multipoles, with lists for the sample only.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "../engine/evaluation.hpp"
#include "../engine/list_build.hpp"
#include "error_at_sample.hpp"

namespace fmm::tolerance {

/// Marks the leaves of a sample of tiles, and the cells above them.
template <class Space>
struct MarkWanted {
  Array<Cell, Space> cells;
  Array<Tile, Space> sample;
  Array<int, Space> wanted;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    CellIndex cell = sample(i).cell;
    while (cell >= 0 && Kokkos::atomic_exchange(&wanted(cell), 1) == 0) cell = cells(cell).parent;
  }
};

/// The tiles of the first `largest` leaves, which are the largest, and behind them all others, in the opposite order.
template <class Space>
struct LargestLeavesFirst {
  Array<CellIndex, Space> leaves;  ///< level by level
  std::int64_t largest;
  Array<Tile, Space> tiles, ordered;
  Array<Offset, Space> count;  ///< of the largest leaves' tiles

  KOKKOS_FUNCTION void operator()(std::int64_t i, Offset& before, bool final) const {
    const bool is_large = largest > 0 && tiles(i).cell <= leaves(largest - 1);
    const auto all = std::int64_t(tiles.extent(0));
    if (final) ordered(is_large ? before : all - 1 - (i - before)) = tiles(i);
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
/// others, in `memory`; all tiles of a tree that has no more than 128.
template <class Space>
SampleOfLeaves<Space> sample_of_leaves(Space const& space, Octree<Space> const& tree,
                                       Buffer<Tile, Space>& memory) {
  constexpr std::int64_t least_tiles = 128, most_tiles = 512, share = 16;
  const std::int64_t tiles = tree.tiles.extent(0), leaves = tree.leaves.extent(0),
                     count = std::clamp(tiles / share, least_tiles, most_tiles);
  if (tiles <= count) return {tree.tiles, 0, 1};
  Buffer<Tile, Space> ordered_buffer("calibration's tiles");
  Buffer<Offset, Space> count_buffer("calibration's counts");
  const auto ordered = ordered_buffer.resize(tiles);
  const auto of_largest = count_buffer.resize(1);
  scan<Offset>("fmm::calibration::tiles", space, tiles,
               LargestLeavesFirst<Space>{tree.leaves, count * leaves / tiles, tree.tiles, ordered,
                                         of_largest});
  std::int64_t certain = read_back(space, of_largest.data());
  if (certain > 2 * count) certain = 0;  // few large leaves have far more bodies than others
  const std::int64_t left = tiles - certain, taken = std::min(left, count);
  const auto sample = memory.resize(certain + taken);
  for_range("fmm::calibration::sample", space, certain + taken,
            SpreadSample<Space>{certain, ordered, sample});
  space.fence();  // the buffers go now
  return {sample, certain, taken > 0 ? double(left) / double(taken) : 1};
}

/// Keeps the fields of a sample's bodies, or adds up for each tile the squares of what is kept and of what the
/// fields differ from it.
template <class Space, class Sum>
struct FieldsOfSample {
  Array<Tile, Space> sample;
  Array<Sums<Sum>, Space> sums;
  Array<Sums<Sum>, Space> kept;
  Array<double, Space> squares;  ///< three a tile; none: fields are kept
  std::int64_t row;              ///< bodies of a tile at most

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Tile tile = sample(i);
    double field = 0, error = 0;
    for (int k = 0; k < tile.count; ++k) {
      const Sums<Sum> now = sums(tile.first + k);
      Sums<Sum>& known = kept(i * row + k);
      if (squares.extent(0) == 0) {
        known = now;
      } else {
        const double x = known.x, y = known.y, z = known.z, dx = double(now.x) - x,
                     dy = double(now.y) - y, dz = double(now.z) - z;
        field += x * x + y * y + z * z;
        error += dx * dx + dy * dy + dz * dz;
      }
    }
    if (squares.extent(0) == 0) return;
    squares(3 * i) = field;
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
  double per_m2l, per_m2p,
      per_p2l;  ///< pairs that a list entry is worth, or for the last two a body of it
  Array<double, Space> work;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Tile tile = sample(i);
    CellIndex cell = tile.cell;
    double of_body =
        double(bodies_in_row(cells, lists.p2p, cell)) + per_m2p * double(lists.m2p.length(cell));
    for (; cell >= 0; cell = cells(cell).parent)
      of_body += (per_m2l * double(lists.m2l.length(cell)) +
                  per_p2l * double(bodies_in_row(cells, lists.p2l, cell))) /
                 double(cells(cell).body_count);
    work(i) = of_body * tile.count;
  }
};

/// What a limit was found for.
struct Likeness {
  /// Whose powers are compared, at most: the first cells, which are the root and its children, as a rule.
  static constexpr std::int64_t most_cells = 9;
  std::int64_t bodies = 0, cells = 0;
  std::vector<float> powers = {};  ///< of these cells' multipoles

  /// Whether another one differs by less than a tenth.
  bool resembles(Likeness const& other) const {
    const auto near = [](double a, double b) { return std::fabs(a - b) <= 0.1 * std::fabs(b); };
    double all = 0, difference = 0;
    for (std::size_t n = 0; n < powers.size() && n < other.powers.size(); ++n) {
      all += std::fabs(double(other.powers[n]));
      difference += std::fabs(double(powers[n]) - double(other.powers[n]));
    }
    return powers.size() == other.powers.size() && near(double(bodies), double(other.bodies)) &&
           near(double(cells), double(other.cells)) && difference <= 0.1 * all;
  }
};

/// What was found for some bodies.
struct Calibrated {
  double pair_error = 0;   ///< of MultipolePowerCriterion
  double field_scale = 0;  ///< of their cells (field_strength.hpp)
  double theta = 0;        ///< of RadiusCriterion, if lists by that cost less; else 0
};

/// Of RadiusCriterion that is tried.
inline constexpr double largest_theta = 0.9;

/// A tolerance to be held, and what was found for the last bodies.
class HeldTolerance {
 public:
  /// Of fewer bodies it would cost as much as it saves.
  static constexpr std::int64_t least_bodies = 20000;
  static constexpr bool are_enough(std::int64_t bodies) { return bodies >= least_bodies; }
  /// So many evaluations later it is found anew, though bodies seem to be the same.
  static constexpr int most_evaluations = 32;
  /// Of the tolerance; the rest is for what the sample does not see.
  static constexpr double goal = 0.92;

  /// None.
  HeldTolerance() = default;
  /// `safe` is a pair_error for bodies of which nothing is known.
  HeldTolerance(double tolerance, double safe) : tolerance_(tolerance), safe_(safe) {}

  double tolerance() const { return tolerance_; }
  double safe() const { return safe_; }

  /// Whether it is known what to take for an evaluation of such bodies; if not, it is to be found.
  bool knows(Likeness const& bodies) {
    if (!are_enough(bodies.bodies)) {
      now_ = {safe_};
      return true;
    }
    const bool known = bodies.resembles(of_) && ++evaluations_ < most_evaluations;
    if (known)
      now_ = found_;
    else
      of_ = {};
    return known;
  }
  void find(Likeness const& bodies, Calibrated const& found) {
    of_ = bodies;
    evaluations_ = 0;
    now_ = found_ = found;
  }
  /// Of the bodies asked for last; no scale if these are few.
  Calibrated const& now() const { return now_; }

 private:
  double tolerance_ = 0, safe_ = 0;
  Calibrated found_, now_;
  Likeness of_;
  int evaluations_ = 0;
};

/// Adds to sums of the bodies in some tiles the pairs with the leaves of a list and with their own leaf, in units of
/// the cube, as the solver's kernel has them.
template <class Space, class Precision>
using NearField =
    std::function<void(Array<Tile, Space>, Csr<Space>, Array<Sums<sum_t<Precision>>, Space>)>;

/// A sample of the plan's tiles, whose fields are summed from the plan's multipoles by the lists that it has. The
/// plan's sums, unless the multipoles are in their memory, are lost. Takes for as long 32 bytes a body where these are,
/// and at first 12 bytes a tile.
template <class Expansion, class FarFieldScheme, class Space, class Precision>
class SampledFields {
  using Sum = sum_t<Precision>;
  using Shape = Tuning<Space, real_t<Precision>>;

 public:
  SampledFields(Space const& space, PlanData<Space, Precision>& plan,
                NearField<Space, Precision> const& near_field)
      : space_(space),
        plan_(plan),
        near_field_(near_field),
        sample_(sample_of_leaves(space, plan.tree.octree, tiles_)) {
    const std::int64_t tiles = sample_.tiles.extent(0);
    const auto wanted = wanted_.resize(plan.tree.octree.cells.extent(0));
    kept_.resize(tiles * Shape::tile);
    numbers_.resize(3 * tiles);
    const std::int64_t n = plan.tree.size;
    sums_ = plan.memory.are_in_sums() ? own_sums_.resize(n) : plan.memory.sums.view(n);
    Kokkos::deep_copy(space, wanted, 0);
    for_range("fmm::calibration::wanted", space, tiles,
              MarkWanted<Space>{plan.tree.octree.cells, sample_.tiles, wanted});
  }

  /// The cells that need lists, as in DualWalk.
  Array<int, Space> wanted() const { return wanted_.view(); }
  /// Sums that stand for the truth.
  void keep() { sum_to({}); }
  /// The relative L2 error that all bodies are likely to have at most by the lists that there are now.
  double likely_error() {
    std::vector<TileSquares> squares(sample_.tiles.extent(0));
    static_assert(sizeof(TileSquares) == 3 * sizeof(double));
    sum_to(numbers_.view());
    read_back(space_, numbers_.view().data(), &squares[0].field, 3 * squares.size());
    return likely_error_of_all(squares, sample_.certain, sample_.weight);
  }
  /// What these lists cost for all bodies, with expansions of that order: in pairs of P2P.
  double work(int order) {
    std::vector<double> of_tiles(sample_.tiles.extent(0));
    for_range("fmm::calibration::work", space_, std::int64_t(of_tiles.size()),
              WorkOfSample<Space>{plan_.tree.octree.cells, sample_.tiles, plan_.lists,
                                  Shape::pairs_per_m2l(order), Shape::pairs_per_m2p(order),
                                  Shape::pairs_per_p2l(order), numbers_.view()});
    read_back(space_, numbers_.view().data(), of_tiles.data(), of_tiles.size());
    const auto others = of_tiles.begin() + sample_.certain;
    return std::accumulate(of_tiles.begin(), others, 0.0) +
           sample_.weight * std::accumulate(others, of_tiles.end(), 0.0);
  }

 private:
  void sum_to(Array<double, Space> squares) {
    set_far_field_of<Expansion, FarFieldScheme, Wanted<true, true>>(
        space_, plan_.memory, plan_.tree, plan_.lists, sample_.tiles, sums_);
    near_field_(sample_.tiles, plan_.lists.p2p, sums_);
    for_range("fmm::calibration::fields", space_, sample_.tiles.extent(0),
              FieldsOfSample<Space, Sum>{sample_.tiles, sums_, kept_.view(), squares, Shape::tile});
  }

  Space const& space_;
  PlanData<Space, Precision>& plan_;
  NearField<Space, Precision> const& near_field_;
  Buffer<Tile, Space> tiles_{"calibration's sample"};
  SampleOfLeaves<Space> sample_;  ///< in that memory or the tree's
  Buffer<int, Space> wanted_{"calibration's targets"};
  Buffer<Sums<Sum>, Space> own_sums_{"calibration's sums"}, kept_{"calibration's fields"};
  Array<Sums<Sum>, Space> sums_;  ///< the plan's, or where multipoles are in its memory these
  Buffer<double, Space> numbers_{"calibration's numbers"};
};

/// The largest pair_error at which the plan's bodies keep `tolerance`, at least `safe`; theta, if there is one at
/// which RadiusCriterion keeps it at less cost; and the fields' scale. There are multipoles, and `measures` for the
/// traversal, whose criterion is MultipolePowerCriterion; `options` are the solver's. Lists of the plan, and what SampledFields
/// says, are lost. Cost: 2 to 14 evaluations for an eighth of the bodies, or 1024 tiles if these are fewer; none if
/// softening may take the tolerance alone.
template <class Expansion, class FarFieldScheme, class Traversal, class Space, class Precision>
FMM_SELDOM Calibrated calibrate(Space const& space, PlanData<Space, Precision>& plan,
                                Options options, FarFieldRule far,
                                CellMeasures<Space> const& measures,
                                NearField<Space, Precision> const& near_field, double tolerance,
                                double safe) {
  double scale[2];  // of the fields, and of rounding's part
  read_back(space, plan.memory.traversal.scale.view(2).data(), scale, 2);
  Calibrated found{safe, scale[0]};
  // softening adds 0.19 of its error at most, to all these sums alike; where fields cancel errors of many
  // cells add up, and of float's rounding the more the more pairs are summed one by one
  const bool fields_cancel = plan.tree.charges.both_signs && scale[1] > 1.5;
  const double softened = 0.19 * options.softening_error.value_or(0),
               share = HeldTolerance::goal - (fields_cancel ? 0.1 : 0),
               goal2 = std::pow(share * tolerance, 2) - softened * softened;
  if (!(goal2 > 0)) return found;
  const double goal = std::sqrt(goal2), of_truth = safe / 4;
  SampledFields<Expansion, FarFieldScheme, Space, Precision> sample(space, plan, near_field);
  const auto list_by_powers = [&](double pair_error) {
    options.pair_error = pair_error;
    plan.lists = build_dual_lists<Traversal>(space, plan.memory, plan.tree, options, far, measures,
                                             sample.wanted());
  };
  list_by_powers(of_truth);
  sample.keep();

  double work_by_powers = 0, error_of_truth = 0;
  found.pair_error = largest_limit(safe, 3 * safe, 1, goal, [&](double pair_error) {
    list_by_powers(pair_error);
    // errors grow about as pair_error, and what the truth errs by is in both
    const double error = sample.likely_error() * pair_error / (pair_error - of_truth);
    if (std::isfinite(error)) error_of_truth = error * of_truth / pair_error;
    if (error <= goal) work_by_powers = sample.work(far.order);
    return error;
  });
  if (work_by_powers == 0) {
    list_by_powers(safe);
    work_by_powers = sample.work(far.order);
  }

  // errors by radii grow as theta^(p+2), and fall with the order as 2^(-4/5 p)
  const double degree = far.order + 2, first = 25 * goal * std::exp2(0.8 * far.order),
               most = std::pow(largest_theta, degree),
               most_work =
                   work_by_powers * Tuning<Space, real_t<Precision>>::most_work_by_radii(far.order);
  constexpr double ends = std::numeric_limits<double>::infinity();
  double work_by_radii = ends;
  const double held = largest_limit(0, first, most, goal, [&](double limit) {
    options.theta = std::pow(limit, 1 / degree);
    plan.lists = build_lists_by_radii(space, plan.memory, plan.tree, options, far, sample.wanted());
    const double work = sample.work(far.order);
    if (work > 4 * most_work) return ends;
    const double error = sample.likely_error() + error_of_truth;
    if (error <= goal) work_by_radii = work;
    return error > goal && work > most_work ? ends : error;  // a smaller theta would cost more
  });
  if (work_by_radii < most_work) found.theta = std::pow(held, 1 / degree);
  return found;
}

}  // namespace fmm::tolerance
