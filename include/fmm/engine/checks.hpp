// SPDX-License-Identifier: BSD-3-Clause
// The checks at the compile-time door: each says in words what a policy or a View lacks.
#pragma once

#include "../inputs.hpp"
#include "../kernels/check_expansion.hpp"
#include "../methods.hpp"
#include "../precision.hpp"

namespace fmm {

/// A scheme for M2M, M2L and L2L of spherical-harmonic expansions.
template <class T>
concept TranslationScheme = requires(double x, double* a) {
  T::template m2m<2>(x, x, x, a);
  T::template m2l<2>(x, x, x, x, x, a);
  T::template l2l<2>(x, x, x, a);
};

/// A pair kernel that a tree can be used with: 1/r in any unit of length, or an expansion of its own.
template <class Kernel, int Order, class Real, class Translation>
concept ExpandableKernel = PairKernel<Kernel> &&
    ((HarmonicKernel<Kernel> && kernels::RescalableKernel<Kernel>) ||
     HasExpansion<Kernel, Order, Real, Translation>);

namespace engine {

template <class Kernel, int Order, class Translation, class Precision>
constexpr bool check_translation() {
  static_assert(TranslationScheme<Translation>,
                "fmm: the translation scheme must provide m2m, m2l and l2l (fmm::Rotation, "
                "fmm::NaiveTranslation, fmm::BatchedGemm)");
  static_assert(is_available<Translation>,
                "fmm: fmm::BatchedGemm needs Kokkos Kernels and #include <fmm/batched_gemm.hpp>");
  if constexpr (std::is_same_v<Translation, BatchedGemm>)
    static_assert(!HasExpansion<Kernel, Order, real_t<Precision>, Translation>,
                  "fmm: fmm::BatchedGemm translates the library's spherical harmonics, not a "
                  "kernel's own Expansion");
  return true;
}

template <class Kernel, int Order, class Translation, class Criterion, class Precision>
constexpr bool check_criterion_for() {
  static_assert(check_criterion<Criterion>());
  static_assert(Order <= traits_v<Criterion>.largest_order,
                "fmm: the expansion order is higher than the criterion's largest_order");
  static_assert(RescalableKernel<Kernel> ||
                    !(traits_v<Criterion>.uses_powers || traits_v<Criterion>.uses_last_field),
                "fmm: a criterion that compares errors with a field needs a pair kernel with "
                "rescaled() and potential_unit()");
  if constexpr (has_lower_orders_v<Criterion>) {
    static_assert(Criterion::ascend_to(Order),
                  "fmm: VariableOrder's orders ascend from 0 or more and are lower than the "
                  "method's");
    static_assert(std::is_same_v<Translation, Rotation>,
                  "fmm: VariableOrder needs the translation scheme fmm::Rotation");
    static_assert(
        !HasExpansion<Kernel, Order, real_t<Precision>, Translation>,
        "fmm: VariableOrder translates the library's spherical harmonics, not a kernel's own "
        "Expansion");
  }
  return true;
}

/// A treecode or an FMM.
template <class Kernel, class Method, class Precision>
constexpr bool check_tree_method() {
  using Traversal = typename Method::traversal;
  using Translation = typename Method::translation;
  constexpr int order = Method::order;
  static_assert(order >= 0, "fmm: the expansion order is the highest degree, 0 or more");
  static_assert(check_translation<Kernel, order, Translation, Precision>());
  if constexpr (requires { typename Traversal::criterion; }) {
    static_assert(check_criterion_for<Kernel, order, Translation, typename Traversal::criterion,
                                      Precision>());
    if constexpr (!Method::has_locals)
      static_assert(!has_lower_orders_v<typename Traversal::criterion>,
                    "fmm: VariableOrder is of M2L, and a fmm::Treecode has none");
  } else if constexpr (Method::has_locals) {
    static_assert(!std::is_same_v<Traversal, BarnesHut>,
                  "fmm: fmm::BarnesHut has no pairs of cells for M2L: use fmm::Treecode");
    static_assert(std::is_same_v<Traversal, BarnesHut>,
                  "fmm: the traversal of fmm::Fmm must be fmm::DualTree<criterion>, fmm::FmmList "
                  "or fmm::FmmStencil");
  } else {
    static_assert(std::is_same_v<Traversal, BarnesHut>,
                  "fmm: the traversal of fmm::Treecode must be fmm::BarnesHut, "
                  "fmm::DualTree<criterion>, fmm::FmmList or fmm::FmmStencil");
  }
  static_assert(ExpandableKernel<Kernel, order, real_t<Precision>, Translation>,
                "fmm: a treecode or FMM needs a pair kernel with `harmonic = true` (a far field of "
                "1/r), rescaled() and potential_unit(), or one with an Expansion of its own; with "
                "fmm::DirectSum every pair kernel works");
  if constexpr (HasExpansion<Kernel, order, real_t<Precision>, Translation>)
    static_assert(check_expansion<expansion_t<Kernel, order, real_t<Precision>, Translation>,
                                  Kernel, real_t<Precision>, Method::has_locals>());
  return true;
}

template <class Kernel, class Method, class Precision, class Space>
constexpr bool check_policies() {
  static_assert(
      PairKernel<Kernel>,
      "fmm: the pair kernel must be trivially copyable and callable with r^2 as float and "
      "as double, returning fmm::PairTerm<float> and fmm::PairTerm<double>");
  static_assert(SummationMethod<Method>,
                "fmm: the method must be fmm::DirectSum, fmm::Treecode<order, traversal> or "
                "fmm::Fmm<order, traversal, translation>");
  static_assert(PrecisionPolicy<Precision>,
                "fmm: the precision must be float, double or fmm::Mixed");
  static_assert(Kokkos::is_execution_space<Space>::value,
                "fmm: the execution space must be a Kokkos execution space");
  if constexpr (!std::is_same_v<Method, DirectSum>)
    static_assert(check_tree_method<Kernel, Method, Precision>());
  return true;
}

/// What a kernel has to have for dipoles and Hessians.
template <class Kernel, class Strengths, class Out>
constexpr bool check_derivatives() {
  static_assert(HasDerivatives<Kernel> || !(Strengths::has_dipoles || Out::hessian),
                "fmm: dipoles and Hessians need a pair kernel with derivatives(r2) -> "
                "fmm::PairDerivatives (kernels/pair_derivatives.hpp)");
  return true;
}

/// A View of numbers that Space can access.
template <class Space, class View>
constexpr bool check_numbers() {
  static_assert(Kokkos::is_view<View>::value,
                "fmm: positions, charges and results are Kokkos Views");
  static_assert(can_access_v<Space, View>,
                "fmm: the solver's execution space cannot access this View's memory space");
  using Number = typename View::non_const_value_type;
  static_assert(std::is_same_v<Number, float> || std::is_same_v<Number, double>,
                "fmm: positions, charges and results are Views of float or double");
  return true;
}

/// The same of rank `Rank`.
template <class Space, class View, int Rank>
constexpr bool check_view() {
  static_assert(check_numbers<Space, View>());
  static_assert(int(View::rank) == Rank,
                "fmm: positions and fields are Views of rank 2, (N, 3); charges and potentials of "
                "rank 1, (N)");
  return true;
}

/// The same, or none.
template <class Space, class View, int Rank>
constexpr bool check_optional_view() {
  if constexpr (!std::is_same_v<View, None>) check_view<Space, View, Rank>();
  return true;
}

/// Whether a build's targets are numbers of bodies, and not points.
template <class Targets>
inline constexpr bool are_numbers_v = false;
template <class Targets>
requires Kokkos::is_view<Targets>::value inline constexpr bool are_numbers_v<Targets> =
    std::is_integral_v<typename Targets::non_const_value_type>;

/// Offsets, or numbers of bodies.
template <class Space, class View>
constexpr bool check_whole_numbers() {
  static_assert(Kokkos::is_view<View>::value && View::rank == 1 &&
                    std::is_integral_v<typename View::non_const_value_type>,
                "fmm: offsets and numbers of bodies are Kokkos Views of rank 1 of whole numbers");
  static_assert(can_access_v<Space, View>,
                "fmm: the solver's execution space cannot access this View's memory space");
  return true;
}

template <class View>
constexpr bool check_is_written() {
  if constexpr (!std::is_same_v<View, None>)
    static_assert(!std::is_const_v<typename View::value_type>,
                  "fmm: results are written to Views of non-const value type, or fmm::none");
  return true;
}
template <class Space, class View, int Rank>
constexpr bool check_result() {
  return check_optional_view<Space, View, Rank>() && check_is_written<View>();
}

[[noreturn]] FMM_NOINLINE inline void refuse_extent(char const* name, int dimension,
                                                    std::size_t extent, std::string_view allowed) {
  throw InvalidArgument(std::string(name) + ".extent(" + std::to_string(dimension) + ")", extent,
                        allowed);
}
/// For there are so many `bodies`, or what they are called.
[[noreturn]] FMM_NOINLINE inline void refuse_size(char const* name, std::size_t extent,
                                                  std::int64_t n, char const* bodies) {
  refuse_extent(name, 0, extent, "the number of " + std::string(bodies) + ", " + std::to_string(n));
}

/// Throws unless `view` is (N, 3) with N that 32 bits can count; returns N.
template <class View>
std::int64_t checked_size(char const* name, View const& view) {
  if (view.extent(1) != 3) refuse_extent(name, 1, view.extent(1), "3");
  if (view.extent(0) > std::size_t(std::numeric_limits<BodyIndex>::max()))
    refuse_extent(name, 0, view.extent(0), "at most 2147483647 bodies");
  return std::int64_t(view.extent(0));
}

/// Throws unless the view has the plan's number of `bodies`, or what they are called, in rows of so many numbers.
template <class View>
void check_extents(char const* name, View const& view, std::int64_t n,
                   char const* bodies = "bodies", int row = 3) {
  if constexpr (!std::is_same_v<View, None>) {
    if (std::int64_t(view.extent(0)) != n) refuse_size(name, view.extent(0), n, bodies);
    if constexpr (View::rank == 2)
      if (view.extent(1) != std::size_t(row))
        refuse_extent(name, 1, view.extent(1), std::to_string(row));
  }
}

}  // namespace engine
}  // namespace fmm
