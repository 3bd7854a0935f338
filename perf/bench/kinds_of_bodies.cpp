// SPDX-License-Identifier: BSD-3-Clause
#include "kinds_of_bodies.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace kinds {

namespace {

using Random = std::mt19937_64;
using Point = std::array<double, 3>;

double uniform(Random& random, double low = 0, double high = 1) {
  return std::uniform_real_distribution<double>(low, high)(random);
}
double normal(Random& random) { return std::normal_distribution<double>()(random); }
double exponential(Random& random) { return std::exponential_distribution<double>()(random); }
/// Evenly in the logarithm.
double log_uniform(Random& random, double low, double high) {
  return low * std::pow(high / low, uniform(random));
}
Point in_cube(Random& random) { return {uniform(random), uniform(random), uniform(random)}; }
Point on_sphere(Random& random, double radius = 1) {
  const double z = uniform(random, -1, 1), phi = uniform(random, 0, 2 * std::numbers::pi),
               s = std::sqrt(1 - z * z);
  return {radius * s * std::cos(phi), radius * s * std::sin(phi), radius * z};
}
Point around(Random& random, Point const& centre, double width) {
  return {centre[0] + width * normal(random), centre[1] + width * normal(random),
          centre[2] + width * normal(random)};
}
void add(Bodies& bodies, Point const& p, double q) { bodies.add(p[0], p[1], p[2], q); }

/// n bodies of mass 1 at places of their own.
template <class Place>
Bodies each(std::size_t n, Random& random, Place const& place) {
  Bodies bodies;
  for (std::size_t i = 0; i < n; ++i) add(bodies, place(random), 1);
  return bodies;
}

/// The radius that has that share of a mass m(r), which grows from low to high.
template <class Mass>
double radius_of(double share, double low, double high, Mass const& mass) {
  const double wanted = mass(low) + share * (mass(high) - mass(low));
  for (int i = 0; i < 100; ++i) {
    const double middle = std::sqrt(low * high);
    (mass(middle) < wanted ? low : high) = middle;
  }
  return low;
}
template <class Mass>
Bodies sphere(std::size_t n, Random& random, double low, double high, Mass const& mass) {
  return each(n, random,
              [&](Random& r) { return on_sphere(r, radius_of(uniform(r), low, high, mass)); });
}

Bodies cube(std::size_t n, Random& random) { return each(n, random, in_cube); }
Bodies plummer(std::size_t n, Random& random) {
  return sphere(n, random, 1e-4, 20, [](double r) { return std::pow(1 + 1 / (r * r), -1.5); });
}
Bodies shell(std::size_t n, Random& random) {
  return each(n, random, [](Random& r) { return on_sphere(r); });
}
Bodies disk(std::size_t n, Random& random) {
  return each(n, random, [](Random& r) {
    const double radius = exponential(r) + exponential(r),
                 phi = uniform(r, 0, 2 * std::numbers::pi);
    return Point{radius * std::cos(phi), radius * std::sin(phi),
                 0.1 * exponential(r) * (uniform(r) < 0.5 ? 1 : -1)};
  });
}
/// A cuspy halo (Navarro, Frenk & White 1996).
Bodies nfw(std::size_t n, Random& random) {
  return sphere(n, random, 1e-5, 20, [](double r) { return std::log1p(r) - r / (1 + r); });
}
Bodies hernquist(std::size_t n, Random& random) {
  return sphere(n, random, 1e-6, 100, [](double r) { return r * r / ((1 + r) * (1 + r)); });
}
/// Clumps of widths evenly in the logarithm, with exponential masses.
Bodies clumps(std::size_t n, Random& random) {
  struct Clump {
    Point centre;
    double width;
  };
  std::vector<Clump> all(50);
  for (auto& clump : all) {
    const Point p = in_cube(random);
    clump = {{10 * p[0], 10 * p[1], 10 * p[2]}, log_uniform(random, 1e-4, 1)};
  }
  Bodies bodies;
  for (std::size_t i = 0; i < n; ++i) {
    auto const& clump = all[random() % all.size()];
    add(bodies, around(random, clump.centre, clump.width), exponential(random));
  }
  return bodies;
}

/// A cubic grid of alternating charges, each moved by so much of the spacing at most.
Bodies rock_salt_moved(std::size_t n, Random& random, double most) {
  const int side = std::max(2, int(std::cbrt(double(n))));
  Bodies bodies;
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j)
      for (int k = 0; k < side; ++k)
        bodies.add(i + uniform(random, -most, most), j + uniform(random, -most, most),
                   k + uniform(random, -most, most), (i + j + k) % 2 == 0 ? 1 : -1);
  return bodies;
}
Bodies rock_salt(std::size_t n, Random& random) { return rock_salt_moved(n, random, 0); }
Bodies warm_salt(std::size_t n, Random& random) {
  return rock_salt_moved(n, random, log_uniform(random, 0.01, 0.3));
}
/// Charges of one sign on a body-centred grid.
Bodies grid(std::size_t n, Random&) {
  const int side = std::max(2, int(std::cbrt(double(n) / 2)));
  Bodies bodies;
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j)
      for (int k = 0; k < side; ++k) {
        bodies.add(i, j, k, 1);
        bodies.add(i + 0.5, j + 0.5, k + 0.5, 1);
      }
  return bodies;
}
/// Caesium chloride.
Bodies caesium_chloride(std::size_t n, Random& random) {
  Bodies bodies = grid(n, random);
  for (std::size_t i = 1; i < bodies.size(); i += 2) bodies.charges[i] = -1;
  return bodies;
}
/// A crystal whose planes are at sinh(i / 6) along each axis.
Bodies stretched_salt(std::size_t n, Random& random) {
  Bodies bodies = rock_salt(n, random);
  const double half = std::cbrt(double(bodies.size())) / 2;
  for (double& x : bodies.positions) x = std::sinh((x - half) / 6);
  return bodies;
}

