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
//   given(charges, i, k)        number k of the caller's source i
//   multipole_charge(number, d) the charge of density d, of number(k), as P2M and P2L take it; not asked for of
//                               strengths of one number, which is the charge
//   add<Outputs>(pair, x, y, z, source, sum)   adds to the sums of a target what W sources, one a lane, exert on it:
//                               the kernel's PairTerm of a unit charge (on a CPU perhaps twice its potential and eight
//                               times its weight: sums of both are scaled at the end), the target's place from the
//                               source's, the sources' strengths (SourcePack::strength(k)), and the target's sums
//                               (TargetSums)
//
// and a type of outputs
//
//   potential, field            whether they are wanted
//   densities, records          how many Sums a target has: those of one density, times densities
//   potential_of, field_of      the caller's numbers that they go to
#pragma once

#include "../cells/cell.hpp"
#include "../simd/simd.hpp"

namespace fmm::kernels {

/// Number i of density k, in (N) or, of several densities, (N,K).
template <int Densities, class View>
KOKKOS_FORCEINLINE_FUNCTION decltype(auto) at_density(View const& numbers, std::int64_t i,
                                                      [[maybe_unused]] int k) {
  if constexpr (Densities == 1)
    return numbers(i);
  else
    return numbers(i, k);
}

/// Which results are wanted, of so many densities: a compile-time choice that saves the others' work. A target has
/// the Sums of one density after the other's.
template <bool Potential, bool Field, int Densities = 1>
struct Outputs {
  static constexpr bool potential = Potential, field = Field;
  static constexpr int densities = Densities, records = Densities;

  /// The caller's result of target i and density k, in (N) or (N,K).
  template <class View>
  KOKKOS_FORCEINLINE_FUNCTION static decltype(auto) potential_of(View const& results,
                                                                 std::int64_t i, int k) {
    return at_density<Densities>(results, i, k);
  }
  /// In (N,3) or (N,K,3).
  template <class View>
  KOKKOS_FORCEINLINE_FUNCTION static decltype(auto) field_of(View const& results, std::int64_t i,
                                                             [[maybe_unused]] int k, int d) {
    if constexpr (Densities == 1)
      return results(i, d);
    else
      return results(i, k, d);
  }
};

/// A charge for each of K densities; of one, the body's charge.
template <int K = 1>
struct Charges {
  static_assert(K >= 1, "fmm: there is at least one density");
  static constexpr int numbers = K, densities = K;

  /// Of (N) charges or (N,K).
  template <class View>
  KOKKOS_FORCEINLINE_FUNCTION static decltype(auto) given(View const& charges, std::int64_t i,
                                                          int k) {
    return at_density<K>(charges, i, k);
  }
  template <class Number>
  KOKKOS_FORCEINLINE_FUNCTION static auto multipole_charge(Number const& number, int density) {
    return number(density);
  }
  template <class Out, class Pair, class V, class Sources, class Sum>
  KOKKOS_FORCEINLINE_FUNCTION static void add(Pair const& pair, V x, V y, V z,
                                              Sources const& source, Sum& sum) {
    FMM_UNROLL
    for (int k = 0; k < K; ++k) {
      auto& of_density = sum.record(k);
      const V q = source.strength(k);
      if constexpr (Out::potential) of_density.potential += q * pair.potential;
      if constexpr (Out::field) {
        const V w = q * pair.weight;
        of_density.x += w * x;
        of_density.y += w * y;
        of_density.z += w * z;
      }
    }
  }
};

/// What lies in one of so many equal pieces of an array: the expansions of one density.
template <class Space, class Real>
Array<Real, Space> plane(Array<Real, Space> const& all, int which, int count) {
  const auto size = std::int64_t(all.extent(0)) / count;
  return subarray(all, which * size, size);
}

/// Bodies in tree order with all their strengths: the first number of body i is bodies(i).q, the others are in its row
/// of `others`, which is empty where there are no others.
template <class Space, class Real, class Strengths = Charges<>>
struct SourceStrengths {
  static constexpr int row = Strengths::numbers - 1;
  Array<Body<Real>, Space> bodies;
  Array<Real, Space> others;

  /// Of density d, as P2M and P2L take it; `body` is body i.
  KOKKOS_FORCEINLINE_FUNCTION Real charge([[maybe_unused]] std::int64_t i, Body<Real> const& body,
                                          [[maybe_unused]] int d) const {
    if constexpr (row == 0)
      return body.q;
    else
      return Strengths::multipole_charge([&](int k) { return number(i, k); }, d);
  }
  /// Number k of body i.
  KOKKOS_FORCEINLINE_FUNCTION Real number(std::int64_t i, [[maybe_unused]] int k) const {
    if constexpr (row > 0)
      if (k > 0) return others(i * row + k - 1);
    return bodies(i).q;
  }
};

/// Bodies with a charge each.
template <class Space, class Real>
SourceStrengths<Space, Real> charges_of(Array<Body<Real>, Space> bodies) {
  return {bodies, {}};
}

}  // namespace fmm::kernels
