// SPDX-License-Identifier: BSD-3-Clause
// The field around every cell, as strong as the bodies' own fields are: what MultipolePowerCriterion measures errors
// against, so that they are in units of the root mean square field, the norm of a relative L2 error.
//
// From cell to cell it goes as the coarse cells' magnitudes (tree/coarse_field.hpp) and the field of the nearest
// bodies do. These are scaled, for all cells by one factor, to the root mean square of the fields of a sample
// of bodies: a quarter of the tiles, or 512 if these are more. A sampled body's field is taken for that of the
// other bodies of its leaf, summed directly, and of the coarse cells' charges. The first is what the closest
// pairs exert, which may be most of the norm.
//
// Where charges have both signs that is too much: in a lattice of ions the field of all bodies
// cancels, and that of the bodies of a leaf does not. The factor is then lowered by the ratio of
// the two at some of the sampled bodies, whose fields are summed over all others in double.
#pragma once

#include <algorithm>
#include <cmath>

#include "../tree/coarse_field.hpp"
#include "../tree/lists/blocks.hpp"
#include "../tree/lists/walks.hpp"
#include "../tuning.hpp"
#include "body_tree.hpp"
#include "workspace.hpp"

namespace fmm::engine {

/// Adds the field of the nearest bodies, which does not cancel where charges have both signs: 2.6 |q| / d^2 on
/// average (Chandrasekhar 1943, Rev. Mod. Phys. 15:1), d^3 the volume of a body. Bodies at one place exert none.
template <class Space>
struct AddNearest {
  Array<Cell, Space> cells;
  Array<std::uint8_t, Space> at_one_place;
  Array<float, Space> charges;  ///< sums of |q|
  Array<float, Space> fields;
  float scale;  ///< of the sum

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const float charge = charges(0) / float(cells(0).body_count),
                edge = edge_of_level<float>(cells(i).level),
                d = edge / std::cbrt(float(cells(i).body_count)),
                nearest = at_one_place(i) ? 0 : 2.6f * charge / (d * d);
    fields(i) = scale * (fields(i) + nearest);
  }
};

/// Sums over a sampled tile's bodies: the squares of their fields, and of the field of their leaf in `fields`.
/// `sums` hold what the leaf's bodies contribute, and are set to zero again.
template <class Space, class Sum>
struct SquareFields {
  CoarseCells<Space> coarse;
  Array<Tile, Space> sample;
  Array<float, Space> vectors, fields;
  Array<Sums<Sum>, Space> sums;
  Array<double, Space> squares;  ///< a pair a tile

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const Tile tile = sample(team.league_rank());
    float const* const g = vectors.data() + 3 * std::int64_t(coarse.nearest(tile.cell));
    // a double that depends on Space: Kokkos's reducer is compiled where it is used
    using Square = decltype(squares(0) + squares(0));
    Square square = 0;
    reduce_in_team(
        team, tile.count,
        [&](int i, double& some) {
          Sums<Sum>& s = sums(tile.first + i);
          const double x = g[0] + double(s.x), y = g[1] + double(s.y), z = g[2] + double(s.z);
          some += x * x + y * y + z * z;
          s = {Sum(0), Sum(0), Sum(0), Sum(0)};
        },
        Kokkos::Sum<Square>(square));
    if (team.team_rank() > 0) return;
    const double rough = fields(tile.cell);
    squares(2 * team.league_rank()) = square;
    squares(2 * team.league_rank() + 1) = tile.count * rough * rough;
  }
};

