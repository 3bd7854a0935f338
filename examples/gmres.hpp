// SPDX-License-Identifier: BSD-3-Clause
// GMRES for any linear operator on Kokkos Views, with modified Gram-Schmidt, Givens rotations and restarts (Y. Saad,
// M. Schultz 1986, SIAM J. Sci. Stat. Comput. 7:856). Vectors stay in the execution space's memory; the host sees dot
// products alone. To copy, and to change.
#pragma once

#include <Kokkos_Core.hpp>
#include <cmath>
#include <vector>

struct GmresOptions {
  double tolerance = 1e-9;  ///< of the residual, relative to the right-hand side
  int restart = 50;         ///< vectors that are kept before it begins anew
  int most = 200;           ///< applications of the operator at most
};

struct GmresResult {
  int iterations = 0;   ///< applications of the operator
  double residual = 0;  ///< |b - A x| / |b|, as the rotations tell it
};

template <class Space>
struct Gmres {
  using Vector = Kokkos::View<double*, typename Space::device_type>;
  using Range = Kokkos::RangePolicy<Space>;

  /// Solves A x = b, from x = 0. `apply(in, out)` writes out = A in, and may be asynchronous in `space`.
  template <class Operator>
  static GmresResult solve(Space const& space, Operator&& apply, Vector b, Vector x,
                           GmresOptions const& options = {}) {
    GmresResult result;
    std::vector<Vector> basis;
    Vector next("gmres::next", b.extent(0));
    const double norm_b = norm(space, b);
    result.residual = norm_b > 0 ? 1 : 0;
    Kokkos::deep_copy(space, x, 0.0);
    add(space, next, 0, b, 1);
    for (double length = norm_b;
         length > options.tolerance * norm_b && result.iterations < options.most;) {
      // A basis of the Krylov space, the triangle that rotations make of A in it, and the rotated right-hand side.
      std::vector<std::vector<double>> triangle;
      std::vector<double> cosine, sine, right{length};
      keep(space, basis, 0, next, length);
      bool go_on = true;
      while (go_on) {
        const int k = int(triangle.size());
        apply(basis[k], next);
        ++result.iterations;
        std::vector<double> column(k + 2);
        for (int i = 0; i <= k; ++i) {
          column[i] = dot(space, basis[i], next);
          add(space, next, 1, basis[i], -column[i]);
        }
        const double rest = column[k + 1] = norm(space, next);
        for (int i = 0; i < k; ++i) rotate(cosine[i], sine[i], column[i], column[i + 1]);
        const double both = std::hypot(column[k], column[k + 1]);
        if (both == 0) break;  // A is singular: the residual stays
        cosine.push_back(column[k] / both);
        sine.push_back(column[k + 1] / both);
        right.push_back(0);
        rotate(cosine[k], sine[k], column[k], column[k + 1]);
        rotate(cosine[k], sine[k], right[k], right[k + 1]);
        triangle.push_back(column);
        result.residual = std::abs(right[k + 1]) / norm_b;
        go_on = rest > 0 && result.residual > options.tolerance && k + 1 < options.restart &&
                result.iterations < options.most;
        if (go_on) keep(space, basis, k + 1, next, rest);
      }
      for (int i = int(triangle.size()) - 1; i >= 0; --i) {
        right[i] /= triangle[i][i];
        for (int j = 0; j < i; ++j) right[j] -= triangle[i][j] * right[i];
        add(space, x, 1, basis[i], right[i]);
      }
      if (triangle.empty() || result.residual <= options.tolerance ||
          result.iterations >= options.most)
        break;
      apply(x, next);
      ++result.iterations;
      add(space, next, -1, b, 1);
      length = norm(space, next);
      result.residual = length / norm_b;
    }
    return result;
  }

  static double dot(Space const& space, Vector x, Vector y) {
    double sum = 0;
    Kokkos::parallel_reduce(
        "gmres::dot", Range(space, 0, x.extent(0)),
        KOKKOS_LAMBDA(int i, double& to) { to += x(i) * y(i); }, sum);
    return sum;
  }
  static double norm(Space const& space, Vector x) { return std::sqrt(dot(space, x, x)); }
  /// x = f x + g y; with f = 0 whatever x is.
  static void add(Space const& space, Vector x, double f, Vector y, double g) {
    Kokkos::parallel_for(
        "gmres::add", Range(space, 0, x.extent(0)),
        KOKKOS_LAMBDA(int i) { x(i) = (f == 0 ? 0 : f * x(i)) + g * y(i); });
  }

 private:
  static void rotate(double c, double s, double& x, double& y) {
    const double old = x;
    x = c * old + s * y;
    y = c * y - s * old;
  }
  /// Vector k of the basis is v / length.
  static void keep(Space const& space, std::vector<Vector>& basis, int k, Vector v, double length) {
    if (int(basis.size()) == k) basis.emplace_back("gmres::basis", v.extent(0));
    add(space, basis[k], 0, v, 1 / length);
  }
};
