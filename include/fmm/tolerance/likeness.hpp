// SPDX-License-Identifier: BSD-3-Clause
// What tells bodies and their charges from others, for which another limit holds a tolerance.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "../engine/measures_by_powers.hpp"
#include "../engine/plan_data.hpp"
#include "constants.hpp"
#include "near_strength.hpp"
#include "quantities.hpp"

namespace fmm::tolerance {

/// What a limit was found for.
struct Likeness {
  /// Whose powers are compared, at most: the first cells, which are the root and its children, as a rule.
  static constexpr std::int64_t most_cells = 9;
  std::int64_t bodies = 0, cells = 0;
  std::vector<float> powers = {};  ///< of these cells' multipoles
  Quantities of = {};              ///< which results the tolerance is of
  double near_strength = 0;        ///< of the field that near bodies exert (near_strength.hpp)

  /// Whether what was found for another one holds for this: they differ by less than the likeness, or this one's field
  /// is stronger.
  bool resembles(Likeness const& other) const {
    const auto near = [](double a, double b) {
      return std::fabs(a - b) <= constants.likeness * std::fabs(b);
    };
    double all = 0, difference = 0;
    for (std::size_t n = 0; n < powers.size() && n < other.powers.size(); ++n) {
      all += std::fabs(double(other.powers[n]));
      difference += std::fabs(double(powers[n]) - double(other.powers[n]));
    }
    return of == other.of && powers.size() == other.powers.size() &&
           near(double(bodies), double(other.bodies)) && near(double(cells), double(other.cells)) &&
           difference <= constants.likeness * all &&
           near_strength >= (1 - constants.likeness) * other.near_strength;
  }
};

/// Of a plan's bodies, whose `multipoles` are there. powers_of are those of their order.
template <class Space, class Precision>
Likeness likeness_of(Space const& space, engine::PlanData<Space, Precision>& data,
                     PowersOf<Space, real_t<Precision>> const& powers_of, int order,
                     double softening, Array<real_t<Precision>, Space> multipoles, Quantities of) {
  auto& tree = data.tree;
  const std::int64_t cells = tree.octree.own_cells(),
                     compared = std::min(cells, Likeness::most_cells),
                     powers = compared * (order + 1),
                     strengths = tiles_of_strength(tree.octree.tiles.extent(0));
  Likeness bodies{tree.size, cells};
  bodies.of = of;
  const auto both = data.memory.traversal.powers.resize(powers + strengths);
  powers_of(space, compared, multipoles, both);
  near_strengths(space, tree, softening, Array<float, Space>(both.data() + powers, strengths));
  std::vector<float> numbers(powers + strengths);
  read_back(space, both.data(), numbers.data(), numbers.size());
  bodies.near_strength = usual_strength({numbers.begin() + powers, numbers.end()});
  numbers.resize(powers);
  bodies.powers = std::move(numbers);
  return bodies;
}

}  // namespace fmm::tolerance
