// SPDX-License-Identifier: BSD-3-Clause
// What the images exert that no list has, as a matrix: a translation of the multipole of all bodies into a local
// expansion, with sums over a lattice in the place of harmonics (Challacombe, White and Head-Gordon, J. Chem. Phys. 107
// (1997) 10131; docs/math.md, "Periodic boxes").
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "../periodic/lattice_sums.hpp"
#include "expansion.hpp"
#include "spherical/coefficient.hpp"
#include "spherical/harmonics.hpp"

namespace fmm::kernels {

/// Factors of coefficients of expansions up to that order: from sums of U to coefficients (NormTable::regular).
inline std::vector<double> norms_of_coefficients(int order) {
  std::vector<double> root{1};  // of factorials
  for (int n = 1; n <= 2 * order; ++n) root.push_back(root.back() * std::sqrt(double(n)));
  std::vector<double> norms;
  for (int k = 0; k < coefficient_count(order); ++k) {
    const auto [n, m, sine] = Coefficient::at(k);
    norms.push_back(std::sqrt(m == 0 ? 1.0 : 2.0) * root[std::size_t(n - m)] *
                    root[std::size_t(n + m)]);
  }
  return norms;
}

/// The matrix, (row, column) at row (order + 1)^2 + column: what coefficient `column` of the root's multipole adds to
/// coefficient `row` of its local expansion, both about the middle of the cell. `lattice` is in edges of the root,
/// `sums` are its sums of degree 2 order. With it the potential of a uniform background, but for its part that is no
/// harmonic: background_factor.
FMM_NOINLINE inline std::vector<double> root_image_matrix(periodic::Lattice const& lattice,
                                                          periodic::LatticeSums const& sums,
                                                          int order) {
  const int size = coefficient_count(order);
  const auto norms = norms_of_coefficients(order);
  const auto sign = [](int m) { return m % 2 == 0 ? 1.0 : -1.0; };
  const auto sum_of = [&](int n, int m) {
    auto const& sum = sums.of[std::size_t(periodic::index_of(n, std::abs(m)))];
    const Complex<double> in_double{double(sum.real()), double(sum.imag())};
    return m >= 0 ? in_double : conj(in_double) * sign(m);
  };
  std::vector<Coefficient> columns;
  for (int column = 0; column < size; ++column) columns.push_back(Coefficient::at(column));
  std::vector<double> matrix(std::size_t(size) * std::size_t(size));
  for (int row = 0; row < size; ++row) {
    const auto [j, k, target_sine] = columns[std::size_t(row)];
    double* const values = matrix.data() + std::size_t(row) * std::size_t(size);
    const double of_row = (k > 0 ? 2 : 1) * sign(j) / norms[std::size_t(row)];
    for (int column = 0; column < size; ++column) {
      const auto [n, m, source_sine] = columns[std::size_t(column)];
      if ((n + j) % 2 == 1) continue;
      // of M_n^m = 1 or i, and of M_n^(-m) = (-1)^m conj(M_n^m) with it
      Complex<double> sum = sum_of(n + j, k + m);
      if (m > 0) {
        const Complex<double> mirrored = sum_of(n + j, k - m) * sign(m);
        sum = source_sine ? Complex<double>{0, 1} * (mirrored + -sum) : sum + mirrored;
      }
      values[column] = (target_sine ? sum.im : sum.re) * of_row / norms[std::size_t(column)];
    }
  }
  const auto diagonal = [&](int k) -> double& {
    return matrix[std::size_t(k) * std::size_t(size + 1)];
  };
  for (int k = 1; k < 4; ++k)  // of the background: -2 f x.D
    diagonal(k) -= 4 * std::numbers::pi / (3 * lattice.volume());
  diagonal(0) = double(sums.constant);
  return matrix;
}

/// f, where the rest of the background's potential is f (Q |x|^2 + sum q |x|^2), x from the middle of the cell.
inline double background_factor(periodic::Lattice const& lattice) {
  return 2 * std::numbers::pi / (3 * lattice.volume());
}

}  // namespace fmm::kernels
