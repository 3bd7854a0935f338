// SPDX-License-Identifier: BSD-3-Clause
// A solver's periodic cell: bodies wrapped into it, a root around it whose images lie in the root's grid, and what the
// images exert that no list has.
#pragma once

#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

#include "../kernels/ewald/ends.hpp"
#include "../kernels/root_images.hpp"
#include "../kernels/spherical/regular.hpp"
#include "../options.hpp"
#include "../periodic/lattice.hpp"
#include "../tree/images.hpp"
#include "root_rule.hpp"

namespace fmm::engine {

/// The root of a tree over the cell, and its images: those which lists have, all within a radius.
struct PeriodicRoot {
  Cube cube;
  Box cell;  ///< the reduced cell's bounds
  double radius = 0;
  int order = 0;  ///< of the expansion of all other images
  int depth = 0;  ///< of all leaves at least: those that a face cuts are no larger than others
  std::vector<GridVector> images;
  std::vector<periodic::Vector> rests;  ///< of each image, in grid units: its true place from there
  double largest_rest = 0;
};

/// The level whose cells' expansions those of images are made of, and added to.
inline constexpr int level_of_images = 2;

/// A place in edges of the root, from its corner.
struct Middle {
  double at[3];
};

/// What the other images exert on the root, in edges of the root: by expansions of an order of their own about the
/// middle of the cell.
struct FarImages {
  double edge, radius;
  int tree_order, order;  ///< of the tree's expansions, and of theirs
  Middle middle;
  std::vector<double> matrix;  ///< kernels::root_image_matrix
  std::vector<double> norms;   ///< kernels::norms_of_coefficients
  double background;           ///< kernels::background_factor
  double volume;               ///< of the cell
  std::vector<double>
      rests;  ///< of the root's images that lists have, in grid units; none if all are 0
  std::vector<double> harmonics_of_rests;  ///< U of each of these, of the tree's order
  std::vector<double> inverse_norms;       ///< and 1 over the norms
};

/// Bodies where they are in the cell whose lowest corner is the origin.
template <class Positions>
struct WrapPositions {
  Positions positions;
  kernels::CellVectors cell;
  bool is_box;
  double* wrapped;
  std::int64_t stride, stride_of_axis;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    double x[3] = {double(positions(i, 0)), double(positions(i, 1)), double(positions(i, 2))};
    const bool finite = x[0] - x[0] == 0 && x[1] - x[1] == 0 && x[2] - x[2] == 0;
    for (int turn = 0; turn < 2 && finite; ++turn)  // again, for what was rounded far away
      for (int k = 0; k < 3; ++k) {
        const double cells = std::floor(cell.inverse[k][0] * x[0] + cell.inverse[k][1] * x[1] +
                                        cell.inverse[k][2] * x[2]);
        for (int d = 0; d < 3; ++d) x[d] = std::fma(-cells, cell.vectors[k][d], x[d]);
      }
    if (is_box && finite)
      for (int d = 0; d < 3; ++d)
        if (!(x[d] >= 0 && x[d] < cell.vectors[d][d])) x[d] = 0;
    for (int d = 0; d < 3; ++d) wrapped[i * stride + d * stride_of_axis] = x[d];
  }
};

/// The cell of Options::periodic.
class PeriodicCell {
 public:
  /// Of the expansion of images that no list has, and how many times the cell's farthest corner those are away, for
  /// trees of an order. Its error is below the tree's even of ions at the corners: caesium chloride's, in units of
  /// the nearest one's field, 3e-5, 5e-7, 5e-10, 1e-13 and less (docs/math.md, "Periodic boxes").
  struct Images {
    int order;
    double radius;
  };
  static Images images_for(int order) {
    return order < 8    ? Images{16, 2.8}
           : order < 10 ? Images{24, 2.8}
           : order < 12 ? Images{24, 3.2}
           : order < 16 ? Images{28, 3.2}
                        : Images{order > 28 ? order : 28, 4};
  }
  static constexpr double largest_aspect = 20;
  static constexpr double most_images = 4096;  ///< that softening may reach

