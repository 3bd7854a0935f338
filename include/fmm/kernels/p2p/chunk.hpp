// SPDX-License-Identifier: BSD-3-Clause
// Sources in chunks: how the tile kernel of P2P keeps some sources of a tile in the team's scratch memory,
// and how a thread reads them (Yokota & Barba 2011, listing 9.1).
//
// On a CPU W sources go into the lanes of a vector together; on a GPU W = 1. Coordinates are counted from
// the targets' origin in the targets' unit. In mixed precision a chunk may have a second array, for the low
// parts of the coordinates.
//
// Invariant: a place of a chunk that no source fills has a charge of 0 and lies `far_away`, so that it adds
// nothing to any sum and never coincides with a target.
#pragma once

#include "../../cells/cell.hpp"
#include "../../simd/simd.hpp"

namespace fmm::kernels {

/// Each coordinate of an uncharged source that fills a gap in a chunk.
template <class Real>
inline constexpr Real far_away = Real(1e3);

/// W sources, one a lane.
template <class V>
struct Sources {
  V x, y, z, q;
};

/// W bodies, or `count` of them if these are fewer, one a lane.
template <class V, class Real>
KOKKOS_FORCEINLINE_FUNCTION Sources<V> load_bodies(Body<Real> const* from, int count) {
  if constexpr (lane_count_v<V> == 1) {
    const Body<Real> b = *from;
    return {b.x, b.y, b.z, b.q};
  } else {
    constexpr int W = lane_count_v<V>;
    Body<Real> rest[W] = {};
    if (count < W) {
      FMM_ROLLED
      for (int i = 0; i < count; ++i) rest[i] = from[i];
      from = rest;
    }
    V v[4];
    for (int k = 0; k < 4; ++k)
      v[k] = LaneTraits<V>::load(reinterpret_cast<Real const*>(from) + k * W);
    transpose_rows(v);
    return {v[0], v[1], v[2], v[3]};
  }
}

/// Room for at most `Capacity` sources in scratch memory: bodies on a GPU; on a CPU all x, all y, all z, all q,
/// with room for W more behind each.
template <class V, int Capacity>
struct SourceChunk {
  using Real = lane_scalar_t<V>;
  static constexpr int W = lane_count_v<V>;
  static constexpr int row = Capacity + (W > 1 ? W : 0), size = 4 * row;  ///< numbers
  Real* data;

  KOKKOS_FORCEINLINE_FUNCTION void store(int j, Real x, Real y, Real z, Real q) const {
    if constexpr (W == 1) {  // one wide store
      reinterpret_cast<Body<Real>*>(data)[j] = {x, y, z, q};
    } else {
      data[j] = x;
      data[row + j] = y;
      data[2 * row + j] = z;
      data[3 * row + j] = q;
    }
  }
  /// W sources, j and those that follow it.
  KOKKOS_FORCEINLINE_FUNCTION void store(int j, Sources<V> const& s) const {
    if constexpr (W == 1) {
      store(j, s.x, s.y, s.z, s.q);
    } else {
      using T = LaneTraits<V>;
      T::store(s.x, data + j);
      T::store(s.y, data + row + j);
      T::store(s.z, data + 2 * row + j);
      T::store(s.q, data + 3 * row + j);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION Sources<V> load(int block) const {
    if constexpr (W == 1) {
      const Body<Real> b = reinterpret_cast<Body<Real> const*>(data)[block];
      return {b.x, b.y, b.z, b.q};
    } else {
      Real const* const at = data + block * W;
      using T = LaneTraits<V>;
      return {T::load(at), T::load(at + row), T::load(at + 2 * row), T::load(at + 3 * row)};
    }
  }
};

/// A chunk, and with two parts a second one for the low parts, where charges mean nothing.
template <class V, int Capacity, bool TwoPart>
struct Chunk {
  static constexpr bool two_part = TwoPart;
  static constexpr int capacity = Capacity;
  static constexpr int numbers = (TwoPart ? 2 : 1) * SourceChunk<V, Capacity>::size;
  SourceChunk<V, Capacity> high, low;

  KOKKOS_FORCEINLINE_FUNCTION explicit Chunk(lane_scalar_t<V>* data)
      : high{data}, low{data + (TwoPart ? SourceChunk<V, Capacity>::size : 0)} {}
};

/// Block number `block` of a chunk, W sources, and with two parts their low parts.
template <class V, bool TwoPart>
struct TwoPartSources {
  Sources<V> high, low;

  template <int Capacity>
  KOKKOS_FORCEINLINE_FUNCTION TwoPartSources(Chunk<V, Capacity, TwoPart> const& chunk, int block)
      : high(chunk.high.load(block)) {
    if constexpr (TwoPart) low = chunk.low.load(block);
  }
};

}  // namespace fmm::kernels
