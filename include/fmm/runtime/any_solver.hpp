// SPDX-License-Identifier: BSD-3-Clause
// A solver whose policies are values: kernel, method, order, precision and backend are chosen while the program runs.
// What it does is compiled in the library fmm::runtime, and nothing of it in the program. Free of Kokkos.
//
//     fmm::AnySolver solver({.kernel = fmm::runtime::Kernel::softened_gravity}, {.tolerance = 1e-5});
//     auto plan = solver.build(positions, masses);                  // (N,3), (N)
//     solver.evaluate(plan, masses, potential, acceleration);       // (N), (N), (N,3)
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "../accuracy/error_measure.hpp"
#include "../errors.hpp"
#include "../options.hpp"
#include "../report.hpp"
#include "../tolerance/tuned.hpp"
#include "any_strengths.hpp"
#include "arrays.hpp"
#include "policies.hpp"

namespace fmm {

/// Made by AnySolver::build, used by AnySolver::evaluate any number of times, one after the other. It moves, and is not
/// copied. After a move from it, only another one may be moved into it.
class FMM_VISIBLE AnyPlan {
 public:
  class Implementation;

  AnyPlan(AnyPlan&&) noexcept;
  AnyPlan& operator=(AnyPlan&&) noexcept;
  ~AnyPlan();

  /// Numbers of sources, N, and of targets, M: N, unless there are targets of their own, or chosen ones.
  std::int64_t size() const;
  std::int64_t targets() const;
  /// As of Plan; cells, leaves and depth of two sets are the sources'. 0 of a plan for any strengths with a tolerance
  /// that was not evaluated, or sums all pairs.
  std::int64_t cells() const;
  std::int64_t leaves() const;
  int depth() const;
  std::int64_t m2l_entries() const;
  std::int64_t p2l_entries() const;
  std::int64_t m2p_entries() const;
  std::int64_t p2p_entries() const;
  std::size_t memory_bytes() const;

 private:
  friend class AnySolver;
  explicit AnyPlan(std::unique_ptr<Implementation> implementation);

  std::unique_ptr<Implementation> implementation_;
};

/// Sums one of the library's pair kernels over all pairs of bodies: fmm::Solver or, with Options::tolerance,
/// fmm::ToleranceSolver (of one order: fmm::CalibratedSolver), with the same results: bit for bit, of a static library,
/// and beside a shared one to rounding. It moves, and is not copied.
///
/// Arrays are of float or double, (N), (N,3) or of several densities, with any strides from 0 on, in memory that the
/// backend can access; nothing of them is kept but by a plan for any strengths with a tolerance. Results may lie in the
/// place of charges or positions, but not of each other. Before any work, a call throws InvalidArgument for an array of
/// the wrong shape, in the wrong memory, or without memory. Every call returns when it has done its work; it runs in
/// the backend's default instance. Not to be used from two threads at a time.
///
/// Dipoles, Hessians, several densities and targets of their own are for criteria of the geometry alone
/// (Method::direct, Criterion::radius), and with a tolerance for plans that were built without charges, as of
/// ToleranceSolver. Their arrays are copied, in double.
class FMM_VISIBLE AnySolver {
 public:
  class Implementation;

  /// Validates policies and options, and fills in defaults. Throws InvalidArgument, also for a backend or an order that
  /// was not compiled in, and unless Kokkos is initialised (see runtime::KokkosSession).
  explicit AnySolver(runtime::Policies const& policies, Options const& options = {});
  AnySolver(AnySolver&&) noexcept;
  AnySolver& operator=(AnySolver&&) noexcept;
  ~AnySolver();

  /// With defaults filled in; the order is the one in force.
  runtime::Policies policies() const;
  /// With defaults filled in; with a tolerance as of ToleranceSolver.
  Options options() const;
  /// Of the expansions; with a tolerance as of ToleranceSolver.
  int order() const;
  /// Whether `build` takes charges: with a tolerance, or by Criterion::multipole_power. With a tolerance it makes a
  /// plan for any strengths without them.
  bool uses_charges() const;

  /// A plan for (N,3) positions and, if the solver uses them, (N) charges, which are else ignored. Throws and costs as
  /// Solver::build.
  AnyPlan build(runtime::ConstArray const& positions, runtime::ConstArray const& charges = {},
                Report* report = nullptr);
  /// The same with targets: (M,3) positions anywhere, or (M) numbers of sources, signed integers of 32 or 64 bits, in
  /// any order; none: all sources.
  AnyPlan build(runtime::ConstArray const& positions, runtime::ConstArray const& charges,
                runtime::ConstArray const& targets, Report* report = nullptr);
  /// The same from Inputs, which hold what they are made of: a container is copied into them, a View or a std::span is
  /// not.
  template <class Sources, class Charges, class Targets, class LastField>
  AnyPlan build(Inputs<Sources, Charges, Targets, LastField> const& inputs,
                Report* report = nullptr) {
    static_assert(std::is_same_v<LastField, None>,
                  "fmm: fmm::AnySolver takes no last field: for a criterion that uses it, take "
                  "fmm::Solver");
    return build(inputs.sources, inputs.charges, inputs.targets, report);
  }
  /// Other targets for the plan, of the kind that it has: positions, within its cube but with a tolerance; or numbers
  /// of sources, or none: all sources. As Solver::retarget and ToleranceSolver::retarget.
  void retarget(AnyPlan& plan, runtime::ConstArray const& targets, Report* report = nullptr);

