// SPDX-License-Identifier: BSD-3-Clause
// A pair kernel of one's own with a far field: the screened Coulomb (Yukawa) potential u(r) = exp(-kappa r) / r, by a
// direct sum, a treecode and an FMM. The kernel gives u and w = -u'(r) / r, and for Taylor expansions (taylor.hpp) its
// other derivatives; the rest is the library's. A kernel for direct sums alone needs operator() and no more.
#include <Kokkos_Random.hpp>
#include <iostream>

#include "taylor.hpp"

struct Yukawa {
  double kappa = 1;  ///< in the caller's unit

  template <class Real>
  KOKKOS_FUNCTION fmm::PairTerm<Real> operator()(Real r2) const {
    if (r2 == 0) return {0, 0};
    const Real k = Real(kappa), r = std::sqrt(r2), u = std::exp(-k * r) / r;
    return {u, u * (k * r + 1) / r2};
  }

  /// g[i] = r^2i (1/r d/dr)^i u: modified spherical Bessel functions, by their recurrence.
  template <class Real, int Count>
  KOKKOS_FUNCTION void radial_derivatives(Real r, Real (&g)[Count]) const {
    const Real k = Real(kappa) * r;
    g[0] = std::exp(-k) / r;
    for (int i = 1; i < Count; ++i)
      g[i] = i == 1 ? -(1 + k) * g[0] : Real(1 - 2 * i) * g[i - 1] + k * k * g[i - 2];
  }

  template <int Order, class Real, class Translation>
  using Expansion = Taylor<Yukawa, Order, Real>;
};

constexpr int n = 20'000;
using Bodies = Kokkos::View<double* [3]>;
using Numbers = Kokkos::View<double*>;

template <class Method>
void sum(char const* name, Bodies positions, Numbers charges) {
  Kokkos::DefaultExecutionSpace space;
  Numbers potential("potential", n);
  Bodies field("field", n);
  fmm::Solver<Yukawa, Method, double> solver({}, Yukawa{.kappa = 5});
  auto plan = solver.build(space, positions);
  fmm::Report report;
  solver.evaluate(space, plan, charges, potential, field, &report);
  const auto error =
      fmm::measure_error(space, solver.kernel(), positions, charges, potential, field, 100);
  std::cout << name << ": " << report.evaluate_seconds << " s, relative L2 error of the potential "
            << error.potential_l2 << ", of the force " << error.field_l2 << '\n';
}

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  Bodies positions("positions", n);
  Numbers charges("charges", n);
  Kokkos::Random_XorShift64_Pool<> random(1);
  Kokkos::fill_random(positions, random, 1.0);
  Kokkos::fill_random(charges, random, -1.0, 1.0);

  sum<fmm::DirectSum>("direct sum", positions, charges);
  sum<fmm::Treecode<6>>("treecode", positions, charges);
  sum<fmm::Fmm<6>>("FMM", positions, charges);
}
