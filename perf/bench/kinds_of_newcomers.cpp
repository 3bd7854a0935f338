// SPDX-License-Identifier: BSD-3-Clause
// Kinds of bodies by somebody who was not told how a tolerance is held: ions in a pore, charged
// dislocations, a tidal stream, lens planes, two conductors, polyelectrolytes, surveys against
// their mean, adaptive cubature, wakes of wings and belts of debris. Each draws its own shape,
// ratios and noise.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <queue>
#include <utility>
#include <vector>

#include "kinds_of_bodies.hpp"
#include "random_points.hpp"

namespace kinds {

namespace {

double distance(Point const& a, Point const& b) {
  const Point d = along(a, -1, b);
  return std::sqrt(dot(d, d));
}

/// A molten salt or an electrolyte in a charged pore and the reservoirs at its ends: charges on the
/// wall, the layer of ions that screens them, ions of both signs everywhere, and a solvent without
/// charge: for who studies supercapacitors and channels.
Bodies pore_electrolyte(std::size_t n, Random& random) {
  const double length = log_uniform(random, 1, 300),
               reservoir = heads(random) ? 0 : uniform(random, 1, 8),  // radii, that of the pore: 1
      on_wall = log_uniform(random, 1e-3, 0.4), debye = log_uniform(random, 1e-3, 1),
               contact = log_uniform(random, 1e-4, 0.05), solvent = some(random, 0.01, 0.9),
               jitter = uniform(random, 0, 0.45), patchy = some(random, 0.1, 10),
               size = log_uniform(random, 1e-9, 10);
  const int valence = 1 + int(random() % 3);
  const bool is_ordered = heads(random), is_lattice = heads(random);
  const std::size_t sites = std::max<std::size_t>(2, std::size_t(on_wall * double(n))),
                    counter_ions = std::max<std::size_t>(1, sites / std::size_t(valence));
  const int columns = std::max(1, int(std::sqrt(2 * pi * double(sites) / length)));
  Bodies bodies;
  double total = 0;
  const auto ion = [&](Point const& p, double q) {
    add(bodies, p, q);
    total += q;
  };
  for (std::size_t i = 0; i < sites; ++i) {
    const double share = is_lattice ? (double(i) + 0.5) / double(sites) : uniform(random),
                 phi = is_lattice ? 2 * pi * double(i) / columns : any_angle(random),
                 patch = std::exp(patchy * std::sin(phi) * std::sin(2 * pi * share));
    ion({std::cos(phi), std::sin(phi), length * (share - 0.5)}, -std::min(patch, 10.0));
  }
  for (std::size_t i = 0; i < counter_ions; ++i) {
    const double depth = contact + debye * exponential(random), phi = any_angle(random),
                 r = depth < 1 ? 1 - depth : (1 - contact) * std::sqrt(uniform(random));
    ion({r * std::cos(phi), r * std::sin(phi), length * uniform(random, -0.5, 0.5)}, valence);
  }
  const double volume = pi * length + 4 * pi / 3 * std::pow(reservoir, 3),
               left = std::max(8.0, double(n) - double(bodies.size())),
               spacing = std::cbrt(volume / left), widest = std::max(1.0, reservoir);
  const int across = int(widest / spacing) + 1, half = int((length / 2 + reservoir) / spacing) + 1;
  for (int k = -half; k <= half; ++k)
    for (int i = -across; i <= across; ++i)
      for (int j = -across; j <= across; ++j) {
        const double x = spacing * (i + jitter * uniform(random, -1, 1)),
                     y = spacing * (j + jitter * uniform(random, -1, 1)),
                     z = spacing * (k + jitter * uniform(random, -1, 1)),
                     outside = std::abs(z) - length / 2, r = std::hypot(x, y);
        if (outside < 0 ? r > 1 - contact : std::hypot(r, outside) > reservoir) continue;
        const bool is_solvent = uniform(random) < solvent;
        bool is_cation = is_ordered ? (i + j + k) % 2 == 0 : uniform(random) * (1 + valence) < 1;
        if (std::abs(total) > 4 * valence) is_cation = total < 0;  // so that all is neutral
        ion({x, y, z}, is_solvent ? 0 : is_cation ? valence : is_ordered ? -valence : -1);
      }
  return in_units(std::move(bodies), size, 1);
}

/// Dislocations of an ionic crystal, alone, in walls between grains, crossing or as loops: jogs of
/// either charge along each line, mostly of one, clouds of vacancies of the other round it, and
/// pairs of defects elsewhere: for who models creep and conduction.
Bodies charged_dislocations(std::size_t n, Random& random) {
  const int arrangement = int(random() % 4), walls = 1 + int(random() % 6);
  const std::size_t lines =
      std::size_t(log_uniform(random, 1, std::clamp(double(n) / 50, 2.0, 2000.0)));
  const double in_lines = uniform(random, 0.2, 0.95), in_clouds = uniform(random, 0, 0.7),
               bias = uniform(random, 0, 1), debye = log_uniform(random, 1e-4, 0.3),
               core = log_uniform(random, 1e-6, 1e-3), kink = some(random, 1e-5, 3e-2),
               bound = log_uniform(random, 1e-5, 1e-2), slab = log_uniform(random, 1e-3, 1),
               loop = log_uniform(random, 3e-3, 0.5), imbalance = some(random, 1e-6, 0.1),
               size = log_uniform(random, 1e-3, 1e6);
  const std::size_t per_line =
      std::max<std::size_t>(4, std::size_t(in_lines * double(n) / double(lines)));
  const std::size_t jogs =
      std::max<std::size_t>(2, std::size_t((1 - in_clouds) * double(per_line)));
  const Point common = on_sphere(random), side = any_normal_of(random, common),
              other = cross(common, side);
  Bodies bodies;
  for (std::size_t line = 0; line < lines; ++line) {
    const Point cell = in_cube(random);
    Point centre = cell, axis = common;
    double radius = 0;
    if (arrangement == 1) {  // walls of edges at the same distance
      const double share = double(line / walls) * double(walls) / double(lines);
      centre = along(along({0, 0, 0}, double(line % walls) / walls, side), share, other);
    } else if (arrangement == 2) {
      axis = on_sphere(random);
    } else if (arrangement == 3) {
      axis = on_sphere(random);
      radius = loop * log_uniform(random, 0.1, 1);
    }
    const Point u = any_normal_of(random, axis), v = cross(axis, u);
    const double sign = any_sign(random), start = uniform(random);
    double total = 0, valley = 0;
    const auto place = [&](double t, double step) {
      if (radius == 0) return along(along(centre, t - 0.5, axis), step, u);
      const double phi = 2 * pi * t, r = radius + step * std::min(1.0, radius);
      return along(along(centre, r * std::cos(phi), u), r * std::sin(phi), v);
    };
    for (std::size_t i = 0; i < jogs; ++i) {
      const double q = (uniform(random) < (1 + bias) / 2 ? sign : -sign) / 2;
      if (uniform(random) < 0.05) valley += kink * any_sign(random);
      add(bodies, place((double(i) + start) / double(jogs), valley), q);
      total += q;
    }
    const std::size_t cloud = per_line - std::min(per_line, jogs);
    for (std::size_t i = 0; i < cloud; ++i) {
      const double r = core + debye * exponential(random), phi = any_angle(random),
                   noise = imbalance * normal(random);
      const Point p = place(uniform(random), 0);
      add(bodies, along(along(p, r * std::cos(phi), u), r * std::sin(phi), v),
          -total / double(cloud) * (1 + noise));
    }
  }
  while (bodies.size() + 1 < n) {  // Schottky's pairs
    const Point p = in_cube(random);
    const Point at = {p[0], p[1], slab * p[2]};
    const double r = bound * (1 + exponential(random));
    add(bodies, at, 1);
    add(bodies, along(at, r, on_sphere(random)), -1);
  }
  return in_units(std::move(bodies), size, 1);
}

/// A satellite that is torn up along its orbit through a halo (kiloparsecs, masses of suns): what
/// is left of it, two thin tails that may go round more than once and have gaps where dark clumps
/// went through, the halo's few heavy bodies, tracers without mass, and maybe a galaxy as a point.
Bodies tidal_stream(std::size_t n, Random& random) {
  const double orbit = log_uniform(random, 5, 100), eccentricity = uniform(random, 0, 0.9),
               precession = uniform(random, 0.5, 0.95), tilt = some(random, 1e-3, 0.5),
               reach = log_uniform(random, 0.1, 20), size = orbit * log_uniform(random, 1e-4, 0.03),
               ratio = uniform(random, 0.3, 3), epicycles = uniform(random, 0, 1),
               in_satellite = some(random, 1e-3, 0.7), in_halo = log_uniform(random, 1e-3, 0.5),
               tracers = some(random, 1e-3, 0.3), halo_mass = log_uniform(random, 1e2, 1e7),
               halo_size = orbit * log_uniform(random, 0.1, 3),
               gap = log_uniform(random, 3e-3, 0.1), slope = uniform(random, 1.5, 2.7),
               galaxy = some(random, 1e6, 1e12);
  const bool has_equal_masses = heads(random);
  const auto on_orbit = [&](double phi, double dr, double dz) {
    const double r = orbit * (1 + eccentricity * std::cos(precession * phi)) / (1 + eccentricity),
                 z = tilt * r * std::sin(0.93 * phi) + dz;
    return Point{(r + dr) * std::cos(phi), (r + dr) * std::sin(phi), z};
  };
  const double now = any_angle(random);
  std::vector<double> gaps(random() % 12);
  Bodies bodies;
  for (double& phi : gaps) {
    phi = reach * uniform(random, -1, 1);
    const Point p = around(random, on_orbit(now + phi, 0, 0), 0.1 * orbit);
    add(bodies, p, log_uniform(random, 1e5, 1e9));
  }
  if (galaxy > 0) bodies.add(0, 0, 0, galaxy);
  const Point centre = on_orbit(now, 0, 0);
  while (bodies.size() < std::max<std::size_t>(n, 2)) {
    const double mass = has_equal_masses ? 1 : of_power_law(random, 0.08, 100, slope);
    const double star = uniform(random) < tracers ? 0 : mass, choice = uniform(random);
    if (choice < in_halo) {
      const double share = 0.98 * std::sqrt(uniform(random)), r = share / (1 - share);
      const Point p = on_sphere(random, halo_size * r);
      add(bodies, p, halo_mass * std::exp(0.3 * normal(random)));
    } else if (choice < in_halo + in_satellite * (1 - in_halo)) {
      const double share = uniform(random, 1e-4, 0.99),
                   r = size / std::sqrt(std::pow(share, -2 / 3.0) - 1);
      add(bodies, along(centre, r, on_sphere(random)), star);
    } else {
      const double t = std::pow(uniform(random), ratio), side = any_sign(random),
                   phi = side * reach * t;
      const auto is_near = [&](double other) { return std::abs(phi - other) < gap; };
      if (std::any_of(gaps.begin(), gaps.end(), is_near) && uniform(random) < 0.8) continue;
      const double cycloid = epicycles * std::cos(9 * phi) * std::exp(-3 * t),
                   width = size * (0.3 + t), dz = width * normal(random),
                   dr = -side * size * (2 + cycloid) + width * normal(random);
      add(bodies, on_orbit(now + phi, dr, dz), star);
    }
  }
  return bodies;
}

/// Stars, planets and black holes as lenses, all exactly in one plane or in a few planes at any
/// distance from each other, clumped as a galaxy is, with rays without mass on a fine grid about an
/// image of a quasar: for who studies microlensing.
Bodies lens_planes(std::size_t n, Random& random) {
  const int planes = heads(random) ? 1 : 2 + int(random() % 5);
  const double rays = some(random, 1e-3, 0.7), window = log_uniform(random, 1e-3, 1),
               lightest = log_uniform(random, 1e-6, 0.3), heaviest = log_uniform(random, 1, 1e4),
               slope = uniform(random, 1.3, 2.6), apart = log_uniform(random, 1e-3, 1e3),
               flattening = log_uniform(random, 0.05, 1), core = log_uniform(random, 1e-3, 1),
               halo = log_uniform(random, 1e-3, 0.5), size = log_uniform(random, 1e-3, 1e4),
               globulars = some(random, 1e-3, 0.3), globular = log_uniform(random, 1e-4, 0.03),
               ray_height = heads(random) ? 0 : log_uniform(random, 1e-6, 1);
  const bool is_field = heads(random);  // a field of equal density, else a galaxy
  std::vector<double> heights(planes, 0);
  for (double& height : heights) height = planes > 1 ? apart * uniform(random) : 0;
  const auto place = [&] {
    const double phi = any_angle(random), share = uniform(random, 1e-6, 1),
                 r = is_field ? std::sqrt(share) : std::min(1.0, core * share / (1.001 - share));
    return Point{r * std::cos(phi), flattening * r * std::sin(phi), 0};
  };
  std::vector<Point> centres(1 + random() % 30);
  for (auto& p : centres) p = place();
  Bodies bodies;
  const int side = int(std::sqrt(rays * double(n)));
  const Point image = place();
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j)
      bodies.add(image[0] + window * ((i + 0.5) / side - 0.5),
                 image[1] + window * ((j + 0.5) / side - 0.5), ray_height, 0);
  if (heads(random)) bodies.add(0, 0, heights[0], double(n) * log_uniform(random, 1e-4, 1));
  while (bodies.size() < std::max<std::size_t>(n, 2)) {
    const double mass = of_power_law(random, lightest, heaviest, slope);
    Point p = place();
    if (uniform(random) < globulars) {
      const double x = globular * normal(random), y = globular * normal(random);
      p = along(centres[random() % centres.size()], 1, {x, y, 0});
    }
    const std::size_t plane = uniform(random) < halo ? random() % heights.size() : 0;
    p[2] = heights[plane];
    add(bodies, p, mass);
  }
  return in_units(std::move(bodies), size, 1);
}

/// Boundary elements of two conductors that nearly touch, at opposite voltages: two balls, or two
/// plates, of any ratio. Meshes are graded towards the gap or the edges, where charge gathers, and
/// need not fit each other; some places within the gap, without charge, are for the field there.
Bodies facing_conductors(std::size_t n, Random& random) {
  const bool are_plates = heads(random), is_matched = heads(random);
  const double gap = log_uniform(random, 1e-4, 3), ratio = log_uniform(random, 0.05, 1),
               grading = uniform(random, 1, 1.8), probes = some(random, 1e-4, 0.2),
               offset = some(random, 1e-3, 1), noise = some(random, 1e-8, 1e-2),
               common = some(random, 1e-6, 1), aspect = log_uniform(random, 0.1, 10),
               other = is_matched ? 1 : log_uniform(random, 0.1, 10),
               size = log_uniform(random, 1e-6, 1e3), voltage = log_uniform(random, 1e-3, 1e5);
  const double wanted = std::max(16.0, (1 - probes) * double(n)), radii[2] = {1, ratio};
  const double curvature = are_plates ? 0 : (1 + 1 / ratio) / 2;
  const bool has_gauss_points = heads(random);
  Bodies bodies;
  for (int body = 0; body < 2; ++body) {
    const double radius = radii[body], up = body == 0 ? -1 : 1,
                 count =
                     wanted / (body == 0 ? 1 + other : 1 + 1 / other) / (has_gauss_points ? 4 : 1);
    const int rows = std::max(2, int(std::sqrt(count * aspect))),
              columns = std::max(3, int(count / rows));
    // from the gap to the back of a ball; from the edge of a plate to its centre
    const auto node = [&](double i) { return std::pow(i / rows, grading); };
    const std::size_t first = bodies.size();
    double total = 0;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j)
        for (int point = 0; point < (has_gauss_points ? 4 : 1); ++point) {
          const double a = !has_gauss_points ? 0.5
                           : point % 2 == 0  ? 0.2113248654
                                             : 0.7886751346,
                       b = !has_gauss_points ? 0.5
                           : point / 2 == 0  ? 0.2113248654
                                             : 0.7886751346,
                       low = node(i), high = node(i + 1), s = low + a * (high - low),
                       phi = 2 * pi * (j + b) / columns;
          double rho, z, area, density;
          if (are_plates) {
            rho = radius * (1 - s), z = up * gap / 2, area = radius * rho * (high - low);
            density = 1 / gap + 1 / (radius * std::sqrt(s * (2 - s)));
          } else {
            const double theta = pi * s;
            rho = radius * std::sin(theta);
            z = up * (gap / 2 + 2 * radius * std::pow(std::sin(theta / 2), 2));
            area = radius * rho * pi * (high - low);
            const bool is_front = s < 0.5;
            density = 1 / radius + (is_front ? 1 / (gap + curvature * rho * rho) : 0);
          }
          const double q = density * area / columns * (1 + noise * normal(random));
          bodies.add(rho * std::cos(phi) + (body == 0 ? 0 : offset * gap), rho * std::sin(phi), z,
                     -up * q);
          total += q;
        }
    const double scale = (1 + (body == 0 ? common : 0)) / total;  // opposite totals, or nearly so
    for (std::size_t i = first; i < bodies.size(); ++i) bodies.charges[i] *= scale;
  }
  for (std::size_t i = 0; i < std::size_t(probes * double(n)); ++i) {
    const double rho = ratio * std::sqrt(uniform(random)), phi = any_angle(random);
    bodies.add(rho * std::cos(phi), rho * std::sin(phi), gap * uniform(random, -0.4, 0.4), 0);
  }
  return in_units(std::move(bodies), size, voltage);
}

