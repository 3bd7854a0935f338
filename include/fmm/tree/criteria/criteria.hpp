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
// One for which that is the smallest field of the last step among the target's bodies has uses_last_field =
// true besides, and uses_charges (build then takes both). One that wants to know the size of the sources'
// multipoles, degree by degree, has uses_powers = true besides uses_charges.
//
//     static constexpr bool only_m2l = true
//
// says that it accepts by M2L or not at all: lists and operators of other ways are then left out.
//
//     static constexpr int largest_order = 40
//
// says that there are no solvers of higher orders with it.
//
//     using refuses_by_radii = MyCriterion
//     template <class V> KOKKOS_FUNCTION auto may_accept(V r, V R2) const
//
// may_accept is false for a sum of both radii and a squared distance of the centres that get Acceptance::no for
// certain; lengths are in edges of the root, and V is float or a pack of floats: +, -, * and one comparison. A CPU
// asks it for several sources at a time, lane by lane, and the criterion itself only for those that are left; with
// `using accepts_by_radii = MyCriterion`, too, all these get Acceptance::m2l; with `using decides_in_lanes =
// MyCriterion`, and uses_powers, it decides about siblings by decide_siblings (as PowerCriterion does). (Types, so that
// what is derived from MyCriterion has to say so itself.)
//
// `Acceptance::m2l` must only be given to pairs whose expansions converge: the sum of both radii less than
// the distance of the centres; `Acceptance::p2l` to those whose source's bodies are all farther from the
// target's centre than the target's radius. In a treecode, and with expansions that have no P2L, p2l is no.
#pragma once

#include <cmath>
#include <concepts>

#include "../../cells/cell.hpp"
#include "../../simd/simd.hpp"

namespace fmm {

/// What becomes of a pair of cells.
enum class Acceptance {
  no,            ///< split the larger one; two leaves are summed directly
  m2l,           ///< multipole to local expansion
  m2p,           ///< multipole evaluated at the bodies of the target, which is a leaf
  p2l,           ///< bodies of the source, which is a leaf, to local expansion
  p2p,           ///< summed directly, if both are leaves
  split_source,  ///< `no`, and if the source can be split, then that one
  split_target   ///< `no`, and if the target can be split, then that one
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

namespace tree {

/// Of the centres, squared.
KOKKOS_INLINE_FUNCTION float distance2(CellView const& a, CellView const& b) {
  const float x = a.centre[0] - b.centre[0], y = a.centre[1] - b.centre[1],
              z = a.centre[2] - b.centre[2];
  return x * x + y * y + z * z;
}

/// (r_a + r_b)^2 < theta^2 R^2. Two empty radii at one centre are two bodies at one point: never accepted.
struct BelowTheta {
  float theta2;
  explicit BelowTheta(double theta) : theta2(float(theta * theta)) {}

  template <class V>
  KOKKOS_FUNCTION auto may_accept(V r, V R2) const {
    return r * r < theta2 * R2;
  }
};

}  // namespace tree

/// (r_a + r_b) < theta R with the tight radii of both cells' bodies and R between the centres
/// (Dehnen 2002, J. Comput. Phys. 179:27). The field's error falls as theta^p.
struct RadiusCriterion : tree::BelowTheta {
  using refuses_by_radii = RadiusCriterion;
  using accepts_by_radii = RadiusCriterion;
  static constexpr bool uses_theta = true;
  static constexpr bool uses_radii = true;
  static constexpr bool uses_charges = false;
  static constexpr bool only_m2l = true;
  static constexpr double default_theta = 0.6;

  explicit RadiusCriterion(double theta) : BelowTheta(theta) {}

  KOKKOS_FUNCTION Acceptance operator()(CellView const& target, CellView const& source) const {
    return may_accept(target.radius + source.radius, tree::distance2(target, source))
               ? Acceptance::m2l
               : Acceptance::no;
  }
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

namespace tree {

/// What criteria share that bound a pair's error: a source with a share w of all bodies (or of charge w),
/// accepted at a ratio eta < 1 of radii to distance d, gives the target a field of w / d^2 in error by about
/// eta^(p+1) of it.
struct PairError {
  static constexpr bool uses_theta = true;
  static constexpr bool uses_radii = true;
  static constexpr bool uses_charges = false;
  static constexpr bool uses_field = true;
  static constexpr bool only_m2l = true;

  float limit;  ///< in units of the field around the target
  int order;

