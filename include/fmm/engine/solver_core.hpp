// SPDX-License-Identifier: BSD-3-Clause
// The core of a solver: everything but its expansions, which it knows as a few facts and as a function that makes a
// FarField. Compiled once for all orders and translations.
#pragma once

#include <atomic>
#include <cstdint>

#include "clocks.hpp"
#include "evaluation_ends.hpp"
#include "excluded_pairs.hpp"
#include "plan_maker.hpp"

namespace fmm::engine {

/// Makes the operators of the kernel's expansion in trees over a cube, for results that are a kernels::Outputs.
template <class Kernel, class Space, class Precision, class Out, class Shift = OneSet,
          class Strengths = Charges<>>
using MakeFarField = std::unique_ptr<FarField<Space, Precision, Out, Shift, Strengths> const> (*)(
    Kernel const&, Cube const&);
/// For what is at the ends of an evaluation.
template <class Kernel, class Space, class Precision, class Ends, class Shift = OneSet>
using MakeFarFieldFor =
    MakeFarField<Kernel, Space, Precision, typename Ends::Out, Shift, typename Ends::Strengths>;

/// What makes plans, and the steps of an evaluation.
///
/// Kernel, Precision, Space   as of Solver
/// Traversal                  DirectSum, or that of a Treecode or an Fmm
/// PairPrecision              of a tree's P2P
template <class Kernel, class Traversal, class Precision, class Space,
          class PairPrecision = Precision>
class SolverCore : public PlanMaker<Kernel, Traversal, Precision, Space, PairPrecision> {
  using Base = PlanMaker<Kernel, Traversal, Precision, Space, PairPrecision>;
  using Base::check_lists, Base::checked_lists, Base::kernel_, Base::options_, Base::refuse_chosen;
  using Real = real_t<Precision>;
  static constexpr bool is_direct = std::is_same_v<Traversal, DirectSum>,
                        uses_charges = traits_v<Traversal>.uses_charges,
                        uses_powers = traits_v<Traversal>.uses_powers;

 public:
  using Base::Base, Base::far_field, Base::memory_bytes, Base::powers_of;
  using typename Base::Data;

  /// Throws InvalidArgument unless the arrays at the ends have the plan's size, and the plan's lists serve this solver.
  template <class Ends>
  void check(Data const& plan, Ends const& ends) const {
    const std::int64_t n = plan.tree.size;
    if (plan.chosen.are_all)
      ends.template check<Space>(n);
    else
      ends.template check<Space>(plan.targets(), n);
    if (n > 0) check_lists(plan);
  }
  /// The lists of a criterion that uses charges, once the plan has these and, if it uses powers, `multipoles`. False if
  /// periodic images had to be made for them: then multipoles are to be made again, and lists after them.
  bool list(Space const& space, Data& data, Array<Real, Space> multipoles, Report* report) {
    const HostThread<Space> thread(space);
    if constexpr (uses_powers) {
      stage(space, report, "lists", [&] {
        const auto measures = measures_by_powers<Traversal, PairPrecision>(
            space, powers_of(data.tree.cube), data, kernel_, options_, far_field(), multipoles);
        data.lists = build_dual_lists<Traversal>(space, data.memory, data.tree, options_,
                                                 far_field(), measures);
      });
      if (report) add_list_work(*report, data.lists);
    } else {
      data.lists =
          lists_stage<Traversal>(space, data.memory, data.tree, options_, far_field(), report);
    }
    return !open_wanted_images<Traversal>(space, data.memory, data.tree.octree, data.lists);
  }

  /// Solver::evaluate; with DirectSum there are no operators. `ends` are EvaluationEnds or have the same functions.
  template <class Ends>
  void evaluate(Space const& space, Data& data,
                MakeFarFieldFor<Kernel, Space, Precision, Ends> operators, Ends const& ends,
                Report* report) {
    if constexpr (is_direct)
      evaluate_pairs(space, data, ends, report, nullptr);
    else
      evaluate_once(space, data, operators, ends, report, [&](auto& steps) {
        steps.template near_field<PairPrecision>(kernel_, options_);
      });
  }
  /// The same without some pairs.
  template <class Ends, class SomeExclusions>
  void evaluate_without(SomeExclusions const& exclusions, Space const& space, Data& data,
                        MakeFarFieldFor<Kernel, Space, Precision, Ends> operators, Ends const& ends,
                        Report* report) {
    const HostThread<Space> thread(space);
    if (this->cell_) this->refuse_periodic("exclusions");
    check(data, ends);
    using Rows = decltype(take_exclusions(space, data.memory, data.tree, exclusions));
    Rows rows;
    stage(space, report, "exclusions",
          [&] { rows = take_exclusions(space, data.memory, data.tree, exclusions); });
    if constexpr (is_direct) {
      const EvaluationClock clock(space, report);
      if (data.targets() == 0) return;
      ends.pairs_without(rows, space, data, kernel_, report);
      clock.stop(memory_bytes());
    } else {
      evaluate_once(space, data, operators, ends, report, [&](auto& steps) {
        steps.template near_field_without<PairPrecision>(rows, kernel_, options_);
      });
    }
  }
  /// The same with multipoles that `upward(steps)` makes, near fields that `add_near(steps)` adds, and, where the
  /// criterion uses charges, lists that `list(multipoles)` makes, unless it says that multipoles have to be made again;
  /// all again, from the multipoles on, until `accept(sums)`, before anything is given.
  template <class Ends, class Upward, class List, class AddNear, class Accept>
  void evaluate_listed(Space const& space, Data& data,
                       MakeFarFieldFor<Kernel, Space, Precision, Ends> operators, Ends const& ends,
                       Report* report, Upward const& upward, List const& list,
                       AddNear const& add_near, Accept const& accept) {
    const HostThread<Space> thread(space);
    check(data, ends);
    const EvaluationClock clock(space, report);
    if (data.targets() == 0) return;
    Evaluation<Space, Precision, typename Ends::Out, OneSet, typename Ends::Strengths> steps(
        space, operators(kernel_, data.tree.cube), data, profile_of(kernel_), report);
    ends.take(steps);
    do {
      do upward(steps);
      while (!list(steps.multipoles()));
      if constexpr (uses_powers) steps.clear_sums();
      steps.interact();
      steps.downward();
      add_near(steps);
    } while (!accept(steps.sums()));
    ends.give(steps);
    clock.stop(memory_bytes());
  }

