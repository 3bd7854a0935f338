// SPDX-License-Identifier: BSD-3-Clause
// The evaluation: the order of the operators, and which memory they share. Depends neither on the expansion, which it
// knows as a FarField, nor on the pair kernel, except for its near field, nor on the traversal that made the lists.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "../inputs.hpp"
#include "../kernels/p2p/excluded_pairs.hpp"
#include "../kernels/p2p/p2p.hpp"
#include "../tree/lists/blocks.hpp"
#include "charges_stage.hpp"
#include "count_work.hpp"
#include "far_field.hpp"
#include "image_sources.hpp"
#include "images_at_bodies.hpp"
#include "near_field.hpp"
#include "plan_data.hpp"

namespace fmm::engine {

/// The results that are not None.
template <class Potential, class Field, class Hessian = None, int Densities = 1>
using OutputsOf = Outputs<!std::is_same_v<Potential, None>, !std::is_same_v<Field, None>, Densities,
                          !std::is_same_v<Hessian, None>>;

/// An evaluation on a tree, in steps that a caller composes: what stands between two steps may read and change
/// what the first has made.
///
///     evaluation.take_charges(charges)   charges into tree order
///     evaluation.upward(..)              P2M and M2M: evaluation.multipoles() of all the sources' cells
///     (lists, where they wait for charges or multipoles)
///     evaluation.interact()              M2L and P2L: evaluation.locals() of all the targets' cells
///     evaluation.downward()              L2L, L2P and M2P: evaluation.sums() of all targets
///     evaluation.near_field(..)          P2P, added to the sums
///     evaluation.give_results(..)        sums into the caller's order and units
///
/// Without local expansions (a treecode) interact does nothing, and downward adds M2P.
///
/// Out     what targets receive, Strengths what sources carry (kernels/strengths.hpp)
/// Shift   OneSet: targets are the sources, in their place; NoShift or GridShift: sources are another set, or the
///         same one at a shift (cells/sets.hpp)
///
/// Everything but near_field is the same for all expansions and pair kernels, and compiled once for them. Work is
/// asynchronous in `space` but for one reduction over the charges and, on a GPU, where rows of a list are so long that
/// they are cut.
template <class Space, class Precision, class Out, class Shift = OneSet,
          class Strengths = Charges<>>
class Evaluation {
  using Real = real_t<Precision>;
  using Sum = sum_t<Precision>;
  using Plan = PlanData<Space, Precision>;
  using Tree = BodyTree<Space, Precision>;
  using Sources = SourceStrengths<Space, Real, Strengths>;
  static constexpr bool one_set = std::is_same_v<Shift, OneSet>,
                        keeps_multipoles =
                            !one_set && Strengths::densities <= KeptMultipoles::most_densities;

 public:
  using Operators = FarField<Space, Precision, Out, Shift, Strengths>;

  /// On one set of bodies, with the plan's lists as they are when a step needs them.
  Evaluation(Space const& space, std::unique_ptr<Operators const> far, Plan& plan,
             KernelProfile kernel, Report* report) requires one_set
      : Evaluation(space, std::move(far), plan, plan, {}, plan.lists, std::move(kernel), report) {}

  /// On two, with these lists of build_lists_of_two. The sources' plan has the memory of their multipoles, the targets'
  /// plan that of everything else. The plans may be the same one, if there is a shift.
  Evaluation(Space const& space, std::unique_ptr<Operators const> far, Plan& targets, Plan& sources,
             Shift shift, InteractionLists<Space> const& lists, KernelProfile kernel,
             Report* report)
      : space_(space),
        far_(std::move(far)),
        targets_(targets.tree),
        sources_(sources.tree),
        shift_(shift),
        lists_(lists),
        plan_(targets),
        plan_of_sources_(sources),
        memory_(targets.memory),
        memory_of_sources_(sources.memory),
        kept_(sources.kept),
        kernel_(std::move(kernel)),
        length_(targets.tree.cube.edge),
        report_(report) {
    if (is_periodic() && !traits().takes_some_rows)
      throw InvalidArgument("periodic", 1, "not set, as yet, with matrix products");
  }

