// SPDX-License-Identifier: BSD-3-Clause
// Precisions of a solver: float, double, or Mixed.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "detail/kokkos_compat.hpp"

namespace fmm {

/// Arithmetic in float, but what float would lose is kept: P2P's distances come from coordinates in two
/// parts (47 bits), so that close pairs err no more than others, and sums of sums are in double, both unless
/// Options::one_part says otherwise; for tolerances of L2 errors from 2e-5 on a GPU does without where no bodies
/// are close. Costs time in P2P (docs/design.md), and 32 bytes a body; for a tolerance 16 more, for a third part of
/// coordinates, of which near fields are summed in double where two parts round close pairs by too much.
struct Mixed {};

template <class T>
concept PrecisionPolicy =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, Mixed>;

template <class Precision>
struct PrecisionTraits {
  using real = Precision;  ///< of the arithmetic
  using sum = Precision;   ///< of a body's totals
  static constexpr bool two_part = false;
};
template <>
struct PrecisionTraits<Mixed> {
  using real = float;
  using sum = double;
  static constexpr bool two_part = true;
};

/// P2P of Mixed with coordinates in one part: as in float, but added to totals in double.
struct MixedInOnePart {};
template <>
struct PrecisionTraits<MixedInOnePart> {
  using real = float;
  using sum = double;
  static constexpr bool two_part = false;
};

/// P2P of double with coordinates in two parts (106 bits): of a tolerance, which close pairs are to keep, too.
struct DoubleInTwoParts {};
template <>
struct PrecisionTraits<DoubleInTwoParts> {
  using real = double;
  using sum = double;
  static constexpr bool two_part = true;
};

/// The same with coordinates in one part, of targets without close sources; the others are left to DoubleInTwoParts.
struct DoubleUnlessClose {};
template <>
struct PrecisionTraits<DoubleUnlessClose> {
  using real = double;
  using sum = double;
  static constexpr bool two_part = false;
};

/// As MixedInOnePart, of targets without close sources; the others are left to Mixed.
struct MixedUnlessClose {};
template <>
struct PrecisionTraits<MixedUnlessClose> : PrecisionTraits<MixedInOnePart> {};

template <class Precision>
using real_t = typename PrecisionTraits<Precision>::real;
template <class Precision>
using sum_t = typename PrecisionTraits<Precision>::sum;
template <class Precision>
inline constexpr bool two_part_v = PrecisionTraits<Precision>::two_part;

/// The precision of P2P in which a tolerance is held in close pairs, too: coordinates are in two parts.
template <class Precision>
using for_close_pairs_t =
    std::conditional_t<std::is_same_v<Precision, double>, DoubleInTwoParts, Precision>;
/// Whether P2P leaves tiles with close sources to another precision.
template <class Precision>
inline constexpr bool leaves_close_v =
    std::is_same_v<Precision, DoubleUnlessClose> || std::is_same_v<Precision, MixedUnlessClose>;
/// The precision that is tried first, and leaves tiles with close sources to this one.
template <class Precision>
using unless_close_t =
    std::conditional_t<std::is_same_v<Precision, Mixed>, MixedUnlessClose, DoubleUnlessClose>;
/// P2P of a precision with Options::one_part.
template <class Precision>
using in_one_part_t = std::conditional_t<
    std::is_same_v<Precision, Mixed>, MixedInOnePart,
    std::conditional_t<std::is_same_v<Precision, DoubleInTwoParts>, double, Precision>>;

/// A number as the sum of two floats, good to 2^-47 of it.
struct TwoFloats {
  float high, low;
};

/// The high part is x rounded to the bits that float has room for. (High as float(x) and low as x - double(high)
/// would do, but g++ 12 takes double(float(x)) for x where it vectorises the two.)
KOKKOS_INLINE_FUNCTION TwoFloats in_two_parts(double x) {
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof x);
  bits = (bits + (std::uint64_t(1) << 28)) & ~((std::uint64_t(1) << 29) - 1);
  double high;
  std::memcpy(&high, &bits, sizeof high);
  return {float(high), float(x - high)};
}

}  // namespace fmm
