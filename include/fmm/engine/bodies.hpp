// SPDX-License-Identifier: BSD-3-Clause
// The way of charges into tree order and of results back into the caller's.
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "../cells/cell.hpp"
#include "../simd/simd.hpp"
#include "../tree/octree.hpp"
#include "checks.hpp"
#include "stage.hpp"
#include "workspace.hpp"

namespace fmm::engine {

/// The lowest and the highest charge, the sum of |q|, and the smallest index of a charge that is
/// not allowed.
template <class Charges>
struct InspectCharges {
  Charges charges;
  bool positive;

  KOKKOS_FUNCTION void operator()(std::int64_t i, double& lowest, double& highest, double& sum,
                                  std::int64_t& bad) const {
    if (i + bodies_ahead < std::int64_t(charges.extent(0))) prefetch(charges(i + bodies_ahead));
    const double q = charges(i);
    if ((!(q - q == 0) || (positive && q < 0)) && i < bad) bad = i;
    if (q < lowest) lowest = q;
    if (q > highest) highest = q;
    sum += q < 0 ? -q : q;
  }
};

/// What is to be known of (N) `charges` before they are used. Throws InvalidArgument for a charge
/// that is not finite or, with `positive`, below 0, and for charges that are all so small that
/// double cannot divide by them.
template <class Space, class Charges>
ChargeFacts inspect_charges(Space const& space, bool positive, Charges const& charges) {
  const auto count = std::int64_t(charges.extent(0));
  if (count == 0) return {};
  double lowest, highest;
  ChargeFacts facts;
  std::int64_t bad;
  Kokkos::parallel_reduce("fmm::charges::inspect", range(space, count),
                          InspectCharges<Charges>{charges, positive}, Kokkos::Min<double>(lowest),
                          Kokkos::Max<double>(highest), Kokkos::Sum<double>(facts.sum),
                          Kokkos::Min<std::int64_t>(bad));
  space.fence();
  if (bad < count)
    throw InvalidArgument("charges(" + std::to_string(bad) + ")", component(space, charges, bad),
                          positive ? "finite and >= 0" : "finite");
  facts.largest = std::fmax(std::fabs(lowest), std::fabs(highest));
  facts.both_signs = lowest < 0 && highest > 0;
  if (facts.largest == 0) return facts;
  if (facts.largest < std::numeric_limits<double>::min())
    throw InvalidArgument("the largest |charge|", facts.largest,
                          "0, or at least 2.2250738585072014e-308");
  facts.unit = std::ldexp(1.0, std::ilogb(facts.largest));
  return facts;
}

/// Adds up q and |q|, in whole numbers, so that sums are the same for every number of threads.
template <class Charges>
struct SumCharges {
  Charges charges;
  double per_unit;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& net, std::int64_t& sizes) const {
    const auto q = std::int64_t(double(charges(i)) * per_unit);
    net += q;
    sizes += q < 0 ? -q : q;
  }
};

/// |sum q| / sum |q|: 1 for charges of one sign or none at all, near 0 for those that cancel. What is less than a
/// millionth of the largest |q| counts as 0. `unit` is that of their ChargeFacts.
template <class Space, class Charges>
double net_share(Space const& space, Charges const& charges, double unit) {
  constexpr double steps = 1 << 20;  // of 2^31 charges the sum is 2^52 at most
  std::int64_t net = 0, sizes = 0;
  Kokkos::parallel_reduce("fmm::charges::net", range(space, std::int64_t(charges.extent(0))),
                          SumCharges<Charges>{charges, steps / unit}, net, sizes);
  return sizes > 0 ? std::fabs(double(net)) / double(sizes) : 1;
}

/// The smallest index for which `inspect(i, bad)` lowers `bad` to it; the largest number if there is none.
template <class Space, class Inspect>
std::int64_t first_bad(Space const& space, std::string const& name, std::int64_t count,
                       Inspect const& inspect) {
  std::int64_t bad;
  Kokkos::parallel_reduce(name, range(space, count), inspect, Kokkos::Min<std::int64_t>(bad));
  space.fence();
  return bad;
}