  explicit PairError(CriterionOptions const& options)
      : limit(float(options.pair_error)), order(options.order) {}

  KOKKOS_FUNCTION bool is_small(float w, float eta, float d2, float field) const {
    float error = w * eta;
    for (int n = 0; n < order; ++n) error *= eta;
    return error < limit * field * d2;
  }
};

/// With d between the centres: eta = (r_a + r_b) / R less than theta, and the error of w small.
struct PairErrorOfRadii : PairError, BelowTheta {
  explicit PairErrorOfRadii(CriterionOptions const& options)
      : PairError(options), BelowTheta(options.theta) {}

  KOKKOS_FUNCTION bool accepts(CellView const& target, CellView const& source, float w) const {
    const float r = target.radius + source.radius, R2 = distance2(target, source);
    return may_accept(r, R2) && is_small(w, r / std::sqrt(R2), R2, target.field);
  }
};

}  // namespace tree

/// RadiusCriterion with a large theta, and a bound on what the pair errs by: w / R^2 eta^(p+1) for a source
/// with a share w of all bodies at eta = (r_a + r_b) / R < theta has to be less than `pair_error` times the
/// field around the target, for which the sum of w / R^2 over all bodies stands. So the large cells, whose
/// errors are the largest, are opened the most, and bodies in a weak field get errors as small as that
/// field. Every body counts as one, whatever its charge: a plan does not depend on charges. (Dehnen 2014,
/// Comput. Astrophys. Cosmol. 1:1, section 3, has the idea, with the multipoles' own power.)
struct FieldCriterion : tree::PairErrorOfRadii {
  using refuses_by_radii = FieldCriterion;
  static constexpr double default_theta = 0.87;
  static constexpr double default_pair_error = 2.4e-4;

  explicit FieldCriterion(CriterionOptions const& options) : PairErrorOfRadii(options) {}

  KOKKOS_FUNCTION Acceptance operator()(CellView const& target, CellView const& source) const {
    return accepts(target, source, source.share) ? Acceptance::m2l : Acceptance::no;
  }
};

/// FieldCriterion with the charges as they are, and the field that the bodies had in the step before, as in
/// GADGET (Springel 2005, MNRAS 364:1105, eq. 18; Springel et al. 2021, MNRAS 506:2871, sec. 2): Q / R^2
/// eta^(p+1) with Q = sum |q| of the source has to be less than `pair_error`, GADGET's alpha, times the
/// smallest |field| of the last step among the target's bodies. That field cancels where it does in truth: a
/// body with none has all sources opened, and so has a first step whose last field is zero, which is a
/// direct sum. Start with an evaluation by FieldCriterion instead. As a treecode (NoTranslation) it is the
/// same, since eta is never less than the r_b / D of SourceCriterion: somewhat stricter.
struct RelativeCriterion : tree::PairErrorOfRadii {
  using refuses_by_radii = RelativeCriterion;
  static constexpr bool uses_charges = true;
  static constexpr bool uses_last_field = true;
  static constexpr double default_theta = 0.87;
  static constexpr double default_pair_error = 2.4e-4;

  explicit RelativeCriterion(CriterionOptions const& options) : PairErrorOfRadii(options) {}

  KOKKOS_FUNCTION Acceptance operator()(CellView const& target, CellView const& source) const {
    return accepts(target, source, source.charge) ? Acceptance::m2l : Acceptance::no;
  }
};

/// Siblings as a criterion that decides about them together sees them: one a lane, V a pack of floats.
template <class V>
struct SiblingViews {
  V radius, bodies;
  V is_leaf;  ///< 1 or 0
  V R2;       ///< squared distance from the target's centre
  float edge;
  std::uint32_t leaves;  ///< bits
  float const* powers;   ///< sizes of degree 0; those of degree n follow n `stride` later
  std::int64_t stride;

