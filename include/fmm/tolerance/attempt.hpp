// SPDX-License-Identifier: BSD-3-Clause
// What an evaluation that is to hold a tolerance knows of its own lists, from one attempt to the next.
#pragma once

#include <limits>
#include <memory>
#include <optional>

#include "../engine/evaluation_ends.hpp"
#include "known_groups.hpp"
#include "quantities.hpp"
#include "result_strength.hpp"
#include "sample.hpp"
#include "sums_in_double.hpp"

namespace fmm::tolerance {

template <class Space, class Precision>
struct Attempt {
  Quantities of = {};                                                    ///< the tolerance
  engine::TakeChargesAgain<Space, real_t<Precision>> take_charges = {};  ///< the evaluation's
  engine::TakeChargesAgain<Space, double> take_charges_in_double =
      {};                                              ///< the same, in mixed precision
  std::shared_ptr<BodiesInDouble<Space>> bodies = {};  ///< in mixed precision: in double
  AddNearField<Space, Precision> add_exactly = {};     ///< AttemptInDouble::sums
  double field_scale = 0;  ///< of lists that were given up for images; 0: there are none
  int tightenings = 0;
  bool are_leaves_in_double = false;  ///< the multipoles that its lists are made from
  bool is_listed = false;             ///< once, at least
  bool is_sought = false;             ///< whether what holds the tolerance is to be found
  bool is_tuned = false;              ///< whether the limit that was tuned is to be tried
  bool is_verified = false;           ///< whether its sums are to be
  bool is_moved = false;              ///< whether that is because bodies are no longer as they were
  ResultStrength results = {};
  double least_seen = std::numeric_limits<double>::infinity();  ///< errors, of earlier attempts
  double reached = std::numeric_limits<double>::infinity();  ///< the same, of what was seen whole
  engine::PlanData<Space, Precision> other = {};             ///< of stricter sums
  std::optional<KnownGroups<Space, Precision>> known = {};   ///< for own errors
};

}  // namespace fmm::tolerance
