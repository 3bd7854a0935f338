// SPDX-License-Identifier: BSD-3-Clause
// The expansion of the images that no list has, of an order of its own: from multipoles of a tree's cells to that of
// all bodies (M2M), by a matrix (root_images.hpp) into a local expansion, and from it to those of the cells (L2L).
#pragma once

#include "../arrays.hpp"
#include "../cells/cell.hpp"
#include "../detail/launch.hpp"
#include "expansion.hpp"
#include "spherical/coefficient.hpp"
#include "spherical/regular.hpp"

namespace fmm::kernels {

/// What the images' expansion is made of, and adds to: the cells of a level and the leaves above it, of expansions
/// whose order is the tree's. That of the images is of a higher one, about the middle of the periodic cell.
template <class Space>
struct CellsOfImages {
  Array<Cell, Space> cells;  ///< all down to that level, the root first
  int level;
  int order, wide;             ///< of cells' expansions, and of the images'
  double middle[3];            ///< in edges of the root, from its corner
  Array<double, Space> norms;  ///< norms_of_coefficients(wide)
  Array<double, Space>
      harmonics;  ///< U of each cell's centre from the middle, coefficient_count(wide) each

  KOKKOS_FORCEINLINE_FUNCTION bool has(std::int64_t cell) const {
    return cells(cell).level == level || cells(cell).is_leaf();
  }
  KOKKOS_FORCEINLINE_FUNCTION double const* harmonics_of(std::int64_t cell) const {
    return harmonics.data() + cell * coefficient_count(wide);
  }
  /// The cell's edge to the power of a degree.
  KOKKOS_FORCEINLINE_FUNCTION double power(std::int64_t cell, int degree) const {
    const double edge = edge_of_level<double>(cells(cell).level);
    double power = 1;
    for (int n = 0; n < degree; ++n) power *= edge;
    return power;
  }
  std::int64_t count() const { return std::int64_t(cells.extent(0)); }
};

/// Sets the harmonics. A cell a thread.
template <class Space>
struct SetHarmonics {
  CellsOfImages<Space> of;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    double d[3];
    for (int c = 0; c < 3; ++c) d[c] = in_root_edges<double>(of.cells(i).centre[c]) - of.middle[c];
    set_regular(d, of.wide, of.harmonics.data() + i * coefficient_count(of.wide));
  }
};

/// Multipoles of the cells as sums of U, in edges of the root; 0 of other cells.
template <class Space, class Real>
struct TakeMultipoles {
  CellsOfImages<Space> of;
  int row;  ///< numbers from one cell's expansion to the next
  Array<Real, Space> multipoles;
  Array<double, Space> sums;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int size = coefficient_count(of.order), k = int(i % size);
    const std::int64_t cell = i / size;
    sums(i) = of.has(cell) ? double(multipoles(cell * row + k)) / of.norms(k) *
                                 of.power(cell, Coefficient::at(k).degree)
                           : 0;
  }
};

/// Each cell's part of coefficient (j, k) of the images' multipole, k >= 0, two numbers for each: M2M.
template <class Space>
struct MoveUp {
  CellsOfImages<Space> of;
  Array<double, Space> sums, parts;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int size = coefficient_count(of.wide);
    const std::int64_t cell = i / size;
    const auto [j, k, sine] = Coefficient::at(int(i % size));
    if (sine) return;
    double const* const M = sums.data() + cell * coefficient_count(of.order);
    double const* const u = of.harmonics_of(cell);
    Complex<double> sum{0, 0};
    if (of.has(cell))
      for (int n = j > of.order ? j - of.order : 0; n <= j; ++n)
        sum += product_of_degree(
            u, n, [&](int degree, int m) { return harmonic(M, degree, m); }, j, k);
    parts(cell * size + index_re(j, k)) = sum.re;
    if (k > 0) parts(cell * size + index_im(j, k)) = sum.im;
  }
};

/// The images' multipole, in the real basis.
template <class Space>
struct SumParts {
  CellsOfImages<Space> of;
  Array<double, Space> parts, multipole;

  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    const int size = coefficient_count(of.wide);
    double sum = 0;
    for (std::int64_t cell = 0; cell < std::int64_t(of.cells.extent(0)); ++cell)
      sum += parts(cell * size + k);
    multipole(k) = sum * of.norms(k);
  }
};

/// Threads of a team that adds up one number: on a GPU so few numbers leave it idle, and long sums are slow.
template <class Space>
inline constexpr int threads_of_sum = is_host_space_v<Space> ? 1 : 32;

/// Their local expansion, as sums with conj(U): the matrix, which is symmetric, times the multipole, and a potential. A
/// number a team.
template <class Space>
struct ApplyImages {
  int wide;
  Array<double, Space> matrix, norms, multipole, local;
  Array<double, Space> potential;  ///< potential(at) times `factor`
  int at;
  double factor;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const int size = coefficient_count(wide), row = team.league_rank();
    double sum = 0;
    for (int k = team.team_rank(); k < size; k += team.team_size())
      sum += matrix(std::int64_t(row) * size + k) * multipole(k);
    sum_over_team(team, sum);
    if (team.team_rank() > 0) return;
    if (row == 0) sum += factor * potential(at);
    local(row) = sum * norms(row) * (Coefficient::at(row).order == 0 ? 1 : 0.5);
  }
};

/// Adds it to the cells' local expansions: L2L. A coefficient of order 0 or above a team.
template <class Space, class Real>
struct MoveDown {
  CellsOfImages<Space> of;
  int row;
  Array<double, Space> local;
  Array<Real, Space> locals;

  KOKKOS_FUNCTION void operator()(TeamMember<Space> const& team) const {
    const int size = coefficient_count(of.order);
    const std::int64_t cell = team.league_rank() / size;
    const auto [j, k, sine] = Coefficient::at(team.league_rank() % size);
    if (sine || !of.has(cell)) return;
    double const* const u = of.harmonics_of(cell);
    Complex<double> sum{0, 0};
    for (int n = j + team.team_rank(); n <= of.wide; n += team.team_size())
      for (int m = k - (n - j); m <= k + (n - j); ++m)
        if (m >= -n && m <= n)
          sum += conj(harmonic(u, n - j, m - k)) * harmonic(local.data(), n, m);
    sum_over_team(team, sum.re);
    sum_over_team(team, sum.im);
    if (team.team_rank() > 0) return;
    const double f = (k == 0 ? 1 : 2) / of.norms(index_re(j, k)) * of.power(cell, j);
    locals(cell * row + index_re(j, k)) += Real(sum.re * f);
    if (k > 0) locals(cell * row + index_im(j, k)) += Real(sum.im * f);
  }
};

}  // namespace fmm::kernels
