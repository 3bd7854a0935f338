// SPDX-License-Identifier: BSD-3-Clause
// What differs between Kokkos's versions (3.4 to 5.x), but for which host threads each takes (host_thread.hpp,
// host_space.hpp), and the few aliases that spare the other headers Kokkos's longer names.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>
#include <type_traits>

#include "../arrays.hpp"
#include "finite_math.hpp"
#include "noinline.hpp"
#include "rooms.hpp"

namespace fmm::detail {

/// Whether Kokkos was finalised, where its version tells.
inline bool is_kokkos_finalized() {
#if KOKKOS_VERSION >= 30700
  return Kokkos::is_finalized();
#else
  return false;
#endif
}

/// Scratch level of what does not fit in a CPU's small level 0.
template <class Space>
inline constexpr int scratch_level_v = is_host_space_v<Space> ? 1 : 0;

/// Device code of `Space` can read memory of `View`.
template <class Space, class View>
inline constexpr bool can_access_v =
    Kokkos::SpaceAccessibility<std::conditional_t<is_host_space_v<Space>, Kokkos::HostSpace, Space>,
                               typename View::memory_space>::accessible;

/// Bytes of scratch memory of level 0 that a GPU's multiprocessor has for all its teams: 64 KiB are there
/// on every one.
inline constexpr int multiprocessor_scratch =
#if defined(KOKKOS_ARCH_HOPPER90) || defined(KOKKOS_ARCH_BLACKWELL100)
    228 << 10;
#elif defined(KOKKOS_ARCH_AMPERE80)
    164 << 10;
#else
    64 << 10;
#endif

template <class Space>
using Range = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;

/// A host's teams, of one thread each, in the place of Kokkos's TeamPolicy.
template <class Space>
class HostTeams {
 public:
  using execution_space = Space;

  HostTeams(Space const& space, int league, int /*team*/) : space_(space), league_(league) {}

  Space const& space() const { return space_; }
  int league_size() const { return league_; }
  /// Bytes of a team's scratch memory of all levels.
  std::size_t scratch_size() const { return scratch_; }
  void add_scratch(std::size_t bytes) { scratch_ += bytes; }

 private:
  Space space_;
  int league_;
  std::size_t scratch_ = 0;
};

/// Teams of very different cost, for for_teams (launch.hpp). The hint makes a functor of more than 512 bytes
/// an argument of its kernel, too; through constant memory the host would wait for the launch before.
template <class Space, class... Bounds>
using DeviceTeams = Kokkos::TeamPolicy<Space, Kokkos::Schedule<Kokkos::Dynamic>, Bounds...,
                                       Kokkos::Experimental::WorkItemProperty::HintLightWeight_t>;
template <class Space>
using TeamPolicy = std::conditional_t<is_host_space_v<Space>, HostTeams<Space>, DeviceTeams<Space>>;
/// The same for teams of `Threads` of which a GPU's multiprocessor shall hold `Teams`: that bounds the
/// registers of a thread.
template <class Space, int Threads, int Teams>
using BoundedTeamPolicy =
    std::conditional_t<is_host_space_v<Space>, HostTeams<Space>,
                       DeviceTeams<Space, Kokkos::LaunchBounds<Threads, Teams>>>;

/// So many bytes of scratch memory of that level for each team.
template <class Policy>
void add_scratch(Policy& policy, [[maybe_unused]] int level, int bytes) {
  if constexpr (is_host_space_v<typename Policy::execution_space>)
    policy.add_scratch(std::size_t(bytes));
  else
    policy.set_scratch_size(level, Kokkos::PerTeam(bytes));
}

template <class Space>
Range<Space> range(Space const& space, std::int64_t count) {
  return Range<Space>(space, 0, count);
}

/// A profiling region that ends with its scope; Kokkos tools show it as fmm::name.
class Region {
 public:
  FMM_NOINLINE explicit Region(char const* name) {
    Kokkos::Profiling::pushRegion(std::string("fmm::") + name);
  }
  FMM_NOINLINE ~Region() { Kokkos::Profiling::popRegion(); }
  Region(Region const&) = delete;
  Region& operator=(Region const&) = delete;
};

/// The next `count` numbers of the team's scratch memory of that level, for all threads the same.
/// Every array needs up to `scratch_alignment` bytes more than its size.
inline constexpr int scratch_alignment = 64;
template <class T, class Team>
KOKKOS_FORCEINLINE_FUNCTION T* scratch_array(Team const& team, int level, int count) {
  return static_cast<T*>(
      team.team_scratch(level).get_shmem_aligned(count * int(sizeof(T)), int(scratch_alignment)));
}

}  // namespace fmm::detail
