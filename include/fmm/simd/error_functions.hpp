// SPDX-License-Identifier: BSD-3-Clause
// exp and erfc in lanes, of the arguments that Ewald's sums have.
#pragma once

#include <cmath>

#include "simd.hpp"

namespace fmm::simd {

/// The nearest whole number, for |x| < 2^51.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V nearest_whole(V x) {
  if constexpr (lane_count_v<V> == 1) return std::rint(x);
  return (x + V(0x1.8p52)) - V(0x1.8p52);
}

#if FMM_HAS_PACK
/// 2^n of whole numbers from -1022 to 1023.
template <int W>
inline Pack<double, W> power_of_two(Pack<double, W> n) {
  using P = Pack<double, W>;
  using Integers = typename VectorRegister<double, 8 * W>::mask;
  const auto low_bits = (Integers)(n + P(0x1.8p52)).value;
  return P((typename P::Register)((low_bits << 52) + (Integers)P(1.0).value));
}
#endif

/// e^-x for x from 0 to 700, within 2 ulp: 2^n e^r with |r| <= ln(2) / 2, by Taylor's series.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V exp_of_minus(V x) {
  if constexpr (lane_count_v<V> == 1) {
    return std::exp(-x);
  } else {
    constexpr double ln2 = 0x1.62e42fefa39efp-1, ln2_high = 0x1.62e42fefp-1,
                     ln2_low = 0x1.473de6af278edp-34;
    static_assert(ln2_high + ln2_low == ln2);
    const V n = nearest_whole(x * V(-1 / ln2)), r = -(x + n * V(ln2_high)) - n * V(ln2_low);
    V sum = V(1.0);
    FMM_UNROLL
    for (int k = 13; k > 0; --k) sum = V(1.0) + sum * (r * V(1.0 / k));
    return sum * power_of_two(n);
  }
}

/// erfc(y), where e^(-y^2) is e, for y from 1 to 6.5, within 4 ulp: (1 + 2 y) e^(y^2) erfc(y) as a polynomial of
/// (y - 2.5) / (y + 2.5) (the variable is that of Shepherd and Laframboise, Math. Comp. 36 (1981) 249), fitted at
/// Chebyshev's points.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V erfc_of(V y, [[maybe_unused]] V e) {
  if constexpr (lane_count_v<V> == 1) {
    return std::erfc(y);
  } else {
    constexpr double factors[] = {
        -3.953466067093516786e-6, 1.585202048546543356e-6,  0.00002266827985886901294,
        6.562247697940451066e-6,  -0.000113527124799203536, -0.00008852512313972093787,
        0.000632125889530638588,  0.0004918697997342576015, -0.004382078492149874008,
        0.0009318926278328178012, 0.03276089327527213522,   -0.1029670560341252904,
        0.1576299190230995161,    -0.09902453957364171963,  -0.1223567630824037046,
        1.264838184366861542};
    const V t = (y - V(2.5)) / (y + V(2.5));
    V sum = V(factors[0]);
    FMM_UNROLL
    for (int k = 1; k < 16; ++k) sum = sum * t + V(factors[k]);
    return e * sum / (V(1.0) + V(2.0) * y);
  }
}

}  // namespace fmm::simd