/// scale(0) from the squares of `groups` groups of tiles, every so many of them. Where close pairs are most of a
/// norm, that of a sample is a matter of luck: the factor is the lower quartile of those of the groups. A single
/// team, since squares must be added in one order.
template <class Space>
struct FieldScale {
  static constexpr int most_groups = 64;
  static constexpr std::size_t scratch_bytes = most_groups * sizeof(double) + scratch_alignment;
  Array<double, Space> squares, scale;
  int groups;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    double* const ratios = scratch_array<double>(team, 0, most_groups);
    const auto tiles = std::int64_t(squares.extent(0) / 2);
    for (int g = team.team_rank(); g < groups; g += team.team_size()) {
      double square = 0, rough = 0;
      for (std::int64_t i = g; i < tiles; i += groups) {
        square += squares(2 * i);
        rough += squares(2 * i + 1);
      }
      ratios[g] = rough > 0 ? square / rough : 1;
    }
    team.team_barrier();
    for (int g = team.team_rank(); g < groups; g += team.team_size()) {
      int rank = 0;
      for (int k = 0; k < groups; ++k)
        rank += ratios[k] < ratios[g] || (ratios[k] == ratios[g] && k < g);
      if (rank == groups / 4) scale(0) = std::sqrt(ratios[g]);
    }
  }
};

template <class Space>
struct ScaleFields {
  Array<double, Space> scale;
  Array<float, Space> fields;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { fields(i) *= float(scale(0)); }
};

/// The tiles' bodies, counted from the cube's corner in its edges.
template <class Space, class Real>
struct BodiesInCube {
  Array<Cell, Space> cells;
  Array<Tile, Space> tiles;
  Array<Body<Real>, Space> bodies, low;  ///< `low`: of two-part coordinates, or none
  Array<Body<double>, Space> out;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Tile tile = tiles(i);
    const Cell cell = cells(tile.cell);
    const double edge = in_root_edges<double>(cell.edge());
    for (BodyIndex b = tile.first; b < tile.first + tile.count; ++b) {
      Body<double> body{bodies(b).x, bodies(b).y, bodies(b).z, bodies(b).q};
      if (low.extent(0) > 0) {
        body.x += low(b).x;
        body.y += low(b).y;
        body.z += low(b).z;
      }
      out(b) = {in_root_edges<double>(cell.centre[0]) + body.x * edge,
                in_root_edges<double>(cell.centre[1]) + body.y * edge,
                in_root_edges<double>(cell.centre[2]) + body.z * edge, body.q};
    }
  }
};

/// Some bodies of the sampled tiles, each of another place of its tile, the square of the field
/// that SquareFields takes for theirs, and the field of a neighbour: of a body's mean |q| at the
/// mean distance of bodies in the leaf.
template <class Space, class Sum>
struct ChooseBodies {
  CoarseCells<Space> coarse;
  Array<Tile, Space> sample;
  Array<float, Space> vectors;
  Array<Sums<Sum>, Space> sums;
  Array<float, Space> charges;  ///< sums of |q| of cells
  Array<BodyIndex, Space> chosen;
  Array<double, Space> squares, neighbours;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto tiles = std::int64_t(sample.extent(0)), all = std::int64_t(chosen.extent(0));
    const Tile tile = sample(i * tiles / all);
    const double turns = 0.6180339887498949 * double(i), place = turns - std::floor(turns);
    const BodyIndex body = tile.first + BodyIndex(place * tile.count);
    float const* const g = vectors.data() + 3 * std::int64_t(coarse.nearest(tile.cell));
    const Sums<Sum> s = sums(body);
    const double x = g[0] + double(s.x), y = g[1] + double(s.y), z = g[2] + double(s.z);
    chosen(i) = body;
    squares(i) = x * x + y * y + z * z;
    const Cell cell = coarse.cells(tile.cell);
    const double edge = edge_of_level<double>(cell.level),
                 d = edge / std::cbrt(double(cell.body_count));
    neighbours(i) =
        coarse.at_one_place(tile.cell) ? 0 : charges(tile.cell) / (double(cell.body_count) * d * d);
  }
};

