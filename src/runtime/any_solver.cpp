// SPDX-License-Identifier: BSD-3-Clause
// AnySolver, AnyPlan and what they say of their arguments.
#include <algorithm>
#include <fmm/environment.hpp>
#include <fmm/runtime.hpp>
#include <string>
#include <utility>

#include "backends.hpp"
#include "implementation.hpp"
#include "views.hpp"

namespace fmm {

namespace runtime {

namespace {

std::string name_of(Backend backend) {
  return backend == Backend::serial ? "serial" : backend == Backend::openmp ? "openmp" : "cuda";
}

template <class Range, class Name>
std::string joined(Range const& range, Name const& name) {
  std::string text;
  for (auto const& one : range) text += (text.empty() ? "" : ", ") + name(one);
  return text;
}

bool is_initialized() { return ::Kokkos::is_initialized(); }

/// Whether Kokkos has to be initialised here. Throws InvalidArgument where it cannot be any more, or would have more
/// threads than it has room for.
bool is_to_initialize() {
  if (detail::is_kokkos_finalized())
    throw InvalidArgument("Kokkos", "finalised", "not finalised before a KokkosSession");
  if (is_initialized()) return false;
  check_environment();
  return true;
}

/// Throws InvalidArgument for a number that was cast to one of an enumeration's values 0 .. last, and is none of them.
template <class Value>
void check_value(char const* name, Value value, Value last) {
  if (int(value) < 0 || int(value) > int(last))
    throw InvalidArgument(name, int(value), "a value of its enumeration in fmm::runtime");
}

/// Throws InvalidArgument for what does not go together or is not compiled in.
Policies completed(Policies policies, Options const& options) {
  if (!is_initialized())
    throw InvalidArgument("Kokkos", "not initialised", "initialised, as by runtime::KokkosSession");
  check_value("kernel", policies.kernel, Kernel::spline_gravity);
  check_value("method", policies.method, Method::fmm);
  if (policies.criterion) check_value("criterion", *policies.criterion, Criterion::multipole_power);
  check_value("precision", policies.precision, Precision::full);
  if (policies.backend) check_value("backend", *policies.backend, Backend::cuda);
  if (!policies.backend) policies.backend = default_backend();
  const auto there = backends();
  if (std::find(there.begin(), there.end(), *policies.backend) == there.end())
    throw InvalidArgument("backend", name_of(*policies.backend), joined(there, name_of));
  if (options.tolerance && policies.method == Method::direct)
    policies.precision = Precision::full;
  else if (options.tolerance && policies.precision == Precision::single)
    policies.precision = Precision::mixed;
  if (policies.criterion && (options.tolerance || policies.method == Method::direct))
    throw InvalidArgument(
        "criterion", "set",
        options.tolerance ? "not set, with a tolerance" : "not set, with Method::direct");
  if (!policies.orders_to_choose_from.empty() && (!options.tolerance || policies.order))
    throw InvalidArgument("orders_to_choose_from", "set",
                          "set with a tolerance only, and without an order");
  if (policies.method == Method::direct) {
    if (policies.order)
      throw InvalidArgument("order", *policies.order, "not set, with Method::direct");
    if (!policies.orders_to_choose_from.empty())
      throw InvalidArgument("orders_to_choose_from", "set", "none, with Method::direct");
    return policies;
  }
  if (policies.method == Method::treecode && policies.criterion == Criterion::multipole_power)
    throw InvalidArgument("criterion", "multipole_power", "radius or field with Method::treecode");
  const auto compiled = orders();
  const std::string allowed = joined(compiled, [](int order) { return std::to_string(order); });
  const auto check_order = [&](char const* name, int order) {
    if (std::find(compiled.begin(), compiled.end(), order) == compiled.end())
      throw InvalidArgument(name, order, allowed);
  };
  for (const int order : policies.orders_to_choose_from)
    check_order("orders_to_choose_from", order);
  if (policies.order) {
    check_order("order", *policies.order);
  } else if (!options.tolerance) {
    throw InvalidArgument("order", "none", allowed + ", or a tolerance");
  }
  return policies;
}

std::unique_ptr<AnySolver::Implementation> make(Policies const& policies, Options const& options) {
  std::unique_ptr<AnySolver::Implementation> made;
  for_each_backend([&]<class Space>(Backend backend, std::type_identity<Space>) {
    if (backend != *policies.backend) return;
    using Site = site_t<Space>;
    const auto space = kept_site<Space>();
    made = policies.precision == Precision::single
               ? make_solver<Site, float>(space, policies, options)
           : policies.precision == Precision::mixed
               ? make_solver<Site, Mixed>(space, policies, options)
               : make_solver<Site, double>(space, policies, options);
  });
  return made;
}

}  // namespace

std::vector<Backend> backends() {
  std::vector<Backend> all;
  for_each_backend([&](Backend backend, auto) { all.push_back(backend); });
  return all;
}
std::vector<int> orders() { return {FMM_RUNTIME_ORDERS}; }
Backend default_backend() {
  Backend found{};
  for_each_backend([&]<class Space>(Backend backend, std::type_identity<Space>) {
    if constexpr (std::is_same_v<Space, ::Kokkos::DefaultExecutionSpace>) found = backend;
  });
  return found;
}

namespace {

/// "(N, 3)"
std::string extents_text(Expected const& expected) {
  const std::string row = expected.row > 0 ? std::to_string(expected.row) : "K";
  return expected.rank == 1   ? "(N)"
         : expected.rank == 2 ? "(N, " + row + ")"
                              : "(N, K, " + row + ")";
}
bool is_whole(Number number) { return number == Number::in_int32 || number == Number::in_int64; }

/// Throws InvalidArgument for a result two of whose numbers may have one place.
void check_apart(std::string const& name, ArrayShape const& shape) {
  // in the order of their strides each dimension lies behind the ones before
  std::vector<int> order;
  for (int r = 0; r < shape.rank; ++r)
    if (shape.extent[r] > 1) order.push_back(r);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return shape.stride_of(a) < shape.stride_of(b); });
  std::int64_t behind = 0;  // the last number of what is nested so far
  for (const int r : order) {
    if (shape.stride_of(r) <= behind)
      throw InvalidArgument(
          name + ".stride(" + std::to_string(r) + ")", shape.stride_of(r),
          "more than " + std::to_string(behind) + ", so that rows do not overlap");
    behind += shape.stride_of(r) * (shape.extent[r] - 1);
  }
}

}  // namespace

