// SPDX-License-Identifier: BSD-3-Clause
// Direct sums in double as a reference, and errors measured against them.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "../detail/host_thread.hpp"
#include "../engine/charges.hpp"
#include "../engine/checks.hpp"
#include "../engine/results.hpp"
#include "../engine/stage.hpp"
#include "../kernels/p2p/p2p.hpp"
#include "error_measure.hpp"
#include "random_numbers.hpp"

namespace fmm {

namespace accuracy {

template <class Space, class Positions, class Charges>
struct CopyBodies {
  Positions positions;
  Charges charges;
  Array<Body<double>, Space> bodies;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    bodies(i) = {double(positions(i, 0)), double(positions(i, 1)), double(positions(i, 2)),
                 double(charges(i))};
  }
};

template <class Space, class Potential, class Field>
struct GiveDirect {
  Array<Sums<double>, Space> sums;
  double potential_unit, field_unit;
  Potential potential;
  Field field;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if constexpr (!std::is_same_v<Potential, None>)
      potential(i) = sums(i).potential * potential_unit;
    if constexpr (!std::is_same_v<Field, None>) {
      field(i, 0) = sums(i).x * field_unit;
      field(i, 1) = sums(i).y * field_unit;
      field(i, 2) = sums(i).z * field_unit;
    }
  }
};

/// Results of chosen bodies, gathered to one contiguous array of four numbers each.
template <class Space, class Potential, class Field>
struct GatherResults {
  Potential potential;
  Field field;
  Array<BodyIndex, Space> targets;
  Array<Sums<double>, Space> out;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const BodyIndex from = targets(i);
    Sums<double> s{0, 0, 0, 0};
    if constexpr (!std::is_same_v<Potential, None>) s.potential = potential(from);
    if constexpr (!std::is_same_v<Field, None>) {
      s.x = field(from, 0);
      s.y = field(from, 1);
      s.z = field(from, 2);
    }
    out(i) = s;
  }
};

/// The smallest index of a target that is no body's number.
template <class Space>
struct InspectTargets {
  Array<BodyIndex, Space> targets;
  std::int64_t bodies;

  KOKKOS_FUNCTION void operator()(std::int64_t i, FirstIndex& bad) const {
    const auto target = std::int64_t(targets(i));
    if (target < 0 || target >= bodies) bad.join({i});
  }
};

[[noreturn]] inline void refuse_target(std::int64_t i, double target, std::int64_t bodies) {
  throw InvalidArgument("targets(" + std::to_string(i) + ")", target,
                        "0 <= target < " + std::to_string(bodies));
}

/// Throws InvalidArgument for a target that is no body's number.
template <class Space>
void check_targets(Space const& space, Array<BodyIndex, Space> targets, std::int64_t bodies) {
  const auto count = std::int64_t(targets.extent(0));
  const std::int64_t bad =
      first_bad(space, "fmm::targets::inspect", count, InspectTargets<Space>{targets, bodies});
  if (bad < count) refuse_target(bad, double(read_back(space, targets.data() + bad)), bodies);
}

/// Direct sums in double over all bodies at those numbered in `targets`, and the units that they are in.
template <class Space>
struct DirectSums {
  Buffer<Body<double>, Space> bodies{"direct sum's bodies"};
  Buffer<Sums<double>, Space> sums{"direct sum"};
  double potential_unit = 1, field_unit = 1;

  template <class Out, class Kernel, class Positions, class Charges>
  void add(Space const& space, Kernel const& kernel, Positions const& positions,
           Charges const& charges, Array<BodyIndex, Space> targets) {
    const auto n = std::int64_t(positions.extent(0));
    const auto all = bodies.resize(n);
    for_range("fmm::direct_sum::bodies", space, n,
              CopyBodies<Space, Positions, Charges>{positions, charges, all});
    double length = 1;
    Kernel scaled = kernel;
    potential_unit = prefactor(kernel);
    if constexpr (RescalableKernel<Kernel>) {
      length = root_cube(bounding_box(space, positions)).exact_unit();
      scaled = kernel.rescaled(length);
      check_softening(softening_of(kernel), length, true);
      potential_unit *= kernel.potential_unit(length);
    }
    field_unit = potential_unit / length;
    p2p_chosen<Out>(space, scaled, 1 / length, all, targets, sums.resize(targets.extent(0)));
  }
};

template <class Targets>
struct TakeTargets {
  Targets targets;
  Array<BodyIndex, Host> chosen;
  void operator()(std::int64_t i) const { chosen(i) = targets(i); }
};

}  // namespace accuracy

/// Direct sums in double, in the caller's units, over all N bodies at those numbered in `targets`
/// (M): potential (M) and field (M,3), each a View or fmm::none. Returns when they are there.
/// Throws InvalidArgument for a target that is no body, for extents that do not match and for
/// results in float whose unit float has no room for, before any result is touched. Cost: M N
/// pairs.
template <class ExecutionSpace, class Kernel, class Positions, class Charges, class Targets,
          class Potential, class Field>
