// SPDX-License-Identifier: BSD-3-Clause
// Packs: W numbers side by side in a vector register of a CPU. Where the compiler has no vector types there are none.
#pragma once

#include "lane.hpp"

#if FMM_HAS_PACK

namespace fmm::simd {

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
  friend Pack abs(Pack x) { return select(x < Pack(T(0)), -x, x); }
  friend Pack min(Pack a, Pack b) { return select(a < b, a, b); }
  friend Pack max(Pack a, Pack b) { return select(a < b, b, a); }
};

template <class Mask>
  requires requires(Mask m) { m.value[0]; }
inline std::uint32_t bits_of(Mask m) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<Mask, typename Pack<float, 16>::Mask>) return x86::not_zero(m.value);
#endif
#if defined(__AVX__)
  if constexpr (std::is_same_v<Mask, typename Pack<float, 8>::Mask>)
    return x86::signs((x86::f8)m.value);
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
#elif defined(__x86_64__)
template <>
inline constexpr bool has_rsqrt_estimate<Pack<float, 4>> = true;
#endif

/// That estimate, to 2^-14 with AVX-512 and 1.5 2^-12 without.
template <class T, int W>
inline Pack<T, W> rsqrt_estimate(Pack<T, W> x) {
  using P = Pack<T, W>;
  static_assert(has_rsqrt_estimate<P>);
#if defined(__x86_64__)
  return P(x86::rsqrt_estimate(x.value));
#else
  return x;
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
#if defined(__AVX__) && defined(__x86_64__)
    if constexpr (std::is_same_v<T, double> && W == 4) return P(T(1)) / P(x86::root(x.value));
#elif defined(__x86_64__)
    if constexpr (std::is_same_v<T, double> && W == 2) return P(T(1)) / P(x86::root(x.value));
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

}  // namespace fmm::simd

#endif
