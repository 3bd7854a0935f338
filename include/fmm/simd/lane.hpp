// SPDX-License-Identifier: BSD-3-Clause
// One lane: what device code calls on a number, in the place of intrinsics, and how its loops are unrolled. The same
// functions take packs (pack.hpp).
//
// Intrinsics are in this room only: each has a portable twin beside it.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "../detail/launch.hpp"
#include "intrinsics.hpp"

// Before a loop, in device code: FMM_UNROLL unrolls it whole, once its bounds are known, which those of an
// inner loop may be after the outer one was unrolled; FMM_UNROLL_BY(n) unrolls it n times. FMM_UNROLL_TOO is
// FMM_UNROLL that holds on a CPU, too, for loops of up to 14 passes: translations of orders to 8 are three
// times as fast, and code of large orders stays small. g++ wants the loops' ends in variables; clang decides for
// itself. FMM_ROLLED keeps a CPU's loop as it is.
#define FMM_DETAIL_STRING(x) #x
#if defined(__CUDA_ARCH__)
#define FMM_UNROLL _Pragma("unroll")
#define FMM_UNROLL_BY(n) _Pragma(FMM_DETAIL_STRING(unroll n))
#define FMM_UNROLL_TOO FMM_UNROLL
#define FMM_ROLLED
#else
#define FMM_UNROLL
#define FMM_UNROLL_BY(n)
#if !FMM_HAS_PACK
#define FMM_UNROLL_TOO
#define FMM_ROLLED
#elif defined(__clang__)
#define FMM_UNROLL_TOO
#define FMM_ROLLED _Pragma("clang loop unroll(disable)")
#else
#define FMM_UNROLL_TOO _Pragma("GCC unroll 14")
#define FMM_ROLLED _Pragma("GCC unroll 1")
#endif
#endif

namespace fmm::simd {

/// Expansions of up to this many numbers are held in a device thread's registers, which takes loops that
/// are unrolled whole.
inline constexpr int register_coefficients = 81;

/// `end`, a constant, as the end of a loop over an expansion of `Size` numbers; hidden from the device
/// compiler where they do not fit into registers, so that FMM_UNROLL leaves the loop alone.
template <int Size>
KOKKOS_FORCEINLINE_FUNCTION int loop_end(int end) {
#if defined(__CUDA_ARCH__)
  if constexpr (Size > register_coefficients) asm("mov.u32 %0, %1;" : "=r"(end) : "r"(end));
#endif
  return end;
}

template <class F, int... i>
KOKKOS_FORCEINLINE_FUNCTION void for_constants(F const& f, std::integer_sequence<int, i...>) {
  (f(std::integral_constant<int, i>()), ...);
}
/// f(integral_constant 0) .. f(integral_constant Count - 1)
template <int Count, class F>
KOKKOS_FORCEINLINE_FUNCTION void for_constants(F const& f) {
  for_constants(f, std::make_integer_sequence<int, Count>());
}

// ---- one lane ------------------------------------------------------------------------------------

KOKKOS_INLINE_FUNCTION float rsqrt(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));  // 2 ulp; flush to zero saves 4 slots
  return y;
#else
  return 1.0f / std::sqrt(x);
#endif
}

KOKKOS_INLINE_FUNCTION double rsqrt(double x) {
#if defined(__CUDA_ARCH__)
  return ::rsqrt(x);
#else
  return 1.0 / std::sqrt(x);
#endif
}

/// A number that is not worth a place in a GPU's first cache.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T load_once(T const* from) {
#if defined(__CUDA_ARCH__)
  return __ldcg(from);
#else
  return *from;
#endif
}

/// Sixteen bytes, or some times as many, that a GPU's kernel reads once: they drive nothing out of its caches.
template <class Numbers>
KOKKOS_FORCEINLINE_FUNCTION Numbers load_streamed(Numbers const* from) {
#if defined(__CUDA_ARCH__)
  static_assert(sizeof(Numbers) % sizeof(float4) == 0);
  Numbers to;
  FMM_UNROLL
  for (int i = 0; i < int(sizeof(Numbers) / sizeof(float4)); ++i)
    reinterpret_cast<float4*>(&to)[i] = __ldcs(reinterpret_cast<float4 const*>(from) + i);
  return to;
#else
  return *from;
#endif
}
/// The same, written once.
template <class Numbers>
KOKKOS_FORCEINLINE_FUNCTION void store_streamed(Numbers* to, Numbers const& from) {
#if defined(__CUDA_ARCH__)
  static_assert(sizeof(Numbers) % sizeof(float4) == 0);
  FMM_UNROLL
  for (int i = 0; i < int(sizeof(Numbers) / sizeof(float4)); ++i)
    __stcs(reinterpret_cast<float4*>(to) + i, reinterpret_cast<float4 const*>(&from)[i]);
#else
  *to = from;
#endif
}