void direct_sum(ExecutionSpace const& space, Kernel const& kernel, Positions const& positions,
                Charges const& charges, Targets const& targets, Potential const& potential,
                Field const& field) {
  static_assert(PairKernel<Kernel>);
  static_assert(std::is_same_v<typename Targets::non_const_value_type, BodyIndex>,
                "fmm: targets are numbers of bodies of the type fmm::BodyIndex");
  using Site = site_t<ExecutionSpace>;
  Site const& site = space;
  const detail::HostThread<Site> thread(site);
  engine::check_view<ExecutionSpace, Positions, 2>();
  engine::check_view<ExecutionSpace, Charges, 1>();
  engine::check_result<ExecutionSpace, Potential, 1>();
  engine::check_result<ExecutionSpace, Field, 2>();
  const std::int64_t n = engine::checked_size("positions", positions);
  engine::check_extents("charges", charges, n);
  const std::int64_t m = std::int64_t(targets.extent(0));
  engine::check_extents("potential", potential, m);
  engine::check_extents("field", field, m);
  if (m == 0) return;
  detail::Region region("direct_sum");
  using Out = kernels::Outputs<!std::is_same_v<Potential, None>, !std::is_same_v<Field, None>>;
  detail::Buffer<BodyIndex, Site> target_buffer("direct sum's targets");
  const auto chosen = target_buffer.resize(m);
  if constexpr (std::is_same_v<Site, Host>)
    detail::for_range("fmm::direct_sum::targets", site, m,
                      accuracy::TakeTargets<Targets>{targets, chosen});
  else
    Kokkos::deep_copy(space, chosen.view(), targets);
  accuracy::check_targets(site, chosen, n);
  constexpr bool in_float = engine::is_of_float_v<Potential> || engine::is_of_float_v<Field>;
  if constexpr (in_float && kernels::RescalableKernel<Kernel>)
    engine::check_ranges<double, Potential, Field>(
        kernels::profile_of(kernel), tree::root_cube(tree::bounding_box(site, positions)),
        engine::inspect_charges(site, false, charges).sum);
  accuracy::DirectSums<Site> direct;
  direct.template add<Out>(site, kernel, typename Positions::const_type(positions),
                           typename Charges::const_type(charges), chosen);
  detail::for_range(
      "fmm::direct_sum::results", site, m,
      accuracy::GiveDirect<Site, Potential, Field>{direct.sums.view(m), direct.potential_unit,
                                                   direct.field_unit, potential, field});
  space.fence();  // the buffers go now
}

namespace accuracy {

/// The numbers of `samples` random ones of n bodies, or of all if there are fewer, ascending.
inline std::vector<BodyIndex> choose_bodies(std::size_t samples, std::size_t n,
                                            std::uint64_t seed) {
  const auto chosen = choose(std::min(samples, n), n, seed);
  return {chosen.begin(), chosen.end()};
}

/// The norms of differences and of what they are differences from, over any vectors. Squares are
/// those of numbers in units of a power of two near the largest one, so that none overflows and
/// none that counts underflows.
class RelativeNorm {
 public:
  explicit RelativeNorm(double largest) {
    if (largest > 0 && std::isfinite(largest))
      per_unit_ = std::ldexp(1.0, -std::max(std::ilogb(largest), -1000));
  }

  void add(double computed, double exact) {
    const double difference = (computed - exact) * per_unit_, reference = exact * per_unit_;
    difference2_ += difference * difference;
    reference2_ += reference * reference;
    differs_ = differs_ || computed != exact;
  }
  /// Infinite if it is not a number.
  double ratio() const {
    if (differs_ && reference2_ == 0) return std::numeric_limits<double>::infinity();
    if (difference2_ == 0 && std::isfinite(reference2_)) return 0;
    const double ratio = std::sqrt(difference2_ / reference2_);
    return std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
  }

 private:
  double per_unit_ = 1, difference2_ = 0, reference2_ = 0;
  bool differs_ = false;
};

inline double largest_component(Sums<double> const& s) {
  return std::fmax(std::fabs(s.x), std::fmax(std::fabs(s.y), std::fabs(s.z)));
}

inline void add_field(RelativeNorm& norm, Sums<double> const& computed, Sums<double> const& exact) {
  norm.add(computed.x, exact.x);
  norm.add(computed.y, exact.y);
  norm.add(computed.z, exact.z);
}

/// Errors of `computed` sums against `exact` ones of the same targets. A template, so that only who measures errors
/// compiles it.
template <class Numbers = std::vector<Sums<double>>>
FMM_NOINLINE ErrorMeasure compare(Numbers const& computed, Numbers const& exact, bool potential,
                                  bool field) {
  ErrorMeasure error;
  error.samples = exact.size();
  double largest_field = 0, largest_potential = 0;
  for (Sums<double> const& s : exact) {
    largest_field = std::fmax(largest_field, largest_component(s));
    largest_potential = std::fmax(largest_potential, std::fabs(s.potential));
  }
  RelativeNorm of_field(largest_field), of_potential(largest_potential);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const Sums<double> a = computed[i], b = exact[i];
    const bool finite =
        (!potential || std::isfinite(a.potential)) &&
        (!field || (std::isfinite(a.x) && std::isfinite(a.y) && std::isfinite(a.z)));
    error.not_finite += !finite;
    of_potential.add(a.potential, b.potential);
    add_field(of_field, a, b);
    if (field) {
      RelativeNorm own(largest_component(b));
      add_field(own, a, b);
      error.field.push_back(own.ratio());
    }
  }
  if (potential) error.potential_l2 = of_potential.ratio();
  if (field && !exact.empty()) {
    error.field_l2 = of_field.ratio();
    std::sort(error.field.begin(), error.field.end());
    error.field_max = error.field.back();
    error.field_p99 = error.field[std::size_t(0.99 * double(exact.size() - 1))];
  }
  return error;
}

