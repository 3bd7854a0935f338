// SPDX-License-Identifier: BSD-3-Clause
// A lattice: its reduced cell, and its vectors within a distance. On the host, in any unit.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "../detail/noinline.hpp"

namespace fmm::periodic {

using Vector = std::array<double, 3>;

inline double dot(Vector const& a, Vector const& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
inline Vector cross(Vector const& a, Vector const& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
/// a + s b
inline Vector plus(Vector const& a, double s, Vector const& b) {
  return {a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]};
}

/// All sums of three vectors with whole factors. The lattice counts, and not the vectors that it is given by: they are
/// replaced by reduced ones, of which none is longer than a sum of it and others with whole factors (Semaev, CaLC
/// 2001), the shortest first, right-handed.
class Lattice {
 public:
  /// Any three that span it, of finite volume above 0.
  FMM_NOINLINE explicit Lattice(std::array<Vector, 3> const& given) : vectors_(given) {
    if (is_box())
      for (int k = 0; k < 3; ++k) vectors_[k][k] = std::fabs(vectors_[k][k]);
    else
      reduce();
    if (dot(cross(vectors_[0], vectors_[1]), vectors_[2]) < 0)
      for (double& number : vectors_[2]) number = -number;
    volume_ = dot(cross(vectors_[0], vectors_[1]), vectors_[2]);
    for (int k = 0; k < 3; ++k) {
      inverse_[k] = cross(vectors_[(k + 1) % 3], vectors_[(k + 2) % 3]);
      for (double& number : inverse_[k]) number /= volume_;
    }
  }

  /// Edges of the cell.
  std::array<Vector, 3> const& vectors() const { return vectors_; }
  /// b_k with b_k . a_l = 1 if k = l, else 0: those of the reciprocal lattice.
  std::array<Vector, 3> const& inverse() const { return inverse_; }
  double volume() const { return volume_; }
  /// Between the faces that vector k leads from and to.
  double height(int k) const { return 1 / std::sqrt(dot(inverse_[k], inverse_[k])); }
  double longest() const {
    double square = 0;
    for (Vector const& vector : vectors_) square = std::max(square, dot(vector, vector));
    return std::sqrt(square);
  }
  /// The longest vector over the smallest height.
  double aspect() const { return longest() / std::min({height(0), height(1), height(2)}); }
  /// Of the cell, from its middle.
  double farthest_corner() const {
    double square = 0;
    for (int sign = 0; sign < 4; ++sign) {
      const Vector half = at(0.5, sign & 1 ? 0.5 : -0.5, sign & 2 ? 0.5 : -0.5);
      square = std::max(square, dot(half, half));
    }
    return std::sqrt(square);
  }
  Vector at(double i, double j, double k) const {
    return plus(plus(plus({0, 0, 0}, i, vectors_[0]), j, vectors_[1]), k, vectors_[2]);
  }
  /// Vectors of the lattice but 0, at most `radius` long, the shortest first. Of each its opposite is there, too.
  FMM_NOINLINE std::vector<Vector> vectors_within(double radius) const {
    std::vector<Vector> found;
    long most[3];
    for (int k = 0; k < 3; ++k) most[k] = long(radius / height(k) * (1 + 1e-12));
    for (long i = -most[0]; i <= most[0]; ++i)
      for (long j = -most[1]; j <= most[1]; ++j)
        for (long k = -most[2]; k <= most[2]; ++k) {
          const Vector n = at(double(i), double(j), double(k));
          if ((i != 0 || j != 0 || k != 0) && dot(n, n) <= radius * radius) found.push_back(n);
        }
    std::sort(found.begin(), found.end(), [](Vector const& a, Vector const& b) {
      return dot(a, a) != dot(b, b) ? dot(a, a) < dot(b, b) : a < b;
    });
    return found;
  }
  /// Along the axes, in their order: a box, whose edges stay where they are.
  bool is_box() const {
    for (int k = 0; k < 3; ++k)
      for (int d = 0; d < 3; ++d)
        if ((vectors_[k][d] != 0) != (k == d)) return false;
    return true;
  }
  Lattice reciprocal() const { return Lattice(inverse_); }
  /// In another unit of length.
  Lattice times(double factor) const {
    Lattice scaled = *this;
    for (int k = 0; k < 3; ++k)
      for (int d = 0; d < 3; ++d) {
        scaled.vectors_[k][d] *= factor;
        scaled.inverse_[k][d] /= factor;
      }
    scaled.volume_ *= factor * factor * factor;
    return scaled;
  }

 private:
  void sort() {
    for (const int k : {0, 1, 0})
      if (dot(vectors_[k + 1], vectors_[k + 1]) < dot(vectors_[k], vectors_[k]))
        std::swap(vectors_[k], vectors_[k + 1]);
  }
  FMM_NOINLINE void reduce() {
    auto& v = vectors_;
    constexpr double enough = 1 - 1e-12;  // of a square, so that rounding makes no endless loop
    for (sort();; sort()) {
      // the second by the first
      const Vector second = plus(v[1], -std::round(dot(v[0], v[1]) / dot(v[0], v[0])), v[0]);
      if (dot(second, second) < enough * dot(v[1], v[1])) {
        v[1] = second;
        continue;
      }
      // the third by both: the whole factors next to those of its projection
      const double aa = dot(v[0], v[0]), ab = dot(v[0], v[1]), bb = dot(v[1], v[1]),
                   ac = dot(v[0], v[2]), bc = dot(v[1], v[2]), det = aa * bb - ab * ab;
      const double x = std::floor((bb * ac - ab * bc) / det),
                   y = std::floor((aa * bc - ab * ac) / det);
      Vector least = v[2];
      for (int i = 0; i <= 1; ++i)
        for (int j = 0; j <= 1; ++j) {
          const Vector third = plus(plus(v[2], -(x + i), v[0]), -(y + j), v[1]);
          if (dot(third, third) < enough * dot(least, least)) least = third;
        }
      if (least == v[2]) return;
      v[2] = least;
    }
  }

  std::array<Vector, 3> vectors_, inverse_;
  double volume_ = 0;
};

}  // namespace fmm::periodic
