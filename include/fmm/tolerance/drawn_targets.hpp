// SPDX-License-Identifier: BSD-3-Clause
// Targets drawn by how strong their results are, and by what they erred by before: where few of many have most of a
// norm, or of its error, errors are looked at there, too.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "result_arrays.hpp"

namespace fmm::tolerance {

/// The share of a target in the squared norms of all results and densities, which add up to 1 each, and in the errors
/// that were seen.
template <class Space>
struct ShareOfTarget {
  ResultArray<Space> results[3], less[3];  ///< without these, if there are any
  Array<double, Space> per_norm;  ///< 1 / norm of result r and density k at 3 k + r; 0: it has none
  int densities;
  Array<double, Space> errors;  ///< none: nothing was seen

  KOKKOS_FUNCTION double operator()(std::int64_t i) const {
    double share = errors.extent(0) > 0 ? errors(i) : 0;
    for (int k = 0; k < densities; ++k)
      for (int r = 0; r < 3; ++r) {
        const double unit = per_norm(3 * k + r);
        for (int c = 0; results[r].numbers && unit > 0 && c < results[r].row; ++c) {
          const double value =
              (results[r](i, k, c) - (less[r].numbers ? less[r](i, k, c) : 0)) * unit;
          share += results[r].times(c) * value * value;
        }
      }
    return share;
  }
};

/// Sums of shares, and of their squares.
struct SumOfShares {
  double all = 0, squares = 0;
  KOKKOS_FUNCTION void join(SumOfShares const& other) {
    all += other.all;
    squares += other.squares;
  }
};
/// Shares of all targets; and the larger of two such, of which the second add up to `total`.
template <class Space>
struct WriteShares {
  ShareOfTarget<Space> share;
  Array<double, Space> shares;

  KOKKOS_FUNCTION void operator()(std::int64_t i, SumOfShares& sums) const {
    const double one = shares(i) = share(i);
    sums.join({one, one * one});
  }
};
template <class Space>
struct LargerShares {
  Array<double, Space> shares, others;
  double total;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    shares(i) = std::fmax(shares(i), others(i) / total);
  }
};

/// Of blocks of targets.
template <class Space>
struct ShareOfBlocks {
  static constexpr std::int64_t block = 64;
  ShareOfTarget<Space> share;
  std::int64_t targets;
  Array<double, Space> sums;

  KOKKOS_FUNCTION void operator()(std::int64_t b) const {
    const std::int64_t end = (b + 1) * block < targets ? (b + 1) * block : targets;
    double sum = 0;
    for (std::int64_t i = b * block; i < end; ++i) sum += share(i);
    sums(b) = sum;
  }
};

/// The target where a block's shares, one after the other, exceed a number.
template <class Space>
struct DrawInBlocks {
  ShareOfBlocks<Space> of;
  Array<std::int64_t, Space> blocks;
  Array<double, Space> numbers;
  Array<BodyIndex, Space> drawn;

  KOKKOS_FUNCTION void operator()(std::int64_t j) const {
    std::int64_t i = blocks(j) * of.block;
    const std::int64_t last = (i + of.block < of.targets ? i + of.block : of.targets) - 1;
    for (double sum = of.share(i); sum <= numbers(j) && i < last; sum += of.share(i)) ++i;
    drawn(j) = BodyIndex(i);
  }
};

/// 1 over how often a target is expected among targets of which `evenly` were drawn evenly, `drawn` by their shares.
template <class Space>
struct WeighTargets {
  ShareOfTarget<Space> share;
  double evenly, drawn;  ///< per target, and per share
  Array<BodyIndex, Space> numbers;
  Array<double, Space> weights;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    weights(i) = 1 / (evenly + drawn * share(std::int64_t(numbers(i))));
  }
};

/// Draws targets of some results.
template <class Space>
class DrawnTargets {
 public:
  using Norms = std::vector<std::array<double, 3>>;

  /// `norms`: of each density those of potential, field and Hessian.
  template <class SomeArrays>
  DrawnTargets(Space const& space, SomeArrays const& found, Norms const& norms) : space_(space) {
    std::vector<double> per_norm;
    for (auto const& of_density : norms)
      for (const double norm : of_density) {
        const bool counts = norm > 0 && std::isfinite(norm) && std::isfinite(1 / norm);
        per_norm.push_back(counts ? 1 / norm : 0);
      }
    share_ = {{found.potential, found.field, found.hessian},
              {},
              to_device(space, per_norm_, per_norm),
              int(norms.size()),
              {}};
    targets_ = std::max({found.potential.targets, found.field.targets, found.hessian.targets});
    space.fence();
  }

