// SPDX-License-Identifier: BSD-3-Clause
// Kinds of bodies of users of yet other fields, that nobody tuned for: merging galaxies, magnets,
// nerve cells, colloids with images of their ions, soot and the crust of a planet. Each draws its
// own shape, ratios and noise.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "kinds_of_bodies.hpp"
#include "random_points.hpp"

namespace kinds {

namespace {

/// Two galaxies of unequal mass as they merge: black holes with a cusp of stars around each, disks,
/// clumps of light gas, heavy bodies of dark matter, and tails with dwarfs, many disks long. Masses
/// of one body differ by more than twelve decades.
Bodies galaxy_merger(std::size_t n, Random& random) {
  struct Galaxy {
    Point centre, u, v, w;
    double size, mass;  // mass: that of one star of it
  };
  const double ratio = log_uniform(random, 1e-3, 1), distance = log_uniform(random, 0.1, 30),
               dark_mass = log_uniform(random, 1, 1e5), gas_mass = log_uniform(random, 1e-5, 1),
               hole_mass = double(n) * log_uniform(random, 1e-6, 10),
               cusp = log_uniform(random, 1e-3, 0.1), innermost = log_uniform(random, 1e-3, 0.1),
               thickness = log_uniform(random, 1e-3, 0.3), clump = log_uniform(random, 1e-3, 0.1),
               length = log_uniform(random, 3, 300), winding = uniform(random, 0.5, 5),
               width = log_uniform(random, 1e-3, 0.3), dwarf = log_uniform(random, 1e-3, 0.1),
               halo = log_uniform(random, 3, 100), spread = uniform(random, 0, 1);
  double shares[5];  // of the bodies: cusps, disks, gas, dark matter, tails
  double all = 0;
  for (double& share : shares) all += share = log_uniform(random, 0.01, 1);
  const std::size_t gas_clumps = 1 + random() % 100, dwarfs = 1 + random() % 8;
  Galaxy galaxies[2];
  std::vector<Point> clumps;
  Bodies bodies;
  for (int i = 0; i < 2; ++i) {
    const double part = i == 0 ? 1 : ratio;
    const Point w = on_sphere(random), u = any_normal_of(random, w);
    galaxies[i] = {i == 0 ? Point{0, 0, 0} : on_sphere(random, distance),
                   u,
                   cross(w, u),
                   w,
                   std::sqrt(part),
                   heads(random) ? 1 : part};
    add(bodies, galaxies[i].centre, hole_mass * part);
  }
  const auto in_disk = [&](Galaxy const& galaxy, double r, double phi, double z) {
    return along(along(along(galaxy.centre, galaxy.size * r * std::cos(phi), galaxy.u),
                       galaxy.size * r * std::sin(phi), galaxy.v),
                 galaxy.size * z, galaxy.w);
  };
  const auto anywhere_in_disk = [&](Galaxy const& galaxy) {
    const double r = exponential(random) + exponential(random), phi = uniform(random, 0, 2 * pi);
    return in_disk(galaxy, r, phi, thickness * normal(random));
  };
  for (std::size_t i = 0; i < gas_clumps; ++i)
    clumps.push_back(anywhere_in_disk(galaxies[random() % 2]));
  while (bodies.size() < n) {
    Galaxy const& galaxy = galaxies[uniform(random) * (1 + ratio) < 1 ? 0 : 1];
    const double mass = galaxy.mass * std::exp(spread * normal(random));
    double choice = all * uniform(random);
    int component = 0;
    while (component < 4 && choice >= shares[component]) choice -= shares[component++];
    if (component == 0) {
      const double r = galaxy.size * cusp * log_uniform(random, innermost, 1);
      add(bodies, along(galaxy.centre, r, on_sphere(random)), mass);
    } else if (component == 1) {
      add(bodies, anywhere_in_disk(galaxy), mass);
    } else if (component == 2) {
      Point const& centre = clumps[random() % clumps.size()];
      add(bodies, around(random, centre, clump * uniform(random, 0.3, 1)), gas_mass * mass);
    } else if (component == 3) {
      const double share = 0.99 * std::sqrt(uniform(random)), r = share / (1 - share);
      add(bodies, along(galaxy.centre, galaxy.size * std::min(r, halo), on_sphere(random)),
          dark_mass * mass);
    } else {
      const bool in_dwarf = uniform(random) < 0.3, is_counter = heads(random);
      const double t = in_dwarf ? double(1 + random() % dwarfs) / double(dwarfs)
                                : std::pow(uniform(random), 1.5),
                   phi = winding * std::log1p(length * t) / 3 + (is_counter ? pi : 0);
      const Point p = in_disk(galaxy, 2 + length * t, phi, 0.3 * length * t * t);
      add(bodies, around(random, p, in_dwarf ? dwarf : width * (1 + length * t)), mass);
    }
  }
  return bodies;
}

/// Halbach's rows and rings of magnets: each is turned from the one before, so that the field is on
/// one side or within, where sensors without charge may be on the other. Charges are those of the
/// faces, of which two are nearly at the same place where magnets are glued.
Bodies halbach_array(std::size_t n, Random& random) {
  const bool is_ring = heads(random), is_graded = heads(random);
  const double sensors = some(random, 1e-4, 0.1);
  const double in_faces = (1 - sensors) * double(n);
  const int magnets = int(log_uniform(random, 4, std::clamp(in_faces / 24, 5.0, 3000.0))),
            side = std::max(1, int(std::lround(std::sqrt(in_faces / (6 * magnets))))),
            rows = is_ring ? 1 : std::clamp(int(random() % 12), 1, magnets),
            columns = std::max(1, magnets / rows), poles = 1 + int(random() % 4),
            per_turn = 2 + int(random() % 7);
  const double glue = log_uniform(random, 1e-5, 0.3), height = log_uniform(random, 0.03, 10),
               depth = log_uniform(random, 0.1, 30), error = some(random, 1e-6, 0.1),
               tilt = some(random, 1e-6, 0.03), broken = some(random, 1e-3, 0.1),
               sensor = log_uniform(random, 0.01, 10), size = log_uniform(random, 1e-3, 1e3),
               strength = log_uniform(random, 1e-3, 1e6), grading = uniform(random, 1, 3),
               radius = (1 + glue) * columns / (2 * pi) + height / 2;
  std::vector<double> nodes(side), weights(side);  // on a face, of -1 to 1
  const auto node = [&](double i) {
    const double t = 2 * i / side - 1;
    return is_graded ? std::copysign(1 - std::pow(1 - std::abs(t), grading), t) : t;
  };
  for (int i = 0; i < side; ++i) nodes[i] = node(i + 0.5), weights[i] = node(i + 1) - node(i);
  const Point half = {0.5, depth / 2, height / 2};
  Bodies bodies;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      const double phi = is_ring ? 2 * pi * column / columns : 0;
      const Point u = {std::cos(phi), 0, -std::sin(phi)}, v = {0, 1, 0},
                  w = {std::sin(phi), 0, std::cos(phi)};
      const Point centre =
          is_ring ? along({0, 0, 0}, radius, w)
                  : Point{(1 + glue) * (column - columns / 2.0), (depth + glue) * row, 0};
      const double angle = (is_ring ? poles * phi : 2 * pi * (column + row) / per_turn) +
                           tilt * normal(random),
                   moment = uniform(random) < broken ? 0 : 1 + error * normal(random);
      const Point magnetisation = {moment * std::sin(angle), tilt * moment * normal(random),
                                   moment * std::cos(angle)};
      for (int face = 0; face < 6; ++face) {
        const int c = face / 2, a = (c + 1) % 3, b = (c + 2) % 3;
        const double up = face % 2 == 0 ? 1 : -1,
                     density = up * magnetisation[c] * half[a] * half[b];
        for (int i = 0; i < side; ++i)
          for (int j = 0; j < side; ++j) {
            Point local;
            local[a] = half[a] * nodes[i];
            local[b] = half[b] * nodes[j];
            local[c] = up * half[c];
            const Point p = along(along(along(centre, local[0], u), local[1], v), local[2], w);
            const bool is_zero = std::abs(magnetisation[c]) < 1e-12 * std::abs(moment);
            add(bodies, p, is_zero ? 0 : density * weights[i] * weights[j]);
          }
      }
    }
  const double weak = heads(random) ? 1 : -1;
  for (std::size_t i = 0; i < std::size_t(sensors * double(n)); ++i) {
    const double t = uniform(random), y = (rows - 0.5) * (depth + glue) * uniform(random),
                 r = radius + weak * (height / 2 + sensor), z = weak * (height / 2 + sensor);
    if (is_ring)
      bodies.add(r * std::sin(2 * pi * t), depth * uniform(random, -0.5, 0.5),
                 r * std::cos(2 * pi * t), 0);
    else
      bodies.add((1 + glue) * columns * (t - 0.5), y, z, 0);
  }
  return in_units(std::move(bodies), size, strength);
}

/// Nerve cells of a column of cortex (micrometres, from any origin of an atlas): the currents that
/// leave each piece of branching dendrites, which sum to zero for each cell; few cells fire, all
/// others hum. Contacts of electrodes have no charge.
Bodies nerve_cells(std::size_t n, Random& random) {
  struct Piece {
    Point at, heading;
    double voltage, width, step;
    std::size_t parent;
  };
  const double contacts = some(random, 1e-3, 0.1);
  const std::size_t in_cells = std::max<std::size_t>(8, std::size_t((1 - contacts) * double(n)));
  const std::size_t cells =
      std::size_t(log_uniform(random, 1, std::clamp(double(in_cells) / 40, 1.0, 1e4)));
  const double firing = log_uniform(random, 1e-3, 1), hum = log_uniform(random, 1e-8, 0.1),
               noise = log_uniform(random, 1e-4, 1), turn = log_uniform(random, 0.02, 0.5),
               taper = uniform(random, 0.8, 1), branching = log_uniform(random, 3e-3, 0.2),
               column = log_uniform(random, 30, 3000), reach = log_uniform(random, 100, 1000),
               fastest = log_uniform(random, 1e-3, 0.5), heavy = uniform(random, 0, 1.3),
               upward = some(random, 0.01, 0.3), origin = some(random, 1, 1e5);
  const Point shift = on_sphere(random, origin);
  std::vector<Piece> pieces;
  std::vector<double> currents;
  std::vector<std::size_t> tips;
  Bodies bodies;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    const std::size_t count = in_cells * (cell + 1) / cells - in_cells * cell / cells;
    const double x = column * normal(random), y = column * normal(random);
    const Point soma = {x, y, 1000 * uniform(random)};
    const double strength = std::pow(uniform(random, 1e-5, 1), -heavy) *
                            (uniform(random) < firing || cell == 0 ? 1 : hum),
                 step = 30 * reach / (30 * std::cbrt(double(count)) + double(count));
    pieces.assign(1, {soma, {0, 0, 1}, 1, 10, step, 0});
    currents.assign(1, 0);
    tips.clear();
    for (std::size_t i = 0, stems = 3 + random() % 6; i < stems; ++i) tips.push_back(0);
    while (pieces.size() < count) {
      std::size_t& tip = tips[random() % tips.size()];
      const bool forks = uniform(random) < branching && tips.size() < 1000;
      Piece piece = pieces[tip];
      const double kick = tip == 0 || forks ? 3 : turn;
      piece.heading = unit(along(around(random, piece.heading, kick), upward, {0, 0, 1}));
      piece.parent = tip;
      piece.width = std::max(piece.width * (forks ? 0.63 : tip == 0 ? 0.3 : taper), 0.2);
      piece.step = step * std::exp(0.5 * normal(random));
      piece.at = along(piece.at, (tip == 0 ? 10 : 0) + piece.step, piece.heading);
      piece.voltage = piece.voltage * (1 - fastest) + noise * fastest * normal(random);
      const double current =
          piece.width * piece.width / piece.step * (pieces[tip].voltage - piece.voltage);
      currents[tip] -= current;
      currents.push_back(current);
      const std::size_t old = tip, last = pieces.size();
      tip = last;
      if (forks) tips.push_back(old == 0 ? last : old);
      pieces.push_back(piece);
    }
    for (std::size_t i = 0; i < pieces.size(); ++i)
      add(bodies, along(pieces[i].at, 1, shift), strength * currents[i]);
  }
  const Point shank = unit(along({0, 0, 1}, 0.2, on_sphere(random)));
  const double wanted = contacts * double(n);
  for (std::size_t i = 0; i < std::size_t(wanted); ++i)
    add(bodies, along(shift, 1000 * (double(i) + 0.5) / wanted, shank), 0);
  return bodies;
}

