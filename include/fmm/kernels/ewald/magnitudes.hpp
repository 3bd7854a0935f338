// SPDX-License-Identifier: BSD-3-Clause
// The same sums of magnitudes as of bodies without images (p2p/magnitudes.hpp), in a periodic cell: over the nearest
// image of each body, and with the nearest of all bodies and images at another place.
#pragma once

#include "../../periodic/ewald_split.hpp"
#include "../p2p/magnitudes.hpp"
#include "ends.hpp"

namespace fmm::kernels {

/// Of one target over a segment of the bodies.
template <class Space, class Kernel>
struct SumMagnitudesInCell {
  Kernel kernel;
  double per_unit;
  NearestImages<Space> nearest;
  Array<Body<double>, Space> bodies;
  Array<BodyIndex, Space> targets;
  std::int64_t segments;
  Array<Magnitudes, Space> sums;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t count = std::int64_t(bodies.extent(0)), s = i % segments;
    const BodyIndex target = targets(i / segments);
    const Body<double> at = bodies(target);
    Magnitudes all{0, 0, std::numeric_limits<double>::infinity(), 0};
    for (std::int64_t j = s * count / segments; j < (s + 1) * count / segments; ++j) {
      const Body<double> body = bodies(j);
      double d[3] = {(at.x - body.x) * per_unit, (at.y - body.y) * per_unit,
                     (at.z - body.z) * per_unit};
      const double q = std::fabs(body.q), least2 = nearest.find(d);
      if (least2 < std::numeric_limits<double>::infinity()) {
        const auto term = kernel(least2);
        all.field += q * std::fabs(term.weight) * std::sqrt(least2);
        all.potential += q * std::fabs(term.potential);
      }
      if (least2 < all.nearest2) {
        all.nearest2 = least2;
        all.charge_of_nearest = q;
      }
    }
    sums(i) = all;
  }
};

/// Those of a lattice, in `memory`.
template <class Space>
NearestImages<Space> nearest_images(Space const& space, periodic::Lattice const& lattice,
                                    Buffer<double, Space>& memory) {
  std::vector<double> numbers;
  for (auto const& image : periodic::images_within(lattice, lattice.longest()))
    numbers.insert(numbers.end(), image.begin(), image.end());
  const auto images = to_device(space, memory, numbers);
  space.fence();  // the vector goes now
  const double height = std::min({lattice.height(0), lattice.height(1), lattice.height(2)});
  return {CellVectors(lattice), images, height * height / 4};
}

/// p2p_magnitudes of bodies in a cell; `lattice` is in the kernel's unit. Cost: 27 N distances for each of the chosen
/// ones.
template <class Space, class Kernel>
std::vector<Magnitudes> magnitudes_in_cell(Space const& space, Kernel const& any_kernel,
                                           double per_unit, periodic::Lattice const& lattice,
                                           Array<Body<double>, Space> bodies,
                                           Array<BodyIndex, Space> chosen) {
  constexpr std::int64_t least_bodies = 256, most_items = 1 << 17;
  const auto count = std::int64_t(chosen.extent(0));
  if (count == 0) return {};
  const std::int64_t segments = std::clamp(std::int64_t(bodies.extent(0)) / least_bodies,
                                           std::int64_t(1), 1 + most_items / count);
  Buffer<double, Space> image_buffer("images of the nearest");
  Buffer<Magnitudes, Space> buffer("magnitudes");
  const auto nearest = nearest_images(space, lattice, image_buffer);
  const auto sums = buffer.resize(count * segments);
  with_kernel(any_kernel, [&](auto const& kernel) {
    using One = std::decay_t<decltype(kernel)>;
    for_uneven(
        "fmm::ewald::magnitudes", space, count * segments, 1,
        SumMagnitudesInCell<Space, One>{kernel, per_unit, nearest, bodies, chosen, segments, sums});
  });
  std::vector<Magnitudes> parts(count * segments);
  read_back(space, sums.data(), parts.data(), parts.size());
  return sums_of_segments(parts, count, segments);
}

}  // namespace fmm::kernels
