// SPDX-License-Identifier: BSD-3-Clause
// Ions in a periodic box: Madelung's constant of rock salt, and molten rock salt.
//
//     molten_salt                    4096 ions at 1500 K, 1000 steps of 1 fs after it has melted
//     molten_salt STEPS [EDGE]       another number of steps; EDGE^3 ions, EDGE even, 8 or more
//
// Coulomb's forces are those of all images, by an FMM. Short-range forces are those of Tosi and Fumi (1964, J. Phys.
// Chem. Solids 25:45), A b exp((s - r) / rho) - C / r^6 - D / r^8, with the force shifted to 0 at 10 Angstrom. The ions
// begin on the sites of a lattice, at the density of the melt, and melt in 1000 steps in which their temperature is
// held. Then nothing is held: the total energy stays, and ions diffuse. Units: Angstrom, femtosecond, electronvolt.
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fmm/fmm.hpp>
#include <random>

using Space = Kokkos::DefaultExecutionSpace;
using Range = Kokkos::RangePolicy<Space>;
using Numbers = Kokkos::View<double*>;
using Vectors = Kokkos::View<double* [3]>;
using Solver = fmm::Solver<fmm::Laplace, fmm::Fmm<8>, double>;

constexpr double coulomb = 14.399645;      // e^2 / (4 pi epsilon_0), eV Angstrom
constexpr double boltzmann = 8.617333e-5;  // eV / K
constexpr double mass_unit = 103.642697;   // u, eV fs^2 / Angstrom^2
constexpr double sodium = 22.98977 * mass_unit, chlorine = 35.453 * mass_unit;
constexpr double volume_of_pair = 71.9;  // Angstrom^3: 1.35 g / cm^3
constexpr double temperature = 1500, step = 1;

/// Energy and force over r of a pair's short range.
struct ShortRange {
  double energy, force_over_r;
};

/// Tosi and Fumi's, of two sodiums, of both kinds, of two chlorines.
KOKKOS_INLINE_FUNCTION ShortRange unshifted(int kind, double r) {
  constexpr double joule = 0.6241509;  // 1e-19 J
  const double A[3] = {1.25, 1.0, 0.75}, s[3] = {2.34, 2.755, 3.17}, C[3] = {1.68, 11.2, 116},
               D[3] = {0.8, 13.9, 233}, rho = 0.317, b = 0.338;
  const double repulsion = A[kind] * b * std::exp((s[kind] - r) / rho), r2 = r * r,
               six = C[kind] / (r2 * r2 * r2), eight = D[kind] / (r2 * r2 * r2 * r2);
  return {joule * (repulsion - six - eight),
          joule * (repulsion / rho - 6 * six / r - 8 * eight / r) / r};
}
KOKKOS_INLINE_FUNCTION ShortRange short_range(int kind, double r) {
  constexpr double end = 10;
  const ShortRange at_end = unshifted(kind, end), here = unshifted(kind, r);
  const double force_at_end = at_end.force_over_r * end;
  return {here.energy - at_end.energy + (r - end) * force_at_end,
          here.force_over_r - force_at_end / r};
}

struct Melt {
  double edge;
  Vectors x, v, force;  ///< bodies may lie anywhere: x goes on where an ion leaves the box
  Numbers q, potential;
  Solver solver;
  int size() const { return int(q.extent(0)); }

  explicit Melt(int ions_along_edge)
      : edge(ions_along_edge * std::cbrt(volume_of_pair / 2)),
        x("x", cube(ions_along_edge)),
        v("v", cube(ions_along_edge)),
        force("force", cube(ions_along_edge)),
        q("q", cube(ions_along_edge)),
        potential("potential", cube(ions_along_edge)),
        solver({.theta = 0.5, .periodic = fmm::PeriodicBox(edge)}) {
    const auto hx = Kokkos::create_mirror_view(x), hv = Kokkos::create_mirror_view(v);
    const auto hq = Kokkos::create_mirror_view(q);
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    for (int i = 0; i < size(); ++i) {
      const int n = ions_along_edge, at[3] = {i / (n * n), i / n % n, i % n};
      const int kind = (at[0] + at[1] + at[2]) % 2;
      hq(i) = kind == 0 ? 1 : -1;
      for (int d = 0; d < 3; ++d) {
        hx(i, d) = (at[d] + 0.1 * normal(random)) * edge / n;
        hv(i, d) =
            std::sqrt(boltzmann * temperature / (kind == 0 ? sodium : chlorine)) * normal(random);
      }
    }
    Kokkos::deep_copy(x, hx);
    Kokkos::deep_copy(v, hv);
    Kokkos::deep_copy(q, hq);
  }
  static std::size_t cube(int n) { return std::size_t(n) * std::size_t(n) * std::size_t(n); }
};

KOKKOS_INLINE_FUNCTION double mass_of(double q) { return q > 0 ? sodium : chlorine; }

