// SPDX-License-Identifier: BSD-3-Clause
// What a source carries beside its place, its strengths, and what a target receives, its outputs: types that
// own how a number is loaded, added and stored. Operators at bodies (P2M, P2L, P2P, M2P, L2P) and the first and the
// last stage of an evaluation take them as parameters. Trees, lists, M2M, M2L and L2L know nothing of them.
//
//     in tree order   of a source: Body::q is the first number of its strengths, a row of SourceStrengths::others has
//                     the others. Of a target: so many Sums, one after the other
//     cells           an expansion for each density; those of one density lie together
//
// A type of strengths provides
//
//   numbers                     of a source, 1 or more
//   densities                   sets of sources that share their places, and whose sums are wanted each
//   has_dipoles                 whether there are dipoles, and higher derivatives of the kernel are wanted
//   density_of(k)               the density that number k is of
//   is_dipole(k)                whether number k is part of one: charge times length. Number 0 is a charge
//   given(charges, i, k)        number k of the caller's source i
//   name_of(charges, i, k)      what a caller calls it
//   multipole_charge(number, d) the charge of density d, of number(k), as P2M and P2L take it; not asked for of
//                               strengths of one number, which is the charge
//   multipole_dipole(number, d, c)   component c of the dipole, if there are such
//   add<Outputs>(pair, x, y, z, source, sum)   adds to the sums of a target what W sources, one a lane, exert on it:
//                               the kernel's PairTerm of a unit charge (on a CPU perhaps twice its potential and eight
//                               times its weight: sums of both are scaled at the end), or PairDerivatives if dipoles or
//                               Hessians want them, the target's place from the source's, the sources' strengths
//                               (SourcePack::strength(k)), and the target's sums (TargetSums)
//
// and a type of outputs
//
//   potential, field, hessian   whether they are wanted
//   densities, records          how many Sums a target has: those of one density, times densities
//   record(k)                   the first of density k: its potential and field. Two more have the Hessian, if it is
//                               wanted: xx, yy, zz, xy in the places of potential, x, y, z, and xz, yz and what is to
//                               be taken from the diagonal
//   potential_of, field_of, hessian_of   the caller's numbers that they go to
#pragma once

#include <string>

#include "../cells/cell.hpp"
#include "../simd/simd.hpp"
#include "density_block.hpp"
#include "pair_derivatives.hpp"

namespace fmm::kernels {

/// Which results are wanted, of so many densities: a compile-time choice that saves the others' work. A target has
/// the Sums of one density after the other's.
template <bool Potential, bool Field, int Densities = 1, bool Hessian = false>
struct Outputs {
  static constexpr bool potential = Potential, field = Field, hessian = Hessian;
  static constexpr int densities = Densities, of_density = Hessian ? 3 : 1,
                       records = Densities * of_density;
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int record(int density) {
    return density * of_density;
  }
  KOKKOS_FORCEINLINE_FUNCTION static constexpr bool is_of_hessian(int record) {
    return record % of_density > 0;
  }
  /// Whether it has what is to be taken from the diagonal, as its y.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr bool has_rest(int record) {
    return record % of_density == 2;
  }

  /// The caller's result of target i and density k.
  template <class Array>
  KOKKOS_FORCEINLINE_FUNCTION static decltype(auto) potential_of(Array const& results,
                                                                 std::int64_t i, int k) {
    return at_density<Densities>(results, i, k);
  }
  /// Component d of it.
  template <class Array>
  KOKKOS_FORCEINLINE_FUNCTION static decltype(auto) field_of(Array const& results, std::int64_t i,
                                                             int k, int d) {
    return at_density<Densities>(results, i, k, d);
  }
  template <class Array>
  KOKKOS_FORCEINLINE_FUNCTION static decltype(auto) hessian_of(Array const& results, std::int64_t i,
                                                               int k, int d) {
    return at_density<Densities>(results, i, k, d);
  }
};

