// SPDX-License-Identifier: BSD-3-Clause
// Lanes: the arithmetic type of device code. On a GPU a thread is one lane and the type is float or
// double; on a CPU a thread drives a vector register and the type is Pack, W lanes side by side.
// Operators are written once, over `Lanes<Space, Real>`, with the free functions below.
//
// This is the only file with intrinsics: each has a portable twin beside it.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "../detail/kokkos_compat.hpp"

// Vector types are a GCC and Clang extension; a CUDA build keeps one lane a host thread, since its
// front end does not take them inside templates.
#if defined(__GNUC__) && !defined(__CUDACC__)
#define FMM_HAS_PACK 1
#if defined(__x86_64__)
#include <immintrin.h>
#endif
#else
#define FMM_HAS_PACK 0
#endif

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
  return _pdep_u64(x, 0x1249249249249249ull);
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
  team.team_reduce(Kokkos::Sum<std::uint32_t>(bits));
  return bits;
#endif
}

/// `condition ? a : b`, lane by lane.
template <class T>
  requires std::is_floating_point_v<T> KOKKOS_FORCEINLINE_FUNCTION T select(bool condition, T a,
                                                                            T b) {
    return condition ? a : b;
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

#if FMM_HAS_PACK

/// The compiler's vector of `Bytes` bytes (spelled out: g++ 12 loses the attribute on dependent types).
template <class T, int Bytes>
struct VectorRegister;
template <>
struct VectorRegister<float, 16> {
  typedef float type __attribute__((vector_size(16)));
  typedef std::int32_t mask __attribute__((vector_size(16)));
};
template <>
struct VectorRegister<float, 32> {
  typedef float type __attribute__((vector_size(32)));
  typedef std::int32_t mask __attribute__((vector_size(32)));
};
template <>
struct VectorRegister<float, 64> {
  typedef float type __attribute__((vector_size(64)));
  typedef std::int32_t mask __attribute__((vector_size(64)));
};
template <>
struct VectorRegister<double, 16> {
  typedef double type __attribute__((vector_size(16)));
  typedef std::int64_t mask __attribute__((vector_size(16)));
};
template <>
struct VectorRegister<double, 32> {
  typedef double type __attribute__((vector_size(32)));
  typedef std::int64_t mask __attribute__((vector_size(32)));
};
template <>
struct VectorRegister<double, 64> {
  typedef double type __attribute__((vector_size(64)));
  typedef std::int64_t mask __attribute__((vector_size(64)));
};

// At the head of a function: its operations may become multiply-adds with others', as g++ has it without being told.
// clang would fuse within one expression only, and a product and a sum of packs are two functions.
#if defined(__clang__)
#define FMM_FUSED _Pragma("clang fp contract(fast)")
#else
#define FMM_FUSED
#endif

/// W numbers that one vector instruction works on. Converts from a number by repeating it.
template <class T, int W>
struct Pack {
  using Register = typename VectorRegister<T, int(sizeof(T)) * W>::type;
  struct Mask {
    typename VectorRegister<T, int(sizeof(T)) * W>::mask value;
  };

  Register value;

  Pack() = default;
  Pack(T x) : value(x - Register{}) {}  // no instruction; x + 0 would be one, for -0
  explicit Pack(Register r) : value(r) {}

  friend Pack operator+(Pack a, Pack b) { FMM_FUSED return Pack(a.value + b.value); }
  friend Pack operator-(Pack a, Pack b) { FMM_FUSED return Pack(a.value - b.value); }
  friend Pack operator*(Pack a, Pack b) { FMM_FUSED return Pack(a.value * b.value); }
  friend Pack operator/(Pack a, Pack b) { return Pack(a.value / b.value); }
  friend Pack operator-(Pack a) { return Pack(-a.value); }
  Pack& operator+=(Pack b) { return *this = *this + b; }
  Pack& operator-=(Pack b) { return *this = *this - b; }
  Pack& operator*=(Pack b) { return *this = *this * b; }
  friend Mask operator<(Pack a, Pack b) { return {a.value < b.value}; }
  friend Mask operator>(Pack a, Pack b) { return {a.value > b.value}; }
  friend Mask operator<=(Pack a, Pack b) { return {a.value <= b.value}; }
  friend Mask operator==(Pack a, Pack b) { return {a.value == b.value}; }
  friend Pack select(Mask m, Pack a, Pack b) { return Pack(m.value ? a.value : b.value); }
};

template <class Mask>
  requires requires(Mask m) { m.value[0]; }
inline std::uint32_t bits_of(Mask m) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<Mask, typename Pack<float, 16>::Mask>)
    return _mm512_test_epi32_mask((__m512i)m.value, (__m512i)m.value);
