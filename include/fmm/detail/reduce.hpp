// SPDX-License-Identifier: BSD-3-Clause
// What all items of a range give together: sums, bounds, a first index. A kernel gives a value of one type, however
// many numbers are in it: a program that uses the library pays for each of Kokkos's reducers with compilation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>

#include "launch.hpp"

namespace fmm::detail {

/// A sum, as the value of a reduction.
template <class T>
struct SumOf {
  T value = T(0);
  KOKKOS_FUNCTION void join(SumOf const& other) { value += other.value; }
};

/// The largest, 0 or more.
template <class T>
struct MaxOf {
  T value = T(0);
  KOKKOS_FUNCTION void join(MaxOf const& other) {
    if (other.value > value) value = other.value;
  }
};

/// The smallest of some indices; the largest number if there is none.
struct FirstIndex {
  std::int64_t value = std::numeric_limits<std::int64_t>::max();
  KOKKOS_FUNCTION void join(FirstIndex const& other) {
    if (other.value < value) value = other.value;
  }
};

/// What Kokkos's reductions want of a functor.
template <class Value, class Functor>
struct Reduction {
  using value_type = Value;
  Functor functor;

  KOKKOS_FUNCTION void operator()(std::int64_t i, Value& value) const { functor(i, value); }
  KOKKOS_FUNCTION void init(Value& value) const { value = Value(); }
  KOKKOS_FUNCTION void join(Value& value, Value const& other) const { value.join(other); }
  /// Before version 4.
  KOKKOS_FUNCTION void join(volatile Value& value, volatile Value const& other) const {
    const_cast<Value&>(value).join(const_cast<Value const&>(other));
  }
};

/// The value of a thread's share of the items, in memory of its own.
template <class Value, class Functor>
struct ReduceShare {
  static constexpr std::size_t lines = (sizeof(Value) - 1) / sizeof(Line) + 1;
  Functor const& functor;
  std::int64_t count, share;
  Line* values;

  void operator()(std::int64_t thread) const {
    Value value;
    const std::int64_t end = std::min(count, share * (thread + 1));
    for (std::int64_t i = share * thread; i < end; ++i) functor(i, value);
    new (values + lines * thread) Value(value);
  }
  Value const& of_thread(int thread) const {
    return *std::launder(reinterpret_cast<Value const*>(values + lines * thread));
  }
};

/// Items that a thread takes at a time: 40 to 200 times for each thread, but 128 items at least if it is so often.
inline std::int64_t chunk_size(std::int64_t count, std::int64_t threads) {
  const auto doubled_while = [&](std::int64_t times, std::int64_t most) {
    std::int64_t chunk = 1;
    while (chunk * times * threads < count && chunk < most) chunk *= 2;
    return chunk;
  };
  const std::int64_t chunk = doubled_while(100, std::numeric_limits<std::int64_t>::max() / 2);
  return chunk >= 128 ? chunk : doubled_while(40, 128);
}

/// The value of functor(i, value) for i of 0 .. count - 1, where Value() is that of no item and value.join(other)
/// appends that of later items. It is there on return. A host's threads have shares of neighbours.
template <class Value, class Space, class Functor>
Value reduce(char const* label, Space const& space, std::int64_t count, Functor const& functor) {
  Value value;
  if (count <= 0) return value;
  if constexpr (is_host_space_v<Space>) {
    const std::int64_t threads = space.concurrency(), chunk = chunk_size(count, threads),
                       chunks = (count + chunk - 1) / chunk;
    using Share = ReduceShare<Value, Functor>;
    const Share share{functor, count, (chunks + threads - 1) / threads * chunk,
                      thread_memory(ThreadMemory::values, Share::lines * threads)};
    on_threads(label, space, int(threads), share);
    value = share.of_thread(0);
    for (int t = 1; t < threads; ++t) value.join(share.of_thread(t));
  } else {
    Kokkos::parallel_reduce(label, range(space, count), Reduction<Value, Functor>{functor}, value);
  }
  return value;
}

}  // namespace fmm::detail
