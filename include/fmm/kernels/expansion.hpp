// SPDX-License-Identifier: BSD-3-Clause
// How a far field is expanded: the contract of an expansion, and the spherical-harmonic expansion that
// the library uses for every harmonic kernel.
//
// An expansion is a trivially copyable class, since device code gets an object of it by value. A pair kernel brings its
// own as `Expansion<Order, Real, Translation>`. Its functions are const, or static where they need nothing of the
// object. `V` is a type of lanes (simd/simd.hpp): a number, or a pack of numbers that belong to different bodies or
// cells.
//
// Coordinates are counted in edges of a cell from the cell's centre, and edges of cells in edges of the root. What an
// edge of the root is, the object is told when it is made. Potentials are sums of q u(r) of the object's pair kernel,
// without its prefactor(); gradients are per edge of the root, but for l2p.
//
//   Expansion(kernel, root_edge)   for an expansion with members: the pair kernel, and the edge of the root in the
//                              unit of length that the kernel counts in. A kernel that has rescaled() counts in edges
//                              of the root already, and root_edge is 1; any other one counts in the unit of the
//                              caller's positions
//   at(edge)                   optional: the expansion of cells of that edge, an object (of any class) that has p2m,
//                              m2m, l2l and l2p; without it they do not depend on the edge
//
//   size                       numbers per cell
//   p2m(x, y, z, q, M)         adds a body at (x, y, z) to multipole M
//   m2m(x, y, z, M)            turns a child's M into its part of the parent's; (x, y, z) is the child's
//                              centre from the parent's in parent edges (+-1/4), and `edge` the parent's
//   m2l(x, y, z, s, t, M)      turns a multipole of a cell of edge s into a local expansion of a cell of
//                              edge t whose centre lies (x, y, z) from the source's, in edges of the root
//   l2l(x, y, z, L)            turns a parent's L into a child's; (x, y, z) and `edge` as in m2m
//   m2p<P, F>(x, y, z, f, S, sum)   adds to `sum` the potential (if P) and the gradient (if F) of a prepared
//                              multipole S of a cell of edge 1 / f at (x, y, z)
//   l2p<P, F>(x, y, z, S)      potential (if P), and gradient (if F) per edge of the cell, of a prepared local
//                              expansion S
//   l2p_hessian(x, y, z, S)    optional: both, and the Hessian, in one PotentialHessian (hessian.hpp)
//   m2p_hessian(x, y, z, f, S, sum)   optional: the same added to `sum`, which is one; without these two the gradient
//                              is derived, for which l2p and m2p take Dual numbers (simd/dual.hpp), as p2m and p2l do
//                              for dipoles
//   harmonic                   optional: whether Hessians have no trace
//   p2l(x, y, z, q, f, L)      optional: adds a body at (x, y, z), which is farther from the centre than all bodies
//                              of the cell, to local expansion L of a cell of edge 1 / f; without it such bodies
//                              are summed by P2P
//   only_adds                  optional: the class itself (so that one that derives from it has to say so again),
//                              if p2m and p2l do no more with M and L than M[k] += .., for every k once and in
//                              the same order whatever the body; M is then any class that allows it
//   prepared_size, prepare_multipole(M, k), prepare_local(L, k)   optional: how many numbers a prepared expansion
//                              is, and number k of them, computed once for each cell; without these S is
//                              the expansion itself
//   order, power(M, n)         optional, for criteria that use powers: the highest degree, and the size of a
//                              multipole's part of degree n, as that of 1/r would be; that of degree 0 with the
//                              sign of the charge
//   basis                      optional: a base class with the functions that are not translations, where
//                              several expansions share them (and their compiled operators)
//
// A treecode has no use for m2l, l2l and l2p. What is missing, check_expansion (check_expansion.hpp) says.
#pragma once

#include "../cells/units.hpp"
#include "hessian.hpp"
#include "pair_traits.hpp"
#include "spherical/monomials.hpp"
#include "spherical/rotation.hpp"
#include "spherical/translation.hpp"

namespace fmm {

/// Real solid harmonics with degrees 0..Order: all but the translations (docs/math.md).
template <int Order, class Real>
struct SphericalBasis {
  static_assert(Order >= 0, "the expansion order is the highest degree, 0 or more");
  static_assert(
      sizeof(Real) >= sizeof(double) || Order <= kernels::largest_order_in_float,
      "fmm: expansions in float and Mixed are of order 26 at most: factorials of twice the "
      "order, and harmonics of that degree, have to fit into float");
  static constexpr int order = Order;
  static constexpr int size = coefficient_count(Order);

  using only_adds = SphericalBasis;
  static constexpr bool harmonic = true;

  template <class V, class Multipole>
  KOKKOS_INLINE_FUNCTION static void p2m(V x, V y, V z, V q, Multipole&& M) {
    static constexpr auto table = kernels::NormTable<Order, Real>::make();
    kernels::visit_regular_harmonics<Order>(x, y, z, [&](int n, int m, V re, V im) {
      const int k = kernels::index_re(n, m);
      const V f = q * V(table.regular[k]);
      M[k] += f * re;
      if (m > 0) M[k + 1] += f * im;
    });
  }

