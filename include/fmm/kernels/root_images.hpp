// SPDX-License-Identifier: BSD-3-Clause
// What the images of the root exert that no list has: a translation of the root's multipole into a local expansion of the
// root, with sums over a lattice in the place of harmonics (Challacombe, White and Head-Gordon, J. Chem. Phys. 107
// (1997) 10131; docs/math.md, "Periodic boxes").
#pragma once

#include "../arrays.hpp"
#include "../detail/launch.hpp"
#include "../periodic/lattice_sums.hpp"
#include "expansion.hpp"
#include "spherical/coefficient.hpp"

namespace fmm::kernels {

/// The matrix, (row, column) at row (order + 1)^2 + column: what coefficient `column` of the root's multipole adds to
/// coefficient `row` of its local expansion. `lattice` is in edges of the root, `sums` are its sums of degree 2 order.
/// With it the potential of a uniform background, but for its part that is no harmonic: background_factor.
FMM_NOINLINE inline std::vector<double> root_image_matrix(periodic::Lattice const& lattice,
                                                          periodic::LatticeSums const& sums,
                                                          int order) {
  using periodic::Complex, periodic::Extended;
  const int size = coefficient_count(order);
  std::vector<Extended> root{1};  // of factorials
  for (int n = 1; n <= 2 * order; ++n) root.push_back(root.back() * std::sqrt(Extended(n)));
  const auto norm = [&](int n, int m) {
    return std::sqrt(Extended(m == 0 ? 1 : 2)) * root[std::size_t(n - m)] *
           root[std::size_t(n + m)];
  };
  const auto sum_of = [&](int n, int m) {
    const Complex sum = sums.of[std::size_t(periodic::index_of(n, std::abs(m)))];
    return m >= 0 ? sum : (m % 2 == 0 ? Extended(1) : Extended(-1)) * std::conj(sum);
  };
  std::vector<double> matrix(std::size_t(size) * std::size_t(size));
  for (int row = 0; row < size; ++row)
    for (int column = 0; column < size; ++column) {
      const auto [j, k, target_sine] = Coefficient::at(row);
      const auto [n, m, source_sine] = Coefficient::at(column);
      if ((n + j) % 2 == 1) continue;
      // of M_n^m = 1 or i, and of M_n^(-m) = (-1)^m conj(M_n^m) with it
      Complex sum = sum_of(n + j, k + m);
      if (m > 0) {
        const Complex mirrored = (m % 2 == 0 ? Extended(1) : Extended(-1)) * sum_of(n + j, k - m);
        sum = source_sine ? Complex(0, 1) * (mirrored - sum) : sum + mirrored;
      }
      Extended value = (target_sine ? sum.imag() : sum.real()) / (norm(n, m) * norm(j, k));
      if (k > 0) value *= 2;
      if (j % 2 == 1) value = -value;
      if (n == 1 && row == column)  // of the background: -2 f x.D
        value -= 4 * std::numbers::pi_v<Extended> / (3 * Extended(lattice.volume()));
      if (row == 0 && column == 0) value = sums.constant;
      matrix[std::size_t(row) * std::size_t(size) + std::size_t(column)] = double(value);
    }
  return matrix;
}

/// f, where the rest of the background's potential is f (Q |x|^2 + sum q |x|^2), x from the root's centre.
inline double background_factor(periodic::Lattice const& lattice) {
  return 2 * std::numbers::pi / (3 * lattice.volume());
}

/// Adds to the local expansions of the root. A row a thread.
template <class Space, class Real>
struct AddRootImages {
  int size;
  Array<double, Space> matrix;
  Array<Real, Space> multipole, local;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    double sum = 0;
    for (int column = 0; column < size; ++column)
      sum += matrix(row * size + column) * double(multipole(column));
    local(row) += Real(sum);
  }
};

}  // namespace fmm::kernels
