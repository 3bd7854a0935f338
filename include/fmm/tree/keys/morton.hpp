// SPDX-License-Identifier: BSD-3-Clause
// The root of the octree, and 63-bit Morton keys: the bits of three 21-bit grid coordinates interleaved, x
// highest, so that bodies sorted by key are grouped by cell on every level of the octree.
#pragma once

#include <cmath>
#include <limits>

#include "../../cells/cell.hpp"
#include "../../detail/reduce.hpp"
#include "../../errors.hpp"
#include "../../options.hpp"
#include "../../simd/simd.hpp"
#include "unsorted_keys.hpp"

namespace fmm::tree {

/// The cube that encloses all bodies, in the caller's unit.
struct Cube {
  double low[3] = {0, 0, 0};
  double edge = 1;
  bool is_point = false;  ///< all bodies are at one point, and the edge is no length of theirs

  /// A power of two near the edge: lengths are counted in it without rounding.
  double exact_unit() const { return std::ldexp(1.0, std::ilogb(edge)); }
};

KOKKOS_INLINE_FUNCTION std::uint64_t morton_key(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  return spread_bits(x) << 2 | spread_bits(y) << 1 | spread_bits(z);
}

/// The grid coordinate, 0 .. 2^21-1, of a position in the cube.
KOKKOS_INLINE_FUNCTION std::uint32_t grid_coordinate(double x, double low, double per_edge) {
  constexpr double cells = double(1 << max_tree_depth);
  const double g = (x - low) * per_edge * cells;
  return g <= 0 ? 0u : g >= cells - 1 ? std::uint32_t(cells - 1) : std::uint32_t(g);
}

struct Box {
  double low[3], high[3];

  double extent() const {
    return std::fmax(high[0] - low[0], std::fmax(high[1] - low[1], high[2] - low[2]));
  }
};

/// The box of some positions, and the smallest index of one that is not finite.
struct BoxOfFinite {
  static constexpr double most = std::numeric_limits<double>::max();
  Box box = {{most, most, most}, {-most, -most, -most}};
  FirstIndex bad;

  KOKKOS_FUNCTION void add(double const* low, double const* high) {
    for (int d = 0; d < 3; ++d) {  // NaN is ignored
      if (low[d] < box.low[d]) box.low[d] = low[d];
      if (high[d] > box.high[d]) box.high[d] = high[d];
    }
  }
  KOKKOS_FUNCTION void join(BoxOfFinite const& other) {
    add(other.box.low, other.box.high);
    bad.join(other.bad);
  }
};

template <class Positions>
struct Bounds {
  Positions positions;

  KOKKOS_FUNCTION void operator()(std::int64_t i, BoxOfFinite& all) const {
    prefetch_row(positions, i + bodies_ahead);
    const double x[3] = {positions(i, 0), positions(i, 1), positions(i, 2)};
    // x - x is 0 for a finite number only
    if (!(x[0] - x[0] == 0 && x[1] - x[1] == 0 && x[2] - x[2] == 0)) all.bad.join({i});
    all.add(x, x);
  }
};

template <class View>
struct ReadComponent {
  View view;
  std::int64_t i;
  int d;

  KOKKOS_FUNCTION void operator()(std::int64_t, SumOf<double>& out) const { out.value = get(); }
  KOKKOS_FUNCTION double get() const {
    if constexpr (View::rank == 2)
      return view(i, d);
    else
      return view(i);
  }
};

/// What `read` gets where the Views are, for an error message.
template <class Space, class Read>
double read_alone(Space const& space, Read const& read) {
  if constexpr (is_host_space_v<Space>)
    return read.get();
  else
    return reduce<SumOf<double>>("fmm::component", space, 1, read).value;
}
/// One component of one body.
template <class Space, class View>
double component(Space const& space, View const& view, std::int64_t i, int d = 0) {
  return read_alone(space, ReadComponent<View>{view, i, d});
}

/// Throws InvalidArgument for the first component of row i, one of which is not finite.
template <class Space, class View>
void refuse_row(Space const& space, std::string const& name, View const& view, std::int64_t i) {
  for (int d = 0; d < 3; ++d) {
    const double x = component(space, view, i, d);
    if (!std::isfinite(x))
      throw InvalidArgument(name + "(" + std::to_string(i) + ", " + std::to_string(d) + ")", x,
                            "finite numbers");
  }
}

/// Throws InvalidArgument for bodies that lie too far apart for double precision, or too close together, but not at one
/// point: squares of distances are to be finite, and inverse ones, too.
inline void check_extent(char const* name, Box const& box) {
  const double extent = box.extent();
  if (!(extent < 1e150 && (extent == 0 || extent >= 1e-150)))
    throw InvalidArgument(std::string(name) + "' extent", extent,
                          "0, or 1e-150 to less than 1e150");
}

/// The smallest box with all (N,3) `positions`, N >= 1. Throws InvalidArgument for a position that is not finite or
/// bodies whose extent is beyond check_extent's. Cost: one reduction.
template <class Space, class Positions>
Box bounding_box(Space const& space, Positions const& positions, char const* name = "positions") {
  const auto count = std::int64_t(positions.extent(0));
  const auto [box, bad] =
      reduce<BoxOfFinite>("fmm::bounds", space, count, Bounds<Positions>{positions});
  space.fence();
  if (bad.value < count) refuse_row(space, name, positions, bad.value);
  check_extent(name, box);
  return box;
}

/// The cube about the middle of the box; or one that starts with its lowest corner and is so much larger that on
/// some level of the octree `layers` cells side by side are a little longer than the box.
inline Cube root_cube(Box const& box, int layers = 1) {
  Cube cube;
  const double extent = box.extent();
  // The edge has ten bits, and the corner lies on a grid of 2^-32 of it: the centres of all cells are
  // then exact in double, up to 2^20 edges from the origin (place_bodies.hpp has what is left out farther away).
  double growth = 1 / double(layers);
  while (growth < 1) growth *= 2;
  const bool grown = growth > 1;
  if (grown) growth *= 1 + 0x1p-20;  // so that no body lies on the end of the last layer
  int exponent = 0;
  const double mantissa = std::frexp(std::fmax(extent, 1e-150) * growth, &exponent);
  cube.edge = std::ldexp(std::ceil(std::ldexp(mantissa, 10)), exponent - 10);
  cube.is_point = !(extent > 0);
  if (cube.is_point) cube.edge = 1;
  const double grid = std::ldexp(1.0, std::ilogb(cube.edge) - 32);
  for (int d = 0; d < 3; ++d) {
    const double corner = grown ? box.low[d] : 0.5 * (box.low[d] + box.high[d]) - 0.5 * cube.edge;
    cube.low[d] = std::floor(corner / grid) * grid;
  }
  return cube;
}

template <class Space, class Positions>
struct MakeKeys {
  Positions positions;
  Cube cube;
  UnsortedKeys<Space> keys;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    prefetch_row(positions, i + bodies_ahead);
    const double per_edge = 1 / cube.edge;
    std::uint32_t g[3];
    for (int d = 0; d < 3; ++d)
      g[d] = grid_coordinate(double(positions(i, d)), cube.low[d], per_edge);
    keys.set(i, morton_key(g[0], g[1], g[2]));
  }
};

/// The keys of all (N,3) `positions` in the cube.
template <class Space, class Positions>
void make_keys(Space const& space, Positions const& positions, Cube const& cube,
               UnsortedKeys<Space> const& keys) {
  for_range("fmm::keys", space, positions.extent(0),
            MakeKeys<Space, Positions>{positions, cube, keys});
}

}  // namespace fmm::tree