/// Charged polymers in salt water, coiled or stiff: single chains, stars, or a brush on a surface.
/// Only some beads have a charge, in blocks of either sign for some; counter-ions sit on the chains
/// or are free in a box that may be huge.
Bodies polyelectrolytes(std::size_t n, Random& random) {
  const int shape = int(random() % 3), arms = shape == 1 ? 3 + int(random() % 30) : 1,
            every = int(log_uniform(random, 1, 10)), valence = 1 + int(random() % 3),
            block = int(log_uniform(random, 1, 100));
  const double in_chains = uniform(random, 0.3, 1) / (1 + 1.0 / (every * valence)),
               turn = log_uniform(random, 0.01, 3), condensed = uniform(random),
               contact = log_uniform(random, 0.05, 1), dilution = log_uniform(random, 1, 1e3),
               pull = some(random, 1e-2, 1), thickness = log_uniform(random, 0.1, 3);
  const int beads = int(log_uniform(random, 5, std::max(6.0, in_chains * double(n) / arms)));
  const int chains = std::max(1, int(in_chains * double(n) / (double(beads) * arms)));
  const bool is_ampholyte = uniform(random) < 0.3;
  const double edge = std::cbrt(double(n) * dilution), row = std::ceil(std::sqrt(double(chains))),
               lattice = edge / row;
  const auto anywhere = [&] {
    const Point p = in_cube(random);
    return Point{edge * p[0], edge * p[1], edge * p[2]};
  };
  Bodies bodies;
  std::vector<std::size_t> charged;
  double total = 0;
  for (int chain = 0; chain < chains; ++chain) {
    const Point grafted = {lattice * (chain % int(row)), lattice * (chain / int(row)), 0},
                start = shape == 2 ? grafted : anywhere();
    for (int arm = 0; arm < arms; ++arm) {
      Point at = start, heading = shape == 2 ? Point{0, 0, 1} : on_sphere(random);
      for (int bead = 0; bead < beads; ++bead) {
        const bool is_charged = bead % every == 0, is_positive = is_ampholyte && bead / block % 2;
        const double q = !is_charged ? 0 : is_positive ? 1 : -1;
        at = along(at, 1, heading);
        if (shape == 2 && at[2] < 0) at[2] = -at[2], heading[2] = std::abs(heading[2]);
        if (is_charged) charged.push_back(bodies.size());
        add(bodies, at, q);
        total += q;
        heading = along(around(random, heading, turn), shape == 2 ? pull : 0, {0, 0, 1});
        heading = unit(heading);
      }
    }
  }
  while (bodies.size() < n || std::abs(total) >= valence) {
    const bool is_needed = std::abs(total) >= valence;
    const double q = is_needed ? std::copysign(double(valence), -total) : 1;
    if (is_needed && uniform(random) < condensed) {
      const std::size_t bead = charged[random() % charged.size()];
      const Point p = {bodies.positions[3 * bead], bodies.positions[3 * bead + 1],
                       bodies.positions[3 * bead + 2]};
      const double r = contact + thickness * contact * exponential(random);
      add(bodies, along(p, r, on_sphere(random)), q);
    } else {
      add(bodies, anywhere(), q);
      if (!is_needed) add(bodies, anywhere(), -1);  // salt
    }
    if (is_needed) total += q;
  }
  return bodies;
}

