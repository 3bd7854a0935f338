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
    Real* const prepared = rows->value;
    Real const* const L = locals.data() + std::int64_t(tile.cell) * row_length(Expansion::size);
    for (int k = team.team_rank(); k < size; k += team.team_size()) {
      if constexpr (requires { Expansion::prepared_size; })
        prepared[k] = this->expansion().prepare_local(L, k);
      else
        prepared[k] = L[k];
    }
    team.team_barrier();
    const int level = cells(tile.cell).level;
    const Real per_edge = edges_of_level<Real>(level);
    for (int i = team.team_rank() * W; i < tile.count; i += team.team_size() * W) {
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
          &sums(std::int64_t(tile.first + i) * Out::records + Out::record(density)), count, value);
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

}  // namespace fmm::kernels
