// SPDX-License-Identifier: BSD-3-Clause
// Where the strengths of a density are: an expansion's error is that of the places that are lit, so that what was seen
// with others of the same places tells it, and what was seen elsewhere does not.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "../detail/copy.hpp"
#include "../detail/launch.hpp"
#include "../detail/memory.hpp"

namespace fmm::tolerance {

/// Strengths by runs of sources that lie beside each other, as shares of the sum of all magnitudes.
struct StrengthProfile {
  std::vector<double> squares;  ///< of each run's charges, and of its dipoles, which err otherwise
  double coherence = 0;  ///< squares of the runs' sums over the sum of squares: 1 of random signs
};

/// One run: the sums of its charges' and of its dipoles' squares, and the square of its sum, each number of a source by
/// itself.
template <class Space, class Terms>
struct SumRuns {
  static constexpr int numbers = Terms::numbers;

  Terms terms;
  Array<BodyIndex, Space> permutation;
  std::int64_t runs;
  double per_strength, dipoles_per_length;
  Array<double, Space> to;  ///< three numbers a run

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const std::int64_t run = team.league_rank(), n = permutation.extent(0), begin = run * n / runs,
                       end = (run + 1) * n / runs;
    double squares[2] = {}, sum[numbers] = {};
    for (std::int64_t i = begin + team.team_rank(); i < end; i += team.team_size())
      for (int k = 0; k < numbers; ++k) {
        const bool is_dipole = terms.is_dipole(k);
        const double number =
            terms.number(permutation(i), k) * per_strength * (is_dipole ? dipoles_per_length : 1);
        squares[is_dipole] += number * number;
        sum[k] += number;
      }
    for (double& number : squares) sum_over_team(team, number);
    double square_of_sum = 0;
    for (double& number : sum) {
      sum_over_team(team, number);
      square_of_sum += number * number;
    }
    if (team.team_rank() > 0) return;
    to(3 * run) = squares[0];
    to(3 * run + 1) = squares[1];
    to(3 * run + 2) = square_of_sum;
  }
};

/// Of one density.
///
/// permutation  the sources' numbers, those beside each other in space together
/// strength     the sum of all magnitudes, dipoles times dipoles_per_length
template <class Space, class Terms>
StrengthProfile profile_of(Space const& space, Terms const& terms,
                           Array<BodyIndex, Space> permutation, double strength,
                           double dipoles_per_length) {
  constexpr std::int64_t least_of_run = 16, most_runs = 256;
  const std::int64_t n = permutation.extent(0),
                     runs = std::clamp<std::int64_t>(n / least_of_run, 1, most_runs);
  Buffer<double, Space> buffer("strengths by runs");
  const auto to = buffer.resize(std::size_t(3 * runs));
  const int team_size = is_host_space_v<Space> ? 1 : 128;
  for_teams("fmm::verification::profile", TeamPolicy<Space>(space, int(runs), team_size),
            SumRuns<Space, Terms>{terms, permutation, runs, 1 / strength, dipoles_per_length, to});
  std::vector<double> sums(std::size_t(3 * runs));
  read_back(space, to.data(), sums.data(), sums.size());
  StrengthProfile profile;
  double all = 0, of_sums = 0;
  for (std::size_t r = 0; r < sums.size(); r += 3) {
    profile.squares.push_back(sums[r]);
    profile.squares.push_back(sums[r + 1]);
    all += sums[r] + sums[r + 1];
    of_sums += sums[r + 2];
  }
  profile.coherence = all > 0 ? of_sums / all : 0;
  return profile;
}

/// One density of an evaluation that was compared, or is to be.
struct SeenDensity {
  double strength = 0;  ///< sum of magnitudes
  double sources = 0;   ///< the same over the largest of them: how many sources carry most of it
  double potential = 0, field = 0, hessian = 0;  ///< root mean squares; 0 of what was not wanted
  double error = 0;                              ///< of what the tolerance is of, relative
  bool is_exact = false;  ///< of so few sources that their terms were summed one by one
  StrengthProfile profile;
};

/// The relative error of strengths whose evaluation was not compared, from the first `count` of those that were. Errors
/// are linear in the strengths, and those of sources apart from each other differ in sign: squares add up. Infinite
/// where a place is lit that was hardly so before, and where results are so much stronger that close pairs must be lit
/// which were not.
///
/// result    the number of one of the results, of which it is
inline double expected_error(std::vector<SeenDensity> const& before, std::size_t count,
                             SeenDensity const& now, double SeenDensity::*result) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double most_lit = 6,  // random strengths of 16 sources differ by less
      far_stronger = 4;
  double errors = 0, coherence = 1, largest = 0, strongest = 0;
  std::vector<double> lit(now.profile.squares.size(), 0.0);
  for (std::size_t j = 0; j < count; ++j) {
    SeenDensity const& one = before[j];
    // its strengths beside its results, over those of now
    const double unit = (one.strength / now.strength) * (now.*result / one.*result);
    errors += one.error * one.error;
    coherence = std::max(coherence, one.profile.coherence);
    strongest = std::max(strongest, 1 / unit);
    for (std::size_t r = 0; r < lit.size(); ++r) lit[r] += one.profile.squares[r] * unit * unit;
  }
  if (!(far_stronger * strongest >= 1)) return infinity;
  for (std::size_t r = 0; r < lit.size(); ++r) {
    const double square = now.profile.squares[r];
    if (!(square <= most_lit * lit[r])) return infinity;
    if (square > 0) largest = std::max(largest, square / lit[r]);
  }
  return std::sqrt(errors * largest * std::max(1.0, now.profile.coherence / coherence));
}

}  // namespace fmm::tolerance
