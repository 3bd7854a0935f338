// SPDX-License-Identifier: BSD-3-Clause
// Ewald's sums: pairs of bodies with the short part of the kernel, erfc(alpha r)/r of 1/r (docs/math.md, "Periodic
// boxes").
#pragma once

#include <cmath>
#include <numbers>

#include "../mapping/tile.hpp"
#include "../pair_traits.hpp"
#include "ends.hpp"

namespace fmm::kernels {

/// u, w, t r^2 and s r^3 of a unit charge (pair_derivatives.hpp), but for what waves sum.
template <class Kernel>
struct ShortPair {
  Kernel kernel;
  double alpha, cutoff2;
  double softened2;  ///< the square of the distance up to which the kernel counts, and not 1/r

  KOKKOS_FUNCTION void operator()(double r2, double (&of)[4]) const {
    const double x = alpha * alpha * r2;
    const bool softened = r2 < softened2;
    for (double& number : of) number = 0;
    if (softened || x < 1) add_pair(r2, softened, 1, of);
    if (x < 1) {
      take_long(x, of);
    } else {
      if (softened) add_pair(r2, false, -1, of);
      if (r2 < cutoff2) add_short(r2, x, of);
    }
  }
  /// Of the long part at its own place: u and w.
  KOKKOS_FUNCTION double own_potential() const { return unit(); }
  KOKKOS_FUNCTION double own_weight() const { return unit() * 2 * alpha * alpha / 3; }

 private:
  KOKKOS_FUNCTION double unit() const { return 2 * alpha * std::numbers::inv_sqrtpi; }
  /// The kernel's, or those of 1/r.
  KOKKOS_FUNCTION void add_pair(double r2, bool softened, double sign, double (&of)[4]) const {
    PairDerivatives<double> pair = newtonian_derivatives(guarded_rsqrt(r2));
    if (softened) {
      if constexpr (HasDerivatives<Kernel>) {
        pair = kernel.derivatives(r2);
      } else {  // which is summed without dipoles and Hessians
        const auto term = kernel(r2);
        pair = {term.potential, term.weight, 0, 0, 0};
      }
    }
    const double n = pair.scale * std::sqrt(r2);
    of[0] += sign * pair.potential;
    of[1] += sign * pair.weight;
    of[2] += sign * pair.second * n * n;
    of[3] += sign * pair.third * n * n * n;
  }
  /// Those of erf(alpha r)/r, of which differences would keep no digits near 0: their series.
  KOKKOS_FUNCTION void take_long(double x, double (&of)[4]) const {
    const double w = 2 * alpha * alpha, t = w * 2 * x, s = t * 2 * alpha * std::sqrt(x),
                 factors[4] = {1, w, t, s};
    for (int n = 0; n < 4; ++n) {
      double sum = 0, term = 1;
      for (int k = 0; k < 20; ++k) {
        sum += term / (2 * (k + n) + 1);
        term *= -x / (k + 1);
      }
      of[n] -= unit() * factors[n] * sum;
    }
  }
  /// Those of erfc(alpha r)/r.
  KOKKOS_FUNCTION void add_short(double r2, double x, double (&of)[4]) const {
    const double e = unit() * std::exp(-x), per_r = 1 / std::sqrt(r2), a2 = 2 * alpha * alpha;
    const double u = std::erfc(std::sqrt(x)) * per_r, w = (u + e) * per_r * per_r,
                 t = 3 * w + a2 * e;
    of[0] += u;
    of[1] += w;
    of[2] += t;
    of[3] += (5 * t + 2 * a2 * x * e) * per_r;
  }
};

/// Pairs of a target with all bodies and those of their images that are nearer than the cutoff. A team a target.
template <class Space, class Kernel, class Sum>
struct SumShortPairs {
  ShortPair<Kernel> pair;
  CellVectors cell;
  double per_unit;  ///< of the kernel and the cell, units of length in one of the bodies'
  Array<double, Space> images;  ///< three numbers each: 0 first
  double farthest2;             ///< the square of the distance of pairs that count
  DensityStrengths<Space> sources;
  DensityTargets<Space, Sum> targets;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const Tile tile = targets.tiles(team.league_rank() / targets.tile);
    const int place = team.league_rank() % targets.tile;
    if (place >= tile.count) return;
    const std::int64_t target = tile.first + place, own = targets.source(target),
                       count = std::int64_t(sources.bodies.extent(0));
    const int image_count = int(images.extent(0)) / 3;
    const Body<double> at = targets.bodies(target);
    double sums[numbers_of_target] = {};
    for (std::int64_t j = team.team_rank(); j < count; j += team.team_size()) {
      const Body<double> body = sources.bodies(j);
      double nearest[3] = {(at.x - body.x) * per_unit, (at.y - body.y) * per_unit,
                           (at.z - body.z) * per_unit};
      cell.wrap(nearest);
      for (int image = j == own; image < image_count; ++image) {
        double d[3], r2 = 0;
        for (int c = 0; c < 3; ++c) {
          d[c] = nearest[c] + images(3 * image + c);
          r2 += d[c] * d[c];
        }
        if (r2 < farthest2) add(j, d, r2, sums);
      }
    }
    for (double& number : sums) sum_over_team(team, number);
    if (team.team_rank() == 0) targets.add(target, sums);
  }

 private:
  KOKKOS_FUNCTION void add(std::int64_t j, double const (&d)[3], double r2,
                           double (&sums)[numbers_of_target]) const {
    double of[4];
    pair(r2, of);
    const double per_r = guarded_rsqrt(r2), q = sources.q(j),
                 n[3] = {d[0] * per_r, d[1] * per_r, d[2] * per_r},
                 p[3] = {sources.p(j, 0), sources.p(j, 1), sources.p(j, 2)};
    const double pn = p[0] * n[0] + p[1] * n[1] + p[2] * n[2],
                 pd = p[0] * d[0] + p[1] * d[1] + p[2] * d[2];
    sums[0] += q * of[0] + of[1] * pd;
    for (int c = 0; c < 3; ++c) sums[1 + c] += of[1] * (q * d[c] - p[c]) + of[2] * pn * n[c];
    if (!targets.hessian) return;
    const double outer = q * of[2] + of[3] * pn, mixed = of[2] * per_r;
    const int first[6] = {0, 1, 2, 0, 0, 1}, second[6] = {0, 1, 2, 1, 2, 2};
    for (int h = 0; h < 6; ++h) {
      const int a = first[h], b = second[h];
      sums[4 + h] += outer * n[a] * n[b] - mixed * (n[a] * p[b] + p[a] * n[b]);
      if (a == b) sums[4 + h] -= q * of[1] + mixed * pn;
    }
  }
};

}  // namespace fmm::kernels
