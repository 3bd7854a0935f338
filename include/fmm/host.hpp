// SPDX-License-Identifier: BSD-3-Clause
// A host's execution spaces as one type: what the library does on a host is compiled once, and not again for Serial,
// OpenMP and the others.
#pragma once

#include <type_traits>

#include "detail/host_space.hpp"
#include "detail/registers.hpp"

namespace fmm {

/// An execution space of the host, known by what it does. It refers to the Kokkos space that it was made from, and
/// lives no longer.
///
/// Code for other registers is of another type: a program may link what was compiled with other flags (fmm::runtime,
/// say), and none of it stands in for the program's own.
template <int RegisterBytes>
class HostWith {
 public:
  using execution_space = HostWith;
  using memory_space = Kokkos::HostSpace;
  /// Of Views that the library makes.
  using device_type = Kokkos::DefaultHostExecutionSpace::device_type;

  /// Implicit: functions that take a Host take every space of the host.
  template <detail::HostExecutionSpace Space>
  HostWith(Space const& space) : space_(&space), calls_(&calls_of<Space>) {}

  int concurrency() const { return calls_->concurrency(space_); }
  void fence() const { calls_->fence(space_); }
  /// Kokkos's name of the space.
  char const* name() const { return calls_->name(); }
  /// Different for different spaces.
  void const* mark() const { return calls_; }
  bool may_start_here() const { return calls_->may_start_here(); }
  /// As detail::start_on_threads.
  void start(char const* label, int threads, detail::OnThreads const& f) const {
    calls_->start(label, space_, threads, f);
  }
  /// use(the Kokkos space), for calls that want one; compiled for Serial, OpenMP and Threads.
  template <class Use>
  void with_space(Use const& use) const {
#ifdef KOKKOS_ENABLE_OPENMP
    if (is<Kokkos::OpenMP>()) return use(as<Kokkos::OpenMP>(space_));
#endif
#ifdef KOKKOS_ENABLE_THREADS
    if (is<Kokkos::Threads>()) return use(as<Kokkos::Threads>(space_));
#endif
#ifdef KOKKOS_ENABLE_SERIAL
    if (is<Kokkos::Serial>()) return use(as<Kokkos::Serial>(space_));
#endif
    use(Kokkos::DefaultHostExecutionSpace());
  }

 private:
  struct Calls {
    int (*concurrency)(void const*);
    void (*fence)(void const*);
    char const* (*name)();
    bool (*may_start_here)();
    void (*start)(char const*, void const*, int, detail::OnThreads const&);
  };
  template <class Space>
  bool is() const {
    return calls_ == &calls_of<Space>;
  }
  template <class Space>
  static Space const& as(void const* space) {
    return *static_cast<Space const*>(space);
  }
  template <class Space>
  static constexpr Calls calls_of{
      [](void const* space) { return int(as<Space>(space).concurrency()); },
      [](void const* space) { as<Space>(space).fence(); }, [] { return Space::name(); },
      &detail::may_start_here<Space>,
      [](char const* label, void const* space, int threads, detail::OnThreads const& f) {
        detail::start_on_threads(label, as<Space>(space), threads, f);
      }};

  void const* space_;
  Calls const* calls_;
};

using Host = HostWith<detail::register_bytes>;

/// What the library is compiled for in the place of an execution space: Host, or a device's space itself.
template <class ExecutionSpace>
using site_t = std::conditional_t<detail::is_host_space_v<ExecutionSpace>, Host, ExecutionSpace>;

}  // namespace fmm
