// SPDX-License-Identifier: BSD-3-Clause
// Bodies and their sums in the memory of a space: fmm::Host, or a device's execution space.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fmm/fmm.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "bodies.hpp"
#include "results.hpp"

namespace forces {

template <class Space, class T>
using Column = Kokkos::View<T*, typename Space::device_type>;
template <class Space, class T>
using Table3 = Kokkos::View<T* [3], Kokkos::LayoutRight, typename Space::device_type>;

/// Everything a run reads, in memory of the space (on a CPU, that of `Bodies` itself).
template <class Space, class Data>
struct BodiesOn {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  using Device = typename Space::device_type;

  explicit BodiesOn(Space const& space) : space(space) {}

  Space space;
  Kokkos::View<Data const* [3], Kokkos::LayoutRight, Device, Unmanaged> positions;
  Kokkos::View<Data const*, Device, Unmanaged> charges;

  void set(Data const* x, Data const* q, std::size_t n) {
    positions = decltype(positions)(x, n);
    charges = decltype(charges)(q, n);
  }

  std::int64_t size() const { return static_cast<std::int64_t>(charges.extent(0)); }
};

/// An uninitialised View of n rows. Throws fmm::OutOfMemory.
template <class View>
View allocate(std::string const& what, std::size_t n) {
  const std::size_t bytes = View::required_allocation_size(n);
  constexpr bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename View::memory_space>::accessible;
  if (on_host) require_host_memory(what, bytes);
  try {
    const View view(Kokkos::view_alloc(what, Kokkos::WithoutInitializing), n);
    if (on_host)
      fmm::prefer_large_pages(view.data(), view.span() * sizeof(typename View::value_type));
    return view;
  } catch (std::runtime_error const&) {
    throw fmm::OutOfMemory(what, bytes);
  }
}

template <class Space>
constexpr bool on_host = Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible;

/// A copy in the space's memory, rounded to Data, or the host's own memory where that serves as well.
template <class Space, class Data>
Data const* in_space(std::vector<double> const& host, Column<Space, Data>& storage) {
  if constexpr (on_host<Space>) {
    static_assert(std::is_same_v<Data, double>);
    return host.data();
  } else {
    storage = allocate<Column<Space, Data>>("the bodies", host.size());
    using HostColumn =
        Kokkos::View<Data const*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    if constexpr (std::is_same_v<Data, double>) {
      Kokkos::deep_copy(storage, HostColumn(host.data(), host.size()));
    } else {
      std::vector<Data> rounded;
      resize(rounded, host.size(), "the bodies");
      std::transform(host.begin(), host.end(), rounded.begin(),
                     [](double value) { return static_cast<Data>(value); });
      Kokkos::deep_copy(storage, HostColumn(rounded.data(), rounded.size()));
    }
    return storage.data();
  }
}

/// Sums in memory of the space, in the precision of the bodies: double has room for every unit,
/// whatever the working precision.
template <class Space, class Data>
struct ResultsOn {
  Column<Space, Data> potential;
  Table3<Space, Data> field;

  explicit ResultsOn(std::int64_t n)
      : potential(allocate<Column<Space, Data>>("the potential", static_cast<std::size_t>(n))),
        field(allocate<Table3<Space, Data>>("the field", static_cast<std::size_t>(n))) {}

  Results on_host() const {
    const auto p = Kokkos::create_mirror_view(potential);
    const auto f = Kokkos::create_mirror_view(field);
    Kokkos::deep_copy(p, potential);
    Kokkos::deep_copy(f, field);
    Results results;
    results.potential.assign(p.data(), p.data() + p.size());
    results.field.assign(f.data(), f.data() + f.size());
    return results;
  }
};

}  // namespace forces
