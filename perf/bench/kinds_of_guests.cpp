// SPDX-License-Identifier: BSD-3-Clause
// Kinds of bodies by a guest, who was not told how a tolerance is held: where people live, eddies
// of the ocean, the crusts of neutron stars, blood, parts that a laser melts, electrosprays and
// pictures in print. Each draws its own shape, ratios and noise.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "kinds_of_bodies.hpp"
#include "random_points.hpp"

namespace kinds {

namespace {

/// Two directions that are normal to a third and to each other.
std::array<Point, 2> normal_to(Point const& axis) {
  const Point any = std::abs(axis[0]) < 0.7 ? Point{1, 0, 0} : Point{0, 1, 0},
              first = unit(cross(axis, any));
  return {first, cross(axis, first)};
}

/// A map that is laid on a sphere, which it touches at the north pole; heights remain.
Point on_globe(Point const& p, double radius) {
  const double r = std::hypot(p[0], p[1]), angle = r / radius, high = radius + p[2],
               out = r > 0 ? high * std::sin(angle) / r : 0;
  return {out * p[0], out * p[1], high * std::cos(angle)};
}

/// The nodes and weights of a rule of Gauss from -1 to 1.
std::vector<std::array<double, 2>> gauss_rule(std::size_t count) {
  std::vector<std::array<double, 2>> rule(count);
  for (std::size_t i = 0; i < count; ++i) {
    double x = std::cos(pi * (double(i) + 0.75) / (double(count) + 0.5)), slope = 1;
    for (int step = 0; step < 8; ++step) {
      double last = 1, value = x;
      for (std::size_t k = 2; k <= count; ++k) {
        const double next = (double(2 * k - 1) * x * value - double(k - 1) * last) / double(k);
        last = value;
        value = next;
      }
      slope = double(count) * (x * value - last) / (x * x - 1);
      x -= value / slope;
    }
    rule[i] = {x, 2 / ((1 - x * x) * slope * slope)};
  }
  return rule;
}

double gyroid(double x, double y, double z) {
  return std::sin(x) * std::cos(y) + std::sin(y) * std::cos(z) + std::sin(z) * std::cos(x);
}

/// Where people live: cities by the law of Zipf with their suburbs, ribbons along the roads,
/// streets and storeys, empty homes, farms, and the cells of a census, of which many are empty;
/// in metres of a map far from its origin, on the globe, or in degrees with heights in metres:
/// for who maps the potential of a population, as geographers and planners do.
Bodies population(std::size_t n, Random& random) {
  struct City {
    double x, y, radius, turn;
  };
  struct Wave {
    double x, y, phase, height;
  };
  const std::size_t count = some_of(random, std::min(double(n) / 20, 5e3));
  const double region = log_uniform(random, 1e4, 4e6), zipf = uniform(random, 0.4, 1.8),
               largest = region * log_uniform(random, 1e-3, 0.1),
               compact = uniform(random, 0.2, 0.6), profile = uniform(random, 0.4, 1),
               suburbs = some(random, 0.1, 0.9), roads = some(random, 0.1, 0.9),
               width = log_uniform(random, 1e-4, 1e-2), block = log_uniform(random, 30, 500),
               in_streets = some(random, 0.2, 1), farms = some(random, 1e-3, 0.3),
               ribbons = some(random, 1e-3, 0.3), raster = some(random, 0.05, 0.8),
               tall = some(random, 0.5, 30), relief = some(random, 10, 1500),
               empty = some(random, 0.01, 0.5), wealth = some(random, 0.1, 3),
               snap = some(random, 1e-3, 1) * largest * std::sqrt(10 / double(n)),
               land = uniform(random, -1, 1), unit_of_length = heads(random) ? 1 : 1e-3;
  const int map = int(random() % 3);
  const bool is_turned = heads(random);
  std::array<Wave, 4> waves;
  double steep = 2 * pi / region;
  for (auto& [kx, ky, phase, height] : waves) {
    const double angle = any_angle(random);
    kx = steep * std::cos(angle);
    ky = steep * std::sin(angle);
    phase = any_angle(random);
    height = 1 / (steep * region);
    steep *= uniform(random, 1, 6);
  }
  const auto ground = [&](double x, double y) {  // below 0 is the sea
    double z = land * 0.2;
    for (auto const& [kx, ky, phase, height] : waves)
      z += height * std::sin(kx * x + ky * y + phase);
    return z;
  };
  const auto anywhere = [&] {
    const double x = region * uniform(random, -0.5, 0.5);
    return std::pair(x, region * uniform(random, -0.5, 0.5));
  };
  std::vector<City> cities;
  std::vector<double> sizes;
  for (std::size_t k = 0; k < count; ++k) {
    auto [x, y] = anywhere();
    const double size = std::pow(double(k + 1), -zipf), kind = uniform(random);
    if (k > 1 && kind < roads) {
      City const& a = cities[random() % k];
      City const& b = cities[random() % k];
      const double t = uniform(random), aside = width * region * normal(random);
      x = a.x + t * (b.x - a.x) + aside;
      y = a.y + t * (b.y - a.y) - aside;
    } else if (k > 0 && uniform(random) < suburbs) {
      City const& other = cities[random() % k];
      const double r = other.radius * of_power_law(random, 1, 30, 2), phi = any_angle(random);
      x = other.x + r * std::cos(phi);
      y = other.y + r * std::sin(phi);
    }
    const double turn = is_turned ? any_angle(random) : 0;
    cities.push_back({x, y, std::max(largest * std::pow(size, compact), 50.0), turn});
    sizes.push_back(size);
  }
  std::discrete_distribution<std::size_t> any_city(sizes.begin(), sizes.end());
  const double away = uniform(random, 0, 9e6), east = uniform(random, -180, 180);
  const Point up = on_sphere(random);
  const auto sides = normal_to(up);
  Bodies bodies;
  const auto settle = [&](double x, double y, double floors, double people) {
    const double z = relief * std::max(ground(x, y), 0.0) + 3 * floors;
    if (map == 0) return bodies.add(5e5 + x, away + y, z, people);
    if (map == 1) return bodies.add(east + x / 111e3, away / 2e5 + y / 111e3, z, people);
    const auto [a, b, c] = on_globe({x, y, z}, 6371008.8);
    add(bodies, along(along(along({0, 0, 0}, a, sides[0]), b, sides[1]), c, up), people);
  };
  const auto cells = std::size_t(raster * double(n)),
             columns = std::max(std::size_t(std::sqrt(double(cells))), std::size_t(1));
  for (std::size_t i = 0; i < cells; ++i) {
    const double step = region / double(columns),
                 x = step * (double(i % columns) + 0.5) - region / 2,
                 y = step * (double(i / columns) + 0.5) - region / 2;
    settle(x, y, 0, ground(x, y) > 0 ? std::floor(3 * std::exp(2 * normal(random))) : 0);
  }
  while (bodies.size() < n) {
    const double kind = uniform(random);
    City const& city = cities[any_city(random)];
    double floors = 0;
    auto [x, y] = anywhere();
    if (kind < ribbons) {
      City const& other = cities[any_city(random)];
      const double t = uniform(random), aside = 0.1 * width * region * normal(random);
      x = city.x + t * (other.x - city.x) + aside;
      y = city.y + t * (other.y - city.y) - aside;
    } else if (kind < 1 - farms) {
      const double out = std::pow(exponential(random), profile), phi = any_angle(random),
                   c = std::cos(city.turn), s = std::sin(city.turn);
      double u = city.radius * out * std::cos(phi), v = city.radius * out * std::sin(phi);
      if (uniform(random) < in_streets) {
        double& across = heads(random) ? u : v;
        across = block * std::round(across / block);
      }
      x = city.x + c * u - s * v;
      y = city.y + s * u + c * v;
      floors = std::floor(tall * exponential(random) * std::exp(-out));
    }
    if (snap > 0) {
      x = snap * std::round(x / snap);
      y = snap * std::round(y / snap);
    }
    const bool is_home = bodies.size() == 0 || uniform(random) >= empty;
    const double people = 1 + std::floor(2 * exponential(random)),
                 each = wealth > 0 ? std::exp(wealth * normal(random)) : 1;
    settle(x, y, floors, is_home ? people * each : 0);
  }
  bodies.charges.back() = std::max(bodies.charges.back(), 1.0);
  return in_units(std::move(bodies), unit_of_length, 1);
}

/// Eddies and jets of an ocean in layers, which are thinner near its surface: nested contours of
/// equal steps of vorticity, very close to each other, with filaments that wind up round them; at
/// each node one component of the contour's element, so that each contour has no charge, or the
/// vorticity there; heights stretched as the sea is: for who inverts the vorticity of
/// quasigeostrophic flow.
Bodies ocean_eddies(std::size_t n, Random& random) {
  struct Eddy {
    double x, y, radius, aspect, turn, tail, at, jump;
    std::size_t top, bottom;
    bool is_jet;
  };
  struct Contour {
    std::size_t eddy, layer;
    double inward, nodes;
  };
  const std::size_t layers = some_of(random, std::min(double(n) / 100, 40.0)),
                    nested = some_of(random, std::min(double(n) / (20 * double(layers)), 25.0)),
                    most = std::max(n / (20 * layers * nested), std::size_t(1)),
                    eddies = some_of(random, std::min(double(most), 3e3)),
                    jets = std::min<std::size_t>(random() % 5, most - eddies);
  const int pattern = int(random() % 4);  // anywhere, a street, pairs, a polygon round its middle
  const bool is_element = heads(random), is_deep = heads(random), is_winding = heads(random);
  const double thinning = uniform(random, 0.1, 6), stretch = log_uniform(random, 0.01, 300),
               gap = log_uniform(random, 1e-4, 0.5), slope = uniform(random, 1.5, 4),
               smallest = log_uniform(random, 1e-3, 0.5), room = log_uniform(random, 1, 30),
               tilt = some(random, 1e-3, 1), filament = some(random, 0.1, 10),
               narrow = log_uniform(random, 0.02, 0.5), spin = uniform(random, -8, 8),
               oval = log_uniform(random, 1, 10), lumps = some(random, 1e-3, 0.3),
               meander = some(random, 0.01, 1), even = uniform(random, 0, 1.5),
               strength = some(random, 0.1, 3), view = any_angle(random),
               noise = some(random, 1e-6, 1e-2), size = log_uniform(random, 1e-3, 1e6);
  const int modes = 2 + int(random() % 20);
  std::vector<Eddy> all;
  const double field = room * std::sqrt(double(eddies));
  for (std::size_t i = 0; i < eddies + jets; ++i) {
    const double step = room * double(i / 2), odd = i % 2 ? 1 : -1,
                 turn = 2 * pi * double(i) / std::max(double(eddies) - 1, 1.0);
    Eddy eddy = {};
    eddy.x = field * uniform(random, -0.5, 0.5);
    eddy.y = field * uniform(random, -0.5, 0.5);
    eddy.jump = any_sign(random) * std::exp(strength * normal(random));
    eddy.radius = of_power_law(random, smallest, 1, slope);
    if (pattern == 2 && i % 2 == 1) {
      Eddy const& partner = all.back();
      eddy.x = partner.x + 2.2 * partner.radius;
      eddy.y = partner.y;
      eddy.jump = -partner.jump;
      eddy.radius = partner.radius;
    } else if (pattern == 1) {
      eddy.x = step + odd * room / 4;
      eddy.y = 0.28 * room * odd;
      eddy.jump = odd;
      eddy.radius = 0.2 * room;
    } else if (pattern == 3) {
      const bool is_middle = i == 0;
      eddy.x = is_middle ? 0 : field * std::cos(turn);
      eddy.y = is_middle ? 0 : field * std::sin(turn);
      eddy.jump = is_middle ? -std::max(double(eddies) - 1, 1.0) : 1;
      eddy.radius = 1;
    }
    eddy.is_jet = i >= eddies;
    eddy.aspect = log_uniform(random, 1 / oval, oval);
    eddy.turn = any_angle(random);
    eddy.tail = is_winding ? filament * uniform(random) : 0;
    eddy.at = any_angle(random);
    eddy.top = is_deep ? 0 : random() % layers;
    eddy.bottom = is_deep ? layers : eddy.top + 1 + random() % (layers - eddy.top);
    all.push_back(eddy);
  }
  std::vector<Contour> contours;
  double sum = 0;
  for (std::size_t e = 0; e < all.size(); ++e)
    for (std::size_t layer = all[e].top; layer < all[e].bottom; ++layer)
      for (std::size_t k = 0; k < nested; ++k) {
        const double inward = std::pow(1 - gap / 2, double(k)),
                     length = all[e].is_jet ? field : all[e].radius * inward,
                     nodes = std::pow(length, even) * (1 + all[e].tail);
        contours.push_back({e, layer, inward, nodes});
        sum += nodes;
      }
  const auto depth = [&](std::size_t layer) {
    const double t = thinning * (double(layer) + 0.5) / double(layers);
    return -stretch * std::expm1(t) / std::expm1(thinning);
  };
  const auto point = [&](Contour const& contour, double t) {
    Eddy const& eddy = all[contour.eddy];
    const double z = depth(contour.layer), lean = tilt * z / stretch;
    if (eddy.is_jet) {
      const double wave = std::sin(2 * pi * modes * t + eddy.at + lean),
                   y = eddy.y + room * meander * wave + (1 - contour.inward) * room;
      return Point{field * (t - 0.5), y, z};
    }
    const double phi = 2 * pi * t, off = std::remainder(phi - eddy.at, 2 * pi) / narrow,
                 grown = 1 + lumps * std::cos(modes * phi) + eddy.tail * std::exp(-off * off),
                 angle = phi + spin * std::log(grown), r = eddy.radius * contour.inward * grown,
                 u = r * std::cos(angle) * eddy.aspect, v = r * std::sin(angle) / eddy.aspect,
                 c = std::cos(eddy.turn), s = std::sin(eddy.turn);
    return Point{eddy.x + c * u - s * v + lean * room, eddy.y + s * u + c * v, z};
  };
  const Point direction = {std::cos(view), std::sin(view), 0};
  Bodies bodies;
  std::vector<Point> nodes;
  for (auto const& contour : contours) {
    const auto count = std::size_t(std::max(4.0, double(n) * contour.nodes / sum));
    nodes.clear();
    for (std::size_t i = 0; i < count + 2; ++i)
      nodes.push_back(point(contour, (double(i) - 1) / double(count)));
    Eddy const& eddy = all[contour.eddy];
    for (std::size_t i = 1; i <= count; ++i) {
      const Point element = along(nodes[i + 1], -1, nodes[i - 1]);
      const double length = std::sqrt(dot(element, element)), error = 1 + noise * normal(random),
                   q = is_element ? dot(element, direction) : length * gap * eddy.radius;
      add(bodies, nodes[i], eddy.jump * q * error);
    }
  }
  return in_units(std::move(bodies), size, 1);
}

/// The crust of a neutron star: protons, and neutrons without charge, in balls, rods, slabs,
/// bubbles, a labyrinth, or slabs that ramps join; neutrons that drip out of them, and electrons
/// on a lattice that make all neutral; maybe with the box's images around it: for who simulates
/// nuclear pasta.
Bodies nuclear_pasta(std::size_t n, Random& random) {
  const int shape = int(random() % 6);
  const std::size_t any_images = std::array<std::size_t, 4>{1, 1, 8, 27}[random() % 4],
                    images = n < 8000 ? 1 : any_images,
                    side = images == 1   ? 1
                           : images == 8 ? 2
                                         : 3,
                    own = n / images;
  const double cells = log_uniform(random, 1, std::max(double(own) / 100, 1.1)),
               share = log_uniform(random, 0.05, 0.6), slab = log_uniform(random, 0.03, 30),
               flatness = log_uniform(random, 0.3, 3), protons = log_uniform(random, 0.03, 0.5),
               skin = some(random, 0.01, 1), drip = some(random, 1e-3, 0.1),
               wobble = some(random, 0.01, 2), slow = log_uniform(random, 0.05, 0.7),
               warmth = some(random, 1e-3, 1),
               electrons = random() % 5 > 0 ? log_uniform(random, 0.02, 0.8) : 0,
               screening = some(random, 1e-3, 0.5), neutrons = some(random, 0.01, 1),
               length = heads(random) ? 1e-15 : log_uniform(random, 0.1, 10),
               charge = heads(random) ? 1.602176634e-19 : 1.2;
  const double base = 2 * pi * std::cbrt(cells);
  const Point box = {base * std::cbrt(slab) * flatness, base * std::cbrt(slab) / flatness,
                     base / std::pow(slab, 2.0 / 3)};
  std::vector<Point> ramps(1 + random() % 6);
  for (auto& ramp : ramps)
    ramp = {box[0] * uniform(random), box[1] * uniform(random), double(any_sign(random))};
  const auto level = [&](Point const& p) {
    const double bend = wobble > 0 ? wobble * std::sin(slow * p[1] + 0.7 * slow * p[0]) : 0,
                 x = p[0], y = p[1], z = p[2] + bend, a = std::cos(x), b = std::cos(y);
    if (shape == 0) return a * b + (a + b) * std::cos(z);
    if (shape == 1) return std::cos(z) + 2 * std::cos(z / 2) * std::cos(y * std::sqrt(0.75));
    if (shape == 2) return std::cos(z);
    if (shape == 3) return -(a + b + std::cos(z));
    if (shape == 4) return gyroid(x, y, z);
    double turn = z;
    for (auto const& ramp : ramps) turn += ramp[2] * std::atan2(y - ramp[1], x - ramp[0]);
    return std::cos(turn);
  };
  std::vector<double> levels(2000);
  for (double& l : levels) {
    Point p;
    for (std::size_t d = 0; d < 3; ++d) p[d] = box[d] * uniform(random);
    l = level(p);
  }
  std::sort(levels.begin(), levels.end());
  const double limit = levels[std::size_t((1 - share) * 2000)];
  std::array<std::size_t, 3> by_length = {0, 1, 2};
  std::sort(by_length.begin(), by_length.end(),
            [&](std::size_t a, std::size_t b) { return box[a] < box[b]; });
  /// The sides of a lattice of about so many sites that fill the box.
  const auto sides_for = [&](double count) {
    double room = box[0] * box[1] * box[2], dimensions = 3;
    std::array<std::size_t, 3> sides = {};
    for (const std::size_t d : by_length) {
      const double step = std::pow(room / count, 1 / dimensions);
      sides[d] = std::max(std::size_t(box[d] / step + 0.5), std::size_t(1));
      count = std::max(count / double(sides[d]), 1.0);
      room /= box[d];
      --dimensions;
    }
    return sides;
  };
  const auto site = [&](std::array<std::size_t, 3> const& sides, std::size_t i) {
    const std::array<std::size_t, 3> at = {i % sides[0], i / sides[0] % sides[1],
                                           i / (sides[0] * sides[1])};
    Point p;
    for (std::size_t d = 0; d < 3; ++d) p[d] = box[d] * (double(at[d]) + 0.5) / double(sides[d]);
    return p;
  };
  const double kept = neutrons > 0 ? protons + neutrons * (1 - protons) : protons,
               nucleons = double(own) * (1 - electrons);
  const auto lattice = sides_for(nucleons / (share + drip * (1 - share)));
  const std::size_t count = lattice[0] * lattice[1] * lattice[2];
  const bool is_gas = lattice[by_length[0]] < 6;
  Bodies one;
  double total = 0;
  for (std::size_t i = 0; double(one.size()) < 1.3 * nucleons; ++i) {
    const bool is_free = is_gas || i >= count;
    if (is_free && double(one.size()) > 0.8 * nucleons) break;
    Point p = is_free ? Point{0, 0, 0} : site(lattice, i);
    for (std::size_t d = 0; d < 3; ++d) {
      if (is_free)
        p[d] = box[d] * uniform(random);
      else if (warmth > 0)
        p[d] += warmth * (uniform(random) - 0.5) * box[d] / double(lattice[d]);
    }
    const bool is_inside = level(p) + skin * (uniform(random) - 0.5) > limit;
    if (!is_inside && uniform(random) >= drip) continue;
    const bool is_proton = is_inside && (total == 0 || uniform(random) * kept < protons);
    add(one, p, is_proton);
    total += is_proton;
  }
  if (total == 0) add(one, {box[0] / 2, box[1] / 2, box[2] / 2}, total = 1);
  if (electrons > 0) {
    const auto cloud = sides_for(electrons * double(own));
    const std::size_t all = cloud[0] * cloud[1] * cloud[2], before = one.size();
    double sum = 0;
    for (std::size_t i = 0; i < all; ++i) {
      const Point p = site(cloud, i);
      const double q = screening > 0 ? 1 + screening * std::tanh(level(p) - limit) : 1;
      add(one, p, q);
      sum += q;
    }
    for (std::size_t i = before; i < one.size(); ++i) one.charges[i] *= -total / sum;
  }
  Bodies bodies;
  for (std::size_t image = 0; image < images; ++image)
    for (std::size_t i = 0; i < one.size(); ++i)
      bodies.add(one.positions[3 * i] + box[0] * double(image % side),
                 one.positions[3 * i + 1] + box[1] * double(image / side % side),
                 one.positions[3 * i + 2] + box[2] * double(image / (side * side)), one.charges[i]);
  return in_units(std::move(bodies), length, charge);
}

/// Blood: hollow discs, bent, round or long cells, and platelets, in rolls like coins, in rows,
/// in single file along a curved vessel, or tumbling; each with the same grid of a quadrature,
/// crowded at its poles, and a density of no mean or a little, as a layer or as two layers of
/// opposite charges that are close to each other; a wall, and dye without charge: for who solves
/// for the flow of cells.
Bodies blood_cells(std::size_t n, Random& random) {
  struct Node {
    Point at, normal;
    double weight, theta, phi;
  };
  struct Frame {
    Point centre, axis;
  };
  const bool is_double = heads(random);
  const double wall = some(random, 0.02, 0.5), dye = some(random, 0.01, 0.3);
  const std::size_t for_cells = std::size_t((1 - wall) * (1 - dye) * double(n)),
                    copies = is_double ? 2 : 1,
                    rows = std::size_t(log_uniform(
                        random, 3, std::clamp(std::sqrt(double(for_cells) / 4), 3.5, 40.0))),
                    columns = 2 * rows, per_cell = copies * rows * columns,
                    cells = std::max(for_cells / per_cell, std::size_t(1)),
                    roll = some_of(random, std::min(double(cells), 60.0));
  const int order = int(random() % 4);  // rolls, rows, single file, tumbling
  const double gap = log_uniform(random, 1e-4, 2), thin = log_uniform(random, 1e-5, 0.1),
               mean = some(random, 1e-6, 1), strong = some(random, 0.1, 4),
               rough = some(random, 1e-8, 0.1), bend = some(random, 0.05, 1),
               curve = some(random, 0.01, 0.8), rise = log_uniform(random, 0.3, 30),
               tilt = some(random, 1e-3, 1), pull = some(random, 1e-3, 30),
               size = log_uniform(random, 1e-6, 1e2);
  const bool are_alike = heads(random), is_gauss = heads(random), is_pole_first = heads(random);
  const auto rule = gauss_rule(rows);
  std::vector<std::vector<Node>> shapes(1 + random() % 4);
  for (auto& shape : shapes) {
    const bool is_round = &shape != &shapes.front() && heads(random);
    const double scale = &shape == &shapes.front() ? 1 : log_uniform(random, 0.2, 1),
                 oval = is_round ? 1 : log_uniform(random, 0.5, 2), own_bend = is_round ? 0 : bend,
                 dimple = uniform(random, 0.05, 0.4);
    const auto place = [&](double theta, double phi) {
      const double s = std::sin(theta), c = std::cos(theta), square = s * s,
                   high = is_round ? 1 : (dimple + 2 * square - 1.12 * square * square) / 2,
                   x = s * std::cos(phi) * oval, y = s * std::sin(phi) / oval;
      return Point{scale * x, scale * y, scale * (c * high + own_bend * (x * x - 0.3))};
    };
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t column = 0; column < columns; ++column) {
        const double even = pi * (double(row) + 0.5) / double(rows),
                     theta = is_gauss ? std::acos(rule[row][0]) : even,
                     phi = 2 * pi * double(column) / double(columns), h = 1e-5,
                     step = is_gauss ? rule[row][1] / std::sin(theta) : pi / double(rows);
        const Point d = along(place(theta + h, phi), -1, place(theta - h, phi)),
                    e = along(place(theta, phi + h), -1, place(theta, phi - h)), f = cross(d, e);
        const double area = std::sqrt(dot(f, f)) / (4 * h * h) * step * 2 * pi / double(columns);
        shape.push_back({place(theta, phi), unit(f), area, theta, phi});
      }
  }
  const double spacing = order == 0 ? 0.7 + gap : 2 + gap, block = std::max(spacing, 2.0 + gap);
  const auto across = std::size_t(std::ceil(std::cbrt(double(cells)))),
             rolls = (cells + roll - 1) / roll,
             lanes = std::size_t(std::ceil(std::sqrt(double(rolls))));
  const auto frame = [&](std::size_t i) {
    if (order == 0) {
      const std::size_t which = i / roll;
      const Point foot = {block * double(which % lanes), block * double(which / lanes), 0},
                  axis = unit({tilt * std::sin(double(which)), 0, 1});
      return Frame{along(foot, spacing * double(i % roll), axis), axis};
    }
    if (order == 2) {
      const double t = spacing * double(i), turns = curve * t / rise, along_it = t * (1 - curve);
      const Point axis = unit({-curve * std::sin(turns), curve * std::cos(turns), 1 - curve});
      return Frame{{rise * std::cos(turns), rise * std::sin(turns), along_it}, axis};
    }
    const Point at = {spacing * double(i % across), spacing * double(i / across % across),
                      spacing * double(i / (across * across))};
    return Frame{at, order == 1 ? Point{0, 0, 1} : on_sphere(random)};
  };
  Bodies bodies;
  Point low = {1e300, 1e300, 1e300}, high = {-1e300, -1e300, -1e300};
  std::array<double, 6> modes = {};
  for (std::size_t i = 0; i < cells; ++i) {
    const Frame own = frame(i);
    const auto sides = normal_to(own.axis);
    const auto turned = [&](Point const& p) {
      return along(along(along({0, 0, 0}, p[0], sides[0]), p[1], sides[1]), p[2], own.axis);
    };
    if (i == 0 || !are_alike)
      for (double& mode : modes) mode = normal(random);
    const double strength = std::exp(strong * (are_alike ? 0 : normal(random)));
    for (std::size_t d = 0; d < 3; ++d) {
      low[d] = std::min(low[d], own.centre[d] - 2);
      high[d] = std::max(high[d], own.centre[d] + 2);
    }
    auto const& shape = shapes[random() % shapes.size()];
    double sum = 0, areas = 0;
    std::vector<double> values;
    for (auto const& node : shape) {
      const double s = std::sin(node.theta), c = std::cos(node.theta), phi = node.phi,
                   wave = modes[0] * c + s * (modes[1] * std::cos(phi) + modes[2] * std::sin(phi)) +
                          s * s * (modes[3] * std::cos(2 * phi) + modes[4] * c) +
                          modes[5] * std::cos(3 * node.theta) + rough * normal(random);
      values.push_back(wave);
      sum += wave * node.weight;
      areas += node.weight;
    }
    for (std::size_t k = 0; k < shape.size(); ++k) {
      Node const& node = shape[is_pole_first ? k : shape.size() - 1 - k];
      const double value = values[is_pole_first ? k : shape.size() - 1 - k],
                   q = strength * node.weight * (value - sum / areas + mean);
      const Point at = along(own.centre, 1, turned(node.at)), out = turned(node.normal);
      add(bodies, at, is_double ? q / thin : q);
      if (is_double) add(bodies, along(at, thin, out), -q / thin);
    }
  }
  const auto panels = std::size_t(wall * double(n)), tracers = std::size_t(dye * double(n));
  const double radius = std::hypot(high[0] - low[0], high[1] - low[1]) / 2, tall = high[2] - low[2];
  const auto rings = std::size_t(
      std::clamp(std::sqrt(double(panels) * tall / (2 * pi * radius)), 1.0, double(panels) + 1));
  for (std::size_t ring = 0; ring < rings; ++ring) {
    const std::size_t count = share_of(panels, ring, rings);
    const double t = (double(ring) + 0.5) / double(rings);
    for (std::size_t i = 0; i < count; ++i) {
      const double phi = 2 * pi * double(i) / double(count), x = (low[0] + high[0]) / 2,
                   y = (low[1] + high[1]) / 2;
      const Point p = {x + radius * std::cos(phi), y + radius * std::sin(phi), low[2] + t * tall};
      add(bodies, p, pull * (1 - 2 * t) * 2 * pi * radius * tall / double(panels));
    }
  }
  for (std::size_t i = 0; i < tracers; ++i) {
    Point p;
    for (std::size_t d = 0; d < 3; ++d) p[d] = uniform(random, low[d], high[d]);
    add(bodies, p, 0);
  }
  return in_units(std::move(bodies), size, 1);
}

/// A part that a laser melts out of powder, layer after layer: the heat of each pulse along
/// straight tracks that turn from one layer to the next or from island to island, along the
/// borders, and again where a layer is melted twice; solid, of a labyrinth's walls or of struts;
/// older heat has faded over many decades; powder around it: for who predicts the warping of
/// printed metal.
Bodies printed_part(std::size_t n, Random& random) {
  const int power = 1 << random() % 3, any_inner = int(random() % 3);
  const bool is_remelted = random() % 4 == 0, has_islands = heads(random);
  const double turn = std::array<double, 4>{0, pi / 2, 67 * pi / 180, 1}[random() % 4],
               taper = some(random, 0.01, 0.95), bore = some(random, 0.05, 0.8),
               periods = log_uniform(random, 1, 30), wall = uniform(random, 0.1, 1),
               strut = uniform(random, 0.7, 2.5), ratio = log_uniform(random, 0.03, 3),
               height = log_uniform(random, 0.01, 10), island = log_uniform(random, 0.05, 1),
               fading = some(random, 0.1, 25), ends = some(random, 0.1, 10),
               uneven = some(random, 1e-3, 2), border = log_uniform(random, 0.1, 3),
               deep = some(random, 0.05, 5), keyholes = some(random, 0.01, 1),
               warp = some(random, 1e-5, 0.05), powder = some(random, 1e-3, 0.3),
               dust = log_uniform(random, 1e-6, 1), shift = some(random, 0.1, 200),
               size = log_uniform(random, 1e-3, 1e3);
  const std::size_t passes = random() % 4,
                    layers = some_of(random, std::clamp(double(n) / 100, 2.0, 3e3));
  int inner = any_inner;
  const auto of_power = [&](double x) {
    const double square = x * x;
    return power == 1 ? std::abs(x) : power == 2 ? square : square * square;
  };
  const auto is_inside = [&](double x, double y, double z) {  // z from 0 to 1
    const double wide = 1 - taper * z, a = pi * periods * x, b = pi * periods * y;
    if (of_power(x / wide) + of_power(y / wide) > 1) return false;
    if (x * x + y * y < bore * bore * wide * wide) return false;
    if (inner == 0) return true;
    if (inner == 1) return std::abs(gyroid(a, b, pi * periods * height * z)) < wall;
    return std::hypot(std::remainder(a, 2 * pi), std::remainder(b, 2 * pi)) < strut;
  };
  const auto filled = [&] {
    int hits = 0;
    for (int i = 0; i < 4000; ++i) {
      const double x = uniform(random, -1, 1), y = uniform(random, -1, 1);
      hits += is_inside(x, y, uniform(random));
    }
    return hits / 4000.0;
  };
  double share = filled();
  if (share < 0.05) {
    inner = 0;
    share = std::max(filled(), 0.01);
  }
  const double points = (1 - powder) * double(n) * (is_remelted ? 0.5 : 1),
               hatch = std::sqrt(4 * share * double(layers) / (points * ratio)),
               pitch = hatch * ratio, rise = 1 / double(layers);
  const std::size_t grains = std::size_t(powder * double(n)), most = 2 * n - n / 10 - grains;
  Bodies bodies;
  const auto pulse = [&](double x, double y, double z, double heat) {
    const double age = fading * (1 - z), below = uniform(random) < keyholes ? deep * rise : 0,
                 q = heat * std::exp(uneven * normal(random) - age),
                 at = z - (below > 0 ? below * exponential(random) : 0);
    const Point p = {x + shift, y - shift / 3, height * at + warp * (x * x + y * y)};
    for (int time = 0; time < (is_remelted ? 2 : 1); ++time)
      if (bodies.size() < most) add(bodies, p, q);
  };
  const double reach = std::numbers::sqrt2;
  const auto tracks = std::size_t(2 * reach / hatch) + 1,
             steps = std::size_t(2 * reach / pitch) + 1;
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const double z = (double(layer) + 0.5) * rise, c = std::cos(turn * double(layer)),
                 s = std::sin(turn * double(layer));
    for (int way = 0; way < (has_islands ? 2 : 1); ++way)
      for (std::size_t track = 0; track < tracks; ++track) {
        bool was_inside = false;
        for (std::size_t step = 0; step < steps; ++step) {
          double u = pitch * (double(step) + 0.5) - reach,
                 v = hatch * (double(track) + 0.5) - reach;
          if (way == 1) std::swap(u, v);
          const double x = c * u - s * v, y = s * u + c * v;
          bool is_own = true;
          if (has_islands) {
            const int parity = int(std::floor(u / island)) + int(std::floor(v / island));
            is_own = (parity & 1) == way;
          }
          const bool is_melted = is_own && is_inside(x, y, z);
          if (is_melted) pulse(x, y, z, was_inside ? 1 : 1 + ends);
          was_inside = is_melted;
        }
      }
    for (std::size_t pass = 0; pass < passes; ++pass) {
      const double wide = (1 - taper * z) * (1 - hatch * double(pass) / 2);
      const auto count = std::size_t(std::max(6 * wide / pitch, 1.0));
      for (std::size_t i = 0; i < count && wide > 0; ++i) {
        const double phi = 2 * pi * double(i) / double(count), x = std::cos(phi), y = std::sin(phi),
                     r = wide / std::pow(of_power(x) + of_power(y), 1.0 / power);
        pulse(r * x, r * y, z, border);
      }
    }
  }
  const std::size_t fewest = std::max(bodies.size() + grains, n * 6 / 10);
  while (bodies.size() < fewest) {
    const double x = uniform(random, -1.5, 1.5) + shift, y = uniform(random, -1.5, 1.5) - shift / 3,
                 z = heads(random) ? height : height * uniform(random);
    bodies.add(x, y, z, dust * std::pow(of_power_law(random, 0.1, 1, 3), 3));
  }
  const double total =
      std::max(std::accumulate(bodies.charges.begin(), bodies.charges.end(), 0.0), 1e-30);
  return in_units(std::move(bodies), size, double(n) / total);
}