/// Threads between random points, with knots where they meet.
Bodies filaments(std::size_t n, Random& random) {
  std::vector<Point> knots(12);
  for (auto& knot : knots) knot = in_cube(random);
  return each(n, random, [&](Random& r) {
    Point const &a = knots[r() % knots.size()], &b = knots[r() % knots.size()];
    const double t = std::pow(uniform(r), 3), width = 0.002 + 0.02 * t;
    return around(r, {a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]), a[2] + t * (b[2] - a[2])},
                  width);
  });
}
/// A thin shell in another one with the opposite charge: no field between them but that of single charges.
Bodies two_shells(std::size_t n, Random& random) {
  Bodies bodies;
  for (std::size_t i = 0; i < n; ++i)
    add(bodies, on_sphere(random, i % 2 == 0 ? 1 : 1.1), i % 2 == 0 ? 1 : -1);
  return bodies;
}
/// Chains in a box of water-like molecules: neutral groups of three charges, tenths of a spacing apart.
Bodies proteins(std::size_t n, Random& random) {
  Bodies bodies;
  Point end = {0, 0, 0};
  const double edge = std::cbrt(double(n) / 3);
  for (std::size_t i = 0; i < n / 3; ++i) {
    if (i % 1000 == 0) end = in_cube(random), end = {edge * end[0], edge * end[1], edge * end[2]};
    const bool chain = i % 10 < 3;
    const Point step = on_sphere(random, 0.4), p = in_cube(random);
    if (chain) end = {end[0] + step[0], end[1] + step[1], end[2] + step[2]};
    const Point at = chain ? end : Point{edge * p[0], edge * p[1], edge * p[2]};
    const double q = uniform(random, 0.2, 0.8);
    const Point a = on_sphere(random, 0.1), b = on_sphere(random, 0.1);
    add(bodies, at, -2 * q);
    bodies.add(at[0] + a[0], at[1] + a[1], at[2] + a[2], q);
    bodies.add(at[0] + b[0], at[1] + b[1], at[2] + b[2], q);
  }
  return bodies;
}
/// Masses of a power law: few have most of the mass.
Bodies power_law(std::size_t n, Random& random) {
  Bodies bodies = uniform(random) < 0.5 ? cube(n, random) : plummer(n, random);
  for (double& q : bodies.charges) q = std::pow(1 - uniform(random), -1 / 0.7);
  return bodies;
}
Bodies exponential_masses(std::size_t n, Random& random) {
  Bodies bodies = cube(n, random);
  for (double& q : bodies.charges) q = exponential(random);
  return bodies;
}
Bodies one_massive(std::size_t n, Random& random) {
  Bodies bodies = uniform(random) < 0.5 ? cube(n, random) : disk(n, random);
  bodies.charges[random() % bodies.size()] = double(n) * log_uniform(random, 0.1, 1e4);
  return bodies;
}
Bodies half_without_mass(std::size_t n, Random& random) {
  Bodies bodies = uniform(random) < 0.5 ? plummer(n, random) : cube(n, random);
  for (double& q : bodies.charges) q = random() % 2 == 0 ? 0 : 1;
  return bodies;
}
/// Pairs of opposite charges, far closer than the pairs are to each other.
Bodies dipole_pairs(std::size_t n, Random& random) {
  Bodies bodies;
  const double distance = log_uniform(random, 1e-3, 0.3) / std::cbrt(double(n));
  for (std::size_t i = 0; i < n / 2; ++i) {
    const Point p = in_cube(random), d = on_sphere(random, distance);
    add(bodies, p, 1);
    bodies.add(p[0] + d[0], p[1] + d[1], p[2] + d[2], -1);
  }
  return bodies;
}
/// Binaries of binaries of binaries, each level a hundredth of the one above.
Bodies binaries(std::size_t n, Random& random) {
  Bodies bodies;
  while (bodies.size() + 8 <= std::max<std::size_t>(n, 8)) {
    const Point p = in_cube(random);
    const Point d[3] = {on_sphere(random, 1e-2), on_sphere(random, 1e-4), on_sphere(random, 1e-6)};
    for (int i = 0; i < 8; ++i) {
      Point x = p;
      for (int level = 0; level < 3; ++level)
        for (int k = 0; k < 3; ++k) x[k] += (i >> level & 1 ? 0.5 : -0.5) * d[level][k];
      add(bodies, x, uniform(random, 0.1, 1));
    }
  }
  return bodies;
}
/// Stars of a disk in parsecs, some with a planet at 0.05 to 30 astronomical units.
Bodies planets(std::size_t n, Random& random) {
  Bodies bodies = disk(n, random);
  constexpr double astronomical_unit = 1 / 206264.8;
  for (std::size_t i = 0; i < n / 25; ++i) {
    const Point d = on_sphere(random, log_uniform(random, 0.05, 30) * astronomical_unit);
    bodies.add(bodies.positions[3 * i] + d[0], bodies.positions[3 * i + 1] + d[1],
               bodies.positions[3 * i + 2] + d[2], 1e-3);
  }
  return bodies;
}
/// A cluster and one body far outside.
Bodies escaper(std::size_t n, Random& random) {
  Bodies bodies = plummer(n, random);
  add(bodies, on_sphere(random, log_uniform(random, 1e3, 1e14)), 1);
  return bodies;
}
Bodies few(std::size_t, Random& random) {
  Bodies bodies;
  const int n = 2 + int(random() % 9);
  for (int i = 0; i < n; ++i)
    add(bodies, on_sphere(random, log_uniform(random, 1e-4, 1e4)), log_uniform(random, 1e-3, 1e3));
  return bodies;
}
Bodies line(std::size_t n, Random& random) {
  return each(n, random, [](Random& r) { return Point{uniform(r), 0, 0}; });
}
Bodies plane(std::size_t n, Random& random) {
  return each(n, random, [](Random& r) { return Point{uniform(r), uniform(r), 0.25}; });
}
/// Two distant clusters of different size.
Bodies clusters(std::size_t n, Random& random) {
  Bodies bodies = plummer(n, random);
  const double ratio = log_uniform(random, 0.01, 1), distance = log_uniform(random, 10, 1e4);
  for (std::size_t i = 0; i < bodies.size(); i += 3) {
    for (int d = 0; d < 3; ++d) bodies.positions[3 * i + d] *= ratio;
    bodies.positions[3 * i] += distance;
  }
  return bodies;
}
/// A set of dimension two: half of the eighths of every cell are empty.
Bodies fractal(std::size_t n, Random& random) {
  const std::uint64_t seed = random();
  return each(n, random, [&](Random& r) {
    Point corner = {0, 0, 0};
    double edge = 1;
    std::uint64_t cell = 1;
    for (std::size_t room = 16; room < n; room *= 4) {
      Random of_cell(seed ^ cell * 0x9e3779b97f4a7c15u);
      std::array<unsigned, 8> eighths{0, 1, 2, 3, 4, 5, 6, 7};
      for (unsigned i = 0; i < 4; ++i) std::swap(eighths[i], eighths[i + of_cell() % (8 - i)]);
      const unsigned eighth = eighths[r() % 4];
      cell = 8 * cell + eighth;
      edge /= 2;
      for (unsigned d = 0; d < 3; ++d) corner[d] += edge * (eighth >> d & 1);
    }
    const Point p = in_cube(r);
    return Point{corner[0] + edge * p[0], corner[1] + edge * p[1], corner[2] + edge * p[2]};
  });
}

}  // namespace