  /// (N) charges of the sources, or all strengths of each, into tree order. Throws InvalidArgument for charges that
  /// are not allowed, and for ranges that the results' types have no room for, before anything is written, unless
  /// check_strengths did.
  template <class Potential, class Field, class Hessian = None, class Charges>
  void take_charges(Charges const& charges,
                    DensityFacts<Strengths::densities> const* known = nullptr) {
    const bool clears = !traits().has_locals;  // else L2P sets the sums
    memory_.traversal.give_back();             // sums' memory, which a build's lists were made in
    kept_ = {};
    if constexpr (Strengths::numbers > 1)
      memory_of_sources_.others.resize(sources_.size * Sources::rows);
    facts_ = charges_stage<Potential, Field, Hessian>(
        space_, memory_of_sources_, sources_, kernel_, charges, sources(), clears && one_set,
        report_, one_set ? Out::records : 1, true, known);
    make_room_for_sums();
  }
  /// In the place of that: charges that are in the tree already.
  void has_charges(ChargeFacts const& charges) requires(Strengths::densities == 1) {
    facts_.of[0] = charges;
  }
  /// In the place of that and of upward, of two sets: strengths and multipoles of the sources' last evaluation. False
  /// if they are not there, or those of another expansion, or other strengths. Throws InvalidArgument for ranges that
  /// the results' types have no room for, before anything is written.
  template <class Potential, class Field, class Hessian = None>
  bool take_kept() {
    if constexpr (keeps_multipoles) {
      if (!kept_.mark || kept_.mark != traits().mark) return false;
      std::copy_n(kept_.of, Strengths::densities, facts_.of);
      check_density_ranges<Precision, Potential, Field, Hessian>(kernel_, sources_.cube, facts_);
      memory_.traversal.give_back();
      multipoles_ = memory_of_sources_.multipoles.view(far_->coefficients(sources_.octree));
      make_room_for_sums();
      took_kept_ = true;
    }
    return took_kept_;
  }

  /// The multipoles of all cells. `lists_follow`: the lists are made after them.
  void upward(bool lists_follow) {
    upward(lists_follow, [](auto const&, auto const&) { return false; });
  }
  /// The same with those of the leaves by set_leaves(far, multipoles), if it does and says so.
  template <class SetLeaves>
  void upward(bool lists_follow, SetLeaves const& set_leaves) {
    auto const& octree = sources_.octree;
    if (took_kept_) return;
    const std::size_t numbers = far_->coefficients(octree);
    // of several densities M2P's multipoles could not be kept by the entries of a list (keep_multipoles)
    const bool sums_come_later =
        one_set && Out::records == 1 && traits().has_locals &&
        (traits().only_m2l || (lists_follow ? numbers >= memory_.numbers_in_sums(sources_.size)
                                            : lists_.m2p.entries.extent(0) == 0));
    multipoles_ = memory_of_sources_.place_multipoles(numbers, sources_.size, sums_come_later);
    stage(space_, report_, "p2m", [&] {
      if (!set_leaves(*far_, multipoles_)) far_->p2m(space_, octree, sources(), multipoles_);
    });
    stage(space_, report_, "m2m", [&] {
      for (int level = octree.depth - 1; level >= 0; --level)
        far_->m2m(space_, octree, level, multipoles_);
      set_multipoles_of_images(space_, plan_of_sources_.periodic, octree, traits().row,
                               Strengths::densities, multipoles_);
    });
    if constexpr (keeps_multipoles) {
      kept_.mark = traits().mark;
      std::copy_n(facts_.of, Strengths::densities, kept_.of);
    }
  }
  /// A row of FarFieldTraits::row numbers a cell; from upward to interact, in a treecode to downward.
  Array<Real, Space> multipoles() const { return multipoles_; }