/// An electrospray of one nozzle or of a row or a field of them: the charge on a liquid cone,
/// dense at its tip, a thin jet, drops at even spaces that spread out, some of which burst into
/// rows of much smaller ones that burst again, ions and neutral vapour, and what is gathered on
/// the plate: for who builds sources of ions for mass spectrometers, or thrusters.
Bodies electrospray(std::size_t n, Random& random) {
  struct Drop {
    Point at;
    double diameter, charge;
    int generation;
  };
  const std::size_t nozzles = heads(random) ? 1 : some_of(random, std::min(double(n) / 200, 2e3));
  const bool are_same = heads(random), is_row = heads(random), is_even = heads(random);
  const double pitch = log_uniform(random, 0.3, 30), half_angle = uniform(random, 0.4, 1.2),
               grading = uniform(random, 0.5, 1.2), thin = log_uniform(random, 3e-4, 0.02),
               length = log_uniform(random, 0.1, 10), reach = log_uniform(random, 1, 1e3),
               opening = log_uniform(random, 0.01, 1), spread = some(random, 0.01, 1),
               bursts = some(random, 0.01, 0.6), lost = uniform(random, 0.05, 0.6),
               smaller = log_uniform(random, 0.05, 0.4), litter = log_uniform(random, 1, 20),
               cloud = some(random, 0.01, 0.6), ion = log_uniform(random, 1e-9, 1e-2),
               vapour = some(random, 0.01, 0.5), swing = some(random, 0.1, 30),
               crowding = uniform(random, 0.3, 3), size = log_uniform(random, 1e-6, 1e2);
  std::array<double, 4> shares;  // the cone, the jet, the drops, the plate
  for (double& share : shares) share = log_uniform(random, 1e-2, 1);
  const double all = shares[0] + shares[1] + shares[2] + shares[3];
  std::array<double, 4> heaviness;
  for (double& each : heaviness) each = log_uniform(random, 1e-2, 1e2);
  Bodies bodies;
  const auto spray = [&](std::size_t count) {
    std::array<std::size_t, 4> counts;
    for (std::size_t k = 0; k < 4; ++k) counts[k] = std::size_t(double(count) * shares[k] / all);
    counts[2] = count - counts[0] - counts[1] - counts[3];
    for (std::size_t i = 0; i < counts[0]; ++i) {
      const double t = (double(i) + 0.5) / double(counts[0]), s = std::pow(t, grading),
                   phi = golden_angle * double(i), r = s * std::sin(half_angle),
                   q = std::sqrt(s) * grading * std::pow(t, grading - 1);
      bodies.add(r * std::cos(phi), r * std::sin(phi), s * std::cos(half_angle), q * heaviness[0]);
    }
    for (std::size_t i = 0; i < counts[1]; ++i) {
      const double t = (double(i) + 0.5) / double(counts[1]), phi = golden_angle * double(i),
                   r = thin * (1 + 0.8 * t * t * std::sin(40 * pi * t));
      bodies.add(r * std::cos(phi), r * std::sin(phi), -length * t, heaviness[1] * r / thin);
    }
    std::vector<Drop> drops;
    for (std::size_t i = 0, made = 0; i < counts[2]; ++i) {
      if (uniform(random) < vapour) {
        const double down = reach * uniform(random);
        add(bodies, around(random, {0, 0, -length - down}, opening * down + thin), 0);
        continue;
      }
      if (drops.empty()) {
        const double u = is_even ? double(i + 1) / double(counts[2] + 1) : uniform(random),
                     down = reach * std::pow(u, crowding), whirl = swing * down / reach,
                     wide = opening * down * (swing > 0 ? 0.1 : 1) + thin / 10,
                     aside = swing > 0 ? opening * down : 0, old = double(made++ % 5 == 0),
                     diameter = thin * std::exp(spread * normal(random)) * (old > 0 ? 0.3 : 2);
        const Point on_axis = {aside * std::cos(whirl), aside * std::sin(whirl), -length - down};
        const double q = std::pow(diameter / thin, 1.5) * uniform(random, 0.5, 1);
        drops.push_back({around(random, on_axis, wide), diameter, q, 0});
      }
      const Drop drop = drops.back();
      const Point direction = on_sphere(random);
      if (drop.generation == 0 && uniform(random) < cloud) {
        const double away = drop.diameter * of_power_law(random, 1, 100, 2);
        add(bodies, along(drop.at, away, direction), ion * heaviness[2]);
        continue;
      }
      drops.pop_back();
      double kept = drop.charge;
      if (drop.generation < 3 && uniform(random) < bursts) {
        const auto parts = 1 + std::size_t(litter * exponential(random));
        const double diameter = smaller * drop.diameter, share = lost * drop.charge / double(parts);
        kept -= lost * drop.charge;
        for (std::size_t part = 0; part < parts; ++part) {
          const double away = drop.diameter + 3 * diameter * double(part);
          drops.push_back({along(drop.at, away, direction), diameter, share, drop.generation + 1});
        }
      }
      add(bodies, drop.at, kept * heaviness[2]);
    }
    for (std::size_t i = 0; i < counts[3]; ++i) {
      const double r = opening * reach * std::sqrt((double(i) + 0.5) / double(counts[3])),
                   phi = golden_angle * double(i), wide = opening * reach,
                   q = heaviness[3] * std::exp(-2 * r * r / (wide * wide));
      bodies.add(r * std::cos(phi), r * std::sin(phi), -1.05 * (length + reach), q);
    }
  };
  const auto columns = is_row ? nozzles : std::size_t(std::ceil(std::sqrt(double(nozzles))));
  const std::size_t each = n / nozzles;
  for (std::size_t nozzle = 0; nozzle < nozzles; ++nozzle) {
    const std::size_t before = bodies.size();
    const double i = double(nozzle % columns), j = double(nozzle / columns),
                 x = pitch * (i + std::fmod(j, 2) / 2), y = pitch * j * std::sqrt(0.75);
    if (nozzle == 0 || !are_same)
      spray(each);
    else  // the first one is at the origin
      for (std::size_t k = 0; k < each; ++k)
        bodies.add(bodies.positions[3 * k], bodies.positions[3 * k + 1],
                   bodies.positions[3 * k + 2], bodies.charges[k]);
    for (std::size_t k = before; k < bodies.size(); ++k) {
      bodies.positions[3 * k] += x;
      bodies.positions[3 * k + 1] += y;
    }
  }
  double total = 0;
  for (const double q : bodies.charges) total += q;
  return in_units(std::move(bodies), size, double(n) / total);
}

