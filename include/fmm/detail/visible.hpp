// SPDX-License-Identifier: BSD-3-Clause
// FMM_VISIBLE: before a class or function that is one and the same for a program and the shared libraries that it
// loads, whatever -fvisibility says: exceptions, and what fmm::runtime exports.
#pragma once

#if defined(__GNUC__)
#define FMM_VISIBLE __attribute__((visibility("default")))
#else
#define FMM_VISIBLE
#endif
