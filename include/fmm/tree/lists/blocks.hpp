// SPDX-License-Identifier: BSD-3-Clause
// Tiles of targets for DirectSum: blocks of neighbours in Morton order, cut where a block jumps from one
// clump of bodies to another that is far away for its size. A tile's coordinates are counted from its
// first body, and stay exact enough for float.
#pragma once

#include <algorithm>
#include <cmath>

#include "../../detail/memory.hpp"
#include "../../detail/scan.hpp"
#include "../../detail/search.hpp"
#include "../keys/morton.hpp"

namespace fmm::tree {

/// Levels by which a part must be smaller than the block to be worth a tile of its own: 2^6 in length.
inline constexpr int clump_levels = 6;

template <class Space>
struct CutBlock {
  Array<std::uint64_t, Space> keys;
  int block;

  /// The level of the smallest cell that holds bodies i and j: leading octal digits that agree.
  KOKKOS_FUNCTION int common_level(std::int64_t i, std::int64_t j) const {
    std::uint64_t difference = keys(i) ^ keys(j);
    int level = max_tree_depth;
    for (; difference != 0; difference >>= 3) --level;
    return level;
  }

  KOKKOS_FUNCTION bool is_clump(std::int64_t begin, std::int64_t end, int level) const {
    return end - begin > 1 && common_level(begin, end - 1) >= level + clump_levels;
  }

  /// The first body in (begin, end) that is in another child of their common cell than `begin`.
  KOKKOS_FUNCTION std::int64_t next_jump(std::int64_t begin, std::int64_t end, int level) const {
    if (level == max_tree_depth) return end;
    const int shift = 3 * (max_tree_depth - 1 - level);
    const std::uint64_t child = keys(begin) >> shift;
    return first_not(begin + 1, end,
                     [&](std::int64_t body) { return keys(body) >> shift == child; });
  }

  /// Calls emit(begin, end) for the tiles of block number i.
  template <class Emit>
  KOKKOS_FUNCTION void cut(std::int64_t i, Emit const& emit) const {
    const std::int64_t n = std::int64_t(keys.extent(0)), last = (i + 1) * block;
    cut(i * block, last < n ? last : n, emit);
  }
  /// The same for bodies begin .. block_end - 1.
  template <class Emit>
  KOKKOS_FUNCTION void cut(std::int64_t begin, std::int64_t block_end, Emit const& emit) const {
    while (begin < block_end) {
      std::int64_t end = block_end;
      while (end - begin > 1) {
        const int level = common_level(begin, end - 1);
        const std::int64_t jump = next_jump(begin, end, level);
        if (jump == end) break;  // all at one point
        if (!is_clump(begin, jump, level) && !is_clump(jump, next_jump(jump, end, level), level))
          break;
        end = jump;
      }
      emit(begin, end);
      begin = end;
    }
  }
};

/// Tiles one after the other.
struct TileWriter {
  Tile* to;  ///< nowhere, if they are only counted
  Offset* count;
  CellIndex cell = -1;
  KOKKOS_FUNCTION void operator()(std::int64_t begin, std::int64_t end) const {
    if (to) to[*count] = {cell, BodyIndex(begin), BodyIndex(end - begin)};
    ++*count;
  }
};

/// The tiles of all blocks, and how many they are.
template <class Space>
struct WriteBlockTiles {
  CutBlock<Space> blocks;
  std::int64_t count;  ///< of blocks
  Array<Tile, Space> tiles;
  Array<Offset, Space> tile_count;

  KOKKOS_FUNCTION void operator()(std::int64_t i, Offset& before, bool final) const {
    Offset written = 0;
    blocks.cut(i, TileWriter{final ? tiles.data() + before : nullptr, &written});
    before += written;
    if (final && i == count - 1) tile_count(0) = before;
  }
};

/// Tiles of at most `block` bodies over sorted `keys`. Cost: O(N / block log block), and that for every
/// tile more than a block; one host synchronisation.
template <class Space>
Array<Tile, Space> block_tiles(Space const& space, Array<std::uint64_t, Space> keys, int block,
                               Buffer<Tile, Space>& tiles, Buffer<Offset, Space>& totals) {
  const std::int64_t n = keys.extent(0), blocks = (n + block - 1) / block;
  const auto total = totals.resize(1);
  scan<Offset>("fmm::tree::tiles", space, blocks,
               WriteBlockTiles<Space>{{keys, block}, blocks, tiles.resize(n), total});
  return tiles.view(read_back(space, total.data()));
}

/// How many blocks a set of a batch has.
template <class Space>
struct CountBatchBlocks {
  Array<BodyIndex, Space> offsets;
  int block;
  Array<Offset, Space> begins;  ///< of each set's blocks, and the end

