// SPDX-License-Identifier: BSD-3-Clause
#include "session.hpp"

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

namespace fmm_python {

namespace {

struct State {
  std::unique_ptr<fmm::runtime::KokkosSession> kokkos;
  pid_t process = 0;
  bool is_over = false;
  std::set<Held*> held;  // with the interpreter's lock only
};
/// Never destroyed: what Python frees late still finds it.
State& state() {
  static State* const all = new State;
  return *all;
}

}  // namespace

std::mutex& working() {
  static std::mutex* const mutex = new std::mutex;
  return *mutex;
}

Held::Held() { state().held.insert(this); }
Held::~Held() { state().held.erase(this); }

bool is_session_over() { return state().is_over; }
bool is_forked() { return state().kokkos && state().process != getpid(); }

bool is_begun() { return bool(state().kokkos); }

void set_threads(int threads) {
  if (is_begun()) throw std::runtime_error("fmm: threads are set before the first sum, and once");
  if (threads < 1 || threads > 512) throw fmm::InvalidArgument("threads", threads, "1 to 512");
  setenv("KOKKOS_NUM_THREADS", std::to_string(threads).c_str(), 1);
}

void begin_session() {
  State& all = state();
  if (all.is_over) throw std::runtime_error("fmm: Python exits, and Kokkos is finalised");
  if (all.kokkos) {
    if (all.process != getpid())
      throw std::runtime_error(
          "fmm: this process was forked from one that had summed already, whose threads it lacks: "
          "start processes by multiprocessing's 'spawn'");
    return;
  }
  setenv("KOKKOS_DISABLE_WARNINGS", "1", 0);
  all.kokkos = std::make_unique<fmm::runtime::KokkosSession>();
  all.process = getpid();
}

void end_session() {
  State& all = state();
  if (!all.kokkos || is_forked()) {
    all.is_over = true;
    return;
  }
  const std::lock_guard lock(working());
  all.is_over = true;
  for (Held* const one : all.held) one->let_go();
  all.kokkos.reset();
}

}  // namespace fmm_python
