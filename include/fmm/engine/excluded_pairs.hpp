// SPDX-License-Identifier: BSD-3-Clause
// Exclusions: their checks, and their way into the tree's order.
#pragma once

#include "../detail/search.hpp"
#include "../exclusions.hpp"
#include "../kernels/p2p/excluded_pairs.hpp"
#include "chosen_targets.hpp"
#include "offsets.hpp"

namespace fmm::engine {

/// The first entry of a row that is not allowed there.
template <class Space, class Bodies>
struct CheckExclusions {
  Array<BodyIndex, Space> offsets;
  Bodies bodies;

  KOKKOS_FUNCTION bool is_in_row(std::int64_t body, std::int64_t row, std::int64_t before) const {
    for (BodyIndex e = offsets(row); e < offsets(row + 1) && e < before; ++e)
      if (std::int64_t(bodies(e)) == body) return true;
    return false;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i, FirstIndex& bad) const {
    const std::int64_t n = std::int64_t(offsets.extent(0)) - 1, all = offsets(n);
    for (std::int64_t e = offsets(i); e < offsets(i + 1); ++e) {
      const auto j = std::int64_t(bodies(e));
      if (j < 0 || j >= n || j == i || is_in_row(j, i, e) || !is_in_row(i, j, all)) bad.join({e});
    }
  }
};

/// The row of an entry, for an error message.
template <class Space>
std::int64_t row_of_entry(Space const& space, Array<BodyIndex, Space> offsets, std::int64_t entry) {
  return first_not(std::int64_t(0), std::int64_t(offsets.extent(0)) - 1, [&](std::int64_t row) {
    return std::int64_t(read_back(space, offsets.data() + row + 1)) <= entry;
  });
}

/// Rows for sums over the tree's bodies, in the `memory`. Throws InvalidArgument for rows that are not allowed, before
/// anything else.
template <class Space, class Precision, class Offsets, class Bodies>
auto take_exclusions(Space const& space, Workspace<Space, Precision>& memory,
                     BodyTree<Space, Precision> const& tree,
                     Exclusions<Offsets, Bodies> const& exclusions) {
  using ConstBodies = typename Bodies::const_type;
  const typename Offsets::const_type offsets = exclusions.offsets;
  const ConstBodies bodies = exclusions.bodies;
  const std::int64_t n = tree.size;
  if (std::int64_t(offsets.extent(0)) != n + 1)
    refuse_extent("exclusions.offsets", 0, offsets.extent(0),
                  "one more than the number of bodies, " + std::to_string(n + 1));
  if (bodies.extent(0) > std::size_t(std::numeric_limits<BodyIndex>::max()))
    refuse_extent("exclusions.bodies", 0, bodies.extent(0), "at most 2147483647");
  const auto taken = take_offsets(space, offsets, std::int64_t(bodies.extent(0)),
                                  memory.exclusions.offsets, "exclusions.offsets", "entries");
  const std::int64_t bad =
      first_bad(space, "fmm::exclusions", n, CheckExclusions<Space, ConstBodies>{taken, bodies});
  if (bad < std::int64_t(bodies.extent(0))) {
    const std::string row = std::to_string(row_of_entry(space, taken, bad));
    throw InvalidArgument("exclusions.bodies(" + std::to_string(bad) + ")",
                          component(space, bodies, bad),
                          "in body " + row + "'s row the number of another body, once, in whose " +
                              "row " + row + " is, too");
  }
  return kernels::ExcludedRows<Space, ConstBodies>{taken, bodies, tree.permutation,
                                                   places_of_bodies(space, tree, memory.place)};
}

}  // namespace fmm::engine
