// SPDX-License-Identifier: BSD-3-Clause
// Kinds of bodies by somebody else who was not told how a tolerance is held: a tokamak, boundaries
// of grains, a beating heart, droplets of a cloud, quasicrystals, aftershocks, antennas and drawn
// networks. Each draws its own shape, ratios and noise.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "kinds_of_bodies.hpp"
#include "random_points.hpp"

namespace kinds {

namespace {

/// A tokamak: the wound coils round a torus, rings above and below it, and a plasma whose field
/// lines go round a torus of any section, by elements of their currents: a charge is a component
/// of one, as the law of Biot and Savart needs it: for who designs coils and studies equilibria.
Bodies tokamak(std::size_t n, Random& random) {
  const double aspect = log_uniform(random, 1.15, 10), elongation = uniform(random, 0.8, 2.5),
               triangularity = uniform(random, -0.6, 0.8), safety = log_uniform(random, 0.5, 20),
               peaking = log_uniform(random, 0.2, 5), island = some(random, 1e-5, 0.2),
               in_plasma = uniform(random, 0.05, 0.95), clearance = uniform(random, 0.1, 0.9),
               wire = log_uniform(random, 1e-4, 0.02), most_turns = log_uniform(random, 1, 40),
               plasma_current = log_uniform(random, 1e-3, 1e3), noise = some(random, 1e-8, 0.1),
               laps = heads(random) ? 1 : log_uniform(random, 0.1, 30),
               size = log_uniform(random, 1e-3, 1e3);
  const int component = n < 100 ? 2 : int(random() % 3), modes = 1 + int(random() % 5),
            waves = 1 + int(random() % 4);
  const std::size_t toroidal = 1 + random() % 24, coils = toroidal + random() % 15,
                    plasma = std::size_t(in_plasma * double(n));
  const bool has_filaments = heads(random);
  const std::size_t most = std::max<std::size_t>(plasma, 1),
                    lines =
                        has_filaments ? std::size_t(std::pow(double(most), uniform(random))) : most;
  const Point axis = component == 0   ? Point{1, 0, 0}
                     : component == 1 ? Point{0, 0, 1}
                                      : on_sphere(random);
  const auto surface = [&](double r, double theta, double phi) {
    const double inside = std::max(0.0, r * (1 - r)), wave = std::cos(modes * theta - waves * phi),
                 minor = r + island * inside * wave, shape = triangularity * std::min(r, 1.0),
                 major = aspect + minor * std::cos(theta + shape * std::sin(theta));
    return Point{major * std::cos(phi), major * std::sin(phi),
                 elongation * minor * std::sin(theta)};
  };
  Bodies bodies;
  const auto element = [&](auto const& line, double t, double current) {
    const double h = 1e-4;
    const Point d = along(line(t + h), -1, line(t - h));
    add(bodies, line(t), current / (2 * h) * dot(d, axis) * (1 + noise * normal(random)));
  };
  for (std::size_t k = 0; k < coils; ++k) {
    const std::size_t count = share_of(n - plasma, k, coils);
    const int turns = std::max(1, int(std::min(most_turns, double(count) / 6))),
              columns = std::max(1, int(std::sqrt(turns)));
    const bool is_round_plasma = k < toroidal;
    const double place = any_angle(random), sign = any_sign(random),
                 current = is_round_plasma ? 1 : sign * log_uniform(random, 1e-3, 10),
                 minor = 1 + clearance * (aspect - 1) * uniform(random, 0.95, 1),
                 phi = 2 * pi * double(k) / double(toroidal);
    const Point ring = surface(minor, place, 0);
    for (std::size_t i = 0; i < count; ++i) {
      const double t = (double(i) + 0.5) / double(count) * turns;
      const double across = wire * (int(t) % columns), out = wire * (int(t) / columns);
      const auto turn_round_plasma = [&](double angle) {
        return surface(minor + out, angle, phi + across / aspect);
      };
      const auto turn_of_ring = [&](double angle) {
        return Point{(ring[0] + out) * std::cos(angle), (ring[0] + out) * std::sin(angle),
                     1.3 * ring[2] + across};
      };
      const double of_angle = 2 * pi * turns / double(count) * current;
      if (is_round_plasma)
        element(turn_round_plasma, 2 * pi * t, of_angle);
      else
        element(turn_of_ring, 2 * pi * t, of_angle);
    }
  }
  for (std::size_t k = 0; k < lines; ++k) {
    const std::size_t count = share_of(plasma, k, lines);
    const double r = std::sqrt(uniform(random, 1e-6, 1)), theta = any_angle(random),
                 phi = any_angle(random),
                 current = plasma_current * std::pow(1.001 - r * r, peaking);
    const auto line = [&](double t) { return surface(r, theta + t / safety, phi + t); };
    for (std::size_t i = 0; i < count; ++i) {
      const double angle = 2 * pi * laps / double(count);
      element(line, (double(i) + 0.5) * angle, current * angle);
    }
  }
  return in_units(std::move(bodies), size, 1);
}

/// A ceramic of many grains: boundaries with cores that are charged the more the less the grains
/// fit each other, and layers of the other charge at both sides, in a solid of few free ions; thin
/// films and columns of grains, too: for who models ferrites, varistors and solid electrolytes.
Bodies grain_boundaries(std::size_t n, Random& random) {
  struct Grain {
    Point centre, axis;
  };
  const double finest = std::clamp(std::cbrt(double(n) / 20), 1.5, 50.0);
  const int across = int(log_uniform(random, 1, finest)), side = across + 2;
  const double disorder = uniform(random, 0.1, 1), core = log_uniform(random, 1e-6, 1e-2),
               debye = log_uniform(random, 1e-4, 0.3), in_walls = uniform(random, 0.1, 1),
               sharpness = log_uniform(random, 0.1, 10), flattening = log_uniform(random, 0.02, 10),
               imbalance = some(random, 1e-6, 0.1), size = log_uniform(random, 1e-9, 1e3);
  const int per_core = 1 + int(random() % 8);
  const bool has_both_signs = heads(random);
  std::vector<Grain> grains;
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j)
      for (int k = 0; k < side; ++k) {
        const Point p = {i - 0.5, j - 0.5, k - 0.5}, shift = in_cube(random);
        const Point centre = along(along(p, -disorder / 2, {1, 1, 1}), disorder, shift);
        grains.push_back({centre, on_sphere(random)});
      }
  /// The two next to it.
  const auto grains_at = [&](Point const& p) {
    std::array<Grain const*, 2> next = {nullptr, nullptr};
    double first = 1e300, second = 1e300;
    for (int i = int(p[0]); i < int(p[0]) + 3; ++i)
      for (int j = int(p[1]); j < int(p[1]) + 3; ++j)
        for (int k = int(p[2]); k < int(p[2]) + 3; ++k) {
          Grain const& grain = grains[std::size_t((i * side + j) * side + k)];
          const Point d = along(p, -1, grain.centre);
          const double square = dot(d, d);
          if (square < first) {
            second = std::exchange(first, square);
            next = {&grain, next[0]};
          } else if (square < second) {
            second = square;
            next[1] = &grain;
          }
        }
    return next;
  };
  Bodies bodies;
  while (bodies.size() < n) {
    const Point at = in_cube(random), p = along({0, 0, 0}, across, at);
    if (uniform(random) > in_walls) {
      add(bodies, p, any_sign(random) / per_core);
      continue;
    }
    const auto [grain, other] = grains_at(p);
    const Point middle = along(along({0, 0, 0}, 0.5, grain->centre), 0.5, other->centre),
                up = unit(along(other->centre, -1, grain->centre));
    const double height = dot(along(p, -1, middle), up), fit = dot(grain->axis, other->axis),
                 misfit = std::max(1e-6, std::pow(1 - std::abs(fit), sharpness)),
                 q = has_both_signs && fit < 0 ? -misfit : misfit;
    if (std::abs(height) > 0.3) continue;  // too far for the boundary to reach there
    const Point on_wall = along(p, core * normal(random) - height, up);
    add(bodies, on_wall, q);
    for (int ion = 0; ion < per_core && bodies.size() < n; ++ion) {
      const Point aside = any_normal_of(random, up);
      const double right = any_sign(random), depth = core + debye * exponential(random),
                   shift = debye * normal(random), charge = 1 + imbalance * normal(random);
      add(bodies, along(along(on_wall, right * depth, up), shift, aside), -q / per_core * charge);
    }
  }
  for (std::size_t i = 2; i < bodies.positions.size(); i += 3) bodies.positions[i] *= flattening;
  return in_units(std::move(bodies), size, 1);
}

/// The wall of a ventricle while it is excited: sources and sinks of current, or dipoles along
/// fibres that turn from the inner to the outer side, at a front that spreads from a few places or
/// goes round as a spiral, a weak and wide wave of recovery behind, a scar without current, and
/// electrodes around: for who computes electrocardiograms.
Bodies beating_heart(std::size_t n, Random& random) {
  const double thickness = log_uniform(random, 0.03, 0.6), length = uniform(random, 1, 2.5),
               base = uniform(random, -0.2, 0.9), front = log_uniform(random, 1e-3, 0.3),
               anisotropy = uniform(random, 1, 4), twist = uniform(random, 0.5, 2.5),
               recovery = some(random, 0.01, 0.5), delay = log_uniform(random, 3, 100),
               leak = log_uniform(random, 1e-9, 1e-2), scar = some(random, 0.05, 0.8),
               cell = log_uniform(random, 1e-5, 1e-2), electrodes = some(random, 1e-4, 0.1),
               lead = uniform(random, 0.55, 1), pitch = uniform(random, -4, 4),
               torso = uniform(random, 3, 10), size = log_uniform(random, 1e-4, 10);
  const bool is_spiral = heads(random), are_dipoles = n > 1 && heads(random),
             is_neutral = heads(random);
  const int arms = 1 + int(random() % 3);
  struct Place {
    Point at, fibre;
    double phase;  // of the spiral
  };
  const auto in_wall = [&] {
    const double depth = uniform(random), phi = any_angle(random), z = uniform(random, -1, base),
                 across = std::sqrt(1 - z * z), r = 1 - thickness * depth,
                 angle = twist * (depth - 0.5), a = std::cos(angle), b = std::sin(angle);
    const Point at = {r * across * std::cos(phi), r * across * std::sin(phi), length * r * z},
                round = {-std::sin(phi), std::cos(phi), 0},
                up = unit({-z * std::cos(phi), -z * std::sin(phi), length * across + 1e-9});
    return Place{at, along(along({0, 0, 0}, a, round), b, up), arms * phi + pitch * z + angle};
  };
  std::vector<Point> starts(1 + random() % 6);
  for (auto& p : starts) p = in_wall().at;
  const Point dead = in_wall().at;
  double now = 0;
  const auto time_since_front = [&](Place const& place) {
    if (is_spiral) return std::remainder(place.phase + 2 * pi * now, 2 * pi) / (2 * pi);
    double arrival = 1e300;
    for (auto const& p : starts) {
      const Point d = along(place.at, -1, p);
      const double length_along = dot(d, place.fibre),
                   others = dot(d, d) - std::pow(length_along, 2);
      arrival = std::min(arrival,
                         std::sqrt(std::pow(length_along / anisotropy, 2) + std::max(0.0, others)));
    }
    return now - arrival;
  };
  now = -time_since_front(in_wall());  // it is at this place, then
  Bodies bodies;
  while (bodies.size() < n) {
    const bool is_electrode = uniform(random) < electrodes;
    const Place place = in_wall();
    const double s = time_since_front(place) / front, late = (s - delay) / 10,
                 noise = leak * normal(random);
    const Point from_dead = along(place.at, -1, dead);
    const bool is_dead = dot(from_dead, from_dead) < scar * scar;
    if (bodies.size() > 0 && (is_electrode || bodies.size() + (are_dipoles ? 1 : 0) == n)) {
      add(bodies, on_sphere(random, torso), 0);
    } else if (are_dipoles) {
      const double q = is_dead ? noise : noise + 1 / (1 + s * s) - recovery / (1 + late * late);
      add(bodies, along(place.at, -cell / 2, place.fibre), -q);
      add(bodies, along(place.at, cell / 2, place.fibre), q);
    } else {
      const auto current = [&](double t) {  // a sink behind, a source ahead
        const double square = 1 + t * t;
        return ((1 - lead) * (1 - t * t) - lead * t * std::sqrt(square)) / (square * square);
      };
      add(bodies, place.at, is_dead ? noise : noise + current(s) - recovery * current(late));
    }
  }
  double total = 0, strength = 0;
  for (const double q : bodies.charges) {
    total += q;
    strength += std::abs(q);
  }
  if (is_neutral && std::abs(total) < strength / 2)  // every current in proportion to its strength
    for (double& q : bodies.charges) q -= total / strength * std::abs(q);
  return in_units(std::move(bodies), size, 1);
}

/// Droplets that a turbulent cloud gathers into sheets and threads, the heavier the more, with
/// clear air between, some that a narrow beam would see only, and few drops of rain: for who
/// studies their collisions and settling.
Bodies cloud_droplets(std::size_t n, Random& random) {
  struct Eddy {
    Point wave, swing;  // the latter across the former
    double phase, squeeze;
  };
  const double spread = log_uniform(random, 0.02, 0.7), inertia = log_uniform(random, 1e-3, 0.9),
               strength = uniform(random, 0.05, 1.5), finest = log_uniform(random, 2, 100),
               diffusion = log_uniform(random, 1e-5, 1e-2), rain = some(random, 1e-6, 1e-2),
               heavier = log_uniform(random, 1e3, 1e9), flattening = log_uniform(random, 0.01, 3),
               beam = log_uniform(random, 0.01, 1), in_beam = some(random, 0.05, 0.95),
               cloud_edge = uniform(random, 0, 1), size = log_uniform(random, 1e-3, 1e4);
  std::vector<Eddy> eddies(4 + random() % 9);
  for (auto& eddy : eddies) {
    const double k = 2 * pi * log_uniform(random, 0.5, finest);
    const Point direction = on_sphere(random);
    eddy.wave = along({0, 0, 0}, k, direction);
    eddy.swing = along({0, 0, 0}, strength / k, any_normal_of(random, direction));
    eddy.phase = any_angle(random);
    eddy.squeeze = uniform(random) / (k * k);
  }
  Bodies bodies;
  while (bodies.size() < n) {
    Point p = in_cube(random);
    if (uniform(random) < in_beam) p = {p[0], beam * p[1], beam * p[2]};
    const double radius = std::exp(spread * normal(random)), mass = std::pow(radius, 3),
                 lag = std::min(0.95, inertia * radius * radius);
    for (auto const& eddy : eddies) {
      const double angle = dot(eddy.wave, p) + eddy.phase, s = std::sin(angle);
      p = along(along(p, s, eddy.swing), -lag * eddy.squeeze * s, eddy.wave);
    }
    const double edge = std::sin(5 * p[0]) * std::sin(6 * p[1]) + p[2];
    if (edge < cloud_edge - 0.5 && uniform(random) < 0.9) continue;  // dry air that came in
    const bool is_rain = uniform(random) < rain;
    p = around(random, p, diffusion);
    add(bodies, {p[0], p[1], flattening * p[2]}, is_rain ? heavier * mass : mass);
  }
  return in_units(std::move(bodies), size, 1);
}

/// A quasicrystal: a body in the middle of each cell of a tiling without period, of an icosahedron
/// or, in layers, of a pentagon, by grids of planes (de Bruijn): charges by the parity of a cell,
/// by its shape, or in a wave that fits no lattice, moved by heat, with vacancies.
Bodies quasicrystal(std::size_t n, Random& random) {
  struct Cell {
    Point place;
    double distance;  // of the middle
    int parity, shape;
  };
  const double layer = log_uniform(random, 0.1, 10), warmth = some(random, 1e-7, 0.1),
               vacancies = some(random, 1e-4, 0.5), size = log_uniform(random, 1e-10, 1e3),
               minority = log_uniform(random, 1e-3, 1), golden = std::numbers::phi;
  const bool has_layers = heads(random);
  const int colours = int(random() % 3);
  const Point wave = on_sphere(random, log_uniform(random, 0.01, 5));
  std::array<Point, 6> axes = {{{0, 1, golden},
                                {0, 1, -golden},
                                {1, golden, 0},
                                {1, -golden, 0},
                                {golden, 0, 1},
                                {-golden, 0, 1}}};
  std::array<double, 6> shifts;
  for (std::size_t a = 0; a < 6; ++a) {
    const double angle = 2 * pi * double(a) / 5;
    if (has_layers) axes[a] = {std::cos(angle), std::sin(angle), 0};
    if (has_layers && a == 5) axes[a] = {0, 0, 1};
    axes[a] = unit(axes[a]);
    shifts[a] = uniform(random);
  }
  const auto volume = [&](std::size_t a, std::size_t b, std::size_t c) {
    return std::abs(dot(axes[a], cross(axes[b], axes[c])));
  };
  double density = 0;  // of crossings of three planes
  for (std::size_t a = 0; a < 6; ++a)
    for (std::size_t b = 0; b < a; ++b)
      for (std::size_t c = 0; c < b; ++c) density += volume(a, b, c);
  const double wanted = double(n) / (1 - vacancies) * 3 / (4 * pi);
  std::vector<Cell> cells;
  for (double reach = std::cbrt(wanted / density) + 0.1; cells.size() < n; reach *= 1.05) {
    cells.clear();
    const int most = int(reach) + 1;
    for (std::size_t a = 0; a < 6; ++a)
      for (std::size_t b = 0; b < a; ++b)
        for (std::size_t c = 0; c < b; ++c) {
          const double det = dot(axes[a], cross(axes[b], axes[c]));
          if (std::abs(det) < 1e-6) continue;
          const Point of_a = cross(axes[b], axes[c]), of_b = cross(axes[c], axes[a]),
                      of_c = cross(axes[a], axes[b]);
          for (int i = -most; i <= most; ++i)
            for (int j = -most; j <= most; ++j)
              for (int k = -most; k <= most; ++k) {
                Point p = along({0, 0, 0}, (i - shifts[a]) / det, of_a);
                p = along(along(p, (j - shifts[b]) / det, of_b), (k - shifts[c]) / det, of_c);
                const double square = dot(p, p);
                if (square > reach * reach || uniform(random) < vacancies) continue;
                Point place = along(along({0, 0, 0}, i + 0.5, axes[a]), j + 0.5, axes[b]);
                place = along(place, k + 0.5, axes[c]);
                int sum = i + j + k;
                for (std::size_t d = 0; d < 6; ++d) {
                  if (d == a || d == b || d == c) continue;
                  const double index = std::ceil(dot(axes[d], p) + shifts[d]);
                  place = along(place, index, axes[d]);
                  sum += int(index);
                }
                cells.push_back({place, square, sum % 2, std::abs(det) > 0.6});
              }
        }
  }
  std::nth_element(cells.begin(), cells.begin() + std::ptrdiff_t(n - 1), cells.end(),
                   [](Cell const& a, Cell const& b) { return a.distance < b.distance; });
  cells.resize(n);
  Bodies bodies;
  for (auto const& cell : cells) {
    const Point p = around(random, cell.place, warmth);
    const double by_parity = cell.parity == 0 ? 1 : -1, by_shape = cell.shape ? 1 : -minority,
                 by_wave = std::sin(dot(wave, p)),
                 q = colours == 0   ? by_parity
                     : colours == 1 ? by_shape
                                    : by_wave;
    bodies.add(p[0], p[1], layer * p[2], q);
  }
  return in_units(std::move(bodies), size, 1);
}

/// Earthquakes on a few faults, and their aftershocks, each near one before: double couples,
/// linear dipoles and explosions by charges close to each other, whose moments are as Gutenberg
/// and Richter say, over up to twelve decades, below the stations at the ground (charge 0).
Bodies aftershocks(std::size_t n, Random& random) {
  struct Fault {
    Point centre, slip, normal;
    double length, width;
  };
  struct Quake {
    Point at;
    double length;  // of its aftershocks
    std::size_t fault;
  };
  const double decades = uniform(random, 2, 12), slope = 1 + uniform(random, 0.4, 1),
               stations = some(random, 1e-4, 0.3), ratio = uniform(random, 0, 0.98),
               couples = uniform(random), explosions = some(random, 1e-4, 0.5),
               arm = log_uniform(random, 1e-6, 3e-3), scaling = heads(random) ? 0 : 1 / 3.0,
               roughness = log_uniform(random, 1e-5, 0.03), scatter = some(random, 1e-3, 1),
               near = log_uniform(random, 1e-4, 0.03), depth = log_uniform(random, 0.01, 1),
               noise = some(random, 1e-8, 1e-2), size = log_uniform(random, 1, 1e6);
  const double strongest = std::pow(10, decades);
  std::vector<Fault> faults(1 + random() % 8);
  for (auto& fault : faults) {
    fault.centre = in_cube(random);
    fault.normal = on_sphere(random);
    fault.slip = any_normal_of(random, fault.normal);
    fault.length = log_uniform(random, 0.05, 1);
    fault.width = fault.length * log_uniform(random, 0.05, 1);
  }
  std::vector<Quake> quakes;
  Bodies bodies;
  while (bodies.size() < n) {
    if (!quakes.empty() && uniform(random) < stations) {
      const double x = uniform(random, -0.5, 1.5), y = uniform(random, -0.5, 1.5);
      bodies.add(x, y, 2, 0);
      continue;
    }
    const double moment = of_power_law(random, 1, strongest, slope), choice = uniform(random),
                 reach = near * std::pow(moment / strongest, scaling);
    Quake quake = {{}, reach, random() % faults.size()};
    if (!quakes.empty() && uniform(random) < ratio) {
      Quake const& parent = quakes[random() % quakes.size()];
      const double far = parent.length * (1e-3 + std::pow(uniform(random, 1e-4, 1), -0.7));
      quake.fault = parent.fault;
      quake.at = along(parent.at, std::min(0.3, far), on_sphere(random));
    } else {
      Fault const& fault = faults[quake.fault];
      const double s = fault.length * uniform(random, -0.5, 0.5),
                   t = fault.width * uniform(random, -0.5, 0.5);
      quake.at = along(along(fault.centre, s, fault.slip), t, cross(fault.normal, fault.slip));
    }
    Fault const& fault = faults[quake.fault];
    quake.at = along(quake.at, roughness * normal(random), fault.normal);
    quakes.push_back(quake);
    const double half = std::max(1e-6, arm * std::pow(moment / strongest, scaling)),
                 left = double(n - bodies.size()), error = 1 + noise * normal(random),
                 sign = any_sign(random);
    const Point normal = unit(around(random, fault.normal, scatter)),
                slip = unit(cross(cross(normal, fault.slip), normal)),
                tension = unit(along(normal, 1, slip)), pressure = unit(along(normal, -1, slip));
    if (choice < explosions || left < 3) {
      add(bodies, quake.at, sign * moment);
    } else if (uniform(random) < couples && left > 3) {
      add(bodies, along(quake.at, half, tension), moment);
      add(bodies, along(quake.at, -half, tension), moment);
      add(bodies, along(quake.at, half, pressure), -moment * error);
      add(bodies, along(quake.at, -half, pressure), -moment);
    } else {
      add(bodies, along(quake.at, half, tension), sign * moment);
      add(bodies, quake.at, -2 * sign * moment * error);
      add(bodies, along(quake.at, -half, tension), sign * moment);
    }
  }
  for (std::size_t i = 2; i < bodies.positions.size(); i += 3) bodies.positions[i] *= depth;
  return in_units(std::move(bodies), size, 1);
}

/// Thin antennas with standing waves of charge (method of moments): phased in a plane or a ring,
/// ever shorter ones along a boom, or stations far apart; maybe their images of the other sign
/// below the ground, and the wires of a dish.
Bodies antennas(std::size_t n, Random& random) {
  const int arrangement = int(random() % 4);
  const double in_dish = some(random, 0.01, 0.9), spacing = log_uniform(random, 0.1, 10),
               half = log_uniform(random, 0.05, 5), thin = log_uniform(random, 1e-5, 1e-2),
               span = log_uniform(random, 3, 1e4), far = log_uniform(random, 10, 1e5),
               steering = some(random, 0.01, 6), taper = some(random, 0.1, 5),
               losses = some(random, 1e-4, 1), noise = some(random, 1e-8, 0.1),
               height = log_uniform(random, 1e-3, 30), focus = uniform(random, 0.3, 2),
               dish = log_uniform(random, 1, 100), size = log_uniform(random, 1e-3, 1e2);
  const bool has_ground = heads(random), is_graded = heads(random), is_upright = heads(random);
  const std::size_t meshed = std::min(n - 1, std::size_t(in_dish * double(n))), rest = n - meshed,
                    charges = has_ground ? rest - rest / 2 : rest;
  const double most = std::clamp(double(charges) / 5, 1.5, 3e4);
  const std::size_t wires = std::size_t(log_uniform(random, 1, most)), stations = 2 + random() % 60,
                    hoops = 2 + random() % 200;
  const Point beam = on_sphere(random), polarised = is_upright ? Point{0, 0, 1} : Point{1, 0, 0};
  const int columns = std::max(1, int(std::sqrt(double(wires))));
  const double pitch = is_upright ? spacing : spacing + 2 * half;
  Bodies bodies;
  for (std::size_t wire = 0; wire < wires; ++wire) {
    const std::size_t count = share_of(charges, wire, wires);
    const double place = double(wire), turn = 2 * pi * place / double(wires),
                 scale = arrangement == 2 ? std::pow(span, -place / double(wires)) : 1,
                 ring = spacing * double(wires) / (2 * pi), share = uniform(random, 1e-4, 1),
                 angle = any_angle(random);
    Point centre = {pitch * double(wire % std::size_t(columns)),
                    spacing * double(wire / std::size_t(columns)), 0};
    if (arrangement == 1) centre = {ring * std::cos(turn), ring * std::sin(turn), 0};
    if (arrangement == 2) centre = {0, 3 * span * scale, 0};
    if (arrangement == 3) {
      const double station = double(wire % stations), arm = station * golden_angle,
                   r = far * std::pow(1.1, station - double(stations)),
                   near = spacing * std::sqrt(double(wires) * share);
      centre = {r * std::cos(arm) + near * std::cos(angle),
                r * std::sin(arm) + near * std::sin(angle), 0};
    }
    const double reach = arrangement == 2 ? span * scale : half,
                 off = (place + 0.5) / double(wires),
                 amplitude = std::exp(-taper * std::pow(2 * off - 1, 2)),
                 phase = arrangement == 2 ? pi * place : steering * dot(beam, centre);
    for (std::size_t i = 0; i < count; ++i) {
      const double share_of_wire = (double(i) + 0.5) / double(count),
                   t = is_graded ? -std::cos(pi * share_of_wire) : 2 * share_of_wire - 1,
                   weight = is_graded ? std::sin(pi * share_of_wire) : 1,
                   wave = 2 * pi * half * (1 - std::abs(t)),
                   real = std::copysign(std::cos(wave), t) * std::cos(phase),
                   imaginary = losses * std::sin(2 * pi * half * t) * std::sin(phase),
                   round = golden_angle * double(i), error = 1 + noise * normal(random);
      const Point up = {0, 0, height + (is_upright ? reach : thin * reach)}, x = {0, 1, 0},
                  y = cross(polarised, x);
      Point p = along(along(centre, 1, up), t * reach, polarised);
      p = along(along(p, thin * reach * std::cos(round), x), thin * reach * std::sin(round), y);
      add(bodies, p, amplitude * weight * (real - imaginary) * error);
    }
  }
  for (std::size_t i = 0; i < rest - charges; ++i) {
    double const* p = &bodies.positions[3 * i];
    const Point image = {p[0], p[1], -p[2]};
    add(bodies, image, -bodies.charges[i]);
  }
  const double mean_charge = double(rest) / double(n);
  for (std::size_t i = 0; i < meshed; ++i) {
    const double share = std::sqrt((double(i) + 0.5) / double(meshed)),
                 hoop = (std::floor(share * double(hoops)) + 0.5) / double(hoops), r = dish * hoop,
                 phi = golden_angle * double(i), bowl = r * r / (4 * focus * dish);
    const double wave = 2 * pi * std::sqrt(r * r + std::pow(focus * dish - bowl, 2)),
                 q = mean_charge * std::cos(phi) * std::cos(wave) / (1 + r);
    bodies.add(r * std::cos(phi), r * std::sin(phi), 2 * height + 2 * half + bowl, q);
  }
  return in_units(std::move(bodies), size, 1);
}

/// A network as its nodes repel each other while it is drawn: islands of trees with hubs, whose
/// leaves are around them as seeds of a sunflower or at one distance, and long chains, in a plane
/// or in space; charges that grow with the number of neighbours: for who draws graphs.
Bodies drawn_network(std::size_t n, Random& random) {
  const bool is_flat = heads(random), is_sunflower = heads(random), has_hubs = heads(random);
  const double chains = some(random, 0.01, 0.99), hubs = has_hubs ? uniform(random) : 0,
               shrinking = heads(random) ? 1 : uniform(random, 0.6, 1), power = uniform(random),
               spread = uniform(random, 0, 0.8), outward = some(random, 0.1, 10),
               apart = log_uniform(random, 0.1, 1e3), weight = heads(random) ? 0 : power,
               thickness = is_flat ? 0 : log_uniform(random, 1e-3, 1),
               size = log_uniform(random, 1e-3, 1e4);
  const std::size_t islands =
      std::size_t(log_uniform(random, 1, std::clamp(double(n) / 10, 1.5, 1e4)));
  struct Node {
    Point at, direction;
    std::size_t parent, children;
    double edge;
  };
  std::vector<Node> nodes;
  nodes.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (i < islands) {
      const Point p = on_sphere(random, apart), turned = {p[0], p[1], is_flat ? 0 : p[2]};
      const double r = std::sqrt(uniform(random, 0.01, 1)), edge = log_uniform(random, 0.1, 1);
      nodes.push_back({along({0, 0, 0}, r, turned), {0, 0, 0}, i, 0, edge});
      continue;
    }
    const double choice = uniform(random);
    std::size_t parent = random() % i;
    if (choice < chains)
      parent = i - 1;
    else if (choice < chains + hubs * (1 - chains))
      parent = nodes[parent].parent;
    Node& of = nodes[parent];
    const double child = double(of.children++), phi = golden_angle * child + double(parent),
                 z = is_flat ? 0 : thickness * uniform(random, -1, 1), s = std::sqrt(1 - z * z),
                 noise = std::exp(spread * normal(random)),
                 length = of.edge * noise * (is_sunflower ? std::sqrt(child + 1) : 1);
    const Point away = {s * std::cos(phi), s * std::sin(phi), z},
                direction = unit(along(away, outward, of.direction));
    nodes.push_back({along(of.at, length, direction), direction, parent, 0,
                     std::max(1e-4, shrinking * of.edge)});
  }
  Bodies bodies;
  for (auto const& node : nodes) add(bodies, node.at, std::pow(1 + double(node.children), weight));
  return in_units(std::move(bodies), size, 1);
}

}  // namespace

/// Kinds of fields that were strange to all others; a kind keeps its place.
std::vector<Kind> const& of_strangers() {
  static const std::vector<Kind> kinds = {
      {"tokamak", tokamak, true, false},
      {"grain_boundaries", grain_boundaries, true, false},
      {"beating_heart", beating_heart, true, false},
      {"cloud_droplets", cloud_droplets, false, false},
      {"quasicrystal", quasicrystal, true, false},
      {"aftershocks", aftershocks, true, false},
      {"antennas", antennas, true, false},
      {"drawn_network", drawn_network, false, false},
  };
  return kinds;
}

}  // namespace kinds
