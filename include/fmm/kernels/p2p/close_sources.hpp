// SPDX-License-Identifier: BSD-3-Clause
// Close sources: in mixed precision, those of a tree's sources whose distances are wanted from coordinates
// in two parts.
//
// Coordinates in a chunk are counted from the targets' origin in the targets' unit: in float, differences
// are good to 2^-24 of that unit. In mixed precision coordinates have a low part besides, which makes
// differences good to 2^-47. That matters to close sources only, those in the targets' leaf and in a margin
// around it: a sixteenth of the edge, of the source's leaf if that is larger. Beyond it differences of high
// parts are good to 2^-20 of themselves; sums of a tolerance t have a margin of 2^-18 / t at most, beyond
// which they are good to t / 64. In double the numbers are 2^-53, 2^-106 and 2^-47 / t, and the margin is
// half an edge at most, as in float below t = 2^-19, of fields that cancel.
//
// Whether a source is close is seen once, as it is loaded: the main loop is float's, without the close
// ones. They are noted, and added at the end together with the targets' leaf, from two parts: a few
// hundredths of all pairs.
//
// On a GPU tiles may be summed in one part, which has no such sources to note, until one is met; then the tile
// is left to another launch (DoubleUnlessClose, MixedUnlessClose). There a pair is close if it is nearer than
// the margin, in double, or in mixed precision than 2^-22 / t, in the leaf, too: beyond that its field is good
// to t / 5. That does for L2 errors, of which no terms matter that are much larger than what errors are relative
// to at least; own errors have all of a leaf in two parts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "problem.hpp"

namespace fmm::kernels {

/// Edges of a leaf within which sources are close in mixed precision.
inline constexpr double largest_margin = 1.0 / 16;

/// Whether sums in two parts may be tried in one part first, and tiles with close sources be left to another launch: on
/// a GPU, where two parts take two fifths more time in double and a quarter in mixed precision, a try a thirtieth, and
/// few tiles have such sources.
template <class Space, class Precision>
inline constexpr bool may_leave_tiles = !is_host_space_v<Space> && two_part_v<Precision>;

/// How the near field is summed where coordinates are in two parts.
struct MixedSums {
  double margin = largest_margin;  ///< edges of a leaf within which sources are close
  double leaving = margin;  ///< edges within which a pair is close to a launch that leaves its tile
  /// Whether a thread adds its sums in float to those in double after 64 sources: on a CPU, not after a whole chunk; on
  /// a GPU after each chunk, which four threads share, and not after 512 sources. Where fields cancel, sums of many
  /// sources round by more than the field may err. It takes an eighth more time on a CPU.
  bool short_sums = false;
};
inline constexpr int sources_of_short_sums = 64;

/// The margin for sums in Real of a tolerance, if there is one. It may be larger for one that is a few roundings only:
/// in double, and in float of fields that cancel.
template <class Real>
double margin_for(std::optional<double> tolerance) {
  constexpr bool single = sizeof(Real) == 4;
  constexpr double rounding = single ? 0x1p-18 : 0x1p-47, few_roundings = 0x1p-19;
  if (!tolerance) return largest_margin;
  return std::min(rounding / *tolerance,
                  single && *tolerance > few_roundings ? largest_margin : 0.5);
}

/// That of MixedSums::leaving; 0 where so many tiles would be left that a try does not pay, without a tolerance, and
/// for short sums in float, which a try does not have.
template <class Real>
double leaving_for(std::optional<double> tolerance, bool short_sums) {
  if (sizeof(Real) == 8) return margin_for<Real>(tolerance);
  constexpr double rounding = 0x1p-22, most = 0.012;
  return tolerance && !short_sums && rounding / *tolerance <= most ? rounding / *tolerance : 0;
}

/// Bit l for source l of those at `s`: whether all its coordinates are smaller than `reach`. A close source becomes a
/// gap in `s`.
template <class V, int Numbers>
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t take_close(lane_scalar_t<V> reach,
                                                     SourcePack<V, Numbers>& s) {
  using Real = lane_scalar_t<V>;
  if constexpr (lane_count_v<V> == 1) {
    const bool close = std::fmax(std::fmax(std::fabs(s.x), std::fabs(s.y)), std::fabs(s.z)) < reach;
    if (close) s.x = far_away<Real>;
    if (close) s.q = 0;
    if constexpr (Numbers > 1)
      for (V& other : s.others)
        if (close) other = 0;
    return close;
  } else {
    const V x2 = s.x * s.x, y2 = s.y * s.y, z2 = s.z * s.z, xy2 = select(x2 > y2, x2, y2);
    const auto close = select(xy2 > z2, xy2, z2) < V(reach * reach);
    s.x = select(close, V(far_away<Real>), s.x);
    s.q = select(close, V(Real(0)), s.q);
    if constexpr (Numbers > 1)
      for (V& other : s.others) other = select(close, V(Real(0)), other);
    return bits_of(close);
  }
}

/// The next free place among the noted sources, for a team of so many threads.
template <int Team, class Real>
KOKKOS_FORCEINLINE_FUNCTION int next_close_place(WalkMemory<Real> const& memory) {
  if constexpr (Team == 1)
    return (*memory.close_count)++;
  else
    return Kokkos::atomic_fetch_add(memory.close_count, 1);
}

/// Where source i of those noted comes among them: threads note theirs in any order, sums want one.
template <int Team>
KOKKOS_FORCEINLINE_FUNCTION int place_among_close(CloseSource const* close, int noted, int i) {
  if constexpr (Team == 1) {
    return i;
  } else {
    int place = 0;
    for (int k = 0; k < noted; ++k) place += close[k].body < close[i].body;
    return place;
  }
}

/// Stores a body, but for its other strengths, at place `to` of a chunk in two parts, with `low` its coordinates' low
/// parts, on the way of `run` to the targets' leaf. What rounding leaves out of a coordinate's sum is found exactly
/// (Dekker): its shift is larger, or a multiple of the other summand's last bit.
template <class Real, class OwnChunk>
KOKKOS_FORCEINLINE_FUNCTION void store_in_two_parts(SourceRun<Real> const& run, Body<Real> b,
                                                    Body<Real> low, OwnChunk chunk, int to) {
  const Real x[3] = {b.x, b.y, b.z}, rest[3] = {low.x, low.y, low.z};
  Real high[3], left[3];
  FMM_UNROLL
  for (int d = 0; d < 3; ++d) {
    high[d] = x[d] * run.ratio + run.shift[d];
    left[d] = (x[d] * run.ratio - (high[d] - run.shift[d])) + rest[d] * run.ratio;
  }
  chunk.high.store(to, high[0], high[1], high[2], b.q);
  chunk.low.store(to, left[0], left[1], left[2], Real(0));
}

}  // namespace fmm::kernels