/// Compares `potential` (N) and `field` (N,3), or fmm::none, of all bodies with the direct sum in double at those
/// numbered in `host_targets`. Cost: as many times N pairs.
template <class Space, class Kernel, class Positions, class Charges, class Potential, class Field>
ErrorMeasure compare_at(Space const& space, Kernel const& kernel, Positions const& positions,
                        Charges const& charges, Potential const& potential, Field const& field,
                        std::vector<BodyIndex> const& host_targets) {
  check_view<Space, Positions, 2>();
  check_view<Space, Charges, 1>();
  check_optional_view<Space, Potential, 1>();
  check_optional_view<Space, Field, 2>();
  const HostThread<Space> thread(space);
  const std::int64_t n = checked_size("positions", positions);
  check_extents("potential", potential, n);
  check_extents("field", field, n);
  check_extents("charges", charges, n);
  const std::size_t m = host_targets.size();
  std::vector<Sums<double>> computed(m), exact(m);
  double seconds = 0;
  if (m > 0) {
    Buffer<BodyIndex, Space> target_buffer("sampled targets");
    Buffer<Sums<double>, Space> result_buffer("sampled results");
    const auto targets = to_device(space, target_buffer, host_targets);
    const auto results = result_buffer.resize(m);
    for_range("fmm::error::gather", space, m,
              GatherResults<Space, Potential, Field>{potential, field, targets, results});
    read_back(space, results.data(), computed.data(), m);

    const Region region("direct_sum");
    const engine::Stopwatch watch;
    DirectSums<Space> direct;
    direct.template add<Outputs<true, true>>(space, kernel,
                                             typename Positions::const_type(positions),
                                             typename Charges::const_type(charges), targets);
    read_back(space, direct.sums.view(m).data(), exact.data(), m);
    for (Sums<double>& s : exact)
      s = {s.potential * direct.potential_unit, s.x * direct.field_unit, s.y * direct.field_unit,
           s.z * direct.field_unit};
    seconds = watch.seconds();
  }
  ErrorMeasure error =
      compare(computed, exact, !std::is_same_v<Potential, None>, !std::is_same_v<Field, None>);
  error.direct_seconds = seconds;
  return error;
}

}  // namespace accuracy

/// Compares `potential` (N) and `field` (N,3), or fmm::none, with the direct sum in double at `samples`
/// random bodies (all, if samples >= N). Throws InvalidArgument for extents that do not match. Cost: samples x N
/// pairs.
template <class ExecutionSpace, class Kernel, class Positions, class Charges, class Potential,
          class Field>
ErrorMeasure measure_error(ExecutionSpace const& space, Kernel const& kernel,
                           Positions const& positions, Charges const& charges,
                           Potential const& potential, Field const& field, std::size_t samples,
                           std::uint64_t seed = 1) {
  return accuracy::compare_at<site_t<ExecutionSpace>>(
      space, kernel, positions, charges, potential, field,
      accuracy::choose_bodies(samples, positions.extent(0), seed));
}

/// The same at random ones of the bodies numbered in `targets` (M), for results of some bodies only.
template <class ExecutionSpace, class Kernel, class Positions, class Charges, class Potential,
          class Field, class Targets>
  requires(Kokkos::is_view<Targets>::value)
ErrorMeasure measure_error(ExecutionSpace const& space, Kernel const& kernel,
                           Positions const& positions, Charges const& charges,
                           Potential const& potential, Field const& field, Targets const& targets,
                           std::size_t samples, std::uint64_t seed = 1) {
  const auto numbers = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), targets);
  const std::size_t count = numbers.extent(0);
  std::vector<BodyIndex> host_targets;
  for (const std::int64_t i : accuracy::choose(std::min(samples, count), count, seed)) {
    if (numbers(i) < 0 || std::size_t(numbers(i)) >= positions.extent(0))
      accuracy::refuse_target(i, double(numbers(i)), std::int64_t(positions.extent(0)));
    host_targets.push_back(BodyIndex(numbers(i)));
  }
  return accuracy::compare_at<site_t<ExecutionSpace>>(space, kernel, positions, charges, potential,
                                                      field, host_targets);
}

}  // namespace fmm