/// The Hessian of the two records that follow a density's first: xx, yy, zz, xy, xz, yz.
template <class Record, class V>
KOKKOS_FORCEINLINE_FUNCTION void hessian_of_records(Record const& diagonal, Record const& rest,
                                                    V (&numbers)[6]) {
  const V taken = rest.y;
  const V all[6] = {diagonal.potential - taken,
                    diagonal.x - taken,
                    diagonal.y - taken,
                    diagonal.z,
                    rest.potential,
                    rest.x};
  for (int d = 0; d < 6; ++d) numbers[d] = all[d];
}

/// Adds a (n n^T) - b I to a target's Hessian, whose records follow the one that is `first` of the density. What is
/// taken from the diagonal has a sum of its own.
template <class V, class Sum>
KOKKOS_FORCEINLINE_FUNCTION void add_outer(V a, V const (&n)[3], V b, int first, Sum& sum) {
  auto& diagonal = sum.record(first + 1);
  auto& rest = sum.record(first + 2);
  const V x = a * n[0], y = a * n[1], z = a * n[2];
  diagonal.potential += x * n[0];
  diagonal.x += y * n[1];
  diagonal.y += z * n[2];
  diagonal.z += x * n[1];
  rest.potential += x * n[2];
  rest.x += y * n[2];
  rest.y += b;
}
/// Takes a (n p^T + p n^T) from it.
template <class V, class Sum>
KOKKOS_FORCEINLINE_FUNCTION void take_symmetric(V a, V const (&n)[3], V const (&p)[3], int first,
                                                Sum& sum) {
  auto& diagonal = sum.record(first + 1);
  auto& rest = sum.record(first + 2);
  const V x = a * n[0], y = a * n[1], z = a * n[2];
  diagonal.potential -= (x + x) * p[0];
  diagonal.x -= (y + y) * p[1];
  diagonal.y -= (z + z) * p[2];
  diagonal.z -= x * p[1] + y * p[0];
  rest.potential -= x * p[2] + z * p[0];
  rest.x -= y * p[2] + z * p[1];
}

/// Adds what charges q exert; `pair` has higher derivatives if Hessians are wanted.
template <class Out, class Pair, class V, class Sum>
KOKKOS_FORCEINLINE_FUNCTION void add_charge(Pair const& pair, V x, V y, V z, V q, int density,
                                            Sum& sum) {
  auto& of_density = sum.record(Out::record(density));
  if constexpr (Out::potential) of_density.potential += q * pair.potential;
  if constexpr (Out::field) {
    const V w = q * pair.weight;
    of_density.x += w * x;
    of_density.y += w * y;
    of_density.z += w * z;
  }
  if constexpr (Out::hessian) {
    const V n[3] = {pair.scale * x, pair.scale * y, pair.scale * z}, w = q * pair.weight;
    if constexpr (requires { pair.second; })
      add_outer(q * pair.second, n, w, Out::record(density), sum);
    else
      add_outer(w, n, w, Out::record(density), sum);  // NewtonianThirds
  }
}

/// The same of K densities' charges, whose fields have one direction: without Hessians.
template <class Out, int K, class Pair, class V, class Sources, class Sum>
KOKKOS_FORCEINLINE_FUNCTION void add_charges(Pair const& pair, V x, V y, V z, Sources const& source,
                                             Sum& sum) {
  const V wx = pair.weight * x, wy = pair.weight * y, wz = pair.weight * z;
  FMM_UNROLL
  for (int k = 0; k < K; ++k) {
    auto& of_density = sum.record(Out::record(k));
    const V q = source.strength(k);
    if constexpr (Out::potential) of_density.potential += q * pair.potential;
    if constexpr (Out::field) {
      of_density.x += q * wx;
      of_density.y += q * wy;
      of_density.z += q * wz;
    }
  }
}