/// Colloids of any size with ions next to their surface, the images of these within (W. Thomson's,
/// for a conductor or a dielectric), and a charge in the centre that makes the whole neutral, or
/// nearly so: it is as large as all the others together.
Bodies colloid_images(std::size_t n, Random& random) {
  const double per_colloid = log_uniform(random, 3, std::clamp(double(n) / 4, 4.0, 1e5));
  const int colloids = std::max(1, int(double(n) / (2 * per_colloid + 1))),
            row = std::max(1, int(std::cbrt(double(colloids)))), dimensions = 1 + int(random() % 3),
            columns = dimensions == 1   ? colloids
                      : dimensions == 2 ? int(std::ceil(std::sqrt(double(colloids))))
                                        : row;
  const double dielectric = heads(random) ? 1 : uniform(random, -1, 1),
               smallest = log_uniform(random, 3e-3, 0.97), largest = uniform(random, 0.3, 0.98),
               closest = log_uniform(random, 1e-6, 0.3), imbalance = some(random, 1e-6, 1),
               coions = uniform(random, 0, 0.5), patchy = heads(random) ? 0 : uniform(random, 0, 3),
               jitter = uniform(random, 0, 0.01), size = log_uniform(random, 1e-9, 1e3);
  const int valence = 1 + int(random() % 3);
  const bool is_evenly_charged = heads(random);  // whatever their size; else by area
  Bodies bodies;
  for (int colloid = 0; colloid < colloids; ++colloid) {
    const Point cell = {double(colloid % columns), double(colloid / columns % columns),
                        double(colloid / columns / columns)};
    const Point centre = around(random, cell, jitter / 5), patch = on_sphere(random);
    const double radius = largest / 2 * log_uniform(random, smallest, 1),
                 widest = std::max(0.49 / radius - 1, 2 * closest);
    const double unit_charge = is_evenly_charged ? 1 : 4 * radius * radius;
    const int ions = std::max(1, int(double(n - bodies.size()) / (2.0 * (colloids - colloid))));
    double total = 0, of_images = 0;
    for (int i = 0; i < ions; ++i) {
      const Point d = unit(along(on_sphere(random), patchy, patch));
      const double r = radius * (1 + log_uniform(random, closest, widest)),
                   q = unit_charge * (uniform(random) < coions ? -1 : valence),
                   image = -dielectric * q * radius / r;
      add(bodies, along(centre, r, d), q);
      add(bodies, along(centre, radius * radius / r, d), image);
      total += q;
      of_images += image;
    }
    add(bodies, centre, -(of_images + total * (1 + imbalance * normal(random))));
  }
  return in_units(std::move(bodies), size, 1);
}

