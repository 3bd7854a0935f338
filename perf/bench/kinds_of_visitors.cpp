// SPDX-License-Identifier: BSD-3-Clause
// Kinds of bodies by a visitor, who was not told how a tolerance is held: zeolites, the grids of
// quantum chemistry, gears, airways, comets, trains of bunches and laser scans. Each draws its own
// shape, ratios and noise.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>
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

/// A zeolite: cages of silicon and aluminium with an oxygen at each edge, which may be a core and a shell that is
/// drawn away from it, a cation for each aluminium and polar guests in the cages; films, needles, and crystals with
/// wide pores; every few neighbours are neutral together: for who models catalysts and molecular sieves.
Bodies zeolite(std::size_t n, Random& random) {
  const int framework = int(random() % 3);  // sodalite, A, rho
  const double aluminium = some(random, 1e-3, 0.5), ionicity = log_uniform(random, 0.1, 1),
               warmth = some(random, 1e-6, 0.05), pucker = some(random, 1e-3, 0.3),
               guests = some(random, 1e-3, 0.6), polarity = log_uniform(random, 1e-3, 1),
               arm = log_uniform(random, 1e-3, 0.5), slab = log_uniform(random, 0.02, 50),
               flatness = log_uniform(random, 0.2, 5), pore = some(random, 0.05, 0.45),
               period = log_uniform(random, 2, 40), shell = some(random, 0.1, 3),
               drawn = log_uniform(random, 1e-4, 0.1), wave = log_uniform(random, 1e-2, 1),
               size = log_uniform(random, 1e-3, 1e2);
  const double r = std::numbers::sqrt2, edge = framework == 0 ? r : 2,
               cell = framework == 0 ? 4 : 2 * framework + 4 * r;
  Point vertex = {0, 1, 2};
  if (framework > 0) vertex = {1, 1 + r, 1 + 2 * r};
  std::vector<Point> corners, bridges;
  std::array<std::size_t, 3> order = {0, 1, 2};
  do {
    for (int signs = 0; signs < 8; ++signs) {
      Point p;
      for (std::size_t d = 0; d < 3; ++d) {
        p[d] = (signs >> d & 1 ? 1 : -1) * vertex[order[d]];
        if (p[d] > cell / 2 - 1e-6) p[d] -= cell;
      }
      const auto is_same = [&](Point const& other) { return distance(p, other) < 1e-6; };
      if (std::none_of(corners.begin(), corners.end(), is_same)) corners.push_back(p);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  for (std::size_t i = 0; i < corners.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      Point d = along(corners[j], -1, corners[i]);
      for (double& x : d) x -= cell * std::round(x / cell);
      const Point middle = along(corners[i], 0.5, d);
      if (std::abs(std::sqrt(dot(d, d)) - edge) < 1e-6)
        bridges.push_back(around(random, middle, pucker));
    }
  const double per_corner = 3 + (shell > 0 ? 2 : 0) + aluminium + 2 * guests / (1 - guests),
               cells = std::max(1.0, double(n) / per_corner / double(corners.size())),
               base = std::cbrt(cells * slab);
  const int across = std::clamp(int(base * flatness), 1, int(cells) + 1),
            deep = std::clamp(int(base / flatness), 1, int(cells / across) + 1);
  Bodies bodies;
  for (int index = 0; bodies.size() < n; ++index) {
    const int i = index % across, j = index / across % deep, k = index / (across * deep);
    const double x = std::fmod(i, period) / period - 0.5, y = std::fmod(j, period) / period - 0.5;
    if (std::hypot(x, y) < pore) continue;  // never the first
    const Point centre = {i * cell, j * cell, k * cell},
                field = {drawn * std::sin(wave * i), drawn * std::cos(wave * j), drawn};
    for (std::size_t corner = 0; corner < corners.size() && bodies.size() < n; ++corner) {
      const bool is_silicon = uniform(random) >= aluminium;
      const std::size_t before = bodies.size();
      const Point site = around(random, along(corners[corner], 1, centre), warmth);
      add(bodies, site, (is_silicon ? 4 : 3) * ionicity);
      for (std::size_t side = 0; side < 2; ++side) {
        const Point bridge = along(bridges[2 * corner + side], 1, centre),
                    core = around(random, bridge, warmth);
        add(bodies, core, -(shell > 0 ? -shell : 2) * ionicity);
        if (shell > 0) add(bodies, along(core, 1, field), -(2 + shell) * ionicity);
      }
      if (!is_silicon) {
        const Point inwards = along(centre, uniform(random, 0.3, 0.8), corners[corner]);
        add(bodies, around(random, inwards, 0.1), ionicity);
      }
      while (uniform(random) < guests) {
        const Point guest = around(random, centre, cell / 8), direction = on_sphere(random);
        add(bodies, guest, -polarity);
        add(bodies, along(guest, arm, direction), polarity);
      }
      if (bodies.size() <= n) continue;
      bodies.positions.resize(3 * before);
      bodies.charges.resize(before);
      while (bodies.size() < n) add(bodies, around(random, centre, cell / 8), 0);  // noble gas
    }
  }
  return in_units(std::move(bodies), size, 1);
}

/// The grid of a molecule or of a cluster as density functionals are integrated: shells round each nucleus, closer
/// and closer to it, weights with the other atoms taken off, and on them the electrons that balance the nuclei, or
/// the change of them by a bond, or a transition between orbitals: for who writes codes of quantum chemistry.
Bodies molecular_quadrature(std::size_t n, Random& random) {
  const std::array<double, 8> elements = {1, 6, 7, 8, 16, 26, 53, 79};
  const int density = int(random() % 3);
  const bool is_chain = heads(random), is_becke = heads(random);
  const double heaviness = log_uniform(random, 0.3, 5), bond = log_uniform(random, 1, 10),
               stiffness = log_uniform(random, 0.3, 30), shells = log_uniform(random, 0.5, 4),
               pruning = some(random, 0.1, 2), far = log_uniform(random, 8, 3e3),
               decay = log_uniform(random, 0.5, 4), core = uniform(random, 0.2, 0.95),
               ions = some(random, 1e-4, 0.3), jitter = log_uniform(random, 1e-3, 0.3),
               nearest = log_uniform(random, 1e-5, 1e-2), floor = log_uniform(random, 1e-10, 1e-6),
               wave = log_uniform(random, 1e-2, 3), size = log_uniform(random, 1e-2, 1e2);
  const auto atoms = std::size_t(log_uniform(random, 1, std::clamp(double(n) / 80, 1.5, 2e4))),
             side = is_chain ? 2 : std::size_t(std::ceil(std::cbrt(double(atoms))));
  std::vector<Point> nuclei;
  Point direction = on_sphere(random), end = {0, 0, 0};
  for (std::size_t a = 0; a < atoms; ++a) {
    const Point place = {bond * double(a % side), bond * double(a / side % side),
                         bond * double(a / (side * side))};
    nuclei.push_back(is_chain ? end : around(random, place, bond * jitter));
    direction = unit(around(random, direction, 1 / stiffness));
    end = along(end, bond, direction);
  }
  const auto radius = [&](double x, double scale) {
    const double c = -std::cos(pi * x), becke = (1 + c) / (1 - c),
                 r = is_becke ? becke : nearest * std::pow(30 / nearest, x);
    return std::max(nearest * x, scale * r / (1 + scale * r / far));
  };
  /// What is left of a point's weight when the atoms next to its own have taken their part.
  const auto own_part = [&](Point const& p, double r, std::size_t atom) {
    double part = 1;
    for (const std::size_t step : {std::size_t(1), side, side * side})
      for (int sign = -1; sign < 2; sign += 2) {
        const std::size_t other = sign < 0 ? atom - step : atom + step;  // too large if below 0
        if (other >= atoms || (step == side && side == 1)) continue;
        const double apart = distance(nuclei[atom], nuclei[other]);
        double m = std::clamp((r - distance(p, nuclei[other])) / apart, -1.0, 1.0);
        for (int k = 0; k < 3; ++k) m *= (3 - m * m) / 2;
        part *= (1 - m) / 2;
      }
    return part + 1e-6;
  };
  Bodies bodies;
  for (std::size_t a = 0; a < atoms; ++a) {
    const double z = elements[std::size_t(8 * std::pow(uniform(random), heaviness)) % 8],
                 scale = (z < 2 ? 0.5 : 1.0) * std::cbrt(1 + z / 20), bias = normal(random),
                 electrons = z * (1 + ions * bias), turn = std::cos(wave * double(a));
    const Point axis = on_sphere(random);
    const std::size_t points = share_of(n, a, atoms) - (density == 0 ? 1 : 0);
    if (density == 0) add(bodies, nuclei[a], z);
    const std::size_t first = bodies.size(),
                      radii = std::size_t(std::clamp(shells * std::cbrt(points), 2.0, 120.0));
    const auto points_up_to = [&](std::size_t k) {
      return std::size_t(double(points) * std::pow(double(k) / double(radii), 1 + pruning) + 1e-6);
    };
    double sum = 0;
    for (std::size_t k = 0; k < radii; ++k) {
      const std::size_t count = points_up_to(k + 1) - points_up_to(k);
      const double x = (double(k) + 0.5) / double(radii), h = 0.25 / double(radii),
                   r = radius(x, scale), dr = 2 * (radius(x + h, scale) - radius(x - h, scale)),
                   weight = (4 * pi * r * r * dr + 1e-12) / std::max(1.0, double(count)),
                   outer = std::exp(-decay * r) + floor, wider = std::exp(-0.6 * decay * r),
                   inner = std::exp(-2 * z * r) * std::pow(2 * z / decay, 3) * core / (1 - core);
      for (std::size_t i = 0; i < count; ++i) {
        const Point at = seed_of(i, count), p = along(nuclei[a], r, at);
        const double w = weight * own_part(p, r, a),
                     q = density == 0   ? w * (outer + inner)
                         : density == 1 ? w * turn * (outer - 0.216 * wider)
                                        : w * outer * (dot(axis, at) + 0.2 * turn);
        add(bodies, p, q);
        sum += q;
      }
    }
    for (std::size_t i = first; density == 0 && i < bodies.size(); ++i)
      bodies.charges[i] *= -electrons / sum;
  }
  return in_units(std::move(bodies), size, 1);
}

/// A gear or a splined shaft: the panels of its flanks, tips, roots, faces and bore, finer and finer to the edges,
/// with the field's singularity there. All teeth are exactly the same, and so are both halves of one, and what
/// remains is on the axis: for who solves for stresses, sound or capacitances by boundary elements.
Bodies gear(std::size_t n, Random& random) {
  const auto teeth = std::size_t(log_uniform(random, 3, std::clamp(double(n) / 50, 4.0, 400.0)));
  const double depth = log_uniform(random, 0.005, 0.5), root = 1 - depth,
               bore = root * uniform(random, 0.05, 0.95), width = log_uniform(random, 1e-3, 10),
               helix = some(random, 0.01, 10) / (1 + width), tip = uniform(random, 0.05, 0.6),
               foot = tip + (1 - tip) * uniform(random, 0.1, 0.95), arch = uniform(random, 0.5, 2),
               grading = heads(random) ? 1 : uniform(random, 1, 3), stretch = uniform(random, 1, 3),
               singularity = some(random, 0.01, 0.6), aspect = log_uniform(random, 0.03, 30),
               shaft = log_uniform(random, 0.5, 20), size = log_uniform(random, 1e-4, 1e3);
  const bool has_arrows = heads(random);
  const double half_tooth = pi / double(teeth);
  /// Angle, radius and height in a patch of half a tooth's upper half: the tip, the flank, the
  /// root, the faces below these, and the bore.
  const auto place = [&](std::size_t patch, double u, double v) {
    const std::size_t piece = patch % 3;
    const std::array<double, 4> cuts = {0, tip, foot, 1};
    const double from = cuts[piece], to = cuts[piece + 1], phi = from + (to - from) * u,
                 r = 1 - depth * (piece == 1 ? std::pow(u, arch) : double(piece / 2));
    if (patch < 3) return Point{half_tooth * phi, r, width / 2 * v};
    if (patch < 6) return Point{half_tooth * phi, bore + (r - bore) * v, width / 2};
    return Point{half_tooth * u, bore, width / 2 * v};
  };
  const auto point = [&](Point const& p, double sign, double side, double turn) {
    const auto [own, r, z] = p;
    const double phi = sign * own + helix * z * (has_arrows ? 1 : side) + turn;
    return Point{r * std::cos(phi), r * std::sin(phi), side * z};
  };
  const auto area = [&](std::size_t patch, double u, double v) {  // for u and v from 0 to 1
    const double h = 1e-4, a = std::clamp(u, h, 1 - h), b = std::clamp(v, h, 1 - h);
    const auto at = [&](double s, double t) { return point(place(patch, s, t), 1, 1, 0); };
    const Point d = along(at(a + h, b), -1, at(a - h, b)),
                e = along(at(a, b + h), -1, at(a, b - h)), f = cross(d, e);
    return std::sqrt(dot(f, f)) / (4 * h * h);
  };
  const auto to_both = [&](double t) {
    return std::pow(t, grading) / (std::pow(t, grading) + std::pow(1 - t, grading));
  };
  const auto to_end = [&](double t) { return 1 - std::pow(1 - t, grading); };
  std::vector<double> areas_up_to = {0};
  for (std::size_t patch = 0; patch < 7; ++patch)
    areas_up_to.push_back(areas_up_to.back() + std::pow(area(patch, 0.5, 0.5), 1 / stretch));
  const std::size_t copies = 4 * teeth, of_copy = n / copies, rest = n - of_copy * copies;
  double total = 0;
  Bodies bodies;
  for (std::size_t patch = 0; patch < 7; ++patch) {
    const auto points_up_to = [&](std::size_t k) {
      return std::size_t(double(of_copy) * areas_up_to[k] / areas_up_to[7] + 0.5);
    };
    const std::size_t count = points_up_to(patch + 1) - points_up_to(patch);
    if (count == 0) continue;
    const double ideal = std::sqrt(double(count) * aspect);
    const std::size_t rows = std::size_t(std::clamp(ideal, 1.0, double(count)));
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t columns = share_of(count, row, rows);
      const double low = to_end(double(row) / double(rows)),
                   high = to_end(double(row + 1) / double(rows)), v = (low + high) / 2;
      for (std::size_t column = 0; column < columns; ++column) {
        const double left = to_both(double(column) / double(columns)),
                     right = to_both(double(column + 1) / double(columns)), u = (left + right) / 2,
                     to_edge = std::min({u, 1 - u, 1 - v}),
                     q = area(patch, u, v) * (high - low) * (right - left) *
                         std::pow(to_edge, -singularity);
        const Point p = place(patch, u, v);
        for (std::size_t tooth = 0; tooth < teeth; ++tooth)
          for (const double sign : {1, -1})
            for (const double side : {1, -1})
              add(bodies, point(p, sign, side, 2 * half_tooth * double(tooth)), q);
        total += double(copies) * q;
      }
    }
  }
  if (of_copy == 0) total = double(n);  // there are too few for teeth
  for (std::size_t i = 0; i < rest; ++i) {
    const double z = (2 * double(i) + 1) / double(rest) - 1;
    bodies.add(0, 0, shaft * width / 2 * z, total / double(n));
  }
  return in_units(std::move(bodies), size, double(n) / total);
}

/// Airways, blood vessels or roots, by a rule for each fork, down to sacs at the ends: aerosol or cells at the walls,
/// of masses that change from one generation to the next. Some of them fill a square or a cube as H trees do, some
/// are crooked: for who models deposits in lungs.
Bodies airways(std::size_t n, Random& random) {
  struct Branch {
    Point at, direction, up;  // the latter in the plane of its fork
    double length, mass;
    std::size_t count;
    int generation;
  };
  const bool is_regular = heads(random), is_flat = heads(random);
  const double any_dimension = uniform(random, 1.6, 5), any_fork = uniform(random, 0.15, 1.8),
               any_twist = any_angle(random), steps = is_flat ? 2 : 3,
               dimension = is_regular ? steps : any_dimension,
               fork = is_regular ? pi / 2 : any_fork,
               twist = is_regular ? pi / 2 * (steps - 2) : any_twist,
               split = heads(random) ? 0.5 : uniform(random, 0.5, 0.9),
               noise = some(random, 1e-4, 0.4), slenderness = log_uniform(random, 3e-3, 0.3),
               on_wall = log_uniform(random, 0.01, 0.7), sac = log_uniform(random, 0.05, 1),
               growth = log_uniform(random, 0.5, 2), spread = some(random, 0.01, 3),
               hot_spots = some(random, 0.1, 5), size = log_uniform(random, 1e-4, 1e4);
  const std::size_t fewest = std::size_t(log_uniform(random, 4, 400));
  std::vector<Branch> branches = {{{0, 0, 0}, {0, 0, 1}, {1, 0, 0}, 1, 1, n, 0}};
  Bodies bodies;
  while (!branches.empty()) {
    const Branch branch = branches.back();
    branches.pop_back();
    const bool is_last = branch.count < fewest || branch.generation == 40;
    const double share = is_last ? 0.5 : on_wall;
    const std::size_t own = 1 + std::size_t(share * double(branch.count - 1)),
                      left = branch.count - own;
    const Point side = cross(branch.direction, branch.up),
                end = along(branch.at, branch.length, branch.direction);
    const double r = slenderness * branch.length, phase = any_angle(random);
    for (std::size_t i = 0; i < own; ++i) {
      const double t = (double(i) + 0.5) / double(own), phi = golden_angle * double(i) + phase,
                   deposit = std::exp(spread * normal(random) - hot_spots * (1 - t)),
                   off = r * (1 - 0.3 * t);
      Point p = along(branch.at, t * branch.length, branch.direction);
      p = along(along(p, off * std::cos(phi), branch.up), off * std::sin(phi), side);
      add(bodies, p, branch.mass * deposit);
    }
    if (is_last) {
      const double reach = sac * branch.length;
      const Point middle = along(end, reach, branch.direction);
      for (std::size_t i = 0; i < left; ++i) {
        const double deposit = std::exp(spread * normal(random));
        add(bodies, along(middle, reach, seed_of(i, left)), branch.mass * deposit);
      }
      continue;
    }
    for (int child = 0; child < 2; ++child) {
      const std::size_t larger = std::size_t(split * double(left)),
                        count = child == 0 ? larger : left - larger;
      if (count == 0) continue;
      const double portion = child == 0 ? split : 1 - split, sign = child == 0 ? 1 : -1,
                   angle = fork * std::sqrt(2 * (1 - portion)),
                   ratio = std::pow(portion, 1 / dimension),
                   bend = angle * (1 + noise * normal(random)),
                   turn = twist + noise * normal(random),
                   length = branch.length * ratio * std::exp(noise * normal(random) / 2);
      const double c = std::cos(bend), s = sign * std::sin(bend);
      const Point direction = unit(along(along({0, 0, 0}, c, branch.direction), s, branch.up)),
                  up = unit(along(along({0, 0, 0}, c, branch.up), -s, branch.direction)),
                  third = cross(direction, up);
      const Point turned = along(along({0, 0, 0}, std::cos(turn), up), std::sin(turn), third);
      branches.push_back(
          {end, direction, turned, length, branch.mass * growth, count, branch.generation + 1});
    }
  }
  return in_units(std::move(bodies), size, 1);
}

/// A comet that may be broken up: the rubble of its nuclei, jets into a coma, a dust tail sorted by the size of its
/// grains and by the outbursts that set them free, a straight and narrow tail of ions, and the trail along the orbit;
/// masses and densities over many decades: for who models what a spacecraft or a telescope meets there.
Bodies comet(std::size_t n, Random& random) {
  struct Nucleus {
    Point at, lobe;
    double radius;
    std::array<Point, 3> jets;
  };
  const double reach = log_uniform(random, 30, 1e5), decades = uniform(random, 1, 9),
               slope = uniform(random, 1.5, 4.5), curve = log_uniform(random, 0.01, 2),
               speed = log_uniform(random, 1e-3, 0.3), heavier = log_uniform(random, 1e-3, 1e5),
               beam = log_uniform(random, 0.02, 0.5), in_jets = some(random, 0.05, 1),
               outburst = log_uniform(random, 1e-3, 0.1),
               apart = reach * log_uniform(random, 1e-3, 1), ray = log_uniform(random, 1e-3, 0.1),
               kink = some(random, 1e-3, 0.1), rubble = some(random, 0.05, 2),
               coma = std::pow(reach, uniform(random, 0.2, 0.8)),
               thickness = log_uniform(random, 1e-3, 0.1), size = log_uniform(random, 1e-3, 10);
  std::array<double, 5> shares;  // the nuclei, comae, dust tail, ion tail, trail
  for (double& share : shares) share = log_uniform(random, 1e-3, 1);
  std::discrete_distribution<int> any_part(shares.begin(), shares.end());
  std::vector<double> times(heads(random) ? 0 : 1 + random() % 12);
  for (double& time : times) time = uniform(random, 0.05, 1);
  std::vector<Nucleus> nuclei(heads(random) ? 1 : 1 + random() % 25);
  for (auto& nucleus : nuclei) {
    const double y = apart * normal(random), aside = 0.03 * apart * normal(random);
    nucleus.at = {aside, y, 0.3 * aside};
    nucleus.radius = of_power_law(random, 0.1, 1, 2.5);
    nucleus.lobe = on_sphere(random, uniform(random, 0, 1.4));
    for (auto& jet : nucleus.jets) jet = on_sphere(random);
  }
  const double smallest = std::pow(10, -decades / 3);
  std::vector<std::size_t> stones;
  double dust = 0, stone = 0;
  Bodies bodies;
  while (bodies.size() < n) {
    const int part = any_part(random);
    const double second = uniform(random);
    Nucleus const& nucleus = nuclei[std::size_t(double(nuclei.size()) * second * second)];
    const double s = of_power_law(random, smallest, 1, slope), lightness = smallest / s,
                 grain = std::pow(s, 3), fraction = uniform(random, 1e-3, 1);
    const Point direction = on_sphere(random);
    if (part == 0) {
      const double r = nucleus.radius * std::cbrt(fraction), q = std::exp(rubble * normal(random)),
                   lobe = heads(random) ? nucleus.radius : 0, smaller = lobe > 0 ? 0.6 : 1;
      stones.push_back(bodies.size());
      stone += q;
      add(bodies, along(along(nucleus.at, lobe, nucleus.lobe), smaller * r, direction), q);
      continue;
    }
    dust += grain;
    if (part == 1) {
      Point const& jet = nucleus.jets[random() % 3];
      const bool is_in_jet = uniform(random) < in_jets;
      const Point away = is_in_jet ? unit(around(random, jet, beam)) : direction;
      const double r = nucleus.radius * (2 + coma * fraction);
      add(bodies, along(nucleus.at, r, away), grain);
    } else if (part == 2) {
      const double time = times.empty() ? fraction : times[random() % times.size()],
                   t = std::max(1e-3, time + outburst * normal(random)),
                   push = reach * lightness * t * t, lag = curve * push * t,
                   wide = reach * speed * std::sqrt(lightness) * t * uniform(random, 0.3, 1);
      const Point off = {push + thickness, -lag, 0};
      add(bodies, along(along(nucleus.at, 1, off), wide + nucleus.radius, direction), grain);
    } else if (part == 3) {
      const double x = reach * fraction, angle = ray * std::floor(uniform(random, -3, 4)),
                   wave = kink * x * std::sin(12 * fraction), wide = nucleus.radius + 0.1 * ray * x;
      const Point off = {x, x * angle + wave, 0.2 * wave};
      add(bodies, around(random, along(nucleus.at, 1, off), wide), grain * smallest);
    } else {
      const double y = reach * any_sign(random) * fraction, sag = -0.2 * y * y / reach,
                   wide = nucleus.radius + 0.1 * thickness * std::abs(y);
      add(bodies, around(random, {sag, y, 0}, wide), grain);
    }
  }
  const double scale = heavier * (dust > 0 ? dust : 1) / std::max(stone, 1e-9);
  for (const std::size_t i : stones) bodies.charges[i] *= scale;
  return in_units(std::move(bodies), size, double(n) / (dust + scale * stone));
}

/// A train of bunches of an accelerator, with gaps, tails that swing out more and more, bunches within bunches and a
/// halo; maybe another beam of the other sign that crosses it, and electrons and ions that are gathered in or at the
/// pipe: for who tracks particles with their space charge.
Bodies bunch_train(std::size_t n, Random& random) {
  const auto bunches = std::size_t(log_uniform(random, 1, std::clamp(double(n) / 60, 1.5, 2e3)));
  const double spacing = log_uniform(random, 2, 100), wide = log_uniform(random, 0.02, 30),
               high = wide * log_uniform(random, 0.05, 1), gap = some(random, 0.05, 0.7),
               tilt = some(random, 1e-2, 3), banana = some(random, 1e-2, 1),
               depth = some(random, 0.05, 1), ripples = log_uniform(random, 3, 300),
               swing = some(random, 0.1, 20), steps = log_uniform(random, 0.05, 3),
               halo = some(random, 1e-4, 0.2), boost = log_uniform(random, 0.1, 30),
               others = some(random, 0.01, 0.5), crossing = some(random, 1e-3, 1),
               cloud = some(random, 0.01, 0.8), pipe = wide * log_uniform(random, 4, 100),
               neutralised = log_uniform(random, 1e-4, 1.5), pinch = log_uniform(random, 0.2, 4),
               weights = some(random, 0.01, 2), uneven = some(random, 0.01, 3),
               size = log_uniform(random, 1e-3, 1);
  const int shape = int(random() % 3);  // a normal one, a full or a hollow ball
  const bool is_at_wall = heads(random);
  std::vector<Point> train;  // the place, charge and swing of each
  double z = 0;
  for (std::size_t b = 0; b < bunches; ++b) {
    const double charge = std::exp(uneven * normal(random)), ahead = double(b) / double(bunches);
    train.push_back({z, charge, swing * ahead * ahead * wide * std::cos(steps * double(b))});
    z += spacing * (b % 12 == 11 && uniform(random) < gap ? 5 : 1);
  }
  const double middle = (train.front()[0] + train.back()[0]) / 2,
               length = train.back()[0] - train.front()[0] + 6;
  double beam = 0;
  std::vector<std::size_t> loose;
  Bodies bodies;
  while (bodies.size() < n) {
    if (bodies.size() > 0 && uniform(random) < cloud) {
      const double phi = any_angle(random), share = uniform(random, 1e-6, 1),
                   r = is_at_wall ? pipe : pipe * std::pow(share, pinch),
                   at = middle + length * uniform(random, -0.5, 0.5);
      loose.push_back(bodies.size());
      bodies.add(r * std::cos(phi), r * std::sin(phi), at, std::exp(weights * normal(random)));
      continue;
    }
    const auto [place, charge, out_of_line] = train[random() % train.size()];
    const bool is_other = uniform(random) < others, is_in_halo = uniform(random) < halo;
    Point p = {normal(random), normal(random), normal(random)};
    if (shape == 1) p = on_sphere(random, 2 * std::cbrt(uniform(random)));
    if (shape == 2) p = on_sphere(random, 2 - 0.3 * uniform(random));
    const double out = is_in_halo ? 1 + 3 * exponential(random) : 1,
                 along_it = p[2] + depth / ripples * std::sin(ripples * p[2]),
                 x = wide * (out * p[0] + tilt * along_it) + out_of_line,
                 y = high * (out * p[1] + banana * along_it * along_it),
                 q = (is_other ? -charge : charge) * std::exp(weights * normal(random)),
                 at = place - middle + along_it, angle = is_other ? crossing : 0;
    const double from_axis = x * std::cos(angle) + at * std::sin(angle),
                 ahead = at * std::cos(angle) - x * std::sin(angle);
    bodies.add(from_axis, y, middle + (is_other ? -ahead : ahead), q);
    beam += q;
  }
  double gathered = 0;
  for (const std::size_t i : loose) gathered += bodies.charges[i];
  for (const std::size_t i : loose) bodies.charges[i] *= -neutralised * beam / gathered;
  for (std::size_t i = 2; i < bodies.positions.size(); i += 3) bodies.positions[i] *= boost;
  return in_units(std::move(bodies), size, 1);
}

/// What laser scanners see of hills, trunks and crowns: rows by equal angles, dense at their feet and sparse far
/// away, shadows behind the trunks; at each point the coefficients that a surface through them takes in radial
/// functions, on it and off it at one or at both sides, which nearly cancel: for who rebuilds surfaces from scans.
Bodies laser_scan(std::size_t n, Random& random) {
  struct Tree {
    double x, y, radius, height, crown, ground;
  };
  const double far = log_uniform(random, 8, 3e3), bottom = uniform(random, 0.3, 1.4),
               roughness = uniform(random, 0.7, 2), relief = some(random, 0.01, 1),
               finest = log_uniform(random, 2, 300), opacity = uniform(random, 0.05, 1),
               ratio = log_uniform(random, 0.1, 10), off = log_uniform(random, 0.05, 1),
               growth = uniform(random, -1, 2), spread = some(random, 0.1, 2),
               error = some(random, 1e-5, 1e-2), apart = log_uniform(random, 1, far),
               smooth = some(random, 0.1, 10), imbalance = some(random, 1e-6, 0.1),
               size = log_uniform(random, 1e-3, 1e2);
  const std::size_t per_hit = 1 + random() % 3, scanners = heads(random) ? 1 : 1 + random() % 8;
  std::vector<std::array<double, 4>> hills(3 + random() % 6);
  for (auto& hill : hills) {
    const double wave = log_uniform(random, 1, finest), phi = any_angle(random), k = wave / far;
    hill = {k * std::cos(phi), k * std::sin(phi), relief * std::pow(wave, -roughness) / k / 3,
            any_angle(random)};
  }
  const auto ground = [&](double x, double y) {
    double z = 0;
    for (auto const& [kx, ky, height, phase] : hills)
      z += height * std::sin(kx * x + ky * y + phase);
    return z;
  };
  std::vector<Tree> trees(random() % 80);
  for (auto& tree : trees) {
    const double r = log_uniform(random, 1, far), phi = any_angle(random), x = r * std::cos(phi),
                 y = r * std::sin(phi), radius = log_uniform(random, 0.02, 0.2),
                 height = log_uniform(random, 0.3, 3), crown = height * uniform(random, 0.1, 0.6);
    tree = {x, y, radius, height, crown, ground(x, y)};
  }
  Bodies bodies;
  for (std::size_t scanner = 0; scanner < scanners; ++scanner) {
    const std::size_t hits = (share_of(n, scanner, scanners) + per_hit - 1) / per_hit,
                      columns = std::size_t(std::clamp(std::sqrt(double(hits) * ratio), 1.0, 2e4));
    const double x = scanner == 0 ? 0 : apart * normal(random),
                 y = scanner == 0 ? 0 : apart * normal(random), eye = ground(x, y) + 1;
    for (std::size_t column = 0; column < columns; ++column) {
      const std::size_t rows = share_of(hits, column, columns);
      for (std::size_t row = 0; row < rows && bodies.size() < n; ++row) {
        const double phi = 2 * pi * double(column) / double(columns) + error * normal(random),
                     c = std::cos(phi), s = std::sin(phi),
                     share = (double(row) + 0.5) / double(rows),
                     slope = std::tan(1 / far + (bottom - 1 / far) * share);
        double r = 1 / slope;
        for (int step = 0; step < 3; ++step) {
          const double drop = eye - ground(x + r * c, y + r * s);
          r = std::clamp((r + drop / slope) / 2, 0.1 / slope, 2 / slope);
        }
        bool is_tree = false;
        for (auto const& tree : trees) {
          const double dx = tree.x - x, dy = tree.y - y, ahead = c * dx + s * dy,
                       aside = std::abs(s * dx - c * dy), widest = tree.radius + tree.crown;
          if (ahead > r || ahead < 0.1 + widest || aside > widest) continue;
          const double z = eye - slope * ahead - tree.ground, up = z - tree.height + tree.crown,
                       square = tree.crown * tree.crown - up * up - aside * aside;
          if (aside < tree.radius && z < tree.height && z > 0)
            r = ahead - std::sqrt(tree.radius * tree.radius - aside * aside);
          else if (square > 0 && uniform(random) < opacity)
            r = ahead + std::sqrt(square) * uniform(random, -1, 1);
          else
            continue;
          is_tree = true;
        }
        r *= 1 + error * normal(random);
        const double px = x + r * c, py = y + r * s,
                     pz = is_tree ? eye - slope * r : ground(px, py),
                     wave = std::sin(smooth * px) * std::cos(smooth * py),
                     sign = smooth > 0 ? wave : any_sign(random),
                     q = sign * std::pow(r, growth) * std::exp(spread * normal(random)),
                     step = off * 2 * pi * r / double(columns);
        const Point p = {px, py, pz}, up = unit(around(random, {0, 0, 1}, 0.3));
        add(bodies, p, q);
        for (std::size_t side = 1; side < per_hit && bodies.size() < n; ++side) {
          const double part = (1 + imbalance * normal(random)) / double(per_hit - 1);
          add(bodies, along(p, side == 1 ? step : -step, up), -part * q);
        }
      }
    }
  }
  return in_units(std::move(bodies), size, 1);
}

}  // namespace

/// Kinds of fields that a visitor brought; a kind keeps its place.
std::vector<Kind> const& of_visitors() {
  static const std::vector<Kind> kinds = {
      {"zeolite", zeolite, true, false},
      {"molecular_quadrature", molecular_quadrature, true, false},
      {"gear", gear, false, false},
      {"airways", airways, false, false},
      {"comet", comet, false, false},
      {"bunch_train", bunch_train, true, false},
      {"laser_scan", laser_scan, true, false},
  };
  return kinds;
}

}  // namespace kinds
