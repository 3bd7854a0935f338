// SPDX-License-Identifier: BSD-3-Clause
// How two cells lie to each other, as far as the matrix knows that translates a multipole of one into a
// local expansion of the other.
//
// It depends on the difference of the cells' levels and on the offset of their centres in edges of the
// smaller cell, and on nothing else but a factor 1 / edge: expansions are scaled with the edges of their
// cells. A reflection of an axis only changes signs of coefficients (docs/math.md), so offsets that are
// equal but for their signs are of one class: the 316 offsets of the classic lists are 56.
#pragma once

#include "geometry.hpp"

namespace fmm {

/// Level difference and offset, up to the signs of the latter, as one number; -1 if there is none.
struct OffsetClass {
  static constexpr int levels = 2;  ///< largest difference
  static constexpr int reach = 32;  ///< offsets are below this, in half edges of the smaller cell
  static constexpr int count = (2 * levels + 1) * reach * reach * reach;

  int number;

  KOKKOS_INLINE_FUNCTION static OffsetClass of(Cell const& target, Cell const& source) {
    const int difference = source.level - target.level;
    if (difference < -levels || difference > levels) return {-1};
    const int smaller = (difference > 0 ? source : target).level;
    int number = difference + levels;
    for (int d = 0; d < 3; ++d) {
      const std::int32_t x = offset(target, source, d), apart = half_edges(x < 0 ? -x : x, smaller);
      if (apart >= reach) return {-1};
      number = number * reach + apart;
    }
    return {number};
  }

  /// Bit d is set where the target's centre is on the negative side of axis d.
  KOKKOS_INLINE_FUNCTION static int reflection(Cell const& target, Cell const& source) {
    int bits = 0;
    for (int d = 0; d < 3; ++d) bits |= (offset(target, source, d) < 0) << d;
    return bits;
  }

  /// The target's centre from the source's, and the edges of both, in edges of the smaller cell.
  struct Geometry {
    double offset[3], source_edge, target_edge;
  };
  KOKKOS_INLINE_FUNCTION Geometry geometry() const {
    const int difference = number / (reach * reach * reach) - levels;
    return {{0.5 * (number / (reach * reach) % reach), 0.5 * (number / reach % reach),
             0.5 * (number % reach)},
            difference < 0 ? double(1 << -difference) : 1.0,
            difference > 0 ? double(1 << difference) : 1.0};
  }
};

/// Two cells of a list, and what a translation by a matrix needs to know of them.
struct CellPair {
  CellIndex target, source;
  std::int16_t reflection;  ///< of the offset: bit d for axis d
  std::int16_t level;       ///< of the smaller cell

  CellPair() = default;
  KOKKOS_INLINE_FUNCTION CellPair(CellIndex target_index, Cell const& target_cell,
                                  CellIndex source_index, Cell const& source_cell)
      : target(target_index),
        source(source_index),
        reflection(std::int16_t(OffsetClass::reflection(target_cell, source_cell))),
        level(target_cell.level > source_cell.level ? target_cell.level : source_cell.level) {}
};

/// A row of translated multipoles (one of a slab of them), to be added to the local expansion of a target.
struct Addend {
  static constexpr std::int64_t rows_most = std::int64_t(1) << 29;  ///< of a slab

  CellIndex target;
  std::uint32_t row_and_reflection;

  Addend() = default;
  KOKKOS_INLINE_FUNCTION Addend(CellPair const& pair, std::uint32_t row)
      : target(pair.target), row_and_reflection(row << 3 | std::uint32_t(pair.reflection)) {}
  KOKKOS_INLINE_FUNCTION std::int64_t row() const { return row_and_reflection >> 3; }
  KOKKOS_INLINE_FUNCTION int reflection() const { return int(row_and_reflection & 7); }
};

}  // namespace fmm
