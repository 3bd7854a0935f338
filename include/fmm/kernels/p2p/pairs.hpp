// SPDX-License-Identifier: BSD-3-Clause
// Sums over pairs: what W sources of a chunk, and all sources of a chunk, add to the sums of a thread's
// targets (Yokota & Barba 2011, listing 9.1: the inner loop).
//
// A thread has several targets in registers while a chunk passes. It takes every `step`-th block of W
// sources; a target's sums have a lane for each residue of the sources. Coordinates and sums are in the
// targets' unit. Differences of coordinates in one part are good to 2^-24 of that unit in float, those of
// coordinates in two parts to 2^-47.
//
// The order of a target's sum is the order of the blocks, and no two threads write the same sums.
#pragma once

#include "../pair_traits.hpp"
#include "chunk.hpp"

namespace fmm::kernels {

/// Coordinates of a target in one part, or in two whose sum they are.
template <class Real, bool TwoPart>
struct Place {
  Real x[3];
};
template <class Real>
struct Place<Real, true> {
  Real x[3], low[3];
};

/// Sums of one target in so many records, a lane for each residue of the sources.
template <class V, int Records = 1>
struct TargetSums {
  using Real = lane_scalar_t<V>;
  TargetSums<V> of[Records];

  KOKKOS_FORCEINLINE_FUNCTION TargetSums<V>& record(int k) { return of[k]; }
  KOKKOS_FORCEINLINE_FUNCTION TargetSums<V> const& record(int k) const { return of[k]; }
  template <class U>
  KOKKOS_FORCEINLINE_FUNCTION TargetSums& operator+=(TargetSums<U, Records> const& b) {
    FMM_UNROLL
    for (int k = 0; k < Records; ++k) of[k] += b.of[k];
    return *this;
  }
  KOKKOS_FORCEINLINE_FUNCTION TargetSums<Real, Records> over_lanes() const {
    TargetSums<Real, Records> sums;
    FMM_UNROLL
    for (int k = 0; k < Records; ++k) sums.of[k] = of[k].over_lanes();
    return sums;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool finite() const {
    bool all = true;
    FMM_UNROLL
    for (int k = 0; k < Records; ++k) all = all && of[k].finite();
    return all;
  }
};
template <class V>
struct TargetSums<V, 1> {
  using Real = lane_scalar_t<V>;
  V potential = V(Real(0)), x = V(Real(0)), y = V(Real(0)), z = V(Real(0));

  KOKKOS_FORCEINLINE_FUNCTION TargetSums& record(int) { return *this; }
  KOKKOS_FORCEINLINE_FUNCTION TargetSums const& record(int) const { return *this; }
  template <class U>
  KOKKOS_FORCEINLINE_FUNCTION TargetSums& operator+=(TargetSums<U> const& b) {
    potential += b.potential;
    x += b.x;
    y += b.y;
    z += b.z;
    return *this;
  }
  KOKKOS_FORCEINLINE_FUNCTION TargetSums<Real> over_lanes() const {
    using T = LaneTraits<V>;
    return {T::sum(potential), T::sum(x), T::sum(y), T::sum(z)};
  }
  /// Of one lane: neither infinite nor NaN (nor so large that their sum is).
  KOKKOS_FORCEINLINE_FUNCTION bool finite() const {
    const V all = potential + x + y + z;
    return all - all == V(0);
  }
};

/// What the sources of a chunk may have in common with the targets.
struct Overlap {
  /// A source may be at the point of a target that is another body. If not, the pair kernel's faster form for
  /// bodies that are apart is taken, and sums with such a source may be infinite or NaN.
  bool may_coincide;
  /// The targets themselves are among the sources: each is left out of its own sum.
  bool has_self;

