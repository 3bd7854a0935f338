// SPDX-License-Identifier: BSD-3-Clause
// fmm::Strengths and fmm::Results of run-time arrays. Free of Kokkos.
#pragma once

#include "../results.hpp"
#include "../strengths.hpp"
#include "arrays.hpp"

namespace fmm::runtime {

/// As fmm::Strengths: (N) charges, (N,3) dipoles, or both; of K densities (N,K) and (N,K,3).
struct AnyStrengths {
  ConstArray charges = {}, dipoles = {};
  bool unchanged = false;  ///< as of fmm::Strengths: of plans of two sets; and of one density
};

/// As fmm::Results: (M), (M,3), (M,6); of K densities (M,K), (M,K,3), (M,K,6).
struct AnyResults {
  MutableArray potential = {}, field = {}, hessian = {};
};

template <class Potential, class Field, class Hessian>
AnyResults any_results(Results<Potential, Field, Hessian> const& results) {
  constexpr bool are_written = std::is_convertible_v<Potential const&, MutableArray> &&
                               std::is_convertible_v<Field const&, MutableArray> &&
                               std::is_convertible_v<Hessian const&, MutableArray>;
  static_assert(are_written,
                "fmm: fmm::Results are of Views or std::spans, whose numbers are not const: a "
                "container would be copied into them");
  if constexpr (are_written)
    return {results.potential, results.field, results.hessian};
  else
    return {};
}

}  // namespace fmm::runtime