/// Pictures that are printed as dots by their electrostatic attraction: a charge at each pixel by
/// its darkness in a few or many levels, none where the paper is white, and the dots of the other
/// sign, of one or of three sizes, at the pixels or close to them; inks at the same pixels or
/// above each other, frames of a film, flat or bent round a cylinder or a ball: for who makes
/// halftones and stipples.
Bodies halftone(std::size_t n, Random& random) {
  struct Stain {
    double x, y, radius, darkness, aspect, turn;
    int shape;
  };
  const int bend = int(random() % 3);
  const double gap = some(random, 1e-3, 30), many = std::min(double(n) / 300, gap > 0 ? 60.0 : 4.0),
               dots = log_uniform(random, 0.01, 0.7), ratio = log_uniform(random, 0.05, 20),
               aspect = heads(random) ? 1 : log_uniform(random, 0.25, 4),
               paper = some(random, 1e-3, 0.3), margin = some(random, 0.01, 0.4),
               fade = some(random, 0.1, 1), grain = some(random, 1e-3, 0.3),
               gamma = log_uniform(random, 0.4, 5), jitter = some(random, 1e-3, 2),
               balance = some(random, 1e-6, 0.3), speed = some(random, 1e-3, 0.1),
               size = log_uniform(random, 1e-5, 1e2), from_corner = some(random, 0.1, 100);
  const std::size_t sheets = heads(random) ? 1 : some_of(random, many),
                    per_sheet = std::size_t((1 - dots) * double(n) / double(sheets)),
                    columns = std::size_t(std::clamp(std::sqrt(double(per_sheet) * ratio), 4.0,
                                                     double(per_sheet) / 4)),
                    rows = per_sheet / columns;
  const bool are_sizes = heads(random);
  const double levels = std::array<double, 4>{1, 15, 255, 65535}[random() % 4],
               radius = double(columns) * log_uniform(random, 0.17, 3);
  std::vector<Stain> stains(1 + random() % 15);
  for (auto& stain : stains) {
    const double x = uniform(random), y = uniform(random), r = log_uniform(random, 0.01, 0.5),
                 darkness = uniform(random, -0.5, 1), oval = log_uniform(random, 0.2, 5),
                 turn = heads(random) ? 0 : any_angle(random);
    stain = {x, y, r, darkness, oval, turn, int(random() % 4)};
  }
  stains.front().darkness = 1;
  const auto darkness = [&](double x, double y, double sheet) {  // x and y from 0 to 1
    if (std::min({x, y, 1 - x, 1 - y}) < margin) return 0.0;
    double value = paper + fade * x * y;
    for (auto const& stain : stains) {
      const double dx = x - stain.x - speed * sheet, dy = y - stain.y, c = std::cos(stain.turn),
                   s = std::sin(stain.turn), u = (c * dx + s * dy) / (stain.radius * stain.aspect),
                   v = (c * dy - s * dx) / stain.radius * stain.aspect, square = u * u + v * v;
      if (stain.shape == 0 && square < 1) value += stain.darkness;
      if (stain.shape == 1) value += stain.darkness * std::exp(-square);
      if (stain.shape == 2 && std::abs(u) < 1 && std::abs(v) < 1) value += stain.darkness;
      if (stain.shape == 3 && square < 1 && std::fmod(std::abs(u) * 5, 1.0) < 0.5)
        value += stain.darkness;
    }
    if (grain > 0) value *= 1 + grain * normal(random);
    return std::round(std::pow(std::clamp(value, 0.0, 1.0), gamma) * levels) / levels;
  };
  const auto place = [&](double x, double y, double sheet) {
    const Point p = {x, y * aspect, gap * sheet};
    if (bend == 0) return Point{p[0] + from_corner, p[1] + from_corner, p[2]};
    const double a = (p[0] - double(columns) / 2) / radius, r = radius + p[2],
                 tall = aspect * double(rows), wide = std::max(tall, double(columns));
    if (bend == 1) return Point{r * std::sin(a), p[1], r * std::cos(a)};
    return on_globe({p[0] - double(columns) / 2, p[1] - tall / 2, p[2]},
                    2 * radius / double(columns) * wide);
  };
  Bodies bodies;
  double total = 0;
  for (std::size_t sheet = 0; sheet < sheets; ++sheet)
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t column = 0; column < columns; ++column) {
        const double x = double(column) + 0.5, y = double(row) + 0.5,
                     q = darkness(x / double(columns), y / double(rows), double(sheet));
        add(bodies, place(x, y, double(sheet)), q);
        total += q;
      }
  const std::size_t pixels = bodies.size(), left = n - std::min(pixels, n - 1);
  if (total == 0) total = bodies.charges[pixels / 2] = 1;
  const double one_dot = total / double(left);
  double ink = 0, next = one_dot * uniform(random);
  for (std::size_t i = 0; i < pixels; ++i) {
    const std::size_t sheet = i / (rows * columns), row = i / columns % rows, k = i % columns,
                      column = row % 2 ? columns - 1 - k : k;  // there and back
    ink += bodies.charges[i - k + column];
    while (ink >= next && bodies.size() < 2 * n) {
      const double drop = are_sizes ? one_dot * double(1 + random() % 3) / 2 : one_dot,
                   x = double(column) + 0.5 + jitter * (uniform(random) - 0.5),
                   y = double(row) + 0.5 + jitter * (uniform(random) - 0.5);
      add(bodies, place(x, y, double(sheet)), -drop * (1 + balance));
      next += drop;
    }
  }
  return in_units(std::move(bodies), size, 1);
}

}  // namespace

/// Kinds of fields that a guest brought; a kind keeps its place.
std::vector<Kind> const& of_guests() {
  static const std::vector<Kind> kinds = {
      {"population", population, false, false},      {"ocean_eddies", ocean_eddies, true, false},
      {"nuclear_pasta", nuclear_pasta, true, false}, {"blood_cells", blood_cells, true, false},
      {"printed_part", printed_part, false, false},  {"electrospray", electrospray, false, false},
      {"halftone", halftone, true, false},
  };
  return kinds;
}

}  // namespace kinds