  /// The same of two sets. Multipoles are kept for the next evaluation by this solver.
  template <class Ends>
  void evaluate(Space const& space, TwoSetData<Space, Precision>& data,
                MakeFarFieldFor<Kernel, Space, Precision, Ends, NoShift> operators,
                Ends const& ends, Report* report) {
    const HostThread<Space> thread(space);
    auto const& [targets, sources, lease] = data;
    const std::int64_t m = targets->tree.size, n = sources->tree.size;
    ends.template check<Space>(m, n);
    checked_lists(data);
    const EvaluationClock clock(space, report);
    if ((m == 0 && !ends.unchanged) || sources->kept.solver != number_) sources->kept = {};
    if (m == 0) return;
    if (n == 0) {
      ends.give_nothing(space, m);
    } else if constexpr (is_direct) {
      ends.all_pairs(space, data, kernel_, report);
    } else {
      Evaluation<Space, Precision, typename Ends::Out, NoShift, typename Ends::Strengths> steps(
          space, operators(kernel_, targets->tree.cube), *targets, *sources, {}, targets->lists,
          profile_of(kernel_), report);
      ends.take(steps);
      steps.upward(false);
      sources->kept.solver = number_;
      if (!ends.are_all) sources->kept = {};  // the last block's are not those of all
      steps.interact();
      steps.downward();
      steps.template near_field<PairPrecision>(kernel_, options_);
      ends.give(steps);
    }
    clock.stop(memory_bytes());
  }

  /// Solver::evaluate by all pairs: the sums of all bodies, or of a sample.
  template <class Ends>
  void evaluate_pairs(Space const& space, Data& data, Ends const& ends, Report* report,
                      TileSample<Space> const* sample,
                      SeePairs<Space, Precision, Kernel> const& see = {}) {
    const HostThread<Space> thread(space);
    check(data, ends);
    const EvaluationClock clock(space, report);
    if (data.targets() == 0) return;
    ends.all_pairs(space, data, kernel_, sample, report, see);
    clock.stop(memory_bytes());
  }

  /// Solver::evaluate of a batch.
  template <class Ends>
  void evaluate_batch(Space const& space, Data& data, Ends const& ends, Report* report) {
    const HostThread<Space> thread(space);
    ends.template check<Space>(data.tree.size);
    const EvaluationClock clock(space, report);
    if (data.tree.size == 0) return;
    ends.batch(space, data, kernel_, report);
    clock.stop(memory_bytes());
  }

  /// Solver::evaluate_sample. Returns the numbers of the sampled bodies.
  template <class Ends>
  Kokkos::View<BodyIndex*, Device<Space>> evaluate_sample(Space const& space, Data& data,
                                                          Ends const& ends, std::int64_t samples,
                                                          Report* report) {
    const HostThread<Space> thread(space);
    if (samples <= 0) throw InvalidArgument("samples", double(samples), "1 or more");
    refuse_chosen(data, "a sample");
    check(data, ends);
    if (data.tree.size == 0) return {};
    const TileSample<Space> sample(space, data.tree.octree.tiles, data.tree.permutation, samples);
    evaluate_pairs(space, data, ends, report, &sample);
    return sample.bodies;
  }

 private:
  /// On a tree, with near fields that `add_near(steps)` adds.
  template <class Ends, class AddNear>
  void evaluate_once(Space const& space, Data& data,
                     MakeFarFieldFor<Kernel, Space, Precision, Ends> operators, Ends const& ends,
                     Report* report, AddNear const& add_near) {
    evaluate_listed(
        space, data, operators, ends, report, [](auto& steps) { steps.upward(uses_charges); },
        [&](Array<Real, Space> multipoles) {
          if constexpr (uses_charges) return list(space, data, multipoles, report);
          return true;
        },
        add_near, [](auto const&) { return true; });
  }
  /// A number of its own for each core, but copies, which have the same options and kernel.
  static std::uint64_t next_number() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
  }

  std::uint64_t number_ = next_number();
};

}  // namespace fmm::engine
