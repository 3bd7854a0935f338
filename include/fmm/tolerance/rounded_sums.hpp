// SPDX-License-Identifier: BSD-3-Clause
// What rounding makes of sums over all pairs in double: the error of each result is its terms' magnitudes times a share
// that some targets show, whose sums are made again, one term after the other.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "../accuracy/relative_errors.hpp"
#include "../detail/launch.hpp"
#include "terms_of_sources.hpp"

namespace fmm::tolerance {

/// One result of one target: magnitudes.
struct SumOfTerms {
  double error = 0, value = 0, terms = 0;
  double least = 0;   ///< that errors of all are relative to at least, or what that is a share of
  double weight = 1;  ///< of how many targets it stands for
};

/// What rounding makes of a result's error, from some targets: each sum is rounded by a share of the sum of its terms'
/// magnitudes, the largest of those that are seen and at least 2^-52. Targets so close to sources that terms which cancel
/// might be rounded by more than a tolerance are seen, too (close_targets.hpp).
struct RoundedSums {
  std::vector<SumOfTerms> targets;

  double largest_terms() const {
    double largest = 0;
    for (SumOfTerms const& one : targets) largest = std::fmax(largest, one.terms);
    return largest;
  }
  /// NaN for sums that are not finite.
  double error(ErrorNorm norm, double least_share) const {
    double share = std::numeric_limits<double>::epsilon(), terms2 = 0, norm2 = 0, least2 = 0;
    const double largest = largest_terms();
    std::vector<double> own;
    for (SumOfTerms const& one : targets)
      if (!std::isfinite(one.error + one.value + one.terms))
        return std::numeric_limits<double>::quiet_NaN();
    for (SumOfTerms const& one : targets) {
      if (one.terms == 0) continue;
      share = std::max(share, one.error / one.terms);
      terms2 += one.weight * std::pow(one.terms / largest, 2);
      norm2 += one.weight * std::pow(one.value / largest, 2);
      if (std::isfinite(one.least)) least2 += one.weight * std::pow(one.least / largest, 2);
      own.push_back(one.terms / std::max(one.value, least_share * one.terms));
    }
    if (own.empty()) return 0;
    std::sort(own.begin(), own.end());
    return share * (norm == ErrorNorm::p99 ? accuracy::largest_but_for(own, 100)
                                           : std::sqrt(terms2 / std::max(norm2, least2)));
  }
};

/// Potential, field and Hessian of one target; `least`: what the nearest source exerts.
struct SumsOfTerms {
  SumOfTerms of[3];
};

/// Results of some targets beside the sums of their terms; a team a target. Their numbers are `bodies` of the sources,
/// where targets are such.
template <class Space, class Terms, class SomeExclusions>
struct SeeRounding {
  Terms terms;
  Array<BodyIndex, Space> chosen;  ///< numbers of targets; none: all sources are targets
  bool are_sources;
  SomeExclusions exclusions;
  ResultArray<Space> found[3];
  int density;
  std::int64_t targets, evenly;  ///< one of each stretch of these is seen
  std::uint64_t seed;
  Array<BodyIndex, Space> others;  ///< and these
  Array<SumsOfTerms, Space> to;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const std::int64_t k = team.league_rank(),
                       i = k < evenly ? in_stretch(k) : std::int64_t(others(k - evenly)),
                       of = chosen.extent(0) > 0 ? std::int64_t(chosen(i)) : i;
    constexpr double none = std::numeric_limits<double>::infinity();
    double sum[10] = {}, magnitudes[3] = {}, nearest2 = none;
    const auto sources = std::int64_t(terms.sources.extent(0));
    std::int64_t nearest = sources;
    for (auto j = std::int64_t(team.team_rank()); j < sources; j += team.team_size()) {
      if (are_sources && (j == of || is_excluded(exclusions, of, j))) continue;
      double term[10] = {}, d[3];
      terms.difference(of, j, d);
      const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
      if (r2 > 0 && r2 < nearest2) nearest2 = r2, nearest = j;
      terms.add_at(d, j, term);
      for (int c = 0; c < 10; ++c) sum[c] += term[c];
      for (int k = 0; k < Terms::numbers; ++k) {  // what cancels within a term rounds, too
        double of_number[10] = {};
        terms.add_at(d, j, of_number, k);
        for (int r = 0; r < 3; ++r) magnitudes[r] += largest(of_number, r);
      }
    }
    for (double& number : sum) sum_over_team(team, number);
    for (double& number : magnitudes) sum_over_team(team, number);
    double of_team = nearest2;
    least_over_team(team, of_team);
    if (nearest2 > of_team) nearest = sources;
    least_over_team(team, nearest);  // the first of several
    if (team.team_rank() > 0) return;
    double of_nearest[10] = {};
    if (of_team < none) {
      double d[3];
      terms.difference(of, nearest, d);
      terms.add_most(d, nearest, of_nearest);
    }
    to(k) = {};
    for (int r = 0; r < 3; ++r) {
      if (!found[r].numbers) continue;
      SumOfTerms& one = to(k).of[r];
      one.value = largest(sum, r);
      one.terms = magnitudes[r];
      one.least = largest(of_nearest, r);
      for (int c = 0; c < found[r].row; ++c)
        sum[number_of_result(r) + c] -= found[r](i, density, c);
      one.error = largest(sum, r);
    }
  }

