// SPDX-License-Identifier: BSD-3-Clause
// The module fmm._fmm: the library's compiled solvers for arrays of Python. What users see is written in Python above it
// (fmm/*.py).
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <fmm/runtime.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "arrays.hpp"
#include "models.hpp"
#include "session.hpp"

namespace fmm_python {

namespace {

using fmm::Report;

/// A choice by its name. Throws InvalidArgument, with the names that there are.
template <class Value>
Value choice(char const* argument, std::string const& name,
             std::initializer_list<std::pair<char const*, Value>> const& all) {
  std::string names;
  for (auto const& [one, value] : all) {
    if (name == one) return value;
    names += (names.empty() ? "\"" : ", \"") + std::string(one) + "\"";
  }
  throw fmm::InvalidArgument(argument, "\"" + name + "\"", names);
}

constexpr std::pair<char const*, rt::Backend> backend_names[] = {
    {"serial", rt::Backend::serial}, {"openmp", rt::Backend::openmp}, {"cuda", rt::Backend::cuda}};
rt::Backend backend_of(std::string const& name) {
  return choice<rt::Backend>("backend", name,
                             {backend_names[0], backend_names[1], backend_names[2]});
}
char const* name_of(rt::Backend backend) {
  for (auto const& [name, value] : backend_names)
    if (value == backend) return name;
  return "";
}

/// What a report says, for Python.
py::dict to_dict(Report const& report) {
  py::dict seconds, counts, all;
  for (auto const& stage : report.stages) {
    seconds[stage.name.c_str()] = stage.seconds;
    counts[stage.name.c_str()] = stage.count;
  }
  all["seconds"] = seconds;
  all["counts"] = counts;
  all["build_seconds"] = report.build_seconds;
  all["evaluate_seconds"] = report.evaluate_seconds;
  all["pairs"] = report.p2p_pairs;
  all["not_finite"] = report.not_finite;
  all["memory_bytes"] = report.memory_bytes;
  if (report.found) {
    py::dict found;
    found["order"] = report.found->order;
    found["theta"] = report.found->theta;
    found["pair_error"] = report.found->pair_error;
    found["seen_error"] = report.found->seen_error;
    all["found"] = found;
  }
  return all;
}

/// Frees what it holds while nobody works; not in a process that was forked, whose Kokkos has no threads.
template <class T>
void let_go_alone(std::optional<T>& held) {
  if (!held) return;
  if (is_forked()) {
    new T(std::move(*held));
    return;
  }
  const std::lock_guard lock(working());
  held.reset();
}

class PlanHandle final : public Held {
 public:
  /// From make(), called by who works, so that the session's end knows of the plan from its first moment on.
  template <class Make>
  void take(Make const& make) {
    plan_.emplace(make());
  }
  ~PlanHandle() override { let_go_alone(plan_); }
  void let_go() override { plan_.reset(); }
  fmm::AnyPlan& plan() {
    if (!plan_) throw std::runtime_error("fmm: the plan has gone, as Python exits");
    return *plan_;
  }

 private:
  std::optional<fmm::AnyPlan> plan_;
};

/// Arrays that may be None.
class SomeArray {
 public:
  SomeArray(py::handle object, char const* name, bool is_written) {
    if (!object.is_none()) array_.emplace(object, name, is_written);
  }
  rt::ConstArray constant() const { return array_ ? array_->constant() : rt::ConstArray(); }
  rt::MutableArray mutable_one() const {
    return array_ ? array_->mutable_one() : rt::MutableArray();
  }

 private:
  std::optional<Array> array_;
};

class SolverHandle final : public Held {
 public:
  SolverHandle(std::string const& kernel, std::string const& method, std::string const& precision,
               std::optional<double> tolerance, std::string const& tolerance_of,
               std::string const& error_norm, double softening, double G,
               std::string const& backend,
               std::optional<std::array<std::array<double, 3>, 3>> const& box,
               std::string const& boundary) {
    begin_session();
    rt::Policies policies;
    policies.kernel = choice<rt::Kernel>(
        "kernel", kernel,
        {{"laplace", rt::Kernel::laplace}, {"gravity", rt::Kernel::softened_gravity}});
    policies.method = choice<rt::Method>("method", method,
                                         {{"direct", rt::Method::direct},
                                          {"treecode", rt::Method::treecode},
                                          {"fmm", rt::Method::fmm}});
    policies.precision = choice<rt::Precision>(
        "precision", precision, {{"mixed", rt::Precision::mixed}, {"double", rt::Precision::full}});
    policies.backend = backend_of(backend);
    fmm::Options options;
    options.tolerance = tolerance;
    options.tolerance_of = choice<fmm::ToleranceOf>("tolerance_of", tolerance_of,
                                                    {{"field", fmm::ToleranceOf::field},
                                                     {"potential", fmm::ToleranceOf::potential},
                                                     {"both", fmm::ToleranceOf::both},
                                                     {"hessian", fmm::ToleranceOf::hessian},
                                                     {"all", fmm::ToleranceOf::all}});
    options.error_norm = choice<fmm::ErrorNorm>(
        "error_norm", error_norm, {{"l2", fmm::ErrorNorm::l2}, {"p99", fmm::ErrorNorm::p99}});
    options.softening = softening;
    options.G = G;
    const auto around = choice<fmm::Boundary>(
        "boundary", boundary,
        {{"tin-foil", fmm::Boundary::tin_foil}, {"vacuum", fmm::Boundary::vacuum}});
    if (box) {
      options.periodic.emplace(*box);
      options.periodic->boundary = around;
    }
    work([&] { solver_.emplace(policies, options); });
  }
  ~SolverHandle() override { let_go_alone(solver_); }
  void let_go() override { solver_.reset(); }

