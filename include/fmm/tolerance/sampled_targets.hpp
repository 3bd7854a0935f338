// SPDX-License-Identifier: BSD-3-Clause
// Results at some targets over all sources in double, of any strengths: what other results are compared with.
//
// They are sums of all pairs of two sets, the sampled targets and the sources. Where targets are sources, the term of a
// body with itself is taken off; of bodies with excluded pairs the others are summed anew.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "../engine/solver_core.hpp"
#include "../kernels/ewald/magnitudes.hpp"
#include "drawn_targets.hpp"
#include "order_selection.hpp"
#include "terms_of_sources.hpp"

namespace fmm::tolerance {

using engine::SolverCore;

template <class Space>
struct GatherNumbers {
  Array<BodyIndex, Space> from, numbers, to;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { to(i) = from(std::int64_t(numbers(i))); }
};

/// Takes a target's own terms off. Where they are so much of the sums that rounding would be of the rest, as with a
/// small softening, and where pairs are excluded, a team sums the others anew.
template <class Space, class Terms, class SomeExclusions>
struct TakeOffTerms {
  Terms terms;
  Array<BodyIndex, Space> bodies;  ///< of the targets
  SomeExclusions exclusions;
  ResultArray<Space> results[3];
  int density;
  double most_over_rest;  ///< of own terms

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const std::int64_t i = team.league_rank(), body = std::int64_t(bodies(i));
    const int rank = team.team_rank();
    double own[10] = {}, anew = 0;
    if (rank == 0) {
      terms.add(i, body, own);
      anew = has_excluded(body) || is_most_of(own, i);
    }
    sum_over_team(team, anew);
    double sum[10] = {};
    if (anew > 0) {
      for (std::int64_t j = rank; j < std::int64_t(terms.sources.extent(0)); j += team.team_size())
        if (j != body && !is_excluded(exclusions, body, j)) terms.add(i, j, sum);
      for (double& number : sum) sum_over_team(team, number);
    }
    if (rank > 0) return;
    for (int r = 0; r < 3; ++r)
      for (int c = 0; results[r].numbers && c < results[r].row; ++c) {
        double& result = results[r](i, density, c);
        result = anew > 0 ? sum[number_of_result(r) + c] : result - own[number_of_result(r) + c];
      }
  }

  KOKKOS_FUNCTION bool has_excluded([[maybe_unused]] std::int64_t body) const {
    if constexpr (std::is_same_v<SomeExclusions, None>)
      return false;
    else
      return exclusions.offsets(body) != exclusions.offsets(body + 1);
  }
  /// Whether rounding of a result with a target's own term, as of a small softening, counts beside the rest.
  KOKKOS_FUNCTION bool is_most_of(double const (&own)[10], std::int64_t i) const {
    for (int r = 0; r < 3; ++r) {
      double most = 0, rest = 0;
      for (int c = 0; results[r].numbers && c < results[r].row; ++c) {
        most = larger(most, std::fabs(own[number_of_result(r) + c]));
        rest = larger(rest, std::fabs(results[r](i, density, c) - own[number_of_result(r) + c]));
      }
      if (!(most <= most_over_rest * rest) && most > 0) return true;
    }
    return false;
  }
};

/// The squares of what the nearest source at another place exerts: of potential, field and Hessian.
struct NearestTerms {
  double potential = 0, field = 0, hessian = 0;
};
/// Of some of the targets, one of each stretch; an excluded source is nobody's nearest. A dipole exerts what it does
/// where it points to: a sheet of dipoles has no potential in its plane. A team a target.
template <class Space, class Terms, class SomeExclusions>
struct SetNearestTerms {
  Terms terms;
  bool is_periodic;
  kernels::NearestImages<Space> images;  ///< in a periodic cell
  Array<BodyIndex, Space> bodies;
  SomeExclusions exclusions;
  std::int64_t count;
  double per_unit;
  Array<NearestTerms, Space> nearest;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const std::int64_t k = team.league_rank(), i = k * std::int64_t(bodies.extent(0)) / count,
                       sources = std::int64_t(terms.sources.extent(0));
    constexpr double none = std::numeric_limits<double>::infinity();
    double least2 = none;
    std::int64_t source = sources;
    for (auto j = std::int64_t(team.team_rank()); j < sources; j += team.team_size()) {
      double d[3];
      const double r2 = find(i, j, d, least2);
      if (r2 > 0 && r2 < least2 && !is_excluded(exclusions, std::int64_t(bodies(i)), j)) {
        least2 = r2;
        source = j;
      }
    }
    double of_team = least2;
    least_over_team(team, of_team);
    if (least2 > of_team) source = sources;
    least_over_team(team, source);  // the first of several
    if (team.team_rank() > 0) return;
    NearestTerms found;
    if (of_team < none) {
      double d[3], term[10] = {};
      find(i, source, d, none);
      terms.add_most(d, source, term);
      const auto square = [](double x) { return x * x; };
      found.potential = square(term[0] * per_unit);
      for (int c = 1; c < 4; ++c) found.field += square(term[c] * per_unit);
      for (int c = 4; c < 10; ++c) found.hessian += (c < 7 ? 1 : 2) * square(term[c] * per_unit);
    }
    nearest(k) = found;
  }

 private:
  KOKKOS_FUNCTION double find(std::int64_t i, std::int64_t j, double (&d)[3],
                              double within2) const {
    terms.difference(i, j, d);
    return is_periodic ? images.find(d, within2) : d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
  }
};

