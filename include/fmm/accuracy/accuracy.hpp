// SPDX-License-Identifier: BSD-3-Clause
// Errors measured against direct sums in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "../kernels/ewald/magnitudes.hpp"
#include "../kernels/p2p/magnitudes.hpp"
#include "direct_sum.hpp"
#include "random_numbers.hpp"
#include "relative_errors.hpp"

namespace fmm {

namespace accuracy {

/// The numbers of `samples` random ones of n bodies, or of all if there are fewer, ascending.
inline std::vector<BodyIndex> choose_bodies(std::size_t samples, std::size_t n,
                                            std::uint64_t seed) {
  const auto chosen = choose(std::min(samples, n), n, seed);
  return {chosen.begin(), chosen.end()};
}

/// Random ones of the bodies numbered in `targets`. Throws InvalidArgument for one that is none of so many.
template <class Targets>
std::vector<BodyIndex> choose_targets(std::size_t samples, Targets const& targets,
                                      std::int64_t bodies, std::uint64_t seed) {
  const auto numbers = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), targets);
  const std::size_t count = numbers.extent(0);
  std::vector<BodyIndex> chosen;
  for (const std::int64_t i : choose(std::min(samples, count), count, seed)) {
    if (numbers(i) < 0 || std::int64_t(numbers(i)) >= bodies)
      refuse_target(i, double(numbers(i)), bodies);
    chosen.push_back(BodyIndex(numbers(i)));
  }
  return chosen;
}

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

template <class Space, class Potential, class Field>
std::vector<Sums<double>> gather_results(Space const& space, Potential const& potential,
                                         Field const& field, Array<BodyIndex, Space> targets) {
  std::vector<Sums<double>> computed(targets.extent(0));
  Buffer<Sums<double>, Space> buffer("sampled results");
  const auto results = buffer.resize(computed.size());
  for_range("fmm::error::gather", space, std::int64_t(computed.size()),
            GatherResults<Space, Potential, Field>{potential, field, targets, results});
  read_back(space, results.data(), computed.data(), computed.size());
  return computed;
}

/// Of a body with that charge; `kernel` and sums are in a unit of length, of which the two units are.
template <class Kernel>
Scales scales_of(kernels::Magnitudes const& sums, double charge, Kernel const& kernel,
                 double potential_unit, double field_unit) {
  const double q = std::fabs(charge), p = std::fabs(potential_unit), f = std::fabs(field_unit);
  Scales scales{sums.field * f, sums.potential * p};
  if (std::isfinite(sums.nearest2)) {
    const auto term = kernel(sums.nearest2);
    const double of_unit = std::fabs(term.weight) * std::sqrt(sums.nearest2) * f;
    scales.neighbour_field = q * of_unit;
    scales.field_of_nearest = sums.charge_of_nearest * of_unit;
    scales.neighbour_potential = q * std::fabs(term.potential) * p;
  }
  return scales;
}

/// Of the direct sums' targets.
template <class Space>
struct GatherCharges {
  Array<Body<double>, Space> bodies;
  Array<BodyIndex, Space> targets;
  Array<double, Space> charges;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { charges(i) = bodies(targets(i)).q; }
};
/// The direct sums of as many targets, in the caller's units.
template <class Space, class In>
std::vector<Sums<double>> exact_sums(Space const& space, DirectSums<Space, In> const& direct,
                                     std::size_t targets) {
  std::vector<Sums<double>> exact(targets);
  read_back(space, direct.sums.view(targets).data(), exact.data(), targets);
  for (Sums<double>& s : exact)
    s = {s.potential * direct.potential_unit, s.x * direct.field_unit, s.y * direct.field_unit,
         s.z * direct.field_unit};
  return exact;
}
/// The scales of targets among bodies, of which lengths times per_length are in the kernel's unit.
template <class Space, class Kernel, class In = None>
std::vector<Scales> scales_at(Space const& space, Array<Body<double>, Space> bodies,
                              Kernel const& in_unit, double per_length,
                              Array<BodyIndex, Space> targets, double potential_unit,
                              double field_unit, In const& in = {}) {
  const auto sums = [&] {
    if constexpr (std::is_same_v<In, PerhapsIn>)
      if (in)
        return magnitudes_in_cell(space, in_unit, per_length, in->lattice.times(per_length), bodies,
                                  targets);
    return p2p_magnitudes(space, in_unit, per_length, bodies, targets);
  }();
  Buffer<double, Space> buffer("targets' charges");
  for_range("fmm::error::charges", space, std::int64_t(sums.size()),
            GatherCharges<Space>{bodies, targets, buffer.resize(sums.size())});
  std::vector<double> charges(sums.size());
  read_back(space, buffer.view().data(), charges.data(), charges.size());
  std::vector<Scales> scales;
  for (std::size_t i = 0; i < sums.size(); ++i)
    scales.push_back(scales_of(sums[i], charges[i], in_unit, potential_unit, field_unit));
  return scales;
}
template <class Space, class Kernel, class In>
std::vector<Scales> scales_at(Space const& space, DirectSums<Space, In> const& direct,
                              Kernel const& in_unit, Array<BodyIndex, Space> targets) {
  return scales_at(space, direct.bodies.view(), in_unit, direct.per_length, targets,
                   direct.potential_unit, direct.field_unit, direct.in);
}

