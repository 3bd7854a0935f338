// SPDX-License-Identifier: BSD-3-Clause
// The field of every body in double, with which results are compared while settings are tried.
#pragma once

#include <algorithm>
#include <cmath>

#include "accuracy.hpp"
#include "detail/order_choice.hpp"

namespace fmm::detail {

/// The relative L2 error of the field of N bodies.
struct FieldError {
  double l2 = 0;
  /// The same with the mean square of the differences three standard errors higher, what it is for other
  /// bodies of the same distribution: at high orders a single body may contribute most.
  double likely = 0;
};

/// Adds up |b|^2, |a - b|^2, and the squares and products of these that their variances take.
template <class Field, class Known>
struct CompareFields {
  Field field;
  Known known;

  KOKKOS_FUNCTION void operator()(std::int64_t i, double& norm, double& difference,
                                  double& norm_square, double& product,
                                  double& difference_square) const {
    double b2 = 0, d2 = 0;
    for (int k = 0; k < 3; ++k) {
      const double b = known(i, k), d = double(field(i, k)) - b;
      b2 += b * b;
      d2 += d * d;
    }
    norm += b2;
    difference += d2;
    norm_square += b2 * b2;
    product += b2 * d2;
    difference_square += d2 * d2;
  }
};

/// Errors of `field` (N,3) against `known` (N,3).
template <class Space, class Field, class Known>
FieldError field_error(Space const& space, Field const& field, Known const& known) {
  double b = 0, d = 0, bb = 0, bd = 0, dd = 0;
  using Sum = Kokkos::Sum<double>;
  Kokkos::parallel_reduce("fmm::compare_fields", range(space, std::int64_t(known.extent(0))),
                          CompareFields<Field, Known>{field, known}, Sum(b), Sum(d), Sum(bb),
                          Sum(bd), Sum(dd));
  space.fence();
  if (d == 0) return {};
  const double ratio = d / b, variance = dd - 2 * ratio * bd + ratio * ratio * bb;
  return {std::sqrt(ratio), std::sqrt((d + 3 * std::sqrt(std::max(variance, 0.0))) / b)};
}

template <class Space>
struct NumberRows {
  Array<BodyIndex, Space> numbers;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { numbers(i) = BodyIndex(i); }
};

/// So few bodies that a direct sum over all pairs takes no longer than a few of the trials.
constexpr bool are_few(std::int64_t bodies, bool host) {
  return bodies <= std::int64_t(1) << (host ? 15 : 18);
}

/// The tolerance of a field that errors within `tolerance` are measured against.
constexpr double known_tolerance(double tolerance) { return tolerance / 20; }

/// Direct sums of all bodies into `field` (N,3).
template <class Space, class Kernel, class Positions, class Charges, class Field>
void direct_field(Space const& space, Kernel const& kernel, Positions const& positions,
                  Charges const& charges, Field const& field) {
  Buffer<BodyIndex, Space> numbers("numbers of bodies");
  const auto all = numbers.resize(checked_size("positions", positions));
  Kokkos::parallel_for("fmm::number", range(space, std::int64_t(all.extent(0))),
                       NumberRows<Space>{all});
  direct_sum(space, kernel, positions, charges, all, none, field);
}

}  // namespace fmm::detail
