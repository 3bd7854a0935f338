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

#include "../strengths.hpp"

namespace fmm::kernels {

/// Each coordinate of an uncharged source that fills a gap in a chunk.
template <class Real>
inline constexpr Real far_away = Real(1e3);

/// W sources of so many strengths, one a lane.
template <class V, int Numbers = 1>
struct SourcePack {
  V x, y, z, q;
  V others[Numbers - 1] = {};

  KOKKOS_FORCEINLINE_FUNCTION V strength(int k) const { return k == 0 ? q : others[k - 1]; }
};
template <class V>
struct SourcePack<V, 1> {
  V x, y, z, q;

  KOKKOS_FORCEINLINE_FUNCTION V strength(int) const { return q; }
};

/// W bodies, or `count` of them if these are fewer, one a lane.
template <class V, class Real>
KOKKOS_FORCEINLINE_FUNCTION SourcePack<V> load_bodies(Body<Real> const* from, int count) {
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

/// The other strengths of W bodies from number `first` on, or of `count` of them, where so many units of length are one
/// of the strengths'.
template <class Arrays, class V, int Numbers>
KOKKOS_FORCEINLINE_FUNCTION void load_others([[maybe_unused]] Arrays const& arrays,
                                             [[maybe_unused]] std::int64_t first,
                                             [[maybe_unused]] int count,
                                             [[maybe_unused]] lane_scalar_t<V> per_length,
                                             [[maybe_unused]] SourcePack<V, Numbers>& sources) {
  constexpr int W = lane_count_v<V>;
  if constexpr (Numbers > 1) FMM_UNROLL
  for (int k = 1; k < Numbers; ++k) {
    lane_scalar_t<V> const* from = &arrays.other(first, k);
    lane_scalar_t<V> rest[W] = {};
    if (count < W) {
      FMM_ROLLED
      for (int l = 0; l < count; ++l) rest[l] = from[l];
      from = rest;
    }
    V& number = sources.others[k - 1];
    number = LaneTraits<V>::load(from);
    if constexpr (Arrays::strengths::has_dipoles)
      if (Arrays::strengths::is_dipole(k)) number *= V(per_length);
  }
}

/// Room for at most `Capacity` sources in scratch memory: on a GPU bodies and, behind them, their other strengths, all
/// of a number together; on a CPU all x, all y, all z, all q, and so on, with room for W more behind each.
template <class V, int Capacity, int Numbers = 1>
struct SourceChunk {
  using Real = lane_scalar_t<V>;
  static constexpr int W = lane_count_v<V>;
  static constexpr int row = Capacity + (W > 1 ? W : 0), size = (3 + Numbers) * row;  ///< numbers
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
  /// Strength k of source j, of the others.
  KOKKOS_FORCEINLINE_FUNCTION void store_strength(int j, int k, Real value) const {
    data[(3 + k) * row + j] = value;
  }
  /// W sources, j and those that follow it.
  KOKKOS_FORCEINLINE_FUNCTION void store(int j, SourcePack<V, Numbers> const& s) const {
    using T = LaneTraits<V>;
    if constexpr (W == 1) {
      store(j, s.x, s.y, s.z, s.q);
    } else {
      T::store(s.x, data + j);
      T::store(s.y, data + row + j);
      T::store(s.z, data + 2 * row + j);
      T::store(s.q, data + 3 * row + j);
    }
    FMM_UNROLL
    for (int k = 1; k < Numbers; ++k) T::store(s.strength(k), data + (3 + k) * row + j);
  }
  KOKKOS_FORCEINLINE_FUNCTION SourcePack<V, Numbers> load(int block) const {
    using T = LaneTraits<V>;
    Real const* const at = data + block * W;
    SourcePack<V, Numbers> s;
    if constexpr (W == 1) {
      const Body<Real> b = reinterpret_cast<Body<Real> const*>(data)[block];
      s.x = b.x;
      s.y = b.y;
      s.z = b.z;
      s.q = b.q;
    } else {
      s.x = T::load(at);
      s.y = T::load(at + row);
      s.z = T::load(at + 2 * row);
      s.q = T::load(at + 3 * row);
    }
    if constexpr (Numbers > 1) FMM_UNROLL
    for (int k = 1; k < Numbers; ++k) s.others[k - 1] = T::load(at + (3 + k) * row);
    return s;
  }
};

/// A chunk, and with two parts a second one for the low parts, where charges mean nothing.
template <class V, int Capacity, bool TwoPart, int Numbers = 1>
struct Chunk {
  static constexpr bool two_part = TwoPart;
  static constexpr int capacity = Capacity, strengths = Numbers;
  using High = SourceChunk<V, Capacity, Numbers>;
  using Low = SourceChunk<V, Capacity>;
  static constexpr int numbers = High::size + (TwoPart ? Low::size : 0);
  High high;
  Low low;

  KOKKOS_FORCEINLINE_FUNCTION explicit Chunk(lane_scalar_t<V>* data)
      : high{data}, low{data + (TwoPart ? High::size : 0)} {}
};

/// Block number `block` of a chunk, W sources, and with two parts their low parts.
template <class V, bool TwoPart, int Numbers = 1>
struct TwoPartSources {
  SourcePack<V, Numbers> high;
  SourcePack<V> low;

  template <int Capacity>
  KOKKOS_FORCEINLINE_FUNCTION TwoPartSources(Chunk<V, Capacity, TwoPart, Numbers> const& chunk,
                                             int block)
      : high(chunk.high.load(block)) {
    if constexpr (TwoPart) low = chunk.low.load(block);
  }
};

}  // namespace fmm::kernels
