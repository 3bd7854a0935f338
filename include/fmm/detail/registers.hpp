// SPDX-License-Identifier: BSD-3-Clause
// The vector registers that the compiler's flags allow.
#pragma once

namespace fmm::detail {

#if defined(__AVX512F__)
inline constexpr int register_bytes = 64;
#elif defined(__AVX__)
inline constexpr int register_bytes = 32;
#else
inline constexpr int register_bytes = 16;
#endif

}  // namespace fmm::detail
