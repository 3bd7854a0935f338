// SPDX-License-Identifier: BSD-3-Clause
// Lanes: the arithmetic type of device code. On a GPU a thread is one lane and the type is float or
// double; on a CPU a thread drives a vector register and the type is Pack, W lanes side by side.
// Operators are written once, over `Lanes<Space, Real>`, with the functions of lane.hpp and pack.hpp.
#pragma once

#include "../detail/registers.hpp"
#include "lane.hpp"
#include "pack.hpp"

namespace fmm::simd {

#if FMM_HAS_PACK

template <class Space, class Real>
using Lanes = std::conditional_t<is_host_space_v<Space>,
                                 Pack<Real, register_bytes / int(sizeof(Real))>, Real>;

/// As many floats as a register has, eight at most.
inline constexpr int up_to_eight = register_bytes == 16 ? 4 : 8;
using UpToEightFloats = Pack<float, up_to_eight>;

inline UpToEightFloats square_root(UpToEightFloats x) {
#if defined(__x86_64__)
  return UpToEightFloats(x86::root(x.value));
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
