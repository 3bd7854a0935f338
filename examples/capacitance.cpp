// SPDX-License-Identifier: BSD-3-Clause
// The capacitance of an ellipsoid by a boundary integral equation, which GMRES solves with an FMM as the operator.
//
//     capacitance                    a sphere of radius 1, then a spheroid of semi-axes 1, 1, 2
//     capacitance a b c [level]      any semi-axes; the level of the tree's leaves: one more halves the points' spacing
//
// Outside of a conductor of potential 1 the potential is that of dipoles and charges on its surface, of one density mu:
//
//     u(x) = integral mu(y) (n.d / r^3 + eta / r) dS,    d = x - y, r = |d|, n the outward normal at y.
//
// At the surface, u's limit from outside is 2 pi mu(x) more than this integral, and the integral of n.d / r^3 alone is
// -2 pi (Gauss). So the equation is, at each point x of the surface,
//
//     integral (mu(y) - mu(x)) n.d / r^3 dS + eta integral mu(y) / r dS = 1.
//
// It is of the second kind: GMRES needs few iterations, and no more of them for more points. The charge
// eta integral mu dS is the capacitance. The program does not know the shape's symmetry. (For a sphere mu is constant,
// an eigenvector, and GMRES needs one iteration.)
//
// Quadrature. Sums over points converge slowly where the kernel is singular: without the corrections below the
// capacitance is wrong by 1e-2. So n.d / r^3 is multiplied by s2(r / delta), and 1 / r by s1(r / delta). Both make the
// kernel smooth; s(t) - 1 is -erfc(t) and a polynomial times exp(-t^2). The polynomial is such that the integrals of
// (s - 1) t^k over t > 0 are 0 for k = 0, 2, 4 (s2: 2, 4). The error is then O(delta^7), and sums of the smooth kernel
// converge fast once delta is above the points' spacing (J. T. Beale 2004, SIAM J. Numer. Anal. 42:599: O(delta^5)).
// The FMM sums the singular kernels, all near pairs one by one. What s1 and s2 change is in near pairs alone: these
// corrections are a sparse matrix, which is made once, as the plan is.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fmm/fmm.hpp>
#include <vector>

#include "gmres.hpp"

using Space = Kokkos::DefaultExecutionSpace;
using Range = Kokkos::RangePolicy<Space>;
using Numbers = Kokkos::View<double*>;
using Vectors = Kokkos::View<double* [3]>;
// Classic lists on a uniform tree: leaves that touch are near, and so are all pairs closer than a leaf's edge. (The
// default traversal does not promise that: it goes by the radii of leaves, and that of a leaf with one body is 0.)
using Solver = fmm::Solver<fmm::Laplace, fmm::Fmm<16, fmm::FmmList>, double>;

constexpr double pi = 3.14159265358979323846;
// From 5 deltas on s1 and s2 are taken for 1: exp(-25) is left out. A delta is 1.6 spacings of the points: with 1.25
// the capacitance is good to 4e-7, with 1 to 5e-5.
constexpr double reach_in_deltas = 5, delta_in_spacings = 1.6;

struct Axes {
  double a, b, c;
  double longest() const { return std::max({a, b, c}); }
  double shortest() const { return std::min({a, b, c}); }
};

/// Points of a quadrature rule on a surface.
struct Surface {
  Vectors points;    ///< (N,3)
  Vectors elements;  ///< (N,3): outward normals times areas
  Numbers areas;     ///< (N)
  int size() const { return int(areas.extent(0)); }
};

/// Nodes z and weights of Gauss and Legendre's rule on -1 .. 1, by Newton's method.
void gauss_legendre(int n, std::vector<double>& z, std::vector<double>& weight) {
  z.resize(n);
  weight.resize(n);
  for (int i = 0; i < n; ++i) {
    double x = std::cos(pi * (i + 0.75) / (n + 0.5)), slope = 1;
    for (int step = 0; step < 6; ++step) {
      double last = 1, p = x;
      for (int k = 2; k <= n; ++k) {
        const double next = ((2 * k - 1) * x * p - (k - 1) * last) / k;
        last = p;
        p = next;
      }
      slope = n * (x * p - last) / (x * x - 1);
      x -= p / slope;
    }
    z[i] = x;
    weight[i] = 2 / ((1 - x * x) * slope * slope);
  }
}