/// The smallest index of a row that is not finite.
template <class Field>
struct InspectField {
  Field field;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& bad) const {
    const double x = field(i, 0), y = field(i, 1), z = field(i, 2);
    if (!(x - x == 0 && y - y == 0 && z - z == 0) && i < bad) bad = i;
  }
};

/// Throws InvalidArgument for a row of the (N,3) `field` that is not finite.
template <class Space, class Field>
void check_finite(Space const& space, std::string const& name, Field const& field) {
  const auto rows = std::int64_t(field.extent(0));
  const std::int64_t bad =
      first_bad(space, "fmm::" + name + "::inspect", rows, InspectField<Field>{field});
  if (bad < rows) refuse_row(space, name, field, bad);
}

/// Charges into tree order, and sums to zero, if there are any.
template <class Space, class Charges, class Real, class StoredReal>
struct TakeCharges {
  Charges charges;
  double per_unit;
  Array<BodyIndex, Space> order;
  Array<Body<StoredReal>, Space> bodies;
  Array<Sums<Real>, Space> sums;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if constexpr (is_host_space_v<Space>)
      if (i + bodies_ahead < std::int64_t(order.extent(0)))
        prefetch(charges(order(i + bodies_ahead)));
    bodies(i).q = StoredReal(double(charges(order(i))) * per_unit);
    if (sums.extent(0) > 0) sums(i) = {Real(0), Real(0), Real(0), Real(0)};
  }
};

/// Charges into tree order, divided by their `unit`; `sums`, which may be empty, are set to zero.
template <class Space, class Charges, class Real, class StoredReal>
void take_charges(Space const& space, double unit, Charges const& charges,
                  Array<BodyIndex, Space> order, Array<Body<StoredReal>, Space> bodies,
                  Array<Sums<Real>, Space> sums) {
  for_range("fmm::charges", space, order.extent(0),
            TakeCharges<Space, Charges, Real, StoredReal>{charges, 1 / unit, order, bodies, sums});
}

/// Whether results are gathered by `place`, in the caller's order (a GPU writes whole lines then), or
/// scattered by `order`.
template <class Space>
inline constexpr bool gathers_results_v = !is_host_space_v<Space>;

/// Results into the caller's order and units.
template <class Space, class Real, class Potential, class Field>
struct GiveResults {
  Array<Sums<Real>, Space> sums;
  Array<BodyIndex, Space> way;  ///< place or order
  double potential_unit, field_unit;
  Potential potential;
  Field field;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    constexpr bool gathers = gathers_results_v<Space>;
    if constexpr (!gathers)
      if (i + bodies_ahead < std::int64_t(way.extent(0))) prepare(way(i + bodies_ahead));
    const Sums<Real> s = sums(gathers ? way(i) : i);
    const std::int64_t to = gathers ? i : way(i);
    if constexpr (!std::is_same_v<Potential, None>)
      potential(to) = typename Potential::value_type(double(s.potential) * potential_unit);
    if constexpr (!std::is_same_v<Field, None>) {
      using T = typename Field::value_type;
      field(to, 0) = T(double(s.x) * field_unit);
      field(to, 1) = T(double(s.y) * field_unit);
      field(to, 2) = T(double(s.z) * field_unit);
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void prepare(std::int64_t to) const {
    if constexpr (!std::is_same_v<Potential, None>) prefetch_to_write(potential(to));
    if constexpr (!std::is_same_v<Field, None>)
      for (int d = 0; d < 3; ++d) prefetch_to_write(field(to, d));
  }
};

template <class Space, class Real, class Potential, class Field>
void give_results(Space const& space, Array<Sums<Real>, Space> sums, Array<BodyIndex, Space> way,
                  double potential_unit, double field_unit, Potential const& potential,
                  Field const& field) {
  for_range("fmm::results", space, way.extent(0),
            GiveResults<Space, Real, Potential, Field>{sums, way, potential_unit, field_unit,
                                                       potential, field});
}

/// Bodies with a result that is infinite or not a number.
template <class Potential, class Field>
struct CountNotFinite {
  Potential potential;
  Field field;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& count) const {
    bool finite = true;
    const auto check = [&](double x) { finite = finite && x - x == 0; };
    if constexpr (!std::is_same_v<Potential, None>) check(potential(i));
    if constexpr (!std::is_same_v<Field, None>)
      for (int d = 0; d < 3; ++d) check(field(i, d));
    count += !finite;
  }
};