std::vector<Kind> const& all() {
  static const std::vector<Kind> kinds = {
      {"cube", cube, false, false},
      {"plummer", plummer, false, false},
      {"shell", shell, false, false},
      {"disk", disk, false, false},
      {"clusters", clusters, false, false},
      {"fractal", fractal, false, false},
      {"nfw", nfw, false, false},
      {"hernquist", hernquist, false, false},
      {"clumps", clumps, false, false},
      {"rock_salt", rock_salt, true, false},
      {"warm_salt", warm_salt, true, false},
      {"grid", grid, false, false},
      {"caesium_chloride", caesium_chloride, true, false},
      {"stretched_salt", stretched_salt, true, false},
      {"filaments", filaments, false, false},
      {"two_shells", two_shells, true, false},
      {"proteins", proteins, true, false},
      {"power_law", power_law, false, false},
      {"exponential_masses", exponential_masses, false, false},
      {"one_massive", one_massive, false, false},
      {"half_without_mass", half_without_mass, false, false},
      {"dipole_pairs", dipole_pairs, true, false},
      {"line", line, false, false},
      {"plane", plane, false, false},
      {"binaries", binaries, false, true},
      {"planets", planets, false, true},
      {"escaper", escaper, false, true},
      {"few", few, false, true},
  };
  return kinds;
}

}  // namespace kinds
