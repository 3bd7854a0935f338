// SPDX-License-Identifier: BSD-3-Clause
// M2P: potential and gradient of the multipoles in a leaf's lists at the leaf's bodies (Yokota & Barba
// 2011). Multipoles are first brought, once for each cell, into the form in which they are evaluated
// (spherical/monomials.hpp). A team then takes a tile of bodies and walks the leaf's multipoles in chunks
// through scratch memory, with the mapping of P2P: a thread holds several bodies in registers while a
// chunk passes and, on a GPU, `split` threads share the same bodies and take every split-th multipole, so
// that a tile of any size keeps nearly all threads of the team busy.
//
// Cost: 164 flops for each body and cell at order 4, 684 at order 8.
#pragma once

#include "../cells/geometry.hpp"
#include "../cells/sets.hpp"
#include "../detail/memory.hpp"
#include "expansion.hpp"
#include "mapping/split_rows.hpp"
#include "mapping/tile.hpp"

namespace fmm::kernels {

/// Multipoles as M2P wants them, in rows of whole quads.
template <class Space, class Real>
struct PreparedMultipoles {
  Array<Real, Space> rows;
  bool of_entries = false;  ///< a row for each entry of the list of leaves, not for each cell
};

/// Number k of each cell's prepared multipole, or of those of some cells.
template <class Space, class Expansion, class Real>
struct PrepareMultipoles : WithExpansion<Expansion> {
  static constexpr int size = prepared_size<Expansion>(), row = row_length(size);
  Array<CellIndex, Space> some;  ///< if it is not empty
  Array<Real, Space> multipoles, prepared;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t r = i / row, cell = some.extent(0) > 0 ? some(r) : r;
    const int k = int(i - r * row);
    Real const* const M = multipoles.data() + cell * row_length(Expansion::size);
    if (k >= size)
      prepared(i) = Real(0);
    else if constexpr (requires { Expansion::prepared_size; })
      prepared(i) = this->expansion().prepare_multipole(M, k);
    else
      prepared(i) = M[k];
  }
};

/// How many numbers the prepared multipoles of so many cells are; 0 if multipoles are evaluated as they are.
template <class Expansion>
std::size_t prepared_numbers(std::size_t cells) {
  using Basis = basis_t<Expansion>;
  if constexpr (requires { Basis::prepared_size; })
    return cells * row_length(prepared_size<Basis>());
  else
    return 0;
}

/// Those of all cells: in `memory`, or as they are if that is the expansion's wish.
template <class Expansion, class Space, class Real>
PreparedMultipoles<Space, Real> prepare_multipoles(Space const& space,
                                                   Array<Real, Space> multipoles,
                                                   Buffer<Real, Space>& memory,
                                                   Expansion const& expansion = {}) {
  using Basis = basis_t<Expansion>;
  if constexpr (requires { Basis::prepared_size; }) {
    const std::size_t count =
        prepared_numbers<Expansion>(multipoles.extent(0) / row_length(Expansion::size));
    const auto prepared = memory.resize(count);
    for_range("fmm::m2p::stage", space, count,
              PrepareMultipoles<Space, Basis, Real>{expansion, {}, multipoles, prepared});
    return {prepared};
  } else {
    return {multipoles};
  }
}

/// Those that a list of leaves has, in `memory`, where `multipoles` are not to stay: of its entries or, if there are
/// fewer, of all cells.
template <class Expansion, class Space, class Real>
PreparedMultipoles<Space, Real> keep_multipoles(Space const& space, Csr<Space> list,
                                                Array<Real, Space> multipoles,
                                                Buffer<Real, Space>& memory,
                                                Expansion const& expansion = {}) {
  using Functor = PrepareMultipoles<Space, basis_t<Expansion>, Real>;
  const std::size_t cells = multipoles.extent(0) / row_length(Expansion::size),
                    entries = list.entries.extent(0);
  const bool of_entries = entries < cells;
  const std::size_t count = (of_entries ? entries : cells) * Functor::row;
  const auto prepared = memory.resize(count);
  for_range("fmm::m2p::keep", space, count,
            Functor{expansion, of_entries ? list.entries : Array<CellIndex, Space>{}, multipoles,
                    prepared});
  return {prepared, of_entries};
}

