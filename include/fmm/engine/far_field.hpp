// SPDX-License-Identifier: BSD-3-Clause
// The far field: what an evaluation asks of an expansion, as one interface, and the operators in their order.
//
// An evaluation, its memory and the search for what holds a tolerance know a FarField and no expansion: they are
// compiled once for all orders. FarFieldOf (far_field_of.hpp) is that of one expansion.
#pragma once

#include "../kernels/flops.hpp"
#include "../kernels/m2p.hpp"
#include "../kernels/strengths.hpp"
#include "../report.hpp"
#include "body_tree.hpp"
#include "long_rows.hpp"
#include "stage.hpp"
#include "workspace.hpp"

namespace fmm::engine {

/// What of the far field there is.
struct FarFieldTraits {
  int row;          ///< numbers from one cell's expansion to the next
  bool has_locals;  ///< an FMM; a treecode evaluates multipoles at the bodies in the place of M2L
  bool
      only_m2l;  ///< the lists have M2L (without local expansions: M2P in its place), and neither M2P nor P2L
  bool takes_some_rows;        ///< M2L may be given some rows of the plan's list alone
  void const* mark = nullptr;  ///< &multipoles_mark<..> of the multipoles
};

/// The operators of one expansion, and how M2L is done.
///
/// Out         what targets receive, Strengths what sources carry (kernels/strengths.hpp). Those of density 0 are
///             followed by those of density 1, and so on, in arrays of expansions
/// Shift       of the sources from the targets (cells/sets.hpp)
template <class Space, class Precision, class Out, class Shift = OneSet,
          class Strengths = Charges<>>
class FarField {
 public:
  using Real = real_t<Precision>;
  using Numbers = Array<Real, Space>;
  using Bodies = Array<Body<Real>, Space>;
  using Sources = SourceStrengths<Space, Real, Strengths>;
  using BodySums = Array<Sums<sum_t<Precision>>, Space>;
  using Prepared = PreparedMultipoles<Space, Real>;
  using Tree = Octree<Space>;
  using Sets = BodySets<Space, Precision, Shift>;
  using Memory = Workspace<Space, Precision>;

  explicit FarField(FarFieldTraits const& traits) : traits_(traits) {}
  virtual ~FarField() = default;

  FarFieldTraits const& traits() const { return traits_; }
  /// Numbers of the expansions of all cells.
  std::size_t coefficients(Tree const& tree) const {
    return tree.cells.extent(0) * std::size_t(traits_.row) * Strengths::densities;
  }

  // ---- upward: multipoles, a row each of the sources' cells

  /// Of the leaves.
  virtual void p2m(Space const&, Tree const&, Sources const&, Numbers multipoles) const = 0;
  /// The same in mixed precision of bodies in double, rounded once, with `memory` for as long; false if the expansion
  /// knows float alone.
  virtual bool p2m_rounded_once(Space const&, Tree const&, Array<Body<double>, Space>,
                                Buffer<double, Space>& memory, Numbers multipoles) const = 0;
  /// Of the parents on that level, from their children.
  virtual void m2m(Space const&, Tree const&, int level, Numbers multipoles) const = 0;

  // ---- across

  /// Sets the targets' local expansions.
  virtual void m2l(Space const&, Memory&, Sets const&, Csr<Space> list, Numbers multipoles,
                   Numbers locals) const = 0;
  /// Adds to them bodies of the sources.
  virtual void p2l(Space const&, Sets const&, Csr<Space> list, Sources const&,
                   Numbers locals) const = 0;

  // ---- downward

  /// Adds to the local expansions on that level those of the parents; of cells with `bodies` above 0, if there are any
  /// such numbers.
  virtual void l2l(Space const&, Tree const&, int level, Numbers locals,
                   Array<BodyIndex, Space> bodies) const = 0;
  /// Sets the sums of the bodies in these tiles.
  virtual void l2p(Space const&, Tree const&, Array<Tile, Space> tiles, Bodies, Numbers locals,
                   BodySums) const = 0;

  // ---- multipoles at bodies