/// Soot, snow or dust: aggregates of aggregates of any fractal dimension, each parted into two of
/// unequal share. Mass and density of the parts are a cascade, so that masses differ by up to
/// twelve decades and are not where most bodies are; some lie on a filter.
Bodies soot(std::size_t n, Random& random) {
  struct Part {
    Point centre;
    std::size_t count;
    double mass, scale;
  };
  const double dimension = uniform(random, 1.3, 2.9), least = log_uniform(random, 0.01, 0.5),
               spread = uniform(random, 0, 2),
               densities = heads(random) ? 0 : uniform(random, 0, 1),
               box = log_uniform(random, 0.1, 30), on_filter = heads(random) ? 0 : uniform(random),
               flattening = log_uniform(random, 1e-3, 1);
  const std::size_t aggregates =
      std::size_t(log_uniform(random, 1, std::clamp(double(n) / 30, 1.0, 1e4)));
  const double typical = std::pow(double(n) / double(aggregates), 1 / dimension),
               edge = box * typical * std::cbrt(double(aggregates));
  std::vector<Part> parts;
  Bodies bodies;
  for (std::size_t i = 0; i < aggregates; ++i) {
    const bool is_flat = uniform(random) < on_filter;
    const Point p = in_cube(random);
    const std::size_t count = n * (i + 1) / aggregates - n * i / aggregates;
    parts.push_back({{edge * p[0], edge * p[1], is_flat ? 0 : edge * p[2]}, count, 1, 1});
    while (!parts.empty()) {
      const Part part = parts.back();
      parts.pop_back();
      if (part.count < 2) {
        if (part.count == 1) add(bodies, part.centre, part.mass);
        continue;
      }
      const double share = uniform(random, std::min(least, 0.49), 0.5);
      const std::size_t less = std::max<std::size_t>(1, std::size_t(share * double(part.count)));
      Point d = on_sphere(random);
      if (is_flat) d = unit({d[0], d[1], flattening * d[2]});
      const double distance = part.scale * std::pow(double(part.count), 1 / dimension),
                   of_less = double(less) / double(part.count);
      for (const bool is_less : {true, false}) {
        const double mass = part.mass * std::exp(spread * normal(random)),
                     scale = part.scale * std::exp(densities * normal(random));
        parts.push_back({along(part.centre, distance * (is_less ? 1 - of_less : -of_less), d),
                         is_less ? less : part.count - less, std::clamp(mass, 1e-6, 1e6),
                         std::clamp(scale, 1e-4, 1.0)});
      }
    }
  }
  return bodies;
}