/// Kernel, Space   as of ToleranceSolver
template <class Kernel, class Space>
class SampledTargets {
  using Core = SolverCore<Kernel, DirectSum, double, Space>;

 public:
  /// tolerance   of what is compared with these sums
  SampledTargets(Options const& options, Kernel const& kernel, double tolerance)
      : core_(options, kernel, {0, false, nullptr}),
        lattice_(options.periodic ? std::optional(periodic::Lattice(options.periodic->vectors))
                                  : std::nullopt),
        most_over_rest_(1e-2 * tolerance / std::numeric_limits<double>::epsilon()),
        ewald_error_(ewald_error_for(tolerance)) {}

  /// About `most` of the targets, others each time; all if there are no more. Of those of some results one to two times
  /// as many again, by how strong these are and by the errors that were noted. `bodies`: the numbers of sources that
  /// the targets are; none: each is the source of its own number, if they are `sources`, too.
  void choose(Space const& space, Points<Space> const& sources, Points<Space> const& targets,
              bool are_sources, Array<BodyIndex, Space> bodies, std::int64_t most,
              DrawnTargets<Space>* by_strength = nullptr) {
    const std::int64_t m = bodies.extent(0) > 0 ? std::int64_t(bodies.extent(0)) : targets.size();
    std::vector<BodyIndex> numbers;
    const std::int64_t count = std::min(m, most);
    for (std::int64_t i = 0; i < count; ++i) {  // one of each stretch
      const std::int64_t begin = i * m / count, length = (i + 1) * m / count - begin;
      numbers.push_back(BodyIndex(begin + std::int64_t(next_random() * double(length))));
    }
    evenly_ = count;
    if (by_strength && count < m)
      for (const BodyIndex number :
           by_strength->draw(count, errors_, [this] { return next_random(); }))
        numbers.push_back(number);
    numbers_ = to_device(space, numbers_buffer_, numbers);
    weights_ = by_strength && count < m ? by_strength->weights(numbers_, count, weights_buffer_)
                                        : Array<double, Space>();
    scale_ = double(m) / double(count);
    bodies_ = numbers_;
    if (bodies.extent(0) > 0) {
      bodies_ = bodies_buffer_.resize(numbers.size());
      for_range("fmm::verification::bodies", space, std::int64_t(numbers.size()),
                GatherNumbers<Space>{bodies, numbers_, bodies_});
    }
    are_sources_ = are_sources;
    chosen_.take(space, targets, bodies_);
    if (!plan_) {  // with all targets once, whose cube the next ones are in
      plan_ = core_.build_two(space, targets.rows(), sources.rows(), nullptr);
      plan_->targets->facts.ewald_error = ewald_error_;
    }
    core_.retarget(space, *plan_, chosen_.rows(), nullptr);
    sources_ = sources.rows();
    length_ = plan_->sources->tree.cube.exact_unit();
  }
  /// Which targets have the errors of some results, against others: more of the next ones are of these.
  template <class Arrays>
  void note_errors(DrawnTargets<Space>& of_results, Arrays const& known) {
    have_errors_ = of_results.note_errors(known, errors_buffer_, errors_);
  }
  /// About how many targets had the errors that were noted last.
  double have_errors() const { return have_errors_; }
  std::int64_t size() const { return chosen_.size(); }
  std::size_t memory_bytes() const {
    return core_.memory_bytes() + chosen_.bytes() + errors_buffer_.bytes();
  }
  Array<BodyIndex, Space> numbers() const { return numbers_; }
  /// What squares at these targets are multiplied by, and their sums then, so that they are about those of all.
  Array<double, Space> weights() const { return weights_; }
  double scale() const { return weights_.extent(0) > 0 ? 1 : scale_; }

