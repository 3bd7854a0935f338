// SPDX-License-Identifier: BSD-3-Clause
// Sums of the magnitudes of pairs' terms at chosen bodies, over all others: what their fields and potentials would be
// if nothing cancelled.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "../../detail/launch.hpp"
#include "../../detail/memory.hpp"
#include "../mapping/tile.hpp"
#include "p2p.hpp"

namespace fmm::kernels {

/// Of a body: sums over all others of |q w| r and |q u|, and the square of the distance to the nearest one at another
/// place, infinite if there is none, and |q| of that one; or of a segment of the others.
struct Magnitudes {
  double field, potential, nearest2, charge_of_nearest;
};

/// Sums of some targets, one a lane, over a segment of all bodies: Tuning's lanes of double.
template <class Space, class Kernel>
struct SumMagnitudes {
  using V = Lanes<Space, double>;
  static constexpr int W = lane_count_v<V>;
  Kernel kernel;
  double per_unit;
  Array<Body<double>, Space> bodies;
  Array<BodyIndex, Space> targets;
  std::int64_t segments;
  Array<Magnitudes, Space> sums;  ///< (targets, segments)

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto n = std::int64_t(bodies.extent(0)), all = std::int64_t(targets.extent(0));
    const std::int64_t packs = (all + W - 1) / W, first = i % packs * W, segment = i / packs;
    const int count = all - first < W ? int(all - first) : W;
    Body<double> chosen[W];
    for (int l = 0; l < count; ++l) chosen[l] = bodies(targets(first + l));
    const LaneBodies<V> at(chosen, count);
    const V unit(per_unit);
    using simd::rsqrt;
    V field(0.0), potential(0.0), nearest2(std::numeric_limits<double>::infinity()),
        charge_of_nearest(0.0);
    for (std::int64_t k = segment * n / segments; k < (segment + 1) * n / segments; ++k) {
      const Body<double> b = bodies(k);
      const V x = (at.x - V(b.x)) * unit, y = (at.y - V(b.y)) * unit, z = (at.z - V(b.z)) * unit,
              r2 = x * x + y * y + z * z;
      const auto apart = r2 > V(0.0);
      const auto term = pair_term<false>(kernel, r2);
      const V q(std::fabs(b.q)), w = term.weight * (r2 * rsqrt(r2)), u = term.potential;
      field += select(apart, q * select(w < V(0.0), -w, w), V(0.0));
      potential += select(apart, q * select(u < V(0.0), -u, u), V(0.0));
      const V other2 = select(apart, r2, nearest2);
      const auto nearer = other2 < nearest2;
      nearest2 = select(nearer, other2, nearest2);
      charge_of_nearest = select(nearer, q, charge_of_nearest);
    }
    double numbers[4][W];
    using T = LaneTraits<V>;
    T::store(field, numbers[0]);
    T::store(potential, numbers[1]);
    T::store(nearest2, numbers[2]);
    T::store(charge_of_nearest, numbers[3]);
    for (int l = 0; l < count; ++l)
      sums((first + l) * segments + segment) = {numbers[0][l], numbers[1][l], numbers[2][l],
                                                numbers[3][l]};
  }
};

/// Those of so many targets, of parts (targets, segments).
inline std::vector<Magnitudes> sums_of_segments(std::vector<Magnitudes> const& parts,
                                                std::int64_t count, std::int64_t segments) {
  std::vector<Magnitudes> all(count);
  for (std::int64_t i = 0; i < count; ++i) {
    all[i] = parts[i * segments];
    for (std::int64_t s = 1; s < segments; ++s) {
      Magnitudes const& part = parts[i * segments + s];
      all[i].field += part.field;
      all[i].potential += part.potential;
      if (part.nearest2 < all[i].nearest2) {
        all[i].nearest2 = part.nearest2;
        all[i].charge_of_nearest = part.charge_of_nearest;
      }
    }
  }
  return all;
}

/// Those of the bodies numbered in `chosen` over all `bodies`, in double and in the kernel's units, lengths times
/// per_unit. They are there on return. Cost: as many times N pairs; memory for as long, on the host as well: 32 bytes
/// for each of the chosen ones, or for 2^17 packs of lanes.
template <class Space, class Kernel>
  requires(!IsChoice<Kernel>)
std::vector<Magnitudes> p2p_magnitudes(Space const& space, Kernel const& kernel, double per_unit,
                                       Array<Body<double>, Space> bodies,
                                       Array<BodyIndex, Space> chosen) {
  using Sum = SumMagnitudes<Space, Kernel>;
  constexpr std::int64_t least_bodies = 256, most_items = 1 << 17;
  const auto count = std::int64_t(chosen.extent(0)), packs = (count + Sum::W - 1) / Sum::W;
  if (count == 0) return {};
  const std::int64_t segments = std::clamp(std::int64_t(bodies.extent(0)) / least_bodies,
                                           std::int64_t(1), 1 + most_items / packs);
  Buffer<Magnitudes, Space> buffer("magnitudes");
  const auto sums = buffer.resize(count * segments);
  for_uneven("fmm::error::magnitudes", space, packs * segments, 1,
             Sum{kernel, per_unit, bodies, chosen, segments, sums});
  std::vector<Magnitudes> parts(count * segments);
  read_back(space, sums.data(), parts.data(), parts.size());
  return sums_of_segments(parts, count, segments);
}

}  // namespace fmm::kernels