/// Says that the number will be read soon, from a place that a CPU does not foresee. It may be what a View gives
/// in the place of a reference; then this does nothing.
template <class Number>
KOKKOS_FORCEINLINE_FUNCTION void prefetch([[maybe_unused]] Number&& number) {
#if defined(__GNUC__) && !defined(__CUDA_ARCH__)
  if constexpr (std::is_lvalue_reference_v<Number>) __builtin_prefetch(&number);
#endif
}
/// The same of one that will be written.
template <class Number>
KOKKOS_FORCEINLINE_FUNCTION void prefetch_to_write([[maybe_unused]] Number&& number) {
#if defined(__GNUC__) && !defined(__CUDA_ARCH__)
  if constexpr (std::is_lvalue_reference_v<Number>) __builtin_prefetch(&number, 1);
#endif
}
/// How many bodies ahead, where these are visited in another order than they lie in: memory answers after the
/// time of so many.
inline constexpr int bodies_ahead = 96;

/// Row i of an (N,3) array, if there is one.
template <class Rows>
KOKKOS_FORCEINLINE_FUNCTION void prefetch_row(Rows const& rows, std::int64_t i) {
  if (i < std::int64_t(rows.extent(0)))
    for (int d = 0; d < 3; ++d) prefetch(rows(i, d));
}

/// Bits 0..20 of x at every third place. By one instruction where that is fast: two generations of Zen take as many
/// cycles as there are bits, and more.
KOKKOS_INLINE_FUNCTION std::uint64_t spread_bits(std::uint64_t x) {
#if FMM_HAS_PACK && defined(__x86_64__) && defined(__BMI2__) && !defined(__znver1__) && \
    !defined(__znver2__)
  return x86::deposit_bits(x, 0x1249249249249249ull);
#else
  x &= 0x1fffff;
  x = (x | x << 32) & 0x1f00000000ffffull;
  x = (x | x << 16) & 0x1f0000ff0000ffull;
  x = (x | x << 8) & 0x100f00f00f00f00full;
  x = (x | x << 4) & 0x10c30c30c30c30c3ull;
  x = (x | x << 2) & 0x1249249249249249ull;
  return x;
#endif
}

/// How many of the bits are set.
KOKKOS_INLINE_FUNCTION int count_bits(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return __popc(bits);
#else
  return std::popcount(bits);
#endif
}

/// The place of the lowest bit that is set; one is.
KOKKOS_INLINE_FUNCTION int lowest_bit(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return __ffs(int(bits)) - 1;
#else
  return std::countr_zero(bits);
#endif
}
KOKKOS_INLINE_FUNCTION int lowest_bit(std::uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return __ffsll(static_cast<long long>(bits)) - 1;
#else
  return std::countr_zero(bits);
#endif
}

/// Bit i says what thread i of the team, of 32 at most, says. All of them must ask.
template <class Team>
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t vote(Team const& team, bool yes) {
#if defined(__CUDA_ARCH__)
  (void)team;
  return __ballot_sync(0xffffffffu, yes);
#else
  std::uint32_t bits = std::uint32_t(yes) << team.team_rank();
  sum_over_team(team, bits);
  return bits;
#endif
}

/// `condition ? a : b`, lane by lane.
template <class T>
  requires std::is_floating_point_v<T> KOKKOS_FORCEINLINE_FUNCTION T select(bool condition, T a,
                                                                            T b) {
    return condition ? a : b;
  }

/// Lane by lane.
template <class T>
  requires std::is_floating_point_v<T> KOKKOS_FORCEINLINE_FUNCTION T abs(T x) {
    return std::fabs(x);
  }
template <class T>
  requires std::is_floating_point_v<T> KOKKOS_FORCEINLINE_FUNCTION T min(T a, T b) {
    return std::fmin(a, b);
  }
template <class T>
  requires std::is_floating_point_v<T> KOKKOS_FORCEINLINE_FUNCTION T max(T a, T b) {
    return std::fmax(a, b);
  }

/// Bit i says what lane i of a comparison says.
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t bits_of(bool lane) { return lane; }

KOKKOS_FORCEINLINE_FUNCTION float square_root(float x) { return std::sqrt(x); }

template <class V>
struct LaneTraits {
  static_assert(std::is_floating_point_v<V>, "lanes hold floating point numbers");
  using scalar = V;
  static constexpr int count = 1;
  KOKKOS_FORCEINLINE_FUNCTION static V load(V const* from) { return *from; }
  KOKKOS_FORCEINLINE_FUNCTION static void store(V value, V* to) { *to = value; }
  KOKKOS_FORCEINLINE_FUNCTION static V sum(V value) { return value; }
  KOKKOS_FORCEINLINE_FUNCTION static V iota() { return V(0); }
};

/// Whether the hardware estimates reciprocal square roots of a pack.
template <class V>
inline constexpr bool has_rsqrt_estimate = false;
/// Whether there is twice_rsqrt, with a multiplication less than rsqrt.
template <class V>
inline constexpr bool has_twice_rsqrt = false;

}  // namespace fmm::simd
