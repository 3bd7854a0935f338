// SPDX-License-Identifier: BSD-3-Clause
// The first and the last stage of an evaluation: charges into tree order, results into the caller's.
#pragma once

#include "charges.hpp"
#include "plan_data.hpp"
#include "results.hpp"
#include "stage.hpp"
#include "workspace.hpp"

namespace fmm::engine {

/// Throws as check_ranges does, for any of the densities.
template <class Precision, class Potential, class Field, class Hessian, int Densities>
void check_density_ranges(KernelProfile const& kernel, Cube const& cube,
                          DensityFacts<Densities> const& facts) {
  for (ChargeFacts const& of_density : facts.of)
    check_ranges<Precision, Potential, Field, Hessian>(kernel, cube, of_density.sum);
}

/// What is known of the sources' strengths. Throws InvalidArgument for charges, softening or results that numbers have
/// no room for.
template <class Precision, class Strengths, class Potential, class Field, class Hessian,
          class Space, class Charges>
DensityFacts<Strengths::densities> check_strengths(Space const& space, Cube const& cube,
                                                   KernelProfile const& kernel,
                                                   Charges const& charges) {
  const auto facts =
      inspect_strengths<Strengths>(space, kernel.positive, constant(charges), 1 / cube.edge);
  check_density_ranges<Precision, Potential, Field, Hessian>(kernel, cube, facts);
  return facts;
}

/// Charges, or more strengths, into tree order, the bodies of `sources` the tree's bodies or positions, and room for
/// the sums, so many records of each body, which are set to zero if `clears`. Lengths of dipoles are in edges of the
/// cube, unless they stay in the caller's unit. `known` is what check_strengths said, if it was asked; else it is asked
/// before anything is written. Returns it.
template <class Potential, class Field, class Hessian = None, class Space, class Precision,
          class Charges, class Real, class Strengths>
DensityFacts<Strengths::densities> charges_stage(
    Space const& space, Workspace<Space, Precision>& memory, BodyTree<Space, Precision>& tree,
    KernelProfile const& kernel, Charges const& charges,
    SourceStrengths<Space, Real, Strengths> const& sources, bool clears, Report* report,
    int records = 1, bool in_edges = true,
    std::type_identity_t<DensityFacts<Strengths::densities>> const* known = nullptr) {
  DensityFacts<Strengths::densities> facts;
  stage(space, report, "charges", [&] {
    facts = known ? *known
                  : check_strengths<Precision, Strengths, Potential, Field, Hessian>(
                        space, tree.cube, kernel, charges);
    tree.charges = facts.all();
    memory.sums.resize(tree.size * records);
    take_charges(space, facts.units(), constant(charges), tree.permutation, sources,
                 memory.sums.view(clears ? tree.size * records : 0), records,
                 in_edges ? 1 / tree.cube.edge : 1);
  });
  if (report) add_work(*report, "charges", tree.size);
  return facts;
}

/// Sums of the plan's targets, made with a length and the densities' charges as units, into the caller's order; a
/// report has the count of those that are not finite there.
template <class Out, class Space, class Precision, class Potential, class Field, class Hessian>
void results_stage(Space const& space, PlanData<Space, Precision> const& plan,
                   Array<Sums<sum_t<Precision>>, Space> sums, KernelProfile const& kernel,
                   double length, kernels::DensityUnits<Out::densities> units,
                   Results<Potential, Field, Hessian> const& results, Report* report) {
  for (double& unit : units.of) unit *= kernel.potential_unit(length);
  stage(space, report, "results", [&] {
    const auto [way, gathers] = plan.way_of_results();
    const std::int64_t not_finite =
        give_results<Out>(space, sums, way, units, length, results, report != nullptr, gathers);
    if (report) report->not_finite = not_finite;
  });
  if (report) add_work(*report, "results", plan.targets());
}

}  // namespace fmm::engine
