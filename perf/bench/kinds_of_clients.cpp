// SPDX-License-Identifier: BSD-3-Clause
// Kinds of bodies by a client, who was not told how a tolerance is held: sparse grids, made-up
// sources, air showers, fitted surfaces and parallaxes. Each draws its own shape, ratios and noise.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "kinds_of_bodies.hpp"
#include "random_points.hpp"

namespace kinds {

namespace {

Point place_of(Bodies const& bodies, std::size_t i) {
  return {bodies.positions[3 * i], bodies.positions[3 * i + 1], bodies.positions[3 * i + 2]};
}

/// The i-th of so many evenly spread directions, from below.
Point of_sunflower(std::size_t i, std::size_t count) {
  const Point seed = seed_of(i, count);
  return {seed[0], seed[1], -seed[2]};
}

/// The longest side of the box around all.
double longest_side(Bodies const& bodies) {
  double longest = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    double low = bodies.positions[d], high = low;
    for (std::size_t i = d; i < bodies.positions.size(); i += 3) {
      low = std::min(low, bodies.positions[i]);
      high = std::max(high, bodies.positions[i]);
    }
    longest = std::max(longest, high - low);
  }
  return longest;
}

/// The same bodies, each behind a mirror through the origin, as long as there are less than n.
void mirror(Bodies& bodies, std::size_t n, std::size_t axis, double sign) {
  for (std::size_t i = 0, own = bodies.size(); i < own && bodies.size() < n; ++i) {
    Point p = place_of(bodies, i);
    p[axis] = -p[axis];
    add(bodies, p, sign * bodies.charges[i]);
  }
}

void shuffle(Bodies& bodies, Random& random) {
  for (std::size_t i = bodies.size() - 1; i > 0; --i) {
    const std::size_t j = random() % (i + 1);
    std::swap(bodies.charges[i], bodies.charges[j]);
    for (std::size_t d = 0; d < 3; ++d)
      std::swap(bodies.positions[3 * i + d], bodies.positions[3 * j + d]);
  }
}

/// Zero where a charge is too small to count among the others.
void drop_dust(Bodies& bodies) {
  double largest = 0;
  for (double q : bodies.charges) largest = std::max(largest, std::abs(q));
  for (double& q : bodies.charges)
    if (std::abs(q) < 1.1e-12 * largest) q = 0;
}

/// The last body moves aside where all are at one place, and has a charge where none has one.
Bodies with_something(Bodies bodies) {
  double farthest = 0;
  for (double x : bodies.positions) farthest = std::max(farthest, std::abs(x));
  if (!(longest_side(bodies) > 0)) bodies.positions.back() += farthest > 0 ? farthest : 1;
  const auto is_zero = [](double q) { return q == 0; };
  if (std::all_of(bodies.charges.begin(), bodies.charges.end(), is_zero)) bodies.charges.back() = 1;
  return bodies;
}

/// As a client hands them over: in units of its own, in any order, far from the origin or not, and
/// with as many bits as are kept of a box's side, or with those of a float.
Bodies handed_over(Bodies bodies, Random& random, int fewest_bits) {
  constexpr int most_bits = 40;
  const int some_bits = fewest_bits + int(random() % std::size_t(most_bits - fewest_bits)),
            bits = heads(random) ? some_bits : most_bits;
  const double away = some(random, 0.1, 1e4), size = log_uniform(random, 1e-9, 1e9),
               unit = heads(random) ? 1 : log_uniform(random, 1e-19, 1e12);
  const bool is_float = random() % 4 == 0, is_mixed = heads(random);
  const Point offset = on_sphere(random, is_float ? std::min(away, 10.0) : away);
  drop_dust(bodies);
  // Far from the origin there are less bits.
  const double side = longest_side(bodies),
               lost = std::max(std::ceil(std::log2(away + 1e-9)) - 6, 0.0),
               step = std::exp2(lost - bits);
  if (side > 0) bodies = in_units(std::move(bodies), 1 / side, 1);
  for (std::size_t i = 0; i < bodies.positions.size(); ++i) {
    const double x = rounded(bodies.positions[i], step) + rounded(offset[i % 3], step);
    bodies.positions[i] = is_float ? double(float(x)) : x;
  }
  if (is_mixed) shuffle(bodies, random);
  return with_something(in_units(std::move(bodies), size, unit));
}

// Sparse grids.

/// A rule of quadrature from -1 to 1, whose weights have a sum of 1.
struct Rule {
  std::vector<double> nodes, weights;
};

enum Family { even, cosines, tanh_sinh, gauss, any_family };

constexpr int most_levels = 21;

double nodes_of_level(int family, int level) {
  if (level == 0) return 1;
  return family == gauss ? 2 * level + 1 : std::exp2(level) + 1;
}

/// A root of Legendre's polynomial of a degree, and the weight that Gauss gave to it.
std::pair<double, double> root_of_legendre(int i, int degree) {
  double x = -std::cos(pi * (i + 0.75) / (degree + 0.5)), slope = 1;
  for (int iteration = 0; iteration < 8; ++iteration) {
    double before = 1, p = x;
    for (int k = 2; k <= degree; ++k)
      before = std::exchange(p, ((2 * k - 1) * x * p - (k - 1) * before) / k);
    slope = degree * (x * p - before) / (x * x - 1);
    x -= p / slope;
  }
  return {x, 1 / ((1 - x * x) * slope * slope)};
}

/// The nodes of a level are among those of the next, except for those of Gauss.
Rule rule_of(int family, int level, double reach) {
  if (level == 0) return {{0}, {1}};
  const int count = int(nodes_of_level(family, level));
  Rule rule;
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    const double t = 2.0 * i / (count - 1) - 1, s = pi / 2 * std::sinh(reach * t);
    double x = t, w = i == 0 || i + 1 == count ? 0.5 : 1;
    if (family == cosines) std::tie(x, w) = std::pair{std::sin(pi / 2 * t), std::cos(pi / 2 * t)};
    if (family == tanh_sinh)
      std::tie(x, w) = std::pair{std::tanh(s), std::cosh(reach * t) / std::pow(std::cosh(s), 2)};
    if (family == gauss) std::tie(x, w) = root_of_legendre(i, count);
    rule.nodes.push_back(x);
    rule.weights.push_back(w);
    sum += w;
  }
  for (double& w : rule.weights) w /= sum;
  return rule;
}