/// Surveys against their mean: samples of a random field at random places, less their mean, or
/// galaxies that follow the field less many random points of the same footprint, which is a cone, a
/// shell or a box with holes. No monopole, and any share of the power at small scales.
Bodies survey_contrast(std::size_t n, Random& random) {
  struct Wave {
    Point k;
    double size, phase;
  };
  const bool has_randoms = heads(random);
  const int footprint = int(random() % 3);
  const double slope = uniform(random, -0.5, 3), bias = log_uniform(random, 0.03, 3),
               highest = log_uniform(random, 10, 1000), opening = log_uniform(random, 0.02, 1),
               nearest = uniform(random, 0, 0.98), flatness = log_uniform(random, 1e-3, 1),
               hole = log_uniform(random, 0.01, 0.2), per_galaxy = log_uniform(random, 0.3, 50),
               spread = some(random, 0.01, 2), size = log_uniform(random, 1e-3, 1e4);
  std::vector<Wave> waves(4 + random() % 40);
  double power = 0;
  for (auto& wave : waves) {
    const double k = log_uniform(random, 1, highest);
    wave.k = on_sphere(random, k);
    wave.size = std::pow(k, -slope / 2) * normal(random);
    wave.phase = any_angle(random);
    power += wave.size * wave.size / 2;
  }
  const auto field = [&](Point const& p) {
    double sum = 0;
    for (auto const& wave : waves) sum += wave.size * std::sin(dot(wave.k, p) + wave.phase);
    return bias * sum / std::sqrt(power);
  };
  std::vector<Point> holes(random() % 8);
  const auto anywhere = [&] {
    if (footprint == 0) {
      const Point p = in_cube(random);
      return Point{p[0], p[1], flatness * p[2]};
    }
    const double near = std::pow(nearest, 3), r = std::cbrt(near + (1 - near) * uniform(random)),
                 z = 1 - (footprint == 1 ? 2 : opening) * uniform(random),
                 s = std::sqrt(std::max(0.0, 1 - z * z)), phi = any_angle(random);
    return Point{r * s * std::cos(phi), r * s * std::sin(phi), r * z};
  };
  for (auto& p : holes) p = anywhere();
  const auto in_footprint = [&] {
    for (;;) {
      const Point p = anywhere();
      const auto is_near = [&](Point const& other) { return distance(p, other) < hole; };
      if (std::none_of(holes.begin(), holes.end(), is_near) || uniform(random) < 0.01) return p;
    }
  };
  Bodies bodies;
  const double galaxies = has_randoms ? double(n) / (1 + per_galaxy) : double(n);
  double total = 0, densest = -1e300;
  for (int i = 0; i < 100; ++i) densest = std::max(densest, field(in_footprint()));
  while (double(bodies.size()) < galaxies || bodies.size() < 2) {
    const Point p = in_footprint();
    const double delta = field(p), weight = std::exp(spread * normal(random));
    if (has_randoms && uniform(random) > std::max(0.03, std::exp(delta - densest))) continue;
    add(bodies, p, has_randoms ? weight : weight * delta);
    total += bodies.charges.back();
  }
  if (has_randoms) {
    const std::size_t randoms = std::max<std::size_t>(1, n - std::min(n, bodies.size()));
    for (std::size_t i = 0; i < randoms; ++i) add(bodies, in_footprint(), -total / double(randoms));
  } else {
    for (double& q : bodies.charges) q -= total / double(bodies.size());
  }
  return in_units(std::move(bodies), size, 1);
}

