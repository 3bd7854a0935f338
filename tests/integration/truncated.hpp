// SPDX-License-Identifier: BSD-3-Clause
// For tests of convergence: the error of a solver, and kernels that lose the terms of the highest degree.
#pragma once

#include "support.hpp"

namespace fmm_test {

/// The spherical expansion without the terms of its highest degree.
template <class Full>
struct WithoutHighest : Full {
  using basis = WithoutHighest;

  template <class V>
  KOKKOS_FUNCTION static void cut(V* a) {
    for (int k = Full::order * Full::order; k < Full::size; ++k)
      a[k] = V(fmm::simd::lane_scalar_t<V>(0));
  }
  template <class V>
  KOKKOS_FUNCTION static void p2m(V x, V y, V z, V q, V* M) {
    Full::p2m(x, y, z, q, M);
    cut(M);
  }
  template <class V>
  KOKKOS_FUNCTION static void m2m(V x, V y, V z, V* M) {
    Full::m2m(x, y, z, M);
    cut(M);
  }
  template <class V>
  KOKKOS_FUNCTION static void m2l(V x, V y, V z, V s, V t, V* M) {
    Full::m2l(x, y, z, s, t, M);
    cut(M);
  }
  template <class V>
  KOKKOS_FUNCTION static void p2l(V x, V y, V z, V q, fmm::simd::lane_scalar_t<V> f, V* L) {
    Full::p2l(x, y, z, q, f, L);
    cut(L);
  }
};

template <int Sign>
struct TruncatedKernel {
  static constexpr bool vectorised = true;
  template <int Order, class Real, class Translation>
  using Expansion = WithoutHighest<fmm::SphericalExpansion<Order, Real, Translation>>;

  template <class V>
  KOKKOS_FUNCTION fmm::PairTerm<V> operator()(V r2) const {
    return fmm::Laplace()(r2);
  }
  double prefactor() const { return Sign; }
  KOKKOS_FUNCTION TruncatedKernel rescaled(double) const { return *this; }
  KOKKOS_FUNCTION double potential_unit(double length) const { return 1 / length; }
};

using TruncatedGravity = TruncatedKernel<-1>;
using TruncatedLaplace = TruncatedKernel<1>;

/// Relative L2 error of the field, in double.
template <int Order, class Traversal, class Translation, class Kernel>
double error(Bodies const& bodies, Results const& reference, fmm::Options const& options) {
  fmm::Solver<Kernel, MethodOf<Order, Traversal, Translation>, double> solver(options);
  return relative_l2(run(solver, bodies).field, reference.field);
}

}  // namespace fmm_test
