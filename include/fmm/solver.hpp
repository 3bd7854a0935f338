// SPDX-License-Identifier: BSD-3-Clause
// The solver: composes kernels and trees. `build` makes a plan from positions, `evaluate` sums with it.
//
//     fmm::Solver<fmm::SoftenedGravity, 6> solver({.softening = 0.01});
//     auto plan = solver.build(space, positions);                 // (N,3)
//     solver.evaluate(space, plan, masses, potential, acceleration);  // (N), (N), (N,3)
//
// Definitions (docs/math.md): Laplace phi_i = sum_(j/=i) q_j / r_ij and field = -grad phi; gravity
// phi_i = -G sum_(j/=i) m_j / sqrt(r^2 + eps^2) and field = acceleration = -grad phi.
#pragma once

#include <vector>

#include "bodies.hpp"
#include "concepts.hpp"
#include "detail/flops.hpp"
#include "kernels/l2l.hpp"
#include "kernels/l2p.hpp"
#include "kernels/m2l.hpp"
#include "kernels/m2m.hpp"
#include "kernels/m2p.hpp"
#include "kernels/p2m.hpp"
#include "kernels/p2p.hpp"
#include "plan_builder.hpp"
#include "report.hpp"
#include "tuning.hpp"

namespace fmm {

namespace detail {

/// What is counted of a plan for a report.
template <class Space>
struct CountWork {
  Array<Cell, Space> cells;
  Csr<Space> p2p, m2p, m2l;
  bool m2l_at_bodies;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& pairs,
                                  std::int64_t& m2p_pairs) const {
    const std::int64_t bodies = cells(i).body_count;
    for (Offset k = p2p.offsets(i); k < p2p.offsets(i + 1); ++k)
      pairs +=
          bodies * (p2p.entries(k) == CellIndex(i) ? bodies - 1 : cells(p2p.entries(k)).body_count);
    m2p_pairs += bodies * (m2p.offsets(i + 1) - m2p.offsets(i));
    if (m2l_at_bodies) m2p_pairs += bodies * (m2l.offsets(i + 1) - m2l.offsets(i));
  }
};

}  // namespace detail

