// SPDX-License-Identifier: BSD-3-Clause
// What squares of a sample's errors and fields say of the error of all bodies, and the search for the largest
// pair_error that keeps it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "seldom.hpp"

namespace fmm::detail {

/// Sums over the bodies of a sampled tile.
struct TileSquares {
  double field, error;  ///< of |b|^2 and |a - b|^2, for the field a and what it should be, b
  double bodies;
};

/// The relative L2 error of all bodies, of which the tiles are a fair sample: the mean square of the errors three
/// standard errors higher than in the sample, over the mean square of the fields as it is in the lowest of some
/// groups of tiles: where close pairs are most of it that of a sample is a matter of luck. Infinite if it is not a
/// number.
FMM_SELDOM inline double likely_error_of_all(std::vector<TileSquares> const& tiles) {
  constexpr std::size_t most_groups = 8;
  const std::size_t n = tiles.size(), groups = std::clamp<std::size_t>(n / 16, 1, most_groups);
  std::vector<double> field(groups, 0.0), group_bodies(groups, 0.0);
  double error = 0, bodies = 0;
  for (std::size_t i = 0; i < n; ++i) {
    field[i % groups] += tiles[i].field;
    group_bodies[i % groups] += tiles[i].bodies;
    error += tiles[i].error;
    bodies += tiles[i].bodies;
  }
  const double mean = error / bodies;
  double variance = 0;  // of the sum of errors, if tiles are independent
  for (auto const& tile : tiles)
    variance += (tile.error - mean * tile.bodies) * (tile.error - mean * tile.bodies);
  for (std::size_t g = 0; g < groups; ++g) field[g] /= group_bodies[g];
  if (error == 0) return 0;
  const double lowest = *std::min_element(field.begin(), field.end()),
               likely = std::sqrt((error + 3 * std::sqrt(variance)) / bodies / lowest);
  return std::isfinite(likely) ? likely : std::numeric_limits<double>::infinity();
}

/// The largest pair_error, of a few that are tried, whose error(pair_error) is at most `goal`; `safe` if there is
/// none that is larger. Errors grow about as pair_error does. Cost: 2 to 4 calls.
FMM_SELDOM inline double largest_pair_error(double safe, double goal,
                                            std::function<double(double)> const& error) {
  constexpr int most_trials = 4;
  constexpr double aim = 0.85, enough = 0.7;  // of the goal
  double held = safe, too_large = 1, next = 3 * safe;
  for (int i = 0; i < most_trials && held < too_large; ++i) {
    const double now = std::min(next, 1.0), e = error(now);
    if (e <= goal) {
      held = std::max(held, now);
      if (e >= enough * goal) break;
    } else {
      too_large = std::min(too_large, now);
    }
    next = now * std::clamp(aim * goal / e, 0.1, 10.0);
    if (!(next > held && next < too_large)) next = std::sqrt(held * too_large);
    if (next < 1.1 * held) break;
  }
  return held;
}

}  // namespace fmm::detail