  /// Throws InvalidArgument for a cell that is too long.
  FMM_NOINLINE explicit PeriodicCell(PeriodicBox const& box)
      : lattice_(box.vectors), in_vacuum_(box.boundary == Boundary::vacuum) {
    if (!(lattice_.aspect() <= largest_aspect))
      throw InvalidArgument("periodic cell's longest vector over its smallest height",
                            lattice_.aspect(), "at most 20");
  }
  bool is_in_vacuum() const { return in_vacuum_; }
  /// Has roots have images up to a distance at least, and the expansion of all others be so exact, of ions at the
  /// corners of a cell with few.
  void want(double far_from, double error) {
    least_far_from_ = far_from;
    error_ = error;
  }

  std::shared_ptr<periodic::Lattice const> lattice() const {
    return std::make_shared<periodic::Lattice const>(lattice_);
  }
  /// The cell's bounds, and a cube around it.
  PeriodicRoot bounds() const {
    PeriodicRoot root;
    for (int d = 0; d < 3; ++d) {
      root.cell.low[d] = root.cell.high[d] = 0;
      for (auto const& vector : lattice_.vectors())
        (vector[d] < 0 ? root.cell.low : root.cell.high)[d] += vector[d];
      root.cube.low[d] = root.cell.low[d];
    }
    root.cube.edge = root.cell.extent();
    return root;
  }
  /// The cell of n bodies as the root of a tree. `whole`: its edge is that of a cubic cell, so that images lie in the
  /// grid of cells of every level; else as long as leaves of the best size ask for. Lists have the images that
  /// softening reaches. Throws InvalidArgument where these are too many.
  FMM_NOINLINE PeriodicRoot root(std::int64_t n, Options const& options, FarFieldRule const& far,
                                 bool whole) const {
    PeriodicRoot root = bounds();
    const double extent = root.cube.edge;
    int layers = 1;
    const double cells_in_cube = extent * extent * extent / lattice_.volume();
    const bool is_cube = cells_in_cube < 1.001;
    const std::int64_t in_cube = is_cube ? n : std::int64_t(double(n) * cells_in_cube);
    if (!whole)
      layers = layers_of_leaves(options, in_cube, deepest_level(in_edges(far, root.cube)));
    int depth = 0;
    while (1 << depth < layers) ++depth;
    if (!is_cube) root.depth = depth;
    root.cube.edge = std::ldexp(root.cube.edge, depth) / layers;
    const double reach = lattice_.farthest_corner();
    const Images images = images_of(n, far.order);
    root.order = images.order;
    root.radius = images.radius * reach * 1.000001;  // twice a diagonal is a vector
    const double softened = std::max(far.from, least_far_from_);
    check_softening(softened, root.radius);
    root.radius = std::max(root.radius, softened + 2 * reach);
    const double unit = grid_unit(root.cube.edge);
    for (periodic::Vector const& n : lattice_.vectors_within(root.radius)) {
      GridVector place;
      periodic::Vector rest;
      for (int d = 0; d < 3; ++d) {
        place[d] = std::int32_t(std::lround(n[d] / unit));
        rest[d] = std::fma(-unit, double(place[d]), n[d]) / unit;
        if (std::fabs(rest[d]) * unit <= 1e-14 * extent) rest[d] = 0;  // of rounding
      }
      root.images.push_back(place);
      root.rests.push_back(rest);
      root.largest_rest = std::max(root.largest_rest, std::sqrt(periodic::dot(rest, rest)));
    }
    return root;
  }

  /// That of images within so many of their edges of the cell.
  ImageReach reach(PeriodicRoot const& root, double edges) const {
    const double unit = grid_unit(root.cube.edge);
    ImageReach reach;
    std::fill_n(reach.edges, max_tree_depth + 1, float(edges));
    reach.pairs_of_faces = lattice_.is_box() ? 0 : 3;
    for (int k = 0; k < 3; ++k) {
      reach.high[k] = float((root.cell.high[k] - root.cell.low[k]) / unit);
      auto const& inverse = lattice_.inverse()[std::size_t(k)];
      auto& faces = reach.faces[k];
      double low = 0;
      for (int d = 0; d < 3; ++d) {
        faces.normal[d] = float(inverse[d] * lattice_.height(k));
        low -= inverse[d] * root.cell.low[d];
      }
      faces.low = float(low * lattice_.height(k) / unit);
      faces.high = float((low + 1) * lattice_.height(k) / unit);
    }
    return reach;
  }