template <class Space, class Potential, class Field>
std::int64_t not_finite(Space const& space, std::int64_t bodies, Potential const& potential,
                        Field const& field) {
  std::int64_t count = 0;
  Kokkos::parallel_reduce("fmm::results::inspect", range(space, bodies),
                          CountNotFinite<Potential, Field>{potential, field}, count);
  space.fence();
  return count;
}

/// Positions in double, in tree order, for AllPairs.
template <class Space, class Positions>
struct CopyPositions {
  Positions positions;
  Array<BodyIndex, Space> order;
  Array<Body<double>, Space> bodies;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t from = order(i);
    bodies(i).x = positions(from, 0);
    bodies(i).y = positions(from, 1);
    bodies(i).z = positions(from, 2);
  }
};

/// Whether results go to a View of float.
template <class Result>
inline constexpr bool is_of_float_v = std::is_same_v<typename Result::value_type, float>;
template <>
inline constexpr bool is_of_float_v<None> = false;

/// Throws InvalidArgument if float has no room for results whose unit that is; 0, of no charges, is
/// none.
template <class Result>
void check_unit(char const* result, double unit) {
  if constexpr (is_of_float_v<Result>)
    if (unit != 0 && !(unit >= 1e-30 && unit <= 1e30))
      throw InvalidArgument("the unit of " + std::string(result) + " in float", unit,
                            "1e-30 to 1e30: take Views of double, or other units");
}

/// Throws InvalidArgument for a softening that the precision has no room for beside the bodies'
/// cube, and for results in float whose unit it has no room for. Units are those of all charges at
/// the distance of the cube's edge, or of the softening if that is longer.
template <class Precision, class Potential, class Field>
void check_ranges(KernelProfile const& kernel, Cube const& cube, double sum_of_charges) {
  const double edge = cube.is_point ? 0 : cube.edge, length = std::fmax(edge, kernel.softening);
  if (!cube.is_point) check_softening(kernel.softening, edge, std::is_same_v<Precision, double>);
  if (!kernel.rescalable || length == 0) return;
  const double unit = std::fabs(kernel.potential_unit(length)) * sum_of_charges;
  check_unit<Potential>("the potential", unit);
  if (!cube.is_point) check_unit<Field>("the field", unit / length * (edge / length));
}

/// Charges into tree order, their `bodies` in PlanStorage::bodies or ::positions, and room for the
/// sums, which are set to zero if `clears`. Throws InvalidArgument for charges, softening or
/// results as above, before anything is written.
template <class Potential, class Field, class Space, class Precision, class Charges, class Bodies>
void charges_stage(Space const& space, PlanStorage<Space, Precision>& s,
                   KernelProfile const& kernel, Charges const& charges, Bodies const& bodies,
                   bool clears, Report* report) {
  const typename Charges::const_type constant = charges;
  stage(space, report, "charges", [&] {
    const ChargeFacts facts = inspect_charges(space, kernel.positive, constant);
    check_ranges<Precision, Potential, Field>(kernel, s.cube, facts.sum);
    s.charges = facts;
    s.sums.resize(s.size);
    take_charges(space, facts.unit, constant, s.order, bodies, s.sums.view(clears ? s.size : 0));
  });
  if (report) add_work(*report, "charges", s.size);
}

/// Sums of the plan's bodies, made with a length as unit, into the caller's order.
template <class Space, class Precision, class Potential, class Field>
void results_stage(Space const& space, PlanStorage<Space, Precision>& s,
                   KernelProfile const& kernel, double length, Potential const& potential,
                   Field const& field, Report* report) {
  const double unit = kernel.potential_unit(length) * s.charges.unit;
  stage(space, report, "results", [&] {
    give_results(space, s.sums.view(s.size), gathers_results_v<Space> ? s.place : s.order, unit,
                 unit / length, potential, field);
  });
  if (report) add_work(*report, "results", s.size);
}

}  // namespace fmm::engine
