// SPDX-License-Identifier: BSD-3-Clause
// The far field of one expansion: its operators behind the interface that evaluations know. What is compiled anew for
// another order, translation or kernel's own expansion is here.
#pragma once

#include "../kernels/l2l.hpp"
#include "../kernels/l2p.hpp"
#include "../kernels/m2m.hpp"
#include "../kernels/m2p.hpp"
#include "../kernels/p2l.hpp"
#include "../kernels/p2m.hpp"
#include "far_field.hpp"
#include "m2l_scheme.hpp"
#include "plan_data.hpp"

namespace fmm::engine {

/// The results that L2P works out for those wanted. On a host fields come with their potentials, which the same
/// polynomial gives, so that one piece of code serves both. (M2P of low order would be 2 to 3 % slower.)
template <class Space, class Out>
struct OfL2P {
  using type = Out;
};
template <class Space, int Densities, bool Hessian>
  requires is_host_space_v<Space>
struct OfL2P<Space, Outputs<false, true, Densities, Hessian>> {
  using type = Outputs<true, true, Densities, Hessian>;
};

/// Expansion   an expansion (kernels/expansion.hpp), of which a FarFieldOf holds an object
/// M2LScheme   how M2L is done (m2l_scheme.hpp); NoM2L: a treecode
///
/// An operator that the scheme has no use for does nothing, and is not compiled.
template <class Expansion, class M2LScheme, class Space, class Precision, class Out,
          class Shift = OneSet, class Strengths = Charges<>>
class FarFieldOf final : public FarField<Space, Precision, Out, Shift, Strengths> {
  using Base = FarField<Space, Precision, Out, Shift, Strengths>;
  using typename Base::Bodies;
  using typename Base::BodySums;
  using typename Base::Memory;
  using typename Base::Numbers;
  using typename Base::Prepared;
  using typename Base::Real;
  using typename Base::Sets;
  using typename Base::Sources;
  using typename Base::Tree;
  static constexpr bool has_locals = has_locals_v<M2LScheme>, only_m2l = has_only_m2l_v<M2LScheme>,
                        has_m2p = !has_locals || !only_m2l;
  static constexpr bool has_l2p = requires(basis_t<Expansion> const& basis, Real const* S) {
    basis.template l2p<true, true>(Real(0), Real(0), Real(0), S);
  };
  static constexpr int densities = Strengths::densities;
  static_assert(densities == Out::densities,
                "fmm: sources' strengths and targets' outputs are of as many densities");

 public:
  explicit FarFieldOf(Expansion const& expansion)
      : Base({row_length(Expansion::size), has_locals, only_m2l, takes_some_rows_v<M2LScheme>,
              &multipoles_mark<basis_t<Expansion>, Strengths>}),
        expansion_(expansion) {}

  void p2m(Space const& space, Tree const& tree, Sources const& sources,
           Numbers multipoles) const override {
    for (int d = 0; d < densities; ++d)
      kernels::p2m<Expansion>(space, tree.cells, tree.leaves, sources, of(multipoles, d), d,
                              expansion_);
  }
  bool p2m_rounded_once(Space const& space, Tree const& tree, Array<Body<double>, Space> bodies,
                        Buffer<double, Space>& memory, Numbers multipoles) const override {
    constexpr bool can = std::is_same_v<Precision, Mixed> && Strengths::numbers == 1 &&
                         !std::is_void_v<in_double_t<basis_t<Expansion>>>;
    if constexpr (can)
      kernels::p2m_rounded_once<Expansion>(space, tree.cells, tree.leaves, bodies, memory,
                                           multipoles);
    return can;
  }
  void m2m(Space const& space, Tree const& tree, int level, Numbers multipoles) const override {
    for (int d = 0; d < densities; ++d)
      kernels::m2m<Expansion>(space, tree.cells, tree.parents_of(level), of(multipoles, d),
                              expansion_);
  }

