// SPDX-License-Identifier: BSD-3-Clause
// Evaluations without a tree's cells: all pairs of one set or of two, those of a batch.
#pragma once

#include <functional>

#include "../kernels/p2p/p2p.hpp"
#include "../tree/lists/blocks.hpp"
#include "charges_stage.hpp"
#include "count_work.hpp"
#include "ewald_sums.hpp"
#include "plan_data.hpp"
#include "vacuum.hpp"

namespace fmm::engine {

/// What sees, or changes, the sums of all pairs once they are there, but for what a vacuum adds, and may throw before
/// any result is written: (kernel, per_length, sums, others), where lengths times per_length are in the kernel's unit,
/// and sums, too, and `others` are strengths beyond the first. Or nothing.
template <class Space, class Precision, class Kernel>
using SeePairs = std::function<void(Kernel const&, double, Array<Sums<sum_t<Precision>>, Space>,
                                    Array<double, Space>)>;

/// Results from the sources' strengths without a tree: sum(kernel, per_length, sums, others, facts) sums so many pairs,
/// where lengths times per_length are in the kernel's unit. Both are one plan, or with NoShift two (cells/sets.hpp).
template <class Out, class Shift, class Strengths, class Space, class Precision, class Kernel,
          class Charges, class Potential, class Field, class Hessian, class Sum>
void evaluate_by_pairs(Space const& space, PlanData<Space, Precision>& targets,
                       PlanData<Space, Precision>& sources, Kernel const& kernel,
                       Charges const& charges, Results<Potential, Field, Hessian> const& results,
                       Report* report, DensityFacts<Strengths::densities> const* known,
                       std::int64_t pairs, Sum const& sum) {
  constexpr bool one_set = std::is_same_v<Shift, OneSet>;
  auto const& tree = targets.tree;
  SourceStrengths<Space, double, Strengths> strengths{sources.tree.positions, {}};
  if constexpr (Strengths::numbers > 1)
    strengths.others = sources.memory.others_in_double.resize(sources.tree.size * strengths.rows);
  const auto facts = charges_stage<Potential, Field, Hessian>(
      space, sources.memory, sources.tree, profile_of(kernel), charges, strengths, one_set, report,
      one_set ? Out::records : 1, false, known);
  if constexpr (!one_set) targets.memory.sums.resize(tree.size * Out::records);
  const auto sums = targets.memory.sums.view(tree.size * Out::records);
  double length = 1;
  if constexpr (RescalableKernel<Kernel>) {
    length = tree.cube.exact_unit();
    sum(in_units_of(length, kernel), 1 / length, sums, strengths.others, facts);
  } else {
    sum(kernel, 1.0, sums, strengths.others, facts);
  }
  results_stage<Out>(space, targets, sums, profile_of(kernel), length, facts.units(), results,
                     report);
  if (report) count_pairs<Out, Strengths>(pairs, *report);
}

/// Those by all pairs, of all targets or of a sample.
template <class Out, class Shift = OneSet, class Strengths = kernels::Charges<>, class Space,
          class Precision, class Kernel, class Charges, class Potential, class Field, class Hessian>
void evaluate_all_pairs(Space const& space, PlanData<Space, Precision>& targets,
                        PlanData<Space, Precision>& sources, Kernel const& kernel,
                        Charges const& charges, Results<Potential, Field, Hessian> const& results,
                        TileSample<Space> const* sample, Report* report,
                        SeePairs<Space, Precision, Kernel> const& see = {},
                        DensityFacts<Strengths::densities> const* known = nullptr) {
  auto& tree = targets.tree;
  const auto summed = sample ? std::int64_t(sample->bodies.size()) : targets.targets();
  evaluate_by_pairs<Out, Shift, Strengths>(
      space, targets, sources, kernel, charges, results, report, known,
      summed * (sources.tree.size - std::is_same_v<Shift, OneSet>),
      [&](auto const& kernel_of_unit, double per_unit, auto sums, auto others, auto const& facts) {
        if constexpr (is_harmonic<Kernel>())
          if (auto const& lattice = targets.periodic.lattice) {
            const bool one_set = std::is_same_v<Shift, OneSet>;
            const SourceStrengths<Space, double, Strengths> strengths{sources.tree.positions,
                                                                      others};
            const auto tiles = sample ? sample->tiles : targets.tiles().tiles;
            stage(space, report, "p2p", [&] {
              ewald_sums<Out>(
                  space, *lattice, kernel_of_unit, targets.facts.far_from, per_unit, strengths,
                  tree.positions, one_set, tiles,
                  Tuning<Space, real_t<Precision>>::all_pairs[targets.facts.all_pairs_shape].tile,
                  sums, !one_set, targets.facts.ewald_error);
            });
            if (see) see(kernel_of_unit, per_unit, sums, others);
            if (targets.periodic.given.extent(0) > 0)
              stage(space, report, "p2p", [&] {
                add_vacuum<Out>(space, targets, sources, strengths, facts,
                                lattice->times(per_unit).volume(), per_unit, per_unit, tiles, sums);
              });
            return;
          }
        stage(space, report, "p2p", [&] {
          p2p_all<Out, Precision, Strengths>(space, kernel_of_unit, per_unit,
                                             of_sets<Shift>(tree.positions, sources.tree.positions),
                                             sample ? sample->tiles : targets.tiles().tiles,
                                             targets.facts.all_pairs_shape, sums, others);
        });
        if (see) see(kernel_of_unit, per_unit, sums, others);
      });
}

/// Those of a batch.
template <class Out, class Strengths, class Space, class Precision, class Kernel, class Charges,
          class Potential, class Field, class Hessian>
void evaluate_batch(Space const& space, PlanData<Space, Precision>& plan, Kernel const& kernel,
                    Charges const& charges, Results<Potential, Field, Hessian> const& results,
                    Report* report, DensityFacts<Strengths::densities> const* known) {
  auto& tree = plan.tree;
  evaluate_by_pairs<Out, OneSet, Strengths>(
      space, plan, plan, kernel, charges, results, report, known, plan.facts.pairs_of_batch,
      [&](auto const& kernel_of_unit, double per_unit, auto sums, auto others, auto const&) {
        stage(space, report, "p2p", [&] {
          p2p_batch<Out, Precision, Strengths>(space, kernel_of_unit, per_unit, tree.positions,
                                               plan.memory.batch.offsets.view(), tree.octree.tiles,
                                               plan.facts.all_pairs_shape, sums, others);
        });
      });
}

}  // namespace fmm::engine