  V power(int n) const { return simd::LaneTraits<V>::load(powers + n * stride); }
};

/// What becomes of siblings: bits of those that get an Acceptance, and of those that are to be decided about one by
/// one. Of all others it is p2p or no.
struct SiblingDecisions {
  std::uint32_t m2l, split_source, split_target, alone;
};

/// What a pair errs by is estimated from the multipole's own powers (Dehnen 2014, Comput. Astrophys. Cosmol.
/// 1:1, eqs. 14 to 17), for either side apart, and each pair gets the operator that costs least among those
/// that are good enough: M2L, M2P, P2L, P2P (Cheng, Greengard & Rokhlin 1999, J. Comput. Phys. 155:468,
/// sec. 5).
///
/// With a = r_a / R, b = r_b / R and t = edge_b / R, the field that is left out where the local expansion
/// ends, and where the multipole ends, is about
///
///     T = a^p sum_(n <= p) binomial(n + p + 1, n) |P_n| t^n / (1 - a - b) / R^2
///     S = |P_p| t^p b / D^(p+2) / (1 - a - b) / R^2,   D = 1 - 0.6 a (anywhere in the target), 1 - a (all)
///
/// A pair is accepted if its share of the mean square error is worth what it saves: n_a T^2 and n_a S^2
/// less than (pair_error field)^2 times the cost of the pair's refinement in M2Ls, for n_a bodies in the
/// target. Only a smaller source makes S smaller, and only a smaller target makes T smaller beyond
/// cancellation: the side that is not good enough is split, and bodies of a leaf that cannot be split
/// take the multipole of a large source by M2P, so that errors in the same direction do not add up from
/// many small ones. Single bodies have no S: those of a leaf that cannot be split, or are very few, go to
/// the target's local expansion by P2L. The relative force error of all bodies is near pair_error, whatever
/// the order, the distribution and N (docs/math.md).
struct PowerCriterion : tree::BelowTheta {
  using refuses_by_radii = PowerCriterion;
  using decides_in_lanes = PowerCriterion;
  static constexpr bool uses_theta = true;
  static constexpr bool uses_radii = true;
  static constexpr bool uses_charges = true;
  static constexpr bool uses_field = true;
  static constexpr bool uses_powers = true;
  static constexpr double default_theta = 0.92;
  static constexpr double default_pair_error = 2e-5;
  /// M2Ls that take the place of one between cells that are not both leaves, roughly.
  static constexpr float refinement = 8;
  static constexpr int largest_order = 40;  ///< whose binomials there is room for

  float limit, m2ls_per_pair, m2ls_per_m2p, m2ls_per_p2l;
  int order;
  float binomials[largest_order + 1];  ///< binomial(n + order + 1, n)

  explicit PowerCriterion(CriterionOptions const& options)
      : BelowTheta(options.theta),
        limit(float(options.pair_error)),
        m2ls_per_pair(float(1 / options.pairs_per_m2l)),
        m2ls_per_m2p(float(options.pairs_per_m2p / options.pairs_per_m2l)),
        m2ls_per_p2l(float(options.pairs_per_p2l / options.pairs_per_m2l)),
        order(options.order),
        binomials{} {
    double binomial = 1;
    for (int n = 0; n <= order; ++n) {
      binomials[n] = float(binomial);
      binomial *= double(n + order + 2) / (n + 1);
    }
  }

 private:
  /// T and S without 1 / (1 - a - b), S without 1 / D^2, and what they may be.
  template <class V>
  struct Estimate {
    V T, S, allowed, a, b, t, D, last;

    KOKKOS_FUNCTION auto target_is_good() const {
      return T <= allowed;  // a source without charge is good in no field, too
    }
    KOKKOS_FUNCTION auto source_is_good() const { return S <= allowed * D * D; }
  };

 public:
  KOKKOS_FUNCTION Acceptance operator()(CellView const& target, CellView const& source) const {
    const float R2 = tree::distance2(target, source);
    if (!may_accept(target.radius + source.radius, R2)) return Acceptance::no;
    const float direct = target.bodies * source.bodies * m2ls_per_pair;
    const bool leaves = target.leaf && source.leaf;
    if (leaves && direct < 1) return Acceptance::p2p;

    const auto e = estimate(target, source.radius, source.edge, R2, leaves ? direct : refinement,
                            [&](int n) { return std::fabs(source.powers[n]); });
    const bool target_good = e.target_is_good(), source_good = e.source_is_good();
    // a leaf's bodies have no S; where that of the leaf is too large, the other way is all pairs
    const float from_bodies = source.bodies * m2ls_per_p2l;
    if (target_good && source.leaf && from_bodies < (source_good ? 1 : direct) &&
        (source_good ||
         is_small_from_bodies(source.charge, e.a, 1 - e.b, e.allowed / (1 - e.a - e.b))))
      return Acceptance::p2l;
    if (target_good && source_good) return Acceptance::m2l;
    if (target_good) return Acceptance::split_source;
    if (!target.leaf) return source_good ? Acceptance::split_target : Acceptance::no;
    // the other ways are all bodies of the source, or its parts: T / allowed of them would be good enough,
    // if their errors did not add up
    const float at_bodies = target.bodies * m2ls_per_m2p;
    const bool cheap =
        at_bodies < direct && (at_bodies_is_little(target) || at_bodies * e.allowed < e.T);
    return cheap && is_small_at_bodies(e.last * e.b, e.t, 1 - e.a, e.allowed)
               ? Acceptance::m2p
               : Acceptance::split_source;
  }

