// SPDX-License-Identifier: BSD-3-Clause
// Which results and which of their errors a tolerance is of.
#pragma once

#include "../detail/kokkos_compat.hpp"
#include "../options.hpp"

namespace fmm::tolerance {

enum class Quantity { field, potential };

struct Quantities {
  bool field = true, potential = false;
  ErrorNorm norm = ErrorNorm::l2;
  double potentials = 1;  ///< how many times potentials count that errors are relative to

  bool is_own() const { return norm == ErrorNorm::p99; }
  bool has(Quantity one) const { return one == Quantity::field ? field : potential; }
  double values(Quantity one) const { return one == Quantity::field ? 1 : potentials; }
  bool operator==(Quantities const&) const = default;
  /// f(quantity) for each that there is.
  template <class F>
  void each(F const& f) const {
    for (const Quantity one : {Quantity::field, Quantity::potential})
      if (has(one)) f(one);
  }
};

/// One of each.
template <class T>
struct PerQuantity {
  T field = {}, potential = {};

  KOKKOS_FUNCTION T& operator[](Quantity one) { return one == Quantity::field ? field : potential; }
  KOKKOS_FUNCTION T const& operator[](Quantity one) const {
    return one == Quantity::field ? field : potential;
  }
  KOKKOS_FUNCTION void operator+=(PerQuantity const& other) {
    field += other.field;
    potential += other.potential;
  }
};

/// Some of an evaluation's results.
struct ResultKinds {
  bool potential = false, field = false, hessian = false;
  bool operator==(ResultKinds const&) const = default;
};

/// Which of several densities an evaluation is of, where these are evaluated one after the other.
struct PartOfDensities {
  int number = 0, all = 1;
};

/// Which of the results that are wanted a tolerance is of. Throws InvalidArgument for one that is not wanted.
FMM_NOINLINE inline ResultKinds bounded_results(ToleranceOf of, ResultKinds const& wanted) {
  const auto require = [](char const* name, bool is_there) {
    if (!is_there) throw InvalidArgument(name, "none", "wanted, which the tolerance is of");
  };
  ResultKinds found;
  switch (of) {
    case ToleranceOf::field:
      found.field = wanted.field;
      found.potential = !wanted.field && wanted.potential;
      found.hessian = !wanted.field && !wanted.potential;
      return found;
    case ToleranceOf::all:
      return wanted;
    case ToleranceOf::potential:
      found.potential = true;
      break;
    case ToleranceOf::both:
      found.potential = found.field = true;
      break;
    case ToleranceOf::hessian:
      found.hessian = true;
  }
  if (found.potential) require("potential", wanted.potential);
  if (found.field) require("field", wanted.field);
  if (found.hessian) require("hessian", wanted.hessian);
  return found;
}

/// In a periodic cell potentials that the tolerance is not of err by so many tolerances at most.
inline constexpr double potentials_in_cell = 10;

/// Of an evaluation with these results. Throws InvalidArgument for a tolerance of one that is not wanted.
inline Quantities quantities_of(Options const& options, bool potential, bool field) {
  if (options.tolerance_of == ToleranceOf::hessian)
    throw InvalidArgument("tolerance_of", "hessian",
                          "another result, for a plan that is built with charges");
  const ResultKinds of = bounded_results(options.tolerance_of, {potential, field, false});
  Quantities found{of.field, of.potential, options.error_norm};
  // in a periodic cell potentials may cancel to the share of a field's that its tolerance says nothing of
  if (options.periodic && potential && !of.potential && !found.is_own()) {
    found.potential = true;
    found.potentials = potentials_in_cell;
  }
  return found;
}

}  // namespace fmm::tolerance
