// SPDX-License-Identifier: BSD-3-Clause
// Sources with charges, dipoles or both, and what they exert by 1/r or Plummer's softening, in long double.
#pragma once

#include "support.hpp"

namespace fmm_test {

using Points = std::vector<double>;  // 3 N
using Number = long double;

/// Charges and dipoles of some bodies; either may be absent.
struct Sources {
  Points x, dipoles;
  std::vector<double> charges;
  std::size_t size() const { return x.size() / 3; }
};

/// Potential, field and Hessian in rows of ten, of targets that are sources with these numbers, or else others.
inline std::vector<Number> summed(Points const& targets, std::vector<int> const& numbers,
                                  Sources const& sources, double softening = 0, Number factor = 1,
                                  std::vector<std::vector<int>> const& excluded = {}) {
  const std::size_t m = targets.size() / 3;
  std::vector<Number> all(10 * m);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < sources.size(); ++j) {
      if (!numbers.empty() && numbers[i] == int(j)) continue;
      if (!excluded.empty()) {
        auto const& row = excluded[std::size_t(numbers[i])];
        if (std::find(row.begin(), row.end(), int(j)) != row.end()) continue;
      }
      Number d[3], r2 = Number(softening) * softening;
      for (int c = 0; c < 3; ++c) {
        d[c] = Number(targets[3 * i + c]) - sources.x[3 * j + c];
        r2 += d[c] * d[c];
      }
      if (r2 == 0) continue;
      const Number u = factor / std::sqrt(r2), w = u / r2, t = 3 * w / r2, s = 5 * t / r2,
                   q = sources.charges.empty() ? 0 : sources.charges[j];
      Number p[3] = {}, along = 0;
      for (int c = 0; c < 3 && !sources.dipoles.empty(); ++c)
        p[c] = sources.dipoles[3 * j + c], along += p[c] * d[c];
      Number* const at = &all[10 * i];
      at[0] += q * u + w * along;
      for (int c = 0; c < 3; ++c) at[1 + c] += q * w * d[c] + t * along * d[c] - w * p[c];
      constexpr int rows[] = {0, 1, 2, 0, 0, 1}, columns[] = {0, 1, 2, 1, 2, 2};
      for (int k = 0; k < 6; ++k) {
        const int a = rows[k], b = columns[k], same = a == b;
        at[4 + k] += q * (t * d[a] * d[b] - same * w) + s * along * d[a] * d[b] -
                     t * (same * along + d[a] * p[b] + d[b] * p[a]);
      }
    }
  return all;
}

/// The relative L2 error of numbers first .. first + count - 1 of rows of ten; a Hessian's in its Frobenius norm.
inline double error_of(std::vector<double> const& found, std::vector<Number> const& exact,
                       int first, int count) {
  Number error = 0, norm = 0;
  for (std::size_t i = 0; i < exact.size(); i += 10)
    for (int c = first; c < first + count; ++c) {
      const Number weight = c >= 7 ? 2 : 1, b = exact[i + c], d = found[i + c] - b;
      error += weight * d * d;
      norm += weight * b * b;
    }
  return double(std::sqrt(error / norm));
}

enum class Carries { charges, dipoles, both };

/// Random sources of a model, and dipoles of a fiftieth of the charge times the extent.
inline Sources sources_of(Model model, std::size_t n, Carries kind, bool masses = false) {
  const Bodies bodies = make_bodies(model, n, !masses);
  Sources sources{bodies.x, {}, {}};
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal(0, 0.02 / double(n));
  if (kind != Carries::charges)
    for (std::size_t k = 0; k < 3 * n; ++k) sources.dipoles.push_back(normal(random));
  if (kind != Carries::dipoles) sources.charges = bodies.q;
  return sources;
}

}  // namespace fmm_test