  /// The same of siblings among which may_accept is true of those in `suspects`.
  template <class V>
  SiblingDecisions decide_siblings(CellView const& target, SiblingViews<V> const& sources,
                                   std::uint32_t suspects) const {
    using simd::bits_of, simd::select;
    const V direct = V(target.bodies * m2ls_per_pair) * sources.bodies;
    const std::uint32_t leaves = target.leaf ? sources.leaves : 0,
                        direct_is_cheap = leaves & bits_of(direct < V(1.0f));
    SiblingDecisions decisions{};
    suspects &= ~direct_is_cheap;
    if (suspects == 0) return decisions;
    V worth(refinement);
    if (leaves != 0) worth = select(sources.is_leaf > V(0.0f), direct, worth);
    const auto e = estimate(target, sources.radius, V(sources.edge), sources.R2, worth,
                            [&](int n) { return sources.power(n); });
    const std::uint32_t target_good = suspects & bits_of(e.target_is_good()),
                        source_good = suspects & bits_of(e.source_is_good()),
                        neither = suspects & ~target_good;
    if ((target_good & sources.leaves) != 0) {
      const V from_bodies = sources.bodies * V(m2ls_per_p2l);
      decisions.alone = target_good & sources.leaves &
                        ((source_good & bits_of(from_bodies < V(1.0f))) |
                         (~source_good & bits_of(from_bodies < direct)));
    }
    decisions.m2l = target_good & source_good & ~decisions.alone;
    decisions.split_source = target_good & ~source_good & ~decisions.alone;
    if (!target.leaf) {
      decisions.split_target = neither & source_good;
    } else if (neither != 0) {
      const V at_bodies(target.bodies * m2ls_per_m2p);
      const std::uint32_t cheap =
          neither & bits_of(at_bodies < direct) &
          (at_bodies_is_little(target) ? ~0u : bits_of(at_bodies * e.allowed < e.T));
      decisions.alone |= cheap;
      decisions.split_source |= neither & ~cheap;
    }
    return decisions;
  }

 private:
  /// Of sources of that radius and edge at that distance, whose degree n has power(n); `worth` is what the pair's
  /// refinement costs, in M2Ls.
  template <class V, class Power>
  KOKKOS_FORCEINLINE_FUNCTION Estimate<V> estimate(CellView const& target, V radius, V edge, V R2,
                                                   V worth, Power const& power) const {
    using simd::square_root;
    const V per_R = V(1.0f) / square_root(R2), a = V(target.radius) * per_R, b = radius * per_R,
            t = edge * per_R, D = V(1.0f) - V(0.6f) * a, t_D = t / D;
    const V last = power(order);
    V T = V(binomials[order]) * last, S = last * b, a_p(1.0f);
    for (int n = order - 1; n >= 0; --n) {
      T = T * t + V(binomials[n]) * power(n);
      S = S * t_D;
      a_p = a_p * a;
    }
    const V allowed = V(limit * target.field) * R2 * square_root(worth / V(target.bodies)) *
                      (V(1.0f) - (V(target.radius) + radius) * per_R);
    return {T * a_p, S, allowed, a, b, t, D, last};
  }
  /// Whether M2P for all of the target's bodies costs less than refinements do.
  KOKKOS_FUNCTION bool at_bodies_is_little(CellView const& target) const {
    return target.bodies * m2ls_per_m2p < refinement;
  }
  /// Whether T is, of bodies that may all be at the distance D R of the nearest: T's sum over the degrees of the
  /// source ends too early where these fall slowly.
  KOKKOS_FUNCTION bool is_small_from_bodies(float charge, float a, float D, float allowed) const {
    const float a_D = a / D;
    if (!(a_D < 1)) return false;
    float T = charge;
    for (int n = 0; n < order; ++n) T *= a_D;
    return T < allowed * D * D * (1 - a_D);
  }
  /// Whether S is, with the D of M2P.
  KOKKOS_FUNCTION bool is_small_at_bodies(float S, float t, float D, float allowed) const {
    const float t_D = t / D;
    for (int n = 0; n < order; ++n) S *= t_D;
    return S < allowed * D * D;
  }
};

/// FieldCriterion for treecodes (NoTranslation), where only the source's expansion is cut off: r_b / D in
/// the place of eta, with the tight radius r_b of the source's bodies and the distance D from its centre to
/// the nearest place where a body of the target can be, in the target's cube and in its tight sphere.
struct SourceCriterion : tree::PairError {
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
/// leaf is evaluated at its bodies (W); bodies of a larger source leaf that does not touch the target go
/// to its local expansion (X). In the words of Yokota & Barba theta is 2/3.
struct CubeCriterion {
  static constexpr bool uses_theta = false;
  static constexpr bool uses_radii = false;
  static constexpr bool uses_charges = false;
  static constexpr double default_theta = 2.0 / 3.0;

