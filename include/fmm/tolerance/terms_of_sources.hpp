// SPDX-License-Identifier: BSD-3-Clause
// Positions that a plan keeps, and the terms that sources exert at targets one by one, of any strengths: what sums are
// checked by, apart from the operators that made them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../engine/any_strengths.hpp"
#include "../engine/evaluation_ends.hpp"
#include "result_arrays.hpp"

namespace fmm::tolerance {

/// Positions in double, (N,3), of a caller's or of some of them.
template <class Space>
class Points {
 public:
  using Rows = Kokkos::View<double* [3], Kokkos::LayoutRight, Device<Space>,
                            Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  template <class Positions>
  struct Copy {
    Positions from;
    Rows to;
    KOKKOS_FUNCTION void operator()(std::int64_t i) const {
      for (int d = 0; d < 3; ++d) to(i, d) = from(i, d);
    }
  };
  struct Gather {
    Rows from;
    Array<BodyIndex, Space> numbers;
    Rows to;
    KOKKOS_FUNCTION void operator()(std::int64_t i) const {
      for (int d = 0; d < 3; ++d) to(i, d) = from(std::int64_t(numbers(i)), d);
    }
  };

  std::int64_t size() const { return size_; }
  std::size_t bytes() const { return numbers_.bytes(); }
  Rows rows() const { return Rows(numbers_.view().data(), std::size_t(size_)); }
  template <class Positions>
  void take(Space const& space, Positions const& from) {
    resize(std::int64_t(from.extent(0)));
    for_range("fmm::positions", space, size_, Copy<Positions>{from, rows()});
  }
  void take(Space const& space, Points const& from, Array<BodyIndex, Space> numbers) {
    resize(std::int64_t(numbers.extent(0)));
    for_range("fmm::positions", space, size_, Gather{from.rows(), numbers, rows()});
  }

 private:
  void resize(std::int64_t size) {
    size_ = size;
    numbers_.resize(std::size_t(3 * size));
  }

  Buffer<double, Space> numbers_{"positions in double"};
  std::int64_t size_ = 0;
};

/// One source's terms at a target, of one density, in the units of results: potential, field and Hessian. Both are rows
/// of positions.
template <class Kernel, class Strengths, class Out, class Given, class Rows>
struct TermsOfSource {
  using Total = kernels::TargetSums<double, Out::records>;
  static constexpr int all = -1;
  static constexpr int numbers = Strengths::numbers;  ///< of a source: charge, dipole's x, y, z
  Rows targets, sources;
  Given given;
  Kernel kernel;
  double per_length, potential_unit;

  /// Whether a source carries anything of the density.
  KOKKOS_FUNCTION bool carries(std::int64_t source) const {
    for (int k = 0; k < numbers; ++k)
      if (number(source, k) != 0) return true;
    return false;
  }
  KOKKOS_FUNCTION double number(std::int64_t source, int k) const {
    return Strengths::given(given, source, k);
  }
  KOKKOS_FUNCTION static constexpr bool is_dipole(int k) { return Strengths::is_dipole(k); }
  /// That of potential (0), field or Hessian (2): magnitude.
  double unit(int result) const { return std::fabs(potential_unit) * std::pow(per_length, result); }
  /// The place of the target, from the source's, in the kernel's unit.
  KOKKOS_FUNCTION void difference(std::int64_t target, std::int64_t source, double (&d)[3]) const {
    for (int c = 0; c < 3; ++c) d[c] = (targets(target, c) - sources(source, c)) * per_length;
  }
  /// only    of this number alone; all: of all of them
  KOKKOS_FUNCTION void add(std::int64_t target, std::int64_t source, double (&sum)[10],
                           int only = all) const {
    double d[3];
    difference(target, source, d);
    add_at(d, source, sum, only);
  }
  /// The same of an image, with that difference.
  KOKKOS_FUNCTION void add_at(double const (&d)[3], std::int64_t source, double (&sum)[10],
                              int only = all) const {
    add_strengths(d, sum, [&](int k) {
      if (only != all && only != k) return 0.0;
      return is_dipole(k) ? number(source, k) * per_length : number(source, k);
    });
  }
  /// What a source as strong exerts at most there: its dipole turned to the target, its charge of one sign with it.
  KOKKOS_FUNCTION void add_most(double const (&d)[3], std::int64_t source,
                                double (&sum)[10]) const {
    double dipole2 = 0;
    for (int k = 0; k < numbers; ++k)
      if (is_dipole(k)) dipole2 += number(source, k) * number(source, k);
    const double along =
        std::sqrt(dipole2 / (d[0] * d[0] + d[1] * d[1] + d[2] * d[2])) * per_length;
    add_strengths(d, sum, [&](int k) {
      return is_dipole(k) ? along * d[k - (numbers - 3)] : std::fabs(number(source, k));
    });
  }

