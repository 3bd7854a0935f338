// SPDX-License-Identifier: BSD-3-Clause
// M2L of the scheme BatchedGemm, through Kokkos Kernels: include this beside fmm.hpp to use it.
//
//     #include <fmm/batched_gemm.hpp>
//     fmm::Solver<fmm::Laplace, Fmm<12, fmm::FmmList, fmm::BatchedGemm>, double> solver;
//
// Pairs of cells are sorted by the class of their offset (tree/lists/offset_buckets.hpp). A slab at a time, the
// multipoles of the sources become the rows of a matrix, one product a bucket translates them, and the
// rows of the products are added to the targets (kernels/spherical/dense_m2l.hpp), a target's by the thread that owns
// it, in the order of the list. What has no bucket, `Rotation` translates first.
//
// The product is KokkosBlas::gemm: cuBLAS, or a BLAS, where Kokkos Kernels was built with it. Results are
// the same bits every time and, with Kokkos Kernels' own product, for any number of threads.
//
// Memory is bounded by Tuning's GemmShape, but for 4 bytes a pair without a bucket and 12 a cell. A plan's
// first evaluation waits for the space four times, and once more for every `sorted_pairs` pairs after the
// first; it keeps the buckets, and what was sorted last: of up to `sorted_pairs` pairs later ones do not wait.
#pragma once

#if !__has_include(<KokkosBlas3_gemm.hpp>)
#error "fmm: BatchedGemm needs Kokkos Kernels (KokkosBlas3_gemm.hpp); link Kokkos::kokkoskernels"
#endif

#include <KokkosBlas3_gemm.hpp>
#include <algorithm>

#include "engine/m2l_scheme.hpp"

