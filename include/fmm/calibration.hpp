// SPDX-License-Identifier: BSD-3-Clause
// The pair_error of PowerCriterion that holds a tolerance for the bodies at hand, found from a sample of them.
//
// A pair_error that holds it for bodies of any distribution allows for the worst: most err by a seventh of the
// tolerance (docs/math.md). So the fields of a sample of tiles are summed with a pair_error of an eighth of that,
// which stands for the truth, and then with larger ones: what the sums differ by are the latter's errors. All of
// these are made of the evaluation's own tree and multipoles, with lists for the sample only.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "detail/error_at_sample.hpp"
#include "evaluation.hpp"
#include "plan_builder.hpp"

namespace fmm::detail {

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

/// Tiles spread over all of `tiles`, one of each stretch of these, not always at the same place of it: a tree's own
/// steps are as even.
template <class Space>
struct SpreadSample {
  Array<Tile, Space> tiles, sample;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const double step = double(tiles.extent(0)) / double(sample.extent(0)),
                 turns = 0.6180339887498949 * double(i), place = turns - std::floor(turns);
    const auto at = std::int64_t((double(i) + place) * step),
               last = std::int64_t(tiles.extent(0)) - 1;
    sample(i) = tiles(at < last ? at : last);
  }
};

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

/// What a pair_error was found for.
struct Likeness {
  std::int64_t bodies = 0, cells = 0;
  std::vector<float> powers = {};  ///< of the root's multipole

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
  double pair_error = 0;
  double field_scale = 0;  ///< of their cells (field_strength.hpp)
};

/// A tolerance to be held, and what was found for the last bodies.
class HeldTolerance {
 public:
  /// Of fewer bodies it would cost as much as it saves.
  static constexpr std::int64_t least_bodies = 20000;
  static constexpr bool are_enough(std::int64_t bodies) { return bodies >= least_bodies; }
  /// So many evaluations later it is found anew, though bodies seem to be the same.
  static constexpr int most_evaluations = 32;
  /// Of the tolerance; the rest is for what the sample does not see.
  static constexpr double goal = 0.85;

  /// None.
  HeldTolerance() = default;
  /// `safe` is a pair_error that holds the tolerance for bodies of any distribution.
  HeldTolerance(double tolerance, double safe) : tolerance_(tolerance), safe_(safe) {}

  bool is_set() const { return tolerance_ > 0; }
  double tolerance() const { return tolerance_; }
  double safe() const { return safe_; }

  /// Whether it is known what to take for an evaluation of such bodies; if not, it is to be found.
  bool knows(Likeness const& bodies) {
    if (!are_enough(bodies.bodies)) {
      now_ = {safe_, 0};
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

/// The largest pair_error at which the storage's bodies keep `tolerance`, at least `safe`, and the fields' scale. There
/// are multipoles, and `measures` for the criterion; `options` are the solver's, `near_field` as of set_sums_of. Lists
/// of the storage, and its sums unless the multipoles are in their memory, are lost. Cost: 2 to 5 evaluations for a
/// sixteenth of the bodies, or 512 tiles if these are fewer; for as long 32 bytes a body where the multipoles are there.
template <class Expansion, class FarFieldScheme, class Traversal, class Space, class Precision>
FMM_SELDOM Calibrated calibrate(Space const& space, PlanStorage<Space, Precision>& s,
                                Options options, FarFieldRule far,
                                CellMeasures<Space> const& measures,
                                LeafSums<Space, Precision> const& near_field, double tolerance,
                                double safe) {
  using Sum = sum_t<Precision>;
  constexpr std::int64_t least_tiles = 128, most_tiles = 512, share = 16;
  constexpr std::int64_t row = Tuning<Space, real_t<Precision>>::tile;
  auto const& tree = s.tree;
  const std::int64_t tiles = tree.tiles.extent(0), cells = tree.cells.extent(0),
                     sampled = std::min(tiles, std::clamp(tiles / share, least_tiles, most_tiles));
  Buffer<Tile, Space> sample_buffer("calibration's sample");
  Buffer<int, Space> wanted_buffer("calibration's targets");
  Buffer<Sums<Sum>, Space> sum_buffer("calibration's sums"), kept_buffer("calibration's fields");
  Buffer<double, Space> square_buffer("calibration's squares");
  const auto sample = sample_buffer.resize(sampled);
  const auto wanted = wanted_buffer.resize(cells);
  const bool sums_are_free = !s.lies_in_sums(s.multipoles.view());
  const auto sums = sums_are_free ? s.sums.view(s.size) : sum_buffer.resize(s.size);
  const auto kept = kept_buffer.resize(sampled * row);
  const auto squares = square_buffer.resize(3 * sampled);
  for_range("fmm::calibration::sample", space, sampled, SpreadSample<Space>{tree.tiles, sample});
  Kokkos::deep_copy(space, wanted, 0);
  for_range("fmm::calibration::wanted", space, sampled,
            MarkWanted<Space>{tree.cells, sample, wanted});

  const auto sum_with = [&](double pair_error, Array<double, Space> to) {
    options.pair_error = pair_error;
    build_dual_lists<Traversal>(space, s, options, far, measures, wanted);
    set_sums_of<Expansion, FarFieldScheme, Wanted<true, true>>(space, s, sample, near_field, sums);
    for_range("fmm::calibration::fields", space, sampled,
              FieldsOfSample<Space, Sum>{sample, sums, kept, to, row});
  };
  sum_with(safe / 8, {});
  // softening adds 0.19 of its error at most, to all these sums alike
  const double softened = 0.19 * options.softening_error.value_or(0),
               goal2 = std::pow(HeldTolerance::goal * tolerance, 2) - softened * softened;
  const double found =
      largest_pair_error(safe, std::sqrt(std::fmax(goal2, 0)), [&](double pair_error) {
        sum_with(pair_error, squares);
        std::vector<TileSquares> of_tiles(sampled);
        static_assert(sizeof(TileSquares) == 3 * sizeof(double));
        read_back(space, squares.data(), &of_tiles[0].field, 3 * sampled);
        return likely_error_of_all(of_tiles);
      });
  Calibrated result{found};
  result.field_scale =
      read_back(space, s.traversal.scale.view(1).data());  // and the buffers go now
  return result;
}

}  // namespace fmm::detail
