// SPDX-License-Identifier: BSD-3-Clause
// From what a caller hands in - charges, or fmm::Strengths, of one density or of several - to the ends of evaluations.
#pragma once

#include "density_blocks.hpp"

namespace fmm::engine {

template <class Kernel, class Ends, bool UsesCharges>
constexpr bool check_ends() {
  using Strengths = typename Ends::Strengths;
  static_assert(check_derivatives<Kernel, Strengths, typename Ends::Out>());
  static_assert(!UsesCharges || !(Strengths::has_dipoles || Ends::Out::hessian),
                "fmm: dipoles and Hessians are for criteria of the geometry alone");
  return true;
}

/// Of charges, or of strengths with dipoles: evaluate(ends) once, or of several densities for each block of them.
template <class Precision, bool UsesCharges, class Space, class Data, class Kernel, class Charges,
          class Potential, class Field, class Hessian, class Evaluate>
void for_ends_of(Space const& space, Data const& plan, Kernel const& kernel, Charges const& charges,
                 Results<Potential, Field, Hessian> const& results, bool unchanged, Report* report,
                 Evaluate const& evaluate) {
  const auto checked = [&](auto const& ends) {
    static_assert(check_ends<Kernel, std::remove_cvref_t<decltype(ends)>, UsesCharges>());
    evaluate(ends);
  };
  if constexpr (has_densities_v<Charges>) {
    static_assert(!UsesCharges, "fmm: several densities are for criteria of the geometry alone");
    evaluate_densities<Precision, kernels::most_densities_v<Kernel>>(
        space, plan, profile_of(kernel), charges, results, unchanged, report, checked);
  } else {
    checked(EvaluationEnds<Charges, Potential, Field, Hessian>{
        charges, results.potential, results.field, results.hessian, nullptr, unchanged});
  }
}

template <class Given>
inline constexpr bool are_strengths_v = false;
template <class Charges, class Dipoles>
inline constexpr bool are_strengths_v<fmm::Strengths<Charges, Dipoles>> = true;

/// What sources carry: the charges of fmm::Strengths without dipoles.
template <class Given>
auto const& carried(Given const& given) {
  if constexpr (!are_strengths_v<Given>) {
    return given;
  } else {
    constexpr bool has_dipoles = !std::is_same_v<decltype(given.dipoles), None>;
    static_assert(has_dipoles || !std::is_same_v<decltype(given.charges), None>,
                  "fmm: fmm::Strengths have charges, dipoles, or both");
    if constexpr (has_dipoles)
      return given;
    else
      return given.charges;
  }
}

/// evaluate(ends) for EvaluationEnds of `given` charges, or fmm::Strengths; of several densities for each block of
/// them. `UsesCharges`: whether the criterion does. Throws as evaluations do.
template <class Precision, bool UsesCharges, class Space, class Data, class Kernel, class Given,
          class SomeResults, class Evaluate>
void for_ends(Space const& space, Data const& plan, Kernel const& kernel, Given const& given,
              SomeResults const& results, Report* report, Evaluate const& evaluate) {
  bool unchanged = false;
  if constexpr (are_strengths_v<Given>) unchanged = given.unchanged;
  for_ends_of<Precision, UsesCharges>(space, plan, kernel, carried(given), results, unchanged,
                                      report, evaluate);
}

}  // namespace fmm::engine
