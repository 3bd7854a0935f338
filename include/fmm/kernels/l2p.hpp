// SPDX-License-Identifier: BSD-3-Clause
// L2P: potential and gradient of a leaf's local expansion at its bodies (Yokota & Barba 2011). A team
// takes a tile of them, and first brings the expansion into the form in which it is evaluated
// (spherical/monomials.hpp). Cost: 326 flops a body at order 6.
#pragma once

#include "expansion.hpp"
#include "mapping/tile.hpp"

namespace fmm::kernels {

template <class Space, class Expansion, class Real, class Out, class Sum>
struct L2P : WithExpansion<Expansion> {
  using real = Real;
  using V = Lanes<Space, Real>;
  static constexpr int W = lane_count_v<V>;
  static constexpr int size = prepared_size<Expansion>(), quads = row_length(size) / 4;
  // of a TileAction
  static constexpr int team_size = Tuning<Space, Real>::tile_team, resident = 0, scratch_level = 0;
  static constexpr std::size_t scratch_bytes = quads * sizeof(Quad<Real>) + scratch_alignment;
  Array<Cell, Space> cells;
  Array<Tile, Space> tiles;
  Array<Body<Real>, Space> bodies;
  Array<Real, Space> locals;
  Array<Sums<Sum>, Space> sums;
  int density;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const Tile tile = tiles(team.league_rank());
    Quad<Real>* const rows =
        scratch_array<Quad<Real>>(team, scratch_level, quads);  // for wide loads
    set_sums(team, tile, rows, locals.data(), density);
  }
  /// Of that density, by the local expansions of all cells from `first` on, with scratch memory for one.
  KOKKOS_FORCEINLINE_FUNCTION void set_sums(TeamMember<Space> const& team, Tile const& tile,
                                            Quad<Real>* rows, Real const* first,
                                            int of_density) const {
    for (int k = team.team_rank(); k < size; k += team.team_size())
      rows->value[k] = prepared(tile, first, k);
    team.team_barrier();
    const int level = cells(tile.cell).level;
    for (int i = team.team_rank() * W; i < tile.count; i += team.team_size() * W)
      set_sums_at(tile, i, level, rows, of_density);
  }
  /// Number k of the tile's local expansion in the form in which it is evaluated.
  KOKKOS_FORCEINLINE_FUNCTION Real prepared(Tile const& tile, Real const* first, int k) const {
    Real const* const L = first + std::int64_t(tile.cell) * row_length(Expansion::size);
    if constexpr (requires { Expansion::prepared_size; })
      return this->expansion().prepare_local(L, k);
    else
      return L[k];
  }
  /// Of W bodies, from body i of the tile on.
  KOKKOS_FORCEINLINE_FUNCTION void set_sums_at(Tile const& tile, int i, int level,
                                               Quad<Real> const* rows, int of_density) const {
    const Real per_edge = edges_of_level<Real>(level);
    const int count = tile.count - i < W ? tile.count - i : W;
    const LaneBodies<V> body(&bodies(tile.first + i), count);
    ValueAt<Out, V> value;
    decltype(auto) expansion = at_level<Real>(this->expansion(), level);
    if constexpr (Out::hessian)
      value = local_with_hessian(expansion, body.x, body.y, body.z, rows->value);
    else
      value =
          expansion.template l2p<Out::potential, Out::field>(body.x, body.y, body.z, rows->value);
    value.x *= V(per_edge);
    value.y *= V(per_edge);
    value.z *= V(per_edge);
    if constexpr (Out::hessian) value.hessian *= V(per_edge * per_edge);
    add_records<Out, true>(
        &sums(std::int64_t(tile.first + i) * Out::records + Out::record(of_density)), count, value);
  }
};

/// The same of all densities, by the team that has the tile. On a CPU, or where their expansions take much scratch
/// memory, one after the other. Else neighbouring threads have the densities of one body, whose sums lie side by side,
/// and are written so.
template <class One, int Densities>
struct L2POfDensities {
  using Row = Quad<typename One::real>;
  static constexpr int most_bytes = 16384;
  static constexpr int apart = One::quads | 1;  ///< rows begin in other banks of scratch memory
  static constexpr bool side_by_side =
      One::W == 1 && Densities * apart * int(sizeof(Row)) <= most_bytes;
  static constexpr int quads = side_by_side ? Densities * apart : One::quads;
  static constexpr int team_size = One::team_size, resident = 0, scratch_level = One::scratch_level;
  static constexpr std::size_t scratch_bytes = quads * sizeof(Row) + scratch_alignment;
  One one;
  std::int64_t plane;  ///< numbers from one density's expansions to the next's

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team const& team) const {
    const Tile tile = one.tiles(team.league_rank());
    Row* const rows = scratch_array<Row>(team, scratch_level, quads);
    if constexpr (side_by_side) {
      const auto row_of = [rows](int density) { return rows + density * apart; };
      const int rank = team.team_rank(), step = team.team_size();
      for (int e = rank; e < Densities * One::size; e += step) {
        const int d = e / One::size, k = e % One::size;
        row_of(d)->value[k] = one.prepared(tile, one.locals.data() + d * plane, k);
      }
      team.team_barrier();
      const int level = one.cells(tile.cell).level;
      for (int e = rank; e < tile.count * Densities; e += step)
        one.set_sums_at(tile, e / Densities, level, row_of(e % Densities), e % Densities);
    } else {
      for (int d = 0; d < Densities; ++d) {
        if (d > 0) team.team_barrier();
        one.set_sums(team, tile, rows, one.locals.data() + d * plane, d);
      }
    }
  }
};

/// Sets `sums`, of one of the densities, to the far field that the leaves' local expansions hold.
template <class Expansion, class Out, class Space, class Real, class Sum>
void l2p(Space const& space, Array<Cell, Space> cells, Array<Tile, Space> tiles,
         Array<Body<Real>, Space> bodies, Array<Real, Space> locals, Array<Sums<Sum>, Space> sums,
         int density = 0, Expansion const& expansion = {}) {
  using Basis = basis_t<Expansion>;
  if constexpr (!std::is_same_v<Expansion, Basis>)  // the same for all translations
    l2p<Basis, Out>(space, cells, tiles, bodies, locals, sums, density, expansion);
  else
    for_tiles(
        "fmm::l2p", space, std::int64_t(tiles.extent(0)),
        L2P<Space, Basis, Real, Out, Sum>{expansion, cells, tiles, bodies, locals, sums, density});
}

/// The same of so many densities, whose local expansions follow one another.
template <class Expansion, class Out, class Space, class Real, class Sum>
void l2p_of_densities(Space const& space, Array<Cell, Space> cells, Array<Tile, Space> tiles,
                      Array<Body<Real>, Space> bodies, Array<Real, Space> locals,
                      Array<Sums<Sum>, Space> sums, Expansion const& expansion = {}) {
  using Basis = basis_t<Expansion>;
  if constexpr (!std::is_same_v<Expansion, Basis>) {
    l2p_of_densities<Basis, Out>(space, cells, tiles, bodies, locals, sums, expansion);
  } else {
    using One = L2P<Space, Basis, Real, Out, Sum>;
    for_tiles(
        "fmm::l2p", space, std::int64_t(tiles.extent(0)),
        L2POfDensities<One, Out::densities>{{expansion, cells, tiles, bodies, locals, sums, 0},
                                            std::int64_t(locals.extent(0)) / Out::densities});
  }
}

}  // namespace fmm::kernels
