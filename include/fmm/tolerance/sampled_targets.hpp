// SPDX-License-Identifier: BSD-3-Clause
// Results at some targets over all sources in double, of any strengths: what other results are compared with.
//
// They are sums of all pairs of two sets, the sampled targets and the sources. Where targets are sources, the term of a
// body with itself is taken off; of bodies with excluded pairs the others are summed anew.
#pragma once

#include <algorithm>
#include <vector>

#include "../engine/any_strengths.hpp"
#include "../engine/solver_core.hpp"
#include "result_arrays.hpp"

namespace fmm::tolerance {

using engine::SolverCore;

/// Positions in double, (N,3), of a caller's or of some of them.
template <class Space>
class Points {
 public:
  using Rows = Kokkos::View<double* [3], Kokkos::LayoutRight, Device<Space>,
                            Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  template <class Positions>
  struct Copy {
    Positions from;
    Rows to;
    KOKKOS_FUNCTION void operator()(std::int64_t i) const {
      for (int d = 0; d < 3; ++d) to(i, d) = from(i, d);
    }
  };
  struct Gather {
    Rows from;
    Array<BodyIndex, Space> numbers;
    Rows to;
    KOKKOS_FUNCTION void operator()(std::int64_t i) const {
      for (int d = 0; d < 3; ++d) to(i, d) = from(std::int64_t(numbers(i)), d);
    }
  };

  std::int64_t size() const { return size_; }
  std::size_t bytes() const { return numbers_.bytes(); }
  Rows rows() const { return Rows(numbers_.view().data(), std::size_t(size_)); }
  template <class Positions>
  void take(Space const& space, Positions const& from) {
    resize(std::int64_t(from.extent(0)));
    for_range("fmm::positions", space, size_, Copy<Positions>{from, rows()});
  }
  void take(Space const& space, Points const& from, Array<BodyIndex, Space> numbers) {
    resize(std::int64_t(numbers.extent(0)));
    for_range("fmm::positions", space, size_, Gather{from.rows(), numbers, rows()});
  }

 private:
  void resize(std::int64_t size) {
    size_ = size;
    numbers_.resize(std::size_t(3 * size));
  }

  Buffer<double, Space> numbers_{"positions in double"};
  std::int64_t size_ = 0;
};

template <class Space>
struct GatherNumbers {
  Array<BodyIndex, Space> from, numbers, to;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { to(i) = from(std::int64_t(numbers(i))); }
};

/// One source's terms at a target, of one density, in the units of results: potential, field and Hessian.
template <class Space, class Kernel, class Strengths, class Out, class Given>
struct TermsOfSource {
  using Total = kernels::TargetSums<double, Out::records>;
  typename Points<Space>::Rows targets, sources;
  Given given;
  Kernel kernel;
  double per_length, potential_unit;

