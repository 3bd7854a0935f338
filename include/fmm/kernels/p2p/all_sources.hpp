// SPDX-License-Identifier: BSD-3-Clause
// All bodies as the sources of a problem of P2P (problem.hpp), without a tree: all pairs of one set or of two, or
// chosen targets among the bodies.
//
// Positions are double, in the caller's unit. In float a tile's coordinates are counted from its first
// target before they are rounded; in double differences are taken as they are.
#pragma once

#include "../../cells/sets.hpp"
#include "tile_sums.hpp"

namespace fmm::kernels {

/// All pairs of bodies, or of chosen targets with all bodies, from double coordinates. In float a tile's
/// coordinates are counted from its first target before they are rounded. `per_unit` is a power of two,
/// so that scaling is exact. `Contiguous`: of all bodies, tile by tile; else of chosen ones. `Bodies`: of one set, or
/// TwoSets of them (cells/sets.hpp): then the targets' tiles with all sources, none of which is the target itself.
template <class Space, class Kernel, class Precision, P2PShape Shape, class Out,
          bool Contiguous = true, class Strengths = Charges<>,
          class Bodies = Array<Body<double>, Space>>
struct AllSources {
  using precision = Precision;
  using Real = real_t<Precision>;
  using Sum = sum_t<Precision>;
  using kernel = Kernel;
  using strengths = Strengths;
  using outputs = Out;
  using V = Lanes<Space, Real>;
  static constexpr P2PShape shape = Shape;
  static constexpr bool only_own = !Contiguous;  ///< scattered targets: see own_count
  static constexpr bool one_set = is_one_set_v<Bodies>;
  static_assert(one_set || Contiguous);
  static constexpr bool two_part = two_part_v<Precision>;
  /// Of other sources and of own ones.
  using AnyChunk = Chunk<V, shape.chunk, two_part, Strengths::numbers>;
  struct Frame {
    std::int64_t tile_begin;  ///< in `targets`, or else in `bodies`
    double origin[3];
    int count;
    Kernel pair;
    Real potential_unit, field_unit;
  };
  struct Cursor {
    BodyIndex body;
  };
  static constexpr bool long_sums = true;
  static constexpr int runs = 0, close_room = 0;

  Bodies bodies;
  Array<Tile, Space> tiles;         ///< of all bodies, of two sets of the targets, if `contiguous`
  Array<BodyIndex, Space> targets;  ///< the targets' bodies, if not
  Array<Sums<Sum>, Space> sums;
  Kernel kernel_of_unit;
  double per_unit;
  Array<double, Space> others = {};  ///< SourceStrengths::others of the bodies
  /// As a constant it has nvcc allot other registers: on an H200 10^4 bodies in Mixed took 11 % longer.
  bool contiguous = Contiguous;

