// SPDX-License-Identifier: BSD-3-Clause
// MultipolePowerCriterion: by the pair's error, estimated from the powers of the source's multipole.
#pragma once

#include <cmath>

#include "contract.hpp"
#include "separation.hpp"

namespace fmm {

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
struct MultipolePowerCriterion {
  static constexpr CriterionTraits traits{.theta = {.by_default = 0.92},
                                          .default_pair_error = 2e-5,
                                          .largest_order = 40,  // there is room for its binomials
                                          .uses_radii = true,
                                          .uses_charges = true,
                                          .uses_field = true,
                                          .uses_powers = true};
  /// M2Ls that take the place of one between cells that are not both leaves, roughly.
  static constexpr float refinement = 8;

  tree::Separation separation;
  float limit, m2ls_per_pair, m2ls_per_m2p, m2ls_per_p2l;
  int order;
  float binomials[traits.largest_order + 1];  ///< binomial(n + order + 1, n)

  explicit MultipolePowerCriterion(CriterionOptions const& options)
      : separation(options.theta),
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

  template <class V>
  KOKKOS_FUNCTION auto candidates(V r, V R2) const {
    return separation.holds(r, R2);
  }

  KOKKOS_FUNCTION Acceptance operator()(CellView const& target, CellView const& source) const {
    const float R2 = distance2(target, source);
    if (!candidates(target.radius + source.radius, R2)) return Acceptance::not_accepted;
    const auto one =
        decide(target, lane_of(source, R2), target.bodies * source.bodies * m2ls_per_pair, 1u);
    if (one.p2p) return Acceptance::p2p;
    if (one.m2l) return Acceptance::m2l;
    if (one.split_source) return Acceptance::split_source;
    if (one.split_target) return Acceptance::split_target;
    Estimate<float> const& e = one.estimate;
    if (one.p2l)
      return one.source_good ||
                     is_small_from_bodies(source.charge, e.a, 1 - e.b, e.allowed / (1 - e.a - e.b))
                 ? Acceptance::p2l
                 : Acceptance::split_source;
    if (one.m2p)
      return is_small_at_bodies(e.last * e.b, e.t, 1 - e.a, e.allowed) ? Acceptance::m2p
                                                                       : Acceptance::split_source;
    return Acceptance::not_accepted;
  }

  /// What a pair of M2L is estimated to err by for the most exposed of the target's bodies, T and, with D = 1 - a, S,
  /// in units of charge / (edge of the root)^2, and its a. Of cells that nearly touch these are no more than numbers.
  struct PairErrors {
    float T, S, a;
  };
  KOKKOS_FUNCTION PairErrors errors(CellView const& target, CellView const& source) const {
    constexpr float least_gap = 0.05f;
    const float R2 = distance2(target, source);
    const auto e = estimate(target, lane_of(source, R2), 1.0f);
    const float per_gap = 1 / (std::fmax(1 - e.a - e.b, least_gap) * R2),
                at_rim = e.D / std::fmax(1 - e.a, least_gap);
    return {e.T * per_gap, e.S / (e.D * e.D) * std::pow(at_rim, float(order + 2)) * per_gap, e.a};
  }

  /// The Acceptance of siblings. P2L and M2P are decided alone: of few, and by sums of their own.
  template <class V>
  SiblingDecisions decide_siblings(CellView const& target, SourceLanes<V> const& sources,
                                   std::uint32_t candidates) const {
    const auto all =
        decide(target, sources, V(target.bodies * m2ls_per_pair) * sources.bodies, candidates);
    return {all.m2l, all.split_source, all.split_target, all.p2l | all.m2p};
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

  /// Which sources get which Acceptance: bits. P2L and M2P are those that cost the least: whether what they err by is
  /// small, too, is still to be seen, and the source is split where it is not.
  template <class V>
  struct Decisions {
    std::uint32_t p2p, m2l, p2l, m2p, split_source, split_target, source_good;
    Estimate<V> estimate;  ///< unless all are p2p
  };

  /// Of those sources that are candidates; `direct` is what P2P costs, in M2Ls.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION Decisions<V> decide(CellView const& target,
                                                  SourceLanes<V> const& sources, V direct,
                                                  std::uint32_t candidates) const {
    using simd::bits_of, simd::select;
    Decisions<V> all{};
    const std::uint32_t leaves = target.leaf ? sources.leaves : 0;
    all.p2p = candidates & leaves & bits_of(direct < V(1.0f));
    candidates &= ~all.p2p;
    if (candidates == 0) return all;
    V worth(refinement);
    if (leaves != 0) worth = select(sources.is_leaf > V(0.0f), direct, worth);
    const auto e = all.estimate = estimate(target, sources, worth);
    const std::uint32_t target_good = candidates & bits_of(e.target_is_good()),
                        source_good = candidates & bits_of(e.source_is_good()),
                        neither = candidates & ~target_good;
    all.source_good = source_good;
    // a leaf's bodies have no S; where that of the leaf is too large, the other way is all pairs
    if ((target_good & sources.leaves) != 0) {
      const V from_bodies = sources.bodies * V(m2ls_per_p2l);
      all.p2l = target_good & sources.leaves &
                ((source_good & bits_of(from_bodies < V(1.0f))) |
                 (~source_good & bits_of(from_bodies < direct)));
    }
    all.m2l = target_good & source_good & ~all.p2l;
    all.split_source = target_good & ~source_good & ~all.p2l;
    if (!target.leaf) {
      all.split_target = neither & source_good;
    } else if (neither != 0) {
      // the other ways are all bodies of the source, or its parts: T / allowed of them would be good enough,
      // if their errors did not add up
      const V at_bodies(target.bodies * m2ls_per_m2p);
      all.m2p = neither & bits_of(at_bodies < direct) &
                (at_bodies_is_little(target) ? ~0u : bits_of(at_bodies * e.allowed < e.T));
      all.split_source |= neither & ~all.m2p;
    }
    return all;
  }

  KOKKOS_FUNCTION static SourceLanes<float> lane_of(CellView const& source, float R2) {
    return {source.radius,
            source.bodies,
            source.leaf ? 1.0f : 0.0f,
            R2,
            source.edge,
            source.leaf,
            source.powers,
            1};
  }

  /// `worth` is what the refinement of each pair costs, in M2Ls.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION Estimate<V> estimate(CellView const& target,
                                                   SourceLanes<V> const& sources, V worth) const {
    using simd::square_root;
    const V R2 = sources.R2, radius = sources.radius, per_R = V(1.0f) / square_root(R2),
            a = V(target.radius) * per_R, b = radius * per_R, t = V(sources.edge) * per_R,
            D = V(1.0f) - V(0.6f) * a, t_D = t / D;
    const V last = sources.power(order);
    V T = V(binomials[order]) * last, S = last * b, a_p(1.0f);
    for (int n = order - 1; n >= 0; --n) {
      T = T * t + V(binomials[n]) * sources.power(n);
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

}  // namespace fmm
