// SPDX-License-Identifier: BSD-3-Clause
// The few instructions of x86 that the library asks for by name. g++ has them without <immintrin.h>, which costs a
// program a third of a second of compilation.
#pragma once

#include <cstdint>

#include "../detail/kokkos_compat.hpp"

// Vector types are a GCC and Clang extension; a CUDA build keeps one lane a host thread, since its
// front end does not take them inside templates.
#if defined(__GNUC__) && !defined(__CUDACC__)
#define FMM_HAS_PACK 1
#else
#define FMM_HAS_PACK 0
#endif

#if FMM_HAS_PACK && defined(__x86_64__)
#if defined(__clang__)
#include <immintrin.h>
#endif

namespace fmm::simd::x86 {

typedef float f4 __attribute__((vector_size(16)));
typedef float f8 __attribute__((vector_size(32)));
typedef float f16 __attribute__((vector_size(64)));
typedef double d2 __attribute__((vector_size(16)));
typedef double d4 __attribute__((vector_size(32)));
typedef double d8 __attribute__((vector_size(64)));
typedef std::int32_t i16 __attribute__((vector_size(64)));

// Names say what an instruction does: square roots, estimates of reciprocal square roots, and one bit a lane.
#if defined(__clang__)
#if defined(__BMI2__)
inline std::uint64_t deposit_bits(std::uint64_t x, std::uint64_t places) {
  return _pdep_u64(x, places);
}
#endif
inline f4 root(f4 x) { return (f4)_mm_sqrt_ps((__m128)x); }
inline d2 root(d2 x) { return (d2)_mm_sqrt_pd((__m128d)x); }
inline f4 rsqrt_estimate(f4 x) { return (f4)_mm_rsqrt_ps((__m128)x); }
#if defined(__AVX__)
inline f8 root(f8 x) { return (f8)_mm256_sqrt_ps((__m256)x); }
inline d4 root(d4 x) { return (d4)_mm256_sqrt_pd((__m256d)x); }
inline f8 rsqrt_estimate(f8 x) { return (f8)_mm256_rsqrt_ps((__m256)x); }
inline std::uint32_t signs(f8 x) { return std::uint32_t(_mm256_movemask_ps((__m256)x)); }
#endif
#if defined(__AVX512F__)
inline f16 rsqrt_estimate(f16 x) { return (f16)_mm512_maskz_rsqrt14_ps(0xffff, (__m512)x); }
inline d8 rsqrt_estimate(d8 x) { return (d8)_mm512_maskz_rsqrt14_pd(0xff, (__m512d)x); }
inline std::uint32_t not_zero(i16 x) { return _mm512_test_epi32_mask((__m512i)x, (__m512i)x); }
#endif
#else
#if defined(__BMI2__)
inline std::uint64_t deposit_bits(std::uint64_t x, std::uint64_t places) {
  return __builtin_ia32_pdep_di(x, places);
}
#endif
inline f4 root(f4 x) { return __builtin_ia32_sqrtps(x); }
inline d2 root(d2 x) { return __builtin_ia32_sqrtpd(x); }
inline f4 rsqrt_estimate(f4 x) { return __builtin_ia32_rsqrtps(x); }
#if defined(__AVX__)
inline f8 root(f8 x) { return __builtin_ia32_sqrtps256(x); }
inline d4 root(d4 x) { return __builtin_ia32_sqrtpd256(x); }
inline f8 rsqrt_estimate(f8 x) { return __builtin_ia32_rsqrtps256(x); }
inline std::uint32_t signs(f8 x) { return std::uint32_t(__builtin_ia32_movmskps256(x)); }
#endif
#if defined(__AVX512F__)
inline f16 rsqrt_estimate(f16 x) { return __builtin_ia32_rsqrt14ps512_mask(x, f16{}, 0xffff); }
inline d8 rsqrt_estimate(d8 x) { return __builtin_ia32_rsqrt14pd512_mask(x, d8{}, 0xff); }
inline std::uint32_t not_zero(i16 x) {
  return std::uint16_t(__builtin_ia32_ptestmd512(x, x, 0xffff));
}
#endif
#endif

}  // namespace fmm::simd::x86

#endif
