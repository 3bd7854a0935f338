// SPDX-License-Identifier: BSD-3-Clause
// Kinds of bodies of other fields, that nobody tuned for: boundary elements, spectral elements,
// vortices, ice, meshes of parts, lightning, a survey from the air and a particle detector. Each
// draws its own shape, ratios and noise.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <queue>

#include "kinds_of_bodies.hpp"
#include "random_points.hpp"

namespace kinds {

namespace {

Point minus(Point const& a, Point const& b) { return along(a, -1, b); }
double norm(Point const& a) { return std::sqrt(dot(a, a)); }
Point unit(Point const& a) { return along({0, 0, 0}, 1 / norm(a), a); }

/// Boundary elements of a head's tissues: on each panel of nested surfaces Gauss points (one rule
/// has a negative weight) of a double layer, whose even part has no field outside, with a peak
/// above a current dipole.
Bodies head_model(std::size_t n, Random& random) {
  struct Orbit {
    double corner, weight;  // barycentric coordinate of one corner; the others share the rest
  };
  static const std::array<std::vector<Orbit>, 4> rules = {
      {{{1 / 3.0, 1}},
       {{2 / 3.0, 1 / 3.0}},
       {{1 / 3.0, -27 / 48.0}, {0.6, 25 / 48.0}},
       {{0.108103018168070, 0.223381589678011}, {0.816847572980459, 0.109951743655322}}}};
  static constexpr int points_of[] = {1, 3, 4, 6};
  const std::size_t rule = random() % 4, surfaces = 1 + random() % 3;
  const double gap = log_uniform(random, 0.02, 0.3), distance = log_uniform(random, 1e-3, 0.5),
               single = log_uniform(random, 1e-3, 1), even = heads(random) ? 1 : 0,
               peak = log_uniform(random, 1e-3, 1), depth = log_uniform(random, 0.02, 0.5);
  const Point axes = {1, uniform(random, 0.6, 1), uniform(random, 0.6, 1)};
  struct Fold {
    Point k;
    double size, phase;
  };
  std::vector<Fold> folds(random() % 6);
  for (auto& fold : folds)
    fold = {along({0, 0, 0}, uniform(random, 2, 15), on_sphere(random)), uniform(random, 0, 0.03),
            uniform(random, 0, 2 * pi)};
  const auto on_surface = [&](Point const& direction, double radius) {
    double r = radius;
    for (auto const& fold : folds)
      r += radius * fold.size * std::cos(dot(fold.k, direction) + fold.phase);
    return Point{r * axes[0] * direction[0], r * axes[1] * direction[1],
                 r * axes[2] * direction[2]};
  };
  const Point place = on_sphere(random), moment = on_sphere(random),
              source = on_surface(place, 1 - depth);
  Bodies bodies;
  for (std::size_t surface = 0; surface < surfaces; ++surface) {
    const double left =
                     std::max(0.0, double(n) - double(bodies.size())) / double(surfaces - surface),
                 radius = 1 + gap * double(surface), jump = surface % 2 == 0 ? 1 : -0.5;
    const int side = std::max(1, int(std::lround(std::sqrt(left / (16 * points_of[rule])))));
    const auto panel = [&](Point const& a, Point const& b, Point const& c) {
      const Point up = cross(minus(b, a), minus(c, a));
      const double area = norm(up) / 2, h = distance * std::sqrt(area);
      for (auto const& orbit : rules[rule]) {
        const bool is_middle = orbit.corner == 1 / 3.0;
        for (int turn = 0; turn < (is_middle ? 1 : 3); ++turn) {
          double share[3];
          for (int d = 0; d < 3; ++d) share[d] = d == turn ? orbit.corner : (1 - orbit.corner) / 2;
          Point p = {0, 0, 0};
          p = along(along(along(p, share[0], a), share[1], b), share[2], c);
          const Point from = minus(p, source);
          const double r = norm(from), wave = peak * dot(moment, from) / (r * r * r),
                       moments = jump * (even + wave), q = orbit.weight * area;
          add(bodies, along(p, h / 2, unit(up)), q * (moments / h + single * wave));
          add(bodies, along(p, -h / 2, unit(up)), q * (-moments / h + single * wave));
        }
      }
    };
    for (int octant = 0; octant < 8; ++octant) {
      const auto vertex = [&](int i, int j) {
        Point p = {double(i), double(j), double(side - i - j)};
        for (int d = 0; d < 3; ++d)
          if (octant >> d & 1) p[d] = -p[d];
        return on_surface(unit(p), radius);
      };
      for (int i = 0; i < side; ++i)
        for (int j = 0; i + j < side; ++j) {
          panel(vertex(i, j), vertex(i + 1, j), vertex(i, j + 1));
          if (i + j + 2 <= side) panel(vertex(i + 1, j), vertex(i + 1, j + 1), vertex(i, j + 1));
        }
    }
  }
  return bodies;
}

/// Chebyshev points of elements, the leaves of an octree: elements share faces, edges and corners,
/// so that points coincide there. Charges are the Laplacian of bumps and of thin shells: far from
/// these there is no field.
Bodies spectral_elements(std::size_t n, Random& random) {
  int order = 2 + int(random() % 7);
  const auto points = [&] { return std::size_t((order + 1) * (order + 1) * (order + 1)); };
  while (order > 1 && 8 * points() > n) --order;
  std::vector<double> x(order + 1), weight(order + 1);  // of Clenshaw and Curtis
  for (int i = 0; i <= order; ++i) {
    x[i] = std::ldexp(std::round(std::ldexp(0.5 - 0.5 * std::cos(pi * i / order), 40)), -40);
    double sum = 1;
    for (int k = 1; 2 * k <= order; ++k)
      sum -= (2 * k == order ? 1 : 2) * std::cos(2 * pi * k * i / order) / (4.0 * k * k - 1);
    weight[i] = (i % order == 0 ? 0.5 : 1) * sum / order;
  }
  struct Bump {
    Point centre;
    double radius, width, size;
  };
  std::vector<Bump> bumps(1 + random() % 5);
  const bool is_central = heads(random);
  const double finest = 1 / std::cbrt(double(n));
  for (auto& bump : bumps) {
    for (double& c : bump.centre) c = is_central ? 0.5 : uniform(random, 0.2, 0.8);
    bump.radius = heads(random) ? 0 : uniform(random, 0.1, 0.4);
    bump.width = log_uniform(random, finest, std::max(finest, 0.15));
    bump.size = normal(random) * log_uniform(random, 1e-3, 10);
  }
  struct Element {
    double coarseness;
    Point corner;
    double edge;
    bool operator<(Element const& other) const { return coarseness < other.coarseness; }
  };
  const auto element = [&](Point const& corner, double edge) {
    double coarseness = 0;
    for (auto const& bump : bumps) {
      const double r = norm(minus(along(corner, edge / 2, {1, 1, 1}), bump.centre));
      coarseness = std::max(coarseness,
                            edge / std::max(bump.width, std::abs(r - bump.radius) - 0.87 * edge));
    }
    return Element{edge > 1.0 / 2048 ? coarseness : 0, corner, edge};
  };
  std::priority_queue<Element> elements;
  elements.push(element({0, 0, 0}, 1));
  while ((elements.size() + 7) * points() <= n + 3 * points()) {
    const Element coarse = elements.top();
    elements.pop();
    for (int k = 0; k < 8; ++k)
      elements.push(element(along(coarse.corner, coarse.edge / 2,
                                  {double(k & 1), double(k >> 1 & 1), double(k >> 2)}),
                            coarse.edge / 2));
  }
  Bodies bodies;
  for (; !elements.empty(); elements.pop()) {
    auto const& [coarseness, corner, edge] = elements.top();
    for (int i = 0; i <= order; ++i)
      for (int j = 0; j <= order; ++j)
        for (int k = 0; k <= order; ++k) {
          const Point p = {corner[0] + edge * x[i], corner[1] + edge * x[j],
                           corner[2] + edge * x[k]};
          double laplacian = 0;
          for (auto const& bump : bumps) {
            const double r = norm(minus(p, bump.centre)), t = (r - bump.radius) / bump.width,
                         curvature = bump.radius == 0 ? 1 : (r - bump.radius) / std::max(r, 1e-3);
            laplacian += bump.size / (bump.width * bump.width) * std::exp(-t * t) *
                         (4 * t * t - 2 - 4 * curvature);
          }
          const double q = weight[i] * weight[j] * weight[k] * edge * edge * edge * laplacian;
          add(bodies, p, std::abs(q) < 1e-12 ? 0 : q);
        }
  }
  return bodies;
}

/// Quantised vortices of a superfluid: closed threads, wound round a torus or with helical waves,
/// some with a partner that turns the other way; charges are one component of the pieces of thread,
/// so that each thread's sum is zero.
Bodies vortex_tangle(std::size_t n, Random& random) {
  struct Thread {
    Point centre, u, v, w;
    double major, minor;
    int windings, waves;
    Point at(double t) const {
      const double phi = windings * t, r = major + minor * std::cos(waves * t);
      return along(along(along(centre, r * std::cos(phi), u), r * std::sin(phi), v),
                   minor * std::sin(waves * t), w);
    }
  };
  std::vector<Thread> threads(
      std::size_t(log_uniform(random, 1, std::clamp(double(n) / 64, 1.0, 300.0))));
  const double smallest = log_uniform(random, 0.01, 1), widest = log_uniform(random, 2e-3, 0.4),
               paired = uniform(random), closest = log_uniform(random, 1e-3, 0.3);
  const int most = 1 + int(random() % 60);
  const Point axis = heads(random) ? Point{0, 0, 1} : on_sphere(random);
  const bool is_flat = heads(random);  // rings that travel along one axis
  double length = 0;
  for (auto& thread : threads) {
    const Point w = is_flat ? Point{1, 0, 0} : on_sphere(random),
                u = unit(cross(w, on_sphere(random)));
    const int windings = 1 + int(random() % 3);
    const double major = log_uniform(random, smallest, 1);
    thread = {in_cube(random), u,
              cross(w, u),     w,
              major,           major * log_uniform(random, 1e-3, widest),
              windings,        1 + windings * int(random() % most)};
    length += major * windings;
  }
  Bodies bodies;
  for (auto const& thread : threads) {
    const bool is_paired = uniform(random) < paired;
    const double share = double(n) * thread.major * thread.windings / length;
    const int pieces = std::max(8, int(is_paired ? share / 2 : share));
    const double shift = thread.major * log_uniform(random, closest, 0.5),
                 start = uniform(random, 0, 2 * pi);
    for (int i = 0; i < pieces; ++i) {
      const auto at = [&](double k) { return thread.at(start + 2 * pi * k / pieces); };
      const double q = double(n) * dot(axis, minus(at(i + 0.5), at(i - 0.5)));
      add(bodies, at(i), q);
      if (is_paired) add(bodies, along(at(i), shift, thread.w), -q);
    }
  }
  return bodies;
}

/// Cubic ice (nanometres): every oxygen gives two of its four bonds a proton and takes two; protons
/// along a chain of bonds all point one way, ordered or at random. Some molecules are missing or
/// are ions.
Bodies ice(std::size_t n, Random& random) {
  const double cells = double(n) / 24, quarter = 0.276 / std::sqrt(3.0);
  const int layers = std::max(1, int(std::cbrt(cells) * log_uniform(random, 0.1, 1))),
            side = std::max(1, int(std::lround(std::sqrt(cells / layers))));
  const double turned = heads(random) ? 0.5 : log_uniform(random, 1e-4, 0.1),
               missing = log_uniform(random, 1e-5, 0.03), ions = log_uniform(random, 1e-5, 0.03),
               warmth = heads(random) ? 0 : log_uniform(random, 1e-5, 0.02),
               charge = uniform(random, 0.4, 0.6);
  const bool is_alternating = heads(random);
  const int span = 2 * (side + layers) + 2;
  std::array<std::vector<char>, 2> ways;  // of chains along y + z, and of those along y - z
  for (auto& way : ways)
    for (int i = 0; i < (2 * side + 2) * span; ++i)
      way.push_back((is_alternating && i / span % 2 == 0) != (uniform(random) < turned));
  const auto way = [&](int chain, int x, int y) { return ways[chain][x / 2 * span + y / 2] != 0; };
  static constexpr Point bonds[4] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  Bodies bodies;
  const auto molecule = [&](int x, int y, int z, double sign, int first, int second) {
    const double kind = uniform(random);
    if (kind < missing) return;
    const Point lattice = {quarter * x, quarter * y, quarter * z};
    const Point at = warmth > 0 ? around(random, lattice, warmth) : lattice;
    if (kind < missing + ions) return add(bodies, at, heads(random) ? 1 : -1);
    const double reach = sign * 0.0957 / std::sqrt(3.0);
    add(bodies, along(at, reach, bonds[first]), charge);
    add(bodies, along(at, reach, bonds[second]), charge);
    add(bodies, along(at, sign * 0.0158, unit(along(bonds[first], 1, bonds[second]))), -2 * charge);
  };
  for (int x = 0; x < 4 * side; x += 2)
    for (int y = 0; y < 4 * side; y += 2)
      for (int z = (x + y) % 4; z < 4 * layers; z += 4) {
        molecule(x, y, z, 1, way(0, x, y - z + 4 * layers) ? 0 : 1, way(1, x, y + z) ? 2 : 3);
        molecule(x + 1, y + 1, z + 1, -1, way(0, x, y - z + 4 * layers) ? 1 : 0,
                 way(1, x + 2, y + z + 2) ? 3 : 2);
      }
  return bodies;
}

/// Triangles of turned parts, as for a printer: each triangle has its own three vertices, which
/// coincide with those of its neighbours, by the thousand where a cap is a fan; slivers along
/// walls; copies on a grid, like bolts in a plate.
Bodies triangle_soup(std::size_t n, Random& random) {
  struct Part {
    std::vector<std::array<double, 2>> profile;  // radius and height
    int segments, axis;
    double size, density;
  };
  std::vector<Part> parts(1 + random() % 5);
  const double densities = log_uniform(random, 1, 1e5);
  for (auto& part : parts) {
    const double height = log_uniform(random, 0.02, 20), bore = uniform(random, 0.2, 0.6),
                 thickness = log_uniform(random, 1e-3, 0.3);
    part.segments = int(log_uniform(random, 6, std::clamp(double(n) / 60, 7.0, 3000.0)));
    const int rows = std::clamp(int(double(n) / (18 * part.segments)), 2,
                                2 + int(random() % 100));  // so that there are some parts
    switch (random() % 4) {
      case 0:
        part.profile = {{0, 0}, {1, 0}, {1, height}, {0, height}};
        break;
      case 1:
        part.profile = {{0, 0}, {1, 0}, {0, height}};
        break;
      case 2:
        for (int i = 0; i <= rows; ++i)
          part.profile.push_back(
              {i % rows == 0 ? 0 : std::sin(pi * i / rows), -std::cos(pi * i / rows)});
        break;
      default:
        part.profile = {{bore, 0},
                        {1, 0},
                        {1, thickness},
                        {bore + thickness, thickness},
                        {bore + thickness, thickness + height},
                        {bore, thickness + height},
                        {bore, 0}};
    }
    part.axis = int(random() % 3);
    part.size = log_uniform(random, 0.05, 1);
    part.density = log_uniform(random, 1, densities);
  }
  const bool is_grid = heads(random);
  const int row = std::max(1 + int(random() % 8), int(std::cbrt(double(n) / 100)));
  Bodies bodies;
  for (int copy = 0; bodies.size() < n; ++copy) {
    Part const& part = parts[random() % parts.size()];
    auto const& profile = part.profile;
    const int segments = part.segments, axis = part.axis;
    const double size = part.size, density = part.density;
    const Point place = is_grid ? Point{double(copy % row), double(copy / row % row),
                                        10.0 * (copy / (row * row))}
                                : in_cube(random),
                centre = along({0, 0, 0}, is_grid ? 2.5 : 10.0, place);
    const auto vertex = [&](std::size_t i, int j) {
      const double phi = 2 * pi * (j % segments) / segments;
      Point p = centre;
      p[axis] += size * profile[i][1];
      p[(axis + 1) % 3] += size * profile[i][0] * std::cos(phi);
      p[(axis + 2) % 3] += size * profile[i][0] * std::sin(phi);
      return p;
    };
    const auto triangle = [&](Point const& a, Point const& b, Point const& c) {
      const double q = density * norm(cross(minus(b, a), minus(c, a))) / 6;
      for (auto const& p : {a, b, c}) add(bodies, p, q);
    };
    for (std::size_t i = 0; i + 1 < profile.size(); ++i)
      for (int j = 0; j < segments; ++j) {
        const Point a = vertex(i, j), b = vertex(i, j + 1), c = vertex(i + 1, j + 1),
                    d = vertex(i + 1, j);
        if (profile[i][0] > 0) triangle(a, b, c);
        if (profile[i + 1][0] > 0) triangle(a, c, d);
      }
  }
  return bodies;
}

/// A thunderstorm (kilometres): a cloud of three layers of charge, and a branched leader of
/// lightning whose charge grows away from its origin and most at its tips; mostly with the opposite
/// images of all below the ground.
Bodies thunderstorm(std::size_t n, Random& random) {
  struct Node {
    Point at, heading;
    double step;
  };
  const bool has_ground = random() % 4 != 0;
  const std::size_t wanted = std::max<std::size_t>(has_ground ? n / 2 : n, 8),
                    in_channel = std::size_t(double(wanted) * uniform(random, 0.3, 0.95));
  const double branches = log_uniform(random, 3, std::clamp(double(wanted) / 20, 4.0, 500.0)),
               per_branch = double(in_channel) / branches, step = 5 / std::max(per_branch, 20.0),
               turn = log_uniform(random, 0.05, 0.5), pull = uniform(random, 0.3, 2) * turn * turn,
               shrink = uniform(random, 0.3, 1), tip = log_uniform(random, 0.1, 1e3),
               corona = uniform(random, 0, 0.6), corona_width = log_uniform(random, 3e-3, 0.3);
  const Point origin = {0, 0, 6};
  std::vector<Node> nodes = {{origin, {0, 0, -1}, step}};
  Bodies bodies;
  while (nodes.size() < in_channel) {
    Node node = nodes[random() % nodes.size()];
    node.step = std::max(node.step * uniform(random, shrink, 1), 0.05 * step);
    node.heading = unit(along(node.heading, 0.8, on_sphere(random)));
    const Point towards = unit(along({0, 0, -1}, 0.9, on_sphere(random)));
    for (int left = int(per_branch * exponential(random)); left >= 0; --left) {
      node.heading = unit(along(around(random, node.heading, turn), pull, towards));
      node.at = along(node.at, node.step, node.heading);
      if (node.at[2] < node.step || nodes.size() >= in_channel) break;
      nodes.push_back(node);
      Point p = node.at;
      if (uniform(random) < corona) p = around(random, p, corona_width * uniform(random));
      if (p[2] < node.step) p = node.at;
      add(bodies, p, node.step * (p[2] - origin[2]) * (1 + tip / (1 + left)));
    }
  }
  const Point heights = {2, 6, 11}, totals = {log_uniform(random, 0.1, 10), -40, 40};
  const double flatness = log_uniform(random, 0.01, 1), spread = uniform(random, 0, 3);
  for (std::size_t left = wanted - std::min(wanted, bodies.size()), i = 0; i < left; ++i) {
    const std::size_t layer = random() % 3;
    const Point p = {2 * normal(random), 2 * normal(random),
                     std::max(0.1, heights[layer] + flatness * normal(random))};
    add(bodies, p, 3 * totals[layer] / double(left) * std::exp(spread * normal(random)));
  }
  if (has_ground)
    for (std::size_t i = 0, half = bodies.size(); i < half; ++i)
      bodies.add(bodies.positions[3 * i], bodies.positions[3 * i + 1], -bodies.positions[3 * i + 2],
                 -bodies.charges[i]);
  return bodies;
}

/// A survey from an aeroplane: samples close together on lines far apart, and tie lines across,
/// which meet them. Charges are the weights of a spline, here some differences of noise along each
/// line: these have no lower moments.
Bodies survey_lines(std::size_t n, Random& random) {
  const int tie = 2 + int(random() % 10),
            ratio = int(log_uniform(random, 5, std::clamp(double(n) / 30, 6.0, 1000.0)));
  const double wanted = double(n) / (1 + 1.0 / tie);
  const int lines = std::max(2, int(std::sqrt(wanted / ratio) * log_uniform(random, 0.5, 2))),
            samples = std::max(2, int(wanted / lines)),
            order = std::min(int(random() % 7), samples / 4);
  const double width = double(ratio) * lines, extent = std::max<double>(width, samples),
               height = heads(random) ? 0 : extent * log_uniform(random, 1e-3, 0.1),
               tail = uniform(random, 0, 1.5), contrast = uniform(random, 0, 5),
               noise = heads(random) ? 0 : log_uniform(random, 1e-2, 0.3);
  const double waves[3] = {uniform(random, 3, 30) / extent, uniform(random, 3, 30) / extent,
                           uniform(random, 0, 2 * pi)};
  const auto terrain = [&](double x, double y) {
    return std::sin(waves[0] * x + waves[2]) * std::cos(waves[1] * y);
  };
  Bodies bodies;
  std::vector<double> weights;
  const auto line = [&](int count, auto const& place) {
    weights.assign(count, 0);
    for (int i = 0; i + order < count; ++i) {
      const Point p = place(i);
      weights[i] = normal(random) * std::pow(uniform(random, 1e-4, 1), -tail) *
                   std::exp(contrast * terrain(2.3 * p[1], 1.7 * p[0]));
    }
    for (int times = 0; times < order; ++times)
      for (int i = count - 1; i > 0; --i) weights[i] -= weights[i - 1];
    for (int i = 0; i < count; ++i) {
      Point p = place(i);
      p[2] = height * terrain(p[0], p[1]);
      if (noise > 0) p = around(random, p, noise);
      add(bodies, p, weights[i]);
    }
  };
  for (int k = 0; k < lines; ++k)
    line(samples, [&](int i) { return Point{double(i), double(k) * ratio, 0}; });
  for (int x = tie * ratio / 2; x < samples; x += tie * ratio)
    line((lines - 1) * ratio + 1, [&](int i) { return Point{double(x), double(i), 0}; });
  return bodies;
}

/// A drift chamber: electrons along curved tracks in jets, some already in avalanches at wires,
/// each worth thousands or millions, and a grid of pads behind these with their share of the
/// avalanches, zero or noise on most.
Bodies drift_chamber(std::size_t n, Random& random) {
  const int pads = std::max(1, int(std::sqrt(double(n) * uniform(random, 0.02, 0.4)))),
            wires = 8 << random() % 6;
  const double gain = log_uniform(random, 1e2, 1e6), pedestal = log_uniform(random, 1e-4, 10),
               diffusion = log_uniform(random, 3e-4, 0.02), response = uniform(random, 0.3, 1),
               in_avalanche = log_uniform(random, 1e-3, 0.1), jet = log_uniform(random, 0.03, 1),
               gap = log_uniform(random, 1e-3, 0.1), heavy = uniform(random, 0.5, 1.2);
  const bool has_noise = heads(random);
  struct Track {
    double start, curvature, slope;
  };
  std::vector<Track> tracks(2 + random() % 100);
  const double jets[3] = {uniform(random, 0, 2 * pi), uniform(random, 0, 2 * pi),
                          uniform(random, 0, 2 * pi)};
  for (auto& track : tracks)
    track = {jets[random() % 3] + jet * normal(random),
             (heads(random) ? 1 : -1) * log_uniform(random, 0.03, 3), uniform(random, -0.9, 0.9)};
  std::vector<double> on_pads(std::size_t(pads) * pads, 0);
  for (double& q : on_pads) q = has_noise ? pedestal * std::abs(normal(random)) : 0;
  Bodies bodies;
  while (bodies.size() + on_pads.size() < n) {
    const Track track = tracks[random() % tracks.size()];
    const double s = uniform(random, 0.15, 0.95), end = track.start + s * track.curvature;
    const Point at = {(std::sin(end) - std::sin(track.start)) / track.curvature,
                      (std::cos(track.start) - std::cos(end)) / track.curvature, track.slope * s};
    const double drift = std::sqrt(1.01 - at[2]);
    if (uniform(random) < in_avalanche) {  // an electron that has reached the wires
      const Point p = around(random, at, diffusion);
      const double x = std::round(p[0] * wires) / wires, phi = uniform(random, 0, 2 * pi),
                   q = gain * (exponential(random) + 0.01), radius = 0.01 / wires;
      bodies.add(x + radius * std::cos(phi), p[1], 1 + radius * std::sin(phi), q);
      const int column = int((x + 1) / 2 * pads), of_row = int((p[1] + 1) / 2 * pads);
      for (int i = std::max(0, column - 1); i <= std::min(pads - 1, column + 1); ++i)
        for (int j = std::max(0, of_row - 1); j <= std::min(pads - 1, of_row + 1); ++j) {
          const double u = ((i + 0.5) * 2 / pads - 1 - x) * pads / (2 * response),
                       v = ((j + 0.5) * 2 / pads - 1 - p[1]) * pads / (2 * response);
          on_pads[std::size_t(i) * pads + j] += q * std::exp(-(u * u + v * v) / 2);
        }
    } else {  // one or, where an atom's electron has been knocked out, many
      const int electrons = int(std::min(50.0, std::pow(1 - uniform(random), -heavy)));
      const Point p = around(random, at, diffusion * drift);
      for (int i = 0; i < electrons; ++i)
        add(bodies, around(random, p, 0.1 * diffusion * drift), 1);
    }
  }
  for (int i = 0; i < pads; ++i)
    for (int j = 0; j < pads; ++j)
      bodies.add((i + 0.5) * 2 / pads - 1, (j + 0.5) * 2 / pads - 1, 1 + gap,
                 on_pads[std::size_t(i) * pads + j]);
  return bodies;
}

}  // namespace

/// Kinds of fields of science and engineering that `all` does not have; a kind keeps its place.
std::vector<Kind> const& of_other_fields() {
  static const std::vector<Kind> kinds = {
      {"head_model", head_model, true, false},
      {"spectral_elements", spectral_elements, true, false},
      {"vortex_tangle", vortex_tangle, true, false},
      {"ice", ice, true, false},
      {"triangle_soup", triangle_soup, false, false},
      {"thunderstorm", thunderstorm, true, false},
      {"survey_lines", survey_lines, true, false},
      {"drift_chamber", drift_chamber, false, false},
  };
  return kinds;
}

}  // namespace kinds
