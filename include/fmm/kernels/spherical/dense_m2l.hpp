// SPDX-License-Identifier: BSD-3-Clause
// M2L by matrices, O(p^4): what happens before and after the products. The matrix of a class of offsets is
// written down coefficient by coefficient; multipoles of a bucket's pairs are gathered as the rows of a
// matrix; the rows of the product are added to the targets' local expansions.
//
// All three know the reflection that takes a pair's offset to that of its class: in the real basis it is a
// sign of each coefficient, of the multipole before and of the local expansion after.
#pragma once

#include <vector>

#include "../../cells/offset_class.hpp"
#include "../../detail/launch.hpp"
#include "../../detail/memory.hpp"
#include "../../tuning.hpp"
#include "../expansion.hpp"
#include "coefficient.hpp"

namespace fmm::kernels {

/// signs(r row + k): of coefficient k under reflection r.
template <class Space, class Real>
struct MakeSigns {
  int row;
  Array<Real, Space> signs;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int flipped = Coefficient::at(int(i % row)).odd() & int(i / row);
    signs(i) = Real(count_bits(std::uint32_t(flipped)) % 2 == 0 ? 1 : -1);
  }
};

/// Rows and columns of the matrices that are multiplied. On a GPU with what pads them to whole quads: cuBLAS is up to
/// 1.7 times as fast at such sizes in double (docs/design.md, measured choices).
template <class Space, int Order>
inline constexpr int multiplied_v = is_host_space_v<Space> ? coefficient_count(Order)
                                                           : row_length(coefficient_count(Order));

/// Element (k, i) of matrix b: what coefficient k of a multipole adds to coefficient i of the local
/// expansion, for offsets of class b and a smaller cell of edge 1; zero where k or i pads an expansion. L_j^k = (-1)^j
/// sum conj(M_n^m) V_(n+j)^(m+k), as in NaiveTranslation::m2l_coefficient, in double; then rounded. A team a matrix.
template <class Space, class Real, int Order>
struct MakeMatrices {
  static constexpr int size = coefficient_count(Order), row = row_length(size);
  static constexpr int numbers = multiplied_v<Space, Order> * row;  ///< of a matrix
  static constexpr int harmonics = coefficient_count(2 * Order);
  static constexpr int scratch_level = Tuning<Space, Real>::scratch_level;
  static constexpr std::size_t scratch_bytes = harmonics * sizeof(double) + scratch_alignment;
  Array<int, Space> classes;
  Array<Real, Space> matrices;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const auto geometry = OffsetClass{classes(team.league_rank())}.geometry();
    double* const v = scratch_array<double>(team, scratch_level, harmonics);
    if (team.team_rank() == 0)
      irregular_harmonics<2 * Order>(geometry.offset[0], geometry.offset[1], geometry.offset[2], v);
    team.team_barrier();
    Real* const matrix = matrices.data() + std::int64_t(team.league_rank()) * numbers;
    for (int e = team.team_rank(); e < numbers; e += team.team_size()) {
      const bool pads = e / row >= size || e % row >= size;
      matrix[e] = pads ? Real(0) : Real(element(e / row, e % row, geometry, v));
    }
  }

 private:
  KOKKOS_FUNCTION static double element(int from, int to, OffsetClass::Geometry const& geometry,
                                        double const* v) {
    static constexpr auto table = NormTable<Order, double>::make();
    const auto [n, m, source_sine] = Coefficient::at(from);
    const auto [j, k, target_sine] = Coefficient::at(to);
    // of M_n^m = 1 or i, and of M_n^(-m) = (-1)^m conj(M_n^m) with it
    Complex<double> sum = harmonic(v, n + j, k + m);
    if (m > 0) {
      const auto down = harmonic(v, n + j, k - m);
      const Complex<double> mirrored = m % 2 == 0 ? down : -down;
      if (source_sine)
        sum = {sum.im - mirrored.im, mirrored.re - sum.re};  // i (mirrored - sum)
      else
        sum += mirrored;
    }
    double value = (target_sine ? sum.im : sum.re) * table.inverse[from] * table.inverse[to];
    if (k > 0) value *= 2;
    for (int i = 0; i < n; ++i) value *= geometry.source_edge;
    for (int i = 0; i < j; ++i) value *= geometry.target_edge;
    return j % 2 == 0 ? value : -value;
  }
};

/// Memory of matrices and of what they multiply, kept from evaluation to evaluation.
template <class Space, class Real>
struct DenseBuffers {
  Buffer<Real, Space> matrices{"matrices"}, signs{"signs"};
  Buffer<Real, Space> rows{"gathered multipoles"}, products{"products"};
  std::vector<int> classes;  ///< of the matrices, ascending
  int order = -1;            ///< that they were made for
  Offset pairs = 0;          ///< that were translated by them last

  std::size_t bytes() const {
    return matrices.bytes() + signs.bytes() + rows.bytes() + products.bytes();
  }
};

