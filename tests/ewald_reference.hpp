// SPDX-License-Identifier: BSD-3-Clause
// Ewald's sums of charges and dipoles, term by term in long double: what periodic sums are compared with. Written on
// its own, after de Leeuw, Perram and Smith (Proc. R. Soc. Lond. A 373, 1980) and Smith (CCP5 Newsletter 46, 1998).
#pragma once

#include <array>
#include <cmath>
#include <vector>

namespace fmm_test {

using Number = long double;
using Triple = std::array<Number, 3>;

struct PeriodicSources {
  std::array<Triple, 3> cell;
  std::vector<Triple> x, dipoles;
  std::vector<Number> charges;
};

/// Potential, field and Hessian, ten numbers: at a source (its number, whose own term at its own place is left out), or
/// elsewhere (-1). A net charge has a uniform background; the surroundings are a conductor.
inline std::array<Number, 10> ewald(PeriodicSources const& s, Triple const& at, int number) {
  const Number pi = std::acos(Number(-1));
  const auto dot = [](Triple const& a, Triple const& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  };
  const auto cross = [](Triple const& a, Triple const& b) {
    return Triple{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  };
  std::array<Triple, 3> r;
  const Number signed_volume = dot(s.cell[0], cross(s.cell[1], s.cell[2])),
               volume = std::fabs(signed_volume);
  for (int k = 0; k < 3; ++k) {
    r[k] = cross(s.cell[(k + 1) % 3], s.cell[(k + 2) % 3]);
    for (Number& one : r[k]) one /= signed_volume;
  }
  const Number alpha = std::sqrt(pi) / std::cbrt(volume), digits = 40,
               far = std::sqrt(digits) / alpha, far_k = std::sqrt(digits) * alpha / pi;
  std::array<Number, 10> sum{};
  const auto add = [&](Triple const& d, Number q, Triple const& p, Number b0, Number b1, Number b2,
                       Number b3) {
    const Number along = dot(p, d);
    sum[0] += q * b0 + along * b1;
    for (int c = 0; c < 3; ++c) sum[1 + c] += q * b1 * d[c] + along * b2 * d[c] - b1 * p[c];
    constexpr int rows[] = {0, 1, 2, 0, 0, 1}, columns[] = {0, 1, 2, 1, 2, 2};
    for (int k = 0; k < 6; ++k) {
      const int a = rows[k], b = columns[k], same = a == b;
      sum[4 + k] += q * (b2 * d[a] * d[b] - same * b1) + along * b3 * d[a] * d[b] -
                    b2 * (same * along + d[a] * p[b] + d[b] * p[a]);
    }
  };
  Number net = 0;
  for (std::size_t j = 0; j < s.x.size(); ++j) {
    const Number q = s.charges.empty() ? 0 : s.charges[j];
    const Triple p = s.dipoles.empty() ? Triple{} : s.dipoles[j];
    net += q;
    Triple d;
    for (int c = 0; c < 3; ++c) d[c] = at[c] - s.x[j][c];
    for (int k = 0; k < 3; ++k) {  // near the origin
      const Number whole = std::round(dot(d, r[k]));
      for (int c = 0; c < 3; ++c) d[c] -= whole * s.cell[k][c];
    }
    long most[3];
    for (int k = 0; k < 3; ++k) most[k] = long(far * std::sqrt(dot(r[k], r[k]))) + 2;
    for (long l = -most[0]; l <= most[0]; ++l)
      for (long m = -most[1]; m <= most[1]; ++m)
        for (long n = -most[2]; n <= most[2]; ++n) {
          Triple e;
          for (int c = 0; c < 3; ++c)
            e[c] = d[c] - l * s.cell[0][c] - m * s.cell[1][c] - n * s.cell[2][c];
          const Number r2 = dot(e, e);
          if (r2 > far * far) continue;
          if (r2 == 0) {  // less what the reciprocal sum has of it
            const Number a = 2 * alpha / std::sqrt(pi), a2 = 2 * alpha * alpha;
            if (int(j) == number || number < 0)
              add({0, 0, 0}, q, p, -a, -a * a2 / 3, -a * a2 * a2 / 5, 0);
            continue;
          }
          const Number distance = std::sqrt(r2),
                       e2 = std::exp(-alpha * alpha * r2) / (alpha * std::sqrt(pi));
          Number a = 2 * alpha * alpha, power = a;
          const Number b0 = std::erfc(alpha * distance) / distance;
          const Number b1 = (b0 + power * e2) / r2;
          power *= a;
          const Number b2 = (3 * b1 + power * e2) / r2;
          power *= a;
          const Number b3 = (5 * b2 + power * e2) / r2;
          add(e, q, p, b0, b1, b2, b3);
        }
  }
  long most[3];
  for (int k = 0; k < 3; ++k) most[k] = long(far_k * std::sqrt(dot(s.cell[k], s.cell[k]))) + 1;
  for (long l = -most[0]; l <= most[0]; ++l)
    for (long m = -most[1]; m <= most[1]; ++m)
      for (long n = -most[2]; n <= most[2]; ++n) {
        if (l == 0 && m == 0 && n == 0) continue;
        Triple k;
        for (int c = 0; c < 3; ++c) k[c] = 2 * pi * (l * r[0][c] + m * r[1][c] + n * r[2][c]);
        const Number k2 = dot(k, k),
                     weight = 4 * pi / volume * std::exp(-k2 / (4 * alpha * alpha)) / k2;
        Number even = 0, odd = 0;  // sum of q cos + (p.k) sin, and its derivative by the phase
        for (std::size_t j = 0; j < s.x.size(); ++j) {
          Triple d;
          for (int c = 0; c < 3; ++c) d[c] = at[c] - s.x[j][c];
          const Number phase = dot(k, d), q = s.charges.empty() ? 0 : s.charges[j],
                       pk = s.dipoles.empty() ? 0 : dot(s.dipoles[j], k);
          even += q * std::cos(phase) + pk * std::sin(phase);
          odd += -q * std::sin(phase) + pk * std::cos(phase);
        }
        sum[0] += weight * even;
        for (int c = 0; c < 3; ++c) sum[1 + c] -= weight * odd * k[c];
        constexpr int rows[] = {0, 1, 2, 0, 0, 1}, columns[] = {0, 1, 2, 1, 2, 2};
        for (int h = 0; h < 6; ++h) sum[4 + h] -= weight * even * k[rows[h]] * k[columns[h]];
      }
  sum[0] -= pi * net / (alpha * alpha * volume);
  return sum;
}

}  // namespace fmm_test