  /// For expansions of that order; kept until another root asks.
  FMM_NOINLINE std::shared_ptr<FarImages const> far_images(PeriodicRoot const& root,
                                                           int tree_order) {
    const int order = root.order;
    if (!far_ || far_->edge != root.cube.edge || far_->radius != root.radius ||
        far_->tree_order != tree_order || far_->order != order) {
      const auto in_edges = lattice_.times(1 / root.cube.edge);
      const auto sums = periodic::lattice_sums(in_edges, root.radius / root.cube.edge, 2 * order);
      Middle middle;
      for (int d = 0; d < 3; ++d)
        middle.at[d] = 0.5 * (root.cell.high[d] - root.cell.low[d]) / root.cube.edge;
      FarImages far{root.cube.edge,
                    root.radius,
                    tree_order,
                    order,
                    middle,
                    kernels::root_image_matrix(in_edges, sums, order),
                    kernels::norms_of_coefficients(order),
                    kernels::background_factor(in_edges),
                    in_edges.volume(),
                    {},
                    {},
                    {}};
      if (root.largest_rest > 0) {
        const auto size = std::size_t(coefficient_count(tree_order));
        for (const double norm : far.norms) far.inverse_norms.push_back(1 / norm);
        far.harmonics_of_rests.resize(root.rests.size() * size);
        for (std::size_t i = 0; i < root.rests.size(); ++i) {
          auto const& rest = root.rests[i];
          far.rests.insert(far.rests.end(), rest.begin(), rest.end());
          kernels::set_regular({rest[0], rest[1], rest[2]}, tree_order,
                               far.harmonics_of_rests.data() + i * size);
        }
      }
      far_ = std::make_shared<FarImages const>(std::move(far));
    }
    return far_;
  }

  /// (N,3) positions in the cell, in memory of 3 N numbers. As a View of the type of those that are given, if they are
  /// in double: builds of both are one piece of code then.
  template <class Space, class Positions>
  auto wrap(Space const& space, Positions const& positions, double* memory) const {
    constexpr bool same = std::is_same_v<typename Positions::non_const_value_type, double>;
    using Wrapped =
        std::conditional_t<same, Positions,
                           Kokkos::View<double const* [3], Kokkos::LayoutRight, Device<Space>>>;
    using Layout = typename Wrapped::array_layout;
    constexpr bool by_axes = std::is_same_v<Layout, Kokkos::LayoutLeft>;
    const auto n = std::int64_t(positions.extent(0));
    for_range("fmm::wrap", space, n,
              WrapPositions<Positions>{positions, kernels::CellVectors(lattice_), lattice_.is_box(),
                                       memory, by_axes ? 1 : 3, by_axes ? n : 1});
    if constexpr (std::is_same_v<Layout, Kokkos::LayoutStride>)
      return Wrapped(memory, Layout(std::size_t(n), 3, 3, 1));
    else if constexpr (Wrapped::rank_dynamic == 2)
      return Wrapped(memory, std::size_t(n), 3);
    else
      return Wrapped(memory, std::size_t(n));
  }

  /// Throws InvalidArgument where softening reaches further than `radius` and most_images.
  void check_softening(double far_from, double radius = 0) const {
    const double volume = lattice_.volume() * most_images, reach = lattice_.farthest_corner(),
                 most =
                     std::max(radius, std::cbrt(3 * volume / (4 * std::numbers::pi))) - 2 * reach;
    if (far_from > most)
      throw InvalidArgument(
          "softening, which counts up to a distance of", far_from,
          "one that counts up to " + to_text(std::max(most, 0.0)) + " in this periodic cell");
  }

 private:
  /// Of n bodies: of few the cell's corners are near.
  Images images_of(std::int64_t n, int order) const {
    constexpr std::int64_t few = 4096;
    const auto order_for_error = error_ < 1e-7 ? 12 : error_ < 1e-4 ? 10 : error_ < 1 ? 8 : 0;
    return images_for(n <= few ? std::max(order, order_for_error) : order);
  }

  periodic::Lattice lattice_;
  bool in_vacuum_;
  double least_far_from_ = 0, error_ = 1;
  std::shared_ptr<FarImages const> far_;
};

}  // namespace fmm::engine