/// Lowers scale(0) by the ratio of the chosen bodies' fields to what SquareFields takes for these,
/// and where fields cancel by 0.7 more: they are much the same in many cells there, and so are the
/// errors. scale(1) becomes the ratio of what a neighbour exerts to these fields: how many times an
/// error of rounding counts. One item, since squares must be added in one order.
template <class Space>
struct LowerScale {
  Array<double, Space> squares, neighbours;
  Array<Sums<double>, Space> sums;
  double least_share;  ///< of what neighbours exert: fields count as that at least
  Array<double, Space> scale;

  KOKKOS_FUNCTION void operator()(std::int64_t) const {
    double rough = 0, exact = 0, of_neighbours = 0;
    for (std::int64_t i = 0; i < std::int64_t(squares.extent(0)); ++i) {
      rough += squares(i);
      exact += sums(i).x * sums(i).x + sums(i).y * sums(i).y + sums(i).z * sums(i).z;
      of_neighbours += neighbours(i) * neighbours(i);
    }
    const double least = least_share * least_share * of_neighbours;
    if (exact < least) exact = least;
    if (exact < rough) scale(0) *= (exact < 0.6 * rough ? 0.7 : 1) * std::sqrt(exact / rough);
    scale(1) = exact > 0 ? std::sqrt(of_neighbours / exact) : 0;
  }
};

/// measures.fields of a tree's cells from measures.charges and ::powers, in units of charge / (edge of the
/// cube)^2, in steps between which the caller sums pairs, as its kernel has them:
///
///     FieldStrength strength(space, memory, tree, measures, 0, 256);
///     // adds to strength.sums() the pairs of strength.sample() with the other bodies of their leaves, which
///     // strength.no_other_leaves() has as a list
///     if (strength.wants_exact_sums()) {
///       strength.choose();
///       // sets strength.exact_sums() of the bodies strength.chosen() over all strength.bodies()
///     }
///     strength.finish();
///
/// All these sums are in units of the cube. With the factor that an earlier strength found, `known_scale`, no step
/// but the first is due. What was found is in the memory's traversal.scale: the factor, and for charges of both signs
/// what a neighbour exerts in units of these bodies' fields. Sums of bodies that were zero, as a treecode's, are so
/// again. Cost: the pairs within a quarter of the leaves, a hundredth of P2P or less; for charges of both signs also
/// 256 N pairs in double, and for as long 32 bytes a body.
template <class Space, class Precision>
class FieldStrength {
  using Real = real_t<Precision>;
  using Sum = sum_t<Precision>;
  using Shape = Tuning<Space, Real>;

 public:
  FieldStrength(Space const& space, Workspace<Space, Precision>& memory,
                BodyTree<Space, Precision> const& tree, CellMeasures<Space> const& measures,
                double known_scale, std::int64_t most_chosen, double least_share = 0)
      : space_(space),
        memory_(memory),
        tree_(tree),
        measures_(measures),
        chosen_count_(std::min(tree.size, most_chosen)),
        least_share_(least_share) {
    constexpr std::int64_t least_tiles = 512, share = 4;
    auto& t = memory.traversal;
    auto const& octree = tree.octree;
    const std::int64_t cells = octree.own_cells(), tiles = octree.tiles.extent(0);
    const std::int64_t sampled = std::max(std::min(tiles, least_tiles), tiles / share);
    vectors_ = t.vectors.resize(3 * cells);
    coarse_ = coarse_field<true>(space, octree, tree.size, measures.at_one_place, t.coarse,
                                 CellWeights<Space>{measures.powers, measures.power_row},
                                 measures.fields, vectors_, Shape::gather_team);
    for_range("fmm::field::nearest", space, cells,
              AddNearest<Space>{octree.cells, measures.at_one_place, measures.charges,
                                measures.fields, known_scale > 0 ? float(known_scale) : 1.0f});
    is_known_ = known_scale > 0;
    if (is_known_) return;
    sample_ = t.sample.resize(sampled);
    for_range("fmm::field::sample", space, sampled, SampleTiles<Space>{octree.tiles, sample_});
    no_others_ = {t.p2p.offsets.resize(cells + 1), {}};
    fill<Offset>(space, no_others_.offsets, 0);
    sums_ = memory.early_sums(tree.size);
    for_range("fmm::field::clear", space, sampled, ClearSums<Space, Sum>{sample_, sums_});
  }

