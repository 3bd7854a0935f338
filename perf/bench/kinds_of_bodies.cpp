// SPDX-License-Identifier: BSD-3-Clause
#include "kinds_of_bodies.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "random_points.hpp"

namespace kinds {

namespace {

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
/// Wires of a chip: crossing bars of triangles that shrink towards the edges, where charge of either sign gathers.
Bodies chip_wires(std::size_t n, Random& random) {
  const int bars = 1 + int(random() % 16);
  const int side = std::max(2, int(std::lround(std::sqrt(double(n) / (12 * bars)))));
  const double grading = uniform(random, 1, 2.5), length = log_uniform(random, 1, 100),
               height = log_uniform(random, 0.01, 0.5);
  std::vector<double> x(side + 1);
  for (int i = 0; i <= side; ++i) {
    const double u = 2.0 * i / side - 1;
    x[i] = std::copysign(1 - std::pow(1 - std::abs(u), grading), u);
  }
  Bodies bodies;
  for (int bar = 0; bar < bars; ++bar) {
    const int layer = bar / 4, across = layer % 2 == 0 ? 1 : 0;
    Point half = {length / 2, length / 2, height}, centre = {0, 0, 3 * height * layer};
    half[across] = 0.3;
    centre[across] = bar % 4 - 1.5;
    const double voltage = normal(random);
    for (int face = 0; face < 6; ++face) {
      const int c = face / 2, a = (c + 1) % 3, b = (c + 2) % 3;
      for (int i = 0; i < side; ++i)
        for (int j = 0; j < side; ++j)
          for (double w : {1 / 3.0, 2 / 3.0}) {
            const double u = x[i] + w * (x[i + 1] - x[i]), v = x[j] + w * (x[j + 1] - x[j]);
            const double area = half[a] * half[b] * (x[i + 1] - x[i]) * (x[j + 1] - x[j]) / 2;
            Point p = centre;
            p[a] += half[a] * u;
            p[b] += half[b] * v;
            p[c] += face % 2 == 0 ? half[c] : -half[c];
            add(bodies, p, voltage * area * std::pow((1 - u * u) * (1 - v * v), -1 / 3.0));
          }
    }
  }
  return bodies;
}
/// A sphere's grid of latitudes and longitudes with a spherical harmonic as its charge: no lower moments.
Bodies harmonic_shell(std::size_t n, Random& random) {
  const int rows = std::max(16, int(std::sqrt(double(n) / 2))), columns = 2 * rows;
  const int degree = 2 + int(random() % (std::min(rows, 120) / 2)),
            order = int(random() % (degree + 1));
  const double phase = uniform(random, 0, 2 * std::numbers::pi);
  Bodies bodies;
  for (int i = 0; i < rows; ++i) {
    const double theta = (i + 0.5) * std::numbers::pi / rows, z = std::cos(theta),
                 s = std::sin(theta);
    double below = 0, legendre = std::pow(s, order);
    for (int l = order; l < degree; ++l) {
      const double above = ((2 * l + 1) * z * legendre - (l + order) * below) / (l - order + 1);
      below = std::exchange(legendre, above);
    }
    for (int j = 0; j < columns; ++j) {
      const double phi = 2 * std::numbers::pi * j / columns;
      bodies.add(s * std::cos(phi), s * std::sin(phi), z,
                 s * legendre * std::cos(order * phi + phase));
    }
  }
  return bodies;
}
/// Two wavy leaflets of lipids (nanometres): heads with dipoles, tails without charge, some ions in the water.
Bodies membrane(std::size_t n, Random& random) {
  const int side = std::max(2, int(std::sqrt(double(n) / 20)));
  const double anionic = uniform(random), reach = log_uniform(random, 0.1, 5),
               wave = uniform(random, 0, 10), length = uniform(random, 20, 200),
               spread = log_uniform(random, 0.01, 0.3);
  Bodies bodies;
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j)
      for (int up : {1, -1}) {
        const double x = 0.8 * i, y = 0.8 * j,
                     z = wave * std::sin(x / length) * std::cos(y / length);
        const auto bead = [&](double height, double q) {
          add(bodies, around(random, {x, y, z + up * height}, spread), q);
        };
        const bool has_ion = uniform(random) < anionic;
        const Point d = on_sphere(random, 0.45), c = on_sphere(random, 0.12);
        bead(2, -1);
        bodies.add(x + d[0], y + d[1], z + up * (2 + std::abs(d[2])), has_ion ? 0 : 1);
        bodies.add(x, y, z + up * 1.5, 0.6);
        bodies.add(x + c[0], y + c[1], z + up * 1.5 + c[2], -0.6);
        for (int k = 0; k < 6; ++k) bead(1.2 - 0.2 * k, 0);
        if (has_ion) bead(2.2 + reach * exponential(random), 1);
      }
  return bodies;
}
/// A virus: the sixty rotations of an icosahedron of what lies in one unit, strands inside, proteins outside.
Bodies capsid(std::size_t n, Random& random) {
  const double golden = std::numbers::phi, unit = std::sqrt(1 + golden * golden),
               thickness = log_uniform(random, 0.01, 0.3), strands = uniform(random);
  const Point axis = {0, 1 / unit, golden / unit};
  const double c = std::cos(2 * std::numbers::pi / 5), s = std::sin(2 * std::numbers::pi / 5);
  Bodies bodies;
  for (std::size_t i = 0; i < n / 60; ++i) {
    const bool is_strand = uniform(random) < strands, is_arm = uniform(random) < 0.6;
    const double depth = thickness * uniform(random);
    Point p = on_sphere(random, is_strand ? 1 - thickness - depth : is_arm ? 1 - depth : 1 + depth);
    const double q = is_strand ? -1 : is_arm ? 1 : random() % 2 == 0 ? 0.5 : -0.5;
    for (int turn = 0; turn < 5; ++turn) {
      const double along = axis[1] * p[1] + axis[2] * p[2];
      const Point cross = {axis[1] * p[2] - axis[2] * p[1], axis[2] * p[0], -axis[1] * p[0]};
      for (int d = 0; d < 3; ++d) p[d] = c * p[d] + s * cross[d] + (1 - c) * along * axis[d];
      for (int first = 0; first < 3; ++first) {
        const Point r = {p[first], p[(first + 1) % 3], p[(first + 2) % 3]};
        bodies.add(r[0], r[1], r[2], q);
        bodies.add(r[0], -r[1], -r[2], q);
        bodies.add(-r[0], r[1], -r[2], q);
        bodies.add(-r[0], -r[1], r[2], q);
      }
    }
  }
  return bodies;
}
/// Ions and electrons before a wall that repels electrons; evenly in log x, so that weights have many magnitudes.
Bodies plasma_sheath(std::size_t n, Random& random) {
  const double debye = log_uniform(random, 1e-3, 0.1), width = log_uniform(random, 0.03, 3),
               wall = uniform(random, 2, 20);
  Bodies bodies;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = log_uniform(random, 0.1 * debye, 1), potential = -wall * std::exp(-x / debye);
    const double density = i % 2 == 0 ? 1 / std::sqrt(1 - 2 * potential) : -std::exp(potential);
    const Point p = in_cube(random);
    bodies.add(x, width * p[1], width * p[2], x * density);
  }
  return bodies;
}
/// A grid of cosmic matter that some plane waves move until it crosses itself (Zel'dovich 1970).
Bodies pancake(std::size_t n, Random& random) {
  struct Wave {
    Point k;
    double size, phase;
  };
  std::vector<Wave> waves(1 + random() % 4);
  const double growth = log_uniform(random, 0.1, 4);
  for (auto& [k, size, phase] : waves) {
    for (double& x : k) x = 2 * std::numbers::pi * (double(random() % 7) - 3);
    if (k == Point{}) k[0] = 2 * std::numbers::pi;
    size = growth * normal(random) / (k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
    phase = uniform(random, 0, 2 * std::numbers::pi);
  }
  const int side = std::max(2, int(std::cbrt(double(n))));
  Bodies bodies;
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j)
      for (int k = 0; k < side; ++k) {
        const Point at = {double(i) / side, double(j) / side, double(k) / side};
        Point p = at;
        for (auto const& wave : waves) {
          const double angle = wave.k[0] * at[0] + wave.k[1] * at[1] + wave.k[2] * at[2];
          for (int d = 0; d < 3; ++d) p[d] += wave.size * wave.k[d] * std::sin(angle + wave.phase);
        }
        add(bodies, p, 1);
      }
  return bodies;
}
/// Centres of the cells of grids in grids, each half as wide; mass is volume times a density that grows inwards.
Bodies refined_grids(std::size_t n, Random& random) {
  const double wanted = uniform(random, 3, 18), slope = uniform(random, 0, 3.2),
               noise = uniform(random);
  const int half = std::max(2, int(std::cbrt(double(n) / (7 * wanted)))),
            levels = int(std::clamp(double(n) / (7 * half * half * half), 1.0, 22.0));
  Bodies bodies;
  Point corner = {0, 0, 0};
  double edge = 1;
  for (int level = 0; level < levels; ++level) {
    int hole[3];  // finer cells are here
    for (int& h : hole) h = level + 1 < levels ? int(random() % (half + 1)) : 2 * half;
    const auto in_hole = [&](int i, int d) { return i >= hole[d] && i < hole[d] + half; };
    for (int i = 0; i < 2 * half; ++i)
      for (int j = 0; j < 2 * half; ++j)
        for (int k = 0; k < 2 * half; ++k)
          if (!(in_hole(i, 0) && in_hole(j, 1) && in_hole(k, 2)))
            bodies.add(corner[0] + edge * (i + 0.5), corner[1] + edge * (j + 0.5),
                       corner[2] + edge * (k + 0.5),
                       std::pow(edge, 3 - slope) * std::exp(noise * normal(random)));
    for (int d = 0; d < 3; ++d) corner[d] += edge * hole[d];
    edge /= 2;
  }
  return bodies;
}
/// Parallel double helices (nanometres), thousands of times longer than wide, straight or bent, with their ions.
Bodies dna_bundle(std::size_t n, Random& random) {
  const int rods = 1 + int(random() % 19), row = int(std::ceil(std::sqrt(double(rods)))),
            steps = std::max(2, int(n / (3 * rods)));
  const double spacing = uniform(random, 2.3, 4), spread = log_uniform(random, 0.01, 1),
               bend = std::max(0.34 * steps / 6, 30.0);
  const bool is_bent = random() % 2 == 0;
  Bodies bodies;
  for (int rod = 0; rod < rods; ++rod) {
    const double x = spacing * (rod % row + rod / row % 2 * 0.5),
                 y = spacing * std::sqrt(0.75) * (rod / row),
                 twist = uniform(random, 0, 2 * std::numbers::pi), start = uniform(random);
    for (int step = 0; step < steps; ++step) {
      const double phi = twist + 2 * std::numbers::pi / 10.5 * step;
      const auto place = [&](double angle, double radius, double width, double q) {
        Point p = {x + radius * std::cos(angle), y + radius * std::sin(angle), start + 0.34 * step};
        if (width > 0) p = around(random, p, width);
        if (is_bent)
          p = {(bend + p[0]) * std::cos(p[2] / bend), p[1], (bend + p[0]) * std::sin(p[2] / bend)};
        add(bodies, p, q);
      };
      place(phi, 0.95, 0, -1);
      place(phi + 2.4, 0.95, 0, -1);
      place(phi + 1.2, 1.1, spread, 2);
    }
  }
  return bodies;
}
/// A planet's ring, as thin as Saturn's, with a gap, boulders of a power law, heaps around moonlets, maybe the planet.
Bodies planetary_ring(std::size_t n, Random& random) {
  const double thickness = log_uniform(random, 1e-7, 1e-3), gap = uniform(random, 1.3, 2),
               heaped = uniform(random, 0, 0.3), heap = log_uniform(random, 1e-4, 1e-2);
  const auto on_ring = [&](double radius) {
    const double phi = uniform(random, 0, 2 * std::numbers::pi);
    return Point{radius * std::cos(phi), radius * std::sin(phi), thickness * normal(random)};
  };
  Bodies bodies;
  std::vector<Point> moonlets(1 + random() % 10);
  for (Point& moonlet : moonlets) {
    moonlet = on_ring(gap + 0.02 * normal(random));
    add(bodies, moonlet, log_uniform(random, 1e6, 1e10));
  }
  while (bodies.size() < n) {
    const double radius = std::sqrt(uniform(random, 1.2, 5)),
                 mass = std::pow(uniform(random, 1e-6, 1), -1.5);
    if (uniform(random) < heaped)
      add(bodies, around(random, moonlets[random() % moonlets.size()], heap), mass);
    else if (std::abs(radius - gap) > 0.04)
      add(bodies, on_ring(radius), mass);
  }
  if (random() % 2 == 0) bodies.add(0, 0, 0, 1e5 * double(n) * log_uniform(random, 1, 1e6));
  return bodies;
}
/// A film of barium titanate: equal dipoles in all cells of a domain, and domains in stripes.
Bodies ferroelectric(std::size_t n, Random& random) {
  const double cells = double(n) / 5, shift = log_uniform(random, 0.005, 0.1),
               warmth = log_uniform(random, 1e-6, 0.03);
  const int layers = std::max(2, int(std::cbrt(cells) * log_uniform(random, 0.2, 1))),
            side = std::max(2, int(std::lround(std::sqrt(cells / layers)))),
            stripe = 1 + int(random() % side), polar = int(random() % 3);
  Bodies bodies;
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j)
      for (int k = 0; k < layers; ++k) {
        const double d = i / stripe % 2 == 0 ? shift : -shift;
        const auto ion = [&](double x, double y, double z, double moved, double q) {
          Point p = {i + x, j + y, k + z};
          p[polar] += moved;
          add(bodies, around(random, p, warmth), q);
        };
        ion(0, 0, 0, 0, 2);
        ion(0.5, 0.5, 0.5, d, 4);
        ion(0, 0.5, 0.5, -d, -2);
        ion(0.5, 0, 0.5, -d, -2);
        ion(0.5, 0.5, 0, -d, -2);
      }
  return bodies;
}

/// These, and those of the other files.
std::vector<Kind> and_others(std::vector<Kind> kinds) {
  for (auto const* others :
       {&of_other_fields(), &of_attackers(), &of_users(), &of_newcomers(), &of_strangers(),
        &of_visitors(), &of_guests(), &of_callers(), &of_clients()})
    kinds.insert(kinds.end(), others->begin(), others->end());
  return kinds;
}

}  // namespace

std::vector<Kind> const& all() {
  static const std::vector<Kind> kinds = and_others({
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
      {"chip_wires", chip_wires, true, false},
      {"harmonic_shell", harmonic_shell, true, false},
      {"membrane", membrane, true, false},
      {"capsid", capsid, true, false},
      {"plasma_sheath", plasma_sheath, true, false},
      {"pancake", pancake, false, false},
      {"refined_grids", refined_grids, false, false},
      {"dna_bundle", dna_bundle, true, false},
      {"planetary_ring", planetary_ring, false, false},
      {"ferroelectric", ferroelectric, true, false},
  });
  return kinds;
}

}  // namespace kinds