/// Levels of three parameters that are seen, and of one that is not.
using Levels = std::array<int, 4>;

struct Grid {
  Levels levels;
  int coefficient;
};

/// Which products of rules are part of a sparse grid: those that do not cost too much.
struct Budget {
  Levels families;
  std::array<double, 4> costs;
  double most;

  double cost(Levels const& levels) const {
    double sum = 0;
    for (std::size_t d = 0; d < 4; ++d) sum += costs[d] * levels[d];
    return sum;
  }
  bool has(Levels const& levels) const {
    return cost(levels) <= most && *std::max_element(levels.begin(), levels.end()) <= most_levels;
  }
  /// By inclusion and exclusion.
  int coefficient(Levels const& levels) const {
    int sum = 0;
    for (unsigned next = 0; next < 16; ++next) {
      Levels higher = levels;
      for (std::size_t d = 0; d < 4; ++d) higher[d] += int(next >> d & 1);
      if (has(higher)) sum += std::popcount(next) % 2 ? -1 : 1;
    }
    return sum;
  }
  /// Those whose coefficient is not zero; none where they have too many nodes.
  std::vector<Grid> grids(double most_nodes) const {
    std::vector<Grid> found;
    double nodes = 0;
    Levels k = {};
    for (k[0] = 0; has({k[0], 0, 0, 0}); ++k[0])
      for (k[1] = 0; has({k[0], k[1], 0, 0}); ++k[1])
        for (k[2] = 0; has({k[0], k[1], k[2], 0}); ++k[2])
          for (k[3] = 0; has(k); ++k[3]) {
            const int c = coefficient(k);
            if (c == 0) continue;
            double own = 1;
            for (std::size_t d = 0; d < 4; ++d) own *= nodes_of_level(families[d], k[d]);
            nodes += own;
            if (nodes > most_nodes) return {};
            found.push_back({k, c});
          }
    return found;
  }
};

/// The largest sparse grid that has not more nodes.
std::vector<Grid> largest_sparse_grid(Budget budget, double most_nodes) {
  std::vector<Grid> best = {{{0, 0, 0, 0}, 1}};
  for (budget.most = 1; budget.most <= 3 * most_levels; budget.most += 0.5) {
    auto larger = budget.grids(most_nodes);
    if (larger.empty()) break;
    best = std::move(larger);
  }
  return best;
}

/// Bodies at exactly one place become one.
Bodies pooled(Bodies const& bodies) {
  std::vector<std::pair<Point, double>> all;
  all.reserve(bodies.size());
  for (std::size_t i = 0; i < bodies.size(); ++i)
    all.push_back({place_of(bodies, i), bodies.charges[i]});
  std::stable_sort(all.begin(), all.end(),
                   [](auto const& a, auto const& b) { return a.first < b.first; });
  Bodies sums;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i > 0 && all[i].first == all[i - 1].first)
      sums.charges.back() += all[i].second;
    else
      add(sums, all[i].first, all[i].second);
  return sums;
}

/// All nodes of all products of rules, with those of the parameter that is not seen at one place.
Bodies nodes_of(std::vector<Grid> const& grids, Levels const& families, double reach) {
  Bodies bodies;
  for (auto const& grid : grids) {
    std::array<Rule, 4> rules;
    for (std::size_t d = 0; d < 4; ++d) rules[d] = rule_of(families[d], grid.levels[d], reach);
    auto const& [x, y, z, hidden] = rules;
    for (std::size_t i = 0; i < x.nodes.size(); ++i)
      for (std::size_t j = 0; j < y.nodes.size(); ++j)
        for (std::size_t k = 0; k < z.nodes.size(); ++k) {
          const double q = grid.coefficient * x.weights[i] * y.weights[j] * z.weights[k];
          for (double w : hidden.weights) bodies.add(x.nodes[i], y.nodes[j], z.nodes[k], q * w);
        }
  }
  return bodies;
}

