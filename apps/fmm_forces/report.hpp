// SPDX-License-Identifier: BSD-3-Clause
// The JSON report and the table on the terminal: what was run on what, how long it took and how
// exact it was.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measurement.hpp"
#include "settings.hpp"

namespace forces {

/// What all measurements of one run of the program have in common.
struct RunFacts {
  std::int64_t n = 0;
  std::optional<std::int64_t> targets;  ///< if they are not the bodies
  std::optional<int> densities;         ///< if there are several
  bool has_dipoles = false;
  std::string device;
  std::optional<int> threads;
  std::vector<std::string> notes;  ///< what is to be known of the input
};

/// A JSON array with an entry for each measurement.
std::string json_report(Settings const& settings, RunFacts const& facts,
                        std::vector<Measurement> const& measurements);

/// Times and errors of each method, then the seconds of each stage.
std::string table(RunFacts const& facts, std::vector<Measurement> const& measurements);

/// The words for results of so many targets that are not finite.
std::string not_finite(std::int64_t targets, RunFacts const& facts);

/// The stages that a measurement may have, in the order of execution.
std::vector<std::string> stage_names(std::vector<Measurement> const& measurements);

}  // namespace forces