/// The crust of a planet on a grid of longitudes and latitudes, or a part of it that may have a
/// pole, where points crowd: mountains and, below, the roots that carry them, whose mass is the
/// opposite; stations without mass above. Some have the planet's mass, in its centre.
Bodies isostasy(std::size_t n, Random& random) {
  struct Wave {
    Point k;
    double size, phase;
  };
  const double stations = some(random, 1e-3, 0.3), wanted = (1 - stations) * double(n) / 2,
               window = heads(random) ? 1 : log_uniform(random, 0.01, 1),
               first = heads(random) ? 0 : (1 - window) * uniform(random),
               turn = heads(random) ? 1 : log_uniform(random, 0.01, 1),
               relief = log_uniform(random, 1e-5, 0.03), depth = log_uniform(random, 1e-4, 0.1),
               buoyancy = uniform(random, 1, 8), carried = 1 - some(random, 1e-6, 1),
               smoothness = uniform(random, 0.3, 2), altitude = log_uniform(random, 1e-6, 0.3),
               core = some(random, 1e-3, 1e6), size = log_uniform(random, 1, 1e7),
               sea = uniform(random, -2, 2), flattening = some(random, 1e-3, 0.1);
  std::vector<Wave> waves(8 + random() % 24);
  for (auto& wave : waves) {
    const double k = log_uniform(random, 1, 300 / window);
    wave.k = on_sphere(random, k);
    wave.size = std::pow(k, -smoothness) * normal(random);
    wave.phase = uniform(random, 0, 2 * pi);
  }
  double norm = 0;
  for (auto const& wave : waves) norm += wave.size * wave.size / 2;
  const auto place = [&](Point const& d, double r) {
    return Point{size * r * d[0], size * r * d[1], size * r * (1 - flattening) * d[2]};
  };
  const auto direction = [&](double share, double of_turn) {
    const double theta = pi * (first + window * share), phi = 2 * pi * turn * of_turn;
    return Point{std::sin(theta) * std::cos(phi), std::sin(theta) * std::sin(phi), std::cos(theta)};
  };
  const double aspect = 2 * turn / window;  // of columns to rows
  const int rows = std::clamp(int(std::sqrt(wanted / aspect)), 2, int(wanted / 2)),
            columns = std::max(2, int(wanted / rows));
  double total = 0;
  Bodies bodies;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      const Point d = direction((i + 0.5) / rows, (j + 0.5) / columns);
      double height = 0;
      for (auto const& wave : waves) height += wave.size * std::sin(dot(wave.k, d) + wave.phase);
      height = height / std::sqrt(norm) - sea;
      if (height < 0) height *= 0.6;  // the sea has mass, too
      const double area = std::hypot(d[0], d[1]) / (rows * double(columns)), q = area * height;
      const Point at = place(d, 1 + relief * height / 2),
                  below = place(
                      d, 1 - depth * (1 + 0.9 * std::tanh(buoyancy * relief / depth * height)));
      add(bodies, at, q);
      add(bodies, below, -carried * q);
      total += std::abs(q);
    }
  for (std::size_t i = 0; i < std::size_t(stations * double(n)); ++i) {
    const double share = uniform(random), of_turn = uniform(random);
    add(bodies, place(direction(share, of_turn), 1 + 4 * relief + altitude), 0);
  }
  if (core > 0) bodies.add(0, 0, 0, core * total);
  return bodies;
}

}  // namespace

/// Kinds of users that the others do not have; a kind keeps its place.
std::vector<Kind> const& of_users() {
  static const std::vector<Kind> kinds = {
      {"galaxy_merger", galaxy_merger, false, false},
      {"halbach_array", halbach_array, true, false},
      {"nerve_cells", nerve_cells, true, false},
      {"colloid_images", colloid_images, true, false},
      {"soot", soot, false, false},
      {"isostasy", isostasy, true, false},
  };
  return kinds;
}

}  // namespace kinds