/// Adds what dipoles p exert, by higher derivatives of the kernel.
template <class Out, class V, class Sum>
KOKKOS_FORCEINLINE_FUNCTION void add_dipole(PairDerivatives<V> const& pair, V x, V y, V z,
                                            V const (&p)[3], int density, Sum& sum) {
  auto& of_density = sum.record(Out::record(density));
  const V along = p[0] * x + p[1] * y + p[2] * z;
  if constexpr (Out::potential) of_density.potential += pair.weight * along;
  if constexpr (Out::field || Out::hessian) {
    const V n[3] = {pair.scale * x, pair.scale * y, pair.scale * z}, pn = pair.scale * along;
    if constexpr (Out::field) {
      const V a = pair.second * pn;
      of_density.x += a * n[0] - pair.weight * p[0];
      of_density.y += a * n[1] - pair.weight * p[1];
      of_density.z += a * n[2] - pair.weight * p[2];
    }
    if constexpr (Out::hessian) {
      const V t = pair.second * pair.scale;
      add_outer(pair.third * pn, n, t * pn, Out::record(density), sum);
      take_symmetric(t, n, p, Out::record(density), sum);
    }
  }
}

/// A charge for each of K densities; of one, the body's charge.
template <int K = 1>
struct Charges {
  static_assert(K >= 1, "fmm: there is at least one density");
  static constexpr int numbers = K, densities = K;
  static constexpr bool has_dipoles = false;
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int density_of(int k) { return k; }
  KOKKOS_FORCEINLINE_FUNCTION static constexpr bool is_dipole(int) { return false; }

  /// Of (N) charges, (N,K), or a block of such.
  template <class Array>
  KOKKOS_FORCEINLINE_FUNCTION static decltype(auto) given(Array const& charges, std::int64_t i,
                                                          int k) {
    if constexpr (is_density_block_v<Array>)
      return has_density(charges, k) ? double(at_density<K>(charges, i, k)) : 0.0;
    else
      return at_density<K>(charges, i, k);
  }
  template <class Array>
  static std::string name_of(Array const& charges, std::int64_t i, int k) {
    return "charges(" + std::to_string(i) + comma_density<K>(charges, k) + ")";
  }
  template <class Number>
  KOKKOS_FORCEINLINE_FUNCTION static auto multipole_charge(Number const& number, int density) {
    return number(density);
  }
  template <class Out, class Pair, class V, class Sources, class Sum>
  KOKKOS_FORCEINLINE_FUNCTION static void add(Pair const& pair, V x, V y, V z,
                                              Sources const& source, Sum& sum) {
    if constexpr (K > 1 && !Out::hessian) {
      add_charges<Out, K>(pair, x, y, z, source, sum);
    } else {
      FMM_UNROLL
      for (int k = 0; k < K; ++k) add_charge<Out>(pair, x, y, z, source.strength(k), k, sum);
    }
  }
};

/// A dipole for each of K densities, with Charge a charge, too, given as fmm::Strengths; of several densities those are
/// (N,K) and (N,K,3). Numbers are q, px, py, pz of one density after the other; without charges q is 0, and is left out
/// of sums.
template <bool Charge, int K = 1>
struct Dipoles {
  static_assert(K >= 1, "fmm: there is at least one density");
  static constexpr int numbers = 4 * K, densities = K;
  static constexpr bool has_dipoles = true;
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int density_of(int k) { return k / 4; }
  KOKKOS_FORCEINLINE_FUNCTION static constexpr bool is_dipole(int k) { return k % 4 != 0; }

