// SPDX-License-Identifier: BSD-3-Clause
// Which host threads may start work in a space. Before version 4.4 Kokkos's host backends are safe
// for one at a time: all kernels of Serial share one scratch memory, so that sums of two threads
// are wrong without a word. Before 3.7 OpenMP's kernels end the program unless the thread that
// initialised Kokkos starts them. On a GPU two threads may not use one execution space instance at
// a time, in which reductions leave their results. Work that would go wrong is refused.
#pragma once

#include <atomic>
#include <type_traits>
#include <utility>

#include "../errors.hpp"
#include "give_way.hpp"
#include "kokkos_compat.hpp"

namespace fmm::detail {

/// Whether only one host thread at a time may work in a space, or else in an instance of it.
#if KOKKOS_VERSION < 40400
template <class Space>
inline constexpr bool takes_one_thread_v = is_host_space_v<Space>;
#else
template <class>
inline constexpr bool takes_one_thread_v = false;
#endif
template <class Space>
inline constexpr bool takes_one_thread_an_instance_v = !is_host_space_v<Space>;

/// One for each thread, by whose address threads are told apart.
inline thread_local char thread_mark = 0;

/// One for each device's space.
template <class Space>
inline constexpr char space_mark = 0;

/// A host thread at work in an instance of a space.
struct AtWork {
  void const *space = nullptr, *instance = nullptr;  ///< the space's mark
  char const* thread = nullptr;
  AtWork* next = nullptr;  ///< in ThreadsAtWork
};

/// The host threads at work, in a list through memory of their own.
class ThreadsAtWork {
 public:
  /// `work` stays where it is until it leaves. False if another thread works there.
  FMM_NOINLINE bool enter(AtWork& work) {
    work.thread = &thread_mark;
    const Lock lock(locked_);
    for (AtWork const* other = first_; other; other = other->next)
      if (other->space == work.space && other->instance == work.instance &&
          other->thread != work.thread)
        return false;
    work.next = std::exchange(first_, &work);
    return true;
  }
  FMM_NOINLINE void leave(AtWork const& work) {
    const Lock lock(locked_);
    AtWork** at = &first_;
    while (*at != &work) at = &(*at)->next;
    *at = work.next;
  }

 private:
  /// For a few instructions.
  struct Lock {
    std::atomic_flag& locked;
    explicit Lock(std::atomic_flag& flag) : locked(flag) {
      while (locked.test_and_set(std::memory_order_acquire)) give_way();
    }
    ~Lock() { locked.clear(std::memory_order_release); }
  };

  std::atomic_flag locked_;
  AtWork* first_ = nullptr;
};
inline ThreadsAtWork threads_at_work;

FMM_NOINLINE inline void check_initialised() {
  if (!Kokkos::is_initialized())
    throw InvalidArgument("Kokkos", is_kokkos_finalized() ? "finalised" : "not initialised",
                          "initialised while anything is summed");
}

[[noreturn]] FMM_NOINLINE inline void refuse_thread(char const* space, char const* why,
                                                    char const* allowed) {
  throw InvalidArgument("space", std::string(space) + ", " + why, allowed);
}

/// While there is one, no other host thread may work in the space, or in that instance of it. A
/// thread may have several. Throws InvalidArgument.
template <class Space>
class HostThread {
 public:
  explicit HostThread([[maybe_unused]] Space const& space) {
    check_initialised();
    if constexpr (takes_one_thread_v<Space>)
      enter_host(space);
    else if constexpr (takes_one_thread_an_instance_v<Space>) {
      work_ = {&space_mark<Space>, space.impl_internal_space_instance()};
      if (!threads_at_work.enter(work_))
        refuse_thread(Space::name(), "while another thread works in the same instance",
                      "an instance, with a stream, of the thread's own");
    }
  }
  ~HostThread() {
    if (work_.space) threads_at_work.leave(work_);
  }
  HostThread(HostThread const&) = delete;
  HostThread& operator=(HostThread const&) = delete;

 private:
  void enter_host(Host const& host) {
    constexpr char allowed[] =
        "with this version of Kokkos one host thread at a time, before 3.7 for OpenMP the one that "
        "initialised Kokkos (Kokkos 4.4 and later take several)";
    if (!host.may_start_here())
      refuse_thread(host.name(), "in a thread that did not initialise Kokkos", allowed);
    work_ = {host.mark()};
    if (!threads_at_work.enter(work_))
      refuse_thread(host.name(), "while another thread works in it", allowed);
  }

  AtWork work_;
};

}  // namespace fmm::detail
