// SPDX-License-Identifier: BSD-3-Clause
// Whether an evaluation holds its tolerance, seen at some of its bodies: their sums are compared
// with sums over all bodies in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "../engine/evaluation.hpp"
#include "drawn_groups.hpp"
#include "quantities.hpp"
#include "sums_over_all.hpp"

namespace fmm::tolerance {

/// Of a tile, sums over its bodies of the squares of their fields and potentials.
template <class Space, class Sum>
struct SquareSums {
  Array<Tile, Space> tiles;
  Array<Sums<Sum>, Space> sums;
  Quantities of;
  Array<TileWeight, Space> weights;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Tile tile = tiles(i);
    TileWeight weight{0, 0, 0, double(tile.count)};
    for (BodyIndex k = tile.first; k < tile.first + tile.count; ++k) {
      const Sums<Sum> s = sums(k);
      if (of.field)
        weight.field +=
            double(s.x) * double(s.x) + double(s.y) * double(s.y) + double(s.z) * double(s.z);
      if (of.potential) weight.potential += double(s.potential) * double(s.potential);
    }
    weights(i) = weight;
  }
};

/// Rows of some tiles.
template <class Space>
struct GatherRows {
  Array<float, Space> from;
  Array<std::uint64_t, Space> tiles;
  int row;
  Array<float, Space> to;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    to(i) = from(std::int64_t(tiles(i / row)) * row + i % row);
  }
};

/// Exchanges the sums of the groups' bodies for those in `other`.
template <class Space, class Sum>
struct ExchangeSums {
  Array<Tile, Space> groups;
  Array<Sums<Sum>, Space> sums, other;  ///< `other`: bodies_of_group of each group

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Tile group = groups(i);
    for (int k = 0; k < group.count; ++k) {
      Sums<Sum>& here = sums(group.first + k);
      Sums<Sum>& there = other(i * bodies_of_group + k);
      const Sums<Sum> kept = here;
      here = there;
      there = kept;
    }
  }
};

/// Of each group, the sums of the squares of what its bodies' sums err by, less those of what they differ from others by.
template <class Space, class Sum>
struct CompareGroups {
  Array<Tile, Space> groups;
  Array<Sums<Sum>, Space> sums, others, exact;  ///< `exact`: bodies_of_group of each group
  Array<PerQuantity<double>, Space> rest;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Tile group = groups(i);
    PerQuantity<double> errors, differences;
    for (int k = 0; k < group.count; ++k) {
      const BodyIndex body = group.first + k;
      add_square_difference(sums(body), exact(i * bodies_of_group + k), errors);
      add_square_difference(sums(body), others(body), differences);
    }
    rest(i) = {errors.field - differences.field, errors.potential - differences.potential};
  }
};

/// Sums of a plan's bodies, which are all there, and their errors: what all of them differ from `others` by, whose
/// squares add up to `differences`, is known, and what drawn groups err by besides (a control variate, as it is called) is
/// added. That is most of the error where it is of rounding, and next to nothing where it is of lists. `expected` are
/// those of share_differences; `exact_sums` are as SumsOverAll has them. Sums are as they were afterwards. Cost: a few
/// groups are compared at first (constants.first_draws), and more until it is certain whether the tolerance is held, of N
/// pairs a body: at most 4096 N pairs, or all. Memory for as long: a list of all leaves for 64 groups.
template <class Space, class Precision>
class Verification {
  using Sum = sum_t<Precision>;
  static constexpr int row = groups_of_tile<Space, real_t<Precision>>;

 public:
  Verification(Space const& space, PlanData<Space, Precision> const& plan,
               Array<float, Space> expected, Array<Sums<Sum>, Space> sums,
               Array<Sums<Sum>, Space> others, PerQuantity<double> differences, Quantities of,
               typename SumsOverAll<Space, Sum>::ExactSums exact_sums, std::uint64_t seed)
      : space_(space),
        octree_(plan.tree.octree),
        expected_(expected),
        sums_(sums),
        others_(others),
        differences_(differences),
        of_(of),
        over_all_(space, plan.tree.octree, std::move(exact_sums)),
        draws_(weights(), seed) {}

  /// The error of the results that the tolerance is of, the larger one of two.
  SeenError see(double tolerance) {
    const bool all = draws_.draws_all_groups(constants.all_draws);
    SeenError seen;
    for (int draws = 0, next = constants.first_draws; draws < constants.most_draws;
         draws += next, next = draws) {
      compare(draws_.draw_groups(next, constants.all_draws, row,
                                 [&](auto const& tiles) { return rows_of(tiles); }));
      seen = {};
      double besides = 0;
      of_.each([&](Quantity one) {
        seen = larger(seen, seen_error(differences_[one], rest_[one], squares(one)));
        besides = std::fmax(besides, seen_error(0, rest_[one], squares(one)).most);
      });
      const int enough =
          besides <= constants.unexplained * tolerance ? 0 : constants.draws_of_unexplained;
      if (all || (seen.most <= tolerance && draws + next >= enough) || seen.least > tolerance)
        break;
    }
    return seen;
  }
  /// Of all bodies.
  double squares(Quantity one) const {
    return one == Quantity::field ? draws_.field_squares() : draws_.potential_squares();
  }

