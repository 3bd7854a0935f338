// SPDX-License-Identifier: BSD-3-Clause
// The caller's offsets of rows or sets, checked and copied.
#pragma once

#include "charges.hpp"
#include "checks.hpp"

namespace fmm::engine {

/// Copies the caller's offsets, and finds the first that is not allowed.
template <class Space, class Offsets>
struct TakeOffsets {
  Offsets offsets;
  std::int64_t last;
  Array<BodyIndex, Space> to;

  KOKKOS_FUNCTION bool is_allowed(std::int64_t i) const {
    const auto here = offsets(i);
    const bool is_last = i + 1 == std::int64_t(offsets.extent(0));
    if (i == 0 && here != 0) return false;
    if (i > 0 && here < offsets(i - 1)) return false;
    return is_last ? std::int64_t(here) == last : std::int64_t(here) <= last;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i, FirstIndex& bad) const {
    to(i) = BodyIndex(offsets(i));
    if (!is_allowed(i)) bad.join({i});
  }
};

/// The offsets, in `memory`. Throws InvalidArgument unless they ascend from 0 to `last`, the number of bodies, or of
/// what is called so.
template <class Space, class Offsets>
Array<BodyIndex, Space> take_offsets(Space const& space, Offsets const& offsets, std::int64_t last,
                                     Buffer<BodyIndex, Space>& memory,
                                     std::string const& name = "offsets",
                                     std::string const& bodies = "bodies") {
  const auto count = std::int64_t(offsets.extent(0));
  if (count == 0)
    throw InvalidArgument(name + ".extent(0)", 0, "one more than there are sets, 1 or more");
  const TakeOffsets<Space, Offsets> take{offsets, last, memory.resize(count)};
  if (const std::int64_t bad = first_bad(space, "fmm::offsets", count, take); bad < count)
    throw InvalidArgument(
        name + "(" + std::to_string(bad) + ")", component(space, offsets, bad),
        "0 first, ascending, and the number of " + bodies + ", " + std::to_string(last) + ", last");
  return take.to;
}

}  // namespace fmm::engine
