// SPDX-License-Identifier: BSD-3-Clause
// Groups of bodies, one of each of even stretches, whose results are known in double: what own errors are seen at.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "../accuracy/error_measure.hpp"
#include "../accuracy/random_numbers.hpp"
#include "../engine/evaluation.hpp"
#include "../kernels/p2p/magnitudes.hpp"
#include "own_errors.hpp"
#include "quantities.hpp"
#include "rounded_pairs.hpp"
#include "sample.hpp"
#include "sums_in_cell.hpp"

namespace fmm::tolerance {

/// Copies the sums of groups' bodies, bodies_of_group a group.
template <class Space, class Sum>
struct TakeSums {
  Array<Tile, Space> groups;
  Array<Sums<Sum>, Space> sums, taken;
  std::int64_t first;  ///< group of `taken`

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Tile group = groups(i);
    for (int k = 0; k < group.count; ++k)
      taken((first + i) * bodies_of_group + k) = sums(group.first + k);
  }
};

/// What the coordinates of groups' bodies, as they are rounded, make their results err by; infinite where a body is
/// taken for another one.
template <class Space, class Real>
struct RoundingOfGroups {
  RoundedPairs<Space, Real> pairs;
  Array<Tile, Space> groups;
  Array<PerQuantity<double>, Space> rounding;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Tile group = groups(i);
    pairs.each_of(group, [&](BodyIndex k, RoundedBody const& body) {
      const double none = body.is_taken_for_another ? std::numeric_limits<double>::infinity() : 0;
      rounding(i * bodies_of_group + (k - group.first)) = {
          none + std::sqrt(body.squares.field), none + std::sqrt(body.squares.potential)};
    });
  }
};

/// Own errors: of the sums of groups' bodies, for those that are known, relative to at least `least`, with what
/// `rounding` adds to both, 1 where that is infinite; or without sums what that makes of those that are known.
template <class Space, class Sum>
struct OwnErrorsOfGroups {
  Array<Tile, Space> groups;
  Array<Sums<Sum>, Space> sums, known;
  Quantity of;
  Array<double, Space> least;
  Array<PerQuantity<double>, Space> rounding;
  Array<float, Space> errors;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Tile group = groups(i);
    for (int k = 0; k < group.count; ++k) {
      const std::int64_t at = i * bodies_of_group + k;
      const Sums<Sum> b = known(at), a = sums.extent(0) > 0 ? sums(group.first + k) : b;
      const bool potential = of == Quantity::potential;
      const double value = potential ? std::fabs(double(b.potential)) : length(b.x, b.y, b.z),
                   seen = potential ? std::fabs(double(a.potential) - double(b.potential))
                                    : length(double(a.x) - double(b.x), double(a.y) - double(b.y),
                                             double(a.z) - double(b.z)),
                   rounded = rounding(at)[of],
                   error = sums.extent(0) > 0 ? length(seen, rounded, 0) : rounded,
                   relative = error / (value > least(at) ? value : least(at));
      errors(at) = error == 0 ? 0 : rounded - rounded == 0 ? float(relative) : 1;
    }
  }
  KOKKOS_FUNCTION static double length(double x, double y, double z) {
    return std::sqrt(x * x + y * y + z * z);
  }
};

/// Of a plan, whose kernel in units of the cube is `in_cube`. Cost: constants.own_groups groups of four bodies, or
/// all if there are few, 2 N pairs a body; memory: at first 64 bytes a body, in mixed precision 96, then 32 for each of
/// the groups' bodies.
template <class Space, class Precision>
class KnownGroups {
  using Sum = sum_t<Precision>;

 public:
  /// Magnitudes: magnitudes(bodies in edges, chosen) are std::vector<kernels::Magnitudes>.
  template <class FindMagnitudes>
  KnownGroups(Space const& space, engine::PlanData<Space, Precision> const& plan,
              FindMagnitudes const& magnitudes, AddOverAll<Space, Sum> const& over_all,
              double least_share)
      : space_(space), bodies_(double(plan.tree.size)) {
    draw(plan.tree.octree);
    find_sums(plan, over_all);
    find_least(plan.tree, magnitudes, least_share);
  }

  /// Has results be rounded as coordinates of near fields are; to be called before `seen`, and where they are others.
  /// Cost: the pairs of the groups' leaves.
  template <class Real>
  void round(RoundedPairs<Space, Real> const& pairs) {
    for_range("fmm::own_errors::rounding", space_, std::int64_t(tiles_.size()),
              RoundingOfGroups<Space, Real>{pairs, groups_.view(),
                                            rounding_.resize(tiles_.size() * bodies_of_group)});
  }

  /// The groups, as tiles of a sample.
  SampleOfLeaves<Space> sample() const {
    return {groups_.view(), 0, bodies_ / double(chosen_.size())};
  }
  /// The error that a hundredth of all bodies exceed, by sums of the groups' bodies, or without sums by the rounding of
  /// coordinates alone; the largest of several.
  SeenError seen(Quantities of, Array<Sums<Sum>, Space> sums) {
    SeenError all;
    of.each([&](Quantity one) { all = larger(all, seen_error(errors(one, sums), bodies_)); });
    return all;
  }