/// Rings around the third axis at nodes of Gauss and Legendre, of points at equal angles. The unit sphere's point
/// (x, y, z) goes to (a x, b y, c z), and its element of area to (b c x, a c y, a b z).
Surface ellipsoid(Space const& space, Axes axes, double spacing) {
  const int rings = int(std::ceil(pi * axes.longest() / spacing));
  std::vector<double> z, weight;
  gauss_legendre(rings, z, weight);
  const double around = 2 * pi * std::max(axes.a, axes.b) / spacing;
  Kokkos::View<int*> first("first", rings + 1);
  Numbers heights("heights", rings), weights("weights", rings);
  const auto host_first = Kokkos::create_mirror_view(first);
  const auto host_heights = Kokkos::create_mirror_view(heights);
  const auto host_weights = Kokkos::create_mirror_view(weights);
  host_first(0) = 0;
  for (int k = 0; k < rings; ++k) {
    host_first(k + 1) = host_first(k) + int(std::ceil(around * std::sqrt(1 - z[k] * z[k]))) + 4;
    host_heights(k) = z[k];
    host_weights(k) = weight[k];
  }
  Kokkos::deep_copy(first, host_first);
  Kokkos::deep_copy(heights, host_heights);
  Kokkos::deep_copy(weights, host_weights);

  const int n = host_first(rings);
  const Vectors points("points", n), elements("elements", n);
  const Numbers areas("areas", n);
  const auto place = KOKKOS_LAMBDA(int ring) {
    const double height = heights(ring), radius = std::sqrt(1 - height * height);
    const double step = 2 * pi / (first(ring + 1) - first(ring));
    const double solid_angle = weights(ring) * step;
    for (int i = first(ring); i < first(ring + 1); ++i) {
      const double angle = step * (i - first(ring));
      const double x = radius * std::cos(angle), y = radius * std::sin(angle);
      points(i, 0) = axes.a * x;
      points(i, 1) = axes.b * y;
      points(i, 2) = axes.c * height;
      elements(i, 0) = axes.b * axes.c * x * solid_angle;
      elements(i, 1) = axes.a * axes.c * y * solid_angle;
      elements(i, 2) = axes.a * axes.b * height * solid_angle;
      areas(i) = std::sqrt(elements(i, 0) * elements(i, 0) + elements(i, 1) * elements(i, 1) +
                           elements(i, 2) * elements(i, 2));
    }
  };
  Kokkos::parallel_for("ellipsoid", Range(space, 0, rings), place);
  space.fence();
  return {points, elements, areas};
}

/// s1 - 1 and s2 - 1 at t = r / delta.
struct Regularization {
  static constexpr double two_per_root_pi = 1.12837916709551257390;
  static constexpr double slope1 = two_per_root_pi * 16 / 5;  ///< of s1 at 0
  double s1, s2;
  KOKKOS_INLINE_FUNCTION explicit Regularization(double t) {
    const double t2 = t * t, f = two_per_root_pi * t * std::exp(-t2) / 15;
    const double rest = -std::erfc(t);
    s1 = rest + f * (33 + t2 * (4 * t2 - 26));
    s2 = rest - f * (15 + t2 * (4 * t2 - 22));
  }
};

KOKKOS_INLINE_FUNCTION double distance2(Vectors const& points, int i, int j) {
  double sum = 0;
  for (int d = 0; d < 3; ++d) {
    const double along = points(i, d) - points(j, d);
    sum += along * along;
  }
  return sum;
}

/// A matrix in rows: the entries of row i are number offsets(i) to offsets(i + 1) - 1.
struct Matrix {
  Kokkos::View<std::int64_t*> offsets;
  Kokkos::View<int*> columns;
  Numbers values, diagonal;
};

/// What the points of a surface carry.
struct Layers {
  Surface surface;
  double eta;
  Numbers charges;
  Vectors dipoles;

  Layers(Surface const& on, double with_eta)
      : surface(on), eta(with_eta), charges("charges", on.size()), dipoles("dipoles", on.size()) {}

  /// Charges eta mu dS and dipoles mu n dS. Returns the sum of the charges.
  double set(Space const& space, Numbers mu) const {
    const Layers to = *this;
    const auto fill = KOKKOS_LAMBDA(int i, double& sum) {
      to.charges(i) = to.eta * mu(i) * to.surface.areas(i);
      for (int d = 0; d < 3; ++d) to.dipoles(i, d) = mu(i) * to.surface.elements(i, d);
      sum += to.charges(i);
    };
    double total = 0;
    Kokkos::parallel_reduce("layers", Range(space, 0, surface.size()), fill, total);
    return total;
  }
  fmm::Strengths<Numbers, Vectors> strengths() const {
    return {.charges = charges, .dipoles = dipoles};
  }
};

