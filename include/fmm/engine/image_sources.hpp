// SPDX-License-Identifier: BSD-3-Clause
// Periodic images that lists have, as sources: their multipoles, which are those of the cells that they are of, and
// bodies of their own where these are not repeated at whole grid units (tree/images.hpp).
#pragma once

#include <limits>

#include "../kernels/spherical/regular.hpp"
#include "../kernels/strengths.hpp"
#include "plan_data.hpp"

namespace fmm::engine {

/// Four numbers of an image's multipole at a time.
template <class Space, class Real>
struct CopyMultipoles {
  ImageCells<Space> images;
  int quads;  ///< of a cell
  Array<Real, Space> multipoles;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto* const all = reinterpret_cast<kernels::Quad<Real>*>(multipoles.data());
    const std::int64_t image = i / quads, quad = i % quads;
    all[(images.begin + image) * quads + quad] = all[images.of(image) * quads + quad];
  }
};

/// M2M from where an image's bodies are to its centre, a rest away: coefficients of one degree a thread. Terms beyond
/// the last digit are left out: few are not.
template <class Space, class Real>
struct ShiftMultipoles {
  ImageCells<Space> images;
  Array<Cell, Space> cells;
  int order, row;
  Array<double, Space> norms, inverses;  ///< norms_of_coefficients(order), and 1 over them
  Array<double, Space> harmonics;  ///< U of the rests in grid units, coefficient_count(order) each
  Array<Real, Space> multipoles;
  static constexpr double negligible = 0.01 * double(std::numeric_limits<Real>::epsilon());

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t image = i / (order + 1);
    const auto j = int(i % (order + 1));
    Real const* const from = multipoles.data() + std::int64_t(images.of(image)) * row;
    Real* const to = multipoles.data() + (images.begin + image) * row;
    double const* const u =
        harmonics.data() + std::int64_t(images.root(image)) * coefficient_count(order);
    const double per_unit = per_grid_unit<double>(cells(images.begin + image));
    int terms = 0;
    for (double size = double(images.rest) * per_unit; terms < j && size >= negligible; ++terms)
      size *= double(images.rest) * per_unit;
    const auto number = [&](int n, int m) {  // of the sums of U
      const auto M = kernels::harmonic(from, n, m);
      const double inverse = inverses(index_re(n, m < 0 ? -m : m));
      return kernels::Complex<double>{double(M.re) * inverse, double(M.im) * inverse};
    };
    for (int k = 0; k <= j; ++k) {
      kernels::Complex<double> sum = number(j, k);
      double power = 1;
      for (int n = 1; n <= terms; ++n) {
        power *= per_unit;
        sum += kernels::product_of_degree(u, n, number, j, k) * power;
      }
      const double norm = norms(index_re(j, k));
      to[index_re(j, k)] = Real(sum.re * norm);
      if (k > 0) to[index_im(j, k)] = Real(sum.im * norm);
    }
  }
};

/// Multipoles of images, in rows of so many numbers, for each of the densities.
template <class Space, class Real>
void set_multipoles_of_images(Space const& space, PeriodicParts<Space> const& periodic,
                              Octree<Space> const& octree, int row, int densities,
                              Array<Real, Space> multipoles) {
  auto const& images = octree.images;
  if (images.count() == 0) return;
  for (int d = 0; d < densities; ++d) {
    const auto all = kernels::plane(multipoles, d, densities);
    if (images.rest == 0)
      for_range("fmm::images::multipoles", space, std::int64_t(images.count()) * (row / 4),
                CopyMultipoles<Space, Real>{images, row / 4, all});
    else
      for_range(
          "fmm::images::multipoles", space, std::int64_t(images.count()) * (periodic.order + 1),
          ShiftMultipoles<Space, Real>{images, octree.cells, periodic.order, row, periodic.norms,
                                       periodic.inverse_norms, periodic.harmonics_of_rests, all});
  }
}

/// Where images' bodies are to be, behind so many: those of leaves, one after the other.
template <class Space>
struct NumberImageBodies {
  ImageCells<Space> images;
  Array<Cell, Space> cells;
  std::int64_t bodies;
  Array<Offset, Space> total;

  KOKKOS_FUNCTION void operator()(std::int64_t i, Offset& before, bool final) const {
    Cell& cell = cells(images.begin + i);
    const int count = cell.is_leaf() ? cell.body_count : 0;
    if (final) cell.body_begin = BodyIndex(bodies + before);
    before += count;
    if (final && i + 1 == images.count()) total(0) = before;
  }
};

/// Those bodies, with their strengths: relative to their leaves. So many threads a leaf.
template <class Space, class Real, class Strengths>
struct PlaceImageBodies {
  ImageCells<Space> images;
  Array<Cell, Space> cells;
  Array<double, Space> rests;  ///< of images of the root, in grid units, three each
  SourceStrengths<Space, Real, Strengths> own, all;  ///< the tree's, and both
  Array<Body<Real>, Space> low;                      ///< of all, or none
  static constexpr int threads = is_host_space_v<Space> ? 1 : 32;

