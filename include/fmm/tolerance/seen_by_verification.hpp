// SPDX-License-Identifier: BSD-3-Clause
// What a verification sees of the sums of an evaluation. L2 errors: what lists leave out at all bodies, against sums by
// stricter ones, what close pairs are rounded by, and whatever else there is at some bodies, against sums over all. Own
// errors: those of groups of bodies whose sums are known, and what close pairs of all bodies are rounded by.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "differences.hpp"
#include "known_groups.hpp"
#include "nearest_bodies.hpp"
#include "rounded_pairs.hpp"
#include "verification.hpp"

namespace fmm::tolerance {

struct SeenByVerification {
  SeenError of_lists;
  RoundingOfBodies rounding;  ///< of coordinates: where that is too much, no more is looked at
  double most = std::numeric_limits<double>::infinity();  ///< of all
  bool is_whole = true;  ///< else there may be more: what lists leave out was too much already
};

/// L2 errors.
template <class Space, class Precision>
class L2Error {
  using Sum = sum_t<Precision>;
  using Plan = engine::PlanData<Space, Precision>;

 public:
  /// `others` are the sums by stricter lists, `rounded` is of rounding_of_pairs, `over_all` adds sums
  /// of constants.share_of_charges. Cost: O(N), and one wait.
  L2Error(Space const& space, Plan const& plan, Quantities of, double tolerance,
          Array<Sums<Sum>, Space> sums, Array<Sums<Sum>, Space> others, RoundedSum const& rounded,
          AddOverAll<Space, Sum> over_all, std::uint64_t seed)
      : space_(space),
        plan_(plan),
        of_(of),
        tolerance_(tolerance),
        sums_(sums),
        others_(others),
        over_all_(std::move(over_all)),
        seed_(seed),
        weights_(buffer_.resize(plan.tree.octree.tiles.extent(0) *
                                groups_of_tile<Space, real_t<Precision>>)),
        squares_(weigh_groups<Space, Precision>(space, plan.tree.octree.tiles, sums, others, of,
                                                weights_)),
        rounded_(rounded) {
    of.each([&](Quantity one) { squares_.values[one] *= of.values(one) * of.values(one); });
  }

  /// Neighbours are looked for in leaves at first, and where that says too much, which is rare, on_nearest() tells what
  /// those in the whole tree feel: errors are relative to no less than a share of that. `whole`: whatever lists leave
  /// out. Cost: of Verification.
  template <class OnNearest>
  SeenByVerification see(bool whole, OnNearest const& on_nearest) {
    const SquaresOfSums of_leaves = with_neighbours(squares_, rounded_.neighbours);
    const SeenByVerification seen = see_with(of_leaves, whole);
    if (seen.most <= tolerance_) return seen;
    const SquaresOfSums of_all = with_neighbours(of_leaves, on_nearest());
    bool are_stronger = false;
    of_.each([&](Quantity one) { are_stronger |= of_all.values[one] > of_leaves.values[one]; });
    return are_stronger ? see_with(of_all, whole) : seen;
  }

 private:
  SquaresOfSums with_neighbours(SquaresOfSums squares,
                                PerQuantity<double> const& neighbours) const {
    of_.each([&](Quantity one) {
      const double share = least_share_of_neighbours * of_.values(one);
      squares.values[one] = std::fmax(squares.values[one], share * share * neighbours[one]);
    });
    return squares;
  }
  SeenByVerification see_with(SquaresOfSums const& squares, bool whole) {
    SeenByVerification seen{.rounding = {0, rounded_.taken_for_others > 0}};
    double& rounding = seen.rounding.error;
    of_.each([&](Quantity one) {
      if (rounded_.squares[one] > 0)
        rounding = std::fmax(rounding, std::sqrt(rounded_.squares[one] / squares.values[one]));
      const double error = relative_error(squares.differences[one], squares.values[one]);
      seen.of_lists = larger(seen.of_lists, {.likely = error, .most = error});
    });
    if (!seen.rounding.keeps(tolerance_)) return seen;
    seen.most = constants.of_stricter_sums * std::hypot(seen.of_lists.most, rounding);
    seen.is_whole = whole || !(seen.most > constants.rounded_alike * tolerance_);
    if (!seen.is_whole) return seen;
    Verification<Space, Precision> verification(space_, plan_, weights_, sums_, others_, squares,
                                                of_, over_all_, constants.share_of_charges, seed_);
    const SeenError at_some = verification.see(tolerance_, seen.most > tolerance_);
    seen.most = std::hypot(at_some.most, rounding) > tolerance_
                    ? std::max(seen.most, at_some.two_more)
                    : std::min(seen.most, tolerance_);
    return seen;
  }

  Space const& space_;
  Plan const& plan_;
  Quantities of_;
  double tolerance_;
  Array<Sums<Sum>, Space> sums_, others_;
  AddOverAll<Space, Sum> over_all_;
  std::uint64_t seed_;
  Buffer<float, Space> buffer_{"weights of groups"};
  Array<float, Space> weights_;
  SquaresOfSums squares_;
  RoundedSum rounded_;
};

/// Own errors of bodies whose pairs are rounded by `pairs`, as `known` are; `how_much` as of own_rounding_of_pairs.
template <class Space, class Precision, class Real>
SeenByVerification see_own_errors(Space const& space, KnownGroups<Space, Precision>& known,
                                  RoundedPairs<Space, Real> const& pairs, Array<Tile, Space> tiles,
                                  Quantities of, double tolerance,
                                  Array<Sums<sum_t<Precision>>, Space> sums, bool how_much) {
  SeenByVerification seen{.of_lists = known.seen(of, sums)};
  seen.most = seen.of_lists.most;
  seen.rounding = own_rounding_of_pairs(space, pairs, tiles, of, sums, least_share_v<Precision>,
                                        tolerance, how_much);
  if (!seen.rounding.keeps(tolerance) && how_much)
    seen.rounding.error = std::fmax(seen.rounding.error, known.seen(of, {}).most);
  return seen;
}

}  // namespace fmm::tolerance