#endif
#if defined(__AVX__)
  if constexpr (std::is_same_v<Mask, typename Pack<float, 8>::Mask>)
    return std::uint32_t(_mm256_movemask_ps((__m256)m.value));
  else
#endif
  {
    std::uint32_t bits = 0;
    for (int l = 0; l < int(sizeof(m.value) / sizeof(m.value[0])); ++l)
      bits |= std::uint32_t(m.value[l] & 1) << l;
    return bits;
  }
}

template <class T, int W>
struct LaneTraits<Pack<T, W>> {
  using scalar = T;
  using V = Pack<T, W>;
  static constexpr int count = W;
  static V load(T const* from) {
    typename V::Register r;
    __builtin_memcpy(&r, from, sizeof r);
    return V(r);
  }
  static void store(V v, T* to) { __builtin_memcpy(to, &v.value, sizeof v.value); }
  static T sum(V v) {  // pairwise, in the same order for every width's halves
    if constexpr (sizeof(V) > 16) {
      const auto halves = [&]<int... I>(std::integer_sequence<int, I...>) {
        return Pack<T, W / 2>(__builtin_shufflevector(v.value, v.value, I...)) +
               Pack<T, W / 2>(__builtin_shufflevector(v.value, v.value, W / 2 + I...));
      };
      return LaneTraits<Pack<T, W / 2>>::sum(halves(std::make_integer_sequence<int, W / 2>()));
    } else if constexpr (W == 4) {
      return (v.value[0] + v.value[2]) + (v.value[1] + v.value[3]);
    } else {
      return v.value[0] + v.value[1];
    }
  }
  static V iota() {
    T lane[W];
    for (int l = 0; l < W; ++l) lane[l] = T(l);
    return load(lane);
  }
};

/// Lane i of the result is lane i of `a`, or of `b` where i has the bit `Distance`, taken from Distance lanes
/// below; with `Upper` that of `b`, or of `a` from Distance lanes above.
template <int Distance, bool Upper, class Register, int... I>
inline Register exchange(Register a, Register b, std::integer_sequence<int, I...>) {
  constexpr int W = sizeof...(I);
  return __builtin_shufflevector(
      a, b,
      (Upper ? (I & Distance ? W + I : I + Distance) : (I & Distance ? W + I - Distance : I))...);
}

/// Lane l of pack k becomes lane k of pack l: blocks of W / 2, W / 4, .. 1 lanes change places.
template <int Distance, class T, int W>
inline void transpose_blocks(Pack<T, W> (&square)[W]) {
  if constexpr (Distance > 0) {
    constexpr auto lanes = std::make_integer_sequence<int, W>();
    for (int k = 0; k < W; ++k)
      if ((k & Distance) == 0) {
        const auto a = square[k].value, b = square[k + Distance].value;
        square[k].value = exchange<Distance, false>(a, b, lanes);
        square[k + Distance].value = exchange<Distance, true>(a, b, lanes);
      }
    transpose_blocks<Distance / 2>(square);
  }
}
template <class T, int W>
inline void transpose(Pack<T, W> (&square)[W]) {
  transpose_blocks<W / 2>(square);
}

/// The lanes of a and b one after the other, every second of them: from the first on in a, from the second in b.
template <class T, int W, int... I>
inline void deal(Pack<T, W>& a, Pack<T, W>& b, std::integer_sequence<int, I...>) {
  const auto even = __builtin_shufflevector(a.value, b.value, 2 * I...),
             odd = __builtin_shufflevector(a.value, b.value, 2 * I + 1 ...);
  a.value = even;
  b.value = odd;
}

/// Four packs that hold W rows of four numbers, one row after the other, become the rows' four columns.
template <class T, int W>
inline void transpose_rows(Pack<T, W> (&v)[4]) {
  constexpr auto lanes = std::make_integer_sequence<int, W>();
  deal(v[0], v[1], lanes);
  deal(v[2], v[3], lanes);
  deal(v[0], v[2], lanes);  // columns 0 and 2
  deal(v[1], v[3], lanes);
}

