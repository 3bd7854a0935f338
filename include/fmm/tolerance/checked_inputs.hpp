// SPDX-License-Identifier: BSD-3-Clause
// What a build for a tolerance is given.
#pragma once

#include <type_traits>

#include "../engine/checks.hpp"
#include "../inputs.hpp"

namespace fmm::tolerance {

/// The positions and charges of a build for a tolerance. Inputs with targets or a last field do not compile, and say
/// why.
template <class Space, class Sources, class Charges, class Targets, class LastField>
Inputs<Sources, Charges> checked_inputs(
    Inputs<Sources, Charges, Targets, LastField> const& inputs) {
  static_assert(
      !std::is_same_v<Charges, None>,
      "fmm: a tolerance is held for charges: build(space, fmm::Inputs{positions, charges})");
  static_assert(
      std::is_same_v<Targets, None>,
      "fmm: with charges a plan for a tolerance has its sources as targets: for targets of "
      "their own build without charges, which evaluations take (fmm::ToleranceSolver of "
      "orders)");
  static_assert(std::is_same_v<LastField, None>, "fmm: a tolerance takes no last_field");
  engine::check_view<Space, Sources, 2>();
  engine::check_optional_view<Space, Charges, 1>();
  return {inputs.sources, inputs.charges};
}
/// Nor do positions alone.
template <class Space, class Positions>
Inputs<Positions> checked_inputs(Positions const& positions) {
  return checked_inputs<Space>(Inputs<Positions>{positions});
}

/// Sources or targets of a build without charges.
template <class Space, class Points>
constexpr bool check_points() {
  if constexpr (engine::are_numbers_v<Points>)
    static_assert(engine::check_whole_numbers<Space, Points>());
  else
    engine::check_optional_view<Space, Points, 2>();
  return true;
}

}  // namespace fmm::tolerance