/// Sums a pair kernel over all pairs of bodies.
///
/// Kernel          PairKernel: Laplace, SoftenedGravity, or one's own
/// Order           highest degree of the expansions, 0 or more; ignored by AllPairs
/// Translation     Rotation (O(p^3)), Direct (O(p^4)), or NoTranslation (a treecode)
/// Traversal       AllPairs, BarnesHut (a treecode), FmmList or DualTree<criterion>
/// Real            precision of the computation; positions, charges and results have their own types
/// ExecutionSpace  where everything runs; Views must be accessible from there
///
/// A solver keeps the memory of plans that are no longer used for the next build: a second build of the
/// same size allocates nothing. It is not to be used from two threads at a time.
template <class Kernel, int Order, class Translation = Rotation, class Traversal = DualTree<>,
          class Real = float, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class Solver {
  static_assert(
      detail::check_policies<Kernel, Order, Translation, Traversal, Real, ExecutionSpace>());

 public:
  using execution_space = ExecutionSpace;
  using plan_type = Plan<ExecutionSpace, Real>;
  static constexpr int order = Order;

  /// Validates `options` and fills in the defaults. Throws InvalidArgument.
  explicit Solver(Options options = {}, Kernel kernel = {}) : options_(options), kernel_(kernel) {
    detail::validate(options);
    if constexpr (requires { kernel.with(options); }) {
      kernel_ = kernel.with(options);
    } else {
      if (options.softening != 0)
        throw InvalidArgument("softening", options.softening, "0, with a kernel that has none");
      if (options.G != 1)
        throw InvalidArgument("G", options.G, "1, with a kernel that has no such constant");
    }
    set_theta();
    set_pair_error();
    if (!options_.leaf_capacity) options_.leaf_capacity = Shape::leaf_capacity(Order);
    if (!options_.depth && options_.tree == TreeKind::adaptive) options_.depth = max_tree_depth;
  }

  /// The options in force; only a uniform tree's depth may still be open (see Plan::depth).
  Options const& options() const { return options_; }
  Kernel const& kernel() const { return kernel_; }

  /// A plan for (N,3) `positions`: keys, sort, tree, lists. Throws InvalidArgument for positions that are
  /// not finite and OutOfMemory; returns when the lists are being written. Cost: O(N log N) for the sort,
  /// O(N) else (treecode: O(N log N) list entries).
  template <class Positions>
  plan_type build(ExecutionSpace const& space, Positions const& positions) {
    return build_with(space, positions, none, nullptr);
  }
  template <class Positions>
  plan_type build(ExecutionSpace const& space, Positions const& positions, Report& report) {
    return build_with(space, positions, none, &report);
  }

  /// The same for a criterion that uses charges. Evaluations with other charges redo acceptance and
  /// lists, but neither sort nor tree.
  template <class Positions, class Charges>
    requires(Kokkos::is_view<Charges>::value)
  plan_type build(ExecutionSpace const& space, Positions const& positions, Charges const& charges) {
    return build_with(space, positions, charges, nullptr);
  }
  template <class Positions, class Charges>
    requires(Kokkos::is_view<Charges>::value)
  plan_type build(ExecutionSpace const& space, Positions const& positions, Charges const& charges,
                  Report& report) {
    return build_with(space, positions, charges, &report);
  }

  /// Potential (N) and field (N,3) of all bodies from (N) `charges`, in the caller's order; pass fmm::none
  /// for a result that is not wanted. Asynchronous in `space` but for one reduction over the charges.
  /// Throws InvalidArgument before any result is touched.
  template <class Charges, class Potential, class Field>
  void evaluate(ExecutionSpace const& space, plan_type const& plan, Charges const& charges,
                Potential const& potential, Field const& field) {
    evaluate_with(space, plan, charges, potential, field, nullptr);
  }
  template <class Charges, class Potential, class Field>
  void evaluate(ExecutionSpace const& space, plan_type const& plan, Charges const& charges,
                Potential const& potential, Field const& field, Report& report) {
    evaluate_with(space, plan, charges, potential, field, &report);
  }

  /// With AllPairs: the sums of about `samples` bodies over all others, to tell the time and the error of
  /// a sum that would take too long. The sample is made of whole tiles, evenly spread over the sorted
  /// bodies, so that a pair costs what it costs in the full sum. The results of all other bodies become
  /// 0. Returns the numbers of the sampled bodies (M). Cost: M N pairs.
  template <class Charges, class Potential, class Field>
    requires std::is_same_v<Traversal, AllPairs>
        Kokkos::View<detail::BodyIndex*, detail::Device<ExecutionSpace>> evaluate_sample(
            ExecutionSpace const& space, plan_type const& plan, Charges const& charges,
            Potential const& potential, Field const& field, std::int64_t samples, Report& report) {
      if (samples <= 0) throw InvalidArgument("samples", double(samples), "1 or more");
      if (plan.size() == 0) return {};
      Storage const& s = *plan.storage_;
      const detail::TileSample<ExecutionSpace> sample(space, s.tree.tiles, s.order, samples);
      evaluate_with(space, plan, charges, potential, field, &report, &sample);
      return sample.bodies;
    }

 private:
  using Storage = detail::PlanStorage<ExecutionSpace, Real>;
  using Shape = Tuning<ExecutionSpace, Real>;
  static constexpr bool all_pairs = std::is_same_v<Traversal, AllPairs>;
  static constexpr bool dual = detail::is_dual_v<Traversal>;
  static constexpr bool uses_charges = detail::uses_charges_v<Traversal>;
  /// A treecode evaluates multipoles at the bodies; an FMM goes through local expansions.
  static constexpr bool has_locals = dual && !std::is_same_v<Translation, NoTranslation>;

  void set_theta() {
    if constexpr (!detail::uses_theta_v<Traversal>) {
      if (options_.theta &&
          (all_pairs || std::fabs(*options_.theta - default_theta<Traversal>()) > 1e-3))
        throw InvalidArgument("theta", *options_.theta,
                              all_pairs ? std::string("not set, with a traversal of all pairs")
                                        : "not set, or the criterion's own " +
                                              detail::to_text(default_theta<Traversal>()));
    } else {
      constexpr bool closed = std::is_same_v<Traversal, BarnesHut>;
      if (options_.theta &&
          !(*options_.theta > 0 && (*options_.theta < 1 || (closed && *options_.theta == 1))))
        throw InvalidArgument("theta", *options_.theta,
                              closed ? "0 < theta <= 1" : "0 < theta < 1");
    }
    if (!options_.theta && !all_pairs) options_.theta = default_theta<Traversal>();
  }

  void set_pair_error() {
    if constexpr (detail::uses_pair_error_v<Traversal>) {
      if (!options_.pair_error) options_.pair_error = Traversal::criterion::default_pair_error;
    } else {
      if (options_.pair_error)
        throw InvalidArgument("pair_error", *options_.pair_error,
                              "not set, with a traversal that does not use it");
    }
  }

  /// Memory of a plan that nobody holds any more, or new.
  std::shared_ptr<Storage> free_storage() {
    for (auto const& storage : pool_)
      if (storage.use_count() == 1) return storage;
    return pool_.emplace_back(std::make_shared<Storage>());
  }

  template <class Positions, class Charges>
  plan_type build_with(ExecutionSpace const& space, Positions const& positions,
                       Charges const& charges, Report* report) {
    detail::check_view<ExecutionSpace, Positions, 2>();
    constexpr bool has_charges = !std::is_same_v<Charges, None>;
    static_assert(has_charges == uses_charges,
                  "fmm: build takes charges if, and only if, the acceptance criterion declares "
                  "uses_charges");
    const std::int64_t n = detail::checked_size("positions", positions);
    if constexpr (has_charges) {
      detail::check_view<ExecutionSpace, Charges, 1>();
      detail::check_extents("charges", charges, n);
    }
    detail::Region region("fmm::build");
    const detail::Stopwatch watch;
    auto storage = free_storage();
    const typename Positions::const_type constant = positions;
    detail::build_plan<Traversal>(space, *storage, constant, options_, Order, report);
    if constexpr (has_charges)
      if (n > 0) {
        detail::stage(space, report, "charges", [&] { take_charges(space, *storage, charges); });
        detail::lists_stage<Traversal>(space, *storage, options_, Order, report);
      }
    if (report) {
      space.fence();
      report->build_seconds += watch.seconds();
      report->memory_bytes = memory_bytes();
    }
    return plan_type(storage);
  }

  /// Charges into tree order; returns their unit.
  template <class Charges>
  double take_charges(ExecutionSpace const& space, Storage& s, Charges const& charges) const {
    const typename Charges::const_type constant = charges;
    constexpr bool positive = detail::is_positive<Kernel>();
    const auto sums = s.sums.resize(s.size);
    if constexpr (all_pairs)
      return detail::take_charges<positive>(space, constant, s.order, s.positions.view(s.size),
                                            sums);
    else
      return detail::take_charges<positive>(space, constant, s.order, s.bodies.view(s.size), sums);
  }

  /// The sums of all bodies or, with AllPairs, of a sample.
  template <class Charges, class Potential, class Field>
  void evaluate_with(ExecutionSpace const& space, plan_type const& plan, Charges const& charges,
                     Potential const& potential, Field const& field, Report* report,
                     detail::TileSample<ExecutionSpace> const* sample = nullptr) {
    detail::check_view<ExecutionSpace, Charges, 1>();
    detail::check_result<ExecutionSpace, Potential, 1>();
    detail::check_result<ExecutionSpace, Field, 2>();
    using Want = detail::Wanted<!std::is_same_v<Potential, None>, !std::is_same_v<Field, None>>;
    static_assert(Want::potential || Want::field,
                  "fmm: at least one of potential and field must be wanted");
    Storage& s = *plan.storage_;
    detail::check_extents("charges", charges, s.size);
    detail::check_extents("potential", potential, s.size);
    detail::check_extents("field", field, s.size);
    if (s.size == 0) return;
    detail::Region region("fmm::evaluate");
    const detail::Stopwatch watch;
    double charge_unit = 1;
    detail::stage(space, report, "charges", [&] { charge_unit = take_charges(space, s, charges); });
    double length = 1;
    if constexpr (detail::RescalableKernel<Kernel>)
      length = all_pairs ? s.cube.exact_unit() : s.cube.edge;
    if constexpr (all_pairs) {
      detail::stage(space, report, "p2p", [&] {
        detail::p2p_all<Want>(space, kernel_in(length), 1 / length, s.positions.view(s.size),
                              sample ? sample->tiles : s.tree.tiles, s.all_pairs_shape,
                              s.sums.view(s.size));
      });
    } else {
      if constexpr (uses_charges) detail::lists_stage<Traversal>(space, s, options_, Order, report);
      sum_tree<Want>(space, s, kernel_in(length), report);
    }
    detail::stage(space, report, "results", [&] {
      double unit = detail::prefactor(kernel_) * charge_unit;
      if constexpr (detail::RescalableKernel<Kernel>) unit *= kernel_.potential_unit(length);
      detail::give_results(space, s.sums.view(s.size),
                           detail::gathers_results_v<ExecutionSpace> ? s.place : s.order, unit,
                           unit / length, potential, field);
    });
    if (report) {
      space.fence();
      report->evaluate_seconds += watch.seconds();
      count_work<Want>(space, s, sample ? std::int64_t(sample->bodies.size()) : s.size, *report);
      report->memory_bytes = memory_bytes();
    }
  }

  Kernel kernel_in(double length) const {
    if constexpr (detail::RescalableKernel<Kernel>)
      return kernel_.rescaled(length);
    else
      return kernel_;
  }

  /// The way of the data through the operators. Sums of the bodies are in units of the cube.
  template <class Want>
  void sum_tree(ExecutionSpace const& space, Storage& s, Kernel const& kernel_of_cube,
                Report* report) const {
    using Expansion = detail::expansion_t<Kernel, Order, Real, Translation>;
    auto const& tree = s.tree;
    const auto bodies = s.bodies.view(s.size);
    const auto sums = s.sums.view(s.size);
    const std::size_t coefficients =
        std::size_t(tree.cells.extent(0)) * detail::row_length(Expansion::size);
    const auto multipoles = s.multipoles.resize(coefficients);
    detail::stage(space, report, "p2m", [&] {
      detail::p2m<Expansion>(space, tree.cells, tree.leaves, bodies, multipoles);
    });
    detail::stage(space, report, "m2m", [&] {
      for (int level = tree.depth - 1; level >= 0; --level)
        detail::m2m<Expansion>(space, tree.cells, tree.parents_of(level), multipoles);
    });
    if constexpr (has_locals) {
      const auto locals = s.locals.resize(coefficients);
      detail::stage(space, report, "m2l", [&] {
        detail::m2l<Expansion>(space, tree.cells, s.lists.m2l, multipoles, locals);
      });
      detail::stage(space, report, "l2l", [&] {
        for (int level = 1; level <= tree.depth; ++level)
          detail::l2l<Expansion>(space, tree.cells, tree.level_begin[level],
                                 tree.level_begin[level + 1], locals);
      });
      detail::stage(space, report, "l2p", [&] {
        detail::l2p<Expansion, Want>(space, tree.cells, tree.tiles, bodies, locals, sums);
      });
    }
    if (!has_locals || s.lists.m2p.entries.extent(0) > 0)
      detail::stage(space, report, "m2p", [&] {
        const auto staged = detail::stage_multipoles<Expansion>(space, multipoles, s.staged);
        detail::m2p<Expansion, Want>(space, tree.cells, tree.tiles, s.lists.m2p,
                                     has_locals ? detail::Csr<ExecutionSpace>{} : s.lists.m2l,
                                     bodies, staged, sums);
      });
    detail::stage(space, report, "p2p", [&] {
      detail::p2p<Want>(space, kernel_of_cube, tree.cells, tree.tiles, s.lists.p2p, bodies, sums);
    });
  }

  /// Fills in counts and flops of the evaluation's stages.
  template <class Want>
  void count_work(ExecutionSpace const& space, Storage const& s, std::int64_t targets,
                  Report& report) const {
    const std::int64_t n = s.size;
    std::int64_t pairs = targets * (n - 1), m2p = 0;
    report.stage("charges").count += n;
    report.stage("results").count += n;
    if constexpr (!all_pairs) {
      pairs = 0;
      const auto no_overlap = !has_locals;
      Kokkos::parallel_reduce("fmm::count", detail::range(space, s.tree.cells.extent(0)),
                              detail::CountWork<ExecutionSpace>{
                                  s.tree.cells, s.lists.p2p, s.lists.m2p, s.lists.m2l, no_overlap},
                              pairs, m2p);
      using Expansion = detail::expansion_t<Kernel, Order, Real, Translation>;
      const auto flops =
          detail::body_flops<detail::basis_t<Expansion>, Real, Want::potential, Want::field>();
      const auto translations = detail::translation_flops<Expansion, Real>();
      const std::int64_t cells = s.tree.cells.extent(0);
      const auto add = [&](char const* name, std::int64_t count, std::int64_t each) {
        report.stage(name).count += count;
        report.stage(name).flops += double(count) * double(each);
      };
      add("p2m", n, flops.p2m);
      add("m2m", cells - 1, translations.m2m);
      if constexpr (has_locals) {
        report.m2l += std::int64_t(s.lists.m2l.entries.extent(0));
        add("m2l", std::int64_t(s.lists.m2l.entries.extent(0)), translations.m2l);
        add("l2l", cells - 1, translations.l2l);
        add("l2p", n, flops.l2p);
      }
      if (m2p > 0) add("m2p", m2p, flops.m2p);
    }
    report.m2p += m2p;
    report.p2p_pairs += pairs;
    report.stage("p2p").count += pairs;
    // as the chapter counts: 20 for potential and force, 19 for the force, 10 for the potential
    constexpr int per_pair = Want::field ? (Want::potential ? 20 : 19) : 10;
    report.stage("p2p").flops += double(pairs) * per_pair;
  }

  std::size_t memory_bytes() const {
    std::size_t bytes = 0;
    for (auto const& storage : pool_) bytes += storage->bytes();
    return bytes;
  }

  Options options_;
  Kernel kernel_;
  std::vector<std::shared_ptr<Storage>> pool_;
};

}  // namespace fmm
