// SPDX-License-Identifier: BSD-3-Clause
// What the program does when it is not told: the one place with its defaults. A value that is not
// set here is the library's (tuned for the execution space, the precision and the order).
#pragma once

#include <cstdint>
#include <optional>

#include "names.hpp"

namespace forces::defaults {

inline constexpr std::int64_t n = 100000;
inline constexpr std::uint64_t seed = 1;
inline constexpr std::uint64_t check_seed = 2;
inline constexpr int repeat = 3;
inline constexpr double direct_limit = 60;  // seconds
inline constexpr double long_direct = 10;   // seconds from which a direct sum is run only once

inline constexpr auto kernel = KernelKind::gravity;
inline constexpr auto softening_kind = SofteningKind::plummer;
inline constexpr auto precision = Precision::single_precision;
inline constexpr auto data = Data::in_double;
inline constexpr auto tree = TreeKind::adaptive;
inline constexpr auto translation = Translation::rotation;

/// Where the dual traversal with the criterion of the pair's error was measured to be the fastest.
constexpr bool has_field_criterion(Precision precision, Backend backend) {
  return precision != Precision::double_precision && backend == Backend::cuda;
}

constexpr Traversal traversal(Method method, bool by_field) {
  return method == Method::treecode && !by_field ? Traversal::barnes_hut : Traversal::dual;
}

/// Highest degree of the expansions, and the opening parameter that goes with it.
struct Expansion {
  int order;
  double theta;
};

constexpr Expansion expansion(Method method, Precision precision, Backend backend) {
  const bool in_double = precision == Precision::double_precision;
  if (method == Method::treecode) return {in_double ? 6 : 4, 0.6};
  // a GPU, whose direct sums are the cheaper part, is fastest with fewer and larger expansions
  if (backend == Backend::cuda) return in_double ? Expansion{8, 0.6} : Expansion{6, 0.75};
  return in_double ? Expansion{10, 0.7} : Expansion{6, 0.7};
}

/// Bodies in a leaf.
constexpr std::optional<int> leaf_capacity(Method method, Backend backend) {
  if (method == Method::treecode && backend == Backend::cuda) return 96;
  return std::nullopt;
}

/// Targets whose sums are compared with a direct sum in double precision.
constexpr std::int64_t check(Backend backend) { return backend == Backend::cuda ? 4096 : 1000; }

}  // namespace forces::defaults