  /// A treecode's sums are zero before downward; lists that were tried have left theirs there.
  void clear_sums() {
    if (!traits().has_locals) fill(space_, sums(), Sums<Sum>{});
  }
  /// What acts on the cells themselves, as local expansions.
  void interact() {
    if (sources_.octree.images.rest > 0)
      stage(space_, report_, "charges",
            [&] { with_images_ = place_bodies_of_images(space_, plan_of_sources_, sources()); });
    if (!traits().has_locals) return;
    keeps_ = one_set && has_m2p() && memory_.are_in_sums();
    if (keeps_) {  // M2P comes after L2P, which sets the sums
      memory_.multipoles.lend({});
      stage(space_, report_, "m2p",
            [&] { prepared_ = far_->keep(space_, lists_.m2p, multipoles_, memory_.multipoles); });
    }
    const std::size_t numbers = far_->coefficients(targets_.octree);
    if (has_m2p() && !keeps_)  // prepared multipoles come into the same memory
      memory_.locals.resize(std::max(
          numbers, far_->prepared_numbers(sources_.octree.cells.extent(0) * Strengths::densities)));
    locals_ = memory_.locals.resize(numbers);
    choose_rows();
    set_locals(space_, *far_, memory_, sets(), near_sources(), lists(), multipoles_, locals_,
               report_);
    if (is_periodic()) stage(space_, report_, "m2l", [&] { add_images(locals_); });
  }
  /// As multipoles, from interact to downward.
  Array<Real, Space> locals() const { return locals_; }

  /// The far field's sums of all bodies, in units of the cube.
  void downward() {
    pass_down();
    if (is_periodic())
      stage(space_, report_, "l2p", [&] {
        add_surroundings<Out>(space_, plan_, plan_of_sources_, sources(), facts_, background_,
                              plan_.tiles().tiles, sums());
      });
  }
  /// Of all targets in tree order, Out::records each; from downward on.
  Array<Sums<Sum>, Space> sums() const { return memory_.sums.view(targets_.size * Out::records); }

  /// Adds the near field, with P2P in a precision of its own.
  template <class PairPrecision = Precision, class Kernel>
  void near_field(Kernel const& kernel, Options const& options) {
    stage(space_, report_, "p2p", [&] {
      add_near_field<Out, PairPrecision>(
          space_, memory_, sets(), near_sources(), in_units_of(length_, kernel), plan_.tiles(),
          lists_.p2p, sums(), options, options.tolerance && options.error_norm == ErrorNorm::l2);
    });
  }

  /// The same without the pairs of kernels::ExcludedRows, of one set; those in the far field are taken off.
  template <class PairPrecision = Precision, class Kernel, class Rows>
  void near_field_without(Rows const& rows, Kernel const& kernel,
                          Options const& options) requires one_set {
    using Memory = typename Space::memory_space;
    const auto far_sums = memory_.exclusions.far_sums.resize(sums().extent(0));
    copy_bytes<Memory, Memory>(space_, sums().data(), far_sums.data(),
                               far_sums.extent(0) * sizeof(Sums<Sum>));
    near_field<PairPrecision>(kernel, options);
    stage(space_, report_, "p2p", [&] {
      kernels::leave_out_pairs<Out>(
          space_, targets_.size, in_units_of(length_, kernel),
          kernels::TreePlaces<Space, Real>{targets_.octree.cells, lists_.p2p, targets_.bodies,
                                           targets_.low},
          rows, sources(), 1.0, far_sums, sums());
    });
  }

  /// (N) potential, (N,3) field and (N,6) Hessian of the targets, or None; of several densities (N,K), (N,K,3) and
  /// (N,K,6).
  template <class Potential, class Field, class Hessian = None>
  void give_results(Potential const& potential, Field const& field, Hessian const& hessian = {}) {
    results_stage<Out>(space_, plan_, sums(), kernel_, length_, facts_.units(),
                       Results<Potential, Field, Hessian>{potential, field, hessian}, report_);
    if (with_images_)
      with_images_->tree.octree = sources_.octree;  // which may have got more images
    if (report_)
      count_tree_work(space_, *far_, memory_, sets(), lists(), *report_, took_kept_,
                      plan_.chosen.bodies);
  }