#if defined(__AVX512F__)
template <>
inline constexpr bool has_rsqrt_estimate<Pack<float, 16>> = true;
template <>
inline constexpr bool has_rsqrt_estimate<Pack<double, 8>> = true;
#elif defined(__AVX__)
template <>
inline constexpr bool has_rsqrt_estimate<Pack<float, 8>> = true;
#elif defined(__SSE2__)
template <>
inline constexpr bool has_rsqrt_estimate<Pack<float, 4>> = true;
#endif

/// That estimate, to 2^-14 with AVX-512 and 1.5 2^-12 without.
template <class T, int W>
inline Pack<T, W> rsqrt_estimate(Pack<T, W> x) {
  using P = Pack<T, W>;
  using R = typename P::Register;
  static_assert(has_rsqrt_estimate<P>);
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>)
    return P((R)_mm512_maskz_rsqrt14_ps(0xffff, (__m512)x.value));
  else
    return P((R)_mm512_maskz_rsqrt14_pd(0xff, (__m512d)x.value));
#elif defined(__AVX__)
  return P((R)_mm256_rsqrt_ps((__m256)x.value));
#elif defined(__SSE2__)
  return P((R)_mm_rsqrt_ps((__m128)x.value));
#endif
}

/// Reciprocal square root of every lane: the hardware's estimate y, made better up to the precision (within 2
/// ulp), or a square root and a division where there is no estimate. With e = 1 - x y^2 the result is
/// y (1 - e)^(-1/2), of whose series float takes the terms to e (Newton's step), double those to e^3: after
/// AVX-512's estimate e^2 3/8 < 6e-9, and e^4 35/128 < 7e-17.
template <class T, int W>
inline Pack<T, W> rsqrt(Pack<T, W> x) {
  using P = Pack<T, W>;
  if constexpr (has_rsqrt_estimate<P>) {
    const P y = rsqrt_estimate(x);
    if constexpr (std::is_same_v<T, float>) return y * (P(T(1.5)) - P(T(0.5)) * x * y * y);
    const P e = P(T(1)) - x * y * y;
    return y * e * (P(T(0.5)) + e * (P(T(0.375)) + e * P(T(0.3125)))) + y;
  } else {
    using R [[maybe_unused]] = typename P::Register;
#if defined(__AVX__)
    if constexpr (std::is_same_v<T, double> && W == 4)
      return P(T(1)) / P((R)_mm256_sqrt_pd((__m256d)x.value));
#elif defined(__SSE2__)
    if constexpr (std::is_same_v<T, double> && W == 2)
      return P(T(1)) / P((R)_mm_sqrt_pd((__m128d)x.value));
#endif
    T lane[W];
    LaneTraits<P>::store(x, lane);
    for (int l = 0; l < W; ++l) lane[l] = T(1) / std::sqrt(lane[l]);
    return LaneTraits<P>::load(lane);
  }
}

template <int W>
inline constexpr bool has_twice_rsqrt<Pack<float, W>> = has_rsqrt_estimate<Pack<float, W>>;

/// 2 / sqrt(x), by Newton's step without its halves.
template <int W>
inline Pack<float, W> twice_rsqrt(Pack<float, W> x) {
  const auto y = rsqrt_estimate(x);
  return y * (Pack<float, W>(3.0f) - x * y * y);
}

#if defined(__AVX512F__)
inline constexpr int register_bytes = 64;
#elif defined(__AVX__)
inline constexpr int register_bytes = 32;
#else
inline constexpr int register_bytes = 16;
#endif

template <class Space, class Real>
using Lanes = std::conditional_t<is_host_space_v<Space>,
                                 Pack<Real, register_bytes / int(sizeof(Real))>, Real>;

/// As many floats as a register has, eight at most.
inline constexpr int up_to_eight = register_bytes == 16 ? 4 : 8;
using UpToEightFloats = Pack<float, up_to_eight>;

inline UpToEightFloats square_root(UpToEightFloats x) {
  using R [[maybe_unused]] = UpToEightFloats::Register;
#if defined(__AVX__)
  return UpToEightFloats((R)_mm256_sqrt_ps((__m256)x.value));
#elif defined(__SSE2__)
  return UpToEightFloats((R)_mm_sqrt_ps((__m128)x.value));
#else
  for (int l = 0; l < up_to_eight; ++l) x.value[l] = std::sqrt(x.value[l]);
  return x;
#endif
}

#else

template <class Space, class Real>
using Lanes = Real;
using UpToEightFloats = float;

#endif

template <class V>
using lane_scalar_t = typename LaneTraits<V>::scalar;

template <class V>
inline constexpr int lane_count_v = LaneTraits<V>::count;

}  // namespace fmm::simd