  /// Potential, field and Hessian of these targets; `arrays` have them afterwards.
  template <class Given, class Arrays, class SomeExclusions>
  void sum(Space const& space, Given const& given, Arrays const& arrays,
           SomeExclusions const& exclusions) {
    engine::for_ends<double, false>(
        space, *plan_, core_.kernel(), given, arrays.views(), nullptr,
        [&](auto const& ends) { core_.evaluate(space, *plan_, nullptr, ends, nullptr); });
    if (!are_sources_) return;
    for_each_density(given, arrays, [&](auto const& terms, int density) {
      using Terms = std::remove_cvref_t<decltype(terms)>;
      const int team_size = is_host_space_v<Space> ? 1 : 128;
      for_teams("fmm::verification::take_off", TeamPolicy<Space>(space, int(size()), team_size),
                TakeOffTerms<Space, Terms, SomeExclusions>{
                    terms,
                    bodies_,
                    exclusions,
                    {arrays.potential, arrays.field, arrays.hessian},
                    density,
                    most_over_rest_});
    });
  }
  /// The squares of what the nearest source at another place exerts, in units of per_unit, the mean of some of these
  /// targets, of those that were chosen evenly.
  template <class Given, class Arrays, class SomeExclusions>
  NearestTerms nearest(Space const& space, Given const& given, Arrays const& arrays,
                       SomeExclusions const& exclusions, int of, double per_unit) const {
    const std::int64_t most = lattice_ ? 64 : 512;
    const std::int64_t count = std::min(evenly_, most);
    Buffer<double, Space> memory("images of the nearest");
    Buffer<NearestTerms, Space> buffer("what the nearest exert");
    const auto images = lattice_
                            ? kernels::nearest_images(space, lattice_->times(1 / length_), memory)
                            : kernels::NearestImages<Space>{};
    std::vector<NearestTerms> all(static_cast<std::size_t>(count));
    const auto there = buffer.resize(all.size());
    for_each_density(given, arrays, [&](auto const& terms, int density) {
      using Terms = std::remove_cvref_t<decltype(terms)>;
      if (density != of) return;
      const int team_size = is_host_space_v<Space> ? 1 : 256;
      for_teams(
          "fmm::verification::nearest", TeamPolicy<Space>(space, int(count), team_size),
          SetNearestTerms<Space, Terms, SomeExclusions>{
              terms, lattice_.has_value(), images, subarray<BodyIndex, Space>(bodies_, 0, evenly_),
              exclusions, count, per_unit, there});
    });
    read_back(space, there.data(), all.data(), all.size());
    NearestTerms found;
    for (NearestTerms const& one : all) {
      found.potential += one.potential;
      found.field += one.field;
      found.hessian += one.hessian;
    }
    for (double* const sum : {&found.potential, &found.field, &found.hessian})
      *sum /= double(count);
    return found;
  }

 private:
  /// In [0, 1).
  double next_random() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return double(state_ >> 11) * 0x1p-53;
  }
  /// f(terms, density) for each.
  template <class Given, class Arrays, class F>
  void for_each_density(Given const& given, Arrays const& arrays, F const& f) const {
    for_each_terms(core_.kernel(), length_, chosen_.rows(), sources_, given, arrays, f);
  }

  Core core_;
  std::optional<periodic::Lattice> lattice_;
  std::optional<engine::TwoSetData<Space, double>> plan_;
  Points<Space> chosen_;
  typename Points<Space>::Rows sources_;
  Buffer<BodyIndex, Space> numbers_buffer_{"sampled targets"},
      bodies_buffer_{"bodies of sampled targets"};
  Array<BodyIndex, Space> numbers_, bodies_;
  Buffer<double, Space> weights_buffer_{"weights of sampled targets"};
  Buffer<double, Space> errors_buffer_{"errors of targets"};
  Array<double, Space> weights_, errors_;
  double have_errors_ = 0;
  std::int64_t evenly_ = 0;  ///< of them, the first ones
  double scale_ = 1;
  bool are_sources_ = false;
  double most_over_rest_, ewald_error_;
  double length_ = 1;
  std::uint64_t state_ = 1;
};

}  // namespace fmm::tolerance