/// The nodes of sparse grids, which are sums of products of rules with coefficients of both signs:
/// trapezoids, cosines that crowd at the ends, the rule of tanh and sinh that crowds there much
/// more, or Gauss; with as many levels for each parameter as it matters, maybe a parameter that is
/// not seen, so that many nodes are at one place; pooled or not; side by side with common faces;
/// the integrand is even, a peak or a wave; and samples by chance or of a lattice that the rule is
/// compared with: for who integrates over uncertain parameters.
Bodies sparse_grid(std::size_t n, Random& random) {
  const bool has_hidden = random() % 3 == 0, is_pooled = heads(random), is_of_one = heads(random),
             is_lattice = heads(random), is_wave = heads(random);
  const int family = int(random() % any_family);
  Budget budget = {};
  for (std::size_t d = 0; d < 4; ++d) {
    budget.families[d] = is_of_one ? family : int(random() % any_family);
    budget.costs[d] = heads(random) ? 1 : uniform(random, 1, 4);
  }
  if (!has_hidden) budget.costs[3] = 1e9;
  const double target = log_uniform(random, std::min(double(n), 30.0), double(n)),
               reach = uniform(random, 1.5, 2.8), peak = some(random, 0.05, 1),
               wave = some(random, 1, 300), opposed = heads(random) ? -1 : 1;
  Point sides = {1, 1, 1};
  for (double& side : sides)
    if (heads(random)) side = log_uniform(random, 1e-3, 1);
  if (random() % 8 == 0) sides[random() % 2 + 1] = 0;
  const Point middle = along({-1, -1, -1}, 2, in_cube(random)), heading = on_sphere(random, wave);
  Bodies rule = nodes_of(largest_sparse_grid(budget, target), budget.families, reach);
  if (is_pooled) rule = pooled(rule);
  const std::size_t panels = std::max(n / rule.size(), std::size_t(1)),
                    row = std::size_t(std::ceil(std::cbrt(double(panels))));
  const auto integrand = [&](Point const& p) {
    if (is_wave) return wave > 0 ? std::cos(dot(heading, p)) : 1.0;
    const Point r = along(p, -1, middle);
    return peak > 0 ? 1 / (1 + dot(r, r) / (peak * peak)) : 1.0;
  };
  Bodies bodies;
  double total = 0;
  const auto put = [&](Point const& p, double q) {
    bodies.add(sides[0] * p[0], sides[1] * p[1], sides[2] * p[2], q);
    total += q;
  };
  for (std::size_t panel = 0; panel < panels; ++panel) {
    const Point corner = {double(panel % row), double(panel / row % row),
                          double(panel / row / row)};
    for (std::size_t i = 0; i < rule.size() && bodies.size() < n; ++i) {
      Point p = along(place_of(rule, i), 2, corner);
      for (double& x : p) x = (x + 1) / double(row) - 1;
      put(p, rule.charges[i] * integrand(p));
    }
  }
  const std::size_t samples = n - bodies.size(), factor = random() % (samples + 1);
  const double each = opposed * total / double(std::max(samples, std::size_t(1)));
  double second = 0, third = 0;
  for (std::size_t i = 0; i < samples; ++i) {
    const double t = double(i) / double(samples), step = double(factor) / double(samples);
    second = std::fmod(second + step, 1);
    third = std::fmod(third + step * double(factor), 1);
    put(along({-1, -1, -1}, 2, is_lattice ? Point{t, second, third} : in_cube(random)), each);
  }
  return handed_over(std::move(bodies), random, 20);
}

// Fictitious sources.

/// A sum of waves over directions, which grow with their number.
struct Waves {
  struct Wave {
    Point vector;
    double phase, amplitude;
  };
  std::vector<Wave> waves;

  Waves(Random& random, std::size_t count, double shortest, double growth) {
    for (std::size_t j = 0; j < count; ++j) {
      const double t = double(j + 1) / double(count);
      waves.push_back({on_sphere(random, shortest * t), any_angle(random), std::pow(growth, t)});
    }
  }
  double at(Point const& p) const {
    double sum = 0;
    for (auto const& wave : waves)
      sum += wave.amplitude * std::cos(dot(wave.vector, p) + wave.phase);
    return sum;
  }
};

/// How the sources of all objects of one problem are made.
struct Solver {
  std::size_t poles;             ///< on each ray from an edge
  double nearest, farthest;      ///< of those poles to the edge
  double exponent, taper, wave;  ///< of their charges, their distances and along the edge
  double away, bumps, order;     ///< where the sources of smooth objects are
  double alternating, growth;    ///< of what the solution leaves undetermined
  bool has_images, are_crowded, has_signs;
};

/// Poles that crowd exponentially towards the twelve edges of a brick, as many for each edge.
void add_edges(Bodies& bodies, Random& random, Solver const& solver, Point const& centre,
               Point const& half, std::size_t stations) {
  const double phase = any_angle(random);
  for (std::size_t edge = 0; edge < 12; ++edge) {
    const std::size_t d = edge / 4, e = (d + 1) % 3, f = (d + 2) % 3;
    const double one = edge & 1 ? 1 : -1, other = edge & 2 ? 1 : -1;
    for (std::size_t station = 0; station < stations; ++station) {
      const double u = (2 * double(station) + 1) / double(stations) - 1,
                   t = solver.are_crowded ? std::sin(pi / 2 * u) : u,
                   strength = std::cos(solver.wave * t + phase);
      for (std::size_t k = 0; k < solver.poles; ++k) {
        const double s = std::pow((double(k) + 1) / double(solver.poles), solver.taper),
                     distance = solver.nearest * std::pow(solver.farthest / solver.nearest, s),
                     sign = solver.has_signs && k % 2 ? -1 : 1;
        Point p = centre;
        p[d] += half[d] * t;
        p[e] += one * (half[e] + half[d] * distance);
        p[f] += other * (half[f] + half[d] * distance);
        add(bodies, p, sign * strength * std::pow(distance, solver.exponent));
      }
    }
  }
}

