// SPDX-License-Identifier: BSD-3-Clause
// The first and the last stage of an evaluation: charges into tree order, results into the caller's.
#pragma once

#include "charges.hpp"
#include "results.hpp"
#include "stage.hpp"
#include "workspace.hpp"

namespace fmm::engine {

/// Charges, or more strengths, into tree order, the bodies of `sources` the tree's bodies or positions, and room for
/// the sums, so many records of each body, which are set to zero if `clears`. Lengths of dipoles are in edges of the
/// cube, unless they stay in the caller's unit. Throws InvalidArgument for charges, softening or results that numbers
/// have no room for, before anything is written.
template <class Potential, class Field, class Hessian = None, class Space, class Precision,
          class Charges, class Real, class Strengths>
void charges_stage(Space const& space, Workspace<Space, Precision>& memory,
                   BodyTree<Space, Precision>& tree, KernelProfile const& kernel,
                   Charges const& charges, SourceStrengths<Space, Real, Strengths> const& sources,
                   bool clears, Report* report, int records = 1, bool in_edges = true) {
  const auto given = constant(charges);
  const double per_edge = 1 / tree.cube.edge;
  stage(space, report, "charges", [&] {
    const ChargeFacts facts = inspect_charges<Strengths>(space, kernel.positive, given, per_edge);
    check_ranges<Precision, Potential, Field, Hessian>(kernel, tree.cube, facts.sum);
    tree.charges = facts;
    memory.sums.resize(tree.size * records);
    take_charges(space, facts.unit, given, tree.permutation, sources,
                 memory.sums.view(clears ? tree.size * records : 0), records,
                 in_edges ? per_edge : 1);
  });
  if (report) add_work(*report, "charges", tree.size);
}

/// Sums of the tree's bodies, made with a length and a charge as units, into the caller's order; a report has the count
/// of those that are not finite there.
template <class Out, class Space, class Precision, class Potential, class Field, class Hessian>
void results_stage(Space const& space, BodyTree<Space, Precision> const& tree,
                   Array<Sums<sum_t<Precision>>, Space> sums, KernelProfile const& kernel,
                   double length, double charge, Results<Potential, Field, Hessian> const& results,
                   Report* report) {
  const double unit = kernel.potential_unit(length) * charge;
  stage(space, report, "results", [&] {
    const std::int64_t not_finite =
        give_results<Out>(space, sums, gathers_results_v<Space> ? tree.place : tree.permutation,
                          unit, length, results, report != nullptr);
    if (report) report->not_finite = not_finite;
  });
  if (report) add_work(*report, "results", tree.size);
}

}  // namespace fmm::engine
