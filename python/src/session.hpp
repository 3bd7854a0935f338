// SPDX-License-Identifier: BSD-3-Clause
// When Kokkos begins and ends, and what has to go before it: Kokkos is initialised by the first solver, and finalised as
// Python exits, after the last plan.
#pragma once

#include <pybind11/pybind11.h>

#include <fmm/runtime.hpp>
#include <mutex>
#include <set>

namespace fmm_python {

namespace py = pybind11;

/// What holds memory of Kokkos's, and lets it go when asked.
class Held {
 public:
  Held();
  virtual ~Held();
  Held(Held const&) = delete;
  Held& operator=(Held const&) = delete;
  virtual void let_go() = 0;
};

/// Initialises Kokkos, at the first call. Throws RuntimeError in a process that was forked after that, and as Python
/// exits.
void begin_session();
/// Lets all memory go and finalises Kokkos.
void end_session();
bool is_begun();
/// For the session that begins; throws RuntimeError after that.
void set_threads(int threads);

/// Held by who works.
std::mutex& working();

/// f() without the interpreter's lock, and alone: Kokkos's default instances are not for two threads at a time.
template <class F>
void work(F const& f) {
  py::gil_scoped_release release;
  const std::lock_guard lock(working());
  f();
}

}  // namespace fmm_python