/// Sources on a surface inside or outside of a smooth object, maybe with images in a sphere that
/// make its potential zero.
void add_smooth(Bodies& bodies, Random& random, Solver const& solver, Point const& centre,
                double radius, std::size_t count) {
  const double shortest = std::sqrt(double(count)) * uniform(random, 0.05, 2);
  const Waves waves(random, 1 + random() % 6, shortest, solver.growth);
  const Point axis = on_sphere(random, solver.order);
  const std::size_t until = bodies.size() + count, each = solver.has_images ? 2 : 1,
                    sources = (count + each - 1) / each;
  for (std::size_t i = 0; i < sources; ++i) {
    const Point out = of_sunflower(i, sources);
    const double r = solver.away * (1 + solver.bumps * std::cos(dot(axis, out))),
                 q = waves.at(out) + (i % 2 ? -1 : 1) * solver.alternating;
    add(bodies, along(centre, radius * r, out), q);
    if (solver.has_images && bodies.size() < until)
      add(bodies, along(centre, radius / r, out), -q / r);
  }
}

/// Sources that are made up so that their potential is as it should be on a boundary: on spheres
/// and bumpy surfaces at some distance from it, with coefficients of a badly conditioned system,
/// which are huge, of both signs and cancel; poles that crowd exponentially towards the edges of
/// bricks; Kelvin's images in spheres; objects in a row or anywhere, all alike or not; and up to
/// three mirrors, which take the sign or leave it: for who solves Laplace's equation without a
/// mesh.
Bodies fictitious_sources(std::size_t n, Random& random) {
  const std::size_t mirrors = n < 100 || heads(random) ? 0 : 1 + random() % 3,
                    own = (n + (1ul << mirrors) - 1) >> mirrors,
                    objects = some_of(random, std::min(double(own) / 20, 1e3));
  Solver solver = {};
  solver.poles = 3 + random() % 50;
  solver.nearest = log_uniform(random, 1e-9, 1e-2);
  solver.farthest = log_uniform(random, 0.05, 1);
  solver.exponent = uniform(random, 0, 1);
  solver.taper = heads(random) ? 1 : 0.5;
  solver.wave = some(random, 1, 30);
  solver.away = heads(random) ? log_uniform(random, 1.02, 5) : uniform(random, 0.2, 0.98);
  solver.bumps = some(random, 1e-3, 0.5);
  solver.order = log_uniform(random, 1, 30);
  solver.growth = log_uniform(random, 1, 1e9);
  solver.alternating = some(random, 1e-3, 1e9);
  solver.has_images = random() % 3 == 0;
  solver.are_crowded = heads(random);
  solver.has_signs = heads(random);
  const double bricks = some(random, 0.1, 1), smallest = log_uniform(random, 0.03, 1),
               room = log_uniform(random, 0.5, 10), strengths = some(random, 0.1, 3),
               flat = log_uniform(random, 0.05, 1);
  const bool are_in_row = heads(random), are_alike = heads(random);
  const Random::result_type seed = random();
  const double box = room * std::cbrt(double(objects));
  Bodies bodies;
  for (std::size_t object = 0; object < objects; ++object) {
    Random same(seed);
    Random& dice = are_alike ? same : random;
    const std::size_t count = share_of(own, object, objects), before = bodies.size(),
                      stations = uniform(dice) < bricks ? count / (12 * solver.poles) : 0;
    const double radius = log_uniform(dice, smallest, 1), strength = normal(random) * strengths;
    const Point at = are_in_row ? Point{2 * room * double(object), 0, 0}
                                : along({0, 0, 0}, box, in_cube(random)),
                centre = along(at, room, {1, 1, 1});
    add_edges(bodies, dice, solver, centre, {radius, radius, flat * radius}, stations);
    const std::size_t left = count - (bodies.size() - before);
    if (left > 0) add_smooth(bodies, dice, solver, centre, radius, left);
    for (std::size_t i = before; i < bodies.size(); ++i) bodies.charges[i] *= std::exp(strength);
  }
  for (std::size_t axis = 0; axis < mirrors; ++axis) mirror(bodies, n, axis, any_sign(random));
  return handed_over(std::move(bodies), random, 30);
}

// Air showers.

struct Shower {
  Point core;
  double age, radius, tilt, heading;
};

/// What all particles of an event have in common.
struct Event {
  std::vector<Shower> showers;
  double thickness, spread, curvature;  ///< of the front
  double excess, split;                 ///< of electrons, and by the magnetic field
  double threshold, heaviest, steepness, muons;
  bool has_tracks;
};

struct Particle {
  Point at;
  Point direction;
  double q;
};

double gamma_distributed(Random& random, double shape) {
  return std::gamma_distribution<double>(shape)(random);
}

