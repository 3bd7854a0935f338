// SPDX-License-Identifier: BSD-3-Clause
// Shapes of teams and tiles, selected by execution space, precision and order.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "simd/simd.hpp"

namespace fmm {

/// A team of P2P.
struct P2PShape {
  int team;     ///< threads
  int split;    ///< of these, threads that share the same targets
  int targets;  ///< targets that a thread holds in registers at a time
  int tile;     ///< targets of the team; on a GPU team / split * targets
  int chunk;    ///< sources in scratch memory at a time
  /// Teams that a GPU's multiprocessor shall hold, which bounds a thread's registers; 0: as the compiler likes.
  int resident = 0;
};

/// A team of M2P.
struct M2PShape {
  int team;     ///< threads
  int split;    ///< of these, threads that share the same targets
  int targets;  ///< packs of targets that a thread evaluates a multipole for at a time
  int held;     ///< bytes of the largest multipole for which it does so; others one by one
  int chunk;    ///< multipoles in scratch memory at a time, at most
  int scratch;  ///< bytes that they may take there; more if there must be one for each share
};

/// What BatchedGemm holds at a time. Bytes in all: its matrices, 64 a sorted pair, a slab, 4 a pair without
/// a bucket, 12 a cell, and 2.6 MB for the classes of offsets.
struct GemmShape {
  std::int64_t least_pairs;   ///< that are worth a matrix
  std::int64_t matrix_bytes;  ///< of all matrices; the rarest classes go without
  std::int64_t sorted_pairs;  ///< that are sorted at a time, less than 2^31
  std::int64_t slab_bytes;    ///< gathered multipoles and their products: what a CPU's cache holds
};

/// Shapes of the teams that the operators run in, for one execution space and precision.
template <class Space, class Real>
struct Tuning {
  static constexpr bool host = detail::is_host_space_v<Space>;
  static constexpr bool single = sizeof(Real) == sizeof(float);
  /// Numbers side by side in a thread's registers.
  static constexpr int lanes = simd::lane_count_v<simd::Lanes<Space, Real>>;

  /// Threads of a team that share a tile of targets (P2P, M2P, L2P).
  static constexpr int tile_team = host ? 1 : 32;
  /// Targets of a tile, at most.
  static constexpr int tile = host ? 64 : 48;
  /// Threads of a team that sorts tiles by size; 0: they stay in the tree's order.
  static constexpr int tile_sorting_team = host ? 0 : 512;
  /// Whether a multiprocessor holds 20 teams of a warp with 512 sources each, as Hopper's does, and how many it
  /// holds to which the registers of float are then bounded; 0: so few that no bound is needed.
  static constexpr bool roomy = detail::multiprocessor_scratch >= 228 << 10;
  static constexpr int warps = detail::multiprocessor_scratch >= 164 << 10 ? 20 : 0;
  /// P2P between the leaves of a tree: many tiles, or so few that the longest list is what takes time.
  static constexpr auto near_field = [] {
    if constexpr (host)
      return std::array{P2PShape{1, 1, 4, tile, 1024}};
    else
      return std::array{P2PShape{32, 4, 6, tile, single && roomy ? 512 : 256, single ? warps : 0},
                        P2PShape{128, 16, 6, tile, 512}};
  }();
  /// Which of these for so many tiles in a space of that concurrency.
  static constexpr int near_field_shape(std::int64_t tiles, int concurrency) {
    return tiles * near_field[0].team < concurrency / 4 ? int(near_field.size()) - 1 : 0;
  }
  /// Entries of a list's row that a team of P2P, or of M2P, takes at least before rows are split into segments, on a
  /// GPU: a host's few threads finish together anyway.
  static constexpr int p2p_segment = 128, m2p_segment = 16;
  /// P2P between all bodies, by falling size of the tiles: a large tile loads a source less often, a
  /// small one gives more teams.
  static constexpr auto all_pairs = [] {
    if constexpr (host)
      return std::array{P2PShape{1, 1, 4, 64, 2048}};
    else
      return single ? std::array{P2PShape{128, 4, 3, 96, 1024}, P2PShape{128, 8, 3, 48, 1024},
                                 P2PShape{128, 16, 2, 16, 1024}}
                    : std::array{P2PShape{128, 1, 2, 256, 512}, P2PShape{128, 4, 2, 64, 512},
                                 P2PShape{128, 32, 2, 8, 512}};
  }();
  /// Which of these for so many targets in a space of that concurrency: the first whose teams have a
  /// quarter as many threads as can run at a time, or else the last. There is one for the host, so that
  /// sums do not depend on its number of threads.
  static constexpr int all_pairs_shape(std::int64_t targets, int concurrency) {
    int shape = 0;
    while (shape + 1 < int(all_pairs.size()) &&
           targets / all_pairs[shape].tile * all_pairs[shape].team < concurrency / 4)
      ++shape;
    return shape;
  }
  /// M2P at the bodies of a tile.
  static constexpr M2PShape far_field =
      host ? M2PShape{1, 1, 1, 0, 16, 16384} : M2PShape{32, 4, 4, 660, 32, 16384};

