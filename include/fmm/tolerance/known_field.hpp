// SPDX-License-Identifier: BSD-3-Clause
// The field of every body in double, with which results are compared while settings are tried.
#pragma once

#include <cmath>
#include <limits>

#include "../accuracy/direct_sum.hpp"
#include "order_selection.hpp"

namespace fmm::tolerance {

/// Sums of |b|^2, |a - b|^2, and of the squares and products of these that their variances take.
struct ComparedFields {
  double norm = 0, difference = 0, norm_square = 0, product = 0, difference_square = 0;
  KOKKOS_FUNCTION void join(ComparedFields const& other) {
    norm += other.norm;
    difference += other.difference;
    norm_square += other.norm_square;
    product += other.product;
    difference_square += other.difference_square;
  }
};

/// Of both fields multiplied by `per_unit`.
template <class Field, class Known>
struct CompareFields {
  Field field;
  Known known;
  double per_unit;

  KOKKOS_FUNCTION void operator()(std::int64_t i, ComparedFields& sums) const {
    double b2 = 0, d2 = 0;
    for (int k = 0; k < int(known.extent(1)); ++k) {
      const double b = known(i, k), d = double(field(i, k)) - b;
      b2 += (b * per_unit) * (b * per_unit);
      d2 += (d * per_unit) * (d * per_unit);
    }
    sums.norm += b2;
    sums.difference += d2;
    sums.norm_square += b2 * b2;
    sums.product += b2 * d2;
    sums.difference_square += d2 * d2;
  }
};

struct LargestNumber {
  double value = -std::numeric_limits<double>::max();
  KOKKOS_FUNCTION void join(LargestNumber const& other) {
    if (other.value > value) value = other.value;
  }
};

template <class Known>
struct LargestComponent {
  Known known;
  KOKKOS_FUNCTION void operator()(std::int64_t i, LargestNumber& largest) const {
    for (int k = 0; k < int(known.extent(1)); ++k)
      largest.value = std::fmax(largest.value, std::fabs(known(i, k)));
  }
};

/// The relative L2 error of `field` (N,3), or of numbers (N,1), against `known` ones, with the mean square of the
/// differences three standard errors higher: what it is for other bodies of the same distribution. At high orders a
/// single body may contribute most. Infinite if it is not a number, or all of `known` is 0.
template <class Space, class Field, class Known>
double likely_error(Space const& space, Field const& field, Known const& known) {
  const auto bodies = std::int64_t(known.extent(0));
  const double largest =
      reduce<LargestNumber>("fmm::largest_field", space, bodies, LargestComponent<Known>{known})
          .value;
  space.fence();
  const double per_unit = largest > 0 ? 1 / largest : 1;
  const auto [b, d, bb, bd, dd] = reduce<ComparedFields>(
      "fmm::compare_fields", space, bodies, CompareFields<Field, Known>{field, known, per_unit});
  space.fence();
  if (!(b > 0))
    return std::numeric_limits<double>::infinity();  // there is nothing to be relative to
  if (d == 0) return 0;
  const double ratio = d / b, variance = dd - 2 * ratio * bd + ratio * ratio * bb;
  const double error =
      std::sqrt((d + constants.standard_errors * std::sqrt(std::fmax(variance, 0.0))) / b);
  return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

/// So few bodies that a direct sum over all pairs takes no longer than a few of the trials.
constexpr bool are_few(std::int64_t bodies, bool host) {
  return bodies <= (host ? constants.few_on_host : constants.few_on_device);
}

/// The options for a field in double against which errors of a tolerance are measured, of an order of its own: it is
/// to err by a tenth of that, half of it by what softening adds (docs/math.md).
inline Options known_field_options(Options options, double tolerance, int order,
                                   bool has_softening_error) {
  options.tolerance = options.theta = std::nullopt;
  options.one_part = false;
  options.pair_error = pair_error_for(tolerance / constants.known_field, order);
  if (has_softening_error) options.softening_error = tolerance / constants.known_softening;
  return options;
}

/// Every so many of the bodies' numbers, or all.
template <class Space>
struct SpreadNumbers {
  std::int64_t bodies;
  Array<BodyIndex, Space> numbers;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    numbers(i) = BodyIndex(i * bodies / std::int64_t(numbers.extent(0)));
  }
};

/// Direct sums of all bodies, perhaps in a periodic cell, into `potential` (N) and `field` (N,3).
template <class Space, class Kernel, class Positions, class Charges, class Potential, class Field,
          class In>
void direct_results(Space const& space, Kernel const& kernel, Positions const& positions,
                    Charges const& charges, Potential const& potential, Field const& field,
                    In const& in) {
  Buffer<BodyIndex, Space> numbers("numbers of bodies");
  const auto all = numbers.resize(checked_size("positions", positions));
  for_range("fmm::number", space, all.extent(0),
            SpreadNumbers<Space>{std::int64_t(all.extent(0)), all});
  accuracy::direct_sum(space, kernel, positions, charges, all.view(), potential, field, in);
}

/// Adds up the squares of some bodies' fields.
template <class Space>
struct SumOfSquares {
  Array<Sums<double>, Space> sums;
  double per_unit;
  KOKKOS_FUNCTION void operator()(std::int64_t i, SumOf<double>& squares) const {
    const double x = sums(i).x * per_unit, y = sums(i).y * per_unit, z = sums(i).z * per_unit;
    squares.value += x * x + y * y + z * z;
  }
};

/// That of a cube of a cell's volume; 0 if nothing repeats.
template <class In>
double edge_of(In const& in) {
  if constexpr (std::is_same_v<In, accuracy::PerhapsIn>)
    if (in) return std::cbrt(in->lattice.volume());
  return 0;
}

/// Of bodies with (N,3) positions and (N) charges. Fields are those of 256 of them, and a neighbour
/// is a mean |q| at the mean distance of bodies that fill the cube around all: where they are
/// denser the share is not less than 1. In a periodic cell, `in`, charges of one sign cancel with a background. Throws as
/// inspect_charges. Cost: two reductions over the charges; if they cancel also 256 N pairs in double, or Ewald's sums at
/// as many bodies, and for as long 32 bytes a body.
template <class Space, class Kernel, class Positions, class Charges, class In>
Cancellation cancellation_of(Space const& space, Kernel const& kernel, Positions const& positions,
                             Charges const& charges, In const& in) {
  constexpr std::int64_t most = 256;
  const std::int64_t n = checked_size("positions", positions);
  check_extents("charges", charges, n);
  const ChargeFacts facts = inspect_charges(space, false, charges);
  const auto cell_edge = edge_of(in);
  Cancellation found{cell_edge > 0 ? 0 : net_share(space, charges, facts.unit), 1};
  if (!facts.both_signs && !(cell_edge > 0)) return found;
  Buffer<BodyIndex, Space> buffer("cancellation's bodies");
  const auto numbers = buffer.resize(std::min(n, most));
  const auto count = std::int64_t(numbers.extent(0));
  for_range("fmm::number", space, count, SpreadNumbers<Space>{n, numbers});
  accuracy::DirectSums<Space, In> direct{.in = in, .error = 1e-4};
  direct.template add<Outputs<false, true>>(space, kernel,
                                            typename Positions::const_type(positions),
                                            typename Charges::const_type(charges), numbers);
  const double squares =
      reduce<SumOf<double>>("fmm::squares", space, count,
                            SumOfSquares<Space>{direct.sums.view(count), 1 / facts.unit})
          .value;
  space.fence();
  const double edge = cell_edge > 0 ? cell_edge : root_cube(bounding_box(space, positions)).edge,
               distance = edge / std::cbrt(double(n)),
               field = std::sqrt(squares / double(count)) * std::fabs(direct.field_unit),
               neighbour = std::fabs(potential_unit(kernel, distance)) / distance *
                           (facts.sum / facts.unit / double(n));
  if (field < neighbour) found.field_share = std::max(field / neighbour, 1e-3);
  return found;
}

}  // namespace fmm::tolerance