/// A particle of a thinned shower, which stands for many of low energy.
Particle particle_of(Event const& event, Random& random) {
  const std::size_t k = std::min(random() % event.showers.size(), random() % event.showers.size());
  Shower const& shower = event.showers[k];
  const bool is_muon = uniform(random) < event.muons;
  const double wide = is_muon ? 5 : 1, a = gamma_distributed(random, shower.age),
               b = gamma_distributed(random, 4.5 - 2 * shower.age),
               r = std::min(wide * a / (b + 1e-6), 1e4), phi = any_angle(random),
               delay = event.curvature * r * r / (1 + r) +
                       event.thickness * std::pow(1 + r, event.spread) * exponential(random),
               energy = of_power_law(random, 1, 1e9, event.steepness) / (1 + r),
               q = uniform(random) < (1 + event.excess) / 2 ? -1 : 1,
               weight = std::clamp(event.threshold / energy, 1.0,
                                   is_muon ? std::sqrt(event.heaviest) : event.heaviest);
  const auto placed = [&](Point const& p) {
    return turned(tilted(p, shower.tilt), shower.heading);
  };
  const Point flat = {r * std::cos(phi) + q * event.split * (1 + r), r * std::sin(phi), -delay},
              ahead = {0, 0, 1},
              slope = event.has_tracks ? unit(around(random, ahead, 0.5 / (1 + energy))) : ahead;
  return {along(shower.core, shower.radius, placed(flat)), placed(slope), q * weight};
}

/// Electrons, positrons and muons of air showers: many near a core, few very far from it, in a
/// thin curved front that is seen in flight, on one or more levels of observation, or as tracks,
/// each step of which starts with its charge and ends with the opposite one, where the next one
/// starts; thinned, so that few have large weights; more electrons than positrons, which a
/// magnetic field moves apart; smaller cores aside; the same shower used again at other places;
/// clones of heavy particles at one place: for who computes the radio signals of cosmic rays.
Bodies air_shower(std::size_t n, Random& random) {
  enum View { in_flight, on_levels, as_tracks, all_of_them };
  const int view = int(random() % all_of_them);
  const std::size_t uses = heads(random) ? 1 : some_of(random, std::min(double(n) / 10, 30.0)),
                    own = (n + uses - 1) / uses, cores = some_of(random, 30),
                    levels = some_of(random, 10), steps = 1 + random() % 40;
  const double apart = log_uniform(random, 0.1, 1e3), aside = log_uniform(random, 0.1, 30),
               tilt = some(random, 0.05, 1.3), gap = log_uniform(random, 0.1, 100),
               step = log_uniform(random, 1e-3, 1), scatter = some(random, 1e-3, 0.5),
               clones = some(random, 0.01, 0.5), age = uniform(random, 0.7, 1.4);
  Event event = {};
  event.has_tracks = view == as_tracks;
  event.thickness = log_uniform(random, 1e-4, 0.1);
  event.spread = uniform(random, 0, 1.5);
  event.curvature = some(random, 1e-3, 0.3);
  event.excess = some(random, 0.01, 0.5);
  event.split = some(random, 1e-3, 1);
  event.threshold = log_uniform(random, 1, 1e8);
  event.heaviest = log_uniform(random, 1, 1e7);
  event.steepness = uniform(random, 1.2, 2.5);
  event.muons = some(random, 0.01, 0.5);
  const double heading = any_angle(random);
  for (std::size_t core = 0; core < cores; ++core) {
    const Point centre = core == 0 ? Point{} : around(random, {0, 0, 0}, aside);
    const double smaller = 1 / double(core + 1);
    event.showers.push_back({{centre[0], centre[1], 0}, age, smaller, tilt, heading});
  }
  const Point axis = turned(tilted({0, 0, 1}, tilt), heading);
  Bodies bodies;
  bodies.positions.reserve(3 * n);
  bodies.charges.reserve(n);
  while (bodies.size() < own) {
    Particle particle = particle_of(event, random);
    const std::size_t copies = uniform(random) < clones ? 1 + random() % 10 : 1;
    if (view == on_levels) {
      const double height = gap * double(random() % levels);
      particle.at = along(particle.at, (height - particle.at[2]) / axis[2], axis);
      particle.at[2] = height;
    }
    if (!event.has_tracks)
      for (std::size_t i = 0; i < copies && bodies.size() < own; ++i)
        add(bodies, particle.at, particle.q / double(copies));
    for (std::size_t i = 0; event.has_tracks && i < steps && bodies.size() + 1 < own; ++i) {
      add(bodies, particle.at, particle.q);
      const double length = step * exponential(random);
      particle.at = along(particle.at, length, particle.direction);
      particle.direction = unit(around(random, particle.direction, scatter));
      add(bodies, particle.at, -particle.q);
    }
    if (event.has_tracks && bodies.size() + 1 == own) add(bodies, particle.at, particle.q);
  }
  for (std::size_t use = 1; use < uses; ++use) {
    const Point shift = {apart * normal(random), apart * normal(random), 0};
    for (std::size_t i = 0; i < own && bodies.size() < n; ++i)
      add(bodies, along(place_of(bodies, i), 1, shift), bodies.charges[i]);
  }
  return handed_over(std::move(bodies), random, 24);
}

// Implicit surfaces.

