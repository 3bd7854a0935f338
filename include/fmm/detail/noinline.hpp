// SPDX-License-Identifier: BSD-3-Clause
// FMM_NOINLINE: before a function that is seldom called, or large: a CPU keeps it out of the code around the
// call, and the compiler works on it once.
#pragma once

#if defined(__GNUC__) && !defined(__CUDA_ARCH__)
#define FMM_NOINLINE __attribute__((noinline))
#else
#define FMM_NOINLINE
#endif
