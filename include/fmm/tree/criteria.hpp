// SPDX-License-Identifier: BSD-3-Clause
// Acceptance criteria: may a source cell act on a target cell through its expansion?
//
// A criterion of `DualTree` is a small class with
//
//     static constexpr bool uses_theta    whether Options::theta means anything to it
//     static constexpr bool uses_radii    whether it needs the radii of the cells' bodies
//     static constexpr bool uses_charges  whether it needs the charges (build then takes them)
//     static constexpr double default_theta
//     KOKKOS_FUNCTION fmm::Acceptance operator()(fmm::CellView target, fmm::CellView source) const
//
// and is constructible from theta, or from CriterionOptions. One that wants to know the field around the
// target has, too,
//
//     static constexpr bool uses_field = true
//     static constexpr double default_pair_error
//
// `Acceptance::m2l` must only be given to pairs whose expansions converge: the sum of both radii less than
// the distance of the centres.
#pragma once

#include <cmath>
#include <concepts>

#include "../detail/cell.hpp"

namespace fmm {

/// What becomes of a pair of cells.
enum class Acceptance {
  no,   ///< split one of them; two leaves are summed directly
  m2l,  ///< multipole to local expansion
  m2p   ///< multipole evaluated at the bodies of the target, which is a leaf
};

/// A cell as a criterion sees it. Lengths in edges of the bounding cube.
struct CellView {
  float centre[3];
  float edge;
  float radius;  ///< of the bodies around the centre, if the criterion uses radii; else of the cube
  float charge;  ///< sum of |q| in an arbitrary unit, if the criterion uses charges; else 0
  float field;   ///< sum of share / R^2 over all bodies, roughly, if the criterion uses it; else 0
  float share;   ///< of all bodies
  int level;
  bool leaf;
};

/// (r_a + r_b) < theta R with the tight radii of both cells' bodies and R between the centres
/// (Dehnen 2002, J. Comput. Phys. 179:27). The field's error falls as theta^p.
struct RadiusCriterion {
  static constexpr bool uses_theta = true;
  static constexpr bool uses_radii = true;
  static constexpr bool uses_charges = false;
  static constexpr double default_theta = 0.6;

  float theta2;
  explicit RadiusCriterion(double theta) : theta2(float(theta * theta)) {}

  KOKKOS_FUNCTION Acceptance operator()(CellView const& target, CellView const& source) const {
    const float x = target.centre[0] - source.centre[0], y = target.centre[1] - source.centre[1],
                z = target.centre[2] - source.centre[2];
    const float r = target.radius + source.radius;
    // two empty radii at one centre are two bodies at one point: never accepted
    return r * r < theta2 * (x * x + y * y + z * z) ? Acceptance::m2l : Acceptance::no;
  }
};

/// What a criterion may depend on.
struct CriterionOptions {
  double theta;       ///< Options::theta
  double pair_error;  ///< Options::pair_error
  int order;          ///< highest degree of the expansions
};

namespace detail {

/// What criteria share that bound a pair's error: a source with a share w of all bodies, accepted at a ratio
/// eta < 1 of radii to distance d, gives the target a field of w / d^2 in error by about eta^(p+1) of it.
struct PairError {
  static constexpr bool uses_theta = true;
  static constexpr bool uses_radii = true;
  static constexpr bool uses_charges = false;
  static constexpr bool uses_field = true;

  float limit;  ///< in units of the field around the target
  int order;

  explicit PairError(CriterionOptions const& options)
      : limit(float(options.pair_error)), order(options.order) {}

  KOKKOS_FUNCTION bool is_small(float share, float eta, float d2, float field) const {
    float error = share * eta;
    for (int n = 0; n < order; ++n) error *= eta;
    return error < limit * field * d2;
  }
};

}  // namespace detail

/// RadiusCriterion with a large theta, and a bound on what the pair errs by: w / R^2 eta^(p+1) for a source
/// with a share w of all bodies at eta = (r_a + r_b) / R < theta has to be less than `pair_error` times the
/// field around the target, for which the sum of w / R^2 over all bodies stands. So the large cells, whose
/// errors are the largest, are opened the most, and bodies in a weak field get errors as small as that
/// field. Every body counts as one, whatever its charge: a plan does not depend on charges. (Dehnen 2014,
/// Comput. Astrophys. Cosmol. 1:1, section 3, has the idea, with the multipoles' own power.)
struct FieldCriterion : detail::PairError {
  static constexpr double default_theta = 0.87;
  static constexpr double default_pair_error = 2.4e-4;