  /// Threads of a team that gather into one cell: its bodies (P2M), its list (M2L).
  static constexpr int gather_team = host ? 1 : 32;
  /// The same for M2M, whose items are at most eight children.
  static constexpr int m2m_team = host ? 1 : 8;
  /// Coefficients that such a team sums over its threads at a time.
  static constexpr int gather_slice = 32;
  /// M2L's teams that a multiprocessor shall hold, where fewer registers than the compiler takes pay; 0: as many
  /// as there is room for.
  static constexpr int m2l_resident(int order) {
    return host || single ? 0 : order == 2 ? 20 : order == 4 ? 12 : 0;
  }

  /// Densities that M2L translates together, where a thread does all of a translation in its registers. On an H200
  /// four take 0.80 of the time at order 3, and two 0.975 at order 4; at higher orders registers are too few.
  static constexpr int m2l_densities(int order) {
    if (!single) return 1;
    return order <= 3 ? 4 : order <= (host ? 6 : 4) ? 2 : 1;
  }

  /// Threads that translate two expansions by rotation together, each with a share of the degrees; 1: a
  /// thread translates one alone, in its registers on a GPU.
  static constexpr int translation_threads(int order) {
    return host || order <= (single ? 8 : 7) ? 1 : 4;
  }
  /// Teams of such threads that a multiprocessor shall hold, where each takes that much of its scratch
  /// memory (and 1 KiB of the system's).
  static constexpr int translation_teams(int scratch_bytes) {
    return std::clamp(detail::multiprocessor_scratch / (scratch_bytes + 1024), 1, single ? 8 : 6);
  }

  /// What a translation costs, and a multipole at a body, in pairs of P2P: roughly, as measured on an H200
  /// and on two cores of a Zen 5, for criteria that choose the cheapest operator. A body in a local expansion
  /// is what P2M costs on an H200: nearly the same work.
  static constexpr double pairs_per_m2l(int order) {
    const double cube = double(order + 1) * (order + 1) * (order + 1);
    return host ? 20 + 0.165 * cube : (12 + 0.17 * cube) * (single ? 1 : 2);
  }
  static constexpr double pairs_per_m2p(int order) {
    const double cube = double(order + 1) * (order + 2) * (order + 3);
    return host ? 2 + 0.034 * cube * (order <= 7 ? 1 : 3) : 2 + 0.05 * cube * (order <= 7 ? 1 : 4);
  }
  static constexpr double pairs_per_p2l(int order) {
    const int size = (order + 1) * (order + 1);
    return 0.85 * size * (host || size <= simd::register_coefficients ? 1 : 1.2);
  }

  /// How many times the work of lists by powers that of lists by radii, which take less time to make and have no M2P,
  /// may be: measured on an H200 and on two cores of a Xeon.
  static constexpr double most_work_by_radii(int order) {
    if (host) return single ? 1.25 : 1.15;
    return single ? 1.6 : order <= 5 ? 1.3 : 1.15;
  }

  /// M2L by BatchedGemm.
  static constexpr GemmShape gemm =
      host ? GemmShape{64, 1 << 28, 1 << 21, 1 << 22}
           : GemmShape{1024, 1 << 29, 1 << 23, std::int64_t(sizeof(Real)) << 28};

  /// Threads that walk the sources of one target cell together.
  static constexpr int list_team = host ? 1 : 32;

  /// Scratch level of what does not fit in a CPU's small level 0.
  static constexpr int scratch_level = detail::scratch_level_v<Space>;
  /// Bytes of scratch memory that a team may have at that level.
  static constexpr int team_scratch = host ? 16 << 20 : 48000;
  /// Bytes of scratch memory that the listings' form of M2L may fill with sources.
  static constexpr int m2l_scratch = host ? 65536 : 32768;

  /// Bodies a leaf of an adaptive tree may hold unless the options say.
  static constexpr int leaf_capacity(int order) {
    if (!host) return order <= 5 ? 64 : order <= 8 ? 96 : 128;
    return order <= 7 ? 72 : order <= 10 ? 96 : order <= 12 ? 120 : 160;
  }
  /// The same with a criterion that uses powers, whose lists cost a GPU more.
  static constexpr int leaf_capacity_by_power(int order) {
    return !host && single && order < 6 ? leaf_capacity(6) : leaf_capacity(order);
  }
};

}  // namespace fmm