  KOKKOS_INLINE_FUNCTION constexpr bool none() const { return !may_coincide && !has_self; }
};
inline constexpr Overlap no_overlap{.may_coincide = false, .has_self = false};

/// Whether pairs are summed by higher derivatives of the kernel.
template <class Strengths, class Out>
inline constexpr bool wants_derivatives = Strengths::has_dipoles || Out::hessian;

/// Whether the sums of sources that are apart are those of 2 / sqrt(s2), twice the potential and eight times the
/// field.
template <class Strengths, class Out, Overlap Kind, class Kernel, class V>
inline constexpr bool sums_twice_rsqrt = !Kind.may_coincide && IsNewtonian<Kernel> &&
                                         has_twice_rsqrt<V> && !wants_derivatives<Strengths, Out>;

/// Whether sums have a third of the Hessian's terms but what is taken from its diagonal: of charges, by
/// NewtonianThirds.
template <class Strengths, class Out, class Kernel>
inline constexpr bool sums_thirds_of_hessian =
    Out::hessian && !Strengths::has_dipoles && IsNewtonian<Kernel>;

/// A record of a target's sums in the units of potentials and fields, and of Hessians, which follow from these.
template <class Strengths, class Out, class Kernel, class Sum, class V, class Unit>
KOKKOS_FORCEINLINE_FUNCTION Sums<Sum> in_units_of_results(TargetSums<V> const& total, int record,
                                                          Unit of_potentials, Unit of_fields) {
  if (!Out::is_of_hessian(record))
    return {total.potential * of_potentials, total.x * of_fields, total.y * of_fields,
            total.z * of_fields};
  const Unit unit = of_fields * (of_fields / of_potentials);
  const Unit of_terms = sums_thirds_of_hessian<Strengths, Out, Kernel> ? 3 * unit : unit;
  return {total.potential * of_terms, total.x * of_terms,
          total.y * (Out::has_rest(record) ? unit : of_terms), total.z * of_terms};
}

/// Whether potential and field of such sources share q / r: to packs that saves a multiplication, since an addition
/// has units of its own; all pairs on an H200 are 4 % slower.
template <Overlap Kind, class Kernel, class V>
inline constexpr bool shares_q_over_r =
    !Kind.may_coincide && IsNewtonian<Kernel> && (lane_count_v<V> > 1);

/// Adds W sources to a target. If this is among them it is lane `self`, which is left out.
template <class Strengths, class Out, Overlap Kind, class Kernel, class V, class Real, bool TwoPart>
KOKKOS_FORCEINLINE_FUNCTION void add_sources(
    Kernel const& kernel, TwoPartSources<V, TwoPart, Strengths::numbers> const& source, V start,
    [[maybe_unused]] int self, Place<Real, TwoPart> const& at, TargetSums<V, Out::records>& sum) {
  V dx = V(at.x[0]) - source.high.x, dy = V(at.x[1]) - source.high.y,
    dz = V(at.x[2]) - source.high.z;
  if constexpr (TwoPart) {
    dx += V(at.low[0]) - source.low.x;
    dy += V(at.low[1]) - source.low.y;
    dz += V(at.low[2]) - source.low.z;
  }
  V r2 = dz * dz + (dy * dy + (dx * dx + start));
  auto strengths = source.high;
  if constexpr (Kind.has_self) {
    const auto is_self = LaneTraits<V>::iota() == V(Real(self));
    strengths.q = select(is_self, V(Real(0)), strengths.q);
    if constexpr (Strengths::numbers > 1) FMM_UNROLL
    for (V& other : strengths.others) other = select(is_self, V(Real(0)), other);
    r2 = select(is_self, V(Real(1)) + start, r2);
  }
  if constexpr (sums_thirds_of_hessian<Strengths, Out, Kernel>) {
    const V u = pair_term<!Kind.may_coincide>(kernel, r2).potential;
    Strengths::template add<Out>(NewtonianThirds<V>{u, u * (u * u), u}, dx, dy, dz, strengths, sum);
  } else if constexpr (wants_derivatives<Strengths, Out>) {
    Strengths::template add<Out>(pair_derivatives<!Kind.may_coincide>(kernel, r2), dx, dy, dz,
                                 strengths, sum);
  } else if constexpr (shares_q_over_r<Kind, Kernel, V>) {
    V u;
    if constexpr (sums_twice_rsqrt<Strengths, Out, Kind, Kernel, V>)
      u = twice_rsqrt(r2);
    else
      u = rsqrt(r2);
    if constexpr (std::is_same_v<Strengths, Charges<>>) {
      const V potential = strengths.q * u;
      if constexpr (Out::potential) sum.potential += potential;
      if constexpr (Out::field) {
        const V w = potential * (u * u);
        sum.x += w * dx;
        sum.y += w * dy;
        sum.z += w * dz;
      }
    } else {
      Strengths::template add<Out>(PairTerm<V>{u, u * (u * u)}, dx, dy, dz, strengths, sum);
    }
  } else {
    Strengths::template add<Out>(pair_term<!Kind.may_coincide>(kernel, r2), dx, dy, dz, strengths,
                                 sum);
  }
}

/// Adds blocks begin, begin + step, .. of `count` loaded sources to `Targets` targets. If these are among
/// them, target t is number self[t] of the chunk. The loop is unrolled to `Pairs` pairs or more.
template <class Strengths, class Out, Overlap Kind, int Targets, int Pairs, class Kernel, class V,
          class Real, bool TwoPart, int Capacity, int Most>
KOKKOS_FORCEINLINE_FUNCTION void accumulate(Kernel const& kernel,
                                            Chunk<V, Capacity, TwoPart, Strengths::numbers> chunk,
                                            int begin, int count, int step, int const (&self)[Most],
                                            Place<Real, TwoPart> const (&at)[Most],
                                            TargetSums<V, Out::records> (&sum)[Most]) {
  constexpr int W = lane_count_v<V>;
  const int blocks = (count + W - 1) / W;
  const V start(Kind.may_coincide ? Real(0) : softening2<Real>(kernel));
  FMM_UNROLL_BY(Kind.has_self ? 1 : (Pairs + Targets - 1) / Targets)
  for (int block = begin; block < blocks; block += step) {
    const TwoPartSources<V, TwoPart, Strengths::numbers> source(chunk, block);
    FMM_UNROLL
    for (int t = 0; t < Targets; ++t)
      add_sources<Strengths, Out, Kind>(kernel, source, start, self[t] - block * W, at[t], sum[t]);
  }
}

/// The same for an even number of such blocks of sources that have nothing in common with the targets, where the last
/// target takes every second block: the first of two, or the other one (`odd`).
template <class Strengths, class Out, int Targets, int Pairs, class Kernel, class V, class Real,
          bool TwoPart, int Capacity, int Most>
KOKKOS_FORCEINLINE_FUNCTION void accumulate_halved(
    Kernel const& kernel, Chunk<V, Capacity, TwoPart, Strengths::numbers> chunk, int begin,
    int count, int step, bool odd, Place<Real, TwoPart> const (&at)[Most],
    TargetSums<V, Out::records> (&sum)[Most]) {
  constexpr int W = lane_count_v<V>, pairs = 2 * Targets - 1, last = Targets - 1;
  const int blocks = (count + W - 1) / W, mine = odd ? step : 0;
  const V start(softening2<Real>(kernel));
  FMM_UNROLL_BY((Pairs + pairs - 1) / pairs)
  for (int block = begin; block < blocks; block += 2 * step) {
    FMM_UNROLL
    for (int k = 0; k < (last > 0 ? 2 : 0); ++k) {
      const TwoPartSources<V, TwoPart, Strengths::numbers> source(chunk, block + k * step);
      FMM_UNROLL
      for (int t = 0; t < last; ++t)
        add_sources<Strengths, Out, no_overlap>(kernel, source, start, 0, at[t], sum[t]);
    }
    const TwoPartSources<V, TwoPart, Strengths::numbers> of_last(chunk, block + mine);
    add_sources<Strengths, Out, no_overlap>(kernel, of_last, start, 0, at[last], sum[last]);
  }
}

/// Whether r^2 + start of a target and one of the sources begin, begin + step, .. is below close2; target t is not
/// compared with source self[t].
template <class Chunk, class Real, int Targets>
KOKKOS_FORCEINLINE_FUNCTION bool any_closer(Chunk const& chunk, int begin, int count, int step,
                                            int const (&self)[Targets],
                                            Place<Real, false> const (&at)[Targets], Real start,
                                            Real close2) {
  bool any = false;
  for (int j = begin; j < count; j += step) {
    const auto source = chunk.high.load(j);
    FMM_UNROLL
    for (int t = 0; t < Targets; ++t) {
      const Real dx = at[t].x[0] - source.x, dy = at[t].x[1] - source.y, dz = at[t].x[2] - source.z;
      any |= (dz * dz + (dy * dy + (dx * dx + start)) < close2) & (j != self[t]);
    }
  }
  return any;
}

}  // namespace fmm::kernels
