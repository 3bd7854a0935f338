// SPDX-License-Identifier: BSD-3-Clause
// PeriodicBox: the cell that bodies repeat in.
#pragma once

#include <array>
#include <cmath>
#include <string>

#include "errors.hpp"

namespace fmm {

/// What surrounds the repeated cells (docs/math.md, "Periodic boxes").
enum class Boundary {
  tin_foil,  ///< a conductor: Ewald's sums
  vacuum     ///< nothing: the cells' dipole acts back on them
};

/// Three lengths or three vectors, in the unit of the positions: `PeriodicBox(1, 1, 2)`. The lattice that the vectors
/// span counts, not which vectors span it. Bodies may lie anywhere, and are taken to where they are in one cell.
struct PeriodicBox {
  std::array<std::array<double, 3>, 3> vectors = {};
  /// Along which of them bodies repeat; as yet all three.
  std::array<bool, 3> axes = {true, true, true};
  Boundary boundary = Boundary::tin_foil;

  /// A cube.
  explicit PeriodicBox(double edge) : PeriodicBox(edge, edge, edge) {}
  /// With edges along x, y and z.
  PeriodicBox(double x, double y, double z) {
    vectors[0][0] = x;
    vectors[1][1] = y;
    vectors[2][2] = z;
  }
  explicit PeriodicBox(std::array<std::array<double, 3>, 3> const& spanning) : vectors(spanning) {}
};

namespace detail {

/// Throws InvalidArgument for boxes of no volume, or without an end.
inline void validate(PeriodicBox const& box) {
  for (int k = 0; k < 3; ++k) {
    for (const double x : box.vectors[k])
      if (!std::isfinite(x))
        throw InvalidArgument("periodic vector " + std::to_string(k), x, "finite");
    if (!box.axes[k])
      throw InvalidArgument("periodic axis " + std::to_string(k), 0,
                            "1: boxes are periodic along all three axes as yet");
  }
  auto const& [a, b, c] = box.vectors;
  const double volume = a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                        a[2] * (b[0] * c[1] - b[1] * c[0]);
  const auto length = [](auto const& v) { return std::hypot(v[0], v[1], v[2]); };
  if (!(std::fabs(volume) > 1e-9 * length(a) * length(b) * length(c)))
    throw InvalidArgument("periodic volume", volume, "that of three vectors in no plane");
}

}  // namespace detail
}  // namespace fmm
