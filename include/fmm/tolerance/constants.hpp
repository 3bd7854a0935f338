// SPDX-License-Identifier: BSD-3-Clause
// Every number by which a tolerance is held, with its reason. Errors and fields are root mean squares over all bodies.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fmm::tolerance {

struct Constants {
  // ---- what precisions reach

  double largest = 1e-2;           ///< tolerances above it were never tried
  double least_in_float = 3e-6;    ///< rounding has a floor of 2e-7 to 1.3e-6 (docs/accuracy.md)
  double least_in_double = 1e-12;  ///< what the highest default order, 16, was tried with
  double least_own_in_float = 1e-4, least_own_in_double = 1e-10;  ///< of ErrorNorm::p99
  double least_of_float_results =
      2e-7;  ///< numbers of 24 bits err by 3e-8 in the mean, 6e-8 at most
  /// Rounding in float at most, in fields of a neighbour, as measured in lattices of ions on CPUs and GPUs, and with
  /// short sums (kernels::MixedSums; docs/accuracy.md).
  double rounding_in_float = 1.7e-6, rounding_of_short_sums = 1.05e-6;
  /// Sums are short where rounding would be more than this share of a tolerance.
  double share_of_rounding = 0.4;
  /// Coordinates of close pairs, as mixed precision rounds them, may err by this share of a tolerance.
  double share_of_rounding_in_pairs = 0.7;
  /// Pairs across the borders of leaves are looked at within so many roundings of a coordinate over a tolerance of what
  /// errors are relative to at least; in edges, not less, as cells are found from coordinates in double (and a glance
  /// compares numbers of float), and not more.
  double reach_of_rounding = 200, least_reach = 0x1p-48, least_of_glance = 0x1p-20,
         most_reach = 0x1p-6;
  double usual_rounding = 0.6;  ///< of short sums, in what it is at most

  // ---- what is safe before anything is known of the bodies

  /// Errors over pair_error, at most: 2.4 + 1.2 / order as measured (as a rule 0.3; docs/math.md).
  double error_of_pair_error = 2.4, and_over_order = 1.2;
  /// Options::softening_error in tolerances, and the error that it adds at most, in itself.
  double softening_error = 1, error_of_softening = 0.19;
  double softening_of_ewald = 0.1;  ///< of softening_error, in all pairs of a periodic box
  /// Where charges have both signs errors may add up to more: so many times less pair_error before the sample tells.
  double less_for_both_signs = 3;

  // ---- calibration: the largest limit of a criterion whose error at a sample of leaves is small enough

  std::int64_t least_bodies = 20000;  ///< of fewer it would cost as much as it saves
  int most_evaluations =
      32;  ///< so many evaluations later it is done anew, though bodies seem to be the same
  double likeness = 0.1;  ///< bodies that differ by more are others
  /// Bodies that have moved are verified anew where more than this share of the tolerance is expected, and where
  /// results are so many times as strong. From step to step errors of a cube of bodies were seen to change by a third.
  double room = 0.75, far_stronger = 4;
  /// The same of other strengths at the same places, errors of which, relative to the sum of magnitudes, were seen to
  /// be up to 2.5 times the median ones where close pairs have them, and up to 1.3 times in a cube (200 draws of 300 to
  /// 3000 charges, 30 of 12,000). Plans for more than one evaluation shall err by that share of the tolerance.
  double room_for_others = 0.4, goal_for_others = 0.3;
  /// And so are they where lists have so many times as many entries of cells; and of so few bodies each time.
  double more_cells = 2;
  std::int64_t always_verified = 1024;
  /// And where close pairs seem to be rounded by more than this share of the tolerance and so many times as much.
  double rounding_to_look_at = 0.1, more_rounding = 1.5;
  /// Tiles at which near fields are compared: a sixteenth of all, within these bounds. Fewer differ from draw to draw
  /// by more than the likeness, more cost time.
  std::int64_t least_near_tiles = 64, most_near_tiles = 512, share_of_near_tiles = 16;
  double usual_tiles = 0.95;  ///< the share of these with the weakest fields, which count for all
  /// Tiles of the sample: a sixteenth of all, within these bounds. Fewer miss rare large errors, more cost time.
  std::int64_t least_tiles = 128, most_tiles = 512, share_of_tiles = 16;
  double goal =
      0.92;  ///< the error aimed at, in tolerances; the rest is for what the sample does not see
  double less_where_fields_cancel = 0.1;  ///< of that: errors of many cells of a lattice add up
  double fields_cancel = 1.5;  ///< a neighbour's field over the field from which on they do
  double truth =
      0.25;  ///< pair_error of the sums that stand for the truth, in safe ones, or in that in question
  double first = 3;  ///< the first pair_error that is tried, in safe ones: most bodies allow more
  double largest_theta =
      0.9;  ///< of RadiusCriterion: larger ones converge too slowly to be worth a trial
  /// Errors by radii are about theta^(p + 2) 2^(-0.8 p) / 25, as measured: the first theta is that of the goal.
  double radii_scale = 25, radii_fall = 0.8;
  double hopeless_work = 4;    ///< times the work by powers: no error is measured there
  double standard_errors = 3;  ///< how much higher the sample's error is taken for all bodies'
  /// Of so many bodies, those in the tiles with the weakest fields, these count; others as the strongest of these.
  double usual_fields = 0.98;
  /// largest_limit: it aims so far below the goal, and stops above that; both in goals.
  double aim = 0.95, enough = 0.9;
  int most_trials = 6;
  /// Groups at which own errors are seen, all of no more than that, and the least pair_error that is tried for them, in
  /// safe ones.
  int own_groups = 1024, all_own_groups = 2048;
  std::uint64_t own_seed = 1;
  double least_limit_for_own = 1e-6;
  /// Own errors are a few times the L2 error: their order is that of so many tolerances.
  double tolerance_for_own = 0.3;
  /// Of so many bodies, but for one in so many of these, the one with the least of a companion counts.
  std::size_t companions = 256, companions_left_out = 20;

