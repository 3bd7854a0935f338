// SPDX-License-Identifier: BSD-3-Clause
// A Hessian of a kernel that has no more than its potential and its force.
// expect: dipoles and Hessians need a pair kernel with derivatives
#include <fmm/fmm.hpp>

struct Kernel {
  template <class Real>
  KOKKOS_FUNCTION fmm::PairTerm<Real> operator()(Real r2) const {
    return {1 / (1 + r2), 1};
  }
};
using Solver = fmm::Solver<Kernel, fmm::DirectSum>;

void evaluate(Solver& solver, Solver::plan_type plan, Kokkos::View<double*> charges,
              Kokkos::View<double* [6]> hessian) {
  solver.evaluate(Kokkos::DefaultExecutionSpace(), plan, charges, fmm::Results{.hessian = hessian});
}