/// Points of adaptive cubature (Genz & Malik 1980), whose rule has a negative weight in the middle
/// of each box: boxes are halved where a density has a peak, a shell or a jump. Charges are weights
/// times the density or, as the estimate of an error, differences of two rules, which sum to nearly
/// nothing in a box where it is smooth.
Bodies adaptive_cubature(std::size_t n, Random& random) {
  struct Box {
    double priority;
    Point centre, half;
    int depth;
    bool operator<(Box const& other) const { return priority < other.priority; }
  };
  const bool is_difference = heads(random), is_oscillating = heads(random);
  const int feature = int(random() % 3), deepest = 6 + int(random() % 30);
  const double power = uniform(random, 0, 4), core = log_uniform(random, 1e-4, 0.3),
               singularity = uniform(random, 0, 2.5), noise = some(random, 1e-10, 1e-2),
               wave = log_uniform(random, 1, 300), background = some(random, 1e-6, 1);
  const Point box = {1, log_uniform(random, 0.03, 1), log_uniform(random, 0.03, 1)};
  const Point in_box = in_cube(random), normal_of = on_sphere(random), heading = on_sphere(random);
  const Point centre = {box[0] * in_box[0], box[1] * in_box[1], box[2] * in_box[2]};
  const double radius = log_uniform(random, 0.03, 0.5);
  const auto distance_of = [&](Point const& p) {
    const double r = distance(p, centre);
    if (feature == 0) return r;
    return feature == 1 ? std::abs(r - radius) : std::abs(dot(along(p, -1, centre), normal_of));
  };
  const auto density = [&](Point const& p) {
    const double f = std::pow(distance_of(p) + core, -singularity) + background;
    return is_oscillating ? f * std::cos(wave * dot(heading, p)) : f;
  };
  std::priority_queue<Box> boxes;
  const auto insert = [&](Point const& at, Point const& half, int depth) {
    const double volume = half[0] * half[1] * half[2], size = std::sqrt(dot(half, half));
    const double far = distance_of(at) + 0.3 * size + core;
    boxes.push({depth < deepest ? volume * std::pow(far, -power) : 0, at, half, depth});
  };
  const Point middle = {box[0] / 2, box[1] / 2, box[2] / 2};
  insert(middle, middle, 0);
  while (33 * (boxes.size() + 1) <= n) {
    const Box top = boxes.top();
    boxes.pop();
    const auto axis = std::max_element(top.half.begin(), top.half.end()) - top.half.begin();
    for (const double side : {-0.5, 0.5}) {
      Point at = top.centre, half = top.half;
      at[axis] += side * top.half[axis];
      half[axis] /= 2;
      insert(at, half, top.depth + 1);
    }
  }
  // weights at the middle, near and far on the axes, on the diagonals of planes, at the corners
  constexpr std::array<double, 5> seventh = {-10936 / 19683.0, 980 / 6561.0, 620 / 19683.0,
                                             200 / 19683.0, 6859 / 157464.0},
                                  fifth = {-1671 / 729.0, 245 / 486.0, -35 / 1458.0, 25 / 729.0, 0};
  const double near = std::sqrt(9 / 70.0), far = std::sqrt(0.9), corner = std::sqrt(9 / 19.0);
  Bodies bodies;
  for (; !boxes.empty(); boxes.pop()) {
    const Box& of = boxes.top();
    const double volume = 8 * of.half[0] * of.half[1] * of.half[2];
    const auto point = [&](Point const& t, int orbit) {
      const Point p = {of.centre[0] + t[0] * of.half[0], of.centre[1] + t[1] * of.half[1],
                       of.centre[2] + t[2] * of.half[2]};
      const double weight = is_difference ? seventh[orbit] - fifth[orbit] : seventh[orbit];
      add(bodies, p, volume * weight * density(p) * (1 + noise * normal(random)));
    };
    point({0, 0, 0}, 0);
    for (int d = 0; d < 3; ++d)
      for (const double s : {-1.0, 1.0}) {
        Point t = {0, 0, 0};
        t[d] = s * near;
        point(t, 1);
        t[d] = s * far;
        point(t, 2);
        for (const double other : {-far, far}) {
          t[(d + 1) % 3] = other;
          point(t, 3);
        }
      }
    for (int i = 0; i < 8; ++i)
      point({i & 1 ? corner : -corner, i & 2 ? corner : -corner, i & 4 ? corner : -corner}, 4);
  }
  return bodies;
}

