// SPDX-License-Identifier: BSD-3-Clause
// When Kokkos begins and ends, and what has to go before it: Kokkos is initialised by the first solver, and finalised as
// Python exits, after the last plan.
#pragma once

#include <pybind11/pybind11.h>
#include <unistd.h>

#include <exception>
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

/// Held by who works. Who waits for it may hold the interpreter's lock: who works does not want that.
std::mutex& working();
bool is_session_over();
/// Whether this process was forked from the one that has Kokkos.
bool is_forked();

/// f() without the interpreter's lock, and alone: Kokkos's default instances are not for two threads at a time. A thread
/// that is not done before Python exits ends here: taking the lock then would end it in the middle of C++.
template <class F>
void work(F const& f) {
  PyThreadState* const thread = PyEval_SaveThread();
  std::exception_ptr error;
  bool is_over = false;
  try {
    const std::lock_guard lock(working());
    is_over = is_session_over();
    if (!is_over) f();
  } catch (...) {
    error = std::current_exception();
  }
  while (is_over) pause();
  PyEval_RestoreThread(thread);
  if (error) std::rethrow_exception(error);
}

}  // namespace fmm_python