/// Walks the multipoles that a leaf is to evaluate: its own row of `near`, then the rows of `far` of the
/// leaf and all its ancestors. Every thread of a team walks alike.
template <class Space>
struct MultipoleWalk {
  Csr<Space> const& near;
  Csr<Space> const& far;
  Array<Cell, Space> const& cells;
  CellIndex cell;
  Offset entry, end;
  bool in_far = false;

  /// Through a segment of the leaf's row, and with `first_segment` through the rows of `far` too.
  KOKKOS_INLINE_FUNCTION MultipoleWalk(Csr<Space> const& near_list, Csr<Space> const& far_list,
                                       Array<Cell, Space> const& all_cells,
                                       RowSegment const& segment, bool first_segment)
      : near(near_list),
        far(far_list),
        cells(all_cells),
        cell(first_segment ? segment.tile.cell : -1),
        entry(segment.begin),
        end(segment.end) {}

  /// Whether there are more; then some are in the present row.
  KOKKOS_INLINE_FUNCTION bool more() {
    while (entry == end) {
      if (far.offsets.extent(0) == 0 || cell < 0) return false;
      if (in_far) cell = cells(cell).parent;
      if (cell < 0) return false;
      in_far = true;
      entry = far.offsets(cell);
      end = far.offsets(cell + 1);
    }
    return true;
  }
  /// The source cells of the present row that were not taken yet.
  KOKKOS_INLINE_FUNCTION CellIndex const* row() const {
    return (in_far ? far : near).entries.data() + entry;
  }
};

template <class Space, class Expansion, class Real, class Out, class Sum,
          class Cells = Array<Cell, Space>>
struct M2P : WithExpansion<Expansion> {
  using V = Lanes<Space, Real>;
  using Shape = Tuning<Space, Real>;
  static constexpr M2PShape shape = Shape::far_field;
  static constexpr int W = lane_count_v<V>, split = shape.split;
  /// A multipole that does not fit into a thread's registers is read for every target anew.
  static constexpr bool held =
      is_polynomial<Expansion>() && prepared_size<Expansion>() * int(sizeof(Real)) <= shape.held;
  static constexpr int targets = held ? shape.targets : 1;
  static constexpr int columns = shape.team / split;  ///< threads with different targets
  static constexpr int packs = (Shape::tile + columns * W - 1) / (columns * W);  ///< of a thread
  static constexpr int blocks = (packs + targets - 1) / targets;

  /// A row of scratch memory: where the source is, 1 / edge, and its prepared multipole, in quads. Four
  /// threads that share targets read four rows at a time, from different banks.
  static constexpr int quads = row_length(prepared_size<Expansion>()) / 4;
  static constexpr int stride = (1 + quads) % 4 == 0 && split > 1 ? 2 + quads : 1 + quads;
  static constexpr int room = shape.scratch / (stride * int(sizeof(Quad<Real>))) / split * split;
  static constexpr int chunk = room < split ? split : room < shape.chunk ? room : shape.chunk;
  using Value = ValueAt<Out, V>;
  /// Afterwards the sums of the threads that share targets.
  static constexpr int scratch_quads =
      split > 1 && split* Shape::tile > chunk* stride ? split* Shape::tile : chunk* stride;
  // of a TileAction
  static constexpr int team_size = shape.team, resident = 0;
  static constexpr int scratch_level = Shape::scratch_level;
  static constexpr std::size_t scratch_bytes =
      scratch_quads * sizeof(Quad<Real>) + chunk * sizeof(CellIndex) + 2 * scratch_alignment;

