// SPDX-License-Identifier: BSD-3-Clause
// Which bodies an evaluation is checked at, and what their errors say of all bodies' error. Errors
// have heavy tails: of a million bodies seventy may have nearly all of the squares' sum. So groups
// of a few bodies are drawn the more often the more an error is expected of them (their weight, differences.hpp),
// and count the less for it (Hansen & Hurwitz 1943, Ann. Math. Stat. 14:333): the estimate of the sum is right on
// average whatever is expected. A part of the draws is even, so that no group counts for much more than its like.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "../accuracy/random_numbers.hpp"
#include "constants.hpp"
#include "differences.hpp"

namespace fmm::tolerance {

/// Of a tile: the sum of its groups' weights, and its bodies.
struct TileWeight {
  double weight;
  std::int64_t bodies;

  std::int64_t groups() const { return groups_of(bodies); }
};

/// A tile's weight.
template <class Space>
struct AddGroups {
  Array<float, Space> groups;  ///< `row` a tile
  int row;
  Array<Tile, Space> tiles;
  Array<TileWeight, Space> weights;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    double sum = 0;
    for (int k = 0; k < row; ++k) sum += groups(i * row + k);
    weights(i) = {sum, tiles(i).count};
  }
};

/// Of all tiles, whose groups have these weights, `row` a tile.
template <class Space>
std::vector<TileWeight> weights_of_tiles(Space const& space, Octree<Space> const& octree, int row,
                                         Array<float, Space> weights) {
  std::vector<TileWeight> all(octree.tiles.extent(0));
  Buffer<TileWeight, Space> buffer("weights of tiles");
  const auto there = buffer.resize(all.size());
  for_range("fmm::verification::add", space, std::int64_t(all.size()),
            AddGroups<Space>{weights, row, octree.tiles, there});
  read_back(space, there.data(), all.data(), all.size());
  return all;
}

/// A group that was drawn so many times, or is certain: 0 times.
struct DrawnGroup {
  std::int64_t tile, number;  ///< the number-th group of that tile
  double chance;              ///< of one draw
  int times;
};

/// Draws groups of tiles: each as often as its weight says, which is a share of all draws; what weights leave is even.
class GroupDraws {
 public:
  /// Weights add up to less than 1.
  GroupDraws(std::vector<TileWeight> tiles, std::uint64_t seed)
      : tiles_(std::move(tiles)), random_(seed) {
    double all = 0;
    for (TileWeight const& tile : tiles_) {
      all += tile.weight;
      groups_ += tile.groups();
    }
    double sum = 0;
    for (TileWeight const& tile : tiles_) {
      chances_.push_back({tile.weight, (1 - all) * double(tile.groups()) / double(groups_)});
      ends_.push_back(sum += chances_.back().by_weight + chances_.back().even);
    }
  }

  /// Whether so many draws are of all groups, each once.
  bool draws_all_groups(std::int64_t draws) const { return groups_ <= draws; }

  /// So many draws of groups, each group once; or all, if there are no more than `most`. weights(tiles) gives those of
  /// the groups of some tiles, a row of `row` numbers each.
  template <class Weights>
  FMM_NOINLINE std::vector<DrawnGroup> draw_groups(int count, int most, int row,
                                                   Weights const& weights) {
    std::vector<DrawnGroup> drawn;
    if (draws_all_groups(most)) {
      for (std::int64_t t = 0; t < std::int64_t(tiles_.size()); ++t)
        for (std::int64_t g = 0; g < tiles_[t].groups(); ++g) drawn.push_back({t, g, 1, 0});
      return drawn;
    }
    const auto tiles = numbers_of_tiles(count);
    const std::vector<float> of_groups = weights(tiles);
    for (int i = 0; i < count; ++i) {
      const auto t = std::int64_t(tiles[i]), groups = tiles_[t].groups();
      float const* const weight = &of_groups[std::size_t(i) * row];
      double all = 0;
      for (int g = 0; g < groups; ++g) all += weight[g];
      Chance const& chance = chances_[t];
      const bool is_by_weight =
          all > 0 && uniform() * (chance.by_weight + chance.even) < chance.by_weight;
      const double at = uniform();
      std::int64_t g = is_by_weight ? 0 : std::int64_t(at * double(groups));
      if (is_by_weight)
        for (double left = at * all - weight[0]; left >= 0 && g + 1 < groups;) left -= weight[++g];
      const double of_group =
          chance.even / double(groups) + (all > 0 ? chance.by_weight * weight[g] / all : 0);
      add(drawn, {t, g, of_group / ends_.back(), 1});
    }
    return drawn;
  }