/// Compares `potential` (N) and `field` (N,3), or fmm::none, of all bodies with the direct sum in double at those
/// numbered in `host_targets`. Cost: twice as many times N pairs.
template <class Space, class Kernel, class Positions, class Charges, class Potential, class Field,
          class In = None>
ErrorMeasure compare_at(Space const& space, Kernel const& kernel, Positions const& positions,
                        Charges const& charges, Potential const& potential, Field const& field,
                        std::vector<BodyIndex> const& host_targets, double least_share,
                        In const& in = {}) {
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
  std::vector<Scales> scales(m);
  double seconds = 0;
  if (m > 0) {
    Buffer<BodyIndex, Space> target_buffer("sampled targets");
    const auto targets = to_device(space, target_buffer, host_targets);
    computed = gather_results(space, potential, field, targets);

    const Region region("direct_sum");
    const engine::Stopwatch watch;
    DirectSums<Space, In> direct{in};
    const Kernel in_unit = direct.template add<Outputs<true, true>>(
        space, kernel, typename Positions::const_type(positions),
        typename Charges::const_type(charges), targets);
    exact = exact_sums(space, direct, m);
    seconds = watch.seconds();
    scales = scales_at(space, direct, in_unit, targets);
  }
  ErrorMeasure error = compare(computed, exact, scales, !std::is_same_v<Potential, None>,
                               !std::is_same_v<Field, None>, least_share);
  error.direct_seconds = seconds;
  return error;
}

}  // namespace accuracy

/// Compares `potential` (N) and `field` (N,3), or fmm::none, with the direct sum in double at `samples`
/// random bodies (all, if samples >= N); own errors with `least_share` of the magnitudes (error_measure.hpp). Throws
/// InvalidArgument for extents that do not match. Cost: 2 x samples x N pairs; memory for as long: 32 bytes a body.
template <class ExecutionSpace, class Kernel, class Positions, class Charges, class Potential,
          class Field>
ErrorMeasure measure_error(ExecutionSpace const& space, Kernel const& kernel,
                           Positions const& positions, Charges const& charges,
                           Potential const& potential, Field const& field, std::size_t samples,
                           std::uint64_t seed = 1, double least_share = least_share_in_double) {
  return accuracy::compare_at<site_t<ExecutionSpace>>(
      space, kernel, positions, charges, potential, field,
      accuracy::choose_bodies(samples, positions.extent(0), seed), least_share);
}

/// The same in the box of options.periodic, if there is one: with Ewald's sums to all but the last two digits, of which
/// nothing is shared with trees and expansions (docs/math.md, "Periodic boxes"). A softened kernel counts as far as it
/// does with these options. Cost: besides, some ten thousand waves of each body.
template <class ExecutionSpace, class Kernel, class Positions, class Charges, class Potential,
          class Field>
ErrorMeasure measure_error(ExecutionSpace const& space, Kernel const& kernel,
                           Options const& options, Positions const& positions,
                           Charges const& charges, Potential const& potential, Field const& field,
                           std::size_t samples, std::uint64_t seed = 1,
                           double least_share = least_share_in_double) {
  return accuracy::compare_at<site_t<ExecutionSpace>>(
      space, kernel, positions, charges, potential, field,
      accuracy::choose_bodies(samples, positions.extent(0), seed), least_share,
      accuracy::direct_sums_in(kernel, options));
}

/// The same at random ones of the bodies numbered in `targets` (M), for results of some bodies only.
template <class ExecutionSpace, class Kernel, class Positions, class Charges, class Potential,
          class Field, class Targets>
  requires(Kokkos::is_view<Targets>::value)
ErrorMeasure measure_error(ExecutionSpace const& space, Kernel const& kernel,
                           Positions const& positions, Charges const& charges,
                           Potential const& potential, Field const& field, Targets const& targets,
                           std::size_t samples, std::uint64_t seed = 1,
                           double least_share = least_share_in_double) {
  return accuracy::compare_at<site_t<ExecutionSpace>>(
      space, kernel, positions, charges, potential, field,
      accuracy::choose_targets(samples, targets, std::int64_t(positions.extent(0)), seed),
      least_share);
}
/// The same in the box of options.periodic, if there is one.
template <class ExecutionSpace, class Kernel, class Positions, class Charges, class Potential,
          class Field, class Targets>
  requires(Kokkos::is_view<Targets>::value)
ErrorMeasure measure_error(ExecutionSpace const& space, Kernel const& kernel,
                           Options const& options, Positions const& positions,
                           Charges const& charges, Potential const& potential, Field const& field,
                           Targets const& targets, std::size_t samples, std::uint64_t seed = 1,
                           double least_share = least_share_in_double) {
  return accuracy::compare_at<site_t<ExecutionSpace>>(
      space, kernel, positions, charges, potential, field,
      accuracy::choose_targets(samples, targets, std::int64_t(positions.extent(0)), seed),
      least_share, accuracy::direct_sums_in(kernel, options));
}

}  // namespace fmm
