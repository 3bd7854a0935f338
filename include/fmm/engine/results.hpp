// SPDX-License-Identifier: BSD-3-Clause
// The way of sums into the caller's order and units, the count of those that are not finite there, and the check that
// the results' type has room for them.
#pragma once

#include <cmath>
#include <string>
#include <type_traits>

#include "../cells/cell.hpp"
#include "../detail/reduce.hpp"
#include "../kernels/pair_traits.hpp"
#include "../kernels/strengths.hpp"
#include "../results.hpp"
#include "../simd/simd.hpp"
#include "body_tree.hpp"
#include "checks.hpp"

namespace fmm::engine {

/// Of how many densities an evaluation's results are wanted: all, or those of a block.
template <class Out, class Potential, class Field, class Hessian>
KOKKOS_FORCEINLINE_FUNCTION int wanted_densities(Potential const& potential, Field const& field,
                                                 Hessian const& hessian) {
  using kernels::is_density_block_v;
  if constexpr (is_density_block_v<Potential>)
    return potential.count;
  else if constexpr (is_density_block_v<Field>)
    return field.count;
  else if constexpr (is_density_block_v<Hessian>)
    return hessian.count;
  else
    return Out::densities;
}

/// Results into the caller's order and units; as a reduction it counts the bodies with one that is infinite or not a
/// number.
template <class Out, class Space, class Real, class Potential, class Field, class Hessian>
struct GiveResults {
  Array<Sums<Real>, Space> sums;
  Array<BodyIndex, Space> way;  ///< places, or if results are scattered the permutation
  bool gathers;
  kernels::DensityUnits<Out::densities> potential_units, field_units, hessian_units;
  Potential potential;
  Field field;
  Hessian hessian;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { give(i); }
  KOKKOS_FUNCTION void operator()(std::int64_t i, SumOf<std::int64_t>& not_finite) const {
    not_finite.value += !give(i);
  }
  /// Those of one density.
  KOKKOS_FORCEINLINE_FUNCTION bool give_density(std::int64_t i, int k) const {
    const bool is_gathered = gathers_results_v<Space> || gathers;
    return give_density(is_gathered ? way(i) : i, is_gathered ? i : way(i), k);
  }