  float theta2;
  explicit FieldCriterion(CriterionOptions const& options)
      : PairError(options), theta2(float(options.theta * options.theta)) {}

  KOKKOS_FUNCTION Acceptance operator()(CellView const& target, CellView const& source) const {
    const float x = target.centre[0] - source.centre[0], y = target.centre[1] - source.centre[1],
                z = target.centre[2] - source.centre[2];
    const float r = target.radius + source.radius, R2 = x * x + y * y + z * z;
    if (!(r * r < theta2 * R2)) return Acceptance::no;
    return is_small(source.share, r / std::sqrt(R2), R2, target.field) ? Acceptance::m2l
                                                                       : Acceptance::no;
  }
};

/// FieldCriterion for treecodes (NoTranslation), where only the source's expansion is cut off: r_b / D in
/// the place of eta, with the tight radius r_b of the source's bodies and the distance D from its centre to
/// the nearest place where a body of the target can be, in the target's cube and in its tight sphere.
struct SourceCriterion : detail::PairError {
  static constexpr double default_theta = 0.7;
  static constexpr double default_pair_error = 5e-4;

  float theta;
  explicit SourceCriterion(CriterionOptions const& options)
      : PairError(options), theta(float(options.theta)) {}

  /// D; 0 for pairs whose translation (M2L) would not converge.
  KOKKOS_FUNCTION static float distance(CellView const& target, CellView const& source) {
    const float half = 0.5f * target.edge;
    float R2 = 0, gap2 = 0;  // of the centres, and from the source's to the target's cube
    for (int d = 0; d < 3; ++d) {
      const float x = std::fabs(target.centre[d] - source.centre[d]);
      const float gap = x > half ? x - half : 0;
      R2 += x * x;
      gap2 += gap * gap;
    }
    const float to_sphere = std::sqrt(R2) - target.radius, to_cube = std::sqrt(gap2);
    if (!(source.radius < to_sphere)) return 0;
    return to_sphere > to_cube ? to_sphere : to_cube;
  }

  KOKKOS_FUNCTION Acceptance operator()(CellView const& target, CellView const& source) const {
    const float D = distance(target, source);
    if (!(source.radius < theta * D)) return Acceptance::no;
    return is_small(source.share, source.radius / D, D * D, target.field) ? Acceptance::m2l
                                                                          : Acceptance::no;
  }
};

/// The classic lists (Greengard & Rokhlin 1987; adaptive: Carrier, Greengard & Rokhlin 1988). Cells of
/// one level that do not touch are well separated (V). A smaller source that does not touch a target
/// leaf is evaluated at its bodies (W); for a larger source leaf, whose P2L is not there yet (X), the
/// target descends to its leaves, and P2P. In the words of Yokota & Barba theta is 2/3.
struct CubeCriterion {
  static constexpr bool uses_theta = false;
  static constexpr bool uses_radii = false;
  static constexpr bool uses_charges = false;
  static constexpr double default_theta = 2.0 / 3.0;

  explicit CubeCriterion(double = default_theta) {}

  KOKKOS_FUNCTION Acceptance operator()(CellView const& target, CellView const& source) const {
    if (source.level < target.level) return Acceptance::no;
    // the cubes touch if the distance of their centres is half the sum of their edges or less
    const float reach = 0.5f * (target.edge + source.edge) * 1.0000001f;
    bool touch = true;
    for (int d = 0; d < 3; ++d) {
      const float gap = target.centre[d] - source.centre[d];
      if (gap > reach || -gap > reach) touch = false;
    }
    if (touch) return Acceptance::no;
    return source.level == target.level ? Acceptance::m2l : Acceptance::m2p;
  }
};

namespace detail {

template <class C>
inline constexpr bool uses_field_v = false;
template <class C>
  requires requires { C::uses_field; }
inline constexpr bool uses_field_v<C> = C::uses_field;

template <class C>
C make_criterion(CriterionOptions const& options) {
  if constexpr (std::constructible_from<C, CriterionOptions>)
    return C(options);
  else
    return C(options.theta);
}

}  // namespace detail

/// The contract above.
template <class C>
concept AcceptanceCriterion = std::is_trivially_copyable_v<C> &&
    (std::constructible_from<C, double> ||
     std::constructible_from<C, CriterionOptions>)&&requires(C const criterion,
                                                             CellView const view) {
  { C::uses_theta } -> std::convertible_to<bool>;
  { C::uses_radii } -> std::convertible_to<bool>;
  { C::uses_charges } -> std::convertible_to<bool>;
  { C::default_theta } -> std::convertible_to<double>;
  { criterion(view, view) } -> std::same_as<Acceptance>;
};

}  // namespace fmm
