// SPDX-License-Identifier: BSD-3-Clause
// The evaluation: the way of the bodies' charges through the operators to potential and field. Depends on
// the expansion and the pair kernel, but not on the traversal that made the lists.
#pragma once

#include <algorithm>
#include <functional>

#include "../kernels/flops.hpp"
#include "../kernels/l2l.hpp"
#include "../kernels/l2p.hpp"
#include "../kernels/m2l.hpp"
#include "../kernels/m2m.hpp"
#include "../kernels/m2p.hpp"
#include "../kernels/p2l.hpp"
#include "../kernels/p2m.hpp"
#include "../kernels/p2p/p2p.hpp"
#include "../kernels/power.hpp"
#include "../tree/lists/blocks.hpp"
#include "../tuning.hpp"
#include "bodies.hpp"
#include "stage.hpp"
#include "workspace.hpp"

namespace fmm::engine {

/// A far field through local expansions, whose M2L is that of a translation scheme: one translation a list
/// entry, unless the scheme has a way of its own (batched_gemm.hpp).
template <class Translation>
struct FarFieldBy {
  template <class Expansion, class Space, class Precision, class Real>
  static void m2l(Space const& space, PlanStorage<Space, Precision>& s,
                  Array<Real, Space> multipoles, Array<Real, Space> locals) {
    kernels::m2l<Expansion>(space, s.tree.cells, s.lists.m2l, multipoles, locals);
  }
  template <class Expansion, class Space, class Precision>
  static void count(Space const&, PlanStorage<Space, Precision> const& s, Report& report) {
    add_work(report, "m2l", std::int64_t(s.lists.m2l.entries.extent(0)),
             translation_flops<Expansion, real_t<Precision>>().m2l);
  }
};
/// A treecode's, without.
template <>
struct FarFieldBy<NoTranslation> {};

/// One whose lists have M2L (without local expansions: M2P in its place) and no other way.
template <class FarFieldScheme>
struct OnlyM2L : FarFieldScheme {};

template <class FarFieldScheme>
inline constexpr bool has_locals_v = !std::is_base_of_v<FarFieldBy<NoTranslation>, FarFieldScheme>;
template <class FarFieldScheme>
inline constexpr bool has_only_m2l_scheme_v = false;
template <class FarFieldScheme>
inline constexpr bool has_only_m2l_scheme_v<OnlyM2L<FarFieldScheme>> = true;

/// Parts of the rows that the leaves of these tiles, all or some of the tree's, have in a list, if there is a very long
/// one: more than `least` entries, and four times the mean. On a host rows stay whole.
template <class Space, class Precision>
TileParts<Space, sum_t<Precision>> parts_of_rows([[maybe_unused]] Space const& space,
                                                 [[maybe_unused]] PlanStorage<Space, Precision>& s,
                                                 [[maybe_unused]] Array<Tile, Space> tiles,
                                                 [[maybe_unused]] Csr<Space> list,
                                                 [[maybe_unused]] int least) {
  if constexpr (!is_host_space_v<Space>)
    if (list.longest > least) {
      const double tiles_per_leaf =
          double(s.tree.tiles.extent(0)) / double(s.tree.leaves.extent(0));
      const double mean = double(list.entries.extent(0)) / double(tiles.extent(0)) * tiles_per_leaf;
      const Offset most = std::max<Offset>(least, Offset(4 * mean));
      if (list.longest > most)
        return cut_rows(space, tiles, list, most, Tuning<Space, real_t<Precision>>::tile, s.parts);
    }
  return {};
}

/// The local expansions of all cells: M2L, P2L and L2L.
template <class Expansion, class FarFieldScheme, class Space, class Precision, class Real>
void set_locals(Space const& space, PlanStorage<Space, Precision>& s, Array<Real, Space> multipoles,
                Array<Real, Space> locals, Report* report) {
  auto const& tree = s.tree;
  stage(space, report, "m2l",
        [&] { FarFieldScheme::template m2l<Expansion>(space, s, multipoles, locals); });
  if constexpr (!has_only_m2l_scheme_v<FarFieldScheme> && has_p2l<basis_t<Expansion>>())
    if (s.lists.p2l.entries.extent(0) > 0)
      stage(space, report, "p2l",
            [&] { p2l<Expansion>(space, tree.cells, s.lists.p2l, s.bodies.view(s.size), locals); });
  stage(space, report, "l2l", [&] {
    for (int level = 1; level <= tree.depth; ++level)
      l2l<Expansion>(space, tree.cells, tree.level_begin[level], tree.level_begin[level + 1],
                     locals);
  });
}

/// The far field's part of what is wanted (a Wanted<>) of all bodies, set as their sums (an FMM) or added to them
/// (a treecode, whose sums are zero), in units of the cube: P2M, M2M, then either M2L, P2L, L2L and L2P (an FMM) or
/// M2P (a treecode; an FMM's W list too). `relist`, if there is one, makes the lists once there are multipoles.
template <class Expansion, class FarFieldScheme, class Want, class Space, class Precision>
void add_far_field(Space const& space, PlanStorage<Space, Precision>& s,
                   std::function<void()> const& relist, Report* report) {
  constexpr bool has_locals = has_locals_v<FarFieldScheme>,
                 only_m2l = has_only_m2l_scheme_v<FarFieldScheme>;
  using Real = real_t<Precision>;
  constexpr int m2p_part = Tuning<Space, Real>::m2p_part;
  auto const& tree = s.tree;
  const auto bodies = s.bodies.view(s.size);
  const std::size_t cells = tree.cells.extent(0),
                    coefficients = cells * row_length(Expansion::size);
  // where the sums come after the multipoles, these lie in their memory, which is as large as the larger of the two
  s.multipoles.lend({});
  if (has_locals &&
      (only_m2l || (relist ? coefficients >= s.sum_numbers() : s.lists.m2p.entries.extent(0) == 0)))
    Lender<Space>(s.sums_or(coefficients)).lend(s.multipoles, coefficients);
  const auto sums = s.sums.view(s.size);
  const auto multipoles = s.multipoles.resize(coefficients);
  stage(space, report, "p2m",
        [&] { p2m<Expansion>(space, tree.cells, tree.leaves, bodies, multipoles); });
  stage(space, report, "m2m", [&] {
    for (int level = tree.depth - 1; level >= 0; --level)
      m2m<Expansion>(space, tree.cells, tree.parents_of(level), multipoles);
  });
  if (relist) relist();
  const bool has_m2p = !only_m2l && s.lists.m2p.entries.extent(0) > 0,
             keeps = has_locals && has_m2p && s.lies_in_sums(multipoles);
  StagedMultipoles<Space, Real> staged;
  if constexpr (has_locals && !only_m2l)
    if (keeps) {  // M2P comes after L2P, which sets the sums
      s.multipoles.lend({});
      stage(space, report, "m2p", [&] {
        staged = keep_multipoles<Expansion>(space, s.lists.m2p, multipoles, s.multipoles);
      });
    }
  if constexpr (has_locals) {
    if (has_m2p && !keeps)  // staged multipoles come into the same memory
      s.locals.resize(std::max(coefficients, staged_numbers<Expansion>(cells)));
    const auto locals = s.locals.resize(coefficients);
    set_locals<Expansion, FarFieldScheme>(space, s, multipoles, locals, report);
    stage(space, report, "l2p",
          [&] { l2p<Expansion, Want>(space, tree.cells, tree.tiles, bodies, locals, sums); });
  }
  if constexpr (!has_locals || !only_m2l)
    if (!has_locals || has_m2p)
      stage(space, report, "m2p", [&] {
        if (!keeps) staged = stage_multipoles<Expansion>(space, multipoles, s.locals);
        m2p<Expansion, Want>(space, tree.cells, tree.tiles, s.lists.m2p,
                             has_locals ? Csr<Space>{} : s.lists.m2l, bodies, staged, sums,
                             parts_of_rows(space, s, tree.tiles, s.lists.m2p, m2p_part));
      });
}

/// The near field's part, of the bodies in `tiles`, added to `sums`; a leaf itself is implied in its row of `list`.
/// The options say how sources are taken in mixed precision.
template <class Want, class Space, class Precision, class Kernel>
void add_near_field(Space const& space, PlanStorage<Space, Precision>& s, Kernel const& kernel,
                    Array<Tile, Space> tiles, Csr<Space> list,
                    Array<Sums<sum_t<Precision>>, Space> sums, Options const& options) {
  const auto parts =
      parts_of_rows(space, s, tiles, list, Tuning<Space, real_t<Precision>>::p2p_part);
  if constexpr (two_part_v<Precision>)
    if (options.one_part)
      return p2p<Want, MixedInOnePart>(space, kernel, s.tree.cells, tiles, list,
                                       s.bodies.view(s.size), {}, sums, parts);
  p2p<Want, Precision>(space, kernel, s.tree.cells, tiles, list, s.bodies.view(s.size),
                       s.low.view(two_part_v<Precision> ? s.size : 0), sums, parts,
                       margin_for(options.tolerance));
}

/// Far and near field of the bodies in `tiles` alone, set as `sums`, from multipoles that are there; lists need not
/// have entries but for those tiles' leaves and the cells above these. `near_field` adds the near field of tiles
/// with a list to sums. Local expansions, and what was in their memory, are lost.
template <class Expansion, class FarFieldScheme, class Want, class Space, class Precision,
          class NearField>
void set_sums_of(Space const& space, PlanStorage<Space, Precision>& s, Array<Tile, Space> tiles,
                 NearField const& near_field, Array<Sums<sum_t<Precision>>, Space> sums) {
  const std::size_t coefficients = s.tree.cells.extent(0) * row_length(Expansion::size);
  const auto bodies = s.bodies.view(s.size);
  const auto multipoles = s.multipoles.view(coefficients), locals = s.locals.resize(coefficients);
  set_locals<Expansion, FarFieldScheme>(space, s, multipoles, locals, nullptr);
  l2p<Expansion, Want>(space, s.tree.cells, tiles, bodies, locals, sums);
  if (s.lists.m2p.entries.extent(0) > 0)
    m2p<Expansion, Want>(
        space, s.tree.cells, tiles, s.lists.m2p, Csr<Space>{}, bodies,
        stage_multipoles<Expansion>(space, multipoles, s.locals), sums,
        parts_of_rows(space, s, tiles, s.lists.m2p, Tuning<Space, real_t<Precision>>::m2p_part));
  near_field(tiles, s.lists.p2p, sums);
}

/// Bodies of the cells in a row of a list.
template <class Space>
KOKKOS_FUNCTION std::int64_t bodies_in_row(Array<Cell, Space> const& cells, Csr<Space> const& list,
                                           std::int64_t row) {
  std::int64_t bodies = 0;
  const Offset count = list.length(row);
  for (Offset k = 0; k < count; ++k)
    bodies += cells(list.entries(list.offsets(row) + k)).body_count;
  return bodies;
}

/// Pairs of bodies, of a body with a cell's multipole, and of a body with a cell's local expansion, in the
/// lists of cell i.
template <class Space>
struct CountPairs {
  Array<Cell, Space> cells;
  InteractionLists<Space> lists;
  bool m2l_at_bodies;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& pairs, std::int64_t& m2p_pairs,
                                  std::int64_t& p2l_pairs) const {
    auto const& [m2l, p2l, m2p, p2p] = lists;
    const std::int64_t bodies = cells(i).body_count;
    for (Offset k = p2p.offsets(i); k < p2p.offsets(i + 1); ++k)
      pairs +=
          bodies * (p2p.entries(k) == CellIndex(i) ? bodies - 1 : cells(p2p.entries(k)).body_count);
    m2p_pairs += bodies * (m2p.length(i) + (m2l_at_bodies ? m2l.length(i) : 0));
    p2l_pairs += bodies_in_row(cells, p2l, i);
  }
};