/// Wakes of aeroplanes (half spans): a sheet of vorticity that rolls up into two spirals of
/// opposite sign, more of it the further behind, with waves that grow along it, flaps, and a wake
/// of the tail inside; a single cross section for some, flat to the last digit.
Bodies wing_wakes(std::size_t n, Random& random) {
  const bool is_section = uniform(random) < 0.2;
  const double length = log_uniform(random, 1, 300), turns = log_uniform(random, 0.5, 20),
               core = log_uniform(random, 1e-4, 0.1), rolled = log_uniform(random, 0.02, 0.9),
               wave = log_uniform(random, 0.5, 10), growth = some(random, 1e-4, 0.3),
               flap = uniform(random, 0.2, 0.8), flap_strength = some(random, 0.01, 3),
               tail = some(random, 0.01, 0.5), tail_size = uniform(random, 0.1, 0.5),
               asymmetry = some(random, 1e-6, 0.3), noise = some(random, 1e-6, 0.3),
               sag = uniform(random, 0, 0.3), tightness = uniform(random, 1, 3),
               size = log_uniform(random, 0.1, 100);
  const int planes = int(log_uniform(random, 1, 4)),
            sheets = 2 * (tail > 0 ? 2 : 1);  // two wings, for the tail, too
  const double per_sheet = std::max(4.0, double(n) / (planes * sheets));
  const int rows = is_section
                       ? 1
                       : std::clamp(int(std::sqrt(per_sheet * log_uniform(random, 0.01, 100))), 1,
                                    std::max(1, int(per_sheet / 4))),
            columns = std::max(2, int(per_sheet / rows));
  Bodies bodies;
  for (int plane = 0; plane < planes; ++plane) {
    const double sign = any_sign(random),
                 strength = plane == 0 ? 1 : sign * log_uniform(random, 1e-3, 1);
    const Point shift = {0, 3.0 * plane, uniform(random, -1, 1)};
    for (int sheet = 0; sheet < sheets; ++sheet) {
      const double side = sheet % 2 == 0 ? 1 : -1, scale = sheet / 2 == 0 ? 1 : tail_size,
                   load = (sheet / 2 == 0 ? 1 : -tail) * (side > 0 ? 1 + asymmetry : 1);
      for (int i = 0; i < rows; ++i) {
        const double along_wake = (i + 0.5) / rows, x = is_section ? 0 : length * along_wake,
                     part = rolled * std::pow(along_wake, 2 / 3.0), spiral = part / 3,
                     swing = growth * along_wake * std::sin(wave * x);
        for (int j = 0; j < columns; ++j) {
          const double low = std::sin(pi / 2 * j / columns),
                       high = std::sin(pi / 2 * (j + 1) / columns), s = (low + high) / 2,
                       of_flap = (s - flap) / 0.05,
                       circulation =
                           std::sqrt(1 - low * low) - std::sqrt(1 - std::min(1.0, high * high)) +
                           flap_strength * of_flap * std::exp(-of_flap * of_flap) / columns;
          double y = s, z = sag * (s * s - 1);
          if (s > 1 - part) {
            const double u = (s - 1 + part) / part, r = spiral * (1 - u) + core,
                         phi = 2 * pi * turns * along_wake * std::pow(u, tightness) - pi / 2;
            y = 1 - part + r * std::cos(phi);
            z += spiral + core + r * std::sin(phi);
          }
          const Point p = {x, side * scale * y, scale * z + swing + (sheet / 2) * 0.2};
          const double q = side * load * strength * circulation * length / rows;
          add(bodies, along(p, 1, shift), q * (1 + noise * normal(random)));
        }
      }
    }
  }
  return in_units(std::move(bodies), size, 1);
}