/// A bumpy sphere.
struct Blob {
  struct Bump {
    Point vector;
    double phase, height;
  };
  Point centre;
  double radius;
  std::vector<Bump> bumps;

  struct Spot {
    Point at, normal;
    double curvature;
  };
  Spot towards(Point const& out) const {
    double r = 1, curvature = 1;
    Point slope = {};
    for (auto const& bump : bumps) {
      const double t = dot(bump.vector, out), angle = t + bump.phase;
      r += bump.height * std::cos(angle);
      curvature += bump.height * dot(bump.vector, bump.vector) * std::cos(angle);
      const Point tangent = along(bump.vector, -t, out);
      slope = along(slope, -bump.height * std::sin(angle), tangent);
    }
    return {along(centre, radius * r, out), unit(along(out, -1 / r, slope)), curvature};
  }
};

constexpr std::size_t most_moments = 10;
using Moments = std::array<double, most_moments>;

/// A polynomial's terms up to those of the second degree.
Moments moments_at(Point const& p) {
  auto const& [x, y, z] = p;
  return {1, x, y, z, x * x, y * y, z * z, x * y, y * z, z * x};
}

/// What solves a symmetric positive system; zero where it is singular.
Moments solution(std::array<Moments, most_moments> a, Moments b, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    if (!(a[i][i] > 1e-10)) return {};
    for (std::size_t j = i + 1; j < size; ++j) {
      const double ratio = a[j][i] / a[i][i];
      for (std::size_t k = i; k < size; ++k) a[j][k] -= ratio * a[i][k];
      b[j] -= ratio * b[i];
    }
  }
  for (std::size_t i = size; i-- > 0;) {
    for (std::size_t k = i + 1; k < size; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

/// Takes the first moments from the charges, as the side conditions of radial functions ask.
void annul_moments(Bodies& bodies, std::size_t size) {
  const double count = double(bodies.size()), scale = 1 / std::max(longest_side(bodies), 1e-300);
  Point mean = {};
  for (std::size_t i = 0; i < bodies.size(); ++i)
    mean = along(mean, 1 / count, place_of(bodies, i));
  const auto terms = [&](std::size_t i) {
    return moments_at(along({0, 0, 0}, scale, along(place_of(bodies, i), -1, mean)));
  };
  for (int repeat = 0; repeat < 2; ++repeat) {
    std::array<Moments, most_moments> a = {};
    Moments b = {};
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      const Moments p = terms(i);
      for (std::size_t j = 0; j < size; ++j) {
        b[j] += bodies.charges[i] * p[j] / count;
        for (std::size_t k = 0; k < size; ++k) a[j][k] += p[j] * p[k] / count;
      }
    }
    const Moments x = solution(a, b, size);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      const Moments p = terms(i);
      for (std::size_t j = 0; j < size; ++j) bodies.charges[i] -= x[j] * p[j];
    }
  }
}

/// How a scanner goes around an object.
enum Scan { sunflower, raster, by_chance, from_stations, any_scan };

/// The i-th of so many directions; those of a raster meet at its poles and at its seam.
Point scanned(Random& random, int scan, std::size_t i, std::size_t count,
              std::vector<Point> const& stations, double width) {
  if (scan == sunflower) return of_sunflower(i, count);
  if (scan == by_chance) return on_sphere(random);
  if (scan == from_stations)
    return unit(around(random, stations[random() % stations.size()], width));
  const std::size_t columns = std::size_t(std::sqrt(2 * double(count))) + 1,
                    rows = count / columns + 1;
  const double theta = pi * double(i / columns) / double(rows),
               phi = 2 * pi * double(i % columns) / double(std::max(columns - 1, std::size_t(1)));
  return {std::sin(theta) * std::cos(phi), std::sin(theta) * std::sin(phi), std::cos(theta)};
}

/// How charges are put on and off a surface.
struct Layers {
  std::size_t count;  ///< on it; and outside of it; and inside of it
  double depth, uneven, rough, leaning, noise, repeated;
};

/// One spot of a surface: its own charge, and those off it, which nearly cancel it.
void add_spot(Bodies& bodies, Random& random, Layers const& layers, Blob const& blob,
              Blob::Spot const& spot, std::size_t until) {
  const double depth = blob.radius * layers.depth * std::exp(layers.uneven * normal(random)),
               q = spot.curvature + layers.rough * normal(random),
               shift = layers.noise * blob.radius * normal(random);
  const Point at = along(spot.at, shift, spot.normal);
  const std::size_t times = uniform(random) < layers.repeated ? 2 : 1;
  const double off = double(layers.count) - 1, lean = layers.leaning * normal(random);
  for (std::size_t time = 0; time < times; ++time)
    for (std::size_t layer = 0; layer < layers.count && bodies.size() < until; ++layer) {
      const double side = layer == 0   ? 0
                          : layer == 1 ? 1
                                       : -1,
                   share = layer > 0 ? -1 : std::max(off, 1.0) * (1 + lean);
      add(bodies, along(at, side * depth, spot.normal), q * share);
    }
}

Blob any_blob(Random& random, double room, double smallest, double height) {
  Blob blob = {around(random, {room, 0, 0}, room), log_uniform(random, smallest, 1), {}};
  const std::size_t bumps = 1 + random() % 5;
  for (std::size_t i = 0; i < bumps; ++i)
    blob.bumps.push_back(
        {on_sphere(random, log_uniform(random, 1, 40)), any_angle(random), height / double(bumps)});
  return blob;
}

