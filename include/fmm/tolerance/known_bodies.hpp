// SPDX-License-Identifier: BSD-3-Clause
// The results of some bodies in double, over all others, against which own errors are measured while settings are
// tried.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "../accuracy/accuracy.hpp"
#include "own_errors.hpp"
#include "quantities.hpp"

namespace fmm::tolerance {

/// Cancellation::far_share: nearly the largest of some bodies' magnitudes of terms without that of the nearest
/// body. Cost: 256 N pairs in double, and for as long 32 bytes a body.
template <class Space, class Kernel, class Positions, class Charges, class In>
double far_share_of(Space const& space, Kernel const& kernel, Positions const& positions,
                    Charges const& charges, In const& in) {
  Buffer<BodyIndex, Space> buffer("companions");
  const auto numbers =
      accuracy::choose_bodies(constants.companions, positions.extent(0), constants.known_seed);
  if (numbers.empty()) return 1;
  const auto chosen = to_device(space, buffer, numbers);
  accuracy::DirectSums<Space, In> direct{in};
  const Kernel in_unit =
      direct.take_bodies(space, kernel, typename Positions::const_type(positions),
                         typename Charges::const_type(charges));
  std::vector<double> shares;
  for (accuracy::Scales const& one : accuracy::scales_at(space, direct, in_unit, chosen)) {
    shares.push_back(one.field > 0 ? std::max(1 - one.field_of_nearest / one.field, 1e-12) : 1);
  }
  std::sort(shares.begin(), shares.end());
  return accuracy::largest_but_for(shares, constants.companions_left_out);
}

/// Of random bodies, constants.known_bodies, or all. Cost: as many times 2 N pairs, and memory for as long: 32 bytes a
/// body.
template <class Space>
class KnownBodies {
 public:
  template <class Kernel, class Positions, class Charges, class In>
  KnownBodies(Space const& space, Kernel const& kernel, Positions const& positions,
              Charges const& charges, bool single, In const& in)
      : bodies_(std::int64_t(positions.extent(0))),
        least_share_(single ? least_share_in_float : least_share_in_double) {
    const auto numbers =
        accuracy::choose_bodies(constants.known_bodies, positions.extent(0), constants.known_seed);
    exact_.resize(numbers.size());
    if (numbers.empty()) return;
    const auto targets = to_device(space, targets_, numbers);
    accuracy::DirectSums<Space, In> direct{in};
    const Kernel in_unit = direct.template add<Outputs<true, true>>(
        space, kernel, typename Positions::const_type(positions),
        typename Charges::const_type(charges), targets);
    exact_ = accuracy::exact_sums(space, direct, numbers.size());
    scales_ = accuracy::scales_at(space, direct, in_unit, targets);
  }

  /// The own error that a hundredth of all bodies are likely to exceed at most, by results of all.
  template <class Potential, class Field>
  double error(Space const& space, Potential const& potential, Field const& field,
               Quantities of) const {
    const auto computed =
        accuracy::gather_results(space, potential, field, targets_.view(exact_.size()));
    const auto errors = accuracy::compare(computed, exact_, scales_, true, true, least_share_);
    double largest = 0;
    of.each([&](Quantity one) {
      OwnErrors own(double(bodies_) / double(exact_.size()));
      for (const double error : one == Quantity::field ? errors.field : errors.potential) {
        const float of_body = float(error);
        own.add(&of_body, 1);
      }
      largest = std::max(largest, own.exceeded(double(bodies_), constants.standard_errors));
    });
    return largest;
  }

 private:
  std::int64_t bodies_;
  double least_share_;
  Buffer<BodyIndex, Space> targets_{"known bodies"};
  std::vector<Sums<double>> exact_;
  std::vector<accuracy::Scales> scales_;
};

}  // namespace fmm::tolerance
