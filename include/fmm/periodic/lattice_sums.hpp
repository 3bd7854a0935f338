// SPDX-License-Identifier: BSD-3-Clause
// Sums of irregular harmonics over all vectors of a lattice but the nearest: what the images exert that no list has. On
// the host. docs/math.md, "Periodic boxes", derives them.
#pragma once

#include <complex>
#include <numbers>

#include "lattice.hpp"

namespace fmm::periodic {

/// High degrees are sums of terms of both signs.
using Extended = long double;
using Complex = std::complex<Extended>;

/// Of degree l and order m >= 0: at l (l + 1) / 2 + m.
inline int index_of(int l, int m) { return l * (l + 1) / 2 + m; }

/// visit(l, m, U_l^m(x)) of all degrees, m >= 0 (kernels/spherical/harmonics.hpp).
template <class Visit>
void for_each_regular(Vector const& at, int degree, Visit const& visit) {
  const Extended x = at[0], y = at[1], z = at[2], r2 = x * x + y * y + z * z;
  Complex diagonal = 1;
  for (int m = 0; m <= degree; ++m) {
    if (m > 0) diagonal *= Complex(x, y) / Extended(2 * m);
    Complex before = 0, here = diagonal;
    for (int l = m; l <= degree; ++l) {
      if (l > m) {
        const Complex next =
            (Extended(2 * l - 1) * z * here - r2 * before) / Extended((l - m) * (l + m));
        before = here;
        here = next;
      }
      visit(l, m, here);
    }
  }
}

/// Gamma(l + 1/2, x) for l = 0 .. degree, upward, and Gamma(l + 1/2) less that, downward: either way what is added is
/// above 0, so that none loses digits.
FMM_NOINLINE inline std::vector<Extended> upper_gammas(int degree, Extended x) {
  std::vector<Extended> gammas;
  const Extended e = std::exp(-x);
  Extended gamma = std::sqrt(std::numbers::pi_v<Extended>) * std::erfc(std::sqrt(x)),
           power = std::sqrt(x);
  for (int l = 0; l <= degree; ++l) {
    gammas.push_back(gamma);
    gamma = (l + Extended(0.5)) * gamma + power * e;
    power *= x;
  }
  return gammas;
}
FMM_NOINLINE inline std::vector<Extended> lower_gammas(int degree, Extended x) {
  std::vector<Extended> gammas(std::size_t(degree + 1));
  const Extended e = std::exp(-x);
  Extended s = degree + Extended(0.5), power = std::pow(x, s), term = 1 / s, sum = term;
  for (int k = 1; term > sum * Extended(1e-22); ++k) sum += term *= x / (s + k);
  Extended gamma = power * e * sum;
  for (int l = degree; l >= 0; --l) {
    gammas[std::size_t(l)] = gamma;
    power /= x;
    s -= 1;
    if (l > 0) gamma = (gamma + power * e) / s;
  }
  return gammas;
}

/// Over the vectors n of a lattice that are longer than some radius, of even degrees (those of odd degrees vanish):
///
///     S_l^m = sum (l - m)! / |n|^(l+1) P_l^m e^(i m phi)    l >= 2, as that of a lattice with a uniform background
///     constant                                              potential of images of a unit charge in their background at
///                                                           its own place (xi), but for those within the radius
struct LatticeSums {
  std::vector<Complex> of;  ///< S_l^m, m >= 0, at index_of
  Extended constant = 0;
};

/// One of each two vectors that are opposite, whose terms of even degrees are equal.
inline std::vector<Vector> half_of(std::vector<Vector> vectors) {
  std::erase_if(vectors, [](Vector const& n) { return n < Vector{0, 0, 0}; });
  return vectors;
}

/// Cost: O(degree^2) for each of some hundred vectors: 11 ms for degree 56 of a cube (a core of a Zen 5).
FMM_NOINLINE inline LatticeSums lattice_sums(Lattice const& lattice, double radius, int degree) {
  constexpr Extended pi = std::numbers::pi_v<Extended>;
  const Extended volume = lattice.volume(), alpha = std::sqrt(pi) / std::cbrt(volume);
  LatticeSums sums{std::vector<Complex>(std::size_t(index_of(degree, degree) + 1))};
  const auto square = [](Vector const& n) {
    return Extended(n[0]) * n[0] + Extended(n[1]) * n[1] + Extended(n[2]) * n[2];
  };
  std::vector<Extended> weight(std::size_t(degree + 1));
  const auto add = [&](Vector const& at) {
    for_each_regular(at, degree, [&](int l, int m, Complex const& u) {
      if (l % 2 == 0) sums.of[std::size_t(index_of(l, m))] += u * weight[std::size_t(l)];
    });
  };
  // both sums end where terms of all degrees are below the last digit
  const Extended digits = 46 + degree;
  const double ends = std::max(radius, double(std::sqrt(digits) / alpha));
  for (Vector const& n : half_of(lattice.vectors_within(ends))) {
    const Extended n2 = square(n), x = alpha * alpha * n2;
    const bool left_out = dot(n, n) <= radius * radius;  // as vectors_within has it
    const auto gammas = left_out ? lower_gammas(degree, x) : upper_gammas(degree, x);
    Extended power = (left_out ? -2 : 2) / std::sqrt(n2);
    sums.constant += gammas[0] * power / std::sqrt(pi);
    for (int l = 0; l <= degree; ++l, power /= n2)
      weight[std::size_t(l)] = gammas[std::size_t(l)] * power;
    add(n);
  }
  const double k_ends = double(std::sqrt(digits) * alpha / pi);
  for (Vector const& k : half_of(lattice.reciprocal().vectors_within(k_ends))) {
    const Extended k2 = square(k),
                   of_k = 2 * std::exp(-pi * pi * k2 / (alpha * alpha)) / (pi * k2 * volume);
    sums.constant += of_k;
    Extended power = std::sqrt(pi) * of_k;  // times (-i pi)^l
    for (int l = 0; l <= degree; l += 2, power *= -pi * pi) weight[std::size_t(l)] = power;
    add(k);
  }
  sums.constant -= 2 * alpha / std::sqrt(pi) + pi / (alpha * alpha * volume);
  std::vector<Extended> factorial{1};
  for (int l = 1; l <= 2 * degree; ++l) factorial.push_back(factorial.back() * l);
  Extended gamma = std::sqrt(pi);  // Gamma(l + 1/2)
  for (int l = 0; l <= degree; ++l) {
    for (int m = 0; m <= l; ++m)
      sums.of[std::size_t(index_of(l, m))] *=
          l < 2 ? 0 : factorial[std::size_t(l - m)] * factorial[std::size_t(l + m)] / gamma;
    gamma *= l + Extended(0.5);
  }
  return sums;
}

}  // namespace fmm::periodic