void check_array(char const* name, void const* data, ArrayShape const& shape,
                 Expected const& expected) {
  const std::string of = name;
  if (shape.rank == 0) throw InvalidArgument(of, "none", "an array");
  if (is_whole(shape.number) != expected.is_whole)
    throw InvalidArgument(
        of, expected.is_whole ? "of float or double" : "of integers",
        expected.is_whole ? "of integers of 32 or 64 bits" : "of float or double");
  if (shape.rank != expected.rank)
    throw InvalidArgument(
        of, "of rank " + std::to_string(shape.rank),
        "of rank " + std::to_string(expected.rank) + ", " + extents_text(expected));
  if (shape.memory != Memory::both && (shape.memory == Memory::host) != expected.on_host)
    throw InvalidArgument(
        of, shape.memory == Memory::host ? "in the host's memory" : "in a device's memory",
        std::string("in memory that ") + expected.backend + " can access");
  bool is_empty = false;
  for (int r = 0; r < shape.rank; ++r) {
    if (shape.extent[r] < 0)
      throw InvalidArgument(of + ".extent(" + std::to_string(r) + ")", shape.extent[r],
                            "0 or more");
    is_empty = is_empty || shape.extent[r] == 0;
  }
  for (int r = 0; r < shape.rank; ++r)
    if (!is_empty && shape.extent[r] > 1 && shape.stride_of(r) < (expected.is_written ? 1 : 0))
      throw InvalidArgument(of + ".stride(" + std::to_string(r) + ")", shape.stride_of(r),
                            expected.is_written ? "1 or more" : "0 or more");
  const int last = expected.rank - 1;
  if (last > 0 && expected.row > 0 && shape.extent[last] != expected.row)
    throw InvalidArgument(of + ".extent(" + std::to_string(last) + ")", shape.extent[last],
                          std::to_string(expected.row));
  if (expected.is_written && !is_empty) check_apart(of, shape);
  if (!data && !is_empty)
    throw InvalidArgument(of + ".data()", "null", "an address, of an array that is not empty");
}

KokkosSession::KokkosSession() : is_mine_(is_to_initialize()) {
  if (is_mine_) ::Kokkos::initialize();
}
KokkosSession::KokkosSession(int& argc, char** argv) : is_mine_(is_to_initialize()) {
  if (is_mine_) ::Kokkos::initialize(argc, argv);
}
KokkosSession::~KokkosSession() {
  if (is_mine_) ::Kokkos::finalize();
}

}  // namespace runtime

namespace {

/// What a solver or plan holds. Throws InvalidArgument for one that was moved from.
template <class Implementation>
Implementation& held(std::unique_ptr<Implementation> const& implementation, char const* name) {
  if (!implementation) throw InvalidArgument(name, "moved from", "one that was not moved from");
  return *implementation;
}

}  // namespace

