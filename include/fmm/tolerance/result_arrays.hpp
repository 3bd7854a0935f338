// SPDX-License-Identifier: BSD-3-Clause
// Results in double that wait for a verification, what two of them differ by, and their way to the caller.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "../detail/memory.hpp"
#include "../detail/reduce.hpp"
#include "../results.hpp"

namespace fmm::tolerance {

/// Sums of squares of errors, and of what they are relative to.
struct SquaredError {
  double error = 0, norm = 0;
  KOKKOS_FUNCTION void join(SquaredError const& other) {
    error += other.error;
    norm += other.norm;
  }
};

/// One result of M targets and K densities: numbers (M, K, row), one after the other.
template <class Space>
struct ResultArray {
  double* numbers = nullptr;  ///< nullptr: it is not wanted
  std::int64_t targets = 0;
  int densities = 1, row = 1;

  std::int64_t size() const { return targets * densities * row; }
  KOKKOS_FORCEINLINE_FUNCTION double& operator()(std::int64_t i, int k, int c) const {
    return numbers[(i * densities + k) * row + c];
  }
  /// How often number c counts in a square: twice off the diagonal of a Hessian, as in its Frobenius norm.
  KOKKOS_FORCEINLINE_FUNCTION double times(int c) const { return row == 6 && c >= 3 ? 2 : 1; }
};

/// Squares of one density's differences, in all or some targets, times weights: target numbers(i) of `found` beside
/// target i of `exact`.
template <class Space>
struct CompareResults {
  ResultArray<Space> found, exact;
  int density;
  Array<BodyIndex, Space> numbers;  ///< none: all
  Array<double, Space> weights;     ///< none: 1
  double per_unit;

  KOKKOS_FUNCTION void operator()(std::int64_t i, SquaredError& sums) const {
    const std::int64_t of = numbers.extent(0) > 0 ? std::int64_t(numbers(i)) : i;
    const double of_target = weights.extent(0) > 0 ? weights(i) : 1;
    for (int c = 0; c < exact.row; ++c) {
      const double weight = of_target * exact.times(c), b = exact(i, density, c) * per_unit,
                   d = found(of, density, c) * per_unit - b;
      sums.error += weight * d * d;
      sums.norm += weight * b * b;
    }
  }
};

/// The larger one; NaN if one is.
KOKKOS_INLINE_FUNCTION double larger(double a, double b) { return a == a && !(b <= a) ? b : a; }
struct LargestMagnitude {
  double value = 0;
  KOKKOS_FUNCTION void join(LargestMagnitude const& other) { value = larger(value, other.value); }
};
template <class Space>
struct MeasureResults {
  ResultArray<Space> results;
  int density;

  KOKKOS_FUNCTION void operator()(std::int64_t i, LargestMagnitude& largest) const {
    for (int c = 0; c < results.row; ++c)
      largest.join(LargestMagnitude{std::fabs(results(i, density, c))});
  }
};

/// The largest number of a density; infinite or NaN if one is.
template <class Space>
double largest_of(Space const& space, ResultArray<Space> const& results, int density) {
  const double largest =
      detail::reduce<LargestMagnitude>("fmm::verification::largest", space, results.targets,
                                       MeasureResults<Space>{results, density})
          .value;
  space.fence();
  return largest;
}

/// In units of per_unit, so that squares have room.
template <class Space>
SquaredError compare(Space const& space, ResultArray<Space> const& found,
                     ResultArray<Space> const& exact, int density, double per_unit,
                     Array<BodyIndex, Space> numbers = {}, Array<double, Space> weights = {}) {
  const auto sums = detail::reduce<SquaredError>(
      "fmm::verification::compare", space, exact.targets,
      CompareResults<Space>{found, exact, density, numbers, weights, per_unit});
  space.fence();
  return sums;
}

/// Numbers into Views of the caller's, (M), (M,K), (M,c) or (M,K,c); None: not wanted.
template <class Space, class Potential, class Field, class Hessian>
struct GiveArrays {
  ResultArray<Space> potential, field, hessian;
  Results<Potential, Field, Hessian> to;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    give(potential, to.potential, i);
    give(field, to.field, i);
    give(hessian, to.hessian, i);
  }

