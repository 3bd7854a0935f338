// SPDX-License-Identifier: BSD-3-Clause
// Run-time options, checked against the policies of a solver and with its defaults filled in. Depends on the
// traversal; the code is shared by solvers of other kernels, orders and translations.
#pragma once

#include "../options.hpp"
#include "../tolerance/order_selection.hpp"
#include "../tree/traversal.hpp"

namespace fmm::engine {

/// What options mean to a pair kernel.
struct KernelTraits {
  bool takes_options;  ///< softening and G
  bool has_far_from;   ///< softening_error
};

inline void check_kernel_options(Options const& options, KernelTraits kernel) {
  if (kernel.takes_options) return;
  if (options.softening != 0)
    throw InvalidArgument("softening", options.softening, "0, with a kernel that has none");
  if (options.G != 1)
    throw InvalidArgument("G", options.G, "1, with a kernel that has no such constant");
}

inline void check_one_part(Options const& options, bool has_two) {
  if (options.one_part && !has_two)
    throw InvalidArgument("one_part", 1, "0, unless in mixed precision on a tree");
}

/// What a tolerance means to a solver.
struct ToleranceTraits {
  bool is_held;  ///< whether it is: by a criterion that uses powers, in double or mixed precision
  bool single;   ///< not in double
  int order;
};

/// Sets the pair_error that is safe for a tolerance before anything is known of the bodies, and
/// softening_error.
inline void set_for_tolerance(Options& options, ToleranceTraits solver, KernelTraits kernel) {
  if (!options.tolerance) return;
  const double tolerance = *options.tolerance;
  if (!solver.is_held)
    throw InvalidArgument(
        "tolerance", tolerance,
        "not set, but for PowerCriterion in double or Mixed: ToleranceSolver takes it");
  if (!tolerance::is_reached(tolerance, solver.single))
    throw InvalidArgument("tolerance", tolerance, tolerance::reached_tolerances(solver.single));
  for (auto const& [name, value] :
       {std::pair("theta", options.theta), std::pair("pair_error", options.pair_error)})
    if (value) throw InvalidArgument(name, *value, "not set, with a tolerance");
  if (options.one_part)
    throw InvalidArgument("one_part", 1, "0, with a tolerance: tune finds whether it holds that");
  options.pair_error = tolerance::pair_error_for(tolerance, solver.order);
  if (kernel.has_far_from && !options.softening_error)
    options.softening_error = tolerance::softening_error_for(tolerance);
}

template <class Traversal>
void set_theta(Options& options) {
  constexpr bool all_pairs = std::is_same_v<Traversal, AllPairs>;
  if constexpr (!uses_theta_v<Traversal>) {
    if (options.theta &&
        (all_pairs || std::fabs(*options.theta - default_theta<Traversal>()) > 1e-3))
      throw InvalidArgument(
          "theta", *options.theta,
          all_pairs ? std::string("not set, with a traversal of all pairs")
                    : "not set, or the criterion's own " + to_text(default_theta<Traversal>()));
  } else {
    constexpr bool closed = std::is_same_v<Traversal, BarnesHut>;
    if (options.theta &&
        !(*options.theta > 0 && (*options.theta < 1 || (closed && *options.theta == 1))))
      throw InvalidArgument("theta", *options.theta, closed ? "0 < theta <= 1" : "0 < theta < 1");
  }
  if (!options.theta && !all_pairs) options.theta = default_theta<Traversal>();
}

template <class Traversal>
void set_pair_error(Options& options) {
  if constexpr (uses_pair_error_v<Traversal>) {
    if (!options.pair_error) options.pair_error = Traversal::criterion::default_pair_error;
  } else {
    if (options.pair_error)
      throw InvalidArgument("pair_error", *options.pair_error,
                            "not set, with a traversal that does not use it");
  }
}

template <class Traversal>
void set_softening_error(Options& options, KernelTraits kernel) {
  constexpr bool all_pairs = std::is_same_v<Traversal, AllPairs>;
  if (kernel.has_far_from && !all_pairs) {
    if (!options.softening_error) options.softening_error = default_softening_error;
  } else {
    if (options.softening_error)
      throw InvalidArgument("softening_error", *options.softening_error,
                            all_pairs ? "not set, with a traversal of all pairs"
                                      : "not set, with a kernel whose far field is exact");
  }
}

/// The options in force. Throws InvalidArgument.
template <class Traversal>
Options completed(Options options, KernelTraits kernel, ToleranceTraits solver, int leaf_capacity) {
  validate(options);
  check_kernel_options(options, kernel);
  set_for_tolerance(options, solver, kernel);
  set_theta<Traversal>(options);
  set_pair_error<Traversal>(options);
  set_softening_error<Traversal>(options, kernel);
  if (!options.leaf_capacity) options.leaf_capacity = leaf_capacity;
  if (!options.depth && options.tree == TreeKind::adaptive) options.depth = max_tree_depth;
  return options;
}

}  // namespace fmm::engine
