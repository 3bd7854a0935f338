// SPDX-License-Identifier: BSD-3-Clause
// The version of the library; CMake reads it from here.
#pragma once

#define FMM_VERSION_MAJOR 0
#define FMM_VERSION_MINOR 1
#define FMM_VERSION_PATCH 0

namespace fmm {
inline constexpr char version_string[] = "0.1.0";
}  // namespace fmm