  /// Potential (M) and field (M,3) of all targets from (N) `charges`, in the caller's order; pass fmm::none for a
  /// result that is not wanted. Throws and costs as Solver::evaluate.
  void evaluate(AnyPlan& plan, runtime::ConstArray const& charges,
                runtime::MutableArray const& potential, runtime::MutableArray const& field,
                Report* report = nullptr);
  /// Any of potential (M), field (M,3) and Hessian (M,6) from charges (N), dipoles (N,3) or both; of K densities (M,K),
  /// (M,K,3), (M,K,6) from (N,K), (N,K,3). Throws and costs as Solver::evaluate and ToleranceSolver::evaluate, but: of
  /// dipoles Hessians are summed always; densities are summed in blocks of four, those with dipoles or Hessians one
  /// after the other. For results that float has no room for, arrays of float are refused, before any is written.
  void evaluate(AnyPlan& plan, runtime::AnyStrengths const& strengths,
                runtime::AnyResults const& results, Report* report = nullptr);
  /// The same of fmm::Strengths and fmm::Results, of Views, std::spans or runtime arrays.
  template <class Charges, class Dipoles, class Potential, class Field, class Hessian>
  void evaluate(AnyPlan& plan, Strengths<Charges, Dipoles> const& strengths,
                Results<Potential, Field, Hessian> const& results, Report* report = nullptr) {
    evaluate(plan, runtime::AnyStrengths{strengths.charges, strengths.dipoles, strengths.unchanged},
             runtime::any_results(results), report);
  }
  template <class Potential, class Field, class Hessian>
  void evaluate(AnyPlan& plan, runtime::ConstArray const& charges,
                Results<Potential, Field, Hessian> const& results, Report* report = nullptr) {
    evaluate(plan, runtime::AnyStrengths{charges, {}}, runtime::any_results(results), report);
  }
  /// Has a plan for any strengths with a tolerance stay as it is, as ToleranceSolver::freeze: a linear operator. Other
  /// plans for any strengths are such already.
  void freeze(AnyPlan& plan);
  /// A plan of the transposed sums, as Solver::transposed; not of a treecode's, nor of one with chosen targets.
  AnyPlan transposed(AnyPlan const& plan, Report* report = nullptr);

  /// With Method::direct: the sums of about `samples` bodies, spread evenly over all, and 0 for all other bodies.
  /// Returns the numbers of the sampled bodies. With a tolerance, of a plan that was built with charges. Throws and
  /// costs as Solver::evaluate_sample.
  std::vector<std::int32_t> evaluate_sample(AnyPlan& plan, runtime::ConstArray const& charges,
                                            runtime::MutableArray const& potential,
                                            runtime::MutableArray const& field,
                                            std::int64_t samples, Report* report = nullptr);

  /// With a tolerance: finds the fastest setting that holds it for bodies like these, as ToleranceSolver::tune.
  Tuned tune(runtime::ConstArray const& positions, runtime::ConstArray const& charges);
  template <class Sources, class Charges>
  Tuned tune(Inputs<Sources, Charges> const& inputs) {
    return tune(inputs.sources, inputs.charges);
  }

  /// Compares (N) `potential` and (N,3) `field`, or fmm::none, with the direct sum in double at `samples` random
  /// bodies (all, if samples >= N); own errors with the least share of the solver's precision (error_measure.hpp).
  /// Cost: 2 x samples x N pairs; memory: 32 bytes a body, and 32 more for as long.
  ErrorMeasure measure_error(runtime::ConstArray const& positions,
                             runtime::ConstArray const& charges,
                             runtime::ConstArray const& potential, runtime::ConstArray const& field,
                             std::size_t samples, std::uint64_t seed = 1) const;
  /// The same at random ones of the bodies numbered in `targets`, for results of some bodies only.
  ErrorMeasure measure_error(runtime::ConstArray const& positions,
                             runtime::ConstArray const& charges,
                             runtime::ConstArray const& potential, runtime::ConstArray const& field,
                             std::vector<std::int32_t> const& targets, std::size_t samples,
                             std::uint64_t seed = 1) const;

  /// Bytes that the solver's plans hold in the backend's memory, but those for any strengths with a tolerance.
  std::size_t memory_bytes() const;

 private:
  std::unique_ptr<Implementation> implementation_;
};

namespace runtime {

/// For programs without Kokkos: while there is one, Kokkos is initialised. Where it is already, this does nothing.
/// Throws InvalidArgument where OMP_NUM_THREADS or KOKKOS_NUM_THREADS asks for more threads than Kokkos has room for.
/// Solvers and plans have to go before it: Kokkos ends a program that frees their memory later.
class FMM_VISIBLE KokkosSession {
 public:
  KokkosSession();
  /// With Kokkos's own arguments, which are taken out.
  KokkosSession(int& argc, char** argv);
  ~KokkosSession();
  KokkosSession(KokkosSession const&) = delete;
  KokkosSession& operator=(KokkosSession const&) = delete;

 private:
  bool is_mine_;
};

}  // namespace runtime
}  // namespace fmm
