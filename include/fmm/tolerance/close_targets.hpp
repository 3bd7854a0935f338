// SPDX-License-Identifier: BSD-3-Clause
// Targets that are so close to sources that terms which cancel there might be rounded by more than a tolerance.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "../detail/launch.hpp"
#include "../detail/noinline.hpp"
#include "../detail/reduce.hpp"
#include "quantities.hpp"
#include "rounded_sums.hpp"

namespace fmm::tolerance {

/// Of `count` targets whose terms are summed: their numbers are `chosen` of the sources, or their own.
template <class Space, class SomeExclusions>
struct TargetsOfTerms {
  std::int64_t count;
  Array<BodyIndex, Space> chosen;
  bool are_sources;
  SomeExclusions exclusions;

  KOKKOS_FUNCTION std::int64_t row(std::int64_t i) const {
    return chosen.extent(0) > 0 ? std::int64_t(chosen(i)) : i;
  }
};

/// Whether a target is nearer than that to a source at another place.
template <class Space>
struct IsNear {
  typename Points<Space>::Rows targets, sources;
  Array<BodyIndex, Space> chosen;
  double within2;
  Array<int, Space> near;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t row = chosen.extent(0) > 0 ? std::int64_t(chosen(i)) : i;
    bool is_near = false;
    for (std::int64_t j = 0; j < std::int64_t(sources.extent(0)); ++j) {
      double r2 = 0;
      for (int c = 0; c < 3; ++c)
        r2 += (targets(row, c) - sources(j, c)) * (targets(row, c) - sources(j, c));
      is_near |= r2 > 0 && r2 < within2;
    }
    near(i) = is_near;
  }
};
/// Places in order along the longest axis of all.
class SortedPlaces {
 public:
  using Place = std::array<double, 3>;

  explicit SortedPlaces(std::vector<Place> places) : places_(std::move(places)) {
    double longest = -1;
    for (std::size_t d = 0; d < 3; ++d) {
      const auto [low, high] =
          std::minmax_element(places_.begin(), places_.end(),
                              [d](Place const& a, Place const& b) { return a[d] < b[d]; });
      if (low == places_.end() || !((*high)[d] - (*low)[d] > longest)) continue;
      longest = (*high)[d] - (*low)[d];
      axis_ = d;
    }
    std::sort(places_.begin(), places_.end(),
              [this](Place const& a, Place const& b) { return a[axis_] < b[axis_]; });
  }
  /// Whether one, but not at that very place, is nearer than that.
  bool is_near(Place const& at, double within) const {
    auto other = std::lower_bound(
        places_.begin(), places_.end(), at[axis_] - within,
        [this](Place const& place, double number) { return place[axis_] < number; });
    for (; other != places_.end() && (*other)[axis_] <= at[axis_] + within; ++other) {
      double r2 = 0;
      for (std::size_t d = 0; d < 3; ++d) r2 += (at[d] - (*other)[d]) * (at[d] - (*other)[d]);
      if (r2 > 0 && r2 < within * within) return true;
    }
    return false;
  }

 private:
  std::vector<Place> places_;
  std::size_t axis_ = 0;
};

/// The numbers of those of `count` targets that are nearer than that to a source at another place. Cost: M N distances;
/// on a host those of sources that are within that along one axis, which are sorted.
template <class Space>
FMM_NOINLINE std::vector<BodyIndex> near_targets(Space const& space,
                                                 typename Points<Space>::Rows const& targets,
                                                 Array<BodyIndex, Space> chosen, std::int64_t count,
                                                 typename Points<Space>::Rows const& sources,
                                                 double within) {
  std::vector<BodyIndex> numbers;
  if constexpr (!is_host_space_v<Space>) {
    Buffer<int, Space> buffer("near targets");
    std::vector<int> near(static_cast<std::size_t>(count));
    const auto there = buffer.resize(near.size());
    for_range("fmm::verification::near", space, count,
              IsNear<Space>{targets, sources, chosen, within * within, there});
    read_back(space, there.data(), near.data(), near.size());
    for (std::int64_t i = 0; i < count; ++i)
      if (near[std::size_t(i)]) numbers.push_back(BodyIndex(i));
  } else {
    space.fence();
    std::vector<SortedPlaces::Place> places;
    for (std::size_t j = 0; j < sources.extent(0); ++j)
      places.push_back({sources(j, 0), sources(j, 1), sources(j, 2)});
    const SortedPlaces sorted(std::move(places));
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t row = chosen.extent(0) > 0 ? std::int64_t(chosen(i)) : i;
      if (sorted.is_near({targets(row, 0), targets(row, 1), targets(row, 2)}, within))
        numbers.push_back(BodyIndex(i));
    }
  }
  return numbers;
}

