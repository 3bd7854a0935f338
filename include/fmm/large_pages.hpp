// SPDX-License-Identifier: BSD-3-Clause
// Large pages for large arrays in a CPU's memory. Sorting, gathering and scattering bodies reach for memory in another
// order than it lies in; with pages of 4 KiB and 10^7 bodies most of them wait for the address, too. The library asks
// for large pages for what it allocates itself; for arrays of one's own there is this function.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace fmm {

/// Asks the system to keep `bytes` bytes of host memory from `first` on in large pages of 2 MiB, from when they are
/// first written: call it before that. Only a wish: it changes no content, does nothing to parts of large pages at
/// either end, and nothing at all on systems without (it is madvise of Linux, MADV_HUGEPAGE). `first` may be null if
/// `bytes` is 0. Cost: a system call.
inline void prefer_large_pages([[maybe_unused]] void* first, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t page = std::uintptr_t(1) << 21;
  const auto address = reinterpret_cast<std::uintptr_t>(first);
  const std::uintptr_t begin = (address + page - 1) / page * page,
                       end = (address + bytes) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

}  // namespace fmm