/// How threads share the rows of a matrix: on a CPU a thread has a row, on a GPU as many numbers of one as are loaded
/// together, so that neighbours in memory are, too. What pads a row to whole quads is carried along, as zero or unused.
template <class Space, class Real, int Order, int TogetherOnGpu>
struct RowShare {
  static constexpr bool whole = is_host_space_v<Space>;
  static constexpr int size = coefficient_count(Order), row = row_length(size);
  static constexpr int numbers = whole ? size : TogetherOnGpu;
  static constexpr int shares = whole ? 1 : row / numbers;

  struct alignas(whole ? alignof(Real) : numbers * sizeof(Real)) Numbers {
    Real value[numbers];
  };
  KOKKOS_FORCEINLINE_FUNCTION static Numbers& of(Real* from, int share) {
    return reinterpret_cast<Numbers*>(from)[share];
  }
  /// Whether rows, which are more than a GPU's caches hold, go past these: doubles faster, floats slower
  /// (docs/design.md, measured choices).
  static constexpr bool streams = !whole && std::is_same_v<Real, double>;
  KOKKOS_FORCEINLINE_FUNCTION static Numbers load(Real* from, int share) {
    if constexpr (streams)
      return load_streamed(&of(from, share));
    else
      return of(from, share);
  }
  KOKKOS_FORCEINLINE_FUNCTION static void store(Numbers const& numbers, Real* to, int share) {
    if constexpr (streams)
      store_streamed(&of(to, share), numbers);
    else
      of(to, share) = numbers;
  }
};

/// Rows first to first + ahead - 1 of the matrix for first = i / shares * ahead: multipoles of the pairs from `begin`
/// on, reflected, over the edge of the smaller cell.
template <class Space, class Real, int Order>
struct GatherMultipoles {
  using Share = RowShare<Space, Real, Order, 16 / sizeof(Real)>;
  static constexpr int ahead = is_host_space_v<Space> ? 1 : 4;  ///< rows on their way from memory
  Array<CellPair, Space> pairs;
  Offset begin, count;
  Array<Real, Space> signs, multipoles, rows;

  std::int64_t iterations() const { return (count + ahead - 1) / ahead * Share::shares; }

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int share = int(i % Share::shares);
    const Offset first = i / Share::shares * ahead;
    if (first + ahead <= count) return gather<ahead>(first, share);
    for (Offset r = first; r < count; ++r) gather<1>(r, share);
  }

 private:
  template <int Count>
  KOKKOS_FORCEINLINE_FUNCTION void gather(Offset first, int share) const {
    CellPair pair[Count];
    typename Share::Numbers a[Count];
    FMM_UNROLL
    for (int r = 0; r < Count; ++r) pair[r] = pairs(begin + first + r);
    FMM_UNROLL
    for (int r = 0; r < Count; ++r)
      a[r] = Share::of(multipoles.data() + std::int64_t(pair[r].source) * Share::row, share);
    FMM_UNROLL
    for (int r = 0; r < Count; ++r) {
      const Real scale = edges_of_level<Real>(pair[r].level);
      const auto sign = Share::of(signs.data() + pair[r].reflection * Share::row, share);
      FMM_UNROLL
      for (int k = 0; k < Share::numbers; ++k) {
        const bool pads = share * Share::numbers + k >= Share::size;
        a[r].value[k] = pads ? Real(0) : a[r].value[k] * (sign.value[k] * scale);
      }
      Share::store(a[r], rows.data() + (first + r) * Share::row, share);
    }
  }
};

/// Adds the rows of a slab's products to the local expansions of their targets, a target's in the order of the list.
template <class Space, class Real, int Order>
struct AddProducts {
  using Share = RowShare<Space, Real, Order, 4>;
  /// Rows that a thread has on their way from memory at a time.
  static constexpr int ahead = is_host_space_v<Space> ? 1 : 32 / sizeof(Real);
  Array<Addend, Space> addends;
  Array<BodyIndex, Space> firsts;
  Offset begin, end;  ///< of the slab's targets in `firsts`
  Array<Real, Space> signs, rows, locals;

  std::int64_t iterations() const { return (end - begin) * Share::shares; }

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int share = int(i % Share::shares);
    const Offset target = begin + i / Share::shares;
    const Offset first = firsts(target), last = firsts(target + 1);
    auto& local =
        Share::of(locals.data() + std::int64_t(addends(first).target) * Share::row, share);
    auto sum = local;
    Offset a = first;
    for (; a + ahead <= last; a += ahead) add<ahead>(a, share, sum.value);
    for (; a < last; ++a) add<1>(a, share, sum.value);
    local = sum;
  }

 private:
  template <int Count>
  KOKKOS_FORCEINLINE_FUNCTION void add(Offset first, int share, Real* sum) const {
    typename Share::Numbers term[Count];
    int reflection[Count];
    FMM_UNROLL
    for (int r = 0; r < Count; ++r) {
      const Addend addend = addends(first + r);
      reflection[r] = addend.reflection();
      term[r] = Share::load(rows.data() + addend.row() * Share::row, share);
    }
    FMM_UNROLL
    for (int r = 0; r < Count; ++r) {
      const auto sign = Share::of(signs.data() + reflection[r] * Share::row, share);
      FMM_UNROLL
      for (int k = 0; k < Share::numbers; ++k) sum[k] += sign.value[k] * term[r].value[k];
    }
  }
};

}  // namespace fmm::kernels