  template <class Given>
  KOKKOS_FORCEINLINE_FUNCTION static double given(Given const& all, std::int64_t i, int k) {
    if (!has_density(all.dipoles, density_of(k))) return 0;
    if (is_dipole(k)) return at_density<K>(all.dipoles, i, density_of(k), k % 4 - 1);
    if constexpr (Charge)
      return at_density<K>(all.charges, i, density_of(k));
    else
      return 0;
  }
  template <class Given>
  static std::string name_of(Given const& all, std::int64_t i, int k) {
    const std::string of = std::to_string(i) + comma_density<K>(all.dipoles, density_of(k));
    if (!is_dipole(k)) return "charges(" + of + ")";
    return "dipoles(" + of + "," + std::to_string(k % 4 - 1) + ")";
  }
  template <class Number>
  KOKKOS_FORCEINLINE_FUNCTION static auto multipole_charge(Number const& number, int density) {
    return number(4 * density);
  }
  template <class Number>
  KOKKOS_FORCEINLINE_FUNCTION static auto multipole_dipole(Number const& number, int density,
                                                           int component) {
    return number(4 * density + 1 + component);
  }
  template <class Out, class Pair, class V, class Sources, class Sum>
  KOKKOS_FORCEINLINE_FUNCTION static void add(Pair const& pair, V x, V y, V z,
                                              Sources const& source, Sum& sum) {
    FMM_UNROLL
    for (int k = 0; k < K; ++k) {
      if constexpr (Charge) add_charge<Out>(pair, x, y, z, source.strength(4 * k), k, sum);
      const V p[3] = {source.strength(4 * k + 1), source.strength(4 * k + 2),
                      source.strength(4 * k + 3)};
      add_dipole<Out>(pair, x, y, z, p, k, sum);
    }
  }
};

/// What lies in one of so many equal pieces of an array: the expansions of one density.
template <class Space, class Real>
Array<Real, Space> plane(Array<Real, Space> const& all, int which, int count) {
  const auto size = std::int64_t(all.extent(0)) / count;
  return subarray(all, which * size, size);
}

/// Bodies in tree order with all their strengths: the first number of body i is bodies(i).q. Each other number of all
/// bodies is a row of `others`, which is empty where there are no others.
template <class Space, class Real, class Strengths = Charges<>>
struct SourceStrengths {
  using strengths = Strengths;
  static constexpr int rows = Strengths::numbers - 1;
  Array<Body<Real>, Space> bodies;
  Array<Real, Space> others;

  /// Of density d, as P2M and P2L take it; `body` is body i.
  KOKKOS_FORCEINLINE_FUNCTION Real charge([[maybe_unused]] std::int64_t i, Body<Real> const& body,
                                          [[maybe_unused]] int d) const {
    if constexpr (rows == 0)
      return body.q;
    else
      return Strengths::multipole_charge([&](int k) { return number(i, k); }, d);
  }
  /// Component c of the dipole of body i and density d.
  KOKKOS_FORCEINLINE_FUNCTION Real dipole(std::int64_t i, int d, int c, Real per_length) const {
    return per_length * Strengths::multipole_dipole([&](int k) { return number(i, k); }, d, c);
  }
  /// Number k > 0 of body i; those of the next bodies follow it.
  KOKKOS_FORCEINLINE_FUNCTION Real& other(std::int64_t i, int k) const {
    return others((k - 1) * std::int64_t(bodies.extent(0)) + i);
  }
  /// Number k of body i.
  KOKKOS_FORCEINLINE_FUNCTION Real number(std::int64_t i, [[maybe_unused]] int k) const {
    if constexpr (rows > 0)
      if (k > 0) return other(i, k);
    return bodies(i).q;
  }
  /// The same where so many units of length are one of the strengths'.
  KOKKOS_FORCEINLINE_FUNCTION Real number_in(std::int64_t i, int k,
                                             [[maybe_unused]] Real per_length) const {
    return Strengths::is_dipole(k) ? number(i, k) * per_length : number(i, k);
  }
};

/// Bodies with a charge each.
template <class Space, class Real>
SourceStrengths<Space, Real> charges_of(Array<Body<Real>, Space> bodies) {
  return {bodies, {}};
}

}  // namespace fmm::kernels
