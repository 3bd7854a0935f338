// SPDX-License-Identifier: BSD-3-Clause
// The way of charges into tree order: what is to be known of them first, and their checks.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "../cells/cell.hpp"
#include "../detail/reduce.hpp"
#include "../kernels/strengths.hpp"
#include "../simd/simd.hpp"
#include "../strengths.hpp"
#include "body_tree.hpp"
#include "checks.hpp"

namespace fmm::engine {

/// The lowest and the highest charge, the sum of |q|, and the smallest index of a charge that is
/// not allowed.
struct ChargeBounds {
  double lowest = std::numeric_limits<double>::max(), highest = -lowest, sum = 0;
  FirstIndex bad;

  KOKKOS_FUNCTION void join(ChargeBounds const& other) {
    if (other.lowest < lowest) lowest = other.lowest;
    if (other.highest > highest) highest = other.highest;
    sum += other.sum;
    bad.join(other.bad);
  }
};

/// Of each density.
template <int Densities>
struct DensityBounds {
  ChargeBounds of[Densities];

  KOKKOS_FUNCTION void join(DensityBounds const& other) {
    for (int d = 0; d < Densities; ++d) of[d].join(other.of[d]);
  }
};

/// How many sources there are strengths of.
template <class Charges>
std::int64_t number_of_sources(Charges const& charges) {
  return std::int64_t(charges.extent(0));
}
template <class Charges, class Dipoles>
std::int64_t number_of_sources(fmm::Strengths<Charges, Dipoles> const& strengths) {
  return std::int64_t(strengths.dipoles.extent(0));
}

/// The same Views, of constant numbers.
template <class Charges>
typename Charges::const_type constant(Charges const& charges) {
  return charges;
}
template <class View>
kernels::DensityBlock<typename View::const_type> constant(
    kernels::DensityBlock<View> const& block) {
  return {block.all, block.first, block.count};
}
inline None constant(None) { return {}; }
template <class Charges, class Dipoles>
auto constant(fmm::Strengths<Charges, Dipoles> const& strengths) {
  using ConstCharges = decltype(constant(strengths.charges));
  using ConstDipoles = decltype(constant(strengths.dipoles));
  return fmm::Strengths<ConstCharges, ConstDipoles>{constant(strengths.charges),
                                                    constant(strengths.dipoles)};
}

/// Number k of a source, for an error message.
template <class Strengths, class Charges>
struct ReadNumber {
  Charges charges;
  std::int64_t i;
  int k;
  KOKKOS_FUNCTION double get() const { return Strengths::given(charges, i, k); }
  KOKKOS_FUNCTION void operator()(std::int64_t, SumOf<double>& sum) const { sum.value += get(); }
};

template <class Strengths, class Charges>
struct InspectCharges {
  Charges charges;
  std::int64_t count;
  bool positive;
  double per_length;

  /// Whether number k of a source may be that.
  KOKKOS_FUNCTION bool is_allowed(double q, int k) const {
    return q - q == 0 && (!positive || Strengths::is_dipole(k) || q >= 0);
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i, DensityBounds<Strengths::densities>& each) const {
    if (i + bodies_ahead < count) prefetch(Strengths::given(charges, i + bodies_ahead, 0));
    for (int k = 0; k < Strengths::numbers; ++k) {
      ChargeBounds& all = each.of[Strengths::density_of(k)];
      double q = Strengths::given(charges, i, k);
      if (!is_allowed(q, k)) all.bad.join({i});
      if (Strengths::is_dipole(k)) q *= per_length;
      if (q < all.lowest) all.lowest = q;
      if (q > all.highest) all.highest = q;
      all.sum += q < 0 ? -q : q;
    }
  }
};

/// What is known of a density's charges and dipoles, these over the edge of the cube; `bounds` are of allowed ones.
/// Throws InvalidArgument if all are so small that double cannot divide by them, or one is larger than any number.
inline ChargeFacts facts_of(ChargeBounds const& bounds, char const* largest) {
  ChargeFacts facts;
  facts.sum = bounds.sum;
  facts.largest = std::fmax(std::fabs(bounds.lowest), std::fabs(bounds.highest));
  facts.both_signs = bounds.lowest < 0 && bounds.highest > 0;
  if (facts.largest == 0) return facts;
  if (facts.largest < std::numeric_limits<double>::min())
    throw InvalidArgument(largest, facts.largest, "0, or at least 2.2250738585072014e-308");
  if (facts.largest > std::numeric_limits<double>::max())
    throw InvalidArgument(largest, facts.largest, "finite: take another unit of length");
  facts.unit = std::ldexp(1.0, std::ilogb(facts.largest));
  return facts;
}

/// Those of each density.
template <int Densities>
struct DensityFacts {
  ChargeFacts of[Densities];

