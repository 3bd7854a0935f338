// SPDX-License-Identifier: BSD-3-Clause
// What the programs that compare ways of M2L have in common: bodies that fill the unit cube, to be in a uniform
// tree, and a JSON list of what is measured at some orders.
//
//     program [bodies [depth [repeats]]]            10^6, 5, 5
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <utility>

namespace uniform_cube {

using Space = Kokkos::DefaultExecutionSpace;

struct Problem {
  Kokkos::View<double* [3], Space> positions;
  Kokkos::View<double*, Space> charges;
  int depth, repeats;

  /// Of the program's arguments.
  Problem(int argc, char** argv)
      : positions("positions", argument(argc, argv, 1, 1000000)),
        charges("charges", positions.extent(0)),
        depth(argument(argc, argv, 2, 5)),
        repeats(argument(argc, argv, 3, 5)) {
    const auto x = Kokkos::create_mirror_view(positions);
    std::mt19937_64 random(1);
    for (std::size_t i = 0; i < x.extent(0); ++i)
      for (int d = 0; d < 3; ++d) x(i, d) = double(random() >> 11) * 0x1p-53;
    Kokkos::deep_copy(positions, x);
    Kokkos::deep_copy(charges, 1.0 / double(x.extent(0)));
  }

 private:
  static int argument(int argc, char** argv, int i, int otherwise) {
    return argc > i ? std::atoi(argv[i]) : otherwise;
  }
};

/// Before the next line of the list.
inline char const* next_separator() {
  static char const* separator = "";
  return std::exchange(separator, ",\n ");
}

/// measure(integral constant) for each of the orders, which prints lines of the list.
template <int... Orders, class F>
void print_list(F const& measure) {
  std::printf("[");
  (measure(std::integral_constant<int, Orders>()), ...);
  std::printf("]\n");
}

}  // namespace uniform_cube
