// SPDX-License-Identifier: BSD-3-Clause
// The search for the fastest setting whose measured error holds a tolerance.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "../detail/noinline.hpp"
#include "../options.hpp"
#include "constants.hpp"

namespace fmm::tolerance {

/// What decides a solver's error and time.
struct Setting {
  int order;
  bool by_power;      ///< MultipolePowerCriterion, or else RadiusCriterion
  double limit;       ///< pair_error, or else theta
  int leaf_capacity;  ///< of an adaptive tree
  bool one_part = false;
};

/// The options, with the setting's limit, leaf capacity and parts.
inline Options with_setting(Options options, Setting const& setting) {
  options.tolerance = options.theta = options.pair_error = std::nullopt;
  (setting.by_power ? options.pair_error : options.theta) = setting.limit;
  options.leaf_capacity = setting.leaf_capacity;
  options.one_part = setting.one_part;
  return options;
}

/// A setting, and what was measured with it.
struct Trial {
  Setting setting{};
  double error = std::numeric_limits<double>::infinity();
  double seconds = std::numeric_limits<double>::infinity();  ///< where its error was too large
};

/// Goes downhill in time from a first order and leaf capacity, one step at a time, for either criterion. For
/// every order and leaf the limit is set by what was measured until the error is a little below the goal. A template,
/// so that only who tunes compiles it.
///
/// DefaultLeaf   int(int order)
/// Measure       Trial(Setting const& setting, double goal): the setting's error, and its seconds if the error is at
///               most `goal`
template <class DefaultLeaf, class Measure>
class SettingSearch {
 public:
  /// `orders` and `leaves` in ascending order; the search begins at those of index first_order and at the leaf
  /// that is the nearest to default_leaf(order). `two_part`: coordinates are in two parts, and perhaps in one.
  SettingSearch(double goal, std::vector<int> orders, std::vector<int> leaves, bool two_part,
                DefaultLeaf default_leaf, Measure measure)
      : goal_(goal),
        orders_(std::move(orders)),
        leaves_(std::move(leaves)),
        ways_(two_part ? 2 : 1),
        default_leaf_(std::move(default_leaf)),
        measure_(std::move(measure)) {}

  /// The fastest that was found to hold the goal; infinite seconds if none did. Cost: 15 to 50 trials.
  FMM_NOINLINE Trial fastest(int first_order) {
    Place best[2];
    for (const bool by_power : {true, false}) {
      Place& place = best[by_power];
      place = {by_power, first_order, nearest_leaf(default_leaf_(orders_[first_order]))};
      climb(place, &Place::order, int(orders_.size()));
    }
    Place place = best[seconds(best[true]) <= seconds(best[false])];
    climb(place, &Place::one_part, ways_);
    climb(place, &Place::leaf, int(leaves_.size()));
    climb(place, &Place::order, int(orders_.size()));
    climb(place, &Place::leaf, int(leaves_.size()));
    return trial(place);
  }

  /// How many settings were measured.
  int trials() const { return trials_; }

 private:
  struct Place {
    bool by_power;
    int order, leaf;   ///< indices
    int one_part = 0;  ///< or 1
    bool operator==(Place const&) const = default;
  };
  struct Known {
    Place place;
    Trial trial;
  };

  int nearest_leaf(int leaf) const {
    const auto distance = [&](int i) { return std::fabs(std::log(double(leaves_[i]) / leaf)); };
    int nearest = 0;
    for (int i = 1; i < int(leaves_.size()); ++i)
      if (distance(i) < distance(nearest)) nearest = i;
    return nearest;
  }

  /// Moves one index of the place, of 0 .. count - 1, to where neither neighbour is faster.
  void climb(Place& place, int Place::*index, int count) {
    while (true) {
      Place best = place;
      for (const int step : {1, -1}) {
        Place next = place;
        next.*index += step;
        if (next.*index >= 0 && next.*index < count && seconds(next) < seconds(best)) best = next;
      }
      if (best.*index == place.*index) return;
      place = best;
    }
  }

  double seconds(Place const& place) { return trial(place).seconds; }

  /// The place's trial, made where there is none yet.
  Trial trial(Place const& place) {
    for (Known const& known : known_)
      if (known.place == place) return known.trial;
    known_.push_back({place, calibrated(place)});
    return known_.back().trial;
  }

  /// How fast errors grow with the limit: as its power, roughly.
  static double growth(bool by_power, int order) { return by_power ? 1 : order + 2; }

  /// The fastest trial of a few limits that holds the goal. error = (limit / scale)^growth leads from one to the
  /// next, with the scale of the last.
  Trial calibrated(Place const& place) {
    const int order = orders_[place.order];
    const double s = growth(place.by_power, order),
                 largest = place.by_power ? 1 : constants.largest_theta;
    double& scale = scale_[place.by_power];
    const double first_scale = scale;
    double held = 0, too_large = largest;  // limits
    double last_limit = 0, last_error = 0;
    Trial best;
    Setting setting{order, place.by_power, 0, leaves_[place.leaf], place.one_part != 0};
    for (int i = 0; i < constants.tuning_trials; ++i) {
      double limit = scale * std::pow(constants.tuning_aim * goal_, 1 / s);
      if (held > 0 && too_large < largest && !(limit > held && limit < too_large))
        limit = std::sqrt(held * too_large);
      limit = std::min(limit, largest);
      if (limit == setting.limit) break;
      setting.limit = limit;
      const Trial now = measure_(setting, goal_);
      ++trials_;
      scale = limit / std::pow(std::clamp(now.error, 0.02 * goal_, 50 * goal_), 1 / s);
      if (now.error <= goal_) {
        if (now.seconds < best.seconds) best = now;
        held = std::max(held, limit);
        if (now.error >= constants.tuning_enough * goal_) break;
      } else {
        too_large = std::min(too_large, limit);
        // an error that does not fall with the limit is not the limit's, and says nothing of other places
        if (now.error > 0.8 * last_error && std::pow(limit / last_limit, s) < 0.5) {
          scale = first_scale;
          break;
        }
      }
      last_limit = limit;
      last_error = now.error;
    }
    return best;
  }

  double goal_;
  std::vector<int> orders_, leaves_;
  int ways_;  ///< one part, or two
  DefaultLeaf default_leaf_;
  Measure measure_;
  std::vector<Known> known_;
  double scale_[2] = {2.3, 1.5};  ///< of theta and of pair_error, as a rule
  int trials_ = 0;
};

/// Leaf capacities to choose from; one, if the options say it or do not use it.
inline std::vector<int> leaves_to_try(Options const& options) {
  if (options.leaf_capacity) return {*options.leaf_capacity};
  if (options.tree == TreeKind::uniform && options.depth) return {1};
  return {8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024};
}

}  // namespace fmm::tolerance