AnyPlan::AnyPlan(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
AnyPlan::AnyPlan(AnyPlan&&) noexcept = default;
AnyPlan& AnyPlan::operator=(AnyPlan&&) noexcept = default;
AnyPlan::~AnyPlan() = default;
std::int64_t AnyPlan::size() const { return held(implementation_, "plan").facts().size; }
std::int64_t AnyPlan::targets() const { return held(implementation_, "plan").facts().targets; }
std::int64_t AnyPlan::cells() const { return held(implementation_, "plan").facts().cells; }
std::int64_t AnyPlan::leaves() const { return held(implementation_, "plan").facts().leaves; }
int AnyPlan::depth() const { return held(implementation_, "plan").facts().depth; }
std::int64_t AnyPlan::m2l_entries() const { return held(implementation_, "plan").facts().m2l; }
std::int64_t AnyPlan::p2l_entries() const { return held(implementation_, "plan").facts().p2l; }
std::int64_t AnyPlan::m2p_entries() const { return held(implementation_, "plan").facts().m2p; }
std::int64_t AnyPlan::p2p_entries() const { return held(implementation_, "plan").facts().p2p; }
std::size_t AnyPlan::memory_bytes() const {
  return held(implementation_, "plan").facts().memory_bytes;
}

AnySolver::AnySolver(runtime::Policies const& policies, Options const& options)
    : implementation_(runtime::make(runtime::completed(policies, options), options)) {}
AnySolver::AnySolver(AnySolver&&) noexcept = default;
AnySolver& AnySolver::operator=(AnySolver&&) noexcept = default;
AnySolver::~AnySolver() = default;

runtime::Policies AnySolver::policies() const {
  runtime::Policies policies = held(implementation_, "solver").policies;
  if (policies.method != runtime::Method::direct)
    policies.order = held(implementation_, "solver").order();
  return policies;
}
Options AnySolver::options() const { return held(implementation_, "solver").options(); }
int AnySolver::order() const { return held(implementation_, "solver").order(); }
bool AnySolver::uses_charges() const { return held(implementation_, "solver").uses_charges(); }
std::size_t AnySolver::memory_bytes() const {
  return held(implementation_, "solver").memory_bytes();
}

AnyPlan AnySolver::build(runtime::ConstArray const& positions, runtime::ConstArray const& charges,
                         Report* report) {
  return build(positions, charges, none, report);
}
AnyPlan AnySolver::build(runtime::ConstArray const& positions, runtime::ConstArray const& charges,
                         runtime::ConstArray const& targets, Report* report) {
  return AnyPlan(held(implementation_, "solver").build(positions, charges, targets, report));
}
void AnySolver::retarget(AnyPlan& plan, runtime::ConstArray const& targets, Report* report) {
  held(implementation_, "solver").retarget(held(plan.implementation_, "plan"), targets, report);
}
void AnySolver::freeze(AnyPlan& plan) {
  held(implementation_, "solver").freeze(held(plan.implementation_, "plan"));
}
AnyPlan AnySolver::transposed(AnyPlan const& plan, Report* report) {
  return AnyPlan(
      held(implementation_, "solver").transposed(held(plan.implementation_, "plan"), report));
}
void AnySolver::evaluate(AnyPlan& plan, runtime::ConstArray const& charges,
                         runtime::MutableArray const& potential, runtime::MutableArray const& field,
                         Report* report) {
  held(implementation_, "solver")
      .evaluate(held(plan.implementation_, "plan"), charges, potential, field, report);
}
void AnySolver::evaluate(AnyPlan& plan, runtime::AnyStrengths const& strengths,
                         runtime::AnyResults const& results, Report* report) {
  held(implementation_, "solver")
      .evaluate_any(held(plan.implementation_, "plan"), strengths, results, report);
}
std::vector<std::int32_t> AnySolver::evaluate_sample(AnyPlan& plan,
                                                     runtime::ConstArray const& charges,
                                                     runtime::MutableArray const& potential,
                                                     runtime::MutableArray const& field,
                                                     std::int64_t samples, Report* report) {
  return held(implementation_, "solver")
      .evaluate_sample(held(plan.implementation_, "plan"), charges, potential, field, samples,
                       report);
}
Tuned AnySolver::tune(runtime::ConstArray const& positions, runtime::ConstArray const& charges) {
  return held(implementation_, "solver").tune(positions, charges);
}
ErrorMeasure AnySolver::measure_error(runtime::ConstArray const& positions,
                                      runtime::ConstArray const& charges,
                                      runtime::ConstArray const& potential,
                                      runtime::ConstArray const& field, std::size_t samples,
                                      std::uint64_t seed) const {
  return held(implementation_, "solver")
      .measure_error(positions, charges, potential, field, nullptr, samples, seed);
}
ErrorMeasure AnySolver::measure_error(runtime::ConstArray const& positions,
                                      runtime::ConstArray const& charges,
                                      runtime::ConstArray const& potential,
                                      runtime::ConstArray const& field,
                                      std::vector<std::int32_t> const& targets, std::size_t samples,
                                      std::uint64_t seed) const {
  return held(implementation_, "solver")
      .measure_error(positions, charges, potential, field, &targets, samples, seed);
}

}  // namespace fmm
