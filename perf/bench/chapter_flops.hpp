// SPDX-License-Identifier: BSD-3-Clause
// Floating point operations as Yokota & Barba's chapter counts them: 20 a pair for potential and force, 19
// for the force; M2P and M2L by their listings, statement by statement. Every add, multiply, divide, root,
// reciprocal root and trigonometric function of a floating point number is one; indices, signs, absolute
// values and comparisons are none, and an argument that stands twice in a statement's pair is one.
// An order p is `terms` = p + 1 of theirs.
#pragma once

#include <cstdint>

namespace fmm_bench::chapter {

/// Of a pair of bodies, potential and force.
inline constexpr std::int64_t p2p = 20;

/// Complex coefficients (n, m >= 0) of an expansion.
constexpr std::int64_t coefficients(int order) { return std::int64_t(order + 1) * (order + 2) / 2; }

/// cart2sph: radius (7), polar angle (2) and azimuth (3).
inline constexpr std::int64_t spherical_coordinates = 12;

/// m2l_calculate_ynm to twice the terms: 5 at the start, 7 for each m, 8 for each n > m.
constexpr std::int64_t m2l_harmonics(int order) {
  const std::int64_t terms = 2 * (order + 1);
  return 5 + 7 * terms + 8 * terms * (terms - 1) / 2;
}

/// A translation: for each of the target's coefficients 3, then 17 for a source's with m < 0 and 18 with
/// m >= 0 (an argument, two trigonometric functions, A_n^m 2, the coefficient 2 or 3, its parts 2, and a
/// complex multiplication and addition 8).
constexpr std::int64_t m2l(int order) {
  const std::int64_t terms = order + 1;
  const std::int64_t each = 3 + 17 * (terms * (terms - 1) / 2) + 18 * (terms * (terms + 1) / 2);
  return spherical_coordinates + m2l_harmonics(order) + coefficients(order) * each;
}

/// A multipole's force on a body: 3 for the distance, 7 at the start, 33 for each m, 32 for each n > m, and
/// 31 to turn the force into Cartesian coordinates.
constexpr std::int64_t m2p(int order) {
  const std::int64_t terms = order + 1;
  return 3 + spherical_coordinates + 7 + 33 * terms + 32 * (terms * (terms - 1) / 2) + 31;
}

/// What the authors' program multiplies with: 48 a pair of complex coefficients, 56 a coefficient and body.
constexpr std::int64_t m2l_of_their_program(int order) {
  return 48 * coefficients(order) * coefficients(order);
}
constexpr std::int64_t m2p_of_their_program(int order) { return 56 * coefficients(order); }

}  // namespace fmm_bench::chapter