 private:
  /// Of a source whose numbers are `scaled`.
  template <class Scaled>
  KOKKOS_FUNCTION void add_strengths(double const (&d)[3], double (&sum)[10],
                                     Scaled const& scaled) const {
    const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    kernels::SourcePack<double, numbers> strengths{0, 0, 0, scaled(0)};
    if constexpr (numbers > 1)
      for (int k = 1; k < numbers; ++k) strengths.others[k - 1] = scaled(k);
    Total total{};
    if constexpr (kernels::wants_derivatives<Strengths, Out>)
      Strengths::template add<Out>(kernels::pair_derivatives<false>(kernel, r2), d[0], d[1], d[2],
                                   strengths, total);
    else
      Strengths::template add<Out>(kernels::pair_term<false>(kernel, r2), d[0], d[1], d[2],
                                   strengths, total);
    const double field_unit = potential_unit * per_length;
    auto const& first = total.record(0);
    sum[0] += first.potential * potential_unit;
    sum[1] += first.x * field_unit;
    sum[2] += first.y * field_unit;
    sum[3] += first.z * field_unit;
    if constexpr (Out::hessian) {
      double numbers[6];
      kernels::hessian_of_records(total.record(1), total.record(2), numbers);
      for (int c = 0; c < 6; ++c) sum[4 + c] += numbers[c] * field_unit * per_length;
    }
  }
};

/// Where potential, field and Hessian begin among the numbers of a term.
KOKKOS_INLINE_FUNCTION int number_of_result(int result) {
  return result == 0 ? 0 : result == 1 ? 1 : 4;
}

/// Whether a body's row of excluded pairs has a source.
template <class SomeExclusions>
KOKKOS_FUNCTION bool is_excluded([[maybe_unused]] SomeExclusions const& exclusions,
                                 [[maybe_unused]] std::int64_t body,
                                 [[maybe_unused]] std::int64_t source) {
  if constexpr (!std::is_same_v<SomeExclusions, None>)
    for (auto e = std::int64_t(exclusions.offsets(body));
         e < std::int64_t(exclusions.offsets(body + 1)); ++e)
      if (std::int64_t(exclusions.bodies(e)) == source) return true;
  return false;
}

/// f(terms, density) of each density, of strengths that are `given` and results like those of `arrays`.
///
/// length    of the kernel's units, where it has such
template <class Kernel, class Rows, class Given, class Arrays, class F>
void for_each_terms(Kernel const& any_kernel, double length, Rows const& targets,
                    Rows const& sources, Given const& given, Arrays const& arrays, F const& f) {
  using Views = decltype(arrays.views());
  using Out = engine::OutputsOf<decltype(Views::potential), decltype(Views::field),
                                decltype(Views::hessian)>;
  const auto terms_of = [&]<class SomeKernel, class OfDensity>(SomeKernel const& kernel,
                                                               OfDensity const& of_density) {
    static_assert(!kernels::IsChoice<SomeKernel>);
    using Strengths = typename engine::StrengthsOf<OfDensity, 1>::type;
    const double unit = kernels::RescalableKernel<SomeKernel> ? length : 1;
    SomeKernel in_unit = kernel;
    if constexpr (kernels::RescalableKernel<SomeKernel>)
      in_unit = kernels::in_units_of(unit, kernel);
    return TermsOfSource<SomeKernel, Strengths, Out, OfDensity, Rows>{
        targets, sources, of_density, in_unit, 1 / unit, kernels::potential_unit(kernel, unit)};
  };
  const int densities =
      std::max({arrays.potential.densities, arrays.field.densities, arrays.hessian.densities});
  for (int k = 0; k < densities; ++k) {
    const auto of = [&](auto const& strengths) {
      using kernels::with_kernel;  // also that of kernels that stand for others
      with_kernel(any_kernel, [&](auto const& kernel) { f(terms_of(kernel, strengths), k); });
    };
    if constexpr (Arrays::of_densities)
      of(engine::block_of(engine::constant(engine::carried(given)), k, 1));
    else
      of(engine::constant(engine::carried(given)));
  }
}

}  // namespace fmm::tolerance
