// SPDX-License-Identifier: BSD-3-Clause
// Run-time options of a Solver, validated once, when the solver is made.
#pragma once

#include <cmath>
#include <optional>

#include "errors.hpp"
#include "periodic_box.hpp"

namespace fmm {

/// The deepest level that a 63-bit Morton key can tell apart.
inline constexpr int max_tree_depth = 21;

enum class TreeKind {
  uniform,  ///< every leaf at the same depth
  adaptive  ///< a cell is split while it holds more bodies than `leaf_capacity`
};

/// Options::softening_error where it is not set.
inline constexpr double default_softening_error = 5e-4;

/// What a tolerance is of: the field where it is wanted, else the potential, else the Hessian; the potential; potential
/// and field, each; the Hessian; or each result that is wanted. Hessians are of plans that are built without charges.
enum class ToleranceOf { field, potential, both, hessian, all };

/// Which error a tolerance bounds (docs/math.md, "Relative errors"): the relative L2 error of all bodies; or each
/// body's own, but for a hundredth of the bodies at most.
enum class ErrorNorm { l2, p99 };

/// An aggregate for designated initialisers: `Options{.theta = 0.5, .leaf_capacity = 64}`.
struct Options {
  /// Relative error at most: of ErrorNorm::l2 1e-2 to 3e-6 in mixed precision, to 1e-12 in double; of ErrorNorm::p99 to
  /// 1e-4 and 1e-10; of results in Views of float to 2e-7. For ToleranceSolver, which finds order and criterion itself,
  /// and CalibratedSolver, of one order, which finds pair_error, or a theta to go by radii, of 20,000 bodies or more at
  /// a sample of them, and verify it: in the first evaluation and now and then (docs/math.md).
  std::optional<double> tolerance = {};

  /// What that is of. An evaluation without a result that it is of is refused.
  ToleranceOf tolerance_of = ToleranceOf::field;

  /// The error that it is for. Hierarchies, halos and lines have own errors far above their L2 error, and cost more.
  ErrorNorm error_norm = ErrorNorm::l2;

  /// Opening parameter of the traversal, dimensionless; 0 < theta <= 1 for BarnesHut, 0 < theta < 1
  /// for a DualTree criterion that uses it. Not set: the traversal's default.
  std::optional<double> theta = {};

  /// What a pair of cells may add to the error, in units of the field around the target, > 0; for a
  /// DualTree criterion that uses it. Not set: the criterion's default.
  std::optional<double> pair_error = {};

  // DirectSum, which has no tree, has no use for the next three.

  /// Bodies that a leaf of an adaptive tree may hold, >= 1 (two fifths of it on average, if they fill a
  /// cube evenly and `depth` allows it); of a uniform tree, the most that its depth gives on average. Not
  /// set: tuned for the execution space, precision and order.
  std::optional<int> leaf_capacity = {};

  /// 0..21. Uniform tree: the depth of all leaves (not set: from N and leaf_capacity). Adaptive tree:
  /// the deepest level allowed (not set: 21).
  std::optional<int> depth = {};

  TreeKind tree = TreeKind::adaptive;

  /// Softening length in the unit of the positions, >= 0; for SoftenedGravity (Plummer's) and SplineGravity
  /// (of a Plummer sphere with the same potential at its centre) only.
  double softening = 0;

  /// What expansions, which know no softening, may add to the force of a body, relative to it, > 0; for
  /// SoftenedGravity on a tree or in a periodic box only. Sources nearer than about softening sqrt(1.5 /
  /// softening_error) are summed one by one (docs/math.md). Not set: 5e-4, with a tolerance that itself.
  std::optional<double> softening_error = {};

  /// Mixed on a tree only, or what `tune` finds for a tolerance: P2P takes its coordinates in one part, and Mixed sums
  /// in float. Distances are then good to 2^-24 of a leaf's edge only (2^-53 in double), and P2P takes less time, on a
  /// CPU by a few hundredths.
  bool one_part = false;

  /// Gravitational constant, finite; for SoftenedGravity and SplineGravity only.
  double G = 1;

  /// Not set: nothing repeats. Else sums are over all images of the sources, of a net charge or mass with a uniform
  /// background (docs/math.md, "Periodic boxes"). The longest vector of the reduced cell is 20 times its smallest
  /// height at most.
  std::optional<PeriodicBox> periodic = {};
};

namespace detail {

/// The checks that do not depend on a policy. Throws InvalidArgument.
inline void validate(Options const& options) {
  if (options.leaf_capacity && *options.leaf_capacity < 1)
    throw InvalidArgument("leaf_capacity", *options.leaf_capacity, "an integer >= 1");
  if (options.depth && (*options.depth < 0 || *options.depth > max_tree_depth))
    throw InvalidArgument("depth", *options.depth, "0 <= depth <= 21");
  static_assert(max_tree_depth == 21);
  if (options.pair_error && !(*options.pair_error > 0 && std::isfinite(*options.pair_error)))
    throw InvalidArgument("pair_error", *options.pair_error, "finite and > 0");
  if (!(options.softening >= 0) || !std::isfinite(options.softening))
    throw InvalidArgument("softening", options.softening, "finite and >= 0");
  if (options.softening_error &&
      !(*options.softening_error > 0 && std::isfinite(*options.softening_error)))
    throw InvalidArgument("softening_error", *options.softening_error, "finite and > 0");
  if (!std::isfinite(options.G)) throw InvalidArgument("G", options.G, "finite");
  if (options.periodic) validate(*options.periodic);
}

}  // namespace detail
}  // namespace fmm