 private:
  void draw(Octree<Space> const& octree) {
    std::vector<Tile> tiles(octree.tiles.extent(0)), groups;
    read_back(space_, octree.tiles.data(), tiles.data(), tiles.size());
    std::int64_t all = 0;
    for (Tile const& tile : tiles) all += groups_of(tile.count);
    const std::int64_t count = all <= constants.all_own_groups ? all : constants.own_groups;
    accuracy::RandomNumbers random(constants.own_seed);
    std::int64_t before = 0;                           // groups before the tile
    for (std::int64_t k = 0, t = 0; k < count; ++k) {  // one of each stretch
      const std::int64_t begin = k * all / count, end = (k + 1) * all / count,
                         number = begin + std::int64_t(random() % std::uint64_t(end - begin));
      for (; before + groups_of(tiles[t].count) <= number; ++t) before += groups_of(tiles[t].count);
      groups.push_back(group_of_tile(tiles[t], number - before));
      for (BodyIndex b = 0; b < groups.back().count; ++b)
        chosen_.push_back(groups.back().first + b);
    }
    to_device(space_, groups_, groups);
    tiles_ = std::move(groups);
  }
  void find_sums(engine::PlanData<Space, Precision> const& plan,
                 AddOverAll<Space, Sum> const& over_all) {
    Buffer<Sums<Sum>, Space> buffer("known sums of all bodies");
    Buffer<Tile, Space> some_buffer("known groups");
    const std::size_t at_a_time = plan.periodic.far ? tiles_in_cell_at_a_time : tiles_at_a_time;
    const auto sums = buffer.resize(plan.tree.size);
    fill(space_, sums, Sums<Sum>{});
    const auto known = known_.resize(tiles_.size() * bodies_of_group);
    for (std::size_t begin = 0; begin < tiles_.size(); begin += at_a_time) {
      const std::size_t end = std::min(tiles_.size(), begin + at_a_time);
      const std::vector<Tile> some(tiles_.begin() + begin, tiles_.begin() + end);
      const auto there = to_device(space_, some_buffer, some);
      over_all(some, there, sums);
      for_range("fmm::own_errors::take", space_, std::int64_t(some.size()),
                TakeSums<Space, Sum>{there, sums, known, std::int64_t(begin)});
      space_.fence();  // the tiles are those of the next ones now
    }
  }
  template <class FindMagnitudes>
  void find_least(BodyTree<Space, Precision> const& tree, FindMagnitudes const& magnitudes,
                  double least_share) {
    Buffer<Body<double>, Space> bodies("known groups' sources");
    Buffer<BodyIndex, Space> numbers("known groups' bodies");
    const auto in_edges =
        bodies_in_edges(space_, tree.octree, coordinates_of(tree), bodies, tree.size);
    const auto terms = magnitudes(in_edges, to_device(space_, numbers, chosen_));
    std::vector<double> fields(tiles_.size() * bodies_of_group), potentials(fields.size());
    std::size_t i = 0;
    for (std::size_t g = 0; g < tiles_.size(); ++g)
      for (int k = 0; k < tiles_[g].count; ++k, ++i) {
        fields[g * bodies_of_group + k] = least_share * terms[i].field;
        potentials[g * bodies_of_group + k] = least_share * terms[i].potential;
      }
    to_device(space_, least_.field, fields);
    to_device(space_, least_.potential, potentials);
    space_.fence();  // the vectors go now
  }

  OwnErrors errors(Quantity one, Array<Sums<Sum>, Space> sums) {
    std::vector<float> all(tiles_.size() * bodies_of_group);
    const auto there = errors_.resize(all.size());
    for_range("fmm::own_errors::compare", space_, std::int64_t(tiles_.size()),
              OwnErrorsOfGroups<Space, Sum>{groups_.view(), sums, known_.view(), one,
                                            least_[one].view(), rounding_.view(), there});
    read_back(space_, there.data(), all.data(), all.size());
    OwnErrors own(bodies_ / double(chosen_.size()));
    for (std::size_t g = 0; g < tiles_.size(); ++g)
      own.add(&all[g * bodies_of_group], int(tiles_[g].count));
    return own;
  }

  Space const& space_;
  double bodies_;
  std::vector<Tile> tiles_;        ///< the groups
  std::vector<BodyIndex> chosen_;  ///< their bodies
  Buffer<Tile, Space> groups_{"known groups"};
  Buffer<Sums<Sum>, Space> known_{"known sums"};
  PerQuantity<Buffer<double, Space>> least_{Buffer<double, Space>("least fields"),
                                            Buffer<double, Space>("least potentials")};
  Buffer<PerQuantity<double>, Space> rounding_{"known groups' rounding"};
  Buffer<float, Space> errors_{"own errors"};
};

}  // namespace fmm::tolerance