  KOKKOS_FUNCTION std::int64_t in_stretch(std::int64_t k) const {
    const std::int64_t begin = k * targets / evenly, length = (k + 1) * targets / evenly - begin;
    return begin + std::int64_t(drawn(std::uint64_t(k)) % std::uint64_t(length));
  }
  /// A whole number for each team (Steele, Lea and Flood, OOPSLA 2014, SplitMix).
  KOKKOS_FUNCTION std::uint64_t drawn(std::uint64_t k) const {
    std::uint64_t number = (seed + k + 1) * 0x9e3779b97f4a7c15u;
    number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9u;
    number = (number ^ (number >> 27)) * 0x94d049bb133111ebu;
    return number ^ (number >> 31);
  }

 private:
  /// NaN if one is.
  KOKKOS_FUNCTION static double largest(double const (&numbers)[10], int result) {
    double found = 0;
    const int end = result < 2 ? number_of_result(result + 1) : 10;
    for (int c = number_of_result(result); c < end; ++c)
      found = larger(found, std::fabs(numbers[c]));
    return found;
  }
};

/// A target, and how many like it there are.
struct CloseTarget {
  BodyIndex number;
  double weight;
};

/// Those of one density, at `most` targets or all that there are, and at some that are close to sources, which alone say
/// what the nearest of these exert. Cost: the terms of so many targets, one by one.
template <class Space, class Terms, class Arrays, class SomeExclusions>
std::vector<SumsOfTerms> see_rounding(Space const& space, Terms const& terms,
                                      Array<BodyIndex, Space> chosen, bool are_sources,
                                      Arrays const& found, int density,
                                      SomeExclusions const& exclusions, std::int64_t most,
                                      std::uint64_t seed,
                                      std::vector<CloseTarget> const& close = {}) {
  const std::int64_t m = std::max(
                         {found.potential.targets, found.field.targets, found.hessian.targets}),
                     evenly = std::min(m, most), seen = evenly + std::int64_t(close.size());
  std::vector<BodyIndex> others;
  double like_others = 0;
  for (CloseTarget const& one : close) {
    others.push_back(one.number);
    like_others += one.weight;
  }
  Buffer<SumsOfTerms, Space> buffer("rounded sums");
  Buffer<BodyIndex, Space> numbers("close targets");
  const auto to = buffer.resize(std::size_t(seen));
  const int team_size = is_host_space_v<Space> ? 1 : 128;
  for_teams("fmm::verification::rounding", TeamPolicy<Space>(space, int(seen), team_size),
            SeeRounding<Space, Terms, SomeExclusions>{terms,
                                                      chosen,
                                                      are_sources,
                                                      exclusions,
                                                      {found.potential, found.field, found.hessian},
                                                      density,
                                                      m,
                                                      evenly,
                                                      seed,
                                                      to_device(space, numbers, others),
                                                      to});
  std::vector<SumsOfTerms> all(static_cast<std::size_t>(seen));
  read_back(space, to.data(), all.data(), all.size());
  for (std::int64_t k = 0; k < seen; ++k)
    for (SumOfTerms& one : all[std::size_t(k)].of) {
      if (k < evenly) one.least = 0;
      one.weight = k < evenly ? std::fmax(double(m) - like_others, 0) / double(evenly)
                              : close[std::size_t(k - evenly)].weight;
    }
  return all;
}

}  // namespace fmm::tolerance
