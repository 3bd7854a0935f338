// SPDX-License-Identifier: BSD-3-Clause
// Run-time options, checked against the policies of a solver and with its defaults filled in. Depends on the
// traversal; the code is shared by solvers of other kernels, orders and translations.
#pragma once

#include "../kernels/pair_traits.hpp"
#include "../methods.hpp"
#include "../options.hpp"

namespace fmm::engine {

/// What options mean to a pair kernel.
struct KernelTraits {
  bool takes_options;  ///< softening and G
  bool has_far_from;   ///< softening_error
};
template <class Kernel>
constexpr KernelTraits traits_of_kernel(Kernel const& kernel) {
  constexpr bool takes_options = requires(Options const options) { kernel.with(options); };
  return {takes_options, HasFarFrom<Kernel>};
}

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

/// Throws for a tolerance: finding what holds it is for solvers above.
inline void check_no_tolerance(Options const& options) {
  if (options.tolerance)
    throw InvalidArgument("tolerance", *options.tolerance, "not set: ToleranceSolver takes it");
}

/// What theta may be, in words.
inline std::string allowed_theta(ThetaRange range) {
  if (!range.exists()) return "not set, with a traversal that has no theta";
  if (range.is_fixed) return "not set, or the criterion's own " + to_text(range.by_default);
  return (range.includes_upper ? "0 < theta <= " : "0 < theta < ") + to_text(range.upper);
}

inline void set_theta(Options& options, ThetaRange range) {
  if (options.theta && !range.contains(*options.theta))
    throw InvalidArgument("theta", *options.theta, allowed_theta(range));
  if (!options.theta && range.exists()) options.theta = range.by_default;
}

/// `by_default` as in CriterionTraits.
inline void set_pair_error(Options& options, double by_default) {
  if (by_default > 0) {
    if (!options.pair_error) options.pair_error = by_default;
  } else {
    if (options.pair_error)
      throw InvalidArgument("pair_error", *options.pair_error,
                            "not set, with a traversal that does not use it");
  }
}

template <class Traversal>
void set_softening_error(Options& options, KernelTraits kernel) {
  const bool all_pairs = std::is_same_v<Traversal, DirectSum> && !options.periodic;
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
Options completed(Options options, KernelTraits kernel, int leaf_capacity) {
  validate(options);
  check_kernel_options(options, kernel);
  check_no_tolerance(options);
  set_theta(options, traits_v<Traversal>.theta);
  set_pair_error(options, traits_v<Traversal>.default_pair_error);
  set_softening_error<Traversal>(options, kernel);
  if (!options.leaf_capacity) options.leaf_capacity = leaf_capacity;
  if (!options.depth && options.tree == TreeKind::adaptive) options.depth = max_tree_depth;
  return options;
}

}  // namespace fmm::engine
