// SPDX-License-Identifier: BSD-3-Clause
// The choice of a solver at run time, from the laboratory's: what the library's compiled solvers (fmm/runtime.hpp) do
// not have, for one order and precision.
#pragma once

#include <any_kernel.hpp>
#include <stdexcept>
#include <type_traits>

#include "runner.hpp"
#include "shared_instances.hpp"

namespace forces {

/// The field that one evaluation gives, as that of the step before.
template <class Space, class Data>
Table3<Space, Data> last_step(BodiesOn<Space, Data> const& bodies, MethodSettings settings) {
  settings.criterion = Criterion::field;
  settings.options.theta = settings.options.pair_error = std::nullopt;
  const ResultsOn<Space, Data> results(bodies.size());
  fmm::AnySolver solver(policies_of(settings), settings.options);
  auto plan = solver.build(bodies.positions);
  solver.evaluate(plan, bodies.charges, results.potential, results.field);
  return results.field;
}

/// The kernel that the settings name, its softening in the solver's options.
inline fmm::kernels::AnyKernel kernel_of(MethodSettings const& settings) {
  if (settings.kernel == KernelKind::laplace) return {fmm::Laplace()};
  if (settings.softening_kind == SofteningKind::plummer) return {fmm::SoftenedGravity()};
  return {fmm::SplineGravity()};
}

/// The solver of an order and precision that the settings ask for. Those that `resolve` refuses are not compiled: mixed
/// precision and the translations that are there for comparison have fewer criteria.
template <class Precision, int Order, class Data, class Space>
Measurement run_in(BodiesOn<Space, Data> const& bodies, ResultsOn<Space, Data> const& results,
                   MethodSettings const& settings, int repeats, Progress& progress) {
  const auto run = [&]<class Method>(std::type_identity<Method>, auto const&... last_field) {
    fmm::Solver<fmm::kernels::AnyKernel, Method, Precision, Space> solver(settings.options,
                                                                          kernel_of(settings));
    return measure(solver, bodies, results, settings, repeats, progress, last_field...);
  };
  using fmm::DualTree, fmm::FmmList, fmm::RadiusCriterion;
  if constexpr (std::is_same_v<Precision, fmm::Mixed>) {
    return run(std::type_identity<fmm::Treecode<Order, DualTree<RadiusCriterion>>>());
  } else {
    using Relative = DualTree<fmm::RelativeForceCriterion>;
    const bool by_lists = settings.traversal == Traversal::lists;
    if (settings.method == Method::treecode) {
      if (by_lists) return run(std::type_identity<fmm::Treecode<Order, FmmList>>());
      if (settings.criterion == Criterion::relative)
        return run(std::type_identity<fmm::Treecode<Order, Relative>>(),
                   last_step(bodies, settings));
      return run(std::type_identity<fmm::Treecode<Order, DualTree<RadiusCriterion>>>());
    }
    const auto run_translation = [&]<class Translation>(std::type_identity<Translation>) {
      if (by_lists) return run(std::type_identity<fmm::Fmm<Order, FmmList, Translation>>());
      if (settings.criterion == Criterion::field)
        return run(
            std::type_identity<fmm::Fmm<Order, DualTree<fmm::FieldCriterion>, Translation>>());
      return run(std::type_identity<fmm::Fmm<Order, DualTree<RadiusCriterion>, Translation>>());
    };
#if FORCES_HAS_GEMM
    if (settings.translation == Translation::gemm)
      return run_translation(std::type_identity<fmm::BatchedGemm>());
#endif
    if (settings.translation == Translation::direct)
      return run_translation(std::type_identity<fmm::NaiveTranslation>());
    if (by_lists) return run(std::type_identity<fmm::Fmm<Order, FmmList>>());
    if (settings.criterion != Criterion::relative)
      throw std::logic_error("a solver that the library has compiled");
    return run(std::type_identity<fmm::Fmm<Order, Relative>>(), last_step(bodies, settings));
  }
}

template <int Order, class Real, class Data, class Space>
Measurement run_expansion(BodiesOn<Space, Data> const& bodies,
                          ResultsOn<Space, Data> const& results, MethodSettings const& settings,
                          int repeats, Progress& progress) {
  if constexpr (has_mixed<Real, Data>)
    if (settings.precision == Precision::mixed_precision)
      return run_in<fmm::Mixed, Order>(bodies, results, settings, repeats, progress);
  return run_in<Real, Order>(bodies, results, settings, repeats, progress);
}

}  // namespace forces