  KOKKOS_FUNCTION void operator()(std::int64_t set, Offset& before, bool final) const {
    if (final) begins(set) = before;
    if (set + 1 < std::int64_t(offsets.extent(0)))
      before += (offsets(set + 1) - offsets(set) + block - 1) / block;
  }
};

/// The tiles of a batch, each of its set alone, and how many they are. The blocks of a set are as even as can be.
template <class Space>
struct WriteBatchTiles {
  CutBlock<Space> blocks;
  Array<BodyIndex, Space> offsets;
  Array<Offset, Space> begins;
  std::int64_t most;  ///< blocks
  Array<Tile, Space> tiles;
  Array<Offset, Space> tile_count;

  KOKKOS_FUNCTION void operator()(std::int64_t i, Offset& before, bool final) const {
    const auto sets = std::int64_t(offsets.extent(0)) - 1;
    if (i < begins(sets)) {
      const auto set =
          first_not(std::int64_t(0), sets, [&](std::int64_t s) { return begins(s + 1) <= i; });
      const std::int64_t begin = offsets(set), size = offsets(set + 1) - begin,
                         count = begins(set + 1) - begins(set), t = i - begins(set);
      Offset written = 0;
      blocks.cut(begin + size * t / count, begin + size * (t + 1) / count,
                 TileWriter{final ? tiles.data() + before : nullptr, &written, CellIndex(set)});
      before += written;
    }
    if (final && i == most - 1) tile_count(0) = before;
  }
};

/// Tiles of at most `block` bodies of one set of a batch, over keys that are sorted set by set. As block_tiles.
template <class Space>
Array<Tile, Space> batch_tiles(Space const& space, Array<std::uint64_t, Space> keys,
                               Array<BodyIndex, Space> offsets, int block,
                               Buffer<Tile, Space>& tiles, Buffer<Offset, Space>& totals,
                               Buffer<Offset, Space>& begins) {
  const std::int64_t n = keys.extent(0), sets = std::int64_t(offsets.extent(0)) - 1,
                     most = n / block + std::min(n, sets);
  const auto total = totals.resize(1);
  const auto begin_of_sets = begins.resize(sets + 1);
  scan<Offset>("fmm::tree::blocks", space, sets + 1,
               CountBatchBlocks<Space>{offsets, block, begin_of_sets});
  scan<Offset>(
      "fmm::tree::tiles", space, most,
      WriteBatchTiles<Space>{{keys, block}, offsets, begin_of_sets, most, tiles.resize(n), total});
  return tiles.view(read_back(space, total.data()));
}

/// Every so many of the tiles.
template <class Space>
struct SampleTiles {
  Array<Tile, Space> tiles, sample;
  Array<int, Space> counts = {};  ///< of their bodies; may be empty

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto all = std::int64_t(tiles.extent(0)), some = std::int64_t(sample.extent(0));
    sample(i) = tiles(i * all / some);
    if (counts.extent(0) > 0) counts(i) = sample(i).count;
  }
};

/// The caller's numbers of the tiles' bodies.
template <class Space>
struct NumberSample {
  Array<Tile, Space> sample;
  Array<Offset, Space> offsets;
  Array<BodyIndex, Space> permutation, numbers;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Tile tile = sample(i);
    for (int k = 0; k < tile.count; ++k) numbers(offsets(i) + k) = permutation(tile.first + k);
  }
};

/// Tiles evenly spread over all of `tiles`, and the bodies in them.
template <class Space>
struct TileSample {
  Buffer<Tile, Space> tile_buffer{"sampled tiles"};
  Array<Tile, Space> tiles;
  Kokkos::View<BodyIndex*, Device<Space>> bodies;  ///< the caller's numbers

  /// Tiles that hold about `wanted` of the bodies in `permutation`, one at least.
  TileSample(Space const& space, Array<Tile, Space> all, Array<BodyIndex, Space> permutation,
             std::int64_t wanted) {
    const auto n = double(permutation.extent(0)), count = double(all.extent(0));
    const auto some = std::int64_t(std::ceil(double(wanted) * count / n));
    tiles = tile_buffer.resize(std::clamp<std::int64_t>(some, 1, all.extent(0)));
    Buffer<int, Space> count_buffer("sampled tiles' counts");
    Buffer<Offset, Space> offset_buffer("sampled tiles' offsets");
    const auto counts = count_buffer.resize(tiles.extent(0));
    const auto offsets = offset_buffer.resize(tiles.extent(0) + 1);
    for_range("fmm::sample::tiles", space, tiles.extent(0), SampleTiles<Space>{all, tiles, counts});
    exclusive_scan(space, counts, offsets);
    bodies = Kokkos::View<BodyIndex*, Device<Space>>(
        "fmm::sample", std::size_t(read_back(space, offsets.data() + tiles.extent(0))));
    for_range("fmm::sample::bodies", space, tiles.extent(0),
              NumberSample<Space>{tiles, offsets, permutation,
                                  Array<BodyIndex, Space>(bodies.data(), bodies.size())});
    space.fence();  // the offsets go now
  }
};

}  // namespace fmm::tree
