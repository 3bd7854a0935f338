// SPDX-License-Identifier: BSD-3-Clause
// Ewald's sums: pairs of bodies with the short part of the kernel, erfc(alpha r)/r of 1/r (docs/math.md, "Periodic
// boxes").
#pragma once

#include <cmath>
#include <numbers>

#include "../../simd/error_functions.hpp"
#include "../mapping/tile.hpp"
#include "../p2p/chunk.hpp"
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
    double short_pair[4];
    short_part(r2, x, short_pair);
    for (int n = 0; n < 4; ++n) of[n] += short_pair[n];
  }

 public:
  /// Those, in lanes, for x = alpha^2 r^2 from 1 to 42.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION void short_part(V r2, V x, V (&of)[4]) const {
    const V exponential = exp_of_minus(x), per_r = rsqrt(r2), e = V(unit()) * exponential,
            a2 = V(2 * alpha * alpha);
    of[0] = erfc_of(x * rsqrt(x), exponential) * per_r;
    of[1] = (of[0] + e) * per_r * per_r;
    of[2] = V(3.0) * of[1] + a2 * e;
    of[3] = (V(5.0) * of[2] + V(2.0) * a2 * x * e) * per_r;
  }
};

/// Pairs of a target with a segment of the bodies, and those of their images that are nearer than the cutoff. A team a
/// target and segment; a thread takes W bodies at a time.
template <class Space, class Kernel, class Sum>
struct SumShortPairs {
  using V = Lanes<Space, double>;
  using T = LaneTraits<V>;
  static constexpr int W = lane_count_v<V>;
  ShortPair<Kernel> pair;
  CellVectors cell;
  double per_unit;  ///< of the kernel and the cell, units of length in one of the bodies'
  Array<double, Space> images;  ///< three numbers each: 0 first
  double farthest2;             ///< the square of the distance of pairs that count
  DensityStrengths<Space> sources;
  DensityTargets<Space, Sum> targets;
  int segments;
  Array<double, Space> parts;  ///< of a target numbers_of_target for each segment

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const int number = team.league_rank() / segments, s = team.league_rank() % segments;
    const Tile tile = targets.tiles(number / targets.tile);
    const int place = number % targets.tile;
    if (place >= tile.count) return;
    const std::int64_t target = tile.first + place, own = targets.source(target),
                       all_bodies = std::int64_t(sources.bodies.extent(0)),
                       begin = s * all_bodies / segments, count = (s + 1) * all_bodies / segments;
    const int image_count = int(images.extent(0)) / 3;
    const Body<double> at = targets.bodies(target);
    V all[numbers_of_target];
    for (V& number : all) number = V(0.0);
    double sums[numbers_of_target] = {};
    for (std::int64_t j = begin + std::int64_t(team.team_rank()) * W; j < count;
         j += std::int64_t(team.team_size()) * W) {
      const int lanes = int(count - j < W ? count - j : W);
      const auto body = load_bodies<V>(&sources.bodies(j), lanes);
      V nearest[3] = {(V(at.x) - body.x) * V(per_unit), (V(at.y) - body.y) * V(per_unit),
                      (V(at.z) - body.z) * V(per_unit)};
      cell.wrap(nearest);
      const std::uint32_t are_there = lanes < 32 ? (1u << lanes) - 1 : ~0u,
                          is_own = own >= j && own < j + lanes ? 1u << (own - j) : 0;
      for (int image = 0; image < image_count; ++image) {
        V d[3], r2 = V(0.0);
        for (int c = 0; c < 3; ++c) {
          d[c] = nearest[c] + V(images(3 * image + c));
          r2 += d[c] * d[c];
        }
        const std::uint32_t near = bits_of(r2 < V(farthest2)) & are_there;
        if (near == 0) continue;
        const std::uint32_t rest = near & ~add_far(j, lanes, body.q, d, r2, all);
        for_lanes(image == 0 ? rest & ~is_own : rest, j, d, sums);
      }
    }
    for (int n = 0; n < numbers_of_target; ++n) {
      sums[n] += T::sum(all[n]);
      sum_over_team(team, sums[n]);
      if (team.team_rank() == 0)
        parts(std::int64_t(team.league_rank()) * numbers_of_target + n) = sums[n];
    }
  }

 private:
  /// Adds the short parts of those lanes that have nothing else, and returns which these are.
  KOKKOS_FUNCTION std::uint32_t add_far(std::int64_t j, int lanes, V q, V const (&d)[3], V r2,
                                        V (&all)[numbers_of_target]) const {
    const double per_alpha2 = 1 / (pair.alpha * pair.alpha),
                 least2 = per_alpha2 > pair.softened2 ? per_alpha2 : pair.softened2;
    const V counted = select(r2 < V(pair.cutoff2), r2, V(0.0));
    const auto is_far = V(least2) <= counted;
    const std::uint32_t far = bits_of(is_far);
    if (far == 0) return 0;
    const V distance2 = select(is_far, r2, V(per_alpha2)), one = select(is_far, V(1.0), V(0.0));
    V of[4], p[3];
    pair.short_part(distance2, distance2 * V(pair.alpha * pair.alpha), of);
    if (sources.charge > 0) q = load(j, lanes, [&](std::int64_t i) { return sources.q(i); });
    for (int c = 0; c < 3; ++c)
      p[c] = sources.dipole < 0
                 ? V(0.0)
                 : one * load(j, lanes, [&](std::int64_t i) { return sources.p(i, c); });
    add(of, one * q, p, d, rsqrt(distance2), all);
    return far;
  }
  /// Adds pairs one by one.
  KOKKOS_FUNCTION void for_lanes(std::uint32_t which, std::int64_t j, V const (&d)[3],
                                 double (&sums)[numbers_of_target]) const {
    if (which == 0) return;
    double lanes[3][W];
    for (int c = 0; c < 3; ++c) T::store(d[c], lanes[c]);
    for (; which != 0; which &= which - 1) {
      const int l = lowest_bit(which);
      const double one[3] = {lanes[0][l], lanes[1][l], lanes[2][l]},
                   r2 = one[0] * one[0] + one[1] * one[1] + one[2] * one[2],
                   p[3] = {sources.p(j + l, 0), sources.p(j + l, 1), sources.p(j + l, 2)};
      double of[4];
      pair(r2, of);
      add(of, sources.q(j + l), p, one, guarded_rsqrt(r2), sums);
    }
  }
  template <class Number>
  KOKKOS_FUNCTION static V load(std::int64_t first, int lanes, Number const& number) {
    double of[W] = {};
    for (int l = 0; l < lanes; ++l) of[l] = number(first + l);
    return T::load(of);
  }
  template <class U>
  KOKKOS_FORCEINLINE_FUNCTION void add(U const (&of)[4], U q, U const (&p)[3], U const (&d)[3],
                                       U per_r, U (&sums)[numbers_of_target]) const {
    const U n[3] = {d[0] * per_r, d[1] * per_r, d[2] * per_r},
            pn = p[0] * n[0] + p[1] * n[1] + p[2] * n[2],
            pd = p[0] * d[0] + p[1] * d[1] + p[2] * d[2];
    sums[0] += q * of[0] + of[1] * pd;
    for (int c = 0; c < 3; ++c) sums[1 + c] += of[1] * (q * d[c] - p[c]) + of[2] * pn * n[c];
    if (!targets.hessian) return;
    const U outer = q * of[2] + of[3] * pn, mixed = of[2] * per_r;
    const int first[6] = {0, 1, 2, 0, 0, 1}, second[6] = {0, 1, 2, 1, 2, 2};
    for (int h = 0; h < 6; ++h) {
      const int a = first[h], b = second[h];
      sums[4 + h] += outer * n[a] * n[b] - mixed * (n[a] * p[b] + p[a] * n[b]);
      if (a == b) sums[4 + h] -= q * of[1] + mixed * pn;
    }
  }
};

/// Adds those of all segments to a target.
template <class Space, class Sum>
struct AddShortPairs {
  DensityTargets<Space, Sum> targets;
  int segments;
  Array<double, Space> parts;

  KOKKOS_FUNCTION void operator()(std::int64_t number) const {
    const Tile tile = targets.tiles(number / targets.tile);
    const int place = int(number % targets.tile);
    if (place >= tile.count) return;
    double sums[numbers_of_target] = {};
    for (int s = 0; s < segments; ++s)
      for (int n = 0; n < numbers_of_target; ++n)
        sums[n] += parts((number * segments + s) * numbers_of_target + n);
    targets.add(tile.first + place, sums);
  }
};

}  // namespace fmm::kernels
