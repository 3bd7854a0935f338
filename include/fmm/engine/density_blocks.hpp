// SPDX-License-Identifier: BSD-3-Clause
// Evaluations of several densities: charges (N,K) of the same sources, summed in blocks of 8, 4 and 1 of them, whose
// pairs share distances and whose cells share rotations.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "../detail/host_thread.hpp"
#include "evaluation_ends.hpp"

namespace fmm::engine {

/// Whether these are of several densities: (N,K) charges, or fmm::Strengths with (N,K,3) dipoles.
template <class Charges>
inline constexpr bool has_densities_v = Charges::rank == 2;
template <class Charges, class Dipoles>
inline constexpr bool has_densities_v<fmm::Strengths<Charges, Dipoles>> = Dipoles::rank == 3;

/// Whether the Views have the dimensions of several densities, or are none.
template <int Rank, class... Views>
inline constexpr bool have_rank_v = [] {
  const auto fits = []<class View>(std::type_identity<View>) {
    if constexpr (std::is_same_v<View, None>)
      return true;
    else
      return int(View::rank) == Rank;
  };
  return (fits(std::type_identity<Views>()) && ...);
}();
template <class Charges>
struct DensityRanks {
  static constexpr bool fit = have_rank_v<2, Charges>;
};
template <class Charges, class Dipoles>
struct DensityRanks<fmm::Strengths<Charges, Dipoles>> {
  static constexpr bool fit = have_rank_v<2, Charges> && have_rank_v<3, Dipoles>;
};

/// Calls visit(size, first, count) for blocks of densities: `size` is a std::integral_constant, of which `count` are
/// there. Three of four and six of eight cost less than one by one, and four and one less than five of eight.
template <int Most, class Visit>
void for_density_blocks(int densities, Visit const& visit) {
  int first = 0;
  while (first < densities) {
    const int left = densities - first;
    const auto take = [&]<int Size>(std::integral_constant<int, Size> size) {
      visit(size, first, std::min(left, Size));
      first += Size;
    };
    if (Most >= 8 && left >= 6)
      take(std::integral_constant<int, std::min(Most, 8)>());
    else if (left >= 3)
      take(std::integral_constant<int, 4>());
    else
      take(std::integral_constant<int, 1>());
  }
}

inline None block_of(None, int, int) { return {}; }
template <class View>
kernels::DensityBlock<View> block_of(View const& all, int first, int count) {
  return {all, first, count};
}
template <class Charges, class Dipoles>
auto block_of(fmm::Strengths<Charges, Dipoles> const& all, int first, int count) {
  const auto charges = block_of(all.charges, first, count);
  const auto dipoles = block_of(all.dipoles, first, count);
  return fmm::Strengths<std::remove_const_t<decltype(charges)>,
                        std::remove_const_t<decltype(dipoles)>>{charges, dipoles};
}

/// Arrays of several densities that an evaluation was called with, and their checks. `targets` and `sources`: how many
/// of each the plan has, and what they are called.
class DensityChecks {
 public:
  struct Set {
    std::int64_t size;
    char const* name;
  };

  DensityChecks(Set targets, Set sources) : targets_(targets), sources_(sources) {}

  /// How many densities. Throws InvalidArgument unless all arrays have them, of so many bodies, in memory of their own.
  template <class Space, class Charges, class Potential, class Field, class Hessian>
  int check(Charges const& charges, Results<Potential, Field, Hessian> const& results) {
    check_strengths<Space>(charges);
    check_result<Space>("potential", results.potential, 1);
    check_result<Space>("field", results.field, 3);
    check_result<Space>("hessian", results.hessian, 6);
    check_no_overlap("field", results.field, "potential", results.potential);
    check_no_overlap("hessian", results.hessian, "potential", results.potential);
    check_no_overlap("hessian", results.hessian, "field", results.field);
    check_apart(charges, results);
    return int(densities_);
  }

 private:
  template <class Space, class Charges>
  void check_strengths(Charges const& charges) {
    check_numbers_of<Space, Charges>();
    check_extents("charges", charges, sources_, 1);
  }
  template <class Space, class Charges, class Dipoles>
  void check_strengths(fmm::Strengths<Charges, Dipoles> const& strengths) {
    check_numbers_of<Space, Charges>();
    check_numbers_of<Space, Dipoles>();
    check_extents("dipoles", strengths.dipoles, sources_, 3);
    check_extents("charges", strengths.charges, sources_, 1);
  }
  template <class Space, class View>
  static constexpr void check_numbers_of() {
    if constexpr (!std::is_same_v<View, None>) static_assert(check_numbers<Space, View>());
  }
  template <class Space, class Result>
  void check_result(char const* name, Result const& result, int row) {
    check_numbers_of<Space, Result>();
    static_assert(check_is_written<Result>());
    check_extents(name, result, targets_, row);
  }
  template <class View>
  void check_extents(char const* name, View const& view, Set set, int row) {
    if constexpr (!std::is_same_v<View, None>) {
      if (std::int64_t(view.extent(0)) != set.size)
        refuse_size(name, view.extent(0), set.size, set.name);
      if (densities_ < 0) {
        densities_ = std::int64_t(view.extent(1));
        of_densities_ = name;
      }
      if (std::int64_t(view.extent(1)) != densities_)
        refuse_extent(
            name, 1, view.extent(1),
            "that of the " + std::string(of_densities_) + ", " + std::to_string(densities_));
      if constexpr (View::rank == 3)
        if (view.extent(2) != std::size_t(row))
          refuse_extent(name, 2, view.extent(2), std::to_string(row));
    }
  }
  /// The first block's results are there before the last one's strengths are read.
  template <class Charges, class SomeResults>
  static void check_apart(Charges const& charges, SomeResults const& results) {
    if constexpr (std::is_same_v<Charges, None>) return;
    check_apart_from("charges", charges, results);
  }
  template <class Charges, class Dipoles, class SomeResults>
  static void check_apart(fmm::Strengths<Charges, Dipoles> const& strengths,
                          SomeResults const& results) {
    check_apart_from("charges", strengths.charges, results);
    check_apart_from("dipoles", strengths.dipoles, results);
  }
  template <class View, class SomeResults>
  static void check_apart_from(char const* name, View const& view, SomeResults const& results) {
    check_no_overlap("potential", results.potential, name, view);
    check_no_overlap("field", results.field, name, view);
    check_no_overlap("hessian", results.hessian, name, view);
  }