  std::unique_ptr<PlanHandle> build(py::handle positions, py::handle charges, py::handle targets) {
    const Array x(positions, "x", false);
    const SomeArray q(charges, "q", false), y(targets, "targets", false);
    auto plan = std::make_unique<PlanHandle>();
    in_use([&](fmm::AnySolver& solver) {
      plan->take([&] { return solver.build(x.constant(), q.constant(), y.constant()); });
    });
    return plan;
  }
  void retarget(PlanHandle& plan, py::handle targets) {
    const SomeArray y(targets, "targets", false);
    in_use([&](fmm::AnySolver& solver) { solver.retarget(plan.plan(), y.constant()); });
  }
  void evaluate(PlanHandle& plan, py::handle charges, py::handle dipoles, py::handle potential,
                py::handle field, py::handle hessian, Report* report) {
    const SomeArray q(charges, "q", false), p(dipoles, "dipoles", false),
        u(potential, "potential", true), f(field, "field", true), h(hessian, "hessian", true);
    in_use([&](fmm::AnySolver& solver) {
      solver.evaluate(plan.plan(), rt::AnyStrengths{q.constant(), p.constant()},
                      rt::AnyResults{u.mutable_one(), f.mutable_one(), h.mutable_one()}, report);
    });
  }
  void freeze(PlanHandle& plan) {
    in_use([&](fmm::AnySolver& solver) { solver.freeze(plan.plan()); });
  }
  std::unique_ptr<PlanHandle> transposed(PlanHandle& plan) {
    auto other = std::make_unique<PlanHandle>();
    in_use([&](fmm::AnySolver& solver) {
      other->take([&] { return solver.transposed(plan.plan()); });
    });
    return other;
  }

 private:
  fmm::AnySolver& solver() {
    if (!solver_) throw std::runtime_error("fmm: the solver has gone, as Python exits");
    return *solver_;
  }
  template <class F>
  void in_use(F const& f) {
    begin_session();
    work([&] {
      fmm::AnySolver& one = solver();
      if (const auto backend = *one.policies().backend; backend == rt::Backend::cuda)
        rt::wait_for(backend);  // for what other streams write
      f(one);
    });
  }

  std::optional<fmm::AnySolver> solver_;
};

py::dict config() {
  py::dict all;
  all["version"] = fmm::version_string;
  all["kokkos"] = rt::kokkos_version();
  py::list backends;
  for (const auto one : rt::backends()) backends.append(name_of(one));
  all["backends"] = backends;
  all["default_backend"] = name_of(rt::default_backend());
  all["orders"] = rt::orders();
  if (is_begun()) {
    py::dict threads;
    for (const auto one : rt::backends())
      if (one != rt::Backend::cuda) threads[name_of(one)] = rt::concurrency(one);
    all["threads"] = threads;
  }
  return all;
}

/// What Python asks of an array: type, shape, whether it is on a device, address.
py::tuple described(py::handle object, std::string const& name) {
  const Array array(object, name, false);
  py::list shape;
  for (int r = 0; r < array.shape().rank; ++r) shape.append(array.shape().extent[r]);
  return py::make_tuple(array.dtype(), py::tuple(shape), array.is_on_device(),
                        reinterpret_cast<std::uintptr_t>(array.data()));
}

}  // namespace

PYBIND11_MODULE(_fmm, m) {
  m.doc() = "The compiled solvers of fmm. Not for users: see fmm.";
  const auto describe = [](py::handle exception, char const* text) {
    exception.attr("__doc__") = text;
    exception.attr("__module__") = "fmm";
  };
  describe(py::register_exception<fmm::InvalidArgument>(m, "InvalidArgument", PyExc_ValueError),
           "An argument that is not allowed: what it is, and what is allowed.");
  describe(py::register_exception<fmm::OutOfMemory>(m, "OutOfMemory", PyExc_MemoryError),
           "Memory ran out; nothing of the caller's was changed.");

  py::class_<Report>(m, "Report").def(py::init<>()).def("to_dict", &to_dict);
  py::class_<PlanHandle>(m, "Plan");
  py::class_<SolverHandle>(m, "Solver")
      .def(py::init<std::string const&, std::string const&, std::string const&,
                    std::optional<double>, std::string const&, std::string const&, double, double,
                    std::string const&, std::optional<std::array<std::array<double, 3>, 3>> const&,
                    std::string const&>(),
           py::kw_only(), py::arg("kernel"), py::arg("method"), py::arg("precision"),
           py::arg("tolerance"), py::arg("tolerance_of"), py::arg("error_norm"),
           py::arg("softening"), py::arg("G"), py::arg("backend"), py::arg("box"),
           py::arg("boundary"))
      .def("build", &SolverHandle::build)
      .def("retarget", &SolverHandle::retarget)
      .def("evaluate", &SolverHandle::evaluate)
      .def("freeze", &SolverHandle::freeze)
      .def("transposed", &SolverHandle::transposed);

  py::class_<OwnArray>(m, "OwnArray")
      .def(py::init([](std::vector<std::int64_t> shape, std::string const& dtype,
                       std::string const& backend) {
        begin_session();
        return OwnArray(std::move(shape), dtype, backend_of(backend));
      }))
      .def("__dlpack__", [](OwnArray const& array, py::kwargs const&) { return array.to_dlpack(); })
      .def("__dlpack_device__", &OwnArray::device);

  bind_bodies(m);
  m.def("described", &described);
  m.def("config", &config);
  m.def("end_session", &end_session);
  m.def("is_begun", &is_begun);
  m.def("set_threads", &set_threads, py::arg("threads"),
        "How many threads of the host sum, 1 to 512; before the first sum, and once.");
}

}  // namespace fmm_python
