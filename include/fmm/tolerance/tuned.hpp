// SPDX-License-Identifier: BSD-3-Clause
// What a search by measurement found. Free of Kokkos.
#pragma once

namespace fmm {

/// What ToleranceSolver::tune found.
struct Tuned {
  bool held;       ///< whether any setting was found; if not, the solver is as it was
  double error;    ///< of the tolerance's norm with it: three standard errors up
  double seconds;  ///< of a build and an evaluation with it, before anything is verified
  int trials;      ///< settings that were tried
};

}  // namespace fmm