  kernels::DensityUnits<Densities> units() const {
    kernels::DensityUnits<Densities> units(1);
    for (int d = 0; d < Densities; ++d) units.of[d] = of[d].unit;
    return units;
  }
  /// Of the densities together.
  ChargeFacts all() const {
    ChargeFacts all = of[0];
    for (ChargeFacts const& one : of) {
      if (one.largest > all.largest) all.largest = one.largest, all.unit = one.unit;
      all.sum = std::fmax(all.sum, one.sum);
      all.both_signs |= one.both_signs;
    }
    return all;
  }
};

/// What is to be known of the sources' strengths, (N) `charges` as a rule, before they are used; lengths of dipoles
/// times `per_length` count. Throws InvalidArgument for a charge that is not finite or, with `positive`, below 0, and
/// for charges that are all so small that double cannot divide by them.
template <class Strengths, class Space, class Charges>
DensityFacts<Strengths::densities> inspect_strengths(Space const& space, bool positive,
                                                     Charges const& charges,
                                                     double per_length = 1) {
  constexpr int densities = Strengths::densities;
  const auto count = number_of_sources(charges);
  DensityFacts<densities> facts;
  if (count == 0) return facts;
  const InspectCharges<Strengths, Charges> inspect{charges, count, positive, per_length};
  const auto bounds =
      reduce<DensityBounds<densities>>("fmm::charges::inspect", space, count, inspect);
  space.fence();
  FirstIndex first_bad;
  for (auto const& of_density : bounds.of) first_bad.join(of_density.bad);
  if (const std::int64_t bad = first_bad.value; bad < count)
    for (int k = 0; k < Strengths::numbers; ++k) {
      const ReadNumber<Strengths, Charges> read{charges, bad, k};
      if (const double q = read_alone(space, read); !inspect.is_allowed(q, k))
        throw InvalidArgument(Strengths::name_of(charges, bad, k), q,
                              positive && !Strengths::is_dipole(k) ? "finite and >= 0" : "finite");
    }
  constexpr char const* largest =
      Strengths::has_dipoles ? "the largest |charge| or |dipole| / edge of the bodies' cube"
                             : "the largest |charge|";
  for (int d = 0; d < densities; ++d) facts.of[d] = facts_of(bounds.of[d], largest);
  return facts;
}
/// Of (N) charges.
template <class Space, class Charges>
ChargeFacts inspect_charges(Space const& space, bool positive, Charges const& charges) {
  return inspect_strengths<kernels::Charges<>>(space, positive, charges).of[0];
}

/// Sums of q and |q|, in whole numbers, so that sums are the same for every number of threads.
struct ChargeSums {
  std::int64_t net = 0, sizes = 0;
  KOKKOS_FUNCTION void join(ChargeSums const& other) {
    net += other.net;
    sizes += other.sizes;
  }
};

template <class Charges>
struct SumCharges {
  Charges charges;
  double per_unit;

  KOKKOS_FUNCTION void operator()(std::int64_t i, ChargeSums& all) const {
    const auto q = std::int64_t(double(charges(i)) * per_unit);
    all.net += q;
    all.sizes += q < 0 ? -q : q;
  }
};

/// |sum q| / sum |q|: 1 for charges of one sign or none at all, near 0 for those that cancel. What is less than a
/// millionth of the largest |q| counts as 0. `unit` is that of their ChargeFacts.
template <class Space, class Charges>
double net_share(Space const& space, Charges const& charges, double unit) {
  constexpr double steps = 1 << 20;  // of 2^31 charges the sum is 2^52 at most
  const auto [net, sizes] =
      reduce<ChargeSums>("fmm::charges::net", space, std::int64_t(charges.extent(0)),
                         SumCharges<Charges>{charges, steps / unit});
  return sizes > 0 ? std::fabs(double(net)) / double(sizes) : 1;
}

/// The smallest index for which `inspect(i, bad)` lowers `bad` to it; the largest number if there is none.
template <class Space, class Inspect>
std::int64_t first_bad(Space const& space, std::string const& name, std::int64_t count,
                       Inspect const& inspect) {
  const auto bad = reduce<FirstIndex>(name.c_str(), space, count, inspect);
  space.fence();
  return bad.value;
}

/// The smallest index of a row that is not finite.
template <class Field>
struct InspectField {
  Field field;

  KOKKOS_FUNCTION void operator()(std::int64_t i, FirstIndex& bad) const {
    const double x = field(i, 0), y = field(i, 1), z = field(i, 2);
    if (!(x - x == 0 && y - y == 0 && z - z == 0)) bad.join({i});
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

/// Strengths into tree order, and sums to zero, if there are any.
template <class Space, class Charges, class Real, class StoredReal, class Strengths>
struct TakeCharges {
  Charges charges;
  kernels::DensityUnits<Strengths::densities> per_unit;
  double per_length;
  Array<BodyIndex, Space> permutation;
  SourceStrengths<Space, StoredReal, Strengths> sources;
  Array<Sums<Real>, Space> sums;
  int records;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto scaled = [&](int k) {
      double q = double(Strengths::given(charges, permutation(i), k)) *
                 per_unit.of[Strengths::density_of(k)];
      if (Strengths::is_dipole(k)) q *= per_length;
      return StoredReal(q);
    };
    if constexpr (is_host_space_v<Space>)
      if (i + bodies_ahead < std::int64_t(permutation.extent(0)))
        prefetch(Strengths::given(charges, permutation(i + bodies_ahead), 0));
    sources.bodies(i).q = scaled(0);
    for (int k = 1; k < Strengths::numbers; ++k) sources.other(i, k) = scaled(k);
    if (sums.extent(0) > 0)
      for (int r = 0; r < records; ++r)
        sums(i * records + r) = {Real(0), Real(0), Real(0), Real(0)};
  }
};

/// Charges, or more strengths, into tree order, divided by their density's unit, lengths of dipoles times `per_length`;
/// `sums`, which may be empty, so many records of each target, are set to zero.
template <class Space, class Charges, class Real, class StoredReal, class Strengths>
void take_charges(Space const& space,
                  std::type_identity_t<kernels::DensityUnits<Strengths::densities>> const& units,
                  Charges const& charges, Array<BodyIndex, Space> permutation,
                  SourceStrengths<Space, StoredReal, Strengths> const& sources,
                  Array<Sums<Real>, Space> sums, int records = 1, double per_length = 1) {
  auto per_unit = units;
  for (double& unit : per_unit.of) unit = 1 / unit;
  for_range("fmm::charges", space, permutation.extent(0),
            TakeCharges<Space, Charges, Real, StoredReal, Strengths>{
                charges, per_unit, per_length, permutation, sources, sums, records});
}

}  // namespace fmm::engine
