// SPDX-License-Identifier: BSD-3-Clause
// What squares of a sample's errors and fields say of the error of all bodies, and the search for the largest
// limit of a criterion that keeps it.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "../detail/noinline.hpp"
#include "constants.hpp"

namespace fmm::tolerance {

/// Sums over the bodies of a sampled tile.
struct TileSquares {
  double field,
      error;  ///< of |b|^2 and |a - b|^2, for the field or potential a and what it should be, b
  double bodies;
};

/// The variance of the sum of numbers that are each from a stretch of its own of what is sampled: half the squares of
/// what neighbours differ by, so that what changes slowly along the stretches is no part of it.
template <class Numbers>
double variance_of_sum(Numbers const& numbers, std::size_t begin, std::size_t end) {
  if (end - begin < 2) return 0;
  double squares = 0;
  for (std::size_t i = begin + 1; i < end; ++i)
    squares += (numbers(i) - numbers(i - 1)) * (numbers(i) - numbers(i - 1));
  return squares / 2 * double(end - begin) / double(end - begin - 1);
}

/// The relative L2 error of all bodies from a sample of their tiles, of which the first `certain` are all of their kind
/// and each of the others stands for `weight` tiles of a stretch: the sum of squares of the errors three standard
/// errors higher than the sample says, over that of the fields, as follows. Where close pairs are most of a sum, that
/// of a sample is a matter of luck, and an error that is measured at another sample may be ten times as large. So
/// fields count three standard errors lower than the sample says, or as if no tile's were stronger than those of 98 %
/// of the bodies, whichever is more. Certain tiles have their share of the standard errors, as if others like them
/// might have come instead: few of their bodies may have most of the error. Infinite if it is not a number.
/// `tiles` are a vector of TileSquares: a template, so that only who holds a tolerance compiles it.
template <class Tiles>
FMM_NOINLINE double likely_error_of_all(Tiles tiles, std::size_t certain = 0, double weight = 1) {
  double error = 0, field = 0, bodies = 0;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const double w = i < certain ? 1 : weight;
    tiles[i] = {w * tiles[i].field, w * tiles[i].error, w * tiles[i].bodies};
    error += tiles[i].error;
    field += tiles[i].field;
    bodies += tiles[i].bodies;
  }
  if (!std::isfinite(error + field)) return std::numeric_limits<double>::infinity();
  if (error == 0) return 0;
  const auto standard_error = [&](double TileSquares::*sum, double mean) {
    const auto rest = [&](std::size_t i) { return tiles[i].*sum - mean * tiles[i].bodies; };
    return std::sqrt(variance_of_sum(rest, 0, certain) +
                     variance_of_sum(rest, certain, tiles.size()));
  };
  const double most_error = error + constants.standard_errors *
                                        standard_error(&TileSquares::error, error / bodies),
               least_field = field - constants.standard_errors *
                                         standard_error(&TileSquares::field, field / bodies);
  std::sort(tiles.begin(), tiles.end(), [](TileSquares const& a, TileSquares const& b) {
    return a.field * b.bodies < b.field * a.bodies;
  });
  double usual = 0, of_bodies = 0, strongest = 0;
  for (auto const& tile : tiles) {
    if (of_bodies > 0 && of_bodies + tile.bodies > constants.usual_fields * bodies) break;
    usual += tile.field;
    of_bodies += tile.bodies;
    strongest = tile.field / tile.bodies;
  }
  usual += strongest * (bodies - of_bodies);
  const double likely = std::sqrt(most_error / std::max(least_field, usual));
  return std::isfinite(likely) ? likely : std::numeric_limits<double>::infinity();
}

/// The largest limit, of a few that are tried from `first` on and at most `most`, whose error(limit) is at most `goal`;
/// `held` if there is none that is larger than this. Errors grow about as limits do, between two that were tried as a
/// power of them; where that does not do, as at a step, the next ones are in the middle. An infinite error ends the
/// search. Cost: 6 calls at most.
FMM_NOINLINE inline double largest_limit(double held, double first, double most, double goal,
                                         std::function<double(double)> const& error) {
  struct Trial {
    double limit, error;
  };
  Trial good{held, 0}, bad{std::numeric_limits<double>::infinity(), 0};
  double next = first;
  for (int i = 0; i < constants.most_trials && good.limit < most; ++i) {
    const Trial now{std::min(next, most), error(std::min(next, most))}, worse = bad;
    if (!std::isfinite(now.error)) break;
    const bool holds = now.error <= goal, was_between = good.error > 0 && bad.error > 0;
    (holds ? good : bad) = now;
    if (holds && now.error >= constants.enough * goal) break;
    const Trial other = holds ? bad : good.error > 0 ? good : worse;
    double power = 1;
    if (other.error > 0)
      power = std::log(other.limit / now.limit) / std::log(other.error / now.error);
    if (!(power > 0)) power = 1;
    next = now.limit * std::clamp(std::pow(constants.aim * goal / now.error, power), 0.1, 10.0);
    if (was_between || !(next > good.limit && next < bad.limit))
      next = std::sqrt(good.limit * bad.limit);
    if (!(next > 1.03 * good.limit)) break;
  }
  return good.limit;
}

}  // namespace fmm::tolerance