/// Magnitudes of what sources carry: their sum, and the largest.
struct StrengthsOfTerms {
  double sum = 0, largest = 0;
  KOKKOS_FUNCTION void join(StrengthsOfTerms const& other) {
    sum += other.sum;
    if (!(other.largest <= largest)) largest = other.largest;
  }
};
template <class Terms>
struct SumStrengths {
  Terms terms;
  KOKKOS_FUNCTION void operator()(std::int64_t j, StrengthsOfTerms& all) const {
    double of_source = 0;
    for (int k = 0; k < Terms::numbers; ++k)
      of_source += std::fabs(terms.number(j, k)) * (Terms::is_dipole(k) ? terms.per_length : 1);
    all.join({of_source, of_source});
  }
};

/// The distance, in the terms' unit, from which on a crowd of sources as strong as these does not round by more than 1 in
/// that scale, results being potential (0), field or Hessian (2).
template <class Terms>
double rounded_within(int result, Terms const&, StrengthsOfTerms const& strengths, double scale) {
  constexpr double crowd = 64;
  const double share = scale * std::min(strengths.sum, crowd * strengths.largest),
               of_charges = std::pow(share, 1.0 / (result + 1));
  return Terms::numbers == 1 ? of_charges
                             : std::max(of_charges, std::pow(share, 1.0 / (result + 2)));
}

/// Of each target what rounding of the terms of sources nearer than that makes of it, at most: `scales` are those of
/// potential, field and Hessian in it. A team a target.
template <class Space, class Terms, class Targets>
struct RoundedTerms {
  Terms terms;
  Targets targets;
  Array<BodyIndex, Space> some;      ///< of the targets; none: all
  Array<BodyIndex, Space> carriers;  ///< none: all sources
  double within2, scales[3];
  Array<double, Space> rounded;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const std::int64_t i = team.league_rank(),
                       of = targets.row(some.extent(0) > 0 ? std::int64_t(some(i)) : i),
                       few = carriers.extent(0),
                       count = few > 0 ? few : std::int64_t(terms.sources.extent(0));
    double sum = 0;
    for (auto k = std::int64_t(team.team_rank()); k < count; k += team.team_size()) {
      const std::int64_t j = few > 0 ? std::int64_t(carriers(k)) : k;
      double d[3];
      terms.difference(of, j, d);
      const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
      if (r2 > 0 && r2 < within2 &&
          !(targets.are_sources && is_excluded(targets.exclusions, of, j)))
        sum += of_source(j, 1 / std::sqrt(r2));
    }
    sum_over_team(team, sum);
    if (team.team_rank() == 0) rounded(i) = sum;
  }
  KOKKOS_FUNCTION double of_source(std::int64_t j, double u) const {
    double charge = 0, dipole = 0;
    for (int k = 0; k < Terms::numbers; ++k)
      (Terms::is_dipole(k) ? dipole : charge) += std::fabs(terms.number(j, k));
    const double at_distance = charge * u + dipole * terms.per_length * u * u;
    return at_distance * (scales[0] + u * (scales[1] + u * scales[2]));
  }
};

/// Up to `most` of `some` targets, or of all if there is no list, for which such numbers are more than a tenth, those
/// with the largest. Where there are more each stands for as many as have the squares of all.
FMM_NOINLINE inline std::vector<CloseTarget> largest_of(std::vector<double> const& rounded,
                                                        std::vector<BodyIndex> const& some,
                                                        std::size_t most) {
  constexpr double least = 0.1, largest = 1e100;  // whose square is finite
  std::vector<std::pair<double, BodyIndex>> close;
  double all = 0, chosen = 0;
  for (std::size_t i = 0; i < rounded.size(); ++i)
    if (!(rounded[i] <= least))
      close.emplace_back(rounded[i] < largest ? -rounded[i] : -largest,
                         some.empty() ? BodyIndex(i) : some[i]);
  for (auto const& one : close) all += one.first * one.first;
  if (close.size() > most) {
    std::nth_element(close.begin(), close.begin() + std::ptrdiff_t(most), close.end());
    close.resize(most);
  }
  for (auto const& one : close) chosen += one.first * one.first;
  std::vector<CloseTarget> targets;
  for (auto const& one : close) targets.push_back({one.second, all / chosen});
  return targets;
}