/// Sets the forces. Returns the potential energy.
double set_forces(Space const& space, Melt& melt) {
  auto plan = melt.solver.build(space, melt.x);
  melt.solver.evaluate(space, plan, melt.q, melt.potential, melt.force);
  const auto x = melt.x, force = melt.force;
  const auto q = melt.q, potential = melt.potential;
  const double edge = melt.edge;
  const int n = melt.size();
  const auto sum = KOKKOS_LAMBDA(int i, double& energy) {
    double f[3] = {0, 0, 0}, own = coulomb * q(i) * potential(i);
    for (int d = 0; d < 3; ++d) f[d] = coulomb * q(i) * force(i, d);
    for (int j = 0; j < n; ++j) {
      double r2 = 0, along[3];
      for (int d = 0; d < 3; ++d) {
        along[d] = x(i, d) - x(j, d);
        along[d] -= edge * std::round(along[d] / edge);
        r2 += along[d] * along[d];
      }
      if (j == i || r2 >= 100) continue;
      const auto pair =
          short_range(q(i) > 0 ? (q(j) > 0 ? 0 : 1) : (q(j) > 0 ? 1 : 2), std::sqrt(r2));
      own += pair.energy;
      for (int d = 0; d < 3; ++d) f[d] += pair.force_over_r * along[d];
    }
    for (int d = 0; d < 3; ++d) force(i, d) = f[d];
    energy += own / 2;
  };
  double energy = 0;
  Kokkos::parallel_reduce("forces", Range(space, 0, n), sum, energy);
  return energy;
}

/// Half a step of the velocities, which are multiplied by `factor` first. Returns the kinetic energy.
double kick(Space const& space, Melt const& melt, double factor = 1) {
  const auto v = melt.v, force = melt.force;
  const auto q = melt.q;
  const auto move = KOKKOS_LAMBDA(int i, double& energy) {
    const double mass = mass_of(q(i));
    for (int d = 0; d < 3; ++d) {
      v(i, d) = factor * v(i, d) + 0.5 * step / mass * force(i, d);
      energy += 0.5 * mass * v(i, d) * v(i, d);
    }
  };
  double energy = 0;
  Kokkos::parallel_reduce("kick", Range(space, 0, melt.size()), move, energy);
  return energy;
}
void drift(Space const& space, Melt const& melt) {
  const auto v = melt.v, x = melt.x;
  const auto move = KOKKOS_LAMBDA(int i) {
    for (int d = 0; d < 3; ++d) x(i, d) += step * v(i, d);
  };
  Kokkos::parallel_for("drift", Range(space, 0, melt.size()), move);
}

double mean_square_displacement(Space const& space, Vectors x, Vectors from) {
  const auto add = KOKKOS_LAMBDA(int i, double& sum) {
    for (int d = 0; d < 3; ++d) sum += (x(i, d) - from(i, d)) * (x(i, d) - from(i, d));
  };
  double sum = 0;
  Kokkos::parallel_reduce("displacement", Range(space, 0, x.extent(0)), add, sum);
  return sum / double(x.extent(0));
}

/// Of rock salt, whose ions are 1 apart. False if it is not the known one.
bool print_madelung(Space const& space) {
  const Vectors x("x", 8);
  const Numbers q("q", 8), potential("potential", 8);
  const auto hx = Kokkos::create_mirror_view(x);
  const auto hq = Kokkos::create_mirror_view(q);
  for (int i = 0; i < 8; ++i) {
    for (int d = 0; d < 3; ++d) hx(i, d) = i >> d & 1;
    hq(i) = ((i & 1) + (i >> 1 & 1) + (i >> 2)) % 2 == 0 ? 1 : -1;
  }
  Kokkos::deep_copy(x, hx);
  Kokkos::deep_copy(q, hq);
  fmm::Solver<fmm::Laplace, fmm::Fmm<16>, double> solver(
      {.theta = 0.25, .periodic = fmm::PeriodicBox(2)});
  auto plan = solver.build(space, x);
  solver.evaluate(space, plan, q, potential, fmm::none);
  const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), potential);
  constexpr double known = 1.747564594633182;
  std::printf("Madelung's constant of rock salt: %.12f, known: %.12f\n", -found(0) * hq(0), known);
  return std::fabs(-found(0) * hq(0) - known) < 1e-10;
}

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 1000, edge = argc > 2 ? std::atoi(argv[2]) : 16;
  if (steps < 1 || edge < 8 || edge % 2 != 0) {
    std::fprintf(stderr, "molten_salt [steps] [ions along an edge, even, 8 or more]\n");
    return 2;
  }
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const Space space;
  if (!print_madelung(space)) return 1;

  Melt melt(edge);
  const int n = melt.size();
  const auto temperature_of = [&](double kinetic) { return kinetic / (1.5 * boltzmann * n); };
  set_forces(space, melt);
  for (int i = 0; i < 1000; ++i) {  // it melts
    const double warm = temperature_of(kick(space, melt));
    drift(space, melt);
    set_forces(space, melt);
    kick(space, melt, i % 10 == 0 ? std::sqrt(temperature / warm) : 1);
  }
  const Vectors start("start", n);
  Kokkos::deep_copy(start, melt.x);
  double potential = set_forces(space, melt), first = 0, worst = 0;
  std::printf(
      "%d ions, %.1f Angstrom\n  fs   temperature  energy, of the potential one  mean square "
      "displacement\n",
      n, melt.edge);
  for (int i = 0; i < steps; ++i) {
    kick(space, melt);
    drift(space, melt);
    potential = set_forces(space, melt);
    const double kinetic = kick(space, melt);
    if (i == 0) first = kinetic + potential;
    const double change = (kinetic + potential - first) / std::fabs(potential);
    worst = std::fmax(worst, std::fabs(change));
    if ((i + 1) % std::max(1, steps / 10) == 0)
      std::printf("%5d %9.0f K %15.1e %27.2f\n", i + 1, temperature_of(kinetic), change,
                  mean_square_displacement(space, melt.x, start));
  }
  std::printf("The energy changed by %.1e of the potential one at most.\n", worst);
  return worst <= 1e-5 ? 0 : 1;
}
