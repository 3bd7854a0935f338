// SPDX-License-Identifier: BSD-3-Clause
// What kinds of bodies are made of: random numbers and points, and how points are moved.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <random>

#include "kinds_of_bodies.hpp"

namespace kinds {

using Random = std::mt19937_64;
using Point = std::array<double, 3>;

inline constexpr double pi = std::numbers::pi;
/// The angle between neighbouring seeds of a sunflower.
inline constexpr double golden_angle = 2 * pi * (2 - std::numbers::phi);

inline double uniform(Random& random, double low = 0, double high = 1) {
  return std::uniform_real_distribution<double>(low, high)(random);
}
inline double normal(Random& random) { return std::normal_distribution<double>()(random); }
inline double exponential(Random& random) {
  return std::exponential_distribution<double>()(random);
}
/// Evenly in the logarithm.
inline double log_uniform(Random& random, double low, double high) {
  return low * std::pow(high / low, uniform(random));
}
/// A mass between them of which there are m to -slope, as those of stars and of boulders.
inline double of_power_law(Random& random, double low, double high, double slope) {
  const double k = 1 - slope, ratio = std::pow(high / low, k);
  return low * std::pow(1 + uniform(random) * (ratio - 1), 1 / k);
}
inline double any_angle(Random& random) { return uniform(random, 0, 2 * pi); }
inline bool heads(Random& random) { return random() % 2 == 0; }
inline double any_sign(Random& random) { return heads(random) ? 1 : -1; }
/// Between them evenly in the logarithm, or zero for one of two.
inline double some(Random& random, double low, double high) {
  const double value = log_uniform(random, low, high);
  return heads(random) ? 0 : value;
}
/// A number of things, from 1 to about the most, of any order of magnitude.
inline std::size_t some_of(Random& random, double most) {
  return std::size_t(log_uniform(random, 1, std::max(most, 1.01)));
}
/// How many of all are those of one part, where all parts have as many as they can.
inline std::size_t share_of(std::size_t all, std::size_t part, std::size_t parts) {
  return all * (part + 1) / parts - all * part / parts;
}
/// To a multiple of a step, if there is one.
inline double rounded(double x, double step) { return step > 0 ? step * std::round(x / step) : x; }
inline Point in_cube(Random& random) { return {uniform(random), uniform(random), uniform(random)}; }
inline Point on_sphere(Random& random, double radius = 1) {
  const double z = uniform(random, -1, 1), phi = uniform(random, 0, 2 * std::numbers::pi),
               s = std::sqrt(1 - z * z);
  return {radius * s * std::cos(phi), radius * s * std::sin(phi), radius * z};
}
/// A place of many that are spread over a sphere of radius 1 as the seeds of a sunflower.
inline Point seed_of(std::size_t i, std::size_t count) {
  const double z = 1 - (2 * double(i) + 1) / double(count), s = std::sqrt(1 - z * z),
               phi = golden_angle * double(i);
  return {s * std::cos(phi), s * std::sin(phi), z};
}
/// p + t d.
inline Point along(Point const& p, double t, Point const& d) {
  return {p[0] + t * d[0], p[1] + t * d[1], p[2] + t * d[2]};
}
inline Point around(Random& random, Point const& centre, double width) {
  return {centre[0] + width * normal(random), centre[1] + width * normal(random),
          centre[2] + width * normal(random)};
}
inline double dot(Point const& a, Point const& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
inline Point cross(Point const& a, Point const& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline Point unit(Point const& a) { return along({0, 0, 0}, 1 / std::sqrt(dot(a, a)), a); }
inline Point any_normal_of(Random& random, Point const& a) {
  return unit(cross(a, on_sphere(random)));
}
/// Turned about the third axis.
inline Point turned(Point const& p, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return {c * p[0] - s * p[1], s * p[0] + c * p[1], p[2]};
}
/// Tilted about the first axis.
inline Point tilted(Point const& p, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return {p[0], c * p[1] - s * p[2], s * p[1] + c * p[2]};
}
inline Bodies in_units(Bodies bodies, double length, double charge) {
  for (double& x : bodies.positions) x *= length;
  for (double& q : bodies.charges) q *= charge;
  return bodies;
}
inline void add(Bodies& bodies, Point const& p, double q) { bodies.add(p[0], p[1], p[2], q); }

}  // namespace kinds
