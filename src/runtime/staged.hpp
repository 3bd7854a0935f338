// SPDX-License-Identifier: BSD-3-Clause
// Strengths and results of any arrays, in double, one number after the other: evaluations of any strengths are compiled
// for these alone. Arrays that are so already are read and written where they lie, others are copied.
#pragma once

#include <array>
#include <cmath>
#include <fmm/runtime/any_strengths.hpp>
#include <fmm/tolerance/quantities.hpp>
#include <limits>
#include <optional>

#include "views.hpp"

namespace fmm::runtime {

/// Numbers in memory of the backend, one after the other.
template <class Numbers, class Space>
using DenseView = Kokkos::View<Numbers, Kokkos::LayoutRight, Device<Space>,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// Positions (N,3) in double.
template <class Space>
class StagedPositions {
 public:
  StagedPositions(Space const& space, ConstArray const& positions);
  DenseView<double const* [3], Space> view() const {
    return DenseView<double const* [3], Space>(numbers_.view().data(), std::size_t(size_));
  }

  private : detail::Buffer<double, Space> numbers_{"positions in double"};
  std::int64_t size_;
};
/// Numbers of sources, (M), in 64 bits.
template <class Space>
class StagedNumbers {
 public:
  StagedNumbers(Space const& space, ConstArray const& numbers);
  auto view() const {
    return DenseView<std::int64_t const*, Space>(numbers_.view().data(), std::size_t(size_));
  }

 private:
  detail::Buffer<std::int64_t, Space> numbers_{"numbers of targets"};
  std::int64_t size_;
};

/// What sources carry, and room for results; refers to the arrays that it is made of.
template <class Space>
class Staged {
 public:
  /// How an array of strengths or results is to be.
  struct Bounds {
    std::int64_t sources, targets;
    char const *of_sources, *of_targets;
  };

  /// Throws InvalidArgument for arrays that do not fit or share memory.
  Staged(Space const& space, AnyStrengths const& strengths, AnyResults const& results,
         Bounds const& bounds);

  tolerance::ResultKinds wanted() const {
    return {bool(results_.potential), bool(results_.field), bool(results_.hessian)};
  }
  bool are_in_float() const {
    return is_float(results_.potential) || is_float(results_.field) || is_float(results_.hessian);
  }
  /// Sums by evaluate(strengths, results, part), once or for each density, and gives the results that are wanted.
  /// Throws InvalidArgument for results that float has no room for, before any is given.
  template <class Evaluate>
  void sum(Evaluate const& evaluate, Report* report) {
    take();
    std::optional<FoundLimit> found;  // of the density that errs most
    const auto add = [&](auto const& strengths, auto const& results,
                         tolerance::PartOfDensities const& part) {
      evaluate(strengths, results, part);
      if (report && report->found && !(found && found->seen_error >= report->found->seen_error))
        found = report->found;
    };
    if (are_together()) {
      const std::size_t n = bounds_.sources, m = bounds_.targets, k = densities_;
      add(fmm::Strengths<DenseView<double const**, Space>>{DenseView<double const**, Space>(
              charges(0), n, k)},
          Results<DenseView<double**, Space>, DenseView<double** [3], Space>> {
            DenseView<double**, Space>(potential(0), m, k),
                DenseView<double** [3], Space>(field(0), m, k)
          },
          {});
    } else {
      for (int k = 0; k < densities_; ++k) sum_one(k, add);
    }
    if (report) {
      report->found = found;
      report->not_finite = not_finite();  // of what is wanted
    }
    give();
  }

 private:
  static bool is_float(MutableArray const& array) {
    return array && array.shape().number == Number::in_float;
  }
  bool has_dipoles() const { return bool(strengths_.dipoles); }
  /// Whether densities are summed in blocks; else one after the other, where (K,N) and (K,M) rows are.
  bool are_together() const { return densities_ > 1 && !has_dipoles() && !results_.hessian; }

  template <class Add>
  void sum_one(int k, Add const& add) {
    using Charges = DenseView<double const*, Space>;
    using Dipoles = DenseView<double const* [3], Space>;
    const std::size_t n = bounds_.sources, m = bounds_.targets;
    const DenseView<double*, Space> p(potential(k), m);
    const DenseView<double* [3], Space> f(field(k), m);
    const DenseView<double* [6], Space> h(hessian(k), m);
    const Charges q(charges(k), n);
    const bool unchanged = strengths_.unchanged && densities_ == 1;
    const tolerance::PartOfDensities part{k, densities_};
    if (has_dipoles())
      add(fmm::Strengths<Charges, Dipoles>{q, Dipoles(dipoles(k), n), unchanged},
          Results<decltype(p), decltype(f), decltype(h)>{p, f, h}, part);
    else if (results_.hessian)
      add(fmm::Strengths<Charges>{q, {}, unchanged},
          Results<decltype(p), decltype(f), decltype(h)>{p, f, h}, part);
    else
      add(fmm::Strengths<Charges>{q, {}, unchanged}, Results<decltype(p), decltype(f)>{p, f}, part);
  }
  // where density k begins; of blocks all begin together
  double const* charges(int k) const { return charges_.first + k * bounds_.sources; }
  double const* dipoles(int k) const { return dipoles_.first + 3 * k * bounds_.sources; }
  double* potential(int k) const { return potential_.first + k * bounds_.targets; }
  double* field(int k) const { return field_.first + 3 * k * bounds_.targets; }
  double* hessian(int k) const { return hessian_.first + 6 * k * bounds_.targets; }
  Strides dense(int row, std::int64_t bodies) const {
    if (are_together()) return {row * std::int64_t(densities_), row, 1};
    return {row, row * bodies, 1};
  }

  /// Numbers of the caller's, or room for them.
  template <class T>
  struct Numbers {
    explicit Numbers(char const* name) : buffer(name) {}

    detail::Buffer<double, Space> buffer;
    T* first = nullptr;
    bool is_the_callers = false;

    double* resize(std::size_t size) {
      double* const numbers = buffer.resize(size).data();
      first = numbers;
      return numbers;
    }
  };

  void check();
  void take();
  template <class SomeArray>
  bool is_dense(SomeArray const& array, int row, std::int64_t bodies) const;
  bool is_result(ConstArray const& strengths, int row) const;
  void take_strengths(Numbers<double const>& to, ConstArray const& from, int row);
  void make_room(Numbers<double>& numbers, MutableArray const& wanted, int row);
  std::int64_t not_finite() const;
  void give() const;
  void give_one(Numbers<double> const& from, int row, MutableArray const& to) const;

  Space const& space_;
  AnyStrengths const& strengths_;
  AnyResults const& results_;
  Bounds bounds_;
  int densities_ = 1;
  Numbers<double const> charges_{"charges in double"}, dipoles_{"dipoles in double"};
  Numbers<double> potential_{"potentials in double"}, field_{"fields in double"},
      hessian_{"Hessians in double"};
};

}  // namespace fmm::runtime
