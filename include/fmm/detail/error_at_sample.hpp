// SPDX-License-Identifier: BSD-3-Clause
// What squares of a sample's errors and fields say of the error of all bodies, and the search for the largest
// limit of a criterion that keeps it.
#pragma once

#include <algorithm>
#include <cmath>
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
/// standard errors higher than in the sample, over the mean square of the fields in the nine tenths of the tiles where
/// that is lowest. Where close pairs are most of it the mean of a sample is a matter of luck, and an error that is
/// measured at another sample may be ten times as large. Infinite if it is not a number.
FMM_SELDOM inline double likely_error_of_all(std::vector<TileSquares> tiles) {
  double error = 0, bodies = 0, all = 0;
  for (auto const& tile : tiles) {
    error += tile.error;
    bodies += tile.bodies;
    all += tile.field;
  }
  if (!std::isfinite(error + all)) return std::numeric_limits<double>::infinity();
  if (error == 0) return 0;
  const double mean = error / bodies;
  double variance = 0;  // of the sum of errors, if tiles are independent
  for (auto const& tile : tiles)
    variance += (tile.error - mean * tile.bodies) * (tile.error - mean * tile.bodies);
  std::sort(tiles.begin(), tiles.end(), [](TileSquares const& a, TileSquares const& b) {
    return a.field * b.bodies < b.field * a.bodies;
  });
  double field = 0, of_bodies = 0;
  for (std::size_t i = 0; i < tiles.size() - tiles.size() / 10; ++i) {
    field += tiles[i].field;
    of_bodies += tiles[i].bodies;
  }
  const double likely = std::sqrt((mean + 3 * std::sqrt(variance) / bodies) / (field / of_bodies));
  return std::isfinite(likely) ? likely : std::numeric_limits<double>::infinity();
}

/// The largest limit, of a few that are tried from `first` on and at most `most`, whose error(limit) is at most `goal`;
/// `held` if there is none that is larger than this. Errors grow about as limits do, between two that were tried as a
/// power of them; an infinite one ends the search. Cost: 4 calls at most.
FMM_SELDOM inline double largest_limit(double held, double first, double most, double goal,
                                       std::function<double(double)> const& error) {
  constexpr int most_trials = 4;
  constexpr double aim = 0.92, enough = 0.8;  // of the goal
  struct Trial {
    double limit, error;
  };
  Trial good{held, 0}, bad{std::numeric_limits<double>::infinity(), 0};
  double next = first;
  for (int i = 0; i < most_trials && good.limit < most; ++i) {
    const Trial now{std::min(next, most), error(std::min(next, most))};
    if (!std::isfinite(now.error)) break;
    (now.error <= goal ? good : bad) = now;
    if (now.error <= goal && now.error >= enough * goal) break;
    double power = 1;
    if (good.error > 0 && std::isfinite(bad.limit))
      power = std::log(bad.limit / good.limit) / std::log(bad.error / good.error);
    next = now.limit * std::clamp(std::pow(aim * goal / now.error, power), 0.1, 10.0);
    if (!(next > good.limit && next < bad.limit)) next = std::sqrt(good.limit * bad.limit);
    if (next < 1.05 * good.limit) break;
  }
  return good.limit;
}

}  // namespace fmm::detail
