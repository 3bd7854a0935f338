// SPDX-License-Identifier: BSD-3-Clause
// A stricter limit, after one was seen not to hold its tolerance.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "attempt.hpp"
#include "held_tolerance.hpp"

namespace fmm::tolerance {

/// Makes the limit a stricter one, after an error of up to `most` was seen. After some of these the tolerance is
/// refused, with what can be had.
///
/// given_softening_error   that of the options, if they have one
/// least_field             what fields may be that errors are relative to, in what close pairs exert
/// is_softened             whether a softening_error counts
template <class Space, class Precision>
void correct_limit(HeldTolerance& held, Attempt<Space, Precision>& attempt,
                   engine::BodyTree<Space, Precision> const& tree, int order,
                   std::optional<double> given_softening_error, double least_field,
                   bool is_softened, double most) {
  constexpr bool single = std::is_same_v<Precision, Mixed>;
  if (std::exchange(attempt.is_tuned, false) && most > constants.tuned_miss * held.tolerance()) {
    attempt.is_sought = true;  // what was tuned is not for these
    return;
  }
  Calibrated next = held.now();
  // own errors were the limit's when it was sought; an error that does not fall with the limit is that of coordinates
  const bool of_limit = !attempt.known && most < constants.fallen * attempt.least_seen;
  if (single && !of_limit && !next.one_part && !next.in_double) {
    if (least_field == 1 || std::exchange(next.wide_margin, true)) next.in_double = true;
    attempt.is_sought = attempt.known.has_value();
    return held.correct(next);
  }
  attempt.least_seen = std::min(attempt.least_seen, most);
  if (++attempt.tightenings > constants.most_tightenings) {
    held.forget();
    refuse_tolerance(held.tolerance(), constants.above_seen * attempt.reached,
                     is_softened ? given_softening_error : std::nullopt);
  }
  const bool may_be_all_near =
      tree.octree.images.count() == 0 && tree.size <= constants.most_all_near &&
      std::int64_t(tree.octree.tiles.extent(0)) <= constants.most_tiles_all_near;
  if (!std::exchange(next.one_part, false))
    next = tightened(next, held.tolerance() / most, order, given_softening_error.has_value(),
                     attempt.tightenings, may_be_all_near, single);
  held.correct(next);
}

}  // namespace fmm::tolerance
