// SPDX-License-Identifier: BSD-3-Clause
// The words between walks and acceptance criteria: what a criterion sees of a cell, what it may depend on, and what
// it answers.
#pragma once

namespace fmm {

/// What becomes of a pair of cells.
enum class Acceptance {
  not_accepted,  ///< split the larger one; two leaves are summed directly
  m2l,           ///< multipole to local expansion
  m2p,           ///< multipole evaluated at the bodies of the target, which is a leaf
  p2l,           ///< bodies of the source, which is a leaf, to local expansion
  p2p,           ///< summed directly, if both are leaves
  split_source,  ///< `not_accepted`, and if the source can be split, then that one
  split_target   ///< `not_accepted`, and if the target can be split, then that one
};

/// A cell as a criterion sees it. Lengths in edges of the root.
struct CellView {
  float centre[3];
  float edge;
  /// Of the bodies around the centre, if the criterion uses radii; else of the cube.
  float radius;
  /// Sum of |q| in an arbitrary unit, if the criterion uses charges; else 0.
  float charge;
  /// Around the cell, roughly, if the criterion uses it; else 0. Of bodies that have a share of 1 in all;
  /// if the criterion uses powers, of their charges, and scaled to the root mean square of the bodies' own.
  /// If it uses the last field, the smallest of that among the cell's bodies, of charges in the unit of
  /// `charge`.
  float field;
  float share;   ///< of all bodies
  float bodies;  ///< how many
  int level;
  bool leaf;
  /// If the criterion uses them: sizes of the multipole's degrees 0 .. order, in units of edge^degree; that
  /// of degree 0 is the charge, with its sign.
  float const* powers;
};

/// What a criterion may depend on.
struct CriterionOptions {
  double theta;              ///< Options::theta
  double pair_error;         ///< Options::pair_error
  int order;                 ///< highest degree of the expansions
  double pairs_per_m2l = 1;  ///< what an M2L costs, in pairs of P2P
  double pairs_per_m2p = 1;  ///< what M2P costs for a body
  double pairs_per_p2l = 1;  ///< what P2L costs for a body; infinite where there is none
};

}  // namespace fmm
