// SPDX-License-Identifier: BSD-3-Clause
// What an attempt has in double: sums over pairs that a verification compares with and, in mixed precision where float
// does not hold the tolerance, the near field and the leaves' multipoles of the evaluation itself.
#pragma once

#include <memory>
#include <optional>

#include "attempt.hpp"
#include "sums_in_cell.hpp"
#include "sums_in_double.hpp"

namespace fmm::tolerance {

/// PairPrecision   of P2P, of plans in double
template <class Kernel, class Precision, class PairPrecision, class Space>
struct AttemptInDouble {
  static constexpr bool single = std::is_same_v<Precision, Mixed>;
  Space const& space;
  Kernel const& kernel;
  engine::PlanData<Space, Precision>& plan;
  Attempt<Space, Precision>& attempt;
  double tolerance;
  Options near_options;  ///< of coordinates in two parts
  bool is_in_force;      ///< in mixed precision: the evaluation's own near field is in double
  SumsOfPlan<Kernel, Precision, Space> of_plan;

  /// f(coordinates), those of the near field in force.
  template <class F>
  void with_coordinates(F const& f) const {
    if constexpr (single)
      if (is_in_force) return f(bodies()->coordinates(plan.tree.octree));
    f(coordinates_of(plan.tree));
  }
  /// Sets the multipoles of leaves, of a share of the charges, where they are in double (Evaluation::upward).
  auto leaves(double share) const {
    return [self = *this, share](auto const& far, auto const& multipoles) {
      if constexpr (single)
        if (self.is_in_force)
          return self.bodies()->set_leaves(self.space, self.plan.tree.octree, far, multipoles,
                                           share);
      return false;
    };
  }
  /// AddExactly; the same for all of an evaluation.
  AddNearField<Space, Precision> const& sums() const {
    if (!attempt.add_exactly) attempt.add_exactly = sums_of_share(plan, 1);
    return attempt.add_exactly;
  }
  /// The same of a share of the charges, that of stricter sums, which are there: they round otherwise than an
  /// evaluation.
  auto verifying_sums() const { return sums_of_share(attempt.other, constants.share_of_charges); }
  /// Adds sums over all bodies of a share of the charges: 1, or that of stricter sums.
  AddOverAll<Space, double> over_all(double share) const {
    if constexpr (engine::is_harmonic<Kernel>())
      if (of_plan.cell()) return over_all_images(share);
    return pairs_over_all(space, plan.tree.octree, share == 1 ? sums() : verifying_sums());
  }
  /// The squares of what bodies, of these coordinates, exert on the nearest ones, or on images that are nearer.
  template <class Real>
  PerQuantity<double> on_nearest(PairCoordinates<Space, Real> const& coordinates,
                                 SofteningBounds const& softening) const {
    auto const& octree = plan.tree.octree;
    if (!of_plan.cell()) return exerted_on_nearest(space, coordinates, octree.tiles, softening);
    Buffer<Body<double>, Space> memory("bodies in edges");
    return of_plan.on_nearest(bodies_in_edges(space, octree, coordinates, memory, plan.tree.size),
                              softening.most);
  }

 private:
  /// The attempt's bodies, in mixed precision.
  auto bodies() const requires single {
    if (!attempt.bodies)
      attempt.bodies =
          std::make_shared<BodiesInDouble<Space>>(space, plan.tree, attempt.take_charges_in_double);
    return attempt.bodies;
  }
  AddOverAll<Space, double> over_all_images(double share) const {
    auto const& charged = share == 1 ? plan.tree : attempt.other.tree;
    const auto in_cube = in_units_of(plan.tree.cube.edge, kernel);
    AddOverAll<Space, double> add;
    if constexpr (single)
      bodies()->with_share(share, [&] {
        add = images_over_all(space, plan, charged, in_cube, *of_plan.cell(),
                              bodies()->coordinates(plan.tree.octree));
      });
    else
      add =
          images_over_all(space, plan, charged, in_cube, *of_plan.cell(), coordinates_of(charged));
    return add;
  }
  /// Of a share of the charges, which `charged` has.
  AddNearField<Space, Precision> sums_of_share(engine::PlanData<Space, Precision>& charged,
                                               double share) const {
    if constexpr (single)
      return sums_in_double(space, plan, in_units_of(plan.tree.cube.edge, kernel), bodies(),
                            tolerance, attempt.of, share);
    else
      return sums_by_p2p<PairPrecision>(space, plan.memory, charged, kernel, near_options);
  }
};

}  // namespace fmm::tolerance