  KOKKOS_FUNCTION void add(std::int64_t target, std::int64_t source, double (&sum)[10]) const {
    double d[3], r2 = 0;
    for (int c = 0; c < 3; ++c) {
      d[c] = (targets(target, c) - sources(source, c)) * per_length;
      r2 += d[c] * d[c];
    }
    const auto number = [&](int k) {
      const double value = Strengths::given(given, source, k);
      return Strengths::is_dipole(k) ? value * per_length : value;
    };
    kernels::SourcePack<double, Strengths::numbers> strengths{0, 0, 0, number(0)};
    if constexpr (Strengths::numbers > 1)
      for (int k = 1; k < Strengths::numbers; ++k) strengths.others[k - 1] = number(k);
    Total total{};
    if constexpr (kernels::wants_derivatives<Strengths, Out>)
      Strengths::template add<Out>(kernels::pair_derivatives<false>(kernel, r2), d[0], d[1], d[2],
                                   strengths, total);
    else
      Strengths::template add<Out>(kernels::pair_term<false>(kernel, r2), d[0], d[1], d[2],
                                   strengths, total);
    const double field_unit = potential_unit * per_length;
    auto const& first = total.record(0);
    sum[0] += first.potential * potential_unit;
    sum[1] += first.x * field_unit;
    sum[2] += first.y * field_unit;
    sum[3] += first.z * field_unit;
    if constexpr (Out::hessian) {
      double numbers[6];
      kernels::hessian_of_records(total.record(1), total.record(2), numbers);
      for (int c = 0; c < 6; ++c) sum[4 + c] += numbers[c] * field_unit * per_length;
    }
  }
};

/// Whether a body's row of excluded pairs has a source.
template <class SomeExclusions>
KOKKOS_FUNCTION bool is_excluded([[maybe_unused]] SomeExclusions const& exclusions,
                                 [[maybe_unused]] std::int64_t body,
                                 [[maybe_unused]] std::int64_t source) {
  if constexpr (!std::is_same_v<SomeExclusions, None>)
    for (auto e = std::int64_t(exclusions.offsets(body));
         e < std::int64_t(exclusions.offsets(body + 1)); ++e)
      if (std::int64_t(exclusions.bodies(e)) == source) return true;
  return false;
}

/// Takes a target's own terms off. Where pairs are excluded, whose terms may be all of the sums but a rest, a team sums
/// the others anew.
template <class Space, class Terms, class SomeExclusions>
struct TakeOffTerms {
  Terms terms;
  Array<BodyIndex, Space> bodies;  ///< of the targets
  SomeExclusions exclusions;
  ResultArray<Space> potential, field, hessian;
  int density;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const std::int64_t i = team.league_rank(), body = std::int64_t(bodies(i));
    const int rank = team.team_rank();
    double sum[10] = {};
    bool anew = false;
    if constexpr (!std::is_same_v<SomeExclusions, None>) {
      anew = exclusions.offsets(body) != exclusions.offsets(body + 1);
      if (anew)
        for (std::int64_t j = rank; j < std::int64_t(terms.sources.extent(0));
             j += team.team_size())
          if (j != body && !is_excluded(exclusions, body, j)) terms.add(i, j, sum);
      for (double& number : sum) sum_over_team(team, number);
    }
    if (rank > 0) return;
    if (!anew) terms.add(i, body, sum);
    const auto give = [anew](double& result, double x) { result = anew ? x : result - x; };
    if (potential.numbers) give(potential(i, density, 0), sum[0]);
    for (int c = 0; c < 3 && field.numbers; ++c) give(field(i, density, c), sum[1 + c]);
    for (int c = 0; c < 6 && hessian.numbers; ++c) give(hessian(i, density, c), sum[4 + c]);
  }
};

/// The squares of what the nearest source at another place exerts: of potential, field and Hessian.
struct NearestTerms {
  double potential = 0, field = 0, hessian = 0;
  KOKKOS_FUNCTION void join(NearestTerms const& other) {
    potential += other.potential;
    field += other.field;
    hessian += other.hessian;
  }
};
/// Of some of the targets, one of each stretch; an excluded source is nobody's nearest.
template <class Space, class Terms, class SomeExclusions>
struct AddNearestTerms {
  Terms terms;
  Array<BodyIndex, Space> bodies;
  SomeExclusions exclusions;
  std::int64_t count;
  double per_unit;

  KOKKOS_FUNCTION void operator()(std::int64_t k, NearestTerms& sums) const {
    const std::int64_t i = k * std::int64_t(bodies.extent(0)) / count;
    double nearest2 = -1;
    std::int64_t nearest = 0;
    for (std::int64_t j = 0; j < std::int64_t(terms.sources.extent(0)); ++j) {
      double r2 = 0;
      for (int c = 0; c < 3; ++c) {
        const double d = (terms.targets(i, c) - terms.sources(j, c)) * terms.per_length;
        r2 += d * d;
      }
      if (r2 > 0 && (nearest2 < 0 || r2 < nearest2) &&
          !is_excluded(exclusions, std::int64_t(bodies(i)), j)) {
        nearest2 = r2;
        nearest = j;
      }
    }
    if (nearest2 < 0) return;
    double term[10] = {};
    terms.add(i, nearest, term);
    const auto square = [](double x) { return x * x; };
    sums.potential += square(term[0] * per_unit);
    for (int c = 1; c < 4; ++c) sums.field += square(term[c] * per_unit);
    for (int c = 4; c < 10; ++c) sums.hessian += (c < 7 ? 1 : 2) * square(term[c] * per_unit);
  }
};

/// Kernel, Space   as of ToleranceSolver
template <class Kernel, class Space>
class SampledTargets {
  using Core = SolverCore<Kernel, DirectSum, double, Space>;

 public:
  explicit SampledTargets(Options const& options, Kernel const& kernel)
      : core_(options, kernel, {0, false, nullptr}) {}