 private:
  /// Whether all are finite.
  KOKKOS_FORCEINLINE_FUNCTION bool give(std::int64_t i) const {
    const bool is_gathered = gathers_results_v<Space> || gathers;
    if constexpr (!gathers_results_v<Space>)
      if (!is_gathered && i + bodies_ahead < std::int64_t(way.extent(0)))
        prepare(way(i + bodies_ahead));
    const std::int64_t from = is_gathered ? way(i) : i, to = is_gathered ? i : way(i);
    bool finite = true;
    const int densities = wanted_densities<Out>(potential, field, hessian);
    for (int k = 0; k < densities; ++k) finite = give_density(from, to, k) && finite;
    return finite;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool give_density(std::int64_t from, std::int64_t to, int k) const {
    bool finite = true;
    const auto set = [&](auto& result, double value) {
      result = std::remove_reference_t<decltype(result)>(value);
      finite = finite && result - result == 0;
    };
    const std::int64_t record = from * Out::records + Out::record(k);
    const Sums<Real> s = sums(record);
    if constexpr (!std::is_same_v<Potential, None>)
      set(Out::potential_of(potential, to, k), double(s.potential) * potential_units.of[k]);
    if constexpr (!std::is_same_v<Field, None>) {
      set(Out::field_of(field, to, k, 0), double(s.x) * field_units.of[k]);
      set(Out::field_of(field, to, k, 1), double(s.y) * field_units.of[k]);
      set(Out::field_of(field, to, k, 2), double(s.z) * field_units.of[k]);
    }
    if constexpr (!std::is_same_v<Hessian, None>) {
      const Sums<Real> a = sums(record + 1), b = sums(record + 2);
      Real numbers[6];
      kernels::hessian_of_records(a, b, numbers);
      for (int d = 0; d < 6; ++d)
        set(Out::hessian_of(hessian, to, k, d), double(numbers[d]) * hessian_units.of[k]);
    }
    return finite;
  }
  KOKKOS_FORCEINLINE_FUNCTION void prepare(std::int64_t to) const {
    if constexpr (!std::is_same_v<Potential, None>)
      prefetch_to_write(Out::potential_of(potential, to, 0));
    if constexpr (!std::is_same_v<Field, None>)
      for (int d = 0; d < 3; ++d) prefetch_to_write(Out::field_of(field, to, 0, d));
    if constexpr (!std::is_same_v<Hessian, None>)
      for (int d = 0; d < 6; ++d) prefetch_to_write(Out::hessian_of(hessian, to, 0, d));
  }
};

/// The same by a thread for each target and density, where a target's densities lie beside each other: neighbours write
/// to neighbouring places.
template <class Give, int Densities>
struct GiveDensities {
  Give give;
  int wanted;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto k = int(i % Densities);
    if (k < wanted) give.give_density(i / Densities, k);
  }
};

/// Whether those of a result do.
template <class Result>
bool have_densities_beside([[maybe_unused]] Result const& result) {
  if constexpr (kernels::is_density_block_v<Result>)
    return result.all.stride(1) < result.all.stride(0);
  else
    return std::is_same_v<Result, None>;
}

/// Results of all on the way, of which potentials are in `units`, and lengths in `length`; with `counts` how many
/// bodies have one that is not finite, after a wait, else 0.
template <class Out, class Space, class Real, class Potential, class Field, class Hessian>
std::int64_t give_results(Space const& space, Array<Sums<Real>, Space> sums,
                          Array<BodyIndex, Space> way,
                          std::type_identity_t<kernels::DensityUnits<Out::densities>> const& units,
                          double length, Results<Potential, Field, Hessian> const& results,
                          bool counts = false, bool gathers = gathers_results_v<Space>) {
  auto of_fields = units, of_hessians = units;
  for (int k = 0; k < Out::densities; ++k) {
    of_fields.of[k] = units.of[k] / length;
    of_hessians.of[k] = units.of[k] / length / length;
  }
  const GiveResults<Out, Space, Real, Potential, Field, Hessian> give{
      sums,           way, gathers, units, of_fields, of_hessians, results.potential, results.field,
      results.hessian};
  const std::int64_t n = way.extent(0);
  if (counts) return reduce<SumOf<std::int64_t>>("fmm::results", space, n, give).value;
  if constexpr (Out::densities > 1 && !is_host_space_v<Space>)
    if (have_densities_beside(results.potential) && have_densities_beside(results.field) &&
        have_densities_beside(results.hessian)) {
      const int wanted = wanted_densities<Out>(results.potential, results.field, results.hessian);
      for_range("fmm::results", space, n * Out::densities,
                GiveDensities<std::remove_const_t<decltype(give)>, Out::densities>{give, wanted});
      return 0;
    }
  for_range("fmm::results", space, n, give);
  return 0;
}

/// Results of targets that nothing acts on.
template <class Out, class Potential, class Field, class Hessian>
struct GiveNothing {
  Potential potential;
  Field field;
  Hessian hessian;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int densities = wanted_densities<Out>(potential, field, hessian);
    for (int k = 0; k < densities; ++k) {
      if constexpr (!std::is_same_v<Potential, None>) Out::potential_of(potential, i, k) = 0;
      if constexpr (!std::is_same_v<Field, None>)
        for (int d = 0; d < 3; ++d) Out::field_of(field, i, k, d) = 0;
      if constexpr (!std::is_same_v<Hessian, None>)
        for (int d = 0; d < 6; ++d) Out::hessian_of(hessian, i, k, d) = 0;
    }
  }
};

/// Throws InvalidArgument if Views of Result have no room for results whose unit that is.
template <class Result>
void check_unit([[maybe_unused]] char const* result, [[maybe_unused]] double unit) {
  if constexpr (!std::is_same_v<Result, None>) {
    constexpr bool single = std::is_same_v<typename Result::value_type, float>;
    if (single && !(unit >= 1e-30 && unit <= 1e30))
      throw InvalidArgument("the unit of " + std::string(result) + " in float", unit,
                            "1e-30 to 1e30: take Views of double, or other units");
    if (!single && unit < 1e-312)  // eleven digits are left; what overflows is counted
      throw InvalidArgument("the unit of " + std::string(result), unit,
                            ">= 1e-312: take other units");
  }
}

/// Throws InvalidArgument for a softening that the precision has no room for beside the bodies'
/// cube, and for results for whose unit theirs has none. Units are those of all charges at
/// the distance of the cube's edge, or of the softening if that is longer.
template <class Precision, class Potential, class Field, class Hessian = None>
void check_ranges(KernelProfile const& kernel, Cube const& cube, double sum_of_charges) {
  const double edge = cube.is_point ? 0 : cube.edge, length = std::fmax(edge, kernel.softening);
  if (!cube.is_point) check_softening(kernel.softening, edge, std::is_same_v<Precision, double>);
  if (!kernel.rescalable || length == 0 || sum_of_charges == 0) return;
  const double of_charge = std::fabs(kernel.potential_unit(length)),
               unit = of_charge * sum_of_charges;
  if (of_charge == 0) return;  // G = 0
  check_unit<Potential>("the potential", unit);
  if (cube.is_point) return;
  check_unit<Field>("the field", unit / length * (edge / length));
  check_unit<Hessian>("the Hessian", unit / length / length);
}

}  // namespace fmm::engine