  /// Notes which targets have the errors of the results, against others, in `errors`: shares, the largest of those that
  /// were noted before. Returns about how many targets have them.
  template <class SomeArrays>
  double note_errors(SomeArrays const& known, Buffer<double, Space>& memory,
                     Array<double, Space>& errors) {
    if (targets_ == 0) return 0;
    ShareOfTarget<Space> share = share_;
    share.errors = {};
    share.less[0] = known.potential;
    share.less[1] = known.field;
    share.less[2] = known.hessian;
    const auto shares = sums_.resize(targets_);
    const auto sums = reduce<SumOfShares>("fmm::verification::errors", space_, targets_,
                                          WriteShares<Space>{share, shares});
    space_.fence();
    const double total = sums.all;
    if (!(total > 0 && std::isfinite(total))) return 0;
    if (errors.extent(0) == 0) {
      errors = memory.resize(targets_);
      fill(space_, errors, 0.0);
    }
    for_range("fmm::verification::note_errors", space_, targets_,
              LargerShares<Space>{errors, shares, total});
    space_.fence();  // the shares go with this object
    return sums.squares > 0 ? total * total / sums.squares : 0;
  }

  /// About `count` numbers of targets, by `random`, which gives numbers of [0, 1), and as many again if errors were
  /// noted; none if all results are 0.
  template <class Random>
  std::vector<BodyIndex> draw(std::int64_t count, Array<double, Space> errors,
                              Random const& random) {
    using OfBlocks = ShareOfBlocks<Space>;
    drawn_ = 0;
    share_.errors = errors;
    if (errors.extent(0) > 0) count *= 2;
    if (targets_ == 0) return {};
    const std::int64_t blocks = (targets_ - 1) / OfBlocks::block + 1;
    const OfBlocks of{share_, targets_, sums_.resize(blocks)};
    for_range("fmm::verification::shares", space_, blocks, of);
    std::vector<double> sums(std::size_t(blocks), 0.0);
    read_back(space_, of.sums.data(), sums.data(), sums.size());
    double total = 0;
    for (const double sum : sums) total += sum;
    if (!(total > 0 && std::isfinite(total))) return {};
    std::vector<std::int64_t> chosen;
    std::vector<double> rest;
    double before = 0;
    std::size_t b = 0;
    for (std::int64_t j = 0; j < count; ++j) {  // one of each stretch
      const double at = (double(j) + random()) * total / double(count);
      while (b + 1 < sums.size() && before + sums[b] <= at) before += sums[b++];
      chosen.push_back(std::int64_t(b));
      rest.push_back(at - before);
    }
    const auto drawn = numbers_.resize(chosen.size());
    for_range("fmm::verification::draw", space_, count,
              DrawInBlocks<Space>{of, to_device(space_, blocks_, chosen),
                                  to_device(space_, rest_, rest), drawn});
    std::vector<BodyIndex> numbers(chosen.size());
    read_back(space_, drawn.data(), numbers.data(), numbers.size());
    drawn_ = double(count) / total;
    return numbers;
  }

  /// What the squares of errors at these targets are to be multiplied by, so that they add up to those of all: of
  /// `evenly` targets that were drawn evenly, and those that `draw` gave last.
  Array<double, Space> weights(Array<BodyIndex, Space> numbers, std::int64_t evenly,
                               Buffer<double, Space>& memory) const {
    const auto weights = memory.resize(numbers.extent(0));
    for_range(
        "fmm::verification::weigh", space_, std::int64_t(numbers.extent(0)),
        WeighTargets<Space>{share_, double(evenly) / double(targets_), drawn_, numbers, weights});
    space_.fence();  // what the shares are made of goes with this object
    return weights;
  }

 private:
  Space space_;
  ShareOfTarget<Space> share_;
  std::int64_t targets_ = 0;
  double drawn_ = 0;  ///< per share
  Buffer<double, Space> per_norm_{"norms of results"}, sums_{"shares of targets"},
      rest_{"drawn numbers"};
  Buffer<std::int64_t, Space> blocks_{"drawn blocks"};
  Buffer<BodyIndex, Space> numbers_{"drawn targets"};
};

}  // namespace fmm::tolerance
