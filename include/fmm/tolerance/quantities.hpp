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

  bool is_own() const { return norm == ErrorNorm::p99; }
  bool has(Quantity one) const { return one == Quantity::field ? field : potential; }
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

/// Of an evaluation with these results. Throws InvalidArgument for a tolerance of one that is not wanted.
inline Quantities quantities_of(Options const& options, bool potential, bool field) {
  const ToleranceOf of = options.tolerance_of;
  if (of == ToleranceOf::hessian)
    throw InvalidArgument("tolerance_of", "hessian",
                          "another result, for a plan that is built with charges");
  if (of == ToleranceOf::all) return {field, potential, options.error_norm};
  if ((of == ToleranceOf::potential || of == ToleranceOf::both) && !potential)
    throw InvalidArgument("potential", "none", "wanted, which the tolerance is of");
  if (of == ToleranceOf::both && !field)
    throw InvalidArgument("field", "none", "wanted, which the tolerance is of");
  if (of == ToleranceOf::field) return {field, !field, options.error_norm};
  return {of == ToleranceOf::both, true, options.error_norm};
}

}  // namespace fmm::tolerance
