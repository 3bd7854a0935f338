// SPDX-License-Identifier: BSD-3-Clause
// Targets and sources that are two sets of bodies, or one at a shift, as a caller composes their evaluation.
#pragma once

#include "support.hpp"

namespace fmm_test {

/// A plan of some bodies whose tree is over that cube.
template <class Solver, class Positions>
typename Solver::plan_type plan_over(fmm::tree::Cube const& cube, Solver& solver,
                                     Positions const& positions) {
  const fmm::engine::BuildChoices choices{
      cube, fmm::engine::split_rule(solver.options(), std::int64_t(positions.extent(0)),
                                    fmm::max_tree_depth)};
  return solver.build(typename Solver::execution_space(), fmm::Inputs<Positions>{positions},
                      nullptr, &choices);
}

/// What sources at a shift exert on targets.
template <class Traversal, class Precision, class Solver, class Shift, class Charges>
Results exerted(Solver const& solver, typename Solver::plan_type& targets,
                typename Solver::plan_type& sources, Shift shift, Charges const& charges,
                fmm::Report* report = nullptr) {
  using Space = typename Solver::execution_space;
  using Want = fmm::kernels::Outputs<true, true>;
  using Site = fmm::site_t<Space>;
  const Space kokkos_space;
  Site const& space = kokkos_space;
  auto &to = targets.data(), &from = sources.data();
  const auto lists = fmm::engine::build_lists_of_two<Traversal>(
      space, to.memory, from.memory,
      fmm::engine::BodySets<Site, Precision, Shift>{to.tree, from.tree, shift}, solver.options(),
      solver.far_field());
  fmm::engine::Evaluation<Site, Precision, Want, Shift> steps(
      space, solver.template operators<Want, Shift>(to.tree.cube), to, from, shift, lists,
      fmm::kernels::profile_of(solver.kernel()), report);
  ViewIn<double*, Space> potential("potential", targets.size());
  ViewIn<double* [3], Space> field("field", targets.size());
  steps.template take_charges<decltype(potential), decltype(field)>(charges);
  steps.upward(false);
  steps.interact();
  steps.downward();
  steps.near_field(solver.kernel(), solver.options());
  steps.give_results(potential, field);
  space.fence();
  return to_host(potential, field);
}

/// The cube of all bodies of two sets.
template <class Space>
fmm::tree::Cube cube_of(Bodies bodies, Bodies const& others) {
  bodies.x.insert(bodies.x.end(), others.x.begin(), others.x.end());
  bodies.q.insert(bodies.q.end(), others.q.begin(), others.q.end());
  const DeviceBodies<Space> all(bodies);
  return fmm::tree::root_cube(fmm::tree::bounding_box(Space(), all.x));
}

}  // namespace fmm_test