  KOKKOS_FUNCTION void operator()(std::int64_t thread) const {
    const std::int64_t i = thread / threads;
    const Cell cell = cells(images.begin + i);
    if (!cell.is_leaf()) return;
    const BodyIndex begin = cells(images.of(i)).body_begin;
    double rest[3];
    for (int d = 0; d < 3; ++d)
      rest[d] = rests(3 * images.root(i) + d) * per_grid_unit<double>(cell);
    for (int b = int(thread % threads); b < cell.body_count; b += threads) {
      const BodyIndex from = begin + b, to = cell.body_begin + b;
      Body<Real> const& body = own.bodies(from);
      const Real x[3] = {body.x, body.y, body.z};
      Real high[3];
      if (low.extent(0) > 0) {
        Body<Real> const& of_body = low(from);
        const Real lows[3] = {of_body.x, of_body.y, of_body.z};
        Real low_parts[3];
        for (int d = 0; d < 3; ++d) add(rest[d], x[d], lows[d], high[d], low_parts[d]);
        low(to) = {low_parts[0], low_parts[1], low_parts[2], of_body.q};
      } else {
        for (int d = 0; d < 3; ++d) high[d] = Real(double(x[d]) + rest[d]);
      }
      all.bodies(to) = {high[0], high[1], high[2], body.q};
      for (int k = 1; k < Strengths::numbers; ++k) all.other(to, k) = own.other(from, k);
    }
  }

 private:
  /// high + low = x + lower + rest, to the digits of two parts.
  KOKKOS_FORCEINLINE_FUNCTION static void add(double rest, float x, float lower, float& high,
                                              float& low) {
    const auto parts = in_two_parts(double(x) + double(lower) + rest);
    high = parts.high;
    low = parts.low;
  }
  KOKKOS_FORCEINLINE_FUNCTION static void add(double rest, double x, double lower, double& high,
                                              double& low) {
    high = x + rest;  // Knuth's sum
    const double back = high - x;
    low = (x - (high - back)) + (rest - back) + lower;
  }
};

/// Those of all images, whose leaves have places for them.
template <class Space, class Real, class Strengths>
void place_bodies_of_images(Space const& space, ImageCells<Space> const& images,
                            Array<Cell, Space> cells, Array<double, Space> rests,
                            SourceStrengths<Space, Real, Strengths> own,
                            SourceStrengths<Space, Real, Strengths> all,
                            Array<Body<Real>, Space> low) {
  using Place = PlaceImageBodies<Space, Real, Strengths>;
  for_range("fmm::images::place", space, std::int64_t(images.count()) * Place::threads,
            Place{images, cells, rests, own, all, low});
}

/// The tree's own strengths beside room for those of images.
template <class Space, class Real, class Strengths>
struct CopyOthers {
  SourceStrengths<Space, Real, Strengths> own, all;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (int k = 1; k < Strengths::numbers; ++k) all.other(i, k) = own.other(i, k);
  }
};

/// Sources with the images' bodies behind the tree's own.
template <class Space, class Precision, class Strengths>
struct SourcesWithImages {
  BodyTree<Space, Precision> tree;
  SourceStrengths<Space, real_t<Precision>, Strengths> strengths;
};

/// Gives the images' leaves places for their bodies behind so many; returns how many bodies there are then.
template <class Space>
std::int64_t number_bodies_of_images(Space const& space, OctreeBuffers<Space>& buffers,
                                     Octree<Space> const& octree, std::int64_t own) {
  auto const& images = octree.images;
  const auto total = buffers.totals.resize(1);
  scan<Offset>("fmm::images::bodies", space, images.count(),
               NumberImageBodies<Space>{images, octree.cells, own, total});
  const std::int64_t count = own + read_back(space, total.data());
  if (count > std::numeric_limits<BodyIndex>::max())
    throw OutOfMemory("bodies of images", std::size_t(count) * sizeof(Body<double>));
  return count;
}

/// Those of a plan whose lists are there, and whose strengths are `own`; the plan's tree keeps its own bodies.
template <class Space, class Precision, class Strengths, class Real>
SourcesWithImages<Space, Precision, Strengths> place_bodies_of_images(
    Space const& space, PlanData<Space, Precision>& plan,
    SourceStrengths<Space, Real, Strengths> own) {
  auto& tree = plan.tree;
  auto& memory = plan.memory;
  auto const& images = tree.octree.images;
  const std::int64_t count = number_bodies_of_images(space, memory.octree, tree.octree, tree.size);
  SourcesWithImages<Space, Precision, Strengths> all{tree, {}};
  const auto grow = [&](Buffer<Body<Real>, Space>& buffer, Array<Body<Real>, Space>& of_tree) {
    const auto bodies = buffer.grow(space, count, tree.size);
    of_tree = subarray<Body<Real>, Space>(bodies, 0, tree.size);
    return bodies;
  };
  all.tree.bodies = grow(memory.bodies, tree.bodies);
  if (tree.low.extent(0) > 0) all.tree.low = grow(memory.low, tree.low);
  own.bodies = tree.bodies;
  all.strengths.bodies = all.tree.bodies;
  if constexpr (Strengths::numbers > 1) {
    all.strengths.others = memory.periodic_others.resize(count * own.rows);
    for_range("fmm::images::others", space, tree.size,
              CopyOthers<Space, Real, Strengths>{own, all.strengths});
  }
  place_bodies_of_images(space, images, tree.octree.cells, plan.periodic.rests, own, all.strengths,
                         all.tree.low);
  return all;
}

/// A plan's tree with the images' bodies behind its own, of a charge each.
template <class Space, class Precision>
BodyTree<Space, Precision> tree_with_images(Space const& space, PlanData<Space, Precision>& plan) {
  return place_bodies_of_images(space, plan, charges_of(plan.tree.bodies)).tree;
}

}  // namespace fmm::engine