/// Up to `most` of `some` targets, or of all if there is no list, that sources nearer than that round most. Cost:
/// distances from all sources, or from few carriers.
template <class Space, class Terms, class SomeExclusions>
std::vector<CloseTarget> close_targets(Space const& space, Terms const& terms,
                                       TargetsOfTerms<Space, SomeExclusions> const& targets,
                                       std::vector<BodyIndex> const& some,
                                       std::vector<BodyIndex> const& carriers, double within,
                                       std::array<double, 3> const& scales, std::size_t most) {
  Buffer<double, Space> buffer("what close sources round");
  Buffer<BodyIndex, Space> some_buffer("near targets"), list("carriers");
  std::vector<double> rounded(some.empty() ? std::size_t(targets.count) : some.size());
  const auto there = buffer.resize(rounded.size());
  const int team_size = is_host_space_v<Space> ? 1 : 128;
  for_teams("fmm::verification::close", TeamPolicy<Space>(space, int(rounded.size()), team_size),
            RoundedTerms<Space, Terms, TargetsOfTerms<Space, SomeExclusions>>{
                terms,
                targets,
                to_device(space, some_buffer, some),
                to_device(space, list, carriers),
                within * within,
                {scales[0], scales[1], scales[2]},
                there});
  read_back(space, there.data(), rounded.data(), rounded.size());
  return largest_of(rounded, some, most);
}

/// Root mean squares of results of targets that were seen.
struct MeanResults {
  double of[3] = {};
};
FMM_NOINLINE inline MeanResults mean_results(std::vector<SumsOfTerms> const& seen) {
  MeanResults mean;
  for (int r = 0; r < 3; ++r) {
    double largest = 0, norm2 = 0;
    for (SumsOfTerms const& one : seen) largest = std::fmax(largest, one.of[r].value);
    for (SumsOfTerms const& one : seen)
      if (largest > 0) norm2 += std::pow(one.of[r].value / largest, 2);
    mean.of[r] = largest * std::sqrt(norm2 / double(seen.size()));
  }
  return mean;
}

/// Targets so close to what carries strengths that rounding of terms which cancel there might count beside results like
/// these. They are of those few `carriers`, or of all sources; that none is nearer than `none_within`, in the terms'
/// unit, is noted then.
template <class Space, class Terms, class SomeExclusions>
std::vector<CloseTarget> targets_that_round(Space const& space, Terms const& terms,
                                            TargetsOfTerms<Space, SomeExclusions> const& targets,
                                            MeanResults const& results, ResultKinds const& of,
                                            double tolerance,
                                            std::vector<BodyIndex> const& carriers,
                                            double& none_within) {
  constexpr double share_of_tolerance = 0.1, ulps = 4;
  constexpr std::size_t most = 1024;
  const bool is_of[3] = {of.potential, of.field, of.hessian};
  const auto strengths =
      reduce<StrengthsOfTerms>("fmm::verification::strengths", space,
                               std::int64_t(terms.sources.extent(0)), SumStrengths<Terms>{terms});
  space.fence();
  double within = 0;
  std::array<double, 3> scales = {};
  for (std::size_t r = 0; r < 3; ++r) {
    const double least = share_of_tolerance * tolerance * results.of[r];
    if (!is_of[r] || !(least > 0) || !std::isfinite(least)) continue;
    scales[r] = ulps * std::numeric_limits<double>::epsilon() * terms.unit(int(r)) / least;
    within = std::fmax(within, rounded_within(int(r), terms, strengths, scales[r]));
  }
  if (!(within > 0) || !std::isfinite(within)) return {};
  std::vector<BodyIndex> some;
  if (carriers.empty()) {
    if (within <= none_within) return {};
    some = near_targets(space, terms.targets, targets.chosen, targets.count, terms.sources,
                        2 * within / terms.per_length);
    if (some.empty()) {
      none_within = 2 * within;
      return {};
    }
  }
  return close_targets(space, terms, targets, some, carriers, within, scales, most);
}

}  // namespace fmm::tolerance