  void m2l(Space const& space, Memory& memory, Sets const& sets, Csr<Space> list,
           Numbers multipoles, Numbers locals) const override {
    constexpr bool shares_pairs = densities > 1 && requires {
      M2LScheme::template m2l_of_densities<Expansion, densities>(space, sets.cells(), list,
                                                                 multipoles, locals, expansion_);
    };
    if constexpr (has_locals && shares_pairs)
      M2LScheme::template m2l_of_densities<Expansion, densities>(space, sets.cells(), list,
                                                                 multipoles, locals, expansion_);
    else if constexpr (has_locals)
      for (int d = 0; d < densities; ++d)
        M2LScheme::template m2l<Expansion>(space, memory, sets.cells(), list, of(multipoles, d),
                                           of(locals, d), expansion_);
  }
  void p2l(Space const& space, Sets const& sets, Csr<Space> list, Sources const& sources,
           Numbers locals) const override {
    if constexpr (has_locals && !only_m2l && has_p2l<basis_t<Expansion>>())
      for (int d = 0; d < densities; ++d)
        kernels::p2l<Expansion>(space, sets.cells(), list, sources, of(locals, d), d, expansion_);
  }

  void l2l(Space const& space, Tree const& tree, int level, Numbers locals,
           Array<BodyIndex, Space> bodies) const override {
    if constexpr (has_locals)
      for (int d = 0; d < densities; ++d)
        kernels::l2l<Expansion>(space, tree.cells, tree.level_begin[level],
                                tree.level_begin[level + 1], of(locals, d), bodies, expansion_);
  }
  void l2p(Space const& space, Tree const& tree, Array<Tile, Space> tiles, Bodies bodies,
           Numbers locals, BodySums sums) const override {
    using Wanted = typename OfL2P<Space, Out>::type;
    constexpr bool can =
        has_locals || has_l2p;  // a treecode has one of the root in a periodic cell
    if constexpr (can && densities == 1)
      kernels::l2p<Expansion, Wanted>(space, tree.cells, tiles, bodies, locals, sums, 0,
                                      expansion_);
    else if constexpr (can)
      kernels::l2p_of_densities<Expansion, Wanted>(space, tree.cells, tiles, bodies, locals, sums,
                                                   expansion_);
  }

  std::size_t prepared_numbers(std::size_t cells) const override {
    return kernels::prepared_numbers<Expansion>(cells);
  }
  Prepared prepare(Space const& space, Numbers multipoles,
                   Buffer<Real, Space>& memory) const override {
    if constexpr (has_m2p)
      return prepare_multipoles<Expansion>(space, multipoles, memory, expansion_);
    else
      return {};
  }
  Prepared keep(Space const& space, Csr<Space> list, Numbers multipoles,
                Buffer<Real, Space>& memory) const override {
    if constexpr (has_m2p && has_locals)
      return keep_multipoles<Expansion>(space, list, multipoles, memory, expansion_);
    else
      return {};
  }
  void m2p(Space const& space, Memory& memory, Sets const& sets, TargetTiles<Space> tiles,
           Csr<Space> near, Csr<Space> far, Prepared const& prepared,
           BodySums sums) const override {
    if constexpr (has_m2p)
      kernels::m2p<Expansion, Out>(space, sets.cells(), tiles.tiles, near, far, sets.targets.bodies,
                                   prepared, sums,
                                   split_long_rows(space, memory, sets.targets.octree, tiles, near,
                                                   Tuning<Space, Real>::m2p_segment, Out::records),
                                   expansion_);
  }

  OperatorFlops flops() const override {
    OperatorFlops flops = body_flops_of<Out, Strengths, Real, basis_t<Expansion>>(expansion_);
    const OperatorFlops translations = translation_flops<Expansion, Real>(expansion_);
    flops.m2m = translations.m2m;
    flops.m2l = translations.m2l;
    flops.l2l = translations.l2l;
    return flops;
  }
  void count_m2l(Space const& space, Memory const& memory, Csr<Space> list,
                 Report& report) const override {
    if constexpr (has_locals)
      for (int d = 0; d < densities; ++d)
        M2LScheme::template count<Expansion>(space, memory, list, report, expansion_);
  }

 private:
  /// The expansions of density d.
  static Numbers of(Numbers all, int d) { return plane(all, d, densities); }

  Expansion expansion_;
};

}  // namespace fmm::engine
