// SPDX-License-Identifier: BSD-3-Clause
// The L2 error of an evaluation's sums, as a verification sees it: what lists leave out at all bodies, against sums by
// stricter ones, what close pairs are rounded by, and whatever else there is at some bodies, against sums over all.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "differences.hpp"
#include "nearest_bodies.hpp"
#include "rounded_pairs.hpp"
#include "verification.hpp"

namespace fmm::tolerance {

struct SeenL2 {
  SeenError of_lists;
  double most = 0;       ///< of all
  bool is_whole = true;  ///< else there may be more: what lists leave out was too much already
};

/// Of sums of all bodies.
template <class Space, class Precision>
class L2Error {
  using Sum = sum_t<Precision>;
  using Plan = engine::PlanData<Space, Precision>;

 public:
  /// `others` are the sums by stricter lists, `exact_sums` as SumsOverAll has them. Cost: O(N), the pairs within leaves,
  /// and two waits.
  L2Error(Space const& space, Plan const& plan, SofteningBounds const& softening, Quantities of,
          double tolerance, Array<Sums<Sum>, Space> sums, Array<Sums<Sum>, Space> others,
          typename SumsOverAll<Space, Sum>::ExactSums exact_sums, std::uint64_t seed)
      : space_(space),
        plan_(plan),
        softening_(softening),
        of_(of),
        tolerance_(tolerance),
        sums_(sums),
        others_(others),
        exact_sums_(std::move(exact_sums)),
        seed_(seed),
        weights_(buffer_.resize(plan.tree.octree.tiles.extent(0) *
                                groups_of_tile<Space, real_t<Precision>>)),
        squares_(weigh_groups<Space, Precision>(space, plan.tree.octree.tiles, sums, others, of,
                                                weights_)),
        rounded_(rounding_of_pairs(space, plan.tree, softening, tolerance)) {}

  /// Neighbours are looked for in leaves at first, and where that says too much, which is rare, in the whole tree: errors
  /// are relative to no less than a share of what they feel. `whole`: whatever lists leave out. Throws InvalidArgument
  /// where coordinates do not keep the tolerance. Cost: of Verification.
  SeenL2 see(bool whole) {
    if (rounded_.taken_for_others > 0) refuse();
    SeenL2 seen = see_with(rounded_.neighbours, whole);
    if (!(seen.most <= tolerance_))
      seen = see_with(exerted_on_nearest(space_, plan_.tree, softening_), whole);
    if (!is_kept()) refuse();
    return seen;
  }

 private:
  /// Whether coordinates keep the tolerance.
  bool is_kept() const { return rounding_ <= constants.share_of_rounding_in_pairs * tolerance_; }
  [[noreturn]] void refuse() const {
    refuse_rounding(tolerance_, std::is_same_v<Precision, Mixed>,
                    {rounding_, rounded_.taken_for_others > 0});
  }

  SeenL2 see_with(PerQuantity<double> const& neighbours, bool whole) {
    SquaresOfSums squares = squares_;
    SeenL2 seen{.most = std::numeric_limits<double>::infinity()};
    rounding_ = 0;
    of_.each([&](Quantity one) {
      squares.values[one] =
          std::fmax(squares.values[one],
                    least_share_of_neighbours * least_share_of_neighbours * neighbours[one]);
      if (rounded_.squares[one] > 0)
        rounding_ = std::fmax(rounding_, std::sqrt(rounded_.squares[one] / squares.values[one]));
      const double error = relative_error(squares.differences[one], squares.values[one]);
      seen.of_lists = larger(seen.of_lists, {.likely = error, .most = error});
    });
    if (!is_kept()) return seen;
    seen.most = constants.of_stricter_sums * std::hypot(seen.of_lists.most, rounding_);
    seen.is_whole = whole || !(seen.most > constants.rounded_alike * tolerance_);
    if (!seen.is_whole) return seen;
    Verification<Space, Precision> verification(space_, plan_, weights_, sums_, others_, squares,
                                                of_, exact_sums_, seed_);
    const SeenError at_some = verification.see(tolerance_, seen.most > tolerance_);
    seen.most = std::hypot(at_some.most, rounding_) > tolerance_
                    ? std::max(seen.most, at_some.two_more)
                    : std::min(seen.most, tolerance_);
    return seen;
  }

  Space const& space_;
  Plan const& plan_;
  SofteningBounds softening_;
  Quantities of_;
  double tolerance_;
  Array<Sums<Sum>, Space> sums_, others_;
  typename SumsOverAll<Space, Sum>::ExactSums exact_sums_;
  std::uint64_t seed_;
  Buffer<float, Space> buffer_{"weights of groups"};
  Array<float, Space> weights_;
  SquaresOfSums squares_;
  RoundedSum rounded_;
  double rounding_ = 0;  ///< the relative error of close pairs
};

}  // namespace fmm::tolerance
