// SPDX-License-Identifier: BSD-3-Clause
// All pairs in a periodic cell: Ewald's sums.
#pragma once

#include <algorithm>
#include <vector>

#include "../detail/memory.hpp"
#include "../kernels/ewald/short_pairs.hpp"
#include "../kernels/ewald/waves.hpp"
#include "../kernels/strengths.hpp"

namespace fmm::engine {

/// Adds Ewald's sums of one density to those of the targets, to the error of the split. `lattice` is in the kernel's
/// unit of length, and so is the distance up to which the kernel is `softened`.
template <class Space, class Kernel, class Sum>
void add_ewald_sums(Space const& space, periodic::Lattice const& lattice,
                    periodic::EwaldSplit const& split, Kernel const& kernel, double softened,
                    double per_unit, kernels::DensityStrengths<Space> const& sources,
                    kernels::DensityTargets<Space, Sum> const& targets) {
  Buffer<double, Space> images("Ewald's images"), factors("factors of waves"),
      parts("sums of waves");
  Buffer<periodic::WaveRow, Space> rows("rows of waves");
  Buffer<std::int32_t, Space> first("first waves");
  std::vector<double> numbers;
  for (auto const& image : split.images) numbers.insert(numbers.end(), image.begin(), image.end());
  std::vector<std::int32_t> firsts;
  std::int32_t waves_before = 0;
  for (auto const& row : split.rows) {
    firsts.push_back(waves_before);
    waves_before += row.count;
  }
  const kernels::CellVectors cell(lattice);
  const double cutoff2 = split.cutoff * split.cutoff, softened2 = softened * softened;
  const kernels::ShortPair<Kernel> pair{kernel, split.alpha, cutoff2, softened2};
  const auto tiles = std::int64_t(targets.tiles.extent(0)),
             count = std::int64_t(sources.bodies.extent(0));
  // a GPU is busy with a few targets, too
  constexpr int team_size = is_host_space_v<Space> ? 1 : 128, least_teams = 1 << 13;
  const std::int64_t all_targets = tiles * targets.tile,
                     pair_segments = is_host_space_v<Space>
                                         ? 1
                                         : std::clamp<std::int64_t>(least_teams / all_targets, 1,
                                                                    count / (8 * team_size) + 1);
  Buffer<double, Space> pair_parts("Ewald's pairs");
  const auto of_segments =
      pair_parts.resize(std::size_t(all_targets * pair_segments * kernels::numbers_of_target));
  for_teams("fmm::ewald::pairs",
            TeamPolicy<Space>(space, int(all_targets * pair_segments), team_size),
            kernels::SumShortPairs<Space, Kernel, Sum>{
                pair, cell, per_unit, to_device(space, images, numbers),
                std::max(cutoff2, softened2), sources, targets, int(pair_segments), of_segments});
  for_range("fmm::ewald::add_pairs", space, all_targets,
            kernels::AddShortPairs<Space, Sum>{targets, int(pair_segments), of_segments});
  const kernels::Waves<Space> waves{cell, per_unit, to_device(space, rows, split.rows),
                                    to_device(space, first, firsts),
                                    to_device(space, factors, split.factors)};
  // a GPU has a thread for each row and segment
  constexpr std::int64_t least = is_host_space_v<Space> ? 2048 : 256,
                         most_segments = is_host_space_v<Space> ? 64 : 512;
  const std::int64_t segment = std::max(least, (count + most_segments - 1) / most_segments),
                     segments = (count + segment - 1) / segment;
  const auto sums = parts.resize(2 * split.factors.size() * std::size_t(segments));
  for_range("fmm::ewald::waves", space, std::int64_t(split.rows.size()) * segments,
            kernels::SumWaves<Space>{waves, sources, segment, sums});
  for_range("fmm::ewald::segments", space, 2 * std::int64_t(split.factors.size()),
            kernels::SumSegments<Space>{segments, sums});
  constexpr int W = kernels::AddWaves<Space, Sum>::W;
  for_range("fmm::ewald::targets", space, tiles * ((targets.tile + W - 1) / W),
            kernels::AddWaves<Space, Sum>{waves, sums, pair.own_potential(), pair.own_weight(),
                                          sources, targets});
  space.fence();  // the buffers go now
}

/// Of all densities: sources and targets have places in a unit of length of which per_unit are one of the kernel's, and
/// so have the lattice and the distance up to which the kernel counts. The targets' sums are 0, or nothing yet if
/// `clears`. `numbers` are those of targets among the sources; none: their own. What is left out is less than `error` of
/// like terms.
template <class Out, class Strengths, class Space, class Kernel, class Sum>
void ewald_sums(Space const& space, periodic::Lattice const& lattice, Kernel const& kernel,
                double softened, double per_unit,
                SourceStrengths<Space, double, Strengths> const& sources,
                Array<Body<double>, Space> targets, bool are_sources, Array<Tile, Space> tiles,
                int tile, Array<Sums<Sum>, Space> sums, bool clears, double error,
                Array<BodyIndex, Space> numbers = {}) {
  constexpr double least = sizeof(Sum) == 4 ? 1e-9 : 0;  // below the last digits of a thousand
  const auto in_unit = lattice.times(per_unit);
  const auto split = periodic::ewald_split(in_unit, double(tiles.extent(0)) * tile,
                                           double(sources.bodies.extent(0)), std::max(error, least),
                                           softened * per_unit, kernels::Waves<Space>::longest_row);
  if (clears) fill(space, sums, Sums<Sum>{});
  for (int d = 0; d < Out::densities; ++d) {
    constexpr bool dipoles = Strengths::has_dipoles;
    const kernels::DensityStrengths<Space> density{
        sources.bodies, sources.others, dipoles ? 4 * d : d, dipoles ? 4 * d + 1 : -1, per_unit};
    const kernels::DensityTargets<Space, Sum> ends{targets,        tiles,        tile,
                                                   are_sources,    numbers,      Out::records,
                                                   Out::record(d), Out::hessian, sums};
    with_kernel(kernel, [&](auto const& one) {
      add_ewald_sums(space, in_unit, split, one, softened * per_unit, per_unit, density, ends);
    });
  }
}

/// Bodies of those numbers.
template <class Space>
struct GatherBodies {
  Array<Body<double>, Space> bodies;
  Array<BodyIndex, Space> numbers;
  Array<Body<double>, Space> chosen;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { chosen(i) = bodies(numbers(i)); }
};

/// Sets the sums, in double, of the bodies numbered in `chosen` over all bodies with a charge each; units as above.
template <class Space, class Kernel>
void ewald_sums_of_chosen(Space const& space, periodic::Lattice const& lattice,
                          Kernel const& kernel, double softened, double per_unit,
                          Array<Body<double>, Space> bodies, Array<BodyIndex, Space> chosen,
                          Array<Sums<double>, Space> sums, double error) {
  constexpr int tile = 64;
  const auto count = std::int64_t(chosen.extent(0));
  std::vector<Tile> numbers;
  for (std::int64_t first = 0; first < count; first += tile)
    numbers.push_back({0, BodyIndex(first), int(std::min<std::int64_t>(tile, count - first))});
  Buffer<Tile, Space> tile_buffer("tiles of Ewald's targets");
  Buffer<Body<double>, Space> target_buffer("Ewald's targets");
  const auto tiles = to_device(space, tile_buffer, numbers);
  const auto targets = target_buffer.resize(count);
  for_range("fmm::ewald::gather", space, count, GatherBodies<Space>{bodies, chosen, targets});
  ewald_sums<Outputs<true, true>>(space, lattice, kernel, softened, per_unit, charges_of(bodies),
                                  targets, true, tiles, tile, sums, true, error, chosen);
}

}  // namespace fmm::engine
