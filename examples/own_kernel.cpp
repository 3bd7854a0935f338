// SPDX-License-Identifier: BSD-3-Clause
// A pair kernel of one's own, summed directly: the screened Coulomb (Yukawa) potential
// u(r) = exp(-kappa r) / r. The kernel gives u and w = -u'(r) / r; the rest is the library's.
#include <Kokkos_Random.hpp>
#include <fmm/fmm.hpp>
#include <iostream>

struct Yukawa {
  double kappa = 1;

  template <class Real>
  KOKKOS_FUNCTION fmm::PairTerm<Real> operator()(Real r2) const {
    if (r2 == 0) return {0, 0};
    const Real k = Real(kappa), r = std::sqrt(r2), u = std::exp(-k * r) / r;
    return {u, u * (k * r + 1) / r2};
  }
};

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  const int n = 20'000;
  Kokkos::View<double*[3]> positions("positions", n), field("field", n);
  Kokkos::View<double*> charges("charges", n), potential("potential", n);
  Kokkos::Random_XorShift64_Pool<> random(1);
  Kokkos::fill_random(positions, random, 1.0);
  Kokkos::fill_random(charges, random, -1.0, 1.0);

  Kokkos::DefaultExecutionSpace space;
  fmm::Solver<Yukawa, fmm::DirectSum, double> solver({}, Yukawa{.kappa = 5});
  auto plan = solver.build(space, positions);
  solver.evaluate(space, plan, charges, potential, field);

  const auto error =
      fmm::measure_error(space, solver.kernel(), positions, charges, potential, field, 100);
  std::cout << "relative L2 error of the force: " << error.field_l2 << '\n';
}