  /// sqrt(sum_m M_nm^2): |q| r^n of a single charge at r.
  KOKKOS_INLINE_FUNCTION static Real power(Real const* M, int n) {
    if (n == 0) return M[0];
    Real sum = 0;
    for (int k = n * n; k < (n + 1) * (n + 1); ++k) sum += M[k] * M[k];
    return std::sqrt(sum);
  }

  /// With s = x / r^2 the irregular harmonics of x are |s| times the regular ones of s: the multipole of a
  /// charge q |s| there.
  template <class V, class Local>
  KOKKOS_INLINE_FUNCTION static void p2l(V x, V y, V z, V q, Real per_edge, Local&& L) {
    using simd::rsqrt;
    const V u = rsqrt(x * x + y * y + z * z), u2 = u * u;
    p2m(x * u2, y * u2, z * u2, q * u * V(per_edge), L);
  }

  static constexpr bool polynomial = Order <= kernels::largest_polynomial_order;
  static constexpr int prepared_size = polynomial ? kernels::monomial_count(3, Order) : size;

  KOKKOS_INLINE_FUNCTION static Real prepare_multipole(Real const* M, int k) {
    if constexpr (polynomial) {
      return kernels::polynomial_coefficient<Order>(M, k);
    } else {
      static constexpr auto table = kernels::NormTable<Order, Real>::make();
      return M[k] * table.inverse[k];
    }
  }

  KOKKOS_INLINE_FUNCTION static Real prepare_local(Real const* L, int k) {
    if constexpr (polynomial) {  // in the same basis
      return kernels::polynomial_coefficient<Order>(L, k);
    } else {
      static constexpr auto table = kernels::NormTable<Order, Real>::make();
      return L[k] * table.dual[k];
    }
  }

  /// As a polynomial H of s = x / r^2: Phi = H / r, grad Phi = (grad H - x (H + 2 s grad H)) / r^3.
  template <bool WithPotential, bool WithField, class V>
  KOKKOS_FORCEINLINE_FUNCTION static void m2p(V x, V y, V z, Real per_edge, Real const* S,
                                              kernels::PotentialGradient<V>& sum) {
    if constexpr (polynomial) {
      using simd::rsqrt;
      const V u = rsqrt(x * x + y * y + z * z), u2 = u * u, f = u * V(per_edge);
      const V s[3] = {x * u2, y * u2, z * u2};
      const auto H = kernels::horner<3, Order, WithField>(s, S);
      if constexpr (WithPotential) sum.potential += f * H.value;
      if constexpr (WithField) {
        const V radial = V(Real(2)) * (s[0] * H.d[0] + s[1] * H.d[1] + s[2] * H.d[2]) + H.value;
        const V weight = f * f * u;
        sum.x += weight * (H.d[0] - x * radial);
        sum.y += weight * (H.d[1] - y * radial);
        sum.z += weight * (H.d[2] - z * radial);
      }
    } else {
      V v[coefficient_count(Order + (WithField ? 1 : 0))];
      kernels::irregular_harmonics<Order + (WithField ? 1 : 0)>(x, y, z, v);
      const auto value = kernels::evaluate_multipole<Order, WithPotential, WithField>(v, S);
      if constexpr (WithPotential) sum.potential += V(per_edge) * value.potential;
      if constexpr (WithField) {
        const V f2(per_edge * per_edge);
        sum.x += f2 * value.x;
        sum.y += f2 * value.y;
        sum.z += f2 * value.z;
      }
    }
  }

  template <bool WithPotential, bool WithField, class V>
  KOKKOS_FORCEINLINE_FUNCTION static kernels::PotentialGradient<V> l2p(V x, V y, V z,
                                                                       Real const* S) {
    if constexpr (polynomial) {
      const V point[3] = {x, y, z};
      const auto H = kernels::horner<3, Order, WithField>(point, S);
      return {H.value, H.d[0], H.d[1], H.d[2]};
    } else {
      return kernels::evaluate_local<Order, WithPotential, WithField>(x, y, z, S);
    }
  }

  template <class V>
  requires polynomial KOKKOS_FORCEINLINE_FUNCTION static kernels::PotentialHessian<V> l2p_hessian(
      V x, V y, V z, Real const* S) {
    const V point[3] = {x, y, z};
    return kernels::as_potential(kernels::horner_hessian<3, Order>(point, S));
  }
  template <class V>
  requires polynomial KOKKOS_FORCEINLINE_FUNCTION static void m2p_hessian(
      V x, V y, V z, Real per_edge, Real const* S, kernels::PotentialHessian<V>& sum) {
    using simd::rsqrt;
    const V at[3] = {x, y, z}, u = rsqrt(x * x + y * y + z * z), u2 = u * u;
    const V s[3] = {x * u2, y * u2, z * u2};
    kernels::add_inverted(kernels::horner_hessian<3, Order>(s, S), at, s, u, V(per_edge), sum);
  }
};

/// Spherical harmonics translated by `Translation`.
template <int Order, class Real, class Translation>
struct SphericalExpansion : SphericalBasis<Order, Real> {
  using basis = SphericalBasis<Order, Real>;