/// A star with planets, belts of asteroids with gaps at resonances and families of fragments,
/// companions ahead of and behind a planet, and a wide cloud of comets (astronomical units, masses
/// of earths): masses over twenty decades, and dust without any.
Bodies debris_belts(std::size_t n, Random& random) {
  struct Belt {
    double radius, width, height;
  };
  const int planets = 1 + int(random() % 8);
  const double outermost = log_uniform(random, 30, 1e4), dust = some(random, 0.01, 0.8),
               in_cloud = some(random, 1e-3, 0.5), in_families = uniform(random, 0, 0.5),
               trojans = uniform(random, 0, 0.2), family = log_uniform(random, 0.003, 0.1),
               lightest = log_uniform(random, 1e-15, 1e-6), slope = uniform(random, 1.4, 2.2),
               moons = some(random, 1e-3, 0.05), star = log_uniform(random, 3e4, 3e6);
  const bool has_star = random() % 4 != 0;
  const auto on_orbit = [&](double r, double phi, double height) {
    return Point{r * std::cos(phi), r * std::sin(phi), r * height};
  };
  Bodies bodies;
  std::vector<Point> places;
  std::vector<double> radii;
  if (has_star) bodies.add(0, 0, 0, star);
  for (double r = uniform(random, 0.1, 1); int(radii.size()) < planets;
       r *= uniform(random, 1.3, 2.2)) {
    radii.push_back(r);
    const double phi = any_angle(random);
    places.push_back(on_orbit(r, phi, 0.02 * normal(random)));
    add(bodies, places.back(), log_uniform(random, 0.01, 1000));
  }
  std::vector<Belt> belts(1 + random() % 4);
  for (auto& belt : belts) {
    belt.radius = uniform(random, 1.2, 3);
    belt.radius *= radii[random() % radii.size()];
    belt.width = log_uniform(random, 0.01, 0.3);
    belt.height = log_uniform(random, 1e-4, 0.2);
  }
  const auto is_resonant = [&](double r) {
    for (const double ratio : {4.0, 3.0, 2.5, 7 / 3.0, 2.0})
      if (std::abs(r / radii.back() * std::pow(ratio, 2 / 3.0) - 1) < 0.01) return true;
    return false;
  };
  const auto in_belt = [&] {
    Belt const& belt = belts[random() % belts.size()];
    double r = belt.radius;
    for (int tries = 0; tries < 100; ++tries) {
      r = belt.radius * std::exp(belt.width * normal(random));
      if (!is_resonant(r)) break;
    }
    const double phi = any_angle(random);
    return on_orbit(r, phi, belt.height * normal(random));
  };
  std::vector<Point> families(1 + random() % 20);
  for (auto& p : families) p = in_belt();
  while (bodies.size() < std::max<std::size_t>(n, 2)) {
    const double rock = of_power_law(random, lightest, 1e-2, slope), choice = uniform(random);
    const double mass = uniform(random) < dust ? 0 : rock;
    const std::size_t planet = random() % radii.size();
    if (uniform(random) < in_cloud) {
      const double r = log_uniform(random, std::min(3 * radii.back(), outermost / 2), outermost);
      add(bodies, on_sphere(random, r), mass);
    } else if (choice < trojans) {
      const double side = any_sign(random), ahead = side * (pi / 3 + 0.15 * exponential(random)),
                   phi = std::atan2(places[planet][1], places[planet][0]) + ahead,
                   r = radii[planet] * (1 + 0.02 * normal(random));
      add(bodies, on_orbit(r, phi, 0.05 * normal(random)), mass);
    } else if (choice < trojans + moons) {
      const double r = radii[planet] * log_uniform(random, 1e-3, 0.03);
      add(bodies, along(places[planet], r, on_sphere(random)), mass);
    } else if (choice < trojans + moons + in_families) {
      Point const& parent = families[random() % families.size()];
      add(bodies, around(random, parent, family * std::sqrt(dot(parent, parent))), mass);
    } else {
      add(bodies, in_belt(), mass);
    }
  }
  return bodies;
}

}  // namespace

/// Kinds of whoever comes next; a kind keeps its place.
std::vector<Kind> const& of_newcomers() {
  static const std::vector<Kind> kinds = {
      {"pore_electrolyte", pore_electrolyte, true, false},
      {"charged_dislocations", charged_dislocations, true, false},
      {"tidal_stream", tidal_stream, false, false},
      {"lens_planes", lens_planes, false, false},
      {"facing_conductors", facing_conductors, true, false},
      {"polyelectrolytes", polyelectrolytes, true, false},
      {"survey_contrast", survey_contrast, true, false},
      {"adaptive_cubature", adaptive_cubature, true, false},
      {"wing_wakes", wing_wakes, true, false},
      {"debris_belts", debris_belts, false, false},
  };
  return kinds;
}

}  // namespace kinds