/// Radial functions that are fitted to scans of objects: charges on a bumpy surface and a little
/// outside and inside of it, which cancel nearly, more of them where it is curved; whose sum and
/// first or second moments are zero, as the side conditions ask; scanned evenly, in a raster with
/// many points at its poles, by chance or from few stations; with holes, spots scanned twice, an
/// exact mirror image, anchors far outside; and a lattice without charges where the surface is
/// wanted: for who makes meshes of clouds of points.
Bodies implicit_surface(std::size_t n, Random& random) {
  const bool is_symmetric = heads(random), has_anchors = n >= 1000 && random() % 3 == 0;
  const std::size_t blobs = some_of(random, std::min(double(n) / 100, 100.0)),
                    many_stations = 1 + random() % 12,
                    moments = std::array<std::size_t, 4>{0, 1, 4, 10}[random() % 4];
  const int scan = int(random() % any_scan);
  Layers layers = {};
  layers.count = 1 + random() % 3;
  layers.depth = log_uniform(random, 1e-7, 0.1);
  layers.uneven = some(random, 0.05, 0.7);
  layers.rough = layers.count > 1 ? some(random, 1e-3, 1e2) : log_uniform(random, 0.01, 1e2);
  layers.leaning = some(random, 1e-6, 1);
  layers.noise = some(random, 1e-6, 0.03);
  layers.repeated = some(random, 0.01, 0.9);
  const double wanted = some(random, 0.01, 0.5), room = some(random, 1, 30),
               smallest = log_uniform(random, 0.02, 1), height = some(random, 1e-3, 0.6),
               hole = some(random, 0.1, 1), width = log_uniform(random, 0.02, 1),
               far = log_uniform(random, 2, 1e3), heavy = log_uniform(random, 1, 1e6);
  const std::size_t lattice = std::size_t(wanted * double(n)), anchors = has_anchors ? 8 : 0,
                    all = n - lattice - anchors, own = is_symmetric ? (all + 1) / 2 : all;
  std::vector<Point> stations(many_stations);
  for (auto& station : stations) station = on_sphere(random);
  Bodies bodies;
  for (std::size_t b = 0; b < blobs; ++b) {
    const Blob blob = any_blob(random, room, smallest, height);
    const std::size_t until = own * (b + 1) / blobs,
                      each = layers.count * (layers.repeated > 0.3 ? 2 : 1),
                      spots = (until - std::min(until, bodies.size())) / each + 1;
    for (std::size_t i = 0; i < spots && bodies.size() < until; ++i) {
      const Point out = scanned(random, scan, i, spots, stations, width);
      if (dot(out, stations[0]) < -std::cos(hole) && hole > 0) continue;
      add_spot(bodies, random, layers, blob, blob.towards(out), until);
    }
  }
  if (is_symmetric) mirror(bodies, all, 0, 1);
  for (std::size_t corner = 0; corner < anchors; ++corner)
    bodies.add(corner & 1 ? far : -far, corner & 2 ? far : -far, corner & 4 ? far : -far,
               heavy * normal(random));
  if (moments > 0 && bodies.size() >= 50) annul_moments(bodies, moments);
  const std::size_t rest = n - bodies.size(),
                    row = std::size_t(std::ceil(std::cbrt(double(rest) + 1)));
  const double step = 3 / double(row);
  for (std::size_t i = 0; i < rest; ++i)
    bodies.add(step * double(i % row) - 1.5, step * double(i / row % row) - 1.5,
               step * double(i / row / row) - 1.5, 0);
  return handed_over(std::move(bodies), random, 20);
}

// Catalogues of parallaxes.

/// A group of stars as they are, in thousands of parsecs from the sun.
struct Group {
  Point centre;
  double width;
  bool is_known;  ///< so that all its stars are given one distance
};

/// What a sky has and how it is measured.
struct Sky {
  std::vector<Group> groups;
  std::vector<Point> fields;                ///< where it was looked at, if not everywhere
  double in_groups, in_halo, behind;        ///< shares of stars; those behind are quasars
  double scale, flat, halo, dark, field;    ///< lengths, and widths of the dust and of a field
  double error, uneven, zero, floor, step;  ///< of parallaxes
  double angle_step;
  bool are_folded;  ///< negative parallaxes: folded, or raised to the least one
};

/// Where a star is, and its group, or none.
std::pair<Point, std::size_t> any_star(Sky const& sky, Random& random) {
  const double luck = uniform(random);
  const std::size_t none = sky.groups.size();
  if (luck < sky.in_groups) {
    const std::size_t k = std::min(random() % none, random() % none);
    const double u = uniform(random, 1e-6, 0.98),
                 r = sky.groups[k].width / std::sqrt(1 / std::cbrt(u * u) - 1);
    return {along(sky.groups[k].centre, r, on_sphere(random)), k};
  }
  if (luck < sky.in_groups + sky.behind) return {on_sphere(random, 1e6), none};
  if (luck < sky.in_groups + sky.behind + sky.in_halo)
    return {on_sphere(random, of_power_law(random, 0.01, sky.halo, 1.5)), none};
  const double r = sky.scale * (exponential(random) + exponential(random));
  const Point p =
      turned({r, 0, sky.flat * exponential(random) * any_sign(random)}, any_angle(random));
  return {along(p, 8, {-1, 0, 0}), none};
}