  explicit CubeCriterion(double = default_theta) {}

  KOKKOS_FUNCTION Acceptance operator()(CellView const& target, CellView const& source) const {
    const bool larger = source.level < target.level;
    if (larger && !source.leaf) return Acceptance::no;
    // the cubes touch if the distance of their centres is half the sum of their edges or less
    const float reach = 0.5f * (target.edge + source.edge) * 1.0000001f;
    bool touch = true;
    for (int d = 0; d < 3; ++d) {
      const float gap = target.centre[d] - source.centre[d];
      if (gap > reach || -gap > reach) touch = false;
    }
    if (touch) return Acceptance::no;
    if (larger) return Acceptance::p2l;
    return source.level == target.level ? Acceptance::m2l : Acceptance::m2p;
  }
};

/// The classic lists with parents in the place of their eight children where all of these are in the list of
/// cells (V) and the expansions of the parent converge as fast as the slowest of that list: 119 translations
/// instead of 189 in a uniform tree (Gumerov & Duraiswami 2008, J. Comput. Phys. 227:8290). That is from a
/// distance of three of the target's edges on: (r_a + r_b) / R is sqrt(3) / 2 there for a parent, too.
struct StencilCriterion : CubeCriterion {
  using CubeCriterion::CubeCriterion;

  KOKKOS_FUNCTION Acceptance operator()(CellView const& target, CellView const& source) const {
    const float reach2 =
        8.99f * target.edge * target.edge;  // no R2 is between 8.75 and 9.75 edges^2
    if (source.level + 1 == target.level && !source.leaf &&
        tree::distance2(target, source) > reach2)
      return Acceptance::m2l;
    return CubeCriterion::operator()(target, source);
  }
};

namespace tree {

template <class C>
inline constexpr bool uses_field_v = false;
template <class C>
  requires requires { C::uses_field; }
inline constexpr bool uses_field_v<C> = C::uses_field;

template <class C>
inline constexpr bool uses_last_field_v = false;
template <class C>
  requires requires { C::uses_last_field; }
inline constexpr bool uses_last_field_v<C> = C::uses_last_field;

template <class C>
inline constexpr bool uses_powers_v = false;
template <class C>
  requires requires { C::uses_powers; }
inline constexpr bool uses_powers_v<C> = C::uses_powers;

template <class C>
concept RefusesByRadii = std::same_as<typename C::refuses_by_radii, C>;
template <class C>
concept DecidesInLanes =
    RefusesByRadii<C> && uses_powers_v<C> && std::same_as<typename C::decides_in_lanes, C>;
template <class C>
concept AcceptsByRadii = RefusesByRadii<C> && std::same_as<typename C::accepts_by_radii, C>;

template <class C>
inline constexpr bool only_m2l_v = false;
template <class C>
  requires requires { C::only_m2l; }
inline constexpr bool only_m2l_v<C> = C::only_m2l;

template <class C, int Order>
constexpr bool allows_order() {
  if constexpr (requires { C::largest_order; })
    return Order <= C::largest_order;
  else
    return true;
}

template <class C>
C make_criterion(CriterionOptions const& options) {
  if constexpr (std::constructible_from<C, CriterionOptions>)
    return C(options);
  else
    return C(options.theta);
}

}  // namespace tree

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