  /// About `most` of the targets, others each time; all if there are no more. `bodies`: the numbers of sources that the
  /// targets are; none: each is the source of its own number, if they are `sources`, too.
  void choose(Space const& space, Points<Space> const& sources, Points<Space> const& targets,
              bool are_sources, Array<BodyIndex, Space> bodies, std::int64_t most) {
    const std::int64_t m = bodies.extent(0) > 0 ? std::int64_t(bodies.extent(0)) : targets.size();
    std::vector<BodyIndex> numbers;
    const std::int64_t count = std::min(m, most);
    for (std::int64_t i = 0; i < count; ++i) {  // one of each stretch
      const std::int64_t begin = i * m / count, length = (i + 1) * m / count - begin;
      numbers.push_back(BodyIndex(begin + std::int64_t(next_random() * double(length))));
    }
    numbers_ = to_device(space, numbers_buffer_, numbers);
    bodies_ = numbers_;
    if (bodies.extent(0) > 0) {
      bodies_ = bodies_buffer_.resize(numbers.size());
      for_range("fmm::verification::bodies", space, count,
                GatherNumbers<Space>{bodies, numbers_, bodies_});
    }
    are_sources_ = are_sources;
    chosen_.take(space, targets, bodies_);
    if (!plan_)  // with all targets once, whose cube the next ones are in
      plan_ = core_.build_two(space, targets.rows(), sources.rows(), nullptr);
    core_.retarget(space, *plan_, chosen_.rows(), nullptr);
    sources_ = sources.rows();
    length_ = plan_->sources->tree.cube.exact_unit();
  }
  std::int64_t size() const { return chosen_.size(); }
  std::size_t memory_bytes() const { return core_.memory_bytes() + chosen_.bytes(); }
  Array<BodyIndex, Space> numbers() const { return numbers_; }

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
      constexpr bool sums_anew = !std::is_same_v<SomeExclusions, None>;
      const int team_size = is_host_space_v<Space> || !sums_anew ? 1 : 128;
      for_teams(
          "fmm::verification::take_off", TeamPolicy<Space>(space, int(size()), team_size),
          TakeOffTerms<Space, Terms, SomeExclusions>{terms, bodies_, exclusions, arrays.potential,
                                                     arrays.field, arrays.hessian, density});
    });
  }
  /// The squares of what the nearest source at another place exerts, in units of per_unit, the mean of some of these
  /// targets.
  template <class Given, class Arrays, class SomeExclusions>
  NearestTerms nearest(Space const& space, Given const& given, Arrays const& arrays,
                       SomeExclusions const& exclusions, int of, double per_unit) const {
    constexpr std::int64_t most = 512;
    const std::int64_t count = std::min(size(), most);
    NearestTerms found;
    for_each_density(given, arrays, [&](auto const& terms, int density) {
      using Terms = std::remove_cvref_t<decltype(terms)>;
      if (density != of) return;
      found = reduce<NearestTerms>("fmm::verification::nearest", space, count,
                                   AddNearestTerms<Space, Terms, SomeExclusions>{
                                       terms, bodies_, exclusions, count, per_unit});
      space.fence();
    });
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
    const int densities =
        std::max({arrays.potential.densities, arrays.field.densities, arrays.hessian.densities});
    for (int k = 0; k < densities; ++k) {
      const auto of = [&](auto const& strengths) {
        using kernels::with_kernel;  // also that of kernels that stand for others
        with_kernel(core_.kernel(),
                    [&](auto const& kernel) { f(terms_of<Arrays>(kernel, strengths), k); });
      };
      if constexpr (Arrays::of_densities)
        of(engine::block_of(engine::constant(engine::carried(given)), k, 1));
      else
        of(engine::constant(engine::carried(given)));
    }
  }
  template <class Arrays, class SomeKernel, class Given>
  auto terms_of(SomeKernel const& kernel_itself, Given const& given) const {
    static_assert(!kernels::IsChoice<SomeKernel>);
    using Strengths = typename engine::StrengthsOf<Given, 1>::type;
    using Views = decltype(std::declval<Arrays const&>().views());
    using Out = engine::OutputsOf<decltype(Views::potential), decltype(Views::field),
                                  decltype(Views::hessian)>;
    double length = 1;
    SomeKernel kernel = kernel_itself;
    if constexpr (kernels::RescalableKernel<SomeKernel>) {
      length = length_;
      kernel = kernels::in_units_of(length, kernel);
    }
    return TermsOfSource<Space, SomeKernel, Strengths, Out, Given>{
        chosen_.rows(), sources_,   given,
        kernel,         1 / length, kernels::potential_unit(kernel_itself, length)};
  }

  Core core_;
  std::optional<engine::TwoSetData<Space, double>> plan_;
  Points<Space> chosen_;
  typename Points<Space>::Rows sources_;
  Buffer<BodyIndex, Space> numbers_buffer_{"sampled targets"},
      bodies_buffer_{"bodies of sampled targets"};
  Array<BodyIndex, Space> numbers_, bodies_;
  bool are_sources_ = false;
  double length_ = 1;
  std::uint64_t state_ = 1;
};

}  // namespace fmm::tolerance
