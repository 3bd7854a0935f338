// SPDX-License-Identifier: BSD-3-Clause
// Whether a class satisfies the contract of an expansion (expansion.hpp), and what it lacks, in words.
#pragma once

#include <concepts>
#include <utility>

#include "expansion.hpp"

namespace fmm::kernels {

// An expansion's functions. `AtLevel` is what the expansion is on one level (at_level).

template <class AtLevel, class Real>
concept MakesMultipoles = requires(AtLevel const& expansion, Real x, Real* M) {
  expansion.p2m(x, x, x, x, M);
  expansion.m2m(x, x, x, M);
};
template <class Expansion, class Real>
concept EvaluatesMultipoles = requires(Expansion const& expansion, Real x, Real const* S,
                                       PotentialGradient<Real>& sum) {
  expansion.template m2p<true, true>(x, x, x, x, S, sum);
};
template <class Expansion, class Real>
concept TranslatesMultipoles = requires(Expansion const& expansion, Real x, Real* M) {
  expansion.m2l(x, x, x, x, x, M);
};
template <class AtLevel, class Real>
concept EvaluatesLocals = requires(AtLevel const& expansion, Real x, Real* L, Real const* S) {
  expansion.l2l(x, x, x, L);
  { expansion.template l2p<true, true>(x, x, x, S) } -> std::same_as<PotentialGradient<Real>>;
};
template <class Expansion, class Real>
concept PreparesMultipoles = requires(Expansion const& expansion, Real const* M) {
  { expansion.prepare_multipole(M, 0) } -> std::convertible_to<Real>;
};
template <class Expansion, class Real>
concept PreparesLocals = requires(Expansion const& expansion, Real const* L) {
  { expansion.prepare_local(L, 0) } -> std::convertible_to<Real>;
};
template <class Expansion>
concept HasPreparedSize = requires {
  Expansion::prepared_size;
};

/// Compiles for an expansion that a kernel can bring; for all others the compiler says what is missing.
template <class Expansion, class Kernel, class Real, bool HasLocals>
constexpr bool check_expansion() {
  static_assert(std::is_trivially_copyable_v<Expansion>,
                "fmm: a kernel's own Expansion must be trivially copyable, without virtual "
                "functions: device code gets an object of it by value");
  static_assert(std::is_constructible_v<Expansion, Kernel const&, double> ||
                    (std::is_empty_v<Expansion> && std::is_default_constructible_v<Expansion>),
                "fmm: a kernel's own Expansion must be constructible from the kernel and the edge "
                "of the root, (Kernel const&, double), or have no members");
  static_assert(
      requires { typename std::integral_constant<int, Expansion::size>; },
      "fmm: a kernel's own Expansion must have `static constexpr int size`, the numbers "
      "of a cell");
  using AtLevel =
      std::remove_cvref_t<decltype(at_level<Real>(std::declval<Expansion const&>(), 0))>;
  static_assert(MakesMultipoles<AtLevel, Real>,
                "fmm: a kernel's own Expansion must have p2m(x, y, z, q, M) and m2m(x, y, z, M), "
                "const or static (kernels/expansion.hpp)");
  static_assert(EvaluatesMultipoles<Expansion, Real>,
                "fmm: a kernel's own Expansion must have m2p<P, F>(x, y, z, f, S, sum), const or "
                "static (kernels/expansion.hpp)");
  static_assert(
      !HasPreparedSize<Expansion> || PreparesMultipoles<Expansion, Real>,
      "fmm: a kernel's own Expansion with prepared_size must have prepare_multipole(M, k)");
  if constexpr (HasLocals) {
    static_assert(!HasPreparedSize<Expansion> || PreparesLocals<Expansion, Real>,
                  "fmm: a kernel's own Expansion with prepared_size must have prepare_local(L, k), "
                  "unless in a treecode");
    static_assert(TranslatesMultipoles<Expansion, Real>,
                  "fmm: a kernel's own Expansion must have m2l(x, y, z, s, t, M), const or static, "
                  "unless in a treecode (kernels/expansion.hpp)");
    static_assert(EvaluatesLocals<AtLevel, Real>,
                  "fmm: a kernel's own Expansion must have l2l(x, y, z, L) and l2p<P, F>(x, y, z, "
                  "S) -> PotentialGradient, const or static, unless in a treecode "
                  "(kernels/expansion.hpp)");
  }
  return true;
}

}  // namespace fmm::kernels