  Cells cells;
  Array<Tile, Space> tiles;
  Csr<Space> near, far;
  Array<Body<Real>, Space> bodies;
  PreparedMultipoles<Space, Real> prepared;
  Array<Sums<Sum>, Space> sums;
  SplitRows<Space, Sum> split_rows = {};
  int density = 0;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const RowSegment segment = split_rows.of_team(team.league_rank(), tiles, near);
    MultipoleWalk<Space> walk(near, far, targets_of(cells), segment,
                              !split_rows.is_further(team.league_rank()));
    if (!walk.more()) return;
    const Tile tile = segment.tile;
    const Cell leaf = targets_of(cells)(tile.cell);
    Quad<Real>* const rows = scratch_array<Quad<Real>>(team, scratch_level, scratch_quads);
    CellIndex* const sources = scratch_array<CellIndex>(team, scratch_level, chunk);

    const Real edge = edge_of_level<Real>(leaf.level);
    V x[blocks * targets][3];
    Value sum[blocks * targets];
    FMM_UNROLL
    for (int t = 0; t < blocks * targets; ++t) {
      const int first = target_of(team, t), left = tile.count - first;
      // where the tile ends its first bodies stand in
      const LaneBodies<V> body(&bodies(tile.first + (left > 0 ? first : 0)), left > 0 && left < W
                                                                                 ? left
                                                                             : left > 0 ? W
                                                                                        : 1);
      x[t][0] = body.x * V(edge);
      x[t][1] = body.y * V(edge);
      x[t][2] = body.z * V(edge);
      sum[t] = {};
    }
    const int needed = (tile.count + columns * W - 1) / (columns * W);
    for (int count; (count = fill(team, leaf, walk, sources, rows)) > 0;) {
      FMM_UNROLL
      for (int b = 0; b < blocks; ++b)
        if (needed > b * targets)
          add<1>(team, rows, count, needed - b * targets, x + b * targets, sum + b * targets);
      team.team_barrier();
    }
    store(team, tile.count,
          split_rows.template sums_of_team<Out::records>(team.league_rank(), segment, sums) +
              Out::record(density),
          rows, sum);
  }

 private:
  /// The first body of a thread's pack t. The threads' bodies are interleaved, so that a tile that is
  /// not full leaves none without.
  KOKKOS_FORCEINLINE_FUNCTION static int target_of(TeamMember<Space> const& team, int t) {
    return (t * columns + team.team_rank() % columns) * W;
  }

  /// The next multipoles into scratch memory; returns how many there are.
  KOKKOS_FORCEINLINE_FUNCTION int fill(TeamMember<Space> const& team, Cell const& leaf,
                                       MultipoleWalk<Space>& walk, CellIndex* sources,
                                       Quad<Real>* rows) const {
    const int rank = team.team_rank(), threads = team.team_size();
    int count = 0;
    while (count < chunk && walk.more()) {
      const int room = chunk - count;
      const int take = walk.end - walk.entry < room ? int(walk.end - walk.entry) : room;
      CellIndex const* const row = walk.row();
      for (int i = rank; i < take; i += threads) {
        const CellIndex index = row[i];
        const Cell source = sources_of(cells)(index);
        Quad<Real> place;
        for (int d = 0; d < 3; ++d) place.value[d] = centre_in<Real>(source, leaf, d);
        place.value[3] = edges_of_level<Real>(source.level);
        rows[(count + i) * stride] = place;
        sources[count + i] = prepared.of_entries ? CellIndex(walk.entry + i) : index;
      }
      count += take;
      walk.entry += take;
    }
    team.team_barrier();
    Quad<Real> const* const from = reinterpret_cast<Quad<Real> const*>(prepared.rows.data());
    for (int i = rank; i < count * quads; i += threads) {
      const int s = i / quads, k = i - s * quads;
      rows[s * stride + 1 + k] = from[std::int64_t(sources[s]) * quads + k];
    }
    team.team_barrier();
    return count;
  }

  /// Adds the prepared multipoles to `needed` packs, of which it takes `targets` at most.
  template <int Targets>
  KOKKOS_FORCEINLINE_FUNCTION void add(TeamMember<Space> const& team, Quad<Real> const* rows,
                                       int count, int needed, V const (*x)[3], Value* sum) const {
    if constexpr (Targets < targets)
      if (needed > Targets) return add<Targets + 1>(team, rows, count, needed, x, sum);
    const int share = split == 1 ? 0 : team.team_rank() / columns;
    for (int s = share; s < count; s += split) {
      Quad<Real> const* const row = rows + s * stride;
      const Quad<Real> place = row[0];
      const Real per_edge = place.value[3];
      FMM_UNROLL
      for (int t = 0; t < Targets; ++t) {
        const V at[3] = {x[t][0] * V(per_edge) + V(place.value[0]),
                         x[t][1] * V(per_edge) + V(place.value[1]),
                         x[t][2] * V(per_edge) + V(place.value[2])};
        if constexpr (Out::hessian)
          add_multipole_with_hessian(this->expansion(), at[0], at[1], at[2], per_edge, row[1].value,
                                     sum[t]);
        else
          this->expansion().template m2p<Out::potential, Out::field>(at[0], at[1], at[2], per_edge,
                                                                     row[1].value, sum[t]);
      }
    }
  }

  /// Adds the sums of `count` bodies to those in memory; threads that share bodies meet in scratch memory.
  KOKKOS_FORCEINLINE_FUNCTION void store(TeamMember<Space> const& team, int count, Sums<Sum>* to,
                                         Quad<Real>* scratch, Value const* sum) const {
    if constexpr (split == 1) {
      for (int t = 0; t < blocks * targets; ++t) {
        const int first = target_of(team, t), left = count - first;
        if (left > 0) add_records<Out>(to + first * Out::records, left < W ? left : W, sum[t]);
      }
    } else {
      static_assert(split == 1 || W == 1);
      const int share = team.team_rank() / columns;
      FMM_UNROLL
      for (int r = 0; r < Out::of_density; ++r) {
        if (r > 0) team.team_barrier();
        FMM_UNROLL
        for (int t = 0; t < packs; ++t) {
          const auto record = record_of(sum[t], r);
          scratch[share * Shape::tile + target_of(team, t)] = {record.potential, record.x, record.y,
                                                               record.z};
        }
        team.team_barrier();
        for (int i = team.team_rank(); i < count; i += team.team_size()) {
          PotentialGradient<Real> total{Real(0), Real(0), Real(0), Real(0)};
          for (int s = 0; s < split; ++s) {
            const Quad<Real> of_share = scratch[s * Shape::tile + i];
            total.potential += of_share.value[0];
            total.x += of_share.value[1];
            total.y += of_share.value[2];
            total.z += of_share.value[3];
          }
          if (r == 0)
            add_lanes<Out>(to + i * Out::records, 1, total);
          else
            add_lanes<Out, false, true>(to + i * Out::records + r, 1, total);
        }
      }
    }
  }
};

