// SPDX-License-Identifier: BSD-3-Clause
// What a criterion may say of several sources at once, for a CPU's sake: it decides about a family of siblings, one a
// lane, and asks about one pair only where lanes leave it open. Both functions are optional.
//
//     template <class V> KOKKOS_FUNCTION auto candidates(V r, V R2) const
//
// is true where a pair may be accepted: elsewhere the criterion is certain to answer Acceptance::not_accepted. It
// takes the sum of both radii and the squared distance of the centres, in edges of the root; V is float or a pack of
// floats: +, -, * and one comparison. With traits.accepts_candidates all candidates get Acceptance::m2l.
//
//     template <class V> SiblingDecisions decide_siblings(CellView const& target, SourceLanes<V> const& sources,
//                                                         std::uint32_t candidates) const
//
// decides about those of the sources that are candidates, for criteria that use powers.
//
// A function counts if the class that declares it declares operator(), too: what is derived from a criterion and
// decides otherwise does not inherit answers that are no longer true.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "../../simd/simd.hpp"
#include "acceptance.hpp"
#include "traits.hpp"

namespace fmm {

/// Sources that are decided about together, one a lane: V is float or a pack of floats. Lengths as in CellView.
template <class V>
struct SourceLanes {
  V radius, bodies;
  V is_leaf;  ///< 1 or 0
  V R2;       ///< squared distance from the target's centre
  float edge;
  std::uint32_t leaves;  ///< the same as is_leaf: bits
  float const* powers;   ///< sizes of degree 0; those of degree n follow n `stride` later
  std::int64_t stride;

  KOKKOS_FUNCTION V power(int n) const {
    const V size = simd::LaneTraits<V>::load(powers + n * stride);
    if constexpr (simd::LaneTraits<V>::count == 1)
      return std::fabs(size);  // a cell's own degree 0 has the charge's sign
    else
      return size;
  }
};

/// What becomes of siblings: bits of those that get an Acceptance, and of those that are to be decided about one by
/// one. Of all others it is p2p or not_accepted.
struct SiblingDecisions {
  std::uint32_t m2l, split_source, split_target, alone;
};

namespace tree {

template <class Member>
struct DeclaringClass;
template <class Member, class C>
struct DeclaringClass<Member C::*> {
  using type = C;
};
template <class Member>
using declaring_class_t = typename DeclaringClass<Member>::type;

/// Whether there is a function of that name, whoever declared it.
template <class C>
concept NamesCandidates = requires {
  &C::candidates;
};
template <class C>
concept CallsCandidates = requires(C const& criterion, float x) {
  criterion.candidates(x, x);
};
template <class C>
inline constexpr bool mentions_candidates_v = NamesCandidates<C> || CallsCandidates<C>;

template <class C>
concept NamesSiblings = requires {
  &C::decide_siblings;
};
template <class C>
concept CallsSiblings = requires {
  &C::template decide_siblings<simd::UpToEightFloats>;
};
template <class C>
inline constexpr bool mentions_siblings_v = NamesSiblings<C> || CallsSiblings<C>;

/// Whether the function counts: declared by the class that declares operator().
template <class C>
concept HasCandidates = requires {
  requires std::same_as<declaring_class_t<decltype(&C::template candidates<float>)>,
                        declaring_class_t<decltype(&C::operator())>>;
};
template <class C>
concept HasSiblings = requires {
  requires std::same_as<
      declaring_class_t<decltype(&C::template decide_siblings<simd::UpToEightFloats>)>,
      declaring_class_t<decltype(&C::operator())>>;
};

template <class C>
inline constexpr bool has_candidates_v = HasCandidates<C>;
template <class C>
inline constexpr bool accepts_candidates_v = traits_v<C>.accepts_candidates&& has_candidates_v<C>;
template <class C>
inline constexpr bool decides_siblings_v = has_candidates_v<C>&& HasSiblings<C>;

}  // namespace tree
}  // namespace fmm