 private:
  template <class View>
  KOKKOS_FUNCTION static void give(ResultArray<Space> const& from, View const& to, std::int64_t i) {
    if constexpr (!std::is_same_v<View, None>)
      for (int k = 0; k < from.densities; ++k)
        for (int c = 0; c < from.row; ++c) {
          const double value = from(i, k, c);
          if constexpr (View::rank == 1)
            to(i) = value;
          else if constexpr (View::rank == 3)
            to(i, k, c) = value;
          else
            to(i, from.densities > 1 || from.row == 1 ? k : c) = value;
        }
  }
};

/// Potential, field and Hessian of the extents and ranks that a caller's have, those that are wanted.
template <class Space, class Potential, class Field, class Hessian>
class ResultArrays {
  template <class View>
  static constexpr bool is_wanted = !std::is_same_v<View, None>;
  template <class View>
  static constexpr int rank_of = [] {
    if constexpr (is_wanted<View>)
      return int(View::rank);
    else
      return 0;
  }();
  template <class Numbers>
  using Rows = Kokkos::View<Numbers, Kokkos::LayoutRight, Device<Space>,
                            Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

 public:
  /// Of several densities potentials are of rank 2, fields and Hessians of rank 3.
  static constexpr bool of_densities =
      rank_of<Potential> == 2 || rank_of<Field> == 3 || rank_of<Hessian> == 3;

  explicit ResultArrays(Results<Potential, Field, Hessian> const& like) {
    const auto take = [](ResultArray<Space>& array, auto& buffer, auto const& view, int row) {
      using View = std::remove_cvref_t<decltype(view)>;
      if constexpr (is_wanted<View>) {
        array.targets = std::int64_t(view.extent(0));
        array.densities = of_densities ? int(view.extent(1)) : 1;
        array.row = row;
        array.numbers = buffer.resize(std::size_t(array.size())).data();
      }
    };
    take(potential, potential_, like.potential, 1);
    take(field, field_, like.field, 3);
    take(hessian, hessian_, like.hessian, 6);
  }

  /// The same of another number of targets.
  ResultArrays with_targets(std::int64_t targets) const {
    ResultArrays other;
    const auto take = [&](ResultArray<Space> const& like, ResultArray<Space>& array, auto& buffer) {
      if (!like.numbers) return;
      array = like;
      array.targets = targets;
      array.numbers = buffer.resize(std::size_t(array.size())).data();
    };
    take(potential, other.potential, other.potential_);
    take(field, other.field, other.field_);
    take(hessian, other.hessian, other.hessian_);
    return other;
  }
  /// As Views that evaluations write.
  auto views() const {
    using PotentialView = decltype(view_of<Potential, double**, double*>(potential));
    using FieldView = decltype(view_of<Field, double***, double**>(field));
    using HessianView = decltype(view_of<Hessian, double***, double**>(hessian));
    return Results<PotentialView, FieldView, HessianView>{
        view_of<Potential, double**, double*>(potential),
        view_of<Field, double***, double**>(field), view_of<Hessian, double***, double**>(hessian)};
  }
  /// Into the caller's.
  void give(Space const& space, Results<Potential, Field, Hessian> const& to) const {
    detail::for_range("fmm::results", space,
                      std::max({potential.targets, field.targets, hessian.targets}),
                      GiveArrays<Space, Potential, Field, Hessian>{potential, field, hessian, to});
  }

  ResultArray<Space> potential, field, hessian;

 private:
  ResultArrays() = default;
  template <class View, class OfDensities, class OfOne>
  static auto view_of(ResultArray<Space> const& array) {
    if constexpr (!is_wanted<View>)
      return None{};
    else if constexpr (of_densities && View::rank == 2)
      return Rows<OfDensities>(array.numbers, array.targets, array.densities);
    else if constexpr (of_densities)
      return Rows<OfDensities>(array.numbers, array.targets, array.densities, array.row);
    else if constexpr (View::rank == 1)
      return Rows<OfOne>(array.numbers, array.targets);
    else
      return Rows<OfOne>(array.numbers, array.targets, array.row);
  }

  detail::Buffer<double, Space> potential_{"potentials to be verified"},
      field_{"fields to be verified"}, hessian_{"Hessians to be verified"};
};

}  // namespace fmm::tolerance