  template <class V>
  KOKKOS_INLINE_FUNCTION static void m2m(V x, V y, V z, V* M) {
    const V half(Real(0.5));
    kernels::scale_degrees<Order>(M, V(Real(1)), half);  // from child edges to parent edges
    Translation::template m2m<Order>(x, y, z, M);
  }

  template <class V>
  KOKKOS_INLINE_FUNCTION static void m2l(V x, V y, V z, V s, V t, V* M) {
    Translation::template m2l<Order>(x, y, z, s, t, M);
  }

  template <class V>
  KOKKOS_INLINE_FUNCTION static void l2l(V x, V y, V z, V* L) {
    Translation::template l2l<Order>(x, y, z, L);
    const V half(Real(0.5));
    kernels::scale_degrees<Order>(L, V(Real(1)), half);
  }
};

namespace kernels {

/// BatchedGemm translates as Rotation does, but for the pairs in its buckets: the same class, compiled once.
template <class Translation>
using pairwise_t =
    std::conditional_t<std::is_same_v<Translation, BatchedGemm>, Rotation, Translation>;

template <class Kernel, int Order, class Real, class Translation>
struct ExpansionOf {
  using type = SphericalExpansion<Order, Real, pairwise_t<Translation>>;
};
template <class Kernel, int Order, class Real, class Translation>
  requires HasExpansion<Kernel, Order, Real, Translation>
struct ExpansionOf<Kernel, Order, Real, Translation> {
  using type = typename Kernel::template Expansion<Order, Real, Translation>;
};

/// The kernel's own `Expansion<Order, Real, Translation>` if it has one.
template <class Kernel, int Order, class Real, class Translation>
using expansion_t = typename ExpansionOf<Kernel, Order, Real, Translation>::type;

template <class Expansion>
struct BasisOf {
  using type = Expansion;
};
template <class Expansion>
  requires requires { typename Expansion::basis; }
struct BasisOf<Expansion> {
  using type = typename Expansion::basis;
};
template <class Expansion>
using basis_t = typename BasisOf<Expansion>::type;

/// The same expansion in double, of one in float that is the library's; else void.
template <class Basis>
struct InDouble {
  using type = void;
};
template <int Order>
struct InDouble<SphericalBasis<Order, float>> {
  using type = SphericalBasis<Order, double>;
};
template <class Basis>
using in_double_t = typename InDouble<Basis>::type;

/// The expansion of a kernel in a tree whose root's edge is that long.
template <class Expansion, class Kernel>
Expansion make_expansion(Kernel const& kernel, double root_edge) {
  if constexpr (!std::is_constructible_v<Expansion, Kernel const&, double>)
    return {};
  else if constexpr (RescalableKernel<Kernel>)
    return Expansion(kernel.rescaled(root_edge), 1.0);
  else
    return Expansion(kernel, root_edge);
}

/// The expansion of a functor, which derives from this, so that one without members takes no room. (What
/// [[no_unique_address]] means, nvcc 13 and its host compiler do not agree on.)
template <class Expansion,
          bool = std::is_empty_v<Expansion>&& std::is_default_constructible_v<Expansion>>
struct WithExpansion {
  Expansion held;
  WithExpansion(Expansion const& expansion) : held(expansion) {}
  KOKKOS_FORCEINLINE_FUNCTION Expansion const& expansion() const { return held; }
};
template <class Expansion>
struct WithExpansion<Expansion, true> {
  WithExpansion(Expansion const&) {}
  KOKKOS_FORCEINLINE_FUNCTION Expansion expansion() const { return {}; }
};

/// The expansion of a level's cells.
template <class Real, class Expansion>
KOKKOS_FORCEINLINE_FUNCTION decltype(auto) at_level(Expansion const& expansion, int level) {
  if constexpr (requires { expansion.at(Real(1)); })
    return expansion.at(edge_of_level<Real>(level));
  else
    return (expansion);
}

/// Numbers of a prepared multipole.
template <class Expansion>
KOKKOS_INLINE_FUNCTION constexpr int prepared_size() {
  if constexpr (requires { Expansion::prepared_size; })
    return Expansion::prepared_size;
  else
    return Expansion::size;
}

/// Whether M2P evaluates a polynomial (spherical/monomials.hpp), which takes no array of its own.
template <class Expansion>
KOKKOS_INLINE_FUNCTION constexpr bool is_polynomial() {
  if constexpr (requires { Expansion::polynomial; })
    return Expansion::polynomial;
  else
    return false;
}

/// Whether bodies can be expanded locally (P2L).
template <class Expansion>
constexpr bool has_p2l() {
  return requires(Expansion const& e, double x, double* L) { e.p2l(x, x, x, x, x, L); };
}

/// From one cell's expansion of `size` numbers to the next in memory: whole quads, for wide loads and
/// stores.
KOKKOS_INLINE_FUNCTION constexpr int row_length(int size) { return (size + 3) / 4 * 4; }

/// Four numbers that one instruction loads or stores.
template <class Real>
struct alignas(4 * sizeof(Real)) Quad {
  Real value[4];
};

}  // namespace kernels
}  // namespace fmm
