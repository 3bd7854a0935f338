// SPDX-License-Identifier: BSD-3-Clause
// Ewald's sums: the long part, erf(alpha r)/r of 1/r, by waves (docs/math.md, "Periodic boxes").
#pragma once

#include <cmath>
#include <numbers>

#include "../../periodic/ewald_split.hpp"
#include "../../simd/simd.hpp"
#include "../p2p/chunk.hpp"
#include "ends.hpp"

namespace fmm::kernels {

/// What waves are, for device code.
template <class Space>
struct Waves {
  CellVectors cell;
  double per_unit;  ///< as above
  Array<periodic::WaveRow, Space> rows;
  Array<std::int32_t, Space> first;  ///< of each row, which of all waves
  Array<double, Space> factors;
  /// Sums of a row are in a GPU's registers.
  static constexpr int longest_row = is_host_space_v<Space> ? 32 : 8;

  /// e^(i k.x) of a row's first wave, and of the step to the next one.
  template <class V>
  struct Phase {
    V cosine, sine, cosine_step, sine_step;
    KOKKOS_FORCEINLINE_FUNCTION void step() {
      const V c = cosine * cosine_step - sine * sine_step;
      sine = sine * cosine_step + cosine * sine_step;
      cosine = c;
    }
  };
  template <class V>
  KOKKOS_FUNCTION Phase<V> phase(periodic::WaveRow const& row, V x, V y, V z) const {
    V of[3];
    for (int k = 0; k < 3; ++k)
      of[k] = x * V(cell.inverse[k][0] * per_unit) + y * V(cell.inverse[k][1] * per_unit) +
              z * V(cell.inverse[k][2] * per_unit);
    Phase<V> phase;
    turn(V(double(row.a)) * of[0] + V(double(row.b)) * of[1] + V(double(row.first)) * of[2],
         phase.cosine, phase.sine);
    turn(of[2], phase.cosine_step, phase.sine_step);
    return phase;
  }
  /// Coordinate c of 2 pi (a b_0 + b b_1 + number b_2).
  KOKKOS_FUNCTION double wave(periodic::WaveRow const& row, int number, int c) const {
    return 2 * std::numbers::pi *
           (row.a * cell.inverse[0][c] + row.b * cell.inverse[1][c] + number * cell.inverse[2][c]);
  }

 private:
  /// Cosine and sine of so many turns.
  template <class V>
  KOKKOS_FUNCTION static void turn(V turns, V& cosine, V& sine) {
    using T = LaneTraits<V>;
    double of[T::count], c[T::count], s[T::count];
    T::store(turns, of);
    for (int l = 0; l < T::count; ++l) {
      const double angle = 2 * std::numbers::pi * (of[l] - std::floor(of[l] + 0.5));
      c[l] = std::cos(angle);
      s[l] = std::sin(angle);
    }
    cosine = T::load(c);
    sine = T::load(s);
  }
};

/// Of a row's waves the sums of (q + i k.p) e^(i k.x) over a segment of the bodies, two numbers each.
template <class Space>
struct SumWaves {
  using V = Lanes<Space, double>;
  static constexpr int W = lane_count_v<V>;
  Waves<Space> waves;
  DensityStrengths<Space> sources;
  std::int64_t segment;        ///< bodies
  Array<double, Space> parts;  ///< waves' numbers of the first segment, of the second ..

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t all = waves.rows.extent(0), r = i % all, s = i / all,
                       count = sources.bodies.extent(0);
    const periodic::WaveRow row = waves.rows(r);
    const std::int64_t begin = s * segment, end = begin + segment < count ? begin + segment : count;
    V re[Waves<Space>::longest_row], im[Waves<Space>::longest_row];
    for (int c = 0; c < row.count; ++c) re[c] = im[c] = V(0.0);
    double at_first[3], step[3];
    for (int d = 0; d < 3; ++d) {
      at_first[d] = waves.wave(row, row.first, d);
      step[d] = 2 * std::numbers::pi * waves.cell.inverse[2][d];
    }
    for (std::int64_t b = begin; b < end; b += W) {
      const int lanes = int(end - b < W ? end - b : W);
      const auto at = load_bodies<V>(&sources.bodies(b), lanes);
      auto phase = waves.phase(row, at.x, at.y, at.z);
      const V q = load(b, lanes, [&](std::int64_t j) { return sources.q(j); });
      if (sources.dipole < 0) {
        for (int c = 0; c < row.count; ++c, phase.step()) {
          re[c] += q * phase.cosine;
          im[c] += q * phase.sine;
        }
      } else {
        const auto along = [&](double const(&k)[3]) {
          return load(b, lanes, [&](std::int64_t j) {
            return k[0] * sources.p(j, 0) + k[1] * sources.p(j, 1) + k[2] * sources.p(j, 2);
          });
        };
        V kp = along(at_first);
        const V kp_step = along(step);
        for (int c = 0; c < row.count; ++c, phase.step(), kp += kp_step) {
          re[c] += q * phase.cosine - kp * phase.sine;
          im[c] += q * phase.sine + kp * phase.cosine;
        }
      }
    }
    double* const to = &parts(2 * (s * std::int64_t(waves.factors.extent(0)) + waves.first(r)));
    for (int c = 0; c < row.count; ++c) {
      to[2 * c] = LaneTraits<V>::sum(re[c]);
      to[2 * c + 1] = LaneTraits<V>::sum(im[c]);
    }
  }