  KOKKOS_FUNCTION BodyIndex body_of(Frame const& f, int i) const {
    return contiguous ? BodyIndex(f.tile_begin + i) : targets(f.tile_begin + i);
  }
  KOKKOS_FUNCTION Frame frame(int index) const {
    constexpr int tile = shape.tile;
    Frame f{std::int64_t(index) * tile, {}, tile, kernel_of_unit, Real(1), Real(1)};
    if (contiguous) {
      f.tile_begin = tiles(index).first;
      f.count = tiles(index).count;
    } else {
      const std::int64_t left = std::int64_t(targets.extent(0)) - f.tile_begin;
      if (left < tile) f.count = int(left);
    }
    if constexpr (std::is_same_v<Real, float>) {  // double takes differences as they are
      const Body<double> b = targets_of(bodies)(body_of(f, 0));
      f.origin[0] = b.x;
      f.origin[1] = b.y;
      f.origin[2] = b.z;
    }
    return f;
  }
  KOKKOS_FUNCTION void target(Frame const& f, int i, Place<Real, two_part>& place) const {
    place = place_of(f, targets_of(bodies)(body_of(f, i)));
  }
  KOKKOS_FUNCTION Cursor begin(Frame const&) const {
    return {contiguous ? BodyIndex(0) : BodyIndex(sources_of(bodies).extent(0))};
  }
  KOKKOS_FUNCTION int load(TeamMember<Space> const& team, Frame const& f, Cursor& at,
                           WalkMemory<Real> const&, AnyChunk chunk) const {
    return load_until(std::int64_t(sources_of(bodies).extent(0)), team, f, at, chunk);
  }
  /// The same of sources before `end`.
  KOKKOS_FORCEINLINE_FUNCTION int load_until(std::int64_t end, TeamMember<Space> const& team,
                                             Frame const& f, Cursor& at, AnyChunk chunk) const {
    constexpr int capacity = AnyChunk::capacity;
    if constexpr (one_set) {
      if (contiguous && at.body == f.tile_begin) at.body += f.count;
      if (contiguous && at.body < f.tile_begin) end = f.tile_begin;
    }
    const int take = int(end - at.body < capacity ? end - at.body : capacity);
    copy(team, f, at.body, take, chunk);
    at.body += take;
    return take;
  }
  /// Scattered targets may be anywhere among the sources: all of these count as own.
  KOKKOS_FUNCTION int own_count(Frame const& f) const {
    if constexpr (!one_set) return 0;
    return contiguous ? f.count : int(sources_of(bodies).extent(0));
  }
  KOKKOS_FUNCTION int own_index(Frame const& f, int i) const {
    if constexpr (!one_set) return -1;
    return contiguous ? i : int(body_of(f, i));
  }
  KOKKOS_FUNCTION int load_own(TeamMember<Space> const& team, Frame const& f,
                               WalkMemory<Real> const&, int, int begin, AnyChunk chunk) const {
    constexpr int capacity = AnyChunk::capacity;
    const int left = own_count(f) - begin, take = left < capacity ? left : capacity;
    copy(team, f, BodyIndex(contiguous ? f.tile_begin + begin : begin), take, chunk);
    return take;
  }
  KOKKOS_FUNCTION void store(Frame const& f, int i, int record, Sums<Sum> const& value) const {
    sums((f.tile_begin + i) * Out::records + record) = value;
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION double number(std::int64_t i, int k) const {
    return SourceStrengths<Space, double, Strengths>{sources_of(bodies), others}.number_in(
        i, k, per_unit);
  }
  KOKKOS_FUNCTION Place<Real, two_part> place_of(Frame const& f, Body<double> const& b) const {
    const double x[3] = {(b.x - f.origin[0]) * per_unit, (b.y - f.origin[1]) * per_unit,
                         (b.z - f.origin[2]) * per_unit};
    if constexpr (two_part) {
      const TwoFloats parts[3] = {in_two_parts(x[0]), in_two_parts(x[1]), in_two_parts(x[2])};
      return {{parts[0].high, parts[1].high, parts[2].high},
              {parts[0].low, parts[1].low, parts[2].low}};
    } else {
      return {{Real(x[0]), Real(x[1]), Real(x[2])}};
    }
  }
  KOKKOS_FUNCTION void copy(TeamMember<Space> const& team, Frame const& f, BodyIndex first,
                            int count, AnyChunk chunk) const {
    constexpr int batch = is_host_space_v<Space> ? 1 : 2;  // loads that a thread waits for together
    const int step = team.team_size();
    for (int begin = team.team_rank(); begin < count; begin += batch * step) {
      Body<double> b[batch];
      FMM_UNROLL
      for (int k = 0; k < batch; ++k)
        if (begin + k * step < count) b[k] = sources_of(bodies)(first + begin + k * step);
      FMM_UNROLL
      for (int k = 0; k < batch; ++k)
        if (begin + k * step < count) {
          const auto at = place_of(f, b[k]);
          chunk.high.store(begin + k * step, at.x[0], at.x[1], at.x[2], Real(b[k].q));
          for (int n = 1; n < Strengths::numbers; ++n)
            chunk.high.store_strength(begin + k * step, n,
                                      Real(number(first + begin + k * step, n)));
          if constexpr (two_part)
            chunk.low.store(begin + k * step, at.low[0], at.low[1], at.low[2], Real(0));
        }
    }
  }
};

}  // namespace fmm::kernels