/// The direction to a star, with few digits.
Point seen_towards(Sky const& sky, Random& random, Point const& star) {
  Point out = unit(star);
  if (!sky.fields.empty())
    out = unit(around(random, sky.fields[random() % sky.fields.size()], sky.field));
  const double longitude = rounded(std::atan2(out[1], out[0]), sky.angle_step),
               latitude = rounded(std::asin(std::clamp(out[2], -1.0, 1.0)), sky.angle_step),
               c = std::cos(latitude);
  return {c * std::cos(longitude), c * std::sin(longitude), std::sin(latitude)};
}

/// One over a parallax that has an error, and that is never below the least one.
double measured_distance(Sky const& sky, Random& random, double distance) {
  const double error = sky.error * std::exp(sky.uneven * normal(random)),
               parallax = 1 / distance + sky.zero + error * normal(random),
               folded = sky.are_folded ? std::abs(parallax) : parallax;
  return 1 / std::max(rounded(folded, sky.step), sky.floor);
}

Sky any_sky(Random& random) {
  Sky sky = {};
  sky.in_groups = some(random, 0.01, 0.6);
  sky.in_halo = some(random, 0.01, 0.2);
  sky.behind = some(random, 1e-3, 0.2);
  sky.scale = log_uniform(random, 1, 5);
  sky.flat = log_uniform(random, 0.05, 1);
  sky.halo = log_uniform(random, 10, 100);
  sky.dark = some(random, 0.01, 0.3);
  sky.field = log_uniform(random, 0.003, 0.3);
  sky.error = some(random, 0.003, 1);
  sky.uneven = some(random, 0.1, 1);
  sky.zero = some(random, 0.001, 0.05) * any_sign(random);
  sky.floor = log_uniform(random, 1e-4, 0.1);
  sky.step = some(random, 1e-4, 0.1);
  sky.angle_step = some(random, 1e-9, 1e-3);
  sky.are_folded = heads(random);
  const std::size_t groups = some_of(random, 300), fields = heads(random) ? 0 : some_of(random, 50);
  for (std::size_t i = 0; i < groups; ++i) {
    const double distance = log_uniform(random, 0.05, 60),
                 width = distance * log_uniform(random, 1e-4, 0.1);
    sky.groups.push_back({on_sphere(random, distance), width, heads(random)});
  }
  for (std::size_t i = 0; i < fields; ++i) sky.fields.push_back(on_sphere(random));
  return sky;
}

/// Stars of a catalogue at one over their parallax: rays from the sun with errors that draw each
/// group out towards it, a heavy tail where parallaxes are about zero, shells where they have few
/// digits, and a wall where they are cut; a disc, a halo, clusters, whose members may all be given
/// one distance, and quasars, whose parallax is nothing but its error; dust along the disc; the
/// whole sky or a few narrow fields; pairs that are not resolved and stars entered twice at one
/// place; one mass for all, those of stars, or light, which grows as the square of the distance:
/// for who maps a galaxy.
Bodies parallax_catalogue(std::size_t n, Random& random) {
  enum Weight { alike, masses, light, all_of_them };
  const Sky sky = any_sky(random);
  const int weight = int(random() % all_of_them);
  const double twice = some(random, 1e-3, 0.5), faintest = log_uniform(random, 1e-3, 1);
  Bodies bodies;
  bodies.positions.reserve(3 * n);
  bodies.charges.reserve(n);
  while (bodies.size() < n) {
    auto [star, group] = any_star(sky, random);
    const auto is_hidden = [&] {
      return std::abs(star[2]) < sky.dark * std::hypot(star[0], star[1]) && uniform(random) < 0.9;
    };
    if (is_hidden()) std::tie(star, group) = any_star(sky, random);
    const bool is_known = group < sky.groups.size() && sky.groups[group].is_known;
    Point const& of = is_known ? sky.groups[group].centre : star;
    const double distance = std::sqrt(dot(of, of)),
                 far = is_known ? distance : measured_distance(sky, random, distance),
                 near = std::clamp(far, 0.03, 100.0);
    double q = 1;
    if (weight == masses) q = of_power_law(random, 0.1, 100, 2.35);
    if (weight == light) q = near * near * of_power_law(random, faintest, 1.01, 1.6);
    const Point at = along({0, 0, 0}, far, seen_towards(sky, random, star));
    const std::size_t times = uniform(random) < twice ? 2 : 1;
    for (std::size_t i = 0; i < times && bodies.size() < n; ++i) add(bodies, at, q);
  }
  return handed_over(std::move(bodies), random, 28);
}

}  // namespace

/// Kinds of fields that a client brought; a kind keeps its place.
std::vector<Kind> const& of_clients() {
  static const std::vector<Kind> kinds = {
      {"sparse_grid", sparse_grid, true, false},
      {"fictitious_sources", fictitious_sources, true, false},
      {"air_shower", air_shower, true, false},
      {"implicit_surface", implicit_surface, true, false},
      {"parallax_catalogue", parallax_catalogue, false, false},
  };
  return kinds;
}

}  // namespace kinds
