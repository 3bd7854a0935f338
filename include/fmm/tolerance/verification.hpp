// SPDX-License-Identifier: BSD-3-Clause
// Whether an evaluation holds its tolerance, seen at some of its bodies: their sums are compared
// with sums over all bodies in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "../engine/evaluation.hpp"
#include "drawn_groups.hpp"
#include "quantities.hpp"
#include "sums_over_all.hpp"

namespace fmm::tolerance {

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

/// Of each group, the sums of the squares of what its bodies' sums err by, less those of what they differ from others.
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

/// Sums of a plan's bodies, which are all there, and their errors: what all of them differ from `others` by is known,
/// and what drawn groups err by besides (a control variate, as it is called) is added: next to nothing, but for what
/// both sums have in common. `squares` and the groups' `weights` are those of weigh_groups; `over_all`
/// adds sums of `share` times the charges. Sums are as they were afterwards. Cost: a few groups are
/// compared at first (constants.first_draws), and more until it is certain whether the tolerance is held, of N pairs a
/// body: at most 4096 N pairs; all at once if there are no more. Memory for as long: a list of all leaves for 64
/// groups.
template <class Space, class Precision>
class Verification {
  using Sum = sum_t<Precision>;
  static constexpr int row = groups_of_tile<Space, real_t<Precision>>;

 public:
  Verification(Space const& space, PlanData<Space, Precision> const& plan,
               Array<float, Space> weights, Array<Sums<Sum>, Space> sums,
               Array<Sums<Sum>, Space> others, SquaresOfSums const& squares, Quantities of,
               AddOverAll<Space, Sum> over_all, double share, std::uint64_t seed)
      : space_(space),
        octree_(plan.tree.octree),
        weights_(weights),
        sums_(sums),
        others_(others),
        squares_(squares),
        of_(of),
        share_(share),
        first_draws_(plan.periodic.far ? constants.first_draws_in_cell : constants.first_draws),
        at_a_time_(plan.periodic.far ? tiles_in_cell_at_a_time : tiles_at_a_time),
        over_all_(std::move(over_all)),
        draws_(weights_of_all_tiles(), seed) {}

  /// The error of the results that the tolerance is of, the larger one of two.
  SeenError see(double tolerance, bool is_in_doubt = false) {
    const bool all = draws_.draws_all_groups(constants.most_draws);
    SeenError seen;
    for (int draws = 0, next = first_draws_; draws < constants.most_draws;
         draws += next, next = draws) {
      compare(draws_.draw_groups(next, constants.most_draws, row,
                                 [&](auto const& tiles) { return rows_of(tiles); }));
      seen = {};
      double besides = 0;
      of_.each([&](Quantity one) {
        const double all_squares = squares_.values[one];
        seen = larger(seen, seen_error(squares_.differences[one], rest_[one], all_squares));
        besides = std::fmax(besides, seen_error(0, rest_[one], all_squares).most);
      });
      const int enough = !is_in_doubt && besides <= constants.unexplained * tolerance
                             ? 0
                             : constants.draws_of_unexplained;
      if (all || (seen.most <= tolerance && draws + next >= enough) || seen.least > tolerance)
        break;
    }
    return seen;
  }

 private:
  /// Tiles are on the host then.
  std::vector<TileWeight> weights_of_all_tiles() {
    tiles_.resize(octree_.tiles.extent(0));
    read_back(space_, octree_.tiles.data(), tiles_.data(), tiles_.size());
    return weights_of_tiles(space_, octree_, row, weights_);
  }

  /// The weights of the groups of some tiles.
  std::vector<float> rows_of(std::vector<std::uint64_t> const& tiles) {
    std::vector<float> rows(tiles.size() * row);
    const auto there = rows_.resize(rows.size());
    for_range("fmm::verification::groups", space_, std::int64_t(rows.size()),
              GatherRows<Space>{weights_, to_device(space_, numbers_, tiles), row, there});
    read_back(space_, there.data(), rows.data(), rows.size());
    return rows;
  }

  void compare(std::vector<DrawnGroup> const& groups) {
    const auto count = std::int64_t(groups.size());
    for (std::int64_t begin = 0; begin < count; begin += at_a_time_)
      compare_some(&groups[begin], std::min(at_a_time_, count - begin));
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
    over_all_(tiles, there, sums_);
    for_range("fmm::verification::give_back", space_, count, exchange);
    scale_sums(space_, other, 1 / share_);
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
  Array<float, Space> weights_;
  Array<Sums<Sum>, Space> sums_, others_;
  SquaresOfSums squares_;
  Quantities of_;
  double share_;
  int first_draws_;
  std::int64_t at_a_time_;
  PerQuantity<SumOverGroups> rest_;
  AddOverAll<Space, Sum> over_all_;
  std::vector<Tile> tiles_;  ///< of the tree
  GroupDraws draws_;         ///< sets the one before it
  Buffer<float, Space> rows_{"verification's drawn weights"};
  Buffer<std::uint64_t, Space> numbers_{"verification's drawn tiles"};
  Buffer<Tile, Space> groups_{"verification's groups"};
  Buffer<Sums<Sum>, Space> other_{"verification's sums"};
  Buffer<PerQuantity<double>, Space> errors_{"verification's errors"};
};

}  // namespace fmm::tolerance