/// Pairs of bodies, as the chapter counts: 20 operations for potential and force, 19 for the force, 10 for
/// the potential.
template <class Want>
void count_pairs(std::int64_t pairs, Report& report) {
  report.p2p_pairs += pairs;
  add_work(report, "p2p", pairs, Want::field ? (Want::potential ? 20 : 19) : 10);
}

/// Counts and flops of both.
template <class Expansion, class FarFieldScheme, class Want, class Space, class Precision>
void count_tree_work(Space const& space, PlanStorage<Space, Precision> const& s, Report& report) {
  constexpr bool has_locals = has_locals_v<FarFieldScheme>;
  std::int64_t pairs = 0, m2p_pairs = 0, p2l_pairs = 0;
  Kokkos::parallel_reduce("fmm::count", range(space, s.tree.cells.extent(0)),
                          CountPairs<Space>{s.tree.cells, s.lists, !has_locals}, pairs, m2p_pairs,
                          p2l_pairs);
  using Real = real_t<Precision>;
  const auto flops = body_flops<basis_t<Expansion>, Real, Want::potential, Want::field>();
  const auto translations = translation_flops<Expansion, Real>();
  const std::int64_t cells = s.tree.cells.extent(0);
  add_work(report, "p2m", s.size, flops.p2m);
  add_work(report, "m2m", cells - 1, translations.m2m);
  if constexpr (has_locals) {
    report.m2l += std::int64_t(s.lists.m2l.entries.extent(0));
    FarFieldScheme::template count<Expansion>(space, s, report);
    if (p2l_pairs > 0) add_work(report, "p2l", p2l_pairs, flops.p2l);
    report.p2l += p2l_pairs;
    add_work(report, "l2l", cells - 1, translations.l2l);
    add_work(report, "l2p", s.size, flops.l2p);
  }
  if (m2p_pairs > 0) add_work(report, "m2p", m2p_pairs, flops.m2p);
  report.m2p += m2p_pairs;
  count_pairs<Want>(pairs, report);
}

