// SPDX-License-Identifier: BSD-3-Clause
// The models. Random numbers are SplitMix64 (Steele, Lea & Flood 2014), one stream a body; only
// + - * / and square roots follow, which IEEE arithmetic rounds in one way (this file is compiled
// without contraction to fused multiply-add).
#include <array>
#include <bit>
#include <cmath>
#include <utility>

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

/// Two Plummer spheres, three hundred of the larger one's radii apart: the smaller has 0.3 times the size and every
/// third body.
Point clusters(RandomStream& random, std::size_t body) {
  const Point p = plummer(random);
  return body % 3 == 0 ? Point{0.3 * p.x, 0.3 * p.y, 0.3 * p.z} : Point{p.x + 300, p.y, p.z};
}

/// The eighths of a cell that are kept, by a stream of the cell's own.
std::array<unsigned, 4> half_of_eighths(std::uint64_t seed, std::uint64_t cell) {
  RandomStream random(~seed, cell);
  std::array<unsigned, 8> eighths{0, 1, 2, 3, 4, 5, 6, 7};
  for (unsigned i = 0; i < 4; ++i) std::swap(eighths[i], eighths[i + random.next() % (8 - i)]);
  return {eighths[0], eighths[1], eighths[2], eighths[3]};
}

/// A set of dimension two: half of the eighths of every cell are taken away, down to cells that have sixteen bodies in
/// the mean at most; uniform in these.
Point fractal(RandomStream& random, std::uint64_t seed, std::size_t n) {
  Point corner{0, 0, 0};
  double edge = 1;
  std::uint64_t cell = 1;
  for (std::uint64_t room = 16; room < n; room *= 4) {
    const unsigned eighth = half_of_eighths(seed, cell)[random.next() >> 62];
    cell = 8 * cell + eighth;
    edge /= 2;
    corner.x += edge * (eighth & 1);
    corner.y += edge * (eighth >> 1 & 1);
    corner.z += edge * (eighth >> 2);
  }
  const Point p = cube(random);
  return {corner.x + edge * p.x, corner.y + edge * p.y, corner.z + edge * p.z};
}

/// Body `body` of `n`.
Point point_of(Model model, RandomStream& random, std::uint64_t seed, std::size_t body,
               std::size_t n) {
  switch (model) {
    case Model::cube:
      return cube(random);
    case Model::plummer:
      return plummer(random);
    case Model::shell:
      return on_sphere(random);
    case Model::disk:
      return disk(random);
    case Model::clusters:
      return clusters(random, body);
    case Model::fractal:
      return fractal(random, seed, n);
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
    const Point p = point_of(model, random, seed, i, n);
    bodies.positions[3 * i] = p.x;
    bodies.positions[3 * i + 1] = p.y;
    bodies.positions[3 * i + 2] = p.z;
    bodies.charges[i] = negative ? -charge : charge;
  }
  return bodies;
}

}  // namespace forces
