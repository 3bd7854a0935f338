// SPDX-License-Identifier: BSD-3-Clause
// How Ewald's sum is split into pairs of bodies and waves, for an accuracy and the least work. On the host.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "lattice.hpp"

namespace fmm::periodic {

/// Waves k = 2 pi (a b_0 + b b_1 + c b_2) of the reciprocal vectors b with c = first .. first + count - 1.
struct WaveRow {
  std::int32_t a, b, first, count;
};

/// 1/r = erfc(alpha r)/r + erf(alpha r)/r: the first is summed over pairs nearer than `cutoff`, the second over waves
/// (P. P. Ewald, Ann. Phys. 369 (1921) 253).
struct EwaldSplit {
  double alpha = 0, cutoff = 0;
  std::vector<Vector>
      images;  ///< that bodies may be nearer than the cutoff, of nearest ones: 0 first
  std::vector<WaveRow>
      rows;  ///< of each two opposite waves one; the first is that of k = 0, the background's
  std::vector<double>
      factors;  ///< of each wave: 8 pi / V exp(-k^2 / 4 alpha^2) / k^2; of k = 0 -pi / (alpha^2 V)
};

/// The vectors by which a difference of two places, with factors of the cell's vectors from -1/2 to 1/2, may become
/// shorter than the cutoff.
inline std::vector<Vector> images_within(Lattice const& lattice, double cutoff) {
  std::vector<Vector> images{{0, 0, 0}};
  int most[3];
  for (int k = 0; k < 3; ++k) {
    most[k] = 0;
    while ((most[k] + 0.5) * lattice.height(k) < cutoff) ++most[k];
  }
  for (int i = -most[0]; i <= most[0]; ++i)
    for (int j = -most[1]; j <= most[1]; ++j)
      for (int k = -most[2]; k <= most[2]; ++k)
        if (i != 0 || j != 0 || k != 0) images.push_back(lattice.at(i, j, k));
  return images;
}

/// The split for sums at so many targets of so many sources whose terms left out are below `error`, that are softened
/// up to `softened`. The work is estimated by a unit of one pair's test. Rows have `longest_row` waves at most.
FMM_NOINLINE inline EwaldSplit ewald_split(Lattice const& lattice, double targets, double sources,
                                           double error, double softened, int longest_row) {
  constexpr double pi = std::numbers::pi, of_pair = 20, of_wave = 1.5;
  const double digits = std::sqrt(-std::log(error)) + 0.2;  // erfc(digits) < error
  const double height = std::min({lattice.height(0), lattice.height(1), lattice.height(2)});
  EwaldSplit split;
  double least = std::numeric_limits<double>::max();
  for (double share = 0.125; share < 3; share *= 1.19) {
    const double cutoff = share * height, alpha = digits / cutoff, longest = alpha * digits / pi,
                 sphere = 4 * pi / 3 * cutoff * cutoff * cutoff / lattice.volume(),
                 waves = 2 * pi / 3 * longest * longest * longest * lattice.volume(),
                 images = cutoff <= 0.5 * height ? 1 : std::pow(2 * share + 1, 3);
    const double work =
        targets * sources * (images + of_pair * sphere) + of_wave * waves * (targets + sources);
    if (work < least) {
      least = work;
      split.alpha = alpha;
      split.cutoff = cutoff;
    }
  }
  split.images = images_within(lattice, std::max(split.cutoff, softened));
  const double longest = split.alpha * digits / pi;
  auto const& b = lattice.inverse();
  int most[3];  // |factor| <= |k| times the length of the cell's vector
  for (int k = 0; k < 3; ++k)
    most[k] = int(longest * std::sqrt(dot(lattice.vectors()[k], lattice.vectors()[k])));
  const double per_wave = pi * pi / (split.alpha * split.alpha);
  split.rows.push_back({0, 0, 0, 1});
  split.factors.push_back(-per_wave / (pi * lattice.volume()));
  for (int i = 0; i <= most[0]; ++i)
    for (int j = i == 0 ? 0 : -most[1]; j <= most[1]; ++j) {
      const auto square = [&](int k) {
        const Vector wave = plus(plus(plus({0, 0, 0}, i, b[0]), j, b[1]), k, b[2]);
        return dot(wave, wave);
      };
      int first = i == 0 && j == 0 ? 1 : -most[2], last = most[2];
      while (first <= last && square(first) > longest * longest) ++first;
      while (last >= first && square(last) > longest * longest) --last;
      for (int k = first; k <= last; k += longest_row) {
        const int count = std::min(longest_row, last - k + 1);
        split.rows.push_back({i, j, k, count});
        for (int c = k; c < k + count; ++c)
          split.factors.push_back(2 * std::exp(-per_wave * square(c)) /
                                  (pi * square(c) * lattice.volume()));
      }
    }
  return split;
}

}  // namespace fmm::periodic
