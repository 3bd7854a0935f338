// SPDX-License-Identifier: BSD-3-Clause
// What AnySolver and AnyPlan call: interfaces. There is one class behind them for each backend and
// precision (solver_in.hpp).
#pragma once

#include <fmm/runtime/any_solver.hpp>
#include <memory>

#include "backends.hpp"

namespace fmm {

class AnyPlan::Implementation {
 public:
  virtual ~Implementation() = default;
  struct Facts {
    std::int64_t size = 0, targets = 0, cells = 0, leaves = 0;
    int depth = 0;
    std::int64_t m2l = 0, p2l = 0, m2p = 0, p2p = 0;
    std::size_t memory_bytes = 0;
  };
  virtual Facts facts() const = 0;
};

class AnySolver::Implementation {
 public:
  virtual ~Implementation() = default;
  virtual Options options() const = 0;
  virtual int order() const = 0;
  virtual bool uses_charges() const = 0;
  virtual std::size_t memory_bytes() const = 0;
  virtual std::unique_ptr<AnyPlan::Implementation> build(runtime::ConstArray const& positions,
                                                         runtime::ConstArray const& charges,
                                                         runtime::ConstArray const& targets,
                                                         Report* report) = 0;
  virtual void retarget(AnyPlan::Implementation& plan, runtime::ConstArray const& targets,
                        Report* report) = 0;
  virtual void freeze(AnyPlan::Implementation& plan) = 0;
  virtual std::unique_ptr<AnyPlan::Implementation> transposed(AnyPlan::Implementation const& plan,
                                                              Report* report) = 0;
  virtual void evaluate(AnyPlan::Implementation& plan, runtime::ConstArray const& charges,
                        runtime::MutableArray const& potential, runtime::MutableArray const& field,
                        Report* report) = 0;
  virtual void evaluate_any(AnyPlan::Implementation& plan, runtime::AnyStrengths const& strengths,
                            runtime::AnyResults const& results, Report* report) = 0;
  virtual std::vector<std::int32_t> evaluate_sample(AnyPlan::Implementation& plan,
                                                    runtime::ConstArray const& charges,
                                                    runtime::MutableArray const& potential,
                                                    runtime::MutableArray const& field,
                                                    std::int64_t samples, Report* report) = 0;
  virtual Tuned tune(runtime::ConstArray const& positions, runtime::ConstArray const& charges) = 0;
  virtual ErrorMeasure measure_error(runtime::ConstArray const& positions,
                                     runtime::ConstArray const& charges,
                                     runtime::ConstArray const& potential,
                                     runtime::ConstArray const& field,
                                     std::vector<std::int32_t> const* targets, std::size_t samples,
                                     std::uint64_t seed) const = 0;

  explicit Implementation(runtime::Policies const& all) : policies(all) {}
  const runtime::Policies policies;  ///< with defaults filled in, but for the order
};

namespace runtime {

/// The solver in a space and a precision; policies have a backend, and an order unless that is to be found.
template <class Site, class Precision>
std::unique_ptr<AnySolver::Implementation> make_solver(KeptSite<Site> const& space,
                                                       Policies const& policies,
                                                       Options const& options);

}  // namespace runtime
}  // namespace fmm