  /// Whether the factor was known.
  bool is_known() const { return is_known_; }
  Array<Tile, Space> sample() const { return sample_; }
  Csr<Space> no_other_leaves() const { return no_others_; }
  Array<Sums<Sum>, Space> sums() const { return sums_; }

  bool wants_exact_sums() const { return chosen_count_ > 0; }
  void choose() {
    auto const& octree = tree_.octree;
    const auto bodies = bodies_.resize(tree_.size);
    const auto chosen = chosen_.resize(chosen_count_);
    const auto own = own_squares_.resize(chosen.extent(0));
    const auto neighbours = neighbours_.resize(chosen.extent(0));
    exact_.resize(chosen.extent(0));
    for_range("fmm::field::choose", space_, chosen.extent(0),
              ChooseBodies<Space, Sum>{coarse_, sample_, vectors_, sums_, measures_.charges, chosen,
                                       own, neighbours});
    for_range(
        "fmm::field::bodies", space_, octree.tiles.extent(0),
        BodiesInCube<Space, Real>{octree.cells, octree.tiles, tree_.bodies, tree_.low, bodies});
  }
  Array<Body<double>, Space> bodies() const { return bodies_.view(tree_.size); }
  Array<BodyIndex, Space> chosen() const { return chosen_.view(chosen_count_); }
  Array<Sums<double>, Space> exact_sums() const { return exact_.view(chosen().extent(0)); }

  void finish() {
    constexpr std::int64_t bodies_per_group = 4096;
    auto& t = memory_.traversal;
    const std::int64_t sampled = sample_.extent(0), tiles = tree_.octree.tiles.extent(0);
    const auto squares = t.squares.resize(2 * sampled), scale = t.scale.resize(2);
    for_teams(
        "fmm::field::squares", TeamPolicy<Space>(space_, int(sampled), Shape::tile_team),
        SquareFields<Space, Sum>{coarse_, sample_, vectors_, measures_.fields, sums_, squares});
    using Scale = FieldScale<Space>;
    const double bodies = double(tree_.size) * double(sampled) / double(tiles);
    const int groups = std::clamp(int(bodies / bodies_per_group), 1, Scale::most_groups);
    TeamPolicy<Space> one_team(space_, 1, Shape::tile_team);
    add_scratch(one_team, 0, Scale::scratch_bytes);
    for_teams("fmm::field::scale", one_team, Scale{squares, scale, groups});
    if (wants_exact_sums()) {
      for_range("fmm::field::lower", space_, 1,
                LowerScale<Space>{own_squares_.view(), neighbours_.view(), exact_.view(),
                                  least_share_, scale});
      space_.fence();  // the buffers go now
    }
    for_range("fmm::field::scaled", space_, tree_.octree.own_cells(),
              ScaleFields<Space>{scale, measures_.fields});
  }

 private:
  Space const& space_;
  Workspace<Space, Precision>& memory_;
  BodyTree<Space, Precision> const& tree_;
  CellMeasures<Space> const& measures_;
  std::int64_t chosen_count_;  ///< bodies whose sums are to be exact
  double least_share_;
  bool is_known_ = false;
  CoarseCells<Space> coarse_;
  Array<float, Space> vectors_;
  Array<Tile, Space> sample_;
  Csr<Space> no_others_;
  Array<Sums<Sum>, Space> sums_;
  Buffer<BodyIndex, Space> chosen_{"field's bodies"};
  Buffer<double, Space> own_squares_{"field's squares"}, neighbours_{"field's neighbours"};
  Buffer<Sums<double>, Space> exact_{"field's sums"};
  Buffer<Body<double>, Space> bodies_{"field's sources"};
};

}  // namespace fmm::engine
