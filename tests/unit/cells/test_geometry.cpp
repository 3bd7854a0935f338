// SPDX-License-Identifier: BSD-3-Clause
// Units of length, and how cells lie to each other.
#include <gtest/gtest.h>

#include <cmath>
#include <fmm/cells/geometry.hpp>

namespace fmm_test {
namespace {

using fmm::Cell;

/// The cell of a level that has so many before it along each axis.
Cell cell_at(int level, int x, int y, int z) {
  Cell cell{};
  cell.level = std::int16_t(level);
  cell.centre[0] = fmm::centre_after(x, level);
  cell.centre[1] = fmm::centre_after(y, level);
  cell.centre[2] = fmm::centre_after(z, level);
  return cell;
}

double root_coordinate(Cell const& cell, int d) { return std::ldexp(double(cell.centre[d]), -22); }

TEST(Units, AreExactOnEveryLevel) {
  EXPECT_EQ(fmm::in_root_edges(fmm::root_edge), 1.0f);
  EXPECT_EQ(fmm::in_grid_units(0.25f), float(fmm::root_edge / 4));
  EXPECT_EQ(fmm::grid_unit(3.0), std::ldexp(3.0, -22));
  for (int level = 0; level <= 21; ++level) {
    EXPECT_EQ(fmm::edges_of_level<float>(level), std::ldexp(1.0f, level));
    EXPECT_EQ(fmm::edge_of_level<double>(level), std::ldexp(1.0, -level));
    EXPECT_EQ(fmm::in_root_edges<double>(fmm::grid_edge(level)), std::ldexp(1.0, -level));
  }
  EXPECT_GE(double(fmm::half_diagonal), std::sqrt(0.75));
  EXPECT_GE(double(fmm::child_distance), 0.5 * std::sqrt(0.75));
}

TEST(Geometry, ChildrenLieInTheirParents) {
  const Cell parent = cell_at(3, 5, 0, 7);
  for (int octant = 0; octant < 8; ++octant) {
    Cell child = cell_at(4, 10 + (octant >> 2 & 1), octant >> 1 & 1, 14 + (octant & 1));
    for (int d = 0; d < 3; ++d) {
      EXPECT_EQ(fmm::child_centre(parent, octant, d), child.centre[d]);
      EXPECT_EQ(fmm::centre_in<float>(parent, child, d), octant >> (2 - d) & 1 ? 0.25f : -0.25f);
    }
    EXPECT_EQ(fmm::edge_in<float>(parent, child), 0.5f);
    EXPECT_EQ(fmm::edge_in<float>(child, parent), 2.0f);
  }
  const Cell root = cell_at(0, 0, 0, 0);
  EXPECT_EQ(root.centre[0], fmm::root_edge / 2);
  EXPECT_EQ(root.edge(), fmm::root_edge);
}

TEST(Geometry, FramesAgreeWithTheRoot) {
  const Cell a = cell_at(21, (1 << 21) - 1, 12345, 0), b = cell_at(2, 0, 3, 1);
  for (int d = 0; d < 3; ++d) {
    const double apart = root_coordinate(a, d) - root_coordinate(b, d);
    EXPECT_EQ(fmm::offset_in_root<double>(a, b, d), apart);
    EXPECT_EQ(fmm::offset_in_root<float>(a, b, d), float(apart));
    EXPECT_EQ(fmm::centre_in<double>(b, a, d), 4 * apart);
    EXPECT_EQ(fmm::centre_in<double>(a, b, d), -std::ldexp(apart, 21));
    EXPECT_EQ(fmm::offset(a, b, d), -fmm::offset(b, a, d));
  }
  EXPECT_EQ(fmm::half_edges(fmm::offset(cell_at(4, 7, 0, 0), cell_at(4, 2, 0, 0), 0), 4), 10);
  EXPECT_EQ(fmm::half_edges(fmm::offset(cell_at(4, 7, 0, 0), cell_at(3, 1, 0, 0), 0), 4), 9);
}

TEST(Geometry, DistancesOfCentresAndOfCubes) {
  const Cell a = cell_at(2, 0, 0, 0), b = cell_at(2, 3, 1, 0);
  const float edge = float(a.edge());
  EXPECT_EQ(fmm::distance2(a, b), 10 * edge * edge);
  const auto cubes = fmm::distances(a, b, edge);
  EXPECT_EQ(cubes.centres2, 10 * edge * edge);
  EXPECT_EQ(cubes.cubes2, 4 * edge * edge);
  EXPECT_EQ(fmm::distances(a, b, 0.5f * edge).cubes2, (6.25f + 0.25f) * edge * edge);
  EXPECT_FALSE(fmm::touch(a, b, edge));
  EXPECT_TRUE(fmm::touch(a, cell_at(2, 1, 1, 1), edge));
  EXPECT_TRUE(fmm::touch(a, a, edge));
}

}  // namespace
}  // namespace fmm_test