/// Potential and field from charges, on a tree; the code is shared by all pair kernels, whose part is
/// `near_field`, in a unit of length. `relist` is there for traversals whose lists depend on the charges.
template <class Expansion, class FarFieldScheme, class Want, class Space, class Precision,
          class Charges, class Potential, class Field>
void evaluate_tree(Space const& space, PlanStorage<Space, Precision>& s,
                   KernelProfile const& kernel, std::function<void(double)> const& near_field,
                   Charges const& charges, Potential const& potential, Field const& field,
                   std::function<void()> const& relist, Report* report) {
  const bool clears = !has_locals_v<FarFieldScheme>;  // else L2P sets the sums
  charges_stage<Potential, Field>(space, s, kernel, charges, s.bodies.view(s.size), clears, report);
  const double length = kernel.rescalable ? s.cube.edge : 1;
  add_far_field<Expansion, FarFieldScheme, Want>(space, s, relist, report);
  near_field(length);
  results_stage(space, s, kernel, length, potential, field, report);
  if (report) count_tree_work<Expansion, FarFieldScheme, Want>(space, s, *report);
}

/// The same by all pairs; the sums of all bodies, or of a sample.
template <class Want, class Space, class Precision, class Kernel, class Charges, class Potential,
          class Field>
void evaluate_all_pairs(Space const& space, PlanStorage<Space, Precision>& s, Kernel const& kernel,
                        Charges const& charges, Potential const& potential, Field const& field,
                        TileSample<Space> const* sample, Report* report) {
  const auto bodies = s.positions.view(s.size);
  charges_stage<Potential, Field>(space, s, profile_of(kernel), charges, bodies, true, report);
  const double length = RescalableKernel<Kernel> ? s.cube.exact_unit() : 1;
  stage(space, report, "p2p", [&] {
    p2p_all<Want, Precision>(space, in_units_of(length, kernel), 1 / length, bodies,
                             sample ? sample->tiles : s.tree.tiles, s.all_pairs_shape,
                             s.sums.view(s.size));
  });
  results_stage(space, s, profile_of(kernel), length, potential, field, report);
  const auto targets = sample ? std::int64_t(sample->bodies.size()) : s.size;
  if (report) count_pairs<Want>(targets * (s.size - 1), *report);
}

}  // namespace fmm::engine
