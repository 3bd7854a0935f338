// SPDX-License-Identifier: BSD-3-Clause
// What targets receive.
#pragma once

#include "inputs.hpp"

namespace fmm {

/// What Solver::evaluate writes, an aggregate for designated initialisers. Kokkos Views of float or double, or
/// fmm::none for what is not wanted, whose work is saved; M is the number of targets.
template <class Potential = None, class Field = None, class Hessian = None>
struct Results {
  Potential potential = {};  ///< (M), of K densities (M,K)
  Field field = {};          ///< (M,3), (M,K,3): minus the gradient of the potential
  Hessian hessian = {};      ///< (M,6), (M,K,6): of the potential; xx, yy, zz, xy, xz, yz
};

#if defined(__clang__) && __clang_major__ < 17
template <class Potential>
Results(Potential) -> Results<Potential>;
template <class Potential, class Field>
Results(Potential, Field) -> Results<Potential, Field>;
template <class Potential, class Field, class Hessian>
Results(Potential, Field, Hessian) -> Results<Potential, Field, Hessian>;
#endif

}  // namespace fmm