 private:
  template <class Number>
  KOKKOS_FUNCTION static V load(std::int64_t first, int lanes, Number const& number) {
    double of[W] = {};
    for (int l = 0; l < lanes; ++l) of[l] = number(first + l);
    return LaneTraits<V>::load(of);
  }
};

/// Sums of all segments, in the place of the first one's.
template <class Space>
struct SumSegments {
  std::int64_t segments;
  Array<double, Space> parts;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t row = std::int64_t(parts.extent(0)) / segments;
    double sum = 0;
    for (std::int64_t s = 0; s < segments; ++s) sum += parts(s * row + i);
    parts(i) = sum;
  }
};

/// The long part at targets: of all waves, without a body's own. W targets of a tile at a time.
template <class Space, class Sum>
struct AddWaves {
  using V = Lanes<Space, double>;
  static constexpr int W = lane_count_v<V>;
  Waves<Space> waves;
  Array<double, Space> sums;         ///< of SumWaves
  double own_potential, own_weight;  ///< ShortPair's
  DensityStrengths<Space> sources;
  DensityTargets<Space, Sum> targets;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t packs = (targets.tile + W - 1) / W;
    const Tile tile = targets.tiles(i / packs);
    const int first = int(i % packs) * W, lanes = tile.count - first < W ? tile.count - first : W;
    if (lanes <= 0) return;
    const std::int64_t begin = tile.first + first;
    const auto at = load_bodies<V>(&targets.bodies(begin), lanes);
    V all[numbers_of_target];
    for (V& number : all) number = V(0.0);
    const int of_first[6] = {0, 1, 2, 0, 0, 1}, of_second[6] = {0, 1, 2, 1, 2, 2};
    for (std::int64_t r = 0; r < std::int64_t(waves.rows.extent(0)); ++r) {
      const periodic::WaveRow row = waves.rows(r);
      auto phase = waves.phase(row, at.x, at.y, at.z);
      for (int c = 0; c < row.count; ++c, phase.step()) {
        const std::int64_t wave = waves.first(r) + c;
        const double factor = waves.factors(wave), a = factor * sums(2 * wave),
                     b = factor * sums(2 * wave + 1);
        const V re = V(a) * phase.cosine + V(b) * phase.sine,
                im = V(a) * phase.sine - V(b) * phase.cosine;
        double k[3];
        for (int d = 0; d < 3; ++d) k[d] = waves.wave(row, row.first + c, d);
        all[0] += re;
        for (int d = 0; d < 3; ++d) all[1 + d] += V(k[d]) * im;
        if (targets.hessian)
          for (int h = 0; h < 6; ++h) all[4 + h] -= V(k[of_first[h]] * k[of_second[h]]) * re;
      }
    }
    double of_lanes[numbers_of_target][W];
    for (int n = 0; n < numbers_of_target; ++n) LaneTraits<V>::store(all[n], of_lanes[n]);
    for (int l = 0; l < lanes; ++l) {
      double of[numbers_of_target];
      for (int n = 0; n < numbers_of_target; ++n) of[n] = of_lanes[n][l];
      if (const std::int64_t own = targets.source(begin + l); own >= 0) {
        const double q = sources.q(own);
        of[0] -= own_potential * q;
        for (int d = 0; d < 3; ++d) of[1 + d] += own_weight * sources.p(own, d);
        for (int h = 0; h < 3; ++h) of[4 + h] += own_weight * q;
      }
      targets.add(begin + l, of);
    }
  }
};

}  // namespace fmm::kernels
