// SPDX-License-Identifier: BSD-3-Clause
// The contract of an acceptance criterion: may a source cell act on a target cell through its expansion?
//
// A criterion is a class for DualTree<criterion>. It is trivially copyable, since kernels take it by value; it says
// what it goes by (traits.hpp); it is made from theta, or from all that it may depend on (acceptance.hpp); and it
// decides about a pair:
//
//     struct Mine {
//       static constexpr fmm::CriterionTraits traits{.theta = {.by_default = 0.5}};
//       explicit Mine(double theta);  // or Mine(fmm::CriterionOptions const&)
//       KOKKOS_FUNCTION fmm::Acceptance operator()(fmm::CellView const& target,
//                                                  fmm::CellView const& source) const;
//     };
//
// It must give Acceptance::m2l only to pairs whose expansions converge, the sum of both radii less than the distance
// of the centres, and Acceptance::p2l only to those whose source's bodies are all farther from the target's centre
// than the target's radius. In a treecode, and with expansions that have no P2L, p2l is not_accepted.
//
// Two more functions let a CPU decide about several sources at once (siblings.hpp). `check_criterion` has a message
// for each thing that a class lacks.
#pragma once

#include <concepts>
#include <type_traits>

#include "acceptance.hpp"
#include "siblings.hpp"
#include "traits.hpp"

namespace fmm {
namespace tree {

template <class C>
concept DeclaresTraits = requires {
  requires std::same_as<std::remove_cvref_t<decltype(C::traits)>, CriterionTraits>;
  typename std::bool_constant<C::traits.uses_radii>;  // a constant
};

template <class C>
inline constexpr bool takes_options_v = std::constructible_from<C, CriterionOptions>;
template <class C>
inline constexpr bool takes_theta_v = std::constructible_from<C, double>;

template <class C>
concept DecidesPairs = requires(C const& criterion, CellView const& cell) {
  { criterion(cell, cell) } -> std::same_as<Acceptance>;
};

/// A criterion that goes by pair_error can be told it.
template <class C>
inline constexpr bool is_told_pair_error_v = traits_v<C>.default_pair_error == 0 ||
                                             (traits_v<C>.default_pair_error > 0 &&
                                              takes_options_v<C>);

template <class C>
concept CandidatesTakePacks = requires(C const& criterion, simd::UpToEightFloats packs) {
  typename declaring_class_t<decltype(&C::template candidates<float>)>;
  { simd::bits_of(criterion.candidates(packs, packs)) } -> std::same_as<std::uint32_t>;
};
/// None, or as they should be.
template <class C>
inline constexpr bool has_good_candidates_v =
    mentions_candidates_v<C> ? CandidatesTakePacks<C> : !traits_v<C>.accepts_candidates;

template <class C>
concept SiblingsTakePacks = requires(C const& criterion, CellView const& cell,
                                     SourceLanes<simd::UpToEightFloats> const& sources) {
  { criterion.decide_siblings(cell, sources, 1u) } -> std::same_as<SiblingDecisions>;
};
template <class C>
inline constexpr bool has_good_siblings_v =
    !mentions_siblings_v<C> ||
    (SiblingsTakePacks<C> && mentions_candidates_v<C> && traits_v<C>.uses_powers);

/// The last field, and powers, are of charges.
constexpr bool has_charges_for_fields(CriterionTraits traits) {
  return !traits.uses_last_field || (traits.uses_charges && traits.uses_field);
}
constexpr bool has_charges_for_powers(CriterionTraits traits) {
  return !traits.uses_powers || traits.uses_charges;
}

template <class C>
constexpr bool is_criterion() {
  constexpr bool says[] = {std::is_trivially_copyable_v<C>,
                           DeclaresTraits<C>,
                           takes_theta_v<C> || takes_options_v<C>,
                           DecidesPairs<C>,
                           traits_v<C>.theta.is_sound(),
                           is_told_pair_error_v<C>,
                           has_charges_for_fields(traits_v<C>),
                           has_charges_for_powers(traits_v<C>),
                           has_good_candidates_v<C>,
                           has_good_siblings_v<C>};
  for (const bool yes : says)
    if (!yes) return false;
  return true;
}

}  // namespace tree

/// The contract above.
template <class C>
concept AcceptanceCriterion = tree::is_criterion<C>();

namespace tree {

/// Compiles for what satisfies the contract; for all others the compiler says what is missing.
template <class C>
constexpr bool check_criterion() {
  static_assert(std::is_trivially_copyable_v<C>,
                "fmm: an acceptance criterion must be trivially copyable");
  static_assert(DeclaresTraits<C>,
                "fmm: an acceptance criterion must declare what it goes by: `static constexpr "
                "fmm::CriterionTraits traits`");
  static_assert(takes_theta_v<C> || takes_options_v<C>,
                "fmm: an acceptance criterion must be constructible from theta, a double, or from "
                "fmm::CriterionOptions");
  static_assert(DecidesPairs<C>,
                "fmm: an acceptance criterion must decide about a pair: `fmm::Acceptance "
                "operator()(fmm::CellView const& target, fmm::CellView const& source) const`");
  static_assert(traits_v<C>.theta.is_sound(),
                "fmm: an acceptance criterion's traits.theta.by_default must be in the range that "
                "traits.theta describes");
  static_assert(is_told_pair_error_v<C>,
                "fmm: an acceptance criterion whose traits.default_pair_error is set, to more than "
                "0, must be constructible from fmm::CriterionOptions, which have the pair_error");
  static_assert(has_charges_for_fields(traits_v<C>),
                "fmm: an acceptance criterion whose traits say uses_last_field must say "
                "uses_charges and uses_field, too");
  static_assert(has_charges_for_powers(traits_v<C>),
                "fmm: an acceptance criterion whose traits say uses_powers must say uses_charges, "
                "too");
  static_assert(has_good_candidates_v<C>,
                "fmm: an acceptance criterion's candidates, which accepts_candidates needs, must "
                "be `template <class V> auto candidates(V r, V R2) const` for packs of floats "
                "(simd/simd.hpp) as for floats: +, -, * and one comparison");
  static_assert(has_good_siblings_v<C>,
                "fmm: an acceptance criterion with decide_siblings must have candidates, say "
                "uses_powers, and return fmm::SiblingDecisions from (fmm::CellView const& target, "
                "fmm::SourceLanes<V> const& sources, std::uint32_t candidates)");
  return true;
}

/// The criterion C under these options.
template <class C>
C make_criterion(CriterionOptions const& options) {
  if constexpr (takes_options_v<C>)
    return C(options);
  else
    return C(options.theta);
}

}  // namespace tree
}  // namespace fmm