 private:
  void pass_down() {
    auto const& octree = targets_.octree;
    if (traits().has_locals) {
      pass_locals_down(space_, *far_, octree, locals_, report_, plan_.chosen.bodies);
      stage(space_, report_, "l2p", [&] {
        far_->l2p(space_, octree, plan_.tiles().tiles, targets_.bodies, locals_, sums());
      });
      if (!has_m2p()) return;
    } else if (is_periodic()) {
      stage(space_, report_, "l2p", [&] {
        background_ = set_far_images(space_, *far_, plan_, plan_of_sources_, sources(), multipoles_,
                                     plan_.tiles().tiles, sums());
      });
    }
    stage(space_, report_, "m2p", [&] {
      if (!keeps_) prepared_ = far_->prepare(space_, multipoles_, memory_.locals);
      far_->m2p(space_, memory_, sets(), plan_.tiles(), lists_.m2p,
                traits().has_locals ? Csr<Space>{} : lists_.m2l, prepared_, sums());
    });
  }
  void add_images(Array<Real, Space> locals) {
    background_ = add_far_images(space_, plan_of_sources_.periodic.cells(sources_.octree),
                                 plan_.periodic.cells(targets_.octree), plan_.periodic, memory_,
                                 sources_.octree, sources(), traits().row, multipoles_, locals);
  }
  void make_room_for_sums() {
    if constexpr (!one_set) {
      memory_.sums.resize(targets_.size * Out::records);
      if (!traits().has_locals) fill(space_, sums(), Sums<Sum>{});
    }
  }
  /// Of chosen targets, the rows of lists that end in local expansions.
  void choose_rows() {
    if (plan_.chosen.are_all || !traits().takes_some_rows) return;
    stage(space_, report_, "targets", [&] {
      auto& memory = memory_.chosen;
      chosen_lists_ = {chosen_rows(space_, lists_.m2l, plan_.chosen.bodies, memory.m2l),
                       chosen_rows(space_, lists_.p2l, plan_.chosen.bodies, memory.p2l), lists_.m2p,
                       lists_.p2p};
    });
  }
  InteractionLists<Space> const& lists() const {
    return chosen_lists_.p2p.offsets.extent(0) > 0 ? chosen_lists_ : lists_;
  }
  FarFieldTraits const& traits() const { return far_->traits(); }
  bool is_periodic() const { return plan_.periodic.far != nullptr; }
  bool has_m2p() const { return !traits().only_m2l && lists_.m2p.entries.extent(0) > 0; }
  Sources sources() const { return {sources_.bodies, memory_of_sources_.others.view()}; }
  /// The same with the bodies of images, from interact on.
  Sources near_sources() const { return with_images_ ? with_images_->strengths : sources(); }
  BodySets<Space, Precision, Shift> sets() const {
    auto const& sources = with_images_ ? with_images_->tree : sources_;
    if constexpr (one_set)
      return {sources, sources, shift_};
    else
      return {targets_, sources, shift_};
  }

  Space space_;
  std::unique_ptr<Operators const> far_;
  Tree& targets_;
  Tree& sources_;  ///< in which charges are put
  Shift shift_;
  InteractionLists<Space> const& lists_;
  InteractionLists<Space> chosen_lists_;  ///< if there are chosen rows
  Plan &plan_, &plan_of_sources_;         ///< that of the targets, and the sources'
  Workspace<Space, Precision>&memory_, &memory_of_sources_;
  KeptMultipoles& kept_;
  bool took_kept_ = false;
  KernelProfile kernel_;
  double length_;  ///< unit of length of the sums: the edge of the root
  Report* report_;
  std::optional<SourcesWithImages<Space, Precision, Strengths>> with_images_;
  DensityFacts<Strengths::densities> facts_;  ///< of the charges
  Array<Real, Space> multipoles_, locals_;
  Array<double, Space> background_;  ///< background_sums, of a plan in a periodic cell
  bool keeps_ = false;               ///< whether M2P's multipoles were kept before L2P
  PreparedMultipoles<Space, Real> prepared_;
};

}  // namespace fmm::engine