  /// Bodies whose potentials say what a tolerance of these takes; in a periodic cell, where a sum is Ewald's.
  std::int64_t seen_potentials = 256, seen_potentials_in_cell = 64;

  /// Pairs of P2P a body at order 6, in mixed precision on an H200, beyond which order 8 costs less
  /// (perf/results/h200-orders-by-work.txt).
  double many_near_pairs = 1550;

  // ---- verification of the first evaluation: all bodies, and some drawn ones (drawn_groups.hpp)

  /// Where both are rounded by as much, what they differ by is up to this times what each errs by: drawn groups tell.
  double rounded_alike = 1.5;
  /// Stricter sums are of so many times the charges, so that what is rounded in them is rounded in another way: of few
  /// bits, so that sums of like charges stay exact; and of a prime, so that these of others are not rounded to the
  /// same.
  double share_of_charges = 19.0 / 32;
  /// Their largest theta: powers of a few bodies on a curve tell too little of what cells that nearly touch err by,
  /// with a limit that is a quarter, too.
  double opening_of_truth = 0.6;
  /// The error that stricter sums tell is taken for so much more: their lists err in part as those in question do.
  double of_stricter_sums = 1.05;
  /// Shares of the draws: by what groups differ from stricter sums, if anything does, and by their own strength; the
  /// rest is even.
  double drawn_as_differing = 0.5, drawn_by_strength = 0.2;
  /// Draws at first, and at most: as many again until it is certain whether the tolerance is held. Where stricter sums
  /// do not explain an error of more than this share of it, there are at least so many: of 128 draws of a vortex
  /// tangle's rounding the error differed by a third, and one that was 1.1 tolerances passed. Of no more groups than
  /// the most draws all are compared.
  int first_draws = 32, most_draws = 1024, draws_of_unexplained = 256;
  int first_draws_in_cell = 16;  ///< whose sums are Ewald's
  double unexplained = 0.3;
  /// How often a limit is made stricter; by what it was missed by and so much more, by no more than that at a time.
  int most_tightenings = 5, tightenings_until_safe = 3;  ///< then the limit is what is safe at most
  /// The last limit is this theta: all pairs are near, of no more bodies and tiles than these. Their direct sum ends in
  /// a minute, and the list has 2^26 entries at most.
  double theta_all_near = 1e-9;
  std::int64_t most_all_near = 1 << 18, most_tiles_all_near = 1 << 13;
  double tightening = 0.8, least_tightening = 0.02;
  double fallen = 0.7;      ///< an error that is more of the last one did not fall with the limit
  double above_seen = 1.2;  ///< what a refusal names, in the smallest error that was seen whole

  std::size_t seen_pairs = 512;  ///< bodies at which rounding is seen, where all pairs are summed

  // ---- tuning: the fastest setting whose measured error is small enough

  double tuned_error =
      0.9;  ///< in tolerances: the field that errors are measured against errs by the rest
  double tuning_aim = 0.88, tuning_enough = 0.7;  ///< as above; a trial costs two evaluations
  int tuning_trials = 5;                          ///< of one order and leaf
  double tuned_miss = 2;  ///< tolerances: of bodies that err by more the limit is found anew
  std::int64_t few_on_host = 1 << 15,
               few_on_device = 1 << 18;  ///< bodies whose direct sum is as fast as a few trials
  double known_field = 20;  ///< times less pair_error in the field that errors are measured against
  std::size_t known_bodies = 4096;        ///< or bodies that own errors are measured at
  std::uint64_t known_seed = 0x74756e65;  ///< of no measure_error by chance
  double known_softening = 4;             ///< times less softening_error in it
};

inline constexpr Constants constants{};

}  // namespace fmm::tolerance