 private:
  struct Chance {
    double by_weight, even;
  };
  /// Ascending.
  std::vector<std::uint64_t> numbers_of_tiles(int count) {
    std::vector<std::uint64_t> numbers;
    for (int i = 0; i < count; ++i) {
      const auto at = std::upper_bound(ends_.begin(), ends_.end(), uniform() * ends_.back());
      numbers.push_back(std::min<std::uint64_t>(at - ends_.begin(), ends_.size() - 1));
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }
  double uniform() { return double(random_() >> 11) * 0x1p-53; }
  /// Groups of a tile follow each other.
  static void add(std::vector<DrawnGroup>& drawn, DrawnGroup const& group) {
    for (auto other = drawn.rbegin(); other != drawn.rend() && other->tile == group.tile; ++other)
      if (other->number == group.number) {
        ++other->times;
        return;
      }
    drawn.push_back(group);
  }

  std::vector<TileWeight> tiles_;
  accuracy::RandomNumbers random_;
  std::int64_t groups_ = 0;
  std::vector<Chance> chances_;
  std::vector<double> ends_;
};

/// The sum of a number over all groups, from those of drawn ones.
class SumOverGroups {
 public:
  void add(double number, DrawnGroup const& group) {
    if (group.times == 0) certain_ += number;
    const double value = number / group.chance;
    draws_ += group.times;
    sum_ += group.times * value;
    squares_ += group.times * value * value;
  }
  /// So many standard errors more.
  double likely(double more = 0) const {
    return draws_ == 0 ? certain_
                       : certain_ + sum_ / double(draws_) + (more == 0 ? 0 : more * error());
  }

 private:
  double error() const {
    const double n = double(draws_), mean = sum_ / n;
    if (draws_ < 2) return std::numeric_limits<double>::infinity();
    return std::sqrt(std::max(squares_ / n - mean * mean, 0.0) / (n - 1));
  }

  std::int64_t draws_ = 0;
  double certain_ = 0, sum_ = 0, squares_ = 0;
};

/// Errors of all bodies, in the norm of a tolerance.
struct SeenError {
  double likely = 0;
  double two_more = 0;  ///< with the sum of squares two standard errors higher
  double most = 0;      ///< three higher
  double least = 0;     ///< and three lower
  double largest = 0;   ///< of own errors: that of the drawn bodies
};

inline SeenError larger(SeenError const& a, SeenError const& b) {
  return {std::fmax(a.likely, b.likely), std::fmax(a.two_more, b.two_more),
          std::fmax(a.most, b.most), std::fmax(a.least, b.least), std::fmax(a.largest, b.largest)};
}

/// From sums of squares, of errors and of what they are relative to: 0 of 0 is no error, and there is none of what is
/// not finite.
inline double relative_error(double squares, double of_all) {
  if (!std::isfinite(of_all) || squares <= 0) return 0;
  const double error = std::sqrt(squares / of_all);
  return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}
/// Of squares that are known and what is to be added to them.
inline SeenError seen_error(double known, SumOverGroups const& rest, double of_all) {
  const auto error = [&](double more) { return relative_error(known + rest.likely(more), of_all); };
  return {error(0), error(2), error(constants.standard_errors), error(-constants.standard_errors)};
}

}  // namespace fmm::tolerance
