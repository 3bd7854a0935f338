// SPDX-License-Identifier: BSD-3-Clause
// How strong results are: whether errors that were seen at an evaluation's are like those of a later one's, relative to
// these.
#pragma once

#include <cmath>
#include <cstdint>

#include "../detail/reduce.hpp"
#include "../engine/plan_data.hpp"
#include "quantities.hpp"

namespace fmm::tolerance {

/// Means over bodies, in units of the bodies' own: of L2 errors the root mean square, of own errors a mean that weak
/// results determine, (mean of 1 / sqrt |value|)^-2.
struct ResultStrength {
  PerQuantity<double> means;
  std::int64_t cells = 0;  ///< entries of the lists but for those of bodies with bodies
  double rounding = 0;     ///< of close pairs, relative to the results; where it is looked at

  /// How many times as strong these are, at most.
  double over(ResultStrength const& other) const {
    const auto ratio = [](double a, double b) { return a == b ? 1 : a / b; };
    return std::fmax(ratio(means.field, other.means.field),
                     ratio(means.potential, other.means.potential));
  }
  bool operator==(ResultStrength const& other) const {
    return means.field == other.means.field && means.potential == other.means.potential &&
           rounding == other.rounding;
  }
};

/// Adds up a body's squares, or its reciprocal roots and one for each.
template <class Space, class Sum>
struct AddStrength {
  struct All {
    PerQuantity<double> sums, bodies;
    KOKKOS_FUNCTION void join(All const& other) {
      sums += other.sums;
      bodies += other.bodies;
    }
  };
  Array<Sums<Sum>, Space> sums;
  bool field, potential, own;

  KOKKOS_FUNCTION void operator()(std::int64_t i, All& all) const {
    const Sums<Sum> s = sums(i);
    const double x = s.x, y = s.y, z = s.z, p = s.potential;
    if (field) add(x * x + y * y + z * z, all.sums.field, all.bodies.field);
    if (potential) add(p * p, all.sums.potential, all.bodies.potential);
  }
  KOKKOS_FUNCTION void add(double square, double& sum, double& bodies) const {
    if (own && !(square > 0)) return;
    sum += own ? 1 / std::sqrt(std::sqrt(square)) : square;
    bodies += 1;
  }
};

/// What was added up of an evaluation's sums on that tree.
template <class All, class Space, class Precision>
ResultStrength strength_from(All const& all, engine::BodyTree<Space, Precision> const& tree,
                             Quantities of) {
  ResultStrength strength;
  const double potentials = tree.charges.unit / tree.cube.edge,
               fields = potentials / tree.cube.edge;
  of.each([&](Quantity one) {
    if (!(all.bodies[one] > 0)) return;
    const double mean = all.sums[one] / all.bodies[one];
    strength.means[one] = (one == Quantity::field ? fields : potentials) *
                          (of.is_own() ? 1 / (mean * mean) : std::sqrt(mean));
  });
  return strength;
}

/// Of an evaluation's sums on that tree. Cost: O(N), and one wait.
template <class Space, class Precision>
ResultStrength strength_of(Space const& space, engine::BodyTree<Space, Precision> const& tree,
                           Array<Sums<sum_t<Precision>>, Space> sums, Quantities of) {
  using Add = AddStrength<Space, sum_t<Precision>>;
  const auto all = reduce<typename Add::All>("fmm::tolerance::strength", space, tree.size,
                                             Add{sums, of.field, of.potential, of.is_own()});
  space.fence();
  return strength_from(all, tree, of);
}

}  // namespace fmm::tolerance