  /// Numbers of the prepared multipoles of so many cells; 0 if multipoles are evaluated as they are.
  virtual std::size_t prepared_numbers(std::size_t cells) const = 0;
  /// Multipoles as M2P wants them, in `memory` or as they are.
  virtual Prepared prepare(Space const&, Numbers multipoles, Buffer<Real, Space>& memory) const = 0;
  /// Those of a list, in `memory`: `multipoles` are not to stay.
  virtual Prepared keep(Space const&, Csr<Space> list, Numbers multipoles,
                        Buffer<Real, Space>& memory) const = 0;
  /// Adds to the sums of the bodies in these tiles the multipoles in the rows of their leaves, `near`, and of the
  /// leaves and all cells above them, `far`.
  virtual void m2p(Space const&, Memory&, Sets const&, TargetTiles<Space> tiles, Csr<Space> near,
                   Csr<Space> far, Prepared const&, BodySums) const = 0;

  // ---- what it costs

  /// Floating point operations of each operator, per body, child or translation.
  virtual OperatorFlops flops() const = 0;
  /// Adds M2L's work to the report.
  virtual void count_m2l(Space const&, Memory const&, Csr<Space> list, Report&) const = 0;

 private:
  FarFieldTraits traits_;
};

/// What acts on each of the targets' cells itself, set as its local expansion: M2L and P2L.
template <class Space, class Precision, class Out, class Shift, class Strengths>
void set_locals(Space const& space, FarField<Space, Precision, Out, Shift, Strengths> const& far,
                Workspace<Space, Precision>& memory,
                std::type_identity_t<BodySets<Space, Precision, Shift>> const& sets,
                SourceStrengths<Space, real_t<Precision>, Strengths> const& sources,
                InteractionLists<Space> const& lists, Array<real_t<Precision>, Space> multipoles,
                Array<real_t<Precision>, Space> locals, Report* report) {
  stage(space, report, "m2l", [&] { far.m2l(space, memory, sets, lists.m2l, multipoles, locals); });
  if (lists.p2l.entries.extent(0) > 0)
    stage(space, report, "p2l", [&] { far.p2l(space, sets, lists.p2l, sources, locals); });
}

/// Adds to each cell's local expansion those of the cells above it: L2L; `bodies` as in FarField::l2l.
template <class Space, class Precision, class Out, class Shift, class Strengths>
void pass_locals_down(Space const& space,
                      FarField<Space, Precision, Out, Shift, Strengths> const& far,
                      Octree<Space> const& octree, Array<real_t<Precision>, Space> locals,
                      Report* report, Array<BodyIndex, Space> bodies = {}) {
  stage(space, report, "l2l", [&] {
    for (int level = 1; level <= octree.depth; ++level)
      far.l2l(space, octree, level, locals, bodies);
  });
}

/// Far field of the bodies in `tiles` alone, set as `sums`, from multipoles that are there; lists need not have
/// entries but for those tiles' leaves and the cells above these. Local expansions, and what was in their memory, are
/// lost.
template <class Space, class Precision, class Out>
void set_far_field_of(Space const& space, FarField<Space, Precision, Out> const& far,
                      Workspace<Space, Precision>& memory, BodyTree<Space, Precision> const& tree,
                      InteractionLists<Space> const& lists, Array<Tile, Space> tiles,
                      Array<Sums<sum_t<Precision>>, Space> sums) {
  using Sum = sum_t<Precision>;
  auto const& octree = tree.octree;
  const BodySets<Space, Precision> sets{tree, tree};
  const std::size_t coefficients = far.coefficients(octree);
  const auto multipoles = memory.multipoles.view(coefficients);
  if (far.traits().has_locals) {
    const auto locals = memory.locals.resize(coefficients);
    set_locals(space, far, memory, sets, {tree.bodies, {}}, lists, multipoles, locals, nullptr);
    pass_locals_down(space, far, octree, locals, nullptr);
    far.l2p(space, octree, tiles, tree.bodies, locals, sums);
    if (lists.m2p.entries.extent(0) == 0) return;
  } else {
    for_range("fmm::far_field::clear", space, std::int64_t(tiles.extent(0)),
              ClearSums<Space, Sum>{tiles, sums});
  }
  far.m2p(space, memory, sets, tiles, lists.m2p, far.traits().has_locals ? Csr<Space>{} : lists.m2l,
          far.prepare(space, multipoles, memory.locals), sums);
}

}  // namespace fmm::engine