  Set targets_, sources_;
  std::int64_t densities_ = -1;
  char const* of_densities_ = "charges";
};

/// What an evaluation of several densities knows of its plan.
template <class Space, class Precision>
DensityChecks checks_of(PlanData<Space, Precision> const& plan) {
  return {{plan.targets(), plan.chosen.are_all ? "bodies" : "targets"}, {plan.tree.size, "bodies"}};
}
template <class Space, class Precision>
DensityChecks checks_of(TwoSetData<Space, Precision> const& plan) {
  return {{plan.targets->tree.size, "targets"}, {plan.sources->tree.size, "sources"}};
}
template <class Space, class Precision>
Cube const& cube_of(PlanData<Space, Precision> const& plan) {
  return plan.tree.cube;
}
template <class Space, class Precision>
Cube const& cube_of(TwoSetData<Space, Precision> const& plan) {
  return plan.sources->tree.cube;
}

/// evaluate(ends) for each block of the densities, at most `Most` of them, whose strengths are all checked before:
/// throws InvalidArgument then. The arrays have the dimensions of several densities.
template <class Precision, int Most, class Space, class Data, class Charges, class Potential,
          class Field, class Hessian, class Evaluate>
void evaluate_blocks(Space const& space, Data const& plan, KernelProfile const& kernel,
                     Charges const& charges, Results<Potential, Field, Hessian> const& results,
                     bool unchanged, Report* report, Evaluate const& evaluate) {
  const int densities = checks_of(plan).template check<Space>(charges, results);
  std::vector<ChargeFacts> facts;
  const auto inspect = [&]<int Size>(std::integral_constant<int, Size>, int first, int count) {
    using Strengths = typename StrengthsOf<Charges, Size>::type;
    const HostThread<Space> thread(space);
    const auto of_block = check_strengths<Precision, Strengths, Potential, Field, Hessian>(
        space, cube_of(plan), kernel, block_of(charges, first, count));
    facts.insert(facts.end(), of_block.of, of_block.of + Size);
  };
  for_density_blocks<Most>(densities, inspect);
  auto next = facts.cbegin();
  std::int64_t not_finite = 0;
  for_density_blocks<Most>(densities, [&]<int Size>(std::integral_constant<int, Size>, int first,
                                                    int count) {
    DensityFacts<Size> of_block;
    std::copy_n(next, Size, of_block.of);
    next += Size;
    const auto strengths = block_of(charges, first, count);
    const auto potential = block_of(results.potential, first, count);
    const auto field = block_of(results.field, first, count);
    const auto hessian = block_of(results.hessian, first, count);
    evaluate(EvaluationEnds<
             std::remove_const_t<decltype(strengths)>, std::remove_const_t<decltype(potential)>,
             std::remove_const_t<decltype(field)>, std::remove_const_t<decltype(hessian)>, Size>{
        strengths, potential, field, hessian, &of_block, unchanged && densities == count,
        densities == count});
    if (report) not_finite += report->not_finite;
  });
  if (report) report->not_finite = not_finite;
}

/// The same of any arrays: says what is wrong with them, and nothing else.
template <class Precision, int Most, class Space, class Data, class Charges, class Potential,
          class Field, class Hessian, class Evaluate>
void evaluate_densities(Space const& space, Data const& plan, KernelProfile const& kernel,
                        Charges const& charges, Results<Potential, Field, Hessian> const& results,
                        bool unchanged, Report* report, Evaluate const& evaluate) {
  using Wanted = OutputsOf<Potential, Field, Hessian>;
  constexpr bool is_wanted = Wanted::potential || Wanted::field || Wanted::hessian;
  static_assert(is_wanted, "fmm: at least one of potential, field and Hessian must be wanted");
  constexpr bool fits =
      DensityRanks<Charges>::fit && have_rank_v<2, Potential> && have_rank_v<3, Field, Hessian>;
  static_assert(fits,
                "fmm: of several densities charges and potentials are Views of rank 2, (N, K); "
                "dipoles, fields and Hessians of rank 3, (N, K, 3) and (N, K, 6)");
  if constexpr (is_wanted && fits)
    evaluate_blocks<Precision, Most>(space, plan, kernel, charges, results, unchanged, report,
                                     evaluate);
}

}  // namespace fmm::engine
