// SPDX-License-Identifier: BSD-3-Clause
// A thread that waits for another lets it run. POSIX's function, since <thread> costs a program that uses the library
// a tenth of a second of compilation.
#pragma once

#if defined(__unix__) || defined(__APPLE__)
#include <sched.h>
#else
#include <thread>
#endif

#include "rooms.hpp"

namespace fmm::detail {

inline void give_way() {
#if defined(__unix__) || defined(__APPLE__)
  sched_yield();
#else
  std::this_thread::yield();
#endif
}

}  // namespace fmm::detail