/// What the sums of smooth kernels have and those of the FMM have not. An entry is a near pair's smooth term less its
/// singular one. The diagonal has the charge's own potential, s1(r / delta) / r at r = 0, and takes off the integral of
/// n.d / r^3, as the same sums give it.
Matrix corrections(Space const& space, Solver& solver, Solver::plan_type& plan,
                   Layers const& layers, double reach) {
  const Surface surface = layers.surface;
  const int n = surface.size();
  const double eta = layers.eta, delta = reach / reach_in_deltas;
  const fmm::NearPairs<Space> near = solver.near_pairs(space, plan);

  const Kokkos::View<std::int64_t*> offsets("offsets", n + 1);
  const auto count = KOKKOS_LAMBDA(int i, std::int64_t& sum, bool last) {
    if (last) offsets(i) = sum;
    if (i == n) return;
    for (auto k = near.offsets(i); k < near.offsets(i + 1); ++k)
      if (distance2(surface.points, i, near.sources(k)) < reach * reach) ++sum;
  };
  std::int64_t entries = 0;
  Kokkos::parallel_scan("count", Range(space, 0, n + 1), count, entries);
  const Kokkos::View<int*> columns("columns", entries);
  const Numbers values("values", entries), diagonal("diagonal", n), flux("flux", n);
  solver.evaluate(space, plan, fmm::Strengths<fmm::None, Vectors>{.dipoles = surface.elements},
                  fmm::Results<Numbers>{.potential = flux});
  const auto fill = KOKKOS_LAMBDA(int i) {
    auto at = offsets(i);
    double whole_flux = flux(i);
    for (auto k = near.offsets(i); k < near.offsets(i + 1); ++k) {
      const int j = near.sources(k);
      const double r2 = distance2(surface.points, i, j);
      if (r2 >= reach * reach) continue;
      const double r = std::sqrt(r2);
      const Regularization less_one(r / delta);
      double n_d = 0;
      for (int d = 0; d < 3; ++d)
        n_d += surface.elements(j, d) * (surface.points(i, d) - surface.points(j, d));
      const double of_dipole = less_one.s2 * n_d / (r2 * r);
      whole_flux += of_dipole;
      columns(at) = j;
      values(at) = of_dipole + less_one.s1 * eta * surface.areas(j) / r;
      ++at;
    }
    diagonal(i) = Regularization::slope1 / delta * eta * surface.areas(i) - whole_flux;
  };
  Kokkos::parallel_for("corrections", Range(space, 0, n), fill);
  space.fence();
  return {offsets, columns, values, diagonal};
}

/// to += matrix * x
void add_product(Space const& space, Matrix const& matrix, Numbers x, Numbers to) {
  const auto row = KOKKOS_LAMBDA(int i) {
    double sum = matrix.diagonal(i) * x(i);
    for (auto k = matrix.offsets(i); k < matrix.offsets(i + 1); ++k)
      sum += matrix.values(k) * x(matrix.columns(k));
    to(i) += sum;
  };
  Kokkos::parallel_for("product", Range(space, 0, x.extent(0)), row);
}

/// Carlson's integral R_F by duplication (1979, Numer. Math. 33:1). An ellipsoid's capacitance is
/// 1 / R_F(a^2, b^2, c^2).
double carlson_rf(double x, double y, double z) {
  for (int k = 0; k < 30; ++k) {
    const double sum = std::sqrt(x * y) + std::sqrt(y * z) + std::sqrt(z * x);
    x = (x + sum) / 4;
    y = (y + sum) / 4;
    z = (z + sum) / 4;
  }
  return 1 / std::sqrt(x);
}
double known_capacitance(Axes axes) {
  return 1 / carlson_rf(axes.a * axes.a, axes.b * axes.b, axes.c * axes.c);
}

