// SPDX-License-Identifier: BSD-3-Clause
// The models. Random numbers are SplitMix64 (Steele, Lea & Flood 2014), one stream a body; only
// + - * / and square roots follow, which IEEE arithmetic rounds in one way (this file is compiled
// without contraction to fused multiply-add).
#include <bit>
#include <cmath>

#include "bodies.hpp"

namespace forces {

namespace {

std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::uint64_t stream)
      : state_(mix(mix(seed + golden) ^ (stream * 0xd1342543de82ef95u + golden))) {}

  std::uint64_t next() { return mix(state_ += golden); }
  /// Uniform in the open interval (0, 1).
  double uniform() { return (static_cast<double>(next() >> 12) + 0.5) * 0x1p-52; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

  /// Exponential with mean 1 by von Neumann's comparisons: a falling run of odd length gives its
  /// first number; a run of even length adds one and starts again.
  double exponential() {
    for (int whole = 0;; ++whole) {
      const double first = uniform();
      double last = first;
      int length = 1;
      for (double next = uniform(); next < last; next = uniform()) last = next, ++length;
      if (length % 2 == 1) return whole + first;
    }
  }

 private:
  static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;
  std::uint64_t state_;
};

struct Point {
  double x, y, z;
};

/// Uniform on the unit circle, by rejection.
Point on_circle(RandomStream& random) {
  for (;;) {
    const double a = random.uniform(-1, 1), b = random.uniform(-1, 1), s = a * a + b * b;
    if (s > 1e-12 && s < 1) return {a / std::sqrt(s), b / std::sqrt(s), 0};
  }
}

/// Uniform on the unit sphere (Marsaglia 1972).
Point on_sphere(RandomStream& random) {
  for (;;) {
    const double a = random.uniform(-1, 1), b = random.uniform(-1, 1), s = a * a + b * b;
    if (s < 1) return {2 * a * std::sqrt(1 - s), 2 * b * std::sqrt(1 - s), 1 - 2 * s};
  }
}

/// Cube root of a normal number x > 0: a third of the exponent, then Newton's steps.
double cube_root(double x) {
  double y = std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) / 3 + 0x2a9f7893782da1ceu);
  for (int step = 0; step < 6; ++step) y = (2 * y + x / (y * y)) / 3;
  return y;
}

/// M(r) = (r / sqrt(1 + r^2))^3, so r = c / sqrt(1 - c^2) with c the cube root of the mass inside.
Point plummer(RandomStream& random) {
  constexpr double cut = 20;
  const double edge = cut / std::sqrt(1 + cut * cut);
  const double c = cube_root(edge * edge * edge * random.uniform());
  const double r = c / std::sqrt(1 - c * c);
  const Point p = on_sphere(random);
  return {r * p.x, r * p.y, r * p.z};
}

/// Surface density exp(-R): R is the sum of two exponentials.
Point disk(RandomStream& random) {
  constexpr double scale_height = 0.1;
  const double r = random.exponential() + random.exponential();
  const double height = scale_height * random.exponential();
  const Point p = on_circle(random);
  return {r * p.x, r * p.y, random.next() >> 63 ? height : -height};
}

Point cube(RandomStream& random) {
  const double x = random.uniform(), y = random.uniform(), z = random.uniform();
  return {x, y, z};
}

Point point_of(Model model, RandomStream& random) {
  switch (model) {
    case Model::cube:
      return cube(random);
    case Model::plummer:
      return plummer(random);
    case Model::shell:
      return on_sphere(random);
    case Model::disk:
      return disk(random);
  }
  return {};
}

}  // namespace

Bodies make_model(Model model, std::size_t n, std::uint64_t seed, ChargeKind charges) {
  Bodies bodies;
  resize(bodies.positions, 3 * n, "the model's positions");
  resize(bodies.charges, n, "the model's charges");
  const double charge = n > 0 ? 1.0 / static_cast<double>(n) : 0;
  for (std::size_t i = 0; i < n; ++i) {
    RandomStream random(seed, i);
    const bool negative = charges == ChargeKind::mixed && random.next() >> 63;
    const Point p = point_of(model, random);
    bodies.positions[3 * i] = p.x;
    bodies.positions[3 * i + 1] = p.y;
    bodies.positions[3 * i + 2] = p.z;
    bodies.charges[i] = negative ? -charge : charge;
  }
  return bodies;
}

}  // namespace forces