/// Adds to `sums` the multipoles of each leaf's row of `near`, and those of the rows of `far` of the leaf
/// and of its ancestors. A list with no offsets is left out. `rows` has further
/// segments of rows of `near`, if there are any. `cells` of one set or of two (cells/sets.hpp); tiles and bodies of the
/// targets, multipoles of the sources, those of one density after the other's.
template <class Expansion, class Out, class Space, class Cells, class Real, class Sum>
void m2p(Space const& space, Cells const& cells, Array<Tile, Space> tiles, Csr<Space> near,
         Csr<Space> far, Array<Body<Real>, Space> bodies, PreparedMultipoles<Space, Real> prepared,
         Array<Sums<Sum>, Space> sums, SplitRows<Space, Sum> rows = {},
         Expansion const& expansion = {}) {
  using Basis = basis_t<Expansion>;
  if constexpr (!std::is_same_v<Expansion, Basis>) {  // the same for all translations
    m2p<Basis, Out>(space, cells, tiles, near, far, bodies, prepared, sums, rows, expansion);
  } else {
    for (int density = 0; density < Out::densities; ++density)
      for_tiles("fmm::m2p", space, std::int64_t(tiles.extent(0)) + rows.count(),
                M2P<Space, Basis, Real, Out, Sum, Cells>{
                    expansion, cells, tiles, near, far, bodies,
                    PreparedMultipoles<Space, Real>{plane(prepared.rows, density, Out::densities),
                                                    prepared.of_entries},
                    sums, rows, density});
    add_segment_sums<Out::records>(space, rows, sums);
  }
}

}  // namespace fmm::kernels