/// The largest relative error of u at points outside. On ellipsoids that have the conductor's foci it is constant.
double error_outside(Space const& space, Layers const& layers, Axes axes) {
  const auto outer = [&](double axis) { return std::hypot(axis, axes.longest()); };
  const Axes confocal{outer(axes.a), outer(axes.b), outer(axes.c)};
  const double known = known_capacitance(axes) / known_capacitance(confocal);
  const Vectors targets = ellipsoid(space, confocal, confocal.longest() / 2).points;
  const int m = int(targets.extent(0));
  fmm::Solver<fmm::Laplace, fmm::DirectSum, double> solver;
  auto plan = solver.build(space, fmm::Inputs<Vectors, fmm::None, Vectors>{
                                      .sources = layers.surface.points, .targets = targets});
  const Numbers potential("potential", m);
  solver.evaluate(space, plan, layers.strengths(), fmm::Results<Numbers>{.potential = potential});
  const auto error = KOKKOS_LAMBDA(int i, double& most) {
    const double own = std::abs(potential(i) / known - 1);
    if (own > most) most = own;
  };
  double most = 0;
  Kokkos::parallel_reduce("error", Range(space, 0, m), error, Kokkos::Max<double>(most));
  return most;
}

/// Whether the answer is as good as it should be.
bool solve(Axes axes, int level) {
  Space space;
  const double reach = 0.99 * 2 * axes.longest() / std::pow(2, level);  // below a leaf's edge
  const double spacing = reach / reach_in_deltas / delta_in_spacings;
  const double eta = 1 / axes.longest();

  Kokkos::Timer timer;
  const auto lap = [&] {
    space.fence();
    const double seconds = timer.seconds();
    timer.reset();
    return seconds;
  };
  const Layers layers(ellipsoid(space, axes, spacing), eta);
  const int n = layers.surface.size();
  Solver solver({.depth = level, .tree = fmm::TreeKind::uniform});
  auto plan = solver.build(space, layers.surface.points);
  const double plan_seconds = lap();
  const Matrix matrix = corrections(space, solver, plan, layers, reach);
  const double corrections_seconds = lap();

  const Numbers mu("mu", n), right("right", n);
  Kokkos::deep_copy(space, right, 1.0);
  // The left side of the equation.
  const auto apply = [&](Numbers in, Numbers out) {
    layers.set(space, in);
    solver.evaluate(space, plan, layers.strengths(), fmm::Results<Numbers>{.potential = out});
    add_product(space, matrix, in, out);
  };
  lap();
  const GmresResult found = Gmres<Space>::solve(space, apply, right, mu, {.tolerance = 1e-9});
  const double gmres_seconds = lap();

  const Numbers left("left", n);
  apply(mu, left);
  const double application_seconds = lap();
  Gmres<Space>::add(space, left, 1, right, -1);
  const double residual = Gmres<Space>::norm(space, left) / Gmres<Space>::norm(space, right);

  const double capacitance = layers.set(space, mu), known = known_capacitance(axes);
  const double error = std::abs(capacitance / known - 1);
  const double outside = error_outside(space, layers, axes);
  std::printf("semi-axes %g, %g, %g\n", axes.a, axes.b, axes.c);
  std::printf("  points N       %d, with an unknown each: %d\n", n, n);
  std::printf("  corrections    %.0f a point\n", double(matrix.columns.extent(0)) / n);
  std::printf("  GMRES          %d iterations, residual %.1e\n", found.iterations, residual);
  std::printf("  capacitance    %.10f\n", capacitance);
  std::printf("  known          %.10f\n", known);
  std::printf("  relative error %.1e, and of the potential outside %.1e at most\n", error, outside);
  std::printf("  seconds        plan %.3f, corrections %.3f, GMRES %.3f, one application %.3f\n",
              plan_seconds, corrections_seconds, gmres_seconds, application_seconds);
  return error <= 1e-6 && outside <= 1e-6;
}

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  // Leaves, and delta with them, are small beside the shortest semi-axis.
  const auto level_for = [](Axes axes) {
    return 3 + int(std::ceil(std::log2(axes.longest() / axes.shortest())));
  };
  if (argc == 1) {
    const Axes sphere{1, 1, 1}, spheroid{1, 1, 2};
    const bool first = solve(sphere, level_for(sphere));
    const bool second = solve(spheroid, level_for(spheroid));
    return first && second ? 0 : 1;
  }
  const auto number = [&](int i) { return i < argc ? std::atof(argv[i]) : 0; };
  const Axes axes{number(1), number(2), number(3)};
  if (!(axes.shortest() > 0)) {
    std::fprintf(stderr, "capacitance [a b c [level]]: semi-axes > 0\n");
    return 2;
  }
  return solve(axes, argc > 4 ? int(number(4)) : level_for(axes)) ? 0 : 1;
}
