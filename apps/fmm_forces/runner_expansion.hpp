// SPDX-License-Identifier: BSD-3-Clause
// The choice of a solver at run time, from all that are compiled for one order and precision.
#pragma once

#include <type_traits>

#include "runner.hpp"
#include "shared_instances.hpp"

namespace forces {

/// The field that one evaluation by `solver` gives, as that of the step before.
template <class Solver, class Space, class Data>
Table3<Space, Data> last_step(Solver solver, BodiesOn<Space, Data> const& bodies) {
  const ResultsOn<Space, Data> results(bodies.size());
  auto plan = solver.build(bodies.space, bodies.positions);
  solver.evaluate(bodies.space, plan, bodies.charges, results.potential, results.field);
  bodies.space.fence();
  return results.field;
}

/// A method but for its traversal.
template <int Order>
struct TreecodeBy {
  template <class Traversal>
  using with = fmm::Treecode<Order, Traversal>;
  using Field = fmm::SourceCriterion;
  static constexpr bool is_treecode = true, rotates = false;
};
template <int Order, class Translation>
struct FmmBy {
  template <class Traversal>
  using with = fmm::Fmm<Order, Traversal, Translation>;
  using Field = fmm::FieldCriterion;
  static constexpr bool is_treecode = false, rotates = std::is_same_v<Translation, fmm::Rotation>;
};

/// The solver of a kernel, order and precision that the settings ask for. Those that `resolve` refuses are
/// not compiled: mixed precision and the translations that are there for comparison have fewer criteria.
template <class Precision, class Kernel, int Order, class Data, class Space>
Measurement run_kernel(BodiesOn<Space, Data> const& bodies, ResultsOn<Space, Data> const& results,
                       MethodSettings const& settings, int repeats, Progress& progress) {
  constexpr bool mixed = std::is_same_v<Precision, fmm::Mixed>;
  const auto run = [&]<class Method>(std::type_identity<Method>, auto const&... last_field) {
    fmm::Solver<Kernel, Method, Precision, Space> solver(settings.options);
    return measure(solver, bodies, results, settings, repeats, progress, last_field...);
  };
  const auto run_lists_or_dual = [&]<class By>(By) {
    const auto run_with = [&]<class Traversal>(Traversal, auto const&... last_field) {
      return run(std::type_identity<typename By::template with<Traversal>>(), last_field...);
    };
    using Field = fmm::DualTree<typename By::Field>;
    if constexpr (!mixed)
      if (settings.traversal == Traversal::lists) return run_with(fmm::FmmList{});
    if constexpr (By::rotates)
      if (settings.criterion == Criterion::power)
        return run_with(fmm::DualTree<fmm::MultipolePowerCriterion>{});
    if constexpr (!mixed && (By::rotates || By::is_treecode))
      if (settings.criterion == Criterion::relative) {
        auto options = settings.options;
        options.theta = options.pair_error = std::nullopt;
        using First = fmm::Solver<Kernel, typename By::template with<Field>, Precision, Space>;
        return run_with(fmm::DualTree<fmm::RelativeForceCriterion>{},
                        last_step(First(options), bodies));
      }
    return settings.criterion == Criterion::field ? run_with(Field{})
                                                  : run_with(fmm::DualTree<fmm::RadiusCriterion>{});
  };
  if (settings.method == Method::treecode)
    return settings.traversal == Traversal::barnes_hut
               ? run(std::type_identity<fmm::Treecode<Order>>())
               : run_lists_or_dual(TreecodeBy<Order>{});
  if constexpr (!mixed) {
#if FORCES_HAS_GEMM
    if (settings.translation == Translation::gemm)
      return run_lists_or_dual(FmmBy<Order, fmm::BatchedGemm>{});
#endif
    if (settings.translation == Translation::direct)
      return run_lists_or_dual(FmmBy<Order, fmm::NaiveTranslation>{});
  }
  return run_lists_or_dual(FmmBy<Order, fmm::Rotation>{});
}

template <int Order, class Real, class Data, class Space>
Measurement run_expansion(BodiesOn<Space, Data> const& bodies,
                          ResultsOn<Space, Data> const& results, MethodSettings const& settings,
                          int repeats, Progress& progress) {
  return with_kernel(settings, [&]<class Kernel>(Kernel const&) {
    if constexpr (has_mixed<Real, Data>)
      if (settings.precision == Precision::mixed_precision)
        return run_kernel<fmm::Mixed, Kernel, Order>(bodies, results, settings, repeats, progress);
    return run_kernel<Real, Kernel, Order>(bodies, results, settings, repeats, progress);
  });
}

}  // namespace forces
