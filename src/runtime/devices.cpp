// SPDX-License-Identifier: BSD-3-Clause
#include <fmm/errors.hpp>
#include <fmm/runtime/devices.hpp>
#include <new>
#include <utility>

#include "backends.hpp"

namespace fmm::runtime {

namespace {

/// visit(Space()) of the backend.
template <class Visit>
void in_backend(Backend backend, Visit const& visit) {
  bool is_there = false;
  for_each_backend([&]<class Space>(Backend one, std::type_identity<Space>) {
    if (one != backend) return;
    is_there = true;
    visit(Space());
  });
  if (!is_there)
    throw InvalidArgument("backend", int(backend), "one that was compiled in (runtime::backends)");
}

}  // namespace

std::string kokkos_version() {
  return std::to_string(KOKKOS_VERSION / 10000) + "." +
         std::to_string(KOKKOS_VERSION % 10000 / 100) + "." + std::to_string(KOKKOS_VERSION % 100);
}
int concurrency(Backend backend) {
  int threads = 0;
  in_backend(backend, [&](auto const& space) { threads = space.concurrency(); });
  return threads;
}
int device_number(Backend backend) {
  int number = 0;
  in_backend(backend, [&]([[maybe_unused]] auto const& space) {
    if constexpr (requires { space.cuda_device(); }) number = space.cuda_device();
  });
  return number;
}
void wait_for(Backend backend) {
  in_backend(backend, [](auto const&) { ::Kokkos::fence(); });
}

BackendMemory::BackendMemory(Backend backend, std::size_t bytes) : backend_(backend) {
  in_backend(backend, [&]<class Space>(Space const&) {
    try {
      data_ = ::Kokkos::kokkos_malloc<typename Space::memory_space>("fmm::results", bytes);
    } catch (std::exception const&) {
      throw OutOfMemory("results", bytes);
    }
  });
}
BackendMemory::BackendMemory(BackendMemory&& other) noexcept
    : backend_(other.backend_), data_(std::exchange(other.data_, nullptr)) {}
BackendMemory& BackendMemory::operator=(BackendMemory&& other) noexcept {
  std::swap(backend_, other.backend_);
  std::swap(data_, other.data_);
  return *this;
}
BackendMemory::~BackendMemory() {
  if (!data_ || !::Kokkos::is_initialized()) return;
  for_each_backend([&]<class Space>(Backend one, std::type_identity<Space>) {
    if (one == backend_) ::Kokkos::kokkos_free<typename Space::memory_space>(data_);
  });
}

}  // namespace fmm::runtime