 private:
  static constexpr std::int64_t at_a_time = SumsOverAll<Space, Sum>::tiles_at_a_time;

  std::vector<TileWeight> weights() {
    const std::int64_t tiles = octree_.tiles.extent(0);
    Buffer<TileWeight, Space> buffer("verification's tiles");
    const auto weights = buffer.resize(tiles);
    for_range("fmm::verification::strengths", space_, tiles,
              SquareSums<Space, Sum>{octree_.tiles, sums_, of_, weights});
    tiles_.resize(tiles);
    read_back(space_, octree_.tiles.data(), tiles_.data(), tiles_.size());
    return weights_of_tiles(space_, octree_, row, expected_, weights);
  }

  /// What is expected of the groups of some tiles.
  std::vector<float> rows_of(std::vector<std::uint64_t> const& tiles) {
    std::vector<float> rows(tiles.size() * row);
    const auto there = rows_.resize(rows.size());
    for_range("fmm::verification::groups", space_, std::int64_t(rows.size()),
              GatherRows<Space>{expected_, to_device(space_, numbers_, tiles), row, there});
    read_back(space_, there.data(), rows.data(), rows.size());
    return rows;
  }

  void compare(std::vector<DrawnGroup> const& groups) {
    const auto count = std::int64_t(groups.size());
    for (std::int64_t begin = 0; begin < count; begin += at_a_time)
      compare_some(&groups[begin], std::min(at_a_time, count - begin));
  }
  void compare_some(DrawnGroup const* groups, std::int64_t count) {
    std::vector<Tile> tiles;
    for (std::int64_t i = 0; i < count; ++i)
      tiles.push_back(group_of_tile(tiles_[groups[i].tile], groups[i].number));
    const auto there = to_device(space_, groups_, tiles);
    const auto other = other_.resize(count * bodies_of_group);
    fill(space_, other, Sums<Sum>{});
    const ExchangeSums<Space, Sum> exchange{there, sums_, other};
    for_range("fmm::verification::keep", space_, count, exchange);
    over_all_.add(tiles, there, sums_);
    for_range("fmm::verification::give_back", space_, count, exchange);
    const auto compared = errors_.resize(count);
    for_range("fmm::verification::compare", space_, count,
              CompareGroups<Space, Sum>{there, sums_, others_, other, compared});
    std::vector<PerQuantity<double>> of_groups(count);
    read_back(space_, compared.data(), of_groups.data(), of_groups.size());
    for (std::int64_t i = 0; i < count; ++i) {
      rest_.field.add(of_groups[i].field, groups[i]);
      rest_.potential.add(of_groups[i].potential, groups[i]);
    }
  }

  Space const& space_;
  Octree<Space> const& octree_;
  Array<float, Space> expected_;
  Array<Sums<Sum>, Space> sums_, others_;
  PerQuantity<double> differences_;
  Quantities of_;
  PerQuantity<SumOverGroups> rest_;
  SumsOverAll<Space, Sum> over_all_;
  std::vector<Tile> tiles_;  ///< of the tree
  GroupDraws draws_;         ///< sets the one before it
  Buffer<float, Space> rows_{"verification's drawn weights"};
  Buffer<std::uint64_t, Space> numbers_{"verification's drawn tiles"};
  Buffer<Tile, Space> groups_{"verification's groups"};
  Buffer<Sums<Sum>, Space> other_{"verification's sums"};
  Buffer<PerQuantity<double>, Space> errors_{"verification's errors"};
};

/// Bodies with coordinates in one part, of those in two parts of float.
template <class Space>
struct BodiesInDouble {
  Array<Body<float>, Space> bodies, low;
  Array<Body<double>, Space> out;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Body<float> b = bodies(i), l = low(i);
    out(i) = {double(b.x) + l.x, double(b.y) + l.y, double(b.z) + l.z, b.q};
  }
};

/// Adds sums in double over the leaves of a list, in mixed precision, as Verification wants them. Memory for as long as
/// the result is there: 32 bytes a body.
template <class Space, class Kernel>
typename SumsOverAll<Space, double>::ExactSums sums_in_double(Space const& space,
                                                              engine::PlanData<Space, Mixed>& data,
                                                              Kernel const& in_cube) {
  auto const& tree = data.tree;
  auto bodies = std::make_shared<Buffer<Body<double>, Space>>("verification's bodies");
  for_range("fmm::verification::bodies", space, tree.size,
            BodiesInDouble<Space>{tree.bodies, tree.low, bodies->resize(tree.size)});
  return [=, &space, &data](auto const& tiles, auto const& list, auto const& sums) {
    auto const& octree = data.tree.octree;
    const auto rows = split_long_rows(space, data.memory, octree, tiles, list,
                                      Tuning<Space, double>::p2p_segment, 1);
    p2p<Outputs<true, true>, double>(space, in_cube, octree.cells, tiles, list, bodies->view(), {},
                                     sums, rows);
  };
}

}  // namespace fmm::tolerance