namespace fmm {

template <>
inline constexpr bool is_available<BatchedGemm> = true;

namespace engine {

template <class Space, class Real>
using Matrix = Kokkos::View<Real**, Kokkos::LayoutRight, Device<Space>,
                            Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// `multiply` in a space of Kokkos's.
template <class Space, class Real>
void multiply_in(Space const& space, int size, int row, Real* rows, std::int64_t count,
                 Real* matrix, Real* products) {
  const auto used = [&](Real* from, std::int64_t n, int columns) {
    return Kokkos::subview(Matrix<Space, Real>(from, n, row), Kokkos::ALL(),
                           std::make_pair(0, columns));
  };
  const int columns = size == 1 ? row : size;
  const auto a = used(rows, count, size), b = used(matrix, size, columns),
             c = used(products, count, columns);
  if constexpr (requires { KokkosBlas::gemm(space, "N", "N", Real(1), a, b, Real(0), c); }) {
    KokkosBlas::gemm(space, "N", "N", Real(1), a, b, Real(0), c);
  } else {  // an older one works in the space's default instance
    space.fence();
    KokkosBlas::gemm("N", "N", Real(1), a, b, Real(0), c);
    Space().fence();
  }
}

/// products = rows * matrix, where each has a row every `row` numbers and uses `size` of them. (Of matrices of one
/// column the padding is used, too: Kokkos Kernels 4 would take the column for contiguous.)
template <class Space, class Real>
void multiply(Space const& space, int size, int row, Real* rows, std::int64_t count, Real* matrix,
              Real* products) {
  const auto in = [&](auto const& kokkos_space) {
    multiply_in(kokkos_space, size, row, rows, count, matrix, products);
  };
  if constexpr (std::is_same_v<Space, Host>)
    space.with_space(in);
  else
    in(space);
}

/// The matrix of each of the classes, in `buffers`. Those of the last evaluation serve again if all that
/// are needed are among them. Cost: O(size^2) a matrix.
template <int Order, class Space, class Real>
void make_matrices(Space const& space, DenseBuffers<Space, Real>& buffers,
                   std::vector<int> const& classes, Array<int, Space> classes_in_space) {
  using Functor = MakeMatrices<Space, Real, Order>;
  auto& made = buffers.classes;
  if (buffers.order == Order &&
      std::includes(made.begin(), made.end(), classes.begin(), classes.end()))
    return;
  made.clear();  // none, if there is no memory
  buffers.order = -1;
  const auto signs = buffers.signs.resize(8 * Functor::row);
  for_range("fmm::m2l::signs", space, 8 * Functor::row,
            MakeSigns<Space, Real>{Functor::row, signs});
  const auto matrices = buffers.matrices.resize(classes.size() * Functor::numbers);
  TeamPolicy<Space> policy(space, int(classes.size()), is_host_space_v<Space> ? 1 : 128);
  add_scratch(policy, Functor::scratch_level, int(Functor::scratch_bytes));
  for_teams("fmm::m2l::matrices", policy, Functor{classes_in_space, matrices});
  made = classes;
  buffers.order = Order;
}

/// Rows of a slab of so many bytes: gathered multipoles and their products.
template <class Real>
std::int64_t slab_rows(std::int64_t bytes, int row) {
  return std::clamp<std::int64_t>(bytes / (2 * row * std::int64_t(sizeof(Real))), 1,
                                  Addend::rows_most);
}

/// Adds to `locals` the translations of bucketed pairs, whose buckets are of these classes, in slabs of so many rows.
template <int Order, class Space, class Real>
void add_buckets(Space const& space, DenseBuffers<Space, Real>& buffers,
                 std::vector<int> const& classes, BucketedPairs<Space> const& bucketed,
                 Array<Real, Space> multipoles, Array<Real, Space> locals, std::int64_t most) {
  constexpr int row = row_length(coefficient_count(Order)), used = multiplied_v<Space, Order>;
  auto const& begins = bucketed.begins;
  auto const& sums = bucketed.sums;
  auto const& made = buffers.classes;
  const Offset all = begins.back();
  const auto rows = buffers.rows.resize(std::min(most, all) * row);
  const auto products = buffers.products.resize(std::min(most, all) * row);
  const auto signs = buffers.signs.view(8 * row);
  std::size_t bucket = 0;
  for (std::int64_t slab = 0; slab * most < all; ++slab) {
    const Offset first = slab * most, last = std::min(first + most, all);
    const GatherMultipoles<Space, Real, Order> gather{bucketed.pairs, first,      last - first,
                                                      signs,          multipoles, rows};
    for_uneven("fmm::m2l::gather", space, gather.iterations(), 256, gather);
    for (Offset begin = first; begin < last;) {
      while (begins[bucket + 1] <= begin) ++bucket;
      const Offset end = std::min(begins[bucket + 1], last);
      const auto place = std::lower_bound(made.begin(), made.end(), classes[bucket]) - made.begin();
      Real* const matrix = buffers.matrices.view().data() + std::int64_t(place) * used * row;
      multiply(space, used, row, rows.data() + (begin - first) * row, end - begin, matrix,
               products.data() + (begin - first) * row);
      begin = end;
    }
    const AddProducts<Space, Real, Order> add{
        sums.addends, sums.firsts, sums.begins[slab], sums.begins[slab + 1], signs,
        products,     locals};
    for_uneven("fmm::m2l::add", space, add.iterations(), 256, add);
  }
}

/// Local expansions of all cells from the multipoles of their lists.
template <int Order, class Space, class Real>
void m2l_by_gemm(Space const& space, GemmMemory<Space, Real>& memory, Array<Cell, Space> cells,
                 Csr<Space> m2l_list, Array<Real, Space> multipoles, Array<Real, Space> locals,
                 GemmShape const& shape = Tuning<Space, Real>::gemm) {
  constexpr std::int64_t matrix_bytes = MakeMatrices<Space, Real, Order>::numbers * sizeof(Real);
  const int most = int(std::min<std::int64_t>(shape.matrix_bytes / matrix_bytes, 1 << 16));
  auto& kept = memory.kept;
  auto const& list = kept.split(space, memory.buckets, cells, m2l_list, shape.least_pairs, most);
  m2l<SphericalExpansion<Order, Real, Rotation>>(space, cells, list.split.rest, multipoles, locals);
  memory.dense.pairs = list.pairs;
  if (list.pairs == 0) return;
  make_matrices<Order>(space, memory.dense, list.classes,
                       memory.buckets.classes.view(list.classes.size()));
  const auto slab = slab_rows<Real>(shape.slab_bytes, row_length(coefficient_count(Order)));
  for (Offset first = 0; first < list.pairs; first += shape.sorted_pairs) {
    const Offset count = std::min(shape.sorted_pairs, list.pairs - first);
    add_buckets<Order>(space, memory.dense, list.classes,
                       kept.sorted(space, memory.buckets, first, count, slab), multipoles, locals,
                       slab);
  }
}

template <>
struct M2LBy<BatchedGemm> {
  static constexpr bool takes_some_rows = false;  ///< which pairs are multiplied depends on all
  template <class Expansion, class Space, class Precision, class Cells, class Real>
  static void m2l(Space const& space, Workspace<Space, Precision>& memory, Cells const& cells,
                  Csr<Space> list, Array<Real, Space> multipoles, Array<Real, Space> locals,
                  Expansion const& = {}) {
    static_assert(is_one_set_v<Cells>,
                  "fmm: BatchedGemm is for targets that are the sources, in their place");
    m2l_by_gemm<Expansion::order>(space, memory.gemm, cells, list, multipoles, locals);
  }
  /// A product's multiplications and additions, and Rotation's operations for the rest.
  template <class Expansion, class Space, class Precision>
  static void count(Space const&, Workspace<Space, Precision> const& memory, Csr<Space> list,
                    Report& report, Expansion const& = {}) {
    const auto all = std::int64_t(list.entries.extent(0));
    add_work(report, "m2l", memory.gemm.dense.pairs, 2 * Expansion::size * Expansion::size);
    add_work(report, "m2l", all - memory.gemm.dense.pairs,
             translation_flops<Expansion, real_t<Precision>>().m2l);
  }
};

}  // namespace engine
}  // namespace fmm
