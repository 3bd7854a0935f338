// SPDX-License-Identifier: BSD-3-Clause
// Refuses compiler flags that take NaN and infinity for impossible, or sums for associative: checks
// of arguments, measured errors and the guard of bodies at one point would be optimised away, and
// so would the second parts of coordinates.
#pragma once

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || \
    (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0)
#error "fmm: not with -ffast-math, -ffinite-math-only or -fassociative-math, which void its checks"
#endif
