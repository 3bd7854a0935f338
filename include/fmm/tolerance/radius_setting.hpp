// SPDX-License-Identifier: BSD-3-Clause
// The order and the theta of RadiusCriterion for an error that is wanted.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "order_selection.hpp"

namespace fmm::tolerance {

struct RadiusSetting {
  int index;  ///< of the order, among those that there are
  double theta;
  bool operator==(RadiusSetting const&) const = default;
};

/// How much more Hessians err than fields, and fields than potentials, for sources that are charges, or dipoles.
struct ErrorScale {
  bool hessian = false, field = false, dipoles = false;
  double of(int order) const {
    const double derivatives = hessian ? 2 : field ? 1 : 0;
    return std::pow(0.5 * (order + 2), derivatives - 1 + (dipoles ? 0.5 : 0));
  }
};

/// Finds them, begins again from what was seen, and knows when there is nothing left to try.
class RadiusSearch {
 public:
  RadiusSearch(double tolerance, std::vector<int> orders, Arithmetic arithmetic)
      : tolerance_(tolerance), orders_(std::move(orders)), arithmetic_(arithmetic) {}

  /// Before anything is known of the bodies.
  RadiusSetting first(ErrorScale scale) const {
    const double stricter = scale.hessian ? 0.1 : scale.field ? 1.0 : 3.0;
    const auto index =
        int(nearest_order(std::clamp(stricter * tolerance_, 1e-15, 0.1), arithmetic_, {}, orders_));
    return {index, theta_for(index, goal * tolerance_ / scale.of(orders_[index]))};
  }
  /// After the setting of that attempt was seen to err by more than the tolerance: a smaller theta, or the next order.
  /// An error of few bodies falls in steps: later attempts do not go by it alone.
  RadiusSetting stricter(RadiusSetting const& now, double error, int attempt,
                         double wanted_share = goal) const {
    const double ratio = std::clamp(wanted_share * tolerance_ / error, 1e-6, 0.8);
    const double theta = now.theta * std::clamp(std::pow(ratio, 1.0 / (orders_[now.index] + 1)),
                                                0.4, attempt < usual_attempts ? 0.95 : 0.6);
    if (theta >= least_theta || now.index + 1 == int(orders_.size()))
      return {now.index, std::max(theta, 0.02)};
    const double wanted = ratio * error_by_radii(now.index, now.theta);
    return {now.index + 1, std::min(theta_for(now.index + 1, wanted), now.theta)};
  }
  /// After one was seen to err by less: for the next bodies like these.
  RadiusSetting looser(RadiusSetting const& now, double error) const {
    if (!(error < enough * tolerance_)) return now;
    const double ratio = goal * tolerance_ / std::max(error, 1e-3 * tolerance_);
    return {now.index, std::min(now.theta * std::pow(ratio, 1.0 / (orders_[now.index] + 2)),
                                constants.largest_theta)};
  }
  /// For results that others' errors are measured against.
  static double theta_of_reference(double tolerance, int order) {
    return std::clamp(theta_of(order, 0.1 * tolerance), 0.1, 0.6);
  }

  static constexpr int most_attempts = 10;
  static constexpr double goal = 0.7;

 private:
  static constexpr int usual_attempts = 4;
  static constexpr double enough = 0.4, least_theta = 0.4;

  static double theta_of(int order, double error) {
    return std::pow(constants.radii_scale * error * std::exp2(constants.radii_fall * order),
                    1.0 / (order + 2));
  }
  double theta_for(int index, double error) const {
    return std::clamp(theta_of(orders_[index], error), 0.15, constants.largest_theta);
  }
  double error_by_radii(int index, double theta) const {
    const int order = orders_[index];
    return std::pow(theta, order + 2) * std::exp2(-constants.radii_fall * order) /
           constants.radii_scale;
  }

  double tolerance_;
  std::vector<int> orders_;
  Arithmetic arithmetic_;
};

}  // namespace fmm::tolerance
