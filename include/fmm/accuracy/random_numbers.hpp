// SPDX-License-Identifier: BSD-3-Clause
// Numbers for samples: those of std::mt19937_64, without <random>, which costs a program that uses the library a tenth
// of a second of compilation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../detail/noinline.hpp"

namespace fmm::accuracy {

/// The Mersenne twister of 64 bits (Nishimura 2000, ACM Trans. Model. Comput. Simul. 10:348).
class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) {
    state_[0] = seed;
    for (int i = 1; i < size; ++i)
      state_[i] = 6364136223846793005u * (state_[i - 1] ^ state_[i - 1] >> 62) + std::uint64_t(i);
  }

  std::uint64_t operator()() {
    if (next_ == size) twist();
    std::uint64_t x = state_[next_++];
    x ^= x >> 29 & 0x5555555555555555u;
    x ^= x << 17 & 0x71d67fffeda60000u;
    x ^= x << 37 & 0xfff7eee000000000u;
    return x ^ x >> 43;
  }

 private:
  static constexpr int size = 312, shift = 156;

  void twist() {
    for (int i = 0; i < size; ++i) {
      const std::uint64_t low = std::uint64_t(0x7fffffff),
                          x = (state_[i] & ~low) | (state_[(i + 1) % size] & low);
      state_[i] = state_[(i + shift) % size] ^ x >> 1 ^ (x & 1 ? 0xb5026f5aa96619e9u : 0u);
    }
    next_ = 0;
  }

  std::uint64_t state_[size];
  int next_ = size;
};

/// The numbers 0, 1, .., of which up to so many change places.
class ShuffledNumbers {
 public:
  explicit ShuffledNumbers(std::size_t most) {
    std::size_t size = 1;
    while (size < 2 * most) size *= 2;
    places_.assign(size, -1);
    numbers_.assign(size, -1);
  }
  /// That at place k, which counts as one of those that change places.
  std::int64_t& operator[](std::int64_t k) {
    const std::size_t mask = places_.size() - 1;
    std::size_t i = std::size_t(k) * 0x9e3779b97f4a7c15u >> 20 & mask;
    while (places_[i] != k && places_[i] >= 0) i = (i + 1) & mask;
    if (places_[i] < 0) places_[i] = numbers_[i] = k;
    return numbers_[i];
  }

 private:
  /// The places that were asked for, each where it is looked for or after it where others are, and their numbers.
  std::vector<std::int64_t> places_, numbers_;
};

/// `samples` of the numbers 0..all-1 without repetition, ascending: the first m places of a Fisher-Yates shuffle,
/// kept sparse.
FMM_NOINLINE inline std::vector<std::int64_t> choose(std::size_t samples, std::size_t all,
                                                     std::uint64_t seed) {
  const auto m = std::int64_t(samples), n = std::int64_t(all);
  std::vector<std::int64_t> chosen(m);
  RandomNumbers random(seed);
  ShuffledNumbers numbers(m < n ? 2 * m : 0);
  for (std::int64_t i = 0; i < m; ++i) {
    if (m == n) {
      chosen[i] = i;
      continue;
    }
    std::int64_t& at = numbers[i + std::int64_t(random() % std::uint64_t(n - i))];
    chosen[i] = at;
    at = numbers[i];
  }
  auto* const first = reinterpret_cast<std::uint64_t*>(chosen.data());
  std::sort(first, first + m);  // as the keys of bodies are sorted: compiled once
  return chosen;
}

}  // namespace fmm::accuracy
