// SPDX-License-Identifier: BSD-3-Clause
// A compiler that takes NaN and infinity for impossible.
// flags: -ffast-math
// expect: fmm: not with -ffast-math
#include <fmm/fmm.hpp>
