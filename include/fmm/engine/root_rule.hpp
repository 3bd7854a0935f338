// SPDX-License-Identifier: BSD-3-Clause
// How large the root of a tree is and how deep its cells go: from the number of bodies, the options and the
// distance from which expansions stand for the pair kernel.
#pragma once

#include <algorithm>
#include <cmath>

#include "../options.hpp"
#include "../tree/octree.hpp"

namespace fmm::engine {

/// What the lists are to know of the expansions: the highest degree, from which distance on, in the unit of
/// the positions, they stand for the pair kernel, and whether there is P2L.
struct FarFieldRule {
  int order;
  double from;
  bool has_p2l;

  FarFieldRule(int p, double distance = 0, bool p2l = false)
      : order(p), from(distance), has_p2l(p2l) {}
};

/// The distance in edges of the root, where no two bodies are farther apart than 2.
inline double in_edges(FarFieldRule const& far, Cube const& cube) {
  return std::min(far.from / cube.edge, 2.0);
}

inline float rounded_up(double distance) { return float(distance) * 1.000001f; }

/// The deepest level whose cells are not much smaller than the near field of radius `far_from`, in edges of
/// the root: what smaller leaves save in pairs they cost in list entries.
inline int deepest_level(double far_from) {
  int level = max_tree_depth;
  while (level > 0 && 8 * edge_of_level<double>(level) < far_from) --level;
  return level;
}

/// When to split the cells of n bodies, down to `deepest`; a uniform tree's depth from its leaf capacity if
/// it is not set.
inline SplitRule split_rule(Options const& options, std::int64_t n, int deepest) {
  if (options.tree == TreeKind::adaptive)
    return {std::min(*options.depth, deepest), *options.leaf_capacity};
  if (options.depth) return {*options.depth, 0};
  int depth = 0;
  while (depth<deepest&& double(n)> * options.leaf_capacity * std::pow(8.0, depth)) ++depth;
  return {depth, 0};
}

/// Layers of leaves, two fifths full, of n bodies that fill a cube evenly. Even, so that the leaves' parents end with
/// the bodies, too: a thin layer in a cell is a small target, whose error is larger (docs/design.md).
inline int layers_if_uniform(std::int64_t n, int leaf_capacity) {
  const double layers = 2 * std::round(0.5 * std::cbrt(double(n) / (0.4 * leaf_capacity)));
  return layers > 2 ? int(layers) : 1;
}

/// The layers of leaves that an adaptive tree is to have along the bodies' largest extent, as if these were uniform:
/// the bounding cube itself gives 2^d layers, and leaves eight times as full at one N as at another. 1 for the
/// bounding cube itself, where leaves have to be larger than that: on level `deepest` of it or above.
inline int layers_of_leaves(Options const& options, std::int64_t n, int deepest) {
  if (options.tree != TreeKind::adaptive) return 1;
  const int layers = layers_if_uniform(n, *options.leaf_capacity);
  return double(layers) <= std::ldexp(1.0, std::min(*options.depth, deepest)) ? layers : 1;
}

/// The root of a tree of n bodies in the box.
inline Cube root_of_tree(Box const& box, std::int64_t n, Options const& options, FarFieldRule far) {
  const Cube around = root_cube(box);
  return root_cube(box, layers_of_leaves(options, n, deepest_level(in_edges(far, around))));
}

/// What a build chooses by the bounds and the number of the bodies. A part of the bodies that is built with what was
/// chosen for all has their keys, and in cells that are whole their cells.
struct BuildChoices {
  Cube cube;
  SplitRule split{};
  int all_pairs_shape = 0;  ///< DirectSum only: the index of the tiles' P2PShape
};

/// Throws unless the box is in the cube, whose corner is rounded: the body that its edge reached to may be as far
/// beyond, and is in the last cell.
FMM_NOINLINE inline void check_in_cube(Box const& box, Cube const& cube,
                                       char const* name = "positions",
                                       char const* cube_name = "in the chosen cube, ",
                                       char const* advice = "") {
  for (int d = 0; d < 3; ++d) {
    const double slack = 0x1p-31 * cube.edge, low = cube.low[d], high = low + cube.edge;
    if (!(box.low[d] >= low - slack))
      throw InvalidArgument(name, box.low[d],
                            std::string(cube_name) + "from " + to_text(low) + advice);
    if (!(box.high[d] <= high + slack))
      throw InvalidArgument(name, box.high[d],
                            std::string(cube_name) + "to " + to_text(high) + advice);
  }
}

}  // namespace fmm::engine
