// SPDX-License-Identifier: BSD-3-Clause
// A set of bodies in tree order, and the tree over them: what a build makes of positions. Targets and
// sources are one such set each, or the same one.
//
// The arrays lie in the memory of a Workspace. Lengths are in edges of the root, but for those of a body,
// which are relative to its leaf (cells/cell.hpp), and for `positions`.
#pragma once

#include "../precision.hpp"
#include "../tree/octree.hpp"

namespace fmm::engine {

/// What an inspection of charges finds.
struct ChargeFacts {
  double unit =
      1;  ///< a power of two near the largest |q|, so that any unit works in float; 1 if all are 0
  double largest = 0;  ///< |q|
  double sum = 0;      ///< of |q|
  bool both_signs = false;
};

/// Bodies in tree order, and their octree. Charges are those of the last evaluation.
template <class Space, class Precision>
struct BodyTree {
  using Real = real_t<Precision>;

  std::int64_t size = 0;  ///< bodies
  Cube cube;              ///< the root, in the caller's unit
  Octree<Space> octree;
  Array<BodyIndex, Space> permutation;  ///< (i): the caller's index of body i in tree order
  Array<BodyIndex, Space>
      place;  ///< (i): the index in tree order of the caller's body i, if results
              ///< are gathered
  Array<Body<Real>, Space> bodies;
  Array<Body<Real>, Space> low;  ///< low parts of the bodies' coordinates; Mixed only
  Array<Body<double>, Space>
      positions;        ///< in place of `bodies`, from the root's corner; DirectSum only
  ChargeFacts charges;  ///< in whose unit the bodies' charges are
};

}  // namespace fmm::engine
