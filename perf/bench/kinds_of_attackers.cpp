// SPDX-License-Identifier: BSD-3-Clause
// Kinds of bodies that were made to break a tolerance: large terms that cancel at the very bodies,
// where nobody would expect it from the field nearby. Each draws its own shape, ratios and units;
// each could be somebody's.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "kinds_of_bodies.hpp"
#include "random_points.hpp"

namespace kinds {

namespace {

/// At least 1, and seldom far more: a power law that ends at pow(rarest, -slope).
double heavy(Random& random, double slope, double rarest = 1e-5) {
  return std::pow(uniform(random, rarest, 1), -slope);
}

/// Three directions at right angles.
struct Frame {
  Point u, v, w;
  Point at(Point const& p) const {
    return along(along(along({0, 0, 0}, p[0], u), p[1], v), p[2], w);
  }
};
Frame any_frame(Random& random) {
  const Point w = on_sphere(random), u = any_normal_of(random, w);
  return {u, cross(w, u), w};
}
Bodies turned(Bodies bodies, Random& random) {
  const Frame frame = any_frame(random);
  for (std::size_t i = 0; i < bodies.positions.size(); i += 3) {
    double* const x = &bodies.positions[i];
    const Point p = frame.at({x[0], x[1], x[2]});
    std::copy(p.begin(), p.end(), x);
  }
  return bodies;
}
/// Units that are powers of two, so that what is exact stays exact; what is next to zero is zero.
Bodies in_any_units(Bodies bodies, Random& random) {
  const auto scale = [](std::vector<double>& values, int exponent) {
    for (double& x : values) {
      x = std::ldexp(x, exponent);
      if (std::abs(x) < 1e-12) x = 0;
    }
  };
  scale(bodies.positions, int(random() % 21) - 10);
  scale(bodies.charges, int(random() % 11) - 5);
  return bodies;
}

/// Rings of equal charges round one that cancels their pull on each other, or their potential, as
/// Maxwell and Thomson studied: for who looks for equilibria. Rings of 20 or 472 have hardly a net
/// charge either. Stronger rings are balanced better, so that their bodies look like all others.
Bodies balanced_rings(std::size_t n, Random& random) {
  const double share = heads(random) ? 0.25 : 0.5;  // of a ring's sum: for the pull, the potential
  const auto sum = [](int m) {
    double result = 0;
    for (int k = 1; k < m; ++k) result += 1 / std::sin(pi * k / m);
    return result;
  };
  const int most = std::max(3, int(n / 2)), dimensions = 1 + int(random() % 3);
  int m = int(log_uniform(random, 3, std::min(most, 600)));
  if (random() % 3 != 0)  // no net charge
    for (m = 3; m < most && share * sum(m) < m;) ++m;
  const double centre = -share * sum(m), probes = heads(random) ? 0 : uniform(random, 0, 0.05),
               slope = heads(random) ? 0 : uniform(random, 0, 1.2),
               narrowest = log_uniform(random, 0.1, 1), widest = log_uniform(random, 0.05, 0.45),
               imbalance = log_uniform(random, 1e-5, 0.1);
  const bool is_stack = heads(random);  // all rings have the same axis
  const int rings = std::max(1, int(std::lround((1 - probes) * double(n) / (m + 1)))),
            row = int(std::ceil(std::pow(rings, 1.0 / dimensions)));
  const Frame common = any_frame(random);
  Bodies bodies;
  for (int ring = 0; ring < rings; ++ring) {
    const Point at = {double(ring % row), double(ring / row % row), double(ring / row / row)};
    const Frame frame = is_stack ? common : any_frame(random);
    const double radius = widest * log_uniform(random, narrowest, 1),
                 strength = heavy(random, slope), q = any_sign(random) * strength * radius * radius;
    for (int k = 0; k < m; ++k) {
      const double phi = 2 * pi * k / m;
      const Point p = frame.at({radius * std::cos(phi), radius * std::sin(phi), 0});
      add(bodies, along(at, 1, p), q);
    }
    add(bodies, at, q * centre * (1 + imbalance / strength * normal(random)));
  }
  while (probes > 0 && bodies.size() < n) {
    const Point at = {uniform(random) * row, dimensions > 1 ? uniform(random) * row : 0,
                      dimensions > 2 ? uniform(random) * row : 0};
    add(bodies, along(at, 0.7, on_sphere(random)), 0);
  }
  return in_any_units(turned(std::move(bodies), random), random);
}

/// Layers of boron nitride that are turned a little from each other, flat or rolled up, as flakes
/// or ribbons, some with ripples or holes: for who studies moire patterns. Symmetry cancels most of
/// the field at all atoms, and it decays within one bond: hardly any is left at a probe above.
Bodies twisted_sheets(std::size_t n, Random& random) {
  const int layers = std::clamp(int(n / 16), 1, 1 + int(random() % 4));
  const double cells = 0.96 * double(n) / (4 * layers);
  const int rows = std::max(1, int(std::sqrt(cells / log_uniform(random, 1, 300)))),
            columns = std::max(1, int(std::lround(cells / rows)));
  const double twist = heads(random) ? 0 : log_uniform(random, 1e-3, 0.5),
               distance = log_uniform(random, 0.3, 5), clearance = log_uniform(random, 0.3, 10),
               ripple = heads(random) ? 0 : log_uniform(random, 1e-5, 0.2),
               wave = 2 * pi / log_uniform(random, 3, 100),
               missing = heads(random) ? 0 : log_uniform(random, 1e-5, 1e-2),
               height = std::sqrt(3.0), half = std::hypot(columns, height * rows) / 2,
               radius = heads(random) ? 0 : 2 * half / uniform(random, 0.5, 6);
  const bool is_alternating = heads(random);
  Bodies bodies;
  const auto place = [&](double x, double y, double z, double q) {
    z += ripple * std::sin(wave * x) * std::cos(0.7 * wave * y);
    const double phi = radius > 0 ? x / radius : 0, r = radius + z;
    add(bodies, radius > 0 ? Point{r * std::cos(phi), r * std::sin(phi), y} : Point{x, y, z}, q);
  };
  for (int layer = 0; layer < layers; ++layer) {
    const double c = std::cos(twist * layer), s = std::sin(twist * layer),
                 q = is_alternating && layer % 2 == 1 ? -1 : 1;
    for (int i = 0; i < columns; ++i)
      for (int j = 0; j < rows; ++j)
        for (int atom = 0; atom < 4; ++atom) {
          const double x = i - columns / 2.0 + atom / 2 * 0.5,
                       y = height * (j - rows / 2.0 + atom / 2 * 0.5) + atom % 2 / height;
          if (uniform(random) >= missing)
            place(c * x - s * y, s * x + c * y, layer * distance, atom % 2 == 0 ? q : -q);
        }
  }
  for (std::size_t i = 0; i < n / 25; ++i)
    place(columns * uniform(random, -0.4, 0.4), height * rows * uniform(random, -0.4, 0.4),
          (layers - 1) * distance + clearance * uniform(random, 0.8, 1), 0);
  return in_any_units(turned(std::move(bodies), random), random);
}

/// High multipoles of molecules, each a small block of charges of alternating sign, the products of
/// binomials: for who fits point charges to quantum chemistry. All lower moments vanish; a handful
/// of blocks is far stronger than the others; weak ions and probes are between them.
Bodies distributed_multipoles(std::size_t n, Random& random) {
  const int highest = std::clamp(int(std::log2(double(n))) - 1, 1, 1 + int(random() % 8));
  const auto draw_orders = [&] {
    std::array<int, 3> orders = {0, 0, 0};
    for (int left = 1 + int(random() % highest); left > 0; --left) ++orders[random() % 3];
    return orders;
  };
  const double spacing = 1 / std::cbrt(double(n)), edge = spacing * log_uniform(random, 0.05, 5),
               slope = uniform(random, 0, 1.3), blocks = uniform(random, 0.2, 0.97),
               weak = log_uniform(random, 1e-6, 1), flatness = log_uniform(random, 0.01, 1);
  const bool is_crystal = heads(random);  // all blocks are alike, but for their strength
  std::array<int, 3> orders = draw_orders();
  Frame frame = any_frame(random);
  const auto anywhere = [&] {
    return Point{uniform(random), uniform(random), flatness * uniform(random)};
  };
  Bodies bodies;
  while (double(bodies.size()) < blocks * double(n)) {
    if (!is_crystal) orders = draw_orders(), frame = any_frame(random);
    const Point corner = anywhere();
    const double strength = any_sign(random) * heavy(random, slope);
    double of_x = strength;
    for (int i = 0; i <= orders[0]; of_x *= -double(orders[0] - i) / (i + 1), ++i) {
      double of_y = of_x;
      for (int j = 0; j <= orders[1]; of_y *= -double(orders[1] - j) / (j + 1), ++j) {
        double of_z = of_y;
        for (int k = 0; k <= orders[2]; of_z *= -double(orders[2] - k) / (k + 1), ++k)
          add(bodies, along(corner, edge, frame.at({1.0 * i, 0.8 * j, 0.6 * k})), of_z);
      }
    }
  }
  while (bodies.size() < n) add(bodies, anywhere(), heads(random) ? 0 : weak * any_sign(random));
  return in_any_units(turned(std::move(bodies), random), random);
}

/// A plasma before its first step: ions, and electrons of one, two or three to an ion exactly where
/// it is, but for some octants in which a wave moves them, and a weak beam whose field is all that
/// is left elsewhere: for who starts a particle code. Split particles have weights of powers of 2.
Bodies quiet_start(std::size_t n, Random& random) {
  const int per_ion = 1 + int(random() % 3);
  const std::size_t in_beam = 2 + std::size_t(double(n) * log_uniform(random, 1e-4, 0.05)),
                    ions = std::max<std::size_t>(1, (n - std::min(n, in_beam)) / (1 + per_ion));
  const unsigned moving = heads(random) ? 0 : unsigned(random() % 256);  // a bit for each octant
  const double slope = heads(random) ? 0 : uniform(random, 0, 1.3),
               share = log_uniform(random, 1e-5, 0.1), width = log_uniform(random, 1e-3, 0.3),
               amplitude = log_uniform(random, 0.1, 30) / std::cbrt(double(n)),
               wave = 2 * pi * log_uniform(random, 0.3, 30);
  const bool is_neutral = heads(random);  // so is the beam
  const Point box = {1, log_uniform(random, 0.1, 1), log_uniform(random, 0.1, 1)},
              heading = on_sphere(random), polarisation = on_sphere(random),
              axis = on_sphere(random);
  double total = 0;
  Bodies bodies;
  for (std::size_t i = 0; i < ions; ++i) {
    const double weight = std::exp2(std::floor(std::log2(heavy(random, slope))));
    bodies.add(box[0] * uniform(random, -1, 1), box[1] * uniform(random, -1, 1),
               box[2] * uniform(random, -1, 1), per_ion * weight);
    total += per_ion * weight;
  }
  for (int electron = 0; electron < per_ion; ++electron)
    for (std::size_t i = 0; i < ions; ++i) {
      Point p = {bodies.positions[3 * i], bodies.positions[3 * i + 1], bodies.positions[3 * i + 2]};
      const unsigned octant = (p[0] > 0 ? 1 : 0) + (p[1] > 0 ? 2 : 0) + (p[2] > 0 ? 4 : 0);
      const double shift = amplitude * std::sin(wave * dot(heading, p));
      if ((moving >> octant & 1) != 0 && std::abs(shift) > 1e-6) p = along(p, shift, polarisation);
      add(bodies, p, -bodies.charges[i] / per_ion);
    }
  for (std::size_t i = 0; i < in_beam; ++i) {
    const double q = share * total / double(in_beam), t = uniform(random, -1, 1);
    const Point p =
        along(along({0, 0, 0}, t, axis), width, {normal(random), normal(random), normal(random)});
    add(bodies, {p[0] * box[0], p[1] * box[1], p[2] * box[2]},
        is_neutral ? q * any_sign(random) : q);
  }
  return in_any_units(std::move(bodies), random);
}

/// A star cluster, globe, disk or rod, of nearly all bodies and hardly any mass, in the middle of
/// heavy dark bodies that lie opposite each other in pairs: for who follows a cluster within its
/// galaxy. The pulls of a pair, which are all of the field elsewhere, cancel within the cluster.
Bodies clump_in_halo(std::size_t n, Random& random) {
  const std::size_t pairs =
      std::max<std::size_t>(1, std::size_t(double(n) * log_uniform(random, 0.003, 0.2) / 2));
  const double in_clump = std::max(1.0, double(n) - 2.0 * double(pairs)),
               width = log_uniform(random, 3e-3, 0.3), outer = log_uniform(random, 1.1, 30),
               slope = uniform(random, 0, 1.2), jitter = uniform(random, 0, 0.3),
               skew = log_uniform(random, 1e-6, 0.3),
               mass = 1e4 * double(pairs) * log_uniform(random, 1e-5, 10) * width * width /
                      in_clump;  // a pull of its own that is at most some times that of the halo
  const Point axes = {width, heads(random) ? width : width * log_uniform(random, 0.03, 1),
                      width * log_uniform(random, 0.03, 1)};
  const int side = std::max(2, int(std::lround(std::cbrt(in_clump * 6 / pi))));
  Bodies bodies;
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j)
      for (int k = 0; k < side; ++k) {
        Point p = {double(i), double(j), double(k)};
        for (double& x : p) x = 2 * (x + 0.5 + jitter * uniform(random, -1, 1)) / side - 1;
        if (dot(p, p) < 1) bodies.add(axes[0] * p[0], axes[1] * p[1], axes[2] * p[2], mass);
      }
  for (std::size_t i = 0; i < pairs; ++i) {
    const double r = log_uniform(random, 1, outer), q = 1e4 * heavy(random, slope) * r * r;
    const Point p = along({0, 0, 0}, r, on_sphere(random));
    add(bodies, p, q);
    add(bodies, along({0, 0, 0}, -1, p), q * (1 + skew * normal(random) / 10));
  }
  return in_any_units(turned(std::move(bodies), random), random);
}

/// Galaxies as Mandelbrot's flights: steps of a power law, often from an earlier place, squeezed to
/// a sheet or a thread at an angle; masses are a power of the step that led there, times one of
/// chance, so that any scale may have most of the field: for who models surveys of the sky.
Bodies levy_flight(std::size_t n, Random& random) {
  const double slope = uniform(random, 1.2, 2.2), of_mass = uniform(random, -1.5, 2.5),
               chance = heads(random) ? 0 : uniform(random, 0, 0.8),
               restarts = log_uniform(random, 1e-4, 0.3), flattest = log_uniform(random, 0.03, 1);
  const Point squeezed = {1, log_uniform(random, flattest, 1), flattest};
  const bool is_late = heads(random);  // restarts from the last places only, else from any
  Bodies bodies;
  Point at = {0, 0, 0};
  while (bodies.size() < std::max<std::size_t>(n, 2)) {
    if (!bodies.charges.empty() && uniform(random) < restarts) {
      const std::size_t back =
          random() % (is_late ? std::min<std::size_t>(bodies.size(), 1000) : bodies.size());
      std::copy_n(bodies.positions.end() - 3 * std::ptrdiff_t(back + 1), 3, at.begin());
    }
    const double step = 0.01 * std::pow(1 - uniform(random) * (1 - std::pow(1e-4, slope)),
                                        -1 / slope);  // up to 100
    const Point d = on_sphere(random);
    at = along(at, step, {d[0] * squeezed[0], d[1] * squeezed[1], d[2] * squeezed[2]});
    add(bodies, at, std::pow(step, of_mass) * heavy(random, chance));
  }
  return in_any_units(turned(std::move(bodies), random), random);
}

}  // namespace

/// Kinds that try to break the tolerance; a kind keeps its place.
std::vector<Kind> const& of_attackers() {
  static const std::vector<Kind> kinds = {
      {"balanced_rings", balanced_rings, true, false},
      {"twisted_sheets", twisted_sheets, true, false},
      {"distributed_multipoles", distributed_multipoles, true, false},
      {"quiet_start", quiet_start, true, false},
      {"clump_in_halo", clump_in_halo, false, false},
      {"levy_flight", levy_flight, false, false},
  };
  return kinds;
}

}  // namespace kinds
